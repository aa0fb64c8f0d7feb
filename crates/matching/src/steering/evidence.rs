//! What traces show of who steers a clock: of one stream, and of all streams of a recording together.
//!
//! `super::watch` fills in a [`StreamEvidence`] while a stream is read; [`recordings`] puts those of a host
//! together for `isochrone_sync`.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

use super::daemons::Comm;

/// Calls, or runs, that are less than this apart are one: a daemon asks before and after it sets. More than a
/// change of the rate is lost by it.
const TOGETHER_NS: i64 = 2_000_000;
/// Calls and runs that are kept of a stream. A daemon that wakes up every tenth of a second reaches it in two
/// hours; who does more leaves no constant rates between.
const MAX_SPANS: usize = 1 << 16;
/// Kernel traces of a host that are this far apart are two recordings, and what happened between them is
/// unknown. The chunks of a rotated session are closer.
pub const APART_NS: i64 = 1_000_000_000;

/// What one stream shows, by the raw time of its host.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StreamEvidence {
    /// From the start of its first packet to the end of its last one.
    pub span: Option<Window<RawNs>>,
    /// When something may be missing.
    pub losses: Vec<Window<RawNs>>,
    /// When all is missing of a stream of the host that could have a part of the list of processes: of a CPU
    /// that was not recorded then, or whose packets or files are not there.
    #[serde(default)]
    pub uncovered: Vec<Window<RawNs>>,
    /// Which events could be in it.
    pub traced: Traced,
    /// Whether there was any `sched_switch`.
    pub switches: bool,
    /// First time on a CPU, by index of the daemon.
    pub ran: BTreeMap<usize, RawNs>,
    /// When a daemon that works by calls was on a CPU.
    pub runs: Spans,
    /// Calls that set the clock.
    pub calls: Calls,
    /// The list of processes.
    pub dump: Dump,
}

/// Events that the metadata declare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// `sched_switch`.
    pub switches: bool,
    /// Calls of `adjtimex`.
    pub adjtimex: bool,
    /// Calls of `clock_adjtime`.
    pub clock_adjtime: bool,
}

impl Traced {
    fn or(self, other: Self) -> Self {
        Self {
            switches: self.switches || other.switches,
            adjtimex: self.adjtimex || other.adjtimex,
            clock_adjtime: self.clock_adjtime || other.clock_adjtime,
        }
    }

    /// Which of the two calls a daemon uses depends on its C library.
    fn calls(self) -> bool {
        self.adjtimex && self.clock_adjtime
    }
}

/// Spans of time in their order, those close together joined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spans {
    /// Sorted, none close to the next.
    pub spans: Vec<Window<RawNs>>,
    /// Whether there were too many to keep.
    pub overflow: bool,
}

impl Spans {
    /// Adds one that begins no earlier than those that are there.
    pub(super) fn add(&mut self, span: Window<RawNs>) {
        let full = self.spans.len() >= MAX_SPANS;
        match self.spans.last_mut() {
            Some(last) if span.start.saturating_since(last.end) < TOGETHER_NS => {
                last.end = last.end.max(span.end);
            }
            _ if full => self.overflow = true,
            _ => self.spans.push(span),
        }
    }

    /// Adds those of another stream.
    fn join(&mut self, other: Self) {
        let mut all = std::mem::take(&mut self.spans);
        all.extend(other.spans);
        all.sort_unstable_by_key(|span| (span.start, span.end));
        self.overflow |= other.overflow;
        for span in all {
            self.add(span);
        }
    }
}

/// Calls that set the clock, or ask how it stands: what they were called with is not recorded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Calls {
    /// Entered and left on one CPU.
    pub whole: Vec<Call>,
    /// Entered, and left on another CPU or never.
    pub entered: Vec<Half>,
    /// Left, and entered on another CPU or before the trace.
    pub left: Vec<Half>,
    /// Whether there were too many to keep.
    pub overflow: bool,
}

/// A call, or several of one program that are close together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Call {
    /// Start.
    pub start: RawNs,
    /// End.
    pub end: RawNs,
    /// The thread that called; `None` where it is unknown.
    pub caller: Option<Comm>,
}

/// One end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Half {
    /// When.
    pub at: RawNs,
    /// The thread that called; `None` where it is unknown.
    pub caller: Option<Comm>,
    /// Its number, where it was recorded.
    pub tid: Option<i64>,
    /// Whether the call can have changed the clock, as far as this end shows.
    pub counts: bool,
}

impl Half {
    /// Whether two ends can be of one call.
    pub(super) fn fits(&self, other: &Self) -> bool {
        match (self.tid.zip(other.tid), self.caller.zip(other.caller)) {
            (Some((a, b)), _) => a == b,
            (None, Some((a, b))) => a == b,
            (None, None) => true,
        }
    }
}

impl Calls {
    pub(super) fn add(&mut self, call: Call) {
        let full = self.whole.len() >= MAX_SPANS;
        match self.whole.last_mut() {
            Some(last)
                if last.caller == call.caller && call.start.saturating_since(last.end) < TOGETHER_NS =>
            {
                last.end = last.end.max(call.end);
            }
            _ if full => self.overflow = true,
            _ => self.whole.push(call),
        }
    }

    /// Adds those of another stream.
    fn join(&mut self, other: Self) {
        let mut all = std::mem::take(&mut self.whole);
        all.extend(other.whole);
        all.sort_unstable();
        self.overflow |= other.overflow;
        for call in all {
            self.add(call);
        }
        for (of, more) in [(&mut self.entered, other.entered), (&mut self.left, other.left)] {
            for half in more {
                Self::half(of, &mut self.overflow, half);
            }
        }
    }

    /// Keeps one end of a call whose other end is not in this stream.
    pub(super) fn half(of: &mut Vec<Half>, overflow: &mut bool, half: Half) {
        match of.len() {
            MAX_SPANS.. => *overflow = true,
            _ => of.push(half),
        }
    }
}

/// The tracer's list of processes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Dump {
    /// Its begin and its end, as the tracer says; those of later lists, too.
    pub begins: Vec<RawNs>,
    /// As `begins`.
    pub ends: Vec<RawNs>,
    /// When each name was first in it.
    pub names: BTreeMap<Comm, RawNs>,
    /// When thread 1 was in it, which every list begins with.
    pub init: Option<RawNs>,
    /// The last entry.
    pub last: Option<RawNs>,
}

/// Lists of processes that are kept: later ones show nothing of the start.
pub(super) const MAX_DUMPS: usize = 16;

impl Dump {
    fn join(&mut self, other: Self) {
        self.begins.extend(other.begins);
        self.ends.extend(other.ends);
        for (name, at) in other.names {
            let first = self.names.entry(name).or_insert(at);
            *first = at.min(*first);
        }
        self.init = self.init.into_iter().chain(other.init).min();
        self.last = self.last.max(other.last);
    }

    /// From when to when the first list was written, where it was written to its end.
    fn complete(&self, span: Window<RawNs>, losses: &[Window<RawNs>]) -> List {
        if self.names.is_empty() {
            return List::None;
        }
        let begin = self.begins.iter().min().copied();
        let end = begin.and_then(|begin| self.ends.iter().filter(|&&end| end >= begin).min().copied());
        let (begin, end) = match (begin, end, self.init, self.last) {
            (Some(begin), Some(end), ..) => (begin, end),
            // No marks: neither were they traced. A list begins with thread 1, and this one is not what the
            // trace ends with.
            (None, None, Some(init), Some(last))
                if self.ends.is_empty() && last < span.end.saturating_sub(APART_NS) =>
            {
                (init, last)
            }
            _ => return List::Cut,
        };
        let lost = losses.iter().any(|loss| loss.start <= end && begin <= loss.end);
        if lost { List::Lossy } else { List::Complete { end } }
    }
}

/// What is known of the processes at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum List {
    /// Nothing.
    #[default]
    None,
    /// Its begin or its end is missing.
    Cut,
    /// Events were lost while it was written, or a CPU was not recorded then.
    Lossy,
    /// All of them, when this was written.
    Complete {
        /// When the list ended.
        end: RawNs,
    },
}

/// Adds what a later kernel trace of a host shows. Where it follows the last one without a gap and has the
/// same events, both become one, so that the chunks of a rotated session take as much room as one trace.
pub fn add_trace(traces: &mut Vec<Vec<StreamEvidence>>, streams: Vec<StreamEvidence>) {
    let Some(later) = joined_streams(streams) else { return };
    let last = traces.last_mut().and_then(|streams| streams.first_mut());
    match (last, later.span) {
        (Some(last), Some(span)) if last.traced == later.traced && last.is_followed_by(span) => {
            last.join(later);
        }
        _ => traces.push(vec![later]),
    }
    if traces.len() > MAX_TRACES {
        traces.remove(0);
    }
}

/// Kernel traces of a host with gaps between them that are remembered: before the first of them nothing is
/// known.
const MAX_TRACES: usize = 64;

/// The streams of a trace as one.
fn joined_streams(streams: Vec<StreamEvidence>) -> Option<StreamEvidence> {
    streams.into_iter().reduce(|mut all, stream| {
        all.traced = all.traced.or(stream.traced);
        all.join(stream);
        all
    })
}

impl StreamEvidence {
    fn is_followed_by(&self, span: Window<RawNs>) -> bool {
        self.span.is_some_and(|own| span.start.saturating_since(own.end) <= APART_NS)
    }

    /// Adds another stream of the same trace, or of the chunk after it.
    fn join(&mut self, other: Self) {
        self.span = self.span.into_iter().chain(other.span).reduce(hull);
        self.losses.extend(other.losses);
        if self.losses.len() > MAX_SPANS {
            // Where there are that many, something may be missing all the time.
            self.losses = self.losses.iter().copied().reduce(hull).into_iter().collect();
        }
        self.uncovered.extend(other.uncovered);
        if self.uncovered.len() > MAX_SPANS {
            self.uncovered = self.uncovered.iter().copied().reduce(hull).into_iter().collect();
        }
        self.switches |= other.switches;
        for (daemon, at) in other.ran {
            let first = self.ran.entry(daemon).or_insert(at);
            *first = at.min(*first);
        }
        self.runs.join(other.runs);
        self.calls.join(other.calls);
        self.dump.join(other.dump);
        self.dump.begins.truncate(MAX_DUMPS);
        self.dump.ends.truncate(MAX_DUMPS);
    }
}

/// Kernel traces of a host without a gap between them.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// From its first packet to its last one.
    pub span: Option<Window<RawNs>>,
    /// Its first list of processes.
    pub list: List,
    /// When each name was first in a list.
    pub names: BTreeMap<Comm, RawNs>,
    /// Whether `sched_switch` was traced all the time.
    pub switches: bool,
    /// Whether calls of `adjtimex` and `clock_adjtime` were traced all the time.
    pub calls_traced: bool,
    /// By their begins.
    pub losses: Vec<Window<RawNs>>,
    /// First time on a CPU, by index of the daemon.
    pub ran: BTreeMap<usize, RawNs>,
    /// When a daemon that works by calls was on a CPU; `None` where there are too many.
    pub runs: Option<Vec<Window<RawNs>>>,
    /// By their begins; `None` where there are too many.
    pub calls: Option<Vec<Call>>,
}

/// A trace: from its first packet to its last one, and what its streams show.
type SpannedTrace = (Window<RawNs>, Vec<StreamEvidence>);

/// The recordings of a host, by time, from what the streams of each of its kernel traces show.
pub fn recordings(traces: Vec<Vec<StreamEvidence>>) -> Vec<Recording> {
    let around = |streams: &[StreamEvidence]| streams.iter().filter_map(|stream| stream.span).reduce(hull);
    let mut spanned: Vec<SpannedTrace> =
        traces.into_iter().filter_map(|streams| Some((around(&streams)?, streams))).collect();
    spanned.sort_by_key(|(span, _)| (span.start, span.end));
    let mut groups: Vec<(Window<RawNs>, Vec<SpannedTrace>)> = Vec::new();
    for (span, streams) in spanned {
        match groups.last_mut() {
            Some((whole, group)) if span.start.saturating_since(whole.end) <= APART_NS => {
                *whole = hull(*whole, span);
                group.push((span, streams));
            }
            _ => groups.push((span, vec![(span, streams)])),
        }
    }
    groups.into_iter().map(|(span, traces)| joined(span, traces)).collect()
}

fn joined(span: Window<RawNs>, traces: Vec<SpannedTrace>) -> Recording {
    let mut recording = Recording { span: Some(span), ..Recording::default() };
    let traced =
        |streams: &[StreamEvidence]| streams.iter().fold(Traced::default(), |all, s| all.or(s.traced));
    let over = |has: fn(Traced) -> bool| {
        let with = traces.iter().filter(|(_, streams)| has(traced(streams))).map(|&(span, _)| span);
        covers(with, span)
    };
    let seen = traces.iter().flat_map(|(_, streams)| streams).any(|stream| stream.switches);
    recording.switches = seen && over(|traced| traced.switches);
    recording.calls_traced = over(Traced::calls);
    let (mut dump, mut calls, mut runs) = (Dump::default(), Calls::default(), Spans::default());
    let mut uncovered = Vec::new();
    for stream in traces.into_iter().flat_map(|(_, streams)| streams) {
        recording.losses.extend(stream.losses);
        uncovered.extend(stream.uncovered);
        for (daemon, at) in stream.ran {
            let first = recording.ran.entry(daemon).or_insert(at);
            *first = at.min(*first);
        }
        runs.overflow |= stream.runs.overflow;
        runs.spans.extend(stream.runs.spans);
        calls.overflow |= stream.calls.overflow;
        calls.whole.extend(stream.calls.whole);
        calls.entered.extend(stream.calls.entered);
        calls.left.extend(stream.calls.left);
        dump.join(stream.dump);
    }
    recording.losses.sort_unstable_by_key(|loss| (loss.start, loss.end));
    uncovered.extend(&recording.losses);
    recording.list = dump.complete(span, &uncovered);
    recording.names = dump.names;
    runs.spans.sort_unstable_by_key(|run| (run.start, run.end));
    recording.runs = (!runs.overflow).then_some(runs.spans);
    recording.calls = (!calls.overflow).then(|| paired(calls, span));
    recording
}

/// Calls with both ends, by time: a thread may be moved to another CPU within one. A call without one of its
/// ends lasts from the start, or to the end, of the recording.
fn paired(calls: Calls, span: Window<RawNs>) -> Vec<Call> {
    let Calls { mut whole, mut entered, mut left, .. } = calls;
    entered.sort_unstable();
    left.sort_unstable();
    let mut used = BTreeSet::new();
    for entry in entered {
        let first = left.partition_point(|exit| exit.at < entry.at);
        let exit = (first..left.len()).find(|index| !used.contains(index) && left[*index].fits(&entry));
        used.extend(exit);
        let exit = exit.map(|index| left[index]);
        if entry.counts && exit.is_none_or(|exit| exit.counts) {
            let end = exit.map_or(span.end, |exit| exit.at);
            let caller = entry.caller.or(exit.and_then(|exit| exit.caller));
            whole.push(Call { start: entry.at, end, caller });
        }
    }
    let lone = left.iter().enumerate().filter(|(index, exit)| exit.counts && !used.contains(index));
    whole.extend(lone.map(|(_, exit)| Call { start: span.start, end: exit.at, caller: exit.caller }));
    whole.sort_unstable();
    whole
}

/// Whether spans, by their begins, leave no gap in another one.
fn covers(spans: impl Iterator<Item = Window<RawNs>>, whole: Window<RawNs>) -> bool {
    let mut to = None;
    for span in spans {
        if span.start.saturating_since(to.unwrap_or(whole.start)) > APART_NS {
            return false;
        }
        to = to.max(Some(span.end));
    }
    to.is_some_and(|to| whole.end.saturating_since(to) <= APART_NS)
}

fn hull(a: Window<RawNs>, b: Window<RawNs>) -> Window<RawNs> {
    Window::new(a.start.min(b.start), a.end.max(b.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: i64, end: i64) -> Window<RawNs> {
        Window::new(RawNs(start), RawNs(end))
    }

    #[test]
    fn spans_cover_what_they_leave_no_gap_in() {
        let check = |spans: &[(i64, i64)], expect| {
            let spans = spans.iter().map(|&(start, end)| span(start * APART_NS, end * APART_NS));
            assert_eq!(covers(spans, span(0, 100 * APART_NS)), expect);
        };
        check(&[], false);
        check(&[(0, 100)], true);
        check(&[(1, 99)], true);
        check(&[(2, 100)], false);
        check(&[(0, 98)], false);
        check(&[(0, 60), (10, 20), (61, 100)], true);
        check(&[(0, 60), (62, 100)], false);
    }

    #[test]
    fn traces_far_apart_are_two_recordings() {
        let stream = |start, end| {
            let span = Some(span(start * APART_NS, end * APART_NS));
            vec![StreamEvidence { span, ..StreamEvidence::default() }]
        };
        let spans = |traces: Vec<Vec<StreamEvidence>>| -> Vec<(i64, i64)> {
            let found = recordings(traces).into_iter().filter_map(|recording| recording.span);
            found.map(|span| (span.start.ns() / APART_NS, span.end.ns() / APART_NS)).collect()
        };
        assert_eq!(
            spans(vec![stream(20, 30), stream(0, 10), stream(11, 15), Vec::new()]),
            [(0, 15), (20, 30)]
        );
    }

    #[test]
    fn ends_of_calls_find_each_other() {
        let half = |at, tid| Half { at: RawNs(at), caller: None, tid: Some(tid), counts: true };
        let calls = Calls {
            entered: vec![half(10, 1), half(11, 2), half(90, 3)],
            left: vec![half(5, 4), half(20, 2), half(21, 1)],
            ..Calls::default()
        };
        let found = paired(calls, span(0, 100));
        let found: Vec<_> = found.into_iter().map(|call| (call.start.ns(), call.end.ns())).collect();
        assert_eq!(found, [(0, 5), (10, 21), (11, 20), (90, 100)]);
    }

    #[test]
    fn spans_close_together_are_one() {
        let mut spans = Spans::default();
        for one in [span(0, 5), span(1_000_000, 1_000_001), span(9_000_000, 9_000_001)] {
            spans.add(one);
        }
        assert_eq!(spans.spans, [span(0, 1_000_001), span(9_000_000, 9_000_001)]);
        (0..2 * MAX_SPANS as i64).for_each(|n| spans.add(span(n * 10_000_000, n * 10_000_000)));
        assert!(spans.overflow && spans.spans.len() <= MAX_SPANS);
    }
}
