//! Timelines and time series for other tools, as they are typed. What is in them is tested by Perfetto's own trace processor: `ui/tests/perfetto.test.mjs`.

use std::collections::BTreeMap;
use std::path::Path;

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

/// Each request is a trace of OpenTelemetry: what `critical-path` has of it, in spans that leave no holes.
#[test]
fn requests_are_traces() {
    let said = on_hosts(&["export", "--to", "otlp"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    let report = on_hosts(&["critical-path", "--format", "json", "--table", "requests"]);
    let report: Value = serde_json::from_str(&report.out).unwrap();
    let table = &report["tables"][0];
    let requests = table["rows"].as_array().unwrap();
    let column =
        |name: &str| table["columns"].as_array().unwrap().iter().position(|it| it["name"] == name).unwrap();
    let [begin, end] = ["begin_ns", "end_ns"].map(column);
    let lines: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), requests.len());
    let ns = |span: &Value, end: &str| span[end].as_str().unwrap().parse::<i64>().unwrap();
    let mut ids = BTreeMap::<String, usize>::new();
    for (line, request) in lines.iter().zip(requests) {
        let resources = line["resourceSpans"].as_array().unwrap();
        let spans: Vec<&Value> =
            resources.iter().flat_map(|it| it["scopeSpans"][0]["spans"].as_array().unwrap()).collect();
        let root = spans.iter().find(|span| span.get("parentSpanId").is_none()).unwrap();
        assert_eq!(ns(root, "startTimeUnixNano"), request[begin].as_i64().unwrap());
        assert_eq!(ns(root, "endTimeUnixNano"), request[end].as_i64().unwrap());
        let mut steps: Vec<&&Value> =
            spans.iter().filter(|span| span["parentSpanId"] == root["spanId"]).collect();
        assert_eq!(steps.len() + 1, spans.len());
        steps.sort_by_key(|span| ns(span, "startTimeUnixNano"));
        let ends = |span: &Value| [ns(span, "startTimeUnixNano"), ns(span, "endTimeUnixNano")];
        assert!(steps.windows(2).all(|two| ends(two[0])[1] == ends(two[1])[0]), "{line}");
        assert_eq!(ends(steps[0])[0], ends(root)[0]);
        assert_eq!(ends(steps[steps.len() - 1])[1], ends(root)[1]);
        for span in &spans {
            let id = span["spanId"].as_str().unwrap();
            assert!(id.len() == 16 && span["traceId"].as_str().unwrap().len() == 32, "{span}");
            *ids.entry(id.to_owned()).or_default() += 1;
        }
        let hosts = resources.iter().map(|it| it["resource"]["attributes"].to_string());
        assert!(hosts.clone().any(|it| it.contains("host.name") && it.contains("appsrv")), "{line}");
    }
    assert!(ids.values().all(|&count| count == 1));
    let said = on_hosts(&["export", "--to", "otlp", "--every", "1s"]);
    check(&said, 2, &["--every does not apply to --to otlp"]);
}

/// The samples of a family by their labels: (time as it is written, value), in their order.
fn samples(text: &str, family: &str) -> BTreeMap<String, Vec<(String, f64)>> {
    let mut all: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix(family)?.strip_prefix('{')) {
        let (labels, rest) = line.rsplit_once("} ").unwrap();
        let (value, at) = rest.split_once(' ').unwrap();
        all.entry(labels.to_owned()).or_default().push((at.to_owned(), value.parse().unwrap()));
    }
    all
}

/// Series end at what `usage` adds up to, and never go back.
#[test]
fn series_add_up_to_what_was_used() {
    let said = on_hosts(&["export", "--to", "openmetrics", "--every", "500ms"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
    assert!(said.out.ends_with("\n# EOF\n"));
    let busy = samples(&said.out, "isochrone_usage_cpus_busy_seconds_total");
    assert_eq!(busy.len(), 3, "{busy:?}");
    let table = on_hosts(&["analyze", "cputop", "-q", "--format", "csv", "--table", "total"]).out;
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let series = &busy[&format!("host=\"{}\",cpu=\"0\"", cells[0])];
        let last = series.last().unwrap().1;
        assert!((last - cells[2].parse::<f64>().unwrap() / 1e9).abs() < 1e-6, "{last}: {line}");
        // A sample before the first of some twenty steps, and one at the end of each.
        assert!((21..=23).contains(&series.len()), "{}", series.len());
        assert!(series[0].1.abs() < f64::EPSILON, "{}", series[0].1);
        assert!(series.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1), "{series:?}");
    }
    let written = samples(&said.out, "isochrone_usage_disks_written_bytes_total");
    let of_h1 = written["host=\"h1\",disk=\"vdb\""].last().unwrap().1;
    let table = on_hosts(&["analyze", "iousagetop", "-q", "--format", "csv", "--table", "disks"]).out;
    assert!(table.contains(&format!("{of_h1}")), "{of_h1}: {table}");
}

/// Prometheus' own tool makes blocks of them, and finds each sample.
#[test]
#[cfg_attr(not(prometheus), ignore = "needs promtool")]
fn prometheus_reads_series() {
    let promtool = |arguments: &[&str]| std::process::Command::new("promtool").args(arguments).output();
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (file, blocks) = (path("shop.om"), path("blocks"));
    let said = on_hosts(&["export", "--to", "openmetrics", "--every", "1s", "-o", &file]);
    check(&said, 0, &["shop.om is for Prometheus"]);
    let text = std::fs::read_to_string(&file).unwrap();
    let made = promtool(&["tsdb", "create-blocks-from", "openmetrics", &file, &blocks]).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    // It wants the log of a running Prometheus beside them.
    std::fs::create_dir(Path::new(&blocks).join("wal")).unwrap();
    let dumped = promtool(&["tsdb", "dump", &blocks]).unwrap();
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    let dumped = String::from_utf8(dumped.stdout).unwrap();
    let written = text.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(dumped.lines().count(), written);
    // To the ms, which is what it keeps of times.
    let series = samples(&text, "isochrone_usage_cpus_busy_seconds_total");
    let (at, value) = series["host=\"h2\",cpu=\"0\""].last().unwrap();
    let at = (at.parse::<f64>().unwrap() * 1e3).round();
    let line = dumped.lines().find(|line| {
        let is_it =
            ["isochrone_usage_cpus_busy_seconds_total", "host=\"h2\""].iter().all(|it| line.contains(it));
        is_it && line.ends_with(&format!(" {at}"))
    });
    let line = line.unwrap_or_else(|| panic!("no sample at {at}"));
    let found: f64 = line.rsplit(' ').nth(1).unwrap().parse().unwrap();
    assert!((found - value).abs() < 1e-6, "{line}: {value}");
}

#[test]
fn what_cannot_be_exported_is_an_error() {
    check(&on_hosts(&["export"]), 2, &["--to <FORMAT>"]);
    check(&on_hosts(&["export", "--to", "svg"]), 2, &["perfetto, chrome, openmetrics"]);
    let stored = ["export", "--to", "openmetrics", "--store", "/nowhere"];
    check(&on_hosts(&stored), 2, &["--store does not apply to --to openmetrics"]);
    check(&on_hosts(&["export", "--to", "openmetrics", "--every", "1us"]), 2, &["steps are too many"]);
    check(&on_hosts(&["export", "--to", "lami"]), 2, &["isochrone analyze NAME --format lami"]);
    check(&on_hosts(&["export", "--to", "chrome", "-o", "-"]), 2, &["leave -o out to write to stdout"]);
    check(&on_hosts(&["export", "--to", "chrome", "-o", "/nowhere/x"]), 2, &["/nowhere"]);
    check(&on_hosts(&["export", "--to", "chrome", "--every", "1us"]), 2, &["steps are too many"]);
    check(&on_hosts(&["export", "--to", "chrome", "--host", "h9"]), 2, &["no host is called `h9`"]);
}
