//! Rotated sessions of several hosts, mapped chunk by chunk as they are finished.
//!
//! A rotation is not atomic: the streams of a host turn to the next chunk one after the other. So a piece runs from the instant at which
//! all streams have turned to a chunk to the one at which all have turned to the next (an effective archive, see
//! [`isochrone_hosts::rotation`]), and is mapped when both chunks are there; the chunk before is opened too, because it tells what was lost
//! between. Chunks are mapped in the order of their numbers, in whatever order they come ([`chunks`]).
//!
//! What has been mapped of a host is one model, in one file ([`journal`]): which chunks it is of is in the same file, so that a
//! process that is killed has either mapped a chunk or not.

mod chunks;
mod journal;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use isochrone_analysis::{AnalysisKind, AnalysisSet, Options, Report};
use isochrone_kernel::{MergeError, PartialState};
use isochrone_pipeline::store::StoreError;
use isochrone_pipeline::{Border, Piece, PieceModel};
use isochrone_sync::Inputs;
use isochrone_sync::apply::Clocks;

use crate::experiment::Experiment;
use crate::model::{ModelError, ModelledHost, Spread};
use crate::pieces::{Asked, HostFacts, Mapped, Part};
use crate::question::{Question, reports};
use crate::window::Times;
use chunks::{Chunk, Opened};

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
    /// The corrections of the clocks, and their text.
    pub corrections: Option<(Clocks, String)>,
    /// How long to wait for a chunk that is missing, once a later one is there.
    pub patience: Duration,
    /// How old chunks are deleted that have been mapped and are not needed any more; `None`: never.
    pub delete_after: Option<Duration>,
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
    /// A chunk is of no use.
    Refused {
        /// Where it is.
        chunk: PathBuf,
        /// Why.
        why: String,
    },
    /// A packet that cannot be decoded.
    Broken(String),
}

/// How far a host has been mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostProgress {
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
    pub watermark: Option<i128>,
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
    Journal(#[from] StoreError),
    /// The journal is of another question.
    #[error("{}: was kept for other analyses, options or corrections; name another --state, or delete it", .0.display())]
    Asked(PathBuf),
    /// A host cannot be mapped.
    #[error(transparent)]
    Model(#[from] ModelError),
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
}

/// A host.
#[derive(Debug, Default)]
struct HostWatch {
    done: journal::Done,
    facts: Option<HostFacts>,
    mapped: Option<Mapped>,
    /// In the order of time.
    waiting: Vec<Opened>,
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
        let asked = Asked { kinds: watched.kinds.to_vec(), options, times: Times::default(), corrections };
        let mut hosts = BTreeMap::new();
        if let Some(state) = &watched.state {
            fs::create_dir_all(state)
                .map_err(|source| WatchError::Directory { path: state.clone(), source })?;
            for (head, mapped) in journal::read(state)? {
                if head.asked != asked {
                    return Err(WatchError::Asked(state.clone()));
                }
                let journal::Head { facts, done, .. } = head;
                let id = facts.id.clone();
                hosts.insert(
                    id,
                    HostWatch { done, facts: Some(facts), mapped: Some(mapped), waiting: Vec::new() },
                );
            }
        }
        Ok(Self { watched, asked, hosts, seen: BTreeSet::new(), waits: HashMap::new() })
    }

    /// Looks for new chunks, and maps those that can be. `is_last`: nothing more will come, so that nobody waits for what is missing. Each chunk
    /// is in the journal before the next one is read.
    ///
    /// # Errors
    /// A directory that was named cannot be listed, or the journal cannot be written. What was mapped before is in it.
    pub fn look(&mut self, is_last: bool) -> Result<Vec<Change>, WatchError> {
        let mut changes = Vec::new();
        self.find(&mut changes)?;
        let hosts: Vec<String> = self.hosts.keys().cloned().collect();
        for id in hosts {
            while let Some((first, next)) = self.ready(&id, is_last, &mut changes) {
                self.map(&id, first, &next, &mut changes)?;
            }
        }
        Ok(changes)
    }

    /// Finds chunks that are new, and deletes those that are not needed any more.
    fn find(&mut self, changes: &mut Vec<Change>) -> Result<(), WatchError> {
        let found = chunks::find(&self.watched.directories).map_err(|source| {
            let path = self.watched.directories.first().cloned().unwrap_or_default();
            WatchError::Directory { path, source }
        })?;
        // What is gone is forgotten.
        self.seen.retain(|path| path.exists());
        for chunk in found {
            let session = chunk.session.clone();
            let of = self.hosts.values().map(|host| &host.done).find(|done| done.next(&session) > 0);
            if let Some(done) = of.filter(|done| chunk.number < done.next(&session)) {
                self.retire(&done.clone(), &chunk, changes);
                continue;
            }
            if !self.seen.insert(chunk.path.clone()) {
                continue;
            }
            let path = chunk.path.clone();
            match chunks::open(chunk) {
                Ok(Some(opened)) => {
                    let host = self.hosts.entry(opened.host.clone()).or_default();
                    host.waiting.push(opened);
                    host.waiting.sort_by_key(|it| (it.switched, it.begin, it.chunk.clone()));
                }
                Ok(None) => {
                    changes.push(Change::Refused { chunk: path, why: "no packet is in it".to_owned() });
                }
                Err(why) => changes.push(Change::Refused { chunk: path, why }),
            }
        }
        Ok(())
    }

    /// What becomes of a chunk whose time has been mapped.
    fn retire(&mut self, done: &journal::Done, chunk: &Chunk, changes: &mut Vec<Change>) {
        if done.missing.contains(&(chunk.session.clone(), chunk.number)) {
            if self.seen.insert(chunk.path.clone()) {
                changes.push(Change::Late(chunk.path.clone()));
            }
            return;
        }
        let Some(after) = self.watched.delete_after.filter(|_| done.before.as_ref() != Some(&chunk.path))
        else {
            return;
        };
        let age =
            fs::metadata(&chunk.path).and_then(|it| it.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age >= after) {
            // What cannot be deleted now is found again at the next look.
            let _ = fs::remove_dir_all(&chunk.path);
        }
    }

    /// The next chunk of a host and the one after it, if the first can be mapped.
    fn ready(&mut self, id: &str, is_last: bool, changes: &mut Vec<Change>) -> Option<(Opened, Opened)> {
        let host = self.hosts.get_mut(id)?;
        loop {
            let [first, next, ..] = host.waiting.as_slice() else { return None };
            // Two sessions of a host one after the other are one; at one time they are not.
            if next.chunk.session != first.chunk.session && next.begin < first.end {
                let why = format!("the host is watched in {} at that time", first.chunk.session.display());
                let refused = host.waiting.remove(1);
                changes.push(Change::Refused { chunk: refused.chunk.path, why });
                continue;
            }
            let session = &first.chunk.session;
            let (number, expected) = (first.chunk.number, host.done.next(session));
            let is_same = next.chunk.session == *session;
            let is_next = is_same && next.chunk.number == number + 1;
            let since = *self.waits.entry(first.chunk.path.clone()).or_insert_with(Instant::now);
            let is_due = is_last || number == expected && is_next;
            if !is_due && since.elapsed() < self.watched.patience {
                return None;
            }
            let (first, next) = (first.clone(), next.clone());
            let mut given_up = vec![(expected, number)];
            given_up.extend(is_same.then_some((number + 1, next.chunk.number)));
            for numbers in given_up.into_iter().filter(|(from, to)| from < to) {
                let session = first.chunk.session.clone();
                host.done.skip(&session, numbers);
                changes.push(Change::Missing { session, numbers });
            }
            return Some((first, next));
        }
    }

    /// Maps a chunk of a host up to the next one, and writes that down.
    fn map(
        &mut self,
        id: &str,
        first: Opened,
        next: &Opened,
        changes: &mut Vec<Change>,
    ) -> Result<(), WatchError> {
        let Some(host) = self.hosts.get(id) else { return Ok(()) };
        let from = host.mapped.as_ref().map_or(Border::Begin, |mapped| mapped.piece.to);
        let piece = Piece { from, to: Border::At(next.switched) };
        let mapped = self.map_piece(id, &[&first.chunk.path, &next.chunk.path], piece)?;
        self.waits.remove(&first.chunk.path);
        let asked = &self.asked;
        let Some(host) = self.hosts.get_mut(id) else { return Ok(()) };
        host.waiting.retain(|waiting| waiting.chunk != first.chunk);
        let Some((facts, mapped)) = mapped else { return Ok(()) };
        changes.extend(mapped.report.diagnostics.iter().cloned().map(Change::Broken));
        let name = facts.name.clone();
        let whole = join(&name, host.mapped.take(), mapped)?;
        let mut known = host.facts.take().unwrap_or_else(|| facts.clone());
        known.events.extend(facts.events);
        known.events.sort_unstable();
        known.events.dedup();
        host.done.pass(first.chunk.session, first.chunk.number, first.chunk.path.clone());
        if let Some(state) = &self.watched.state {
            let head = journal::Head { asked: asked.clone(), facts: known.clone(), done: host.done.clone() };
            journal::write(state, &head, &whole)?;
        }
        (host.facts, host.mapped) = (Some(known), Some(whole));
        changes.push(Change::Mapped { host: name, chunk: first.chunk.path });
        Ok(())
    }

    /// Maps a piece of a host of some chunks, and of the one before them. `None`: it is of another host, or empty.
    fn map_piece(
        &self,
        id: &str,
        chunks: &[&Path],
        piece: Piece,
    ) -> Result<Option<(HostFacts, Mapped)>, WatchError> {
        let before = self.hosts.get(id).and_then(|host| host.done.before.clone());
        let paths = before.into_iter().filter(|path| path.exists());
        let paths: Vec<PathBuf> = paths.chain(chunks.iter().map(|path| path.to_path_buf())).collect();
        let inputs = Inputs::open(&paths);
        let clocks = self.watched.corrections.as_ref().map(|(clocks, _)| clocks);
        let experiment = Experiment::new(&inputs, clocks);
        let Some(host) = experiment.hosts().iter().find(|host| host.traced.id == id) else { return Ok(None) };
        let Watched { kinds, spread, .. } = self.watched;
        let question =
            Question { kinds, options: &self.asked.options, times: Times::default(), periods: None };
        let mut mapped = question.map(&[host], Part::Raw(piece), spread, None);
        let Some(mapped) = mapped.pop().transpose()?.flatten() else { return Ok(None) };
        let mut facts = mapped.facts;
        // These are of the chunks that are open now, not of the host.
        (facts.extent, facts.bytes) = (None, 0);
        facts.notes.clear();
        Ok(Some((facts, mapped.part)))
    }

    /// How far each host has been mapped, in the order of their names.
    pub fn progress(&self) -> Vec<HostProgress> {
        let of_host = |host: &HostWatch| {
            let facts = host.facts.as_ref()?;
            let timing = facts.timing(self.clocks());
            let border = host.mapped.as_ref().map(|mapped| mapped.piece.to);
            let at = border.and_then(|border| matches!(border, Border::At(_)).then(|| border.time()));
            let report = host.mapped.as_ref().map(|mapped| &mapped.report);
            Some(HostProgress {
                host: facts.name.clone(),
                chunks: host.done.chunks,
                waiting: host.waiting.len() as u64,
                events: report.map_or(0, |report| report.events),
                losses: report.map_or(0, |report| report.losses),
                watermark: at.zip(timing).map(|(raw, timing)| timing.unix_ns(raw)),
            })
        };
        let mut all: Vec<HostProgress> = self.hosts.values().filter_map(of_host).collect();
        all.sort_by(|a, b| a.host.cmp(&b.host));
        all
    }

    /// What is known of the hosts that have been mapped.
    pub fn facts(&self) -> impl Iterator<Item = &HostFacts> {
        self.hosts.values().filter_map(|host| host.facts.as_ref())
    }

    fn clocks(&self) -> Option<&Clocks> {
        self.watched.corrections.as_ref().map(|(clocks, _)| clocks)
    }

    /// The tables of what has been mapped. `is_last`: with what is left at the end of each host, as if nothing more came: then they are those
    /// of the whole traces. Nothing of that is in the journal.
    ///
    /// # Errors
    /// A host cannot be mapped.
    pub fn reports(&self, options: &Options, is_last: bool) -> Result<Vec<Report>, WatchError> {
        let mut modelled: Vec<ModelledHost<'_, AnalysisSet>> = Vec::new();
        for (id, host) in &self.hosts {
            let mut part = host.mapped.as_ref().map(journal::copy).transpose()?;
            let mut facts = host.facts.clone();
            if is_last && let Some(last) = host.waiting.first() {
                let from = part.as_ref().map_or(Border::Begin, |part| part.piece.to);
                let piece = Piece { from, to: Border::End };
                if let Some((here, tail)) = self.map_piece(id, &[&last.chunk.path], piece)? {
                    part = Some(join(&here.name, part, tail)?);
                    facts.get_or_insert(here);
                }
            }
            let Some((facts, part)) = facts.zip(part) else { continue };
            let Some(timing) = facts.timing(self.clocks()) else { continue };
            let name = timing.clock().map_or(facts.name, |clock| clock.entry.host.clone());
            modelled.push(ModelledHost::of_pieces(name, timing, part));
        }
        Ok(reports(&modelled, &self.asked.options.with_tables_of(options)))
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
