//! The bottlenecks that were built into the hosts of the public corpus are those that `isochrone bottleneck`
//! names, and it names none of hosts that had nothing to do.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{cuts, shared, unpacked};

/// The verdicts on some hosts: host, why, resource, which one.
fn verdicts(hosts: &[PathBuf], cache: &Path) -> Vec<String> {
    columns(hosts, cache, &["host", "because", "resource", "of"])
}

/// Columns of the verdicts on some hosts.
fn columns(hosts: &[PathBuf], cache: &Path, shown: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["bottleneck", "-q", "--format", "json", "--table", "verdicts"])
        .args(hosts)
        .env("XDG_CACHE_HOME", cache)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let table = &report["tables"][0];
    let names: Vec<&str> =
        table["columns"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    let cell = |row: &Value, name: &str| {
        let index = names.iter().position(|it| *it == name).unwrap();
        row[index].as_str().unwrap_or("-").to_owned()
    };
    let row = |row: &Value| shown.iter().map(|name| cell(row, name)).collect::<Vec<_>>().join(" ");
    table["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn what_was_built_in_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let check = |scenario: PathBuf, expect: &[&str]| {
        assert_eq!(verdicts(&cuts::hosts(&scenario), directory.path()), expect, "{}", scenario.display());
    };
    let packed = |name: &str| unpacked(&format!("vm/{name}"), directory.path());
    check(packed("disk1"), &["h1 saturated disk vdc"]);
    check(packed("fault1"), &["h1 saturated disk vdc"]);
    // The third has the hog, the fourth the slow disk, for which requests wait.
    let chain = ["h1 nothing - -", "h2 nothing - -", "h3 saturated CPU -", "h4 saturated disk vdc"];
    let chain4b = packed("chain4b");
    check(chain4b.clone(), &chain);
    // By the stamps of the programs, 0.94 % of the time of requests waited for a lock there, and 0.37 %.
    let sentences = columns(&cuts::hosts(&chain4b), directory.path(), &["verdict"]);
    assert!(sentences[2].ends_with(", locks 0.9 %"), "{sentences:?}");
    assert!(sentences[3].ends_with(", locks 0.4 %"), "{sentences:?}");
    let data = shared().join("data/vm");
    check(data.join("hog2"), &["h1 requests CPU -", "h2 nothing - -"]);
    check(data.join("web2"), &["h1 nothing - -", "h2 nothing - -"]);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn idle_hosts_have_none() {
    let cache = tempfile::tempdir().unwrap();
    for scenario in ["udp2", "step2", "pause2", "ipv6_2", "web2gso", "rot2", "lossy2", "ipc1", "ping5"] {
        let found = verdicts(&[shared().join("data/vm").join(scenario)], cache.path());
        assert!(!found.is_empty(), "{scenario}");
        assert!(found.iter().all(|it| it.ends_with(" nothing - -")), "{scenario}: {found:?}");
    }
}
