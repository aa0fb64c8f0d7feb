//! In which order the clocks of a link are asked about.

/// Which clock is given, and which is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// b's time from a's.
    Forward,
    /// a's time from b's.
    Backward,
}
