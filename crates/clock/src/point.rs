//! A message as a point in the plane of two clocks. Hulls keep them, slopes lie between them.

use crate::error::{ClockError, checked_time};

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

    /// The same message seen with the clocks in the other order.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { x: self.y, y: self.x }
    }
}
