//! What is known of the time of each stream of a host, for people: recorded, lost, not yet begun, over.
//!
//! [`Host::timelines`] puts together what [`crate::losses`] and [`crate::coverage`] found.

use std::collections::BTreeMap;

use isochrone_time::RawNs;

use crate::host::Host;
use crate::losses::{LossKind, StreamLoss};
use crate::source::EventSource;

/// A stream over all chunks of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamTimeline {
    /// Number of its first source in [`Host::sources`].
    pub source: usize,
    /// The CPU, where packets record it.
    pub cpu: Option<u32>,
    /// Whether the kernel's tracer wrote it.
    pub is_kernel: bool,
    /// The time of the host, from its start to its end, in order and without holes.
    pub covered: Vec<CoverageSpan>,
}

/// A stretch of time of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoverageSpan {
    /// First instant, raw ns.
    pub begin: RawNs,
    /// Last instant, raw ns.
    pub end: RawNs,
    /// What is known of it.
    pub state: State,
}

/// What is known of a stretch of time of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// All that the tracer was to record is there.
    Recorded,
    /// Something is missing: see [`LossKind`].
    Missing(LossKind),
}

impl Host<'_> {
    /// The streams with what is known of their time before reading; packets that cannot be decoded show only
    /// then. In the order of the sources. `O(n log n)` in sources and losses.
    pub fn timelines(&self) -> Vec<StreamTimeline> {
        let Some((begin, end)) = self.extent() else { return Vec::new() };
        let mut missing: BTreeMap<usize, Vec<StreamLoss>> = BTreeMap::new();
        for loss in self.losses().iter().chain(self.uncovered()) {
            missing.entry(self.sources()[loss.source].series).or_default().push(*loss);
        }
        let mut timelines: Vec<StreamTimeline> = Vec::new();
        let mut before = None;
        for (number, source) in self.sources().iter().enumerate() {
            if before.replace(source.series) == Some(source.series) {
                continue;
            }
            let edge = |from: RawNs, to: RawNs, what| StreamLoss { from, to, source: number, what };
            let of_series = || self.sources()[number..].iter().take_while(|it| it.series == source.series);
            let first = of_series().filter_map(EventSource::begin).min();
            let last = of_series().map(EventSource::end).max().flatten();
            let edges = first.map(|first| edge(begin, first, LossKind::NotBegun)).into_iter();
            let edges = edges.chain(last.map(|last| edge(last, end, LossKind::Over)));
            let gaps = self.gaps().iter();
            let gaps = gaps.map(|gap| StreamLoss {
                from: gap.start,
                to: gap.end,
                source: number,
                what: LossKind::All,
            });
            let missing = missing.remove(&source.series).unwrap_or_default();
            let missing = missing.into_iter().chain(gaps).chain(edges).collect();
            timelines.push(StreamTimeline {
                source: number,
                cpu: source.cpu,
                is_kernel: source.is_kernel,
                covered: covered(missing, begin, end),
            });
        }
        timelines
    }
}

/// The time between two instants, with what is missing of it. Where losses overlap, the one that begins first
/// is named.
fn covered(mut missing: Vec<StreamLoss>, begin: RawNs, end: RawNs) -> Vec<CoverageSpan> {
    missing.sort_by_key(|loss| (loss.from, loss.to));
    let mut covered = Vec::new();
    let mut now = begin;
    for loss in missing {
        let (from, to) = (loss.from.clamp(now, end), loss.to.min(end));
        if from > now {
            covered.push(CoverageSpan { begin: now, end: from, state: State::Recorded });
        }
        if to > from {
            covered.push(CoverageSpan { begin: from, end: to, state: State::Missing(loss.what) });
        }
        now = now.max(from).max(to);
    }
    if now < end || covered.is_empty() {
        covered.push(CoverageSpan { begin: now, end, state: State::Recorded });
    }
    // What a gap cuts through, in one.
    covered.dedup_by(|later, earlier| {
        let is_one = later.state == earlier.state
            && matches!(later.state, State::Recorded | State::Missing(LossKind::All));
        if is_one {
            earlier.end = later.end;
        }
        is_one
    });
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instant_is_covered_once() {
        let check = |losses: &[(i64, i64, LossKind)], expect: &[(i64, i64, State)]| {
            let loss = |&(from, to, what): &(i64, i64, LossKind)| StreamLoss {
                from: RawNs(from),
                to: RawNs(to),
                source: 0,
                what,
            };
            let covered = covered(losses.iter().map(loss).collect(), RawNs(0), RawNs(100));
            let found: Vec<_> = covered.iter().map(|part| (part.begin.0, part.end.0, part.state)).collect();
            assert_eq!(found, expect);
        };
        let (late, packets, over) = (LossKind::NotBegun, LossKind::Packets(2), LossKind::Over);
        check(&[], &[(0, 100, State::Recorded)]);
        check(
            &[(0, 10, late), (50, 60, packets), (90, i64::MAX, over)],
            &[
                (0, 10, State::Missing(late)),
                (10, 50, State::Recorded),
                (50, 60, State::Missing(packets)),
                (60, 90, State::Recorded),
                (90, 100, State::Missing(over)),
            ],
        );
        check(
            &[(20, 40, packets), (30, 50, LossKind::All)],
            &[
                (0, 20, State::Recorded),
                (20, 40, State::Missing(packets)),
                (40, 50, State::Missing(LossKind::All)),
                (50, 100, State::Recorded),
            ],
        );
    }
}
