//! What several tests of the binary need: the corpus beside the project.

use std::path::{Path, PathBuf};

/// The corpus. Tests that need it are ignored where it is absent, as `build.rs` finds.
pub(crate) fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").canonicalize().unwrap()
}
