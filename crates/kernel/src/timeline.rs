//! The timeline of a CPU: which thread ran from when to when, and when that is unknown.
//!
//! Only `sched_switch` counts as evidence. Part of a `PartialState`, which resolves thread ids before two
//! timelines are joined.

use serde::{Deserialize, Serialize};

use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::span::{Slice, Spans, Unknown};

/// The slices of one CPU in one piece: closed ones are emitted at once, the first and the last wait for the
/// neighbouring pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Timeline {
    head: Option<Head>,
    now: Now,
}

/// What ended the interval that the piece begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Head {
    /// A thread left the CPU.
    Switch { at: Time, prev: ThreadId },
    /// Events are missing, until a thread left the CPU. The piece before knows how much of that interval was
    /// covered anyway: a loss is recorded at its end, and may begin before events that were seen.
    Lost { lost: Lost, left: Option<(Time, ThreadId)> },
}

/// The interval that has not ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Now {
    /// No event so far.
    #[default]
    Nothing,
    /// The thread that runs.
    Known { thread: ThreadId, priority: Option<i32>, since: Time },
    /// Events were lost; the thread that runs since their end (`to`) is unidentified since that instant.
    /// `None`: the head has the losses.
    Unknown { lost: Option<Lost>, to: Time },
}

/// The thread that a CPU switches to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NextThread {
    pub(crate) thread: ThreadId,
    /// Its priority at the switch, if that is known.
    pub(crate) priority: Option<i32>,
}

/// When the first of several losses began, and the last of them, before a thread left the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Lost {
    since: Time,
    again: Time,
}

impl Lost {
    fn new(since: Time) -> Self {
        Self { since, again: since }
    }

    fn add(&mut self, from: Time) {
        self.again = self.again.max(from);
    }

    /// Emits the unknown time until a thread left the CPU, or until the trace ends.
    fn emit(self, cpu: u32, thread: Option<ThreadId>, end: Time, spans: &mut impl Spans) {
        let Self { since, again } = self;
        emit_unknown(cpu, since, again.min(end), spans);
        if thread.is_some() || again < end {
            spans.unknown(&Unknown { cpu, thread, begin: again.min(end), end });
        }
    }
}

impl Timeline {
    /// The timeline of a CPU without events in a piece of which everything is missing since `from`, until
    /// `to`.
    pub(crate) fn missing(from: Time, to: Time) -> Self {
        let head = Head::Lost { lost: Lost::new(from), left: None };
        Self { head: Some(head), now: Now::Unknown { lost: None, to } }
    }

    /// The thread that runs now, possibly unidentified.
    pub(crate) fn current(&self, cpu: u32) -> ThreadId {
        match self.now {
            Now::Nothing => ThreadId::Unidentified { cpu, since: PIECE_BEGIN },
            Now::Known { thread, .. } => thread,
            Now::Unknown { to, .. } => ThreadId::Unidentified { cpu, since: to },
        }
    }

    /// The thread that left the CPU first, if the piece begins with it.
    pub(crate) fn first_to_leave(&self) -> Option<ThreadId> {
        match self.head {
            Some(Head::Switch { prev, .. }) => Some(prev),
            _ => None,
        }
    }

    /// Switches from one thread to another.
    pub(crate) fn switch(
        &mut self,
        cpu: u32,
        at: Time,
        prev: ThreadId,
        next: NextThread,
        spans: &mut impl Spans,
    ) {
        self.leave(cpu, at, prev, spans);
        self.now = Now::Known { thread: next.thread, priority: next.priority, since: at };
    }

    fn leave(&mut self, cpu: u32, at: Time, prev: ThreadId, spans: &mut impl Spans) {
        match self.now {
            Now::Nothing => self.head = Some(Head::Switch { at, prev }),
            Now::Known { thread, priority, since } if thread == prev => {
                spans.slice(&Slice { cpu, thread, priority, begin: since, end: at });
            }
            // The thread that leaves is not the one that came: a switch is missing that the tracer did not
            // report.
            Now::Known { since, .. } => {
                spans.unknown(&Unknown { cpu, thread: Some(prev), begin: since, end: at });
            }
            Now::Unknown { lost: Some(lost), .. } => lost.emit(cpu, Some(prev), at, spans),
            Now::Unknown { lost: None, .. } => {
                if let Some(Head::Lost { left, .. }) = &mut self.head {
                    *left = Some((at, prev));
                }
            }
        }
    }

    /// Events are missing.
    pub(crate) fn on_loss(&mut self, cpu: u32, from: Time, to: Time, spans: &mut impl Spans) {
        let lost = match self.now {
            Now::Nothing => {
                self.head = Some(Head::Lost { lost: Lost::new(from), left: None });
                None
            }
            Now::Known { thread, priority, since } => {
                let end = from.max(since);
                spans.slice(&Slice { cpu, thread, priority, begin: since, end });
                Some(Lost::new(end))
            }
            Now::Unknown { mut lost, .. } => {
                match (&mut lost, &mut self.head) {
                    (Some(lost), _) | (None, Some(Head::Lost { lost, .. })) => lost.add(from),
                    (None, _) => {}
                }
                lost
            }
        };
        self.now = Now::Unknown { lost, to };
    }

    /// Appends the next piece.
    pub(crate) fn append(&mut self, cpu: u32, right: Self, spans: &mut impl Spans) {
        match right.head {
            None => return,
            Some(Head::Switch { at, prev }) => self.leave(cpu, at, prev, spans),
            Some(Head::Lost { lost, left }) => {
                self.on_loss(cpu, lost.since, lost.since, spans);
                self.on_loss(cpu, lost.again, lost.again, spans);
                if let Some((at, prev)) = left {
                    self.leave(cpu, at, prev, spans);
                }
            }
        }
        self.now = match (self.now, right.now) {
            (Now::Unknown { lost, .. }, Now::Unknown { lost: None, to }) => Now::Unknown { lost, to },
            (_, now) => now,
        };
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        if let Some(Head::Switch { prev, .. } | Head::Lost { left: Some((_, prev)), .. }) = &mut self.head {
            *prev = aliases.of(*prev);
        }
        if let Now::Known { thread, .. } = &mut self.now {
            *thread = aliases.of(*thread);
        }
    }

    /// Emits what is open at either end of the trace. `over`: nothing is known of the CPU from that instant
    /// on.
    pub(crate) fn finish(&self, cpu: u32, range: (Time, Time), over: Option<Time>, spans: &mut impl Spans) {
        let mut last = *self;
        if let Some(over) = over.filter(|&over| over <= range.1) {
            last.on_loss(cpu, over, over, spans);
        }
        last.emit_ends(cpu, range, spans);
    }

    fn emit_ends(&self, cpu: u32, range: (Time, Time), spans: &mut impl Spans) {
        match self.head {
            Some(Head::Switch { at, prev }) => {
                spans.unknown(&Unknown { cpu, thread: Some(prev), begin: range.0.min(at), end: at });
            }
            Some(Head::Lost { lost, left }) => {
                let since = lost.since.max(range.0);
                emit_unknown(cpu, range.0, since, spans);
                let lost = Lost { since, again: lost.again.max(since) };
                lost.emit(cpu, left.map(|(_, prev)| prev), left.map_or(range.1, |(at, _)| at), spans);
            }
            None => emit_unknown(cpu, range.0, range.1, spans),
        }
        match self.now {
            Now::Nothing | Now::Unknown { lost: None, .. } => {}
            Now::Known { thread, priority, since } => {
                spans.slice(&Slice { cpu, thread, priority, begin: since, end: range.1.max(since) });
            }
            Now::Unknown { lost: Some(lost), .. } => lost.emit(cpu, None, range.1, spans),
        }
    }
}

fn emit_unknown(cpu: u32, begin: Time, end: Time, spans: &mut impl Spans) {
    if begin < end {
        spans.unknown(&Unknown { cpu, thread: None, begin, end });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SpanLines;

    /// The spans of a script, cut after each of its steps: `switch 10 1>2`, `lose 20..30`.
    fn check(script: &[&str], range: (i64, i64), expect: &[&str]) {
        let range = (Time(range.0), Time(range.1));
        for cut in 0..=script.len() {
            let mut recorded = SpanLines::default();
            let mut halves = [Timeline::default(), Timeline::default()];
            for (step, text) in script.iter().enumerate() {
                apply(&mut halves[usize::from(step >= cut)], text, &mut recorded);
            }
            let [mut left, right] = halves;
            left.append(0, right, &mut recorded);
            left.finish(0, range, None, &mut recorded);
            assert_eq!(recorded.sorted(), expect, "cut at {cut}");
        }
    }

    fn apply(timeline: &mut Timeline, text: &str, recorded: &mut SpanLines) {
        let time = |text: &str| Time(text.parse().unwrap());
        let (what, rest) = text.split_once(' ').unwrap();
        if what == "lose" {
            let (from, to) = rest.split_once("..").unwrap();
            timeline.on_loss(0, time(from), time(to), recorded);
            return;
        }
        let (at, who) = rest.split_once(' ').unwrap();
        let (prev, next) = who.split_once('>').unwrap();
        let thread = |tid: &str| ThreadId::Thread { tid: tid.parse().unwrap(), born: PIECE_BEGIN };
        let next = NextThread { thread: thread(next), priority: None };
        timeline.switch(0, time(at), thread(prev), next, recorded);
    }

    #[test]
    fn slices_cross_cuts() {
        check(
            &["switch 10 1>2", "switch 15 2>3", "switch 18 3>1"],
            (0, 20),
            &[
                "slice cpu 0 1 18..20",
                "slice cpu 0 2 10..15",
                "slice cpu 0 3 15..18",
                "unknown cpu 0 1 0..10",
            ],
        );
    }

    #[test]
    fn nothing_is_known_while_events_are_lost() {
        check(
            &["switch 10 1>2", "lose 12..14", "lose 15..16", "switch 18 3>1"],
            (0, 20),
            &[
                "slice cpu 0 1 18..20",
                "slice cpu 0 2 10..12",
                "unknown cpu 0 - 12..15",
                "unknown cpu 0 1 0..10",
                "unknown cpu 0 3 15..18",
            ],
        );
        check(&["lose 12..14"], (0, 20), &["unknown cpu 0 - 0..12", "unknown cpu 0 - 12..20"]);
        check(&[], (0, 20), &["unknown cpu 0 - 0..20"]);
    }

    #[test]
    fn a_loss_is_reported_after_what_was_seen_in_it() {
        check(
            &["switch 10 1>2", "switch 15 2>3", "lose 12..18", "lose 13..19", "switch 21 4>1"],
            (10, 30),
            &[
                "slice cpu 0 1 21..30",
                "slice cpu 0 2 10..15",
                "slice cpu 0 3 15..15",
                "unknown cpu 0 1 10..10",
                "unknown cpu 0 4 15..21",
            ],
        );
    }

    #[test]
    fn a_missing_switch_is_noticed() {
        check(
            &["switch 10 1>2", "switch 15 3>1"],
            (10, 15),
            &["slice cpu 0 1 15..15", "unknown cpu 0 1 10..10", "unknown cpu 0 3 10..15"],
        );
    }
}
