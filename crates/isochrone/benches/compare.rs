//! Isochrone's reader beside its peers, in one run on one machine: `cargo bench -p isochrone --bench compare`.
//!
//! Writes a kernel-shaped trace, has every program that is installed read it, and rewrites the tables of
//! `docs/COMPARE.md`. Speeds are events per second of user and system CPU time, which other load on the machine
//! disturbs least; of several runs the best counts, since other load only adds. What two threads win is measured by the
//! clock on the wall, because CPU time does not show it.
//!
//! `COMPARE_EVENTS` sets the size of the trace; `COMPARE_TRACE` names a trace to read instead of a generated one.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // A bench reports and may panic.

mod kernels;
mod measuring;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use isochrone_ctf::Trace;
use isochrone_testkit::Bulk;
use measuring::{children_cpu, rewrite, watch};

/// Runs of each program; the best counts.
const RUNS: usize = 3;
/// Runs of each program with one and with two threads. They are short, and a second thread finds a processor of its own
/// only while nobody else wants it: where none of the runs had such luck, the CPU time still tells that threads do not
/// hinder each other.
const THREAD_RUNS: usize = 15;

fn main() {
    if kernels::is_done() {
        return;
    }
    let generated = tempfile::tempdir().unwrap();
    let subject = Subject::new(generated.path());
    let mut text = format!("{}\n\n", subject.shown());
    text += &one_thread(&subject);
    text += &two_threads(&subject);
    text += &opening();
    println!("{text}");
    rewrite("table", &text);
}

/// What all programs read.
struct Subject {
    path: PathBuf,
    origin: String,
    events: u64,
    bytes: u64,
    streams: usize,
    packets: usize,
}

impl Subject {
    fn new(generated: &Path) -> Self {
        let (path, origin) = match std::env::var_os("COMPARE_TRACE").map(PathBuf::from) {
            Some(path) => {
                let name = path.file_name().unwrap_or_default().display().to_string();
                (path, format!("the trace `{name}`"))
            }
            None => {
                let events = std::env::var("COMPARE_EVENTS").ok().and_then(|n| n.parse().ok());
                let bulk = Bulk { events: events.unwrap_or(10_000_000), ..Bulk::default() };
                bulk.write(generated).unwrap();
                (generated.to_owned(), "a trace by `testkit`'s generator".to_owned())
            }
        };
        let trace = Trace::open(&path).unwrap();
        let packets = || trace.streams().iter().flat_map(|stream| &stream.packets);
        Self {
            // This also brings the trace into the page cache.
            events: (0..trace.streams().len()).map(|stream| trace.events(stream).count() as u64).sum(),
            bytes: packets().map(|packet| packet.total_bits / 8).sum(),
            streams: trace.streams().len(),
            packets: packets().count(),
            path,
            origin,
        }
    }

    fn shown(&self) -> String {
        let (events, megabytes) = (self.events as f64 / 1e6, self.bytes as f64 / 1e6);
        let Self { origin, streams, packets, .. } = self;
        format!(
            "Read was {origin}: {events:.1} M events, {megabytes:.0} MB in {packets} packets of {streams} streams, page cache warm."
        )
    }

    /// A kernel, the program itself, or another one, that reads the trace.
    fn command(&self, program: &Program) -> Command {
        let mut command = match program {
            Program::Kernel(arguments) => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(*arguments);
                command
            }
            Program::Isochrone(arguments) => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
                command.args(*arguments);
                command
            }
            Program::Other(name, arguments) => {
                let mut command = Command::new(name);
                command.args(*arguments);
                command
            }
        };
        command.arg(&self.path).env("TZ", "UTC").stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// A program and its arguments but for the trace.
enum Program {
    Kernel(&'static [&'static str]),
    Isochrone(&'static [&'static str]),
    Other(&'static str, &'static [&'static str]),
}

/// What a program takes.
struct Row {
    task: &'static str,
    name: &'static str,
    cpu: Duration,
    /// Greatest anonymous memory in KiB.
    memory: u64,
}

/// The table of speeds on one thread.
fn one_thread(subject: &Subject) -> String {
    use Program::{Isochrone, Kernel, Other};
    const DROP: &str = "read and drop all events, merged";
    let contestants = [
        (DROP, "babeltrace2", Other("babeltrace2", &["-o", "dummy"])),
        (DROP, "babeltrace 1", Other("babeltrace", &["-o", "dummy"])),
        (DROP, "isochrone", Kernel(&["--kernel", "merged"])),
        ("header, time, skip", "isochrone", Kernel(&["--kernel", "skip"])),
        ("two fields of switches and system calls", "isochrone", Kernel(&["--kernel", "fields"])),
        ("all integers of all events, to columns", "isochrone", Kernel(&["--kernel", "integers"])),
        ("count by class, losses, times", "isochrone", Isochrone(&["info", "-q"])),
        ("text", "babeltrace2", Other("babeltrace2", &["--clock-gmt"])),
        ("text", "babeltrace 1", Other("babeltrace", &["--clock-gmt"])),
        ("text", "isochrone", Isochrone(&["events", "-q"])),
    ];
    let measure = |(task, name, program): (&'static str, &'static str, Program)| {
        let runs: Option<Vec<_>> = (0..RUNS)
            .map(|_| Some(watch(subject.command(&program).env("RAYON_NUM_THREADS", "1").spawn().ok()?)))
            .collect();
        let (cpu, memory) = runs?.into_iter().min()?;
        Some(Row { task, name, cpu, memory })
    };
    let rows: Vec<Row> = contestants.into_iter().filter_map(measure).collect();
    let mut text = format!(
        "One thread, user and system CPU time, best of {RUNS} runs:\n\n\
         | task | program | M events/s | MB/s | anonymous memory, MiB | ratio to babeltrace2 |\n|---|---|---|---|---|---|\n"
    );
    for Row { task, name, cpu, memory } in &rows {
        let seconds = cpu.as_secs_f64();
        let peer = rows.iter().find(|r| r.name == "babeltrace2" && (r.task == *task || *task != "text"));
        let ratio = peer.map_or_else(|| "–".to_owned(), |p| format!("{:.1}", p.cpu.as_secs_f64() / seconds));
        let events = subject.events as f64 / seconds / 1e6;
        let megabytes = subject.bytes as f64 / seconds / 1e6;
        let memory = *memory as f64 / 1024.0;
        writeln!(text, "| {task} | {name} | {events:.1} | {megabytes:.0} | {memory:.1} | {ratio} |").unwrap();
    }
    text
}

/// The table of what a second thread wins.
fn two_threads(subject: &Subject) -> String {
    use Program::{Isochrone, Kernel};
    let tasks = [
        ("header, time, skip", Kernel(&["--parallel-kernel", "skip"])),
        ("all integers of all events, to columns", Kernel(&["--parallel-kernel", "integers"])),
        ("count by class, losses, times", Isochrone(&["info", "-q"])),
    ];
    let mut text = format!(
        "\nOne thread and two, time on the wall, best of {THREAD_RUNS} runs:\n\n\
         | task | one thread, M events/s | two threads, M events/s | speedup | CPU time of two to that of one |\n\
         |---|---|---|---|---|\n"
    );
    for (task, program) in tasks {
        let mut wall = [Duration::MAX; 2];
        let mut cpu = [Duration::MAX; 2];
        // In turns, so that a quiet moment serves both.
        for run in 0..2 * THREAD_RUNS {
            let (begin, cpu_before) = (Instant::now(), children_cpu());
            let threads = if run % 2 == 0 { "1" } else { "2" };
            let status = subject.command(&program).env("RAYON_NUM_THREADS", threads).status().unwrap();
            assert!(status.success());
            wall[run % 2] = begin.elapsed().min(wall[run % 2]);
            cpu[run % 2] = children_cpu().saturating_sub(cpu_before).min(cpu[run % 2]);
        }
        let [one, two] = wall.map(|time| subject.events as f64 / time.as_secs_f64() / 1e6);
        let more = cpu[1].as_secs_f64() / cpu[0].as_secs_f64();
        writeln!(text, "| {task} | {one:.1} | {two:.1} | {:.2} | {more:.2} |", two / one).unwrap();
    }
    text
}

/// How long it takes to open a trace of many packets.
fn opening() -> String {
    let directory = tempfile::tempdir().unwrap();
    // Far apart, so that each header is on a page that must be mapped for it.
    let packet_bytes = 64 * 1024;
    let bulk = Bulk { events: 20_600_000, packet_bytes, ..Bulk::default() };
    bulk.write(directory.path()).unwrap();
    let open = |_| {
        let begin = Instant::now();
        let trace = Trace::open(directory.path()).unwrap();
        let elapsed = begin.elapsed();
        (elapsed, trace.streams().iter().map(|stream| stream.packets.len()).sum::<usize>())
    };
    let (time, packets) = (0..THREAD_RUNS).map(open).min().unwrap();
    let milliseconds = time.as_secs_f64() * 1e3;
    format!(
        "\nOpening a trace of {packets} packets of 64 KiB takes {milliseconds:.1} ms (best of {THREAD_RUNS}).\n"
    )
}
