//! Files: byte orders, resolutions, sections, interfaces, and what is wrong with them.

use crate::common::*;
use isochrone_capture::{Capture, Mac, Passed, Transport};

#[test]
fn pcap_in_both_orders_and_resolutions() {
    let check = |order, magic, expect: (i64, i64)| {
        let file = [
            pcap_header(order, magic, 1),
            pcap_record(order, 1_795_154_041, 823_216, &tcp(), usize::MAX),
            pcap_record(order, 1_795_154_042, 0, &tcp(), 96),
        ]
        .concat();
        let (frames, wrong) = read(&file);
        assert_eq!(wrong, [""; 0]);
        assert_eq!(frames.len(), 2);
        let stamp = frames[0].stamp;
        assert_eq!((stamp.earliest_ns, stamp.latest_ns), expect);
        assert_eq!((frames[0].record, frames[0].offset, frames[1].record), (0, 24, 1));
        assert_eq!(frames[1].offset, 24 + 16 + tcp().len() as u64);
        // What was cut off changes nothing about a packet.
        assert_eq!(frames[0].content, frames[1].content);
        assert_eq!((frames[0].wire, frames[1].wire), (154, 154));
    };
    let micro = (1_795_154_041_823_216_000, 1_795_154_041_823_217_000);
    let nano = (1_795_154_041_000_823_216, 1_795_154_041_000_823_216);
    check(LITTLE, 0xa1b2_c3d4, micro);
    check(BIG, 0xa1b2_c3d4, micro);
    check(LITTLE, 0xa1b2_3c4d, nano);
    check(BIG, 0xa1b2_3c4d, nano);
}

#[test]
fn a_section_has_its_own_order_interfaces_and_resolutions() {
    let mut file = Vec::new();
    for order in [LITTLE, BIG] {
        let seconds = option(order, 14, &order.u64(100));
        file.extend(section(order));
        file.extend(interface(order, 1, &[option(order, 2, b"eth0"), option(order, 6, &A)]));
        file.extend(interface(order, 101, &[option(order, 9, &[9]), seconds]));
        file.extend(interface(order, 1, &[option(order, 9, &[0x8a])]));
        // Statistics, and something unknown.
        file.extend(block(order, 5, &[0; 12]));
        file.extend(block(order, 0xbad, &[1, 2, 3]));
        file.extend(packet(order, 0, 5, &tcp(), &[option(order, 2, &order.u32(2))]));
        file.extend(packet(order, 1, 5, &tcp()[14..], &[option(order, 2, &order.u32(1))]));
        file.extend(packet(order, 2, 1, &tcp(), &[]));
        file.extend(block(order, 3, &[&order.u32(154)[..], &tcp()].concat()));
    }
    let (frames, wrong) = read(&file);
    assert_eq!(wrong, ["x: 1 simple packet blocks are left out: they have no time"; 2]);
    let seen: Vec<_> = frames
        .iter()
        .map(|f| (f.interface, f.stamp.earliest_ns, f.stamp.latest_ns, f.passed, f.own.is_some()))
        .collect();
    let times = |interface| {
        [
            (interface, 5_000, 6_000, Some(Passed::Out), true),
            (interface + 1, 100_000_000_005, 100_000_000_005, Some(Passed::In), false),
            (interface + 2, 976_562, 1_953_125, None, false),
        ]
    };
    assert_eq!(seen, [times(0), times(3)].concat());
    assert!(frames.iter().all(|frame| frame.content == frames[0].content));
    let mut capture = Capture::new(file.as_slice(), std::path::Path::new("x")).unwrap();
    let first = capture.next().unwrap();
    let described = capture.interface(&first).unwrap();
    assert_eq!((described.name, described.mac, described.granularity_ns), (Some("eth0"), Some(Mac(A)), 1000));
}

#[test]
fn packet_blocks_of_old_are_read() {
    for order in [LITTLE, BIG] {
        let begin =
            [section(order), interface(order, 101, &[]), interface(order, 1, &[option(order, 9, &[9])])];
        // Interface, drops, time, lengths, packet, options.
        let ticks = 1_795_154_041_000_000_007_u64;
        let head = [order.u16(1), order.u16(3)].concat();
        let times = [order.u32((ticks >> 32) as u32), order.u32(ticks as u32)].concat();
        let lengths = [order.u32(96), order.u32(154)].concat();
        let flags = option(order, 2, &order.u32(2));
        let body = [head, times, lengths, tcp()[..96].to_vec(), flags].concat();
        let (frames, wrong) = read(&[begin.concat(), block(order, 2, &body).repeat(2)].concat());
        assert_eq!((frames.len(), wrong.as_slice()), (2, &[][..]));
        let found = &frames[1];
        assert_eq!((found.interface, found.stamp.earliest_ns), (1, 1_795_154_041_000_000_007));
        assert_eq!((found.passed, found.wire, found.captured), (Some(Passed::Out), 154, 96));
        assert!(matches!(ip(found).transport, Transport::Tcp { payload: Some(100), .. }));
    }
}

#[test]
fn what_is_wrong_costs_only_its_packet() {
    let check = |file: &[Vec<u8>], frames: usize, expect: &[&str]| {
        let (found, wrong) = read(&file.concat());
        assert_eq!((found.len(), wrong.as_slice()), (frames, expect.map_owned().as_slice()), "{expect:?}");
    };
    let head = || pcap_header(LITTLE, 0xa1b2_3c4d, 1);
    let good = || pcap_record(LITTLE, 1, 0, &tcp(), usize::MAX);
    let cut = |record: Vec<u8>, by: usize| record[..record.len() - by].to_vec();
    check(&[head()], 0, &[]);
    check(
        &[head(), good(), cut(good(), 1)],
        1,
        &["!x: packet 1, byte 194: the file ends within a record: 169 of its 170 bytes are there"],
    );
    check(
        &[head(), cut(good(), 160)],
        0,
        &["!x: packet 0, byte 24: the file ends within the header of a record (10 bytes)"],
    );
    let late = pcap_record(LITTLE, 1, 1_000_000_000, &tcp(), usize::MAX);
    check(
        &[head(), late, good()],
        1,
        &["!x: packet 0, byte 24: its time has 1000000000 of 1000000000 parts of a second: it is left out"],
    );
    let large = pcap_record(LITTLE, 1, 0, &vec![0; (1 << 20) + 1], usize::MAX);
    check(
        &[head(), large.clone(), good()],
        1,
        &["!x: packet 0, byte 24: a record of 1048577 bytes: it is left out"],
    );
    check(
        &[head(), cut(large, 1)],
        0,
        &["!x: packet 0, byte 24: a record of 1048577 bytes, more than the file has left: it is left out"],
    );
    let foreign = pcap_header(LITTLE, 0xa1b2_3c4d, 147);
    check(&[foreign, good(), good()], 2, &["x: 2 frames of link type 147 are not understood"]);

    let begin = || [section(LITTLE), interface(LITTLE, 1, &[])].concat();
    let good = || packet(LITTLE, 0, 1, &tcp(), &[]);
    let at = begin().len();
    let lie = {
        let mut block = good();
        block[20] = 0xff;
        block[21] = 0xff;
        block
    };
    check(
        &[begin(), lie, good()],
        1,
        &[&format!("!x: packet 2, byte {at}: a packet block contradicts its own lengths: it is left out")],
    );
    check(
        &[begin(), packet(LITTLE, 7, 1, &tcp(), &[]), good()],
        1,
        &[&format!(
            "!x: packet 2, byte {at}: a packet of interface 7, which is not described: it is left out"
        )],
    );
    let fine = interface(LITTLE, 1, &[option(LITTLE, 9, &[99])]);
    check(
        &[section(LITTLE), fine, interface(LITTLE, 1, &[]), good(), packet(LITTLE, 1, 1, &tcp(), &[])],
        1,
        &[
            "!x: packet 1, byte 28: an interface whose stamps are finer than any clock: its packets are left out",
        ],
    );
    check(
        &[begin(), packet(LITTLE, 0, u64::MAX, &tcp(), &[]), good()],
        1,
        &[&format!(
            "!x: packet 2, byte {at}: its time (18446744073709551615 ticks) does not fit 64 bits of ns: it is left out"
        )],
    );
    check(
        &[begin(), cut(good(), 4)],
        0,
        &[&format!("!x: packet 2, byte {at}: the file ends within a block of 188 bytes: it is left out")],
    );
    check(
        &[begin(), vec![6, 0, 0, 0, 13, 0, 0, 0], good()],
        0,
        &[&format!(
            "!x: packet 2, byte {at}: a block cannot have 13 bytes: the rest of the file is left out"
        )],
    );
    check(
        &[begin(), block(LITTLE, 2, &[0xff; 40]), good()],
        1,
        &[&format!("!x: packet 2, byte {at}: a packet block contradicts its own lengths: it is left out")],
    );
    // A block of another kind may be of any size.
    check(&[begin(), block(LITTLE, 10, &vec![0; 1 << 21]), good()], 1, &[]);
    check(
        &[begin(), packet(LITTLE, 0, 1, &vec![0; 1 << 21], &[]), good()],
        1,
        &[&format!("!x: packet 2, byte {at}: a packet block of 2097184 bytes: it is left out")],
    );
}

#[test]
fn other_versions_are_read_with_a_note() {
    let check = |file: Vec<u8>, at: usize, version: [u8; 4], expect: &[&str]| {
        let mut file = file;
        file[at..at + 4].copy_from_slice(&version);
        let (frames, wrong) = read(&file);
        assert_eq!((frames.len(), wrong.as_slice()), (1, expect.map_owned().as_slice()));
    };
    let old = [pcap_header(LITTLE, 0xa1b2_3c4d, 1), pcap_record(LITTLE, 1, 0, &tcp(), usize::MAX)].concat();
    check(old.clone(), 4, [2, 0, 4, 0], &[]);
    check(old, 4, [1, 0, 2, 0], &["x: version 1.2 of the format is read as 2.4"]);
    let new = [section(BIG), interface(BIG, 1, &[]), packet(BIG, 0, 1, &tcp(), &[])].concat();
    check(new.clone(), 12, [0, 1, 0, 2], &[]);
    check(new, 12, [0, 1, 0, 1], &["x: a section of version 1.1 is read as 1.0"]);
}

/// Texts as a reader gives them.
trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for [&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }
}

#[test]
fn many_faults_are_counted() {
    let late = pcap_record(LITTLE, 1, u32::MAX, &tcp(), usize::MAX);
    let (frames, wrong) = read(&[pcap_header(LITTLE, 0xa1b2_3c4d, 1), late.repeat(1000)].concat());
    assert_eq!((frames.len(), wrong.len()), (0, 101));
    assert_eq!(wrong[100], "!x: and 900 more like these");
}

#[test]
fn other_files_are_refused() {
    let check = |bytes: &[u8], expect: &str| {
        let error = Capture::new(bytes, std::path::Path::new("x")).unwrap_err();
        assert_eq!(error.to_string(), format!("x: {expect}"));
    };
    let none = "not a packet capture: it begins neither like pcap nor like pcapng";
    check(b"", none);
    check(b"abc", none);
    check(b"/* CTF 1.8 */", none);
    check(&[0x28, 0xb5, 0x2f, 0xfd, 0], "it is compressed with zstd: unpack it first");
    check(&[0x1f, 0x8b, 8, 0], "it is compressed with gzip: unpack it first");
    check(b"PK\x03\x04 and so on", "not a packet capture: it is a zip archive: unpack it first");
    check(b"\x17\x08\x44tracing6\0", "not a packet capture: it is a recording of trace-cmd (trace.dat)");
    check(b"BZh91AY", "it is compressed with bzip2: unpack it first");
    for perf in [b"PERFILE2", b"2ELIFREP"] {
        let expect = "not a packet capture: it is a recording of perf (perf.data)";
        check(perf, expect);
    }
    check(&pcap_header(BIG, 0xa1b2_c3d4, 1)[..23], "it ends within its header");
}

#[test]
fn the_old_modified_format() {
    let record = pcap_record(LITTLE, 1, 2, &tcp(), usize::MAX);
    let record = [&record[..16], &[0; 8], &record[16..]].concat();
    let (frames, wrong) = read(&[pcap_header(LITTLE, 0xa1b2_cd34, 1), record.repeat(2)].concat());
    assert_eq!((frames.len(), wrong.len()), (2, 0));
    assert!(matches!(ip(&frames[1]).transport, Transport::Tcp { ports: (1000, 80), .. }));
}
