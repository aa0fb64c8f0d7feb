//! How time and memory grow with a trace: `cargo bench -p isochrone --bench growth`.
//!
//! Writes traces of more and more events, hosts, and threads that live shortly, has this program read them,
//! and rewrites the table of `docs/COMPARE.md`: user and system CPU time, and the most anonymous memory, of
//! whole processes; of several runs the best counts. What should be flat is seen to be, or not.
//!
//! `GROWTH_EVENTS` is the largest number of events, ten million unless it is set.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // A bench reports and may panic.

mod measuring;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use isochrone_testkit::{Bulk, Cluster, Family, Generation, KernelScript};
use measuring::{rewrite, watch};

/// Runs of each command; the best counts.
const RUNS: usize = 3;
/// Packets of each link of a cluster of hosts.
const MESSAGES: u64 = 2_000;

/// A command, and the words that it is called with before the traces.
type Asked = (&'static str, &'static [&'static str]);

const OF_EVENTS: [Asked; 5] = [
    ("info", &["info"]),
    ("cputop", &["analyze", "cputop"]),
    ("syscallstats", &["analyze", "syscallstats"]),
    ("events", &["events"]),
    ("index", &["index"]),
];
/// What there is an index for when it is asked.
const INDEXED: [Asked; 3] = [
    ("cputop, indexed", &["analyze", "cputop"]),
    ("syscallstats, indexed", &["analyze", "syscallstats"]),
    ("states, indexed", &["analyze", "states", "--limit", "5"]),
];
const OF_HOSTS: [Asked; 3] =
    [("cputop", &["analyze", "cputop"]), ("sync", &["sync"]), ("index", &["index", "--threads", "1"])];
const OF_THREADS: [Asked; 3] = [
    ("irqstats", &["analyze", "irqstats"]),
    ("cputop", &["analyze", "cputop"]),
    ("syscallstats", &["analyze", "syscallstats"]),
];

fn main() {
    let most = std::env::var("GROWTH_EVENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000_000);
    let events: Vec<u64> = [most / 100, most / 10, most].to_vec();
    let mut text = String::from("CPU s; MiB of memory that is no file:\n\n");
    text += &table("events", &events, &OF_EVENTS, &INDEXED, |count, path| {
        Bulk { events: count, ..Bulk::default() }.write(path).unwrap();
    });
    text += &table("hosts", &[2, 10, 50], &OF_HOSTS, &[], |count, path| {
        let cluster = Cluster::chain(count as usize).messages(MESSAGES).seconds(10);
        cluster.write(path, Family::IPV4).unwrap();
    });
    text += &table("threads that have ended", &[1_000, 10_000, 100_000], &OF_THREADS, &[], short_lived);
    println!("{text}");
    rewrite("growth", &text);
}

/// A row for each command, with a column for each size. `indexed`: commands that find an index.
fn table(of: &str, sizes: &[u64], asked: &[Asked], indexed: &[Asked], make: impl Fn(u64, &Path)) -> String {
    let heads: Vec<String> = sizes.iter().map(|size| format!("{size} {of}")).collect();
    let mut text = format!("| | {} |\n|---|{}\n", heads.join(" | "), "--:|".repeat(sizes.len()));
    let mut rows = vec![String::new(); asked.len() + indexed.len()];
    for &size in sizes {
        let root = tempfile::tempdir().unwrap();
        let (trace, cache) = (root.path().join("trace"), root.path().join("cache"));
        make(size, &trace);
        for (row, (_, words)) in rows.iter_mut().zip(asked) {
            // Without an index each time.
            let measured = best(words, &trace, || tempfile::tempdir_in(root.path()).unwrap().keep());
            write!(row, " {measured} |").unwrap();
        }
        if !indexed.is_empty() {
            run(&["index"], &trace, &cache);
        }
        for (row, (_, words)) in rows[asked.len()..].iter_mut().zip(indexed) {
            write!(row, " {} |", best(words, &trace, || cache.clone())).unwrap();
        }
    }
    for ((name, _), row) in asked.iter().chain(indexed).zip(rows) {
        writeln!(text, "| {name} |{row}").unwrap();
    }
    text + "\n"
}

/// CPU time and memory of the best of some runs, each with the cache that `cache` gives.
fn best(words: &[&str], trace: &Path, cache: impl Fn() -> std::path::PathBuf) -> String {
    let runs = (0..RUNS).map(|_| run(words, trace, &cache()));
    let (cpu, memory) = runs.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    format!("{cpu:.2}; {memory:.0}")
}

/// CPU time, s, and memory, MiB, of a run.
fn run(words: &[&str], trace: &Path, cache: &Path) -> (f64, f64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.args(words).arg("-q").arg(trace).env("XDG_CACHE_HOME", cache);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (cpu, kib) = watch(child);
    (cpu.as_secs_f64(), kib as f64 / 1024.0)
}

/// A trace of threads that are forked, run, make a call and end, one after the other.
fn short_lived(count: u64, path: &Path) {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(1, "init");
    for number in 0..count {
        let tid = 1000 + number as i32;
        let mut at = host.at(1_000 + number * 10_000);
        at.switch(0, 1).after(500).fork(1, tid, tid).after(500).wakeup_new(tid, 0).after(500).switch(1, tid);
        at.after(500).enter("getpid", &[]).after(500).exit("getpid", tid.into());
        at.after(500).process_exit().after(500).switch_dead(tid, 0).after(500).process_free(tid);
    }
    host.write(path).unwrap();
}
