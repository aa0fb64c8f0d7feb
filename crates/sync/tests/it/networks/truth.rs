//! Solutions held against simulated clocks, of which the truth is known.

use isochrone_clock::{Solution, Span};
use isochrone_testkit::SimClock;

const NS_PER_S: i64 = 1_000_000_000;

/// A clock at an instant, by the solution and in truth: times of its reference, ns.
pub struct ClockSample {
    /// Index of the clock.
    pub clock: usize,
    /// Index of its reference.
    pub reference: usize,
    /// The instant, true time.
    pub at: i64,
    /// What the reference showed.
    pub truth: i64,
    /// What may be due to rounding alone.
    pub rounding: i64,
    /// By the solution: not before, not after, realistic error. `None` where it says nothing.
    pub interval: Option<(i64, i64, i64)>,
    /// By the solution.
    pub estimate: i64,
}

impl ClockSample {
    /// How far outside of the interval the truth is; of one that is missing, at no distance. `None` if it is inside.
    pub fn beyond(&self) -> Option<i64> {
        let Some((lo, hi, _)) = self.interval else { return Some(0) };
        let beyond = (lo - self.truth).max(self.truth - hi);
        (beyond > self.rounding).then_some(beyond)
    }

    /// Distance of the estimate from the truth.
    pub fn error(&self) -> i64 {
        (self.estimate - self.truth).abs()
    }

    /// Whether the estimate is as good as it is said to be.
    pub fn is_realistic(&self) -> bool {
        self.interval.is_some_and(|(_, _, e95)| self.error() <= e95 + self.rounding)
    }
}

/// When clocks were seen that were watched for so long from true time zero on.
pub fn spans(clocks: &[&SimClock], seconds: u64) -> Vec<Span> {
    let end = seconds as i64 * NS_PER_S;
    clocks.iter().map(|clock| Span { begin: clock.raw(0), end: clock.raw(end) }).collect()
}

/// All clocks but the references at instants that are evenly spread over the time that they were watched for.
pub fn moments(solution: &Solution, clocks: &[&SimClock], seconds: u64, instants: i64) -> Vec<ClockSample> {
    let end = seconds as i64 * NS_PER_S;
    let mut found = Vec::new();
    for island in &solution.islands {
        let reference = island.reference;
        for &clock in island.clocks.iter().filter(|&&clock| clock != reference) {
            let [own, other] = [clock, reference].map(|c| clocks[c]);
            // A host that stands still stamps nothing.
            let instants =
                (0..=instants).map(|instant| end / instants * instant).filter(|&at| own.awake(at) == at);
            found.extend(instants.map(|at| {
                let (raw, truth) = (own.raw(at), other.raw(at));
                // Both are rounded down, and a nanosecond of a slow clock is several of a fast one.
                let rounding = 1 + (other.raw(at + 100) - truth) / 100;
                let interval = solution.intervals[clock].at(raw);
                let estimate = solution.corrections[clock].apply(raw);
                ClockSample { clock, reference, at, truth, rounding, interval, estimate }
            }));
        }
    }
    found
}

/// What was found of the bounds of links.
#[derive(Debug, Default)]
pub struct OfLinks {
    /// Instants at which bounds were held against the truth.
    pub instants: usize,
    /// Those at which the truth is outside.
    pub outside: Vec<String>,
    /// Sum of the logarithms of half widths, ns.
    pub half_widths: f64,
}

/// Holds the bounds of every link against the truth, at all rows and at some instants between each two.
pub fn of_links(solution: &Solution, clocks: &[&SimClock]) -> OfLinks {
    /// Instants between two rows.
    const BETWEEN: i64 = 3;
    let mut found = OfLinks::default();
    for link in &solution.links {
        let Some(interval) = &link.interval else { continue };
        let (a, b) = (clocks[link.a], clocks[link.b]);
        let rows = interval.rows();
        let inner = rows.windows(2).flat_map(|pair| {
            let gap = pair[1].raw - pair[0].raw;
            (1..=BETWEEN).map(move |part| pair[0].raw + gap / (BETWEEN + 1) * part)
        });
        for raw in rows.iter().map(|row| row.raw).chain(inner) {
            let at = a.true_ns(raw);
            // A host that stands still stamps nothing.
            if a.awake(at) != at || b.awake(at) != at {
                continue;
            }
            let truth = b.raw(at);
            // Both are rounded down, and a nanosecond of a slow clock is several of a fast one.
            let rounding =
                2 + (b.raw(at + 1000) - b.raw(at - 1000)) / (a.raw(at + 1000) - a.raw(at - 1000)).max(1);
            let Some((lo, hi, _)) = interval.at(raw) else {
                found.outside.push(format!("link {}-{} at {raw}: nothing is known", link.a, link.b));
                continue;
            };
            found.instants += 1;
            found.half_widths += (((hi - lo) / 2).max(1) as f64).ln();
            let beyond = (lo - truth).max(truth - hi);
            if beyond > rounding {
                let (a, b, width) = (link.a, link.b, hi - lo);
                found.outside.push(format!("link {a}-{b} at {raw}: {beyond} ns of {width}"));
            }
        }
    }
    found
}
