//! A scheduling latency as a row of a table.

use isochrone_kernel::{SchedLatency, ThreadId, Time};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::host::ThreadIdentity;
use crate::log_rows::LogRow;
use crate::options::Options;
use crate::sorted_rows::SortKey;
use crate::stats::duration;
use crate::table::{Cell, Table, Unit};

/// From the first wake-up of a thread to the switch to it. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LatencyRow {
    begin: Time,
    end: Time,
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
        const COLUMNS: &[(&str, Unit)] = &[
            ("host", Unit::None),
            ("wakeup_ns", Unit::Time),
            ("switch_ns", Unit::Time),
            ("latency_ns", Unit::Ns),
            ("priority", Unit::None),
            ("cpu", Unit::None),
            ("pid", Unit::None),
            ("tid", Unit::None),
            ("comm", Unit::None),
            ("waker_pid", Unit::None),
            ("waker_tid", Unit::None),
            ("waker_comm", Unit::None),
        ];
        Table::new(name, title, COLUMNS)
    }

    /// Its row in that table, if the filter keeps the thread that waited.
    pub(crate) fn row<A: Analysis>(
        &self,
        result: &HostResult<'_, A>,
        options: &Options,
    ) -> Option<Vec<Cell>> {
        let who = result.who_at(self.thread, self.begin, options)?.cells();
        let waker = self
            .waker
            .map_or_else(ThreadIdentity::default, |waker| ThreadIdentity::at(result.host, waker, self.begin))
            .cells();
        let mut cells = vec![
            result.name(),
            result.time(self.begin),
            result.time(self.end),
            self.sort_key().into(),
            self.priority.into(),
            self.cpu.into(),
        ];
        cells.extend(who.into_iter().chain(waker));
        Some(cells)
    }
}
