//! Any bytes as the stream of a CTF 2 trace with all kinds of fields: read, shown, written anew and copied.
#![no_main]

mod trace;

use libfuzzer_sys::fuzz_target;

/// Roles on fixed and variable lengths; lengths and selectors from every scope; strings, BLOBs, nested arrays, optional
/// fields, variants, wide and reversed numbers, both byte orders.
const METADATA: &str = include_str!("packets_2.json");

fuzz_target!(|stream: &[u8]| trace::exercise(METADATA.as_bytes(), stream, None));
