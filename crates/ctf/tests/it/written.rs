//! Every readable trace of the public corpus is written anew, and is the same trace again.

#![allow(clippy::print_stderr)] // Says what it compared.

use std::path::Path;
use std::process::Command;

use crate::common::shared::{is_beyond_ctf_2, traces};
use isochrone_ctf::{Trace, dump, parse_metadata, write};
use sha2::{Digest, Sha256};

/// Parts of the public data with traces that are written.
const PARTS: [&str; 4] = ["ctf", "scp", "ust", "lttng-analyses"];

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn metadata_come_back() {
    let traces = traces(&PARTS);
    let (mut count, mut failed) = (0, Vec::new());
    for path in traces {
        let Ok(trace) = Trace::open(&path) else { continue };
        match write::metadata(trace.schema()) {
            Ok(text) if parse_metadata(&text).unwrap() == *trace.schema() => count += 1,
            outcome => failed.push(format!("{}: {:?}", path.display(), outcome.err())),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    eprintln!("the metadata of {count} traces come back");
    assert!(count > 150);
}

/// Has every trace written anew; the dumps must be equal. `None`: it cannot be written, and need not.
fn check_all(rewrite: impl Fn(&Path, &Trace, &Path) -> Option<Result<(), String>>) {
    let traces = traces(&PARTS);
    let (mut count, mut failed) = (0, Vec::new());
    for path in traces {
        let Ok(trace) = Trace::open(&path) else { continue };
        let directory = tempfile::tempdir().unwrap();
        let copy = directory.path().join("copy");
        match rewrite(&path, &trace, &copy) {
            None => {}
            Some(Ok(())) if digest(&copy) == digest(&path) => count += 1,
            Some(Ok(())) => failed.push(format!("{}: another trace", path.display())),
            Some(Err(error)) => failed.push(format!("{}: {error}", path.display())),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    eprintln!("{count} traces come back");
    assert!(count > 150);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn traces_come_back() {
    check_all(|_, trace, copy| {
        Some(write::rewrite_trace(trace, copy).map(drop).map_err(|error| error.to_string()))
    });
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn traces_of_ctf_1_8_are_the_same_in_ctf_2() {
    check_all(|path, trace, copy| {
        let schema = write::to_ctf_2(trace.schema()).map_err(|error| error.to_string());
        let written = schema.and_then(|schema| {
            write::rewrite_trace_as(trace, &schema, copy).map(drop).map_err(|error| error.to_string())
        });
        if is_beyond_ctf_2(path) && written.is_err() { None } else { Some(written) }
    });
}

/// Digest of the dump.
fn digest(path: &Path) -> String {
    let mut text = Vec::new();
    dump::dump(&Trace::open(path).unwrap(), &mut text).unwrap();
    format!("{:x}", Sha256::digest(&text))
}

/// What babeltrace2 shows of a trace; `None` where it is not installed or refuses the trace.
fn babeltrace(path: &Path) -> Option<Vec<u8>> {
    let arguments = ["--clock-cycles", "--no-delta"];
    let output = Command::new("babeltrace2").args(arguments).arg(path).output().ok()?;
    output.status.success().then_some(output.stdout)
}

#[test]
#[cfg_attr(not(all(shared_data, babeltrace2)), ignore = "needs ../shared/data and babeltrace2")]
fn babeltrace2_reads_what_is_written() {
    let traces = traces(&PARTS);
    let mut count = 0;
    for path in traces {
        // It gives up on traces with anything wrong in them, or does not end; and version 2.0 knows no CTF 2.
        let Ok(trace) = Trace::open(&path) else { continue };
        let in_order = trace.schema().version.0 == 1
            && trace.diagnostics().is_empty()
            && dump::dump(&trace, &mut std::io::sink()).unwrap().is_empty();
        let Some(expect) = Some(&path).filter(|_| in_order).and_then(|path| babeltrace(path)) else {
            continue;
        };
        let directory = tempfile::tempdir().unwrap();
        let copy = directory.path().join("copy");
        write::rewrite_trace(&trace, &copy).unwrap();
        let found = babeltrace(&copy).unwrap_or_else(|| panic!("{}: refused", path.display()));
        assert!(found == expect, "{}: another text", path.display());
        count += 1;
    }
    eprintln!("babeltrace2 shows the same of {count} traces");
    assert!(count > 80, "{count}");
}
