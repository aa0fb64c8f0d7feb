//! Whom a server's thread works for: which of its time belongs to which exchange.
//!
//! A thread that serves one exchange after the other works for each from the read that starts it to the write that ends it. What lies
//! between two exchanges belongs to the first until the thread waits for something, and after that to the second: it wakes for its
//! request. Where exchanges are served in turns, the same holds between any two of their reads and writes.

use isochrone_store::{State, StateRow};
use isochrone_time::RawNs;

/// Something that a thread does for an exchange: it reads the request, or writes the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Act {
    /// When, raw ns.
    pub(crate) at: RawNs,
    /// Whether it writes.
    pub(crate) is_write: bool,
    /// The exchange.
    pub(crate) exchange: usize,
}

/// A time of a thread that belongs to an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) start: RawNs,
    pub(crate) end: RawNs,
    /// The exchange.
    pub(crate) exchange: usize,
}

/// The times of a thread by what it does (`acts`, by time) and its states. Before the first act, the thread works for its exchange since
/// it waited last; after the last one, until it waits next.
pub(crate) fn owned(acts: &[Act], states: &[StateRow]) -> Vec<Owned> {
    let mut all: Vec<Owned> = Vec::new();
    let mut add = |start: RawNs, end: RawNs, exchange: usize| {
        if start >= end {
            return;
        }
        match all.last_mut() {
            Some(last) if last.exchange == exchange && last.end == start => last.end = end,
            _ => all.push(Owned { start, end, exchange }),
        }
    };
    let (Some(first), Some(last)) = (acts.first(), acts.last()) else { return Vec::new() };
    add(woke_before(states, first.at), first.at, first.exchange);
    for pair in acts.windows(2) {
        let [one, other] = pair else { continue };
        if one.exchange == other.exchange {
            add(one.at, other.at, one.exchange);
            continue;
        }
        match waits_after(states, one.at).filter(|&at| at < other.at) {
            Some(at) => {
                add(one.at, at, one.exchange);
                add(at, other.at, other.exchange);
            }
            // An answer that follows another one at once was made after that.
            None if one.is_write && other.is_write => add(one.at, other.at, other.exchange),
            None => add(one.at, other.at, one.exchange),
        }
    }
    add(last.at, waits_after(states, last.at).unwrap_or(RawNs::MAX), last.exchange);
    all
}

/// The start of the first wait after an instant.
fn waits_after(states: &[StateRow], at: RawNs) -> Option<RawNs> {
    let first = states.partition_point(|row| row.start < at);
    states[first..].iter().find(|row| is_wait(row.state)).map(|row| row.start)
}

/// The end of the last wait before an instant.
fn woke_before(states: &[StateRow], at: RawNs) -> RawNs {
    let until = states.partition_point(|row| row.start < at);
    let last = states[..until].iter().rev().find(|row| is_wait(row.state));
    last.map_or(RawNs::MIN, |row| row.end.min(at))
}

fn is_wait(state: State) -> bool {
    matches!(state, State::Blocked | State::Unknown | State::Dead)
}

#[cfg(test)]
mod tests {
    use isochrone_store::ThreadRow;

    use super::*;

    /// Checks which exchange a thread works for: `acts` are `r` or `w`, an exchange and a time; it waits at the times of `waits`.
    fn check(acts: &[(char, usize, i64)], waits: &[(i64, i64)], expect: &[(i64, i64, usize)]) {
        let acts =
            acts.iter().map(|&(what, exchange, at)| Act { at: RawNs(at), is_write: what == 'w', exchange });
        let acts: Vec<Act> = acts.collect();
        let mut states = Vec::new();
        let mut since = 0;
        let row = |start, end, state| StateRow {
            thread: ThreadRow(0),
            state,
            start: RawNs(start),
            end: RawNs(end),
            cpu: None,
            syscall: None,
            fd: None,
            waker: None,
        };
        for &(from, to) in waits {
            states.push(row(since, from, State::UserMode));
            states.push(row(from, to, State::Blocked));
            since = to;
        }
        states.push(row(since, 100, State::UserMode));
        let found = owned(&acts, &states);
        let found: Vec<_> = found.iter().map(|it| (it.start.0, it.end.0, it.exchange)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn one_after_the_other() {
        let acts = [('r', 0, 12), ('w', 0, 20), ('r', 1, 42), ('w', 1, 50)];
        // It wakes at 10 and at 40; after each answer it goes on for a while.
        check(&acts, &[(5, 10), (23, 40), (60, 90)], &[(10, 23, 0), (23, 60, 1)]);
        // It never waits in between.
        check(&acts, &[(5, 10), (60, 90)], &[(10, 42, 0), (42, 60, 1)]);
    }

    #[test]
    fn in_turns() {
        let acts = [('r', 0, 10), ('r', 1, 20), ('w', 0, 30), ('w', 1, 40)];
        check(&acts, &[(0, 8), (24, 26), (50, 60)], &[(8, 20, 0), (20, 24, 1), (24, 30, 0), (30, 50, 1)]);
    }
}
