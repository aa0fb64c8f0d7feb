//! A period, or a phase of a program, as a row of a table.

use isochrone_kernel::{Name, Period, Phase, ThreadId};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::stats::duration;
use crate::options::Options;
use crate::output::table::{Cell, Row, Table, Unit, Visibility};
use crate::storage::log_rows::LogRow;
use crate::storage::sorted_rows::SortKey;

/// A period or a phase. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PeriodRow {
    begin: RawNs,
    end: RawNs,
    /// Its number among the periods of the host; phases have none.
    number: Option<u64>,
    pub(crate) name: Name,
    pub(crate) thread: ThreadId,
    parent: Option<(u64, Name)>,
    is_cut: bool,
    /// What was captured at its begin and at its end, as texts.
    pub(crate) captures: [Name; 2],
}

impl From<&Period> for PeriodRow {
    fn from(it: &Period) -> Self {
        let Period { begin, end, number, thread, is_cut, .. } = *it;
        Self {
            begin,
            end,
            number: Some(number),
            name: it.name.clone(),
            thread,
            parent: it.parent.clone(),
            is_cut,
            captures: [&it.begin_captures, &it.end_captures].map(|captures| listed(captures)),
        }
    }
}

/// `irq = 28, cpu = 0`.
fn listed(captures: &[(Name, impl std::fmt::Display)]) -> Name {
    let one = |(name, value): &(Name, _)| format!("{name} = {value}");
    captures.iter().map(one).collect::<Vec<_>>().join(", ").into()
}

impl From<&Phase> for PeriodRow {
    fn from(it: &Phase) -> Self {
        Self {
            begin: it.begin,
            end: it.end,
            number: None,
            name: it.name.clone(),
            thread: it.thread,
            parent: None,
            is_cut: false,
            captures: <[Name; 2]>::default(),
        }
    }
}

impl LogRow for PeriodRow {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [Some(&mut self.thread), None]
    }
}

impl SortKey for PeriodRow {
    fn sort_key(&self) -> u64 {
        duration(self.begin, self.end)
    }
}

impl PeriodRow {
    /// The name of the period that it lies within.
    pub(crate) fn parent(&self) -> Option<&Name> {
        self.parent.as_ref().map(|(_, name)| name)
    }

    /// A table of periods without rows.
    pub(crate) fn table(name: &'static str, title: &'static str) -> Table {
        let captures = ["begin_captures", "end_captures"];
        Table::new(name, title, &[])
            .with_columns(Unit::None, &["host"])
            .with_columns(Unit::Time, &["begin_ns", "end_ns"])
            .with_columns(Unit::Ns, &["duration_ns"])
            .with_columns(
                Unit::None,
                &[
                    "period",
                    "number",
                    "parent",
                    "parent_number",
                    "ended_by",
                    "pid",
                    "tid",
                    "comm",
                    "begin_captures",
                    "end_captures",
                ],
            )
            .show(&captures, Visibility::Trailing)
    }

    /// Its row in that table, if the filter keeps its thread.
    pub(crate) fn row<A: Analysis>(&self, result: &HostResult<'_, A>, options: &Options) -> Option<Row> {
        let who = result.who_at(self.thread, self.begin, options)?.cells();
        let text = |text: &Name| Cell::or_none(Some(text).filter(|text| !text.is_empty()));
        let parent = self.parent.as_ref();
        Some(
            result
                .row()
                .cells([self.begin, self.end].map(|at| result.time(at)))
                .cell(self.sort_key())
                .cell(&self.name)
                .cell(Cell::or_none(self.number))
                .cell(Cell::or_none(self.parent()))
                .cell(Cell::or_none(parent.map(|(number, _)| *number)))
                .cell(Cell::text(if self.is_cut { "parent" } else { "event" }))
                .cells(who)
                .cells(self.captures.iter().map(text)),
        )
    }
}
