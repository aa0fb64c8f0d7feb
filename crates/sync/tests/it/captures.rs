//! Captures as inputs: from which side they look, what they show, and clocks that they tie together.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use etherparse::PacketBuilder;
use isochrone_corrections::artefact::Quality;
use isochrone_files::{InputCapture, Inputs};
use isochrone_matching::PacketSource;
use isochrone_matching::capture::{CaptureReader, VantagePoints, survey};
use isochrone_matching::extract;
use isochrone_net::{Direction, Packet, Sighting, Transport};
use isochrone_sync::{Options, SyncError, synchronize};
use isochrone_time::RawNs;
use tempfile::TempDir;

use crate::capture_bytes::{
    A, B, LITTLE, interface, option, packet, pcap, pcap_header, pcap_record, section,
};

const C: [u8; 6] = [2, 0, 0, 0, 0, 0xc];

/// A TCP segment of some payload, `hops` from its end.
fn segment(from: [u8; 6], to: [u8; 6], seq: u32, payload: usize, hops: u8) -> Vec<u8> {
    let address = |mac: [u8; 6]| [10, 0, 0, mac[5]];
    let builder = PacketBuilder::ethernet2(from, to).ipv4(address(from), address(to), hops);
    let mut frame = Vec::new();
    builder.tcp(1000, 80, seq, 512).ack(99).write(&mut frame, &vec![7; payload]).unwrap();
    // An identification of its own for every packet.
    frame[18..20].copy_from_slice(&(seq as u16).wrapping_add(1).to_be_bytes());
    frame
}

/// The same, padded as on the wire.
fn padded(from: [u8; 6], to: [u8; 6], hops: u8) -> Vec<u8> {
    let mut frame = segment(from, to, 1, 0, hops);
    frame.resize(60, 0);
    frame
}

fn file(directory: &TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn capture(path: &Path) -> InputCapture {
    InputCapture { argument: path.to_owned(), path: path.to_owned(), interface: None }
}

fn places(path: &Path) -> VantagePoints {
    survey(&[capture(path)], &|_| {}).remove(0).places
}

fn reader(path: &Path, places: &VantagePoints, clock: usize) -> CaptureReader<'static> {
    let span = survey(&[capture(path)], &|_| {})[0].span.unwrap_or_default();
    CaptureReader::open(0, &capture(path), places.clone(), clock, span, &|_| {}).unwrap()
}

/// All sightings of a file.
fn sightings(path: &Path, places: &VantagePoints) -> Vec<Sighting> {
    let mut found = Vec::new();
    let mut reader = reader(path, places, 0);
    assert_eq!(reader.read_until(RawNs::MAX, usize::MAX, &mut found), None);
    found
}

#[test]
fn frames_tell_where_they_were_captured() {
    let directory = TempDir::new().unwrap();
    let check = |content: &[u8], expect: &str| {
        let path = file(&directory, "x.pcap", content);
        assert_eq!(places(&path).to_string(), expect);
    };
    let full = |from, to| segment(from, to, 1, 100, 64);
    let frames = |frames: &[Vec<u8>]| pcap(1, frames);
    let way = "captured on the way, at a switch or a mirror port: each packet counts as received, and not as sent on";
    let either_of = |a: &str, b: &str| {
        format!(
            "captured at {a}, at {b} or between them, which the frames do not tell: each packet counts as received, and \
             not as sent"
        )
    };
    let either = &either_of("02:00:00:00:00:0a", "02:00:00:00:00:0b");
    let host = "captured on an end host, whose address is 02:00:00:00:00:0a";
    let unpadded = &format!("{host}: of the short frames only those that it sends are not padded");
    let fresh = &format!("{host}: what it sends has passed no router, and what comes from elsewhere has");
    let stated = "captured on an end host: frames say which way they pass";
    let unknown = "no frame shows where it was captured: each packet counts as received, and not as sent";
    check(&frames(&[]), "nothing was captured");
    check(&frames(&[full(A, B), full(B, A), full(C, A)]), host);
    check(&frames(&[full(A, B), full(B, C), full(C, A)]), way);
    check(&frames(&[full(A, B), full(B, A)]), either);
    check(&frames(&[full(A, [0xff; 6]), full(B, [1, 0, 0x5e, 0, 0, 1])]), unknown);
    // One frame of a hundred may be one that a switch flooded.
    let mut flooded = [full(A, B), full(C, A)].into_iter().cycle().take(99).collect::<Vec<_>>();
    flooded.push(full(B, C));
    check(&frames(&flooded), host);
    flooded.push(full(B, C));
    check(&frames(&flooded), way);
    // A host sees its own short frames before they are padded, and those of others after that.
    check(&frames(&[segment(A, B, 1, 0, 64), padded(B, A, 64)]), unpadded);
    check(&frames(&[padded(A, B, 64), padded(B, A, 64)]), either);
    check(&frames(&[padded(A, B, 64), full(B, A), full(C, A)]), way);
    // What comes by way of a router has passed one.
    check(&frames(&[full(A, B), segment(B, A, 1, 100, 57)]), fresh);
    check(
        &frames(&[
            segment(A, B, 1, 100, 128),
            segment(B, A, 1, 100, 57),
            full(B, A),
            segment(B, A, 1, 9, 58),
        ]),
        fresh,
    );
    // What comes by way of a router that counts no hops, as in clouds, comes from several addresses;
    // 10.0.0.10 is in all packets.
    let from = |last: u8, forth: bool| {
        let (own, other) = ([10, 0, 0, 10], [10, 0, 0, last]);
        let (macs, ips) = if forth { ((A, B), (own, other)) } else { ((B, A), (other, own)) };
        let mut frame = Vec::new();
        let builder = PacketBuilder::ethernet2(macs.0, macs.1).ipv4(ips.0, ips.1, 64);
        builder.udp(1, 2).write(&mut frame, &[7; 100]).unwrap();
        frame
    };
    let peers = |peers: &[u8]| {
        frames(&peers.iter().flat_map(|&peer| [from(peer, true), from(peer, false)]).collect::<Vec<_>>())
    };
    let in_all = format!(
        "{host}: 10.0.0.10 is in all packets, and what comes from elsewhere comes from 3 addresses or more"
    );
    check(&peers(&[21, 22, 23]), &in_all);
    check(&peers(&[21, 22]), either);
    // Without a link layer.
    let bare = |frames: &[Vec<u8>]| pcap(101, &frames.iter().map(|f| f[14..].to_vec()).collect::<Vec<_>>());
    check(&bare(&[full(A, B), full(C, A)]), "captured on an end host, whose address is 10.0.0.10");
    check(&bare(&[full(A, B), full(B, C), full(C, A)]), way);
    check(&bare(&[full(A, B), full(B, A)]), &either_of("10.0.0.10", "10.0.0.11"));
    // Cooked headers and flags of pcapng.
    let cooked = [&[0, 4, 0, 1, 0, 6][..], &A, &[0, 0, 8, 0], &full(A, B)[14..]].concat();
    check(&pcap(113, &[cooked]), stated);
    let flags = |flags: u32| option(LITTLE, 2, &LITTLE.u32(flags));
    let begin = |options: &[Vec<u8>]| [section(LITTLE), interface(LITTLE, 1, options)].concat();
    let out = packet(LITTLE, 0, 1, &full(A, B), &[flags(2)]);
    check(&[begin(&[]), out].concat(), stated);
    // The address of the interface.
    let plain = |from, to| packet(LITTLE, 0, 1, &full(from, to), &[]);
    let own = [option(LITTLE, 6, &A)];
    check(&[begin(&own), plain(A, B), plain(B, A)].concat(), host);
    check(&[begin(&own), plain(A, B), plain(B, C)].concat(), way);
}

#[test]
fn a_stamp_means_all_instants_that_it_can() {
    let directory = TempDir::new().unwrap();
    let records = [(1, 5, A, B), (1, 6, B, A), (2, 0, A, C)].map(|(seconds, micros, from, to)| {
        pcap_record(LITTLE, seconds, micros, &segment(from, to, micros, 100, 64), 96)
    });
    let path = file(&directory, "a.pcap", &[pcap_header(LITTLE, 0xa1b2_c3d4, 1), records.concat()].concat());
    let seen = |places: &VantagePoints| -> Vec<(Direction, i64)> {
        sightings(&path, places).iter().map(|s| (s.direction, s.time.ns())).collect()
    };
    let host = places(&path);
    let expect = [
        (Direction::Sent, 1_000_005_000),
        (Direction::Received, 1_000_007_000),
        (Direction::Sent, 2_000_000_000),
    ];
    assert_eq!(seen(&host), expect);
    // On the way, each is received; where it is inline, each is sent on after its stamp, too.
    let mut way = host.clone();
    way.say("way".parse().unwrap());
    let received = [1_000_006_000, 1_000_007_000, 2_000_001_000].map(|ns| (Direction::Received, ns));
    assert_eq!(seen(&way), received);
    way.say("inline".parse().unwrap());
    let both: Vec<_> = [1_000_005_000, 1_000_006_000, 2_000_000_000]
        .into_iter()
        .flat_map(|ns| [(Direction::Received, ns + 1000), (Direction::Sent, ns)])
        .collect();
    assert_eq!(seen(&way), both);
    // What is sent is stamped late.
    let mut late = host.clone();
    late.say("late:2us".parse().unwrap());
    let earlier = expect.map(|(way, ns)| (way, if way == Direction::Sent { ns - 2000 } else { ns }));
    assert_eq!(seen(&late), earlier);
    let raws: Vec<i64> = sightings(&path, &late).iter().map(|sighting| sighting.raw.ns()).collect();
    assert_eq!(raws, [1_000_005_000, 1_000_006_000, 2_000_000_000]);
    // The other end, by either of its addresses.
    for other in ["10.0.0.11", "02:00:00:00:00:0b", "02:00:00:00:00:0b,late:0s"] {
        let mut said = host.clone();
        said.say(other.parse().unwrap());
        let sent: Vec<_> = seen(&said).iter().map(|(direction, _)| *direction == Direction::Sent).collect();
        assert_eq!(sent, [false, true, false], "{other}");
    }
    // A reader stops at a limit and goes on.
    let mut reader = reader(&path, &host, 3);
    assert_eq!(reader.span().map(|span| span.start), Some(RawNs(1_000_005_000)));
    let mut found = Vec::new();
    for (limit, most, count, more) in [
        (0, 9, 0, true),
        (1_000_004_999, 9, 0, true),
        (1_000_005_000, 9, 1, true),
        (1_500_000_000, 9, 2, true),
        (i64::MAX, 2, 2, true),
        (i64::MAX, 9, 3, false),
    ] {
        let next = reader.read_until(RawNs(limit), most, &mut found);
        assert_eq!((next.is_some(), found.len()), (more, count), "{limit}");
    }
    assert!(found.iter().all(|sighting| sighting.clock == reader.clock() && reader.clock() == 3));
    let traffic = reader.traffic();
    assert_eq!((traffic.of(Direction::Sent).packets, traffic.of(Direction::Received).packets), (2, 1));
}

#[test]
fn what_never_leaves_the_host_is_left_out() {
    let directory = TempDir::new().unwrap();
    let check = |link_type, frame: &[u8]| {
        let path = file(&directory, "x.pcap", &pcap(link_type, &[frame.to_vec()]));
        assert_eq!(sightings(&path, &places(&path)), []);
    };
    let frame = segment(A, A, 1, 10, 64);
    check(1, &[&[0; 12][..], &frame[12..]].concat());
    check(101, &frame[14..]);
    check(113, &[&[0, 0, 3, 4, 0, 6][..], &[0; 6], &[0, 0, 8, 0], &segment(A, B, 1, 10, 64)[14..]].concat());
    // Later fragments have no transport header; ARP has no packet.
    let mut fragment = segment(A, B, 1, 100, 64);
    fragment[21] = 10;
    check(1, &fragment);
    check(1, &[&B[..], &A, &[8, 6], &[0; 28]].concat());
}

/// Two captures of an exchange: b's clock is `offset` ns ahead of a's, each packet takes 50 µs, one comes
/// every 10 ms.
fn exchange(directory: &TempDir, names: [&str; 2], offset: i64) -> [PathBuf; 2] {
    const HEAD: u64 = 1_795_154_041_000_000_000;
    let (mut of_a, mut of_b) = (pcap_header(LITTLE, 0xa1b2_3c4d, 1), pcap_header(LITTLE, 0xa1b2_3c4d, 1));
    let record = |at: i64, frame: &[u8]| {
        let at = HEAD.checked_add_signed(at).unwrap();
        pcap_record(LITTLE, (at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32, frame, 96)
    };
    for count in 0..200 {
        let at = i64::from(count) * 10_000_000;
        let (from, to, delays) = if count % 2 == 0 { (A, B, (0, 50_000)) } else { (B, A, (50_000, 0)) };
        let frame = segment(from, to, count * 100, 100, 64);
        of_a.extend(record(at + delays.0, &frame));
        of_b.extend(record(at + delays.1 + offset, &frame));
    }
    // Each talks to another host too, which shows whose capture it is.
    of_a.extend(record(3_000_000_000, &segment(A, C, 7, 100, 64)));
    of_b.extend(record(3_000_000_000 + offset, &segment(B, C, 7, 100, 64)));
    [file(directory, names[0], &of_a), file(directory, names[1], &of_b)]
}

#[test]
fn captures_of_two_hosts_are_put_on_one_clock() {
    let directory = TempDir::new().unwrap();
    let paths = exchange(&directory, ["web1.pcap", "web2.pcapng"], 123_456_789);
    let options = Options { reference: Some("web1".to_owned()), ..Options::default() };
    let mut results = Vec::new();
    for paths in [paths.clone(), [paths[1].clone(), paths[0].clone()]] {
        let outcome = synchronize(&Inputs::open(&paths), &options, &|_| {}).unwrap();
        assert!(!outcome.partial, "{outcome:?}");
        results.push(outcome.artefact.to_json().unwrap());
        let artefact = outcome.artefact;
        let clock = &artefact.clocks[1];
        assert_eq!((clock.id.as_str(), clock.host.as_str(), clock.clock_offset_ns), ("web2", "web2", 0));
        assert_eq!(clock.traces.len(), 1);
        assert_eq!(
            (Path::new(&clock.traces[0].path), clock.traces[0].offset_ns),
            (paths_of(&paths, "web2"), 0)
        );
        let link = &artefact.links[0];
        assert_eq!((link.quality, link.messages.a_to_b, link.messages.b_to_a), (Quality::Accurate, 100, 100));
        let (raw, reference) = clock.knots[0];
        assert!((raw - reference - 123_456_789).abs() < 50_000, "{raw} {reference}");
        // The packets are 50 µs apart, or a multiple of that: it could be the clocks' tick.
        assert!(
            outcome.notes.len() == 3 && outcome.notes[2].contains("in steps of 50 µs"),
            "{:?}",
            outcome.notes
        );
        assert!(outcome.notes[0].ends_with("captured on an end host, whose address is 02:00:00:00:00:0a"));
    }
    assert_eq!(results[0], results[1]);
    // A directory leads to both.
    let below = synchronize(&Inputs::open(&[directory.path().to_owned()]), &options, &|_| {}).unwrap();
    assert_eq!(below.artefact.to_json().unwrap(), results[0]);
    let vantage = vec![("web3".to_owned(), "way".parse().unwrap())];
    let wrong = synchronize(&Inputs::open(&paths), &Options { vantage, ..options }, &|_| {});
    assert!(matches!(wrong, Err(SyncError::UnknownCapture(name)) if name.0 == "web3"));
}

fn paths_of<'p>(paths: &'p [PathBuf], name: &str) -> &'p Path {
    paths.iter().find(|path| path.file_stem().unwrap() == name).unwrap()
}

#[test]
fn a_capture_beside_a_trace_of_its_host_is_another_clock() {
    let directory = TempDir::new().unwrap();
    let paths = exchange(&directory, ["h1.pcap", "other.pcap"], 0);
    let shop = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop").join(name);
    let inputs = Inputs::open(&[paths[0].clone(), paths[1].clone(), shop("client"), shop("app")]);
    let outcome = synchronize(&inputs, &Options::default(), &|_| {}).unwrap();
    let clocks: Vec<_> =
        outcome.artefact.clocks.iter().map(|c| (c.host.as_str(), c.clock_offset_ns == 0)).collect();
    assert_eq!(clocks, [("h1", false), ("h1#2", true), ("h2", false), ("other", true)]);
    assert_eq!(
        (outcome.artefact.clocks[1].id.as_str(), &outcome.artefact.clocks[1].hostnames[..]),
        ("h1#2", &["h1".to_owned()][..])
    );
    let note = "is treated as a clock of its own, called h1#2, beside the one called h1";
    assert!(outcome.notes.iter().any(|shown| shown.contains(note)), "{:?}", outcome.notes);
}

#[test]
fn what_is_no_capture_is_refused() {
    let directory = TempDir::new().unwrap();
    let good = exchange(&directory, ["a.pcap", "b.pcap"], 0);
    let bad = file(&directory, "text.pcap", b"text");
    let packed = file(&directory, "x.pcap.bz2", b"BZh91AY");
    let empty = file(&directory, "empty.pcap", &pcap(1, &[]));
    let inputs = Inputs::open(&[good[0].clone(), good[1].clone(), bad, packed, empty, good[0].clone()]);
    let why: Vec<_> = inputs.refused.iter().map(|refused| refused.why.as_str()).collect();
    assert_eq!(
        why,
        [
            "neither a trace (a directory with a file `metadata`), nor a recording of trace-cmd or perf, \
             nor a packet capture (pcap, pcapng)",
            "it is compressed with bzip2: unpack it first"
        ]
    );
    assert_eq!((inputs.captures.len(), inputs.notes.len()), (3, 1));
    let outcome = synchronize(&inputs, &Options::default(), &|_| {}).unwrap();
    assert_eq!(outcome.artefact.clocks.len(), 2);
    assert_eq!(outcome.refused[0].why, "it holds no packets with times");
    assert!(outcome.partial);
}

#[test]
fn compressed_captures_are_the_same() {
    let directory = TempDir::new().unwrap();
    let plain = exchange(&directory, ["h1.pcap", "h2.pcap"], 0);
    let packed: Vec<PathBuf> = plain
        .iter()
        .map(|path| {
            let bytes = zstd::encode_all(std::fs::File::open(path).unwrap(), 1).unwrap();
            let name = format!("{}.zst", path.file_name().unwrap().to_str().unwrap());
            file(&directory, &name, &bytes)
        })
        .collect();
    let clocks = |paths: &[PathBuf]| {
        let outcome = synchronize(&Inputs::open(paths), &Options::default(), &|_| {}).unwrap();
        assert!(!outcome.partial, "{:?}", outcome.artefact.refused);
        serde_json::to_string(&outcome.artefact.clocks).unwrap().replace(".pcap.zst", ".pcap")
    };
    assert_eq!(clocks(&packed), clocks(&plain));
}

/// Where the public scenarios are.
fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/vm")
}

/// Of a real cluster, the switch saw what the hosts sent and received, packet by packet – but for super
/// segments, which devices cut up (`ipv6_2`), and for what got lost (`lossy2`).
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_switch_sees_the_packets_of_its_hosts() {
    let shared = shared();
    let directory = TempDir::new().unwrap();
    for (scenario, hosts, least_percent) in [
        ("chain3", 3, 99),
        ("web2", 2, 99),
        ("ping5", 5, 99),
        ("ipv6_2", 2, 70),
        ("hog2", 2, 99),
        ("lossy2", 2, 85),
    ] {
        let packed = std::fs::File::open(shared.join(scenario).join("switch.pcap.zst")).unwrap();
        let path = file(&directory, "switch.pcap", &zstd::decode_all(packed).unwrap());
        let mut way = places(&path);
        way.say("inline".parse().unwrap());
        let switch = sightings(&path, &way);
        assert!(switch.is_sorted_by_key(|sighting| sighting.time), "{scenario}");
        let passed: HashSet<&Packet> = switch.iter().map(|sighting| &sighting.packet).collect();
        for host in 1..=hosts {
            let inputs = Inputs::open(&[shared.join(scenario).join(format!("h{host}"))]);
            let traces: Vec<_> = inputs.traces.iter().map(|input| (&input.trace, 0)).collect();
            let traced = extract(&traces, &|_| {}).sightings;
            for direction in [Direction::Sent, Direction::Received] {
                let tcp = |s: &&Sighting| {
                    s.direction == direction && matches!(s.packet.transport, Transport::Tcp(_))
                };
                let of_host: Vec<_> = traced.iter().filter(tcp).collect();
                let seen = of_host.iter().filter(|sighting| passed.contains(&sighting.packet)).count();
                assert!(
                    !of_host.is_empty() && seen * 100 >= of_host.len() * least_percent,
                    "{scenario}, h{host}, {direction:?}: {seen} of {}",
                    of_host.len()
                );
            }
        }
    }
}
