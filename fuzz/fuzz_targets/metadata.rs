//! Any text as TSDL: understood or refused, then compiled, written and understood again.
#![no_main]

mod schema;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| schema::exercise(text));
