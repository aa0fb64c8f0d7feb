//! `isochrone-sql map`: has traces mapped by a cluster, pieces of them or all that lies on a machine, and
//! writes what comes back to files, for `isochrone analyze --cluster`.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use datafusion::arrow::array::{Array, BinaryArray, RecordBatch, UInt32Array, UInt64Array};
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionContext;
use futures::{StreamExt, TryStreamExt, stream};
use isochrone::shared::plain;
use isochrone_experiment::chunks::Located;
use isochrone_experiment::pieces::ToMap;

use super::codec::Known;
use super::{Door, remote};
use crate::scan::Provider;
use crate::tables::Named;

/// Maximum number of tasks of a query: a task has one piece, unless there are more pieces.
const MAX_TASKS: usize = 1024;

/// Machines that are asked at a time: the others wait.
const MAX_MACHINES: usize = 256;

/// Has all mapped, and writes a file of each piece, or of each machine, to a directory. `scheduler`: its
/// `HOST:PORT`.
///
/// # Errors
/// The scheduler does not answer, something cannot be mapped, or a file cannot be written.
pub(crate) async fn map(what: ToMap, scheduler: &str, door: &Door, to: &Path) -> anyhow::Result<()> {
    let known = Arc::new(Known::default());
    match what {
        ToMap::Shared(mapping) => {
            let pieces: usize = mapping.hosts.iter().map(|host| host.pieces).sum();
            let context = remote(&known, scheduler, door, Some(pieces.clamp(1, MAX_TASKS))).await?;
            let table = Named::mapped(&Arc::from(mapping));
            let name = |host, piece| format!("{host}-{piece}.piece");
            let found = fetch(&context, table, to, name).await?;
            anyhow::ensure!(found.len() == pieces, "the cluster has sent {} of {pieces} pieces", found.len());
        }
        ToMap::Located(machines) => {
            let context = remote(&known, scheduler, door, Some(1)).await?;
            let map = |located: Located| {
                let (context, machine) = (&context, located.machine.clone());
                async move {
                    let name = |_, _| format!("{machine}.piece");
                    let found = fetch(context, Named::located(&Arc::new(located), None), to, name).await?;
                    anyhow::ensure!(!found.is_empty(), "{machine}: the cluster has sent nothing");
                    Ok(())
                }
            };
            let all = stream::iter(machines).map(map).buffer_unordered(MAX_MACHINES);
            all.try_collect::<Vec<()>>().await?;
        }
    }
    Ok(())
}

/// Has the cluster read a table of pieces, and writes these to files in a directory. Gives hosts and pieces.
async fn fetch(
    context: &SessionContext,
    table: Named,
    to: &Path,
    name: impl Fn(u32, u32) -> String,
) -> anyhow::Result<HashSet<(u32, u32)>> {
    let mut rows = context
        .read_table(Arc::new(Provider(table)))?
        .execute_stream()
        .await
        .map_err(|error| in_words(&error))?;
    let mut found: HashSet<(u32, u32)> = HashSet::new();
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(|error| in_words(&error))?;
        let blocks = Blocks::of(&batch).context("the cluster has sent other columns")?;
        for row in 0..batch.num_rows() {
            let (host, piece) = (blocks.host.value(row), blocks.piece.value(row));
            let path = to.join(name(host, piece));
            // Blocks of several pieces come mixed, and of more than files can be open.
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
            let write = |file: File| file.write_all_at(blocks.bytes.value(row), blocks.from.value(row));
            file.and_then(write).with_context(|| format!("cannot write {}", path.display()))?;
            found.insert((host, piece));
        }
    }
    Ok(found)
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
