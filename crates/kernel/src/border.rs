//! Borders of the pieces of a trace, and losses within them.

use serde::{Deserialize, Serialize};

use crate::id::Time;

/// A border of a piece. Borders are ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Border {
    /// Before all events.
    Begin,
    /// Before the first event of this raw time, ns.
    At(Time),
    /// After all events.
    End,
}

impl Border {
    /// The first time after it, as far as 64 bits can represent it.
    pub fn time(self) -> Time {
        match self {
            Self::Begin => Time::MIN,
            Self::At(time) => time,
            Self::End => Time::MAX,
        }
    }
}

/// The events of a piece: between which borders, when, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Extent {
    pub(crate) begin: Border,
    pub(crate) end: Border,
    /// Times of the first and the last event of the kernel, raw ns.
    pub(crate) kernel: Option<(Time, Time)>,
    /// Times of the first and the last event of programs, raw ns.
    pub(crate) programs: Option<(Time, Time)>,
    /// Number of events, those of programs included.
    pub(crate) events: u64,
}

impl Extent {
    /// A piece without events so far.
    pub(crate) fn new(begin: Border, end: Border) -> Self {
        Self { begin, end, kernel: None, programs: None, events: 0 }
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn event(&mut self, at: Time, is_user: bool) {
        self.events += 1;
        let range = if is_user { &mut self.programs } else { &mut self.kernel };
        *range = range_union(*range, Some((at, at)));
    }

    /// Adds a time in which the kernel was traced.
    pub(crate) fn covers(&mut self, from: Time, to: Time) {
        self.kernel = range_union(self.kernel, Some((from, to)));
    }

    /// Appends the next piece.
    pub(crate) fn append(&mut self, right: Self) {
        self.end = right.end;
        self.kernel = range_union(self.kernel, right.kernel);
        self.programs = range_union(self.programs, right.programs);
        self.events += right.events;
    }
}

/// The smallest range that contains two.
#[inline]
fn range_union(a: Option<(Time, Time)>, b: Option<(Time, Time)>) -> Option<(Time, Time)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

/// A loss that has ended: events of a CPU that the tracer recorded and could not write, or that are missing
/// from the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuLoss {
    /// The CPU.
    pub cpu: u32,
    /// Last instant before which nothing is missing, raw ns.
    pub from: Time,
    /// First instant from which nothing is missing, raw ns.
    pub to: Time,
    /// Number of events, if known.
    pub events: Option<u64>,
    /// Whether switches may be among them: it is then unknown which thread ran.
    pub has_switches: bool,
}

/// A loss that begins, of one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuLossBegin {
    /// The CPU.
    pub cpu: u32,
    /// The first instant at which events may be missing, raw ns. The loss begins in the piece that has the
    /// instant before.
    pub at: Time,
    /// The first instant from which nothing is missing; [`RawNs::MAX`](isochrone_time::RawNs::MAX) where the
    /// CPU's stream has ended.
    pub to: Time,
    /// Whether switches may be among what is missing.
    pub has_switches: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_ordered() {
        let mut borders = [Border::End, Border::At(Time(3)), Border::Begin, Border::At(Time(-3))];
        borders.sort_unstable();
        assert_eq!(borders, [Border::Begin, Border::At(Time(-3)), Border::At(Time(3)), Border::End]);
    }
}
