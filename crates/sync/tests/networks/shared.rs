//! Data and tools beside the project: tests that need them are ignored where they are absent, as `build.rs` finds.

#![allow(clippy::print_stderr)] // A skipped test says so.

use std::path::{Path, PathBuf};

/// Where this part lies.
pub fn shared(part: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(part);
    assert!(path.exists(), "{} is not there", path.display());
    path
}

/// Skips what needs a program that is not there; with `ISOCHRONE_REQUIRE_SHARED` set it must be.
pub fn skip<T>(what: &str) -> Option<T> {
    assert!(std::env::var_os("ISOCHRONE_REQUIRE_SHARED").is_none(), "{what} is required");
    eprintln!("SKIPPED: {what} is not there");
    None
}
