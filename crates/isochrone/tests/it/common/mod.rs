//! What several tests of the binary need: the corpus beside the project.

pub(crate) mod cuts;
pub(crate) mod without;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The corpus. Tests that need it are ignored where it is absent, as `build.rs` finds.
pub(crate) fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").canonicalize().unwrap()
}

/// Unpacks a scenario of the corpus that lies there packed (`vm/snap2`) into a directory; returns where it is then.
pub(crate) fn unpacked(part: &str, directory: &Path) -> PathBuf {
    let packed = shared().join("data").join(format!("{part}.tar.zst"));
    let plain = directory.join("packed.tar");
    std::fs::write(&plain, zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap()).unwrap();
    let tar = Command::new("tar").arg("-xf").arg(&plain).arg("-C").arg(directory).status().unwrap();
    assert!(tar.success());
    directory.join(Path::new(part).file_name().unwrap())
}
