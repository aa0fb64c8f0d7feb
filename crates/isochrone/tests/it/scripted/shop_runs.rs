//! `diff` and `check` on two recordings of the shop, of which it is known what became slower in the second.
//!
//! The second one is the first one with time put in, on all hosts at the same instants: each time before the
//! worker of the database sleeps. What its host does meanwhile is the change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isochrone_ctf::{Event, Trace};
use isochrone_testkit::{FieldValue, Inserted, Pause, altered};

use super::runs::{CAUSES, isochrone, rows};

/// The directories of the hosts, and their names in the traces. The worker runs on the last one.
const HOSTS: [(&str, &str); 3] = [("client", "h1"), ("app", "h2"), ("db", "h3")];
/// How much longer each request takes, ns.
const MORE: u64 = 20_000_000;

fn shop() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop")
}

/// The true clock of a host: instants of the reference and of its own, ns, in order.
struct Clock(Vec<(i128, i128)>);

impl Clock {
    /// By the name of a host.
    fn all() -> BTreeMap<String, Self> {
        let text = std::fs::read(shop().join("truth.json")).unwrap();
        let truth: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let hosts = truth["hosts"].as_object().unwrap().iter();
        let clock = |host: &serde_json::Value| {
            let samples = host["samples"].as_array().unwrap().iter();
            let of = |sample: &serde_json::Value| {
                let [before, raw, after] =
                    [0, 1, 2].map(|number| i128::from(sample[number].as_i64().unwrap()));
                (i128::midpoint(before, after), raw)
            };
            Self(samples.map(of).collect())
        };
        hosts.map(|(name, host)| (name.clone(), clock(host))).collect()
    }

    /// The line through the samples around an instant, which `of` takes from a sample.
    fn around(&self, at: i128, of: impl Fn(&(i128, i128)) -> i128) -> [(i128, i128); 2] {
        let after = self.0.partition_point(|sample| of(sample) < at).clamp(1, self.0.len() - 1);
        [self.0[after - 1], self.0[after]]
    }

    fn reference(&self, raw: i128) -> i128 {
        let [a, b] = self.around(raw, |sample| sample.1);
        a.0 + (raw - a.1) * (b.0 - a.0) / (b.1 - a.1)
    }

    fn raw(&self, reference: i128) -> i128 {
        let [a, b] = self.around(reference, |sample| sample.0);
        a.1 + (reference - a.0) * (b.1 - a.1) / (b.0 - a.0)
    }
}

/// What happens on the worker's host while time is put in.
type Meanwhile = Vec<Inserted<'static>>;

/// What happens, by the id of the worker.
type Change = fn(i64) -> Meanwhile;

type Fields = Vec<(&'static str, FieldValue)>;

fn at(after: u64, name: &'static str, fields: Fields) -> Inserted<'static> {
    Inserted { after, name, fields }
}

/// When the worker of the database sleeps (cycles of its host), and its id.
fn sleeps(trace: &Trace) -> Vec<(u64, i64)> {
    let of = |event: &Event<'_>| {
        let (class, stream) = (event.class(), event.stream_plan());
        let context = |name| class.context_field(stream, name);
        let is_worker = event.text(&context("procname")?)? == b"srvhog";
        let tid = event.signed(&context("tid")?)?;
        (event.name()? == "syscall_entry_clock_nanosleep" && is_worker).then_some((event.cycles()?, tid))
    };
    trace.events(0).filter_map(|event| of(&event)).collect()
}

/// A switch of the CPU from one thread to another. `state`: why the first one leaves it.
fn switch(from: (i64, &'static str), state: i64, to: (i64, &'static str)) -> Fields {
    vec![
        ("context.tid", from.0.into()),
        ("context.pid", from.0.into()),
        ("context.procname", from.1.into()),
        ("prev_comm", from.1.into()),
        ("prev_tid", from.0.into()),
        ("prev_prio", 20.into()),
        ("prev_state", state.into()),
        ("next_comm", to.1.into()),
        ("next_tid", to.0.into()),
        ("next_prio", 20.into()),
    ]
}

/// An event of a thread.
fn of(thread: (i64, &'static str), fields: &[(&'static str, FieldValue)]) -> Fields {
    let (tid, comm) = thread;
    let context =
        [("context.tid", tid.into()), ("context.pid", tid.into()), ("context.procname", comm.into())];
    context.into_iter().chain(fields.iter().cloned()).collect()
}

const IDLE: (i64, &str) = (0, "swapper/0");
const RUNNABLE: i64 = 0;
const SLEEPS: i64 = 1;
const IN_DISK: i64 = 2;

fn wakes(tid: i64) -> [(&'static str, FieldValue); 4] {
    [("comm", "srvhog".into()), ("tid", tid.into()), ("prio", 20.into()), ("target_cpu", 0.into())]
}

/// The worker computes for longer.
fn computes(_: i64) -> Meanwhile {
    Vec::new()
}

/// Another program has the CPU.
fn load(worker: i64) -> Meanwhile {
    let (worker, batch) = ((worker, "srvhog"), (9_999, "batch"));
    vec![
        at(1_000, "sched_switch", switch(worker, RUNNABLE, batch)),
        at(MORE - 1_000, "sched_switch", switch(batch, RUNNABLE, worker)),
    ]
}

/// The worker reads from a disk.
fn disk(worker: i64) -> Meanwhile {
    let thread = (worker, "srvhog");
    let request = |more: &[(&'static str, FieldValue)]| {
        let fields = [("dev", 266_338_320.into()), ("sector", 4_096.into()), ("nr_sector", 8.into())];
        fields.into_iter().chain(more.iter().cloned()).collect::<Fields>()
    };
    let issued = request(&[("bytes", 4_096.into()), ("tid", worker.into()), ("comm", "srvhog".into())]);
    let interrupt = ("irq", 27.into());
    let end = MORE - 20_000;
    vec![
        at(1_000, "syscall_entry_pread64", of(thread, &[("fd", 3.into()), ("count", 4_096.into())])),
        at(2_000, "block_rq_issue", of(thread, &issued)),
        at(3_000, "sched_switch", switch(thread, IN_DISK, IDLE)),
        at(end, "irq_handler_entry", of(IDLE, &[interrupt.clone(), ("name", "virtio1-req.0".into())])),
        at(end + 1_000, "block_rq_complete", of(IDLE, &request(&[]))),
        at(end + 2_000, "sched_waking", of(IDLE, &wakes(worker))),
        at(end + 3_000, "sched_wakeup", of(IDLE, &wakes(worker))),
        at(end + 4_000, "irq_handler_exit", of(IDLE, &[interrupt, ("ret", 1.into())])),
        at(end + 5_000, "sched_switch", switch(IDLE, RUNNABLE, thread)),
        at(end + 6_000, "syscall_exit_pread64", of(thread, &[("ret", 4_096.into())])),
    ]
}

/// The worker waits for a lock.
fn lock(worker: i64) -> Meanwhile {
    let (thread, holder) = ((worker, "srvhog"), (9_999, "holder"));
    let end = MORE - 20_000;
    vec![
        at(1_000, "syscall_entry_futex", of(thread, &[("uaddr", 4_096.into()), ("op", 128.into())])),
        at(2_000, "sched_switch", switch(thread, SLEEPS, holder)),
        at(end, "syscall_entry_futex", of(holder, &[("uaddr", 4_096.into()), ("op", 129.into())])),
        at(end + 1_000, "sched_waking", of(holder, &wakes(worker))),
        at(end + 2_000, "sched_wakeup", of(holder, &wakes(worker))),
        at(end + 3_000, "syscall_exit_futex", of(holder, &[("ret", 1.into())])),
        at(end + 4_000, "sched_switch", switch(holder, RUNNABLE, thread)),
        at(end + 5_000, "syscall_exit_futex", of(thread, &[("ret", 0.into())])),
    ]
}

/// Writes the shop with another course.
fn write(to: &Path, change: Change) {
    let clocks = Clock::all();
    let traces = HOSTS.map(|(directory, _)| Trace::open(&shop().join(directory).join("kernel")).unwrap());
    let (worker, clock) = (&traces[2], &clocks[HOSTS[2].1]);
    let sleeps = sleeps(worker);
    assert!(sleeps.len() >= 24, "{}", sleeps.len());
    for ((directory, name), trace) in HOSTS.into_iter().zip(&traces) {
        let pause = |&(at, tid): &(u64, i64)| {
            let begin = clock.reference(at.into());
            let [begin, end] = [begin, begin + i128::from(MORE)].map(|at| clocks[name].raw(at));
            let events = if name == HOSTS[2].1 { change(tid) } else { Vec::new() };
            Pause { at: begin.try_into().unwrap(), cycles: (end - begin).try_into().unwrap(), events }
        };
        let pauses: Vec<_> = sleeps.iter().map(pause).collect();
        altered(trace, &to.join(directory), &pauses).unwrap();
    }
}

/// Each change is what is named first, with how long it takes; what must hold, holds no longer.
#[test]
fn what_changed_in_the_shop_is_named_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (cache, before) = (directory.path().join("cache"), shop().to_str().unwrap().to_owned());
    let changes: [(&str, Change, &str); 4] = [
        ("computes", computes, "cpu"),
        ("load", load, "wait-cpu"),
        ("disk", disk, "disk"),
        ("lock", lock, "lock"),
    ];
    let most = |trace: &str| {
        isochrone(&cache, &["check", "-q", trace, "--max", "median(request) < 125ms"]).status.code()
    };
    assert_eq!(most(&before), Some(0));
    for (name, change, cause) in changes {
        let after = path(name);
        write(Path::new(&after), change);
        let diff = |runs: [&str; 2]| isochrone(&cache, &["diff", "-q", "--format", "json", runs[0], runs[1]]);
        let named = |runs: [&str; 2]| {
            let first = rows(&diff(runs), "causes", &CAUSES).swap_remove(0);
            let words: Vec<_> = first.split(' ').map(str::to_owned).collect();
            let [comm, cause, .., change, verdict] = &words[..] else { panic!("{first}") };
            (format!("{comm} {cause}"), change.parse::<i64>().unwrap(), verdict.clone())
        };
        let (what, change, verdict) = named([&before, &after]);
        assert_eq!((what, &*verdict), (format!("srvhog {cause}"), "slower"), "{name}");
        // Of requests at one time, one can wait for the worker of the other.
        let is_it = |change: i64| (98..125).contains(&(change * 100 / MORE as i64));
        assert!(is_it(change), "{name}: {change}");
        let (what, change, verdict) = named([&after, &before]);
        assert_eq!((what, &*verdict), (format!("srvhog {cause}"), "faster"), "{name}");
        assert!(is_it(-change), "{name}: {change}");
        assert_eq!(most(&after), Some(1), "{name}");
    }
}
