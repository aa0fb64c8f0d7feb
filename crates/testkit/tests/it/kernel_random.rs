//! Random kernel traces are what real hosts could have recorded.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{events, field, field_in, files, open};
use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Event, Lost, Trace, Value, ValueVisitor};
use isochrone_testkit::{Generation, RandomKernel};
use tempfile::TempDir;

fn written(kernel: &RandomKernel) -> (TempDir, Trace) {
    let directory = tempfile::tempdir().unwrap();
    kernel.write(directory.path()).unwrap();
    let trace = open(directory.path());
    (directory, trace)
}

fn number(value: Option<Value>) -> i32 {
    match value {
        Some(Value::Signed(number)) => number as i32,
        Some(Value::Unsigned(number)) => number as i32,
        other => panic!("{other:?}"),
    }
}

/// All events in the order of time, with their CPUs.
fn merged(trace: &Trace) -> Vec<(usize, Event<'_>)> {
    let streams = 0..trace.streams().len();
    let mut all: Vec<_> = streams
        .flat_map(|stream| events(trace, stream).into_iter().map(move |event| (stream, event)))
        .collect();
    all.sort_by_key(|(_, event)| event.cycles());
    all
}

/// What is known while the events are read.
#[derive(Default)]
struct Seen {
    running: BTreeMap<usize, i32>,
    /// The calls that threads are in, where the entry was seen.
    calls: BTreeMap<i32, String>,
    /// Threads that were born or have ended, and whether they are there.
    there: BTreeMap<i32, bool>,
    stacks: BTreeMap<usize, Vec<(bool, i32)>>,
}

impl Seen {
    fn event(&mut self, cpu: usize, event: &Event<'_>) {
        let name = event.name().unwrap();
        let payload = |name| number(field(event, name));
        let at = format!("CPU {cpu} at {:?}: {name}", event.cycles());
        if let Some(&running) = self.running.get(&cpu) {
            assert_eq!(
                number(field_in(event, Scope::CommonContext, "tid")),
                runs(running, name, event),
                "{at}"
            );
        }
        let running = number(field_in(event, Scope::CommonContext, "tid"));
        match name {
            "sched_switch" => {
                let (prev, next) = (payload("prev_tid"), payload("next_tid"));
                assert_eq!(prev, running, "{at}");
                let elsewhere =
                    self.running.iter().any(|(&other, &tid)| other != cpu && tid == next && tid != 0);
                assert!(!elsewhere, "{at}: {next} runs twice");
                assert!(self.there.get(&next) != Some(&false), "{at}: {next} is no more");
                assert!(self.stacks.get(&cpu).is_none_or(Vec::is_empty), "{at}: within an interrupt");
                self.running.insert(cpu, next);
            }
            "sched_process_fork" => {
                let child = payload("child_tid");
                assert!(self.there.insert(child, true) != Some(true), "{at}: {child} is there");
            }
            "sched_process_exec" => {
                let old = payload("old_tid");
                if let Some(call) = self.calls.remove(&old) {
                    self.calls.insert(running, call);
                }
                self.running.insert(cpu, running);
            }
            "sched_process_exit" => {
                self.calls.remove(&running);
            }
            "sched_process_free" => {
                let tid = payload("tid");
                assert!(!self.running.values().any(|&running| running == tid), "{at}: {tid} runs");
                self.there.insert(tid, false);
            }
            "irq_handler_entry" => self.stacks.entry(cpu).or_default().push((true, payload("irq"))),
            "irq_softirq_entry" => self.stacks.entry(cpu).or_default().push((false, payload("vec"))),
            "irq_handler_exit" => {
                assert_eq!(self.stacks.entry(cpu).or_default().pop(), Some((true, payload("irq"))), "{at}");
            }
            "irq_softirq_exit" => {
                assert_eq!(self.stacks.entry(cpu).or_default().pop(), Some((false, payload("vec"))), "{at}");
            }
            _ => {}
        }
        if let Some(call) = name.strip_prefix("syscall_entry_") {
            assert_eq!(self.calls.insert(running, call.to_owned()), None, "{at}: in a call already");
        } else if let Some(call) = name.strip_prefix("syscall_exit_")
            && let Some(entered) = self.calls.remove(&running)
        {
            assert_eq!(entered, call, "{at}");
        }
    }
}

/// Which thread an event says is running: an exec records the new number.
fn runs(running: i32, name: &str, event: &Event<'_>) -> i32 {
    match name {
        "sched_process_exec" => {
            assert_eq!(number(field(event, "old_tid")), running);
            number(field(event, "tid"))
        }
        _ => running,
    }
}

#[test]
fn what_is_reported_could_be_true() {
    for seed in 0..40 {
        let kernel = RandomKernel::new(seed).cpus(1 + seed as u32 % 4).contexts(true);
        let (_directory, trace) = written(&kernel);
        let mut seen = Seen::default();
        for (cpu, event) in merged(&trace) {
            seen.event(cpu, &event);
        }
    }
}

#[test]
fn everything_happens() {
    for generation in Generation::ALL {
        let mut names = BTreeMap::new();
        for seed in 0..10 {
            let (_directory, trace) = written(&RandomKernel::new(seed).generation(generation).cpus(3));
            for (_, event) in merged(&trace) {
                *names.entry(event.name().unwrap().to_owned()).or_insert(0) += 1;
            }
        }
        let softirqs = ["raise", "entry", "exit"].map(|what| match generation {
            Generation::V2_1 | Generation::V2_5 => format!("softirq_{what}"),
            _ => format!("irq_softirq_{what}"),
        });
        let calls = [
            "openat",
            "close",
            "dup2",
            "pipe2",
            "socket",
            "accept4",
            "clone",
            "execve",
            "exit_group",
            "read",
        ];
        let calls = calls.map(|call| match generation.names_exits() {
            true => format!("syscall_entry_{call}"),
            false => format!("sys_{call}"),
        });
        let process = ["fork", "exec", "exit", "free"].map(|what| format!("sched_process_{what}"));
        let rest = "sched_switch sched_wakeup sched_wakeup_new sched_migrate_task sched_pi_setprio irq_handler_entry \
                    irq_handler_exit block_rq_issue block_rq_complete net_dev_queue net_dev_xmit \
                    lttng_statedump_process_state lttng_statedump_file_descriptor";
        let rest = rest.split_whitespace().map(str::to_owned);
        for name in softirqs.into_iter().chain(calls).chain(process).chain(rest) {
            assert!(names.contains_key(&name), "{generation:?} without {name}: {names:?}");
        }
    }
}

#[test]
fn numbers_are_used_again_and_leaders_change() {
    let (mut again, mut renumbered, mut nested) = (0, 0, 0);
    for seed in 0..20 {
        let (_directory, trace) = written(&RandomKernel::new(seed));
        let (mut freed, mut depth) = (BTreeSet::new(), BTreeMap::new());
        for (cpu, event) in merged(&trace) {
            match event.name().unwrap() {
                "sched_process_free" => _ = freed.insert(number(field(&event, "tid"))),
                "sched_process_fork" => {
                    again += i32::from(freed.contains(&number(field(&event, "child_tid"))));
                }
                "sched_process_exec" => {
                    renumbered += i32::from(field(&event, "tid") != field(&event, "old_tid"));
                }
                "irq_handler_entry" => {
                    let depth = depth.entry(cpu).or_insert(0);
                    nested += i32::from(*depth > 0);
                    *depth += 1;
                }
                "irq_handler_exit" => *depth.entry(cpu).or_insert(1) -= 1,
                _ => {}
            }
        }
    }
    assert!(again > 20 && renumbered > 2 && nested > 20, "{again} {renumbered} {nested}");
}

#[test]
fn losses_are_as_many_as_asked_for() {
    for seed in 0..10 {
        let kernel = RandomKernel::new(seed).cpus(3).events(4_000);
        let count = |trace: &Trace| (0..3).map(|stream| events(trace, stream).len() as u64).sum::<u64>();
        let (_directory, whole) = written(&kernel);
        let (_directory, trace) = written(&kernel.clone().losses(4));
        let losses: Vec<_> = (0..3).flat_map(|stream| trace.losses(stream)).collect();
        assert_eq!(losses.len(), 4);
        let lost = losses.iter().map(|loss| match loss.lost {
            Lost::Events(count) => count,
            Lost::Packets(_) => panic!("{loss:?}"),
        });
        assert_eq!(count(&trace) + lost.sum::<u64>(), count(&whole));
    }
}

#[test]
fn whatever_is_described_can_be_read() {
    for seed in 0..30 {
        let generation = Generation::ALL[seed as usize % 5];
        let kernel = RandomKernel::new(seed).generation(generation).cpus(1 + seed as u32 % 3).events(800);
        let kernel =
            kernel.bits(if seed % 4 < 2 { 64 } else { 32 }).big_endian(seed % 7 == 0).dump(seed % 3 == 0);
        let kernel =
            kernel.contexts(seed % 2 == 0).losses(seed as u32 % 4).missing_cpus(1).packet_events(1 + seed);
        let (_directory, trace) = written(&kernel);
        for (_, event) in merged(&trace) {
            let mut visitor = ValueVisitor::default();
            event.visit(Scope::Payload, &mut visitor).unwrap();
        }
    }
}

#[test]
fn streams_of_some_cpus_are_missing() {
    let check = |missing, expect| {
        let (_directory, trace) = written(&RandomKernel::new(3).cpus(4).missing_cpus(missing));
        assert_eq!(trace.streams().len(), expect);
    };
    check(0, 4);
    check(2, 2);
    check(9, 1);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let bytes = |kernel: &RandomKernel| {
        let (directory, _trace) = written(kernel);
        files(directory.path())
    };
    let kernel = RandomKernel::new(1).generation(Generation::V2_5).bits(32).big_endian(true).losses(1);
    assert_eq!(bytes(&kernel), bytes(&kernel));
    assert_ne!(bytes(&kernel), bytes(&RandomKernel::new(2)));
}
