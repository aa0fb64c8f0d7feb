//! A nominal rate that messages leave open, taken case by case.
//!
//! Between a clock and its reference, rates stay within a range around the nominal one, and of that only a
//! range is proven. To allow for both at once is to allow for a rate that is fast where the nominal one is
//! high and slow where it is low, and no clock does both: the nominal rate is one. So its range is cut into
//! parts, one of which holds it. Each part alone leaves tighter bounds, and what the widest of these say
//! holds, whichever part it is. In each part the mean rate over the stretch that the nominal one was defined
//! on is known as well, which ties the two ends of the stretch to each other.

use crate::geometry::{Segment, Side};
use crate::interval::BoundPoints;
use crate::link::NominalRate;
use crate::network::sweep::steps::Steps;
use crate::network::sweep::{Labels, Sweep, UNKNOWN, crossed};
use crate::span::Span;

/// Width of a part relative to the deviation that rates may have from the nominal one.
const WIDTH: f64 = 1.0 / 32.0;
/// Maximal number of parts of a range.
const MAX_PARTS: usize = 16;
/// Events of all clocks together that are gone through, each once for every part: beyond, there are fewer
/// parts.
const EVENTS_OF_ALL_PARTS: usize = 1 << 19;
/// Minimal number of parts: with fewer nothing is gained.
const MIN_PARTS: usize = 3;
/// Number of additional sweeps over all clocks.
const ROUNDS: usize = 4;

/// A nominal rate, how far rates may leave it (dimensionless), and the stretch of the clock's time over which
/// it is the mean, if it is one stretch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenRate {
    pub(crate) nominal: NominalRate,
    pub(crate) by: f64,
    pub(crate) over: Option<Span>,
}

impl OpenRate {
    /// Number of parts into which the rate is cut where there are `events` events; 1 where nothing is gained.
    pub(crate) fn parts(&self, events: usize) -> usize {
        let wanted = (self.nominal.error / (self.by * WIDTH)).ceil() as usize;
        let parts = wanted.min(MAX_PARTS).min(EVENTS_OF_ALL_PARTS / events.max(1));
        if parts < MIN_PARTS { 1 } else { parts }
    }

    /// Part number `part` of `of`.
    pub(crate) fn part(&self, part: usize, of: usize) -> NominalRate {
        let least = self.nominal.rate - self.nominal.error;
        let at = |part: usize| least + 2.0 * self.nominal.error * part as f64 / of as f64;
        NominalRate::between((at(part), at(part + 1)))
    }
}

/// Limits of a clock for one part of its nominal rate.
#[derive(Debug)]
pub(crate) struct Case {
    steps: Steps,
    mean: Option<Mean>,
}

/// By how much the reference runs between two events of a clock, ppt · ns: at least and at most.
#[derive(Debug, Clone, Copy)]
struct Mean {
    from: usize,
    to: usize,
    least: i128,
    most: i128,
}

impl Case {
    /// Of a clock with events at `raw`, where `nominal` is the mean over a stretch of its time, if that is
    /// one, and rates are as `segments` say.
    pub(crate) fn new(raw: &[i64], segments: &[Segment], nominal: NominalRate, over: Option<Span>) -> Self {
        let mean = over.and_then(|over| {
            let (from, to) = (raw.binary_search(&over.begin).ok()?, raw.binary_search(&over.end).ok()?);
            let (run, (least, most)) = ((over.end - over.begin) as i128, nominal.range(0.0).limits());
            (from < to).then_some(Mean { from, to, least: least * run, most: most? * run })
        });
        Self { steps: Steps::new(raw, segments), mean }
    }

    fn sweep(&self, side: Side, labels: &mut [i128]) {
        self.steps.sweep(side, labels, |_, _| {});
        if self.mean.is_some_and(|mean| mean.tie(side, labels)) {
            self.steps.sweep(side, labels, |_, _| {});
        }
    }
}

impl Mean {
    /// Whether it tightened anything.
    fn tie(&self, side: Side, labels: &mut [i128]) -> bool {
        let (forth, back) = match side {
            Side::Upper => (self.most, -self.least),
            Side::Lower => (-self.least, self.most),
        };
        let mut tightened = false;
        for (from, to, step) in [(self.from, self.to, forth), (self.to, self.from, back)] {
            if labels[from] < UNKNOWN && labels[from] + step < labels[to] {
                labels[to] = labels[from] + step;
                tightened = true;
            }
        }
        tightened
    }
}

impl Sweep<'_> {
    /// Bounds of every clock where the nominal rate of some is one of several cases, by clock; `None` where
    /// they contradict each other. Between the events of these nothing is implied by any one range, so that
    /// all are reported.
    pub(crate) fn bounds_by_cases(&self, cases: &[Vec<Case>]) -> Option<Vec<BoundPoints>> {
        let labels = |side| {
            let mut labels = self.labels(side).ok()?;
            self.tighten(&mut labels, cases);
            Some(labels)
        };
        let (upper, lower) = rayon::join(|| labels(Side::Upper), || labels(Side::Lower));
        let (upper, lower) = (upper?, lower?);
        let contradict = self.others().any(|clock| crossed(&upper, &lower, clock).is_some());
        (!contradict).then(|| self.bound_points(&upper, &lower, |_, _| [true; 2]))
    }

    /// Tightens labels by cases and by messages in turn, from the reference outward, up to `ROUNDS` times.
    pub(super) fn tighten(&self, labels: &mut Labels, cases: &[Vec<Case>]) {
        let side = labels.side;
        let outgoing = self.outgoing(side);
        for _ in 0..ROUNDS {
            let mut tightened = false;
            for clock in self.others() {
                let own = &mut labels.at[clock];
                self.lines[clock].steps.sweep(side, own, |_, _| {});
                sweep(&cases[clock], side, own);
                for &index in &outgoing[clock] {
                    let (from, to) = self.messages[index as usize].towards(side);
                    let label = labels.at[clock][from.1 as usize];
                    let there = &mut labels.at[to.0 as usize][to.1 as usize];
                    if to.0 as usize != self.reference && label < *there {
                        *there = label;
                        tightened = true;
                    }
                }
            }
            if !tightened {
                break;
            }
        }
    }
}

/// Tightens the labels of a clock to what the widest of all cases leave, each by itself; of a clock without
/// cases, none.
fn sweep(cases: &[Case], side: Side, labels: &mut [i128]) {
    if cases.is_empty() {
        return;
    }
    let mut widest = vec![i128::MIN; labels.len()];
    for case in cases {
        let mut own = labels.to_vec();
        case.sweep(side, &mut own);
        widest.iter_mut().zip(own).for_each(|(widest, own)| *widest = own.max(*widest));
    }
    labels.copy_from_slice(&widest);
}
