//! Which of two instants was first, each of a host of its own: what the bounds prove, what the likely error
//! says, and what stays open.
//!
//! It needs the corrections alone. Bounds are those of [`Clocks::related`]: the links' own, and those of both
//! clocks over the reference.

use std::cmp::Ordering;

use isochrone_corrections::artefact::BreakKind;
use isochrone_corrections::{Clock, Clocks, Related};
use isochrone_time::{RawNs, UnixNs};
use isochrone_timing::{ConversionError, UnknownHost};

/// Nine answers of ten are right, or more: from there on an order is called likely.
pub const LIKELY: f64 = 0.9;

/// The greatest probability that is stated: the likely error says nothing of what is rarer.
pub const MOST_PROBABLE: f64 = 0.999;

/// The share of the likely error that is √3 times the scale of the distribution of errors, calibrated on
/// simulated clusters: smaller than a normal error would have it, with tails that are heavier.
const SPREAD_OF_E95: f64 = 0.9;

/// Whose times are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimesOf {
    /// The common clock's: Unix ns, as the events of synchronized hosts are shown.
    Common,
    /// The host's own wall clock's: Unix ns.
    Own,
    /// The host's own clock's, without its offset: raw ns.
    Raw,
}

/// An instant of a host.
#[derive(Debug, Clone, Copy)]
pub struct Instant<'c> {
    clock: &'c Clock,
    /// The least and the greatest value of the clock that may be meant, raw ns.
    raw: (RawNs, RawNs),
    /// The stream of an event and its place there.
    place: Option<(usize, u64)>,
}

impl<'c> Instant<'c> {
    /// The instant at which a time is given for a host. A time of the common clock is rounded down from the
    /// host's own, and a host's wall clock may be set by several offsets, one in each trace: several raw
    /// times may be meant, and all of them count.
    ///
    /// # Errors
    /// There is no such host, or the time is out of range.
    pub fn new(clocks: &'c Clocks, host: &str, ns: i128, of: TimesOf) -> Result<Self, ConversionError> {
        let clock = find(clocks, host)?;
        let beyond = || ConversionError::Beyond { ns, host: clock.entry.host.clone() };
        let less = |zero: i64| {
            let raw = ns.checked_sub(i128::from(zero)).and_then(|raw| i64::try_from(raw).ok());
            raw.map(RawNs).ok_or_else(beyond)
        };
        let raw = match of {
            TimesOf::Raw => (less(0)?, less(0)?),
            TimesOf::Own => {
                let own = clock.entry.clock_offset_ns;
                let stated = clock.entry.traces.iter().map(|trace| trace.offset_ns);
                let (least, greatest) = stated.fold((own, own), |(a, b), it| (a.min(it), b.max(it)));
                (less(greatest)?, less(least)?)
            }
            TimesOf::Common => {
                let RawNs(there) = less(clock.reference_offset_ns)?;
                let correction = &clock.correction;
                let last = correction.invert(there);
                // The first that is shown as this time; where none is, the time lies between two.
                let first = correction.invert(there.saturating_sub(1)).saturating_add(1);
                (RawNs(first.min(last)), RawNs(first.max(last)))
            }
        };
        Ok(Self { clock, raw, place: None })
    }

    /// The instant of an event: its raw time. `place`: the index of its stream and its number among the
    /// events there, where they are known: events of one stream have an order though their times are equal.
    pub fn of_event(clock: &'c Clock, raw: RawNs, place: Option<(usize, u64)>) -> Self {
        Self { clock, raw: (raw, raw), place }
    }

    /// The clock of the host.
    pub fn clock(&self) -> &'c Clock {
        self.clock
    }

    /// What the host's clock shows, raw ns; the middle where several times may be meant.
    pub fn raw(&self) -> RawNs {
        RawNs(self.raw.0.0.midpoint(self.raw.1.0))
    }

    /// The least and the greatest raw time that may be meant, ns.
    pub fn raw_range(&self) -> (RawNs, RawNs) {
        self.raw
    }

    /// Unix time on the common clock.
    pub fn unix(&self) -> UnixNs {
        self.clock.unix(self.raw())
    }

    /// Unix time by the host's own wall clock.
    pub fn own(&self) -> UnixNs {
        UnixNs(i128::from(self.raw().0) + i128::from(self.clock.entry.clock_offset_ns))
    }

    /// When the traces of a host begin, Unix ns of whose times are given; `None` where nothing is known of
    /// them.
    ///
    /// # Errors
    /// There is no such host.
    pub fn begin_of(clocks: &Clocks, host: &str, of: TimesOf) -> Result<Option<i128>, ConversionError> {
        let clock = find(clocks, host)?;
        let first = clock.interval.rows().first().map(|row| row.raw);
        Ok(first.map(|raw| match of {
            TimesOf::Common => clock.unix(RawNs(raw)).0,
            TimesOf::Own => i128::from(raw) + i128::from(clock.entry.clock_offset_ns),
            TimesOf::Raw => i128::from(raw),
        }))
    }

    fn is_covered(&self) -> bool {
        self.clock.covers(self.raw.0) && self.clock.covers(self.raw.1)
    }
}

fn find<'c>(clocks: &'c Clocks, host: &str) -> Result<&'c Clock, ConversionError> {
    let known = || clocks.iter().map(|clock| clock.entry.host.as_str());
    clocks.of_host(host).ok_or_else(|| UnknownHost::new(host, known()).into())
}

/// How sure an order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No clock that keeps what is assumed of it, and no delay of a message, allows the other order.
    Proven,
    /// By the likely error it is right in at least [`LIKELY`] of such cases.
    Likely,
    /// Either may have been first.
    Open,
}

/// Why nothing is guaranteed of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown<'c> {
    /// The hosts are of different islands: there is no estimate, either.
    Apart,
    /// Messages contradict each other, or what is assumed of the clocks.
    Contradicted,
    /// The instant of this host lies outside the time that was synchronized.
    Outside(&'c str),
    /// Messages bound the clocks from one side only, or not there.
    Unbounded,
    /// The clock of both was set back about then, so that it showed the same times twice.
    SetBack,
}

/// Which of two instants was first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Order<'c> {
    /// How sure it is.
    pub verdict: Verdict,
    /// The first instant compared with the second by the estimate, or by what is proven: `Less` is before.
    /// `None`: no estimate.
    pub ordering: Option<Ordering>,
    /// How much later the second instant was than the first, by the estimate: ns of the second host's clock.
    /// Negative: earlier.
    pub gap: Option<i128>,
    /// What that is surely not less and not more than; `None`: not known.
    pub bounds: (Option<i128>, Option<i128>),
    /// The realistic error of `gap`, where known.
    pub e95: Option<i64>,
    /// How probable `ordering` is by the realistic error: from 0.5 to [`MOST_PROBABLE`]. `None` where
    /// nothing is said of it, and where the order is proven.
    pub probability: Option<f64>,
    /// How far apart the instants would have to be, in this order and about there, for a proof: more than
    /// this, ns.
    pub proven_beyond: Option<i128>,
    /// Why nothing is guaranteed.
    pub unknown: Option<Unknown<'c>>,
}

/// Which of two instants was first. Those of one clock are ordered by it, and by their stream where their
/// times are equal. `O(log rows)`.
///
/// ```
/// use isochrone_experiment::{Instant, TimesOf, Verdict, order};
/// # use isochrone_sync::{Options, synchronize_messages};
/// # let directory = tempfile::tempdir()?;
/// # let list = directory.path().join("list");
/// // Two messages, 0.3 s on their way by clocks that are 0.1 s apart, and their answers.
/// std::fs::write(&list, "2\n0 1 1.0 1.3\n1 0 1.5 1.6\n0 1 9.0 9.3\n1 0 9.5 9.6\n")?;
/// let outcome = synchronize_messages(&list, &Options::default(), &|_| ())?;
/// let at = |host, ns| Instant::new(&outcome.clocks, host, ns, TimesOf::Raw);
/// let found = order(&outcome.clocks, &at("0", 2_000_000_000)?, &at("1", 3_000_000_000)?);
/// assert_eq!((found.verdict, found.ordering), (Verdict::Proven, Some(std::cmp::Ordering::Less)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn order<'c>(clocks: &Clocks, first: &Instant<'c>, second: &Instant<'c>) -> Order<'c> {
    if first.clock.number == second.clock.number {
        return on_one_clock(clocks, first, second);
    }
    let none = Order {
        verdict: Verdict::Open,
        ordering: None,
        gap: None,
        bounds: (None, None),
        e95: None,
        probability: None,
        proven_beyond: None,
        unknown: Some(Unknown::Apart),
    };
    let related = |raw: RawNs| clocks.related(first.clock, second.clock, raw);
    let (Some(begin), Some(middle), Some(end)) =
        (related(first.raw.0), related(first.raw()), related(first.raw.1))
    else {
        return none;
    };
    let gap = i128::from(second.raw().0) - i128::from(middle.time.0);
    let outside = [first, second].into_iter().find(|instant| !instant.is_covered());
    // Beyond the traces a clock may have been set: neither bounds nor errors say anything.
    let e95 = middle.e95.filter(|_| outside.is_none());
    let less = |instant: RawNs, bound: RawNs| i128::from(instant.0) - i128::from(bound.0);
    let is_proven = outside.is_none() && is_proven(&begin) && is_proven(&end);
    let bounds = match is_proven {
        true => {
            (end.bounds.1.map(|hi| less(second.raw.0, hi)), begin.bounds.0.map(|lo| less(second.raw.1, lo)))
        }
        false => (None, None),
    };
    let unknown = match (outside, bounds) {
        (Some(outside), _) => Some(Unknown::Outside(&outside.clock.entry.host)),
        (None, _) if !is_proven => Some(Unknown::Contradicted),
        (None, (None, None)) => Some(Unknown::Unbounded),
        _ => None,
    };
    let proof = match bounds {
        (Some(least), _) if least > 0 => Some(Ordering::Less),
        (_, Some(most)) if most < 0 => Some(Ordering::Greater),
        (Some(0), Some(0)) => Some(Ordering::Equal),
        _ => None,
    };
    let ordering = proof.unwrap_or(0_i128.cmp(&gap));
    let probability = e95.filter(|_| proof.is_none()).map(|e95| probability(gap, e95));
    let verdict = match (proof, probability) {
        (Some(Ordering::Less | Ordering::Greater), _) => Verdict::Proven,
        (None, Some(probability)) if probability >= LIKELY => Verdict::Likely,
        _ => Verdict::Open,
    };
    let proven_beyond = match ordering {
        Ordering::Greater => bounds.1.map(|most| most - gap),
        _ => bounds.0.map(|least| gap - least),
    };
    let (ordering, gap) = (Some(ordering), Some(gap));
    Order { verdict, ordering, gap, bounds, e95, probability, proven_beyond, unknown }
}

/// Whether what relates two clocks is a proof.
fn is_proven(related: &Related) -> bool {
    related.proven
}

/// By the clock itself; where that was set back, it showed some times twice.
fn on_one_clock<'c>(clocks: &Clocks, first: &Instant<'c>, second: &Instant<'c>) -> Order<'c> {
    let less = |a: RawNs, b: RawNs| i128::from(a.0) - i128::from(b.0);
    let bounds = (less(second.raw.0, first.raw.1), less(second.raw.1, first.raw.0));
    let gap = less(second.raw(), first.raw());
    let in_stream = match (first.place, second.place) {
        (Some(a), Some(b)) if a.0 == b.0 && a.1 != b.1 => Some(a.1.cmp(&b.1)),
        _ => None,
    };
    let by_clock = match bounds {
        (least, _) if least > 0 => Some(Ordering::Less),
        (_, most) if most < 0 => Some(Ordering::Greater),
        _ => None,
    };
    let was_set_back = in_stream.is_none() && is_twice(clocks, first, second);
    let proof = in_stream.or(by_clock).filter(|_| !was_set_back);
    Order {
        verdict: if proof.is_some() { Verdict::Proven } else { Verdict::Open },
        ordering: Some(proof.unwrap_or(0_i128.cmp(&gap))),
        gap: Some(gap),
        bounds: if was_set_back { (None, None) } else { (Some(bounds.0), Some(bounds.1)) },
        e95: (!was_set_back).then_some(0),
        probability: None,
        proven_beyond: (!was_set_back).then_some(gap - bounds.0),
        unknown: was_set_back.then_some(Unknown::SetBack),
    }
}

/// Whether both instants lie where their clock may have shown each time twice, because it was set back there.
/// Only wall clocks are: those of captures and of lists of messages, which count from 1970. What tracers
/// stamp events with does not go back. Where the clock of another host is said to have been set forward, it
/// may as well be this one that was set back.
fn is_twice(clocks: &Clocks, first: &Instant<'_>, second: &Instant<'_>) -> bool {
    let own = first.clock;
    if own.entry.clock_offset_ns != 0 {
        return false;
    }
    clocks.iter().filter(|clock| clock.entry.island == own.entry.island).any(|clock| {
        let is_back = |size_ns: i64| if clock.number == own.number { size_ns < 0 } else { size_ns > 0 };
        let steps = clock.entry.breaks.iter().filter(|found| found.kind == BreakKind::Step);
        steps.filter(|step| is_back(step.size_ns)).any(|step| {
            let (begin, end) = step.raw_range_ns;
            let begin = clock.correction.apply(begin).saturating_sub(step.size_ns.saturating_abs());
            let end = clock.correction.apply(end).saturating_add(step.size_ns.saturating_abs());
            let is_there = |instant: &Instant<'_>| {
                let at = |raw: RawNs| own.correction.apply(raw.0);
                begin <= at(instant.raw.1) && at(instant.raw.0) <= end
            };
            is_there(first) && is_there(second)
        })
    })
}

/// How probable it is that a distance has the sign that it is estimated to have, by its realistic error.
///
/// The error is taken for one of Student's distribution with three degrees of freedom. Most errors are far
/// smaller than the realistic one, and those that are not do not end where a normal distribution does.
fn probability(gap: i128, e95: i64) -> f64 {
    let spread = e95 as f64 * SPREAD_OF_E95;
    let distance = gap.unsigned_abs() as f64;
    let known = match (distance > 0.0, spread > 0.0) {
        (false, _) => 0.5,
        (true, false) => 1.0,
        (true, true) => {
            let by = distance / spread;
            0.5 + (by / (1.0 + by * by) + libm::atan(by)) / std::f64::consts::PI
        }
    };
    known.min(MOST_PROBABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_heavy_tails() {
        let check = |gap, e95, expect: f64| {
            let found = probability(gap, e95);
            assert!((found - expect).abs() < 5e-4, "{gap} {e95}: {found}");
            assert_eq!(found.to_bits(), probability(-gap, e95).to_bits());
        };
        check(0, 100, 0.5);
        check(0, 0, 0.5);
        check(1, 0, 0.999);
        check(100, 100, 0.9250);
        check(510, 1000, 0.8006);
        check(851, 1000, 0.9);
        check(300, 100, 0.9948);
        check(i128::MAX, 1, 0.999);
        check(1, i64::MAX, 0.5);
    }
}
