//! What single captures hold: tunnels, frames that were cut, addresses that were removed, stamps of two clocks, dates beyond all clocks. Each is read right, or
//! said, and costs only itself.

use std::path::{Path, PathBuf};

use etherparse::{IpNumber, PacketBuilder};
use isochrone_files::Inputs;
use isochrone_net::Direction;
use isochrone_sync::{Matching, Options, Outcome, match_only, synchronize};
use tempfile::TempDir;

use crate::capture_bytes::{A, B, LITTLE, pcap_header, pcap_record};

const C: [u8; 6] = [2, 0, 0, 0, 0, 0xc];
const SECOND: i64 = 1_000_000_000;

/// A frame that is written for a host: when it was stamped, what it is, and how much of it is there.
type Written = (i64, Vec<u8>, usize);

/// A request or an answer of a TCP connection: each acknowledges what came before. With an identification of its own.
fn segment(from: [u8; 6], to: [u8; 6], number: u32) -> Vec<u8> {
    let address = |mac: [u8; 6]| [10, 0, 0, mac[5]];
    let port = |mac: [u8; 6]| if mac == A { 1000 } else { 80 };
    let builder = PacketBuilder::ethernet2(from, to).ipv4(address(from), address(to), 64);
    let mut frame = Vec::new();
    // Both directions count alike: the answer of a number comes before the request of the next one.
    let (seq, ack) = if from == A {
        (number / 2 * 100, number / 2 * 100)
    } else {
        (number / 2 * 100, number / 2 * 100 + 100)
    };
    builder.tcp(port(from), port(to), seq, 512).ack(ack).write(&mut frame, &[7; 100]).unwrap();
    frame[18..20].copy_from_slice(&(number as u16 + 1).to_be_bytes());
    sum(&mut frame[14..34]);
    frame
}

/// Sets the sum of an IPv4 header.
fn sum(header: &mut [u8]) {
    header[10..12].fill(0);
    let sum: u32 = header.chunks_exact(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// Two captures of 100 requests and 100 answers, one each 10 ms; packets take 50 µs, and both clocks are one. Each host talks to a third one, too, which shows
/// whose capture it is. `written`: what becomes of a frame in the capture of the first or second host, which it was sent from or not.
fn exchange(directory: &TempDir, written: &dyn Fn(usize, bool, Written) -> Written) -> [PathBuf; 2] {
    const BEGIN: i64 = 1_795_154_041 * SECOND;
    let mut files = [(); 2].map(|()| pcap_header(LITTLE, 0xa1b2_3c4d, 1));
    let mut write = |host: usize, is_sent: bool, at: i64, frame: Vec<u8>| {
        let (at, frame, captured) = written(host, is_sent, (BEGIN + at, frame, usize::MAX));
        let (seconds, ns) = ((at / SECOND) as u32, (at % SECOND) as u32);
        files[host].extend(pcap_record(LITTLE, seconds, ns, &frame, captured));
    };
    for number in 0..200 {
        let (from, to, sender) = if number % 2 == 0 { (A, B, 0) } else { (B, A, 1) };
        let at = i64::from(number) * 10_000_000;
        write(sender, true, at, segment(from, to, number));
        write(1 - sender, false, at + 50_000, segment(from, to, number));
    }
    for (host, from) in [A, B].into_iter().enumerate() {
        write(host, true, 3 * SECOND, segment(from, C, 1));
    }
    let paths = ["a.pcap", "b.pcap"].map(|name| directory.path().join(name));
    paths.iter().zip(files).for_each(|(path, file)| std::fs::write(path, file).unwrap());
    paths
}

fn captured(by: [&str; 2]) -> Options {
    let vantage = ["a", "b"].into_iter().zip(by).map(|(name, by)| (name.to_owned(), by.parse().unwrap()));
    Options { vantage: vantage.collect(), ..Options::default() }
}

fn run(paths: &[PathBuf], options: &Options) -> Outcome {
    synchronize(&Inputs::open(paths), options, &|_| {}).unwrap()
}

fn matched(paths: &[PathBuf], options: &Options) -> Matching {
    match_only(&Inputs::open(paths), options, &|_| {}, &mut |_| {}).unwrap()
}

/// Messages of the only link, both ways; nothing where there is none.
fn messages(outcome: &Outcome) -> (u64, u64) {
    let counts = outcome.artefact.links.first().map(|link| link.messages);
    counts.map_or((0, 0), |counts| (counts.a_to_b, counts.b_to_a))
}

/// An IP packet of 172.16.0.1 for 172.16.0.2, around something.
fn over(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv4([172, 16, 0, 1], [172, 16, 0, 2], 61);
    builder.write(&mut packet, IpNumber(protocol), payload).unwrap();
    packet
}

/// A frame around the packet of another one.
fn wrapped(frame: &[u8], kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
    [&frame[..12], &kind, payload].concat()
}

#[test]
fn a_packet_is_the_same_in_a_tunnel_and_without_it() {
    type Wrap = fn(&[u8]) -> Vec<u8>;
    let plain: Wrap = <[u8]>::to_vec;
    let gre: Wrap = |frame| wrapped(frame, [8, 0], &over(47, &[&[0, 0, 8, 0], &frame[14..]].concat()));
    let ip: Wrap = |frame| wrapped(frame, [8, 0], &over(4, &frame[14..]));
    let pppoe: Wrap = |frame| {
        let length = (frame.len() as u16 - 12).to_be_bytes();
        wrapped(frame, [0x88, 0x64], &[&[0x11, 0, 0, 5][..], &length, &[0, 0x21], &frame[14..]].concat())
    };
    let mpls: Wrap =
        |frame| wrapped(frame, [0x88, 0x47], &[&[0, 1, 0, 64, 0, 2, 1, 64], &frame[14..]].concat());
    let vxlan: Wrap = |frame| {
        let length = (frame.len() as u16 + 16).to_be_bytes();
        let datagram = [&[200, 9, 0x12, 0xb5][..], &length, &[0, 0, 8, 0, 0, 0, 0, 0, 42, 0], frame].concat();
        wrapped(frame, [8, 0], &over(17, &datagram))
    };
    let directory = TempDir::new().unwrap();
    for (name, wrap) in [("gre", gre), ("ip", ip), ("pppoe", pppoe), ("mpls", mpls), ("vxlan", vxlan)] {
        for [first, second] in [[wrap, wrap], [plain, wrap], [wrap, plain]] {
            let paths = exchange(&directory, &|host, _, (at, frame, captured)| {
                (at, if host == 0 { first(&frame) } else { second(&frame) }, captured)
            });
            let outcome = run(&paths, &captured(["02:00:00:00:00:0a", "02:00:00:00:00:0b"]));
            assert_eq!(messages(&outcome), (100, 100), "{name}: {:?}", outcome.notes);
            assert!(!outcome.partial, "{name}");
            // By the addresses inside as well.
            let inside = run(&paths, &captured(["10.0.0.10", "10.0.0.11"]));
            assert_eq!(messages(&inside), (100, 100), "{name}");
            let counts = &outcome.artefact.links[0].messages;
            assert_eq!((counts.ambiguous, counts.translated, counts.offloaded), (0, 0, 0), "{name}");
        }
    }
}

/// A host that hands on a copy of what it sends, in a tunnel and later than the packet arrives.
#[test]
fn a_copy_in_a_tunnel_is_no_later_departure() {
    let directory = TempDir::new().unwrap();
    let paths = exchange(&directory, &|_, _, frame| frame);
    let file = std::fs::read(&paths[0]).unwrap();
    let (mut new, mut rest) = (file[..24].to_vec(), &file[24..]);
    while let Some((head, after)) = rest.split_at_checked(16) {
        let word = |at: usize| u32::from_le_bytes(*head[at..].first_chunk().unwrap());
        let (frame, after) = after.split_at(word(8) as usize);
        new.extend([head, frame].concat());
        if frame[6..12] == A {
            let copy = over(47, &[&[0, 0, 0x65, 0x58], frame].concat());
            let copy = wrapped(frame, [8, 0], &copy);
            new.extend(pcap_record(LITTLE, word(0), word(4) + 1_000_000, &copy, usize::MAX));
        }
        rest = after;
    }
    std::fs::write(&paths[0], new).unwrap();
    let outcome = run(&paths, &captured(["02:00:00:00:00:0a", "02:00:00:00:00:0b"]));
    assert_eq!(messages(&outcome), (100, 100));
    let (lo, hi) = outcome.artefact.links[0].offset_at_middle_ns;
    assert!(lo.unwrap() <= 0 && hi.unwrap() >= 0, "{lo:?} {hi:?}");
}

#[test]
fn what_cannot_be_looked_into_is_counted_by_name() {
    let directory = TempDir::new().unwrap();
    let options = captured(["way", "02:00:00:00:00:0b"]);
    let check = |written: &dyn Fn(Written) -> Written, other: u64, bare: u64, why: &str| {
        let paths = exchange(&directory, &|_, _, frame| written(frame));
        let outcome = run(&paths, &options);
        assert_eq!(messages(&outcome), (0, 0));
        let refused: Vec<_> = outcome.artefact.refused.iter().map(|refused| refused.why.as_str()).collect();
        assert_eq!(refused, [why; 2]);
        let found = matched(&paths, &options);
        for traffic in &found.traffic {
            let [sent, received] = [Direction::Sent, Direction::Received].map(|way| traffic.of(way));
            assert_eq!((sent.packets, received.packets), (0, 0));
            assert_eq!((sent.other + received.other, sent.bare + received.bare), (other, bare), "{why}");
        }
    };
    let of = "none of its 201 packets can be matched";
    check(
        &|(at, frame, captured)| (at, wrapped(&frame, [8, 0], &over(50, &frame[14..])), captured),
        201,
        0,
        &format!("{of} (only TCP, UDP and ICMP echoes are): 201 ESP"),
    );
    check(
        &|(at, frame, captured)| (at, wrapped(&frame, [0x88, 0xe5], &frame[14..]), captured),
        201,
        0,
        &format!("{of} (only TCP, UDP and ICMP echoes are): 201 MACsec"),
    );
    check(
        &|(at, frame, _)| (at, frame, 40),
        0,
        201,
        &format!(
            "{of}: all 201 packets hold only 40 bytes of each frame, less than their headers: record with -s 96"
        ),
    );
}

#[test]
fn few_frames_of_others_are_named_where_packets_are_counted() {
    let directory = TempDir::new().unwrap();
    let paths = exchange(&directory, &|host, is_sent, (at, frame, captured)| match frame[5] {
        0xc if host == 0 && is_sent => (at, wrapped(&frame, [8, 0], &over(132, &frame[14..])), captured),
        _ => (at, frame, captured),
    });
    let options = captured(["02:00:00:00:00:0a", "02:00:00:00:00:0b"]);
    let named = "a.pcap: not matched (only TCP, UDP and ICMP echoes are): 1 SCTP";
    let is_named = |notes: &[String]| notes.iter().any(|note| note.ends_with(named));
    assert!(is_named(&matched(&paths, &options).notes));
    let outcome = run(&paths, &options);
    assert!(!is_named(&outcome.notes) && messages(&outcome) == (100, 100), "{:?}", outcome.notes);
}

#[test]
fn frames_whose_addresses_were_removed_are_used_where_an_ip_address_says_whose_they_are() {
    let directory = TempDir::new().unwrap();
    let paths = exchange(&directory, &|_, _, (at, frame, captured)| {
        (at, [&[0; 12], &frame[12..]].concat(), captured)
    });
    let outcome = run(&paths, &Options::default());
    let why = "none of its 201 packets can be matched: all 201 frames are of the loopback device (both addresses are zero) and are left out";
    assert!(outcome.refused.iter().all(|refused| refused.why.starts_with(why)), "{:?}", outcome.refused);
    assert_eq!((outcome.refused.len(), messages(&outcome)), (2, (0, 0)));
    let outcome = run(&paths, &captured(["10.0.0.10", "10.0.0.11"]));
    assert_eq!((messages(&outcome), outcome.partial), ((100, 100), false));
}

#[test]
fn stamps_of_two_clocks_are_found_by_answers() {
    let directory = TempDir::new().unwrap();
    // By how much what is sent and what is received is stamped late.
    let check = |sent: i64, received: i64, expect: Option<&str>| {
        let paths = exchange(&directory, &|host, is_sent, (at, frame, captured)| {
            let late = if is_sent { sent } else { received };
            (at + if host == 0 { late } else { 0 }, frame, captured)
        });
        let found = matched(&paths, &captured(["02:00:00:00:00:0a", "02:00:00:00:00:0b"]));
        let why: Vec<_> = found.refused.iter().map(|refused| refused.why.as_str()).collect();
        match expect {
            Some(apart) => {
                let begin = format!("frames of its two directions were stamped by two clocks, {apart}");
                assert!(why.len() == 1 && why[0].starts_with(&begin), "{why:?}");
            }
            None => assert_eq!(why, [""; 0]),
        }
    };
    check(37 * SECOND, 0, Some("37.0 s apart: Atomic Time, of hardware, beside UTC"));
    check(0, 37 * SECOND, Some("37.0 s apart: Atomic Time, of hardware, beside UTC"));
    check(0, 3 * SECOND, Some("3.0 s apart; "));
    // A clock that is late as a whole, and stamps that are a little late.
    check(37 * SECOND, 37 * SECOND, None);
    check(300_000, 0, None);
}

#[test]
fn a_packet_beyond_all_clocks_costs_only_itself() {
    const IN_2061: i64 = 2_894_531_997 * SECOND;
    let directory = TempDir::new().unwrap();
    let options = captured(["02:00:00:00:00:0a", "02:00:00:00:00:0b"]);
    let paths = exchange(&directory, &|host, is_sent, (at, frame, captured)| {
        let is_far = host == 0 && is_sent && frame[18..20] == [0, 51];
        (if is_far { IN_2061 } else { at }, frame, captured)
    });
    let outcome = run(&paths, &options);
    assert_eq!((messages(&outcome), outcome.partial), ((99, 100), true));
    let told: Vec<_> = outcome.captures[0].diagnostics.iter().map(ToString::to_string).collect();
    let expect = "a.pcap: packet 50, byte 8524: this packet is left out of the synchronization: dated 2061-09-21, beyond 2043-01-25";
    assert!(told.len() == 1 && told[0].contains(expect), "{told:?}");
    // A capture that is dated so as a whole.
    let paths = exchange(&directory, &|host, _, (at, frame, captured)| {
        (at + if host == 0 { IN_2061 - 1_795_154_041 * SECOND } else { 0 }, frame, captured)
    });
    let outcome = run(&paths, &options);
    let hosts: Vec<_> = outcome.artefact.clocks.iter().map(|clock| clock.host.as_str()).collect();
    assert_eq!((hosts.as_slice(), outcome.refused.len()), (&["b"][..], 1));
    let why = "its packets are dated 2061-09-21 to 2061-09-21, beyond 2043-01-25: it is left out";
    assert_eq!(outcome.refused[0].why, why);
}

/// A folder of inputs that were made after reports of users.
fn reports(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/reports").join(name)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn reported_inputs_are_read() {
    let both =
        |name: &str, kind: &str| ["a", "b"].map(|host| reports(name).join(format!("{kind}_{host}.pcap")));
    let said = |kind: &str| {
        let by = ["02:00:00:00:00:01", "02:00:00:00:00:02"];
        let vantage =
            ["a", "b"].iter().zip(by).map(|(host, by)| (format!("{kind}_{host}"), by.parse().unwrap()));
        Options { vantage: vantage.collect(), ..Options::default() }
    };
    for kind in ["gre", "ipip"] {
        let outcome = run(&both("tunnels", kind), &said(kind));
        let link = &outcome.artefact.links[0];
        assert_eq!(messages(&outcome), (124, 62), "{kind}");
        let (lo, hi) = link.offset_at_middle_ns;
        // The second clock is 3 s ahead.
        let (lo, hi) = (lo.unwrap() - 3 * SECOND, hi.unwrap() - 3 * SECOND);
        assert!(lo <= 0 && hi >= 0 && hi - lo < 1_000_000, "{kind}: {lo} {hi}");
    }
    let outcome = run(&both("tunnels", "esp"), &said("esp"));
    let esp = "none of its 186 packets can be matched (only TCP, UDP and ICMP echoes are): 186 ESP";
    assert!(outcome.refused.len() == 2 && outcome.refused.iter().all(|refused| refused.why == esp));
    for kind in ["tai", "iat"] {
        let refused = synchronize(&Inputs::open(&both("tai-utc", kind)), &said(kind), &|_| {}).unwrap_err();
        assert!(refused.to_string().matches("two clocks, 37.0 s apart").count() == 2, "{refused}");
    }
    let old = isochrone_matching::capture::survey(
        &[isochrone_files::InputCapture {
            argument: PathBuf::new(),
            path: reports("old-packet-blocks.pcapng"),
            interface: None,
        }],
        &|_| {},
    );
    assert_eq!((old[0].packets, old[0].diagnostics.len()), (200, 0));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn an_event_beyond_all_clocks_costs_only_itself() {
    let far = ["a", "last"].map(|name| reports("far-time").join(name));
    let outcome = run(&far, &Options::default());
    let told =
        outcome.facts.iter().flat_map(isochrone_matching::TraceFacts::left_out).map(ToString::to_string);
    let expect =
        "last/ch_0: packet 0, byte 0: this event is left out of the synchronization: dated 2116-02-20";
    assert_eq!((told.filter(|told| told.contains(expect)).count(), outcome.partial), (1, true));
    assert!(outcome.artefact.links.iter().all(|link| link.messages.dropped == 0));
    assert_eq!(messages(&outcome).0 + messages(&outcome).1, 185);
}
