//! Any text as metadata: understood or refused, then compiled.
#![no_main]

use isochrone_ctf::parse_metadata;
use isochrone_ctf::plan::Plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(schema) = parse_metadata(text) {
        let _ = Plan::compile(&schema);
    }
});
