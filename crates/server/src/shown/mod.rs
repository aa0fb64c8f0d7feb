//! An opened experiment as it is shown: its hosts, the rows of the time graph, times on the clock that is asked for.
//!
//! All that is asked of it is a function of what the store and the clocks hold: nothing is changed, so that workers share it.
//! Talks to: `isochrone-store`, `isochrone-experiment` and `isochrone-crosshost`; asked by `api.rs`.

pub(crate) mod cpus;
pub(crate) mod encode;
pub(crate) mod event_lines;
pub(crate) mod events;
pub(crate) mod filter;
pub(crate) mod follow;
pub(crate) mod matching;
pub(crate) mod messages;
pub(crate) mod overview;
pub(crate) mod requests;
pub(crate) mod rows;
pub(crate) mod sample;
pub(crate) mod state_at;
pub(crate) mod states;
pub(crate) mod statistics;
pub(crate) mod summary;
pub(crate) mod synchronization;
pub(crate) mod tables;
pub(crate) mod usage;
pub(crate) mod wakeups;

use std::sync::OnceLock;

use isochrone_crosshost::{Cluster, Request};
use isochrone_experiment::{Experiment, Opened, TimedHost, Timing};
use isochrone_store::{HostStore, Store, StoreError};

use crate::error::ApiError;
use crate::session::CommandLine;
use cpus::CpuLoad;
use event_lines::EventNumbers;
use messages::Messages;
use rows::Rows;

/// ns in a second.
const NS_PER_S: i128 = 1_000_000_000;

/// Whose clock times are on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The common one.
    #[default]
    Common,
    /// Each host's own.
    Own,
}

/// A host.
#[derive(Debug)]
pub(crate) struct Host<'s, 'o> {
    pub(crate) name: String,
    pub(crate) timed: &'s TimedHost<'o>,
    pub(crate) timing: Timing<'o>,
    pub(crate) store: HostStore,
    /// Its number in the table of messages.
    pub(crate) number: u32,
    /// The first and the last event, raw ns.
    pub(crate) range: (i64, i64),
    /// What its CPUs did, for windows of which there are too many slices.
    load: OnceLock<Result<CpuLoad, String>>,
}

impl Host<'_, '_> {
    /// Unix time of a raw time.
    pub(crate) fn unix(&self, raw: i64, clock: Clock) -> i128 {
        match clock {
            Clock::Common => self.timing.unix_ns(raw),
            Clock::Own => i128::from(raw) + i128::from(self.timed.traced.offset_ns),
        }
    }

    /// About how many rows of some tables lie in a window, raw ns, if they are spread evenly.
    pub(crate) fn rows_about(&self, (begin, end): (i64, i64), is_counted: impl Fn(&str) -> bool) -> i128 {
        let tables = self.store.entry().tables.iter().filter(|table| is_counted(&table.name));
        let rows: u64 = tables.map(|table| table.rows).sum();
        let whole = i128::from(self.range.1.saturating_sub(self.range.0)).max(1);
        i128::from(rows) * (i128::from(end) - i128::from(begin)) / whole
    }

    /// The last raw time that is not after an instant.
    pub(crate) fn raw(&self, unix: i128, clock: Clock) -> i64 {
        match clock {
            Clock::Common => self.timing.raw(unix),
            Clock::Own => {
                let raw = unix - i128::from(self.timed.traced.offset_ns);
                raw.clamp(i64::MIN.into(), i64::MAX.into()) as i64
            }
        }
    }
}

/// An experiment.
#[derive(Debug)]
pub struct Shown<'o> {
    pub(crate) opened: &'o Opened,
    pub(crate) experiment: &'o Experiment<'o>,
    pub(crate) store: &'o Store,
    pub(crate) command: CommandLine,
    pub(crate) hosts: Vec<Host<'o, 'o>>,
    pub(crate) rows: Rows,
    /// Unix time that times in answers are since.
    pub(crate) origin: i128,
    /// The first and the last event on the common clock, since the origin.
    pub(crate) extent: (i64, i64),
    pub(crate) messages: Messages,
    cluster: OnceLock<Result<Cluster<'o>, String>>,
    requests: OnceLock<Result<Vec<Request>, String>>,
    /// Where events are by number. Counted when it is asked for first.
    event_numbers: OnceLock<EventNumbers>,
}

impl<'o> Shown<'o> {
    /// Opens the tables of all hosts. Linear in threads, phases, requests to disks and messages.
    ///
    /// # Errors
    /// The store cannot be read.
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
            hosts.push(Host {
                name: timed.name().to_owned(),
                timed,
                timing,
                store: store.host(entry)?,
                number: entry.number,
                range,
                load: OnceLock::new(),
            });
        }
        let begin = hosts.iter().map(|host| host.unix(host.range.0, Clock::Common)).min().unwrap_or(0);
        let end = hosts.iter().map(|host| host.unix(host.range.1, Clock::Common)).max().unwrap_or(0);
        let origin = begin.div_euclid(NS_PER_S) * NS_PER_S;
        let since = |unix: i128| (unix - origin).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let rows = Rows::new(&hosts, |host, raw| since(host.unix(raw, Clock::Common)))?;
        let mut shown = Self {
            opened,
            experiment,
            store,
            command,
            hosts,
            rows,
            origin,
            extent: (since(begin), since(end)),
            messages: Messages::default(),
            cluster: OnceLock::new(),
            requests: OnceLock::new(),
            event_numbers: OnceLock::new(),
        };
        shown.messages = Messages::new(&shown)?;
        Ok(shown)
    }

    /// Makes what the first requests would have to wait for.
    pub(crate) fn prepare(&self) {
        for host in &self.hosts {
            // What cannot be read is said to whoever asks for it.
            let _ = host.load();
        }
    }

    /// A raw time of a host, since the origin.
    pub(crate) fn at(&self, host: usize, raw: i64, clock: Clock) -> i64 {
        let since = self.hosts[host].unix(raw, clock) - self.origin;
        since.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The last raw time of a host that is not after an instant since the origin.
    pub(crate) fn raw(&self, host: usize, at: i64, clock: Clock) -> i64 {
        self.hosts[host].raw(i128::from(at) + self.origin, clock)
    }

    /// A window on the clock of a host.
    pub(crate) fn raw_window(&self, host: usize, (begin, end): (i64, i64), clock: Clock) -> (i64, i64) {
        (self.raw(host, begin, clock), self.raw(host, end, clock))
    }

    /// An instant since the origin as Unix time, as far as 64 bits go.
    pub(crate) fn unix(&self, at: i64) -> i64 {
        (i128::from(at) + self.origin).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// A Unix time since the origin.
    pub(crate) fn since(&self, unix: i128) -> i64 {
        (unix - self.origin).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// All hosts with what is known across them. Opened when it is asked for first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn cluster(&self) -> Result<&Cluster<'o>, ApiError> {
        let open = || {
            let hosts: Vec<&TimedHost<'o>> = self.hosts.iter().map(|host| host.timed).collect();
            Cluster::open(self.store, &hosts, self.opened.clocks()).map_err(|error| error.to_string())
        };
        self.cluster.get_or_init(open).as_ref().map_err(|why| ApiError::internal(why.clone()))
    }

    /// The command that answers the same as text, for a window of time.
    pub(crate) fn command_of(&self, command: &str, window: Option<(i64, i64)>) -> String {
        let window = window.filter(|&(begin, end)| (begin, end) != self.extent && begin < end);
        self.command.of(&format!("{command}{}", self.times_of(window)))
    }

    /// The same for a window on a clock.
    pub(crate) fn command_on(&self, clock: Clock, command: &str, window: Option<(i64, i64)>) -> String {
        match clock {
            Clock::Common => self.command_of(command, window),
            Clock::Own => {
                let own = CommandLine { options: "--no-sync".to_owned(), ..self.command.clone() };
                own.of(&format!("{command}{}", self.times_of(window.filter(|(begin, end)| begin < end))))
            }
        }
    }

    /// A window of time as options.
    fn times_of(&self, window: Option<(i64, i64)>) -> String {
        let seconds = |at: i64| {
            let unix = i128::from(at) + self.origin;
            format!("{}.{:09}", unix.div_euclid(NS_PER_S), unix.rem_euclid(NS_PER_S))
        };
        let options =
            |(begin, end): (i64, i64)| format!(" --begin {} --end {}", seconds(begin), seconds(end));
        window.map_or_else(String::new, options)
    }
}
