//! Looks up packets of a host by the instant and the CPU of their events: that joins messages with threads.

use crate::error::StoreError;
use crate::spans::SpanTables;

/// The thread that ran on a CPU when an event of a packet was recorded there: `None` if there is no such event. Logarithmic
/// in the rows of the batches that cover the instant.
pub(crate) fn runner(
    spans: &SpanTables,
    at: i64,
    cpu: u32,
    is_sent: bool,
) -> Result<Option<Runner>, StoreError> {
    let mut runner = None;
    // Of instants: those with a begin before the end of the window, and after the instant before it.
    spans.packets.overlapping((at.saturating_sub(1), at.saturating_add(1)), |view, row| {
        let is_it = view.at.values()[row] == at
            && view.cpu.values()[row] == cpu
            && view.is_sent.value(row) == is_sent;
        if is_it && runner.is_none() {
            runner = Some(Runner { thread: spans.thread(view.thread.values()[row]) });
        }
        Ok(())
    })?;
    Ok(runner)
}

/// Passes the event of each packet, and the thread that ran on its CPU, to `to`: instant, CPU, whether it was sent, number of the thread.
pub(crate) fn runners(
    spans: &SpanTables,
    mut to: impl FnMut((i64, u32, bool), u32),
) -> Result<(), StoreError> {
    for number in 0..spans.packets.covered().len() {
        let (rows, view) = spans.packets.read_all(number)?;
        for row in 0..rows {
            if let Some(thread) = spans.thread(view.thread.values()[row]) {
                to((view.at.values()[row], view.cpu.values()[row], view.is_sent.value(row)), thread);
            }
        }
    }
    Ok(())
}

/// The thread that ran on the CPU of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runner {
    /// Number of the thread, if known. It may have been interrupted: see the state of the thread at that instant.
    pub thread: Option<u32>,
}
