//! Two hosts with equal clocks, captured at each: whatever is lost, doubled, translated, stamped late or copied by a switch, the truth, which is 0, lies within the
//! bounds, and what can be matched is.

use std::path::PathBuf;

use etherparse::PacketBuilder;
use isochrone_corrections::artefact::{LinkEntry, Quality};
use isochrone_files::Inputs;
use isochrone_sync::{Options, Outcome, synchronize};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::capture_bytes::{A, B, LITTLE, interface, option, packet, pcap_header, pcap_record, section};

/// The address of a router.
const R: [u8; 6] = [2, 0, 0, 0, 0, 0xf];
const US: i64 = 1000;
const MS: i64 = 1_000_000;
const BEGIN: i64 = 1_795_154_041_000_000_000;

/// A packet on its way.
#[derive(Debug, Clone)]
struct Sent {
    from_a: bool,
    /// When it leaves, and when it arrives if it does, ns.
    left: i64,
    arrived: Option<i64>,
    tcp: bool,
    /// Sequence and acknowledgement numbers.
    numbers: (u32, u32),
    payload: Vec<u8>,
    id: u16,
}

/// How packets look at a host.
#[derive(Debug, Clone, Copy)]
struct Look {
    macs: ([u8; 6], [u8; 6]),
    /// Of a, which a translator may have changed.
    address: [u8; 4],
    port: u16,
}

const DIRECT: Look = Look { macs: (A, B), address: [10, 0, 0, 0xa], port: 40_000 };

impl Sent {
    fn frame(&self, look: Look) -> Vec<u8> {
        let (ours, theirs) = ((look.address, look.port), ([10, 0, 0, 0xb], 80));
        let (macs, source, destination) = match self.from_a {
            true => (look.macs, ours, theirs),
            false => ((look.macs.1, look.macs.0), theirs, ours),
        };
        let builder = PacketBuilder::ethernet2(macs.0, macs.1).ipv4(source.0, destination.0, 64);
        let mut frame = Vec::new();
        if self.tcp {
            let segment = builder.tcp(source.1, destination.1, self.numbers.0, 512).ack(self.numbers.1);
            segment.write(&mut frame, &self.payload).unwrap();
        } else {
            builder.udp(source.1, destination.1).write(&mut frame, &self.payload).unwrap();
        }
        frame[18..20].copy_from_slice(&self.id.to_be_bytes());
        frame
    }
}

/// Requests and answers, each acknowledged: `delays` there and back in turn.
fn exchange(count: u32, delays: impl Fn(u32) -> (i64, i64)) -> Vec<Sent> {
    let (mut packets, mut seq, mut ack) = (Vec::new(), 1000, 5000);
    for round in 0..count {
        let (there, back) = delays(round);
        let begin = i64::from(round) * 20 * MS;
        let mut send = |from_a: bool, left: i64, payload: u32| {
            let arrived = left + if from_a { there } else { back };
            let numbers = if from_a { (seq, ack) } else { (ack, seq) };
            let id = packets.len() as u16 + 1;
            *(if from_a { &mut seq } else { &mut ack }) += payload;
            let payload = vec![7; payload as usize];
            packets.push(Sent { from_a, left, arrived: Some(arrived), tcp: true, numbers, payload, id });
            arrived
        };
        let request = send(true, begin, 40);
        let answer = send(false, request + 20 * US, 100 + round % 7);
        send(true, answer + 10 * US, 0);
    }
    packets
}

/// Frames with their times as a file.
fn file(directory: &TempDir, name: &str, mut frames: Vec<(i64, Vec<u8>)>) -> PathBuf {
    frames.sort();
    let record = |(at, frame): &(i64, Vec<u8>)| {
        let at = at + BEGIN;
        pcap_record(LITTLE, (at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32, frame, 96)
    };
    let records: Vec<Vec<u8>> = frames.iter().map(record).collect();
    let path = directory.path().join(name);
    std::fs::write(&path, [pcap_header(LITTLE, 0xa1b2_3c4d, 1), records.concat()].concat()).unwrap();
    path
}

/// What a host sees: what it sends, and what arrives.
fn seen(packets: &[Sent], is_a: bool, look: Look, clock: i64) -> Vec<(i64, Vec<u8>)> {
    let at = |packet: &Sent| if packet.from_a == is_a { Some(packet.left) } else { packet.arrived };
    packets.iter().filter_map(|packet| Some((at(packet)? + clock, packet.frame(look)))).collect()
}

fn run(paths: &[PathBuf], captured: &[(&str, &str)]) -> Outcome {
    let vantage = captured.iter().map(|(name, place)| ((*name).to_owned(), place.parse().unwrap())).collect();
    let options = Options { reference: Some("a".to_owned()), vantage, ..Options::default() };
    synchronize(&Inputs::open(paths), &options, &|_| {}).unwrap()
}

fn link<'o>(outcome: &'o Outcome, a: &str, b: &str) -> Option<&'o LinkEntry> {
    outcome.artefact.links.iter().find(|link| (link.a.as_str(), link.b.as_str()) == (a, b))
}

/// Whether the clock of b less that of a can be `offset` at all instants that bounds are given for.
fn holds(outcome: &Outcome, offset: i64) -> bool {
    let rows = link(outcome, "a", "b").into_iter().flat_map(|link| &link.interval);
    let of_b = outcome.artefact.clocks.iter().filter(|clock| clock.host == "b" && clock.island == 0);
    let is_tied = outcome
        .artefact
        .islands
        .iter()
        .any(|island| island.hosts.contains(&"a".to_owned()) && island.hosts.contains(&"b".to_owned()));
    let backwards = of_b.flat_map(|clock| &clock.interval).filter(|_| is_tied);
    rows.map(|row| (row.0 + offset, row))
        .chain(backwards.map(|row| (row.0 - offset, row)))
        .all(|(truth, row)| (row.1..=row.2).contains(&truth))
}

#[test]
fn captures_of_two_hosts_that_only_talk_to_each_other_show_by_themselves_where_they_were_taken() {
    let packets = exchange(50, |round| (100 * US + i64::from(round % 9) * 10 * US, 300 * US));
    let behind_router =
        |own: [u8; 6], is_a: bool| Look { macs: if is_a { (own, R) } else { (R, own) }, ..DIRECT };
    let translated = Look { address: [203, 0, 113, 9], port: 61_234, ..DIRECT };
    for (of_a, of_b) in
        [(DIRECT, DIRECT), (behind_router(A, true), behind_router(B, false)), (DIRECT, translated)]
    {
        let directory = TempDir::new().unwrap();
        let paths = [
            file(&directory, "a.pcap", seen(&packets, true, of_a, 0)),
            file(&directory, "b.pcap", seen(&packets, false, of_b, -3_000 * MS)),
        ];
        let outcome = run(&paths, &[]);
        assert!(!outcome.partial, "{:?}", outcome.notes);
        let found = link(&outcome, "a", "b").unwrap();
        assert_eq!((found.messages.a_to_b, found.messages.b_to_a), (100, 50), "{found:?}");
        assert!(holds(&outcome, -3_000 * MS));
        for (note, own) in outcome.notes.iter().zip([of_a.macs.0, of_b.macs.1]) {
            let last = format!("address is 02:00:00:00:00:{:02x}: 150 packets are in ", own[5]);
            assert!(note.contains(&last), "{note}");
        }
        for clock in &outcome.artefact.clocks {
            let captured = clock.traces[0].captured.as_ref().unwrap();
            assert_eq!((captured.late_ns, captured.inline), (0, false));
            assert_eq!(captured.sent, if clock.host == "a" { 100 } else { 50 });
        }
    }
}

/// Why there are no messages, and what to say.
#[test]
fn what_is_shared_and_not_matched_is_explained() {
    let check = |of_b: fn(&Sent) -> bool, captured: &[(&str, &str)], expect: &str| {
        let directory = TempDir::new().unwrap();
        let packets: Vec<Sent> = exchange(50, |_| (100 * US, 300 * US)).into_iter().filter(of_b).collect();
        let paths = [
            file(&directory, "a.pcap", seen(&packets, true, DIRECT, 0)),
            file(&directory, "b.pcap", seen(&packets, false, DIRECT, 0)),
        ];
        let outcome = run(&paths, captured);
        let found = link(&outcome, "a", "b").unwrap();
        assert_eq!(found.quality, Quality::Absent);
        assert_eq!(found.why.as_deref().unwrap_or_default(), expect);
    };
    // All go one way: nothing shows who sees them first.
    check(
        |packet| packet.from_a,
        &[],
        "100 packets are in both a and b, but it is not known which of the two was first; say where they were taken: \
         --captured a=02:00:00:00:00:0a --captured b=02:00:00:00:00:0b, or the other way round: \
         --captured a=02:00:00:00:00:0b --captured b=02:00:00:00:00:0a",
    );
    check(
        |packet| packet.from_a,
        &[("b", "way")],
        "100 packets are in both a and b, but it is not known which of the two was first; say where they were taken: \
         --captured a=02:00:00:00:00:0a, or the other way round: --captured a=02:00:00:00:00:0b",
    );
    check(
        |_| true,
        &[("a", "way"), ("b", "way")],
        "150 packets are in both a and b, but of frames that were captured on the way it is only proven that they were \
         received; --captured a=inline or --captured b=inline, where it is an inline tap or a software bridge, says that \
         it sent them on after their stamps",
    );
    check(
        |_| true,
        &[("a", "inline"), ("b", "inline")],
        "150 packets are in both a and b, and each of the two passed on what is in both, so that it is not known which of them was \
         first",
    );
    check(
        |packet| packet.from_a,
        &[("a", "02:00:00:00:00:0a"), ("b", "02:00:00:00:00:0a")],
        "100 packets are in both a and b, and each of the two says that it sent what is in both: they were taken at one host, \
         or it is wrong where one of them was taken, which --captured corrects",
    );
}

#[test]
fn a_mirror_that_copies_late_proves_that_packets_were_received() {
    let directory = TempDir::new().unwrap();
    let packets = exchange(50, |_| (100 * US, 550 * US));
    let copy = |(number, packet): (usize, &Sent)| {
        (packet.left + 50 * US + (number as i64 * 77 % 301) * US, packet.frame(DIRECT))
    };
    let paths = [
        file(&directory, "a.pcap", seen(&packets, true, DIRECT, 0)),
        file(&directory, "b.pcap", seen(&packets, false, DIRECT, 0)),
        file(&directory, "mirror.pcap", packets.iter().enumerate().map(copy).collect()),
    ];
    let hosts = [("a", "02:00:00:00:00:0a"), ("b", "02:00:00:00:00:0b")];
    for said in [&hosts[..], &[hosts[0], hosts[1], ("mirror", "way")]] {
        let outcome = run(&paths, said);
        assert!(holds(&outcome, 0));
        for (a, b, counts) in [("a", "b", (100, 50)), ("a", "mirror", (100, 0)), ("b", "mirror", (50, 0))] {
            let messages = link(&outcome, a, b).unwrap().messages;
            assert_eq!((messages.a_to_b, messages.b_to_a), counts, "{a} {b}");
        }
        assert!(
            outcome.notes.iter().any(|note| note.contains("--captured mirror=inline")) == (said.len() == 2)
        );
    }
}

#[test]
fn sent_frames_that_are_stamped_late_are_taken_for_earlier() {
    let directory = TempDir::new().unwrap();
    let packets = exchange(100, |_| (100 * US, 500 * US));
    let late = |(number, (at, frame)): (usize, (i64, Vec<u8>))| {
        let by = if frame[6..12] == A { (number as i64 * 77 % 300) * US } else { 0 };
        (at + by, frame)
    };
    let stamped_late = seen(&packets, true, DIRECT, 0).into_iter().enumerate().map(late).collect();
    let paths = [
        file(&directory, "a.pcap", stamped_late),
        file(&directory, "b.pcap", seen(&packets, false, DIRECT, 0)),
    ];
    let b = ("b", "02:00:00:00:00:0b");
    assert!(!holds(&run(&paths, &[("a", "02:00:00:00:00:0a"), b]), 0));
    let outcome = run(&paths, &[("a", "02:00:00:00:00:0a,late:300us"), b]);
    assert!(holds(&outcome, 0) && !outcome.partial);
    let captured = outcome.artefact.clocks[0].traces[0].captured.clone().unwrap();
    assert_eq!((captured.late_ns, captured.sent), (300 * US, 200));
}

#[test]
fn a_merged_capture_is_split_by_its_interfaces() {
    let directory = TempDir::new().unwrap();
    let packets = exchange(50, |_| (100 * US, 300 * US));
    let behind = -1230 * MS;
    let of = |is_a: bool, clock: i64| {
        seen(&packets, is_a, DIRECT, clock).into_iter().map(move |(at, frame)| (at, u32::from(!is_a), frame))
    };
    let mut frames: Vec<_> = of(true, 0).chain(of(false, behind)).collect();
    frames.sort();
    let ns = || interface(LITTLE, 1, &[option(LITTLE, 9, &[9])]);
    let blocks = frames.iter().map(|(at, of, frame)| packet(LITTLE, *of, (at + BEGIN) as u64, frame, &[]));
    let path = directory.path().join("merged.pcapng");
    std::fs::write(&path, [section(LITTLE), ns(), ns(), blocks.collect::<Vec<_>>().concat()].concat())
        .unwrap();
    let mut inputs = Inputs::open(&[path]);
    let outcome = synchronize(&inputs, &Options::default(), &|_| {}).unwrap();
    let told = "most packets are there twice, about 1230 ms apart: if captures of several machines were merged, \
                --per-interface merged makes a clock of each of its 2 interfaces";
    assert!(outcome.notes.iter().any(|note| note.ends_with(told)), "{:?}", outcome.notes);
    let silent = outcome.notes.iter().any(|note| note.starts_with("all traces are of one clock"));
    assert!(!silent && outcome.artefact.links.is_empty());
    inputs.split(&["merged".to_owned()]).unwrap();
    assert!(inputs.split(&["merged".to_owned()]).is_err());
    let outcome = synchronize(&inputs, &Options::default(), &|_| {}).unwrap();
    let found = link(&outcome, "merged:0", "merged:1").unwrap();
    assert_eq!((found.messages.a_to_b, found.messages.b_to_a), (100, 50), "{:?}", outcome.notes);
    assert!(found.interval.iter().all(|row| (row.1..=row.2).contains(&(row.0 + behind))));
}

/// A step of a conversation: who sends, how long it takes (µs; not at all), the pause before (µs), what it carries, and its protocol.
type Step = (bool, Option<i64>, i64, u8, bool);

fn conversation(steps: &[Step], ids: u8) -> Vec<Sent> {
    let (mut now, mut seq) = (0, [1000_u32, 5000]);
    let mut packets: Vec<Sent> = Vec::new();
    for (number, &(from_a, delay, pause, content, tcp)) in steps.iter().enumerate() {
        now += pause * US;
        let own = usize::from(!from_a);
        let payload = vec![content; usize::from(content % 5) * 9 + usize::from(!tcp)];
        let id = match ids {
            0 => number as u16 + 1,
            1 => 0x4d2,
            2 => 0,
            _ => [0x4d2, number as u16 + 1][number % 2],
        };
        let numbers = (seq[own], seq[1 - own]);
        let arrived = delay.map(|delay| now + delay * US);
        packets.push(Sent { from_a, left: now, arrived, tcp, numbers, payload, id });
        if tcp {
            seq[own] += packets[number].payload.len() as u32;
        }
    }
    packets
}

proptest! {
    /// Nothing of all that puts the truth outside of the bounds, and where identifications tell packets apart, all that arrive are matched.
    #[test]
    fn the_truth_is_always_inside(
        steps in prop::collection::vec(
            (any::<bool>(), prop::option::weighted(0.9, 20i64..2000), 1i64..4000, 0u8..12, prop::bool::weighted(0.7)),
            20..120,
        ),
        ids in 0u8..4,
        nat in any::<bool>(),
        doubled in 0u8..3,
        late in prop::option::of(1i64..300),
        mirror in any::<bool>(),
        seed in 1i64..1000,
    ) {
        let packets = conversation(&steps, ids);
        let of_b = if nat { Look { address: [203, 0, 113, 9], port: 61_234, ..DIRECT } } else { DIRECT };
        let directory = TempDir::new().unwrap();
        let mut at_a = seen(&packets, true, DIRECT, 0);
        let mut at_b = seen(&packets, false, of_b, 0);
        let sent = at_a.iter_mut().filter(|(_, frame)| frame[6..12] == A);
        for (number, (at, _)) in sent.enumerate() {
            *at += late.map_or(0, |late| (number as i64 * seed) % (late + 1)) * US;
        }
        match doubled {
            1 => at_a.extend(at_a.clone().into_iter().map(|(at, frame)| (at + 2 * US, frame))),
            2 => at_b.extend(at_b.clone().into_iter().map(|(at, frame)| (at + 2 * US, frame))),
            _ => {}
        }
        let copies = packets.iter().enumerate().map(|(number, packet)| {
            (packet.left + 10 * US + (number as i64 * seed) % 301 * US, packet.frame(DIRECT))
        });
        let mut paths = vec![file(&directory, "a.pcap", at_a), file(&directory, "b.pcap", at_b)];
        if mirror {
            paths.push(file(&directory, "mirror.pcap", copies.collect()));
        }
        let own = format!("02:00:00:00:00:0a,late:{}us", late.unwrap_or_default());
        let outcome = run(&paths, &[("a", &own[..]), ("b", "02:00:00:00:00:0b"), ("mirror", "way")][..2 + usize::from(mirror)]);
        prop_assert!(holds(&outcome, 0), "{:?}\n{:?}", outcome.notes, link(&outcome, "a", "b"));
        let refused = outcome.artefact.refused.iter().map(|refused| refused.why.clone()).collect::<Vec<_>>();
        prop_assert!(refused.is_empty(), "{refused:?}");
        let suspects = outcome.artefact.suspects.len();
        prop_assert_eq!(suspects, 0);
        // Each that arrives is one message; of those whose addresses were changed on the way, the segments.
        if ids == 0 && doubled == 0 && !(nat && mirror) {
            let is_matched = |packet: &&Sent| packet.arrived.is_some() && (packet.tcp || !nat);
            let arrived = |from_a: bool| {
                packets.iter().filter(is_matched).filter(|packet| packet.from_a == from_a).count() as u64
            };
            let found = link(&outcome, "a", "b").map(|link| (link.messages.a_to_b, link.messages.b_to_a));
            prop_assert_eq!(found.unwrap_or_default(), (arrived(true), arrived(false)));
        }
    }
}
