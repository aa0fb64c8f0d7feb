//! Frames of captures as packets: the only place where the decoder's types of `isochrone-capture` become
//! those of this crate.

use isochrone_capture::{Content, Frame, IpPacket, Transport as Captured};

use crate::packet::{Datagram, Echo, Packet, Seen, Segment, Transport, flags};

/// What a frame records; never [`Seen::SplitArrival`]. Of a tunnel, that is the packet in it: the same that
/// hosts see before and behind the tunnel. `O(1)`.
pub fn seen(frame: &Frame) -> Seen {
    if frame.link.is_loopback { Seen::Loopback } else { held(&frame.content) }
}

/// The same of what a frame carries, whatever its link layer says of loopback devices. `O(1)`.
pub fn held(content: &Content) -> Seen {
    match content {
        Content::Ip(found) => packet(found),
        Content::Other(_) => Seen::OtherProtocol,
        Content::Cut => Seen::NoHeader,
    }
}

fn packet(found: &IpPacket) -> Seen {
    if let Captured::Tunnel(inner) = &found.transport {
        return held(inner);
    }
    // A tunnel or a loopback device without a link layer.
    if found.source == found.destination || found.source.is_loopback() {
        return Seen::Loopback;
    }
    let transport = match found.transport {
        Captured::Tcp { ports, seq, ack, flags, payload: Some(payload) } => Transport::Tcp(Segment {
            ports: Some(ports),
            seq,
            ack,
            flags,
            known_flags: flags::ALL,
            payload: Some(payload),
        }),
        Captured::Udp { ports, length, data, check } => {
            Transport::Udp(Datagram { ports: Some(ports), length: Some(length), data, check })
        }
        Captured::Echo { reply, identifier, sequence } => {
            Transport::Echo(Echo { reply, identifier, sequence })
        }
        Captured::Other | Captured::Tunnel(_) => return Seen::OtherProtocol,
        Captured::Tcp { payload: None, .. } | Captured::Cut => return Seen::NoHeader,
    };
    let addresses = Some((found.source, found.destination));
    Seen::Packet(Packet { addresses, transport, ip_id: found.id })
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use isochrone_capture::Protocol;

    use super::*;

    #[test]
    fn what_has_no_packet_says_why() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let check = |source: &str, transport: Captured, expect: &str| {
            let (source, destination) = (ip(source), ip("10.0.0.2"));
            let found = IpPacket {
                source,
                destination,
                protocol: 6,
                hops: 64,
                id: Some(7),
                fragment: None,
                length: 60,
                transport,
            };
            let shown = match packet(&found) {
                Seen::Packet(packet) => {
                    assert_eq!((packet.addresses, packet.ip_id), (Some((source, destination)), Some(7)));
                    "packet"
                }
                Seen::SplitArrival(_) => "half",
                Seen::OtherProtocol => "other",
                Seen::NoHeader => "bare",
                Seen::Loopback => "loopback",
            };
            assert_eq!(shown, expect, "{found:?}");
        };
        let tcp = |payload| Captured::Tcp { ports: (1, 2), seq: 3, ack: 4, flags: 16, payload };
        check("10.0.0.1", tcp(Some(5)), "packet");
        check("10.0.0.1", tcp(None), "bare");
        check("10.0.0.1", Captured::Cut, "bare");
        check("10.0.0.1", Captured::Other, "other");
        check("10.0.0.1", Captured::Udp { ports: (1, 2), length: 9, data: None, check: None }, "packet");
        check("10.0.0.1", Captured::Echo { reply: true, identifier: 1, sequence: 2 }, "packet");
        check("10.0.0.2", tcp(Some(5)), "loopback");
        check("10.0.0.1", Captured::Tunnel(Box::new(Content::Cut)), "bare");
        check("10.0.0.1", Captured::Tunnel(Box::new(Content::Other(Protocol::Ip(50)))), "other");
        check("127.0.0.1", tcp(Some(5)), "loopback");
    }
}
