//! Traces of odd but readable bytes are written anew as they are, and values that do not fit are refused.

use crate::common::json::{U8, VU, document, event, located, structure};
use crate::common::{metadata, shown, write};
use isochrone_ctf::plan::Plan;
use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::write::{BitWriter, EncodeError, NewClock, copy_trace, encode, rewrite_trace};
use isochrone_ctf::{Trace, Value, parse_metadata};

/// Writes a trace of one file anew; gives the bytes of that file.
fn rewritten(text: &str, bytes: &[u8]) -> Vec<u8> {
    let trace = write(text, &[("s", bytes)]);
    let copy = trace.path().join("copy");
    rewrite_trace(&Trace::open(trace.path()).unwrap(), &copy).unwrap();
    assert_eq!(shown(&copy).unwrap(), shown(trace.path()).unwrap());
    std::fs::read(copy.join("s")).unwrap()
}

#[test]
fn bytes_stay_where_values_would_say_something_else() {
    let check = |text: &str, bytes: &[u8]| assert_eq!(rewritten(text, bytes), bytes, "{text}");
    // Text in UTF-16 of an odd number of bytes.
    let text = located("dynamic-length-string", r#"["n"]"#, r#", "encoding": "utf-16le""#);
    check(&event(&[("n", U8), ("s", &text), ("m", U8)]), &[3, 0x61, 0, 0x62, 9, 2, 0x63, 0, 8]);
    // Numbers of variable length that take more bytes than they need, also more than 64 bits would.
    check(&event(&[("v", VU), ("m", U8)]), &[0x85, 0x80, 0, 7]);
    let wide = [[0x80; 12].as_slice(), &[0, 7]].concat();
    check(&event(&[("v", VU), ("m", U8)]), &wide);
    // What cannot be decoded after them.
    let string = r#"{"type": "null-terminated-string"}"#;
    check(&event(&[("v", VU), ("s", string)]), &[wide.as_slice(), b"\0\x05no end"].concat());
    // A signed number that needs the 65th bit is no negative one.
    let signed = r#"{"type": "variable-length-signed-integer"}"#;
    check(&event(&[("v", signed)]), &[[0xff; 10].as_slice(), &[0]].concat());
}

/// Metadata whose packets record their sizes in numbers of variable length.
fn variable_head(optional: bool) -> String {
    let role = |role: &str| format!(r#"{{"type": "variable-length-unsigned-integer", "roles": ["{role}"]}}"#);
    let total = role("packet-total-length");
    let total = match optional {
        true => {
            let rest = format!(r#", "selector-field-ranges": [[1, 1]], "field-class": {total}"#);
            located("optional", r#"["there"]"#, &rest)
        }
        false => total,
    };
    let content = role("packet-content-length");
    let context = structure(&[("there", U8), ("total", &total), ("content", &content)]);
    let header = structure(&[("t", &role("default-clock-timestamp"))]);
    let payload = structure(&[("s", r#"{"type": "null-terminated-string"}"#)]);
    document(&[
        r#"{"type": "clock-class", "id": "c"}"#,
        &format!(
            r#"{{"type": "data-stream-class", "default-clock-class-id": "c", "packet-context-field-class": {context},
                 "event-record-header-field-class": {header}}}"#
        ),
        &format!(r#"{{"type": "event-record-class", "name": "x", "payload-field-class": {payload}}}"#),
    ])
}

#[test]
fn packet_heads_of_variable_length_keep_their_space() {
    let packet = |total: &[u8], content: &[u8], events: &[u8]| [&[1], total, content, events].concat();
    let whole = packet(&[0xd8, 0], &[0xc0, 0], &[5, b'a', 0, 6, 0, 0xff]);
    let broken = packet(&[0x98, 1], &[0x98, 1], &[[5, b'a', 0, 6].as_slice(), &[b'b'; 10]].concat());
    for optional in [false, true] {
        let text = variable_head(optional);
        assert_eq!(rewritten(&text, &whole)[..8], whole[..8], "{optional}");
        // The event that cannot be decoded is left out: the content ends before it.
        let copy = rewritten_lossy(&text, &broken);
        assert_eq!((copy.len(), &copy[..8]), (broken.len(), &[1, 0x98, 1, 0xc0, 0, 5, b'a', 0][..]));
        let trace = write(&text, &[("s", &whole)]);
        let target = trace.path().join("copy");
        let clock = NewClock { class: ClockClass::monotonic("c"), map: &|ns| u64::try_from(ns + 1000).ok() };
        copy_trace(&Trace::open(trace.path()).unwrap(), &target, &clock).unwrap();
        let lines = shown(&target).unwrap();
        assert!(lines[2].starts_with("[\"E\",1005,1005,"), "{lines:?}");
    }
}

fn rewritten_lossy(text: &str, bytes: &[u8]) -> Vec<u8> {
    let trace = write(text, &[("s", bytes)]);
    let copy = trace.path().join("copy");
    let summary = rewrite_trace(&Trace::open(trace.path()).unwrap(), &copy).unwrap();
    assert_eq!((summary.events, summary.lost.len()), (1, 1));
    std::fs::read(copy.join("s")).unwrap()
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let check = |fields: &str, value: Value, expect: Result<&[u8], EncodeError>| {
        let text = metadata(&format!("event {{ fields := struct {{ {fields} }}; }};"));
        let plan = Plan::compile(&parse_metadata(&text).unwrap());
        let mut out = BitWriter::default();
        let node = plan.streams[0].events[0].payload.as_ref().unwrap();
        let encoded = encode(node, &Value::Struct(vec![value.clone()]), &mut out);
        assert_eq!(encoded.map(|()| out.bytes()), expect, "{value:?}");
    };
    let signed = "integer { size = 8; signed = true; } n;";
    let too_large = |value: u64, bits| Err(EncodeError::TooLarge { value, bits });
    check("u8 n;", Value::Unsigned(255), Ok(&[255]));
    check("u8 n;", Value::Signed(5), Ok(&[5]));
    check("u8 n;", Value::Signed(-1), too_large(u64::MAX, 8));
    check("u8 n;", Value::Unsigned(256), too_large(256, 8));
    check(signed, Value::Signed(-128), Ok(&[128]));
    check(signed, Value::Unsigned(200), too_large(200, 8));
    check(signed, Value::Signed(-129), too_large((-129_i64) as u64, 8));
    check("integer { size = 72; } n;", Value::Wide(vec![1; 8]), Err(EncodeError::Mismatch));

    let check = |value: Value, expect: Result<&[u8], EncodeError>| {
        let plan = Plan::compile(&parse_metadata(&event(&[("v", VU)])).unwrap());
        let mut out = BitWriter::default();
        let node = plan.streams[0].events[0].payload.as_ref().unwrap();
        let encoded = encode(node, &Value::Struct(vec![value.clone()]), &mut out);
        assert_eq!(encoded.map(|()| out.bytes()), expect, "{value:?}");
    };
    check(Value::Wide(Vec::new()), Ok(&[0]));
    check(Value::Padded(5, 3), Ok(&[0x85, 0x80, 0]));
    check(Value::Padded(5, 12), Err(EncodeError::Mismatch));
    check(Value::Signed(-1), too_large(u64::MAX, 64));
}
