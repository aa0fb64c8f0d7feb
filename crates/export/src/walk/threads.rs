//! What threads did: states, system calls, phases of programs, and wake-ups as flows to the thread that waits for a CPU then.

use std::cmp::Reverse;
use std::io;

use isochrone_kernel::Cause;
use isochrone_store::{CallSpan, PhaseSpan, State, StateRow, ThreadRow, WakeupSpan};
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

use super::ExportError;
use super::counters::Counted;
use super::host::Host;
use super::sched;
use crate::timeline::{Event, Flow, Timeline, TrackKind, Value};

/// Passes what threads did in a part of a host's time. `flows`: the number of the last flow.
pub(super) fn emit<T: Timeline>(
    host: &mut Host<'_>,
    part: Window<RawNs>,
    flows: &mut u64,
    to: &mut T,
) -> Result<(), ExportError> {
    states(host, part, flows, to)?;
    calls(host, part, to)?;
    phases(host, part, to)
}

fn states<T: Timeline>(
    host: &mut Host<'_>,
    part: Window<RawNs>,
    flows: &mut u64,
    to: &mut T,
) -> Result<(), ExportError> {
    // Of several events that wake a thread at one instant, the first.
    let mut wakeups: FxHashMap<(ThreadRow, RawNs), WakeupSpan> = FxHashMap::default();
    host.store.wakeups(part, |wakeup| {
        if let Some(thread) = wakeup.thread {
            wakeups.entry((thread, wakeup.at)).or_insert(wakeup);
        }
    })?;
    let rows = host.store.states(&host.numbers, part)?;
    for row in rows {
        if row.state == State::WaitCpu {
            host.counters.add_time(Counted::WaitingThreads, row.start, row.end);
        }
        let Some(tracks) = host.thread(Some(row.thread)) else { continue };
        if let Some((last, _)) = &mut tracks.state
            && last.end == row.start
            && is_same(last, &row)
        {
            last.end = row.end;
            continue;
        }
        let number = row.thread;
        let is_off = tracks.state.as_ref().is_none_or(|(last, _)| may_be_woken(last.state));
        host.emit_last_state(number, to)?;
        let woken = (row.state == State::WaitCpu).then(|| wakeups.get(&(number, row.start))).flatten();
        let flow = match woken {
            Some(wakeup) => {
                if is_off {
                    sched::waking(host, &row, wakeup, to)?;
                }
                *flows += 1;
                wake(host, wakeup, *flows, to)?;
                Some(Flow::End(*flows))
            }
            None => None,
        };
        if let Some(tracks) = host.thread(Some(number)) {
            tracks.state = Some((row, flow));
        }
    }
    Ok(())
}

/// Whether a thread in a state may be off all CPUs and not runnable.
fn may_be_woken(state: State) -> bool {
    matches!(state, State::Blocked | State::WaitFork | State::Unknown)
}

/// Whether a state continues in another one.
fn is_same(a: &StateRow, b: &StateRow) -> bool {
    (a.state, a.cpu, a.fd, a.waker, &a.syscall) == (b.state, b.cpu, b.fd, b.waker, &b.syscall)
}

/// Starts the flow of a wake-up: in the thread that wakes, or in the interrupts of the CPU.
fn wake<T: Timeline>(host: &mut Host<'_>, wakeup: &WakeupSpan, flow: u64, to: &mut T) -> io::Result<()> {
    let is_by_thread = matches!(wakeup.cause, Cause::Thread | Cause::Unknown);
    let track = match host.track_of(wakeup.waker).filter(|_| is_by_thread) {
        Some(track) => track,
        None => host.interrupts_of(wakeup.cpu, to)?,
    };
    let woken = wakeup.thread.and_then(|thread| host.store.thread(thread));
    let tid = woken.and_then(|thread| thread.tid).unwrap_or_default();
    let args = [("thread", Value::Text(host.name_of(wakeup.thread))), ("tid", Value::Int(tid.into()))];
    let event = Event { args: &args, flow: Some(Flow::Start(flow)), ..Event::new("wake-up", "wakeup") };
    to.instant(track, host.common(wakeup.at), &event)
}

impl Host<'_> {
    /// Passes the last state of a thread, which is over.
    pub(super) fn emit_last_state<T: Timeline>(&mut self, number: ThreadRow, to: &mut T) -> io::Result<()> {
        let Some((state, flow)) = self.thread(Some(number)).and_then(|tracks| tracks.state.take()) else {
            return Ok(());
        };
        let Some(tracks) = self.threads.get(number.index()).and_then(Option::as_ref) else { return Ok(()) };
        if state.state == State::Dead {
            return Ok(());
        }
        let mut args = Vec::with_capacity(4);
        args.extend(state.cpu.map(|cpu| ("cpu", Value::Int(cpu.into()))));
        let call = state.syscall.as_ref().filter(|name| !name.is_empty());
        args.extend(call.map(|name| ("syscall", Value::Text(name))));
        args.extend(state.fd.map(|fd| ("fd", Value::Int(fd.into()))));
        let waker = state.waker.and_then(|waker| self.store.thread(waker)?.tid);
        args.extend(waker.map(|tid| ("waker_tid", Value::Int(tid.into()))));
        let event = Event { args: &args, flow, ..Event::new(state.state.name(), "state") };
        to.start(tracks.states, self.common(state.start), &event)?;
        to.end(tracks.states, self.common(state.end))
    }
}

/// Passes system calls with both ends in the trace.
fn calls<T: Timeline>(host: &mut Host<'_>, part: Window<RawNs>, to: &mut T) -> Result<(), ExportError> {
    let mut calls: Vec<CallSpan> = Vec::new();
    host.store.syscalls(part, |call| {
        if part.contains(call.start) {
            calls.push(call);
        }
    })?;
    calls.sort_unstable_by_key(|call| (call.thread, call.start, Reverse(call.end)));
    for call in &calls {
        let span = host.span(call.start, call.end);
        let Some(tracks) = host.thread(call.thread) else { continue };
        let args = [("ret", Value::Int(call.ret)), ("fd", Value::Int(call.fd.unwrap_or(0).into()))];
        let args = if call.fd.is_some() { &args[..] } else { &args[..1] };
        let event = Event { args, ..Event::new(&call.name, "syscall") };
        let more = TrackKind::Under { parent: tracks.track, name: "system calls" };
        tracks.calls.slice(span, &event, more, to)?;
    }
    Ok(())
}

/// Passes phases of programs.
fn phases<T: Timeline>(host: &mut Host<'_>, part: Window<RawNs>, to: &mut T) -> Result<(), ExportError> {
    let mut phases: Vec<PhaseSpan> = Vec::new();
    host.store.phases(part, |phase| {
        if part.contains(phase.start) {
            phases.push(phase);
        }
    })?;
    let key = |phase: &PhaseSpan| (phase.thread, phase.start, Reverse(phase.end));
    phases.sort_by(|a, b| (key(a), &a.name).cmp(&(key(b), &b.name)));
    for phase in &phases {
        let span = host.span(phase.start, phase.end);
        let Some(tracks) = host.thread(phase.thread) else { continue };
        let more = TrackKind::Under { parent: tracks.track, name: "phases" };
        tracks.phases.slice(span, &Event::new(&phase.name, "phase"), more, to)?;
    }
    Ok(())
}
