//! `periodtop`: the longest periods, or phases of programs.

use std::cmp::Reverse;

use isochrone_kernel::{Period, Phase, Spans, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::log_rows::LogRow;
use crate::needs::Need;
use crate::options::{Asks, Options};
use crate::period_row::PeriodRow;
use crate::sorted_rows::{SortKey, TopRows};
use crate::table::Table;
use crate::window::When;

/// The longest periods of a host.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PeriodTop {
    /// Whether periods are asked for: else it lists phases.
    of_periods: bool,
    rows: TopRows<PeriodRow>,
    /// How many there were, kept or not.
    count: u64,
}

impl PeriodTop {
    fn push(&mut self, row: PeriodRow) {
        self.rows.push(row);
        self.count += 1;
    }

    /// How many of the longest are kept while reading. Threads are looked at in the end: until then none of theirs may be thrown
    /// away for another's.
    fn kept(options: &Options) -> Option<usize> {
        options.rows_of_top().filter(|_| !options.filter.has_threads())
    }
}

impl Spans for PeriodTop {
    fn period(&mut self, period: &Period) {
        self.push(period.into());
    }

    fn phase(&mut self, phase: &Phase) {
        if !self.of_periods {
            self.push(phase.into());
        }
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.rows.iter_mut().for_each(|row| row.rename(aliases));
    }

    fn absorb(&mut self, right: Self) {
        self.rows.absorb(right.rows);
        self.count += right.count;
    }
}

impl Analysis for PeriodTop {
    const USES: &'static [Asks] = &[Asks::Threads, Asks::Durations, Asks::Periods];
    const NEEDS: &'static [Need] = &[Need::Threads];

    fn new(options: &Options, _: When) -> Self {
        Self { of_periods: options.periods, rows: TopRows::new(Self::kept(options)), count: 0 }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let mut table = PeriodRow::table("top", "Period top");
        let mut rows: Vec<_> = hosts
            .iter()
            .flat_map(|result| result.of.rows.sorted().into_iter().map(move |row| (result, row)))
            .collect();
        // Stable: those that are as long stay in the order of hosts and times.
        rows.sort_by_key(|(_, row)| Reverse(row.sort_key()));
        table.rows.extend(rows.into_iter().filter_map(|(result, row)| row.row(result, options)));
        let mut table = table.draw("duration_ns", 0).top();
        if Self::kept(options).is_some() {
            table.of = Some(hosts.iter().map(|result| result.of.count).sum());
        }
        vec![table]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, period, thread};

    #[test]
    fn the_longest_first() {
        let spans = [
            period("irq", 1, Some((0, "switch")), thread(2), (12, 15)),
            period("switch", 0, None, thread(1), (10, 30)),
            period("irq", 2, Some((0, "switch")), thread(2), (20, 24)),
        ];
        let options = Options { periods: true, limit: Some(2), ..Options::default() };
        let expect = [
            "top: host begin_ns end_ns duration_ns period number parent parent_number ended_by pid tid comm \
             begin_captures end_captures",
            "h 1010 1030 20 switch 0 ? ? event 1 1 init irq = 0 ret = 1",
            "h 1020 1024 4 irq 2 switch 0 event 2 2 worker irq = 2 ret = 1",
        ];
        check(AnalysisKind::PeriodTop, &spans, &options, When::default(), &expect);
    }
}
