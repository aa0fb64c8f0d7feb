//! What every CPU ran when calls ended.

use std::collections::BTreeSet;

use isochrone_kernel::{Slice, Spans, ThreadAliases, ThreadId};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use super::Syscalls;
use crate::analysis::HostResult;
use crate::cpu_states;
use crate::output::table::Table;
use crate::snapshot::CpuSnapshot;
use crate::storage::sorted_rows::SortedRows;

/// What every CPU ran. All of it is kept: which calls are asked about is known only when all of the trace is.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CpuContext {
    ran: SortedRows<RunningSlice>,
}

/// A CPU that ran a thread.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct RunningSlice {
    cpu: u32,
    begin: RawNs,
    end: RawNs,
    thread: ThreadId,
}

impl Spans for CpuContext {
    fn slice(&mut self, slice: &Slice) {
        let Slice { cpu, begin, end, thread, .. } = *slice;
        self.ran.push(RunningSlice { cpu, begin, end, thread });
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.ran.iter_mut().for_each(|ran| ran.thread = aliases.of(ran.thread));
    }

    fn absorb(&mut self, right: Self) {
        self.ran.absorb(right.ran);
    }
}

impl CpuContext {
    /// Adds the rows of all CPUs at each of some instants.
    pub(super) fn rows(
        &self,
        instants: &BTreeSet<RawNs>,
        result: &HostResult<'_, Syscalls>,
        table: &mut Table,
    ) {
        let ran = self.ran.sorted();
        let cpus: Vec<&[&RunningSlice]> = ran.chunk_by(|a, b| a.cpu == b.cpu).collect();
        for &at in instants {
            for slices in &cpus {
                let before = slices.partition_point(|ran| ran.begin <= at);
                let here = slices[..before].last().filter(|ran| at < ran.end);
                let doing = CpuSnapshot {
                    cpu: slices[0].cpu,
                    thread: here.map(|ran| ran.thread),
                    since: here.map(|ran| ran.begin),
                    interrupt: None,
                };
                cpu_states::row(result, at, &doing, None, false, table);
            }
        }
    }
}
