//! What a frame holds, in short: for counting.

use std::fmt;

use crate::capture::Frame;
use crate::packet::{Content, Fragment, IpPacket, Transport};
use crate::protocol::Protocol;

/// Tunnels of a frame that its kind names.
const MAX_NAMED: usize = 3;

/// The innermost protocol of a frame that could be read, and what it is wrapped in. Displayed as `TCP in
/// GRE`. VLAN tags are not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// The innermost protocol; nothing where not even the first header was captured.
    pub protocol: Option<Protocol>,
    /// How much of it is there.
    pub part: Part,
    /// What it is wrapped in, the innermost first.
    pub wrapped: [Option<Protocol>; MAX_NAMED],
}

/// How much of a packet a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Its headers.
    Headers,
    /// Less than its headers.
    Cut,
    /// A later fragment of an IP packet, which has no transport header.
    LaterFragment,
    /// Headers that contradict each other.
    Contradiction,
}

impl Frame {
    /// What it holds. `O(1)`.
    pub fn kind(&self) -> Kind {
        let mut kind = Kind { protocol: None, part: Part::Headers, wrapped: [None; MAX_NAMED] };
        kind.wrap(self.link.wrapped);
        kind.read(&self.content);
        kind
    }
}

impl Kind {
    /// The innermost takes the first place; the outermost of too many is not named.
    fn wrap(&mut self, protocol: Option<Protocol>) {
        if protocol.is_some() {
            self.wrapped.rotate_right(1);
            self.wrapped[0] = protocol;
        }
    }

    fn read(&mut self, content: &Content) {
        match content {
            Content::Other(protocol) => self.protocol = Some(*protocol),
            Content::Cut => self.part = Part::Cut,
            Content::Ip(packet) => self.read_packet(packet),
        }
    }

    fn read_packet(&mut self, packet: &IpPacket) {
        self.protocol = Some(Protocol::Ip(packet.protocol));
        match &packet.transport {
            Transport::Tunnel(inner) => {
                self.wrap(packet.tunnel());
                self.protocol = None;
                self.read(inner);
            }
            Transport::Cut => self.part = Part::Cut,
            Transport::Tcp { payload: None, .. } => self.part = Part::Contradiction,
            Transport::Other if matches!(packet.fragment, Some(Fragment { offset: 1.., .. })) => {
                self.part = Part::LaterFragment;
            }
            _ => {}
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Part::Headers => {}
            Part::Cut => f.write_str("cut ")?,
            Part::LaterFragment => f.write_str("later fragments of ")?,
            Part::Contradiction => f.write_str("contradictory ")?,
        }
        match self.protocol {
            Some(protocol) => write!(f, "{protocol}")?,
            None => f.write_str("frames")?,
        }
        self.wrapped.iter().flatten().try_for_each(|protocol| write!(f, " in {protocol}"))
    }
}
