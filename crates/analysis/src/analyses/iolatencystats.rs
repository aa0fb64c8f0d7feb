//! `iolatencystats`: how many I/O calls of each kind there were and how long they took, and the same of
//! requests to each disk.

use isochrone_kernel::{BlockRequest, SpanKind, Spans, Syscall, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::stats::Stats;
use crate::file_io::durations::{Durations, IoDurations};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Table, Unit};
use crate::window::When;

/// Calls and requests of a host.
#[derive(Debug, Serialize, Deserialize)]
pub struct IoLatencyStats {
    durations: IoDurations<Stats>,
}

impl Durations for Stats {
    fn absorb(&mut self, other: Self) {
        Self::absorb(self, other);
    }
}

impl Spans for IoLatencyStats {
    fn syscall(&mut self, call: &Syscall<'_>) {
        self.durations.call(call, Stats::add);
    }

    fn block_request(&mut self, request: &BlockRequest) {
        self.durations.request(request, Stats::add);
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.durations.rename(aliases);
    }

    fn absorb(&mut self, right: Self) {
        self.durations.absorb(right.durations);
    }
}

impl Analysis for IoLatencyStats {
    const STORED: &'static [SpanKind] = &[SpanKind::Syscall, SpanKind::BlockRequest];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Durations, OptionKind::Sizes];
    const NEEDS: &'static [Need] = &[Need::Calls, Need::FileCalls, Need::Disks, Need::Dump];

    fn new(options: &Options, _: When) -> Self {
        Self { durations: IoDurations::new(options) }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let table = |name, title, key| {
            Stats::columns(Table::new(name, title, &[("host", Unit::None), (key, Unit::None)]))
        };
        let mut calls = table("calls", "I/O calls: latency", "kind");
        let mut disks = table("disks", "Disk requests: latency from issue to completion", "disk");
        for result in hosts {
            let (of_calls, of_disks) = result.of.durations.totals(result, options);
            for (table, totals) in [(&mut calls, of_calls), (&mut disks, of_disks)] {
                for (key, stats) in totals {
                    table.add(result.row().cell(key).cells(stats.cells()));
                }
            }
        }
        vec![calls, disks]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, io_spans};

    const CALLS: &str = "calls: host kind count min_ns avg_ns max_ns stdev_ns total_ns";
    const DISKS: &str = "disks: host disk count min_ns avg_ns max_ns stdev_ns total_ns";

    #[test]
    fn by_kind_and_disk() {
        let check = |filter, expect: &[&str]| {
            let options = Options { filter, ..Options::default() };
            check(AnalysisKind::IoLatencyStats, &io_spans(), &options, When::default(), expect);
        };
        let all = [
            CALLS,
            "h open 2 1 2 3 1.4142135623730951 4",
            "h read 2 5 7.5 10 3.5355339059327378 15",
            "h write 1 4 4 4 ? 4",
            "h transfer 1 6 6 6 ? 6",
            "h sync 1 20 20 20 ? 20",
            "h close 1 1 1 1 ? 1",
            DISKS,
            "h sda 2 4 7 10 4.242640687119285 14",
            "h 252:1 1 3 3 3 ? 3",
        ];
        check(Filter::default(), &all);
        // Those of the second worker, who asked the disk once; what is long; what moved enough.
        let expect = [CALLS, "h read 1 5 5 5 ? 5", "h sync 1 20 20 20 ? 20", DISKS, "h sda 1 4 4 4 ? 4"];
        check(Filter { tids: vec![3], ..Filter::default() }, &expect);
        let expect =
            [CALLS, "h read 1 10 10 10 ? 10", "h sync 1 20 20 20 ? 20", DISKS, "h sda 1 10 10 10 ? 10"];
        check(Filter { min_ns: Some(10), ..Filter::default() }, &expect);
        let expect = [CALLS, "h write 1 4 4 4 ? 4", "h transfer 1 6 6 6 ? 6", DISKS, all[8], all[9]];
        check(Filter { min_bytes: Some(200), ..Filter::default() }, &expect);
    }
}
