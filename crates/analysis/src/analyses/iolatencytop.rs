//! `iolatencytop`: the I/O calls that took longest, of each kind.

use std::collections::BTreeMap;

use isochrone_kernel::files::FileSpan;
use isochrone_kernel::{SpanKind, Spans, Syscall, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult, kept_rows, top_table};
use crate::file_io::call::{IoKind, SizeFilter};
use crate::file_io::fd_names::{self, FdNames};
use crate::file_io::row::IoRow;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::table::Table;
use crate::storage::log_rows::{LogRow, LogRows};
use crate::storage::sorted_rows::TopRows;
use crate::window::When;

/// The kinds that have a table each, with its heading. A `close` that takes long is in the log.
const TABLES: [(IoKind, &str); 5] = [
    (IoKind::Open, "Longest calls that open"),
    (IoKind::Read, "Longest calls that read"),
    (IoKind::Write, "Longest calls that write"),
    (IoKind::Transfer, "Longest calls that move bytes between descriptors"),
    (IoKind::Sync, "Longest calls that wait for the disk"),
];

/// The longest I/O calls of a host's threads.
#[derive(Debug, Serialize, Deserialize)]
pub struct IoLatencyTop {
    sizes: SizeFilter,
    limit: Option<usize>,
    calls: BTreeMap<IoKind, TopRows<IoRow>>,
    files: LogRows<FileSpan>,
}

impl Spans for IoLatencyTop {
    fn syscall(&mut self, call: &Syscall<'_>) {
        if let Some(row) = IoRow::of(call, self.sizes).filter(|row| row.kind() != IoKind::Close) {
            self.calls.entry(row.kind()).or_insert_with(|| TopRows::new(self.limit)).push(row);
        }
    }

    fn file(&mut self, file: &FileSpan) {
        self.files.push(file.clone());
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        let calls = self.calls.values_mut().flat_map(TopRows::iter_mut);
        calls.for_each(|call| call.rename(aliases));
        self.files.rename(aliases);
    }

    fn absorb(&mut self, right: Self) {
        for (kind, right) in right.calls {
            self.calls.entry(kind).or_insert_with(|| TopRows::new(self.limit)).absorb(right);
        }
        self.files.absorb(right.files);
    }
}

impl Analysis for IoLatencyTop {
    const FILES: bool = true;
    const ACCEPTS: &'static [OptionKind] =
        &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Durations, OptionKind::Sizes];
    const NEEDS: &'static [Need] = &[Need::Calls, Need::FileCalls, Need::Lives, Need::Dump];
    const STORED: &'static [SpanKind] = &[SpanKind::Syscall, SpanKind::File];

    fn new(options: &Options, _: When) -> Self {
        Self {
            sizes: SizeFilter::new(options),
            limit: kept_rows(options),
            calls: BTreeMap::new(),
            files: LogRows::new(&options.scratch),
        }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let names: Vec<_> = hosts.iter().map(|result| FdNames::new(result.host, &result.of.files)).collect();
        let table = |(kind, title): (IoKind, &'static str)| {
            let row = |host: usize, call: &IoRow| call.row(&names[host], &hosts[host], options);
            let table = IoRow::table(kind.label(), title);
            top_table(table, "duration_ns", hosts, options, |of| of.calls.get(&kind), row)
        };
        TABLES.into_iter().map(table).collect()
    }

    fn notes(hosts: &[HostResult<'_, Self>]) -> Vec<Note> {
        fd_names::notes(hosts.iter().map(|result| (result.host, &result.of.files)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, io_spans};

    #[test]
    fn the_longest_first() {
        let header = |kind: &str| {
            format!(
                "{kind}: host begin_ns end_ns duration_ns syscall kind bytes error pid tid comm fd path to_fd to_path"
            )
        };
        let check = |limit, tids: &[i32], expect: [&[&str]; 5]| {
            let filter = Filter { tids: tids.to_vec(), ..Filter::default() };
            let options = Options { filter, limit, ..Options::default() };
            let lines: Vec<String> = TABLES
                .iter()
                .zip(expect)
                .flat_map(|((kind, _), rows)| {
                    std::iter::once(header(kind.label())).chain(rows.iter().map(ToString::to_string))
                })
                .collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            check(AnalysisKind::IoLatencyTop, &io_spans(), &options, When::default(), &lines);
        };
        let open = [
            "h 1010 1013 3 openat open ? ? 2 2 worker 3 /x ? ?",
            "h 1014 1015 1 openat open ? ENOENT 2 2 worker ? /none ? ?",
        ];
        let read = [
            "h 1020 1030 10 read read 100 ? 2 2 worker 3 /x ? ?",
            "h 1031 1036 5 read read ? EAGAIN 2 3 worker 3 /x ? ?",
        ];
        let write = ["h 1040 1044 4 sendto write 300 ? 2 2 worker 9 ? ? ?"];
        let transfer = ["h 1050 1056 6 sendfile transfer 200 ? 2 2 worker 3 /x 9 ?"];
        let sync = ["h 1060 1080 20 fsync sync ? ? 2 3 worker 3 /x ? ?"];
        check(None, &[], [&open, &read, &write, &transfer, &sync]);
        check(Some(1), &[], [&open[..1], &read[..1], &write, &transfer, &sync]);
        check(Some(1), &[3], [&[], &read[1..], &[], &[], &sync]);
    }
}
