//! The table of mapped pieces that `isochrone analyze --cluster` reads: the bytes of a file for each piece of
//! each host, in blocks. It is the one table that needs no store.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BinaryArray, UInt32Array, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DataFusionError, Result, internal_datafusion_err};
use isochrone_experiment::pieces::Mapping;

use crate::pruning::Pruner;
use crate::scan::{Chosen, Output, Piece, Selection, Table};

/// Bytes of a block, a row of the table: several fit into a message of a cluster.
const BLOCK: usize = 1 << 20;

/// The table.
#[derive(Debug)]
pub(crate) struct MappedTable {
    mapping: Arc<Mapping>,
    schema: SchemaRef,
}

impl MappedTable {
    pub(crate) fn new(mapping: &Arc<Mapping>) -> Self {
        let fields = [
            Field::new("host", DataType::UInt32, false),
            Field::new("piece", DataType::UInt32, false),
            Field::new("from", DataType::UInt64, false),
            Field::new("bytes", DataType::Binary, false),
        ];
        Self { mapping: Arc::clone(mapping), schema: Arc::new(Schema::new(fields.to_vec())) }
    }
}

impl Table for MappedTable {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    fn choose(&self, _: &Pruner) -> Result<Chosen> {
        let mut pieces = Vec::new();
        for (of, host) in (0..).zip(&self.mapping.hosts) {
            let count = host.pieces as u32;
            let share = host.bytes / u64::from(count.max(1));
            pieces.extend((0..count).map(|from| (Piece { of, part: 0, from, to: from + 1 }, share)));
        }
        let all = pieces.len() as u64;
        Ok(Chosen { pieces, all, selection: Selection::All })
    }

    fn describe(&self, _: &Selection) -> String {
        "mapped pieces".to_owned()
    }

    fn read(&self, piece: Piece, _: &Selection, columns: &[usize], out: &mut Output<'_>) -> Result<()> {
        let host = self.mapping.hosts.get(piece.of as usize);
        let host = host.ok_or_else(|| internal_datafusion_err!("there is no host {}", piece.of))?;
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("mapped.piece");
        for number in piece.from..piece.to {
            out.reads(1, host.bytes / host.pieces.max(1) as u64);
            let mapped = self.mapping.map(host, number as usize + 1, &path);
            mapped.map_err(|error| DataFusionError::Execution(error.to_string()))?;
            let mut file = File::open(&path)?;
            let mut from = 0;
            loop {
                let mut block = Vec::with_capacity(BLOCK);
                let read = file.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
                if read == 0 {
                    break;
                }
                let column = |&index: &usize| -> ArrayRef {
                    match index {
                        0 => Arc::new(UInt32Array::from(vec![piece.of])),
                        1 => Arc::new(UInt32Array::from(vec![number])),
                        2 => Arc::new(UInt64Array::from(vec![from])),
                        _ => Arc::new(BinaryArray::from(vec![block.as_slice()])),
                    }
                };
                if out.send(columns.iter().map(column).collect(), 1)?.is_err() {
                    return Ok(());
                }
                from += read as u64;
            }
        }
        Ok(())
    }
}
