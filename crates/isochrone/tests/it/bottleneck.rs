//! The bottlenecks that were built into the hosts of the public corpus are those that `isochrone bottleneck`
//! names, and it names none of hosts that had nothing to do.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{shared, unpacked};

/// The verdicts on all hosts of a scenario: host, why, resource, which one.
fn verdicts(scenario: &Path) -> Vec<[String; 4]> {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["bottleneck", "-q", "--format", "jsonl", "--table", "verdicts"])
        .arg(scenario)
        .env("XDG_CACHE_HOME", scenario.parent().unwrap().join("cache"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        ["host", "because", "resource", "of"].map(|key| row[key].as_str().unwrap_or("-").to_owned())
    };
    String::from_utf8(output.stdout).unwrap().lines().map(row).collect()
}
