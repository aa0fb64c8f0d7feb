//! Lengths, tags and values that metadata allow and readers do not expect.

use isochrone_ctf::Trace;

use super::check_trace;
use crate::bytes;
use crate::common::{event, metadata, read, shown, write};

/// Two packets whose events have such fields: one of a bad event, one of a good one.
#[track_caller]
fn check_fields(row: &str, fields: &str, bad: &[u8], message: &str, good: &[u8], shown: &str) {
    let text = metadata(&format!(
        "stream {{ packet.context := struct {{ u32 content_size; u32 packet_size; }}; }}; \
         event {{ name = x; fields := struct {{ {fields} }}; }};"
    ));
    let packet = |body: &[u8]| {
        let bits = (8 + body.len() as u32) * 8;
        [&bytes!(bits, bits), body].concat()
    };
    let stream = [packet(bad), packet(good)].concat();
    let message = format!("Loss s packet 0 byte 8: the rest of the packet is skipped: {message}");
    check_trace(row, &text, &[("s", &stream)], &[format!("x {shown}")], &[&message]);
}

#[test]
fn lengths_beyond_the_packet() {
    let no_fit = |bits: u64| format!("a field of {bits} bits does not fit the packet's content");
    let too_many = |count: u64| format!("an array of {count} elements does not fit the packet");
    let two = "{\"n\":2,\"d\":[97,98]}";
    for (row, count, message) in [
        ("sequence length 2^63", 1_u64 << 63, too_many(1 << 63)),
        ("sequence length 2^32-1", u64::from(u32::MAX), no_fit(u64::from(u32::MAX) * 8)),
        ("sequence length 2^40", 1 << 40, no_fit(1 << 43)),
    ] {
        check_fields(
            row,
            "u64 n; u8 d[n];",
            &bytes!(count, 0_u32),
            &message,
            &bytes!(2_u64, b'a', b'b'),
            two,
        );
    }
    let no_end = "a string has no end within the packet";
    check_fields(
        "sequence length 2^63 of strings",
        "u64 n; string d[n];",
        &bytes!(1_u64 << 63, 1_u8),
        no_end,
        &bytes!(1_u64, b'a', 0_u8),
        "{\"n\":1,\"d\":[\"a\"]}",
    );
    check_fields(
        "2^36 empty structs in sequence",
        "u64 n; struct { } d[n];",
        &bytes!(1_u64 << 36),
        &too_many(1 << 36),
        &bytes!(2_u64),
        "{\"n\":2,\"d\":[{},{}]}",
    );
    check_fields(
        "text sequence 2^40",
        "u64 n; integer { size = 8; encoding = UTF8; } d[n];",
        &bytes!(1_u64 << 40, 0_u32),
        &no_fit(1 << 43),
        &bytes!(2_u64, b'a', b'b'),
        "{\"n\":2,\"d\":\"ab\"}",
    );
    // As in the suite: a length that is read from what is no length.
    check_fields(
        "out-of-bound-large-sequence-length",
        "u32 n; u32 d[n];",
        &bytes!(0x4242_4242_u32, 0_u32),
        &no_fit(0x4242_4242 * 32),
        &bytes!(1_u32, 7_u32),
        "{\"n\":1,\"d\":[7]}",
    );
}

#[test]
fn an_array_larger_than_any_packet() {
    let trace = write(&event("u8 d[2147483647];"), &[("s", b"abcd")]);
    let reading = read(trace.path()).unwrap();
    assert_eq!(reading.events, <[String; 0]>::default());
    assert_eq!(
        reading.diagnostics,
        [
            "Loss s packet 0 byte 0: the rest of the packet is skipped: a field of 17179869176 bits does not fit the packet's \
          content"
        ],
        "array 2^31 in metadata"
    );
}

#[test]
fn events_without_size() {
    let text = metadata(
        "stream { packet.context := struct { u32 content_size; u32 packet_size; }; }; event { name = x; };",
    );
    let packets = bytes!(80_u32, 80_u32, 7_u16, 64_u32, 64_u32);
    check_trace(
        "event-empty (zero-size event)",
        &text,
        &[("s", &packets)],
        &[],
        &["Loss s packet 0 byte 8: the rest of the packet is skipped: an event takes no space"],
    );
}

#[test]
fn integers_of_65_bits_are_bytes_and_of_none_are_refused() {
    let text = event("integer { size = 65; } n; integer { size = 7; } rest;");
    let trace = write(&text, &[("s", &[1, 0, 0, 0, 0, 0, 0, 0, 3])]);
    let lines = shown(trace.path()).unwrap();
    let expect = "[\"E\",null,null,0,\"x\",null,null,{\"n\":\"x010000000000000001\",\"rest\":1}]";
    assert_eq!(lines.last().unwrap(), expect, "integer size 65: {lines:?}");

    let trace = write(&event("integer { size = 0; } n;"), &[("s", &[1])]);
    let error = Trace::open(trace.path()).map(drop).unwrap_err().to_string();
    assert!(error.contains("an integer of 0 bits"), "integer size 0: {error}");
}

#[test]
fn tags_that_choose_nothing() {
    check_fields(
        "enum tag without option",
        "enum : u8 { A, B } tag; variant <tag> { struct { } A; string B; } v;",
        &[7],
        "the selector value 7 chooses no option of a variant",
        &[1, b'x', 0],
        "{\"tag\":[1,[\"B\"]],\"v\":{\"B\":\"x\"}}",
    );
    // No value of the tag is called `C`: that option is never chosen, and the others are.
    check_fields(
        "missing enum mapping for an option",
        "enum : u8 { A, B } tag; variant <tag> { u8 A; u16 B; u32 C; } v;",
        &[2, 0, 0, 0, 0],
        "the selector value 2 chooses no option of a variant",
        &[0, 9],
        "{\"tag\":[0,[\"A\"]],\"v\":{\"A\":9}}",
    );
}

#[test]
fn structures_nested_without_end() {
    for depth in [3000, 100_000] {
        let fields = format!("{} u8 z; {}", "struct { ".repeat(depth), "} n; ".repeat(depth));
        let trace = write(&event(&fields), &[("s", &[5])]);
        let error = Trace::open(trace.path()).map(drop).unwrap_err().to_string();
        assert!(
            error.contains("types are nested more than 256 levels deep"),
            "struct nested {depth}: {error}"
        );
    }
    let fields = format!("{} u8 z; {}", "struct { ".repeat(200), "} n; ".repeat(200));
    let trace = write(&event(&fields), &[("s", &[5])]);
    let reading = read(trace.path()).unwrap();
    assert!(reading.events[0].contains("{\"z\":5}"), "struct nested 200: {:?}", reading.events);
}

/// Checks the dump of a stream of one packet.
fn check_dump(row: &str, text: &str, stream: &[u8], expect: &[&str]) {
    let trace = write(text, &[("s", stream)]);
    assert_eq!(shown(trace.path()).unwrap()[2..], *expect, "{row}");
}

#[test]
fn odd_values_are_values() {
    let text = "/* CTF 1.8 */ trace { byte_order = le; }; clock { name = m; offset_s = -2; offset = -5; };\
                stream { event.header := struct { integer { size = 64; map = clock.m.value; } t; }; }; event { name = x; };";
    check_dump("negative offset_s", text, &bytes!(1_u64), &["[\"E\",-2000000004,1,0,\"x\",null,null,null]"]);
    check_dump(
        "invalid UTF-8",
        &event("string s;"),
        b"\xff\xfe\x80\0ok\0",
        &[
            "[\"E\",null,null,0,\"x\",null,null,{\"s\":\"\\udcff\\udcfe\\udc80\"}]",
            "[\"E\",null,null,0,\"x\",null,null,{\"s\":\"ok\"}]",
        ],
    );
    check_dump(
        "NaN/Inf",
        &event(
            "floating_point { exp_dig = 8; mant_dig = 24; } f; floating_point { exp_dig = 11; mant_dig = 53; } d;",
        ),
        &bytes!(f32::NAN.to_bits(), f64::NEG_INFINITY.to_bits()),
        &["[\"E\",null,null,0,\"x\",null,null,{\"f\":\"f7ff8000000000000\",\"d\":\"ffff0000000000000\"}]"],
    );
    check_dump(
        "overlapping enum",
        &event("enum : integer { size = 8; signed = true; } { A = -5 ... 5, B = 0 ... 10, C = 3 } t;"),
        &[3, 0xfb, 9],
        &[
            "[\"E\",null,null,0,\"x\",null,null,{\"t\":[3,[\"A\",\"B\",\"C\"]]}]",
            "[\"E\",null,null,0,\"x\",null,null,{\"t\":[-5,[\"A\"]]}]",
            "[\"E\",null,null,0,\"x\",null,null,{\"t\":[9,[\"B\"]]}]",
        ],
    );
}
