//! Any bytes as a capture: refused, or read to the end whatever is wrong with it.
#![no_main]

mod frames;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| frames::exercise(bytes));
