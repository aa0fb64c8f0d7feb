//! `iolatencyfreq`: how the durations of I/O calls of each kind are distributed, and of requests to each
//! disk.

use isochrone_kernel::{BlockRequest, SpanKind, Spans, Syscall, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::histogram::Histogram;
use crate::file_io::durations::{Durations, IoDurations};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::window::When;

/// Calls and requests of a host.
#[derive(Debug, Serialize, Deserialize)]
pub struct IoLatencyFreq {
    linear: bool,
    durations: IoDurations<Histogram>,
}

impl Durations for Histogram {
    fn absorb(&mut self, other: Self) {
        self.join(other);
    }
}

impl Spans for IoLatencyFreq {
    fn syscall(&mut self, call: &Syscall<'_>) {
        let linear = self.linear;
        self.durations.call(call, |histogram, ns| histogram.add_to(ns, linear));
    }

    fn block_request(&mut self, request: &BlockRequest) {
        let linear = self.linear;
        self.durations.request(request, |histogram, ns| histogram.add_to(ns, linear));
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.durations.rename(aliases);
    }

    fn absorb(&mut self, right: Self) {
        self.durations.absorb(right.durations);
    }
}

impl Analysis for IoLatencyFreq {
    const STORED: &'static [SpanKind] = &[SpanKind::Syscall, SpanKind::BlockRequest];
    const ACCEPTS: &'static [OptionKind] =
        &[OptionKind::Threads, OptionKind::Durations, OptionKind::Sizes, OptionKind::Distributions];
    const NEEDS: &'static [Need] = &[Need::Calls, Need::FileCalls, Need::Disks, Need::Dump];

    fn new(options: &Options, _: When) -> Self {
        Self { linear: options.linear, durations: IoDurations::new(options) }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let keyed =
            |name, title| Table::new(name, title, &[]).with_columns(Unit::None, &["host", "of", "name"]);
        let mut freq = Histogram::freq_table(keyed("freq", "Frequency distribution of I/O latencies"));
        let mut quantiles = Histogram::quantiles_table(keyed("quantiles", "Quantiles of I/O latencies"));
        for result in hosts {
            let (calls, disks) = result.of.durations.totals(result, options);
            for (of, totals) in [("calls", calls), ("disk", disks)] {
                for (name, histogram) in totals {
                    let key = [result.name(), Cell::text(of), name];
                    histogram.rows(&key, options.bars, &mut freq, &mut quantiles);
                }
            }
        }
        vec![freq, quantiles]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, io_spans};

    #[test]
    fn by_kind_and_disk() {
        let filter = Filter { tids: vec![2], min_ns: Some(2), max_ns: Some(10), ..Filter::default() };
        check(
            AnalysisKind::IoLatencyFreq,
            &io_spans(),
            &Options { filter, bars: 2, linear: true, ..Options::default() },
            When::default(),
            &[
                "freq: host of name lo_ns hi_ns count",
                "h calls open 3 3 1",
                "h calls read 10 10 1",
                "h calls write 4 4 1",
                "h calls transfer 6 6 1",
                "h disk sda 10 10 1",
                "quantiles: host of name count p50_ns p90_ns p99_ns p999_ns max_ns",
                "h calls open 1 3 3 3 3 3",
                "h calls read 1 10 10 10 10 10",
                "h calls write 1 4 4 4 4 4",
                "h calls transfer 1 6 6 6 6 6",
                "h disk sda 1 10 10 10 10 10",
            ],
        );
    }
}
