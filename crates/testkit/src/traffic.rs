//! Who sends what to whom, when: the packets of a cluster in true time and in the times that the hosts' clocks show.
//!
//! Every link is one TCP connection whose numbers run on: sequence numbers by the payloads sent, acknowledgements by
//! what has arrived. [`crate::cluster`] describes the links, [`crate::packets`] makes events of the packets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cluster::{Cluster, SimLink};
use crate::error::Misuse;
use crate::random::Random;

/// A packet that is sent again follows its original after this time or a little more.
const RETRANSMISSION_NS: i64 = 200_000_000;
/// Largest payload: an Ethernet frame less headers of 20 and 32 bytes.
const LARGEST_PAYLOAD: u64 = 1448;

/// TCP flags.
const ACK: u16 = 0x10;
const PSH: u16 = 0x08;

/// What a packet carries in its TCP header, and the IPv4 identification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// The nine flag bits.
    pub flags: u16,
    /// Bytes behind the header.
    pub payload: u16,
    /// Identification in the IPv4 header: runs on for every packet of the sender.
    pub ip_id: u16,
}

/// A packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimPacket {
    /// Index of its link.
    pub link: usize,
    /// Index of the sending host.
    pub from: usize,
    /// Index of the receiving host.
    pub to: usize,
    /// True time of sending.
    pub sent_true: i64,
    /// The sender's clock then, ns.
    pub sent_raw: i64,
    /// True time of arrival; `None`: lost.
    pub received_true: Option<i64>,
    /// The receiver's clock then, ns.
    pub received_raw: Option<i64>,
    /// Its headers.
    pub segment: Segment,
    /// Whether it repeats an earlier packet.
    pub retransmission: bool,
}

/// All packets of a cluster in the order of their sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// The packets.
    pub packets: Vec<SimPacket>,
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

    /// Simulates a cluster: `O(n log n)` in the messages.
    pub(crate) fn of(cluster: &Cluster) -> Result<Self, Misuse> {
        let random = Random::new(cluster.seed);
        let mut packets = Vec::new();
        for (number, link) in cluster.links.iter().enumerate() {
            for host in [link.a, link.b] {
                cluster.host(host)?;
            }
            let span_ns = cluster.seconds.saturating_mul(1_000_000_000);
            Connection::new(number, link, random.part(number as u64)).exchange(span_ns, &mut packets);
        }
        packets.sort_by_key(|packet| (packet.sent_true, packet.link, packet.from));
        stamp(&mut packets, cluster, &mut random.part(u64::MAX));
        Ok(Self { packets })
    }
}

/// Fills in what depends on the hosts: the times that their clocks show, and their IP identifications.
fn stamp(packets: &mut [SimPacket], cluster: &Cluster, random: &mut Random) {
    let mut next_id: Vec<u16> = cluster.hosts.iter().map(|_| random.bits() as u16).collect();
    for packet in packets {
        let (from, to) = (&cluster.hosts[packet.from], &cluster.hosts[packet.to]);
        packet.sent_raw = from.clock.raw(packet.sent_true);
        packet.received_raw = packet.received_true.map(|received| to.clock.raw(received));
        packet.segment.ip_id = next_id[packet.from];
        next_id[packet.from] = next_id[packet.from].wrapping_add(1);
    }
}

/// The two ends of a link while it is simulated.
struct Connection<'l> {
    number: usize,
    link: &'l SimLink,
    random: Random,
    /// Per direction (a to b, b to a): where the sender's numbers begin, how far they are.
    first: [u32; 2],
    sent: [u64; 2],
    /// Per direction: what is on the way (arrival, end of its bytes), and how much has arrived.
    under_way: [BinaryHeap<Reverse<(i64, u64)>>; 2],
    arrived: [u64; 2],
}

impl<'l> Connection<'l> {
    fn new(number: usize, link: &'l SimLink, mut random: Random) -> Self {
        let first = [random.bits() as u32, random.bits() as u32];
        let under_way = [BinaryHeap::new(), BinaryHeap::new()];
        Self { number, link, random, first, sent: [0; 2], under_way, arrived: [0; 2] }
    }

    /// Spreads the messages of the link evenly over the time.
    fn exchange(mut self, span_ns: u64, packets: &mut Vec<SimPacket>) {
        let mut times: Vec<i64> =
            (0..self.link.messages).map(|_| self.random.below(span_ns) as i64).collect();
        times.sort_unstable();
        for time in times {
            let direction = if self.link.one_way { 0 } else { self.random.below(2) as usize };
            let segment = self.next_segment(direction, time);
            self.send(direction, time, segment, packets);
        }
    }

    fn next_segment(&mut self, direction: usize, time: i64) -> Segment {
        let back = 1 - direction;
        while let Some(&Reverse((arrival, end))) = self.under_way[back].peek()
            && arrival <= time
        {
            self.under_way[back].pop();
            self.arrived[back] = self.arrived[back].max(end);
        }
        let payload = 1 + self.random.below(LARGEST_PAYLOAD) as u16;
        let number = |direction: usize, bytes: u64| self.first[direction].wrapping_add(bytes as u32);
        let (seq, ack) = (number(direction, self.sent[direction]), number(back, self.arrived[back]));
        self.sent[direction] += u64::from(payload);
        let flags = if self.random.permille(500) { ACK | PSH } else { ACK };
        Segment { seq, ack, flags, payload, ip_id: 0 }
    }

    /// Sends a segment, and again if the link loses or delays it that long.
    fn send(&mut self, direction: usize, time: i64, segment: Segment, packets: &mut Vec<SimPacket>) {
        let end = self.sent[direction];
        let again = self.random.permille(self.link.retransmitted_permille);
        // Half of the packets that are sent again had been lost, the others were only given up too early.
        let lost =
            if again { self.random.permille(500) } else { self.random.permille(self.link.lost_permille) };
        packets.push(self.packet(direction, time, segment, end, lost));
        if again {
            let later = time + RETRANSMISSION_NS + self.random.exponential(RETRANSMISSION_NS as u64 / 10);
            let copy = self.packet(direction, later, segment, end, false);
            packets.push(SimPacket { retransmission: true, ..copy });
        }
    }

    fn packet(
        &mut self,
        direction: usize,
        sent_true: i64,
        segment: Segment,
        end: u64,
        lost: bool,
    ) -> SimPacket {
        let delay = self.delay(direction);
        let received_true = (!lost).then_some(sent_true + delay);
        if let Some(arrival) = received_true {
            self.under_way[direction].push(Reverse((arrival, end)));
        }
        let SimLink { a, b, .. } = *self.link;
        let (from, to) = if direction == 0 { (a, b) } else { (b, a) };
        let (link, retransmission) = (self.number, false);
        let (sent_raw, received_raw) = (0, None);
        SimPacket {
            link,
            from,
            to,
            sent_true,
            sent_raw,
            received_true,
            received_raw,
            segment,
            retransmission,
        }
    }

    fn delay(&mut self, direction: usize) -> i64 {
        let link = self.link;
        let usual = link.min_delay_ns[direction] + self.random.exponential(link.mean_extra_ns);
        let queued = self.random.permille(link.tail_permille);
        usual + if queued { self.random.exponential(link.tail_mean_ns) } else { 0 }
    }
}
