//! `schedstats`: how long threads waited for a CPU after they had been woken: of a host, by thread, by
//! priority.

use std::collections::BTreeMap;

use isochrone_kernel::{CanonicalMap, SchedLatency, SpanKind, Spans, ThreadAliases, ThreadId};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::stats::{Stats, duration};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::window::When;

/// Waits of a host's threads, by the priority that each had when it was switched to.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SchedStats {
    waits: CanonicalMap<(ThreadId, i32), Stats>,
}

impl Spans for SchedStats {
    fn sched_latency(&mut self, latency: &SchedLatency) {
        self.waits.or_default((latency.thread, latency.priority)).add(duration(latency.begin, latency.end));
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.waits.rekey(|&(thread, priority)| (aliases.of(thread), priority), Stats::absorb);
    }

    fn absorb(&mut self, right: Self) {
        self.waits.absorb(right.waits, Stats::absorb);
    }
}

impl Analysis for SchedStats {
    const STORED: &'static [SpanKind] = &[SpanKind::SchedLatency];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Durations];
    const NEEDS: &'static [Need] = &[Need::Wakeups, Need::Waking, Need::Switches];

    fn new(_: &Options, _: When) -> Self {
        Self::default()
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let table = |name, title, key: &[&'static str]| {
            Stats::columns(Table::new(name, title, &[]).with_columns(Unit::None, key))
        };
        let mut total = table("total", "Scheduling latency stats (total)", &["host"]);
        let mut threads =
            table("threads", "Scheduling latency stats (per-TID)", &["host", "pid", "tid", "comm"])
                .with_columns(Unit::None, &["priorities"]);
        let mut priorities =
            table("priorities", "Scheduling latency stats (per-prio)", &["host", "priority"]);
        for result in hosts {
            let mut by_priority: BTreeMap<i32, Stats> = BTreeMap::new();
            for of_thread in result.of.waits.sorted().chunk_by(|a, b| a.0.0 == b.0.0) {
                let Some(who) = result.who(of_thread[0].0.0, options) else { continue };
                let mut all = Stats::default();
                let mut names = Vec::new();
                for ((_, priority), stats) in of_thread {
                    all.absorb(**stats);
                    by_priority.entry(*priority).or_default().absorb(**stats);
                    names.push(priority.to_string());
                }
                let row = result.row().cells(who.cells()).cells(all.cells());
                threads.add(row.cell(Cell::text(&names.join(" "))));
            }
            let mut all = Stats::default();
            for (&priority, stats) in &by_priority {
                all.absorb(*stats);
                priorities.add(result.row().cell(priority).cells(stats.cells()));
            }
            let known = |cell| result.known(Need::Switches, result.known(Need::Wakeups, cell));
            total.add(result.row().cells(all.cells().map(known)));
        }
        vec![total, threads, priorities]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, latency, thread};

    const TOTAL: &str = "total: host count min_ns avg_ns max_ns stdev_ns total_ns";
    const THREADS: &str =
        "threads: host pid tid comm count min_ns avg_ns max_ns stdev_ns total_ns priorities";
    const PRIORITIES: &str = "priorities: host priority count min_ns avg_ns max_ns stdev_ns total_ns";

    #[test]
    fn by_thread_and_priority() {
        let spans = [
            latency(thread(2), 0, 20, 10, 12),
            latency(thread(2), 1, -3, 20, 24),
            latency(thread(3), 1, 20, 40, 46),
            latency(thread(1), 0, 20, 80, 80),
        ];
        let check = |tids: &[i32], expect: &[&str]| {
            let options =
                Options { filter: Filter { tids: tids.to_vec(), ..Filter::default() }, ..Options::default() };
            check(AnalysisKind::SchedStats, &spans, &options, When::default(), expect);
        };
        check(
            &[],
            &[
                TOTAL,
                "h 4 0 3 6 2.581988897471611 12",
                THREADS,
                "h 1 1 init 1 0 0 0 ? 0 20",
                "h 2 2 worker 2 2 3 4 1.4142135623730951 6 -3 20",
                "h 2 3 worker 1 6 6 6 ? 6 20",
                PRIORITIES,
                "h -3 1 4 4 4 ? 4",
                "h 20 3 0 2.6666666666666665 6 3.0550504633038935 8",
            ],
        );
        check(
            &[3],
            &[TOTAL, "h 1 6 6 6 ? 6", THREADS, "h 2 3 worker 1 6 6 6 ? 6 20", PRIORITIES, "h 20 1 6 6 6 ? 6"],
        );
        check(&[77], &[TOTAL, "h 0 ? ? ? ? 0", THREADS, PRIORITIES]);
    }
}
