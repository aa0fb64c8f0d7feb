//! What the store of a host knows around the events that are explained: read part by part in the order of
//! time, so that memory is that of a part and of what is open at its end.

use isochrone_hosts::SLACK;
use isochrone_kernel::files::Bound;
use isochrone_kernel::{Missed, Name};
use isochrone_store::{HostStore, OpenFile, StoreError, ThreadRow};
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

use super::part::Part;
use super::spent::{Span, Spent};
use crate::phases::Instance;

/// A host, and what is read of it.
#[derive(Debug)]
pub(super) struct View<'s> {
    pub(super) store: &'s HostStore,
    missed: Missed,
    by_tid: FxHashMap<i32, Vec<ThreadRow>>,
    /// Whether the kernel was traced.
    has_kernel: bool,
    /// The ends of the parts that come.
    ends: std::vec::IntoIter<RawNs>,
    pub(super) part: Option<Part<'s>>,
    /// Periods, by thread and end: their names and starts.
    periods: FxHashMap<(ThreadRow, RawNs), Vec<(Name, RawNs)>>,
    /// Those that have not started, the next one last.
    to_start: Vec<Span>,
    /// Calls, phases and periods that started before the part and had not ended.
    open: FxHashMap<Span, Spent>,
}

/// What is known of who an event is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) cpu: Option<u32>,
    /// The number in its context.
    pub(super) tid: Option<i32>,
    /// Whether a program recorded it.
    pub(super) is_user: bool,
    /// Whether it is the end of what a thread does: a switch, the exit of a call.
    pub(super) is_end: bool,
}

impl<'s> View<'s> {
    /// `part_rows`: the number of rows of the store in a part, about.
    pub(super) fn new(store: &'s HostStore, has_kernel: bool, part_rows: u64) -> Result<Self, StoreError> {
        let mut by_tid: FxHashMap<i32, Vec<ThreadRow>> = FxHashMap::default();
        for (row, thread) in (0..).map(ThreadRow).zip(store.threads()) {
            if let Some(tid) = thread.tid {
                by_tid.entry(tid).or_default().push(row);
            }
        }
        let range = store.entry().range;
        let inside = |cut: &RawNs| range.is_some_and(|range| range.start < *cut && *cut < range.end);
        let last = range.map(|range| range.end.saturating_add(1));
        let ends: Vec<RawNs> = store.cuts(part_rows).into_iter().filter(inside).chain(last).collect();
        Ok(Self {
            store,
            missed: store.missed()?,
            by_tid,
            has_kernel,
            ends: ends.into_iter(),
            part: None,
            periods: FxHashMap::default(),
            to_start: Vec::new(),
            open: FxHashMap::default(),
        })
    }

    /// Adds periods: name, thread, start and end.
    pub(super) fn add_periods(&mut self, periods: impl IntoIterator<Item = Instance>) {
        for Instance { name, thread, start, end } in periods {
            if let Some(thread) = thread {
                self.periods.entry((thread, end)).or_default().push((name, start));
                self.to_start.push(Span { thread, start, end });
            }
        }
        self.to_start.sort_unstable_by_key(|span| std::cmp::Reverse(span.start));
    }

    /// The periods of a thread that end at an instant: their names and starts.
    pub(super) fn ended_periods(&self, thread: ThreadRow, at: RawNs) -> &[(Name, RawNs)] {
        self.periods.get(&(thread, at)).map_or(&[], Vec::as_slice)
    }

    /// Reads on until the part of an instant, which is not before those of earlier calls by more than the
    /// slack.
    pub(super) fn reach(&mut self, at: RawNs) -> Result<(), StoreError> {
        while self.part.as_ref().is_none_or(|part| at >= part.end.saturating_add(SLACK)) {
            let Some(end) = self.ends.next() else { break };
            let last = self.part.take();
            let start =
                last.as_ref().map(|last| last.end).or(self.store.entry().range.map(|range| range.start));
            let mut part = Part::read(self.store, Window::new(start.unwrap_or_default(), end))?;
            if let Some(last) = last {
                self.keep_open(&last)?;
                part.join(&last);
            }
            self.part = Some(part);
        }
        Ok(())
    }

    /// Keeps what is known of the calls, phases and periods that do not end in a part.
    fn keep_open(&mut self, part: &Part<'s>) -> Result<(), StoreError> {
        let calls =
            part.loaded.calls.values().flatten().filter_map(|it| Some((it.thread?, it.start, it.end)));
        let phases = part.phases.values().flatten().filter_map(|it| Some((it.thread?, it.start, it.end)));
        let started = self.to_start.partition_point(|span| span.start >= part.end);
        let periods = self.to_start.drain(started..).map(|Span { thread, start, end }| (thread, start, end));
        for (thread, start, end) in calls.chain(phases).chain(periods) {
            if start < part.end && end >= part.end {
                self.open.entry(Span { thread, start, end }).or_default();
            }
        }
        self.open.retain(|span, _| span.end >= part.end);
        self.open.iter_mut().try_for_each(|(&span, spent)| spent.add_until(part, span, part.end))
    }

    /// What the time of a span that ends in the part went to.
    pub(super) fn spent(&self, part: &Part<'s>, span: Span) -> Result<Spent, StoreError> {
        let mut spent = self.open.get(&span).cloned().unwrap_or_default();
        spent.add_rest(part, span)?;
        Ok(spent)
    }

    /// The thread that an event is of: the one that ran on its CPU. Where no switch says so, of an event of
    /// the kernel the one that it names; of a program's only where the kernel was not traced, as it has
    /// numbers of its own.
    pub(super) fn thread_of(&self, part: &Part<'_>, event: Origin, at: RawNs) -> Option<ThreadRow> {
        let named = || (!event.is_user || !self.has_kernel).then(|| self.numbered(event.tid?, at)).flatten();
        let tid = |row: ThreadRow| {
            self.store.thread(row).and_then(|thread| thread.tid.or(thread.idle_of_cpu.map(|_| 0)))
        };
        let ran = event.cpu.map(|cpu| part.running(cpu, at));
        match ran.unwrap_or_default() {
            (Some(before), _) if event.is_end => Some(before),
            (Some(before), Some(after)) if before == after => Some(before),
            // Both have the instant of the switch.
            (Some(before), Some(after)) => {
                [before, after].into_iter().find(|&row| event.tid.is_some() && tid(row) == event.tid)
            }
            (one, other) => one.or(other).or_else(named),
        }
    }

    /// The thread that had a number at an instant: of several, the last that had begun.
    pub(super) fn numbered(&self, tid: i32, at: RawNs) -> Option<ThreadRow> {
        let rows = self.by_tid.get(&tid)?;
        let begun = rows
            .iter()
            .copied()
            .filter(|&row| self.store.thread(row).is_some_and(|thread| thread.start <= at));
        begun.last()
    }

    /// What a descriptor of a thread is at an instant, if that is known, and whether events are missing that
    /// may have made it another.
    pub(super) fn file<'p>(
        &self,
        part: &'p Part<'_>,
        thread: ThreadRow,
        fd: i32,
        at: RawNs,
    ) -> Option<(&'p OpenFile, bool)> {
        let file = part.loaded.file(thread, fd, at)?;
        Some((file, file.is_doubtful(at, &self.missed)))
    }
}

/// Whether a descriptor was made at an instant, as a call returned it.
pub(super) fn is_made_at(file: &OpenFile, at: RawNs) -> bool {
    file.start == at && file.start_bound == Bound::Hard
}
