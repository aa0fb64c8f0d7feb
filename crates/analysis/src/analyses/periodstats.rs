//! `periodstats`: periods, or phases of programs: how many and how long, by name, by parent, and by what was
//! captured.

use std::collections::BTreeMap;

use isochrone_kernel::{CanonicalMap, Name, Period, Phase, Spans, ThreadAliases, ThreadId};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::stats::Stats;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::period_row::PeriodRow;
use crate::storage::sorted_rows::SortKey;
use crate::window::When;

/// Which periods are added up: those of a thread, a name, the name of their parent, and captures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Group {
    thread: ThreadId,
    name: Name,
    parent: Option<Name>,
    captures: [Name; 2],
}

/// Durations of a host's periods. Each different combination of captures is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PeriodStats {
    /// Whether periods are requested: else it lists phases.
    of_periods: bool,
    groups: CanonicalMap<Group, Stats>,
}

impl PeriodStats {
    fn add(&mut self, row: &PeriodRow) {
        let (name, captures) = (row.name.clone(), row.captures.clone());
        let group = Group { thread: row.thread, name, parent: row.parent().cloned(), captures };
        self.groups.or_default(group).add(row.sort_key());
    }
}

impl Spans for PeriodStats {
    fn period(&mut self, period: &Period) {
        if self.of_periods {
            self.add(&period.into());
        }
    }

    fn phase(&mut self, phase: &Phase) {
        if !self.of_periods {
            self.add(&phase.into());
        }
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        let renamed = |group: &Group| Group { thread: aliases.of(group.thread), ..group.clone() };
        self.groups.rekey(renamed, Stats::absorb);
    }

    fn absorb(&mut self, right: Self) {
        self.groups.absorb(right.groups, Stats::absorb);
    }
}

impl Analysis for PeriodStats {
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Durations, OptionKind::Periods];
    const NEEDS: &'static [Need] = &[Need::Threads];

    fn new(options: &Options, _: When) -> Self {
        Self { of_periods: options.periods, ..Self::default() }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let table = |name, title, about: &[&'static str]| {
            Stats::columns(Table::new(name, title, &[]).with_columns(Unit::None, about)).draw("total_ns", 0)
        };
        let mut all = table("stats", "Period statistics", &["host", "period"]);
        let mut within = table("parent_stats", "Periods by their parents", &["host", "parent", "period"]);
        let mut captured = table(
            "capture_stats",
            "Periods by what was captured",
            &["host", "period", "begin_captures", "end_captures"],
        );
        for result in hosts {
            let mut names: BTreeMap<&Name, Stats> = BTreeMap::new();
            let mut parents: BTreeMap<(&Name, &Name), Stats> = BTreeMap::new();
            let mut captures: BTreeMap<(&Name, &[Name; 2]), Stats> = BTreeMap::new();
            for (group, stats) in result.of.groups.sorted() {
                if result.who(group.thread, options).is_none() {
                    continue;
                }
                names.entry(&group.name).or_default().absorb(*stats);
                if let Some(parent) = &group.parent {
                    parents.entry((parent, &group.name)).or_default().absorb(*stats);
                }
                if group.captures.iter().any(|captures| !captures.is_empty()) {
                    captures.entry((&group.name, &group.captures)).or_default().absorb(*stats);
                }
            }
            let row = |about: &[&Name], stats: &Stats| {
                let text = |text: &&Name| Cell::or_none(Some(*text).filter(|text| !text.is_empty()));
                result.row().cells(about.iter().map(text)).cells(stats.cells())
            };
            for (name, stats) in &names {
                all.add(row(&[name], stats));
            }
            for ((parent, name), stats) in &parents {
                within.add(row(&[parent, name], stats));
            }
            for ((name, [begin, end]), stats) in &captures {
                captured.add(row(&[name, begin, end], stats));
            }
        }
        vec![all, within, captured]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, period, phase, thread};

    #[test]
    fn by_name_parent_and_captures() {
        let spans = [
            period("irq", 1, Some((0, "switch")), thread(2), (12, 15)),
            period("switch", 0, None, thread(1), (10, 30)),
            period("irq", 2, None, thread(3), (20, 25)),
            phase("shop:request", thread(3), 5, 25),
        ];
        let expect = [
            "stats: host period count min_ns avg_ns max_ns stdev_ns total_ns",
            "h irq 2 3 4 5 1.4142135623730951 8",
            "h switch 1 20 20 20 ? 20",
            "parent_stats: host parent period count min_ns avg_ns max_ns stdev_ns total_ns",
            "h switch irq 1 3 3 3 ? 3",
            "capture_stats: host period begin_captures end_captures count min_ns avg_ns max_ns stdev_ns total_ns",
            "h irq irq = 1 ret = 1 1 3 3 3 ? 3",
            "h irq irq = 2 ret = 1 1 5 5 5 ? 5",
            "h switch irq = 0 ret = 1 1 20 20 20 ? 20",
        ];
        let options = Options { periods: true, ..Options::default() };
        check(AnalysisKind::PeriodStats, &spans, &options, When::default(), &expect);
        let expect = [expect[0], "h shop:request 1 20 20 20 ? 20", expect[3], expect[5]];
        check(AnalysisKind::PeriodStats, &spans, &Options::default(), When::default(), &expect);
    }
}
