//! `schedlog`: every wait of a thread for a CPU, from the first wake-up to the switch to it.

use isochrone_kernel::{SchedLatency, SpanKind, Spans, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult, log_table};
use crate::latency_row::LatencyRow;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::Table;
use crate::storage::log_rows::LogRows;
use crate::window::When;

/// Waits of a host's threads.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SchedLog {
    waits: LogRows<LatencyRow>,
}

impl Spans for SchedLog {
    fn sched_latency(&mut self, latency: &SchedLatency) {
        self.waits.push(latency.into());
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.waits.rename(aliases);
    }

    fn absorb(&mut self, right: Self) {
        self.waits.absorb(right.waits);
    }
}

impl Analysis for SchedLog {
    const STORED: &'static [SpanKind] = &[SpanKind::SchedLatency];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Durations];
    const NEEDS: &'static [Need] = &[Need::Wakeups, Need::Waking, Need::Switches];

    fn new(options: &Options, _: When) -> Self {
        Self { waits: LogRows::new(&options.scratch) }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let table = LatencyRow::table("log", "Scheduling log").kept_in(&options.scratch).by_time("wakeup_ns");
        let row = |host: usize, wait: &LatencyRow| wait.row(&hosts[host], options);
        vec![log_table(table, hosts, options, |of| &of.waits, row)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, latency, thread, window};

    #[test]
    fn in_the_order_of_wake_ups() {
        let spans = [
            latency(thread(3), 1, 20, 45, 50),
            latency(thread(2), 0, -3, 10, 12),
            latency(thread(1), 0, 20, 80, 99),
        ];
        let all = [
            "log: host wakeup_ns switch_ns latency_ns priority cpu pid tid comm waker_pid waker_tid waker_comm",
            "h 1010 1012 2 -3 0 2 2 worker 1 1 init",
            "h 1045 1050 5 20 1 2 3 worker 1 1 init",
            "h 1080 1099 19 20 0 1 1 init 1 1 init",
        ];
        let filtered = |filter| Options { filter, ..Options::default() };
        check(AnalysisKind::SchedLog, &spans, &Options::default(), When::default(), &all);
        let options = filtered(Filter { tids: vec![3], ..Filter::default() });
        check(AnalysisKind::SchedLog, &spans, &options, When::default(), &[all[0], all[2]]);
        let options = filtered(Filter { min_ns: Some(3), max_ns: Some(10), ..Filter::default() });
        check(AnalysisKind::SchedLog, &spans, &options, When::default(), &[all[0], all[2]]);
        // What ends in the window counts.
        let when = When { window: window(11, 50), at: None };
        check(AnalysisKind::SchedLog, &spans, &Options::default(), when, &all[..2]);
    }
}
