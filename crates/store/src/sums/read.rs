//! Sums of a window: of the buckets in it, and of the spans at its ends.

use std::collections::VecDeque;

use isochrone_kernel::Name;
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

use crate::error::StoreError;
use crate::names::NameId;
use crate::state::State;
use crate::store::HostStore;
use crate::table::Row;
use crate::tables::{CallSpan, CallSumRow, StateSumRow};
use crate::threads::ThreadRow;

/// The calls of one name in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallSum {
    /// How many overlap it.
    pub count: u64,
    /// The time of them in it, ns of the host's clock.
    pub total_ns: i64,
    /// The longest part of one that is in it, ns of the host's clock.
    pub max_ns: i64,
}

impl CallSum {
    fn add(&mut self, count: u64, ns: i64, longest: i64) {
        self.absorb(Self { count, total_ns: ns, max_ns: longest });
    }

    /// Adds other calls of the window.
    pub fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.total_ns += other.total_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// What some threads did in a window.
#[derive(Debug)]
pub struct Totals {
    /// Time of each thread by state, in the order of the threads: ns of the host's clock.
    pub states: Vec<[i64; State::ALL.len()]>,
    /// Calls by name; none where they were not asked for.
    pub calls: FxHashMap<Name, CallSum>,
}

/// What some threads did in a window, added up: see [`HostStore::sums`].
#[derive(Debug)]
pub struct Sums<'s> {
    store: &'s HostStore,
    /// Sorted.
    threads: &'s [ThreadRow],
    window: Window<RawNs>,
    /// Buckets of which the sums are taken; empty where there is none.
    middle: Window<RawNs>,
    /// Windows whose spans are still to be read.
    parts: VecDeque<Window<RawNs>>,
    /// About how many spans are in memory at once.
    spans: u64,
    has_calls: bool,
    /// By index of the thread, by state: ns of the host's clock.
    states: Vec<[i64; State::ALL.len()]>,
    calls: FxHashMap<Name, CallSum>,
    /// Calls that begin before the buckets and do not end before them: thread, name, end and duration.
    crossing: Vec<(ThreadRow, Name, RawNs, i64)>,
}

impl HostStore {
    /// Begins to add up what some threads did in a window. `threads`: sorted; `has_calls`: whether calls are
    /// added up, too; `spans`: about how many of the window are in memory at once.
    ///
    /// The spans of each [`Sums::next_part`] are read by [`Sums::add`], and sums of what lies between them by
    /// [`Sums::finish`].
    pub fn sums<'s>(
        &'s self,
        threads: &'s [ThreadRow],
        window: Window<RawNs>,
        has_calls: bool,
        spans: u64,
    ) -> Sums<'s> {
        let window = self.within(window);
        let middle = self.whole_buckets(window);
        let mut parts = VecDeque::new();
        for end in [Window::new(window.start, middle.start), Window::new(middle.end, window.end)] {
            if !end.is_empty() {
                parts.extend(self.parts(end, spans));
            }
        }
        let states = vec![[0; State::ALL.len()]; threads.len()];
        let (calls, crossing) = (FxHashMap::default(), Vec::new());
        Sums { store: self, threads, window, middle, parts, spans, has_calls, states, calls, crossing }
    }

    /// The finest buckets in a window; not those that begin or end with it, as of what overlaps its ends only
    /// a part is in it. Where there is none, it lies at the end.
    fn whole_buckets(&self, window: Window<RawNs>) -> Window<RawNs> {
        let buckets = self.entry().sums;
        let start = buckets.ceil(0, window.start.0.saturating_add(1));
        let end = buckets.floor(0, window.end.0.saturating_sub(1));
        match start < end {
            true => Window::new(RawNs(start), RawNs(end)),
            false => Window::new(window.end, window.end),
        }
    }
}

impl Sums<'_> {
    /// How many windows have to be read, as far as that is known.
    pub fn parts_left(&self) -> usize {
        self.parts.len()
    }

    /// The next window whose spans have to be read.
    pub fn next_part(&mut self) -> Option<Window<RawNs>> {
        let is_first_read = self.parts.front().is_some_and(|part| part.start >= self.middle.end);
        if is_first_read && self.has_nested_calls() {
            let more = self.store.parts(self.middle, self.spans);
            for part in more.into_iter().rev() {
                self.parts.push_front(part);
            }
            self.middle = Window::new(self.window.end, self.window.end);
        }
        self.parts.pop_front()
    }

    /// Reads the spans of a part. Linear in them.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn add(&mut self, part: Window<RawNs>) -> Result<(), StoreError> {
        for state in self.store.states(self.threads, part)? {
            if let Ok(index) = self.threads.binary_search(&state.thread) {
                self.states[index][state.state as usize] += state.end - state.start;
            }
        }
        if !self.has_calls {
            return Ok(());
        }
        // Those that begin and end with the part have begun in it.
        let is_first = part.start == self.window.start;
        let earlier = if is_first { part.start } else { part.start.saturating_sub(1) };
        for call in self.store.calls_between(self.threads, Window::new(earlier, part.end))? {
            let begins_here = is_first || call.start >= part.start;
            if begins_here || call.end > part.start {
                self.add_call(&call, begins_here, part);
            }
        }
        Ok(())
    }

    fn add_call(&mut self, call: &CallSpan, begins_here: bool, part: Window<RawNs>) {
        let inside = |window: Window<RawNs>| (call.end.min(window.end) - call.start.max(window.start)).max(0);
        let sum = self.calls.entry(call.name.clone()).or_default();
        sum.add(u64::from(begins_here), inside(part), inside(self.window));
        let ends_later = part.end == self.middle.start && call.end > self.middle.start;
        if let Some(thread) = call.thread.filter(|_| ends_later && !self.middle.is_empty()) {
            self.crossing.push((thread, call.name.clone(), call.end, call.end - call.start));
        }
    }

    /// Adds the sums between the parts. Gives the time of each thread by state, in their order, and the calls
    /// by name. Linear in the sums of those buckets: of each level at most 126 times threads and what they
    /// did.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn finish(mut self) -> Result<Totals, StoreError> {
        let mut indices = vec![None; self.store.threads().len()];
        for (index, thread) in self.threads.iter().enumerate() {
            if let Some(known) = indices.get_mut(thread.index()) {
                *known = Some(index);
            }
        }
        let index_of = |thread: ThreadRow| indices.get(thread.index()).copied().flatten();
        let store = self.store;
        let names = store.spans().call_names()?;
        let mut calls: Vec<CallSum> = vec![CallSum::default(); names.len()];
        let numbers: FxHashMap<&Name, u32> = names.iter().zip(0..).collect();
        let number = |(thread, name, end, ns): (ThreadRow, Name, RawNs, i64)| {
            Some(((thread, *numbers.get(&name)?), (end, ns)))
        };
        let mut crossing: FxHashMap<_, _> =
            std::mem::take(&mut self.crossing).into_iter().filter_map(number).collect();
        for (level, window) in self.levels() {
            let tables = store.sum_tables();
            tables.states[level].overlapping(window, |view, row| {
                let row = StateSumRow::get(view, row);
                if let Some(index) = index_of(row.thread) {
                    self.states[index][row.state as usize] += inside(window, (row.start, row.end), row.ns);
                }
                Ok(())
            })?;
            if !self.has_calls {
                continue;
            }
            tables.calls[level].overlapping(window, |view, row| {
                let CallSumRow { thread, name: NameId(name), start, end, starts, ns, longest, second } =
                    CallSumRow::get(view, row);
                let sum = calls.get_mut(name as usize).filter(|_| index_of(thread).is_some());
                if let Some(sum) = sum {
                    // Of the call that the thread was in before, only a part is in the window.
                    let is_crossing = crossing
                        .get(&(thread, name))
                        .is_some_and(|&(until, of_call)| start < until && until <= end && of_call == longest);
                    // It ends once, though other rows may have as long a call.
                    let longest = if is_crossing && crossing.remove(&(thread, name)).is_some() {
                        second
                    } else {
                        longest
                    };
                    sum.add(starts.into(), inside(window, (start, end), ns), longest);
                }
                Ok(())
            })?;
        }
        for (name, sum) in names.iter().zip(calls).filter(|(_, sum)| *sum != CallSum::default()) {
            self.calls.entry(name.clone()).or_default().absorb(sum);
        }
        Ok(Totals { states: self.states, calls: self.calls })
    }

    /// Whether a thread was in two calls of a name where the buckets begin, as can be where an exit is
    /// missing: of both, only a part is in the window, and which others are the longest is not known.
    fn has_nested_calls(&self) -> bool {
        let mut threads: Vec<(ThreadRow, &Name)> = self.crossing.iter().map(|it| (it.0, &it.1)).collect();
        threads.sort_unstable();
        threads.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// The buckets in the middle, each of the coarsest level that fits.
    fn levels(&self) -> Vec<(usize, Window<RawNs>)> {
        if self.middle.is_empty() {
            return Vec::new();
        }
        let buckets = self.store.entry().sums;
        let (mut levels, mut rest) = (Vec::new(), self.middle);
        for level in 0..buckets.levels {
            let coarser = level + 1;
            let whole = (coarser < buckets.levels).then(|| {
                let (start, end) = (buckets.ceil(coarser, rest.start.0), buckets.floor(coarser, rest.end.0));
                Window::new(RawNs(start), RawNs(end))
            });
            let Some(Window { start, end }) = whole.filter(|whole| whole.start < whole.end) else {
                levels.push((level, rest));
                break;
            };
            levels.push((level, Window::new(rest.start, start)));
            levels.push((level, Window::new(end, rest.end)));
            rest = Window::new(start, end);
        }
        levels.retain(|(_, window)| !window.is_empty());
        levels
    }
}

/// What of a sum is in a window: where it fills several buckets, some of them.
fn inside(window: Window<RawNs>, (start, end): (RawNs, RawNs), ns: i64) -> i64 {
    if ns == end - start { end.min(window.end) - start.max(window.start) } else { ns }
}
