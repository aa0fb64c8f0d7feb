//! The table `states`: what threads did from when to when, from a store, on the clock that is asked for.

use isochrone_analysis::{Cell, Filter, Report, Table, Unit, VERSION};
use isochrone_store::{HostStore, State, Store, StoreError, ThreadRow};

use crate::experiment::TimedHost;
use crate::window::Times;

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

/// The table of the states of hosts: by host and thread, in the order of time, cut at the window. All hosts must be in the store; those that are not
/// have no rows. `is_synchronized`: whether the hosts' times are on one clock.
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
        ],
    );
    let mut range: Option<[i128; 2]> = None;
    for host in hosts {
        let Some(timing) = host.timing else { continue };
        let entries = &store.manifest().hosts;
        let Some(entry) = entries.iter().find(|entry| entry.id == host.traced.id) else { continue };
        let Some((first, last)) = entry.range else { continue };
        let there = store.host(entry)?;
        let when = asked.times.on(timing).window;
        let window = (when.begin.unwrap_or(first).max(first), when.end.unwrap_or(last).min(last));
        if window.0 >= window.1 {
            continue;
        }
        let here = [timing.unix_ns(window.0), timing.unix_ns(window.1)];
        range = Some(range.map_or(here, |all| [all[0].min(here[0]), all[1].max(here[1])]));
        let numbers: Vec<u32> = (0..)
            .zip(there.threads())
            .filter(|(_, thread)| is_asked(thread, asked.filter))
            .map(|(number, _)| number)
            .collect();
        add(&there, host.name(), &numbers, window, asked.pixels, |raw| timing.unix_ns(raw), &mut table)?;
    }
    Ok(Report {
        analysis: "states",
        version: VERSION,
        sync: is_synchronized,
        range,
        tables: vec![table],
        notes: Vec::new(),
    })
}

/// Whether a thread is asked for, by any of its names; idle tasks have no states.
pub(crate) fn is_asked(thread: &ThreadRow, filter: &Filter) -> bool {
    let Some(tid) = thread.tid else { return false };
    (filter.tids.is_empty() || filter.tids.contains(&tid))
        && (filter.pids.is_empty() || thread.pid.is_some_and(|pid| filter.pids.contains(&pid)))
        && (filter.names.is_empty()
            || thread.comms().any(|comm| filter.names.iter().any(|name| name.matches(comm))))
}

/// What stands where a state says nothing: unknown where it could have, or where the state itself is unknown, else nothing.
fn missing(state: State, applies: bool) -> Cell {
    if applies || state == State::Unknown { Cell::Null } else { Cell::None }
}

fn add(
    there: &HostStore,
    host: &str,
    numbers: &[u32],
    window: (i64, i64),
    pixels: Option<u32>,
    unix_ns: impl Fn(i64) -> i128,
    table: &mut Table,
) -> Result<(), StoreError> {
    let rows = match pixels {
        Some(pixels) => there.pixels(numbers, window, pixels)?,
        None => there.states(numbers, window)?,
    };
    let threads = there.threads();
    for row in rows {
        let Some(thread) = threads.get(row.thread as usize) else { continue };
        let waker = row.waker.and_then(|waker| threads.get(waker as usize));
        table.row(vec![
            Cell::text(host),
            thread.pid.into(),
            thread.tid.into(),
            thread.comm_at(row.begin).map_or(Cell::Null, Cell::text),
            Cell::text(row.state.name()),
            unix_ns(row.begin).into(),
            unix_ns(row.end).into(),
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
        ]);
    }
    Ok(())
}
