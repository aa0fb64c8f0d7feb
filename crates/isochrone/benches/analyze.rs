//! Analyses beside those of lttng-analyses, in one run on one machine: `cargo bench -p isochrone --bench analyze`.
//!
//! Writes the trace of a busy host, has every program that is installed analyse it, and rewrites the tables of
//! `docs/COMPARE.md`. Speeds are events per second of user and system CPU time, the start of the program included; of several
//! runs the best counts. On a larger trace, which takes lttng-analyses hours, the speed of this program alone is measured, and by
//! the clock on the wall what two threads win.
//!
//! `ANALYZE_EVENTS` sets the size of the first trace, and `ANALYZE_TRACE` names one to read instead: lttng-analyses wants its
//! directory to be called `kernel`. `ANALYZE_LARGE` names one to read instead of the larger one.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // A bench reports and may panic.

mod measuring;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use isochrone_ctf::Trace;
use isochrone_testkit::{Bulk, Generation, RandomKernel};
use measuring::{children_cpu, rewrite, watch};

/// Runs of each program; the best counts.
const RUNS: usize = 3;
/// Runs with one and with two threads, in turns.
const THREAD_RUNS: usize = 7;
/// All analyses at once.
const ALL: &str =
    "cputop,fds,irqfreq,irqlog,irqstats,processes,schedfreq,schedlog,schedstats,schedtop,syscallstats";

fn main() {
    let generated = tempfile::tempdir().unwrap();
    let first = Input::new("ANALYZE_TRACE", "that of a random host by `testkit`", || {
        let path = generated.path().join("kernel");
        let events = std::env::var("ANALYZE_EVENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000);
        let host = RandomKernel::new(1).generation(Generation::V2_8).events(events).cpus(4).threads(40);
        host.write(&path).unwrap();
        path
    });
    let large = Input::new("ANALYZE_LARGE", "one by `testkit`'s generator", || {
        let path = generated.path().join("large");
        Bulk { events: 5_000_000, ..Bulk::default() }.write(&path).unwrap();
        path
    });
    let mut text = format!("Read was {}.\n\n", first.shown());
    text += &beside_peers(&first);
    let _ = write!(text, "\nA larger trace, {}:\n\n", large.shown());
    text += &alone(&large);
    text += &two_threads(&large);
    println!("{text}");
    rewrite("analyze", &text);
}

/// A trace to be read.
struct Input {
    path: PathBuf,
    origin: String,
    events: u64,
    bytes: u64,
}

impl Input {
    /// The trace that a variable names, or one that is made. It is in the page cache then.
    fn new(variable: &str, made: &str, make: impl FnOnce() -> PathBuf) -> Self {
        let named = std::env::var_os(variable).map(PathBuf::from);
        let origin = named.as_ref().map_or(made, |_| "a trace that was named");
        let path = named.unwrap_or_else(make);
        let trace = Trace::open(&path).unwrap();
        let packets = trace.streams().iter().flat_map(|stream| &stream.packets);
        let bytes = packets.map(|packet| packet.total_bits / 8).sum();
        let events = (0..trace.streams().len()).map(|stream| trace.events(stream).count() as u64).sum();
        Self { path, origin: origin.to_owned(), events, bytes }
    }

    fn shown(&self) -> String {
        let (events, bytes) = (self.events as f64 / 1e6, self.bytes as f64 / 1e6);
        format!("{}: {events:.2} M events, {bytes:.0} MB, page cache warm", self.origin)
    }

    /// Millions of events a second.
    fn rate(&self, cpu: Duration) -> f64 {
        self.events as f64 / cpu.as_secs_f64() / 1e6
    }
}

fn isochrone(analyses: &str, threads: u32, path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command
        .args(["analyze", "-q", "--format", "json", "--threads", &threads.to_string(), analyses])
        .arg(path);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Makes the store in a directory, where there is none: to remove one is no part of what is measured.
fn index(threads: u32, path: &Path, store: &Path) -> Command {
    let _ = std::fs::remove_dir_all(store);
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.args(["index", "-q", "--threads", &threads.to_string(), "-o"]).arg(store).arg(path);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn peer(name: &str, path: &Path) -> Command {
    let mut command = Command::new(name);
    command.args(["--skip-validation", "--no-intersection", "--no-progress", "--gmt"]).arg(path);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// CPU time and anonymous memory of the best of some runs; `None` where the program is not there, or fails on this trace.
fn best(command: impl Fn() -> Command) -> Option<(Duration, u64)> {
    command().status().ok().filter(std::process::ExitStatus::success)?;
    let runs: Option<Vec<_>> = (0..RUNS).map(|_| Some(watch(command().spawn().ok()?))).collect();
    runs?.into_iter().min()
}

fn mebibytes(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

fn beside_peers(input: &Input) -> String {
    let path = &input.path;
    let mut text = format!(
        "One thread, user and system CPU time of the whole program, best of {RUNS} runs:\n\n\
         | analysis | lttng-analyses, M events/s | MiB | isochrone, M events/s | MiB | ratio |\n|---|---|---|---|---|---|\n"
    );
    let rate = |cpu: Duration| input.rate(cpu);
    for analysis in ["cputop", "syscallstats", "irqstats", "irqlog", "schedstats", "schedlog"] {
        let (cpu, memory) = best(|| isochrone(analysis, 1, path)).unwrap();
        let own = format!("{:.2} | {:.1}", rate(cpu), mebibytes(memory));
        let _ = match best(|| peer(&format!("lttng-{analysis}"), path)) {
            Some((other, other_memory)) => writeln!(
                text,
                "| {analysis} | {:.3} | {:.1} | {own} | {:.0} |",
                rate(other),
                mebibytes(other_memory),
                other.as_secs_f64() / cpu.as_secs_f64()
            ),
            None => writeln!(text, "| {analysis} | – | – | {own} | – |"),
        };
    }
    text
}

fn alone(input: &Input) -> String {
    let path = &input.path;
    let mut text = "| task, one thread | M events/s | MiB |\n|---|---|---|\n".to_owned();
    let mut row = |task: &str, command: &dyn Fn() -> Command| {
        let (cpu, memory) = best(command).unwrap();
        let _ = writeln!(text, "| {task} | {:.2} | {:.1} |", input.rate(cpu), mebibytes(memory));
    };
    let store = tempfile::tempdir().unwrap();
    row("cputop", &|| isochrone("cputop", 1, path));
    row("eleven at once", &|| isochrone(ALL, 1, path));
    row("index", &|| index(1, path, &store.path().join("store")));
    text
}

fn two_threads(input: &Input) -> String {
    let path = &input.path;
    let mut text = format!(
        "\nOne thread and two, time on the wall, best of {THREAD_RUNS} runs:\n\n\
         | task | one thread, M events/s | two threads, M events/s | speedup | CPU time of two to that of one |\n\
         |---|---|---|---|---|\n"
    );
    let store = tempfile::tempdir().unwrap();
    let tasks: [(&str, &dyn Fn(u32) -> Command); 3] = [
        ("cputop", &|threads| isochrone("cputop", threads, path)),
        ("eleven at once", &|threads| isochrone(ALL, threads, path)),
        ("index", &|threads| index(threads, path, &store.path().join("store"))),
    ];
    for (task, command) in tasks {
        let (mut wall, mut cpu) = ([Duration::MAX; 2], [Duration::MAX; 2]);
        // In turns, so that a quiet moment serves both.
        for number in 0..2 * THREAD_RUNS {
            let mut command = command(number as u32 % 2 + 1);
            let (begin, before) = (Instant::now(), children_cpu());
            assert!(command.status().unwrap().success());
            wall[number % 2] = begin.elapsed().min(wall[number % 2]);
            cpu[number % 2] = children_cpu().saturating_sub(before).min(cpu[number % 2]);
        }
        let [one, two] = wall.map(|time| input.rate(time));
        let more = cpu[1].as_secs_f64() / cpu[0].as_secs_f64();
        let _ = writeln!(text, "| {task} | {one:.2} | {two:.2} | {:.2} | {more:.2} |", two / one);
    }
    text
}
