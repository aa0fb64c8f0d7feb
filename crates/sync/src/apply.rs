//! Times through an artefact: from any host's clock to the reference, to another host, with bounds.
//!
//! Bounds of another host's time come from two places: the link between the two, whose own messages say most of their latency,
//! and the intervals of both clocks, which hold what all links together prove.

use std::collections::{HashMap, HashSet};

use isochrone_clock::{Correction, Interval};
use isochrone_ctf::Trace;

use crate::artefact::{Artefact, ArtefactError, ClockEntry, LinkEntry, Method, Quality};
use isochrone_hosts::clocks;

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

/// One clock of an artefact.
#[derive(Debug)]
pub struct Clock {
    /// Its number: its place in the artefact.
    pub number: usize,
    /// What the artefact says of it.
    pub entry: ClockEntry,
    /// Raw time to the reference's raw time.
    pub correction: Correction,
    /// Bounds of that.
    pub interval: Interval,
    /// Whether the bounds are proven: a chain of links that do not contradict themselves leads to the reference, and nothing else
    /// casts doubt on the clock ([`ClockEntry::doubt`]).
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

/// An instant of one host on another host's clock, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Related {
    /// The estimate.
    pub time: i64,
    /// What the truth is not before and not after, where anything is known.
    pub bounds: (Option<i64>, Option<i64>),
    /// The realistic error of the estimate, where known.
    pub e95: Option<i64>,
    /// Whether the bounds are proven.
    pub proven: bool,
}

impl Clocks {
    /// Takes the clocks of an artefact and checks that their numbers are such as a solver writes.
    ///
    /// # Errors
    /// Knots, rates or rows that make no monotone correction inside its bounds; names that stand for two clocks; islands
    /// that do not hold their clocks and their reference; bounds of links that go back in time.
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
        let clocks = artefact.clocks.iter().enumerate();
        let clocks = clocks.map(|numbered| Clock::new(artefact, numbered, &chains));
        let clocks: Vec<Clock> = clocks.collect::<Result<_, _>>()?;
        let numbers: HashMap<&str, usize> =
            clocks.iter().map(|clock| (clock.entry.host.as_str(), clock.number)).collect();
        let mut links = HashMap::new();
        for link in &artefact.links {
            let Some(interval) = link.bounds()? else { continue };
            let number = |host: &String| {
                numbers.get(host.as_str()).copied().ok_or_else(|| link.error(&"no clock is of that host"))
            };
            let bounds = LinkBounds { interval, proven: is_sound(link) };
            links.insert((number(&link.a)?, number(&link.b)?), bounds);
        }
        Ok(Self { clocks, links })
    }

    /// The clock of a number: its place in the artefact.
    pub fn get(&self, number: usize) -> Option<&Clock> {
        self.clocks.get(number)
    }

    /// The raw time of a clock of an event that another one stamped `raw`; `None` where no messages tie the two. It is to be held
    /// against stamps: where a clock ticks coarsely, bounds cover all that the stamp of either can mean
    /// ([`ClockEntry::resolution`](crate::artefact::ClockEntry::resolution)).
    ///
    /// Its bounds are those that the messages between the two prove, and those that the intervals of the two clocks on their
    /// reference leave: both hold, so the tighter one counts at either side. Where only one of them is proven, the other is left
    /// out; where neither is, `proven` says so. The latency of a message has these bounds at the instant it left, less the time
    /// at which it arrived. `O(log rows)`.
    ///
    /// Why this holds between rows, too, is in `docs/sync-json.md`.
    pub fn related(&self, from: &Clock, to: &Clock, raw: i64) -> Option<Related> {
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
    fn at_instant(&self, from: &Clock, to: &Clock, raw: i64) -> Option<Related> {
        if from.entry.island != to.entry.island {
            return None;
        }
        if from.number == to.number {
            let bounds = (Some(raw), Some(raw));
            return Some(Related { time: raw, bounds, e95: Some(0), proven: true });
        }
        let instant = from.to_reference(raw);
        let joint = if to.entry.host == to.reference { instant } else { to.from_reference(instant) };
        let joint = Related {
            time: joint.time,
            bounds: joint.bounds,
            e95: joint.e95,
            proven: from.proven && to.proven,
        };
        let Some(own) = self.of_link(from.number, to.number, raw) else { return Some(joint) };
        Some(match (own.proven, joint.proven) {
            (true, false) => Related { time: joint.time, ..own },
            (false, true) => joint,
            _ => joint.and(&own),
        })
    }

    /// What the messages between two clocks alone prove; without an estimate. `None` where they do not bound it.
    fn of_link(&self, from: usize, to: usize, raw: i64) -> Option<Related> {
        let related = |bounds, e95, proven| Related { time: raw, bounds, e95, proven };
        if let Some(LinkBounds { interval, proven }) = self.links.get(&(from, to)) {
            let (lo, hi, e95) = interval.at(raw)?;
            return Some(related((Some(lo), Some(hi)), Some(e95), *proven));
        }
        let LinkBounds { interval, proven } = self.links.get(&(to, from))?;
        let bounds = (first_not_before(interval, raw), last_not_after(interval, raw));
        let near = bounds.0.or(bounds.1)?;
        Some(related(bounds, interval.at(near).map(|(_, _, e95)| e95), *proven))
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
        (number, entry): (usize, &ClockEntry),
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
            number,
            correction: entry.correction()?,
            interval: entry.uncertainty()?,
            proven: entry.host == reference.host
                || entry.proven && chain(&entry.host).is_some_and(|own| chain(&reference.host) == Some(own)),
            reference_offset_ns: reference.clock_offset_ns,
            reference: reference.host.clone(),
            entry: entry.clone(),
        };
        let rows = clock.interval.rows();
        let inside = rows.iter().all(|r| (r.lo..=r.hi).contains(&clock.correction.apply(r.raw)));
        let monotone = rows.is_sorted_by(|a, b| a.lo <= b.lo && a.hi <= b.hi);
        let fixed =
            entry.host != reference.host || rows.iter().all(|r| clock.correction.apply(r.raw) == r.raw);
        // A method of others chooses without the bounds.
        let inside = inside || artefact.method.is_some();
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

    /// As [`Self::to_reference`], of an event that was stamped `raw`: it can have taken place until the next tick.
    pub fn stamped(&self, raw: i64) -> Converted {
        let converted = self.to_reference(raw);
        match self.within_tick() {
            0 => converted,
            after => {
                let latest = self.to_reference(raw.saturating_add(after)).bounds.1;
                Converted { bounds: (converted.bounds.0, latest), ..converted }
            }
        }
    }

    /// How long after its stamp an event can have taken place, ns.
    fn within_tick(&self) -> i64 {
        let tick_ns =
            self.entry.resolution.map_or(1, |resolution| resolution.tick_ns.clamp(1, u64::from(u32::MAX)));
        (tick_ns - 1) as i64
    }

    /// This clock's raw time for an instant on the reference: the times whose own bounds meet those given.
    pub fn from_reference(&self, instant: Converted) -> Converted {
        let time = self.correction.invert(instant.time);
        let own = self.interval.at(time).map(|(_, _, e95)| e95);
        let (lo, hi) = instant.bounds;
        Converted {
            time,
            bounds: (
                lo.and_then(|lo| first_not_before(&self.interval, lo)),
                hi.and_then(|hi| last_not_after(&self.interval, hi)),
            ),
            e95: instant.e95.zip(own).map(|(a, b)| a.saturating_add(b)),
        }
    }

    /// Whether a raw time of this clock lies within the traced span, where bounds are known.
    pub fn covers(&self, raw: i64) -> bool {
        span(&self.interval).is_some_and(|(begin, end)| (begin..=end).contains(&raw))
    }
}

impl Related {
    /// How long a message took at least and at most, ns, where anything is known of it: it left at this instant, and was received at `at`
    /// (raw ns of the host on whose clock this is). It arrived after it was sent, so the least is not below 0 unless the greatest is: then
    /// the clocks and the message contradict each other.
    pub fn latency_until(&self, at: i64) -> (Option<i64>, Option<i64>) {
        let since = |bound: Option<i64>| at.checked_sub(bound?);
        let (least, greatest) = (since(self.bounds.1), since(self.bounds.0));
        let is_possible = greatest.is_none_or(|greatest| greatest >= 0);
        (least.map(|least| if is_possible { least.max(0) } else { least }), greatest)
    }

    /// The tighter of two that hold both. Should they exclude each other, one of them is wrong: then either may be right.
    fn and(&self, other: &Self) -> Self {
        fn both(a: Option<i64>, b: Option<i64>, pick: fn(i64, i64) -> i64) -> Option<i64> {
            a.zip(b).map(|(a, b)| pick(a, b)).or(a).or(b)
        }
        let (a, b) = (self.bounds, other.bounds);
        let tighter = (both(a.0, b.0, i64::max), both(a.1, b.1, i64::min));
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

/// The first time within the rows at which a bounded time may be `at` or later, if the rows begin before. `O(log rows)`: between two
/// rows [`Interval::at`] gives the upper bound `left.hi + ⌈rise · run / whole⌉`, and the least `run` that reaches `at` follows from that.
fn first_not_before(interval: &Interval, at: i64) -> Option<i64> {
    let rows = interval.rows();
    let right = rows.partition_point(|row| row.hi < at);
    let (left, right) = (rows.get(right.checked_sub(1)?)?, rows.get(right)?);
    let (whole, rise) = (between(left.raw, right.raw), between(left.hi, right.hi));
    let run = ((between(left.hi, at) - 1) * whole).div_euclid(rise) + 1;
    Some(left.raw + run as i64)
}

/// The last time within the rows at which a bounded time may be `at` or earlier, if the rows end after that. `O(log rows)`, as
/// [`first_not_before`]: the lower bound is `left.lo + ⌊rise · run / whole⌋`.
fn last_not_after(interval: &Interval, at: i64) -> Option<i64> {
    let rows = interval.rows();
    let right = rows.partition_point(|row| row.lo <= at);
    let (left, right) = (rows.get(right.checked_sub(1)?)?, rows.get(right)?);
    let (whole, rise) = (between(left.raw, right.raw), between(left.lo, right.lo));
    // The first one that passes it is the least multiple that is not below it.
    let passes = -(-(between(left.lo, at) + 1) * whole).div_euclid(rise);
    Some(left.raw + passes as i64 - 1)
}

/// A difference, exact. Differences of times and of bounds are below 2⁶⁴, so that the product of two of them fits.
fn between(from: i64, to: i64) -> i128 {
    i128::from(to) - i128::from(from)
}

/// From the first to the last row.
fn span(interval: &Interval) -> Option<(i64, i64)> {
    let rows = interval.rows();
    Some((rows.first()?.raw, rows.last()?.raw))
}

/// Whether nothing contradicts what the messages of a link prove.
fn is_sound(link: &LinkEntry) -> bool {
    matches!(link.quality, Quality::Accurate | Quality::Incomplete)
}

/// Which hosts chains of links without contradictions tie together: those of the same number. Hosts without such links have none.
/// Linear in the links.
pub(crate) fn chains(artefact: &Artefact) -> HashMap<&str, usize> {
    // Messages that all go one way tie nothing.
    let ties = |link: &&LinkEntry| link.min_rtt_ns.is_some() || link.method == Method::Trusted;
    let mut neighbours: HashMap<&str, Vec<&str>> = HashMap::new();
    for link in artefact.links.iter().filter(|link| is_sound(link)).filter(ties) {
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

#[cfg(test)]
mod tests {
    use isochrone_clock::IntervalRow;
    use proptest::prelude::*;

    use super::*;

    /// The first time in `begin..=end` that a monotone predicate holds for; it holds for `end` and not for `begin`.
    fn partition(begin: i64, end: i64, holds: impl Fn(i64) -> bool) -> i64 {
        let (mut no, mut yes) = (begin, end);
        while yes - no > 1 {
            let middle = no + (yes - no) / 2;
            if holds(middle) { yes = middle } else { no = middle }
        }
        yes
    }

    proptest! {
        /// Both are where a search by [`Interval::at`] alone finds them.
        #[test]
        fn inverses_are_exact(
            steps in proptest::collection::vec((1_i64..50, 0_i64..60, 0_i64..60), 1..6),
            at in -40_i64..200,
            scale in prop_oneof![Just(1_i64), Just(1_000_003)],
        ) {
            let (mut raw, mut lo, mut hi) = (0, -5 * scale, 5 * scale);
            let mut rows = vec![IntervalRow { raw, lo, hi, e95: 0 }];
            for (run, low, high) in steps {
                raw += run * scale;
                lo += low * scale;
                hi = (hi + high * scale).max(lo);
                rows.push(IntervalRow { raw, lo, hi, e95: 0 });
            }
            let (interval, at) = (Interval::new(rows).unwrap(), at * scale + at);
            let (begin, end) = span(&interval).unwrap();
            let reaches = |raw| interval.at(raw).is_some_and(|(_, hi, _)| hi >= at);
            let first = (!reaches(begin) && reaches(end)).then(|| partition(begin, end, reaches));
            prop_assert_eq!(first_not_before(&interval, at), first);
            let passes = |raw| interval.at(raw).is_some_and(|(lo, _, _)| lo > at);
            let last = (!passes(begin) && passes(end)).then(|| partition(begin, end, passes) - 1);
            prop_assert_eq!(last_not_after(&interval, at), last);
        }
    }
}
