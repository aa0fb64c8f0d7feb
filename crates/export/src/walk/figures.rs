//! Counters: how many CPUs were busy, how many threads waited for one, what went through disks and networks, by steps of time as `usage` has them.

use std::io;

use isochrone_analysis::Steps;

use super::host::Host;
use crate::timeline::{Place, Timeline};

/// What is counted in a step.
#[derive(Debug, Clone, Copy)]
enum Counted {
    Busy,
    Unknown,
    Wait,
    Read,
    Written,
    Received,
    Sent,
}

/// What is counted, with what it is called and what it is shown as.
const ALL: [(Counted, &str, &str); 7] = [
    (Counted::Busy, "CPUs busy", "CPUs"),
    (Counted::Unknown, "CPUs unknown", "CPUs"),
    (Counted::Wait, "threads waiting for a CPU", "threads"),
    (Counted::Read, "disk read", "bytes/s"),
    (Counted::Written, "disk written", "bytes/s"),
    (Counted::Received, "network received", "bytes/s"),
    (Counted::Sent, "network sent", "bytes/s"),
];

/// The sums of all steps of a host: ns, or bytes.
#[derive(Debug)]
pub(super) struct Figures {
    steps: Steps,
    sums: [Vec<u64>; ALL.len()],
}

impl Figures {
    pub(super) fn new(steps: Steps) -> Self {
        let count = steps.count() as usize;
        Self { steps, sums: std::array::from_fn(|_| vec![0; count]) }
    }

    fn time(&mut self, what: Counted, begin: i64, end: i64) {
        let sums = &mut self.sums[what as usize];
        for (step, ns) in self.steps.parts(begin, end) {
            if let Some(sum) = sums.get_mut(step as usize) {
                *sum += ns;
            }
        }
    }

    fn bytes(&mut self, what: Counted, at: i64, bytes: u32) {
        let step = self.steps.at(at);
        if let Some(sum) = step.and_then(|step| self.sums[what as usize].get_mut(step as usize)) {
            *sum += u64::from(bytes);
        }
    }

    /// A CPU was busy for a time, raw ns.
    pub(super) fn busy(&mut self, begin: i64, end: i64) {
        self.time(Counted::Busy, begin, end);
    }

    /// It is not known what a CPU did.
    pub(super) fn unknown(&mut self, begin: i64, end: i64) {
        self.time(Counted::Unknown, begin, end);
    }

    /// A thread waited for a CPU.
    pub(super) fn wait(&mut self, begin: i64, end: i64) {
        self.time(Counted::Wait, begin, end);
    }

    /// A request to a disk is complete.
    pub(super) fn disk(&mut self, at: i64, is_write: bool, bytes: u32) {
        self.bytes(if is_write { Counted::Written } else { Counted::Read }, at, bytes);
    }

    /// A packet passes.
    pub(super) fn packet(&mut self, at: i64, is_sent: bool, bytes: u32) {
        self.bytes(if is_sent { Counted::Sent } else { Counted::Received }, at, bytes);
    }
}

/// Passes the counters of a host of which there is anything to say.
pub(super) fn emit<T: Timeline>(host: &Host<'_>, to: &mut T) -> io::Result<()> {
    let Figures { steps, sums } = &host.figures;
    for (what, name, unit) in ALL {
        let sums = &sums[what as usize];
        // That nothing is unknown is worth knowing where CPUs are traced; where no disk is, there is no counter of it.
        if sums.iter().all(|&sum| sum == 0) {
            continue;
        }
        let row = to.row(&Place::Counter { parent: host.row, name, unit })?;
        let scale = match unit {
            "bytes/s" => 1e9,
            _ => 1.0,
        };
        // Those in which the host was traced.
        for (step, _) in steps.parts(host.window.0, host.window.1) {
            let Some(&sum) = sums.get(step as usize) else { continue };
            let (begin, _) = steps.instants(step, |raw| host.timing.unix_ns(raw));
            let at = begin.clamp(0, i64::MAX.into()) as i64;
            to.counter(row, at, sum as f64 * scale / steps.every_ns.max(1) as f64)?;
        }
    }
    Ok(())
}
