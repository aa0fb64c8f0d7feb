//! Any text as a list of messages: refused at a line, or read to the end.
#![no_main]

use std::path::Path;

use isochrone_matching::text_messages::TextMessages;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(list) = TextMessages::new(bytes, Path::new("list")) {
        let _ = list.count();
    }
});
