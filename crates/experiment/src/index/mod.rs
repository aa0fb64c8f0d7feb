//! The store of an experiment: what [`isochrone_store`] keeps of each host, made with one look over all
//! traces.

mod messages;

use std::path::{Path, PathBuf};

use isochrone_analysis::Need;
use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::{Artefact, ArtefactError};
use isochrone_ctf::Truncations;
use isochrone_files::{Inputs, list_beside};
use isochrone_hosts::{Host, LossKind, Progress, ReadReport};
use isochrone_kernel::Finished;
use isochrone_pipeline::{PieceModel, SpanLog, map_in_order};
use isochrone_store::{
    HostEntry, HostWriter, Loss, Missing, Source, SpanWriter, Store, StoreError, StoreWriter,
};
use isochrone_sync::SyncError;
use isochrone_time::RawNs;
use isochrone_timing::TimedHost;

use crate::chunks::model;
use crate::experiment::Experiment;
use crate::model::{ModelError, Spread, Wanted};
use crate::pieces::{HostFacts, PieceSet, PiecesError};

/// A store that was made.
#[derive(Debug)]
pub struct Indexed {
    /// By host, in the order of the experiment's: what was read, and what was missing.
    pub reports: Vec<ReadReport>,
}

/// Who is asked while a store is made.
#[derive(Clone, Copy, Default)]
pub struct Indexing<'p> {
    /// Gets the bytes that were read.
    pub progress: Option<Progress<'p>>,
    /// Called once if another process, or thread, makes a store at the same place: then this one waits.
    pub waits: Option<&'p dyn Fn()>,
}

/// Why there is no store.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// It cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A host cannot be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Pieces do not become one.
    #[error(transparent)]
    Pieces(#[from] PiecesError),
    /// Packets cannot be matched.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The corrections cannot be written as text.
    #[error(transparent)]
    Artefact(#[from] ArtefactError),
    /// A file became shorter, and the process goes on: what was missing was read as zeros.
    #[error("{} became shorter while it was read", .0.display())]
    Cut(PathBuf),
}

/// The files that traces consist of, and captures, as they are now: a store that was made of others is stale.
/// Sorted.
///
/// # Errors
/// One of them cannot be looked at.
pub fn sources(inputs: &Inputs) -> Result<Vec<Source>, StoreError> {
    let mut all = Vec::new();
    for file in &inputs.pieces {
        all.push(Source::of(&file.path)?);
    }
    for input in inputs.traces.iter().filter(|input| input.excerpt.is_none()) {
        if input.is_packed {
            all.push(Source::of(&input.argument)?);
            let list = list_beside(&input.argument);
            if list.exists() {
                all.push(Source::of(&list)?);
            }
            continue;
        }
        let directory = input.trace.path();
        for name in ["metadata"].into_iter().chain(input.trace.file_names()) {
            all.push(Source::of(&directory.join(name))?);
        }
    }
    for capture in &inputs.captures {
        all.push(Source::of(&capture.path)?);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// The store at a path, if it was made of some traces as they are now.
pub fn fresh_store(path: &Path, inputs: &Inputs) -> Option<Store> {
    let store = Store::open(path).ok()?;
    (store.manifest().sources == sources(inputs).ok()?).then_some(store)
}

/// The corrections in a store, if they are all that a synchronization of its traces would say.
pub fn stored_clocks(store: &Store) -> Option<Clocks> {
    let text = store.clocks().ok().flatten().filter(|_| store.manifest().are_clocks_all)?;
    Clocks::new(&Artefact::from_json(&text).ok()?).ok()
}

/// Makes the store of all hosts of an experiment at a path, where it replaces what is there when it is
/// complete. Times in it are raw, and all hosts have to be in it: the experiment is one on the hosts' own
/// clocks.
///
/// # Errors
/// It cannot be written, or a host not be read; then nothing is left of it.
pub fn index(
    experiment: &Experiment<'_>,
    path: &Path,
    spread: Spread,
    indexing: Indexing<'_>,
) -> Result<Indexed, IndexError> {
    let store = StoreWriter::create(path, || indexing.says_that_it_waits())?;
    write(experiment, store, spread, indexing.progress)
}

/// Makes the store of all hosts of an experiment of pieces of them that hold spans: as [`index`], but the
/// traces are not read again, except for their packets, of which messages are matched. Nothing is made where
/// a store of the traces as they are is there already: `None`.
///
/// # Errors
/// It cannot be written; pieces of a host are missing, or were mapped of other traces. Then nothing is left
/// of it.
pub fn index_of_pieces(
    experiment: &Experiment<'_>,
    pieces: &dyn Fn() -> Result<PieceSet<SpanLog>, PiecesError>,
    path: &Path,
    spread: Spread,
    indexing: Indexing<'_>,
) -> Result<Option<Indexed>, IndexError> {
    let Some(store) = create_if_stale(experiment, path, indexing)? else { return Ok(None) };
    let mut pieces = pieces()?;
    write_hosts(experiment, store, spread, |hosts, writers| {
        let mut all = Vec::with_capacity(hosts.len());
        for (host, writer) in hosts.iter().zip(writers) {
            let name = || host.name().to_owned();
            let whole = pieces.take_whole(&host.traced.id);
            let (facts, part) = whole.ok_or_else(|| PiecesError::Missing(name()))?;
            if facts != HostFacts::of(host) {
                return Err(PiecesError::Stale(name()).into());
            }
            let PieceModel { model, report, .. } = part;
            let log = model.finish().with_threads();
            let model = log.try_with_spans(|log| log.replay(|| writer.consumer()));
            all.push((model.map_err(PiecesError::Damaged)?, report));
        }
        Ok(all)
    })
    .map(Some)
}

/// As [`index`], unless there is a store of the traces as they are once nobody else makes one: then `None`.
///
/// # Errors
/// As [`index`].
pub fn index_if_stale(
    experiment: &Experiment<'_>,
    path: &Path,
    spread: Spread,
    indexing: Indexing<'_>,
) -> Result<Option<Indexed>, IndexError> {
    let Some(store) = create_if_stale(experiment, path, indexing)? else { return Ok(None) };
    write(experiment, store, spread, indexing.progress).map(Some)
}

/// A store at a path, unless there is one of the traces as they are once nobody else makes one.
fn create_if_stale(
    experiment: &Experiment<'_>,
    path: &Path,
    indexing: Indexing<'_>,
) -> Result<Option<StoreWriter>, StoreError> {
    let store = StoreWriter::create(path, || indexing.says_that_it_waits())?;
    Ok(fresh_store(path, experiment.inputs).is_none().then_some(store))
}

impl Indexing<'_> {
    fn says_that_it_waits(&self) {
        if let Some(waits) = self.waits {
            waits();
        }
    }
}

fn write(
    experiment: &Experiment<'_>,
    store: StoreWriter,
    spread: Spread,
    progress: Option<Progress<'_>>,
) -> Result<Indexed, IndexError> {
    write_hosts(experiment, store, spread, |hosts, writers| {
        let consumer_of = |host: &TimedHost<'_>, _| {
            let place = hosts.iter().position(|other| other.traced.id == host.traced.id);
            // It is one of these.
            let writer = &writers[place.unwrap_or_default()];
            move || writer.consumer()
        };
        let models = model(hosts, spread, &Wanted::default(), consumer_of, progress);
        models.into_iter().map(|host| Ok(host.map(|host| (host.model, host.report))?)).collect()
    })
}

/// What a host has become: its model, with the consumer that writes spans, and what was read.
type WrittenHost = (Finished<SpanWriter>, ReadReport);

/// Hosts that are written at a time, unless there are more threads: each keeps some rows of each table
/// until they fill a batch.
const HOSTS_AT_ONCE: usize = 8;

/// Writes a store of what `spans` gives for each of some hosts, in their order, after it has written all
/// their spans.
fn write_hosts<'o>(
    experiment: &Experiment<'o>,
    mut store: StoreWriter,
    spread: Spread,
    mut spans: impl FnMut(&[&TimedHost<'o>], &[HostWriter]) -> Result<Vec<WrittenHost>, IndexError>,
) -> Result<Indexed, IndexError> {
    // Before anything is read: a file that changes while it is makes the store stale.
    let sources = sources(experiment.inputs)?;
    let before = Truncations::now();
    let hosts: Vec<&TimedHost<'o>> = experiment.hosts().iter().collect();
    let (mut reports, mut entries) = (Vec::new(), Vec::new());
    for some in hosts.chunks(HOSTS_AT_ONCE.max(spread.threads())) {
        let writers: Vec<HostWriter> =
            some.iter().map(|host| writer(&mut store, host)).collect::<Result<_, _>>()?;
        let (models, read): (Vec<_>, Vec<ReadReport>) = spans(some, &writers)?.into_iter().unzip();
        let tasks: Vec<_> = models.into_iter().zip(writers).zip(some).collect();
        let has_spare_thread = spread.threads() >= 2 * tasks.len();
        let written = map_in_order(tasks, spread.threads(), |((model, writer), host)| {
            writer.finish(model, &losses(&host.traced), has_spare_thread)
        });
        for (entry, report) in written.into_iter().zip(&read) {
            let is_undecodable = report.broken_packets > 0 || !report.diagnostics.is_empty();
            entries.push(HostEntry { is_undecodable, ..entry? });
        }
        reports.extend(read);
    }
    let (messages, clocks) = messages::write(experiment, &hosts, &mut entries, &mut store)?;
    let is_read = |file: &Path| experiment.inputs.traces.iter().any(|it| file.starts_with(it.trace.path()));
    if let Some(file) = before.since().into_iter().find(|file| is_read(file)) {
        return Err(IndexError::Cut(file));
    }
    store.commit(entries, Some(messages), clocks, sources)?;
    Ok(Indexed { reports })
}

/// What writes a host.
fn writer(store: &mut StoreWriter, host: &TimedHost<'_>) -> Result<HostWriter, StoreError> {
    let traced = &host.traced;
    let mut writer = store.host(&traced.id, &traced.name, traced.offset_ns)?;
    let recorded = host.recorded();
    let lacking = recorded.lacking();
    if lacking.contains(&Need::Descriptors) {
        writer.leave_out_files();
    }
    let has = |need| !lacking.contains(&need);
    writer.set_recorded(isochrone_store::Recorded {
        has_all_calls: has(Need::Calls) && has(Need::EveryCall),
        has_both_ends: has(Need::Calls),
        has_first_wakeups: has(Need::Switches) && recorded.events.contains(&"sched_wakeup_new"),
    });
    Ok(writer)
}

/// What is missing of a host's trace, as far as it is known without a look at the events.
fn losses(host: &Host<'_>) -> Vec<Loss> {
    let of_streams = host.losses().iter().chain(host.uncovered()).map(|loss| {
        let (what, count) = match loss.what {
            LossKind::Events(count) => (Missing::Events, Some(count)),
            LossKind::Packets(count) => (Missing::Packets, Some(count)),
            // It cannot be read, either.
            LossKind::UndecodableTail | LossKind::Disorder => (Missing::Rest, None),
            LossKind::All => (Missing::Stream, None),
            LossKind::NotBegun => (Missing::NotBegun, None),
            LossKind::Over => (Missing::Over, None),
        };
        Loss { start: loss.from, end: loss.to, cpu: host.sources()[loss.source].cpu, what, count }
    });
    let gap = |gap: &isochrone_time::Window<isochrone_time::RawNs>| Loss {
        start: gap.start,
        end: gap.end,
        cpu: None,
        what: Missing::Chunk,
        count: None,
    };
    let absent = |stream: &isochrone_hosts::AbsentStream| {
        let what = if stream.channel.is_none() { Missing::Cpu } else { Missing::Stream };
        Loss { start: RawNs::MIN, end: RawNs::MAX, cpu: Some(stream.cpu), what, count: None }
    };
    of_streams.chain(host.gaps().iter().map(gap)).chain(host.absent_streams().iter().map(absent)).collect()
}
