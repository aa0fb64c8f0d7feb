//! Traces from a metadata text and the bytes of stream files.

pub mod json;
pub mod random;
pub mod shared;
pub mod strict_ctf_2;

use std::path::Path;

use isochrone_ctf::json::{Floats, JsonVisitor};
use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Diagnostic, Error, Lost, Trace, dump};
use tempfile::TempDir;

/// What most texts begin with.
pub const HEAD: &str = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\n\
                        clock { name = m; freq = 1000000000; };\n";

/// Names for types that metadata need all the time.
pub const TYPES: &str = "typealias integer { size = 8; } := u8; typealias integer { size = 16; } := u16;\n\
                         typealias integer { size = 32; } := u32; typealias integer { size = 64; } := u64;\n\
                         typealias integer { size = 32; map = clock.m.value; } := t32;\n\
                         typealias integer { size = 64; map = clock.m.value; } := t64;\n";

/// LTTng's compact event header.
pub const COMPACT: &str = "struct { enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id; \
                           variant <id> { struct { integer { size = 27; align = 1; map = clock.m.value; } t; } compact; \
                           struct { u32 id; t64 t; } extended; } v; } align(8)";

/// A text with head and types before it.
pub fn metadata(text: &str) -> String {
    format!("{HEAD}{TYPES}{text}")
}

/// An event with these fields.
pub fn event(fields: &str) -> String {
    metadata(&format!("event {{ name = x; fields := struct {{ {fields} }}; }};"))
}

/// A directory with a trace of these stream files; names may lead into directories.
pub fn write(text: &str, files: &[(&str, &[u8])]) -> TempDir {
    write_raw(text.as_bytes(), files)
}

/// [`write`] with metadata that are not just text.
pub fn write_raw(metadata: &[u8], files: &[(&str, &[u8])]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("metadata"), metadata).unwrap();
    for (name, bytes) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    directory
}

/// A packet of metadata (CTF 1.8 section 7.1).
pub fn metadata_packet(text: &[u8], big: bool) -> Vec<u8> {
    let word = |number: u32| if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let bits = (37 + text.len() as u32) * 8;
    [word(0x75d1_1d57).as_slice(), &[0; 20], &word(bits), &word(bits), &[0, 0, 0, 1, 8], text].concat()
}

/// All that a reader makes of a trace: complaints with `!` before them, lines of the dump but the first.
pub fn shown(path: &Path) -> Result<Vec<String>, Error> {
    let trace = Trace::open(path)?;
    let complaint = |d: &Diagnostic| format!("! {}", d.message);
    let mut lines: Vec<String> = trace.diagnostics().iter().map(complaint).collect();
    let mut text = Vec::new();
    let lost = dump::dump(&trace, &mut text).unwrap();
    lines.extend(String::from_utf8(text).unwrap().lines().skip(1).map(str::to_owned));
    lines.extend(lost.iter().map(complaint));
    Ok(lines)
}

/// What a reader makes of a trace.
#[derive(Debug, PartialEq, Eq)]
pub struct Reading {
    /// `time name fields` as far as they are there, stream after stream.
    pub events: Vec<String>,
    /// Severity, file, packet and byte, message.
    pub diagnostics: Vec<String>,
    /// What the tracer lost, and before which packet.
    pub losses: Vec<(Lost, usize)>,
}

/// Reads a trace to its end.
pub fn read(path: &Path) -> Result<Reading, Error> {
    let trace = Trace::open(path)?;
    let complaint = |d: &Diagnostic| {
        let file = d.path.strip_prefix(path).unwrap().display();
        let packet = d.packet.map(|packet| format!(" packet {packet}")).unwrap_or_default();
        let offset = d.offset.map(|offset| format!(" byte {offset}")).unwrap_or_default();
        format!("{:?} {file}{packet}{offset}: {}", d.severity, d.message)
    };
    let mut diagnostics: Vec<String> = trace.diagnostics().iter().map(complaint).collect();
    let (mut events, mut losses) = (Vec::new(), Vec::new());
    for stream in 0..trace.streams().len() {
        let mut read = trace.events(stream);
        for event in read.by_ref() {
            let mut fields = Vec::new();
            event.visit(Scope::Payload, &mut JsonVisitor::new(&mut fields, Floats::Bits)).unwrap();
            let time = event.cycles().map(|cycles| cycles.to_string());
            let name = event.name().map(str::to_owned);
            let fields = Some(String::from_utf8(fields).unwrap()).filter(|fields| !fields.is_empty());
            events.push([time, name, fields].into_iter().flatten().collect::<Vec<_>>().join(" "));
        }
        diagnostics.extend(read.diagnostics().iter().map(complaint));
        losses.extend(trace.losses(stream).iter().map(|loss| (loss.lost, loss.before_packet)));
    }
    Ok(Reading { events, diagnostics, losses })
}

/// Numbers of several sizes as little endian bytes.
#[macro_export]
macro_rules! bytes {
    ($($number:expr),* $(,)?) => {{
        let mut bytes: Vec<u8> = Vec::new();
        $(bytes.extend($number.to_le_bytes());)*
        bytes
    }};
}
