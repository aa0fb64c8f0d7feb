//! The timeline of an experiment: what the store of its hosts says, passed to a format.
//!
//! Host by host and part by part: a part has about [`PART_ROWS`] rows, whatever is long is carried on in a few numbers for each thread. So memory does
//! not grow with the trace. `threads.rs` emits states, calls, wake-ups and phases, `cpus.rs` what CPUs did, `figures.rs` counters,
//! `messages.rs` what went from host to host, `clocks.rs` the clocks.

mod clocks;
mod cpus;
mod disks;
mod figures;
mod host;
mod messages;
mod threads;

use std::io;

use isochrone_experiment::{TimedHost, Times, TooManySteps, extent, step_length};
use isochrone_store::{Store, StoreError};
use isochrone_sync::apply::Clocks;

use crate::timeline::{MOST_HOSTS, Timeline};
use host::Host;

/// About how many rows of the store are in memory at a time.
const PART_ROWS: u64 = 1 << 16;

/// Steps that counters have at most, unless another length is asked for.
pub const SOME_STEPS: u64 = 1000;

/// Why there is no timeline.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What the format writes to cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// Hosts have no numbers of their own.
    #[error("{0} hosts: at most {MOST_HOSTS} can be exported together")]
    TooManyHosts(usize),
    /// Steps of counters are too short.
    #[error(transparent)]
    TooManySteps(#[from] TooManySteps),
}

/// What is exported.
#[derive(Debug, Clone, Copy)]
pub struct Exported<'x, 'e> {
    /// A store that has all hosts.
    pub store: &'x Store,
    /// The hosts, in the order in which they are shown.
    pub hosts: &'x [&'x TimedHost<'e>],
    /// The corrections that their times are on, if there are any.
    pub clocks: Option<&'x Clocks>,
    /// What begins then is exported; states and figures are cut.
    pub times: Times,
    /// How long the steps of counters are, ns; `None`: a round length, such that there are some hundreds.
    pub every: Option<u64>,
}

impl Exported<'_, '_> {
    /// How long the steps of counters are, ns.
    fn step(&self) -> u64 {
        step_length(self.every, self.times, self.hosts.iter().copied(), SOME_STEPS)
    }

    /// An instant that nothing in the timeline is before, Unix ns: the begin of the first step.
    pub fn origin(&self) -> i64 {
        let Some((first, _)) = extent(self.hosts.iter().copied()) else { return 0 };
        let begin = self.times.begin.unwrap_or(first).max(first);
        let begin = begin - begin.rem_euclid(i128::from(self.step()));
        begin.clamp(0, i64::MAX.into()) as i64
    }
}

/// Passes the timeline of hosts to a format. `progress` is called with ns of traced time that are done, of all hosts together. Linear in the spans, and a
/// few look-ups for each message.
///
/// # Errors
/// The store cannot be read, what is written to cannot be written, or there are too many hosts or steps.
pub fn export<T: Timeline>(
    exported: &Exported<'_, '_>,
    to: &mut T,
    progress: &dyn Fn(u64),
) -> Result<(), ExportError> {
    if exported.hosts.len() > MOST_HOSTS {
        return Err(ExportError::TooManyHosts(exported.hosts.len()));
    }
    let every = exported.step();
    let mut hosts = Vec::new();
    for &timed in exported.hosts {
        hosts.extend(Host::open(exported, timed, hosts.len() as u32, every, to)?);
    }
    let mut flows = 0;
    for host in &mut hosts {
        clocks::emit(host, to)?;
        for part in host.parts() {
            threads::emit(host, part, &mut flows, to)?;
            cpus::emit(host, part, to)?;
            disks::emit(host, part, to)?;
            progress(part.1.abs_diff(part.0));
        }
        host.finish(to)?;
        figures::emit(host, to)?;
    }
    messages::emit(exported, &mut hosts, &mut flows, to)?;
    to.finish()?;
    Ok(())
}
