//! A whole trace directory of any bytes: metadata, stream and index.
#![no_main]

mod trace;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|files: (&[u8], &[u8], &[u8])| trace::exercise(files.0, files.1, Some(files.2)));
