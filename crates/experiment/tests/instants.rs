//! What a store tells of an instant is what `processes --at` and `fds --at` tell, which read the whole trace.
#![allow(clippy::unwrap_used)] // A test may panic.

use std::path::{Path, PathBuf};

use isochrone_analysis::{AnalysisKind, Cell, InterruptSource, Options, Table};
use isochrone_experiment::{Inputs, Opened, Question, Spread, TimedHost, Times, index, reports};
use isochrone_kernel::files::Bound;
use isochrone_kernel::{Name, OffCpuReason};
use isochrone_store::{Activity, HostSnapshot, HostStore, Interrupt, OpenFile, Store, ThreadAt, ThreadRow};
use isochrone_testkit::{Random, RandomKernel};

fn shared(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/vm").join(part)
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Null | Cell::None => "?".to_owned(),
        Cell::Int(value) => value.to_string(),
        Cell::Float(value) => value.to_string(),
        Cell::Text(text) => text.to_string(),
    }
}

/// Some columns of a table as text, of the rows that a condition on one of them keeps.
fn rows(table: &Table, columns: &[&str], keep: impl Fn(&dyn Fn(&str) -> String) -> bool) -> Vec<String> {
    let kept = table.rows.iter().filter_map(|row| {
        let cell = |name: &str| shown(&row[table.column(name).unwrap()]);
        keep(&cell).then(|| columns.iter().map(|name| cell(name)).collect::<Vec<_>>().join(" "))
    });
    kept.collect()
}

fn known(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| value.to_string())
}

fn activity(activity: Activity) -> &'static str {
    match activity {
        Activity::Running => "running",
        Activity::Interrupted => "interrupted",
        Activity::Woken => "woken",
        Activity::OffCpu(OffCpuReason::Preempted) => "preempted",
        Activity::OffCpu(OffCpuReason::Blocked) => "blocked",
        Activity::OffCpu(OffCpuReason::Uninterruptible) => "uninterruptible",
        Activity::OffCpu(OffCpuReason::Stopped) => "stopped",
        Activity::Unknown => "unknown",
    }
}

fn interrupt(interrupt: &Interrupt) -> String {
    match interrupt {
        Interrupt::Hard { number, name } => {
            InterruptSource::Hard { number: *number, name: Name::from(name.as_str()) }.to_string()
        }
        Interrupt::Soft(vector) => InterruptSource::Soft(*vector).to_string(),
    }
}

/// The mode of a thread, as tables have it.
fn mode(thread: &ThreadRow, at: Option<&ThreadAt>) -> Option<&'static str> {
    let is_in_call = at.is_some_and(|at| at.call.is_some());
    match () {
        () if thread.tid.is_none() => Some("idle"),
        () if is_in_call => Some("syscall"),
        () if thread.is_kernel == Some(true) => Some("kernel"),
        () if at.is_some_and(|at| at.cpu.is_some() && at.is_call_sure) => Some("user"),
        () => None,
    }
}

/// Rows of the table `states` from a store. An idle task is thread 0.
fn states(host: &HostStore, snapshot: &HostSnapshot, unix_ns: impl Fn(i64) -> i128) -> Vec<String> {
    let of = |number: u32| &host.threads()[number as usize];
    let living = (0..).zip(host.threads()).filter(|(_, thread)| {
        let has_ended = thread.is_end_seen && thread.end <= snapshot.at
            || !thread.is_end_seen && thread.exited.is_some_and(|exited| exited <= snapshot.at);
        thread.tid.is_some() && !has_ended && !(thread.is_begin_seen && thread.begin > snapshot.at)
    });
    let rows = living.map(|(number, thread)| {
        let at = snapshot.threads.iter().find(|at| at.thread == number);
        let call = at.and_then(|at| at.call.as_ref());
        let cpu = at.and_then(|at| at.cpu);
        let on = snapshot.cpus.iter().find(|it| Some(it.cpu) == cpu);
        let waker = at.and_then(|at| at.waker).map(of);
        [
            known(thread.pid),
            known(thread.tid),
            activity(at.map_or(Activity::Unknown, |at| at.activity)).to_owned(),
            known(at.and_then(|at| at.since).map(&unix_ns)),
            known(cpu),
            known(mode(thread, at)),
            known(call.and_then(|call| call.name.as_ref())),
            known(call.and_then(|call| call.since).map(&unix_ns)),
            known(on.and_then(|on| on.interrupt.as_ref()).map(|(it, _)| interrupt(it))),
            known(waker.map(|waker| waker.tid.unwrap_or(0))),
            known(waker.and_then(|waker| waker.comm.as_ref())),
        ]
        .join(" ")
    });
    rows.collect()
}

/// Rows of the table `running` from a store.
fn running(host: &HostStore, snapshot: &HostSnapshot, unix_ns: impl Fn(i64) -> i128) -> Vec<String> {
    let rows = snapshot.cpus.iter().map(|it| {
        let thread = it.thread.map(|number| &host.threads()[number as usize]);
        let at = snapshot.threads.iter().find(|at| Some(at.thread) == it.thread);
        let call = at.and_then(|at| at.call.as_ref());
        [
            it.cpu.to_string(),
            known(thread.map(|thread| thread.tid.unwrap_or(0))),
            known(it.since.map(&unix_ns)),
            known(thread.map_or(Some("unknown"), |thread| mode(thread, at))),
            known(call.and_then(|call| call.name.as_ref())),
            known(call.and_then(|call| call.since).map(&unix_ns)),
            known(it.interrupt.as_ref().map(|(it, _)| interrupt(it))),
            known(it.interrupt.as_ref().map(|(_, begin)| unix_ns(*begin))),
        ]
        .join(" ")
    });
    rows.collect()
}

/// A row of the table `fds` from a store.
fn file(host: &HostStore, file: &OpenFile, unix_ns: impl Fn(i64) -> i128) -> String {
    let thread = file.thread.map(|number| &host.threads()[number as usize]);
    let uses = &file.uses;
    [
        known(file.process.or_else(|| thread?.pid)),
        known(thread.and_then(|thread| thread.tid)),
        file.fd.to_string(),
        known(file.kind.as_ref()),
        known(Some(&file.name).filter(|name| !name.is_empty())),
        known((file.begin_bound == Bound::Hard).then(|| unix_ns(file.begin))),
        known((file.end_bound == Bound::Hard).then(|| unix_ns(file.end))),
        known(file.opened_by.as_ref()),
        known(file.closed_by.as_ref()),
        (if file.close_on_exec { "yes" } else { "no" }).to_owned(),
        [uses.reads, uses.read_bytes, uses.writes, uses.written_bytes, uses.others, uses.errors]
            .map(|count| count.to_string())
            .join(" "),
        (if file.is_doubtful { "yes" } else { "no" }).to_owned(),
    ]
    .join(" ")
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}

fn check(host: &TimedHost<'_>, there: &HostStore, raw: i64, part: &str) {
    let timing = host.timing.unwrap();
    let unix_ns = |raw| timing.unix_ns(raw);
    let times = Times { begin: None, end: None, at: Some(unix_ns(raw)) };
    let options = Options::default();
    let question = Question {
        kinds: &[AnalysisKind::Processes, AnalysisKind::Fds],
        options: &options,
        times,
        periods: None,
    };
    let asked: Vec<_> =
        question.ask(&[host], Spread::default(), None).into_iter().map(Result::unwrap).collect();
    let reports = reports(&asked, &options);
    let table = |name: &str| {
        let mut tables = reports.iter().flat_map(|report| &report.tables);
        tables.find(|table| table.name == name).unwrap()
    };
    let name = host.name();
    let snapshot = there.snapshot(raw).unwrap();
    let columns = [
        "pid",
        "tid",
        "state",
        "since_ns",
        "cpu",
        "mode",
        "syscall",
        "syscall_since_ns",
        "interrupt",
        "waker_tid",
        "waker_comm",
    ];
    // Of whom nobody knows who it is, a store has no row.
    let expect = rows(table("states"), &columns, |cell| cell("tid") != "?");
    assert_eq!(states(there, &snapshot, unix_ns), expect, "{part} {name} at {raw}");
    let columns =
        ["cpu", "tid", "since_ns", "mode", "syscall", "syscall_since_ns", "interrupt", "interrupt_since_ns"];
    let expect = rows(table("running"), &columns, |_| true);
    assert_eq!(running(there, &snapshot, unix_ns), expect, "{part} {name} at {raw}");
    let columns = [
        "pid",
        "tid",
        "fd",
        "kind",
        "name",
        "begin_ns",
        "end_ns",
        "opened_by",
        "closed_by",
        "close_on_exec",
        "reads",
        "read_bytes",
        "writes",
        "written_bytes",
        "others",
        "errors",
        "doubtful",
    ];
    let expect = rows(table("fds"), &columns, |_| true);
    let open = there.open_files(raw, None).unwrap();
    let found = open.iter().map(|it| file(there, it, unix_ns)).collect();
    assert_eq!(sorted(found), sorted(expect), "{part} {name} at {raw}");
    // Of one process.
    if let Some(process) = open.iter().find_map(|file| file.process) {
        let of_it: Vec<&OpenFile> = open.iter().filter(|file| file.process == Some(process)).collect();
        let asked = there.open_files(raw, Some(process)).unwrap();
        assert!(of_it.iter().all(|file| asked.contains(file)), "{part} {name} at {raw}: {process}");
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_store_shows_of_instants_what_the_analyses_tell() {
    let mut random = Random::new(11);
    for part in ["chain3", "rot2", "lossy2", "pause2"] {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("store");
        let opened = Opened::unsynchronized(Inputs::open(&[shared(part)]));
        let experiment = opened.experiment();
        index(&experiment, &path, Spread::default(), None).unwrap();
        let store = Store::open(&path).unwrap();
        store.verify().unwrap();
        for host in experiment.hosts() {
            let entry = store.manifest().hosts.iter().find(|entry| entry.id == host.traced.id).unwrap();
            let there = store.host(entry).unwrap();
            let Some((begin, end)) = entry.range else { continue };
            let length = end.saturating_sub(begin).max(1) as u64;
            let instants = (0..4).map(|_| begin + random.below(length) as i64);
            for raw in instants.chain([begin, end]) {
                check(host, &there, raw, part);
            }
        }
    }
}

/// What is missing is told.
#[test]
fn a_store_has_losses() {
    let root = tempfile::tempdir().unwrap();
    let (trace, path) = (root.path().join("trace"), root.path().join("store"));
    RandomKernel::new(7).cpus(3).events(2000).losses(5).missing_cpus(1).write(&trace).unwrap();
    let opened = Opened::unsynchronized(Inputs::open(&[trace]));
    let experiment = opened.experiment();
    index(&experiment, &path, Spread::default(), None).unwrap();
    let store = Store::open(&path).unwrap();
    let host = &experiment.hosts()[0].traced;
    let losses = store.host(&store.manifest().hosts[0]).unwrap().losses((i64::MIN, i64::MAX)).unwrap();
    let told = host.losses().len() + host.uncovered().len() + host.gaps().len() + host.absent_cpus().len();
    assert_eq!(losses.len(), told);
    assert!(
        host.losses().iter().all(|loss| losses.iter().any(|it| (it.begin, it.end) == (loss.from, loss.to)))
    );
    assert!(!host.losses().is_empty());
    assert!(store.clocks().unwrap().is_none());
}

/// The corrections are kept.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_store_has_clocks() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("store");
    let opened = Opened::unsynchronized(Inputs::open(&[shared("chain3")]));
    let experiment = opened.experiment();
    index(&experiment, &path, Spread::default(), None).unwrap();
    let store = Store::open(&path).unwrap();
    let clocks: serde_json::Value = serde_json::from_str(&store.clocks().unwrap().unwrap()).unwrap();
    assert_eq!(clocks["clocks"].as_array().unwrap().len(), experiment.hosts().len());
}
