//! One link while it is simulated: a TCP connection whose numbers run on (sequence numbers by the payloads sent,
//! acknowledgements by what has arrived), datagrams, or echoes.
//!
//! [`crate::traffic`] puts the links of a cluster together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::clock::SimClock;
use crate::cluster::{Protocol, SimLink};
use crate::random::Random;
use crate::traffic::{LARGEST_PAYLOAD, PSH, Piece, Segment, SimPacket, Simulation};

/// A packet that is sent again follows its original after this time or a little more.
const RETRANSMISSION_NS: i64 = 200_000_000;
/// Frames that a departure of 64 KiB takes at most.
const MOST_FRAMES: u64 = 45;
/// Time that a full frame takes on a wire of 1 Gbit/s.
const FRAME_NS: i64 = 12_000;
/// Payload of an echo, as `ping` sends it.
const ECHO_PAYLOAD: u16 = 56;
/// A host answers an echo after this time and a little more.
const ANSWER_NS: i64 = 10_000;

const ACK: u16 = 0x10;

/// The two ends of a link while it is simulated.
pub(crate) struct Connection<'l> {
    number: usize,
    link: &'l SimLink,
    /// Of a and b.
    clocks: [&'l SimClock; 2],
    random: Random,
    /// Per direction (a to b, b to a): where the sender's numbers begin, how far they are.
    first: [u32; 2],
    sent: [u64; 2],
    /// Per direction: what is on the way (arrival, end of its bytes), and how much has arrived.
    under_way: [BinaryHeap<Reverse<(i64, u64)>>; 2],
    arrived: [u64; 2],
}

impl<'l> Connection<'l> {
    pub(crate) fn new(
        number: usize,
        link: &'l SimLink,
        clocks: [&'l SimClock; 2],
        mut random: Random,
    ) -> Self {
        let first = [random.bits() as u32, random.bits() as u32];
        let under_way = [BinaryHeap::new(), BinaryHeap::new()];
        Self { number, link, clocks, random, first, sent: [0; 2], under_way, arrived: [0; 2] }
    }

    /// Spreads the messages of the link evenly over the time.
    pub(crate) fn exchange(mut self, span_ns: u64, simulation: &mut Simulation) {
        let answered = self.link.protocol == Protocol::Echo && !self.link.one_way;
        let count = if answered { self.link.messages / 2 } else { self.link.messages };
        let mut times: Vec<i64> = (0..count).map(|_| self.random.below(span_ns) as i64).collect();
        times.sort_unstable();
        for (time, number) in times.into_iter().zip(0..) {
            if self.link.protocol == Protocol::Echo {
                self.echo(time, number, &mut simulation.packets);
                continue;
            }
            let direction = if self.link.one_way { 0 } else { self.direction() };
            let time = self.clocks[direction].awake(time);
            let segment = self.next_segment(direction, time);
            self.send(direction, time, segment, simulation);
        }
    }

    fn direction(&mut self) -> usize {
        usize::from(self.random.below(1000) >= u64::from(1000_u32.saturating_sub(self.link.back_permille)))
    }

    /// A request, and its reply if it arrives.
    fn echo(&mut self, time: i64, number: u16, packets: &mut Vec<SimPacket>) {
        let segment = Segment { seq: number.into(), ack: 0, flags: 0, payload: ECHO_PAYLOAD, ip_id: 0 };
        let lost = self.random.permille(self.link.lost_permille);
        let request = self.packet(0, self.clocks[0].awake(time), segment, lost);
        packets.push(request);
        if let (Some(received), false) = (request.received_true, self.link.one_way) {
            let answer = received + ANSWER_NS + self.random.exponential(ANSWER_NS as u64);
            let lost = self.random.permille(self.link.lost_permille);
            let reply = self.packet(1, self.clocks[1].awake(answer), segment, lost);
            packets.push(SimPacket { reply: true, ..reply });
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
        let frame = u64::from(LARGEST_PAYLOAD);
        let mut payload = 1 + self.random.below(frame) as u16;
        let tcp = self.link.protocol == Protocol::Tcp;
        if tcp && self.link.offload && self.random.permille(500) {
            payload = (frame + 1 + self.random.below((MOST_FRAMES - 1) * frame)) as u16;
        }
        let number = |direction: usize, bytes: u64| self.first[direction].wrapping_add(bytes as u32);
        let (seq, ack) = (number(direction, self.sent[direction]), number(back, self.arrived[back]));
        self.sent[direction] += u64::from(payload);
        let flags = if self.random.permille(500) { ACK | PSH } else { ACK };
        Segment { seq, ack: if tcp { ack } else { 0 }, flags: if tcp { flags } else { 0 }, payload, ip_id: 0 }
    }

    /// Sends a segment, and again if the link loses or delays it that long.
    fn send(&mut self, direction: usize, time: i64, segment: Segment, simulation: &mut Simulation) {
        let again = self.random.permille(self.link.retransmitted_permille);
        // Half of the packets that are sent again had been lost, the others were only given up too early.
        let lost =
            if again { self.random.permille(500) } else { self.random.permille(self.link.lost_permille) };
        let first = self.arriving(direction, time, segment, lost, &mut simulation.pieces);
        simulation.packets.push(SimPacket { repeated: again, ..first });
        if again {
            let later = time + RETRANSMISSION_NS + self.random.exponential(RETRANSMISSION_NS as u64 / 10);
            let later = self.clocks[direction].awake(later);
            let copy = self.arriving(direction, later, segment, false, &mut simulation.pieces);
            simulation.packets.push(SimPacket { retransmission: true, ..copy });
        }
    }

    /// A packet, in parts where segmentation is left to the devices, and noted as being under way.
    fn arriving(
        &mut self,
        direction: usize,
        time: i64,
        segment: Segment,
        lost: bool,
        pieces: &mut Vec<Piece>,
    ) -> SimPacket {
        let end = self.sent[direction];
        let mut packet = self.packet(direction, time, segment, lost);
        if let Some(begin) = packet.received_true {
            if packet.frames() > 1 {
                self.cut(&mut packet, begin, pieces);
            }
            let last = pieces.last().filter(|_| packet.pieces.1 > 0).map(|piece| piece.received_true);
            let arrival = last.or(packet.received_true).unwrap_or(begin);
            self.under_way[direction].push(Reverse((arrival, end)));
        }
        packet
    }

    /// Cuts a packet whose first frame arrives at `begin` into frames. A frame is merged with those before it in half of the
    /// cases, and what is merged arrives with its last frame; merged whole, the packet stays one.
    fn cut(&mut self, packet: &mut SimPacket, begin: i64, pieces: &mut Vec<Piece>) {
        let first = pieces.len();
        let (mut arrival, total) = (begin, packet.segment.payload);
        let clock = self.clocks[usize::from(packet.from != self.link.a)];
        for frame in 0..packet.frames() {
            let offset = frame * LARGEST_PAYLOAD;
            let payload = (total - offset).min(LARGEST_PAYLOAD);
            let last = offset + payload == total;
            let merged = frame > 0 && self.random.permille(500);
            match pieces[first..].last_mut() {
                Some(piece) if merged => {
                    piece.payload += payload;
                    (piece.last, piece.received_true) = (last, arrival);
                }
                _ => pieces.push(Piece { offset, payload, last, received_true: arrival, received_raw: 0 }),
            }
            arrival = clock.awake(arrival + FRAME_NS + self.random.exponential(FRAME_NS as u64 / 4));
        }
        packet.received_true = pieces.get(first).map(|piece| piece.received_true);
        if pieces.len() == first + 1 {
            pieces.truncate(first);
        } else {
            packet.pieces = (first as u32, (pieces.len() - first) as u32);
        }
    }

    fn packet(&mut self, direction: usize, sent_true: i64, segment: Segment, lost: bool) -> SimPacket {
        let arrival = sent_true + self.delay(direction);
        let SimLink { a, b, protocol, .. } = *self.link;
        let (from, to) = if direction == 0 { (a, b) } else { (b, a) };
        SimPacket {
            link: self.number,
            protocol,
            from,
            to,
            sent_true,
            sent_raw: 0,
            received_true: (!lost).then(|| self.clocks[1 - direction].awake(arrival)),
            received_raw: None,
            reply: false,
            segment,
            retransmission: false,
            repeated: false,
            pieces: (0, 0),
        }
    }

    fn delay(&mut self, direction: usize) -> i64 {
        let link = self.link;
        let usual = link.min_delay_ns[direction] + self.random.exponential(link.mean_extra_ns);
        let queued = self.random.permille(link.tail_permille);
        usual + if queued { self.random.exponential(link.tail_mean_ns) } else { 0 }
    }
}
