//! Any bytes as the stream of a trace with all kinds of fields: read, shown and copied.
#![no_main]

mod trace;

use libfuzzer_sys::fuzz_target;

/// Lengths and tags from every scope, strings, nested arrays, both byte orders, LTTng's compact header.
const METADATA: &str = include_str!("packets.tsdl");

fuzz_target!(|stream: &[u8]| trace::exercise(METADATA.as_bytes(), stream, None));
