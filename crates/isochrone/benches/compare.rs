//! Isochrone's reader beside its peers, in one run on one machine: `cargo bench -p isochrone --bench compare`.
//!
//! Writes a kernel-shaped trace, has every program that is installed read it, and rewrites the table of
//! `docs/COMPARE.md`. Speeds are events per second of user and system CPU time, which other load on the machine
//! disturbs least. `COMPARE_EVENTS` sets the size (default 3 million; the published table says its own).
#![allow(clippy::print_stdout, clippy::unwrap_used)] // A bench reports and may panic.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use isochrone_ctf::merge::Merge;
use isochrone_ctf::plan::{EventPlan, NodeKind, StreamPlan};
use isochrone_ctf::{FieldRef, Trace};
use isochrone_testkit::Bulk;

/// The part of `docs/COMPARE.md` that is written anew.
const BEGIN: &str = "<!-- table: begin -->\n";
const END: &str = "<!-- table: end -->";
/// Runs of each program; the median counts.
const RUNS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, kernel, trace] = arguments.as_slice()
        && flag == "--kernel"
    {
        println!("{}", run_kernel(kernel, Path::new(trace)));
        return;
    }
    let events = std::env::var("COMPARE_EVENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000_000);
    let directory = tempfile::tempdir().unwrap();
    let bytes = Bulk { events, cpus: 4, seed: 1 }.write(directory.path()).unwrap();
    let rows: Vec<Row> = contestants(directory.path()).into_iter().filter_map(Contestant::measure).collect();
    let table = table(&rows, events, bytes);
    println!("{table}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/COMPARE.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
}

/// A program with its arguments.
struct Contestant {
    task: &'static str,
    name: &'static str,
    command: Command,
}

/// What it took, the median of its runs.
struct Row {
    task: &'static str,
    name: &'static str,
    cpu: Duration,
    /// Greatest anonymous memory in KiB.
    memory: u64,
}

fn contestants(trace: &Path) -> Vec<Contestant> {
    let mut all = Vec::new();
    let mut add = |task, name, program: PathBuf, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).arg(trace).env("RAYON_NUM_THREADS", "1").env("TZ", "UTC");
        all.push(Contestant { task, name, command });
    };
    let isochrone = || PathBuf::from(env!("CARGO_BIN_EXE_isochrone"));
    let kernel = || std::env::current_exe().unwrap();
    add("read and drop all events, merged", "babeltrace2", "babeltrace2".into(), &["-o", "dummy"]);
    add("read and drop all events, merged", "babeltrace 1", "babeltrace".into(), &["-o", "dummy"]);
    add("read and drop all events, merged", "isochrone", kernel(), &["--kernel", "merged"]);
    add("header, time, skip", "isochrone", kernel(), &["--kernel", "skip"]);
    add("two fields of switches and system calls", "isochrone", kernel(), &["--kernel", "fields"]);
    add("all integers of all events, to columns", "isochrone", kernel(), &["--kernel", "integers"]);
    add("count by class, losses, times", "isochrone", isochrone(), &["info", "-q"]);
    add("text", "babeltrace2", "babeltrace2".into(), &["--clock-gmt"]);
    add("text", "babeltrace 1", "babeltrace".into(), &["--clock-gmt"]);
    add("text", "isochrone", isochrone(), &["events", "-q"]);
    all
}

impl Contestant {
    /// `None` where the program is not installed.
    fn measure(mut self) -> Option<Row> {
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            let child = self.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
            runs.push(watch(child));
        }
        runs.sort_unstable();
        let (cpu, memory) = runs[RUNS / 2];
        Some(Row { task: self.task, name: self.name, cpu, memory })
    }
}

/// CPU time of a child, and the most anonymous memory it was seen to hold (KiB).
fn watch(mut child: Child) -> (Duration, u64) {
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let mut memory = 0;
    loop {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = anonymous.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        memory = memory.max(kib.unwrap_or(0));
        // Until it is waited for, a child that has ended keeps its times.
        let stat = fs::read_to_string(process.join("stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        if fields[0] == "Z" {
            let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
            assert!(child.wait().unwrap().success());
            // Linux counts these in hundredths of a second for user space, whatever its own tick is.
            return (Duration::from_millis(ticks * 10), memory);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn table(rows: &[Row], events: u64, bytes: u64) -> String {
    let mut text = format!(
        "{:.1} M events, {:.0} MB, 4 streams; CPU time, median of {RUNS} runs, one thread.\n\n\
         | task | program | M events/s | MB/s | anonymous memory, MiB | ratio to babeltrace2 |\n|---|---|---|---|---|---|\n",
        events as f64 / 1e6,
        bytes as f64 / 1e6
    );
    for row in rows {
        let seconds = row.cpu.as_secs_f64().max(0.01);
        let peer =
            rows.iter().find(|r| r.name == "babeltrace2" && (r.task == row.task || row.task != "text"));
        let ratio = peer.map_or_else(|| "–".to_owned(), |p| format!("{:.1}", p.cpu.as_secs_f64() / seconds));
        let Row { task, name, .. } = row;
        let (events, megabytes) = (events as f64 / seconds / 1e6, bytes as f64 / seconds / 1e6);
        let memory = row.memory as f64 / 1024.0;
        writeln!(text, "| {task} | {name} | {events:.1} | {megabytes:.0} | {memory:.1} | {ratio} |").unwrap();
    }
    text
}

/// The loops that analyses are made of, each over the whole trace.
fn run_kernel(kernel: &str, path: &Path) -> u64 {
    let trace = Trace::open(path).unwrap();
    let streams = 0..trace.streams().len();
    match kernel {
        "skip" => {
            let mut sum = 0_u64;
            for stream in streams {
                for event in trace.events(stream) {
                    sum = sum.wrapping_add(event.cycles().unwrap_or(0));
                }
            }
            sum
        }
        "merged" => {
            let sources = streams.map(|stream| (0, trace.events(stream)));
            let merge = Merge::new(sources, |_, event: &isochrone_ctf::Event<'_>| event.cycles());
            merge.fold(0, |sum: u64, (_, cycles, _)| sum.wrapping_mul(31).wrapping_add(cycles.unwrap_or(0)))
        }
        "fields" => streams.map(|stream| two_fields(&trace, stream)).fold(0, u64::wrapping_add),
        "integers" => streams.map(|stream| all_integers(&trace, stream)).fold(0, u64::wrapping_add),
        other => panic!("no kernel is called {other}"),
    }
}

fn two_fields(trace: &Trace, stream: usize) -> u64 {
    let plan = trace.stream_plan(stream);
    let wanted = |class: &EventPlan, plan: &StreamPlan| -> Option<[FieldRef; 2]> {
        let [a, b] = match class.name.as_deref()? {
            "sched_switch" => ["prev_tid", "next_tid"],
            "syscall_entry_read" => ["fd", "count"],
            "syscall_exit_read" => ["ret", "buf"],
            _ => return None,
        };
        Some([class.payload_field(plan, &[a])?, class.payload_field(plan, &[b])?])
    };
    let fields: Vec<_> = plan.events.iter().map(|class| wanted(class, plan)).collect();
    let mut sum = 0_u64;
    for event in trace.events(stream) {
        if let Some([a, b]) = &fields[event.class().index] {
            sum =
                sum.wrapping_add(event.unsigned(a).unwrap_or(1)).wrapping_add(event.unsigned(b).unwrap_or(1));
        }
    }
    sum
}

/// Every integer of every payload, into one column an integer field.
fn all_integers(trace: &Trace, stream: usize) -> u64 {
    /// Values that are kept before a column is handed on.
    const CHUNK: usize = 4096;
    let plan = trace.stream_plan(stream);
    let integers = |class: &EventPlan| -> Vec<(FieldRef, Vec<u64>)> {
        let Some(NodeKind::Struct(members)) = class.payload.as_ref().map(|node| &node.kind) else {
            return Vec::new();
        };
        let numbers = members.iter().filter(|(_, node)| matches!(node.kind, NodeKind::Integer { .. }));
        let fields = numbers.filter_map(|(name, _)| class.payload_field(plan, &[name.shown()]));
        fields.map(|field| (field, Vec::with_capacity(CHUNK))).collect()
    };
    let mut columns: Vec<_> = plan.events.iter().map(integers).collect();
    let mut sum = 0_u64;
    for event in trace.events(stream) {
        for (field, column) in &mut columns[event.class().index] {
            if column.len() == CHUNK {
                sum = column.iter().fold(sum, |sum, value| sum.wrapping_add(*value));
                column.clear();
            }
            column.push(event.signed(field).unwrap_or(0) as u64);
        }
    }
    sum
}
