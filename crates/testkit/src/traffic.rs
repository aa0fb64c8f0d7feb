//! Who sends what to whom, when: the packets of a cluster in true time and in the times that the hosts' clocks show.
//!
//! [`crate::cluster`] describes the links, [`crate::connection`] simulates each, [`crate::packets`] makes events of the
//! packets and [`crate::capture`] frames.

use crate::cluster::{Cluster, Protocol};
use crate::connection::Connection;
use crate::error::Misuse;
use crate::random::Random;

/// Largest payload of a frame: an Ethernet frame less headers of 20 and 32 bytes.
pub(crate) const LARGEST_PAYLOAD: u16 = 1448;

/// What a packet carries in its TCP header, and the IPv4 identification. Of UDP, the numbers run on as those of TCP do and
/// decide what the payload is; of an echo, `seq` is its sequence number, and all else zero but the payload of 56 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// The nine flag bits.
    pub flags: u16,
    /// Bytes after the header.
    pub payload: u16,
    /// Identification in the IPv4 header: runs on for every packet of the sender.
    pub ip_id: u16,
}

/// A packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimPacket {
    /// Index of its link.
    pub link: usize,
    /// What it is.
    pub protocol: Protocol,
    /// Index of the sending host.
    pub from: usize,
    /// Index of the receiving host.
    pub to: usize,
    /// True time of sending.
    pub sent_true: i64,
    /// The sender's clock then, ns.
    pub sent_raw: i64,
    /// True time of arrival, of its first part if it arrived in parts; `None`: lost.
    pub received_true: Option<i64>,
    /// The receiver's clock then, ns.
    pub received_raw: Option<i64>,
    /// Whether it answers an echo.
    pub reply: bool,
    /// Its headers as it was sent.
    pub segment: Segment,
    /// Whether it repeats an earlier packet.
    pub retransmission: bool,
    /// Whether a later packet repeats it.
    pub repeated: bool,
    /// The parts that it arrived in, if these were several: the first of [`Simulation::pieces`] and how many.
    pub pieces: (u32, u32),
}

/// A part of a packet that arrived in parts: one frame, or several that were merged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Where its bytes begin in the payload.
    pub offset: u16,
    /// How many there are.
    pub payload: u16,
    /// Whether it is the last.
    pub last: bool,
    /// True time of arrival.
    pub received_true: i64,
    /// The receiver's clock then, ns.
    pub received_raw: i64,
}

/// A packet, or a part of one, as it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// True time.
    pub received_true: i64,
    /// The receiver's clock then, ns.
    pub received_raw: i64,
    /// Its headers.
    pub segment: Segment,
}

/// TCP flag of the last segment of what was written at once.
pub(crate) const PSH: u16 = 0x08;

impl SimPacket {
    /// Frames that it takes.
    pub fn frames(&self) -> u16 {
        self.segment.payload.div_ceil(LARGEST_PAYLOAD).max(1)
    }

    /// The first eight bytes of its payload as a big-endian number, zeros after a shorter one: of UDP, bytes that differ
    /// from packet to packet, the first of them odd.
    pub fn data(&self) -> u64 {
        let own = Random::new(u64::from(self.segment.seq))
            .part((self.link * 2 + usize::from(self.from > self.to)) as u64)
            .bits();
        let present = u32::from(self.segment.payload.min(8));
        (own | 1 << 56) & !u64::MAX.checked_shr(present * 8).unwrap_or(0)
    }
}

/// All packets of a cluster in the order of their sending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Simulation {
    /// The packets.
    pub packets: Vec<SimPacket>,
    /// Parts of those that arrived in several.
    pub pieces: Vec<Piece>,
}

impl Simulation {
    /// Packets that a host sent, in the order of sending.
    pub fn sent(&self, host: usize) -> impl Iterator<Item = &SimPacket> {
        self.packets.iter().filter(move |packet| packet.from == host)
    }

    /// Packets that arrived at a host, in the order of sending.
    pub fn received(&self, host: usize) -> impl Iterator<Item = &SimPacket> {
        self.packets.iter().filter(move |packet| packet.to == host && packet.received_raw.is_some())
    }

    /// The true messages as `(sender, raw time of sending, receiver, raw time of arrival)`, in the order of sending: packets
    /// between two hosts that were sent once and arrived once, in one piece. What a perfect matching finds.
    pub fn messages(&self) -> impl Iterator<Item = (usize, i64, usize, i64)> {
        let once = |packet: &&SimPacket| {
            packet.from != packet.to && !packet.repeated && !packet.retransmission && packet.pieces.1 == 0
        };
        let message =
            |packet: &SimPacket| Some((packet.from, packet.sent_raw, packet.to, packet.received_raw?));
        self.packets.iter().filter(once).filter_map(message)
    }

    /// How a packet arrived: not at all, whole, or in parts.
    pub fn arrivals<'s>(&'s self, packet: &'s SimPacket) -> impl Iterator<Item = Arrival> + 's {
        let (first, count) = (packet.pieces.0 as usize, packet.pieces.1 as usize);
        let pieces = self.pieces.get(first..first + count).unwrap_or_default();
        let whole = packet.received_true.zip(packet.received_raw).filter(|_| count == 0);
        let whole = whole.map(|(received_true, received_raw)| Arrival {
            received_true,
            received_raw,
            segment: packet.segment,
        });
        whole.into_iter().chain(pieces.iter().map(|piece| Arrival {
            received_true: piece.received_true,
            received_raw: piece.received_raw,
            segment: piece.of(packet.segment),
        }))
    }

    /// Simulates a cluster: `O(n log n)` in the messages.
    pub(crate) fn of(cluster: &Cluster) -> Result<Self, Misuse> {
        let random = Random::new(cluster.seed);
        let mut simulation = Self::default();
        let span_ns = cluster.seconds.saturating_mul(1_000_000_000);
        for (number, link) in cluster.links.iter().enumerate() {
            let clocks = [&cluster.host(link.a)?.clock, &cluster.host(link.b)?.clock];
            let connection = Connection::new(number, link, clocks, random.part(number as u64));
            connection.exchange(span_ns, &mut simulation);
        }
        simulation.packets.sort_by_key(|packet| (packet.sent_true, packet.link, packet.from));
        simulation.stamp(cluster, &mut random.part(u64::MAX));
        Ok(simulation)
    }

    /// Fills in what depends on the hosts: the times that their clocks show, and their IP identifications.
    fn stamp(&mut self, cluster: &Cluster, random: &mut Random) {
        let mut next_id: Vec<u16> = cluster.hosts.iter().map(|_| random.bits() as u16).collect();
        for packet in &mut self.packets {
            let (from, to) = (&cluster.hosts[packet.from], &cluster.hosts[packet.to]);
            packet.sent_raw = from.clock.raw(packet.sent_true);
            packet.received_raw = packet.received_true.map(|received| to.clock.raw(received));
            packet.segment.ip_id = next_id[packet.from];
            next_id[packet.from] = next_id[packet.from].wrapping_add(packet.frames());
            let (first, count) = (packet.pieces.0 as usize, packet.pieces.1 as usize);
            for piece in &mut self.pieces[first..first + count] {
                piece.received_raw = to.clock.raw(piece.received_true);
            }
        }
    }
}

impl Piece {
    /// Its headers, given those of the packet: only the last part carries PSH, and identifications run on by frames.
    pub(crate) fn of(&self, whole: Segment) -> Segment {
        Segment {
            seq: whole.seq.wrapping_add(self.offset.into()),
            flags: if self.last { whole.flags } else { whole.flags & !PSH },
            payload: self.payload,
            ip_id: whole.ip_id.wrapping_add(self.offset / LARGEST_PAYLOAD),
            ..whole
        }
    }
}
