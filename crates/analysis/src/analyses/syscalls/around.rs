//! What every CPU ran when calls ended.

use std::collections::BTreeSet;

use isochrone_kernel::{Renames, Slice, Spans, ThreadId, Time};
use serde::{Deserialize, Serialize};

use super::Syscalls;
use crate::analysis::Heard;
use crate::instant::CpuDoing;
use crate::kept::Log;
use crate::running;
use crate::table::Table;

/// What every CPU ran. All of it is kept: which calls are asked about is known only when all of the trace is.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Around {
    ran: Log<Ran>,
}

/// A CPU that ran a thread.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Ran {
    cpu: u32,
    begin: Time,
    end: Time,
    thread: ThreadId,
}

impl Spans for Around {
    fn slice(&mut self, slice: &Slice) {
        let Slice { cpu, begin, end, thread, .. } = *slice;
        self.ran.push(Ran { cpu, begin, end, thread });
    }

    fn rename(&mut self, renames: &Renames) {
        self.ran.iter_mut().for_each(|ran| ran.thread = renames.of(ran.thread));
    }

    fn absorb(&mut self, right: Self) {
        self.ran.absorb(right.ran);
    }
}

impl Around {
    /// Adds the rows of all CPUs at each of some instants.
    pub(super) fn rows(&self, instants: &BTreeSet<Time>, heard: &Heard<'_, Syscalls>, table: &mut Table) {
        let ran = self.ran.sorted();
        let cpus: Vec<&[&Ran]> = ran.chunk_by(|a, b| a.cpu == b.cpu).collect();
        for &at in instants {
            for slices in &cpus {
                let before = slices.partition_point(|ran| ran.begin <= at);
                let here = slices[..before].last().filter(|ran| at < ran.end);
                let doing = CpuDoing {
                    cpu: slices[0].cpu,
                    thread: here.map(|ran| ran.thread),
                    since: here.map(|ran| ran.begin),
                    interrupt: None,
                };
                running::row(heard, at, &doing, None, false, table);
            }
        }
    }
}
