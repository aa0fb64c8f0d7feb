//! The events of all hosts by number, in the order of time, for tables that show any part of them.

use isochrone_time::UnixNs;

use super::ExperimentView;
use super::events::TimedEvent;

/// Events from one entry of the index to the next: at most this number is skipped to read any event.
const STEP: u64 = 8192;

/// Events that a search reads.
const MAX_READ: u64 = 20_000_000;

/// An index of all events by number and by time: 32 bytes for each [`STEP`] of them.
#[derive(Debug, Default)]
pub(crate) struct EventIndex {
    /// Number of events.
    pub(crate) total: u64,
    /// Times, and the numbers of the first events of these times; both ascend.
    entries: Vec<(UnixNs, u64)>,
}

impl EventIndex {
    /// The last entry that fulfils a condition; all before it do, too.
    fn last(&self, condition: impl Fn(&(UnixNs, u64)) -> bool) -> (UnixNs, u64) {
        let count = self.entries.partition_point(condition);
        self.entries[..count].last().copied().unwrap_or((UnixNs::MIN, 0))
    }
}

impl<'o> ExperimentView<'o> {
    /// The index of all events. Reads them all, the first time.
    pub(crate) fn event_index(&self) -> &EventIndex {
        self.event_index.get_or_init(|| {
            let mut index = EventIndex::default();
            // The time of the last event, and the number of the first event of that time.
            let (mut time, mut first) = (UnixNs::MIN, 0);
            self.each_event(&[], UnixNs::MIN, |it| {
                if it.unix != time {
                    (time, first) = (it.unix, index.total);
                }
                let ascends = index.entries.last().is_none_or(|(at, _)| *at < time);
                if index.total.is_multiple_of(STEP) && ascends {
                    index.entries.push((time, first));
                }
                index.total += 1;
                true
            });
            index
        })
    }

    /// Number of events, once they were counted.
    pub(crate) fn events_counted(&self) -> Option<u64> {
        self.event_index.get().map(|index| index.total)
    }

    /// Passes the events from a number on, with their numbers, to `each`, until that returns `false`.
    pub(crate) fn each_numbered(&self, from: u64, mut each: impl FnMut(u64, &TimedEvent<'_, 'o>) -> bool) {
        let (unix, mut next) = self.event_index().last(|(_, first)| *first <= from);
        self.each_event(&[], unix, |it| {
            let number = next;
            next += 1;
            number < from || each(number, &it)
        });
    }

    /// The number of the first event that is not before an instant; the number of events, if all are.
    pub(crate) fn event_since(&self, unix: UnixNs) -> u64 {
        let (from, mut number) = self.event_index().last(|(at, _)| *at < unix);
        self.each_event(&[], from, |it| {
            let is_before = it.unix < unix;
            number += u64::from(is_before);
            is_before
        });
        number
    }

    /// The number of the first event from a number on that matches.
    pub(crate) fn next_event(&self, from: u64, matches: &dyn Fn(&TimedEvent<'_, 'o>) -> bool) -> Option<u64> {
        let (mut found, mut left) = (None, MAX_READ);
        self.each_numbered(from, |number, it| {
            left -= 1;
            found = matches(it).then_some(number);
            found.is_none() && left > 0
        });
        found
    }

    /// The number of the last event that matches, up to a number.
    pub(crate) fn last_event(&self, to: u64, matches: &dyn Fn(&TimedEvent<'_, 'o>) -> bool) -> Option<u64> {
        let mut end = to.saturating_add(1).min(self.event_index().total);
        let mut left = MAX_READ;
        while end > 0 && left > 0 {
            let start = end.saturating_sub(STEP);
            let mut found = None;
            self.each_numbered(start, |number, it| {
                if number < end && matches(it) {
                    found = Some(number);
                }
                number + 1 < end
            });
            if found.is_some() {
                return found;
            }
            left = left.saturating_sub(end - start);
            end = start;
        }
        None
    }
}
