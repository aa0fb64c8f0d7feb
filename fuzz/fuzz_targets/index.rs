//! Any bytes as a packet index: read or refused; what is read is written and read again.
#![no_main]

use isochrone_ctf::index;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(entries) = index::read(bytes) {
        assert_eq!(index::read(&index::write(&entries)).as_deref(), Ok(entries.as_slice()));
    }
});
