//! Public traces beside the project: without them tests are skipped, loudly; with `ISOCHRONE_REQUIRE_SHARED` set they must
//! be there.

#![allow(clippy::print_stderr)] // A skipped test says so.

use std::path::{Path, PathBuf};

use isochrone_ctf::find_traces;

/// Where this part of the data lies.
pub fn shared(part: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(part);
    path.is_dir().then_some(path).or_else(|| skip(part))
}

/// Skips what needs something that is not there.
pub fn skip<T>(what: &str) -> Option<T> {
    assert!(std::env::var_os("ISOCHRONE_REQUIRE_SHARED").is_none(), "{what} is required");
    eprintln!("SKIPPED: {what} is not there");
    None
}

/// All traces of these parts.
pub fn traces(parts: &[&str]) -> Option<Vec<PathBuf>> {
    let found: Option<Vec<PathBuf>> = parts.iter().map(|part| shared(part)).collect();
    Some(found?.iter().flat_map(|path| find_traces(path).unwrap().traces).collect())
}

/// Whether a trace has an enumeration without labels or an option without values, which CTF 2 has not.
pub fn is_beyond_ctf_2(path: &Path) -> bool {
    ["enum-empty", "variant-missing-enum-mappings"].iter().any(|name| path.ends_with(name))
}
