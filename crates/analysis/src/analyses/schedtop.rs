//! `schedtop`: the longest waits of threads for a CPU.

use std::cmp::Reverse;

use isochrone_kernel::{SchedLatency, Spans, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::latency_row::LatencyRow;
use crate::log_rows::LogRow;
use crate::needs::Need;
use crate::options::{Asks, Options};
use crate::sorted_rows::{SortKey, TopRows};
use crate::table::Table;
use crate::window::When;

/// The longest waits of a host's threads.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SchedTop {
    waits: TopRows<LatencyRow>,
    /// How many there were, kept or not.
    count: u64,
}

impl Spans for SchedTop {
    fn sched_latency(&mut self, latency: &SchedLatency) {
        self.waits.push(latency.into());
        self.count += 1;
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.waits.iter_mut().for_each(|wait| wait.rename(aliases));
    }

    fn absorb(&mut self, right: Self) {
        self.waits.absorb(right.waits);
        self.count += right.count;
    }
}

impl Analysis for SchedTop {
    const USES: &'static [Asks] = &[Asks::Threads, Asks::Cpus, Asks::Durations];
    const NEEDS: &'static [Need] = &[Need::Wakeups, Need::Waking, Need::Switches];

    fn new(options: &Options, _: When) -> Self {
        // Which threads are asked for is looked at in the end: until then none of their waits may be thrown away for
        // another's.
        Self { waits: TopRows::new(Self::kept(options)), count: 0 }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let mut table = LatencyRow::table("top", "Scheduling top");
        let mut waits: Vec<_> = hosts
            .iter()
            .flat_map(|result| result.of.waits.sorted().into_iter().map(move |wait| (result, wait)))
            .collect();
        // Stable: those that are as long stay in the order of hosts and times.
        waits.sort_by_key(|(_, wait)| Reverse(wait.sort_key()));
        table.rows.extend(waits.into_iter().filter_map(|(result, wait)| wait.row(result, options)));
        let mut table = table.draw("latency_ns", 0).top();
        if Self::kept(options).is_some() {
            table.of = Some(hosts.iter().map(|result| result.of.count).sum());
        }
        vec![table]
    }
}

impl SchedTop {
    /// How many of the longest are kept while reading.
    fn kept(options: &Options) -> Option<usize> {
        options.rows_of_top().filter(|_| !options.filter.has_threads())
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
