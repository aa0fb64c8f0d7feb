//! `irqlog`: every run of an interrupt's handler and of a softirq.

use isochrone_kernel::{Irq, Softirq, SpanKind, Spans, ThreadAliases, ThreadId};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult, log_table};
use crate::figures::stats::duration;
use crate::interrupt::{InterruptFilter, InterruptSource};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::storage::log_rows::{LogRow, LogRows};
use crate::window::When;

/// Interrupts of a host's CPUs.
#[derive(Debug, Serialize, Deserialize)]
pub struct IrqLog {
    selected: InterruptFilter,
    runs: LogRows<Run>,
}

/// A run. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Run {
    begin: RawNs,
    cpu: u32,
    end: RawNs,
    source: InterruptSource,
    raised: Option<RawNs>,
}

impl LogRow for Run {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [None, None]
    }
}

impl Spans for IrqLog {
    fn irq(&mut self, irq: &Irq) {
        if self.selected.hard(irq) {
            let Irq { begin, cpu, end, .. } = *irq;
            self.runs.push(Run { begin, cpu, end, source: InterruptSource::of(irq), raised: None });
        }
    }

    fn softirq(&mut self, softirq: &Softirq) {
        if self.selected.soft(softirq.vector) {
            let Softirq { begin, cpu, end, raised, vector } = *softirq;
            self.runs.push(Run { begin, cpu, end, source: InterruptSource::Soft(vector), raised });
        }
    }

    fn rename(&mut self, _: &ThreadAliases) {}

    fn absorb(&mut self, right: Self) {
        self.runs.absorb(right.runs);
    }
}

impl Analysis for IrqLog {
    const STORED: &'static [SpanKind] = &[SpanKind::Irq, SpanKind::Softirq];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Cpus, OptionKind::Durations, OptionKind::Interrupts];
    const NEEDS: &'static [Need] = &[Need::Interrupts, Need::HardInterrupts, Need::Softirqs, Need::Raises];

    fn new(options: &Options, _: When) -> Self {
        Self { selected: InterruptFilter::new(options), runs: LogRows::new(&options.scratch) }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let table = Table::new("log", "Interrupts", &[])
            .with_columns(Unit::None, &["host"])
            .with_columns(Unit::Time, &["begin_ns", "end_ns"])
            .with_columns(Unit::Ns, &["duration_ns"])
            .with_columns(Unit::None, &["cpu", "type", "number", "name"])
            .with_columns(Unit::Time, &["raised_ns"])
            .kept_in(&options.scratch)
            .by_time("begin_ns");
        let row = |host: usize, run: &Run| {
            let result = &hosts[host];
            let raised = match run.raised {
                // The raise of hardware interrupts is not recorded.
                None if matches!(run.source, InterruptSource::Hard { .. }) => Cell::NotApplicable,
                raised => result.time_or_unknown(raised),
            };
            let row = result.row().cells([run.begin, run.end].map(|at| result.time(at)));
            let row = row.cell(duration(run.begin, run.end)).cell(run.cpu);
            Some(row.cells(run.source.cells()).cell(raised))
        };
        vec![log_table(table, hosts, options, |of| &of.runs, row)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Filter, Interrupt, Interrupts};
    use crate::registry::AnalysisKind;
    use crate::testing::{check, irq, softirq};

    #[test]
    fn in_the_order_of_time() {
        let spans = [
            softirq(1, 1, None, 40, 60),
            softirq(0, 9, Some(20), 40, 45),
            irq(0, 27, "virtio", 15, 22),
            irq(0, 4, "", 13, 14),
        ];
        let header = "log: host begin_ns end_ns duration_ns cpu type number name raised_ns";
        let all = [
            header,
            "h 1013 1014 1 0 IRQ 4 ? ?",
            "h 1015 1022 7 0 IRQ 27 virtio ?",
            "h 1040 1045 5 0 SoftIRQ 9 RCU_SOFTIRQ 1020",
            "h 1040 1060 20 1 SoftIRQ 1 TIMER_SOFTIRQ ?",
        ];
        check(AnalysisKind::IrqLog, &spans, &Options::default(), When::default(), &all);
        let interrupts = Interrupts { hard: Some(vec![Interrupt::Number(27)]), soft: None };
        let options = Options { interrupts, ..Options::default() };
        check(AnalysisKind::IrqLog, &spans, &options, When::default(), &[header, all[2]]);
        let filter = Filter { min_ns: Some(7), max_ns: Some(19), ..Filter::default() };
        let options = Options { filter, ..Options::default() };
        check(AnalysisKind::IrqLog, &spans, &options, When::default(), &[header, all[2]]);
    }
}
