//! A usual rate that messages leave open, taken case by case.
//!
//! Between a clock and its reference, rates stay within a range around the usual one, and of that only a range is proven. To allow for both at
//! once is to allow for a rate that is fast where the usual one is high and slow where it is low, and no clock does both: the usual rate is
//! one. So its range is cut into parts, of which one holds it. Each part alone leaves tighter bounds, and what the widest of these say
//! holds, whichever part it is. In each part the mean rate over the stretch that the usual one was defined on is known as well, which ties
//! the two ends of the stretch to each other.

use super::{Labels, Lines, Steps, Sweep, UNKNOWN, crossed};
use crate::chain::Leg;
use crate::hull::Side;
use crate::motion::range_around;
use crate::span::Span;
use crate::usual::Usual;

/// Parts are so wide against what rates may leave the usual one by, either way.
const WIDTH: f64 = 1.0 / 32.0;
/// Most parts of a range.
const MOST: usize = 16;
/// Events of all clocks together that are gone through, each once for every part: beyond, there are fewer parts.
const EVENTS_OF_ALL_PARTS: usize = 1 << 19;
/// With fewer parts nothing is gained.
const FEWEST: usize = 3;
/// Clocks are swept so often more.
const ROUNDS: usize = 4;

/// A usual rate, how far rates may leave it (dimensionless), and the stretch of the clock's time over which it is the mean, if it is one
/// stretch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    pub(crate) usual: Usual,
    pub(crate) by: f64,
    pub(crate) over: Option<Span>,
}

impl Open {
    /// In how many parts it is worth to be cut, where so many events are gone through; 1 where nothing is gained.
    pub(crate) fn parts(&self, events: usize) -> usize {
        let wanted = (self.usual.error / (self.by * WIDTH)).ceil() as usize;
        let parts = wanted.min(MOST).min(EVENTS_OF_ALL_PARTS / events.max(1));
        if parts < FEWEST { 1 } else { parts }
    }

    /// One of so many parts.
    pub(crate) fn part(&self, part: usize, of: usize) -> Usual {
        let least = self.usual.rate - self.usual.error;
        let at = |part: usize| least + 2.0 * self.usual.error * part as f64 / of as f64;
        Usual::between((at(part), at(part + 1)))
    }
}

/// What is assumed of a clock in one part of its usual rate.
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
    /// Of a clock with events at `raw`, where `usual` is the mean over a stretch of its time, if that is one, and rates are as `legs` say.
    pub(crate) fn new(raw: &[i64], legs: &[Leg], usual: Usual, over: Option<Span>) -> Self {
        let mean = over.and_then(|over| {
            let (from, to) = (raw.binary_search(&over.begin).ok()?, raw.binary_search(&over.end).ok()?);
            let (run, (least, most)) = ((over.end - over.begin) as i128, range_around(usual, 0.0).limits());
            (from < to).then_some(Mean { from, to, least: least * run, most: most? * run })
        });
        Self { steps: Steps::new(raw, legs), mean }
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
    /// What is known of every clock where of some the usual rate is one of several cases, by clock; `None` where they contradict each other.
    /// Between the events of these nothing is implied by any one range, so that all are told.
    pub(crate) fn lines_by_cases(&self, cases: &[Vec<Case>]) -> Option<Vec<Lines>> {
        let labels = |side| {
            let mut labels = self.labels(side).ok()?;
            self.tighten(&mut labels, cases);
            Some(labels)
        };
        let (upper, lower) = rayon::join(|| labels(Side::Upper), || labels(Side::Lower));
        let (upper, lower) = (upper?, lower?);
        let contradict = self.others().any(|clock| crossed(&upper, &lower, clock).is_some());
        (!contradict).then(|| self.told(&upper, &lower, |_, _| [true; 2]))
    }

    /// What cases say of the clocks that have some, and that of all others, from the reference outward, some times.
    pub(super) fn tighten(&self, labels: &mut Labels, cases: &[Vec<Case>]) {
        let side = labels.side;
        let leaving = self.leaving(side);
        for _ in 0..ROUNDS {
            let mut tightened = false;
            for clock in self.others() {
                let own = &mut labels.at[clock];
                self.lines[clock].steps.sweep(side, own, |_, _| {});
                sweep(&cases[clock], side, own);
                for &index in &leaving[clock] {
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

/// Tightens the labels of a clock to what the widest of all cases leave, each by itself; of a clock without cases, none.
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
