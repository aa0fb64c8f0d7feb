//! `isochrone analyze --cluster`: the executors of a cluster, reached through `isochrone-sql`, map pieces of the traces, and the tables are made
//! here.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use isochrone_analysis::AnalysisKind;
use isochrone_experiment::Question;
use isochrone_experiment::pieces::Mapping;
use isochrone_unfinished::UnfinishedDirectory;

use super::analyze::options;
use super::answers::Answering;
use super::{index, pieces, sql};
use crate::arguments::Analyze;
use crate::output::note;
use crate::render::plain::plain;
use crate::shared::corrections;

/// The file with the mapping.
const MAPPING: &str = "mapping.json";

/// Refuses options that do not apply with a cluster, or without one.
pub(super) fn check(arguments: &Analyze) -> anyhow::Result<()> {
    if arguments.cluster.cluster.is_none() {
        anyhow::ensure!(
            arguments.cluster.keys.cert.is_none(),
            "--cert is for a cluster: name it with --cluster HOST:PORT"
        );
        return Ok(());
    }
    anyhow::ensure!(
        arguments.periods.is_empty(),
        "--period does not apply with --cluster: periods need two passes over the traces, and have no pieces"
    );
    Ok(())
}

/// Lets the cluster map the pieces of all hosts, and answers from them.
///
/// # Errors
/// The cluster does not answer, a machine of it has other traces, or they cannot be read.
pub(super) fn analyse(of: Answering<'_, '_>, kinds: &[AnalysisKind]) -> anyhow::Result<()> {
    let Answering { arguments, named, opened, hosts, times, console, .. } = of;
    let of_mapping = options(arguments).of_mapping();
    let question = Question { kinds, options: &of_mapping, times, periods: None };
    let stored = || {
        let store = index::kept_store(named, arguments.store.as_deref(), opened.inputs());
        let store = store.context("the store with the corrections of clocks no longer exists")?;
        Ok(store.clocks()?)
    };
    let corrections = corrections(opened, &arguments.clock, stored)?.map(|artefact| artefact.to_json());
    let clocks = (corrections.transpose()?, opened.is_synchronized());
    let chunks = arguments.chunks.map(std::num::NonZeroUsize::get);
    let mapping = Mapping::new(&question, hosts, clocks, chunks)?;
    let directory =
        UnfinishedDirectory::temporary("isochrone-cluster").context("cannot make a temporary directory")?;
    let file = directory.path().join(MAPPING);
    fs::write(&file, serde_json::to_vec(&mapping)?)
        .with_context(|| format!("cannot write {}", file.display()))?;
    let count: usize = mapping.hosts.iter().map(|host| host.pieces).sum();
    let cluster = arguments.cluster.cluster.as_deref().unwrap_or_default();
    note!(console, "{count} pieces of {} hosts are mapped on {}", mapping.hosts.len(), plain(cluster));
    let program = sql::program();
    let mut command = Command::new(&program);
    command.arg("map").args(arguments.cluster.options()).arg(&file).arg("--output").arg(directory.path());
    let status =
        command.status().map_err(|error| sql::not_started("isochrone analyze --cluster", &program, error))?;
    anyhow::ensure!(status.success(), "the cluster has not mapped the traces");
    let files = pieces_in(directory.path())?;
    let set = pieces::read(&files)?;
    let clocks = set.clocks().map_err(|error| pieces::pieces_error(&error))?;
    pieces::answer(arguments, kinds, set, clocks.as_ref(), console)
}

/// The files of pieces, in the order of their names.
fn pieces_in(directory: &std::path::Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let paths: Result<Vec<PathBuf>, _> =
        entries.map(|entry| Ok::<_, std::io::Error>(entry?.path())).collect();
    let mut paths = paths.with_context(|| format!("cannot read {}", directory.display()))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "piece"));
    paths.sort_unstable();
    Ok(paths)
}
