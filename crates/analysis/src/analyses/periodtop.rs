//! `periodtop`: the longest periods, or phases of programs.

use isochrone_kernel::{Period, Phase, Spans, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult, kept_rows, top_table};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::Table;
use crate::period_row::PeriodRow;
use crate::storage::log_rows::LogRow;
use crate::storage::sorted_rows::TopRows;
use crate::window::When;

/// The longest periods of a host.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PeriodTop {
    /// Whether periods are requested: else it lists phases.
    of_periods: bool,
    rows: TopRows<PeriodRow>,
}

impl Spans for PeriodTop {
    fn period(&mut self, period: &Period) {
        if self.of_periods {
            self.rows.push(period.into());
        }
    }

    fn phase(&mut self, phase: &Phase) {
        if !self.of_periods {
            self.rows.push(phase.into());
        }
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.rows.iter_mut().for_each(|row| row.rename(aliases));
    }

    fn absorb(&mut self, right: Self) {
        self.rows.absorb(right.rows);
    }
}

impl Analysis for PeriodTop {
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Durations, OptionKind::Periods];
    const NEEDS: &'static [Need] = &[Need::Threads];

    fn new(options: &Options, _: When) -> Self {
        Self { of_periods: options.periods, rows: TopRows::new(kept_rows(options)) }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let table = PeriodRow::table("top", "Period top");
        let row = |host: usize, period: &PeriodRow| period.row(&hosts[host], options);
        vec![top_table(table, "duration_ns", hosts, options, |of| Some(&of.rows), row)]
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
