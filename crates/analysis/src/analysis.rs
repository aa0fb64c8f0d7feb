//! What an analysis is.

use std::cmp::Reverse;

use isochrone_kernel::{SpanKind, Spans, ThreadId};
use isochrone_time::{RawNs, Window};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::host::{HostContext, ThreadIdentity};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::table::{Cell, Row, Table};
use crate::snapshot::SnapshotBuilder;
use crate::steps::Steps;
use crate::storage::log_rows::{LogRow, LogRows};
use crate::storage::sorted_rows::{SortKey, TopRows};
use crate::window::When;

/// An analysis: consumes the spans of one host, and makes tables of the results of all hosts.
///
/// What it consumes has passed the [`crate::SpanFilter`] already: slices and unknown times are cut to the
/// window, and whatever is not requested is left out. It keeps integers and sorts what it writes, so that
/// equal contents are equal bytes.
pub trait Analysis: Spans + Serialize + DeserializeOwned + Sized {
    /// Whether it can show the state at one instant, [`When::at`]. If it is asked to, it gets all spans as
    /// they are, and applies the filters itself: what was open at an instant is not known by what ends in a
    /// window.
    const AT_INSTANT: bool = false;

    /// Whether it shows what threads and CPUs did at that instant. Then `HostResult::instant` has it; the
    /// analysis need not collect it.
    const SNAPSHOT: bool = false;

    /// Whether it consumes descriptors. If no analysis does, the model does not follow them: see
    /// [`Spans::wants_files`].
    const FILES: bool = false;

    /// The kinds of spans that it consumes, if the store has of them what it needs: of a call, its name,
    /// its result and what it does to descriptors in a word; of a packet, no addresses; of a page fault,
    /// its start. Empty: it needs the trace.
    const STORED: &'static [SpanKind] = &[];

    /// Options that apply to it, besides times and hosts. Where [`OptionKind::Threads`] does not, neither
    /// its tables nor its filters are about threads: of those that have ended, nothing is kept for it
    /// ([`Spans::wants_threads`]).
    const ACCEPTS: &'static [OptionKind];

    /// What has to be traced for it.
    const NEEDS: &'static [Need];

    /// One without spans so far.
    fn new(options: &Options, when: When) -> Self;

    /// Cuts the time of the host into steps, before the first span. Analyses that show nothing over time
    /// ignore it.
    fn set_steps(&mut self, _: &Steps) {}

    /// The tables, of all hosts in the order of their names. Names of tables and columns are part of the
    /// interface.
    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table>;

    /// What a reader of the tables should know.
    fn notes(_hosts: &[HostResult<'_, Self>]) -> Vec<Note> {
        Vec::new()
    }
}

/// What an analysis collected of a host.
pub struct HostResult<'h, A> {
    /// The host.
    pub host: &'h dyn HostContext,
    /// What it collected.
    pub of: &'h A,
    /// From when to when: where the window that was requested and the host's events overlap.
    pub window: Window<RawNs>,
    /// How much of that time was requested, ns: all of it, or what lies within periods.
    pub asked_ns: u64,
    /// What threads and CPUs did at the instant that was requested; `None` where none was, or no analysis
    /// shows it.
    pub(crate) instant: Option<&'h SnapshotBuilder>,
}

impl<'h, A> HostResult<'h, A> {
    /// What an analysis of another type collected of the same host.
    pub(crate) fn with<B>(&self, of: &'h B) -> HostResult<'h, B> {
        let Self { host, window, asked_ns, instant, .. } = *self;
        HostResult { host, of, window, asked_ns, instant }
    }

    /// The cell `host`.
    pub fn name(&self) -> Cell {
        Cell::text(self.host.name())
    }

    /// A row that begins with the cell `host`.
    pub(crate) fn row(&self) -> Row {
        Row::default().cell(self.name())
    }

    /// A row that begins with the cells `host, pid, tid, comm` of a group that [`Self::group`] gave.
    pub(crate) fn group_row(&self, group: ThreadId, options: &Options) -> Row {
        let who = ThreadIdentity::of(self.host, group);
        self.row().cells(if options.by_process { who.process_cells() } else { who.cells() })
    }

    /// The group of rows that a thread belongs to, if the filter keeps the thread: itself, or the first
    /// thread of its process where rows are processes.
    pub(crate) fn group(&self, thread: ThreadId, options: &Options) -> Option<ThreadId> {
        let who = self.who(thread, options)?;
        Some(if options.by_process { who.process(thread) } else { thread })
    }

    /// A figure that events of a kind give: unknown where the host did not record them.
    pub fn known(&self, need: Need, figure: impl Into<Cell>) -> Cell {
        if self.host.lacks(need) { Cell::Unknown } else { figure.into() }
    }

    /// A raw time as a cell.
    pub fn time(&self, raw: RawNs) -> Cell {
        self.host.unix(raw).ns().into()
    }

    /// A raw time as a cell, unknown where it is not given.
    pub(crate) fn time_or_unknown(&self, raw: Option<RawNs>) -> Cell {
        raw.map_or(Cell::Unknown, |raw| self.time(raw))
    }

    /// Who a thread is, if the filter keeps it.
    pub fn who(&self, thread: ThreadId, options: &Options) -> Option<ThreadIdentity<'h>> {
        options.filter.who(self.host, thread)
    }

    /// As [`Self::who`], with the name that the thread had at a raw time, by which it is chosen.
    pub fn who_at(&self, thread: ThreadId, at: RawNs, options: &Options) -> Option<ThreadIdentity<'h>> {
        options.filter.who_at(self.host, thread, at)
    }
}

/// Number of the greatest rows that are kept while reading, for tables that show these; `None`: all. Threads
/// are filtered in the end: until then no row may be dropped for another one.
pub(crate) fn kept_rows(options: &Options) -> Option<usize> {
    options.rows_of_top().filter(|_| !options.filter.has_threads())
}

/// Adds the rows of the logs of all hosts to a table: where only the first are asked for, and no thread is
/// left out, the others are counted and not made. `row`: the row of one, unless the filter leaves its
/// thread out.
pub(crate) fn log_table<'r, A, T: LogRow + 'r>(
    mut table: Table,
    hosts: &'r [HostResult<'r, A>],
    options: &Options,
    log: impl Fn(&'r A) -> &'r LogRows<T>,
    mut row: impl FnMut(usize, &T) -> Option<Row>,
) -> Table {
    let most = options.rows_of_log();
    for (host, result) in hosts.iter().enumerate() {
        let rows = log(result.of).sorted().take(most.unwrap_or(usize::MAX));
        table.extend(rows.filter_map(|it| row(host, &it)));
    }
    if most.is_some() {
        table.total_rows = Some(hosts.iter().map(|result| log(result.of).len() as u64).sum());
    }
    table
}

/// Adds the greatest rows of all hosts to a table, which has a bar for the column that they are sorted by.
/// `top`: those of a host, if it has any; `row`: the row of one, by the index of its host, unless the filter
/// leaves it out.
pub(crate) fn top_table<'r, A, T: SortKey + 'r>(
    mut table: Table,
    column: &str,
    hosts: &'r [HostResult<'r, A>],
    options: &Options,
    top: impl Fn(&'r A) -> Option<&'r TopRows<T>>,
    row: impl Fn(usize, &T) -> Option<Row>,
) -> Table {
    let tops = || hosts.iter().enumerate().filter_map(|(host, result)| Some((host, top(result.of)?)));
    let mut rows: Vec<_> =
        tops().flat_map(|(host, top)| top.sorted().into_iter().map(move |kept| (host, kept))).collect();
    // Stable: those that are as long stay in the order of hosts and times.
    rows.sort_by_key(|(_, kept)| Reverse(kept.sort_key()));
    table.extend(rows.into_iter().filter_map(|(host, kept)| row(host, kept)));
    if kept_rows(options).is_some() {
        table.total_rows = Some(tops().map(|(_, top)| top.count()).sum());
    }
    table.draw(column, 0).top()
}
