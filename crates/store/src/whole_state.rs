//! The whole state of a thread at an instant, from when to when, without reading all spans within it.

use isochrone_time::{RawNs, Window};

use crate::error::StoreError;
use crate::spans::Numbering;
use crate::state::StateRow;
use crate::store::{HostStore, covering};
use crate::threads::ThreadRow;

/// Distance of the first look before and after the instant, ns; the next ones are further.
const STEP: i64 = 1 << 18;

/// Factor between the distances.
const FARTHER: i64 = 16;

impl HostStore {
    /// The state of a thread after a whole state; `None` after its last.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn next_state(&self, state: &StateRow) -> Result<Option<StateRow>, StoreError> {
        self.whole_state(state.thread, state.end)
    }

    /// The state of a thread before a whole state; `None` before its first.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn previous_state(&self, state: &StateRow) -> Result<Option<StateRow>, StoreError> {
        self.whole_state(state.thread, state.start.saturating_sub(1))
    }

    /// The whole state of a thread at an instant: the row of [`Self::states`] of the whole trace. `None` if
    /// the thread does not live. Linear in the spans around its start and its end; of an unknown state, in
    /// those within it.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn whole_state(&self, thread: ThreadRow, at: RawNs) -> Result<Option<StateRow>, StoreError> {
        let Some(life) = self.life(thread) else { return Ok(None) };
        let Some(mut here) = self.state_at(thread, at)? else { return Ok(None) };
        // While it is off the CPUs, nothing changes.
        if let Some((begin, end)) = rest(self, thread, at)? {
            let (begin, end) = (begin.max(life.start), end.min(life.end));
            let is_here = |row: &Option<StateRow>| row.as_ref().is_some_and(|row| is_alike(row, &here));
            if is_here(&self.state_at(thread, begin)?) && is_here(&self.state_at(thread, end - 1)?) {
                (here.start, here.end) = (begin, end);
            }
        }
        let (first, last) = (life.start, life.end);
        let mut step = STEP;
        loop {
            let from = here.start.saturating_sub(step).max(first);
            let rows = self.states(&[thread], Window::new(from, here.start.saturating_add(1)))?;
            let Some(start) = rows.last().map(|row| row.start) else { break };
            here.start = start;
            if start > from || from == first {
                break;
            }
            step = step.saturating_mul(FARTHER);
        }
        let mut step = STEP;
        loop {
            let to = here.end.saturating_add(step).min(last);
            let rows = self.states(&[thread], Window::new(here.end.saturating_sub(1), to))?;
            let Some(end) = rows.first().map(|row| row.end) else { break };
            here.end = end;
            if end < to || to == last {
                break;
            }
            step = step.saturating_mul(FARTHER);
        }
        Ok(Some(here))
    }
}

/// Whether a thread does the same in both.
fn is_alike(a: &StateRow, b: &StateRow) -> bool {
    (a.state, a.cpu, &a.syscall, a.fd, a.waker) == (b.state, b.cpu, &b.syscall, b.fd, b.waker)
}

/// The time off the CPUs that an instant lies in, or the wait for one.
fn rest(host: &HostStore, thread: ThreadRow, at: RawNs) -> Result<Option<(RawNs, RawNs)>, StoreError> {
    let (spans, window) = (host.spans(), covering(at));
    let numbering = Numbering::new(spans.thread_names(), &[thread]);
    let mut found = None;
    macro_rules! look {
        ($($table:ident)*) => {$(
            spans.$table.overlapping(window, |view, row| {
                if numbering.has(view.thread.values()[row]) {
                    found = Some((RawNs(view.start.values()[row]), RawNs(view.end.values()[row])));
                }
                Ok(())
            })?;
        )*};
    }
    look!(off latencies);
    Ok(found)
}
