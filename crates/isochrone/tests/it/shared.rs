//! The binary on the larger public corpus beside the project: real clusters with known clocks, and peers' outputs.
//!
//! Without the corpus or the peers these tests are ignored; with `ISOCHRONE_REQUIRE_SHARED` set everything must be there.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::shared;
use serde_json::Value;

fn isochrone(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?} ended with {:?}: {said}", output.status.code());
    String::from_utf8(output.stdout).unwrap()
}

/// The host directories of a scenario.
fn hosts(scenario: &Path) -> Vec<String> {
    let mut hosts: Vec<String> = std::fs::read_dir(scenario)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    hosts.sort();
    hosts
}

fn synchronize(scenario: &Path, output: &Path) {
    let hosts = hosts(scenario);
    let mut arguments = vec!["sync", "-q", "-o", output.to_str().unwrap()];
    arguments.extend(hosts.iter().map(String::as_str));
    isochrone(&arguments);
}

/// Scenarios, and 1.25 × the exact half width of their direct links, µs.
const SCENARIOS: [(&str, u32); 6] =
    [("web2", 334), ("hog2", 631), ("chain3", 402), ("ping5", 1330), ("ipv6_2", 492), ("rot2", 231)];

#[test]
#[cfg_attr(not(all(shared_data, python3)), ignore = "needs ../shared/data and python3")]
fn the_truth_lies_inside_on_real_clusters() {
    let shared = shared();
    let directory = tempfile::tempdir().unwrap();
    for (name, max_half_us) in SCENARIOS {
        let scenario = shared.join("data/vm").join(name);
        let output = directory.path().join(format!("{name}.json"));
        synchronize(&scenario, &output);
        let judged = Command::new("python3")
            .arg(shared.join("tools/check_truth.py"))
            .args([&output, &scenario])
            .args(["--max-half-us", &max_half_us.to_string()])
            .output()
            .unwrap();
        assert!(judged.status.success(), "{name}: {}", String::from_utf8_lossy(&judged.stdout));
    }
}

/// A host against the capture of the switch, whose stamps are of the clock that the truth is known by. The switch is
/// taken for the host's peer: then each packet was seen by two.
#[test]
#[cfg_attr(not(all(shared_data, python3)), ignore = "needs ../shared/data and python3")]
fn the_truth_lies_inside_against_a_switch() {
    let shared = shared();
    let directory = tempfile::tempdir().unwrap();
    let (capture, output) = (directory.path().join("switch.pcap"), directory.path().join("sync.json"));
    for (name, host, peer, max_half_us) in
        [("web2", "h1", 2, 90), ("web2", "h2", 1, 140), ("chain3", "h1", 2, 200), ("lossy2", "h1", 2, 120)]
    {
        let scenario = shared.join("data/vm").join(name);
        let packed = std::fs::File::open(scenario.join("switch.pcap.zst")).unwrap();
        std::fs::write(&capture, zstd::decode_all(packed).unwrap()).unwrap();
        let taken = format!("switch=52:54:00:12:34:0{peer}");
        let traced = scenario.join(host);
        let [traced, captured, written] = [&traced, &capture, &output].map(|path| path.to_str().unwrap());
        // A capture does not tell that nobody steers the clock of the switch; nobody does.
        let options =
            ["-q", "--reference", "switch", "--captured", &taken, "--clock", "switch=free", "-o", written];
        isochrone(&[&["sync"][..], &options, &[traced, captured]].concat());
        let judged = Command::new("python3")
            .arg(shared.join("tools/check_truth.py"))
            .args([&output, &scenario])
            .output()
            .unwrap();
        let judged = String::from_utf8(judged.stdout).unwrap();
        assert!(judged.contains("'truth_inside': True"), "{name}, {host}: {judged}");
        let sync: Value = serde_json::from_str(&std::fs::read_to_string(&output).unwrap()).unwrap();
        let rows = sync["clocks"][0]["interval"].as_array().unwrap();
        let widest =
            rows.iter().map(|row| row[2].as_i64().unwrap() - row[1].as_i64().unwrap()).max().unwrap();
        assert!(widest <= 2 * max_half_us * 1000, "{name}, {host}: {widest} ns");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn the_public_pair_has_its_known_bounds() {
    let shared = shared();
    let pair =
        ["scp_src", "scp_dest"].map(|name| shared.join("data/scp").join(name).to_str().unwrap().to_owned());
    let json = isochrone(&["sync", "-q", "--format", "json", &pair[0], &pair[1]]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let link = &json["links"][0];
    assert_eq!((&link["a"], &link["b"]), (&"VM1".into(), &"VM3".into()));
    assert_eq!(link["quality"], "accurate");
    assert_eq!((&link["messages"]["a_to_b"], &link["messages"]["b_to_a"]), (&24.into(), &22.into()));
    assert_eq!(link["inversions"], 0);
    // The published bounds are of the inverse relation, VM1's time from VM3's.
    let inverse = |index: usize| 1.0 / (1.0 + link["rate_ppm"][index].as_f64().unwrap() * 1e-6) - 1.0;
    assert!((inverse(1) - -2.629_728_609_696_909e-3).abs() < 1e-14, "{}", inverse(1));
    assert!((inverse(0) - 2.746_978_742_465_156e-3).abs() < 1e-14, "{}", inverse(0));
    // The middle is taken on VM1's clock here, 80.6 ms from there on VM3's: with these rates that moves the bounds by
    // less than 300 ns.
    let bound = |index: usize| -link["offset_at_middle_ns"][index].as_i64().unwrap();
    assert!((bound(1) - 80_420_657).abs() < 300, "{}", bound(1));
    assert!((bound(0) - 80_706_290).abs() < 300, "{}", bound(0));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn events_are_counted_class_by_class() {
    let shared = shared();
    let mut compared = 0;
    for entry in std::fs::read_dir(shared.join("data/vm")).unwrap() {
        let scenario = entry.unwrap().path();
        let Ok(expected) = std::fs::read_to_string(scenario.join("events.json")) else { continue };
        let expected: BTreeMap<String, Value> = serde_json::from_str(&expected).unwrap();
        for (host, expected) in expected {
            let path = scenario.join(&host);
            let info = isochrone(&["info", "-q", "--format", "json", path.to_str().unwrap()]);
            let info: Value = serde_json::from_str(&info).unwrap();
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            let traces = info["traces"].as_array().unwrap();
            for class in traces.iter().flat_map(|trace| trace["event_classes"].as_array().unwrap()) {
                *counts.entry(class["name"].as_str().unwrap().to_owned()).or_default() +=
                    class["count"].as_u64().unwrap();
            }
            let mut expected: BTreeMap<String, u64> =
                serde_json::from_value(expected["counts"].clone()).unwrap();
            // The reference also counts some events by the protocol in them.
            expected.retain(|name, _| !name.contains('.'));
            assert_eq!(counts, expected, "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 34, "only {compared} hosts");
}

/// Memory that a command may take for a trace of the corpus, its code and the pages of mapped files left out, in KiB.
const MAX_MEMORY_KIB: u32 = 100 * 1024;

/// Time that a command may take for a trace of the corpus.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Good ones and bad ones: nothing crashes, hangs or takes more memory than any trace needs.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn no_trace_takes_more_than_its_time_and_memory() {
    let shared = shared();
    let corpus = shared.join("data/ctf");
    let table = std::fs::read_to_string(corpus.join("corpus.tsv")).unwrap();
    let mut traces = 0;
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (path, status) = (corpus.join("traces").join(columns[0]), columns[5]);
        if !path.join("metadata").is_file() {
            continue;
        }
        traces += usize::from(status == "error");
        for command in ["dump", "info"] {
            let code = limited(&[command, path.to_str().unwrap()]);
            // All done, done in part, or refused.
            assert!(code.is_some_and(|code| code <= 2), "{command} {}: {code:?}", path.display());
        }
    }
    assert!(traces >= 139, "only {traces} bad traces");
}

/// Runs a command within the limits; its status, if it ended by itself and without a panic.
fn limited(arguments: &[&str]) -> Option<i32> {
    let said = tempfile::NamedTempFile::new().unwrap();
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -d {MAX_MEMORY_KIB}; exec \"$@\""), "sh"])
        .arg(env!("CARGO_BIN_EXE_isochrone"))
        .args(arguments)
        // Each thread has a stack of its own.
        .env("RAYON_NUM_THREADS", "4")
        .stdout(Stdio::null())
        .stderr(said.reopen().unwrap())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > MAX_TIME {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let said = std::fs::read_to_string(said.path()).unwrap();
    child.wait().unwrap().code().filter(|_| !said.contains("panicked"))
}

/// `events` against babeltrace2, line by line. Its version 2.0.4 shows stale text for empty strings: those lines are
/// compared without their strings.
#[test]
#[cfg_attr(not(all(shared_data, babeltrace2)), ignore = "needs ../shared/data and babeltrace2")]
fn events_look_like_those_of_babeltrace2() {
    let shared = shared();
    for name in [
        "vm/web2/h1",
        "vm/ipv6_2/h2",
        "vm/rot2/h1",
        "ust/rotated/single_host",
        "ctf/traces/tc/flipping-endianness",
    ] {
        let path = shared.join("data").join(name);
        let ours = isochrone(&["events", "-q", path.to_str().unwrap()]);
        let theirs = babeltrace2(&path);
        assert_eq!(ours.lines().count(), theirs.lines().count(), "{name}");
        for (ours, theirs) in ours.lines().zip(theirs.lines()) {
            if ours.contains("= \"\"") {
                assert_eq!(without_strings(ours), without_strings(theirs), "{name}");
            } else {
                assert_eq!(ours, theirs, "{name}");
            }
        }
    }
}

fn babeltrace2(path: &Path) -> String {
    let output = Command::new("babeltrace2").args(["--clock-gmt", path.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "babeltrace2 complains");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn without_strings(line: &str) -> String {
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

#[test]
#[cfg_attr(not(all(shared_data, babeltrace2)), ignore = "needs ../shared/data and babeltrace2")]
fn babeltrace2_reads_synchronized_copies_in_order() {
    let shared = shared();
    let directory = tempfile::tempdir().unwrap();
    let scenario = shared.join("data/vm/web2");
    let (copies, sync) = (directory.path().join("copies"), directory.path().join("sync.json"));
    let hosts = hosts(&scenario);
    isochrone(&[
        "sync",
        "-q",
        "-o",
        sync.to_str().unwrap(),
        "--write",
        copies.to_str().unwrap(),
        &hosts[0],
        &hosts[1],
    ]);
    let merged = babeltrace2(&copies);
    assert!(!merged.contains("(-"), "times go back");

    // Names and payloads of each host are those of the original.
    for host in ["h1", "h2"] {
        let original = babeltrace2(&scenario.join(host));
        let copy = babeltrace2(&copies.join(format!("{host}_")));
        assert_eq!(original.lines().count(), copy.lines().count());
        for (original, copy) in original.lines().zip(copy.lines()) {
            assert_eq!(without_times(original), without_times(copy));
        }
    }
    // The copies show what the corrections say.
    let ours = isochrone(&["events", "-q", "--sync", sync.to_str().unwrap(), &hosts[0], &hosts[1]]);
    for (ours, theirs) in ours.lines().zip(merged.lines()) {
        assert_eq!(without_strings(ours), without_strings(theirs));
    }
    assert_eq!(inversions(&merged), (2708, 0));
}

fn without_times(line: &str) -> &str {
    line.split_once(") ").map_or(line, |(_, rest)| rest)
}

/// Counts pairs of a packet queued on one host and received on another, and how many of them are received first.
/// Found by text alone, independent of the matching under test.
fn inversions(merged: &str) -> (usize, usize) {
    let mut queued: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    let mut received: Vec<(usize, &str, &str)> = Vec::new();
    for (number, line) in merged.lines().enumerate() {
        let Some(at) = line.find("ihl = ") else { continue };
        let fields = &line[at..];
        // Addresses, ids, ports, sequence numbers: all of the headers but what changes on the way (the checksum of
        // the transport is filled in by the device).
        let key = fields.split_once(", flags = 0x").map_or(fields, |(key, _)| key);
        let host = if line.contains(" h1 ") { "h1" } else { "h2" };
        if line.contains(" net_dev_queue: ") {
            queued.entry(key).or_insert((number, host));
        } else if line.contains(" net_if_receive_skb: ") {
            received.push((number, host, key));
        }
    }
    let pairs: Vec<bool> = received
        .iter()
        .filter_map(|(number, host, key)| {
            let (sent, sender) = queued.get(key)?;
            (sender != host).then_some(sent > number)
        })
        .collect();
    (pairs.len(), pairs.iter().filter(|inverted| **inverted).count())
}
