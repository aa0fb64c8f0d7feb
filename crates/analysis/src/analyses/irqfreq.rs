//! `irqfreq`: how the durations of each interrupt are distributed, and of softirqs also the times from raise
//! to run.

use isochrone_kernel::{CanonicalMap, Irq, Softirq, SpanKind, Spans, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::histogram::Histogram;
use crate::figures::stats::duration;
use crate::interrupt::{InterruptFilter, InterruptSource};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::window::When;

/// Interrupts of a host.
#[derive(Debug, Serialize, Deserialize)]
pub struct IrqFreq {
    selected: InterruptFilter,
    linear: bool,
    sources: CanonicalMap<(InterruptSource, What), Histogram>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum What {
    /// How long the handler ran.
    Duration,
    /// How long after it was raised.
    Raise,
}

impl Spans for IrqFreq {
    fn irq(&mut self, irq: &Irq) {
        if self.selected.hard(irq) {
            let ns = duration(irq.begin, irq.end);
            self.sources.or_default((InterruptSource::of(irq), What::Duration)).add_to(ns, self.linear);
        }
    }

    fn softirq(&mut self, softirq: &Softirq) {
        if self.selected.soft(softirq.vector) {
            let mut add = |what, ns| {
                self.sources
                    .or_default((InterruptSource::Soft(softirq.vector), what))
                    .add_to(ns, self.linear);
            };
            add(What::Duration, duration(softirq.begin, softirq.end));
            if let Some(raised) = softirq.raised {
                add(What::Raise, duration(raised, softirq.begin));
            }
        }
    }

    fn rename(&mut self, _: &ThreadAliases) {}

    fn absorb(&mut self, right: Self) {
        self.sources.absorb(right.sources, Histogram::join);
    }
}

impl Analysis for IrqFreq {
    const STORED: &'static [SpanKind] = &[SpanKind::Irq, SpanKind::Softirq];
    const ACCEPTS: &'static [OptionKind] =
        &[OptionKind::Cpus, OptionKind::Durations, OptionKind::Interrupts, OptionKind::Distributions];
    const NEEDS: &'static [Need] = &[Need::Interrupts, Need::HardInterrupts, Need::Softirqs, Need::Raises];

    fn new(options: &Options, _: When) -> Self {
        Self {
            selected: InterruptFilter::new(options),
            linear: options.linear,
            sources: CanonicalMap::default(),
        }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let key = ["host", "type", "number", "name", "what"];
        let keyed = |name, title| Table::new(name, title, &[]).with_columns(Unit::None, &key);
        let mut freq = Histogram::freq_table(keyed("freq", "Frequency distribution of interrupts"));
        let mut quantiles = Histogram::quantiles_table(keyed("quantiles", "Quantiles of interrupts"));
        for result in hosts {
            for ((source, what), histogram) in result.of.sources.sorted() {
                let what = match what {
                    What::Duration => "duration",
                    What::Raise => "raise latency",
                };
                let mut key = vec![result.name()];
                key.extend(source.cells());
                key.push(Cell::text(what));
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
    use crate::testing::{check, irq, softirq};

    #[test]
    fn bars_and_quantiles() {
        let spans = [
            irq(0, 4, "tty", 0, 3),
            irq(0, 4, "tty", 10, 13),
            irq(0, 4, "tty", 20, 29),
            softirq(0, 1, Some(0), 7, 8),
        ];
        check(
            AnalysisKind::IrqFreq,
            &spans,
            &Options { bars: 4, ..Options::default() },
            When::default(),
            &[
                "freq: host type number name what lo_ns hi_ns count",
                "h IRQ 4 tty duration 3 3 2",
                "h IRQ 4 tty duration 4 5 0",
                "h IRQ 4 tty duration 6 7 0",
                "h IRQ 4 tty duration 8 9 1",
                "h SoftIRQ 1 TIMER_SOFTIRQ duration 1 1 1",
                "h SoftIRQ 1 TIMER_SOFTIRQ raise latency 7 7 1",
                "quantiles: host type number name what count p50_ns p90_ns p99_ns p999_ns max_ns",
                "h IRQ 4 tty duration 3 3 9 9 9 9",
                "h SoftIRQ 1 TIMER_SOFTIRQ duration 1 1 1 1 1 1",
                "h SoftIRQ 1 TIMER_SOFTIRQ raise latency 1 7 7 7 7 7",
            ],
        );
    }
}
