//! By how much the reference runs from one event of a clock to the next, and what that says of labels along
//! the clock.

use crate::geometry::{RateRange, Segment, Side};
use crate::network::sweep::{UNKNOWN, Via};

/// Per event, how much the reference runs from the one before to it, ppt · ns: at least, and at most; `None`
/// without limit.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) least: Vec<i128>,
    pub(super) most: Vec<Option<i128>>,
}

impl Steps {
    /// Between events at `raw`, which increase, by the segments that lie between.
    pub(super) fn new(raw: &[i64], segments: &[Segment]) -> Self {
        let (mut least, mut most) = (Vec::with_capacity(raw.len()), Vec::with_capacity(raw.len()));
        let mut segment = 0;
        for (event, &at) in raw.iter().enumerate() {
            let before = event.checked_sub(1).map_or(at, |before| raw[before]);
            let (mut slowest, mut fastest) = (0, Some(0));
            let mut from = before;
            while from < at {
                while segment + 1 < segments.len() && segments[segment].x.end <= from {
                    segment += 1;
                }
                let rates = segments.get(segment).map_or(RateRange::ANY, |segment| segment.rule.rates());
                let end = segments.get(segment).map_or(at, |segment| segment.x.end);
                let until = if end > from { end.min(at) } else { at };
                let (min, max) = rates.limits();
                slowest += min * (until - from) as i128;
                fastest = fastest.zip(max).map(|(sum, max)| sum + max * (until - from) as i128);
                from = until;
            }
            least.push(slowest);
            most.push(fastest);
        }
        Self { least, most }
    }

    /// Passes labels on to later events, then to earlier ones. `found` is called with each event whose label
    /// became tighter, and from where.
    pub(super) fn sweep(&self, side: Side, labels: &mut [i128], mut found: impl FnMut(usize, Via)) {
        for event in 1..labels.len() {
            let step = match side {
                Side::Upper => self.most[event],
                Side::Lower => Some(-self.least[event]),
            };
            let Some(step) = step.filter(|_| labels[event - 1] < UNKNOWN) else { continue };
            let label = labels[event - 1] + step;
            if label < labels[event] {
                labels[event] = label;
                found(event, Via::Before);
            }
        }
        for event in (1..labels.len()).rev() {
            let step = match side {
                Side::Upper => Some(-self.least[event]),
                Side::Lower => self.most[event],
            };
            let Some(step) = step.filter(|_| labels[event] < UNKNOWN) else { continue };
            let label = labels[event] + step;
            if label < labels[event - 1] {
                labels[event - 1] = label;
                found(event - 1, Via::After);
            }
        }
    }
}
