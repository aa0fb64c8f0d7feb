//! Rotated sessions of several hosts, mapped chunk by chunk as they are finished.
//!
//! A rotation is not atomic: the streams of a host turn to the next chunk one after the other. So a piece
//! runs from the instant at which all streams have turned to a chunk to the one at which all have turned to
//! the next (an effective archive, see [`isochrone_hosts::rotation`]), and is mapped when both chunks are
//! there; the chunk before is opened too, because it tells what was lost between. Chunks are mapped in the
//! order of their numbers, in whatever order they come ([`chunks`]).
//!
//! In place of chunks there can be the pieces that they were mapped to, each alone ([`arrived`], [`comes`]).
//!
//! What has been mapped of a host is one model, in one file ([`journal`]): which chunks it is of is in the
//! same file, so that a process that is killed has either mapped a chunk or not.

mod arrived;
mod chunks;
mod comes;
mod in_place;
mod journal;
mod look;
mod names;
mod retention;
mod sessions;
mod steps;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use isochrone_analysis::{AnalysisKind, AnalysisSet, HostContext, Need, Options, Report};
use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::ArtefactError;
use isochrone_files::Inputs;
use isochrone_files::output::OutputError;
use isochrone_kernel::{MergeError, PartialState};
use isochrone_pipeline::piece_file::PieceFileError;
use isochrone_pipeline::{Border, Piece, PieceModel};
use isochrone_sync::SyncError;
use isochrone_time::{RawNs, UnixNs};
use isochrone_timing::Timing;

use crate::chunks::{ChunkHead, UnknownTime};
use crate::experiment::Experiment;
use crate::model::{ModelError, ModelledHost, Spread};
use crate::pieces::{Asked, HostFacts, Mapped, Part, Pass};
use crate::question::{Question, reports};
pub use arrived::head_of_pieces;
use chunks::Opened;
use comes::{Pieces, Shown, is_of_pieces};
pub use in_place::{ChunkFacts, Entry, FinishedChunk, InPlace, PieceJournal, PieceRecord};
use journal::Recent;
pub use retention::Retention;
use sessions::{Ready, Waiting};
pub use steps::{Step, StepClock, Steps};

/// In the journal: a file without contents, which the process that goes on with it has locked.
const LOCK: &str = "lock";

/// What is watched, and for what.
#[derive(Debug)]
pub struct Watched<'w> {
    /// Directories of sessions, or above them.
    pub directories: Vec<PathBuf>,
    /// Where the journal is; `None`: nowhere, so that another process begins anew.
    pub state: Option<PathBuf>,
    /// Which analyses. `usage` divides time by when a trace begins and ends, and cannot be watched.
    pub kinds: &'w [AnalysisKind],
    /// What they are asked.
    pub options: &'w Options,
    /// What pieces were mapped for, and the file that says so, where these come and not chunks: see
    /// [`head_of_pieces`]. Unless they hold spans, the analyses and options have to be those.
    pub pieces: Option<(ChunkHead, PathBuf)>,
    /// The corrections of the clocks, and their text.
    pub corrections: Option<(Clocks, String)>,
    /// How long to wait for a chunk that is missing, once a later one is there.
    pub patience: Duration,
    /// Which chunks are deleted of those that have been mapped and are not needed any more.
    pub retention: Retention,
    /// Whether chunks are needed until a step has used them: see [`Steps`].
    pub has_steps: bool,
    /// Whether something is published of each chunk that is not taken back. Else pieces that are missing
    /// before the first one that is there are not waited for.
    pub is_published: bool,
    /// How the work is spread.
    pub spread: Spread,
}

/// What one look brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A chunk of a host was mapped, up to where all streams had turned to the next one.
    Mapped {
        /// The host's name.
        host: String,
        /// Where the chunk is.
        chunk: PathBuf,
    },
    /// Chunks of a session did not come: what was in them is unknown.
    Missing {
        /// The session's directory.
        session: PathBuf,
        /// Their numbers: the first, and the first that is there.
        numbers: (u64, u64),
    },
    /// A chunk came when it was taken for missing: it is left out.
    Late(PathBuf),
    /// A piece came whose time had been taken for missing: it is mapped now. What was published of its time
    /// before, in steps, stays.
    Filled(PathBuf),
    /// Nothing is known of some time of a host whose pieces come.
    Unknown(UnknownTime),
    /// A chunk is of no use.
    Refused {
        /// Where it is.
        chunk: PathBuf,
        /// Why.
        why: String,
    },
    /// A packet that cannot be decoded, a file that is cut, a part of a chunk that cannot be opened.
    Broken(String),
    /// A directory that cannot be listed: there may be chunks in it.
    Unreadable {
        /// Where it is.
        directory: PathBuf,
        /// Why.
        why: String,
    },
}

/// How far a host has been mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostProgress {
    /// Its clock: see [`HostFacts::id`].
    pub id: String,
    /// Its name.
    pub host: String,
    /// Chunks that were mapped.
    pub chunks: u64,
    /// Chunks that wait for others.
    pub waiting: u64,
    /// Events.
    pub events: u64,
    /// Times in which something is missing.
    pub losses: u64,
    /// All before this instant is in the tables, Unix ns; `None`: nothing is.
    pub watermark: Option<UnixNs>,
}

/// Why nothing can be watched any more.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// A directory cannot be listed or made.
    #[error("{}: {source}", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] PieceFileError),
    /// Another process goes on with the journal.
    #[error("{}: another process watches with it; end that one, or name another directory", .0.display())]
    Locked(PathBuf),
    /// The journal is of another question.
    #[error("{}: was kept for other analyses, options or corrections; name another --state, or delete it", .0.display())]
    Asked(PathBuf),
    /// Pieces in a directory were mapped for another question.
    #[error(
        "{}: its pieces were mapped for other analyses, options or corrections; name another --out",
        .0.display()
    )]
    OtherPieces(PathBuf),
    /// A host cannot be mapped.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The clocks of the hosts cannot be put on one.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The corrections cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The corrections cannot be computed with, or those that were written cannot be used.
    #[error("the corrections of the hosts: {0}")]
    Corrections(#[from] ArtefactError),
    /// Pieces do not fit, which does not happen with those of one host.
    #[error("{host}: {source}")]
    Merge {
        /// The host.
        host: String,
        /// Why.
        source: MergeError,
    },
}

/// What has been mapped so far.
#[derive(Debug)]
pub struct Watch<'w> {
    watched: Watched<'w>,
    asked: Asked,
    /// By their clocks.
    hosts: BTreeMap<String, HostWatch>,
    /// Chunks that have been looked at and are not mapped yet, or never will be.
    seen: BTreeSet<PathBuf>,
    /// Since when a chunk waits for one before it.
    waits: HashMap<PathBuf, Instant>,
    /// Directories that could not be listed when it was looked last.
    unreadable: BTreeSet<PathBuf>,
    pieces: Pieces,
    /// Held as long as this goes on, so that no other process does.
    _lock: Option<File>,
}

/// A host.
#[derive(Debug, Default)]
struct HostWatch {
    done: journal::Done,
    facts: Option<HostFacts>,
    mapped: Option<Mapped>,
    /// In the order of time.
    waiting: Vec<Opened>,
    /// When its last chunk was mapped, by this process.
    progressed: Option<Instant>,
    /// Of pieces: what all of them come to, unless some have come since.
    shown: Option<Shown>,
    /// Whether it was mapped again by this process, as a piece came late.
    is_again: bool,
}

impl<'w> Watch<'w> {
    /// Goes on where the journal has ended.
    ///
    /// # Errors
    /// The journal cannot be read, or is of another question.
    pub fn new(mut watched: Watched<'w>) -> Result<Self, WatchError> {
        // Sessions are known by their directories, in whatever way these are named the next time.
        for directory in &mut watched.directories {
            let whole = directory.canonicalize();
            *directory = whole.map_err(|source| WatchError::Directory { path: directory.clone(), source })?;
        }
        let corrections = watched.corrections.as_ref().map(|(_, text)| text.clone());
        let options = watched.options.of_mapping();
        let of_pieces = watched.pieces.as_ref().map(|(head, _)| head).filter(|head| !head.has_spans);
        let asked = Asked {
            kinds: watched.kinds.to_vec(),
            options,
            times: of_pieces.map(|head| head.asked.times).unwrap_or_default(),
            corrections,
            keeps_all: false,
            periods: None,
        };
        let (mut hosts, mut lock) = (BTreeMap::new(), None);
        if let Some(state) = &watched.state {
            lock = Some(locked(state)?);
            for (head, mapped) in journal::read(state)? {
                if head.asked != asked {
                    return Err(WatchError::Asked(state.clone()));
                }
                let journal::Head { facts, done, .. } = head;
                let id = facts.id.clone();
                let host =
                    HostWatch { done, facts: Some(facts), mapped: Some(mapped), ..HostWatch::default() };
                hosts.insert(id, host);
            }
        }
        let (seen, waits, unreadable, pieces) = Default::default();
        Ok(Self { watched, asked, hosts, seen, waits, unreadable, pieces, _lock: lock })
    }

    /// Maps, of all pieces that can be mapped, the one that ends first, and says of which host it is; `None`:
    /// there is none. `is_last`: nothing more will come, so that nobody waits for what is missing. The piece
    /// is in the journal before this returns.
    ///
    /// # Errors
    /// The journal cannot be written. What was mapped before is in it.
    pub fn advance(
        &mut self,
        is_last: bool,
        changes: &mut Vec<Change>,
    ) -> Result<Option<String>, WatchError> {
        let hosts: Vec<String> = self.hosts.keys().cloned().collect();
        let mut first: Option<(UnixNs, String, Ready)> = None;
        for id in hosts {
            let Some((end, ready)) = self.ready(&id, is_last, changes) else { continue };
            if first.as_ref().is_none_or(|(least, ..)| end < *least) {
                first = Some((end, id, ready));
            }
        }
        let Some((_, id, ready)) = first else { return Ok(None) };
        let passed = ready.passed.clone();
        match self.map(&id, ready, changes) {
            // The other pieces are of use.
            Err(error) if self.watched.pieces.is_some() && is_of_pieces(&error) => {
                self.leave_out(&id, passed, &error, changes);
            }
            mapped => mapped?,
        }
        Ok(Some(id))
    }

    /// Leaves out the pieces of a host that cannot be mapped.
    fn leave_out(
        &mut self,
        id: &str,
        passed: Vec<(PathBuf, u64, PathBuf)>,
        error: &WatchError,
        changes: &mut Vec<Change>,
    ) {
        let Some(host) = self.hosts.get_mut(id) else { return };
        host.waiting.retain(|waiting| passed.iter().all(|(.., path)| waiting.chunk.path != *path));
        host.shown = None;
        for (session, number, chunk) in passed {
            host.done.skip(&session, (number, number.saturating_add(1)));
            changes.push(Change::Refused { chunk, why: error.to_string() });
        }
    }

    /// The next piece of a host, if it can be mapped, and when it ends, Unix ns.
    fn ready(&mut self, id: &str, is_last: bool, changes: &mut Vec<Change>) -> Option<(UnixNs, Ready)> {
        let is_followed = !is_last && self.is_followed(id);
        let host = self.hosts.get_mut(id)?;
        let mapped_to = host.mapped_to();
        // What was mapped is not mapped again, whatever comes of it later.
        let is_late = |waiting: &Opened| {
            let is_begun = host.done.is_new(&waiting.chunk.session);
            mapped_to.is_some_and(|to| is_begun && waiting.begin < to)
        };
        if host.is_over() {
            for Opened { chunk, .. } in host.waiting.drain(..) {
                let why = "the host was taken for one that has been started again".to_owned();
                changes.push(Change::Refused { chunk: chunk.path, why });
            }
        }
        let late: Vec<Opened> = host.waiting.extract_if(.., |waiting| is_late(waiting)).collect();
        for Opened { chunk, .. } in late {
            changes.push(Change::Late(chunk.path));
        }
        let first = host.waiting.first()?;
        let since = *self.waits.entry(first.chunk.path.clone()).or_insert_with(Instant::now);
        let Watched { pieces, state, is_published, patience, .. } = &self.watched;
        let how = Waiting {
            is_last,
            is_over: since.elapsed() >= *patience,
            has_any_start: pieces.is_some() && state.is_none() && !is_published,
        };
        let ready = sessions::ready(&host.waiting, &host.done, how);
        let is_over = is_followed && how.is_over;
        let ready = ready.or_else(|| is_over.then(|| sessions::rest(&host.waiting)))?;
        let end = ready.to.or(host.waiting.last().map(|it| it.end)).unwrap_or_default();
        Some((Timing::Own { offset_ns: first.offset_ns }.unix(end), ready))
    }

    /// Whether a host has been started again: another one of its name, with another clock, begins after all
    /// that is known of it.
    fn is_followed(&self, id: &str) -> bool {
        let own = |host: &HostWatch, raw| Timing::Own { offset_ns: host.offset_ns() }.unix(raw);
        let end_of = |host: &HostWatch| Some(own(host, host.waiting.last()?.end));
        let Some((name, Some(end))) = self.hosts.get(id).map(|host| (host.name(id), end_of(host))) else {
            return false;
        };
        let begins_after = |(other, host): (&String, &HostWatch)| {
            let start = host.start().map(|start| own(host, start));
            other != id && host.name(other) == name && start.is_some_and(|start| start >= end)
        };
        self.hosts.iter().any(begins_after)
    }

    /// Maps a piece of a host, and writes that down.
    fn map(&mut self, id: &str, ready: Ready, changes: &mut Vec<Change>) -> Result<(), WatchError> {
        let Ready { to, opened, passed, ended, given_up } = ready;
        let Some(host) = self.hosts.get_mut(id) else { return Ok(()) };
        for (session, numbers) in given_up {
            host.done.skip(&session, numbers);
            changes.push(Change::Missing { session, numbers });
        }
        let is_in = |waiting: &&Opened| to.is_none_or(|to| waiting.begin < to);
        let mut parts: Vec<&Opened> = host.waiting.iter().filter(is_in).collect();
        parts.sort_by_key(|it| (it.begin, it.chunk.number));
        let parts: Vec<(PathBuf, u64, RawNs)> =
            parts.into_iter().map(|it| (it.chunk.session.clone(), it.chunk.number, it.begin)).collect();
        let from = host.mapped.as_ref().map_or(Border::Begin, |mapped| mapped.piece.to);
        let piece = Piece { from, to: to.map_or(Border::End, Border::At) };
        let opened: Vec<&Path> = opened.iter().map(PathBuf::as_path).collect();
        let mapped = self.map_piece(id, &opened, piece, changes)?;
        let asked = &self.asked;
        let Some(host) = self.hosts.get_mut(id) else { return Ok(()) };
        for (.., path) in &passed {
            self.waits.remove(path);
        }
        host.waiting.retain(|waiting| passed.iter().all(|(.., path)| waiting.chunk.path != *path));
        host.shown = None;
        let Some((facts, mapped)) = mapped else { return Ok(()) };
        changes.extend(mapped.report.diagnostics.iter().cloned().map(Change::Broken));
        let name = facts.name.clone();
        let whole = join(&name, host.mapped.take(), mapped)?;
        let mut known = host.facts.take().unwrap_or_else(|| facts.clone());
        known.events.extend(facts.events);
        known.events.sort_unstable();
        known.events.dedup();
        for (session, number, begin) in &parts {
            host.done.join(session, *number, *begin);
        }
        for (session, number, path) in passed {
            changes.push(Change::Mapped { host: name.clone(), chunk: path.clone() });
            let recent = Recent { session: session.clone(), path, to: to.unwrap_or(RawNs::MAX) };
            host.done.pass(session, number, recent);
        }
        for session in ended {
            host.done.end(session);
        }
        if !self.watched.has_steps {
            host.done.forget(RawNs::MAX);
        }
        if let Some(state) = &self.watched.state {
            let head = journal::Head { asked: asked.clone(), facts: known.clone(), done: host.done.clone() };
            journal::write(state, &head, &whole)?;
        }
        host.progressed = Some(Instant::now());
        (host.facts, host.mapped) = (Some(known), Some(whole));
        Ok(())
    }

    /// Maps a piece of a host of some chunks, and of the one before them. `None`: it is of another host, or
    /// empty.
    fn map_piece(
        &self,
        id: &str,
        chunks: &[&Path],
        piece: Piece,
        changes: &mut Vec<Change>,
    ) -> Result<Option<(HostFacts, Mapped)>, WatchError> {
        let before = self.hosts.get(id).map(|host| host.done.before()).unwrap_or_default();
        let paths = before.into_iter().filter(|path| path.exists());
        let paths: Vec<PathBuf> = paths.chain(chunks.iter().copied()).map(Path::to_path_buf).collect();
        let inputs = Inputs::open(&paths);
        let clocks = self.watched.corrections.as_ref().map(|(clocks, _)| clocks);
        let experiment = Experiment::new(&inputs, clocks);
        let Some(host) = experiment.hosts().iter().find(|host| host.traced.id == id) else { return Ok(None) };
        let Watched { kinds, spread, .. } = self.watched;
        let question =
            Question { kinds, options: &self.asked.options, times: self.asked.times, periods: None };
        let known = self.hosts.get(id).and_then(|host| host.facts.as_ref());
        let has_switches =
            known.is_some_and(|it| it.events.iter().any(|name| Need::Switches.is_met_by(name)));
        let part = match experiment.chunks() {
            Some(chunks) => {
                changes.extend(chunks.unknown(&host.traced, piece).into_iter().map(Change::Unknown));
                question.map_chunks(host, piece, (spread, has_switches))?
            }
            None => {
                let mut mapped =
                    question.map_after(&[host], Pass::of(Part::Raw(piece), spread), has_switches);
                mapped.pop().transpose()?.flatten().map(|mapped| mapped.part)
            }
        };
        let Some(part) = part else { return Ok(None) };
        let mut facts = HostFacts::of(host);
        // These are of the chunks that are open now, not of the host.
        (facts.extent, facts.bytes) = (None, 0);
        facts.notes.clear();
        Ok(Some((facts, part)))
    }

    /// How far each host has been mapped, in the order of their names. `is_last`: with the pieces that wait,
    /// as [`Self::reports`] has them.
    pub fn progress(&self, is_last: bool) -> Vec<HostProgress> {
        let names = self.names();
        let is_last = is_last && self.watched.pieces.is_some();
        let of_host = |(id, host): (&String, &HostWatch)| {
            let shown = host.shown.as_ref().filter(|_| is_last);
            let facts = shown.map(|shown| &shown.facts).or(host.facts.as_ref())?;
            let timing = facts.timing(self.clocks(), false);
            let border = host.mapped.as_ref().map(|mapped| mapped.piece.to);
            let at = border.and_then(|border| matches!(border, Border::At(_)).then(|| border.time()));
            let ends = host.waiting.iter().map(|waiting| waiting.end).filter(|_| is_last);
            let at = at.into_iter().chain(ends).max();
            let waiting = host.waiting.len() as u64;
            let report = host.mapped.as_ref().map(|mapped| &mapped.report);
            let report = shown.map(|shown| &shown.report).or(report);
            Some(HostProgress {
                id: facts.id.clone(),
                host: names.get(id.as_str()).cloned().unwrap_or_default(),
                chunks: host.done.chunks + if is_last { waiting } else { 0 },
                waiting: if is_last { 0 } else { waiting },
                events: report.map_or(0, |report| report.events),
                losses: report.map_or(0, |report| report.losses),
                watermark: at.zip(timing).map(|(raw, timing)| timing.unix(raw)),
            })
        };
        let mut all: Vec<HostProgress> = self.hosts.iter().filter_map(of_host).collect();
        all.sort_by(|a, b| a.host.cmp(&b.host));
        all
    }

    /// Of each host of which chunks wait: its id, its name, and the last event that is known of it, Unix ns.
    pub fn ends(&self) -> Vec<(String, String, UnixNs)> {
        let names = self.names();
        let of_host = |(id, host): (&String, &HostWatch)| {
            let end = host.waiting.last()?.end;
            let (name, timing) = (names.get(id.as_str())?.clone(), host.timing(id, self.clocks()));
            Some((id.clone(), name, timing.unix(end)))
        };
        self.hosts.iter().filter_map(of_host).collect()
    }

    /// What is known of the hosts that have been mapped.
    pub fn facts(&self) -> impl Iterator<Item = &HostFacts> {
        self.hosts.values().filter_map(|host| host.facts.as_ref())
    }

    /// The same, each with the name that no other host has.
    pub fn named_facts(&self) -> Vec<(String, &HostFacts)> {
        if self.watched.pieces.is_some() {
            return self.shown_facts();
        }
        let names = self.names();
        self.hosts
            .iter()
            .filter_map(|(id, host)| Some((names.get(id.as_str())?.clone(), host.facts.as_ref()?)))
            .collect()
    }

    fn clocks(&self) -> Option<&Clocks> {
        self.watched.corrections.as_ref().map(|(clocks, _)| clocks)
    }

    /// The tables of what has been mapped. `is_last`: with what is left at the end of each host, as if
    /// nothing more came: then they are those of the whole traces. Nothing of that is in the journal.
    ///
    /// # Errors
    /// A host cannot be mapped.
    pub fn reports(
        &mut self,
        options: &Options,
        is_last: bool,
        changes: &mut Vec<Change>,
    ) -> Result<Vec<Report>, WatchError> {
        match is_last && self.watched.pieces.is_some() {
            true => self.reports_of_all(options, changes),
            false => self.reports_of(None, options, is_last),
        }
    }

    /// As [`Self::reports`], of the host of an id alone, if one is given.
    ///
    /// # Errors
    /// As there.
    pub fn reports_of(
        &self,
        only: Option<&str>,
        options: &Options,
        is_last: bool,
    ) -> Result<Vec<Report>, WatchError> {
        let mut modelled: Vec<ModelledHost<'_, AnalysisSet>> = Vec::new();
        let names = self.names();
        for (id, host) in self.hosts.iter().filter(|(id, _)| only.is_none_or(|only| only == *id)) {
            let mut part = host.mapped.as_ref().map(journal::copy).transpose()?;
            let mut facts = host.facts.clone();
            if is_last && !host.waiting.is_empty() {
                let from = part.as_ref().map_or(Border::Begin, |part| part.piece.to);
                let piece = Piece { from, to: Border::End };
                let left: Vec<&Path> = host.waiting.iter().map(|it| it.chunk.path.as_path()).collect();
                if let Some((here, tail)) = self.map_piece(id, &left, piece, &mut Vec::new())? {
                    part = Some(join(&here.name, part, tail)?);
                    facts.get_or_insert(here);
                }
            }
            let Some((facts, part)) = facts.zip(part) else { continue };
            let Some(timing) = facts.timing(self.clocks(), false) else { continue };
            let lacking = facts.recorded(&facts.name).lacking();
            let own = names.get(id.as_str()).cloned().unwrap_or(facts.name);
            let name = timing.clock().map_or(own, |clock| clock.entry.host.clone());
            modelled.push(ModelledHost::of_pieces(name, timing, lacking, part));
        }
        modelled.sort_by(|a, b| HostContext::name(a).cmp(HostContext::name(b)));
        Ok(reports(&modelled, &self.asked.options.with_tables_of(options), self.watched.spread))
    }
}

/// Makes the directory of a journal if there is none, and takes it for this process alone.
fn locked(state: &Path) -> Result<File, WatchError> {
    let wrong = |source| WatchError::Directory { path: state.to_owned(), source };
    fs::create_dir_all(state).map_err(wrong)?;
    let file = File::create(state.join(LOCK)).map_err(wrong)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(WatchError::Locked(state.to_owned())),
        Err(TryLockError::Error(source)) => Err(wrong(source)),
    }
}

/// Appends a piece to what there is.
fn join(host: &str, left: Option<Mapped>, right: Mapped) -> Result<Mapped, WatchError> {
    let Some(left) = left else { return Ok(right) };
    let piece = Piece { from: left.piece.from, to: right.piece.to };
    let mut report = left.report;
    report.absorb(right.report);
    let merged: Result<PartialState<_>, MergeError> = left.model.merge(right.model);
    let model = merged.map_err(|source| WatchError::Merge { host: host.to_owned(), source })?;
    Ok(PieceModel { piece, model, report })
}
