//! A packet with where and when it was seen: what sources of packets give to the matching, and what leads
//! from a message back to the events at its ends.

use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::packet::{Direction, Packet};

/// Which input a record was read from, by its number among the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Origin {
    /// A trace, by its number among the traces.
    Trace(u32),
    /// A capture, by its number among the captures.
    Capture(u32),
}

/// The stream that holds a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StreamRef {
    /// The input.
    pub origin: Origin,
    /// Number of the stream in its trace; of a capture, that of the interface.
    pub stream: u32,
}

impl StreamRef {
    /// A stream of a trace. Numbers that do not fit are those of no input: they count as the greatest.
    pub fn of_trace(trace: usize, stream: usize) -> Self {
        Self { origin: Origin::Trace(small(trace)), stream: small(stream) }
    }

    /// An interface of a capture, see [`Self::of_trace`].
    pub fn of_capture(capture: usize, interface: usize) -> Self {
        Self { origin: Origin::Capture(small(capture)), stream: small(interface) }
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A packet seen at a host. A switch that records what passes sees every packet twice: as received and as
/// sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Index of the host's clock.
    pub clock: usize,
    /// The raw time that may be used in a proof: for a reception the latest instant that the stamp can
    /// mean, for a departure the earliest.
    pub time: RawNs,
    /// Raw time of the event itself, rounded down as that of every event is. It is `time` unless a tick
    /// of the clock is longer than 1 ns.
    pub raw: RawNs,
    /// The stream that holds the event. Of an arrival that two events record, this and `raw` are those of the
    /// first: when it came from its device.
    pub place: StreamRef,
    /// Which way.
    pub direction: Direction,
    /// The device of the host that saw it, as a number of few bits: devices of different numbers are
    /// different. 0 where it is not known.
    pub device: u8,
    /// Which packet.
    pub packet: Packet,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sighting_is_small() {
        assert_eq!(size_of::<Sighting>(), 112);
    }
}
