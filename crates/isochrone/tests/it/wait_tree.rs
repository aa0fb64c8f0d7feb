//! `blocking --tree` on real clusters: what is below a wait adds up to it, and all of it to `blocking`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{cuts, shared};

/// The rows of a table of `blocking`, as cells by column.
fn rows(hosts: &[PathBuf], cache: &Path, arguments: &[&str], table: &str) -> Vec<BTreeMap<String, Value>> {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .env("XDG_CACHE_HOME", cache)
        .args(
            ["blocking", "--format", "json", "--limit", "0"]
                .iter()
                .filter(|it| table != "tree" || !is_limit(it)),
        )
        .args(arguments)
        .args(hosts)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tables = report["tables"].as_array().unwrap();
    let found = tables.iter().find(|it| it["name"] == table).unwrap();
    let names: Vec<String> = found["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect();
    let row = |row: &Value| names.iter().cloned().zip(row.as_array().unwrap().iter().cloned()).collect();
    found["rows"].as_array().unwrap().iter().map(row).collect()
}

fn is_limit(argument: &str) -> bool {
    matches!(argument, "--limit" | "0")
}

fn number(row: &BTreeMap<String, Value>, column: &str) -> i64 {
    row[column].as_i64().unwrap()
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn what_is_below_a_wait_adds_up_to_it() {
    let cache = tempfile::tempdir().unwrap();
    for scenario in ["hog2", "chain3"] {
        let hosts = cuts::hosts(&shared().join("data/vm").join(scenario));
        let tree = rows(&hosts, cache.path(), &["--tree"], "tree");
        let mut followed = 0;
        for (index, row) in tree.iter().enumerate() {
            let (depth, total) = (number(row, "depth"), number(row, "total_ns"));
            let below = tree[index + 1..].iter().take_while(|it| number(it, "depth") > depth);
            let below: i64 =
                below.filter(|it| number(it, "depth") == depth + 1).map(|it| number(it, "total_ns")).sum();
            // Whom nothing ended that is a thread of another host on the same clock is not followed.
            if below > 0 {
                assert_eq!(below, total, "{scenario}: {row:?}");
                followed += i64::from(depth > 0);
            }
        }
        assert!(followed > 10, "{scenario}: {followed}");
        let causes = rows(&hosts, cache.path(), &[], "causes");
        let mut expect: BTreeMap<(String, String), i64> = BTreeMap::new();
        for row in &causes {
            let key = (row["host"].to_string(), row["pid"].to_string());
            *expect.entry(key).or_default() += number(row, "total_ns");
        }
        let found: BTreeMap<(String, String), i64> = tree
            .iter()
            .filter(|row| number(row, "depth") == 0)
            .map(|row| ((row["host"].to_string(), row["pid"].to_string()), number(row, "total_ns")))
            .collect();
        assert_eq!(found.keys().collect::<Vec<_>>(), expect.keys().collect::<Vec<_>>(), "{scenario}");
        for (who, total) in &expect {
            // Here durations are of the common clock, there of the host's own.
            let off = (found[who] - total).abs();
            assert!(off <= total / 1_000 + 1_000, "{scenario} {who:?}: {} of {total}", found[who]);
        }
    }
}
