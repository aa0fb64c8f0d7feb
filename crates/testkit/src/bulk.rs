//! Kernel-shaped traces of any size, written as fast as a disk takes them: input for benches.
//!
//! The events are those of a busy host (switches, wake-ups, interrupts, system calls, packets) in a fixed mix. Their
//! bodies are drawn from a stock that is encoded once; times, order and CPUs are drawn anew for each event.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use isochrone_ctf::index;
use isochrone_ctf::write::PacketWriter;

use crate::assign::Given;
use crate::compiled::{Body, Compiled};
use crate::error::TestkitError;
use crate::lttng::LttngTrace;
use crate::metadata::EventHeader;
use crate::random::Random;
use crate::stream::HeadValues;

/// The longest event, and more, in bits.
const LONGEST_EVENT: u64 = 2_048;
/// Different bodies per event class.
const STOCK: u64 = 64;
/// Mean time between two events of a CPU, ns.
const MEAN_GAP_NS: u64 = 1_500;
/// Once in so many events a CPU sleeps for five seconds, longer than the short event header can express.
const PAUSE_EVERY: u64 = 2_000_000;
const PAUSE_NS: u64 = 5_000_000_000;

/// Event classes, and how often they occur among 100 events.
const MIX: [(&str, u64); 8] = [
    ("sched_switch", 22),
    ("sched_waking", 16),
    ("irq_handler_entry", 9),
    ("irq_handler_exit", 9),
    ("syscall_entry_read", 18),
    ("syscall_exit_read", 18),
    ("net_dev_queue", 4),
    ("net_if_receive_skb", 4),
];

/// A trace of one host with so many events.
#[derive(Debug, Clone, Copy)]
pub struct Bulk {
    /// Events of all CPUs together.
    pub events: u64,
    /// Streams.
    pub cpus: u32,
    /// Same seed, same bytes.
    pub seed: u64,
    /// Size of each packet; at least 1 KiB.
    pub packet_bytes: u64,
}

impl Default for Bulk {
    /// A million events of four CPUs, in packets as large as LTTng's kernel channels have them by default.
    fn default() -> Self {
        Self { events: 1_000_000, cpus: 4, seed: 1, packet_bytes: 256 * 1024 }
    }
}

impl Bulk {
    /// Writes the trace: `metadata`, `ch_<cpu>` and their indexes. Memory is a packet. Gives the bytes of the streams.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<u64, TestkitError> {
        let mut trace = LttngTrace::kernel("bulk");
        trace.header(EventHeader::Large).cpus(self.cpus);
        let (uuid, compiled) = trace.into_compiled()?;
        let index_directory = directory.join("index");
        fs::create_dir_all(&index_directory).map_err(|error| TestkitError::io(&index_directory, error))?;
        let metadata = directory.join("metadata");
        fs::write(&metadata, &compiled.text).map_err(|error| TestkitError::io(&metadata, error))?;
        let random = Random::new(self.seed);
        let stock = stock(&compiled, &mut random.part(0))?;
        let mut bytes = 0;
        for cpu in 0..self.cpus {
            let cpus = u64::from(self.cpus);
            let events = self.events / cpus + u64::from(u64::from(cpu) < self.events % cpus);
            let head = HeadValues { uuid: *uuid.as_bytes(), channel: 0, cpu };
            let mut random = random.part(1 + u64::from(cpu));
            let path = directory.join(format!("ch_{cpu}"));
            let packet_bits = self.packet_bytes.max(1024) * 8;
            let entries = stream(&compiled, &head, &stock, (events, packet_bits), &mut random, &path)?;
            bytes += entries.iter().map(|entry| entry.total_bits / 8).sum::<u64>();
            let path = index_directory.join(format!("ch_{cpu}.idx"));
            fs::write(&path, index::write(&entries)).map_err(|error| TestkitError::io(&path, error))?;
        }
        Ok(bytes)
    }
}

/// An event of the stock: its class and its body.
struct Stocked {
    class: usize,
    body: Vec<u8>,
}

/// The stock: per entry of [`MIX`], `STOCK` bodies.
fn stock(compiled: &Compiled, random: &mut Random) -> Result<Vec<Vec<Stocked>>, TestkitError> {
    let mut stock = Vec::with_capacity(MIX.len());
    for (name, _) in MIX {
        let class = compiled.class(name)?;
        let mut bodies = Vec::new();
        for _ in 0..STOCK {
            let body = match compiled.body(name, class, &fields(name, random))? {
                Body::Bytes(body) => body,
                // All classes of the mix are packed.
                Body::Values(..) => Vec::new(),
            };
            bodies.push(Stocked { class, body });
        }
        stock.push(bodies);
    }
    Ok(stock)
}

/// Plausible values for an event class.
fn fields(name: &str, random: &mut Random) -> Vec<Given<'static>> {
    let task = |random: &mut Random| format!("worker-{}", random.below(500));
    match name {
        "sched_switch" => vec![
            ("prev_comm", task(random).into()),
            ("prev_tid", random.below(5_000).into()),
            ("prev_prio", 20.into()),
            ("prev_state", random.below(2).into()),
            ("next_comm", task(random).into()),
            ("next_tid", random.below(5_000).into()),
            ("next_prio", 20.into()),
        ],
        "sched_waking" => vec![
            ("comm", task(random).into()),
            ("tid", random.below(5_000).into()),
            ("prio", 20.into()),
            ("target_cpu", random.below(8).into()),
        ],
        "irq_handler_entry" => vec![("irq", random.below(64).into()), ("name", "virtio0-input.0".into())],
        "irq_handler_exit" => vec![("irq", random.below(64).into()), ("ret", 1.into())],
        "syscall_entry_read" => vec![("fd", random.below(256).into()), ("count", 4_096.into())],
        "syscall_exit_read" => vec![("ret", random.below(4_096).into()), ("buf", random.bits().into())],
        _ => vec![
            ("skbaddr", random.bits().into()),
            ("len", random.below(1_500).into()),
            ("name", "eth0".into()),
            ("network_header_type", "unknown".into()),
        ],
    }
}

/// Writes one stream of so many events, in packets of so many bits.
fn stream(
    compiled: &Compiled,
    head: &HeadValues,
    stock: &[Vec<Stocked>],
    (events, packet_bits): (u64, u64),
    random: &mut Random,
    path: &Path,
) -> Result<Vec<index::IndexEntry>, TestkitError> {
    let io = |error| TestkitError::io(path, error);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).map_err(io)?);
    let mut writer = PacketWriter::new(&compiled.plan, 0);
    let mut entries = Vec::new();
    let mut now = 1_000_000_000 + random.below(1_000_000);
    let mut left = events;
    while left > 0 {
        writer.begin(head.at(now, entries.len() as u64))?;
        while left > 0 && writer.content_bits() + LONGEST_EVENT <= packet_bits {
            let event = pick(stock, random);
            now += 1 + random.below(2 * MEAN_GAP_NS);
            now += if random.below(PAUSE_EVERY) == 0 { PAUSE_NS } else { 0 };
            writer.event(compiled.event_plan(event.class), now, None)?;
            writer.body_bytes(&event.body);
            left -= 1;
        }
        let packet = writer.finish(now, packet_bits)?;
        file.write_all(packet.bytes).map_err(io)?;
        entries.push(packet.entry);
    }
    file.flush().map_err(io)?;
    Ok(entries)
}

fn pick<'s>(stock: &'s [Vec<Stocked>], random: &mut Random) -> &'s Stocked {
    let mut ticket = random.below(MIX.iter().map(|(_, share)| share).sum());
    let mut kind = 0;
    while ticket >= MIX[kind].1 {
        ticket -= MIX[kind].1;
        kind += 1;
    }
    &stock[kind][random.below(STOCK) as usize]
}

#[cfg(test)]
mod tests {
    use isochrone_ctf::Trace;

    use super::*;

    #[test]
    fn what_was_asked_for_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let bytes = Bulk { events: 30_001, cpus: 3, ..Bulk::default() }.write(directory.path()).unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        assert_eq!(trace.diagnostics(), []);
        assert_eq!(trace.streams().len(), 3);
        let count: usize = (0..3).map(|stream| trace.events(stream).count()).sum();
        assert_eq!(count, 30_001);
        assert!(bytes / 30_001 > 15, "{bytes} bytes");
        let again = tempfile::tempdir().unwrap();
        Bulk { events: 30_001, cpus: 3, ..Bulk::default() }.write(again.path()).unwrap();
        let read = |root: &Path| fs::read(root.join("ch_1")).unwrap();
        assert_eq!(read(directory.path()), read(again.path()));
    }
}
