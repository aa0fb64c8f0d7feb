//! Copies on another clock read as the original with other times, or are refused.

use crate::bytes;
use crate::common::json::{U8, document, structure};
use crate::common::{COMPACT, metadata, shown, write};
use isochrone_ctf::Trace;
use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::write::{CopySummary, NewClock, copy_trace};
use std::path::Path;

fn copy(from: &Path, to: &Path, map: &dyn Fn(i128) -> Option<u64>) -> Result<CopySummary, String> {
    let trace = Trace::open(from).unwrap();
    let clock = NewClock { class: ClockClass::monotonic("m"), map };
    copy_trace(&trace, to, &clock).map_err(|error| error.to_string())
}

/// Adds to a time what is not negative.
fn shift(by: i128) -> impl Fn(i128) -> Option<u64> {
    move |ns| u64::try_from(ns + by).ok()
}

/// Events with one byte, in a stream with this context and header.
fn stream(context: &str, header: &str) -> String {
    let context =
        if context.is_empty() { String::new() } else { format!("packet.context := struct {{ {context} }};") };
    metadata(&format!(
        "stream {{ {context} event.header := {header}; }}; event {{ name = x; id = 1; fields := struct {{ u8 n; }}; }};"
    ))
}

/// Times and bytes of the events in what was shown; complaints as they are.
fn events(lines: &[String]) -> Vec<String> {
    let event = |line: &String| {
        let (_, rest) = line.strip_prefix("[\"E\",")?.split_once(',')?;
        Some(format!("{} {}", rest.split(',').next()?, rest.rsplit_once("\"n\":")?.1.trim_end_matches("}]")))
    };
    lines
        .iter()
        .filter_map(|line| event(line).or_else(|| line.starts_with('!').then(|| line.clone())))
        .collect()
}

#[test]
fn copies_read_as_the_original() {
    let check = |name: &str, text: &str, data: &[u8], by: i128, expect: Result<&[&str], &str>| {
        let trace = write(text, &[("s", data)]);
        let target = trace.path().join("copy");
        match (copy(trace.path(), &target, &shift(by)), expect) {
            (Ok(summary), Ok(expect)) => {
                assert!(summary.lost.is_empty(), "{name}");
                assert_eq!(events(&shown(&target).unwrap()), expect, "{name}");
            }
            (Err(error), Err(expect)) => {
                assert!(error.contains(expect), "{name}: {error}");
                assert!(target.is_dir() && Trace::open(&target).is_err(), "{name}: half a copy is no trace");
            }
            (found, _) => panic!("{name}: {found:?}"),
        }
    };
    let full = bytes!(31_u8, 1_u32, 77_u64, 9_u8);
    let short = bytes!(5_u32 << 5 | 1, 9_u8);
    let sized = stream("u32 packet_size;", COMPACT);
    let with = |head: &[u8], event: &[u8]| [head, event].concat();
    check(
        "no size of the content, a shorter header",
        &sized,
        &with(&bytes!(18 * 8_u32), &full),
        0,
        Ok(&["77 9"]),
    );
    check(
        "no size of the content, a longer header",
        &sized,
        &with(&bytes!(9 * 8_u32), &short),
        1 << 40,
        Ok(&["1099511627781 9"]),
    );
    check("no size at all", &stream("", COMPACT), &full, 0, Ok(&["77 9"]));
    let bits = "struct { integer { size = 1; align = 1; } f; integer { size = 64; align = 1; map = clock.m.value; } t; }";
    let text = stream("", bits).replace("u8 n;", "integer { size = 3; align = 1; } n;");
    check(
        "bits at the end",
        &text,
        &bytes!(5_u64 << 1, 0x0c_u8),
        0,
        Err("content of 68 bits does not fill the packet"),
    );

    let small = stream("u16 content_size; u16 packet_size;", COMPACT);
    let size = ((4 + 5 * 1600) * 8) as u16;
    let short_many = with(&bytes!(size, size), &bytes!(5_u32 << 5 | 1, 9_u8).repeat(1600));
    check("sizes that fit", &small, &short_many, 0, Ok(&vec!["5 9"; 1600]));
    let apart = stream("u16 content_size; u16 packet_size;", COMPACT);
    let full_many: Vec<u8> = (0..500_u64).flat_map(|n| bytes!(31_u8, 1_u32, n << 40, 9_u8)).collect();
    let size = ((4 + full_many.len()) * 8) as u16;
    let times: Vec<String> = (0..500_u64).map(|n| format!("{} 9", n << 40)).collect();
    let times: Vec<&str> = times.iter().map(String::as_str).collect();
    check("sizes that stay", &apart, &with(&bytes!(size, size), &full_many), 0, Ok(&times));

    let narrow = stream("u32 content_size; u32 packet_size; t32 timestamp_begin;", "struct { t32 t; }");
    let size = 17 * 8_u32;
    let packet = |begin: u32, n: u8| bytes!(size, size, begin, begin.wrapping_add(1), n);
    check("a begin that fits", &narrow, &packet(1000, 3), 7, Ok(&["1008 3"]));
    check("a begin that does not", &narrow, &packet(1000, 3), 1 << 40, Err("the 32 bits of a packet's time"));
    let wrapping = [packet(0xffff_fff0, 1), packet(16, 2)].concat();
    check("begins that wrap", &narrow, &wrapping, 7, Ok(&["4294967288 1", "4294967320 2"]));

    let long = stream("u32 content_size; u32 packet_size; t32 timestamp_begin;", "struct { t64 t; }");
    let size = 21 * 8_u32;
    let far = bytes!(size, size, 5_u32, 5_u64 << 32, 1_u8, size, size, 16_u32, 6_u64 << 32, 2_u8);
    check("a packet without an end", &long, &far, 0, Ok(&["21474836480 1", "25769803776 2"]));

    let selector = "struct { enum : u8 { extended = 0, compact = 1 ... 255 } id; variant <id> { \
                    struct { t32 t; } compact; struct { u32 id; t64 t; } extended; } v; } align(8)";
    let extended = bytes!(0_u8, 1_u32, 1_u64 << 40, 9_u8);
    check("another escape", &stream("", selector), &extended, 3, Ok(&["1099511627779 9"]));
    check("another escape, not needed", &stream("", selector), &bytes!(1_u8, 5_u32, 9_u8), 3, Ok(&["8 9"]));
    let other_tag = COMPACT.replace("variant <id>", "variant <stream.packet.context.kind>");
    let context = "u32 content_size; u32 packet_size; enum : u8 { compact = 0 ... 30, extended = 31 } kind;";
    let size = 23 * 8_u32;
    check(
        "a selector that is not the id",
        &stream(context, &other_tag),
        &bytes!(size, size, 31_u8, 1_u8, 1_u32, 77_u64, 9_u8),
        1,
        Ok(&["78 9"]),
    );
}

#[test]
fn traces_of_ctf_2_are_copied() {
    let stamp = r#"{"type": "fixed-length-unsigned-integer", "length": 64, "byte-order": "big-endian", "roles": ["default-clock-timestamp"]}"#;
    let variable = r#"{"type": "variable-length-unsigned-integer", "roles": ["default-clock-timestamp"]}"#;
    let check = |time: &str, data: &[u8], expect: &[&str]| {
        let header = structure(&[("t", time)]);
        let payload = structure(&[("n", U8)]);
        let text = document(&[
            r#"{"type": "clock-class", "id": "c", "uid": "one", "frequency": 1000000000, "attributes": {"a": 1}}"#,
            &format!(
                r#"{{"type": "data-stream-class", "default-clock-class-id": "c", "event-record-header-field-class": {header}}}"#
            ),
            &format!(r#"{{"type": "event-record-class", "name": "x", "payload-field-class": {payload}}}"#),
        ]);
        let trace = write(&text, &[("s", data)]);
        let target = trace.path().join("copy");
        let summary = copy(trace.path(), &target, &shift(1000)).unwrap();
        assert!(summary.lost.is_empty());
        assert_eq!(events(&shown(&target).unwrap()), expect);
        let schema = Trace::open(&target).unwrap().schema().clone();
        assert_eq!(schema.clocks[0].name, "c");
        assert_eq!(schema.attributes.iter().count(), 1);
    };
    check(stamp, &[0, 0, 0, 0, 0, 0, 0, 5, 9, 0, 0, 0, 0, 0, 0, 1, 0, 8], &["1005 9", "1256 8"]);
    check(variable, &[5, 9, 0x84, 1, 8], &["1005 9", "1132 8"]);
}

#[test]
fn packet_heads_may_have_numbers_of_variable_length() {
    let role = |role: &str| format!(r#"{{"type": "variable-length-unsigned-integer", "roles": ["{role}"]}}"#);
    let context = structure(&[
        ("total", &role("packet-total-length")),
        ("content", &role("packet-content-length")),
        ("begin", &role("default-clock-timestamp")),
    ]);
    let header = structure(&[("t", &role("default-clock-timestamp"))]);
    let payload = structure(&[("n", U8)]);
    let text = document(&[
        r#"{"type": "clock-class", "id": "c", "frequency": 1000000000}"#,
        &format!(
            r#"{{"type": "data-stream-class", "default-clock-class-id": "c", "packet-context-field-class": {context},
                 "event-record-header-field-class": {header}}}"#
        ),
        &format!(r#"{{"type": "event-record-class", "name": "x", "payload-field-class": {payload}}}"#),
    ]);
    let trace = write(&text, &[("s", &[48, 40, 3, 5, 9, 0xff, 24, 24, 7])]);
    let target = trace.path().join("copy");
    copy(trace.path(), &target, &shift(1 << 40)).unwrap();
    let lines = shown(&target).unwrap();
    let packets: Vec<_> = lines.iter().filter(|line| line.starts_with("[\"P\"")).collect();
    assert_eq!(packets, ["[\"P\",1099511627779,null,null]", "[\"P\",1099511627783,null,null]"]);
    assert_eq!(events(&lines), ["1099511627781 9"]);
}

#[test]
fn a_bad_time_costs_what_it_stamps() {
    let text = stream(
        "u32 content_size; u32 packet_size; t64 timestamp_begin; t64 timestamp_end;",
        "struct { t64 t; }",
    );
    let (good, bad) = (100_u64, u64::MAX);
    let cases = [
        ("end", [good, bad, good, good], vec!["1100 1", "1100 2", "1300 3"], 0),
        ("event", [good, good, good, bad], vec!["1100 1", "1300 3"], 1),
        ("begin", [bad, good, good, good], vec!["1300 3"], 1),
    ];
    for (name, [begin, end, first, second], expect, lost) in cases {
        let size = (24 + 18) * 8_u32;
        let mut data = bytes!(size, size, begin, end, first, 1_u8, second, 2_u8);
        let size = (24 + 9) * 8_u32;
        data.extend(bytes!(size, size, 300_u64, 300_u64, 300_u64, 3_u8));
        let trace = write(&text, &[("s", &data)]);
        let target = trace.path().join("copy");
        let summary = copy(trace.path(), &target, &shift(1000)).unwrap();
        assert_eq!(summary.lost.len(), lost, "{name}");
        for lost in summary.lost {
            // The event is outside of its packet's times: it cannot be read.
            let expect = match name {
                "event" => "an event has the time 18446744073709551615",
                _ => ": 2 events are not in the copy",
            };
            let message = lost.to_string();
            assert!(message.contains(expect), "{name}: {message}");
        }
        assert_eq!(events(&shown(&target).unwrap()), expect, "{name}");
    }
}

#[test]
fn nothing_is_written_over() {
    let text = stream("", "struct { t32 t; }");
    let trace = write(&text, &[("s", &bytes!(5_u32, 9_u8).repeat(100))]);
    let before = std::fs::read(trace.path().join("s")).unwrap();
    assert!(copy(trace.path(), trace.path(), &shift(1)).unwrap_err().contains("cannot be written"));
    assert_eq!(std::fs::read(trace.path().join("s")).unwrap(), before);
    let target = trace.path().join("some/where/copy");
    // What is above it is the caller's.
    assert!(copy(trace.path(), &target, &shift(1)).is_err());
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    assert!(copy(trace.path(), &target, &shift(1)).is_ok());
    assert!(copy(trace.path(), &target, &shift(1)).is_err());
    assert!(copy(trace.path(), &trace.path().join("some/where/sibling"), &shift(1)).is_ok());
}

#[test]
fn the_new_clock_counts_nanoseconds() {
    let trace = write(&stream("", "struct { t32 t; }"), &[]);
    let target = trace.path().join("copy");
    let class = ClockClass { frequency: 1000, ..ClockClass::monotonic("m") };
    let opened = Trace::open(trace.path()).unwrap();
    let error = copy_trace(&opened, &target, &NewClock { class, map: &shift(0) }).unwrap_err();
    assert!(error.to_string().contains("must count nanoseconds"), "{error}");
    assert!(!target.exists());
}

#[test]
fn a_stream_file_may_be_called_index() {
    let trace = write(&stream("", "struct { t32 t; }"), &[("index", &bytes!(5_u32, 9_u8)), ("s", &[])]);
    let target = trace.path().join("copy");
    copy(trace.path(), &target, &shift(1)).unwrap();
    assert_eq!(events(&shown(&target).unwrap()), ["6 9"]);
}

#[test]
fn odd_clock_names_survive() {
    let text = stream("", "struct { t32 t; }")
        .replace("name = m;", "name = \"m\\\"\\\\\";")
        .replace("clock.m.value", "clock.x.value");
    // No field can name such a clock.
    let text = text.replace("map = clock.x.value; ", "");
    let trace = write(&text, &[("s", &bytes!(5_u32, 9_u8))]);
    let target = trace.path().join("copy");
    copy(trace.path(), &target, &shift(1)).unwrap();
    assert_eq!(Trace::open(&target).unwrap().schema().clocks[0].name, "m\"\\");
}

#[test]
fn floats_keep_all_their_bits() {
    // Not at a byte, so that values are decoded and encoded again.
    let header = "struct { integer { size = 1; align = 1; } b; integer { size = 32; align = 1; map = clock.m.value; } t; }";
    let text = stream("u32 content_size; u32 packet_size;", header).replace(
        "u8 n;",
        "floating_point { exp_dig = 8; mant_dig = 24; align = 1; } f; integer { size = 7; align = 1; } n;",
    );
    for raw in [0x7f80_0001_u32, 0xffc0_0000, 0xff80_1234, 0x7fc0_0001, 0x8000_0000, 0x0000_0001, 0x7f80_0000]
    {
        let size = (8 + 9) * 8_u32;
        let event = (5_u128 << 1 | u128::from(raw) << 33).to_le_bytes();
        let data = [&bytes!(size, size)[..], &event[..9]].concat();
        let trace = write(&text, &[("s", &data)]);
        let target = trace.path().join("copy");
        copy(trace.path(), &target, &shift(0)).unwrap();
        assert_eq!(std::fs::read(target.join("s")).unwrap(), data, "{raw:x}");
    }
}
