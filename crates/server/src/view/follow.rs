//! Wake-ups, and steps from one row to another: to the other end of a message, to a thread that is woken, to
//! the waker.

use isochrone_crosshost::socket_owner;
use isochrone_kernel::Cause;
use isochrone_time::{RawNs, SinceOrigin, Window};
use serde::{Deserialize, Serialize};

use super::messages::{Message, some};
use super::rows::RowKind;
use super::state_at::Which;
use super::{Clock, ExperimentView};
use crate::error::{ApiError, Result};

/// The kind of a step from a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Followed {
    /// A message to its other end.
    Message,
    /// The next wake-up by a thread.
    Wakeup,
    /// The last wake-up of a thread.
    Waker,
}

/// The target of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Target {
    pub(crate) row: u32,
    pub(crate) at: SinceOrigin,
    pub(crate) text: String,
}

/// A wake-up: the row that wakes, the row that is woken, when, what wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Wakeup(pub(super) u32, pub(super) u32, pub(super) SinceOrigin, pub(super) &'static str);

/// Length of the first window in which a wake-up is searched, ns; each further one is eight times as long.
const FIRST_NS: i64 = 10_000_000;

/// Events of one wake-up are closer to each other than this, ns.
const SAME_NS: i64 = 50_000;

impl ExperimentView<'_> {
    /// The wake-ups in a window of the threads of some rows (of all, if `rows` is empty): their number, and
    /// `limit` of them, evenly chosen.
    pub(crate) fn wakeups(
        &self,
        rows: &[u32],
        window: Window<SinceOrigin>,
        clock: Clock,
        limit: usize,
    ) -> Result<(usize, Vec<Wakeup>)> {
        let all = self.wakeups_of(window, clock, |to| rows.is_empty() || rows.contains(&to))?;
        Ok((all.len(), some(&all, limit)))
    }

    /// All wake-ups in a window of the rows that `is_asked` says, by time. Linear in them.
    pub(super) fn wakeups_of(
        &self,
        window: Window<SinceOrigin>,
        clock: Clock,
        is_asked: impl Fn(u32) -> bool,
    ) -> Result<Vec<Wakeup>> {
        let mut all: Vec<Wakeup> = Vec::new();
        for host in 0..self.hosts.len() {
            let raw = self.raw_window(host, window, clock);
            let mut of_host: Vec<(RawNs, Wakeup)> = Vec::new();
            self.hosts[host].store.wakeups(raw, |wakeup| {
                let to = wakeup.thread.and_then(|thread| self.rows.of_thread(host, thread));
                let Some(to) = to.filter(|&to| is_asked(to)) else { return };
                let waker = wakeup.waker.filter(|_| matches!(wakeup.cause, Cause::Thread));
                let from = waker.and_then(|waker| self.rows.of_thread(host, waker));
                let from = from.unwrap_or_else(|| self.rows.of_cpu(host, Some(wakeup.cpu)));
                let at = self.at(host, wakeup.at, clock);
                of_host.push((wakeup.at, Wakeup(from, to, at, wakeup.cause.name())));
            })?;
            // `sched_waking` and `sched_wakeup` of one wake-up are close to each other: the first is what
            // counts.
            of_host.sort_by_key(|(at, wakeup)| (wakeup.1, *at));
            of_host.dedup_by(|later, first| later.1.1 == first.1.1 && later.0 - first.0 < SAME_NS);
            all.extend(of_host.into_iter().map(|(_, wakeup)| wakeup));
        }
        all.sort_by_key(|wakeup| (wakeup.2, wakeup.1));
        Ok(all)
    }

    /// Follows something from a row at an instant.
    ///
    /// # Errors
    /// There is nothing to follow, or the store cannot be read.
    pub(crate) fn follow(&self, id: u32, at: SinceOrigin, what: Followed, clock: Clock) -> Result<Target> {
        let row = self.row(id)?;
        match what {
            Followed::Message => self.follow_message(id, at, clock),
            Followed::Wakeup | Followed::Waker if row.kind == RowKind::Thread => {
                self.follow_wakeup(id, at, what == Followed::Waker, clock)
            }
            Followed::Wakeup | Followed::Waker => Err(ApiError::missing("only threads wake and are woken")),
        }
    }

    fn follow_message(&self, id: u32, at: SinceOrigin, clock: Clock) -> Result<Target> {
        let ends = self.messages()?.all.iter().flat_map(|message| [(message, 0), (message, 1)]);
        let of_row = ends.filter(|(message, end)| message.rows[*end] == id);
        // The state decides which of them is meant; without one, the nearest is.
        let state = self.state_at(id, at, clock, Which::At).ok();
        let near = of_row.min_by_key(|(message, end)| {
            let when = self.times_of(message, clock)[*end];
            let is_inside = state.as_ref().is_some_and(|state| state.begin <= when && when <= state.end);
            (!is_inside, when.ns().abs_diff(at.ns()))
        });
        let (message, end) = near.ok_or_else(|| {
            ApiError::missing(format!("{} sent and received no message", self.rows.title(id)))
        })?;
        let other = 1 - end;
        let verb = if other == 1 { "received by" } else { "sent by" };
        let (ran, owner) = (message.rows[other], self.socket_owner(message, other)?);
        // What ran then is often a softirq on some CPU: the thread is the one whose socket it is.
        let (row, beside) = match owner.filter(|&owner| owner != ran) {
            Some(owner) => (owner, format!(", {} ran", self.rows.title(ran))),
            None => (ran, String::new()),
        };
        let text = format!("{verb} {}{beside}", self.rows.title(row));
        Ok(Target { row, at: self.times_of(message, clock)[other], text })
    }

    /// The row of the thread whose socket an end of a message is of, if it is known.
    pub(super) fn socket_owner(&self, message: &Message, end: usize) -> Result<Option<u32>> {
        let (index, cluster) = (usize::from(message.hosts[end]), self.cluster()?);
        let Some(host) = cluster.host_named(&self.hosts[index].name) else { return Ok(None) };
        let owner = socket_owner(cluster, host, message.raw(end), end == 0)?;
        Ok(owner.and_then(|owner| self.rows.of_thread(index, owner.thread)))
    }

    fn follow_wakeup(&self, id: u32, at: SinceOrigin, is_waker: bool, clock: Clock) -> Result<Target> {
        let whole = self.extent.end.saturating_since(self.extent.start);
        let mut length = FIRST_NS;
        loop {
            let (rows, window): (&[u32], _) = match is_waker {
                true => (&[id], Window::new(at.saturating_sub(length), at.saturating_add(1))),
                false => (&[], Window::new(at, at.saturating_add(length))),
            };
            let (_, wakeups) = self.wakeups(rows, window, clock, usize::MAX)?;
            let wakeup = match is_waker {
                true => wakeups.last(),
                false => wakeups.iter().find(|wakeup| wakeup.0 == id),
            };
            if let Some(&Wakeup(from, to, at, _)) = wakeup {
                let (row, verb) = if is_waker { (from, "woken by") } else { (to, "wakes") };
                return Ok(Target { row, at, text: format!("{verb} {}", self.rows.title(row)) });
            }
            if length > whole {
                let title = self.rows.title(id);
                return Err(ApiError::missing(match is_waker {
                    true => format!("no wake-up of {title} before that is known"),
                    false => format!("{title} wakes no thread after that"),
                }));
            }
            length = length.saturating_mul(8);
        }
    }
}
