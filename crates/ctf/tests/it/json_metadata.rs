//! CTF 2: traces from JSON metadata and a few bytes, and what is said of metadata that are wrong.

use crate::common::json::{BOOL, S8, U8, VU, check_fields, document, event, located, structure, trace};
use crate::common::shown;
use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Trace, parse_metadata};
use proptest::prelude::*;

#[test]
fn fields_of_every_kind() {
    let bits = |kind: &str, length: u32, rest: &str| {
        format!(r#"{{"type": "fixed-length-{kind}", "length": {length}, "byte-order": "big-endian"{rest}}}"#)
    };
    let reversed = r#", "bit-order": "first-to-last""#;
    let flags = r#", "flags": {"low": [[0, 1]], "high": [[6, 7]], "ends": [[0, 0], [7, 7]]}"#;
    let mappings = r#", "mappings": {"one": [[1, 1]], "some": [[0, 5], [9, 9]]}"#;
    check_fields(&[("_a", U8), ("a", S8)], &[1, 0xff], r#"{"_a":1,"a":-1}"#);
    check_fields(&[("b", BOOL), ("c", BOOL)], &[2, 0], r#"{"b":true,"c":false}"#);
    check_fields(&[("b", &bits("bit-array", 8, ""))], &[0x81], r#"{"b":[129,[]]}"#);
    check_fields(&[("b", &bits("bit-array", 8, reversed))], &[0xa0], r#"{"b":[5,[]]}"#);
    check_fields(&[("b", &bits("bit-map", 8, flags))], &[0x80], r#"{"b":[128,["ends","high"]]}"#);
    check_fields(&[("e", &bits("signed-integer", 8, mappings))], &[1], r#"{"e":[1,["one","some"]]}"#);
    check_fields(&[("r", &bits("signed-integer", 8, reversed))], &[0x03], r#"{"r":-64}"#);
    check_fields(
        &[("f", &bits("floating-point-number", 32, ""))],
        &[0x3f, 0x80, 0, 0],
        r#"{"f":"f3ff0000000000000"}"#,
    );
    check_fields(&[("v", VU)], &[0xb1, 0x01], r#"{"v":177}"#);
    let string =
        |encoding: &str| format!(r#"{{"type": "null-terminated-string", "encoding": "{encoding}"}}"#);
    check_fields(&[("s", &string("utf-8"))], b"a\xc3\xa9\0", r#"{"s":"a\u00e9"}"#);
    check_fields(&[("s", &string("utf-16be"))], &[0x5b, 0xff, 0, 0x61, 0, 0], r#"{"s":"\u5bffa"}"#);
    check_fields(&[("s", &string("utf-32le"))], &[0xff, 0x5b, 0, 0, 0, 0, 0, 0], r#"{"s":"\u5bff"}"#);
    let blob = r#"{"type": "static-length-blob", "length": 3, "media-type": "image/tiff"}"#;
    check_fields(&[("b", blob)], &[1, 0xab, 0], r#"{"b":"x01ab00"}"#);
    let array = format!(
        r#"{{"type": "static-length-array", "length": 2, "minimum-alignment": 16, "element-field-class": {U8}}}"#
    );
    check_fields(&[("a", U8), ("b", &array)], &[1, 0, 2, 3], r#"{"a":1,"b":[2,3]}"#);
}

#[test]
fn lengths_and_selectors() {
    let text = located("dynamic-length-string", r#"["n"]"#, "");
    check_fields(&[("n", VU), ("s", &text)], b"\x02hi", r#"{"n":2,"s":"hi"}"#);
    let optional = |rest: &str| located("optional", r#"["n"]"#, &format!(r#", "field-class": {VU}{rest}"#));
    check_fields(&[("n", BOOL), ("o", &optional(""))], &[1, 5], r#"{"n":true,"o":5}"#);
    check_fields(&[("n", BOOL), ("o", &optional(""))], &[0], r#"{"n":false,"o":null}"#);
    let ranges = r#", "selector-field-ranges": [[-2, -1], [3, 4]]"#;
    check_fields(&[("n", S8), ("o", &optional(ranges))], &[0xff, 5], r#"{"n":-1,"o":5}"#);
    check_fields(&[("n", S8), ("o", &optional(ranges))], &[2], r#"{"n":2,"o":null}"#);

    // The parent of the structure, from inside an array of structures.
    let inner = structure(&[("s", &located("dynamic-length-string", r#"[null, "n"]"#, ""))]);
    let array = located("dynamic-length-array", r#"["n"]"#, &format!(r#", "element-field-class": {inner}"#));
    check_fields(&[("n", U8), ("a", &array)], b"\x02hiho", r#"{"n":2,"a":[{"s":"hi"},{"s":"ho"}]}"#);

    // Options and optional fields add nothing to locations; the option that was chosen counts.
    let option = |class: &str, value: u8| {
        let length = structure(&[("len", class)]);
        format!(r#"{{"selector-field-ranges": [[{value}, {value}]], "field-class": {length}}}"#)
    };
    let options = format!(r#", "options": [{}, {}]"#, option(U8, 0), option(VU, 1));
    let variant = located("variant", r#"["n"]"#, &options);
    let text = located("dynamic-length-string", r#"["v", "len"]"#, "");
    let members = [("n", U8), ("v", variant.as_str()), ("s", text.as_str())];
    check_fields(&members, b"\x00\x01a", r#"{"n":0,"v":{"null":{"len":1}},"s":"a"}"#);
    check_fields(&members, b"\x01\x02ab", r#"{"n":1,"v":{"null":{"len":2}},"s":"ab"}"#);
}

#[test]
fn roles_wherever_they_are() {
    let with_role = |class: &str, role: &str| class.replace('}', &format!(r#", "roles": ["{role}"]}}"#));
    let clock = r#"{"type": "clock-class", "id": "c", "name": "shown", "frequency": 1000000000, "precision": 3,
        "namespace": "n", "uid": "4d76db72-e40f-409e-ba30-532d309d5048", "origin": "unix-epoch",
        "offset-from-origin": {"seconds": 1, "cycles": 5}}"#;
    let head = structure(&[("id", &with_role(VU, "event-record-class-id"))]);
    let header = structure(&[("inner", &head), ("t", &with_role(VU, "default-clock-timestamp"))]);
    let context = structure(&[
        ("t", &with_role(VU, "default-clock-timestamp")),
        ("cpu", U8),
        ("size", &with_role(VU, "packet-total-length")),
    ]);
    let stream = format!(
        r#"{{"type": "data-stream-class", "default-clock-class-id": "c",
            "packet-context-field-class": {context}, "event-record-header-field-class": {header}}}"#
    );
    let event = |id: u8| format!(r#"{{"type": "event-record-class", "id": {id}}}"#);
    let text = document(&[clock, &stream, &event(0), &event(200)]);
    let bytes = [0x7e, 7, 0x50, 0, 0x7f, 0, 0x01, 0xc8, 0x01, 0x00];
    let directory = trace(&text, &bytes);
    let expect = [
        r#"["S",0,0,"stream",3]"#,
        r#"["P",1000000131,null,{"cpu":7}]"#,
        r#"["E",1000000132,127,0,null,null,null,null]"#,
        // Seven bits have wrapped.
        r#"["E",1000000134,129,0,null,null,null,null]"#,
        r#"["E",1000000261,256,200,null,null,null,null]"#,
    ];
    assert_eq!(shown(directory.path()).unwrap(), expect);
    let schema = parse_metadata(&text).unwrap();
    let clock = &schema.clocks[0];
    assert_eq!((clock.name.as_str(), clock.precision, clock.absolute), ("shown", 3, true));
    assert_eq!(clock.uuid.unwrap().to_string(), clock.uid.clone().unwrap());
}

#[test]
fn fields_are_found_by_name() {
    let optional =
        located("optional", r#"["b"]"#, &format!(r#", "field-class": {}"#, structure(&[("v", VU)])));
    let text = event(&[("b", BOOL), ("o", &optional), ("_u", S8)]);
    for (bytes, v, u) in [(vec![1, 0x85, 1, 0xfe], Some(133), -2), (vec![0, 3], None, 3)] {
        let directory = trace(&text, &bytes);
        let trace = Trace::open(directory.path()).unwrap();
        let event = trace.events(0).next().unwrap();
        let field = |path: &[&str]| {
            event
                .class()
                .field(event.stream_plan(), Scope::Payload, path)
                .unwrap_or_else(|| panic!("{path:?}"))
        };
        assert_eq!(event.unsigned(&field(&["o", "v"])), v);
        assert_eq!(event.signed(&field(&["_u"])), Some(u));
        assert!(event.class().payload_field(event.stream_plan(), &["u"]).is_none());
    }
}

#[test]
fn errors_name_the_place() {
    let check = |text: &str, expect: &str| {
        let error = parse_metadata(text).unwrap_err().to_string();
        // Columns are those of values; the lines of the fragments are enough here.
        let shown = error.lines().next().unwrap().splitn(4, ':').collect::<Vec<_>>();
        assert_eq!(format!("{}:{}:{}", shown[0], shown[1], shown[3]), expect);
    };
    let version = parse_metadata("\u{1e}{\"type\": \"preamble\", \"version\": 3}").unwrap_err().to_string();
    assert!(version.starts_with("metadata:1:34: only version 2"), "{version}");
    let place = "payload-field-class.member-classes";
    check(
        "\u{1e}{\"type\": \"trace-class\"}",
        "metadata:1: the first fragment must be the preamble (fragment 1)",
    );
    check(
        "\u{1e}{\"type\": \"preamble\", \"version\": 3}",
        "metadata:1: only version 2 of CTF has such metadata (fragment 1, version)",
    );
    check(
        "\u{1e}{\"type\": \"preamble\", \"version\": 2, \"extensions\": {\"a.org\": {\"zip\": true}}}",
        "metadata:1: the trace needs the extension `zip` of `a.org`, which is unknown (fragment 1, extensions)",
    );
    check(
        &document(&[r#"{"type": "event-record-class"}"#]),
        "metadata:2: no data stream class before this has the id 0 (fragment 2)",
    );
    check(
        &event(&[("a", "\"b\"")]),
        &format!(
            "metadata:3: no field class alias before this is called `b` (fragment 3, {place}[0].field-class)"
        ),
    );
    check(
        &event(&[("s", &located("dynamic-length-string", r#"["n"]"#, "")), ("n", U8)]),
        &format!(
            "metadata:3: no integer decoded before this field is called `n` \
             (fragment 3, {place}[0].field-class.length-field-location)"
        ),
    );
    check(
        &event(&[("n", S8), ("s", &located("dynamic-length-blob", r#"["n"]"#, ""))]),
        &format!(
            "metadata:3: a length is an unsigned integer \
             (fragment 3, {place}[1].field-class.length-field-location)"
        ),
    );
    check(
        &event(&[("n", U8), ("s", &located("dynamic-length-blob", r#"[null, "n"]"#, ""))]),
        &format!(
            "metadata:3: the root has no parent structure \
             (fragment 3, {place}[1].field-class.length-field-location.path[0])"
        ),
    );
    check("\u{1e}{\"type\": \"preamble\",\n\"version\": 2,}", "metadata:2: this is not JSON: trailing comma");
}

#[test]
fn release_candidates_are_read_with_a_note() {
    let enumeration = r#"{"type": "fixed-length-unsigned-enumeration", "length": 8, "byte-order": "little-endian",
        "mappings": {"a": [[1, 1]]}}"#;
    let text = event(&[("e", enumeration)]).replace("\"x\"", "\"x\", \"later\": 1");
    let lines = shown(trace(&text, &[1]).path()).unwrap();
    assert_eq!(
        lines[..2],
        [
            "! line 3, column 2: unknown property `later` of `event-record-class` ignored",
            "! line 3, column 2: the field class `fixed-length-unsigned-enumeration` is of a release candidate of \
             CTF 2; read all the same"
        ]
    );
    assert!(lines[4].ends_with(r#"{"e":[1,["a"]]}]"#), "{lines:?}");
}

#[test]
fn hostile_metadata_are_refused() {
    let alias = |name: usize, class: &str| {
        format!(r#"{{"type": "field-class-alias", "name": "{name}", "field-class": {class}}}"#)
    };
    let check = |aliases: &[String], class: &str, expect: &str| {
        let stream = r#"{"type": "data-stream-class"}"#.to_owned();
        let event = format!(
            r#"{{"type": "event-record-class", "payload-field-class": {}}}"#,
            structure(&[("x", class)])
        );
        let fragments: Vec<&str> = aliases.iter().chain([&stream, &event]).map(String::as_str).collect();
        let error = parse_metadata(&document(&fragments)).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    let twice = |n: usize| {
        let before = format!("\"{}\"", n - 1);
        alias(n, &structure(&[("a", &before), ("b", &before)]))
    };
    let doubling: Vec<_> = std::iter::once(alias(0, U8)).chain((1..64).map(twice)).collect();
    check(&doubling, "\"63\"", "more than 1048576 field classes");
    let array = |element: &str, count: u64| {
        format!(r#"{{"type": "static-length-array", "length": {count}, "element-field-class": {element}}}"#)
    };
    let nested = |n: usize| alias(n, &array(&format!("\"{}\"", n - 1), 1));
    let deep: Vec<_> = std::iter::once(alias(0, U8)).chain((1..5000).map(nested)).collect();
    check(&deep, "\"4999\"", "nested deeper than");
    check(&[], &array(U8, u64::MAX), "fits no packet");
    check(&[], &array(&array(U8, 1 << 40), 1 << 40), "fits no packet");
    check(&[alias(0, "\"0\"")], "\"0\"", "no field class alias before this is called `0`");
}

#[test]
fn text_that_ends_early_is_no_panic() {
    let inner = structure(&[("s", &located("dynamic-length-string", r#"[null, "n"]"#, ""))]);
    let text = event(&[("n", U8), ("i", &inner)]);
    for end in 0..text.len() {
        let _ = parse_metadata(&text[..end]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Words of the language in any order, as values and as keys.
    #[test]
    fn no_metadata_are_a_panic(words in proptest::collection::vec((0..24_usize, 0..24_usize), 1..12)) {
        let values = [
            "\"structure\"", "\"variant\"", "\"optional\"", "\"static-length-array\"", "\"dynamic-length-string\"",
            "\"fixed-length-bit-map\"", "\"variable-length-signed-integer\"", "8", "-1", "18446744073709551615",
            "null", "[]", "[[0, 1]]", "[null, \"n\"]", "{}", "{\"path\": []}", "{\"path\": [\"n\"]}", "1.5",
            "\"little-endian\"", "[{\"name\": \"m\", \"field-class\": {\"type\": \"structure\"}}]", "\"utf-16le\"",
            "{\"a\": [[0, 63]]}", "true", "[\"event-record-class-id\"]",
        ];
        let keys = [
            "type", "length", "byte-order", "bit-order", "alignment", "minimum-alignment", "member-classes", "options",
            "field-class", "element-field-class", "selector-field-location", "length-field-location", "path", "origin",
            "selector-field-ranges", "mappings", "flags", "roles", "encoding", "preferred-display-base", "name",
            "extensions", "attributes", "length",
        ];
        let properties: Vec<_> =
            words.iter().map(|&(key, value)| format!("\"{}\": {}", keys[key], values[value])).collect();
        let class = format!("{{{}}}", properties.join(", "));
        if let Ok(schema) = parse_metadata(&event(&[("n", U8), ("x", &class)])) {
            isochrone_ctf::plan::Plan::compile(&schema);
        }
    }

    /// Any bytes under a class of everything.
    #[test]
    fn no_packet_is_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let text = located("dynamic-length-string", r#"["n"]"#, r#", "encoding": "utf-16le""#);
        let optional = located("optional", r#"["b"]"#, &format!(r#", "field-class": {VU}"#));
        let array = located("dynamic-length-array", r#"["n"]"#, &format!(r#", "element-field-class": {VU}"#));
        let wide = r#"{"type": "null-terminated-string", "encoding": "utf-32be"}"#;
        let members = [("n", VU), ("b", BOOL), ("s", &text), ("o", &optional), ("a", &array), ("w", wide)];
        let directory = trace(&event(&members), &bytes);
        shown(directory.path()).unwrap();
    }
}
