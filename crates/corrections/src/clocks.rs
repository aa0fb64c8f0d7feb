//! All clocks of an artefact: times of one on another, with bounds.
//!
//! Bounds of another host's time come from two places: the link between the two, whose own messages prove
//! most of their latency, and the intervals of both clocks, which hold what all links together prove.

use std::collections::{HashMap, HashSet};

use isochrone_clock::Interval;
use isochrone_ctf::Trace;
use isochrone_hosts::clocks;
use isochrone_time::RawNs;

use crate::artefact::{Artefact, ArtefactError, ClockEntry};
use crate::clock::{Clock, Converted, first_not_before, last_not_after};

/// The clocks of an artefact, ready to be applied.
#[derive(Debug)]
pub struct Clocks {
    clocks: Vec<Clock>,
    /// By the numbers of the clocks a and b: bounds of b's raw time by a's, from the messages between them.
    links: HashMap<(usize, usize), LinkBounds>,
}

/// The bounds of a link.
#[derive(Debug)]
struct LinkBounds {
    interval: Interval,
    proven: bool,
}

/// An instant of one host on another host's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Related {
    /// The estimate.
    pub time: RawNs,
    /// The earliest and the latest instant that the truth can be at, where known.
    pub bounds: (Option<RawNs>, Option<RawNs>),
    /// The realistic error of the estimate, ns, where known.
    pub e95: Option<i64>,
    /// Whether the bounds are proven.
    pub proven: bool,
}

impl Clocks {
    /// Takes the clocks of an artefact and checks that their numbers are such as a solver writes.
    ///
    /// # Errors
    /// Knots, rates or rows that make no monotone correction inside its bounds; names that stand for two
    /// clocks; islands that do not hold their clocks and their reference; bounds of links that go back in
    /// time.
    pub fn new(artefact: &Artefact) -> Result<Self, ArtefactError> {
        let mut names = HashSet::new();
        for entry in &artefact.clocks {
            for name in [("host", &entry.host), ("id", &entry.id)] {
                if !names.insert(name) {
                    return Err(ArtefactError::Twice(name.1.clone()));
                }
            }
        }
        let tied = artefact.tied_to_reference().into_iter().enumerate();
        let clocks = tied.map(|(number, is_tied)| Clock::new(artefact, number, is_tied));
        let clocks: Vec<Clock> = clocks.collect::<Result<_, _>>()?;
        let numbers: HashMap<&str, usize> =
            clocks.iter().map(|clock| (clock.entry.host.as_str(), clock.number)).collect();
        let mut links = HashMap::new();
        for link in &artefact.links {
            let Some(interval) = link.bounds()? else { continue };
            let number = |host: &String| {
                numbers.get(host.as_str()).copied().ok_or_else(|| link.error(&"no clock is of that host"))
            };
            let bounds = LinkBounds { interval, proven: link.is_sound() };
            links.insert((number(&link.a)?, number(&link.b)?), bounds);
        }
        Ok(Self { clocks, links })
    }

    /// The clock with a number: its index in the artefact.
    pub fn get(&self, number: usize) -> Option<&Clock> {
        self.clocks.get(number)
    }

    /// The raw time on the clock `to` of an event with the stamp `raw` of the clock `from`; `None` where no
    /// messages tie the two. It is to be compared with stamps: where a clock ticks coarsely, bounds cover all
    /// instants that the stamp of either can mean ([`ClockEntry::resolution`]).
    ///
    /// Its bounds are those that the messages between the two prove, and those that the intervals of the two
    /// clocks on their reference leave: both hold, so the tighter one counts at either side. Where only one
    /// of them is proven, the other is left out; where neither is, `proven` is false. The latency of a
    /// message has these bounds at the instant it left, less the time at which it arrived. `O(log rows)`.
    ///
    /// Why this holds between rows, too, is in `docs/sync-json.md`.
    pub fn related(&self, from: &Clock, to: &Clock, raw: RawNs) -> Option<Related> {
        let related = self.at_instant(from, to, raw)?;
        let (after, before) = (from.within_tick(), to.within_tick());
        if from.number == to.number || (after, before) == (0, 0) {
            return Some(related);
        }
        let later = self.at_instant(from, to, raw.saturating_add(after))?;
        let lo = related.bounds.0.map(|lo| lo.saturating_sub(before));
        Some(Related { bounds: (lo, later.bounds.1), proven: related.proven && later.proven, ..related })
    }

    /// The raw time of a clock when another one shows `raw`.
    fn at_instant(&self, from: &Clock, to: &Clock, raw: RawNs) -> Option<Related> {
        if from.entry.island != to.entry.island {
            return None;
        }
        let of = |Converted { time, bounds, e95 }, proven| Related { time, bounds, e95, proven };
        if from.number == to.number {
            return Some(of(Converted::exact(raw), true));
        }
        let instant = from.to_reference(raw);
        let joint = if to.entry.host == to.reference { instant } else { to.from_reference(instant) };
        let joint = of(joint, from.proven && to.proven);
        let Some(own) = self.of_link(from.number, to.number, raw) else { return Some(joint) };
        Some(match (own.proven, joint.proven) {
            (true, false) => Related { time: joint.time, ..own },
            (false, true) => joint,
            _ => joint.combined(&own),
        })
    }

    /// What the messages between two clocks alone prove; without an estimate. `None` where they do not bound
    /// it.
    fn of_link(&self, from: usize, to: usize, raw: RawNs) -> Option<Related> {
        let related = |bounds, e95, proven| Related { time: raw, bounds, e95, proven };
        if let Some(LinkBounds { interval, proven }) = self.links.get(&(from, to)) {
            let (lo, hi, e95) = interval.at(raw.0)?;
            return Some(related((Some(RawNs(lo)), Some(RawNs(hi))), Some(e95), *proven));
        }
        let LinkBounds { interval, proven } = self.links.get(&(to, from))?;
        let bounds = (first_not_before(interval, raw), last_not_after(interval, raw));
        let near = bounds.0.or(bounds.1)?;
        Some(related(bounds, interval.at(near.0).map(|(_, _, e95)| e95), *proven))
    }

    /// All clocks, in the order of the artefact.
    pub fn iter(&self) -> impl Iterator<Item = &Clock> {
        self.clocks.iter()
    }

    /// The clock that stamps a trace: by its uuid; without one, by the host's name and the clock's offset.
    pub fn of_trace(&self, trace: &Trace) -> Option<&Clock> {
        if clocks::clock_uuid(trace).is_some() {
            let is_its = |clock: &&Clock| {
                let ClockEntry { id, hostnames, clock_offset_ns, .. } = &clock.entry;
                clocks::is_clock_of(id, hostnames, *clock_offset_ns, trace)
            };
            // Of several hosts that one clock stamps, its own.
            let is_named = |clock: &&Clock| {
                let name = clocks::name_or_directory(trace);
                is_its(clock) && clock.entry.hostnames.contains(&name)
            };
            return self.clocks.iter().find(is_named).or_else(|| self.clocks.iter().find(is_its));
        }
        let offset = trace.schema().single_clock().and_then(clocks::offset_ns)?;
        let name = clocks::name_or_directory(trace);
        self.clocks.iter().find(|clock| {
            let entry = &clock.entry;
            let plain_id = entry.id == name || entry.id.starts_with(&format!("{name}#"));
            plain_id && entry.hostnames.contains(&name) && clocks::same_offset(entry.clock_offset_ns, offset)
        })
    }

    /// The clock of a host, by its name, by its id, or by one of the names in its traces.
    pub fn of_host(&self, name: &str) -> Option<&Clock> {
        let entries = self.clocks.iter().map(|clock| &clock.entry);
        let names = entries.map(|entry| (entry.host.as_str(), entry.id.as_str(), entry.hostnames.as_slice()));
        clocks::find(names, name).map(|index| &self.clocks[index])
    }
}
impl Related {
    /// The least and the greatest latency of a message, ns, where known: it left at this instant, and was
    /// received at `at` (raw time of the host on whose clock this is). It arrived after it was sent, so the
    /// least is not below 0 unless the greatest is: then the clocks and the message contradict each other.
    pub fn latency_until(&self, at: RawNs) -> (Option<i64>, Option<i64>) {
        let since = |bound: Option<RawNs>| at.checked_since(bound?);
        let (least, greatest) = (since(self.bounds.1), since(self.bounds.0));
        let is_possible = greatest.is_none_or(|greatest| greatest >= 0);
        (least.map(|least| if is_possible { least.max(0) } else { least }), greatest)
    }

    /// Greatest error of the estimate by the bounds, ns; `None` where one of them is unknown.
    pub fn uncertainty(&self) -> Option<i64> {
        let (lo, hi) = (self.bounds.0?, self.bounds.1?);
        Some(self.time.saturating_since(lo).max(hi.saturating_since(self.time)).max(0))
    }

    /// The tighter of two that hold both. Should they exclude each other, one of them is wrong: then either
    /// may be right.
    fn combined(&self, other: &Self) -> Self {
        fn both<T>(a: Option<T>, b: Option<T>, pick: fn(T, T) -> T) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(pick(a, b)),
                (one, other) => one.or(other),
            }
        }
        let (a, b) = (self.bounds, other.bounds);
        let tighter = (both(a.0, b.0, RawNs::max), both(a.1, b.1, RawNs::min));
        let is_empty = tighter.0.zip(tighter.1).is_some_and(|(lo, hi)| lo > hi);
        let wider = (a.0.zip(b.0).map(|(a, b)| a.min(b)), a.1.zip(b.1).map(|(a, b)| a.max(b)));
        Self {
            bounds: if is_empty { wider } else { tighter },
            e95: both(self.e95, other.e95, i64::min),
            proven: self.proven && !is_empty,
            ..*self
        }
    }
}
