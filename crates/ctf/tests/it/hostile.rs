//! Streams that contradict themselves or their metadata: what can be read is read right, the rest costs a diagnostic, all
//! in bounded time and memory.

use crate::bytes;
use crate::common::{COMPACT, event, metadata, shown, write};
use isochrone_ctf::Trace;
use isochrone_ctf::plan::Plan;
use isochrone_ctf::schema::Scope;

/// Checks what a reader makes of one stream file: complaints (`!`) and lines of the dump.
fn check(name: &str, text: &str, stream: &[u8], expect: &[&str]) {
    let trace = write(text, &[("s", stream)]);
    let lines = shown(trace.path()).unwrap();
    assert_eq!(lines, expect, "{name}");
}

const STREAM: [&str; 2] = ["[\"S\",0,0,\"s\",0]", "[\"P\",null,null,null]"];

#[test]
fn elements_without_size_are_limited() {
    let refused = |name: &str, fields: &str, stream: &[u8], message: &str| {
        let complaint = format!("! the rest of the packet is skipped: {message}");
        check(name, &event(fields), stream, &[STREAM[0], STREAM[1], &complaint]);
    };
    let array = |count: u64| format!("an array of {count} elements does not fit the packet");
    refused("nested", "u8 n; struct { } e[30000][30000];", &[0], &array(900_030_000));
    refused("counted", "u32 n; struct { } e[n];", &bytes!(65_537_u32), &array(65_537));
    refused("counted, nested", "u16 n; struct { } e[n][n];", &bytes!(300_u16), &array(300));
    let text = "u16 n; struct { struct { } inner[n]; } e[300];";
    refused("in a structure", text, &bytes!(300_u16), &array(300));
    refused("many per byte", "struct { u8 c; struct { } e[1000]; } r[100];", &[0; 100], &array(100_000));
    refused(
        "a huge count",
        "u64 n; string s[n];",
        &bytes!(u64::MAX, 0_u8),
        "a string has no end within the packet",
    );
    // As many as may be.
    let trace = write(&event("u32 n; struct { } e[n];"), &[("s", &bytes!(65_536_u32))]);
    let lines = shown(trace.path()).unwrap();
    assert_eq!(lines.len(), 3);
    assert!(lines[2].ends_with("{},{}]}]"));
    let trace = write(&event("u8 n; struct { u8 c; struct { } e[20]; } r[3];"), &[("s", &[1, 2, 3, 4])]);
    assert_eq!(shown(trace.path()).unwrap().last().unwrap().matches("{}").count(), 60);
}

#[test]
fn broken_packets_fill_no_memory() {
    let context = "stream { packet.context := struct { u8 packet_size; u8 content_size; }; };\
                   event { name = x; fields := struct { string n; }; };";
    let cases: [(&str, &[u8], usize, usize); 2] =
        [("content less than the head", &[16, 1], 101, 0), ("a string without an end", &[24, 24, 7], 0, 101)];
    for (name, packet, opened, read) in cases {
        let trace = write(&metadata(context), &[("s", &packet.repeat(10_000))]);
        let trace = Trace::open(trace.path()).unwrap();
        assert_eq!(trace.diagnostics().len(), opened, "{name}");
        let mut events = (0..trace.streams().len()).map(|stream| trace.events(stream)).next();
        let diagnostics = events.as_mut().map_or(&[][..], |events| {
            assert_eq!(events.by_ref().count(), 0);
            events.diagnostics()
        });
        assert_eq!(diagnostics.len(), read, "{name}");
        let last = trace.diagnostics().iter().chain(diagnostics).last().unwrap();
        assert_eq!(last.message, "and 9900 more like these", "{name}");
    }
    assert!(size_of::<isochrone_ctf::Packet>() <= 72);
}

#[test]
fn tiny_packets_fill_no_memory() {
    let text = metadata("stream { packet.context := struct { u8 packet_size; }; }; event { name = x; };");
    let free = 1 << 17;
    let check = |files: &[(&str, &[u8])], packets: &[usize], expect: &[&str]| {
        let directory = write(&text, files);
        let trace = Trace::open(directory.path()).unwrap();
        let found: Vec<usize> = trace.streams().iter().map(|stream| stream.packets.len()).collect();
        assert_eq!(found, packets);
        let said: Vec<String> = trace
            .diagnostics()
            .iter()
            .map(|found| {
                format!("{:?} {:?} {:?}: {}", found.severity, found.packet, found.offset, found.message)
            })
            .collect();
        assert_eq!(said, expect);
    };
    let tiny = vec![8; free + 10_000];
    let why = |packets: usize, bytes: usize| {
        format!(
            "the trace has {packets} packets before them, of {bytes} bytes on the average: beyond {free} packets they must be larger"
        )
    };
    // Those beyond the free ones are paid by 32 bytes each.
    let most = free * 32 / 31 + 1;
    let lost = |packet: usize, left: usize, why: &str| {
        format!("Loss Some({packet}) Some({packet}): the last {left} bytes of the file are skipped: {why}")
    };
    check(&[("s", &tiny)], &[most], &[&lost(most, free + 10_000 - most, &why(most, 1))]);
    // The files of a trace count together.
    let (a, b) = tiny.split_at(100_000);
    let left = b.len() - (most - a.len());
    let second = lost(most - a.len(), left, &why(most, 1));
    check(&[("a", a), ("b", b)], &[a.len(), most - a.len()], &[&second]);
    let mut large = vec![0; 31];
    large.insert(0, 248);
    check(&[("s", &large[..31].repeat(free))], &[free], &[]);
    check(&[("s", &tiny[..free])], &[free], &[]);
}

#[test]
fn one_event_fills_no_memory() {
    /// Takes what is written, and remembers the longest piece.
    #[derive(Default)]
    struct Pieces {
        text: Vec<u8>,
        longest: usize,
    }
    impl std::io::Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.longest = self.longest.max(bytes.len());
            self.text.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let name = "n".repeat(10_000);
    let bits = format!("struct {{ integer {{ size = 1; }} {name}; }}");
    let check = |text: &str, stream: &[u8], lines: usize, repeated: &str, times: usize| {
        let directory = write(text, &[("s", stream)]);
        let trace = Trace::open(directory.path()).unwrap();
        let mut pieces = Pieces::default();
        isochrone_ctf::dump::dump(&trace, &mut pieces).unwrap();
        assert!(pieces.longest < 200_000, "{} bytes at once", pieces.longest);
        let text = String::from_utf8(pieces.text).unwrap();
        assert_eq!((text.lines().count(), text.matches(repeated).count()), (lines, times));
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    };
    let stream = [2000_u32.to_le_bytes().as_slice(), &[0; 250]].concat();
    check(&event(&format!("u32 n; {bits} x[n];")), &stream, 4, &name, 2000);
    // An event that cannot be read to its end.
    let bad = format!("u32 n; enum : u8 {{ a = 1 }} t; {bits} x[n]; variant <t> {{ u8 a; }} v;");
    let stream = [2000_u32.to_le_bytes().as_slice(), &[2], &[0; 251]].concat();
    check(&event(&bad), &stream, 3, &name, 0);
    check(&event("string s;"), &[vec![b'x'; 1_000_000], vec![0]].concat(), 4, "x", 1_000_000 + 1);
    let context = format!(
        "stream {{ packet.context := struct {{ u32 n; {bits} x[2000]; }}; }}; event {{ name = x; }};"
    );
    check(&metadata(&context), &[0; 254], 3, &name, 2000);
}

#[test]
fn headers_are_decoded_as_declared() {
    let struct_n = "event { name = x; id = 0; fields := struct { u8 n; }; };";
    let of = |header: &str| metadata(&format!("stream {{ event.header := {header}; }}; {struct_n}"));
    let shifted = COMPACT.replace("} compact;", "} align(8) compact;");
    check(
        "a short form that is aligned",
        &of(&shifted),
        &[0, 5, 0, 0, 0, 9, 0, 6, 0, 0, 0, 10],
        &[
            "[\"S\",0,0,\"s\",2]",
            STREAM[1],
            "[\"E\",5,5,0,\"x\",null,null,{\"n\":9}]",
            "[\"E\",6,6,0,\"x\",null,null,{\"n\":10}]",
        ],
    );
    let packed = COMPACT.replace(
        "struct { u32 id; t64 t; }",
        "struct { integer { size = 32; align = 1; } id; \
                                  integer { size = 64; align = 1; map = clock.m.value; } t; }",
    );
    check(
        "a full form without alignment",
        &of(&packed),
        &bytes!(31_u128 | (77 << 37), 0_u8)[..14],
        &["[\"S\",0,0,\"s\",1]", STREAM[1], "[\"E\",77,77,0,\"x\",null,null,{\"n\":0}]"],
    );
    let context = "packet.context := struct { u32 content_size; u32 packet_size; \
                   enum : u8 { compact = 0 ... 30, extended = 31 } kind; };";
    let other = COMPACT.replace("variant <id>", "variant <stream.packet.context.kind>");
    let text = metadata(&format!("stream {{ {context} event.header := {other}; }}; {struct_n}"));
    let bits = (9 + 1 + 12 + 1) * 8_u32;
    check(
        "a selector that is not the id",
        &text,
        &bytes!(bits, bits, 31_u8, 0_u8, 0_u32, 77_u64, 9_u8),
        &[
            "[\"S\",0,0,\"s\",1]",
            "[\"P\",null,null,{\"kind\":[31,[\"extended\"]]}]",
            "[\"E\",77,77,0,\"x\",null,null,{\"n\":9}]",
        ],
    );
    let variant = "struct { variant <stream.packet.context.kind> { u8 compact; u32 extended; } v; }";
    let text = metadata(&format!("stream {{ {context} event.header := {variant}; }}; {struct_n}"));
    let bits = (9 + 10) * 8_u32;
    check(
        "a selector in the packet context",
        &text,
        &bytes!(bits, bits, 31_u8, 0_u32, 10_u8, 0_u32, 11_u8),
        &[
            "[\"S\",0,0,\"s\",2]",
            "[\"P\",null,null,{\"kind\":[31,[\"extended\"]]}]",
            "[\"E\",null,null,0,\"x\",null,null,{\"n\":10}]",
            "[\"E\",null,null,0,\"x\",null,null,{\"n\":11}]",
        ],
    );
    check(
        "a signed time",
        &of("struct { integer { size = 32; signed = true; map = clock.m.value; } t; }"),
        &bytes!(0x8000_0000_u32, 1_u8, 0x8000_0001_u32, 2_u8),
        &[
            "[\"S\",0,0,\"s\",2]",
            STREAM[1],
            "[\"E\",2147483648,2147483648,0,\"x\",null,null,{\"n\":1}]",
            "[\"E\",2147483649,2147483649,0,\"x\",null,null,{\"n\":2}]",
        ],
    );
}

#[test]
fn selectors_and_lengths_are_those_of_the_event() {
    check(
        "a length in an option that was not chosen",
        &event("enum : u8 { a, b } tag; variant <tag> { u8 a; u8 b; } v; u8 seq[v.a];"),
        &[0, 2, 7, 8, 1, 5, 0, 1, 9],
        &[
            "[\"S\",0,0,\"s\",3]",
            STREAM[1],
            "[\"E\",null,null,0,\"x\",null,null,{\"tag\":[0,[\"a\"]],\"v\":{\"a\":2},\"seq\":[7,8]}]",
            "[\"E\",null,null,0,\"x\",null,null,{\"tag\":[1,[\"b\"]],\"v\":{\"b\":5},\"seq\":[]}]",
            "[\"E\",null,null,0,\"x\",null,null,{\"tag\":[0,[\"a\"]],\"v\":{\"a\":1},\"seq\":[9]}]",
        ],
    );
    check(
        "the same in the elements of an array",
        &event("struct { enum : u8 { a, b } tag; variant <tag> { u8 a; u8 b; } v; u8 seq[v.a]; } e[2];"),
        &[0, 1, 7, 1, 5],
        &[
            "[\"S\",0,0,\"s\",1]",
            STREAM[1],
            "[\"E\",null,null,0,\"x\",null,null,{\"e\":[{\"tag\":[0,[\"a\"]],\"v\":{\"a\":1},\"seq\":[7]},\
             {\"tag\":[1,[\"b\"]],\"v\":{\"b\":5},\"seq\":[]}]}]",
        ],
    );
    check(
        "a signed selector",
        &event(
            "enum : integer { size = 8; signed = true; } { a = 0, b = 1 ... 18446744073709551615 } tag; \
             variant <tag> { u8 a; u32 b; } v;",
        ),
        &[255, 1, 2, 3, 4],
        &[
            "! line 7, column 91: the label `b` is for values that its integer never has: that holds -128 to 127",
            STREAM[0],
            STREAM[1],
            "! the rest of the packet is skipped: the selector value -1 chooses no option of a variant",
        ],
    );
}

#[test]
fn packets_are_read_as_declared() {
    let of = |context: &str, header: &str| {
        metadata(&format!(
            "stream {{ packet.context := struct {{ u32 content_size; u32 packet_size; {context} }}; {header} }}; \
             event {{ name = x; fields := struct {{ u8 n; }}; }};"
        ))
    };
    let signed = "integer { size = 32; signed = true; } events_discarded;";
    let bits = 13 * 8_u32;
    check(
        "a signed counter",
        &of(signed, ""),
        &bytes!(bits, bits, 2_147_483_647_u32, 7_u8, bits, bits, 0x8000_0001_u32, 8_u8),
        &[
            "[\"S\",0,0,\"s\",2]",
            "[\"DE\",2147483647,null,null]",
            STREAM[1],
            "[\"E\",null,null,0,\"x\",null,null,{\"n\":7}]",
            "[\"DE\",2,null,null]",
            STREAM[1],
            "[\"E\",null,null,0,\"x\",null,null,{\"n\":8}]",
        ],
    );
    let timed = of("t32 timestamp_begin;", "event.header := struct { t32 t; };");
    let bits = 17 * 8_u32;
    check(
        "a begin that wraps",
        &timed,
        &bytes!(bits, bits, 0xffff_fff0_u32, 0xffff_fff1_u32, 1_u8, bits, bits, 16_u32, 17_u32, 2_u8),
        &[
            "[\"S\",0,0,\"s\",2]",
            "[\"P\",4294967280,null,null]",
            "[\"E\",4294967281,4294967281,0,\"x\",null,null,{\"n\":1}]",
            "[\"P\",4294967312,null,null]",
            "[\"E\",4294967313,4294967313,0,\"x\",null,null,{\"n\":2}]",
        ],
    );
    let bits = 25 * 8_u32;
    check(
        "an end before the begin",
        &of("t64 timestamp_begin; t64 timestamp_end;", ""),
        &bytes!(bits, bits, 9_u64, 3_u64, 1_u8),
        &[
            "! the packet ends before it begins; read all the same",
            "[\"S\",0,0,\"s\",1]",
            "[\"P\",9,9,null]",
            "[\"E\",9,9,0,\"x\",null,null,{\"n\":1}]",
        ],
    );
}

#[test]
fn a_packet_of_an_unknown_class_costs_itself() {
    let head = "/* CTF 1.8 */ trace { byte_order = le; packet.header := struct { integer { size = 8; } stream_id; }; };\n\
                typealias integer { size = 8; } := u8;";
    let stream = |id: u32, context: &str| {
        format!("stream {{ id = {id}; packet.context := struct {{ {context} }}; }};")
    };
    let event = "event { name = x; stream_id = 0; fields := struct { u8 n; }; };";
    let known = ["[\"P\",null,null,null]", "[\"E\",null,null,0,\"x\",null,null,{\"n\":1}]"];
    let third = ["[\"P\",null,null,null]", "[\"E\",null,null,0,\"x\",null,null,{\"n\":3}]"];
    let data = [0, 24, 1, 7, 24, 2, 0, 24, 3];
    let skipped = "! packet skipped: no stream class has the id 7";
    let text =
        format!("{head} {} {} {event}", stream(0, "u8 packet_size;"), stream(1, "u8 packet_size; u8 m;"));
    check(
        "one layout",
        &text,
        &data,
        &[skipped, "[\"S\",0,0,\"s\",2]", known[0], known[1], third[0], third[1]],
    );
    let text =
        format!("{head} {} {} {event}", stream(0, "u8 packet_size;"), stream(1, "u8 m; u8 packet_size;"));
    let tail = "! the last 6 bytes of the file are skipped: no stream class has the id 7";
    check("two layouts", &text, &data, &[tail, "[\"S\",0,0,\"s\",1]", known[0], known[1]]);
}

#[test]
fn files_without_times_are_in_the_order_of_their_packets() {
    let text = |sequence: &str| {
        format!(
            "/* CTF 1.8 */ trace {{ byte_order = le; packet.header := struct {{ integer {{ size = 8; }} stream_id; \
             integer {{ size = 8; }} stream_instance_id; }}; }}; stream {{ id = 0; packet.context := struct {{ \
             integer {{ size = 8; }} packet_size; {sequence} }}; }}; \
             event {{ name = x; fields := struct {{ integer {{ size = 8; }} n; }}; }};"
        )
    };
    let order = |text: &str, files: &[(&str, &[u8])]| -> Vec<u64> {
        let trace = write(text, files);
        let trace = Trace::open(trace.path()).unwrap();
        assert_eq!(trace.streams().len(), 1);
        let class = &trace.stream_plan(0).events[0];
        let field = class.payload_field(trace.stream_plan(0), &["n"]).unwrap();
        trace.events(0).map(|event| event.unsigned(&field).unwrap()).collect()
    };
    let numbered = text("integer { size = 8; } packet_seq_num;");
    // The numbers of the second file's packets wrap.
    let files: [(&str, &[u8]); 2] =
        [("a", &[0, 5, 40, 255, 3, 0, 5, 40, 0, 4]), ("b", &[0, 5, 40, 253, 1, 0, 5, 40, 254, 2])];
    assert_eq!(order(&numbered, &files), [1, 2, 3, 4]);
    assert_eq!(order(&text(""), &[("a", &[0, 5, 32, 1]), ("b", &[0, 5, 32, 2])]), [1, 2]);
}

#[test]
fn fields_belong_to_their_class() {
    let text = metadata(
        "stream { event.header := struct { u8 id; }; }; event { id = 0; name = a; fields := struct { u8 x; string s; }; }; \
         event { id = 1; name = b; fields := struct { u32 p; u32 y; string s; }; };",
    );
    let trace = write(&text, &[("s", &[0, 7, b'h', 0, 1, 9, 0, 0, 0, 10, 0, 0, 0, b'i', 0])]);
    let trace = Trace::open(trace.path()).unwrap();
    let plan = trace.stream_plan(0);
    let [y, s] = ["y", "s"].map(|name| plan.events[1].payload_field(plan, &[name]).unwrap());
    let read: Vec<_> = trace.events(0).map(|e| (e.unsigned(&y), e.text(&s), e.size())).collect();
    assert_eq!(read, [(None, None, 4), (Some(10), Some(&b"i"[..]), 11)]);
    // The same class of another trace is another one.
    let other = Plan::compile(trace.schema());
    let foreign = other.streams[0].events[1].field(&other.streams[0], Scope::Payload, &["y"]).unwrap();
    assert!(trace.events(0).all(|event| event.unsigned(&foreign).is_none()));
}

#[test]
fn padding_before_an_event_is_not_part_of_it() {
    let text = metadata(
        "stream { event.header := struct { t64 t; } align(64); }; event { name = x; fields := struct { u8 n; }; };",
    );
    let stream = bytes!(1_u64, 1_u64, 2_u64, 2_u8);
    let trace = write(&text, &[("s", &stream)]);
    let trace = Trace::open(trace.path()).unwrap();
    assert_eq!(trace.events(0).map(|event| event.size()).collect::<Vec<_>>(), [9, 9]);
}
