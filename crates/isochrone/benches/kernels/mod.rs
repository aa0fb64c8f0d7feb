//! The loops that analyses are made of, each over a whole trace: `compare` takes their time, `instructions` counts what they
//! execute. They use the library as anybody would. Each runs in a process of its own, which is the bench itself, called again:
//! `--kernel NAME TRACE`, or `--parallel-kernel NAME TRACE`.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // A bench reports and may panic.

use isochrone_ctf::merge::Merge;
use isochrone_ctf::plan::{EventPlan, NodeKind, StreamPlan};
use isochrone_ctf::{Columns, Event, FieldRef, StreamEvents, Trace};
use rayon::prelude::*;

/// Values that are kept before a column is handed on.
const CHUNK: usize = 512;
/// Packets that a thread takes at a time.
const PACKETS: usize = 8;

/// Whether this process was started to run a kernel; if so, that is done.
pub fn is_done() -> bool {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [flag, kernel, trace] = arguments.as_slice() else { return false };
    let run = match flag.as_str() {
        "--kernel" => run,
        "--parallel-kernel" => run_parallel,
        _ => return false,
    };
    println!("{}", run(kernel, &Trace::open(trace.as_ref()).unwrap()));
    true
}

/// Runs a kernel over a trace, stream after stream, on one thread. Gives a number that depends on all that was read, so
/// that nothing is optimized away.
fn run(kernel: &str, trace: &Trace) -> u64 {
    let streams = 0..trace.streams().len();
    if kernel == "merged" {
        let sources = streams.map(|stream| (0, trace.events(stream)));
        let merge = Merge::new(sources, |_, event: &Event<'_>| event.cycles());
        return merge
            .fold(0, |sum: u64, (_, cycles, _)| sum.wrapping_mul(31).wrapping_add(cycles.unwrap_or(0)));
    }
    streams
        .map(|stream| read(kernel, trace.stream_plan(stream), trace.events(stream)))
        .fold(0, u64::wrapping_add)
}

/// As [`run`], with packets spread over all threads that rayon has.
fn run_parallel(kernel: &str, trace: &Trace) -> u64 {
    let count = |stream: usize| trace.streams()[stream].packets.len();
    let parts: Vec<_> = (0..trace.streams().len())
        .flat_map(|stream| (0..count(stream)).step_by(PACKETS).map(move |first| (stream, first)))
        .collect();
    let part = |&(stream, first): &(usize, usize)| {
        let events = trace.events(stream).within(first..first + PACKETS);
        read(kernel, trace.stream_plan(stream), events)
    };
    parts.par_iter().map(part).reduce(|| 0, u64::wrapping_add)
}

fn read(kernel: &str, plan: &StreamPlan, events: StreamEvents<'_>) -> u64 {
    match kernel {
        "skip" => skip(events),
        "fields" => two_fields(plan, events),
        "integers" => all_integers(plan, events),
        other => panic!("no kernel is called {other}"),
    }
}

/// Header, time, skip.
fn skip(events: StreamEvents<'_>) -> u64 {
    let mut sum = 0_u64;
    for event in events {
        sum = sum.wrapping_add(event.cycles().unwrap_or(0));
    }
    sum
}

/// Two fields of switches and of system calls.
fn two_fields(plan: &StreamPlan, events: StreamEvents<'_>) -> u64 {
    let wanted = |class: &EventPlan| -> Option<[FieldRef; 2]> {
        let [a, b] = match class.name.as_deref()? {
            "sched_switch" => ["prev_tid", "next_tid"],
            "syscall_entry_read" => ["fd", "count"],
            "syscall_exit_read" => ["ret", "buf"],
            _ => return None,
        };
        Some([class.payload_field(plan, &[a])?, class.payload_field(plan, &[b])?])
    };
    let fields: Vec<_> = plan.events.iter().map(wanted).collect();
    let mut sum = 0_u64;
    for event in events {
        if let Some([a, b]) = &fields[event.class().index] {
            let value = |field| event.unsigned(field).unwrap_or(1);
            sum = sum.wrapping_add(value(a)).wrapping_add(value(b));
        }
    }
    sum
}

/// Every integer of every payload, into one column an integer field.
fn all_integers(plan: &StreamPlan, events: StreamEvents<'_>) -> u64 {
    let of_class = |class: &EventPlan| -> Option<Columns> {
        let NodeKind::Struct(members) = &class.payload.as_ref()?.kind else { return None };
        let numbers = members.iter().filter(|(_, node)| matches!(node.kind, NodeKind::Integer { .. }));
        let fields: Vec<_> =
            numbers.filter_map(|(name, _)| class.payload_field(plan, &[name.shown()])).collect();
        Columns::new(plan, class, &fields)
    };
    let mut columns: Vec<_> = plan.events.iter().map(of_class).collect();
    let mut sum = 0_u64;
    for event in events {
        if let Some(columns) = &mut columns[event.class().index] {
            columns.push(&event);
            if columns.rows() == CHUNK {
                sum = sum.wrapping_add(analyse(columns));
                columns.clear();
            }
        }
    }
    columns.iter().flatten().map(analyse).fold(sum, u64::wrapping_add)
}

/// What somebody does with full columns.
fn analyse(columns: &Columns) -> u64 {
    (0..columns.width())
        .flat_map(|field| columns.column(field))
        .fold(0, |sum, value| sum.wrapping_add(*value))
}
