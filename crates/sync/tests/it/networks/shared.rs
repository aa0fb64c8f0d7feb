//! Data and tools beside the project: tests that need them are ignored where they are absent, which `build.rs` finds out.

use std::path::{Path, PathBuf};

/// Where this part lies.
pub fn shared(part: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(part);
    assert!(path.exists(), "{} is not there", path.display());
    path
}
