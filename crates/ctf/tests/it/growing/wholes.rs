//! Traces of many kinds, as they will be when they have grown.

use std::ops::Range;

use isochrone_ctf::index::{self, IndexEntry};

use crate::bytes;
use crate::common::{TYPES, metadata};

/// The files of a trace as they will be in the end; the metadata are the last.
#[derive(Debug)]
pub struct Whole {
    pub name: &'static str,
    pub files: Vec<(&'static str, Vec<u8>)>,
    /// Whether no stream has several files: then the order of its packets does not depend on which file is there first.
    pub one_file_streams: bool,
}

impl Whole {
    fn new(name: &'static str, metadata: impl Into<Vec<u8>>, files: &[(&'static str, &[u8])]) -> Self {
        let mut files: Vec<_> = files.iter().map(|(name, bytes)| (*name, bytes.to_vec())).collect();
        files.push(("metadata", metadata.into()));
        Self { name, files, one_file_streams: true }
    }
}

/// Metadata in packets, as tracers write them: so many bytes of text in each.
pub fn in_packets(text: &str, bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in text.as_bytes().chunks(bytes) {
        let content = (37 + part.len()) as u32 * 8;
        out.extend(bytes!(0x75d1_1d57_u32, 0_u128, 0_u32, content, content + 5 * 8, 0_u16, 0_u8, 1_u8, 8_u8));
        out.extend(part);
        out.resize(out.len() + 5, 0);
    }
    out
}

/// A packet of the streams described by [`described`]: class, number of the stream, begin, events (class, time, text).
pub fn packet(class: u8, stream: u8, begin: u32, events: &[(u8, u32, &str)]) -> Vec<u8> {
    let mut content = Vec::new();
    for (event, time, text) in events {
        content.extend(bytes!(*event, *time as u16));
        content.extend(text.bytes().chain([0]));
    }
    let head = 4 + 1 + 1 + 2 + 2 + 4 + 4 + 1;
    let bits = |bytes: usize| (bytes * 8) as u16;
    let end = events.last().map_or(begin, |event| event.1);
    let size = head + content.len();
    let mut packet = bytes!(0xc1fc_1fc1_u32, class, stream, bits(size + 3), bits(size), begin, end, 7_u8);
    packet.extend(content);
    packet.resize(size + 3, 0);
    packet
}

/// Two stream classes with two event classes each; one that no packet is of.
pub fn described() -> String {
    let head = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; packet.header := struct { \
                integer { size = 32; } magic; integer { size = 8; } stream_id; integer { size = 8; } stream_instance_id; }; };\n\
                clock { name = m; freq = 1000000000; };\n";
    let stream = |id: u32| {
        format!(
            "stream {{ id = {id}; packet.context := struct {{ u16 packet_size; u16 content_size; \
             t32 timestamp_begin; t32 timestamp_end; u8 packet_seq_num; }}; event.header := struct {{ u8 id; \
             integer {{ size = 16; map = clock.m.value; }} timestamp; }}; }};\n"
        )
    };
    let event = |stream: u32, id: u32| {
        format!(
            "event {{ name = e{stream}{id}; id = {id}; stream_id = {stream}; fields := struct {{ string s; }}; }};\n"
        )
    };
    [head, TYPES, &stream(5), &event(5, 0), &event(5, 1), &stream(9), &stream(2), &event(2, 3), &event(2, 4)]
        .concat()
}

/// The index of a file of such packets.
pub fn index_of(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut entries: Vec<IndexEntry> = Vec::new();
    for packet in packets {
        let number = |bytes: Range<usize>| packet[bytes].iter().rfold(0, |n, byte| n << 8 | u64::from(*byte));
        entries.push(IndexEntry {
            offset: entries.last().map_or(0, |last| last.offset + last.total_bits / 8),
            total_bits: number(6..8),
            content_bits: number(8..10),
            begin: number(10..14),
            end: number(14..18),
            stream_class: packet[4].into(),
            ..IndexEntry::default()
        });
    }
    index::write(&entries)
}

/// Traces of all kinds.
pub fn wholes() -> Vec<Whole> {
    let a = [
        packet(5, 0, 100, &[(0, 100, "a"), (1, 130, "longer text"), (0, 140, "")]),
        packet(5, 0, 135, &[(1, 141, "packets overlap")]),
        packet(5, 0, 90_000, &[]),
        packet(5, 0, 90_001, &[(0, 90_002, "b"), (0, 150_000, "the time"), (1, 210_000, "wraps")]),
    ];
    let b = [
        packet(2, 0, 10, &[(3, 10, "c"), (3, 60_000, ""), (4, 120_000, "behind a wrap")]),
        packet(2, 0, 120_050, &[(4, 120_060, "d"), (3, 120_070, "e")]),
    ];
    let mixed =
        [packet(5, 7, 1, &[(0, 2, "f")]), packet(2, 7, 3, &[(4, 4, "g")]), packet(5, 7, 5, &[(1, 6, "h")])];
    let sized: [(&str, &[u8]); 6] = [
        ("a", &a.concat()),
        ("b", &b.concat()),
        ("mixed", &mixed.concat()),
        ("index/a.idx", &index_of(&a)),
        ("index/b.idx", &index_of(&b)),
        ("index/mixed.idx", &index_of(&mixed)),
    ];
    // A packet of an unknown class does not show its size by what the others have in common.
    let contexts =
        described().replacen("u16 packet_size;", "integer { size = 16; base = hex; } packet_size;", 1);

    let broken = [
        packet(5, 0, 1, &[(0, 2, "m")]),
        packet(5, 0, 3, &[(6, 4, "no class")]),
        packet(77, 0, 5, &[]),
        packet(5, 0, 6, &[(1, 7, "n")]),
        vec![1; 9],
    ];
    let rotated: [(&str, &[u8]); 2] = [
        ("c_0", &[packet(5, 1, 10, &[(0, 11, "i")]), packet(5, 1, 20, &[(0, 21, "j")])].concat()),
        ("c_1", &[packet(5, 1, 30, &[(1, 31, "k")]), packet(5, 1, 40, &[(0, 41, "l")])].concat()),
    ];

    let byte_times = "typealias integer { size = 8; map = clock.m.value; } := t8;";
    let narrow = metadata(&format!(
        "{byte_times} stream {{ packet.context := struct {{ u8 packet_size; t8 timestamp_begin; }}; \
         event.header := struct {{ t8 timestamp; }}; }}; event {{ name = x; fields := struct {{ string n; }}; }};"
    ));
    let narrow_packets: Vec<u8> =
        (0..20).flat_map(|n: u8| [40, n.wrapping_mul(100), n.wrapping_mul(101), b'n', 0]).collect();

    let texts_and_numbers = "event { name = x; id = 0; fields := struct { string s; }; }; \
                             event { name = y; id = 1; fields := struct { u32 n; }; };";
    let no_sizes = metadata(&format!(
        "stream {{ event.header := struct {{ u8 id; t32 timestamp; }}; }}; {texts_and_numbers}"
    ));
    let events = bytes!(0_u8, 5_u32, b'a', 0_u8, 1_u8, 6_u32, 77_u32, 0_u8, 7_u32, 0_u8, 1_u8, 9_u32, 78_u32);
    // Each packet has the uuid of another trace.
    let header = "trace { byte_order = le; uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\"; packet.header := struct { \
                  integer { size = 8; } uuid[16]; }; }; clock { name = m; };";
    let no_sizes_narrow = format!(
        "/* CTF 1.8 */ {header} {TYPES} {byte_times} stream {{ packet.context := struct {{ t8 timestamp_begin; \
         t64 timestamp_end; }}; event.header := struct {{ u8 id; t8 timestamp; }}; }}; {texts_and_numbers}"
    );
    let narrow_events: Vec<u8> = (0..20).flat_map(|n: u8| [0, n.wrapping_mul(100), b'a' + n, 0]).collect();
    let narrow_events = [bytes!(7_u128, 200_u8, 100_000_u64), narrow_events].concat();
    let bits = narrow_events.len() as u64 * 8;
    let entry = IndexEntry {
        total_bits: bits,
        content_bits: bits,
        begin: 200,
        end: 100_000,
        ..IndexEntry::default()
    };

    vec![
        Whole::new("text", described(), &sized),
        Whole::new("packets of metadata", in_packets(&described(), 100), &sized),
        Whole::new("contexts that differ", contexts, &sized),
        Whole::new("broken packets", described(), &[("s", &broken.concat())]),
        Whole { one_file_streams: false, ..Whole::new("rotated files", described(), &rotated) },
        Whole::new("narrow times", narrow, &[("s", &narrow_packets)]),
        Whole::new("no sizes", no_sizes, &[("s", &events), ("t", &events[..20])]),
        Whole::new(
            "no sizes, narrow times",
            no_sizes_narrow,
            &[("s", &narrow_events), ("index/s.idx", &index::write(&[entry]))],
        ),
        Whole::new("JSON", json(), &[("s", b"\x18a\0\x20bc\0\x18d\0")]),
    ]
}

/// A description in the language of CTF 2.
fn json() -> String {
    let size = "{\"name\":\"size\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\",\"length\":8,\
                \"byte-order\":\"little-endian\",\"alignment\":8,\"roles\":[\"packet-total-length\"]}}";
    let context = format!("{{\"type\":\"structure\",\"member-classes\":[{size}]}}");
    let text = "{\"type\":\"structure\",\"member-classes\":[{\"name\":\"s\",\"field-class\":{\"type\":\"null-terminated-string\"}}]}";
    [
        "{\"type\":\"preamble\",\"version\":2}".to_owned(),
        "{\"type\":\"trace-class\"}".to_owned(),
        format!("{{\"type\":\"data-stream-class\",\"packet-context-field-class\":{context}}}"),
        format!("{{\"type\":\"event-record-class\",\"name\":\"e\",\"payload-field-class\":{text}}}"),
    ]
    .map(|fragment| format!("\u{1e}{fragment}\n"))
    .concat()
}
