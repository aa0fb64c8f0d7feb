//! Dumps of public traces against the digests of babeltrace2 2.1.1.
//!
//! The corpus lies beside the project, not in it: without it the test is skipped, loudly; with
//! `ISOCHRONE_REQUIRE_SHARED` set it must be there.

#![allow(clippy::print_stderr, clippy::unwrap_used)] // A skipped test says so; a test may panic.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isochrone_ctf::{Trace, dump};
use sha2::{Digest, Sha256};

fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ctf");
    if path.is_dir() {
        return Some(path);
    }
    assert!(std::env::var_os("ISOCHRONE_REQUIRE_SHARED").is_none(), "{} is required", path.display());
    eprintln!("SKIPPED: {} is not there", path.display());
    None
}

/// Where the corpus table's path lies, if it is here.
fn locate(shared: &Path, name: &str) -> Option<PathBuf> {
    let candidates = [
        shared.join("traces").join(name),
        shared.join(name),
        shared.join(name.replacen("tc/synctraces", "../scp", 1)),
    ];
    candidates.into_iter().find(|path| path.join("metadata").is_file())
}

/// Digest of a trace's dump; `-` where the trace is refused.
fn digest(path: &Path) -> String {
    let Ok(trace) = Trace::open(path) else { return "-".to_owned() };
    let mut text = Vec::new();
    dump::dump(&trace, &mut text).unwrap();
    format!("{:x}", Sha256::digest(&text))
}

/// Traces that must be here, and whose dumps must be equal to the byte.
const EQUAL: [&str; 7] = [
    "tc/synctraces/scp_src",
    "tc/synctraces/scp_dest",
    "tc/many-threads",
    "tc/bug446190",
    "tc/flipping-endianness",
    "bitfields/le",
    "bitfields/be",
];

#[test]
fn dumps_equal_the_reference() {
    let Some(shared) = shared() else { return };
    let table = std::fs::read_to_string(shared.join("corpus.tsv")).unwrap();
    let known =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ctf-differences.tsv"));
    let known = known.unwrap();
    let known: BTreeMap<&str, &str> = known.lines().skip(1).filter_map(|row| row.split_once('\t')).collect();
    let mut equal = Vec::new();
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (name, format, status, expected) = (columns[0], columns[1], columns[5], columns[13]);
        if status != "ok" || !format.starts_with("CTF1.8") {
            continue;
        }
        let Some(path) = locate(&shared, name) else { continue };
        let digest = digest(&path);
        match known.get(name).and_then(|rest| rest.split('\t').next()) {
            Some(own) => {
                assert_eq!(digest, own, "{name}: not the difference that docs/ctf-differences.tsv tells");
            }
            None => {
                assert_eq!(digest, expected, "{name}");
                equal.push(name.to_owned());
            }
        }
    }
    for name in EQUAL {
        assert!(equal.iter().any(|equal| equal == name), "{name} is not in the corpus");
    }
    eprintln!("{} CTF 1.8 traces equal, {} known differences", equal.len(), known.len());
}
