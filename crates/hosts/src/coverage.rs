//! Gaps: times from which nothing of a host is left, because a chunk of a rotated session is missing, with
//! all its CPUs and domains.
//!
//! [`crate::Host`] computes them once; a pipeline makes each a piece of its own.

use isochrone_time::{RawNs, Window};

use crate::losses::{LossKind, StreamLoss};

/// Where a stream begins and ends, over all chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamEdges {
    /// Numbers of its first and its last source.
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) begin: RawNs,
    /// Whether it begins with the first packet that its tracer made: before that its CPU was not there, or
    /// did nothing.
    pub(crate) is_from_start: bool,
    /// Where its last packet says.
    pub(crate) end: Option<RawNs>,
}

/// Where some of the streams have not begun or are over while others record. `is_user_space`: others may
/// begin after them.
pub(crate) fn uncovered(streams: &[StreamEdges], is_user_space: bool) -> Vec<StreamLoss> {
    let Some(first) = streams.iter().map(|edges| edges.begin).min() else { return Vec::new() };
    // A stream whose end is unknown lasts as long as the host.
    let ends: Option<Vec<RawNs>> = streams.iter().map(|edges| edges.end).collect();
    let last = ends.map_or(RawNs::MAX, |ends| ends.into_iter().max().unwrap_or(RawNs::MAX));
    let late = streams.iter().filter(|edges| edges.begin > first && !edges.is_from_start);
    let late = late.map(|edges| StreamLoss {
        from: first,
        to: edges.begin,
        source: edges.first,
        what: LossKind::NotBegun,
    });
    let early = streams.iter().filter_map(|edges| Some((edges.last, edges.end.filter(|&end| end < last)?)));
    // A program that has ended lacks nothing after it; what a CPU of the kernel does, continues.
    let to = if is_user_space { last } else { RawNs::MAX };
    let early = early.map(|(source, end)| StreamLoss { from: end, to, source, what: LossKind::Over });
    late.chain(early).collect()
}

/// Which times a logical stream covers.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// First and last times of its chunks.
    pub(crate) chunks: Vec<(RawNs, RawNs)>,
    /// Times between them that hold packets which are not there.
    pub(crate) holes: Vec<(RawNs, RawNs)>,
}

/// The gaps of a host, in order: no chunk reaches into them, and all logical streams that continue after them
/// have a hole there.
pub(crate) fn gaps(series: &[Coverage]) -> Vec<Window<RawNs>> {
    let mut chunks: Vec<(RawNs, RawNs)> = series.iter().flat_map(|cover| &cover.chunks).copied().collect();
    chunks.sort_unstable();
    let mut gaps = Vec::new();
    let Some(mut reach) = chunks.first().map(|&(_, end)| end) else { return gaps };
    for &(begin, end) in &chunks {
        let from = reach.saturating_add(1);
        if begin > from && is_hole(series, from, begin) {
            gaps.push(Window::new(from, begin));
        }
        reach = reach.max(end);
    }
    gaps
}

/// Whether all logical streams that were there before a time and are there after it miss packets in between.
fn is_hole(series: &[Coverage], from: RawNs, to: RawNs) -> bool {
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

/// Splits each loss at the gaps that it overlaps, and leaves out what lies in a gap. The first part has the
/// count of what is missing.
pub(crate) fn without_gaps(losses: &[StreamLoss], gaps: &[Window<RawNs>]) -> Vec<StreamLoss> {
    let mut parts = Vec::with_capacity(losses.len());
    for &loss in losses {
        let mut rest = loss;
        let first = gaps.partition_point(|gap| gap.end <= loss.from);
        let mut is_over = false;
        for gap in gaps[first..].iter().take_while(|gap| gap.start <= loss.to) {
            if rest.from < gap.start {
                parts.push(StreamLoss { to: gap.start - 1, ..rest });
                rest.what = LossKind::All;
            }
            rest.from = gap.end;
            is_over = loss.to <= gap.end && rest.what == LossKind::All;
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

    fn cover(chunks: &[(i64, i64)], holes: &[(i64, i64)]) -> Coverage {
        let raw = |spans: &[(i64, i64)]| spans.iter().map(|&(from, to)| (RawNs(from), RawNs(to))).collect();
        Coverage { chunks: raw(chunks), holes: raw(holes) }
    }

    #[test]
    fn a_gap_is_where_all_streams_have_a_hole() {
        let check = |series: &[Coverage], expect: &[(i64, i64)]| {
            let found: Vec<_> = gaps(series).iter().map(|gap| (gap.start.0, gap.end.0)).collect();
            assert_eq!(found, expect, "{series:?}");
        };
        let holed = || cover(&[(0, 10), (30, 40)], &[(10, 30)]);
        check(&[], &[]);
        check(&[holed()], &[(11, 30)]);
        // Chunks that follow each other, with a pause.
        check(&[cover(&[(0, 10), (30, 40)], &[])], &[]);
        check(&[holed(), cover(&[(2, 12), (28, 40)], &[(12, 28)])], &[(13, 28)]);
        // Another stream continues, or was quiet.
        check(&[holed(), cover(&[(2, 38)], &[])], &[]);
        check(&[holed(), cover(&[(2, 12), (28, 40)], &[])], &[]);
        // Streams that begin or end elsewhere say nothing.
        check(&[holed(), cover(&[(0, 9)], &[]), cover(&[(31, 35)], &[])], &[(11, 30)]);
        check(&[cover(&[(0, 10), (30, 40), (60, 70)], &[(10, 30), (40, 60)])], &[(11, 30), (41, 60)]);
    }

    #[test]
    fn streams_of_a_channel_are_compared() {
        let check = |streams: &[(i64, Option<i64>)], expect: &[(i64, i64, usize, LossKind)]| {
            let edges: Vec<StreamEdges> = (streams.iter().enumerate())
                .map(|(number, &(begin, end))| StreamEdges {
                    first: number,
                    last: number,
                    begin: RawNs(begin),
                    is_from_start: begin == 5,
                    end: end.map(RawNs),
                })
                .collect();
            let found = uncovered(&edges, false);
            let found: Vec<_> = found.iter().map(|l| (l.from.0, l.to.0, l.source, l.what)).collect();
            assert_eq!(found, expect, "{streams:?}");
        };
        let (late, early) = (LossKind::NotBegun, LossKind::Over);
        check(&[(0, Some(9))], &[]);
        check(&[(0, Some(9)), (0, Some(9))], &[]);
        check(&[(0, Some(9)), (3, Some(9))], &[(0, 3, 1, late)]);
        check(&[(0, Some(7)), (3, Some(9))], &[(0, 3, 1, late), (7, i64::MAX, 0, early)]);
        check(&[(0, Some(9)), (5, Some(9))], &[]);
        check(&[(0, Some(7)), (0, None)], &[(7, i64::MAX, 0, early)]);
    }

    #[test]
    fn losses_stop_at_gaps() {
        let check = |from, to, expect: &[(i64, i64, LossKind)]| {
            let what = LossKind::Packets(3);
            let gaps = [Window::new(RawNs(11), RawNs(30)), Window::new(RawNs(50), RawNs(60))];
            let parts =
                without_gaps(&[StreamLoss { from: RawNs(from), to: RawNs(to), source: 0, what }], &gaps);
            let parts: Vec<_> = parts.iter().map(|part| (part.from.0, part.to.0, part.what)).collect();
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
