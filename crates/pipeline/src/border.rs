//! Where pieces begin and end.

use isochrone_hosts::Window;
pub use isochrone_kernel::Border;
use isochrone_kernel::Time;
use serde::{Deserialize, Serialize};

/// A piece of a host's trace: all events from one border to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Piece {
    /// Where it begins.
    pub from: Border,
    /// Where it ends.
    pub to: Border,
}

impl Piece {
    /// Everything.
    pub const WHOLE: Self = Self { from: Border::Begin, to: Border::End };

    /// Its time.
    pub fn window(self) -> Window {
        Window { from: self.from.time(), until: self.to.time() }
    }

    /// Whether an instant is in it; the end of time is behind all borders but [`Border::End`].
    pub fn contains(self, time: Time) -> bool {
        self.from.time() <= time && (self.to == Border::End || time < self.to.time())
    }

    /// Whether nothing can be in it.
    pub fn is_empty(self) -> bool {
        self.from >= self.to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_in_one_piece() {
        let check = |from, to, time, expect| {
            assert_eq!(Piece { from, to }.contains(time), expect, "{from:?} {to:?} {time}");
        };
        let (a, b) = (Border::At(10), Border::At(20));
        check(a, b, 9, false);
        check(a, b, 10, true);
        check(a, b, 19, true);
        check(a, b, 20, false);
        check(Border::Begin, a, Time::MIN, true);
        check(b, Border::End, Time::MAX, true);
        check(a, a, 10, false);
    }
}
