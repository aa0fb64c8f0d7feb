//! Steps: the time that all watched hosts have come through together, in parts that are asked about across
//! hosts.
//!
//! A model of a host ([`super`]) answers what spans in no order can tell. Where the time of phases went, how
//! long messages took and who pays needs spans in order and all hosts at once, so these are read from a store
//! of a few chunks: a step ends where the slowest host's last mapped chunk does, and its chunks are those of
//! the step with their neighbours. Steps follow each other without a gap.
//!
//! Unless corrections were given, several hosts are synchronized on the way ([`Continued`]): each step is on
//! the clock as it is known then. What a later step knows better is not put into steps that were published;
//! how far it moved the clock of each host at the end of the step before is a figure of its own
//! ([`StepClock::revised_ns`]).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::Artefact;
use isochrone_files::{Inputs, output};
use isochrone_pipeline::Border;
use isochrone_pipeline::piece_file;
use isochrone_sync::{Continued, KeptSync, Options};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::Timing;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::chunks::Opened;
use super::sessions::{self, Waiting};
use super::{HostWatch, Watch, WatchError};
use crate::pieces::FORM;

/// How much before a step is read, ns: a packet that arrives in it was sent before it.
const MARGIN: i64 = 1_000_000_000;

/// So many chunks of each host are mapped before the first step.
const FIRST_CHUNKS: u64 = 2;

/// In the journal: what is known of steps, beside the files of the hosts.
const JOURNAL: &str = "steps";
/// In the journal: the corrections of the last step, for other commands.
const PUBLISHED: &str = "sync.json";

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number, from 0.
    pub number: u64,
    /// Its start, on the clock of the steps; `None`: that of all that was recorded.
    pub start: Option<UnixNs>,
    /// The first instant after it.
    pub end: UnixNs,
    /// The chunks that have it, and those before and after it.
    pub chunks: Vec<PathBuf>,
    /// What is known of the clock of each host, in the order of their names.
    pub clocks: Vec<StepClock>,
    /// Whether it reaches into chunks that were not mapped, as if nothing came after them: it is not to be
    /// [`done`](Steps::done).
    pub is_last: bool,
}

/// What is known of the clock of a host at the end of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepClock {
    /// The host.
    pub host: String,
    /// How far its time can be off, ns; `None`: nothing is proven.
    pub uncertainty_ns: Option<i64>,
    /// How much later the end of the step before is than it was published, ns; `None`: it was not published.
    pub revised_ns: Option<i64>,
    /// Whether that is beyond the bounds that were published.
    pub is_beyond: bool,
    /// Time of the host since the last step that is in no step: it came when steps of that time had been
    /// published.
    pub late: Option<Window<UnixNs>>,
    /// Duration of all that came late, ns.
    pub late_ns: i128,
}

/// Makes steps of what is watched.
#[derive(Debug)]
pub struct Steps {
    /// `None`: corrections were given.
    synchronization: Option<Continued>,
    /// The corrections of now, as text and ready to be applied.
    current: Option<(String, Clocks)>,
    /// Those that the last step was published with.
    published: Option<Clocks>,
    /// The end of the last step.
    end: Option<UnixNs>,
    number: u64,
    /// Chunks that the synchronization has taken.
    taken: BTreeSet<PathBuf>,
    /// How far each host is in steps, by its id.
    counted: BTreeMap<String, Counted>,
    /// Since when a first step waits for hosts that may still come.
    since: Option<Instant>,
}

/// How far a host is in steps.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Counted {
    /// The end of what is counted.
    to: UnixNs,
    /// How long all is that came too late, ns.
    late_ns: i128,
}

/// What is written down.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    synchronization: Option<KeptSync>,
    /// The corrections that the last step was published with, as text.
    published: Option<String>,
    end: Option<UnixNs>,
    number: u64,
    taken: BTreeSet<PathBuf>,
    counted: BTreeMap<String, Counted>,
}

impl Steps {
    /// Goes on where the journal of a watch has ended, with what was written down beside it by
    /// [`Self::done`].
    ///
    /// # Errors
    /// The journal cannot be read, or contradicts itself.
    pub fn new<T: DeserializeOwned>(watch: &Watch<'_>) -> Result<(Self, Option<T>), WatchError> {
        let is_given = watch.watched.corrections.is_some();
        let new = || Continued::new(Options::default());
        let kept = match watch.watched.state.as_deref().map(|state| state.join(JOURNAL)) {
            Some(path) if path.exists() => Some(piece_file::read::<Kept, T>(&path, FORM)?),
            _ => None,
        };
        let Some((kept, beside)) = kept else {
            let synchronization = (!is_given).then(new).transpose()?;
            let (taken, counted) = Default::default();
            let (current, published, end, number, since) = (None, None, None, 0, None);
            let steps = Self { synchronization, current, published, end, number, taken, counted, since };
            return Ok((steps, None));
        };
        let Kept { synchronization, published, end, number, taken, counted } = kept;
        let known = synchronization.map(|kept| Continued::from_kept(Options::default(), kept));
        let synchronization = match known.transpose()? {
            None if !is_given => Some(new()?),
            known => known.filter(|_| !is_given),
        };
        let clocks = published.as_deref().map(clocks_of).transpose()?;
        let current = published.zip(clocks);
        let published = current.as_ref().map(|(text, _)| clocks_of(text)).transpose()?;
        let since = None;
        let steps = Self { synchronization, current, published, end, number, taken, counted, since };
        Ok((steps, Some(beside)))
    }

    /// The number of published steps, and the end of the last one.
    pub fn published(&self) -> (u64, Option<UnixNs>) {
        (self.number, self.end)
    }

    /// The next step, if all hosts have come further than the last one; a host of which nothing has come for
    /// as long as a missing chunk is waited for is not waited for. `is_last`: nothing more will come, so that
    /// the last chunks are in a step, too.
    ///
    /// # Errors
    /// The chunks cannot be synchronized.
    pub fn next(&mut self, watch: &mut Watch<'_>, is_last: bool) -> Result<Option<Step>, WatchError> {
        if watch.watched.pieces.is_some() {
            // A host of which a piece came late was mapped again: of what is in steps, nothing is needed.
            self.forget(watch);
        }
        let watch = &*watch;
        let hosts: Vec<(&str, &HostWatch)> =
            watch.hosts.iter().filter(|(_, host)| host.goes_on()).map(|(id, host)| (&**id, host)).collect();
        if self.end.is_none() && !is_last && !hosts.is_empty() && self.waits_for_more(watch, &hosts) {
            return Ok(None);
        }
        let is_stale =
            |host: &HostWatch| host.progressed.is_some_and(|since| since.elapsed() > watch.watched.patience);
        let is_at_end = |host: &HostWatch| is_last && host.is_at_end();
        let mut ends: Vec<(&str, &HostWatch, RawNs)> = Vec::new();
        for &(id, host) in hosts.iter().filter(|(_, host)| is_last || !is_stale(host)) {
            match host.mapped_to() {
                Some(to) => ends.push((id, host, to)),
                None if is_at_end(host) => {}
                None => return Ok(None),
            }
        }
        // Streams that turned early have the end of what was mapped in the chunk that comes next.
        let chunks = chunks_of(&hosts, super::HostWatch::mapped_to);
        self.synchronize(watch, &chunks)?;
        let clocks = self.clocks(watch);
        let unix = |&(id, host, to): &(&str, &HostWatch, RawNs)| host.timing(id, clocks).unix(to);
        if let Some(end) = ends.iter().map(unix).min().filter(|&end| self.is_new(end)) {
            return Ok(Some(self.step(watch, &hosts, &chunks, end, false)));
        }
        if !is_last || !hosts.iter().all(|(_, host)| is_at_end(host)) {
            return Ok(None);
        }
        let chunks = chunks_of(&hosts, |_| None);
        self.synchronize(watch, &chunks)?;
        let clocks = self.clocks(watch);
        let last = |&(id, host): &(&str, &HostWatch)| {
            let last = host.waiting.last().map(|it| it.end.saturating_add(1)).or(host.mapped_to())?;
            Some(host.timing(id, clocks).unix(last))
        };
        let end = hosts.iter().filter_map(last).max().filter(|&end| self.is_new(end));
        Ok(end.map(|end| self.step(watch, &hosts, &chunks, end, true)))
    }

    /// Whether hosts of which nothing is known may come before the first step, which would be published
    /// without them: one that rotates as often as the others has come when all of these have done so once
    /// more.
    fn waits_for_more(&mut self, watch: &Watch<'_>, hosts: &[(&str, &HostWatch)]) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        let have_rotated = hosts.iter().all(|(_, host)| host.done.chunks >= FIRST_CHUNKS);
        !have_rotated && since.elapsed() < watch.watched.patience
    }

    fn is_new(&self, end: UnixNs) -> bool {
        self.end.is_none_or(|last| last < end)
    }

    fn step(
        &self,
        watch: &Watch<'_>,
        hosts: &[(&str, &HostWatch)],
        chunks: &[&Path],
        end: UnixNs,
        is_last: bool,
    ) -> Step {
        let given = self.clocks(watch);
        let names = watch.names();
        let clock = |&(id, host): &(&str, &HostWatch)| {
            let now = host.timing(id, given);
            let around = now.stamp(now.raw(end)).bounds_around();
            let published = self.published.as_ref().zip(self.end).map(|(before, at)| {
                let then = host.timing(id, Some(before));
                let raw = then.raw(at);
                (then.stamp(raw), now.unix(raw))
            });
            let revised = published.map(|(then, now)| now - then.unix);
            let is_beyond = published.is_some_and(|(then, now)| {
                then.lo.is_some_and(|lo| now < lo) || then.hi.is_some_and(|hi| hi < now)
            });
            let start = || host.start().map(|raw| now.unix(raw));
            let counted = self.counted.get(id);
            let before = counted.map(|counted| counted.to).or_else(start);
            // One that has not come further may never do so.
            let is_unknown = counted.is_none() && is_last;
            let has_come = |end| is_unknown || host.mapped_to().is_some_and(|to| now.unix(to) > end);
            let late = before.zip(self.end).filter(|&(from, to)| from < to && has_come(to));
            let late = late.map(|(from, to)| Window::new(from, to));
            // A journal may hold anything.
            let late_ns = late.map_or(0, |late| late.end.0.saturating_sub(late.start.0));
            StepClock {
                late,
                late_ns: counted.map_or(0, |counted| counted.late_ns).saturating_add(late_ns),
                host: names.get(id).cloned().unwrap_or_default(),
                uncertainty_ns: around.map(|(lo, hi)| hi.max(-lo)),
                revised_ns: revised.and_then(|ns| i64::try_from(ns).ok()),
                is_beyond,
            }
        };
        let mut clocks: Vec<StepClock> = hosts.iter().map(clock).collect();
        clocks.sort_by(|a, b| a.host.cmp(&b.host));
        let chunks = chunks.iter().map(|path| path.to_path_buf()).collect();
        Step { number: self.number, start: self.end, end, chunks, clocks, is_last }
    }

    /// The corrections that the next step is on; `None`: each host is on its own clock.
    pub fn clocks<'c>(&'c self, watch: &'c Watch<'_>) -> Option<&'c Clocks> {
        watch.clocks().or(self.current.as_ref().map(|(_, clocks)| clocks))
    }

    /// A step has been published, whatever comes later. It is written down, with what is to be found beside
    /// it by [`Self::new`].
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn done<T: Serialize>(
        &mut self,
        watch: &mut Watch<'_>,
        step: &Step,
        beside: &T,
    ) -> Result<(), WatchError> {
        self.count(watch, step);
        (self.end, self.number) = (Some(step.end), step.number.saturating_add(1));
        self.forget(watch);
        let needed: BTreeSet<&Path> = watch.hosts.values().flat_map(HostWatch::chunks).collect();
        self.taken.retain(|path| needed.contains(path.as_path()));
        let published = self.current.as_ref().map(|(text, _)| text);
        self.published = published.map(|text| clocks_of(text)).transpose()?;
        let Some(state) = &watch.watched.state else { return Ok(()) };
        let kept = Kept {
            synchronization: self.synchronization.as_ref().map(Continued::kept),
            published: published.cloned(),
            end: self.end,
            number: self.number,
            taken: self.taken.clone(),
            counted: self.counted.clone(),
        };
        let journal = state.join(JOURNAL);
        output::write_with(&journal, |to| {
            Ok::<_, WatchError>(piece_file::write(to, &journal, FORM, &kept, beside)?)
        })?;
        if let Some(text) = published {
            output::write(&state.join(PUBLISHED), text.as_bytes())?;
        }
        Ok(())
    }

    /// Forgets the chunks that no step needs any more.
    fn forget(&self, watch: &mut Watch<'_>) {
        let Some(end) = self.end else { return };
        let given = watch.watched.corrections.as_ref().map(|(clocks, _)| clocks);
        let clocks = given.or(self.current.as_ref().map(|(_, clocks)| clocks));
        for (id, host) in &mut watch.hosts {
            let first = host.timing(id, clocks).raw(end - MARGIN);
            host.done.forget(first);
        }
    }

    /// Notes how far each host is in steps with this one. Of one that was not waited for, only what was
    /// there.
    fn count(&mut self, watch: &Watch<'_>, step: &Step) {
        let names = watch.names();
        for (id, host) in watch.hosts.iter().filter(|(_, host)| host.goes_on()) {
            let timing = host.timing(id, self.clocks(watch));
            // Of one of which nothing is mapped, all that waits is in the step.
            let to = host.mapped_to().or(host.waiting.last().map(|last| last.end));
            let Some(mapped_to) = to.map(|to| timing.unix(to)) else { continue };
            let clock = step.clocks.iter().find(|clock| Some(&clock.host) == names.get(id.as_str()));
            let late_ns = clock.map_or(0, |clock| clock.late_ns);
            self.counted.insert(id.clone(), Counted { to: mapped_to.min(step.end), late_ns });
        }
    }

    /// Takes chunks that are new, and solves again.
    fn synchronize(&mut self, watch: &Watch<'_>, chunks: &[&Path]) -> Result<(), WatchError> {
        let Some(synchronization) = &mut self.synchronization else { return Ok(()) };
        let new: Vec<&Path> = chunks.iter().copied().filter(|path| !self.taken.contains(*path)).collect();
        // Of one host there is nothing to synchronize.
        if new.is_empty() || watch.hosts.len() < 2 {
            return Ok(());
        }
        let paths: Vec<PathBuf> = chunks.iter().map(|path| path.to_path_buf()).collect();
        let inputs = Inputs::open(&paths);
        synchronization.take(&inputs, |trace| new.contains(&trace.argument.as_path()))?;
        self.taken.extend(paths);
        if let Some(artefact) = synchronization.artefact()? {
            self.current = Some((artefact.to_json()?, Clocks::new(&artefact)?));
        }
        Ok(())
    }
}

/// The chunks of hosts that are still needed, and those that come next and begin before `to` says; all, if
/// that says nothing.
fn chunks_of<'h>(hosts: &[(&str, &'h HostWatch)], to: impl Fn(&HostWatch) -> Option<RawNs>) -> Vec<&'h Path> {
    let of_host = |&(_, host): &(&str, &'h HostWatch)| {
        let to = to(host);
        let is_in = move |waiting: &&Opened| to.is_none_or(|to| waiting.begin <= to);
        let waiting = host.waiting.iter().filter(is_in).map(|it| it.chunk.path.as_path());
        host.done.recent.iter().map(|recent| recent.path.as_path()).chain(waiting)
    };
    hosts.iter().flat_map(of_host).filter(|path| path.exists()).collect()
}

/// The clocks of an artefact's text.
fn clocks_of(text: &str) -> Result<Clocks, WatchError> {
    Ok(Clocks::new(&Artefact::from_json(text)?)?)
}

impl HostWatch {
    /// Whether something of it can be in a step that is still to come.
    fn goes_on(&self) -> bool {
        self.mapped_to().is_some() || !self.waiting.is_empty()
    }

    /// Whether all that has come of it is mapped, but for what is left in the end.
    fn is_at_end(&self) -> bool {
        let how = Waiting { is_last: true, is_over: true, has_any_start: false };
        sessions::ready(&self.waiting, &self.done, how).is_none()
    }

    /// When its first chunk begins, raw ns.
    pub(super) fn start(&self) -> Option<RawNs> {
        self.done.begin.or(self.waiting.first().map(|first| first.begin))
    }

    /// All chunks that are needed.
    fn chunks(&self) -> impl Iterator<Item = &Path> {
        let recent = self.done.recent.iter().map(|recent| recent.path.as_path());
        recent.chain(self.waiting.iter().map(|waiting| waiting.chunk.path.as_path()))
    }

    /// Whether it was mapped to its end, as another boot has followed.
    pub(super) fn is_over(&self) -> bool {
        self.mapped.as_ref().is_some_and(|mapped| mapped.piece.to == Border::End)
    }

    /// Up to which raw time it has been mapped, ns.
    pub(super) fn mapped_to(&self) -> Option<RawNs> {
        let border = self.mapped.as_ref()?.piece.to;
        matches!(border, Border::At(_)).then(|| border.time())
    }

    /// What its raw times mean; without a correction, what it shows itself.
    pub(super) fn timing<'c>(&self, id: &str, clocks: Option<&'c Clocks>) -> Timing<'c> {
        let offset_ns = self.offset_ns();
        let clock = clocks.and_then(|clocks| clocks.iter().find(|clock| clock.entry.id == id));
        clock.map_or(Timing::Own { offset_ns }, Timing::Common)
    }
}
