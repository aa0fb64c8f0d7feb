//! Any text behind a preamble as JSON metadata: understood or refused, then compiled, written and understood again.
#![no_main]

mod schema;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    schema::exercise(&format!("\u{1e}{{\"type\": \"preamble\", \"version\": 2}}\n\u{1e}{text}"));
});
