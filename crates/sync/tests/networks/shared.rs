//! Data and tools beside the project: without them tests are skipped, loudly; with `ISOCHRONE_REQUIRE_SHARED` set they must
//! be there.

#![allow(clippy::print_stderr)] // A skipped test says so.

use std::path::{Path, PathBuf};

/// Where this part lies.
pub fn shared(part: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(part);
    path.exists().then_some(path).or_else(|| skip(part))
}

/// Skips what needs something that is not there.
pub fn skip<T>(what: &str) -> Option<T> {
    assert!(std::env::var_os("ISOCHRONE_REQUIRE_SHARED").is_none(), "{what} is required");
    eprintln!("SKIPPED: {what} is not there");
    None
}
