//! Wake-ups of some rows in a window.

use isochrone_kernel::Cause;
use serde::Serialize;

use super::{Clock, Shown};
use crate::error::ApiError;

/// A wake-up: the row that wakes, the row that is woken, when, what wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Wakeup(pub(crate) Option<u32>, pub(crate) u32, pub(crate) i64, pub(crate) &'static str);

impl Shown<'_> {
    /// The wake-ups of the threads of some rows (all, where there are none) in a window: how many, and the first `limit` of them.
    pub(crate) fn wakeups(
        &self,
        rows: &[u32],
        window: (i64, i64),
        clock: Clock,
        limit: usize,
    ) -> Result<(usize, Vec<Wakeup>), ApiError> {
        let mut all: Vec<Wakeup> = Vec::new();
        let mut total = 0;
        for host in 0..self.hosts.len() {
            let raw = self.raw_window(host, window, clock);
            let mut here: Vec<(i64, u32, Wakeup)> = Vec::new();
            self.hosts[host].store.wakeups(raw, |wakeup| {
                let Some(thread) = wakeup.thread else { return };
                let Some(to) = self.rows.of_thread(host, thread) else { return };
                if !rows.is_empty() && !rows.contains(&to) {
                    return;
                }
                let is_thread = matches!(wakeup.cause, Cause::Thread);
                let waker = wakeup.waker.filter(|_| is_thread);
                let from = waker.and_then(|waker| self.rows.of_thread(host, waker));
                let at = self.at(host, wakeup.at, clock);
                let from = from.or_else(|| Some(self.rows.of_cpu(host, Some(wakeup.cpu))));
                here.push((wakeup.at, to, Wakeup(from, to, at, wakeup.cause.name())));
            })?;
            // `sched_waking` and `sched_wakeup` of one wake-up follow each other closely: the first is what counts.
            here.sort_by_key(|(at, to, _)| (*to, *at));
            here.dedup_by(|later, first| later.1 == first.1 && later.0 - first.0 < SAME_NS);
            total += here.len();
            all.extend(here.into_iter().map(|(.., wakeup)| wakeup));
        }
        all.sort_by_key(|wakeup| (wakeup.2, wakeup.1));
        all.truncate(limit);
        Ok((total, all))
    }
}

/// Two events of one wake-up lie less than this apart, ns.
const SAME_NS: i64 = 50_000;
