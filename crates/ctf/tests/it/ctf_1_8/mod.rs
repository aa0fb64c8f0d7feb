//! CTF 1.8, what a complete reader must know, row by row of the specification: small traces made by hand. What other tests
//! have is not here again: packets of metadata and of streams that are broken (`bad_traces`, `hostile`), the grammar
//! (`tsdl::tests`), whatever a writer of ours can write (`roundtrip`), real traces (`corpus`).

mod fields;
mod metadata;
mod streams;

use crate::common::{Reading, TYPES, read, write_raw};

/// Reads a trace of one stream file.
fn reading(metadata: &[u8], stream: &[u8]) -> Reading {
    read(write_raw(metadata, &[("s", stream)]).path()).unwrap()
}

/// Checks the events of one stream file, and that nothing is odd about the trace.
#[track_caller]
fn check(name: &str, metadata: &str, stream: &[u8], events: &[&str]) {
    check_odd(name, metadata, stream, events, &[]);
}

/// Checks the events of one stream file, and what is said about the trace.
#[track_caller]
fn check_odd(name: &str, metadata: &str, stream: &[u8], events: &[&str], diagnostics: &[&str]) {
    let reading = reading(metadata.as_bytes(), stream);
    assert_eq!(reading.events, events, "{name}");
    assert_eq!(reading.diagnostics, diagnostics, "{name}");
}

/// Metadata of a trace in this byte order.
fn in_order(order: &str, text: &str) -> String {
    let head = "major = 1; minor = 8;";
    format!(
        "/* CTF 1.8 */\ntrace {{ {head} byte_order = {order}; }};\nclock {{ name = m; }};\n{TYPES}\n{text}"
    )
}
