//! A message as a point in the plane of two clocks. Hulls keep them, slopes lie between them.

use crate::error::{ClockError, checked_time};

/// Which of the two clocks of a link is given, and which is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// b's time from a's.
    Forward,
    /// a's time from b's.
    Backward,
}

/// One message as a point: `x` on the first clock, `y` on the second, raw ns, both within
/// ±[`crate::MAX_ABS_NS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    pub(crate) x: i64,
    pub(crate) y: i64,
}

impl Point {
    /// The point (`x`, `y`).
    ///
    /// # Errors
    /// [`ClockError::TimeOutOfRange`] when a coordinate is outside ±[`crate::MAX_ABS_NS`].
    pub fn new(x: i64, y: i64) -> Result<Self, ClockError> {
        Ok(Self { x: checked_time(x)?, y: checked_time(y)? })
    }

    /// Time on the first clock, raw ns.
    pub fn x(self) -> i64 {
        self.x
    }

    /// Time on the second clock, raw ns.
    pub fn y(self) -> i64 {
        self.y
    }

    /// The point on the other side of the origin. Times are bounded symmetrically, so it is in range.
    pub(crate) fn reflected(self) -> Self {
        Self { x: -self.x, y: -self.y }
    }

    /// The point later by so much on either clock, ns; `None` beyond the range of times.
    pub(crate) fn later(self, by_x: u32, by_y: u32) -> Option<Self> {
        Self::new(self.x + i64::from(by_x), self.y + i64::from(by_y)).ok()
    }

    /// The same message seen with the clocks in the other order.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { x: self.y, y: self.x }
    }
}
