//! Tells tests whether the public data lie beside the project (`cfg(shared_data)`), so that those that need them are
//! reported as ignored where they are absent. The `build.rs` of each crate that has such tests includes this file and calls it.
#![allow(clippy::print_stdout)] // A build script talks to cargo so.

use std::path::Path;

/// Sets the cfg for the crate whose build script calls this. With `ISOCHRONE_REQUIRE_SHARED` set, the build fails where the data
/// are absent.
pub fn tell_cargo() {
    println!("cargo::rerun-if-env-changed=ISOCHRONE_REQUIRE_SHARED");
    // Of a file that is not there cargo thinks that it changes with each build, and would compile everything again. So data that
    // come later are noticed when `build.rs` is touched.
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../shared_data.rs");
    if Path::new("../../../shared/data").is_dir() {
        // One file stands for all of them: cargo would go through a whole directory for each build.
        println!("cargo::rerun-if-changed=../../../shared/data/README.md");
        println!("cargo::rustc-cfg=shared_data");
    } else if std::env::var_os("ISOCHRONE_REQUIRE_SHARED").is_some() {
        println!("cargo::error=ISOCHRONE_REQUIRE_SHARED is set, but ../shared/data is not there");
    }
}
