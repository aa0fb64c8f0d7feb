//! `isochrone-sql map`: has pieces of traces mapped by a cluster and writes them to files, for `isochrone
//! analyze --cluster`.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use datafusion::arrow::array::{Array, BinaryArray, RecordBatch, UInt32Array, UInt64Array};
use datafusion::error::DataFusionError;
use futures::StreamExt;
use isochrone::shared::plain;
use isochrone_experiment::pieces::Mapping;

use super::codec::Known;
use super::{Door, remote};
use crate::scan::Provider;
use crate::tables::Named;

/// Maximum number of tasks of a query: a task has one piece, unless there are more pieces.
const MAX_TASKS: usize = 1024;

/// Has all pieces mapped, and writes a file of each to a directory. `scheduler`: its `HOST:PORT`.
///
/// # Errors
/// The scheduler does not answer, a piece cannot be mapped, or a file cannot be written.
pub(crate) async fn map(mapping: Mapping, scheduler: &str, door: &Door, to: &Path) -> anyhow::Result<()> {
    let pieces: usize = mapping.hosts.iter().map(|host| host.pieces).sum();
    let known = Arc::new(Known::default());
    let context = remote(&known, scheduler, door, Some(pieces.clamp(1, MAX_TASKS))).await?;
    let table = Provider(Named::mapped(&Arc::new(mapping)));
    let mut rows =
        context.read_table(Arc::new(table))?.execute_stream().await.map_err(|error| in_words(&error))?;
    let mut found: HashSet<(u32, u32)> = HashSet::new();
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(|error| in_words(&error))?;
        let blocks = Blocks::of(&batch).context("the cluster has sent other columns")?;
        for row in 0..batch.num_rows() {
            let (host, piece) = (blocks.host.value(row), blocks.piece.value(row));
            let path = to.join(format!("{host}-{piece}.piece"));
            // Blocks of several pieces come mixed, and of more than files can be open.
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
            let write = |file: File| file.write_all_at(blocks.bytes.value(row), blocks.from.value(row));
            file.and_then(write).with_context(|| format!("cannot write {}", path.display()))?;
            found.insert((host, piece));
        }
    }
    anyhow::ensure!(found.len() == pieces, "the cluster has sent {} of {pieces} pieces", found.len());
    Ok(())
}

/// What is wrong, as the executor worded it: Ballista passes on what `Debug` writes of its errors.
fn in_words(error: &DataFusionError) -> anyhow::Error {
    let text = error.to_string();
    let quoted = text.rsplit_once("Execution(").map(|(_, quoted)| quoted);
    let worded =
        quoted.and_then(|it| serde_json::Deserializer::from_str(it).into_iter::<String>().next()?.ok());
    anyhow::anyhow!("{}", plain(&worded.unwrap_or(text)))
}

/// The columns of blocks.
struct Blocks<'b> {
    host: &'b UInt32Array,
    piece: &'b UInt32Array,
    from: &'b UInt64Array,
    bytes: &'b BinaryArray,
}

impl<'b> Blocks<'b> {
    /// Those of a batch; `None`: it has others.
    fn of(batch: &'b RecordBatch) -> Option<Self> {
        let [host, piece, from, bytes] = batch.columns() else { return None };
        Some(Self {
            host: host.as_any().downcast_ref()?,
            piece: piece.as_any().downcast_ref()?,
            from: from.as_any().downcast_ref()?,
            bytes: bytes.as_any().downcast_ref()?,
        })
    }
}
