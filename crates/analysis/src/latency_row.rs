//! A scheduling latency as a row of a table.

use isochrone_kernel::{SchedLatency, ThreadId};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::stats::duration;
use crate::host::ThreadIdentity;
use crate::options::Options;
use crate::output::table::{Row, Table, Unit};
use crate::storage::log_rows::LogRow;
use crate::storage::sorted_rows::SortKey;

/// From the first wake-up of a thread to the switch to it. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LatencyRow {
    begin: RawNs,
    end: RawNs,
    cpu: u32,
    thread: ThreadId,
    waker: Option<ThreadId>,
    priority: i32,
}

impl From<&SchedLatency> for LatencyRow {
    fn from(latency: &SchedLatency) -> Self {
        let SchedLatency { thread, waker, cpu, priority, begin, end } = *latency;
        Self { begin, end, cpu, thread, waker, priority }
    }
}

impl LogRow for LatencyRow {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [Some(&mut self.thread), self.waker.as_mut()]
    }
}

impl SortKey for LatencyRow {
    fn sort_key(&self) -> u64 {
        duration(self.begin, self.end)
    }
}

impl LatencyRow {
    /// A table of waits without rows.
    pub(crate) fn table(name: &'static str, title: &'static str) -> Table {
        Table::new(name, title, &[])
            .with_columns(Unit::None, &["host"])
            .with_columns(Unit::Time, &["wakeup_ns", "switch_ns"])
            .with_columns(Unit::Ns, &["latency_ns"])
            .with_columns(
                Unit::None,
                &["priority", "cpu", "pid", "tid", "comm", "waker_pid", "waker_tid", "waker_comm"],
            )
    }

    /// Its row in that table, if the filter keeps the thread that waited.
    pub(crate) fn row<A: Analysis>(&self, result: &HostResult<'_, A>, options: &Options) -> Option<Row> {
        let who = result.who_at(self.thread, self.begin, options)?.cells();
        let waker = self
            .waker
            .map_or_else(ThreadIdentity::default, |waker| ThreadIdentity::at(result.host, waker, self.begin))
            .cells();
        let row = result.row().cells([self.begin, self.end].map(|at| result.time(at)));
        let row = row.cell(self.sort_key()).cell(self.priority).cell(self.cpu);
        Some(row.cells(who).cells(waker))
    }
}
