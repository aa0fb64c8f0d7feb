//! Tells the tests of this crate whether the data that they need are there, and the crate the form of its models.

#[path = "../shared_data.rs"]
mod shared_data;

use std::fs;
use std::path::{Path, PathBuf};

/// The crates whose types are in files of mapped pieces, from here.
const CRATES: [&str; 6] = ["../analysis", "../hosts", "../kernel", "../pipeline", "../sync", "."];

fn main() {
    shared_data::tell_cargo();
    println!("cargo::rustc-env=ISOCHRONE_FORM={}", form());
}

/// A number that is another one whenever the types may have changed: of the version, and of all sources that define them. A
/// published crate has only its own, and its version says the rest.
fn form() -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    add(env!("CARGO_PKG_VERSION").as_bytes());
    for name in CRATES {
        let sources = Path::new(name).join("src");
        if !sources.is_dir() {
            continue;
        }
        println!("cargo::rerun-if-changed={}", sources.display());
        for file in files(&sources) {
            add(file.as_os_str().as_encoded_bytes());
            add(&fs::read(&file).unwrap_or_default());
        }
    }
    sum
}

/// The files below a directory, in an order of their own.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all.sort_unstable();
    all
}
