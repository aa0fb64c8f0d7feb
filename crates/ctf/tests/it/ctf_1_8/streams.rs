//! Streams: clocks and times, headers and contexts with and without their parts, losses, files.

use isochrone_ctf::{Lost, Trace};

use super::{check, check_odd, reading};
use crate::bytes;
use crate::common::{TYPES, metadata, read, shown, write};

/// Metadata with this clock, whose only event holds nothing but the clock's 64 bits.
fn clocked(clock: &str) -> String {
    format!(
        "/* CTF 1.8 */ trace {{ byte_order = le; }}; clock {{ name = c; {clock} }};\
         stream {{ event.header := struct {{ integer {{ size = 64; map = clock.c.value; }} t; }}; }}; event {{ name = x; }};"
    )
}

#[test]
fn clocks_of_every_offset() {
    let check = |clock: &str, cycles: u64, ns: i128| {
        let trace = write(&clocked(clock), &[("s", &cycles.to_le_bytes())]);
        let trace = Trace::open(trace.path()).unwrap();
        let event = trace.events(0).next().unwrap();
        assert_eq!(trace.clock(0).unwrap().ns_from_origin(event.cycles().unwrap()), ns, "{clock}");
        assert_eq!(trace.diagnostics(), [], "{clock}");
    };
    check("", 7, 7);
    check("freq = 1000; precision = 3; absolute = TRUE; description = \"ms\";", 7, 7_000_000);
    check("offset_s = 1351530929945824323;", 7, 1_351_530_929_945_824_323_000_000_007);
    check("offset_s = -2; offset = -5;", 1, -2_000_000_004);
    check("offset = -9223372036854775808;", u64::MAX, (1 << 64) - 1 - (1 << 63));
    check("freq = 3; offset_s = -1; offset = 1;", 1, -333_333_334);
    check(
        "offset_s = -9223372036854775808; offset = 9223372036854775807;",
        0,
        -(1 << 63) * 1_000_000_000 + i128::from(i64::MAX),
    );
    check(
        "uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\"; freq = 18446744073709551615;",
        u64::MAX,
        1_000_000_000,
    );
}

#[test]
fn several_clocks() {
    let of = |text: &str| {
        format!(
            "/* CTF 1.8 */ trace {{ byte_order = le; packet.header := struct {{ integer {{ size = 8; }} stream_id; }}; }};\n\
                 clock {{ name = m; }}; clock {{ name = n; freq = 1000; }};\n{TYPES}\
                 typealias integer {{ size = 8; map = clock.n.value; }} := n8; typealias integer {{ size = 8; map = clock.m.value; }} := m8;\n{text}"
        )
    };
    // One for each stream.
    let text = of(
        "stream { id = 0; event.header := struct { m8 t; }; }; stream { id = 1; event.header := struct { n8 t; }; };\
                   event { name = a; stream_id = 0; }; event { name = b; stream_id = 1; };",
    );
    let trace = write(&text, &[("s", &[0, 7, 6]), ("t", &[1, 9])]);
    assert_eq!(
        shown(trace.path()).unwrap(),
        [
            "[\"S\",0,0,\"s\",2]",
            "[\"P\",null,null,null]",
            "[\"E\",7,7,0,\"a\",null,null,null]",
            "[\"E\",262,262,0,\"a\",null,null,null]",
            "[\"S\",0,1,\"t\",1]",
            "[\"P\",null,null,null]",
            "[\"E\",9000000,9,0,\"b\",null,null,null]",
        ]
    );
    // Two in one header: the first one is the stream's, the other one a field like any other.
    let text = of(
        "stream { id = 0; packet.context := struct { u8 packet_size; n8 timestamp_begin; m8 timestamp_end; }; \
                   event.header := struct { m8 t; n8 u; }; }; event { name = a; stream_id = 0; };",
    );
    check("two in one header", &text, &[0, 48, 200, 9, 3, 100], &["3 a"]);
}

#[test]
fn times_of_few_bits_wrap_once() {
    let text = metadata(
        "stream { packet.context := struct { u8 packet_size; t32 timestamp_begin; }; \
         event.header := struct { enum : u8 { few, full } id; \
         variant <id> { struct { integer { size = 8; map = clock.m.value; } t; } few; struct { t64 t; } full; } v; }; };\
         event { name = a; id = 0; }; event { name = b; id = 1; };",
    );
    let first = bytes!(160_u8, 0x1f0_u32, 0_u8, 0xf5_u8, 0_u8, 0xf4_u8, 0_u8, 0xf4_u8, 1_u8, 5_u64);
    let second = bytes!(56_u8, 0x2_0000_u32, 0_u8, 1_u8);
    // From the packet's begin, one wrap, no wrap, all bits, and from the next packet's begin.
    let events = ["501 a", "756 a", "756 a", "5 b", "131073 a"];
    check("wraps", &text, &[first, second].concat(), &events);
    // Without a mapped clock whatever is called `timestamp` counts nanoseconds.
    let text = "/* CTF 1.8 */ trace { byte_order = le; }; stream { event.header := struct { \
                integer { size = 16; } timestamp; }; }; event { name = x; };";
    check("no clock", text, &[5, 1], &["261 x"]);
}

#[test]
fn every_part_of_a_packet_header_is_optional() {
    let of = |header: &str| {
        metadata(&format!(
            "trace {{ uuid = \"30313233-3435-3637-3839-616263646566\"; packet.header := struct {{ {header} }}; }}; \
             stream {{ id = 0; }}; event {{ stream_id = 0; name = x; fields := struct {{ u8 n; }}; }};"
        ))
    };
    let (magic, uuid) = ([0xc1, 0x1f, 0xfc, 0xc1], *b"0123456789abcdef");
    let with = |head: &[u8]| [head, &[7]].concat();
    check("nothing", &of(""), &with(&[]), &["x {\"n\":7}"]);
    check("magic", &of("u32 magic;"), &with(&magic), &["x {\"n\":7}"]);
    check("uuid", &of("u8 uuid[16];"), &with(&uuid), &["x {\"n\":7}"]);
    check("stream_id", &of("u16 stream_id;"), &with(&[0, 0]), &["x {\"n\":7}"]);
    check("stream_instance_id", &of("u16 stream_instance_id;"), &with(&[9, 0]), &["x {\"n\":7}"]);
    check(
        "a field of its own",
        &of("u8 colour; u32 magic;").replace("u8 colour; u32 magic;", "u32 magic; u8 colour;"),
        &with(&[magic.as_slice(), &[1]].concat()),
        &["x {\"n\":7}"],
    );
    check_odd(
        "magic that is not first",
        &of("u8 colour; u32 magic;"),
        &with(&[&[1], magic.as_slice()].concat()),
        &["x {\"n\":7}"],
        &["Note metadata: line 7, column 56: `magic` is not the first field of the packet header"],
    );
    let two = of("u8 kind;").replace("event {", "stream { id = 1; }; event {");
    check_odd(
        "no stream_id for two streams",
        &two,
        &[0, 7],
        &["x {\"n\":7}"],
        &[
            "Note metadata: line 7, column 117: several streams, but no `stream_id` in the packet header: all packets are taken \
         as of stream 0",
        ],
    );
    let text =
        of("u8 stream_id;").replace("event {", "stream { id = 1; }; event { id = 1; name = y; }; event {");
    check_odd(
        "no stream_id of an event",
        &text,
        &[0, 7],
        &["x {\"n\":7}"],
        &[
            "Note metadata: line 7, column 142: an event of a trace with several streams needs a `stream_id`: taken as 0",
            "Note metadata: line 7, column 171: several events of a stream, but no `id` in its event header: all are taken as \
         the first",
        ],
    );
}

#[test]
fn every_part_of_a_packet_context_is_optional() {
    let of = |context: &str| {
        metadata(&format!(
            "stream {{ packet.context := struct {{ {context} }}; event.header := struct {{ integer {{ size = 8; \
             map = clock.m.value; }} t; }}; }}; event {{ name = x; }};"
        ))
    };
    let check_shown = |name: &str, context: &str, stream: &[u8], expect: &[&str]| {
        let trace = write(&of(context), &[("s", stream)]);
        assert_eq!(shown(trace.path()).unwrap()[1..], *expect, "{name}");
    };
    let event = |time: u64| format!("[\"E\",{time},{time},0,\"x\",null,null,null]");
    let (one, two) = (event(1), event(2));
    check_shown("nothing", "", &[1, 2], &["[\"P\",null,null,null]", &one, &two]);
    check_shown(
        "no packet_size: the file is one packet",
        "u8 cpu_id;",
        &[3, 1, 2],
        &["[\"P\",null,null,{\"cpu_id\":3}]", &one, &two],
    );
    check_shown(
        "no content_size: no padding",
        "u8 packet_size;",
        &[16, 1, 16, 2],
        &["[\"P\",null,null,null]", &one, "[\"P\",null,null,null]", &two],
    );
    check_shown(
        "content_size",
        "u8 packet_size; u8 content_size;",
        &[32, 24, 1, 9, 24, 24, 2],
        &["[\"P\",null,null,null]", &one, "[\"P\",null,null,null]", &two],
    );
    check_shown(
        "content_size alone",
        "u8 content_size;",
        &[16, 1, 16, 2],
        &["[\"P\",null,null,null]", &one, "[\"P\",null,null,null]", &two],
    );
    check_shown("times", "u8 timestamp_begin; u8 timestamp_end;", &[1, 3, 2], &["[\"P\",1,3,null]", &two]);
    let begin = "typealias integer { size = 8; map = clock.m.value; } := m8; m8 first_begin; m8 last_end;";
    check_shown("times by their endings", begin, &[1, 3, 2], &["[\"P\",1,3,null]", &two]);
    let both = "typealias integer { size = 8; map = clock.m.value; } := m8; m8 my_begin; u8 timestamp_begin;";
    check_shown("the usual name first", both, &[200, 1, 2], &["[\"P\",1,null,{\"my_begin\":200}]", &two]);
}

#[test]
fn packets_whose_tracer_was_hasty() {
    let text = metadata(
        "stream { packet.context := struct { u8 packet_size; t64 timestamp_begin; t64 timestamp_end; }; \
         event.header := struct { t64 t; }; }; event { name = x; };",
    );
    let check = |name: &str, begin: u64, end: u64, expect: &[&str]| {
        let packet = bytes!(25 * 8_u8, begin, end, 50_u64);
        let trace = write(&text, &[("s", &packet)]);
        assert_eq!(shown(trace.path()).unwrap(), expect, "{name}");
    };
    let (stream, event) = ("[\"S\",0,0,\"s\",1]", "[\"E\",50,50,0,\"x\",null,null,null]");
    check("an event after the end (lttng-ust)", 40, 45, &[stream, "[\"P\",40,50,null]", event]);
    check("an event before the begin (barectf)", 60, 70, &[stream, "[\"P\",50,70,null]", event]);
    let odd = "! the packet ends before it begins; read all the same";
    check("no end (lttng-crash)", 40, 0, &[odd, stream, "[\"P\",40,50,null]", event]);
}

#[test]
fn losses_of_every_width() {
    let text = metadata(
        "stream { packet.context := struct { u8 packet_size; u8 events_discarded; u8 packet_seq_num; }; }; \
         event { name = x; fields := struct { u8 n; }; };",
    );
    // The first count is of unknown begin; then three, a wrap, a reset.
    let packets = [[5_u8, 253], [8, 254], [250, 255], [3, 1], [3, 2], [2, 3]];
    let stream: Vec<u8> = packets.iter().flat_map(|[lost, number]| [32, *lost, *number, 7]).collect();
    let reading = reading(text.as_bytes(), &stream);
    assert_eq!(reading.events.len(), packets.len());
    assert_eq!(
        reading.losses,
        [
            (Lost::Events(5), 0),
            (Lost::Events(3), 1),
            (Lost::Events(242), 2),
            (Lost::Events(9), 3),
            (Lost::Packets(1), 3),
        ]
    );
}

#[test]
fn files_of_a_trace() {
    let text = "/* CTF 1.8 */ trace { byte_order = le; packet.header := struct { integer { size = 8; } stream_id; \
                integer { size = 8; } stream_instance_id; }; }; clock { name = m; }; \
                stream { id = 0; packet.context := struct { integer { size = 8; } packet_size; \
                integer { size = 64; map = clock.m.value; } timestamp_begin; }; }; \
                event { name = x; stream_id = 0; fields := struct { integer { size = 8; } n; }; };";
    let packet = |stream: u8, begin: u64, n: u8| bytes!(0_u8, stream, 96_u8, begin, n);
    // A tracer that rotates its files writes them in turn; other streams are apart.
    let first = [packet(7, 30, 3), packet(7, 40, 4)].concat();
    let second = [packet(7, 10, 1), packet(7, 20, 2)].concat();
    let other = packet(8, 5, 9);
    let trace = write(
        text,
        &[
            ("ch_0_0", &first),
            ("ch_0_1", &second),
            ("ch_1_0", &other),
            (".hidden", &[1; 40]),
            ("index/other", &[1; 40]),
            ("notes/README", b"not a stream"),
            ("empty", &[]),
        ],
    );
    let reading = read(trace.path()).unwrap();
    assert_eq!(
        reading.events,
        ["x {\"n\":1}", "x {\"n\":2}", "x {\"n\":3}", "x {\"n\":4}", "x {\"n\":9}"].map(|event| {
            let n = event.as_bytes()[7] - b'0';
            format!("{} {event}", if n == 9 { 5 } else { u32::from(n) * 10 })
        })
    );
    assert_eq!(reading.diagnostics, ["Note ch_0_0: packets were not in the order of time; they were sorted"]);
    let trace = Trace::open(trace.path()).unwrap();
    assert_eq!(trace.streams().len(), 2);
    assert_eq!(trace.file_names().collect::<Vec<_>>(), ["ch_0_0", "ch_0_1", "ch_1_0", "empty"]);
}
