//! Times through an artefact: from any host's clock to the reference, to another host, with bounds.

use std::collections::{HashMap, HashSet};

use isochrone_clock::{Correction, Interval};
use isochrone_ctf::Trace;

use crate::artefact::{Artefact, ArtefactError, ClockEntry, LinkEntry, Quality, TRUSTED};
use isochrone_hosts::clocks;

/// The clocks of an artefact, ready to be applied.
#[derive(Debug)]
pub struct Clocks {
    clocks: Vec<Clock>,
}

/// One clock of an artefact.
#[derive(Debug)]
pub struct Clock {
    /// What the artefact says of it.
    pub entry: ClockEntry,
    /// Raw time to the reference's raw time.
    pub correction: Correction,
    /// Bounds of that.
    pub interval: Interval,
    /// Whether the bounds are proven: a chain of links that do not contradict themselves leads to the reference.
    pub proven: bool,
    /// Unix time of the zero of the reference's clock.
    pub reference_offset_ns: i64,
    /// The reference's host.
    pub reference: String,
}

/// An instant on another clock, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Converted {
    /// The estimate.
    pub time: i64,
    /// What the truth is not before and not after, where anything is known.
    pub bounds: (Option<i64>, Option<i64>),
    /// The realistic error, where known.
    pub e95: Option<i64>,
}

impl Clocks {
    /// Takes the clocks of an artefact and checks that their numbers are such as a solver writes.
    ///
    /// # Errors
    /// Knots, rates or rows that make no monotone correction inside its bounds; names that stand for two clocks; islands
    /// that do not hold their clocks and their reference.
    pub fn new(artefact: &Artefact) -> Result<Self, ArtefactError> {
        let mut names = HashSet::new();
        for entry in &artefact.clocks {
            for name in [("host", &entry.host), ("id", &entry.id)] {
                if !names.insert(name) {
                    return Err(ArtefactError::Twice(name.1.clone()));
                }
            }
        }
        let chains = chains(artefact);
        let clocks = artefact.clocks.iter().map(|entry| Clock::new(artefact, entry, &chains));
        Ok(Self { clocks: clocks.collect::<Result<_, _>>()? })
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

impl Clock {
    fn new(
        artefact: &Artefact,
        entry: &ClockEntry,
        chains: &HashMap<&str, usize>,
    ) -> Result<Self, ArtefactError> {
        let missing = || ArtefactError::Island(entry.island);
        let island = artefact.islands.iter().find(|i| i.id == entry.island).ok_or_else(missing)?;
        let reference = artefact.clocks.iter().find(|c| c.host == island.reference).ok_or_else(missing)?;
        if !island.hosts.contains(&entry.host) || reference.island != island.id {
            return Err(missing());
        }
        let chain = |host: &str| chains.get(host).copied();
        let clock = Self {
            correction: entry.correction()?,
            interval: entry.uncertainty()?,
            proven: entry.host == reference.host
                || chain(&entry.host).is_some_and(|own| chain(&reference.host) == Some(own)),
            reference_offset_ns: reference.clock_offset_ns,
            reference: reference.host.clone(),
            entry: entry.clone(),
        };
        let rows = clock.interval.rows();
        let inside = rows.iter().all(|r| (r.lo..=r.hi).contains(&clock.correction.apply(r.raw)));
        let monotone = rows.is_sorted_by(|a, b| a.lo <= b.lo && a.hi <= b.hi);
        let fixed =
            entry.host != reference.host || rows.iter().all(|r| clock.correction.apply(r.raw) == r.raw);
        match (inside && monotone, fixed) {
            (true, true) => Ok(clock),
            (false, _) => {
                Err(entry.error(&"its correction leaves its own interval, or its interval goes back in time"))
            }
            (_, false) => Err(entry.error(&"it is the reference and yet corrected")),
        }
    }

    /// How far the correction can be from the truth, ns: at the best and at the worst instant of the traced span.
    pub fn error_range(&self) -> (i64, i64) {
        self.interval.error_range(&self.correction)
    }

    /// Unix time on the common clock of a raw time.
    pub fn unix_ns(&self, raw: i64) -> i128 {
        i128::from(self.correction.apply(raw)) + i128::from(self.reference_offset_ns)
    }

    /// The reference's raw time for a raw time of this clock. Bounds are known within the traced span.
    pub fn to_reference(&self, raw: i64) -> Converted {
        let time = self.correction.apply(raw);
        match self.interval.at(raw) {
            Some((lo, hi, e95)) => Converted { time, bounds: (Some(lo), Some(hi)), e95: Some(e95) },
            None => Converted { time, bounds: (None, None), e95: None },
        }
    }

    /// This clock's raw time for an instant on the reference: the times whose own bounds meet those given.
    pub fn from_reference(&self, instant: Converted) -> Converted {
        let time = self.correction.invert(instant.time);
        let own = self.interval.at(time).map(|(_, _, e95)| e95);
        let (lo, hi) = instant.bounds;
        Converted {
            time,
            bounds: (lo.and_then(|lo| self.first_not_before(lo)), hi.and_then(|hi| self.last_not_behind(hi))),
            e95: instant.e95.zip(own).map(|(a, b)| a.saturating_add(b)),
        }
    }

    /// The first raw time of the traced span that may be at `reference` or later, if the span begins before.
    fn first_not_before(&self, reference: i64) -> Option<i64> {
        let (begin, end) = self.span()?;
        let reaches = |raw: i64| self.interval.at(raw).is_some_and(|(_, hi, _)| hi >= reference);
        (!reaches(begin) && reaches(end)).then(|| partition(begin, end, reaches))
    }

    /// The last raw time of the traced span that may be at `reference` or earlier, if the span ends behind.
    fn last_not_behind(&self, reference: i64) -> Option<i64> {
        let (begin, end) = self.span()?;
        let passes = |raw: i64| self.interval.at(raw).is_some_and(|(lo, _, _)| lo > reference);
        (!passes(begin) && passes(end)).then(|| partition(begin, end, passes) - 1)
    }

    /// Whether a raw time of this clock lies within the traced span, where bounds are known.
    pub fn covers(&self, raw: i64) -> bool {
        self.span().is_some_and(|(begin, end)| (begin..=end).contains(&raw))
    }

    fn span(&self) -> Option<(i64, i64)> {
        let rows = self.interval.rows();
        Some((rows.first()?.raw, rows.last()?.raw))
    }
}

/// Which hosts chains of links without contradictions tie together: those of the same number. Hosts without such links have none.
/// Linear in the links.
fn chains(artefact: &Artefact) -> HashMap<&str, usize> {
    let sound = |link: &&LinkEntry| matches!(link.quality, Quality::Accurate | Quality::Incomplete);
    // Messages that all go one way tie nothing.
    let ties = |link: &&LinkEntry| link.min_rtt_ns.is_some() || link.method == TRUSTED;
    let mut neighbours: HashMap<&str, Vec<&str>> = HashMap::new();
    for link in artefact.links.iter().filter(sound).filter(ties) {
        neighbours.entry(&link.a).or_default().push(&link.b);
        neighbours.entry(&link.b).or_default().push(&link.a);
    }
    let mut chains = HashMap::new();
    for (number, &host) in neighbours.keys().enumerate() {
        let mut next = vec![host];
        while let Some(host) = next.pop() {
            if !chains.contains_key(host) {
                chains.insert(host, number);
                next.extend(&neighbours[host]);
            }
        }
    }
    chains
}

/// The first time in `begin..=end` that a monotone predicate holds for; it holds for `end` and not for `begin`.
fn partition(begin: i64, end: i64, holds: impl Fn(i64) -> bool) -> i64 {
    let (mut no, mut yes) = (begin, end);
    while yes - no > 1 {
        let middle = no + (yes - no) / 2;
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}
