//! Every method of `sync --method` on clusters whose clocks are known, beside what its original was measured to give:
//! `cargo bench -p isochrone --bench methods`.
//!
//! Rewrites the tables on synchronization in `docs/COMPARE.md`. Needs the corpus beside the project (`../shared`), and python3 with numpy for the generated list
//! (`COMPARE_MESSAGES` of them, a million by default). Times are user and system CPU of the whole program on one thread, which other load on the
//! machine disturbs least; of several runs the best counts.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // A bench reports and may panic.

mod measuring;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use isochrone_corrections::artefact::Artefact;
use isochrone_corrections::{Clock, Clocks};
use isochrone_time::RawNs;
use measuring::{rewrite, watch_any};
use serde_json::Value;

/// Runs of each program; the best counts.
const RUNS: usize = 3;
/// Messages of the generated list.
const MESSAGES: u64 = 1_000_000;
const METHODS: [&str; 5] = ["default", "margin", "hull", "tracecompass", "linreg"];
/// Scenarios of virtual machines, and what is special about their clocks.
const SCENARIOS: [(&str, &str); 12] = [
    ("web2", ""),
    ("web2gso", ""),
    ("hog2", ""),
    ("ipv6_2", ""),
    ("lossy2", ""),
    ("udp2", ""),
    ("rot2", ""),
    ("chain3", ""),
    ("ping5", ""),
    ("step2", "a clock is set"),
    ("slew3", "clocks are slewed"),
    ("chrony3", "chrony steers them"),
];

/// What came of one method on one set of data.
struct Found {
    /// Of all hosts that are tied to the reference: the largest error, ns; nothing if none is.
    error: Option<f64>,
    /// The largest error that the bounds leave open, and the largest likely error, ns.
    bound: i64,
    likely: i64,
    /// Hosts on other islands than that of the reference.
    untied: usize,
    cpu: Duration,
    /// Greatest anonymous memory in KiB.
    memory: u64,
}

/// True times: by host, (raw ns, ns of a common clock), by time.
type Truth = Vec<(String, Vec<(f64, f64)>)>;

fn main() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let directory = tempfile::tempdir().unwrap();
    let mut text = machines(&shared, directory.path());
    text += &list(&shared, directory.path());
    println!("{text}");
    rewrite("methods", &text);
}

fn isochrone(method: &str, output: &Path, input: &[String]) -> (Duration, u64) {
    let runs = if cfg!(debug_assertions) { 1 } else { RUNS };
    let run = |_| {
        let child = Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .args(["sync", "-q", "--method", method, "-o"])
            .arg(output)
            .args(input)
            .env("RAYON_NUM_THREADS", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let (cpu, memory, status) = watch_any(child.unwrap());
        // Hosts that a method does not tie make it end with 1.
        assert!(matches!(status.code(), Some(0 | 1)), "{method} {input:?}: {status}");
        (cpu, memory)
    };
    (0..runs).map(run).min().unwrap()
}

fn judged(method: &str, directory: &Path, input: &[String], truth: &Truth) -> Found {
    let output = directory.join("sync.json");
    let (cpu, memory) = isochrone(method, &output, input);
    let artefact = Artefact::from_json(&std::fs::read_to_string(&output).unwrap()).unwrap();
    let clocks = Clocks::new(&artefact).unwrap();
    let reference = clocks.of_host(&artefact.reference).unwrap();
    let mut found = Found { error: None, bound: 0, likely: 0, untied: 0, cpu, memory };
    for clock in clocks.iter().filter(|clock| clock.number != reference.number) {
        if clock.entry.island != reference.entry.island {
            found.untied += 1;
            continue;
        }
        found.bound = found.bound.max(clock.interval.error_range(&clock.correction).1);
        found.likely = found.likely.max(clock.interval.rows().iter().map(|row| row.e95).max().unwrap_or(0));
        let error = largest_error(clock, reference, truth);
        found.error = Some(found.error.map_or(error, |known| known.max(error)));
    }
    found
}

/// The largest error of a clock at the instants at which both are known.
fn largest_error(clock: &Clock, reference: &Clock, truth: &Truth) -> f64 {
    let of = |clock: &Clock| &truth.iter().find(|(host, _)| *host == clock.entry.host).unwrap().1;
    let (own, other) = (of(clock), of(reference));
    let mut largest = 0.0_f64;
    for &(raw, at) in own.iter().filter(|known| clock.covers(RawNs(known.0 as i64))) {
        let right = other.partition_point(|known| known.1 < at);
        let Some((before, after)) = right.checked_sub(1).map(|left| other[left]).zip(other.get(right)) else {
            continue;
        };
        let share = (at - before.1) / (after.1 - before.1);
        let shown = before.0 + (after.0 - before.0) * share;
        largest = largest.max((clock.correction.apply(raw as i64) as f64 - shown).abs());
    }
    largest
}

/// What virtual machines showed of their clocks, good to a fraction of a microsecond.
fn truth_of_machines(scenario: &Path) -> Truth {
    let text = std::fs::read_to_string(scenario.join("truth.json")).unwrap();
    let truth: Value = serde_json::from_str(&text).unwrap();
    let sample = |sample: &Value| {
        let at = |place: usize| sample[place].as_f64().unwrap();
        (at(1), f64::midpoint(at(0), at(2)))
    };
    let hosts = truth["hosts"].as_object().unwrap().iter();
    let of = |(name, host): (&String, &Value)| {
        let mut samples: Vec<(f64, f64)> = host["run"].as_array().unwrap().iter().map(sample).collect();
        samples.sort_by(|a, b| a.1.total_cmp(&b.1));
        (name.clone(), samples)
    };
    hosts.map(of).collect()
}

/// Where a scenario is, unpacked if it is packed.
fn scenario(shared: &Path, directory: &Path, name: &str) -> PathBuf {
    let plain = shared.join("data/vm").join(name);
    if plain.is_dir() {
        return plain;
    }
    let packed = shared.join("data/vm").join(format!("{name}.tar.zst"));
    let tar = directory.join("packed.tar");
    std::fs::write(&tar, zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap()).unwrap();
    assert!(Command::new("tar").arg("-xf").arg(&tar).arg("-C").arg(directory).status().unwrap().success());
    directory.join(name)
}

fn machines(shared: &Path, directory: &Path) -> String {
    let mut text = "Virtual machines whose clocks are known; the largest error of any host over its whole trace, µs. *Bound* and *e95* are those of the \
                    usual estimate, which holds its bounds everywhere:\n\n\
                    | data | usual | margin | hull | Trace Compass | linreg | bound | e95 |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for (name, about) in SCENARIOS {
        let path = scenario(shared, directory, name);
        let truth = truth_of_machines(&path);
        let hosts = truth.iter().map(|(host, _)| path.join(host)).filter(|host| host.is_dir());
        let hosts: Vec<String> = hosts.map(|host| host.to_str().unwrap().to_owned()).collect();
        let found: Vec<Found> =
            METHODS.iter().map(|method| judged(method, directory, &hosts, &truth)).collect();
        let about = if about.is_empty() { name.to_owned() } else { format!("{name} ({about})") };
        write!(text, "| {about} |").unwrap();
        for found in &found {
            let untied =
                if found.untied > 0 { format!(" ({} not tied)", found.untied) } else { String::new() };
            let error = found.error.map_or("–".to_owned(), |ns| format!("{:.1}", ns / 1e3));
            write!(text, " {error}{untied} |").unwrap();
        }
        let [usual, ..] = &found[..] else { panic!("no methods") };
        writeln!(text, " {:.1} | {:.1} |", usual.bound as f64 / 1e3, usual.likely as f64 / 1e3).unwrap();
    }
    text
}

/// LTTV's and Trace Compass's own programs on the same list of a million messages, measured once on another machine: what, largest error over the
/// trace, user CPU s, greatest resident memory MB.
const ORIGINALS: [(&str, &str, &str, &str); 5] = [
    ("LTTV chull as shipped (its debugging text left out)", "1,540 ns", "6.1 (0.55)", "3.5"),
    ("LTTV chull with GLPK 5.0", "54,490 ns", "6.2", "5.3"),
    ("LTTV linreg as shipped", "2.0 s", "3.4", "3.3"),
    ("LTTV linreg, its reduction repaired", "19,460 ns", "", ""),
    ("Trace Compass, which calls it accurate", "29.6 ms", "0.5 without parsing", "927"),
];

fn list(shared: &Path, directory: &Path) -> String {
    let messages = std::env::var("COMPARE_MESSAGES").ok().and_then(|n| n.parse().ok()).unwrap_or(MESSAGES);
    let path = directory.join("list");
    let generator = shared.join("tools/gen_lttv_text.py");
    let written = Command::new("python3")
        .arg(generator)
        .arg(&path)
        .args(["--n", &messages.to_string(), "--seed", "1"])
        .status();
    if !written.is_ok_and(|status| status.success()) {
        println!("python3 with numpy is not there: no generated list");
        return String::new();
    }
    let truth: Value =
        serde_json::from_str(&std::fs::read_to_string(path.with_extension("truth")).unwrap()).unwrap();
    let numbers = |key: &str| truth[key].as_array().unwrap().iter().map(|n| n.as_f64().unwrap());
    let seconds = truth["dur"].as_f64().unwrap();
    let clock = |(number, (offset, drift)): (usize, (f64, f64))| {
        // In this order no part of the nanoseconds is lost.
        let shown = |at: f64| (offset + at) * 1e9 + drift * at * 1e9;
        let instants = (0..=1000).map(|step| seconds * f64::from(step) / 1000.0);
        (number.to_string(), instants.map(|at| (shown(at), at)).collect())
    };
    let truth: Truth = numbers("o").zip(numbers("d")).enumerate().map(clock).collect();
    let mut text = format!(
        "\n{messages} messages of LTTV's text, 10 hosts, all pairs, 600 s, straight clocks (`gen_lttv_text.py --seed 1`):\n\n\
         | program | largest error | bound | e95 | CPU, s | memory, MiB |\n|---|---|---|---|---|---|\n"
    );
    let input = ["--messages".to_owned(), path.with_extension("ext").to_str().unwrap().to_owned()];
    for method in METHODS {
        let found = judged(method, directory, &input, &truth);
        let name =
            if method == "default" { "`sync`".to_owned() } else { format!("`sync --method {method}`") };
        let error = found.error.map_or("–".to_owned(), |ns| format!("{ns:.0} ns"));
        let (bound, likely) = (found.bound as f64 / 1e3, found.likely as f64 / 1e3);
        let (cpu, memory) = (found.cpu.as_secs_f64(), found.memory as f64 / 1024.0);
        // What a build without optimization takes says nothing.
        let took = match cfg!(debug_assertions) {
            true => "– | –".to_owned(),
            false => format!("{cpu:.2} | {memory:.1}"),
        };
        writeln!(text, "| {name} | {error} | ± {bound:.1} µs | ± {likely:.1} µs | {took} |").unwrap();
    }
    if messages == MESSAGES {
        for (name, error, cpu, memory) in ORIGINALS {
            writeln!(text, "| {name} | {error} | none | none | {cpu} | {memory} |").unwrap();
        }
    }
    text
}
