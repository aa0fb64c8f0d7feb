//! `schedtop`: the longest waits of threads for a CPU.

use isochrone_kernel::{SchedLatency, SpanKind, Spans, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult, kept_rows, top_table};
use crate::latency_row::LatencyRow;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::Table;
use crate::storage::log_rows::LogRow;
use crate::storage::sorted_rows::TopRows;
use crate::window::When;

/// The longest waits of a host's threads.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SchedTop {
    waits: TopRows<LatencyRow>,
}

impl Spans for SchedTop {
    fn sched_latency(&mut self, latency: &SchedLatency) {
        self.waits.push(latency.into());
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.waits.iter_mut().for_each(|wait| wait.rename(aliases));
    }

    fn absorb(&mut self, right: Self) {
        self.waits.absorb(right.waits);
    }
}

impl Analysis for SchedTop {
    const STORED: &'static [SpanKind] = &[SpanKind::SchedLatency];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Durations];
    const NEEDS: &'static [Need] = &[Need::Wakeups, Need::Waking, Need::Switches];

    fn new(options: &Options, _: When) -> Self {
        Self { waits: TopRows::new(kept_rows(options)) }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let table = LatencyRow::table("top", "Scheduling top");
        let row = |host: usize, wait: &LatencyRow| wait.row(&hosts[host], options);
        vec![top_table(table, "latency_ns", hosts, options, |of| Some(&of.waits), row)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, latency, thread};

    #[test]
    fn the_longest_first() {
        let spans = [
            latency(thread(3), 1, 20, 45, 50),
            latency(thread(2), 0, -3, 10, 12),
            latency(thread(2), 1, 20, 22, 27),
            latency(thread(1), 0, 20, 80, 99),
        ];
        let header = "top: host wakeup_ns switch_ns latency_ns priority cpu pid tid comm waker_pid waker_tid waker_comm";
        let rows = [
            "h 1080 1099 19 20 0 1 1 init 1 1 init",
            "h 1022 1027 5 20 1 2 2 worker 1 1 init",
            "h 1045 1050 5 20 1 2 3 worker 1 1 init",
            "h 1010 1012 2 -3 0 2 2 worker 1 1 init",
        ];
        let check = |limit, tids: &[i32], expect: &[&str]| {
            let filter = Filter { tids: tids.to_vec(), ..Filter::default() };
            let options = Options { filter, limit, ..Options::default() };
            check(AnalysisKind::SchedTop, &spans, &options, When::default(), &[&[header], expect].concat());
        };
        check(None, &[], &rows);
        check(Some(2), &[], &rows[..2]);
        check(Some(1), &[3, 2], &rows[1..2]);
        check(Some(0), &[], &[]);
    }
}
