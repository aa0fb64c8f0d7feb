//! The events of the lttng-addons kernel module: `inet_sock_local_out` and `inet_sock_local_in`, TCP over
//! IPv4 without addresses or ports.

use isochrone_ctf::plan::{EventPlan, StreamPlan};
use isochrone_ctf::{Event, FieldRef};

use super::Extractor;
use crate::packet::{Direction, Packet, Seen, Segment, Transport, flags as bits};

/// A segment leaves the host's network stack.
pub(super) const OUT: &str = "inet_sock_local_out";
/// A segment enters it.
pub(super) const IN: &str = "inet_sock_local_in";

/// The direction of an event by its name.
pub(super) fn direction(event: &str) -> Option<Direction> {
    match event {
        OUT => Some(Direction::Sent),
        IN => Some(Direction::Received),
        _ => None,
    }
}

struct SocketEvent {
    direction: Direction,
    seq: FieldRef,
    ack: FieldRef,
    flags: FieldRef,
}

pub(super) fn extractor(stream: &StreamPlan, class: &EventPlan) -> Option<Box<dyn Extractor>> {
    let direction = direction(class.name.as_deref()?)?;
    let field = |name: &str| class.payload_field(stream, &[name]);
    Some(Box::new(SocketEvent {
        direction,
        seq: field("seq")?,
        ack: field("ack_seq")?,
        flags: field("flags")?,
    }))
}

impl Extractor for SocketEvent {
    fn seen(&self, event: &Event<'_>) -> Seen {
        self.packet(event).map_or(Seen::NoHeader, Seen::Packet)
    }

    fn direction(&self) -> Direction {
        self.direction
    }
}

impl SocketEvent {
    fn packet(&self, event: &Event<'_>) -> Option<Packet> {
        let segment = Segment {
            ports: None,
            seq: event.unsigned(&self.seq)? as u32,
            ack: event.unsigned(&self.ack)? as u32,
            flags: flags(event.unsigned(&self.flags)? as u16),
            known_flags: bits::ALL,
            payload: None,
        };
        Some(Packet { addresses: None, transport: Transport::Tcp(segment), ip_id: None })
    }
}

/// The module records bytes 12 and 13 of the header as C bit fields of a little-endian host lie in them: the
/// flags are the high byte, first bit first.
fn flags(word: u16) -> u8 {
    ((word >> 8) as u8).reverse_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_turned_round() {
        let check = |word, expect| assert_eq!(flags(word), expect);
        check(0x400a, 0x02); // SYN
        check(0x480a, 0x12); // SYN ACK
        check(0x1808, 0x18); // PSH ACK
        check(0x0808, 0x10); // ACK
        check(0x8808, 0x11); // FIN ACK
    }
}
