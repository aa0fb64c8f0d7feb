//! From what the traces of a host show to what is assumed of its clock: the table of [`super`].

use isochrone_clock::{MAX_CHANGES, STEERED_PPM, Steering};

use super::verdict::{MissingEvidence, Reasoned, Untraced, Verdict, rank};
use isochrone_matching::steering::daemons::{self, Comm, DAEMONS, Means};
use isochrone_matching::steering::evidence::{self, APART_NS, List, Recording, StreamEvidence};
use isochrone_time::{RawNs, Window};

/// Where what is known of a clock comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Traces.
    Traces,
    /// A capture of packets.
    Capture,
    /// A list of messages.
    Messages,
}

const STEERED: Steering = Steering::Steered { ppm: STEERED_PPM };

/// What is assumed of a clock that was seen in this span, by what the streams of each kernel trace of its
/// host show.
pub(crate) fn decide(origin: Origin, traces: Vec<Vec<StreamEvidence>>, span: Window<RawNs>) -> Verdict {
    let nothing = match origin {
        Origin::Capture => "a capture does not tell who steers its clock",
        Origin::Messages => "a list of messages does not tell who steers its clock",
        Origin::Traces => "it has no kernel trace, which could tell who steers its clock",
    };
    let recordings = evidence::recordings(traces);
    if recordings.is_empty() {
        let lack = Untraced { list: true, switches: true, calls: true }.lack();
        let unknown = Verdict::always(Steering::Unknown, nothing.to_owned());
        return Verdict { lack: lack.filter(|_| origin == Origin::Traces), ..unknown };
    }
    let mut verdict = Verdict { regimes: Vec::new(), changes: Vec::new(), lack: None };
    let mut known = span.start;
    for recording in &recordings {
        let Some(own) = recording.span else { continue };
        if own.start.saturating_since(known) > APART_NS {
            verdict.regimes.push(untraced(known));
        }
        of_recording(recording, own, &mut verdict);
        known = own.end;
    }
    if span.end.saturating_since(known) > APART_NS {
        verdict.regimes.push(untraced(known));
    }
    // Where one ends as the next begins, the next one holds.
    verdict.regimes.reverse();
    verdict.regimes.sort_by_key(|regime| regime.from);
    verdict.regimes.dedup_by_key(|regime| regime.from);
    if verdict.changes.len() > MAX_CHANGES {
        for regime in verdict.regimes.iter_mut().filter(|regime| regime.steering == Steering::Stepwise) {
            regime.steering = STEERED;
            regime.why += ", but that is too often to tell them apart";
        }
        verdict.changes.clear();
    }
    verdict
}

fn untraced(from: RawNs) -> Reasoned {
    Reasoned { from, steering: Steering::Unknown, why: "no kernel trace is of this time".to_owned() }
}

fn of_recording(recording: &Recording, span: Window<RawNs>, verdict: &mut Verdict) {
    let judged = Judged::new(recording, span);
    let (base, lack) = judged.without_daemon();
    let mut found = judged.daemons();
    found.extend(judged.strangers());
    found.sort_by(|a, b| (a.from, &a.why).cmp(&(b.from, &b.why)));
    if found.first().is_none_or(|first| first.from > span.start) {
        verdict.regimes.push(Reasoned { from: span.start, ..base });
        verdict.lack = verdict.lack.or(lack);
    }
    let mut weakest: Option<Reasoned> = None;
    for next in found {
        if weakest.as_ref().is_none_or(|known| rank(known.steering) < rank(next.steering)) {
            // Of what begins at one time, the weakest is kept, which comes last.
            verdict.regimes.pop_if(|known| known.from == next.from);
            verdict.regimes.push(next.clone());
            weakest = Some(next);
        }
    }
    if verdict.regimes.iter().any(|regime| regime.steering == Steering::Stepwise) {
        verdict.changes.extend(judged.changes());
        // Runs are more than calls.
        let missing = Untraced { calls: !recording.calls_traced, ..Untraced::default() };
        verdict.lack = verdict.lack.or(missing.lack());
    }
    if judged.has_daemon(Means::Kernel) {
        verdict.lack = verdict.lack.or(Some(MissingEvidence::Constancy));
    }
    if let Some(Reasoned { steering: STEERED, .. }) = weakest
        && judged.has_daemon(Means::Calls)
        && !judged.has_daemon(Means::Kernel)
    {
        let missing = Untraced { calls: !recording.calls_traced, switches: !recording.switches, list: false };
        verdict.lack = verdict.lack.or(missing.lack());
    }
}

/// A recording that is judged.
struct Judged<'r> {
    recording: &'r Recording,
    span: Window<RawNs>,
    present: Vec<Presence>,
}

/// How a daemon is known to be there.
struct Presence {
    /// Index of the daemon.
    daemon: usize,
    from: RawNs,
    how: String,
}

impl<'r> Judged<'r> {
    fn new(recording: &'r Recording, span: Window<RawNs>) -> Self {
        let mut judged = Self { recording, span, present: Vec::new() };
        judged.present = (0..DAEMONS.len()).filter_map(|daemon| judged.presence(daemon)).collect();
        judged
    }

    /// Whether the calls of the host are all known.
    fn knows_calls(&self) -> bool {
        self.recording.calls_traced && self.recording.losses.is_empty() && self.recording.calls.is_some()
    }

    /// Whether it is known when the daemons ran.
    fn knows_runs(&self) -> bool {
        self.recording.switches && self.recording.losses.is_empty() && self.recording.runs.is_some()
    }

    /// What is assumed while no daemon is there, and what is missing for more.
    fn without_daemon(&self) -> (Reasoned, Option<MissingEvidence>) {
        let Recording { list, switches, calls_traced, .. } = *self.recording;
        let lossless = self.recording.losses.is_empty();
        let missing = Untraced { list: list == List::None, switches: !switches, calls: !calls_traced };
        let (steering, why) = match list {
            List::None if switches => (Steering::Unknown, "no list of processes is traced"),
            List::None => {
                (Steering::Unknown, "neither its processes nor its calls of clock_adjtime are traced")
            }
            List::Cut => (Steering::Unknown, "a part of the list of processes is missing"),
            List::Lossy => (
                Steering::Unknown,
                "events were lost while the list of processes was written, or a CPU was not recorded then",
            ),
            List::Complete { .. } if switches => {
                (Steering::Free, "no time daemon is in the list of processes or ever ran")
            }
            List::Complete { .. } if calls_traced && lossless => (
                Steering::Free,
                "no time daemon is in the list of processes, and nothing called clock_adjtime",
            ),
            List::Complete { .. } if calls_traced => {
                (Steering::Unknown, "events were lost that may have been calls of clock_adjtime")
            }
            List::Complete { .. } => (
                Steering::Unknown,
                "neither sched_switch nor clock_adjtime tells who came after the list of processes",
            ),
        };
        let base = Reasoned { from: self.span.start, steering, why: why.to_owned() };
        (base, missing.lack().filter(|_| steering == Steering::Unknown))
    }

    /// Since when a program can have been there that was not in the first list and was seen at `first`.
    fn since(&self, first: RawNs) -> RawNs {
        let List::Complete { end } = self.recording.list else { return self.span.start };
        if first <= end {
            return self.span.start;
        }
        let missed = self.recording.losses.iter().find(|loss| loss.end > end && loss.start < first);
        missed.map_or(first, |loss| loss.start.max(self.span.start))
    }

    /// Whether the first list has a program.
    fn first_list_has(&self, name: &Comm) -> bool {
        let listed = self.recording.names.get(name);
        listed.is_some_and(|&at| match self.recording.list {
            List::Complete { end } => at <= end,
            _ => true,
        })
    }

    fn presence(&self, daemon: usize) -> Option<Presence> {
        let comm = DAEMONS[daemon].comm;
        let name = daemons::named(comm.as_bytes());
        if self.first_list_has(&name) {
            let how = format!("{comm} is in the list of processes");
            return Some(Presence { daemon, from: self.span.start, how });
        }
        let called = self.calls().find(|(caller, _)| *caller == Some(name)).map(|(_, span)| span.start);
        let ran = self.recording.ran.get(&daemon).copied();
        let seen = match (ran.into_iter().chain(called).min(), self.recording.names.get(&name)) {
            (Some(seen), Some(&listed)) if seen <= listed => seen,
            // In a later list and not seen before: since when is unknown.
            (_, Some(_)) => self.span.start,
            (seen, None) => seen?,
        };
        let from = self.since(seen);
        let how = if from > self.span.start { "was started" } else { "ran" };
        Some(Presence { daemon, from, how: format!("{comm} {how}") })
    }

    fn has_daemon(&self, means: Means) -> bool {
        self.present.iter().any(|present| DAEMONS[present.daemon].means == means)
    }

    /// What each daemon makes of the clock.
    fn daemons(&self) -> Vec<Reasoned> {
        let reasoned = self.present.iter().map(|&Presence { daemon, from, ref how }| {
            let (steering, what) = match DAEMONS[daemon].means {
                Means::Kernel => (STEERED, "it may have the kernel change the rate at any time"),
                Means::Calls if self.knows_calls() => (
                    Steering::Stepwise,
                    "it changes the rate only by its calls of clock_adjtime, which are traced",
                ),
                Means::Calls if self.knows_runs() => {
                    (Steering::Stepwise, "it changes the rate only while it runs, which sched_switch shows")
                }
                Means::Calls if !self.recording.losses.is_empty() => {
                    (STEERED, "events were lost that may have been its calls")
                }
                Means::Calls => (STEERED, "its calls of clock_adjtime are not traced"),
            };
            Reasoned { from, steering, why: format!("{how}; {what}") }
        });
        reasoned.collect()
    }

    /// Callers and times of all calls that may have set the clock.
    fn calls(&self) -> impl Iterator<Item = (Option<Comm>, Window<RawNs>)> {
        let calls = self.recording.calls.iter().flatten();
        let calls = calls.map(|call| (call.caller, Window::new(call.start, call.end)));
        calls.filter(|(caller, _)| caller.is_none_or(|name| !daemons::is_reader(&name)))
    }

    /// What calls by programs that are no known daemons make of the clock. Of a daemon there are all calls
    /// whose caller is not known.
    fn strangers(&self) -> Vec<Reasoned> {
        let begin = self.span.start;
        let mut found = Vec::new();
        if self.recording.calls.is_none() {
            let why = "clock_adjtime was called too often to tell by whom".to_owned();
            found.push(Reasoned { from: begin, steering: STEERED, why });
        }
        let has_daemon = self.has_daemon(Means::Calls);
        let mut known: Vec<Comm> = Vec::new();
        // By time: the first call of each.
        for (caller, span) in self.calls() {
            let (from, who) = match caller {
                None if has_daemon => continue,
                None => (begin, "an unidentified thread".to_owned()),
                Some(name) if daemons::find(&name).is_some() || known.contains(&name) => continue,
                Some(name) => {
                    known.push(name);
                    let from = if self.first_list_has(&name) { begin } else { self.since(span.start) };
                    (from, String::from_utf8_lossy(daemons::shown(&name)).into_owned())
                }
            };
            let why = format!("{who}, which is not a known time daemon, called clock_adjtime");
            found.push(Reasoned { from, steering: STEERED, why });
            if caller.is_none() {
                break;
            }
        }
        found
    }

    /// When the rate may have been changed by daemons that work by calls.
    fn changes(&self) -> Vec<Window<RawNs>> {
        if self.knows_calls() {
            return self.calls().map(|(_, span)| span).collect();
        }
        self.recording.runs.clone().unwrap_or_default()
    }
}

/// For a clock whose rate is declared to change by calls alone: all calls that its traces show, else all runs
/// of daemons. `None` where they show neither.
pub(super) fn declared_changes(traces: Vec<Vec<StreamEvidence>>) -> Option<Vec<Window<RawNs>>> {
    let mut changes = None;
    for recording in evidence::recordings(traces) {
        let Some(span) = recording.span else { continue };
        let judged = Judged::new(&recording, span);
        let found = match recording.calls_traced {
            true => judged.calls().map(|(_, span)| span).collect(),
            false if recording.ran.keys().any(|&daemon| DAEMONS[daemon].means == Means::Calls) => {
                recording.runs.clone()?
            }
            false => continue,
        };
        changes.get_or_insert_with(Vec::new).extend(found);
    }
    changes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use isochrone_matching::steering::evidence::Call;

    const S: i64 = 1_000_000_000;
    const FREE: Steering = Steering::Free;
    const STEPWISE: Steering = Steering::Stepwise;

    fn window(start: i64, end: i64) -> Window<RawNs> {
        Window::new(RawNs(start), RawNs(end))
    }

    /// A recording of 100 s with a list of processes in its first second, in which all that may be is traced.
    fn recording(listed: &[&str]) -> Recording {
        let names = listed.iter().map(|name| (daemons::named(name.as_bytes()), RawNs(S / 2)));
        Recording {
            span: Some(window(0, 100 * S)),
            list: List::Complete { end: RawNs(S) },
            names: names.collect(),
            switches: true,
            calls_traced: true,
            runs: Some(Vec::new()),
            calls: Some(Vec::new()),
            ..Recording::default()
        }
    }

    fn call(at: i64, caller: Option<&str>) -> Call {
        let caller = caller.map(|name| daemons::named(name.as_bytes()));
        Call { start: RawNs(at * S), end: RawNs(at * S + 9), caller }
    }

    fn ran(daemon: &str, at: i64) -> BTreeMap<usize, RawNs> {
        [(daemons::find(&daemons::named(daemon.as_bytes())).unwrap(), RawNs(at * S))].into()
    }

    fn check(recording: &Recording, expect: &[(i64, Steering)], changes: usize) {
        let mut verdict = Verdict { regimes: Vec::new(), changes: Vec::new(), lack: None };
        of_recording(recording, recording.span.unwrap(), &mut verdict);
        let found: Vec<_> =
            verdict.regimes.iter().map(|regime| (regime.from.ns() / S, regime.steering)).collect();
        assert_eq!((&found[..], verdict.changes.len()), (expect, changes), "{verdict:?}");
    }

    #[test]
    fn the_evidence_decides() {
        let unknown = [(0, Steering::Unknown)];
        let all = recording(&["systemd", "sshd"]);
        check(&all, &[(0, FREE)], 0);
        check(&Recording { switches: false, ..all.clone() }, &[(0, FREE)], 0);
        check(&Recording { calls_traced: false, ..all.clone() }, &[(0, FREE)], 0);
        check(&Recording { switches: false, calls_traced: false, ..all.clone() }, &unknown, 0);
        for list in [List::None, List::Cut, List::Lossy] {
            check(&Recording { list, ..all.clone() }, &unknown, 0);
        }
        let losses = vec![window(50 * S, 51 * S)];
        check(&Recording { losses: losses.clone(), ..all.clone() }, &[(0, FREE)], 0);
        check(&Recording { losses, switches: false, ..all }, &unknown, 0);
    }

    #[test]
    fn the_weakest_counts_from_when_it_is_there() {
        let calls = Some(vec![call(10, Some("chronyd")), call(20, Some("chronyd"))]);
        let chronyd = Recording { calls: calls.clone(), ..recording(&["chronyd"]) };
        check(&chronyd, &[(0, STEPWISE)], 2);
        check(&Recording { ran: ran("ntpd", 30), ..chronyd.clone() }, &[(0, STEPWISE), (30, STEERED)], 2);
        check(&Recording { ran: ran("ntpd", 0), ..chronyd.clone() }, &[(0, STEERED)], 0);
        // Not in the first list.
        let later = Recording { calls, ran: ran("chronyd", 10), ..recording(&[]) };
        check(&later, &[(0, FREE), (10, STEPWISE)], 2);
        let listed_later = [(daemons::named(b"chronyd"), RawNs(15 * S))].into();
        check(&Recording { names: listed_later, ..later.clone() }, &[(0, FREE), (10, STEPWISE)], 2);
        let listed_before = [(daemons::named(b"chronyd"), RawNs(5 * S))].into();
        check(&Recording { names: listed_before, ..later.clone() }, &[(0, STEPWISE)], 2);
        check(&Recording { list: List::None, ..later.clone() }, &[(0, STEPWISE)], 2);
        let losses = vec![window(4 * S, 5 * S)];
        check(&Recording { losses, ..later }, &[(0, FREE), (4, STEERED)], 0);
        // Too many calls to keep are no calls at known times.
        let runs = Some(vec![window(3, 4)]);
        check(&Recording { calls_traced: false, runs, ..chronyd.clone() }, &[(0, STEPWISE)], 1);
        check(&Recording { calls_traced: false, runs: None, ..chronyd.clone() }, &[(0, STEERED)], 0);
        check(&Recording { calls: None, ..chronyd }, &[(0, STEERED)], 0);
    }

    #[test]
    fn strangers_steer_at_any_time() {
        let with =
            |listed: &[&str], calls: &[Call]| Recording { calls: Some(calls.to_vec()), ..recording(listed) };
        check(&with(&[], &[call(7, Some("tune")), call(9, Some("tune"))]), &[(0, FREE), (7, STEERED)], 0);
        check(&with(&["tune"], &[call(7, Some("tune"))]), &[(0, STEERED)], 0);
        check(&with(&["chronyc"], &[call(7, Some("chronyc"))]), &[(0, FREE)], 0);
        check(&with(&[], &[call(7, None)]), &[(0, STEERED)], 0);
        check(&with(&["chronyd"], &[call(7, None)]), &[(0, STEPWISE)], 1);
        check(&with(&["chronyd"], &[call(7, Some("tune"))]), &[(0, STEPWISE), (7, STEERED)], 1);
    }

    #[test]
    fn what_no_kernel_trace_is_of_is_unknown() {
        let stream = |start: i64, end: i64| {
            vec![StreamEvidence { span: Some(window(start * S, end * S)), ..StreamEvidence::default() }]
        };
        let span = window(0, 100 * S);
        let found = |traces| {
            let regimes = decide(Origin::Traces, traces, span).regimes;
            let shown =
                regimes.into_iter().map(|regime| (regime.from.ns() / S, regime.why.contains("of this time")));
            shown.collect::<Vec<_>>()
        };
        assert_eq!(found(vec![stream(0, 100)]), [(0, false)]);
        let expect = [(0, true), (10, false), (20, true), (50, false), (90, true)];
        assert_eq!(found(vec![stream(50, 90), stream(10, 20)]), expect);
        let of = |origin| decide(origin, Vec::new(), span);
        assert!(of(Origin::Capture).lack.is_none() && of(Origin::Traces).lack.is_some());
        assert!(of(Origin::Messages).regimes[0].why.starts_with("a list of messages"));
    }
}
