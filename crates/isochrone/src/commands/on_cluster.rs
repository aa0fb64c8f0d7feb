//! `isochrone analyze --cluster`: the executors of a cluster, reached through `isochrone-sql`, map pieces of the traces, and the tables are made
//! here.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use isochrone_analysis::AnalysisKind;
use isochrone_experiment::chunks::{ChunkHead, Located};
use isochrone_experiment::pieces::{Mapping, ToMap};
use isochrone_experiment::{Question, Spread};
use isochrone_timing::Times;
use isochrone_unfinished::UnfinishedDirectory;

use super::analysis::options;
use super::answers::Answering;
use super::{index, mapped, named, pieces, sql};
use crate::arguments::{Analyze, Cluster};
use crate::output::{Console, note};
use crate::render::plain::{Plain, plain};
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
        arguments.periods.is_empty() || machines(arguments)?.is_some(),
        "--period does not apply with --cluster to traces that all machines have: parts of them have no \
         periods"
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
    let count: usize = mapping.hosts.iter().map(|host| host.pieces).sum();
    note!(
        console,
        "{count} pieces of {} hosts are mapped on {}",
        mapping.hosts.len(),
        plain(scheduler(arguments))
    );
    let directory = mapped(arguments, &ToMap::Shared(Box::new(mapping)))?;
    let files = pieces_in(directory.path())?;
    let set = pieces::read(&files)?;
    let clocks = set.clocks().map_err(|error| mapped::pieces_error(&error))?;
    pieces::answer(arguments, kinds, set, clocks.as_ref(), console)
}

/// `HOST:PORT` of the scheduler.
fn scheduler(arguments: &Analyze) -> &str {
    arguments.cluster.cluster.as_deref().unwrap_or_default()
}

/// Has the cluster map something, and gives the directory with the files.
fn mapped(arguments: &Analyze, what: &ToMap) -> anyhow::Result<UnfinishedDirectory> {
    let directory =
        UnfinishedDirectory::temporary("isochrone-cluster").context("cannot make a temporary directory")?;
    let file = directory.path().join(MAPPING);
    fs::write(&file, serde_json::to_vec(what)?)
        .with_context(|| format!("cannot write {}", file.display()))?;
    let program = sql::program();
    let mut command = Command::new(&program);
    command.arg("map").args(arguments.cluster.options()).arg(&file).arg("--output").arg(directory.path());
    let status =
        command.status().map_err(|error| sql::not_started("isochrone analyze --cluster", &program, error))?;
    anyhow::ensure!(status.success(), "the cluster has not mapped the traces");
    Ok(directory)
}

/// Paths by the machine that they are on, as `MACHINE:PATH` says; `None`: they are on all machines. As in
/// `scp`, a path with a colon in its first part is written `./PATH`.
///
/// # Errors
/// Some are, and some are not.
pub(super) fn machines(arguments: &Analyze) -> anyhow::Result<Option<BTreeMap<String, Vec<PathBuf>>>> {
    if arguments.cluster.cluster.is_none() {
        return Ok(None);
    }
    let located = |path: &PathBuf| {
        let (machine, path) = path.to_str()?.split_once(':')?;
        (!machine.contains('/') && !machine.is_empty() && !path.is_empty())
            .then(|| (machine.to_owned(), PathBuf::from(path)))
    };
    let mut all: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut shared = None;
    for path in &arguments.traces {
        match located(path) {
            Some((machine, path)) => all.entry(machine).or_default().push(path),
            None => shared = Some(path),
        }
    }
    match (all.first_key_value(), shared) {
        (Some((machine, _)), Some(shared)) => anyhow::bail!(
            "{}: traces on one machine ({}:…) cannot be combined with traces that all machines have",
            Plain(shared.display()),
            plain(machine)
        ),
        (None, _) => Ok(None),
        (Some(_), None) => Ok(Some(all)),
    }
}

/// Lets the executors on some machines map what lies there, and gives the same question about the files that
/// came back, with the directory that has them, and a store of them where one is needed. No trace is read
/// here. The chunks are mapped for the analyses, or for all spans where times depend on the other machines, or
/// a store is needed; `kinds` is empty for what is read from a store alone.
///
/// # Errors
/// The cluster does not answer, a machine has no executor, or there is no such trace on it.
pub(super) fn map_on_machines(
    arguments: &Analyze,
    kinds: &[AnalysisKind],
    machines: BTreeMap<String, Vec<PathBuf>>,
    console: &Console,
) -> anyhow::Result<(UnfinishedDirectory, Analyze)> {
    anyhow::ensure!(
        arguments.chunks.is_none(),
        "--chunks does not apply to traces on other machines: each maps what it has with all of its cores"
    );
    anyhow::ensure!(
        arguments.store.is_none(),
        "--store does not apply to traces on other machines: a store of them is made for one answer"
    );
    let window = &arguments.window;
    let has_window = window.begin.is_some() || window.end.is_some();
    let needs_store = arguments.at.is_some() || kinds.is_empty();
    let has_periods = !arguments.periods.is_empty();
    let has_spans = has_window || needs_store || has_periods || kinds.contains(&AnalysisKind::Usage);
    let asked = match has_spans {
        true => pieces::spans_asked(arguments, kinds.contains(&AnalysisKind::Syscalls))?,
        false => {
            let options = options(arguments).of_mapping();
            let question = Question { kinds, options: &options, times: Times::default(), periods: None };
            question.asked(&[], None)
        }
    };
    let head = ChunkHead { asked, has_spans };
    let names: Vec<String> = machines.keys().cloned().collect();
    let located = |(machine, paths)| Located { head: head.clone(), machine, paths };
    let what = ToMap::Located(machines.into_iter().map(located).collect());
    note!(console, "traces are mapped on {} by {}", plain(&names.join(", ")), plain(scheduler(arguments)));
    let directory = mapped(arguments, &what)?;
    let traces: Vec<PathBuf> =
        names.iter().map(|name| directory.path().join(format!("{name}.piece"))).collect();
    let (cluster, given) = (Cluster::default(), arguments.given.of_tables());
    let store = needs_store.then(|| directory.path().join("store"));
    if store.is_some() {
        let spread = Spread { threads: arguments.threads, pieces: None };
        index::of_pieces(&named(&traces)?, store.as_deref(), spread, console)?;
    }
    Ok((directory, Analyze { traces, store, cluster, given, ..arguments.clone() }))
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
