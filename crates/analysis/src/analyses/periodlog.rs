//! `periodlog`: every period, or every phase of a program where no periods are requested.

use isochrone_kernel::{Period, Phase, Spans, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult, log_table};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::Table;
use crate::period_row::PeriodRow;
use crate::storage::log_rows::LogRows;
use crate::window::When;

/// Periods of a host.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PeriodLog {
    /// Whether periods are requested: else it lists phases.
    of_periods: bool,
    rows: LogRows<PeriodRow>,
}

impl Spans for PeriodLog {
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
        self.rows.rename(aliases);
    }

    fn absorb(&mut self, right: Self) {
        self.rows.absorb(right.rows);
    }
}

impl Analysis for PeriodLog {
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Durations, OptionKind::Periods];
    const NEEDS: &'static [Need] = &[Need::Threads];

    fn new(options: &Options, _: When) -> Self {
        Self { of_periods: options.periods, rows: LogRows::new(&options.scratch) }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let table = PeriodRow::table("log", "Period log").kept_in(&options.scratch).by_time("begin_ns");
        let row = |host: usize, period: &PeriodRow| period.row(&hosts[host], options);
        vec![log_table(table, hosts, options, |of| &of.rows, row)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, period, phase, thread, window};

    #[test]
    fn in_the_order_of_their_begins() {
        let spans = [
            period("irq", 1, Some((0, "switch")), thread(2), (12, 15)),
            period("switch", 0, None, thread(1), (10, 30)),
            phase("shop:request", thread(3), 5, 25),
        ];
        let header = "log: host begin_ns end_ns duration_ns period number parent parent_number ended_by pid tid comm \
                      begin_captures end_captures";
        let rows = [
            "h 1010 1030 20 switch 0 ? ? event 1 1 init irq = 0 ret = 1",
            "h 1012 1015 3 irq 1 switch 0 event 2 2 worker irq = 1 ret = 1",
            "h 1005 1025 20 shop:request ? ? ? event 2 3 worker ? ?",
        ];
        let periods = || Options { periods: true, ..Options::default() };
        check(AnalysisKind::PeriodLog, &spans, &periods(), When::default(), &[header, rows[0], rows[1]]);
        // Periods that are not asked for may come from mapped chunks.
        check(AnalysisKind::PeriodLog, &spans, &Options::default(), When::default(), &[header, rows[2]]);
        let filter = Filter { tids: vec![2], ..Filter::default() };
        let options = Options { filter, ..periods() };
        check(AnalysisKind::PeriodLog, &spans, &options, When::default(), &[header, rows[1]]);
        let filter = Filter { min_ns: Some(4), ..Filter::default() };
        let options = Options { filter, ..periods() };
        check(AnalysisKind::PeriodLog, &spans, &options, When::default(), &[header, rows[0]]);
        // What ends in the window counts.
        let when = When { window: window(14, 30), at: None };
        check(AnalysisKind::PeriodLog, &spans, &periods(), when, &[header, rows[1]]);
    }
}
