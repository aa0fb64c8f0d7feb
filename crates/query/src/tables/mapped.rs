//! The tables of mapped pieces that `isochrone analyze --cluster` reads: the bytes of a file for each piece
//! of each host, or of one file of all that lies on a machine, in blocks. They are the tables that need no
//! store.

use std::fs::File;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BinaryArray, UInt32Array, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DataFusionError, Result, internal_datafusion_err};
use isochrone_experiment::Spread;
use isochrone_experiment::chunks::Located;
use isochrone_experiment::pieces::Mapping;

use crate::pruning::Pruner;
use crate::scan::{Chosen, Output, Piece, Selection, Stopped, Table};

/// Bytes of a block, a row of the table: several fit into a message of a cluster.
const BLOCK: usize = 1 << 20;

/// The columns of both tables.
fn columns() -> SchemaRef {
    let fields = [
        Field::new("host", DataType::UInt32, false),
        Field::new("piece", DataType::UInt32, false),
        Field::new("from", DataType::UInt64, false),
        Field::new("bytes", DataType::Binary, false),
    ];
    Arc::new(Schema::new(fields.to_vec()))
}

/// Gives out the bytes of a file.
fn send_file(
    path: &Path,
    (host, piece): (u32, u32),
    columns: &[usize],
    out: &mut Output<'_>,
) -> Result<std::result::Result<(), Stopped>> {
    let (mut file, mut from) = (File::open(path)?, 0);
    loop {
        let mut block = Vec::with_capacity(BLOCK);
        let read = file.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
        if read == 0 {
            return Ok(Ok(()));
        }
        let column = |&index: &usize| -> ArrayRef {
            match index {
                0 => Arc::new(UInt32Array::from(vec![host])),
                1 => Arc::new(UInt32Array::from(vec![piece])),
                2 => Arc::new(UInt64Array::from(vec![from])),
                _ => Arc::new(BinaryArray::from(vec![block.as_slice()])),
            }
        };
        if out.send(columns.iter().map(column).collect(), 1)?.is_err() {
            return Ok(Err(Stopped));
        }
        from += read as u64;
    }
}

/// The machine that a process works on as an executor.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// How others reach it.
    pub(crate) name: String,
    /// Cores that it has for the work.
    pub(crate) cores: NonZeroUsize,
}

/// What lies on one machine, as one file of mapped chunks.
#[derive(Debug)]
pub(crate) struct LocatedTable {
    located: Arc<Located>,
    machine: Option<Machine>,
    schema: SchemaRef,
}

impl LocatedTable {
    pub(crate) fn new(located: &Arc<Located>, machine: Option<&Machine>) -> Self {
        Self { located: Arc::clone(located), machine: machine.cloned(), schema: columns() }
    }
}

impl Table for LocatedTable {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    fn choose(&self, _: &Pruner) -> Result<Chosen> {
        let all = Piece { of: 0, part: 0, from: 0, to: 1 };
        Ok(Chosen { pieces: vec![(all, 1)], all: 1, selection: Selection::All })
    }

    fn describe(&self, _: &Selection) -> String {
        format!("what is mapped on {}", self.located.machine)
    }

    fn read(&self, _: Piece, _: &Selection, columns: &[usize], out: &mut Output<'_>) -> Result<()> {
        let words = |text: String| Err(DataFusionError::Execution(text));
        let Located { machine, paths, .. } = self.located.as_ref();
        let here = match &self.machine {
            Some(here) if here.name == *machine => here,
            // The scheduler gives it to others only where there is no such executor.
            _ => {
                let path = paths.first().map_or_else(String::new, |path| path.display().to_string());
                return words(format!("{machine}: {path}: no executor of the cluster has this name"));
            }
        };
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("mapped.piece");
        let spread = Spread { threads: Some(here.cores), pieces: None };
        if let Err(error) = self.located.map(spread, &path) {
            return words(error.to_string());
        }
        out.reads(1, std::fs::metadata(&path)?.len());
        let _ = send_file(&path, (0, 0), columns, out)?;
        Ok(())
    }
}

/// Pieces of traces that all machines have.
#[derive(Debug)]
pub(crate) struct MappedTable {
    mapping: Arc<Mapping>,
    schema: SchemaRef,
}

impl MappedTable {
    pub(crate) fn new(mapping: &Arc<Mapping>) -> Self {
        Self { mapping: Arc::clone(mapping), schema: columns() }
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
            if send_file(&path, (piece.of, number), columns, out)?.is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}
