//! What a host sent while its trace has a hole may be repeated after it: a repetition is no first departure there, and proves
//! nothing.

use std::fs;
use std::path::Path;

use isochrone_corrections::Clocks;
use isochrone_ctf::Trace;
use isochrone_files::Inputs;
use isochrone_sync::{Options, synchronize};
use isochrone_testkit::{Cluster, Family, FieldValue, LttngTrace};

const MS: u64 = 1_000_000;
/// The hole, and a segment that leaves in it and again after it.
const HOLE: [u64; 2] = [10_000 * MS, 11_000 * MS];
const LOST_AT: u64 = 10_900 * MS;
const REPEATED_AT: u64 = 11_050 * MS;
const DELAY: u64 = MS / 10;

/// An empty trace of a host of two CPUs.
fn trace(host: usize) -> LttngTrace {
    let empty = Cluster::chain(2).messages(0);
    empty
        .trace(&empty.simulate().unwrap(), host, Family::IPV6, |trace| {
            trace.cpus(2);
        })
        .unwrap()
}

/// Time, host, CPU, name and fields of an event.
type Recorded = (u64, usize, u32, &'static str, Fields);

type Fields = Vec<(&'static str, FieldValue)>;

/// A packet of one connection, from `h1` to `h2` or back, which has no identification.
fn packet(forth: bool, seq: u64, ack: u64, payload: u64) -> Fields {
    let address = |last: u16| [0xfd00, 0, 0, 0, 0, 0, 0, last];
    let (from, to) = if forth { (1, 2) } else { (2, 1) };
    vec![
        ("skbaddr", (seq + payload + 1).into()),
        ("len", (payload + 74).into()),
        ("name", "eth0".into()),
        ("network_header_type", "ipv6".into()),
        ("network_header.ipv6.version", 6.into()),
        ("network_header.ipv6.payload_len", (payload + 20).into()),
        ("network_header.ipv6.nexthdr", 6.into()),
        ("network_header.ipv6.saddr", address(from).into()),
        ("network_header.ipv6.daddr", address(to).into()),
        ("network_header.ipv6.transport_header_type", "tcp".into()),
        ("network_header.ipv6.transport_header.tcp.source_port", (1000 + u64::from(from)).into()),
        ("network_header.ipv6.transport_header.tcp.dest_port", (1000 + u64::from(to)).into()),
        ("network_header.ipv6.transport_header.tcp.seq", seq.into()),
        ("network_header.ipv6.transport_header.tcp.ack_seq", ack.into()),
        ("network_header.ipv6.transport_header.tcp.data_offset", 5.into()),
        ("network_header.ipv6.transport_header.tcp.flags", 0x10.into()),
    ]
}

/// Two hosts of one true clock: a segment and an answer every 100 ms. What leaves at [`LOST_AT`] arrives, and leaves once more at
/// [`REPEATED_AT`], which does not. `cpu`: where departures are recorded between the ends of the hole.
fn hosts(cpu: u32) -> [LttngTrace; 2] {
    let mut hosts = [trace(0), trace(1)];
    let mut events: Vec<Recorded> = Vec::new();
    for round in 0..250_u64 {
        let at = round * 100 * MS + MS;
        let at = if at / MS == LOST_AT / MS + 1 { LOST_AT } else { at };
        let on = if (HOLE[0]..HOLE[1]).contains(&at) { cpu } else { 0 };
        let (seq, next) = (round * 100, round * 100 + 100);
        events.push((at, 0, on, "net_dev_queue", packet(true, seq, seq, 100)));
        events.push((at + DELAY, 1, 0, "net_if_receive_skb", packet(true, seq, seq, 100)));
        if at == LOST_AT {
            events.push((REPEATED_AT, 0, 0, "net_dev_queue", packet(true, seq, seq, 100)));
            continue;
        }
        events.push((at + 2 * DELAY, 1, 0, "net_dev_queue", packet(false, seq, next, 100)));
        events.push((at + 3 * DELAY, 0, on, "net_if_receive_skb", packet(false, seq, next, 100)));
    }
    events.sort_by_key(|event| event.0);
    let mut ends = HOLE.into_iter().peekable();
    for (at, host, cpu, name, fields) in events {
        if ends.next_if(|&end| at >= end).is_some() {
            hosts[0].end_packet(0).end_packet(1);
        }
        hosts[host].event(cpu, at, name, &fields);
    }
    hosts
}

/// Holds the correction of both hosts, whose clocks are one, against the truth.
fn check(root: &Path, what: &str) {
    let arguments = [root.join("h1"), root.join("h2")];
    let outcome = synchronize(&Inputs::open(&arguments), &Options::default(), &|_| {}).unwrap();
    let [link] = &outcome.artefact.links[..] else { panic!("{what}: {:?}", outcome.artefact.links) };
    assert!(link.messages.a_to_b > 100 && link.messages.b_to_a > 100, "{what}: {link:?}");
    assert_eq!((link.messages.suspect, link.inversions), (0, 0), "{what}: {link:?}");
    let clocks = Clocks::new(&outcome.artefact).unwrap();
    let offset = |host: &str| clocks.of_host(host).unwrap().reference_offset_ns;
    for clock in clocks.iter() {
        let zero = clock.entry.clock_offset_ns - offset(&clock.reference);
        for raw in (1..24).map(|second| second * 1_000_000_000) {
            let (lo, hi, _) = clock.interval.at(raw).unwrap();
            // Both clocks show the same raw time.
            assert!(lo <= raw && raw <= hi, "{what}: {raw} not in {lo} … {hi} ({zero})");
        }
    }
}

fn with_holes(what: &str, cpu: u32, damage: impl Fn(&Path)) {
    let root = tempfile::tempdir().unwrap();
    let [mut sender, mut receiver] = hosts(cpu);
    sender.write_rotated(&root.path().join("h1"), &HOLE).unwrap();
    receiver.write(&root.path().join("h2/kernel")).unwrap();
    damage(&root.path().join("h1/archives/1"));
    check(root.path(), what);
}

#[test]
fn a_chunk_is_lost() {
    with_holes("whole", 0, |_| {});
    with_holes("without a chunk", 0, |chunk| fs::remove_dir_all(chunk).unwrap());
}

#[test]
fn a_file_is_missing() {
    with_holes("without a file", 1, |chunk| fs::remove_file(chunk.join("kernel/ch_1")).unwrap());
    with_holes("without a file and its index", 1, |chunk| {
        fs::remove_file(chunk.join("kernel/ch_1")).unwrap();
        fs::remove_file(chunk.join("kernel/index/ch_1.idx")).unwrap();
    });
}

#[test]
fn a_packet_cannot_be_decoded() {
    let broken = |file: &Path| {
        let trace = Trace::open(file.parent().unwrap()).unwrap();
        let packets = trace.streams().iter().flat_map(|stream| &stream.packets);
        let mut bytes = fs::read(file).unwrap();
        for packet in packets.filter(|packet| trace.packet_path(packet) == file) {
            let (begin, end) = (packet.offset as usize, (packet.offset + packet.content_bits / 8) as usize);
            bytes[begin + (end - begin) / 5..end].fill(0xff);
        }
        fs::write(file, bytes).unwrap();
    };
    with_holes("with a broken packet", 1, |chunk| broken(&chunk.join("kernel/ch_1")));
    with_holes("with a broken packet of the only CPU", 0, |chunk| broken(&chunk.join("kernel/ch_0")));
}
