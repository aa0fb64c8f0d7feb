//! CTF 2 metadata from a few words, and traces of one event.

use isochrone_ctf::plan::{Cursor, walk};
use isochrone_ctf::write::{BitWriter, encode};
use isochrone_ctf::{Trace, Value, ValueVisitor};
use tempfile::TempDir;

use super::{shown, write};

pub const U8: &str =
    r#"{"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}"#;
pub const S8: &str = r#"{"type": "fixed-length-signed-integer", "length": 8, "byte-order": "little-endian"}"#;
pub const VU: &str = r#"{"type": "variable-length-unsigned-integer"}"#;
pub const BOOL: &str = r#"{"type": "fixed-length-boolean", "length": 8, "byte-order": "big-endian"}"#;

/// Fragments after a preamble.
pub fn document(fragments: &[&str]) -> String {
    let preamble = r#"{"type": "preamble", "version": 2}"#;
    let fragments: Vec<_> = std::iter::once(&preamble).chain(fragments).copied().collect();
    format!("\u{1e}{}\n", fragments.join("\n\u{1e}"))
}

/// A structure of `(name, class)` members.
pub fn structure(members: &[(&str, &str)]) -> String {
    let member = |(name, class): &(&str, &str)| format!(r#"{{"name": "{name}", "field-class": {class}}}"#);
    let members: Vec<_> = members.iter().map(member).collect();
    format!(r#"{{"type": "structure", "member-classes": [{}]}}"#, members.join(", "))
}

/// Metadata with one event class that has these fields.
pub fn event(members: &[(&str, &str)]) -> String {
    let payload = structure(members);
    let event = format!(r#"{{"type": "event-record-class", "name": "x", "payload-field-class": {payload}}}"#);
    document(&[r#"{"type": "data-stream-class"}"#, &event])
}

pub fn located(kind: &str, path: &str, rest: &str) -> String {
    let which = if kind.starts_with("dynamic") { "length" } else { "selector" };
    format!(r#"{{"type": "{kind}", "{which}-field-location": {{"path": {path}}}{rest}}}"#)
}

pub fn trace(text: &str, bytes: &[u8]) -> TempDir {
    write(text, &[("stream", bytes)])
}

/// The fields of the only event.
pub fn check_fields(members: &[(&str, &str)], bytes: &[u8], expect: &str) {
    let directory = trace(&event(members), bytes);
    let lines = shown(directory.path()).unwrap();
    assert_eq!(lines.last().unwrap(), &format!(r#"["E",null,null,0,"x",null,null,{expect}]"#), "{lines:?}");
    check_written(directory.path(), bytes);
}

/// What is read of the only event can be written, and gives its bytes again.
pub fn check_written(path: &std::path::Path, bytes: &[u8]) {
    let trace = Trace::open(path).unwrap();
    let node = trace.plan().streams[0].events[0].payload.as_ref().unwrap();
    let mut visitor = ValueVisitor::default();
    walk(node, &mut Cursor::new(bytes), &mut trace.plan().new_slots(), &mut visitor).unwrap();
    let value: Value = visitor.into_value().unwrap();
    let mut writer = BitWriter::default();
    encode(node, &value, &mut writer).unwrap();
    assert_eq!(writer.bytes(), bytes, "{value:?}");
}
