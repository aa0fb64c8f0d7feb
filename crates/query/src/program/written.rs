//! `--parquet`: all tables as files of Parquet, for other engines. What was written so is read in place of
//! traces.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use isochrone::shared::{self, ExitStatus, Ready};
use isochrone_files::output as files;
use tokio::runtime::Runtime;

use super::arguments::Arguments;
use crate::parquet_dir::{self, Options, Written};
use crate::traced::Traced;

/// Whether the arguments name a directory of Parquet, and no traces.
///
/// # Errors
/// They name it with others, or with options that do not apply to it.
pub(super) fn is_one(arguments: &Arguments) -> anyhow::Result<bool> {
    let Some(found) = arguments.traces.iter().find(|path| parquet_dir::is_one(path)) else {
        return Ok(false);
    };
    let found = found.display();
    anyhow::ensure!(
        arguments.parquet.is_none(),
        "{found} is a directory of Parquet already; --parquet writes one of traces, or of their store"
    );
    anyhow::ensure!(
        arguments.traces.len() == 1,
        "{found} is a directory of Parquet, which is read alone: write one of all traces"
    );
    let clock = &arguments.clock;
    for (option, is_given) in [
        ("--sync", clock.sync.is_some()),
        ("--no-sync", clock.no_sync),
        ("--store", arguments.store.is_some()),
        ("--cluster", arguments.cluster.is_some()),
    ] {
        anyhow::ensure!(
            !is_given,
            "{option} does not apply to {found}, a directory of Parquet: its times are as they were written"
        );
    }
    Ok(true)
}

/// Refuses to write a file into the directory of Parquet that is read.
///
/// # Errors
/// It would be there.
pub(super) fn check_output(path: &Path, directory: &Path) -> anyhow::Result<()> {
    let is_inside = directory
        .canonicalize()
        .is_ok_and(|directory| files::place(path).is_ok_and(|path| path.starts_with(directory)));
    let (path, directory) = (path.display(), directory.display());
    anyhow::ensure!(!is_inside, "cannot write {path}: it belongs to {directory}, which is an input");
    Ok(())
}

/// Writes all tables, and prints how much that was.
///
/// # Errors
/// Traces cannot be read, or there is something in the directory that would be lost.
pub(super) fn run(arguments: &Arguments, directory: &Path) -> anyhow::Result<ExitStatus> {
    let Arguments { traces, clock, store, threads, quiet, .. } = arguments;
    let inputs = [&traces[..], clock.sync.as_slice(), store.as_slice()].concat();
    parquet_dir::check(directory, &inputs)?;
    let ready = shared::open(traces, clock, store.as_deref(), *threads, *quiet)?;
    let Ready { opened, store, status, .. } = ready;
    let traced = Arc::new(Traced::new(opened, store, None));
    let runtime = Runtime::new().context("threads cannot be started")?;
    let options = Options { with_events: arguments.events, threads: *threads };
    let written = parquet_dir::write(&traced, directory, options, &runtime)?;
    let lost = shared::show_lost(&traced.take_complaints(), *quiet);
    let header = ["table", "rows", "files", "bytes"];
    let row = |it: &Written| {
        vec![it.table.clone(), it.rows.to_string(), it.files.to_string(), it.bytes.to_string()]
    };
    let rows: Vec<Vec<String>> = written.iter().map(row).collect();
    shared::print(|stdout| {
        writeln!(stdout, "{}", shared::plain(&directory.to_string_lossy()))?;
        Ok(shared::table(&header, &rows, &|column| column > 0, stdout)?)
    })?;
    Ok(status.max(lost))
}
