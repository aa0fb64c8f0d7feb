//! `fds`: file descriptors: what they are, when they were open, what went through them; of one instant, those
//! that were open then.
//!
//! A begin that is unknown is that of one that was open before it was first seen. An end that is unknown is
//! that of one that was not seen to be closed.

use isochrone_kernel::files::{Bound, ClosedBy, FileKind, FileSpan, OpenedBy, Uses};
use isochrone_kernel::{SpanKind, Spans, ThreadAliases};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::file_io::fd_names;
use crate::host::ThreadIdentity;
use crate::host_totals::host_totals;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::table::{Cell, Row, Table, Unit, Visibility};
use crate::storage::log_rows::LogRows;
use crate::window::{When, contains};

/// Descriptors of a host's processes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Fds {
    at: Option<RawNs>,
    files: LogRows<FileSpan>,
}

impl Spans for Fds {
    fn file(&mut self, file: &FileSpan) {
        // One that was open before it was first seen was so at any time before.
        let begin = if file.begin_bound == Bound::Soft { RawNs::MIN } else { file.begin };
        if self.at.is_none_or(|at| contains(begin, at, file.end)) {
            self.files.push(file.clone());
        }
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.files.rename(aliases);
    }

    fn absorb(&mut self, right: Self) {
        self.files.absorb(right.files);
    }
}

impl Analysis for Fds {
    const AT_INSTANT: bool = true;
    const FILES: bool = true;

    const STORED: &'static [SpanKind] = &[SpanKind::File];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Fds, OptionKind::Instant];
    const NEEDS: &'static [Need] = &[Need::Calls, Need::FileCalls, Need::Lives, Need::Dump];

    fn new(options: &Options, when: When) -> Self {
        Self { at: when.at, files: LogRows::new(&options.scratch) }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        // For people: no terminal is wide enough for all of them, and paths can be long.
        const DETAILS: &[&str] =
            &["opened_by", "closed_by", "close_on_exec", "reads", "writes", "others", "doubtful"];
        let mut table = Table::new("fds", "File descriptors", &[])
            .with_columns(Unit::None, &["host", "pid", "tid", "comm", "fd", "kind", "name"])
            .with_columns(Unit::Time, &["begin_ns", "end_ns"])
            .with_columns(Unit::None, &["opened_by", "closed_by", "close_on_exec"])
            .with_columns(Unit::Count, &["reads"])
            .with_columns(Unit::Bytes, &["read_bytes"])
            .with_columns(Unit::Count, &["writes"])
            .with_columns(Unit::Bytes, &["written_bytes"])
            .with_columns(Unit::Count, &["others", "errors"])
            .with_columns(Unit::None, &["doubtful"])
            .kept_in(&options.scratch)
            .show(DETAILS, Visibility::Hidden)
            .show(&["name"], Visibility::Trailing);
        let mut keys = Vec::new();
        for (number, result) in hosts.iter().enumerate() {
            for (pid, file, who) in asked(result, options) {
                keys.push((number, pid.or(who.tid), file.fd, file.begin));
                table.add(row(pid, &file, &who, result));
            }
        }
        // Stable: the rest stays in the order of the spans.
        table.rows.sort_by_keys(keys, Ord::cmp);
        let mut tables = vec![table];
        tables.extend(host_totals(hosts, total_columns, |result| vec![totals(result, options)]));
        tables
    }

    fn notes(hosts: &[HostResult<'_, Self>]) -> Vec<Note> {
        fd_names::notes(hosts.iter().map(|result| (result.host, &result.of.files)))
    }
}

/// The descriptors of a host that are requested, in the order of the spans: each with its process and its
/// thread.
fn asked<'r>(
    result: &'r HostResult<'_, Fds>,
    options: &'r Options,
) -> impl Iterator<Item = (Option<i32>, FileSpan, ThreadIdentity<'r>)> {
    // What a thread inherits is what its parent was last seen to have, which is not so where calls were not
    // recorded.
    let has_calls = !result.host.lacks(Need::Calls) && !result.host.lacks(Need::Closes);
    // Where some calls that make descriptors were left out, uses of those that they made would be counted for
    // others.
    let are_known = !result.host.lacks(Need::Descriptors);
    let is_sure = move |file: &FileSpan| are_known && (has_calls || file.opened_by != OpenedBy::Inherited);
    let asked =
        result.of.files.sorted().filter(move |file| options.filter.keeps_fd(file.fd) && is_sure(file));
    asked.filter_map(|file| {
        let who = result.who(file.thread, options)?;
        Some((file.process.or(who.pid), file, who))
    })
}

/// The table with the columns of [`totals`].
fn total_columns(table: Table) -> Table {
    let table = table.with_columns(Unit::Count, &["fds", "reads"]).with_columns(Unit::Bytes, &["read_bytes"]);
    let table = table.with_columns(Unit::Count, &["writes"]).with_columns(Unit::Bytes, &["written_bytes"]);
    table.with_columns(Unit::Count, &["others", "errors"])
}

/// The cells of the uses of descriptors, which are unknown without calls.
fn uses_cells(result: &HostResult<'_, Fds>, uses: &Uses) -> [Cell; 6] {
    let Uses { reads, read_bytes, writes, written_bytes, others, errors } = *uses;
    [reads, read_bytes, writes, written_bytes, others, errors].map(|count| result.known(Need::Calls, count))
}

fn totals(result: &HostResult<'_, Fds>, options: &Options) -> [Cell; 7] {
    let (mut count, mut all) = (0_u64, Uses::default());
    for (_, file, _) in asked(result, options) {
        count += 1;
        all.add(&file.uses);
    }
    let [reads, read_bytes, writes, written_bytes, others, errors] = uses_cells(result, &all);
    [count.into(), reads, read_bytes, writes, written_bytes, others, errors]
}

fn row(pid: Option<i32>, file: &FileSpan, who: &ThreadIdentity<'_>, result: &HostResult<'_, Fds>) -> Row {
    let [_, tid, comm] = who.cells();
    let begin = (file.begin_bound == Bound::Hard).then_some(file.begin);
    // Without calls it may have been closed before, and without lives by another program that its thread
    // began, or earlier than the thread was last seen.
    let lacks = |need| result.host.lacks(need);
    let has_calls = !lacks(Need::Calls) && !lacks(Need::FileCalls);
    let is_known = match file.closed_by {
        ClosedBy::Exit => has_calls && !lacks(Need::Lives),
        ClosedBy::Exec => has_calls,
        _ => true,
    };
    let end = (file.end_bound == Bound::Hard && is_known).then_some(file.end);
    let closed_by = file.closed_by.label().filter(|_| is_known);
    // What is in the dump may have been opened between the begin of the trace and the dump.
    let opened_by =
        file.opened_by.label().filter(|_| file.opened_by != OpenedBy::Dump || !lacks(Need::Calls));
    // Where it comes from decides whether this is known.
    let close_on_exec = match file.opened_by {
        _ if lacks(Need::Calls) => None,
        OpenedBy::Unknown => None,
        OpenedBy::Inherited if file.kind == FileKind::Unknown => None,
        _ => Some(Cell::yes_or_no(file.close_on_exec)),
    };
    let row = result.row().cell(pid).cells([tid, comm]).cell(file.fd);
    row.cell(file.kind.label().map(Cell::text))
        .cell(fd_names::name(file))
        .cells([begin, end].map(|at| result.time_or_unknown(at)))
        .cells([opened_by, closed_by].map(|label| label.map(Cell::text)))
        .cell(close_on_exec)
        .cells(uses_cells(result, &file.uses))
        .cell(Cell::yes_or_no(file.is_doubtful))
}

#[cfg(test)]
mod tests {
    use isochrone_kernel::calls::Opener;
    use isochrone_kernel::files::Uses;

    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use isochrone_kernel::files::{ClosedBy, FileKind, OpenedBy};

    use crate::testing::{check, file, thread, window};
    use isochrone_kernel::Span;

    const HEADER: &str = "fds: host pid tid comm fd kind name begin_ns end_ns opened_by closed_by close_on_exec reads \
                          read_bytes writes written_bytes others errors doubtful";

    fn spans() -> Vec<Span> {
        let uses = Uses { reads: 2, read_bytes: 300, writes: 1, written_bytes: 4, others: 5, errors: 1 };
        vec![
            Span::File(Box::new(FileSpan {
                opened_by: OpenedBy::Call(Opener::Openat),
                closed_by: ClosedBy::Close,
                close_on_exec: true,
                uses,
                ..file(thread(3), 3, "/etc/passwd", 10, 30)
            })),
            Span::File(Box::new(file(thread(2), 3, "/tmp/x", 40, 60))),
            Span::File(Box::new(FileSpan {
                process: None,
                kind: FileKind::Unknown,
                begin_bound: Bound::Soft,
                end_bound: Bound::Soft,
                opened_by: OpenedBy::Unknown,
                closed_by: ClosedBy::TraceEnd,
                is_doubtful: true,
                ..file(thread(1), 0, "", 20, 100)
            })),
        ]
    }

    #[test]
    fn all_and_some() {
        let rows = [
            "h 1 1 init 0 ? ? ? ? ? ? ? 0 0 0 0 0 0 yes",
            "h 2 3 worker 3 file /etc/passwd 1010 1030 openat close yes 2 300 1 4 5 1 no",
            "h 2 2 worker 3 file /tmp/x 1040 1060 open close no 0 0 0 0 0 0 no",
        ];
        let check = |filter: Filter, when: When, expect: &[&str]| {
            let options = Options { filter, ..Options::default() };
            check(AnalysisKind::Fds, &spans(), &options, when, &[&[HEADER], expect].concat());
        };
        let at = |at| When { at: Some(RawNs(at)), ..When::default() };
        check(Filter::default(), When::default(), &rows);
        check(Filter { fds: vec![3], ..Filter::default() }, When::default(), &rows[1..]);
        check(Filter { tids: vec![3, 1], ..Filter::default() }, When::default(), &rows[..2]);
        check(Filter::default(), When { window: window(35, i64::MAX), at: None }, &[rows[0], rows[2]]);
        check(Filter::default(), at(29), &rows[..2]);
        check(Filter::default(), at(30), &rows[..1]);
        // It was open before it was seen.
        check(Filter::default(), at(5), &rows[..1]);
        check(Filter::default(), at(100), &[]);
    }
}
