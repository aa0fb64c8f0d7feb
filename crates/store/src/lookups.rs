//! Rows that readers join with states and messages: system calls and phases of a window, wake-ups and polls
//! at an instant.

use isochrone_kernel::{Cause, Name};
use isochrone_time::{RawNs, Window};

use crate::cell::Resolve;
use crate::error::StoreError;
use crate::span_rows::descriptors;
use crate::spans::Numbering;
use crate::store::HostStore;
use crate::table::Row;
use crate::tables::{CallSpan, OpenCallRow, PhaseRow, PhaseSpan, PollRow, SyscallRow, WakeupRow};
use crate::threads::ThreadRow;

/// A time in which a thread is in a call of which an end is missing, or may be in it: see `open_calls` in
/// `docs/store.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The thread.
    pub thread: ThreadRow,
    /// Start of the time.
    pub from: RawNs,
    /// End of the time.
    pub until: RawNs,
    /// Whether it is in the call all the time.
    pub is_sure: bool,
    /// When the call was entered, if that was seen.
    pub start: Option<RawNs>,
    /// Its name, if known.
    pub name: Option<Name>,
    /// The file descriptor that it is about.
    pub fd: Option<i32>,
}

/// The window of one instant, for tables of instants.
fn instant(at: RawNs) -> Window<RawNs> {
    Window::new(at, at.saturating_add(1))
}

impl HostStore {
    /// The system calls of some threads that overlap a window, whole, by thread and start. `threads`: sorted.
    /// Linear in the calls that overlap the window.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn calls_between(
        &self,
        threads: &[ThreadRow],
        window: Window<RawNs>,
    ) -> Result<Vec<CallSpan>, StoreError> {
        let spans = self.spans();
        let numbering = Numbering::new(spans.thread_names(), threads);
        let names = spans.syscalls.names()?;
        let mut calls = Vec::new();
        spans.syscalls.overlapping(window, |view, row| {
            if numbering.has(view.thread.values()[row]) {
                let SyscallRow { thread, cpu, start, end, name, fd, ret, action } =
                    SyscallRow::get(view, row);
                let (thread, name) = (spans.thread(thread), name.resolve(spans, names));
                calls.push(CallSpan { thread, cpu, start, end, name, fd, ret, action: action.action() });
            }
            Ok(())
        })?;
        calls.sort_by_key(|call| (call.thread, call.start, call.end));
        Ok(calls)
    }

    /// Passes the times of calls with a missing end that overlap a window to `each`, in no specified order.
    /// Linear in them.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn open_calls(
        &self,
        window: Window<RawNs>,
        mut each: impl FnMut(OpenCall),
    ) -> Result<(), StoreError> {
        let names = self.spans().call_names()?;
        self.spans().open_calls.rows(window, |row: OpenCallRow| {
            let OpenCallRow { thread, from, until, is_sure, start, name, fd } = row;
            let name = name.and_then(|name| names.get(name.0 as usize)).cloned();
            each(OpenCall { thread, from, until, is_sure, start, name, fd });
        })
    }

    /// The phases of a thread that overlap a window, by start.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn phases_of(&self, thread: ThreadRow, window: Window<RawNs>) -> Result<Vec<PhaseSpan>, StoreError> {
        self.phases_where(window, |row| self.spans().thread(row.thread) == Some(thread))
    }

    /// The phases of programs that end in a window, by start. The end of the window does not belong to it.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn phases_between(&self, window: Window<RawNs>) -> Result<Vec<PhaseSpan>, StoreError> {
        let Window { start, end } = window;
        let overlapping = Window::new(start.saturating_sub(1), end);
        self.phases_where(overlapping, |row| (start..end).contains(&row.end))
    }

    /// Phases that overlap a window and for which a condition holds, by start, end, thread and name.
    fn phases_where(
        &self,
        window: Window<RawNs>,
        condition: impl Fn(&PhaseRow) -> bool,
    ) -> Result<Vec<PhaseSpan>, StoreError> {
        let spans = self.spans();
        let names = spans.phases.names()?;
        let mut phases = Vec::new();
        spans.phases.rows(window, |row: PhaseRow| {
            if condition(&row) {
                let PhaseRow { thread, name, start, end } = row;
                let (thread, name) = (spans.thread(thread), name.resolve(spans, names));
                phases.push(PhaseSpan { thread, name, start, end });
            }
        })?;
        phases.sort_by(|a, b| (a.start, a.end, a.thread, &a.name).cmp(&(b.start, b.end, b.thread, &b.name)));
        Ok(phases)
    }

    /// The context in which a thread was woken at an instant; `None` if it was not.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn wake_cause(&self, thread: ThreadRow, at: RawNs) -> Result<Option<Cause>, StoreError> {
        let mut cause = None;
        self.spans().wakeups.rows(instant(at), |row: WakeupRow| {
            if row.at == at && self.spans().thread(row.thread) == Some(thread) && cause.is_none() {
                cause = Some(Cause::of(row.cause.0, row.source));
            }
        })?;
        Ok(cause)
    }

    /// The descriptors that `poll`, `select` or `epoll_wait` of a thread found ready, which returned at an
    /// instant; `None` if none did. At most the first 64 are listed.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn ready_at(&self, thread: ThreadRow, at: RawNs) -> Result<Option<Vec<i32>>, StoreError> {
        let mut ready = None;
        self.spans().polls.rows(instant(at), |row: PollRow| {
            if row.at == at && self.spans().thread(row.thread) == Some(thread) {
                ready = Some(descriptors(&row.ready));
            }
        })?;
        Ok(ready)
    }
}
