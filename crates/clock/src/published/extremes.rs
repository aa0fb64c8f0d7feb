//! The steepest and the flattest line that no message of a pair contradicts: what Haddad (1988, section 6.2) and all methods after it
//! begin with. Used by the methods beside this file.
//!
//! Slopes may be negative here: the methods do not ask whether what they find is a relation of clocks.

use crate::hull::HalfHull;
use crate::point::Point;
use crate::slope::{Slope, SlopeRange};

/// The lines of least and greatest slope, each by two messages that it touches, the earlier one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Extremes {
    /// From a message of the upper half hull to a later one of the lower; `None` where the slope is not bounded below.
    pub(crate) min: Option<(Point, Point)>,
    /// From a message of the lower half hull to a later one of the upper; `None` where the slope is not bounded above.
    pub(crate) max: Option<(Point, Point)>,
    /// Whether some line satisfies all messages.
    pub(crate) feasible: bool,
}

impl Extremes {
    /// Of the messages of a pair, exactly. `O(h₁·h₂)` in the vertices.
    pub(crate) fn of(upper: &HalfHull, lower: &HalfHull) -> Self {
        let (mut min, mut max): (Option<Touched>, Option<Touched>) = (None, None);
        let mut feasible = true;
        for &low in lower.vertices() {
            for &high in upper.vertices() {
                if let Some(slope) = Slope::between(low, high) {
                    if max.is_none_or(|(known, _)| slope < known) {
                        max = Some((slope, (low, high)));
                    }
                } else if let Some(slope) = Slope::between(high, low) {
                    if min.is_none_or(|(known, _)| slope > known) {
                        min = Some((slope, (high, low)));
                    }
                } else {
                    feasible &= low.y() <= high.y();
                }
            }
        }
        if let (Some((min, _)), Some((max, _))) = (min, max) {
            feasible &= min <= max;
        }
        Self { min: min.map(|(_, pair)| pair), max: max.map(|(_, pair)| pair), feasible }
    }

    /// The slopes between the two lines.
    pub(crate) fn slopes(&self) -> SlopeRange {
        let slope = |(left, right)| Slope::between(left, right);
        SlopeRange { min: self.min.and_then(slope), max: self.max.and_then(slope) }
    }
}

/// A slope and the two messages that a line of it touches.
type Touched = (Slope, (Point, Point));
