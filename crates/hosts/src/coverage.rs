//! Gaps: times from which nothing of a host is left, because a chunk of a rotated session is missing, with all its CPUs and domains.
//!
//! [`crate::Host`] computes them once; a pipeline makes each a piece of its own.

use crate::losses::{LossKind, StreamLoss};
use crate::window::{Time, Window};

/// A time without any event, because all that was recorded then is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// Its first instant, raw ns: all events before it are earlier.
    pub from: Time,
    /// The first instant after it, raw ns.
    pub to: Time,
}

impl Gap {
    /// The window that it is.
    pub fn window(self) -> Window {
        Window { from: self.from, until: self.to }
    }
}

/// Where a stream begins and ends, over all chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamEdges {
    /// Numbers of its first and its last source.
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) begin: Time,
    /// Where its last packet says.
    pub(crate) end: Option<Time>,
}

/// Where some of the streams have not begun or are over while others record. `is_user_space`: others may begin after them.
pub(crate) fn uncovered(streams: &[StreamEdges], is_user_space: bool) -> Vec<StreamLoss> {
    let Some(first) = streams.iter().map(|edges| edges.begin).min() else { return Vec::new() };
    // A stream whose end is unknown lasts as long as the host.
    let ends: Option<Vec<Time>> = streams.iter().map(|edges| edges.end).collect();
    let last = ends.map_or(Time::MAX, |ends| ends.into_iter().max().unwrap_or(Time::MAX));
    let late = streams.iter().filter(|edges| edges.begin > first);
    let late = late.map(|edges| StreamLoss {
        from: first,
        to: edges.begin,
        source: edges.first,
        what: LossKind::NotBegun,
    });
    let early = streams.iter().filter_map(|edges| Some((edges.last, edges.end.filter(|&end| end < last)?)));
    // A program that has ended lacks nothing after it; what a CPU of the kernel does, goes on.
    let to = if is_user_space { last } else { Time::MAX };
    let early = early.map(|(source, end)| StreamLoss { from: end, to, source, what: LossKind::Over });
    late.chain(early).collect()
}

/// Which times a logical stream covers.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// First and last times of its chunks.
    pub(crate) chunks: Vec<(Time, Time)>,
    /// Times between them that hold packets which are not there.
    pub(crate) holes: Vec<(Time, Time)>,
}

/// The gaps of a host, in order: no chunk reaches into them, and all logical streams that go on after them have a hole there.
pub(crate) fn gaps(series: &[Coverage]) -> Vec<Gap> {
    let mut chunks: Vec<(Time, Time)> = series.iter().flat_map(|cover| &cover.chunks).copied().collect();
    chunks.sort_unstable();
    let mut gaps = Vec::new();
    let Some(mut reach) = chunks.first().map(|&(_, end)| end) else { return gaps };
    for &(begin, end) in &chunks {
        let from = reach.saturating_add(1);
        if begin > from && is_hole(series, from, begin) {
            gaps.push(Gap { from, to: begin });
        }
        reach = reach.max(end);
    }
    gaps
}

/// Whether all logical streams that were there before a time and are there after it miss packets in between.
fn is_hole(series: &[Coverage], from: Time, to: Time) -> bool {
    let mut holes = 0;
    for cover in series {
        let before = cover.chunks.iter().any(|&(begin, _)| begin < from);
        let after = cover.chunks.iter().any(|&(_, end)| end >= to);
        if before && after {
            if !cover.holes.iter().any(|&(begin, end)| begin < from && end >= to) {
                return false;
            }
            holes += 1;
        }
    }
    holes > 0
}

/// Splits each loss at the gaps that it overlaps, and leaves out what lies in a gap. The first part has the count of what is
/// missing.
pub(crate) fn without_gaps(losses: &[StreamLoss], gaps: &[Gap]) -> Vec<StreamLoss> {
    let mut parts = Vec::with_capacity(losses.len());
    for &loss in losses {
        let mut rest = loss;
        let first = gaps.partition_point(|gap| gap.to <= loss.from);
        let mut is_over = false;
        for gap in gaps[first..].iter().take_while(|gap| gap.from <= loss.to) {
            if rest.from < gap.from {
                parts.push(StreamLoss { to: gap.from - 1, ..rest });
                rest.what = LossKind::All;
            }
            rest.from = gap.to;
            is_over = loss.to <= gap.to && rest.what == LossKind::All;
        }
        if !is_over {
            parts.push(StreamLoss { to: rest.to.max(rest.from), ..rest });
        }
    }
    parts.sort_unstable();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cover(chunks: &[(Time, Time)], holes: &[(Time, Time)]) -> Coverage {
        Coverage { chunks: chunks.to_vec(), holes: holes.to_vec() }
    }

    #[test]
    fn a_gap_is_where_all_streams_have_a_hole() {
        let check = |series: &[Coverage], expect: &[(Time, Time)]| {
            let found: Vec<_> = gaps(series).iter().map(|gap| (gap.from, gap.to)).collect();
            assert_eq!(found, expect, "{series:?}");
        };
        let holed = || cover(&[(0, 10), (30, 40)], &[(10, 30)]);
        check(&[], &[]);
        check(&[holed()], &[(11, 30)]);
        // Chunks that follow each other, with a pause.
        check(&[cover(&[(0, 10), (30, 40)], &[])], &[]);
        check(&[holed(), cover(&[(2, 12), (28, 40)], &[(12, 28)])], &[(13, 28)]);
        // Another stream goes on, or was quiet.
        check(&[holed(), cover(&[(2, 38)], &[])], &[]);
        check(&[holed(), cover(&[(2, 12), (28, 40)], &[])], &[]);
        // Streams that begin or end elsewhere say nothing.
        check(&[holed(), cover(&[(0, 9)], &[]), cover(&[(31, 35)], &[])], &[(11, 30)]);
        check(&[cover(&[(0, 10), (30, 40), (60, 70)], &[(10, 30), (40, 60)])], &[(11, 30), (41, 60)]);
    }

    #[test]
    fn streams_of_a_channel_are_compared() {
        let check = |streams: &[(Time, Option<Time>)], expect: &[(Time, Time, usize, LossKind)]| {
            let edges: Vec<StreamEdges> = (streams.iter().enumerate())
                .map(|(number, &(begin, end))| StreamEdges { first: number, last: number, begin, end })
                .collect();
            let found = uncovered(&edges, false);
            let found: Vec<_> = found.iter().map(|l| (l.from, l.to, l.source, l.what)).collect();
            assert_eq!(found, expect, "{streams:?}");
        };
        let (late, early) = (LossKind::NotBegun, LossKind::Over);
        check(&[(0, Some(9))], &[]);
        check(&[(0, Some(9)), (0, Some(9))], &[]);
        check(&[(0, Some(9)), (3, Some(9))], &[(0, 3, 1, late)]);
        check(&[(0, Some(7)), (3, Some(9))], &[(0, 3, 1, late), (7, Time::MAX, 0, early)]);
        check(&[(0, Some(7)), (0, None)], &[(7, Time::MAX, 0, early)]);
    }

    #[test]
    fn losses_stop_at_gaps() {
        let check = |from, to, expect: &[(Time, Time, LossKind)]| {
            let what = LossKind::Packets(3);
            let gaps = [Gap { from: 11, to: 30 }, Gap { from: 50, to: 60 }];
            let parts = without_gaps(&[StreamLoss { from, to, source: 0, what }], &gaps);
            let parts: Vec<_> = parts.iter().map(|part| (part.from, part.to, part.what)).collect();
            assert_eq!(parts, expect, "{from} {to}");
        };
        let (all, packets) = (LossKind::All, LossKind::Packets(3));
        check(1, 5, &[(1, 5, packets)]);
        check(30, 45, &[(30, 45, packets)]);
        check(10, 30, &[(10, 10, packets)]);
        check(5, 33, &[(5, 10, packets), (30, 33, all)]);
        check(15, 33, &[(30, 33, packets)]);
        check(5, 70, &[(5, 10, packets), (30, 49, all), (60, 70, all)]);
        check(12, 20, &[(30, 30, packets)]);
    }
}
