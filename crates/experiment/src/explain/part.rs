//! A part of a host's time: its states, calls, phases, wake-ups, and what ran on its CPUs.
//!
//! It ends where the next one starts, but is read a little further: streams of a host may be out of order by
//! so much.

use isochrone_hosts::SLACK;
use isochrone_kernel::Cause as Waker;
use isochrone_store::{
    CallSpan, HostStore, OpenCall, PhaseSpan, SliceSpan, State, StateRow, StoreError, ThreadRow, WakeupSpan,
};
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

use crate::loaded::Loaded;

/// What somebody has to do with a part of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Nobody has.
    None,
    /// A wait ended as they woke the thread.
    EndedBy,
    /// They took the CPU of the thread, which could run on.
    PreemptedBy,
    /// They had the CPU until the thread, which had been woken, got it.
    Behind,
}

/// Who.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// A thread.
    Thread(ThreadRow),
    /// An interrupt, a softirq or a timer.
    Context(Waker),
}

/// A part of a host's time.
#[derive(Debug)]
pub(super) struct Part<'s> {
    /// Where the next one starts.
    pub(super) end: RawNs,
    pub(super) loaded: Loaded<'s>,
    /// By CPU and start.
    slices: FxHashMap<u32, Vec<SliceSpan>>,
    /// The first event that wakes a thread at an instant.
    wakeups: FxHashMap<(ThreadRow, RawNs), WakeupSpan>,
    /// By thread and start.
    open_calls: FxHashMap<ThreadRow, Vec<OpenCall>>,
    /// By thread and end.
    pub(super) phases: FxHashMap<(ThreadRow, RawNs), Vec<PhaseSpan>>,
}

impl<'s> Part<'s> {
    /// Reads it. Linear in what overlaps it.
    pub(super) fn read(
        store: &'s HostStore,
        Window { start, end }: Window<RawNs>,
    ) -> Result<Self, StoreError> {
        let window = Window::new(start, end.saturating_add(2 * SLACK));
        let rows = (0..).map(ThreadRow).zip(store.threads());
        let lives = rows.filter(|(_, it)| it.tid.is_some() && it.start < window.end && it.end >= start);
        let threads: Vec<ThreadRow> = lives.map(|(row, _)| row).collect();
        let loaded = Loaded::read(store, window, &threads)?;
        let wider = Window::new(start.saturating_sub(1), window.end);
        let mut slices: FxHashMap<u32, Vec<SliceSpan>> = FxHashMap::default();
        store.slices(wider, |slice| slices.entry(slice.cpu).or_default().push(slice))?;
        for slices in slices.values_mut() {
            slices.sort_unstable_by_key(|slice| slice.start);
        }
        let mut wakeups = FxHashMap::default();
        store.wakeups(wider, |wakeup| {
            if let Some(thread) = wakeup.thread {
                wakeups.entry((thread, wakeup.at)).or_insert(wakeup);
            }
        })?;
        let mut open_calls: FxHashMap<ThreadRow, Vec<OpenCall>> = FxHashMap::default();
        store.open_calls(wider, |call| open_calls.entry(call.thread).or_default().push(call))?;
        for calls in open_calls.values_mut() {
            calls.sort_by_key(|call| call.from);
        }
        let mut phases: FxHashMap<_, Vec<PhaseSpan>> = FxHashMap::default();
        store.phases(wider, |phase| {
            if let Some(thread) = phase.thread {
                phases.entry((thread, phase.end)).or_default().push(phase);
            }
        })?;
        Ok(Self { end, loaded, slices, wakeups, open_calls, phases })
    }

    /// Gives states that continue from the part before their starts.
    pub(super) fn join(&mut self, before: &Self) {
        let border = self.loaded.window.start.saturating_sub(1);
        for (&thread, rows) in &mut self.loaded.rows {
            let Some(first) = rows.first_mut().filter(|first| first.start <= border) else { continue };
            let is_alike = |row: &&StateRow| {
                (row.state, row.cpu, &row.syscall, row.fd, row.waker)
                    == (first.state, first.cpu, &first.syscall, first.fd, first.waker)
            };
            if let Some(last) = before.state(thread, border, false).filter(is_alike) {
                first.start = first.start.min(last.start);
            }
        }
    }

    /// The states of a thread, by start.
    pub(super) fn rows(&self, thread: ThreadRow) -> &[StateRow] {
        self.loaded.rows.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// The state of a thread at an instant, or, for an end, the one that ends there.
    pub(super) fn state(&self, thread: ThreadRow, at: RawNs, is_end: bool) -> Option<&StateRow> {
        let rows = self.rows(thread);
        let at = if is_end { at.saturating_sub(1) } else { at };
        let next = rows.partition_point(|row| row.start <= at);
        rows[..next].last().filter(|row| at < row.end)
    }

    /// Whether it lacks what happened at an instant: an event that is earlier than those before it, by more
    /// than the slack.
    pub(super) fn is_over(&self, at: RawNs) -> bool {
        at < self.loaded.window.start
    }

    /// The threads that ran on a CPU just before an instant and from it on: mostly one.
    pub(super) fn running(&self, cpu: u32, at: RawNs) -> (Option<ThreadRow>, Option<ThreadRow>) {
        let slices = self.slices.get(&cpu).map_or(&[][..], Vec::as_slice);
        let next = slices.partition_point(|slice| slice.start <= at);
        let after = next.checked_sub(1).map(|index| &slices[index]);
        let before = match after {
            Some(slice) if slice.start == at => next.checked_sub(2).map(|index| &slices[index]),
            slice => slice,
        };
        let thread = |slice: Option<&SliceSpan>, is_it: fn(&SliceSpan, RawNs) -> bool| {
            slice.filter(|slice| is_it(slice, at))?.thread
        };
        (thread(before, |slice, at| at <= slice.end), thread(after, |slice, at| at < slice.end))
    }

    /// The call of a thread that ends at an instant.
    pub(super) fn ended_call(&self, thread: ThreadRow, at: RawNs) -> Option<&CallSpan> {
        self.call(thread, at).filter(|call| call.end == at)
    }

    /// The call of a thread that it is in at an instant.
    pub(super) fn call_at(&self, thread: ThreadRow, at: RawNs) -> Option<&CallSpan> {
        self.call(thread, at).filter(|call| at < call.end)
    }

    fn call(&self, thread: ThreadRow, at: RawNs) -> Option<&CallSpan> {
        let calls = self.loaded.calls.get(&thread)?;
        calls[..calls.partition_point(|call| call.start <= at)].last()
    }

    /// The call, of which an end is missing, that a thread is in at an instant, or may be. `is_end`: it
    /// returns then.
    pub(super) fn open_call(&self, thread: ThreadRow, at: RawNs, is_end: bool) -> Option<&OpenCall> {
        let at = if is_end { at.saturating_sub(1) } else { at };
        let calls = self.open_calls.get(&thread)?;
        calls[..calls.partition_point(|call| call.from <= at)].last().filter(|call| at < call.until)
    }

    /// The phase of a thread that ends at an instant, by the name of its two tracepoints; `None` if there are
    /// several.
    pub(super) fn ended_phase(&self, thread: ThreadRow, at: RawNs, stem: &str) -> Option<&PhaseSpan> {
        let is_it = |phase: &&PhaseSpan| {
            phase.name.strip_prefix(stem).is_some_and(|label| label.is_empty() || label.starts_with(' '))
        };
        let mut phases = self.phases.get(&(thread, at))?.iter().filter(is_it);
        phases.next().filter(|_| phases.next().is_none())
    }

    /// Who ended the wait of a row, by its place among those of its thread; who took the CPU of a thread that
    /// could run, or had it.
    pub(super) fn actor(
        &self,
        thread: ThreadRow,
        index: usize,
    ) -> Result<(Relation, Option<Actor>), StoreError> {
        let rows = self.rows(thread);
        let row = &rows[index];
        match row.state {
            State::Blocked => {
                let wakeup = self.wakeups.get(&(thread, row.end));
                let actor = wakeup.and_then(|wakeup| match wakeup.cause {
                    Waker::Thread => wakeup.waker.map(Actor::Thread),
                    Waker::Unknown => None,
                    context => Some(Actor::Context(context)),
                });
                Ok((Relation::EndedBy, actor))
            }
            State::WaitCpu => {
                let here = index
                    .checked_sub(1)
                    .and_then(|index| rows.get(index))
                    .filter(|last| last.end == row.start);
                let last = match here {
                    Some(last) => Some(last.clone()),
                    None => self.loaded.store.previous_state(row)?,
                };
                if let Some(cpu) = last.filter(|last| last.state.is_on_cpu()).and_then(|last| last.cpu) {
                    let next = self.slice(cpu, row.start, |slice, at| slice.start == at)?;
                    return Ok((
                        Relation::PreemptedBy,
                        next.and_then(|slice| slice.thread).map(Actor::Thread),
                    ));
                }
                let next = rows.get(index + 1).filter(|next| next.start == row.end && next.state.is_on_cpu());
                let Some(cpu) = next.and_then(|next| next.cpu) else { return Ok((Relation::None, None)) };
                let is_busy = |slice: &SliceSpan| {
                    let thread = slice.thread.and_then(|thread| self.loaded.store.thread(thread));
                    thread.is_some_and(|thread| thread.tid.is_some())
                };
                let before = self.slice(cpu, row.end, |slice, at| slice.end == at)?.filter(is_busy);
                let actor = before.and_then(|slice| slice.thread).map(Actor::Thread);
                Ok((if actor.is_some() { Relation::Behind } else { Relation::None }, actor))
            }
            _ => Ok((Relation::None, None)),
        }
    }

    /// A slice of a CPU next to an instant, which may lie before the part.
    fn slice(
        &self,
        cpu: u32,
        at: RawNs,
        is_it: fn(&SliceSpan, RawNs) -> bool,
    ) -> Result<Option<SliceSpan>, StoreError> {
        if at >= self.loaded.window.start {
            let slices = self.slices.get(&cpu).map_or(&[][..], Vec::as_slice);
            let next = slices.partition_point(|slice| slice.start <= at);
            return Ok(slices[next.saturating_sub(2)..next].iter().find(|slice| is_it(slice, at)).copied());
        }
        let mut found = None;
        self.loaded.store.slices(Window::new(at.saturating_sub(1), at.saturating_add(1)), |slice| {
            if slice.cpu == cpu && is_it(&slice, at) {
                found = Some(slice);
            }
        })?;
        Ok(found)
    }
}
