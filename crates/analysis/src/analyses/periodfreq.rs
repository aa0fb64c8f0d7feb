//! `periodfreq`: how the durations of periods, or of phases of programs, are distributed.

use std::collections::BTreeMap;

use isochrone_kernel::{CanonicalMap, Name, Period, Phase, Spans, ThreadAliases, ThreadId};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::histogram::Histogram;
use crate::figures::stats::duration;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::window::When;

/// Durations of a host's periods, by thread and name.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PeriodFreq {
    /// Whether periods are requested: else it lists phases.
    of_periods: bool,
    linear: bool,
    durations: CanonicalMap<(ThreadId, Name), Histogram>,
}

impl PeriodFreq {
    fn add(&mut self, thread: ThreadId, name: &Name, ns: u64) {
        self.durations.or_default((thread, name.clone())).add_to(ns, self.linear);
    }
}

impl Spans for PeriodFreq {
    fn period(&mut self, it: &Period) {
        if self.of_periods {
            self.add(it.thread, &it.name, duration(it.begin, it.end));
        }
    }

    fn phase(&mut self, it: &Phase) {
        if !self.of_periods {
            self.add(it.thread, &it.name, duration(it.begin, it.end));
        }
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.durations.rekey(|(thread, name)| (aliases.of(*thread), name.clone()), Histogram::join);
    }

    fn absorb(&mut self, right: Self) {
        self.durations.absorb(right.durations, Histogram::join);
    }
}

impl Analysis for PeriodFreq {
    const ACCEPTS: &'static [OptionKind] =
        &[OptionKind::Threads, OptionKind::Durations, OptionKind::Distributions, OptionKind::Periods];
    const NEEDS: &'static [Need] = &[Need::Threads];

    fn new(options: &Options, _: When) -> Self {
        Self { of_periods: options.periods, linear: options.linear, ..Self::default() }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let keyed = |name, title| Table::new(name, title, &[]).with_columns(Unit::None, &["host", "period"]);
        let mut freq = Histogram::freq_table(keyed("freq", "Period duration frequency distribution"));
        let mut quantiles = Histogram::quantiles_table(keyed("quantiles", "Quantiles of period durations"));
        for result in hosts {
            let mut names: BTreeMap<&Name, Histogram> = BTreeMap::new();
            for ((thread, name), histogram) in result.of.durations.sorted() {
                if result.who(*thread, options).is_some() {
                    names.entry(name).or_default().absorb(histogram);
                }
            }
            for (name, histogram) in &names {
                let key = [result.name(), Cell::text(name)];
                histogram.rows(&key, options.bars, &mut freq, &mut quantiles);
            }
        }
        vec![freq, quantiles]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, period, phase, thread};

    #[test]
    fn by_name() {
        let spans = [
            period("irq", 1, None, thread(2), (12, 15)),
            period("irq", 2, None, thread(3), (20, 25)),
            phase("shop:request", thread(3), 5, 25),
        ];
        let options = Options { periods: true, bars: 4, ..Options::default() };
        let expect = [
            "freq: host period lo_ns hi_ns count",
            "h irq 3 3 1",
            "h irq 4 4 0",
            "h irq 5 5 1",
            "quantiles: host period count p50_ns p90_ns p99_ns p999_ns max_ns",
            "h irq 2 3 5 5 5 5",
        ];
        check(AnalysisKind::PeriodFreq, &spans, &options, When::default(), &expect);
    }
}
