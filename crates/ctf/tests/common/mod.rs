//! Traces from a metadata text and the bytes of stream files.

#![allow(dead_code, clippy::unwrap_used)] // Each test uses its part; a test may panic.

pub mod json;

use std::path::Path;

use isochrone_ctf::{Diagnostic, Error, Trace, dump};
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

/// A directory with a trace of these stream files.
pub fn write(text: &str, files: &[(&str, &[u8])]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("metadata"), text).unwrap();
    for (name, bytes) in files {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    }
    directory
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

/// Numbers of several sizes as little endian bytes.
#[macro_export]
macro_rules! bytes {
    ($($number:expr),* $(,)?) => {{
        let mut bytes: Vec<u8> = Vec::new();
        $(bytes.extend($number.to_le_bytes());)*
        bytes
    }};
}
