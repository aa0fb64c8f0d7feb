//! The table `running`: what every CPU did at an instant.

use isochrone_kernel::{ThreadId, Time};

use crate::analysis::{Analysis, HostResult};
use crate::host::ThreadIdentity;
use crate::interrupt::InterruptSource;
use crate::options::Options;
use crate::snapshot::{CpuSnapshot, CurrentCall, Snapshot};
use crate::table::{Cell, Table, Unit};

/// The table without rows.
pub(crate) fn table() -> Table {
    const COLUMNS: &[(&str, Unit)] = &[
        ("host", Unit::None),
        ("at_ns", Unit::Time),
        ("cpu", Unit::None),
        ("pid", Unit::None),
        ("tid", Unit::None),
        ("comm", Unit::None),
        ("since_ns", Unit::Time),
        ("mode", Unit::None),
        ("syscall", Unit::None),
        ("syscall_since_ns", Unit::Time),
        ("interrupt", Unit::None),
        ("interrupt_since_ns", Unit::Time),
    ];
    Table::new("running", "What every CPU ran", COLUMNS)
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
    source.map_or(Cell::Null, |source| Cell::text(&source.to_string()))
}

/// A raw time that may be unknown as a cell.
pub(crate) fn time<A: Analysis>(result: &HostResult<'_, A>, raw: Option<Time>) -> Cell {
    raw.map_or(Cell::Null, |raw| result.time(raw))
}

/// The cells of a call that a thread is in, and of its begin.
pub(crate) fn call_cells<A: Analysis>(
    result: &HostResult<'_, A>,
    call: Option<CurrentCall<'_>>,
) -> [Cell; 2] {
    [call.and_then(|call| call.name).into(), time(result, call.and_then(|call| call.since))]
}

/// A cell without a value, where it is known that there is none.
pub(crate) fn none_if(is_none: bool, cell: Cell) -> Cell {
    if is_none && cell == Cell::Null { Cell::None } else { cell }
}

/// Adds the rows of a host.
pub(crate) fn rows<A: Analysis>(
    result: &HostResult<'_, A>,
    at: Time,
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
    at: Time,
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
    let mut cells = vec![result.name(), result.time(at), doing.cpu.into()];
    cells.extend(who.cells());
    cells.extend([time(result, doing.since), mode.map_or(Cell::Null, Cell::text)]);
    let is_elsewhere = matches!(mode, Some("idle" | "kernel" | "user"));
    cells.extend(call_cells(result, call).map(|cell| none_if(is_elsewhere, cell)));
    // Of a CPU of which nothing is known, nobody knows of interrupts either.
    let is_known = mode.is_some_and(|mode| mode != "unknown");
    cells.push(none_if(is_known, interrupt_cell(doing.interrupt.map(|(source, _)| source))));
    cells.push(none_if(is_known, time(result, doing.interrupt.map(|(_, begin)| begin))));
    table.row(cells);
}
