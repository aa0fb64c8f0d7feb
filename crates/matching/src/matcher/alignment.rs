//! Roughly how the clocks stand to each other: enough to read all traces side by side and to know when
//! nothing can answer a packet any more. No bound comes from here.
//!
//! Before any packet is matched, the clocks' own ideas of Unix time count, if by them the traces overlap;
//! else traces are taken to begin together. Then the matches of each round say how far the clocks of a pair
//! are apart.

use std::collections::BTreeMap;

use isochrone_time::RawNs;

use super::Traced;

/// Matches of a pair and direction that count in a round: their median is right to the usual delay.
const SAMPLES: usize = 63;

/// The clocks on one time line, common time in ns.
#[derive(Debug)]
pub(super) struct Alignment {
    /// Common time less raw time.
    shifts: Vec<i64>,
    /// The lowest clock that a chain of matches ties this one to.
    islands: Vec<usize>,
    /// Common time at which a clock's trace begins, raw.
    begins: Vec<RawNs>,
    /// Raw time of b less that of a, for `a < b`, by the last round with matches of the two.
    distances: BTreeMap<(usize, usize), i64>,
    /// By sender and receiver: raw time at arrival less raw time at departure, in this round.
    samples: BTreeMap<(usize, usize), Vec<i64>>,
}

impl Alignment {
    pub(super) fn new(clocks: &[Traced]) -> Self {
        let unix = |clock: &Traced| {
            let at = |raw: RawNs| raw.saturating_add(clock.offset_ns).ns();
            (at(clock.span.start), at(clock.span.end))
        };
        let overlap = |a: &Traced, b: &Traced| {
            let ((a_begin, a_end), (b_begin, b_end)) = (unix(a), unix(b));
            a_begin <= b_end && b_begin <= a_end
        };
        let company = |clock: &&Traced| clocks.iter().filter(|other| overlap(clock, other)).count();
        // The first of those that most others overlap with.
        let anchor = clocks.iter().rev().max_by_key(company);
        let shift = |clock: &Traced| {
            anchor.filter(|anchor| overlap(anchor, clock)).map_or_else(
                || clock.span.start.ns().saturating_neg(),
                |anchor| clock.offset_ns.saturating_sub(unix(anchor).0),
            )
        };
        Self {
            shifts: clocks.iter().map(shift).collect(),
            islands: (0..clocks.len()).collect(),
            begins: clocks.iter().map(|clock| clock.span.start).collect(),
            distances: BTreeMap::new(),
            samples: BTreeMap::new(),
        }
    }

    /// Common time of a clock's raw time.
    pub(super) fn common(&self, clock: usize, raw: RawNs) -> i64 {
        match raw {
            RawNs::MAX => i64::MAX,
            raw => raw.saturating_add(self.shifts[clock]).ns(),
        }
    }

    /// Raw time of a clock at a common time.
    pub(super) fn raw(&self, clock: usize, common: i64) -> RawNs {
        match common {
            i64::MAX => RawNs::MAX,
            common => RawNs(common.saturating_sub(self.shifts[clock])),
        }
    }

    /// Common time at which a clock's trace begins.
    pub(super) fn begin(&self, clock: usize) -> i64 {
        self.common(clock, self.begins[clock])
    }

    /// Clocks of one island are tied by matches.
    pub(super) fn island(&self, clock: usize) -> usize {
        self.islands[clock]
    }

    /// Whether matches tie all clocks together.
    pub(super) fn is_whole(&self) -> bool {
        self.islands.iter().all(|&island| island == 0)
    }

    /// A match, certain or likely.
    pub(super) fn learn(&mut self, (sender, sent): (usize, RawNs), (receiver, received): (usize, RawNs)) {
        let samples = self.samples.entry((sender, receiver)).or_default();
        if samples.len() < SAMPLES {
            samples.push(received.saturating_since(sent));
        }
    }

    /// Makes use of what was learned. `O(clocks + pairs)`, and nothing where nothing was learned.
    pub(super) fn settle(&mut self) {
        if self.samples.is_empty() {
            return;
        }
        let mut medians: BTreeMap<(usize, usize), Vec<i64>> = BTreeMap::new();
        for ((sender, receiver), mut samples) in std::mem::take(&mut self.samples) {
            samples.sort_unstable();
            let median = samples[samples.len() / 2];
            let (pair, distance) = match sender < receiver {
                true => ((sender, receiver), median),
                false => ((receiver, sender), median.saturating_neg()),
            };
            medians.entry(pair).or_default().push(distance);
        }
        for (pair, distances) in medians {
            let sum: i128 = distances.iter().map(|&distance| i128::from(distance)).sum();
            self.distances.insert(pair, (sum / distances.len() as i128) as i64);
        }
        self.spread();
    }

    /// Breadth first from the lowest clock of each island, whose place stays.
    fn spread(&mut self) {
        let mut neighbours: Vec<Vec<(usize, i64)>> = vec![Vec::new(); self.shifts.len()];
        for (&(a, b), &distance) in &self.distances {
            neighbours[a].push((b, distance));
            neighbours[b].push((a, distance.saturating_neg()));
        }
        let mut reached = vec![false; self.shifts.len()];
        for root in 0..self.shifts.len() {
            if std::mem::replace(&mut reached[root], true) {
                continue;
            }
            let mut queue = std::collections::VecDeque::from([root]);
            while let Some(clock) = queue.pop_front() {
                self.islands[clock] = root;
                for &(next, distance) in &neighbours[clock] {
                    if !std::mem::replace(&mut reached[next], true) {
                        self.shifts[next] = self.shifts[clock].saturating_sub(distance);
                        queue.push_back(next);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use isochrone_time::Window;

    use super::*;
    use crate::matcher::tests::S;

    fn traced(start: i64, end: i64, offset: i64) -> Traced {
        let span = Window::new(RawNs(start * S), RawNs(end * S));
        Traced { span, offset_ns: offset * S, losses: Vec::new() }
    }

    #[test]
    fn overlapping_traces_are_placed_by_unix_time_others_at_their_begin() {
        let alignment = Alignment::new(&[traced(100, 110, 1000), traced(5, 15, 1098), traced(7, 17, 9000)]);
        assert_eq!([0, 1, 2].map(|clock| alignment.begin(clock)), [0, 3 * S, 0]);
        assert_eq!(alignment.common(1, RawNs(6 * S)), 4 * S);
        assert_eq!(alignment.raw(2, S), RawNs(8 * S));
        assert!(!alignment.is_whole());
    }

    #[test]
    fn matches_tie_clocks_and_show_their_distances() {
        let mut alignment = Alignment::new(&[traced(0, 10, 0), traced(0, 10, 0), traced(0, 10, 500)]);
        for outlier in [0, 0, 40] {
            alignment.learn((1, RawNs(3 * S)), (2, RawNs((1003 + outlier) * S + 2)));
        }
        alignment.learn((2, RawNs(1004 * S)), (1, RawNs(4 * S + 2)));
        alignment.settle();
        assert_eq!([0, 1, 2].map(|clock| alignment.island(clock)), [0, 1, 1]);
        assert_eq!(alignment.common(2, RawNs(1005 * S)), 5 * S);
        alignment.learn((0, RawNs(0)), (1, RawNs(-7 * S)));
        alignment.settle();
        assert!(alignment.is_whole());
        assert_eq!(alignment.common(2, RawNs(1005 * S)), 12 * S);
        assert_eq!(alignment.raw(1, 12 * S), RawNs(5 * S));
    }
}
