//! What should not happen to a trace while it is read, and what does all the same.

use std::fs::{self, OpenOptions};
use std::path::Path;

use isochrone_ctf::{Growth, Loss, Lost, Position, Trace};
use tempfile::TempDir;

use super::append;
use super::wholes::{described, index_of, packet};
use crate::common::write;

/// Times of all events of a trace, stream by stream.
fn times(trace: &Trace) -> Vec<Vec<u64>> {
    let of = |stream| trace.events(stream).filter_map(|event| event.cycles()).collect();
    (0..trace.streams().len()).map(of).collect()
}

/// Complaints without the directory.
fn complaints(trace: &Trace) -> Vec<String> {
    let short = |text: String| text.replace(&format!("{}/", trace.path().display()), "");
    trace.diagnostics().iter().map(|diagnostic| short(diagnostic.to_string())).collect()
}

/// An open trace whose files are `s` and, empty, `empty`.
fn open(s: &[Vec<u8>]) -> (TempDir, Trace) {
    let directory = write(&described(), &[("s", &s.concat()), ("empty", &[])]);
    let trace = Trace::open(directory.path()).unwrap();
    (directory, trace)
}

fn replace(directory: &Path, name: &str, bytes: &[u8]) {
    fs::write(directory.join(".new"), bytes).unwrap();
    fs::rename(directory.join(".new"), directory.join(name)).unwrap();
}

fn first() -> Vec<u8> {
    packet(5, 0, 10, &[(0, 11, "a"), (1, 12, "b")])
}

fn second() -> Vec<u8> {
    packet(5, 0, 20, &[(0, 21, "c")])
}

#[test]
fn a_packet_that_was_cut_off_is_found_when_it_is_whole() {
    let (directory, mut trace) = open(&[first()]);
    let file = directory.path().join("s");
    assert!(trace.refresh().unwrap().is_empty());
    let (head, rest) = (&second()[..20], &second()[20..]);
    append(&file, head);
    for _ in 0..2 {
        assert!(trace.refresh().unwrap().is_empty());
        let size = second().len();
        assert_eq!(
            complaints(&trace),
            [format!(
                "s: packet 1, byte {}: the last 20 bytes of the file are skipped: a packet of {size} bytes was cut off",
                first().len()
            )]
        );
        assert_eq!(times(&trace), [[11, 12]]);
    }
    append(&file, rest);
    let growth = trace.refresh().unwrap();
    assert_eq!((growth.metadata, growth.packets.len(), &growth.packets[0]), (false, 1, &(1..2)));
    assert_eq!(complaints(&trace), [""; 0]);
    assert_eq!(times(&trace), [[11, 12, 21]]);
    assert_eq!(trace.events_from(0, 1).count(), 1);
    assert_eq!(trace.events_from(0, 2).count(), 0);
}

#[test]
fn empty_files_and_new_ones_get_packets() {
    let (directory, mut trace) = open(&[first()]);
    append(&directory.path().join("empty"), &packet(5, 1, 5, &[(0, 6, "x")]));
    append(&directory.path().join("another"), &packet(2, 0, 7, &[(3, 8, "y")]));
    let growth = trace.refresh().unwrap();
    // New streams come after the old one, in order among themselves.
    assert_eq!(growth.packets, [1..1, 0..1, 0..1]);
    let streams: Vec<_> =
        (0..3).map(|n| (trace.stream_class(n).id, trace.streams()[n].file.as_str())).collect();
    assert_eq!(streams, [(5, "s"), (2, "another"), (5, "empty")]);
    assert_eq!(times(&trace), [vec![11, 12], vec![8], vec![6]]);
}

#[test]
fn files_that_are_not_what_they_were() {
    let check = |name: &str, act: &dyn Fn(&Path), expect: &[&str], events: &[&[u64]]| {
        let (directory, mut trace) = open(&[first(), second()]);
        act(directory.path());
        // What was said once holds.
        for _ in 0..2 {
            trace.refresh().unwrap();
            assert_eq!(complaints(&trace), expect, "{name}");
            assert_eq!(times(&trace), events, "{name}");
        }
    };
    let cut = |directory: &Path, length: usize| {
        OpenOptions::new().write(true).open(directory.join("s")).unwrap().set_len(length as u64).unwrap();
    };
    let gone = "s: the file was cut: 10 bytes of packets are gone; it is not followed any more";
    let whole = first().len() + second().len();
    check("cut", &|d| cut(d, whole - 10), &[gone], &[&[11, 12]]);
    let tail = format!(
        "s: packet 2, byte {whole}: the last 10 bytes of the file are skipped: no packet: its magic number is 0x0, not 0xc1fc1fc1"
    );
    let reserved = |d: &Path| {
        append(&d.join("s"), &[0; 100]);
        cut(d, whole + 10);
    };
    check("reserved space", &reserved, &[&tail], &[&[11, 12, 21]]);
    let replaced =
        "s: another file has taken its place: what was written to it since the last look cannot be read";
    let other = packet(5, 0, 30, &[(1, 33, "d")]);
    check("replaced", &|d| replace(d, "s", &other), &[replaced], &[&[11, 12, 21, 33]]);
    check("taken away", &|d| fs::remove_file(d.join("s")).unwrap(), &[], &[&[11, 12, 21]]);
    check("an empty file replaced", &|d| replace(d, "empty", &other), &[], &[&[11, 12, 21, 33]]);
    let metadata = "metadata: the metadata have changed and are not used";
    let holds = "what they said before still holds";
    let other_trace =
        described().replacen("major = 1;", "uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";", 1);
    let no_longer = format!("{metadata}: they no longer describe the packets that were read; {holds}");
    check(
        "the metadata of another trace",
        &|d| replace(d, "metadata", other_trace.as_bytes()),
        &[&no_longer],
        &[&[11, 12, 21]],
    );
    let other_layout = described().replace("packet_seq_num;", "n;");
    check(
        "packets of another layout",
        &|d| replace(d, "metadata", other_layout.as_bytes()),
        &[&no_longer],
        &[&[11, 12, 21]],
    );
    let empty = format!(
        "{metadata}: line 1, column 1: the metadata are empty: was the session stopped before its traces were copied?; {holds}"
    );
    check(
        "metadata that are written anew",
        &|d| fs::write(d.join("metadata"), "").unwrap(),
        &[&empty],
        &[&[11, 12, 21]],
    );
    let none = format!("{metadata}: cannot be read: No such file or directory (os error 2); {holds}");
    check(
        "metadata taken away",
        &|d| fs::remove_file(d.join("metadata")).unwrap(),
        &[&none],
        &[&[11, 12, 21]],
    );
}

#[test]
fn a_file_that_is_cut_between_looks_is_not_followed() {
    let (directory, mut trace) = open(&[first(), second()]);
    let file = directory.path().join("s");
    fs::write(&file, first()).unwrap();
    assert!(trace.refresh().unwrap().is_empty());
    // What is written after the cut belongs to no packet that is known.
    append(&file, &packet(5, 0, 30, &[(1, 33, "d")]));
    assert!(trace.refresh().unwrap().is_empty());
    assert_eq!(times(&trace), [[11, 12]]);
    assert_eq!(trace.streams()[0].packets.len(), 2);
    assert_eq!(complaints(&trace).len(), 1);
}

#[test]
fn new_packets_come_after_those_that_are_known() {
    let (directory, mut trace) = open(&[second()]);
    append(&directory.path().join("empty"), &packet(5, 0, 50, &[(0, 51, "")]));
    append(&directory.path().join("later"), &[first(), packet(5, 0, 40, &[(0, 41, "")])].concat());
    for new in [1..4, 4..4] {
        assert_eq!(trace.refresh().unwrap().packets, [new]);
        assert_eq!(
            complaints(&trace),
            [
                "s: packets were not in the order of time; they were sorted",
                "s: packets were added that begin before the last one that was known; they come after it",
            ]
        );
        assert_eq!(times(&trace), [[21, 11, 12, 41, 51]]);
    }
}

#[test]
fn classes_may_come_after_their_events() {
    let text = described();
    let cut = text.find("event { name = e51").unwrap();
    let directory =
        write(&text[..cut], &[("s", &[first(), second()].concat()), ("t", &packet(2, 0, 1, &[]))]);
    let mut trace = Trace::open(directory.path()).unwrap();
    assert_eq!(complaints(&trace), ["t: packet 0, byte 0: packet skipped: no stream class has the id 2"]);
    assert_eq!((trace.streams().len(), trace.streams()[0].class), (1, 0));
    let field = |trace: &Trace| {
        let plan = trace.stream_plan(0);
        plan.events[0].payload_field(plan, &["s"]).unwrap()
    };
    let old_field = field(&trace);

    // Without waiting the rest of the first packet is lost; with waiting it is not, but what is after it waits, too.
    let mut events = trace.events(0);
    assert_eq!(events.by_ref().filter_map(|event| event.cycles()).collect::<Vec<_>>(), [11, 21]);
    assert_eq!((events.diagnostics().len(), events.awaits_class()), (1, None));
    assert_eq!(events.position(), Position::from(2));
    let mut events = trace.events(0).while_growing();
    assert_eq!(events.by_ref().filter_map(|event| event.cycles()).collect::<Vec<_>>(), [11]);
    assert_eq!((events.diagnostics().len(), events.awaits_class()), (0, Some(1)));
    let position = events.position();
    assert_eq!(position.packet(), 0);

    append(&directory.path().join("metadata"), &text.as_bytes()[cut..cut + 30]);
    assert!(trace.refresh().unwrap().is_empty());
    assert!(complaints(&trace)[0].contains("the metadata have changed and are not used"));
    append(&directory.path().join("metadata"), &text.as_bytes()[cut + 30..]);
    let growth = trace.refresh().unwrap();
    assert_eq!(growth, Growth { metadata: true, packets: vec![2..2, 0..1], extended: Vec::new() });
    assert_eq!(complaints(&trace), [""; 0]);
    // The class of the first stream is another number now.
    assert_eq!((trace.streams()[0].class, trace.stream_class(0).id), (1, 5));
    let mut events = trace.events_from(0, position).while_growing();
    assert_eq!(events.by_ref().filter_map(|event| event.cycles()).collect::<Vec<_>>(), [12, 21]);
    assert_eq!(events.position(), Position::from(2));
    // Fields belong to the metadata that they were found in.
    let event = trace.events(0).next().unwrap();
    assert_eq!((event.text(&old_field), event.text(&field(&trace))), (None, Some(&b"a"[..])));
}

#[test]
fn indexes_may_be_late_but_not_too_late() {
    let check = |name: &str, packets: usize, early: &[u8], at_first: &[&str], in_the_end: &[&str]| {
        let packets: Vec<_> =
            (0..packets as u32).map(|n| packet(5, 0, n * 10, &[(0, n * 10 + 1, "a")])).collect();
        let index = index_of(&packets);
        let directory = write(&described(), &[("s", &packets.concat())]);
        let path = directory.path().join("index/s.idx");
        fs::create_dir(directory.path().join("index")).unwrap();
        if !early.is_empty() {
            append(&path, early);
        }
        let mut trace = Trace::open(directory.path()).unwrap();
        assert_eq!(complaints(&trace), at_first, "{name}");
        append(&path, &index[early.len()..]);
        trace.refresh().unwrap();
        assert_eq!(complaints(&trace), in_the_end, "{name}");
    };
    let header = &index_of(&[])[..];
    let disagrees = "index/s.idx: index not used: entry 0 disagrees with the packets of s";
    let short = "index/s.idx: index not used: it does not begin with the magic number of an index";
    check("entries are missing", 64, header, &[disagrees], &[]);
    check("too many entries are missing", 65, header, &[disagrees], &[disagrees]);
    check("half a header", 64, &header[..7], &[short], &[]);
    check("half a header for too long", 65, &header[..7], &[short], &[short]);
    check("no index at first", 3, &[], &[], &[]);
}

#[test]
fn what_only_an_index_knows_may_come() {
    let third = packet(5, 0, 30, &[(0, 31, "d")]);
    let files = [
        ("s", [first(), second()].concat()),
        ("index/s.idx", index_of(&[first(), second(), third.clone()])),
        ("index/t.idx", index_of(std::slice::from_ref(&third))),
    ];
    let directory = write(&described(), &files.each_ref().map(|(name, bytes)| (*name, bytes.as_slice())));
    let mut trace = Trace::open(directory.path()).unwrap();
    for _ in 0..2 {
        assert!(trace.refresh().unwrap().is_empty());
        let at = first().len() + second().len();
        let lost = format!("s, byte {at}: the last packet that the index lists is lost");
        assert_eq!(
            complaints(&trace),
            [lost.as_str(), "t: there is no such stream file, and its index lists 1 packet"]
        );
        assert_eq!(trace.missing_files().len(), 1);
        // The one at the end of a file, and the file.
        let loss = Loss { lost: Lost::Packets(2), before_packet: 2, begin: Some(21), end: Some(31) };
        assert_eq!(trace.losses(0), [loss]);
    }
    append(&directory.path().join("s"), &third);
    append(&directory.path().join("t"), &third);
    assert_eq!(trace.refresh().unwrap().packets, std::slice::from_ref(&(2..3)));
    assert_eq!(complaints(&trace), ["t: packet 0, byte 0: the packet is in s already; it is read once"]);
    assert_eq!((trace.missing_files(), trace.losses(0)), (&[][..], vec![]));
}

#[test]
fn packets_that_are_written_again_are_read_once() {
    let (directory, mut trace) = open(&[first(), second()]);
    append(&directory.path().join("s"), &second());
    append(&directory.path().join("empty"), &[first(), second()].concat());
    assert!(trace.refresh().unwrap().is_empty());
    assert_eq!(times(&trace), [[11, 12, 21]]);
    let at = first().len() + second().len();
    assert_eq!(
        complaints(&trace),
        [
            "empty: packet 0, byte 0: from here on, 2 packets are in s already; they are read once"
                .to_owned(),
            format!("s: packet 2, byte {at}: the packet is in this file already; it is read once"),
        ]
    );
}
