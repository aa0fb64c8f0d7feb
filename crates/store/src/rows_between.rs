//! Rows that readers join with states: system calls, phases and descriptors of a window, wake-ups and polls at an instant.

use isochrone_kernel::Cause;

use crate::error::StoreError;
use crate::span_rows::{CallSpan, PhaseSpan, descriptors, named};
use crate::spans::{Numbering, SpanTables};
use crate::table::Row;
use crate::tables::{PhaseRow, PollRow, SyscallRow, WakeupRow};

/// An instant as a window: of instants, those count that are after its first and before its second.
fn instant(at: i64) -> (i64, i64) {
    (at.saturating_sub(1), at.saturating_add(1))
}

/// Calls of some threads (sorted) that overlap a window, by thread and begin.
pub(crate) fn calls(
    spans: &SpanTables,
    threads: &[u32],
    window: (i64, i64),
) -> Result<Vec<CallSpan>, StoreError> {
    let numbering = Numbering::new(spans.thread_names(), threads);
    let mut rows = Vec::new();
    spans.syscalls.overlapping(window, |view, row| {
        if let Some(place) = numbering.place(view.thread.values()[row]) {
            rows.push((threads[place as usize], SyscallRow::get(view, row)));
        }
        Ok(())
    })?;
    rows.sort_by_key(|(thread, row)| (*thread, row.begin, row.end));
    let names = spans.call_names()?;
    let call = |(thread, row): (u32, SyscallRow)| {
        let SyscallRow { begin, end, name, fd, ret, .. } = row;
        CallSpan { thread: Some(thread), begin, end, name: named(names, name), fd, ret }
    };
    Ok(rows.into_iter().map(call).collect())
}

/// Phases of threads that are wanted, and that overlap a window, by begin, end, thread and name.
pub(crate) fn phases(
    spans: &SpanTables,
    window: (i64, i64),
    is_wanted: impl Fn(&PhaseRow) -> bool,
) -> Result<Vec<PhaseSpan>, StoreError> {
    let mut rows: Vec<PhaseRow> = Vec::new();
    spans.phases.overlapping(window, |view, row| {
        rows.extend(Some(PhaseRow::get(view, row)).filter(&is_wanted));
        Ok(())
    })?;
    let names = if rows.is_empty() { Vec::new() } else { spans.phases.names()? };
    let phase = |row: PhaseRow| PhaseSpan {
        thread: spans.thread(row.thread),
        name: named(&names, row.name),
        begin: row.begin,
        end: row.end,
    };
    let mut phases: Vec<PhaseSpan> = rows.into_iter().map(phase).collect();
    phases.sort_by(|a, b| (a.begin, a.end, a.thread, &a.name).cmp(&(b.begin, b.end, b.thread, &b.name)));
    Ok(phases)
}

/// In which context a thread was woken at an instant, if it was.
pub(crate) fn wake_cause(spans: &SpanTables, thread: u32, at: i64) -> Result<Option<Cause>, StoreError> {
    let mut cause = None;
    spans.wakeups.overlapping(instant(at), |view, row| {
        let row = WakeupRow::get(view, row);
        if row.at == at && spans.thread(row.thread) == Some(thread) && cause.is_none() {
            cause = Some(Cause::of(row.cause, row.source));
        }
        Ok(())
    })?;
    Ok(cause)
}

/// The descriptors that a wait of a thread for descriptors found ready, which is over at an instant; `None` if there is no such wait.
/// Of very many, the first are listed.
pub(crate) fn ready(spans: &SpanTables, thread: u32, at: i64) -> Result<Option<Vec<i32>>, StoreError> {
    let mut ready = None;
    spans.polls.overlapping(instant(at), |view, row| {
        let row = PollRow::get(view, row);
        if row.at == at && spans.thread(row.thread) == Some(thread) {
            ready = Some(descriptors(&row.ready));
        }
        Ok(())
    })?;
    Ok(ready)
}
