//! `irqstats`: how many times each interrupt came and how long its handler ran; of softirqs also how long
//! after they were raised.

use isochrone_kernel::{CanonicalMap, Irq, Softirq, SpanKind, Spans, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::stats::{Stats, duration};
use crate::host_totals::host_totals;
use crate::interrupt::{InterruptFilter, InterruptSource};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::window::When;

/// Interrupts of a host.
#[derive(Debug, Serialize, Deserialize)]
pub struct IrqStats {
    selected: InterruptFilter,
    sources: CanonicalMap<InterruptSource, Runs>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Runs {
    durations: Stats,
    /// From the raise to the run, where the raise was seen.
    raised: Stats,
}

impl Runs {
    fn absorb(&mut self, other: Self) {
        self.durations.absorb(other.durations);
        self.raised.absorb(other.raised);
    }
}

impl Spans for IrqStats {
    fn irq(&mut self, irq: &Irq) {
        if self.selected.hard(irq) {
            self.sources.or_default(InterruptSource::of(irq)).durations.add(duration(irq.begin, irq.end));
        }
    }

    fn softirq(&mut self, softirq: &Softirq) {
        if self.selected.soft(softirq.vector) {
            let runs = self.sources.or_default(InterruptSource::Soft(softirq.vector));
            runs.durations.add(duration(softirq.begin, softirq.end));
            if let Some(raised) = softirq.raised {
                runs.raised.add(duration(raised, softirq.begin));
            }
        }
    }

    fn rename(&mut self, _: &ThreadAliases) {}

    fn absorb(&mut self, right: Self) {
        self.sources.absorb(right.sources, Runs::absorb);
    }
}

/// The totals of a host.
fn by_type(result: &HostResult<'_, IrqStats>) -> Vec<[Cell; 7]> {
    let sources = result.of.sources.sorted();
    let of_type =
        |a: &InterruptSource, b: &InterruptSource| std::mem::discriminant(a) == std::mem::discriminant(b);
    sources
        .chunk_by(|(a, _), (b, _)| of_type(a, b))
        .map(|sources| {
            let mut all = Stats::default();
            for (_, runs) in sources {
                all.absorb(runs.durations);
            }
            let [kind, ..] = sources[0].0.cells();
            let [count, min, avg, max, stdev, total] = all.cells();
            [kind, count, min, avg, max, stdev, total]
        })
        .collect()
}

impl Analysis for IrqStats {
    const STORED: &'static [SpanKind] = &[SpanKind::Irq, SpanKind::Softirq];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Cpus, OptionKind::Durations, OptionKind::Interrupts];
    const NEEDS: &'static [Need] = &[Need::Interrupts, Need::HardInterrupts, Need::Softirqs, Need::Raises];

    fn new(options: &Options, _: When) -> Self {
        Self { selected: InterruptFilter::new(options), sources: CanonicalMap::default() }
    }

    fn tables(hosts: &[HostResult<'_, Self>], _: &Options) -> Vec<Table> {
        let table = |name, title| {
            Stats::columns(Table::new(name, title, &[]).with_columns(Unit::None, &["host", "number", "name"]))
        };
        let mut hard = table("hard", "Hard IRQ: duration");
        let mut soft = table("soft", "Soft IRQ: duration and raise latency")
            .with_columns(Unit::Count, &["raised_count"])
            .with_columns(Unit::Ns, &["raised_min_ns", "raised_avg_ns", "raised_max_ns"])
            .with_columns(Unit::Ns, &["raised_stdev_ns", "raised_total_ns"]);
        for result in hosts {
            for (source, runs) in result.of.sources.sorted() {
                let [_, number, name] = source.cells();
                let row = result.row().cells([number, name]).cells(runs.durations.cells());
                match source {
                    InterruptSource::Hard { .. } => hard.add(row),
                    InterruptSource::Soft(_) => soft.add(row.cells(runs.raised.cells())),
                }
            }
        }
        let mut tables = vec![hard, soft];
        let by_type_columns = |table: Table| Stats::columns(table.with_columns(Unit::None, &["type"]));
        tables.extend(host_totals(hosts, by_type_columns, by_type));
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, irq, softirq};

    #[test]
    fn hard_and_soft() {
        let spans = [
            irq(0, 27, "virtio", 10, 20),
            irq(1, 27, "virtio", 10, 40),
            irq(1, 27, "shared", 50, 60),
            softirq(0, 1, Some(5), 7, 8),
            softirq(1, 1, None, 7, 10),
            softirq(1, 1, Some(11), 17, 18),
        ];
        check(
            AnalysisKind::IrqStats,
            &spans,
            &Options::default(),
            When::default(),
            &[
                "hard: host number name count min_ns avg_ns max_ns stdev_ns total_ns",
                "h 27 shared 1 10 10 10 ? 10",
                "h 27 virtio 2 10 20 30 14.142135623730951 40",
                "soft: host number name count min_ns avg_ns max_ns stdev_ns total_ns \
                 raised_count raised_min_ns raised_avg_ns raised_max_ns raised_stdev_ns raised_total_ns",
                "h 1 TIMER_SOFTIRQ 3 1 1.6666666666666667 3 1.1547005383792515 5 2 2 4 6 2.8284271247461903 8",
            ],
        );
    }
}
