//! Recordings by other tracers than LTTng: reports on them are those on LTTng's traces of the same run.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::unpacked;

/// Runs the program with JSON as the format.
fn report(arguments: &[&str], hosts: &[PathBuf]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(arguments)
        .args(["-q", "--format", "json"])
        .args(hosts)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The numbers of a column of a table, by the text in another one.
fn sums(report: &Value, table: &str, key: &str, value: &str) -> Vec<(String, f64)> {
    let table = report["tables"].as_array().unwrap().iter().find(|it| it["name"] == table).unwrap();
    let columns = table["columns"].as_array().unwrap();
    let index = |name: &str| columns.iter().position(|it| it["name"] == name).unwrap();
    let (key, value) = (index(key), index(value));
    let rows = table["rows"].as_array().unwrap().iter();
    rows.filter_map(|row| Some((row[key].to_string(), row[value].as_f64()?))).collect()
}

/// Holds the numbers of one tracer against those of another: within 2 percent of the largest, and the most of
/// them there.
fn check(name: &str, own: &[(String, f64)], other: &[(String, f64)]) {
    let largest = own.iter().map(|it| it.1).fold(0.0, f64::max);
    assert!(largest > 0.0, "{name}");
    for (key, value) in own.iter().filter(|it| it.1 > largest / 20.0) {
        let same = other.iter().find(|it| it.0 == *key).map_or(0.0, |it| it.1);
        let off = (same - value).abs() / largest;
        assert!(off <= 0.02, "{name} {key}: {value} by LTTng, {same}");
    }
}

/// The time of a raw time of LTTng's clock on a host, Unix seconds.
fn unix(scenario: &Path, host: &str, raw_s: u64) -> String {
    let truth: Value = serde_json::from_slice(&std::fs::read(scenario.join("truth.json")).unwrap()).unwrap();
    // The last of its samples.
    let offset = truth["hosts"][host]["ctf_clock_offset_ns"][0].as_u64().unwrap();
    let ns = offset + raw_s * 1_000_000_000;
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn reports_are_those_of_lttng() {
    let directory = tempfile::tempdir().unwrap();
    for (name, extension) in [("ftrace2", "trace.dat"), ("perf2", "perf.data")] {
        let scenario = unpacked(&format!("vm/{name}"), directory.path());
        for host in ["h1", "h2"] {
            let trace = [scenario.join(host)];
            let recording = [scenario.join(format!("{host}.{extension}"))];
            // While both recorded, s on their clock; h2 was started later.
            let (from, to) = if host == "h1" { (17, 24) } else { (14, 21) };
            let of_lttng = [unix(&scenario, host, from), unix(&scenario, host, to)];
            let of_other = match extension {
                "trace.dat" => [format!("{from}.0"), format!("{to}.0")],
                // Its offset was taken at another instant: some microseconds.
                _ => of_lttng.clone(),
            };
            let ask = |analysis: &str, window: &[String; 2], hosts: &[PathBuf]| {
                report(&[analysis, "--begin", &window[0], "--end", &window[1], "--limit", "1000"], hosts)
            };
            let both =
                |analysis: &str| [ask(analysis, &of_lttng, &trace), ask(analysis, &of_other, &recording)];
            let [own, other] = both("cputop");
            let of = |report: &Value| sums(report, "processes", "tid", "cpu_ns");
            check(&format!("{name} {host} cputop"), &of(&own), &of(&other));
            let [own, other] = both("syscallstats");
            let of = |report: &Value| sums(report, "names", "syscall", "count");
            check(&format!("{name} {host} syscallstats"), &of(&own), &of(&other));
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_directory_of_recordings() {
    let directory = tempfile::tempdir().unwrap();
    let scenario = unpacked("vm/ftrace2", directory.path());
    let recordings = directory.path().join("recordings");
    std::fs::create_dir(&recordings).unwrap();
    for host in ["h1", "h2"] {
        let name = format!("{host}.trace.dat");
        std::fs::rename(scenario.join(&name), recordings.join(&name)).unwrap();
    }
    let report = report(&["messages"], &[recordings]);
    let counts = sums(&report, "links", "from", "count");
    assert_eq!(counts, [("\"h1\"".to_owned(), 105.0), ("\"h2\"".to_owned(), 103.0)]);
}

#[test]
fn a_damaged_recording_is_refused_in_words() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.dat");
    std::fs::write(&path, b"\x17\x08\x44tracing6\0\0\x08").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone")).arg("cputop").arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("it is cut, or damaged: the start of the file at byte 0"), "{words}");
}
