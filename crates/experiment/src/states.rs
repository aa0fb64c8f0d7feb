//! The table `states`: what threads did from when to when, from a store, on the clock that is asked for.

use isochrone_analysis::{Cell, Filter, Report, Table, Unit, VERSION, Visibility};
use isochrone_store::{HostStore, PAGE_FAULT, State, Store, StoreError, ThreadInfo, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::{TimedHost, Times, Timing};

/// Which states are asked for.
#[derive(Debug, Clone, Copy)]
pub struct StateFilter<'f> {
    /// Of which threads.
    pub filter: &'f Filter,
    /// Of which time.
    pub times: Times,
    /// Of each thread about one row a pixel at most, if the window has so many.
    pub pixels: Option<u32>,
}

/// The table of the states of hosts: by host and thread, in the order of time, cut at the window. All hosts
/// must be in the store; those that are not have no rows. `is_synchronized`: whether the hosts' times are on
/// one clock.
///
/// # Errors
/// The store cannot be read.
pub fn states(
    store: &Store,
    hosts: &[&TimedHost<'_>],
    asked: StateFilter<'_>,
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let mut table = Table::new(
        "states",
        "What threads did",
        &[
            ("host", Unit::None),
            ("pid", Unit::None),
            ("tid", Unit::None),
            ("comm", Unit::None),
            ("state", Unit::None),
            ("begin_ns", Unit::Time),
            ("end_ns", Unit::Time),
            ("cpu", Unit::None),
            ("syscall", Unit::None),
            ("fd", Unit::None),
            ("waker_tid", Unit::None),
            ("address", Unit::None),
            ("memory", Unit::None),
        ],
    );
    let mut range: Option<[UnixNs; 2]> = None;
    let mut has_faults = false;
    for host in hosts {
        let Some(timing) = host.timing else { continue };
        let entries = &store.manifest().hosts;
        let Some(entry) = entries.iter().find(|entry| entry.id == host.traced.id) else { continue };
        let Some(range_of_host) = entry.range else { continue };
        let there = store.host(entry)?;
        let window = range_of_host.clip(asked.times.on(timing).window);
        if window.is_empty() {
            continue;
        }
        let here = [timing.unix(window.start), timing.unix(window.end)];
        range = Some(range.map_or(here, |all| [all[0].min(here[0]), all[1].max(here[1])]));
        let rows = (0..).map(ThreadRow).zip(there.threads());
        let threads: Vec<ThreadRow> = rows
            .filter(|(_, thread)| is_selected(host.name(), thread, asked.filter))
            .map(|(row, _)| row)
            .collect();
        has_faults |= add(&there, host.name(), &threads, window, asked.pixels, timing, &mut table)?;
    }
    // Most have no waits in page faults.
    let shown = if has_faults { Visibility::Trailing } else { Visibility::Hidden };
    let table = table.show(&["address", "memory"], shown);
    Ok(Report {
        analysis: "states",
        version: VERSION,
        sync: is_synchronized,
        range,
        tables: vec![table],
        notes: Vec::new(),
    })
}

/// Whether a thread of a host is selected, by any of its names; idle tasks have no states.
pub(crate) fn is_selected(host: &str, thread: &ThreadInfo, filter: &Filter) -> bool {
    thread.tid.is_some() && filter.keeps_thread(host, thread.tid, thread.pid, thread.comms())
}

/// What stands where a state says nothing: unknown where it could have, or where the state itself is unknown,
/// else nothing.
fn missing(state: State, applies: bool) -> Cell {
    if applies || state == State::Unknown { Cell::Unknown } else { Cell::NotApplicable }
}

/// Adds the states of a host's threads. Returns whether any waits in a page fault.
fn add(
    there: &HostStore,
    host: &str,
    selected: &[ThreadRow],
    window: Window<RawNs>,
    pixels: Option<u32>,
    timing: Timing<'_>,
    table: &mut Table,
) -> Result<bool, StoreError> {
    let rows = match pixels {
        Some(pixels) => there.pixels(selected, window, pixels)?,
        None => there.states(selected, window)?,
    };
    let faults = there.waited_faults(window)?;
    let mut has_faults = false;
    for row in rows {
        let fault = faults.at(row.thread, row.start).filter(|_| row.syscall.as_deref() == Some(PAGE_FAULT));
        has_faults |= fault.is_some();
        let Some(thread) = there.thread(row.thread) else { continue };
        let waker = row.waker.and_then(|waker| there.thread(waker));
        table.row(vec![
            Cell::text(host),
            thread.pid.into(),
            thread.tid.into(),
            thread.comm_at(row.start).map_or(Cell::Unknown, Cell::text),
            Cell::text(row.state.name()),
            timing.unix(row.start).0.into(),
            timing.unix(row.end).0.into(),
            row.cpu.map_or(missing(row.state, row.state.is_on_cpu()), Cell::from),
            row.syscall
                .as_deref()
                .filter(|name| !name.is_empty())
                .map_or(missing(row.state, row.state != State::UserMode), Cell::text),
            row.fd.map_or(missing(row.state, false), Cell::from),
            // An idle task is thread 0.
            waker.map_or(missing(row.state, row.state == State::WaitCpu), |waker| {
                waker.tid.unwrap_or(0).into()
            }),
            fault.map_or(missing(row.state, false), |it| Cell::text(&format!("{:#x}", it.fault.address))),
            fault.map_or(missing(row.state, false), |it| Cell::text(&it.memory)),
        ]);
    }
    Ok(has_faults)
}
