//! Public traces beside the project: tests that need them are ignored where they are absent, as `build.rs` finds.

use std::path::{Path, PathBuf};

use isochrone_ctf::find_traces;

/// Where this part of the data lies.
pub fn shared(part: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(part);
    assert!(path.is_dir(), "{} is not there", path.display());
    path
}

/// All traces of these parts.
pub fn traces(parts: &[&str]) -> Vec<PathBuf> {
    parts.iter().flat_map(|part| find_traces(&shared(part)).unwrap().traces).collect()
}

/// Whether a trace has an enumeration without labels or an option without values, which CTF 2 has not.
pub fn is_beyond_ctf_2(path: &Path) -> bool {
    ["enum-empty", "variant-missing-enum-mappings"].iter().any(|name| path.ends_with(name))
}
