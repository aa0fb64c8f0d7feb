//! The events of all hosts by number, in the order of time, for tables that show any part of them.

use isochrone_ctf::Event;

use super::events::{Passing, write_fields};
use super::{Host, Shown};

/// Of every so many events the place is kept: reading any event passes by fewer than that.
const STEP: u64 = 8192;

/// Events that a search passes by.
const MOST_SEARCHED: u64 = 20_000_000;

/// Where events are: 32 bytes for each [`STEP`] of them.
#[derive(Debug, Default)]
pub(crate) struct EventNumbers {
    /// How many there are.
    pub(crate) total: u64,
    /// Unix times, and the numbers of the first events of these times; both ascend.
    marks: Vec<(i128, u64)>,
}

impl EventNumbers {
    /// The last mark whose event is not after a number.
    fn before_number(&self, number: u64) -> (i128, u64) {
        let place = self.marks.partition_point(|(_, first)| *first <= number);
        self.marks[..place].last().copied().unwrap_or((i128::MIN, 0))
    }

    /// The last mark that is before an instant.
    fn before_time(&self, unix: i128) -> (i128, u64) {
        let place = self.marks.partition_point(|(at, _)| *at < unix);
        self.marks[..place].last().copied().unwrap_or((i128::MIN, 0))
    }
}

/// An event as a line of a table. Its text is made when it is asked for.
pub(crate) struct Line<'a, 'o> {
    pub(crate) number: u64,
    pub(crate) unix: i128,
    host: &'a Host<'o, 'o>,
    cpu: Option<u32>,
    event: &'a Event<'o>,
    contents: Option<String>,
}

impl Line<'_, '_> {
    pub(crate) fn host_name(&self) -> &str {
        &self.host.name
    }

    pub(crate) fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// The name of the event.
    pub(crate) fn name(&self) -> &str {
        self.event.name().unwrap_or_default()
    }

    /// Its contexts and its fields.
    pub(crate) fn contents(&mut self) -> &str {
        self.contents.get_or_insert_with(|| {
            let mut text = Vec::new();
            write_fields(self.event, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    }
}

impl<'o> Shown<'o> {
    /// Where all events are. Reads them all, the first time.
    pub(crate) fn event_numbers(&self) -> &EventNumbers {
        self.event_numbers.get_or_init(|| {
            let mut numbers = EventNumbers::default();
            // The time of the last event, and the number of the first event of that time.
            let (mut time, mut first) = (i128::MIN, 0);
            self.each_event(&[], i128::MIN, |it| {
                if it.unix != time {
                    (time, first) = (it.unix, numbers.total);
                }
                let ascends = numbers.marks.last().is_none_or(|(at, _)| *at < time);
                if numbers.total.is_multiple_of(STEP) && ascends {
                    numbers.marks.push((time, first));
                }
                numbers.total += 1;
                true
            });
            numbers
        })
    }

    /// How many events there are, once they were counted.
    pub(crate) fn events_counted(&self) -> Option<u64> {
        self.event_numbers.get().map(|numbers| numbers.total)
    }

    /// Shows the events from a number on, until `each` says `false`.
    pub(crate) fn each_line(&self, from: u64, mut each: impl FnMut(Line<'_, 'o>) -> bool) {
        let (unix, mut number) = self.event_numbers().before_number(from);
        self.each_event(&[], unix, |it: Passing<'_, 'o>| {
            let here = number;
            number += 1;
            here < from || {
                let host = &self.hosts[it.host];
                each(Line { number: here, unix: it.unix, host, cpu: it.cpu, event: it.event, contents: None })
            }
        });
    }

    /// The number of the first event that is not before an instant, Unix ns; how many there are, if all are.
    pub(crate) fn event_since(&self, unix: i128) -> u64 {
        let (from, mut number) = self.event_numbers().before_time(unix);
        self.each_event(&[], from, |it| {
            let is_before = it.unix < unix;
            number += u64::from(is_before);
            is_before
        });
        number
    }

    /// The number of the first event from a number on that fits.
    pub(crate) fn next_event(&self, from: u64, mut fits: impl FnMut(Line<'_, 'o>) -> bool) -> Option<u64> {
        let (mut found, mut left) = (None, MOST_SEARCHED);
        self.each_line(from, |line| {
            let number = line.number;
            left -= 1;
            if fits(line) {
                found = Some(number);
            }
            found.is_none() && left > 0
        });
        found
    }

    /// The number of the last event that fits, up to a number.
    pub(crate) fn previous_event(&self, to: u64, mut fits: impl FnMut(Line<'_, 'o>) -> bool) -> Option<u64> {
        let mut end = to.saturating_add(1).min(self.event_numbers().total);
        let mut left = MOST_SEARCHED;
        while end > 0 && left > 0 {
            let begin = end.saturating_sub(STEP);
            let mut found = None;
            self.each_line(begin, |line| {
                let number = line.number;
                if number < end && fits(line) {
                    found = Some(number);
                }
                number + 1 < end
            });
            if found.is_some() {
                return found;
            }
            left = left.saturating_sub(end - begin);
            end = begin;
        }
        None
    }
}
