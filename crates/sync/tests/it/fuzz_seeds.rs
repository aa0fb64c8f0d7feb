//! The seeds of the fuzz targets, and what fuzzing has found, go through the same checks as there with every test run.

use std::fs;
use std::path::Path;

use isochrone_ctf::index;

#[path = "../../../../fuzz/fuzz_targets/frames.rs"]
mod frames;
#[path = "../../../../fuzz/fuzz_targets/schema.rs"]
mod schema;
#[path = "../../../../fuzz/fuzz_targets/trace.rs"]
mod trace;

const TARGETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz");

/// Calls `exercise` on each seed of a target.
fn each_seed(target: &str, least: usize, exercise: impl Fn(&[u8])) {
    let directory = Path::new(TARGETS).join("seeds").join(target);
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= least, "only {} seeds of {target}", paths.len());
    for path in paths {
        exercise(&fs::read(path).unwrap());
    }
}

#[test]
fn metadata() {
    each_seed("metadata", 5, |text| schema::exercise(str::from_utf8(text).unwrap()));
    let preamble = "\u{1e}{\"type\": \"preamble\", \"version\": 2}\n\u{1e}";
    each_seed("json_metadata", 3, |text| {
        schema::exercise(&format!("{preamble}{}", str::from_utf8(text).unwrap()));
    });
}

#[test]
fn packets() {
    for (target, metadata) in [("packets", "packets.tsdl"), ("packets_2", "packets_2.json")] {
        let metadata = fs::read(Path::new(TARGETS).join("fuzz_targets").join(metadata)).unwrap();
        each_seed(target, 4, |stream| {
            trace::exercise(&metadata, stream, None);
            // An index of anything.
            trace::exercise(&metadata, stream, Some(stream));
        });
    }
}

#[test]
fn indexes() {
    each_seed("index", 2, |bytes| {
        if let Ok(entries) = index::read(bytes) {
            assert_eq!(index::read(&index::write(&entries)).as_deref(), Ok(entries.as_slice()));
        }
    });
}

#[test]
fn captures() {
    each_seed("capture", 7, frames::exercise);
}
