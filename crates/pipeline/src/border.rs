//! Where pieces begin and end.

pub use isochrone_kernel::Border;
use isochrone_time::{RawNs, Window};
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

    /// A window.
    pub fn of(window: Window<RawNs>) -> Self {
        Self { from: Border::At(window.start), to: Border::At(window.end) }
    }

    /// Its time.
    pub fn window(self) -> Window<RawNs> {
        Window::new(self.from.time(), self.to.time())
    }

    /// Whether nothing can be in it.
    pub fn is_empty(self) -> bool {
        self.from >= self.to
    }
}
