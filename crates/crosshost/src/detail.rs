//! What more is known of a step of a path, in words.

use std::collections::BTreeMap;
use std::fmt::Write;

use isochrone_store::{Cause, PAGE_FAULT};
use isochrone_store::{State, ThreadRow};
use isochrone_time::{RawNs, Window};

use crate::host::Host;
use crate::path::Step;
use crate::timeline::ClusterWindow;
use crate::wait::StepDetail;

/// Maximum number of names in one detail.
const MOST: usize = 3;

/// The detail of a step: calls that ran, threads that ran meanwhile, what it waited for, the path of a
/// packet.
pub(crate) fn detail(window: &ClusterWindow<'_, '_>, step: &Step, about: &StepDetail) -> String {
    let host = &window.cluster.hosts[step.host];
    match (about, step.cause) {
        (StepDetail::Packet { flow, bytes, to }, _) => packet(window, step, *flow, *bytes, *to),
        (&StepDetail::Message { ranks: (sender, receiver), tag, bytes, to }, _) => {
            let way = packet(window, step, None, None, Some(to));
            format!("{way}, rank {sender} → rank {receiver}, tag {tag}, {bytes} bytes")
        }
        (StepDetail::Wait { call, fd, waker }, _) => wait(host, step, call.as_deref(), *fd, *waker),
        (StepDetail::Disk { device, bytes, is_write }, _) => {
            let way = if *is_write { "write" } else { "read" };
            let size = bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
            let fault = fault(host, step).map(|fault| format!(", {fault}")).unwrap_or_default();
            format!("{way} of disk {}{size}{fault}", host.store.entry().disk_name(*device))
        }
        (StepDetail::Handler(name), _) => name.clone(),
        (StepDetail::Nothing, Cause::Cpu) => ran(window, host, step),
        (StepDetail::Nothing, Cause::WaitCpu) => others(window, host, step),
        (StepDetail::Nothing, _) => String::new(),
    }
}

/// A thread as people write it: its name at a raw time, and its number.
fn shown(host: &Host<'_>, thread: ThreadRow, at: RawNs) -> String {
    let Some(row) = host.thread(thread) else { return "?".to_owned() };
    let comm = row.comm_at(at).unwrap_or("?");
    row.tid.map_or_else(|| comm.to_owned(), |tid| format!("{comm} {tid}"))
}

fn packet(
    window: &ClusterWindow<'_, '_>,
    step: &Step,
    flow: Option<isochrone_net::Flow>,
    bytes: Option<u32>,
    to: Option<usize>,
) -> String {
    let here = window.cluster.host_name(step.host);
    let mut text = match to {
        Some(to) if to == step.host => format!("within {here}"),
        Some(to) => format!("{here} → {}", window.cluster.host_name(to)),
        None => format!("to {here}, from an unknown sender"),
    };
    if let Some(flow) = flow {
        let _ = write!(text, ", {} → {}", flow.source, flow.destination);
    }
    if let Some(bytes) = bytes {
        let _ = write!(text, ", {bytes} bytes");
    }
    text
}

fn wait(
    host: &Host<'_>,
    step: &Step,
    call: Option<&str>,
    fd: Option<i32>,
    waker: Option<ThreadRow>,
) -> String {
    let mut text = fault(host, step).unwrap_or_else(|| call.unwrap_or_default().to_owned());
    let at = host.raw(step.start);
    if let Some(fd) = fd {
        let process = step.thread.and_then(|thread| host.pid(thread));
        let name = process.and_then(|process| host.name_of(process, fd, at));
        let _ = write!(text, " fd {fd}");
        if let Some(name) = name {
            let _ = write!(text, " ({name})");
        }
    }
    if let Some(waker) = waker {
        let verb = if step.cause == Cause::Lock { "held by" } else { "ended by" };
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{verb} {}", shown(host, waker, host.raw(step.end)));
    }
    text
}

/// The page fault that a thread waits in: where it is.
fn fault(host: &Host<'_>, step: &Step) -> Option<String> {
    let it = host.fault(step.thread?, host.raw(step.start))?;
    Some(format!("{PAGE_FAULT} at {:#x} ({})", it.fault.address, it.memory))
}

/// The greatest of some sums, with their names.
fn greatest(sums: BTreeMap<String, i64>, total: i64) -> String {
    let mut sums: Vec<(String, i64)> = sums.into_iter().filter(|(_, ns)| *ns > 0).collect();
    sums.sort_by_key(|(_, ns)| -ns);
    let shown = sums.iter().take(MOST).map(|(name, ns)| match *ns >= total {
        true => name.clone(),
        false => format!("{name} {}", duration(*ns)),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// ns in the unit that fits.
fn duration(ns: i64) -> String {
    match ns {
        ..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{}.{} µs", ns / 1_000, ns % 1_000 / 100),
        _ => format!("{}.{:02} ms", ns / 1_000_000, ns % 1_000_000 / 10_000),
    }
}

/// What a thread ran: the program, system calls, interrupts.
fn ran(window: &ClusterWindow<'_, '_>, host: &Host<'_>, step: &Step) -> String {
    let Some(thread) = step.thread else { return String::new() };
    let (from, to) = (host.raw(step.start), host.raw(step.end));
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    let states = window.timelines[step.host].states(thread);
    let first = states.partition_point(|row| row.end <= from);
    for row in states[first..].iter().take_while(|row| row.start < to) {
        let what = match row.state {
            State::UserMode => "user",
            State::Interrupted => "interrupts",
            State::Running => "user or kernel",
            State::Syscall => row.syscall.as_deref().filter(|call| !call.is_empty()).unwrap_or("kernel"),
            _ => continue,
        };
        *sums.entry(what.to_owned()).or_default() += row.end.min(to) - row.start.max(from);
    }
    greatest(sums, to - from)
}

/// Who ran on the CPU that a thread waited for.
fn others(window: &ClusterWindow<'_, '_>, host: &Host<'_>, step: &Step) -> String {
    let Some(thread) = step.thread else { return String::new() };
    let (from, to) = (host.raw(step.start), host.raw(step.end));
    let timeline = &window.timelines[step.host];
    let next = timeline.state_from(thread, to).and_then(|row| row.cpu);
    let Some(cpu) = next.or_else(|| timeline.state_before(thread, from)?.cpu) else { return String::new() };
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for (other, ns) in timeline.ran_on(cpu, Window::new(from, to)).filter(|(other, _)| *other != thread) {
        *sums.entry(shown(host, other, from)).or_default() += ns;
    }
    let sums = greatest(sums, to - from);
    if sums.is_empty() { sums } else { format!("{sums} ran") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let check = |ns, expect: &str| assert_eq!(duration(ns), expect);
        check(999, "999 ns");
        check(1_234, "1.2 µs");
        check(14_213_000, "14.21 ms");
    }

    #[test]
    fn greatest_first() {
        let sums = |rows: &[(&str, i64)]| rows.iter().map(|&(name, ns)| (name.to_owned(), ns)).collect();
        assert_eq!(greatest(sums(&[("a", 5), ("b", 9), ("c", 0)]), 20), "b 9 ns, a 5 ns");
        assert_eq!(greatest(sums(&[("a", 20)]), 20), "a");
        assert_eq!(greatest(sums(&[]), 20), "");
    }
}
