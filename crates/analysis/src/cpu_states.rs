//! What CPUs did: in a time, and at an instant (the table `running`).

use isochrone_kernel::ThreadId;
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::host::ThreadIdentity;
use crate::interrupt::InterruptSource;
use crate::options::Options;
use crate::output::table::{Cell, Table, Unit};
use crate::snapshot::{CpuSnapshot, CurrentCall, Snapshot};

/// What CPUs did, ns.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct CpuTime {
    pub(crate) busy: u64,
    pub(crate) idle: u64,
    pub(crate) unknown: u64,
}

impl CpuTime {
    /// Adds the times of another.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.busy = self.busy.saturating_add(other.busy);
        self.idle = self.idle.saturating_add(other.idle);
        self.unknown = self.unknown.saturating_add(other.unknown);
    }
}

/// The table without rows.
pub(crate) fn table() -> Table {
    Table::new("running", "What every CPU ran", &[])
        .with_columns(Unit::None, &["host"])
        .with_columns(Unit::Time, &["at_ns"])
        .with_columns(Unit::None, &["cpu", "pid", "tid", "comm"])
        .with_columns(Unit::Time, &["since_ns"])
        .with_columns(Unit::None, &["mode", "syscall"])
        .with_columns(Unit::Time, &["syscall_since_ns"])
        .with_columns(Unit::None, &["interrupt"])
        .with_columns(Unit::Time, &["interrupt_since_ns"])
}

/// In which mode a thread on a CPU is, as far as that is known: `idle`, `kernel` (a thread of the kernel's),
/// `syscall`, `user`.
pub(crate) fn mode(
    thread: ThreadId,
    who: &ThreadIdentity<'_>,
    in_call: bool,
    is_sure: bool,
) -> Option<&'static str> {
    match () {
        () if thread.is_idle() => Some("idle"),
        () if in_call => Some("syscall"),
        () if who.is_kernel == Some(true) => Some("kernel"),
        () if is_sure => Some("user"),
        () => None,
    }
}

/// An interrupt in one cell: `IRQ 27 virtio`, `SoftIRQ 3 NET_RX_SOFTIRQ`.
pub(crate) fn interrupt_cell(source: Option<&InterruptSource>) -> Cell {
    source.map_or(Cell::Unknown, |source| Cell::text(&source.to_string()))
}

/// The cells of a call that a thread is in, and of its begin.
pub(crate) fn call_cells<A: Analysis>(
    result: &HostResult<'_, A>,
    call: Option<CurrentCall<'_>>,
) -> [Cell; 2] {
    [call.and_then(|call| call.name).into(), result.time_or_unknown(call.and_then(|call| call.since))]
}

/// A cell without a value, where it is known that there is none.
pub(crate) fn none_if(is_none: bool, cell: Cell) -> Cell {
    if is_none && cell == Cell::Unknown { Cell::NotApplicable } else { cell }
}

/// Adds the rows of a host.
pub(crate) fn rows<A: Analysis>(
    result: &HostResult<'_, A>,
    at: RawNs,
    snapshot: &Snapshot<'_>,
    options: &Options,
    table: &mut Table,
) {
    let cpus = &options.filter.cpus;
    for doing in snapshot.cpus.iter().filter(|doing| cpus.is_empty() || cpus.contains(&doing.cpu)) {
        let call = doing.thread.and_then(|thread| snapshot.call(thread));
        let is_sure = doing.thread.is_some_and(|thread| snapshot.is_sure(thread));
        row(result, at, doing, call, is_sure, table);
    }
}

/// Adds the row of a CPU. `is_sure`: whether a thread that is in no call is in none for certain.
pub(crate) fn row<A: Analysis>(
    result: &HostResult<'_, A>,
    at: RawNs,
    doing: &CpuSnapshot<'_>,
    call: Option<CurrentCall<'_>>,
    is_sure: bool,
    table: &mut Table,
) {
    let who = doing
        .thread
        .map_or_else(ThreadIdentity::default, |thread| ThreadIdentity::at(result.host, thread, at));
    let mode = match doing.thread {
        Some(thread) => mode(thread, &who, call.is_some(), is_sure),
        None => Some("unknown"),
    };
    let is_elsewhere = matches!(mode, Some("idle" | "kernel" | "user"));
    let call = call_cells(result, call).map(|cell| none_if(is_elsewhere, cell));
    // Where nothing is known of a CPU, its interrupts are unknown, too.
    let is_known = mode.is_some_and(|mode| mode != "unknown");
    let interrupt = interrupt_cell(doing.interrupt.map(|(source, _)| source));
    let interrupt_since = result.time_or_unknown(doing.interrupt.map(|(_, begin)| begin));
    table.add(
        result
            .row()
            .cell(result.time(at))
            .cell(doing.cpu)
            .cells(who.cells())
            .cell(result.time_or_unknown(doing.since))
            .cell(mode.map(Cell::text))
            .cells(call)
            .cells([interrupt, interrupt_since].map(|cell| none_if(is_known, cell))),
    );
}
