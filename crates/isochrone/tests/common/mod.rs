//! What several tests of the binary need: the corpus beside the project.

use std::path::{Path, PathBuf};

/// The corpus. Without it tests are skipped, loudly; with `ISOCHRONE_REQUIRE_SHARED` set it must be there.
pub(crate) fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if path.is_dir() {
        return Some(path.canonicalize().unwrap());
    }
    skip(&path.display().to_string());
    None
}

/// Says that something a test needs is missing.
pub(crate) fn skip(what: &str) {
    assert!(std::env::var_os("ISOCHRONE_REQUIRE_SHARED").is_none(), "{what} is required");
    eprintln!("SKIPPED: {what} is not there");
}
