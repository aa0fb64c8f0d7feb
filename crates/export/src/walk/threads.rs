//! What threads did: states, system calls, phases of programs, and wake-ups as flows from what wakes to the thread that waits for a CPU then.

use std::cmp::Reverse;
use std::io;

use isochrone_kernel::Cause;
use isochrone_store::{CallSpan, PhaseSpan, State, StateRow, WakeupSpan};
use rustc_hash::FxHashMap;

use super::ExportError;
use super::host::Host;
use crate::timeline::{Flow, Place, Shown, Timeline, Value};

/// Passes what threads did in a part of a host's time. `flows`: the number of the last flow.
pub(super) fn emit<T: Timeline>(
    host: &mut Host<'_>,
    part: (i64, i64),
    flows: &mut u64,
    to: &mut T,
) -> Result<(), ExportError> {
    states(host, part, flows, to)?;
    calls(host, part, to)?;
    phases(host, part, to)
}

fn states<T: Timeline>(
    host: &mut Host<'_>,
    part: (i64, i64),
    flows: &mut u64,
    to: &mut T,
) -> Result<(), ExportError> {
    // Of several events that wake a thread at one instant, the first one.
    let mut wakeups: FxHashMap<(u32, i64), WakeupSpan> = FxHashMap::default();
    host.store.wakeups(part, |wakeup| {
        if let Some(thread) = wakeup.thread {
            wakeups.entry((thread, wakeup.at)).or_insert(wakeup);
        }
    })?;
    let rows = host.store.states(&host.numbers, part)?;
    for row in rows {
        if row.state == State::WaitCpu {
            host.figures.wait(row.begin, row.end);
        }
        let Some(rows) = host.thread(Some(row.thread)) else { continue };
        if let Some((last, _)) = &mut rows.state
            && last.end == row.begin
            && is_same(last, &row)
        {
            last.end = row.end;
            continue;
        }
        let number = row.thread;
        host.settle(number, to)?;
        let woken = (row.state == State::WaitCpu).then(|| wakeups.get(&(number, row.begin))).flatten();
        let flow = match woken {
            Some(wakeup) => {
                *flows += 1;
                wake(host, wakeup, *flows, to)?;
                Some(Flow::Ends(*flows))
            }
            None => None,
        };
        if let Some(rows) = host.thread(Some(number)) {
            rows.state = Some((row, flow));
        }
    }
    Ok(())
}

/// Whether a state goes on in another one.
fn is_same(a: &StateRow, b: &StateRow) -> bool {
    (a.state, a.cpu, a.fd, a.waker, &a.syscall) == (b.state, b.cpu, b.fd, b.waker, &b.syscall)
}

/// The begin of the flow of a wake-up: in the thread that wakes, or in the interrupts of the CPU.
fn wake<T: Timeline>(host: &mut Host<'_>, wakeup: &WakeupSpan, flow: u64, to: &mut T) -> io::Result<()> {
    let is_by_thread = matches!(wakeup.cause, Cause::Thread | Cause::Unknown);
    let row = match host.row_of(wakeup.waker).filter(|_| is_by_thread) {
        Some(row) => row,
        None => host.interrupts_of(wakeup.cpu, to)?,
    };
    let woken = wakeup.thread.and_then(|thread| host.store.threads().get(thread as usize));
    let tid = woken.and_then(|thread| thread.tid).unwrap_or_default();
    let details = [("thread", Value::Text(host.name_of(wakeup.thread))), ("tid", Value::Int(tid.into()))];
    let shown =
        Shown { name: "wake-up", category: "wakeup", details: &details, flow: Some(Flow::Begins(flow)) };
    to.instant(row, host.common(wakeup.at), &shown)
}

impl Host<'_> {
    /// Passes the state that a thread was in last: it is over.
    pub(super) fn settle<T: Timeline>(&mut self, number: u32, to: &mut T) -> io::Result<()> {
        let Some((state, flow)) = self.thread(Some(number)).and_then(|rows| rows.state.take()) else {
            return Ok(());
        };
        let Some(rows) = self.threads.get(number as usize).and_then(Option::as_ref) else { return Ok(()) };
        if state.state == State::Dead {
            return Ok(());
        }
        let mut details = Vec::with_capacity(4);
        details.extend(state.cpu.map(|cpu| ("cpu", Value::Int(cpu.into()))));
        let call = state.syscall.as_ref().filter(|name| !name.is_empty());
        details.extend(call.map(|name| ("syscall", Value::Text(name))));
        details.extend(state.fd.map(|fd| ("fd", Value::Int(fd.into()))));
        let waker = state.waker.and_then(|waker| self.store.threads().get(waker as usize)?.tid);
        details.extend(waker.map(|tid| ("waker_tid", Value::Int(tid.into()))));
        let shown = Shown { name: state.state.name(), category: "state", details: &details, flow };
        to.begin(rows.states, self.common(state.begin), &shown)?;
        to.end(rows.states, self.common(state.end))
    }
}

/// System calls of which both ends were seen.
fn calls<T: Timeline>(host: &mut Host<'_>, part: (i64, i64), to: &mut T) -> Result<(), ExportError> {
    let mut calls: Vec<CallSpan> = Vec::new();
    host.store.calls(part, |call| {
        if (part.0..part.1).contains(&call.begin) {
            calls.push(call);
        }
    })?;
    calls.sort_unstable_by_key(|call| (call.thread, call.begin, Reverse(call.end)));
    for call in &calls {
        let (begin, end) = (host.common(call.begin), host.common(call.end));
        let Some(rows) = host.thread(call.thread) else { continue };
        let of_thread = rows.row;
        let row = rows.calls.place((begin, end), to, |to| {
            to.row(&Place::Under { parent: of_thread, name: "system calls" })
        })?;
        let mut details = [("ret", Value::Int(call.ret)), ("fd", Value::Int(0))];
        let details = match call.fd {
            Some(fd) => {
                details[1].1 = Value::Int(fd.into());
                &details[..]
            }
            None => &details[..1],
        };
        to.begin(row, begin, &Shown { name: &call.name, category: "syscall", details, flow: None })?;
    }
    Ok(())
}

/// Phases of programs.
fn phases<T: Timeline>(host: &mut Host<'_>, part: (i64, i64), to: &mut T) -> Result<(), ExportError> {
    let mut phases: Vec<PhaseSpan> = Vec::new();
    host.store.phases(part, |phase| {
        if (part.0..part.1).contains(&phase.begin) {
            phases.push(phase);
        }
    })?;
    let key = |phase: &PhaseSpan| (phase.thread, phase.begin, Reverse(phase.end));
    phases.sort_by(|a, b| (key(a), &a.name).cmp(&(key(b), &b.name)));
    for phase in &phases {
        let (begin, end) = (host.common(phase.begin), host.common(phase.end));
        let Some(rows) = host.thread(phase.thread) else { continue };
        let of_thread = rows.row;
        let row = rows
            .phases
            .place((begin, end), to, |to| to.row(&Place::Under { parent: of_thread, name: "phases" }))?;
        to.begin(row, begin, &Shown { name: &phase.name, category: "phase", details: &[], flow: None })?;
    }
    Ok(())
}
