//! Times of packets whose fields are narrower than the clock. Reading and writing agree on them here.

use crate::plan::extend_time;

/// Start and end of a packet, as a base for the times of the packet after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    begin: u64,
    end: u64,
}

impl Times {
    /// Of a packet whose end may be unknown, or nonsense where its tracer was killed.
    pub(crate) fn of(begin: u64, end: Option<u64>) -> Self {
        Self { begin, end: end.unwrap_or(begin).max(begin) }
    }

    /// The start of a packet from its low bits. Packets follow each other by their begins (they may overlap),
    /// unless the one before took longer than the bits can express.
    pub(crate) fn begin(before: Option<&Self>, value: u64, bits: u32) -> u64 {
        let Some(before) = before else { return value };
        let wraps = bits < u64::BITS && (before.end - before.begin) >> bits > 0;
        extend_time(if wraps { before.end } else { before.begin }, value, bits)
    }

    /// The end of a packet from its low bits.
    pub(crate) fn end(begin: u64, value: u64, bits: u32) -> u64 {
        extend_time(begin, value, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_follow_the_packet_before() {
        let check = |before: Option<(u64, u64)>, value, bits, expect| {
            let before = before.map(|(begin, end)| Times::of(begin, Some(end)));
            assert_eq!(Times::begin(before.as_ref(), value, bits), expect, "{before:?} {value}");
        };
        check(None, 7, 32, 7);
        check(Some((5, 9)), 9, 32, 9);
        // Packets that overlap are no wrap.
        check(Some((5, 9)), 7, 32, 7);
        check(Some((0xffff_fff0, 0xffff_fff1)), 0x10, 32, 0x1_0000_0010);
        // The packet before took several wraps.
        check(Some((5, 0x3_0000_0009)), 0x10, 32, 0x3_0000_0010);
        check(Some((9, 3)), 3, 64, 3);
    }
}
