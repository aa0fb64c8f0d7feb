//! `schedfreq`: how the waits of threads for a CPU are distributed: of a host, by thread, by priority.

use std::collections::BTreeMap;

use isochrone_kernel::{CanonicalMap, SchedLatency, SpanKind, Spans, ThreadAliases, ThreadId};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::histogram::Histogram;
use crate::figures::stats::duration;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::window::When;

/// Waits of a host's threads, by the priority that each had when it was switched to.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SchedFreq {
    linear: bool,
    waits: CanonicalMap<(ThreadId, i32), Histogram>,
}

impl Spans for SchedFreq {
    fn sched_latency(&mut self, latency: &SchedLatency) {
        let ns = duration(latency.begin, latency.end);
        self.waits.or_default((latency.thread, latency.priority)).add_to(ns, self.linear);
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.waits.rekey(|&(thread, priority)| (aliases.of(thread), priority), Histogram::join);
    }

    fn absorb(&mut self, right: Self) {
        self.waits.absorb(right.waits, Histogram::join);
    }
}

/// A distribution and its quantiles, as two tables.
struct Pair {
    freq: Table,
    quantiles: Table,
}

impl Pair {
    fn new(names: [&'static str; 2], titles: [&'static str; 2], key: &[&'static str]) -> Self {
        let keyed = |index: usize| Table::new(names[index], titles[index], &[]).with_columns(Unit::None, key);
        Self { freq: Histogram::freq_table(keyed(0)), quantiles: Histogram::quantiles_table(keyed(1)) }
    }

    fn add(&mut self, key: &[Cell], histogram: &Histogram, options: &Options) {
        histogram.rows(key, options.bars, &mut self.freq, &mut self.quantiles);
    }
}

impl Analysis for SchedFreq {
    const STORED: &'static [SpanKind] = &[SpanKind::SchedLatency];
    const ACCEPTS: &'static [OptionKind] =
        &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Durations, OptionKind::Distributions];
    const NEEDS: &'static [Need] = &[Need::Wakeups, Need::Waking, Need::Switches];

    fn new(options: &Options, _: When) -> Self {
        Self { linear: options.linear, waits: CanonicalMap::default() }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let mut total = Pair::new(
            ["freq", "quantiles"],
            ["Scheduling latency frequency distribution", "Quantiles of scheduling latencies"],
            &["host"],
        );
        let mut threads = Pair::new(
            ["thread_freq", "thread_quantiles"],
            [
                "Scheduling latency frequency distribution by thread",
                "Quantiles of scheduling latencies by thread",
            ],
            &["host", "pid", "tid", "comm"],
        );
        let mut priorities = Pair::new(
            ["priority_freq", "priority_quantiles"],
            [
                "Scheduling latency frequency distribution by priority",
                "Quantiles of scheduling latencies by priority",
            ],
            &["host", "priority"],
        );
        for result in hosts {
            let mut by_priority: BTreeMap<i32, Histogram> = BTreeMap::new();
            for of_thread in result.of.waits.sorted().chunk_by(|a, b| a.0.0 == b.0.0) {
                let Some(who) = result.who(of_thread[0].0.0, options) else { continue };
                let mut all = Histogram::default();
                for ((_, priority), histogram) in of_thread {
                    all.absorb(histogram);
                    by_priority.entry(*priority).or_default().absorb(histogram);
                }
                let key: Vec<Cell> = [result.name()].into_iter().chain(who.cells()).collect();
                threads.add(&key, &all, options);
            }
            let mut all = Histogram::default();
            for (&priority, histogram) in &by_priority {
                all.absorb(histogram);
                priorities.add(&[result.name(), priority.into()], histogram, options);
            }
            total.add(&[result.name()], &all, options);
        }
        threads = Pair { freq: threads.freq.detail(), quantiles: threads.quantiles.detail() };
        [total, threads, priorities].into_iter().flat_map(|pair| [pair.freq, pair.quantiles]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, latency, thread};

    #[test]
    fn rows_that_grow_and_rows_that_do_not() {
        let spans = [
            latency(thread(2), 0, 20, 10, 12),
            latency(thread(2), 1, -3, 20, 30),
            latency(thread(1), 0, 20, 80, 81),
        ];
        let check = |linear, rows: [&[&str]; 3]| {
            let filter = Filter { tids: vec![2], ..Filter::default() };
            let options = Options { bars: 4, linear, filter, ..Options::default() };
            let mut expect = vec!["freq: host lo_ns hi_ns count"];
            expect.extend(rows[0]);
            expect.extend(["quantiles: host count p50_ns p90_ns p99_ns p999_ns max_ns", "h 2 2 10 10 10 10"]);
            expect.push("thread_freq: host pid tid comm lo_ns hi_ns count");
            expect.extend(rows[1]);
            expect.push("thread_quantiles: host pid tid comm count p50_ns p90_ns p99_ns p999_ns max_ns");
            expect.extend(["h 2 2 worker 2 2 10 10 10 10", "priority_freq: host priority lo_ns hi_ns count"]);
            expect.extend(rows[2]);
            expect.push("priority_quantiles: host priority count p50_ns p90_ns p99_ns p999_ns max_ns");
            expect.extend(["h -3 1 10 10 10 10 10", "h 20 1 2 2 2 2 2"]);
            check(AnalysisKind::SchedFreq, &spans, &options, When::default(), &expect);
        };
        check(
            false,
            [
                &["h 2 3 1", "h 4 7 0", "h 8 10 1"],
                &["h 2 2 worker 2 3 1", "h 2 2 worker 4 7 0", "h 2 2 worker 8 10 1"],
                &["h -3 10 10 1", "h 20 2 2 1"],
            ],
        );
        check(
            true,
            [
                &["h 2 3 1", "h 4 5 0", "h 6 7 0", "h 8 10 1"],
                &["h 2 2 worker 2 3 1", "h 2 2 worker 4 5 0", "h 2 2 worker 6 7 0", "h 2 2 worker 8 10 1"],
                &["h -3 10 10 1", "h 20 2 2 1"],
            ],
        );
    }
}
