//! The timeline of an experiment: what the store of its hosts has, passed to a format.
//!
//! Host by host and part by part: a part has about [`PART_ROWS`] rows, and what lasts longer is carried
//! over in a few numbers for each thread. So memory does not grow with the trace. `threads.rs` emits
//! states, calls, wake-ups and phases, `cpus.rs` what CPUs and disks did, `sched.rs` events of the
//! scheduler, `counters.rs` counters, `messages.rs` messages between hosts, `clocks.rs` the clocks.

mod clocks;
mod counters;
mod cpus;
mod host;
mod messages;
mod sched;
mod threads;

use std::io;

use isochrone_corrections::Clocks;
use isochrone_store::{Store, StoreError};
use isochrone_time::UnixNs;
use isochrone_timing::{TimedHost, Times, TooManySteps, extent, step_length};

use crate::timeline::{MAX_HOSTS, Timeline};
use host::Host;
pub use sched::WithoutSched;

/// Approximate number of rows of the store that are in memory at a time.
const PART_ROWS: u64 = 1 << 16;

/// Maximum number of steps of counters, unless another length is requested.
pub const DEFAULT_STEPS: u64 = 1000;

/// Why there is no timeline.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// Ids of processes of this many hosts do not fit.
    #[error("{0} hosts: at most {MAX_HOSTS} can be exported together")]
    TooManyHosts(usize),
    /// Steps of counters are too short.
    #[error(transparent)]
    TooManySteps(#[from] TooManySteps),
}

/// What is exported.
#[derive(Debug, Clone, Copy)]
pub struct ExportInput<'x, 'e> {
    /// A store that has all hosts.
    pub store: &'x Store,
    /// The hosts, in the order in which they are shown.
    pub hosts: &'x [&'x TimedHost<'e>],
    /// The corrections that their times are on, if there are any.
    pub clocks: Option<&'x Clocks>,
    /// The time in which what is exported starts; states and counters are cut to it.
    pub times: Times,
    /// Length of the steps of counters, ns; `None`: a round length that gives some hundreds of steps.
    pub every_ns: Option<u64>,
}

impl ExportInput<'_, '_> {
    /// Length of the steps of counters, ns.
    fn step_ns(&self) -> u64 {
        step_length(self.every_ns, self.times, self.hosts.iter().copied(), DEFAULT_STEPS)
    }

    /// The start of the first step, an instant before which the timeline has nothing.
    pub fn origin(&self) -> UnixNs {
        let Some((first, _)) = extent(self.hosts.iter().copied()) else { return UnixNs(0) };
        let start = self.times.start.unwrap_or(first).max(first).0;
        let start = start - start.rem_euclid(i128::from(self.step_ns()));
        UnixNs(start.clamp(0, i64::MAX.into()))
    }
}

/// Which CPUs of a host have events of the scheduler, for formats that have these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchedOfHost {
    /// The name of the host.
    pub host: String,
    /// The number of its CPU 0 among those of all hosts, or why there are no events.
    pub first_cpu: Result<u32, WithoutSched>,
}

/// Passes the timeline of hosts to a format, and returns how their CPUs are numbered. `progress` is called
/// with the ns of traced time that are done, of all hosts together. Linear in the spans, with a few
/// look-ups for each message.
///
/// # Errors
/// The store cannot be read, the output cannot be written, or there are too many hosts or steps.
pub fn export<T: Timeline>(
    input: &ExportInput<'_, '_>,
    to: &mut T,
    progress: &dyn Fn(u64),
) -> Result<Vec<SchedOfHost>, ExportError> {
    if input.hosts.len() > MAX_HOSTS {
        return Err(ExportError::TooManyHosts(input.hosts.len()));
    }
    let mut hosts = Vec::new();
    for &timed in input.hosts {
        hosts.extend(Host::open(input, timed, hosts.len() as u32, to)?);
    }
    let (mut flows, mut first_cpu, mut of_sched) = (0, 0, Vec::new());
    for host in &mut hosts {
        if T::HAS_SCHED && !host.store.entry().cpus.is_empty() {
            let first_cpu = sched::start(host, &mut first_cpu)?;
            of_sched.push(SchedOfHost { host: host.name.clone(), first_cpu });
        }
        clocks::emit(host, to)?;
        for part in host.parts() {
            threads::emit(host, part, &mut flows, to)?;
            cpus::emit(host, part, to)?;
            sched::emit(host, part, to)?;
            progress(part.end.0.abs_diff(part.start.0));
        }
        host.finish(to)?;
        sched::finish(host, to)?;
        counters::emit(host, to)?;
    }
    messages::emit(input, &mut hosts, &mut flows, to)?;
    to.finish()?;
    Ok(of_sched)
}
