//! Timelines for other tools, as they are typed. What is in them is tested by Perfetto's own trace processor: `ui/tests/perfetto.test.mjs`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{check, hosts, on_hosts, run, run_with};

/// The events of Chrome's JSON by category, and by phase where there is none.
fn counts(out: &str) -> BTreeMap<String, usize> {
    let whole: Value = serde_json::from_str(out).unwrap();
    let mut counts = BTreeMap::new();
    for event in whole["traceEvents"].as_array().unwrap() {
        let key = event.get("cat").unwrap_or(&event["ph"]).as_str().unwrap();
        *counts.entry(key.to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn a_timeline_holds_all_kinds() {
    let said = on_hosts(&["export", "--to", "chrome"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    let counts = counts(&said.out);
    for kind in ["state", "syscall", "cpu", "irq", "softirq", "disk", "wakeup", "message", "flow", "C", "M"] {
        assert!(counts.get(kind).is_some_and(|&count| count > 10), "{kind}: {counts:?}");
    }
    // Each message has two ends.
    assert_eq!(counts["message"], 2 * 775, "{counts:?}");
    // What begins ends.
    let begun = said.out.matches(r#"{"ph":"B""#).count();
    assert_eq!(begun, said.out.matches(r#"{"ph":"E""#).count());
}

#[test]
fn files_are_written_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("shop.pftrace");
    let path = path.to_str().unwrap();
    let said = on_hosts(&["export", "--to", "perfetto", "-o", path]);
    check(&said, 0, &["shop.pftrace is for ui.perfetto.dev"]);
    assert_eq!(said.out, "");
    let bytes = std::fs::read(path).unwrap();
    assert!(bytes.len() > 1_000_000, "{}", bytes.len());
    // The same again, whoever made the store; and nothing is said of it.
    let cache = tempfile::tempdir().unwrap();
    let [client, app, db] = hosts();
    let typed = ["export", "-q", "--to", "perfetto", "-o", path, &client, &app, &db];
    let said = run_with(&[("XDG_CACHE_HOME", cache.path().to_str().unwrap())], &typed);
    assert_eq!((said.status, said.err.as_str()), (Some(0), ""));
    assert_eq!(std::fs::read(path).unwrap().len(), bytes.len());
}

#[test]
fn part_of_it() {
    let [client, ..] = hosts();
    let all = run(&["export", "--to", "chrome", &client]).out;
    let part = run(&["export", "--to", "chrome", "--begin", "06:10:25", "--end", "06:10:26", &client]);
    assert_eq!(part.status, Some(0), "{}", part.err);
    let (all, part) = (counts(&all), counts(&part.out));
    assert!(part["syscall"] > 0 && part["syscall"] < all["syscall"] / 2, "{part:?} of {all:?}");
    // One host alone has no messages.
    assert_eq!(all.get("message"), None);
}

#[test]
fn what_cannot_be_exported_is_an_error() {
    check(&on_hosts(&["export"]), 2, &["--to <FORMAT>"]);
    check(&on_hosts(&["export", "--to", "svg"]), 2, &["perfetto, chrome"]);
    check(&on_hosts(&["export", "--to", "lami"]), 2, &["isochrone analyze NAME --format lami"]);
    check(&on_hosts(&["export", "--to", "chrome", "-o", "-"]), 2, &["leave -o out to write to stdout"]);
    check(&on_hosts(&["export", "--to", "chrome", "-o", "/nowhere/x"]), 2, &["/nowhere"]);
    check(&on_hosts(&["export", "--to", "chrome", "--every", "1us"]), 2, &["steps are too many"]);
    check(&on_hosts(&["export", "--to", "chrome", "--host", "h9"]), 2, &["no host is called `h9`"]);
}
