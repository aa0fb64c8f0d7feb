//! What is written as CTF 2 is held against the specification, more strictly than the reader does.

#![allow(clippy::print_stderr)] // A test says what it compared.

use crate::common::shared::{is_beyond_ctf_2, traces};
use crate::common::strict_ctf_2;
use isochrone_ctf::Trace;
use isochrone_ctf::write::{metadata, to_ctf_2};

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn what_is_written_of_the_corpus() {
    let traces = traces(&["ctf", "scp", "ust"]);
    let (mut converted, mut again, mut failed) = (0, 0, Vec::new());
    for path in traces {
        let Ok(trace) = Trace::open(&path) else { continue };
        let text = match to_ctf_2(trace.schema()).and_then(|schema| metadata(&schema)) {
            Ok(text) => text,
            Err(_) if is_beyond_ctf_2(&path) => continue,
            Err(error) => {
                failed.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        let negative = path.ends_with("fxd_len_enum_uint64") && trace.schema().version.0 >= 2;
        match strict_ctf_2::check(&text) {
            // This reader takes such labels from others, and gives them back.
            Err(error) if negative && error.contains("the number -10") => again += 1,
            Ok(()) if trace.schema().version.0 >= 2 => again += 1,
            Ok(()) => converted += 1,
            Err(error) => failed.push(format!("{}: {error}", path.display())),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    eprintln!("{converted} traces of CTF 1.8 and {again} of CTF 2");
    assert!(converted > 150 && again > 20, "{converted} {again}");
}

#[test]
fn the_checker_is_strict() {
    let check = |fragments: &[&str], expect: &str| {
        let text = [&[""], fragments].concat().join("\u{1e}");
        let error = strict_ctf_2::check(&text).err().unwrap_or_default();
        assert!(error.contains(expect) && error.is_empty() == expect.is_empty(), "{text}: {error}");
    };
    let preamble = r#"{"type": "preamble", "version": 2}"#;
    let clock = |offset: &str| {
        format!(
            r#"{{"type": "clock-class", "id": "c", "frequency": 10, "offset-from-origin": {{{offset}}}}}"#
        )
    };
    check(&[], "no preamble");
    check(&[preamble], "");
    check(&[preamble, &clock(r#""cycles": 9, "seconds": -1"#)], "");
    check(&[preamble, &clock(r#""cycles": 10"#)], "below the frequency");
    check(&[preamble, &clock(r#""cycles": -3"#)], "below the frequency");
    check(&[preamble, &clock(""), &clock("")], "two clock classes");
    check(&[preamble, r#"{"type": "event-record-class"}"#], "no such stream class");
    let header = |class: &str| {
        let members = format!(
            r#"{{"type": "structure", "member-classes": [{{"name": "a", "field-class": {class}}}]}}"#
        );
        format!(r#"{{"type": "trace-class", "packet-header-field-class": {members}}}"#)
    };
    let integer = |sign: &str, length: u32, more: &str| {
        header(&format!(
            r#"{{"type": "fixed-length-{sign}-integer", "length": {length}, "byte-order": "big-endian"{more}}}"#
        ))
    };
    let magic = r#", "roles": ["packet-magic-number"]"#;
    check(&[preamble, &integer("unsigned", 32, magic)], "");
    check(&[preamble, &integer("unsigned", 16, magic)], "packet-magic-number");
    check(&[preamble, &integer("signed", 32, magic)], "a role of such an integer");
    check(&[preamble, &integer("unsigned", 8, r#", "alignment": 3"#)], "power of two");
    check(&[preamble, &integer("unsigned", 8, r#", "mappings": {"a": [[-1, 2]]}"#)], "the number -1");
    check(&[preamble, &integer("unsigned", 0, "")], "a length of 0");
    check(&[preamble, &header("\"b\"")], "no alias `b`");
    let uuid = r#"{"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}"#;
    check(&[preamble, &header(uuid)], "the BLOB of a uuid");
    let text = r#"{"type": "dynamic-length-string", "length-field-location": {"path": []}}"#;
    check(&[preamble, &header(text)], "a path leads to a field");
}
