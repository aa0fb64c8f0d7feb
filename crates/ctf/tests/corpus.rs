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

/// Digest of a trace's dump and the number of diagnostics; the error where the trace is refused.
fn digest(path: &Path) -> Result<(String, usize), String> {
    let trace = Trace::open(path).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    let lost = dump::dump(&trace, &mut text).unwrap();
    Ok((format!("{:x}", Sha256::digest(&text)), trace.diagnostics().len() + lost.len()))
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
        let digest = digest(&path).map_or_else(|_| "-".to_owned(), |(digest, _)| digest);
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

/// Traces of the corpus that are wrong although nobody meant it: their JSON has trailing commas, or a structure has two
/// members of one name.
fn is_wrong_by_mistake(outcome: &Result<(String, usize), String>) -> bool {
    let mistakes =
        ["this is not JSON: trailing comma", "this is not JSON: expected value", "two members are called"];
    outcome.as_ref().is_err_and(|error| mistakes.iter().any(|mistake| error.contains(mistake)))
}

#[test]
fn ctf_2_is_read() {
    let Some(shared) = shared() else { return };
    let table = std::fs::read_to_string(shared.join("corpus.tsv")).unwrap();
    let mut equal = 0;
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (name, format, status, expected) = (columns[0], columns[1], columns[5], columns[13]);
        let Some(path) = locate(&shared, name).filter(|_| format.starts_with("CTF2")) else { continue };
        let outcome = digest(&path);
        eprintln!("{name}: {outcome:?}");
        match (status, outcome) {
            ("ok", Ok((digest, _))) if digest == expected => equal += 1,
            ("ok", outcome) => panic!("{name} differs from the reference: {outcome:?}"),
            // What is meant to be wrong is noticed, what is not is read.
            // Integers of 128 bits: what its suite's own reader does not support.
            (_, outcome) if name == "actf/fxd_len_int_unsupported_len_nok" => {
                assert!(matches!(outcome, Ok((_, 0))), "{name}: {outcome:?}");
            }
            (_, outcome) if name.ends_with("_nok") => {
                assert!(!matches!(outcome, Ok((_, 0))), "{name} seems to be in order");
            }
            (_, outcome) => assert!(outcome.is_ok() || is_wrong_by_mistake(&outcome), "{name}: {outcome:?}"),
        }
    }
    assert!(equal >= 19, "only {equal} CTF 2 traces equal the reference");
}
