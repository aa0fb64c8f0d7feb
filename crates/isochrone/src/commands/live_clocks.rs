//! `isochrone live` of several hosts: they are synchronized by what has been received, again and again, on a
//! thread of its own.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use isochrone_corrections::Clocks;
use isochrone_ctf::live::LiveTrace;
use isochrone_experiment::{LiveEvents, Revision, synchronize_growing};
use isochrone_sync::{Outcome, SyncError};

use super::host_selection::{note_synchronized, warn_untied};
use crate::output::{Console, note, warn_partial, warning};
use crate::render::figures;
use crate::render::plain::{Plain, plain};

/// Minimum time between the starts of two synchronizations.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// What hosts that are not tied mean for what is shown.
const UNTIED: &str = ": the order of their events is meaningless";

/// The corrections of sessions that are followed.
pub(super) struct LiveClocks {
    requests: Sender<Request>,
    answers: Receiver<Answer>,
    /// Number of hosts that are to be tied.
    hosts: usize,
    /// Maximum time that is waited for messages that tie them.
    wait: Duration,
    /// When the first corrections were there.
    since: Option<Instant>,
    is_busy: bool,
    next: Instant,
    /// Whether something has been received since the last request.
    has_new: bool,
    /// Corrections that do not tie all hosts.
    held: Option<Answer>,
    /// The reference of the first corrections, which it stays.
    reference: Option<String>,
    is_applied: bool,
    /// The largest revision of each host, ns.
    revised: BTreeMap<String, u128>,
}

/// Traces as they are, and the reference if one has been chosen.
struct Request {
    traces: Vec<LiveTrace>,
    reference: Option<String>,
}

/// What came of a request.
struct Answer {
    traces: Vec<LiveTrace>,
    outcome: Result<Outcome, SyncError>,
    took: Duration,
}

impl LiveClocks {
    /// Of a number of hosts; `wait`: how long hosts that no messages tie are waited for.
    pub(super) fn new(hosts: usize, wait: Duration) -> Self {
        let (requests, requested) = channel::<Request>();
        let (to, answers) = channel();
        thread::spawn(move || {
            for Request { traces, reference } in requested {
                let start = Instant::now();
                let outcome = synchronize_growing(&traces, reference);
                if to.send(Answer { traces, outcome, took: start.elapsed() }).is_err() {
                    return;
                }
            }
        });
        Self {
            requests,
            answers,
            hosts,
            wait,
            since: None,
            is_busy: false,
            next: Instant::now(),
            has_new: false,
            held: None,
            reference: None,
            is_applied: false,
            revised: BTreeMap::new(),
        }
    }

    /// Notes that bytes were received.
    pub(super) fn add_received(&mut self, bytes: u64) {
        self.has_new |= bytes > 0;
    }

    /// Applies corrections that are there, and requests others where something has been received since.
    /// `is_known`: whether these are all traces that there can be now.
    pub(super) fn advance(
        &mut self,
        traces: &[LiveTrace],
        is_known: bool,
        events: &mut LiveEvents,
        console: &Console,
    ) {
        if let Ok(answer) = self.answers.try_recv() {
            self.is_busy = false;
            self.next = Instant::now() + MIN_INTERVAL.max(answer.took);
            self.take(answer, events, console);
        }
        if self.has_waited()
            && let Some(answer) = self.held.take()
        {
            self.apply(answer, events, console);
        }
        if is_known && self.has_new && !self.is_busy && Instant::now() >= self.next {
            self.request(traces);
        }
    }

    /// Waits for the corrections by all that has been received.
    pub(super) fn finish(&mut self, traces: &[LiveTrace], events: &mut LiveEvents, console: &Console) {
        if self.is_busy {
            let _ = self.answers.recv();
        }
        self.held = None;
        self.request(traces);
        match self.answers.recv() {
            Ok(answer @ Answer { outcome: Ok(_), .. }) => self.apply(answer, events, console),
            Ok(Answer { outcome: Err(error), .. }) => {
                warn_partial!(
                    console,
                    "the hosts cannot be synchronized, each is on its own clock: {}",
                    Plain(error)
                );
                events.correct(None, Vec::new());
            }
            Err(_) => {}
        }
    }

    /// Reports the corrections at the end.
    pub(super) fn report(&self, events: &LiveEvents, console: &Console) {
        let Some(clocks) = events.clocks() else { return };
        note_synchronized(clocks, "", console);
        if let Some((host, &most)) = self.revised.iter().max_by_key(|(_, ns)| **ns).filter(|(_, ns)| **ns > 0)
        {
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            note!(
                console,
                "while events were shown, clocks were corrected again by up to {} ({})",
                figures::duration(most),
                plain(host)
            );
        }
        warn_untied(clocks, UNTIED, console);
    }

    fn request(&mut self, traces: &[LiveTrace]) {
        let request = Request { traces: traces.to_vec(), reference: self.reference.clone() };
        self.is_busy = self.requests.send(request).is_ok();
        self.has_new = false;
    }

    fn take(&mut self, answer: Answer, events: &mut LiveEvents, console: &Console) {
        // As long as there are no events, there is nothing to be synchronized.
        let Ok(outcome) = &answer.outcome else { return };
        self.since.get_or_insert_with(Instant::now);
        if self.is_applied || self.ties_all(&outcome.clocks) {
            self.held = None;
            self.apply(answer, events, console);
        } else {
            self.held = Some(answer);
        }
    }

    fn has_waited(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= self.wait)
    }

    fn ties_all(&self, clocks: &Clocks) -> bool {
        let mut islands = clocks.iter().map(|clock| clock.entry.island);
        clocks.iter().count() >= self.hosts && islands.next().is_some_and(|one| islands.all(|it| it == one))
    }

    fn apply(&mut self, answer: Answer, events: &mut LiveEvents, console: &Console) {
        let Ok(outcome) = answer.outcome else { return };
        let is_tied = self.ties_all(&outcome.clocks);
        if is_tied && self.reference.is_none() {
            self.reference = Some(outcome.artefact.reference.clone());
        }
        if !self.is_applied {
            note_synchronized(&outcome.clocks, " so far", console);
            if !is_tied {
                note!(
                    console,
                    "no messages tie all of the hosts so far: those that are not tied are on their own clocks"
                );
            }
        }
        self.is_applied = true;
        for Revision { host, later_ns, is_beyond } in events.correct(Some(outcome.clocks), answer.traces) {
            if is_beyond {
                warning!(
                    "{}: what was received since moves its clock by {}, beyond the bounds that were shown",
                    plain(&host),
                    figures::signed(later_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
                );
            }
            let most = self.revised.entry(host).or_default();
            *most = later_ns.unsigned_abs().max(*most);
        }
    }
}
