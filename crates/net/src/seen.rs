//! What an event or a frame records of a packet: the packet, or why there is none to compare.

use crate::packet::Packet;
use crate::tracer::pending::Half;

/// What an event of a tracer, or a frame of a capture, records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A packet that has an identity.
    Packet(Packet),
    /// A part of what two events record of an arrival: [`crate::tracer::pending::Joiner`] makes packets of them.
    Half(Half),
    /// A packet of a protocol that is not matched, a broadcast, or a later fragment of a packet.
    OtherProtocol,
    /// A packet without its headers.
    NoHeader,
    /// A packet that never leaves the host.
    Loopback,
}
