//! Writes the tables as files of Parquet, batch by batch: each table is sorted by host and start, on the disk
//! where it is larger than the memory for it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use datafusion::execution::context::{SessionConfig, SessionContext};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use futures::StreamExt;
use isochrone::shared;
use isochrone_files::output;
use isochrone_unfinished::UnfinishedDirectory;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tokio::runtime::Runtime;

use super::files::{Key, SIZES, TableFiles};
use super::manifest::{self, FileEntry, Manifest, TableEntry, refuse_foreign};
use super::read::in_bucket;
use super::shape::Shape;
use crate::session::register;
use crate::traced::Traced;

/// Memory for the rows that are sorted, for each thread, bytes; more are sorted on the disk.
const SORT_BYTES: usize = 96 << 20;

/// Threads that sort, at most.
const MAX_THREADS: usize = 8;

/// What is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Whether the events are written, too.
    pub(crate) with_events: bool,
    /// Number of threads; `None`: that of the cores.
    pub(crate) threads: Option<NonZeroUsize>,
}

/// A table that was written.
#[derive(Debug)]
pub(crate) struct Written {
    /// Its name.
    pub(crate) table: String,
    /// Its rows.
    pub(crate) rows: u64,
    /// Its files.
    pub(crate) files: usize,
    /// Their bytes.
    pub(crate) bytes: u64,
}

/// Checks that a directory can be written, before any work is done for it. `inputs`: what is read.
///
/// # Errors
/// There is something that would be lost, or it belongs to a trace that is read.
pub(crate) fn check(directory: &Path, inputs: &[std::path::PathBuf]) -> anyhow::Result<()> {
    anyhow::ensure!(
        in_bucket(directory).is_none(),
        "{} is in a bucket: write a directory, and copy it there",
        directory.display()
    );
    refuse_foreign(directory)?;
    let inside = directory.join(manifest::FILE);
    let probe = if directory.is_dir() { inside.as_path() } else { directory };
    shared::check_output(probe, inputs).with_context(|| format!("cannot write {}", directory.display()))
}

/// Writes all tables of traces as Parquet. Until all is on the disk, what was at the path stays: it replaces
/// nothing but what was written so.
///
/// # Errors
/// A table cannot be read or written, or there is something at the path that would be lost.
pub(crate) fn write(
    traced: &Arc<Traced>,
    directory: &Path,
    options: Options,
    runtime: &Runtime,
) -> anyhow::Result<Vec<Written>> {
    let io = || format!("cannot write {}", directory.display());
    let target = output::place(directory).with_context(io)?;
    let (Some(name), Some(parent)) = (target.file_name(), target.parent()) else {
        anyhow::bail!("{}: has no name", directory.display());
    };
    let partial = UnfinishedDirectory::new(name, parent).with_context(io)?;
    // Beside the files: there is room where they are to be, and a signal removes it with them.
    let scratch = partial.path().join("sorted");
    fs::create_dir(&scratch).with_context(io)?;
    let mut tables = Vec::new();
    {
        let context = session(traced, options, &scratch)?;
        // Of the first file, which is one of `hosts`: engines want to see a value of each directory.
        let mut first = None;
        for shape in Shape::all(options.with_events)? {
            let files = TableFiles::new(&shape, partial.path(), SIZES)?;
            let files = runtime.block_on(write_table(&context, &shape, files, &mut first));
            let files = files.with_context(|| format!("the table `{}` cannot be written", shape.name))?;
            tables.push(TableEntry::new(&shape, files));
        }
    }
    fs::remove_dir_all(&scratch).with_context(io)?;
    let manifest = Manifest::new(tables);
    let list = partial.path().join(manifest::FILE);
    fs::write(&list, serde_json::to_vec_pretty(&manifest)?).with_context(io)?;
    output::flush(partial.path()).with_context(io)?;
    // Files may have come since.
    refuse_foreign(&target)?;
    put(&partial, &target).with_context(io)?;
    output::flush_names(parent);
    let written = |table: &TableEntry| Written {
        table: table.name.clone(),
        rows: table.rows(),
        files: table.files.len(),
        bytes: table.bytes(),
    };
    Ok(manifest.tables.iter().map(written).collect())
}

/// Gives a finished directory its path. What was there gets the hidden one, and is removed with it.
fn put(partial: &UnfinishedDirectory, target: &Path) -> io::Result<()> {
    if !target.exists() {
        return fs::rename(partial.path(), target);
    }
    match renameat_with(CWD, partial.path(), CWD, target, RenameFlags::EXCHANGE) {
        // The file system cannot exchange two names. A directory cannot be renamed over one that is not
        // empty: between the two steps there is none.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            let old = [partial.path().as_os_str(), OsStr::new("-old")].join(OsStr::new(""));
            fs::rename(target, &old)?;
            fs::rename(partial.path(), target)?;
            fs::remove_dir_all(old)
        }
        exchanged => Ok(exchanged?),
    }
}

/// A session that sorts in little memory. `scratch`: where, beyond that.
fn session(traced: &Arc<Traced>, options: Options, scratch: &Path) -> anyhow::Result<SessionContext> {
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = options.threads.map_or_else(cores, NonZeroUsize::get).min(MAX_THREADS);
    let config = SessionConfig::new().with_target_partitions(threads);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(SORT_BYTES * (threads + 1))))
        .with_temp_file_path(scratch)
        .build_arc()?;
    let context = SessionContext::new_with_config_rt(config, runtime);
    register(&context, traced)?;
    Ok(context)
}

/// Writes the files of a table. `first`: of the first file of all tables.
async fn write_table(
    context: &SessionContext,
    shape: &Shape,
    mut files: TableFiles<'_>,
    first: &mut Option<Key>,
) -> anyhow::Result<Vec<FileEntry>> {
    let sorted = context.table(shape.name).await?.sort(shape.order())?;
    let mut rows = sorted.execute_stream().await?;
    while let Some(batch) = rows.next().await {
        files.write(&batch?)?;
    }
    *first = first.take().or(files.first.take());
    files.finish(first.as_ref().unwrap_or(&Key::default()))
}
