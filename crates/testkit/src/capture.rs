//! Captures of a simulation as pcap files: of the switch that all hosts are connected to, and of single hosts.
//!
//! Files begin with the number that stands for nanoseconds. The format: 24 bytes for the file, 16 for each frame.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::clock::UNIX_EPOCH_NS;
use crate::cluster::{Cluster, Protocol};
use crate::error::{Misuse, TestkitError};
use crate::frames::{self, CaptureLink};
use crate::packets::{IpVersion, Way, passing};
use crate::random::Random;
use crate::traffic::{Arrival, LARGEST_PAYLOAD, Piece, Segment, SimPacket, Simulation};

/// Bytes of a frame that are kept.
const SNAP_LENGTH: usize = 160;
/// First word of a file with times in nanoseconds.
const MAGIC: u32 = 0xa1b2_3c4d;
/// Which part of the random numbers of a cluster the switch has.
const SWITCH: u64 = u64::MAX - 2;

/// A frame: Unix time in ns, its bytes that are kept, and how many there were.
struct Frame {
    time: i64,
    bytes: Vec<u8>,
    length: usize,
}

impl Cluster {
    /// Writes what a switch captures that all packets between hosts pass on their way: every frame once, at a random point
    /// between sending and arrival, in true time as Unix time from [`UNIX_EPOCH_NS`] on. Half of the packets that do not
    /// arrive are lost behind the switch. Translated links are translated behind it.
    ///
    /// # Errors
    /// The simulation is of another cluster, or the file cannot be written.
    pub fn write_switch_capture(
        &self,
        simulation: &Simulation,
        ip: IpVersion,
        path: &Path,
    ) -> Result<(), TestkitError> {
        let mut random = Random::new(self.seed).part(SWITCH);
        let mut frames = Vec::new();
        for packet in simulation.packets.iter().filter(|packet| packet.from != packet.to) {
            let link = self.links.get(packet.link).ok_or(Misuse::NoHost(packet.from))?;
            let ends = self.endpoints(packet, link.a)?;
            let tagged = self.host(packet.from)?.vlan;
            let lost_before = packet.received_true.is_none() && random.permille(500);
            for (arrival, segment) in on_the_wire(simulation, packet).filter(|_| !lost_before) {
                let way = arrival.unwrap_or(packet.sent_true + link.min_delay_ns[0]) - packet.sent_true;
                let at = packet.sent_true + way / 4 + random.below(way.unsigned_abs() / 2) as i64;
                let mut bytes = CaptureLink::Ethernet.header(packet, Way::Out, ip, tagged);
                bytes.extend(frames::network(packet, segment, &ends, ip)?);
                frames.push(Frame::new(UNIX_EPOCH_NS + at, bytes));
            }
        }
        write_file(path, CaptureLink::Ethernet, frames)
    }

    /// Writes what is captured on a host's device `eth0`: packets as the host sends and receives them, at the times of its
    /// clock, in what it takes for Unix time.
    ///
    /// # Errors
    /// There is no such host, the simulation is of another cluster, or the file cannot be written.
    pub fn write_host_capture(
        &self,
        simulation: &Simulation,
        host: usize,
        ip: IpVersion,
        link: CaptureLink,
        path: &Path,
    ) -> Result<(), TestkitError> {
        let own = self.host(host)?;
        let between = passing(simulation, host).into_iter().filter(|p| p.packet.from != p.packet.to);
        let frame = |passing: crate::packets::Passing<'_>| -> Result<Frame, TestkitError> {
            let ends = self.endpoints(passing.packet, host)?;
            let tagged = self.host(passing.packet.from)?.vlan;
            let mut bytes = link.header(passing.packet, passing.way, ip, tagged);
            bytes.extend(frames::network(passing.packet, passing.segment, &ends, ip)?);
            Ok(Frame::new(passing.raw.saturating_add(own.clock.unix_offset_ns()), bytes))
        };
        let frames = between.map(frame).collect::<Result<_, _>>()?;
        write_file(path, link, frames)
    }
}

/// The frames of a packet: when each arrives (merged with others, when these do), and its headers.
fn on_the_wire<'s>(
    simulation: &'s Simulation,
    packet: &'s SimPacket,
) -> impl Iterator<Item = (Option<i64>, Segment)> + 's {
    let count = if packet.protocol == Protocol::Tcp { packet.frames() } else { 1 };
    let total = packet.segment.payload;
    (0..count).map(move |number| {
        let offset = number * LARGEST_PAYLOAD;
        let payload = if count == 1 { total } else { (total - offset).min(LARGEST_PAYLOAD) };
        // The part that it arrived in is the last one that begins no later.
        let begins =
            |arrival: &Arrival| u32::from(offset) >= arrival.segment.seq.wrapping_sub(packet.segment.seq);
        let held = simulation.arrivals(packet).filter(begins).last();
        let last = offset + payload == total;
        let frame = Piece { offset, payload, last, received_true: 0, received_raw: 0 };
        (held.map(|arrival| arrival.received_true), frame.of(packet.segment))
    })
}

impl Frame {
    fn new(time: i64, mut bytes: Vec<u8>) -> Self {
        let length = bytes.len();
        bytes.truncate(SNAP_LENGTH);
        Self { time, bytes, length }
    }
}

fn write_file(path: &Path, link: CaptureLink, mut frames: Vec<Frame>) -> Result<(), TestkitError> {
    frames.sort_by_key(|frame| frame.time);
    let io = |source| TestkitError::io(path, source);
    let mut file = BufWriter::new(File::create(path).map_err(io)?);
    // Version 2.4, times in UTC.
    put(&mut file, &[MAGIC, 2 | 4 << 16, 0, 0, SNAP_LENGTH as u32, link.number()]).map_err(io)?;
    for frame in frames {
        let (seconds, rest) = (frame.time.div_euclid(1_000_000_000), frame.time.rem_euclid(1_000_000_000));
        let (kept, length) = (frame.bytes.len() as u32, frame.length as u32);
        put(&mut file, &[seconds as u32, rest as u32, kept, length]).map_err(io)?;
        file.write_all(&frame.bytes).map_err(io)?;
    }
    file.flush().map_err(io)
}

fn put(file: &mut impl Write, words: &[u32]) -> std::io::Result<()> {
    words.iter().try_for_each(|word| file.write_all(&word.to_le_bytes()))
}
