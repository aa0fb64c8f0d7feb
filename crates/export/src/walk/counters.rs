//! Counters: busy CPUs, threads that waited for one, bytes through disks and networks, by steps of time as
//! `usage` has them.

use std::io;

use isochrone_analysis::Steps;
use isochrone_time::{RawNs, UnixNs, Window};

use super::host::Host;
use crate::timeline::{Timeline, TrackKind};

/// What is counted in a step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counted {
    BusyCpus,
    UnknownCpus,
    WaitingThreads,
    DiskRead,
    DiskWritten,
    NetworkReceived,
    NetworkSent,
}

/// Names and units of the counters.
const ALL: [(Counted, &str, &str); 7] = [
    (Counted::BusyCpus, "CPUs busy", "CPUs"),
    (Counted::UnknownCpus, "CPUs unknown", "CPUs"),
    (Counted::WaitingThreads, "threads waiting for a CPU", "threads"),
    (Counted::DiskRead, "disk read", "bytes/s"),
    (Counted::DiskWritten, "disk written", "bytes/s"),
    (Counted::NetworkReceived, "network received", "bytes/s"),
    (Counted::NetworkSent, "network sent", "bytes/s"),
];

/// The sums of all steps of a host: ns, or bytes.
#[derive(Debug)]
pub(super) struct Counters {
    steps: Steps,
    sums: [Vec<u64>; ALL.len()],
}

impl Counters {
    pub(super) fn new(steps: Steps) -> Self {
        let count = steps.count() as usize;
        Self { steps, sums: std::array::from_fn(|_| vec![0; count]) }
    }

    /// Counts the time from a start to an end.
    pub(super) fn add_time(&mut self, what: Counted, start: RawNs, end: RawNs) {
        let sums = &mut self.sums[what as usize];
        for (step, ns) in self.steps.parts(start, end) {
            if let Some(sum) = sums.get_mut(step as usize) {
                *sum += ns;
            }
        }
    }

    /// Counts bytes at an instant.
    pub(super) fn add_bytes(&mut self, what: Counted, at: RawNs, bytes: u32) {
        let step = self.steps.at(at);
        if let Some(sum) = step.and_then(|step| self.sums[what as usize].get_mut(step as usize)) {
            *sum += u64::from(bytes);
        }
    }
}

/// Passes the counters of a host that are not 0 throughout.
pub(super) fn emit<T: Timeline>(host: &Host<'_>, to: &mut T) -> io::Result<()> {
    let Counters { steps, sums } = &host.counters;
    for (what, name, unit) in ALL {
        let sums = &sums[what as usize];
        if sums.iter().all(|&sum| sum == 0) {
            continue;
        }
        let track = to.track(&TrackKind::Counter { parent: host.track, name, unit })?;
        let scale = if unit == "bytes/s" { 1e9 } else { 1.0 };
        // Steps in which the host was traced.
        let Window { start, end } = host.window;
        for (step, _) in steps.parts(start, end) {
            let Some(&sum) = sums.get(step as usize) else { continue };
            let start = steps.instants(step, |raw| host.timing.unix(raw)).start;
            let at = UnixNs(start.ns().clamp(0, i64::MAX.into()));
            to.counter(track, at, sum as f64 * scale / steps.every_ns.max(1) as f64)?;
        }
    }
    Ok(())
}
