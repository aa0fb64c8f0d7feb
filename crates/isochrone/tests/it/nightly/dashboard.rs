//! The dashboard of `examples/watch`: each of its queries is put to Debian's Prometheus, which has the figures that `isochrone watch` gives of the
//! bundled chunks, and answers what the analyses answer of the whole traces.
//!
//! Ignored where prometheus is not installed; with `ISOCHRONE_REQUIRE_PROMETHEUS` set, as in `.ci/nightly`, it must be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Labels, and what they have.
type Values = BTreeMap<BTreeMap<String, String>, f64>;
/// A row of a table.
type Row = serde_json::Map<String, Value>;

/// What must not take longer.
const PATIENCE: Duration = Duration::from_secs(60);

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/watch").canonicalize().unwrap()
}

/// The bundled chunks, and what is made of them.
struct Demonstration {
    directory: tempfile::TempDir,
}

impl Demonstration {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("chunks")).unwrap();
        let packed = examples().join("thumbnails.tar.xz");
        let mut tar = Command::new("tar");
        tar.arg("-xJf").arg(packed).arg("-C").arg(directory.path().join("chunks"));
        assert!(tar.status().unwrap().success(), "tar and xz are needed");
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .args(arguments)
            .current_dir(self.directory.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Rows of a table of an analysis, of some time, Unix ns.
    fn rows(&self, command: &[&str], table: &str, (begin, end): (Option<i128>, Option<i128>)) -> Vec<Row> {
        let [begin, end] = [("--begin", begin), ("--end", end)]
            .map(|(option, at)| at.map(|at| vec![option.to_owned(), at.to_string()]).unwrap_or_default());
        let bounds: Vec<&str> = begin.iter().chain(&end).map(String::as_str).collect();
        let format = ["-q", "--format", "jsonl", "--table", table, "--sync", "sync.json"];
        let hosts = ["chunks/h1", "chunks/h2", "chunks/h3"];
        let text = self.run(&[command, &format[..], &bounds, &hosts].concat());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A server that is ended with its test.
struct Prometheus {
    process: Child,
    port: u16,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Prometheus {
    /// With what is in a directory, and what a configuration says.
    fn start(directory: &Path, configuration: &str) -> Self {
        let file = directory.join("prometheus.yml");
        fs::write(&file, configuration).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", directory.join("tsdb").display()))
            .arg("--storage.tsdb.retention.time=100y")
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let prometheus = Self { process, port };
        let begin = Instant::now();
        while prometheus.get("/-/ready").is_none_or(|(code, _)| code != 200) {
            assert!(begin.elapsed() < PATIENCE, "prometheus is not ready");
            thread::sleep(Duration::from_millis(50));
        }
        prometheus
    }

    fn get(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").ok()?;
        let mut said = String::new();
        stream.read_to_string(&mut said).ok()?;
        let code = said.split(' ').nth(1)?.parse().ok()?;
        Some((code, said.split_once("\r\n\r\n")?.1.to_owned()))
    }

    /// What a query gives at an instant, Unix ms.
    fn query(&self, expression: &str, at: Option<i128>) -> Values {
        let escaped = |text: &str| -> String {
            text.bytes()
                .map(|byte| match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
                    other => format!("%{other:02X}"),
                })
                .collect()
        };
        let time = at.map(|at| format!("&time={}.{:03}", at / 1000, at % 1000)).unwrap_or_default();
        let path = format!("/api/v1/query?query={}{time}", escaped(expression));
        let (code, said) = self.get(&path).unwrap();
        assert_eq!(code, 200, "{expression}: {said}");
        let said: Value = serde_json::from_str(&said).unwrap();
        let found = said["data"]["result"].as_array().unwrap().iter();
        found
            .map(|one| {
                let labels = one["metric"].as_object().unwrap().iter();
                let labels = labels.filter(|(name, _)| *name != "__name__");
                let labels =
                    labels.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect();
                (labels, one["value"][1].as_str().unwrap().parse().unwrap())
            })
            .collect()
    }
}

/// The queries of the dashboard, by panel.
fn queries() -> Vec<(String, String)> {
    let dashboard: Value =
        serde_json::from_str(&fs::read_to_string(examples().join("dashboard.json")).unwrap()).unwrap();
    let mut ids = BTreeSet::new();
    let mut all = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "two panels have one id");
        let title = panel["title"].as_str().unwrap();
        for target in panel["targets"].as_array().into_iter().flatten() {
            all.push((title.to_owned(), target["expr"].as_str().unwrap().to_owned()));
        }
    }
    let names: Vec<&str> = dashboard["templating"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["datasource", "host", "phase"]);
    all
}

fn label(row: &Row, name: &str) -> String {
    match &row[name] {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

fn number(row: &Row, column: &str) -> f64 {
    let value = row[column].as_f64().unwrap_or_default();
    if column.ends_with("_ns") { value / 1e9 } else { value }
}

/// The sums of a column over rows, by labels, some of which are constant.
fn sums(rows: &[Row], labels: &[&str], constant: Option<(&str, &str)>, column: &str) -> Values {
    let mut found = Values::new();
    for row in rows {
        let named = labels.iter().map(|&name| (name.to_owned(), label(row, name)));
        let constant = constant.map(|(name, value)| (name.to_owned(), value.to_owned()));
        *found.entry(named.chain(constant).collect()).or_default() += number(row, column);
    }
    found
}

fn all(parts: impl IntoIterator<Item = Values>) -> Values {
    parts.into_iter().flatten().collect()
}

/// What is in a value, divided.
fn over(values: Values, divisor: f64) -> Values {
    values.into_iter().map(|(labels, value)| (labels, value / divisor)).collect()
}

fn check(title: &str, found: &Values, expect: &Values) {
    let keys: BTreeSet<_> = found.keys().chain(expect.keys()).collect();
    for key in keys {
        // What did not happen has no row in a table, and no change in a counter.
        let (here, there) = (found.get(key).copied().unwrap_or(0.0), expect.get(key).copied().unwrap_or(0.0));
        // An instant is a number of 53 bits in Prometheus.
        // Who runs when a chunk ends counts up to the last event before that, which is some microseconds earlier.
        let least = match title {
            "Behind" => 1e-6,
            "CPU time by program" => 5e-6,
            _ => 5e-9,
        };
        let allowed = (1e-7 * there.abs()).max(least);
        assert!((here - there).abs() <= allowed, "{title}: {key:?} is {here}, and should be {there}");
    }
}

/// A step of time, Unix ns.
type Window = (i128, i128);

/// The ends of steps, of the file names of their figures.
fn steps(figures: &Path) -> Vec<i128> {
    let names = fs::read_dir(figures).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut ends: Vec<i128> = names.filter_map(|name| name.strip_suffix("-steps.om")?.parse().ok()).collect();
    ends.sort_unstable();
    ends
}

/// What each query should give: `range` is all time, `step` one step of it; `before` are the steps up to that one.
fn expected(
    of: &Demonstration,
    title: &str,
    nth: usize,
    range: Window,
    step: Window,
    before: &[Window],
) -> Values {
    let whole = |command: &[&str], table: &str| of.rows(command, table, (Some(range.0), Some(range.1)));
    let here = |command: &[&str], table: &str| of.rows(command, table, (Some(step.0), Some(step.1)));
    let seconds = (step.1.div_euclid(1_000_000) - step.0.div_euclid(1_000_000)) as f64 / 1e3;
    let (phases, messages, accounting) = (&["phases"][..], &["messages"][..], &["accounting"][..]);
    // Figures of the last step stay until the next step that has them.
    let last = |command: &[&str], table: &str, labels: &[&str], columns: &[(&str, Option<&str>)]| {
        let of_step = before.iter().flat_map(|&(from, to)| {
            let rows = of.rows(command, table, (Some(from), Some(to)));
            let of_column = |&(column, quantile): &(&str, Option<&str>)| {
                let rows: Vec<Row> = rows.iter().filter(|row| !row[column].is_null()).cloned().collect();
                sums(&rows, labels, quantile.map(|quantile| ("quantile", quantile)), column)
            };
            columns.iter().flat_map(of_column).collect::<Vec<_>>()
        });
        of_step.collect::<Values>()
    };
    // Exchanges count in the step in which they begin, with what is in that step of them.
    let payers = |steps: &[Window], labels: &[&str], columns: &[(&str, &str)], has_label: bool| {
        let mut found = Values::new();
        for &(from, to) in steps {
            let mut rows = of.rows(accounting, "programs", (Some(from), Some(to)));
            rows.retain(|row| row["role"] == "client");
            for &(column, used_by) in columns {
                let label = has_label.then_some(("used_by", used_by));
                for (labels, value) in sums(&rows, labels, label, column) {
                    *found.entry(labels).or_default() += value;
                }
            }
        }
        found
    };
    let states = [
        ("running_ns", "running"),
        ("interrupted_ns", "interrupted"),
        ("wait_cpu_ns", "wait-cpu"),
        ("blocked_ns", "blocked"),
        ("unknown_ns", "unknown"),
    ];
    let used = [("self_ns", "itself"), ("sub_ns", "servers")];
    match (title, nth) {
        ("Time in phases", 0) => over(sums(&here(phases, "phases"), &["phase"], None, "total_ns"), seconds),
        ("How long a phase takes", 0) => last(
            phases,
            "phases",
            &["host", "phase"],
            &[("p50_ns", Some("0.5")), ("p95_ns", Some("0.95")), ("max_ns", Some("1"))],
        ),
        ("Time by system call", 0) => {
            sums(&whole(phases, "phase_calls"), &["phase", "call"], None, "total_ns")
        }
        ("System calls", 0) => sums(&whole(phases, "phase_calls"), &["phase", "call"], None, "count"),
        ("Time by cause", 0) => sums(&whole(phases, "phase_waits"), &["phase", "cause"], None, "total_ns"),
        ("What the threads did", 0) => {
            let rows = whole(phases, "phase_calls");
            all(states.map(|(column, state)| sums(&rows, &["phase"], Some(("state", state)), column)))
        }
        ("Phases", 0) => sums(&whole(phases, "phases"), &["phase"], None, "count"),
        ("Phases", 1) => {
            let rows = whole(phases, "phases");
            let counts = sums(&rows, &["phase"], None, "count");
            let mean = |(labels, ns): (BTreeMap<_, _>, f64)| (labels.clone(), ns / counts[&labels]);
            sums(&rows, &["phase"], None, "total_ns").into_iter().map(mean).collect()
        }
        ("Latency of messages", 0) => {
            last(messages, "links", &["from", "to"], &[("median_ns", Some("0.5")), ("p99_ns", Some("0.99"))])
        }
        ("What the clocks leave open of it", 0) => {
            last(messages, "links", &["from", "to"], &[("uncertainty_ns", None)])
        }
        ("Messages", 0) => over(sums(&here(messages, "links"), &["from", "to"], None, "count"), seconds),
        ("Bytes", 0) => over(sums(&here(messages, "links"), &["from", "to"], None, "bytes"), seconds),
        ("CPU time by program", 0) => {
            let at = |end| of.rows(&["analyze", "cputop"], "processes", (None, Some(end)));
            let thread = ["host", "pid", "tid", "comm", "priorities"];
            let (from, to) =
                (sums(&at(step.0), &thread, None, "cpu_ns"), sums(&at(step.1), &thread, None, "cpu_ns"));
            let mut found = Values::new();
            // Only the host whose chunks end with the step has figures at both ends.
            for (mut labels, value) in to.into_iter().filter(|(labels, _)| labels["host"] == "h2") {
                let Some(before) = from.get(&labels) else { continue };
                labels.retain(|name, _| name == "host" || name == "comm");
                *found.entry(labels).or_default() += (value - before) / seconds;
            }
            greatest(found, 10)
        }
        ("CPU time by process", 0) => {
            let rows = of.rows(&["analyze", "cputop"], "processes", (None, None));
            greatest(sums(&rows, &["host", "pid"], None, "cpu_ns"), 20)
        }
        ("CPU time by client", 0) => payers(before, &["host", "comm"], &used, true),
        ("CPU time for clients", 0) => over(payers(&[step], &["host", "comm"], &used, false), seconds),
        ("Uncertainty of clocks", 0) => uncertainties(of, step.1),
        // What was given is not revised: see the test without it.
        ("Revision of clocks", 0) => Values::new(),
        ("Losses", 0) => one("host", "h2", 0.0),
        ("Behind", 0) => {
            // The last step ends with the last event of all, the one before it with the last chunk that has one after it.
            let mapped = before[before.len() - 2].1;
            one("host", "h2", (range.1.div_euclid(1_000_000) * 1_000_000 - mapped) as f64 / 1e9)
        }
        _ => panic!("{title}, query {nth}: say what it should give"),
    }
}

/// How far the time of each host can be off at an instant, Unix ns, by the rows of `sync.json`.
fn uncertainties(of: &Demonstration, at: i128) -> Values {
    let sync: Value = serde_json::from_str(&fs::read_to_string(of.path("sync.json")).unwrap()).unwrap();
    let clocks = sync["clocks"].as_array().unwrap();
    let reference = clocks.iter().find(|clock| clock["host"] == sync["reference"]).unwrap();
    let time = (at - i128::from(reference["clock_offset_ns"].as_i64().unwrap())) as f64;
    // Between two rows, a straight line.
    let between = |rows: &[Value], (x, y): (usize, usize), at: f64| {
        let place = rows.partition_point(|row| row[x].as_f64().unwrap() <= at).clamp(1, rows.len() - 1);
        let value = |row: &Value, column: usize| row[column].as_f64().unwrap();
        let [(x0, y0), (x1, y1)] = [place - 1, place].map(|at| (value(&rows[at], x), value(&rows[at], y)));
        y0 + (at - x0) * (y1 - y0) / (x1 - x0)
    };
    let of_clock = |clock: &Value| {
        let knots = clock["knots"].as_array().unwrap();
        let raw = between(knots, (1, 0), time);
        let rows = clock["interval"].as_array().unwrap();
        let [lo, hi] = [1, 2].map(|column| between(rows, (0, column), raw));
        one("host", clock["host"].as_str().unwrap(), (hi - time).max(time - lo) / 1e9)
    };
    all(clocks.iter().map(of_clock))
}

/// After a step, of the host whose chunks end with steps: chunks that were mapped, and that wait.
fn expected_chunks(query: usize, step: usize) -> Values {
    one("host", "h2", if query == 0 { step as f64 + 1.0 } else { 4.0 - step as f64 })
}

fn one(name: &str, value: &str, number: f64) -> Values {
    [([(name.to_owned(), value.to_owned())].into(), number)].into()
}

/// Those that are greatest.
fn greatest(values: Values, count: usize) -> Values {
    let mut sorted: Vec<_> = values.into_iter().collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    sorted.truncate(count);
    sorted.into_iter().collect()
}

/// Puts files of figures into what Prometheus keeps.
fn fill(prometheus: &Path, figures: &Path) {
    let mut files: Vec<PathBuf> = fs::read_dir(figures).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let made = Command::new("promtool")
            .args(["tsdb", "create-blocks-from", "openmetrics"])
            .arg(&file)
            .arg(prometheus.join("tsdb"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{}: {said}", file.display());
    }
}

#[test]
#[ignore = "takes long: `.ci/nightly prometheus`"]
fn every_query_gives_what_the_analyses_give() {
    let of = Demonstration::new();
    of.run(&["sync", "-q", "chunks/h1", "chunks/h2", "chunks/h3", "-o", "sync.json"]);
    let asked = "cputop,phases,messages,accounting";
    of.run(&["watch", "-q", asked, "--once", "--sync", "sync.json", "--backfill", "figures", "chunks"]);
    let ends = steps(&of.path("figures"));
    assert!(ends.len() > 3, "{ends:?}");
    let prometheus_directory = of.path("prometheus");
    fs::create_dir(&prometheus_directory).unwrap();
    fill(&prometheus_directory, &of.path("figures"));
    let prometheus = Prometheus::start(&prometheus_directory, "global: {}\n");
    // The first step begins with the first event of all.
    let first = of.run(&[
        "messages",
        "-q",
        "--format",
        "json",
        "--sync",
        "sync.json",
        "chunks/h1",
        "chunks/h2",
        "chunks/h3",
    ]);
    let first: Value = serde_json::from_str(&first).unwrap();
    let begins = std::iter::once(i128::from(first["range"][0].as_i64().unwrap())).chain(ends.iter().copied());
    let windows: Vec<Window> = begins.zip(ends.iter().copied()).collect();
    let range = (windows[0].0, *ends.last().unwrap());
    let ms = |ns: i128| ns.div_euclid(1_000_000);
    // The step in which most happens is neither the first nor the last.
    let nth = 2;
    let step = windows[nth];
    let replaced = |expression: &str| {
        expression
            .replace("$__range", &format!("{}ms", ms(range.1) - ms(range.0)))
            .replace("$__rate_interval", &format!("{}ms", ms(step.1) - ms(step.0)))
            .replace("$host", ".*")
            .replace("$phase", ".*")
    };
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (title, expression) in queries() {
        let place = places.entry(title.clone()).and_modify(|nth| *nth += 1).or_default();
        // What is of all time, or of now, is asked at the end of it.
        let is_of_all =
            expression.contains("$__range") || title == "CPU time by process" || title == "Behind";
        let at = ms(if is_of_all { range.1 } else { step.1 });
        let before = if is_of_all { &windows[..] } else { &windows[..=nth] };
        let found = prometheus.query(&replaced(&expression), Some(at));
        let expect = match title.as_str() {
            "Chunks" => expected_chunks(*place, nth),
            _ => expected(&of, &title, *place, range, step, before),
        };
        check(&title, &found, &expect);
        assert!(title == "Revision of clocks" || !found.is_empty(), "{title}: no answer");
    }
}

/// The figures of a step in a directory, counted from the last one, by name and labels as they are written.
fn step_from_last(figures: &Path, nth: usize) -> BTreeMap<String, f64> {
    let end = *steps(figures).iter().rev().nth(nth).unwrap();
    let text = fs::read_to_string(figures.join(format!("{end:020}-steps.om"))).unwrap();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let (rest, _) = line.rsplit_once(' ').unwrap();
            let (name, value) = rest.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        })
        .collect()
}

/// Hosts are synchronized on the way, steps go on where a process has ended, and what was published is revised in figures alone.
#[test]
#[ignore = "takes long: `.ci/nightly prometheus`"]
fn clocks_are_kept_up_and_steps_go_on() {
    let of = Demonstration::new();
    let asked = "phases,messages,accounting";
    let watch =
        |options: &[&str]| of.run(&[&["watch", "-q", asked, "--once"], options, &["chunks"]].concat());
    watch(&["--backfill", "whole"]);
    // The same in two processes, of which the first has seen only a part.
    let archives = of.path("chunks/h2/archives");
    let mut chunks: Vec<PathBuf> = fs::read_dir(&archives).unwrap().map(|it| it.unwrap().path()).collect();
    chunks.sort();
    let aside = of.path("aside");
    fs::create_dir(&aside).unwrap();
    for chunk in &chunks[3..] {
        fs::rename(chunk, aside.join(chunk.file_name().unwrap())).unwrap();
    }
    watch(&["--state", "state", "--backfill", "parts"]);
    for chunk in &chunks[3..] {
        fs::rename(aside.join(chunk.file_name().unwrap()), chunk).unwrap();
    }
    // Its file is that of a step that is not the last any more.
    let unkept = *steps(&of.path("parts")).last().unwrap();
    fs::remove_file(of.path("parts").join(format!("{unkept:020}-steps.om"))).unwrap();
    watch(&["--state", "state", "--backfill", "parts"]);
    assert_eq!(steps(&of.path("parts")).len(), steps(&of.path("whole")).len());
    let [whole, parts] = ["whole", "parts"].map(|name| step_from_last(&of.path(name), 0));
    let sums = |figures: &BTreeMap<String, f64>| -> BTreeMap<String, f64> {
        let is_exact = |name: &str| name.starts_with("isochrone_phase") && name.contains("_total");
        figures
            .iter()
            .filter(|(name, _)| is_exact(name))
            .map(|(name, value)| (name.clone(), *value))
            .collect()
    };
    assert_eq!(sums(&whole), sums(&parts));
    // Of the whole traces at once.
    let all = of.run(&[
        "phases",
        "-q",
        "--format",
        "jsonl",
        "--table",
        "phases",
        "chunks/h1",
        "chunks/h2",
        "chunks/h3",
    ]);
    let rows = all.lines().map(|line| serde_json::from_str::<Row>(line).unwrap());
    for row in rows {
        let (host, phase) = (label(&row, "host"), label(&row, "phase"));
        for (family, column) in
            [("isochrone_phases_total", "count"), ("isochrone_phase_seconds_total", "total_ns")]
        {
            let found = whole[&format!("{family}{{host=\"{host}\",phase=\"{phase}\"}}")];
            assert!((found - number(&row, column)).abs() < 1e-9, "{family} {phase}: {found}");
        }
    }
    // In the last step, some hosts are not traced to its end.
    for figures in ["whole", "parts"].map(|name| step_from_last(&of.path(name), 1)) {
        for host in ["h1", "h2", "h3"] {
            let uncertainty = figures[&format!("isochrone_clock_uncertainty_seconds{{host=\"{host}\"}}")];
            let revised = figures[&format!("isochrone_clock_revised_seconds{{host=\"{host}\"}}")];
            assert!(
                (0.0..2e-3).contains(&uncertainty) && revised.abs() < 2e-3,
                "{host}: {uncertainty}, {revised}"
            );
        }
    }
    // Other commands take the corrections.
    let corrected = of.run(&["messages", "-q", "--sync", "state/sync.json", "--table", "links", "chunks"]);
    assert!(corrected.contains("h1") && corrected.contains("h3"), "{corrected}");
}

/// What the demonstration prints is what `phases` says.
#[test]
#[ignore = "takes long: `.ci/nightly prometheus`"]
fn the_demonstration() {
    let directory = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let shown = Command::new(examples().join("demo.sh"))
        .arg(directory.path())
        .env("ISOCHRONE", env!("CARGO_BIN_EXE_isochrone"))
        .env("PROMETHEUS_ADDRESS", format!("127.0.0.1:{port}"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&shown.stderr).into_owned();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let found: BTreeMap<(String, String), f64> = shown
        .lines()
        .filter_map(|line| {
            let (labels, value) = line.trim().strip_prefix("{call=\"")?.split_once("} => ")?;
            let (call, phase) = labels.split_once("\", phase=\"")?;
            let value = value.split(' ').next()?.parse().ok()?;
            Some(((phase.trim_end_matches('"').to_owned(), call.to_owned()), value))
        })
        .collect();
    let of = Demonstration::new();
    let rows = of.run(&["phases", "-q", "--format", "jsonl", "--table", "phase_calls", "chunks/h2"]);
    let rows: Vec<Row> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expect = rows.iter().filter(|row| label(row, "phase").starts_with("thumb:phase"));
    let expect: BTreeMap<(String, String), f64> = expect
        .map(|row| ((label(row, "phase"), label(row, "call")), number(row, "total_ns")))
        .filter(|(_, value)| *value > 0.01)
        .collect();
    assert!(found.len() > 5 && found.keys().eq(expect.keys()), "{shown}{said}");
    for (key, value) in found {
        assert!((value - expect[&key]).abs() < 1e-6, "{key:?}: {value}, and should be {}", expect[&key]);
    }
    for title in ["Seconds of each phase by cause", "Seconds of CPU of each client", "Uncertainty of clocks"]
    {
        assert!(shown.contains(title), "{shown}");
    }
}

/// A process that is ended with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Prometheus scrapes what is served.
#[test]
#[ignore = "takes long: `.ci/nightly prometheus`"]
fn figures_are_scraped() {
    let of = Demonstration::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let watching = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .args(["watch", "-q", "cputop,phases", "--listen", &address, "--state", "state", "chunks/h2"])
        .current_dir(of.directory.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let _watching = Running(watching);
    let directory = of.path("prometheus");
    fs::create_dir(&directory).unwrap();
    let configuration = format!(
        "global: {{scrape_interval: 500ms}}\nscrape_configs:\n  - job_name: isochrone\n    static_configs: [{{targets: ['{address}']}}]\n"
    );
    let prometheus = Prometheus::start(&directory, &configuration);
    let query = "sum by (host) (isochrone_watch_chunks_total)";
    let begin = Instant::now();
    while prometheus.query(query, None) != one("host", "h2", 4.0) {
        assert!(begin.elapsed() < PATIENCE, "{:?}", prometheus.query("up", None));
        thread::sleep(Duration::from_millis(100));
    }
    let phases = prometheus.query("sum by (phase) (isochrone_phases_total)", None);
    let decoded = phases[&[("phase".to_owned(), "thumb:phase decode".to_owned())].into()];
    assert!((decoded - 25.0).abs() < f64::EPSILON, "{phases:?}");
    assert_eq!(prometheus.query("count(up == 1)", None).into_values().collect::<Vec<_>>(), [1.0]);
}
