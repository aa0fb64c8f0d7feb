//! An opened experiment as viewers see it: its hosts, the rows of the time graph, instants on the requested
//! clock.
//!
//! All answers are functions of what the store and the clocks hold: nothing is changed, so workers share it.
//! Methods that return a [`Result`] fail if the store cannot be read, and for the reasons that are documented
//! with them. Instants of the page are [`SinceOrigin`], those of tables [`RawNs`]: this file converts one to
//! the other.

mod accesses;
mod area_files;
mod causes;
mod commands;
mod compared;
mod cpus;
pub(crate) mod encode;
pub(crate) mod event_lines;
pub(crate) mod events;
mod exchanged;
pub(crate) mod filter;
mod flows;
pub(crate) mod follow;
mod instead;
mod lives;
pub(crate) mod matching;
pub(crate) mod messages;
mod named;
pub(crate) mod overview;
mod phases;
pub(crate) mod requests;
mod resources;
pub(crate) mod rows;
pub(crate) mod sample;
#[cfg(test)]
mod scripted;
mod services;
pub(crate) mod state_at;
pub(crate) mod states;
mod statistics;
mod summary;
mod synchronization;
pub(crate) mod tables;
mod usage;

use std::fmt::Display;
use std::sync::{Mutex, OnceLock};

use isochrone_crosshost::{Cluster, Request};
use isochrone_experiment::{Experiment, Opened};
use isochrone_store::{HostStore, Store, StoreError};
use isochrone_time::{RawNs, SinceOrigin, UnixNs, Window};
use isochrone_timing::{TimedHost, Timing};
use serde::Deserialize;

use crate::error::{ApiError, Result};
pub use commands::CommandLine;
use cpus::CpuLoad;
use event_lines::EventIndex;
use messages::Messages;
use rows::RowTree;

/// ns in a second.
const NS_PER_S: i128 = 1_000_000_000;

/// Whose clock times are on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Clock {
    /// The common clock.
    #[default]
    Common,
    /// Each host's own clock.
    Own,
}

/// A host with its clock and its tables.
#[derive(Debug)]
pub(crate) struct HostView<'o> {
    pub(crate) name: String,
    pub(crate) timed: &'o TimedHost<'o>,
    pub(crate) timing: Timing<'o>,
    pub(crate) store: HostStore,
    /// Number of the host in the table of messages.
    pub(crate) number: u32,
    /// From the first event to the last.
    pub(crate) range: Window<RawNs>,
    /// Sums of what its CPUs did, for windows with too many slices to draw each.
    load: OnceLock<Result<CpuLoad, String>>,
}

impl HostView<'_> {
    /// The Unix time of a raw time.
    fn unix(&self, raw: RawNs, clock: Clock) -> UnixNs {
        match clock {
            Clock::Common => self.timing.unix(raw),
            Clock::Own => UnixNs(i128::from(raw.0)) + self.timed.traced.offset_ns,
        }
    }

    /// The last raw time that is not after an instant.
    fn raw(&self, unix: UnixNs, clock: Clock) -> RawNs {
        match clock {
            Clock::Common => self.timing.raw(unix),
            Clock::Own => RawNs(narrow(unix - self.timed.traced.offset_ns)),
        }
    }

    /// About how many rows of some tables lie in a window, if rows are spread evenly.
    fn rows_about(&self, window: Window<RawNs>, is_counted: impl Fn(&str) -> bool) -> i128 {
        let tables = self.store.entry().tables.iter().filter(|table| is_counted(&table.name));
        let rows: u64 = tables.map(|table| table.rows).sum();
        let whole = i128::from(self.range.end.saturating_since(self.range.start)).max(1);
        i128::from(rows) * (i128::from(window.end.0) - i128::from(window.start.0)) / whole
    }
}

/// An experiment.
#[derive(Debug)]
pub struct ExperimentView<'o> {
    pub(crate) opened: &'o Opened,
    pub(crate) experiment: &'o Experiment<'o>,
    pub(crate) store: &'o Store,
    pub(crate) command: CommandLine,
    pub(crate) hosts: Vec<HostView<'o>>,
    pub(crate) rows: RowTree,
    /// The zero of all [`SinceOrigin`] of answers.
    pub(crate) origin: UnixNs,
    /// From the first event to the last on the common clock.
    pub(crate) extent: Window<SinceOrigin>,
    messages: OnceLock<Result<Messages, String>>,
    cluster: OnceLock<Result<Cluster<'o>, String>>,
    requests: OnceLock<Result<Vec<Request>, String>>,
    /// Held while requests are looked for.
    finding: Mutex<()>,
    /// Counted at the first request for it.
    event_index: OnceLock<EventIndex>,
}

impl<'o> ExperimentView<'o> {
    /// Opens the tables of all hosts. Linear in threads.
    pub(crate) fn new(
        opened: &'o Opened,
        experiment: &'o Experiment<'o>,
        store: &'o Store,
        command: CommandLine,
    ) -> Result<Self, StoreError> {
        let mut hosts = Vec::new();
        for timed in experiment.hosts() {
            let entry = store.manifest().hosts.iter().find(|entry| entry.id == timed.traced.id);
            let (Some(entry), Some(timing)) = (entry, timed.timing) else { continue };
            let Some(range) = entry.range else { continue };
            hosts.push(HostView {
                name: timed.name().to_owned(),
                timed,
                timing,
                store: store.host(entry)?,
                number: entry.number,
                range,
                load: OnceLock::new(),
            });
        }
        let start = hosts.iter().map(|host| host.unix(host.range.start, Clock::Common)).min();
        let end = hosts.iter().map(|host| host.unix(host.range.end, Clock::Common)).max();
        let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
        let origin = origin_of(start);
        let mut view = Self {
            opened,
            experiment,
            store,
            command,
            hosts,
            rows: RowTree::default(),
            origin,
            extent: Window::new(since(origin, start), since(origin, end)),
            messages: OnceLock::new(),
            cluster: OnceLock::new(),
            requests: OnceLock::new(),
            finding: Mutex::new(()),
            event_index: OnceLock::new(),
        };
        view.rows = RowTree::new(&view);
        Ok(view)
    }

    /// Makes what the first requests would have to wait for.
    pub(crate) fn prepare(&self) {
        for host in &self.hosts {
            // An error is kept for the requests that need it.
            let _ = host.load();
        }
    }

    /// A raw time of a host on a clock.
    pub(crate) fn at(&self, host: usize, raw: RawNs, clock: Clock) -> SinceOrigin {
        self.since(self.hosts[host].unix(raw, clock))
    }

    /// The last raw time of a host that is not after an instant.
    pub(crate) fn raw(&self, host: usize, at: SinceOrigin, clock: Clock) -> RawNs {
        self.hosts[host].raw(self.unix(at), clock)
    }

    /// A window in the raw time of a host.
    pub(crate) fn raw_window(&self, host: usize, window: Window<SinceOrigin>, clock: Clock) -> Window<RawNs> {
        Window::new(self.raw(host, window.start, clock), self.raw(host, window.end, clock))
    }

    /// The part of a window in which any host recorded, on the common clock: what reads a window part by part
    /// takes time for the rest, too.
    ///
    /// # Errors
    /// The window is empty, or no host recorded in it.
    fn inside(&self, window: Window<SinceOrigin>) -> Result<Window<SinceOrigin>> {
        let inside = window.clip(self.extent);
        match (window.is_empty(), inside.is_empty()) {
            (true, _) => Err(ApiError::empty_window()),
            (false, true) => Err(ApiError::wrong("no host recorded anything in this time")),
            (false, false) => Ok(inside),
        }
    }

    /// The part of a window in which a host recorded, in its raw time; it may be empty.
    pub(crate) fn recorded(&self, host: usize, window: Window<SinceOrigin>, clock: Clock) -> Window<RawNs> {
        self.raw_window(host, window, clock).clip(self.hosts[host].range)
    }

    /// The Unix time of an instant.
    pub(crate) fn unix(&self, at: SinceOrigin) -> UnixNs {
        self.origin + at.0
    }

    /// The Unix time of an instant in a number of 64 bits, as the Trace Server Protocol has them.
    pub(crate) fn unix_i64(&self, at: SinceOrigin) -> i64 {
        narrow(self.unix(at))
    }

    /// A Unix time since the origin.
    pub(crate) fn since(&self, unix: UnixNs) -> SinceOrigin {
        since(self.origin, unix)
    }

    /// The index of a host by its name.
    pub(crate) fn host_index(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// All hosts with their clocks, as the experiment has them.
    pub(crate) fn timed_hosts(&self) -> Vec<&'o TimedHost<'o>> {
        self.hosts.iter().map(|host| host.timed).collect()
    }

    /// All hosts with what the store has across them. Opened at the first request for it.
    pub(crate) fn cluster(&self) -> Result<&Cluster<'o>> {
        get_or_make(&self.cluster, || Cluster::open(self.store, &self.timed_hosts(), self.opened.clocks()))
    }
}

/// What a cell holds, made at the first request for it; an error is kept, too. Requests that come meanwhile
/// wait for it.
fn get_or_make<T, E: Display>(
    cell: &OnceLock<Result<T, String>>,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<&T> {
    kept(cell.get_or_init(|| make().map_err(|error| error.to_string())))
}

/// What was made, or why it could not be.
fn kept<T>(made: &Result<T, String>) -> Result<&T> {
    made.as_ref().map_err(|why| ApiError::internal(why.clone()))
}

/// The origin of an experiment: the Unix time of its first event, cut to whole seconds.
fn origin_of(first: UnixNs) -> UnixNs {
    UnixNs(first.0.div_euclid(NS_PER_S) * NS_PER_S)
}

/// A Unix time since an origin, as far as 64 bits go.
fn since(origin: UnixNs, unix: UnixNs) -> SinceOrigin {
    SinceOrigin(unix.saturating_since(origin))
}

/// A Unix time in a number of 64 bits, as far as these go.
pub(crate) fn narrow(unix: UnixNs) -> i64 {
    unix.saturating_since(UnixNs(0))
}
