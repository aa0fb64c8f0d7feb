//! The whole state of a thread at an instant, from when to when, without reading all spans within it.

use crate::error::StoreError;
use crate::spans::Numbering;
use crate::state::StateRow;
use crate::store::HostStore;

/// Distance of the first look before and after the instant, ns; the next ones are further.
const STEP: i64 = 1 << 18;

/// Factor between the distances.
const FARTHER: i64 = 16;

/// The state of a thread at an instant, from when to when.
pub(crate) fn whole_state(host: &HostStore, thread: u32, raw: i64) -> Result<Option<StateRow>, StoreError> {
    let Some(life) = host.life(thread) else { return Ok(None) };
    let Some(mut here) = host.state_at(thread, raw)? else { return Ok(None) };
    // While it is off the CPUs, nothing changes.
    if let Some((begin, end)) = rest(host, thread, raw)? {
        let (begin, end) = (begin.max(life.begin), end.min(life.end));
        let is_here = |row: &Option<StateRow>| row.as_ref().is_some_and(|row| is_alike(row, &here));
        if is_here(&host.state_at(thread, begin)?) && is_here(&host.state_at(thread, end - 1)?) {
            (here.begin, here.end) = (begin, end);
        }
    }
    let (first, last) = (life.begin, life.end);
    let mut step = STEP;
    loop {
        let from = here.begin.saturating_sub(step).max(first);
        let rows = host.states(&[thread], (from, here.begin.saturating_add(1)))?;
        let Some(begin) = rows.last().map(|row| row.begin) else { break };
        here.begin = begin;
        if begin > from || from == first {
            break;
        }
        step = step.saturating_mul(FARTHER);
    }
    let mut step = STEP;
    loop {
        let to = here.end.saturating_add(step).min(last);
        let rows = host.states(&[thread], (here.end.saturating_sub(1), to))?;
        let Some(end) = rows.first().map(|row| row.end) else { break };
        here.end = end;
        if end < to || to == last {
            break;
        }
        step = step.saturating_mul(FARTHER);
    }
    Ok(Some(here))
}

/// Whether a thread does the same in both.
fn is_alike(a: &StateRow, b: &StateRow) -> bool {
    (a.state, a.cpu, &a.syscall, a.fd, a.waker) == (b.state, b.cpu, &b.syscall, b.fd, b.waker)
}

/// The time off the CPUs that an instant lies in, or the wait for one.
fn rest(host: &HostStore, thread: u32, raw: i64) -> Result<Option<(i64, i64)>, StoreError> {
    let (spans, window) = (host.spans(), (raw, raw.saturating_add(1)));
    let numbering = Numbering::new(spans.thread_names(), &[thread]);
    let mut found = None;
    macro_rules! look {
        ($($table:ident)*) => {$(
            spans.$table.overlapping(window, |view, row| {
                if numbering.has(view.thread.values()[row]) {
                    found = Some((view.begin.values()[row], view.end.values()[row]));
                }
                Ok(())
            })?;
        )*};
    }
    look!(off latencies);
    Ok(found)
}
