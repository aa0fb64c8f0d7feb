//! How much memory and time matching takes: `many_hosts [MESSAGES_PER_CONNECTION [LONELY]]`.
//!
//! 100 hosts in a ring, each with connections to its five neighbours on either side, which send to each other
//! for ten minutes; 10 million messages by default. Some packets are lost. Of the packets of so many lonely
//! hosts no trace has the other end. Nothing is kept of packets outside of the matcher.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use isochrone_matching::{PacketSource, match_sources};
use isochrone_net::{Direction, Packet, Segment, Sighting, StreamRef, Transport, flags};
use isochrone_time::{RawNs, Window};

const HOSTS: usize = 100;
const NEIGHBOURS: usize = 5;
const DURATION_NS: u64 = 600_000_000_000;

/// One end of one direction of a connection.
struct End {
    clock: usize,
    direction: Direction,
    connection: u64,
    addresses: (IpAddr, IpAddr),
    count: u64,
    /// The packet that comes next.
    at: u64,
}

/// Chance that is the same at both ends.
fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What the clock of a host shows: wrong by up to some hours, and up to 50 ppm too fast.
fn raw(host: usize, true_ns: u64) -> i64 {
    let chance = mixed(host as u64);
    let drift = i128::from(chance % 100) - 50;
    let offset = (chance >> 32) as i64 * 1000;
    offset + true_ns as i64 + (i128::from(true_ns) * drift / 1_000_000) as i64
}

impl End {
    fn sighting(&self, n: u64) -> Option<Sighting> {
        let chance = mixed(self.connection << 32 | n);
        let spacing = DURATION_NS / self.count;
        let sent = n * spacing + self.connection * 977 % spacing / 2 + chance % (spacing / 4);
        let lost = (chance >> 20).is_multiple_of(64);
        let time = match self.direction {
            Direction::Sent => sent,
            Direction::Received if lost => return None,
            Direction::Received => sent + 50_000 + (chance >> 32) % (spacing / 4).min(500_000),
        };
        let segment = Segment {
            ports: Some((40_000, 80)),
            seq: (mixed(self.connection) as u32).wrapping_add((n as u32).wrapping_mul(500)),
            ack: (mixed(!self.connection) as u32).wrapping_add((n as u32 / 3).wrapping_mul(700)),
            flags: flags::ACK,
            known_flags: flags::ALL,
            payload: Some(500),
        };
        let (clock, direction) = (self.clock, self.direction);
        let packet = Packet {
            addresses: Some(self.addresses),
            transport: Transport::Tcp(segment),
            ip_id: Some(n as u16),
        };
        let (time, place) = (RawNs(raw(clock, time)), StreamRef::of_trace(clock, 0));
        Some(Sighting { clock, time, raw: time, place, direction, device: 0, packet })
    }
}

impl PacketSource for End {
    fn clock(&self) -> usize {
        self.clock
    }

    fn span(&self) -> Option<Window<RawNs>> {
        let [start, end] = [0, DURATION_NS].map(|at| RawNs(raw(self.clock, at)));
        Some(Window::new(start, end))
    }

    fn read_until(&mut self, limit: RawNs, most: usize, out: &mut Vec<Sighting>) -> Option<RawNs> {
        while self.at < self.count {
            if let Some(sighting) = self.sighting(self.at) {
                if sighting.time > limit || out.len() >= most {
                    return Some(sighting.time);
                }
                out.push(sighting);
            }
            self.at += 1;
        }
        None
    }
}

/// Lines of `/proc/self/status` that begin so.
fn memory(what: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix(what)).unwrap_or("unknown").trim().to_owned()
}

#[allow(clippy::print_stdout)]
fn main() {
    let argument = |place: usize| std::env::args().nth(place).and_then(|count| count.parse().ok());
    let (count, lonely) = (argument(1).unwrap_or(10_000), argument(2).unwrap_or(0) as usize);
    let address = |host: usize| IpAddr::from(Ipv4Addr::from(0x0a00_0001 + host as u32));
    let mut ends = Vec::new();
    for from in 0..HOSTS {
        for step in (1..=NEIGHBOURS).chain(HOSTS - NEIGHBOURS..HOSTS) {
            let to = (from + step) % HOSTS;
            let (connection, addresses) = ((from * HOSTS + to) as u64, (address(from), address(to)));
            let is_seen = from.max(to) < HOSTS - lonely;
            for (clock, direction) in [(from, Direction::Sent), (to, Direction::Received)] {
                if !is_seen && direction == Direction::Received {
                    continue;
                }
                ends.push(End { clock, direction, connection, addresses, count, at: 0 });
            }
        }
    }
    let mut sources: Vec<&mut dyn PacketSource> =
        ends.iter_mut().map(|end| end as &mut dyn PacketSource).collect();
    let before = memory("VmRSS:");
    let begin = Instant::now();
    let (mut messages, mut least) = (0u64, i64::MAX);
    let summary = match_sources(&mut sources, &[0; HOSTS], Vec::new(), &mut |message| {
        messages += 1;
        least = least.min(message.received.time - message.sent.time);
    });
    let took = begin.elapsed();
    let lost: u64 = summary.unmatched.iter().sum();
    println!("{messages} messages, {lost} packets unmatched, {} given up early", summary.expired);
    println!(
        "{:.1} s, {} ns a message, generating included; memory {before} before, {} at most",
        took.as_secs_f64(),
        took.as_nanos() / u128::from(messages.max(1)),
        memory("VmHWM:"),
    );
}
