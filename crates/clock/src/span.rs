//! When a clock was seen.

/// The first and the last event of a clock, raw ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First instant.
    pub begin: i64,
    /// Last instant.
    pub end: i64,
}
