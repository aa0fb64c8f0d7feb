//! `iolog`: every I/O call with its descriptor and how many bytes it moved.

use isochrone_kernel::files::FileSpan;
use isochrone_kernel::{SpanKind, Spans, Syscall, ThreadAliases};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult, log_table};
use crate::file_io::call::SizeFilter;
use crate::file_io::fd_names::{self, FdNames};
use crate::file_io::row::IoRow;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::table::Table;
use crate::storage::log_rows::LogRows;
use crate::window::When;

/// I/O calls of a host's threads.
#[derive(Debug, Serialize, Deserialize)]
pub struct IoLog {
    sizes: SizeFilter,
    calls: LogRows<IoRow>,
    files: LogRows<FileSpan>,
}

impl Spans for IoLog {
    fn syscall(&mut self, call: &Syscall<'_>) {
        if let Some(row) = IoRow::of(call, self.sizes) {
            self.calls.push(row);
        }
    }

    fn file(&mut self, file: &FileSpan) {
        self.files.push(file.clone());
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.calls.rename(aliases);
        self.files.rename(aliases);
    }

    fn absorb(&mut self, right: Self) {
        self.calls.absorb(right.calls);
        self.files.absorb(right.files);
    }
}

impl Analysis for IoLog {
    const FILES: bool = true;
    const ACCEPTS: &'static [OptionKind] =
        &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Durations, OptionKind::Sizes];
    const NEEDS: &'static [Need] = &[Need::Calls, Need::FileCalls, Need::Lives, Need::Dump];
    const STORED: &'static [SpanKind] = &[SpanKind::Syscall, SpanKind::File];

    fn new(options: &Options, _: When) -> Self {
        let scratch = &options.scratch;
        let (calls, files) = (LogRows::new(scratch), LogRows::new(scratch));
        Self { sizes: SizeFilter::new(options), calls, files }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let table = IoRow::table("log", "I/O operations log").kept_in(&options.scratch).by_time("begin_ns");
        let names: Vec<_> = hosts.iter().map(|result| FdNames::new(result.host, &result.of.files)).collect();
        let row = |host: usize, call: &IoRow| call.row(&names[host], &hosts[host], options);
        vec![log_table(table, hosts, options, |of| &of.calls, row)]
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
    fn in_the_order_of_begins() {
        let all = [
            "log: host begin_ns end_ns duration_ns syscall kind bytes error pid tid comm fd path to_fd to_path",
            "h 1010 1013 3 openat open ? ? 2 2 worker 3 /x ? ?",
            "h 1014 1015 1 openat open ? ENOENT 2 2 worker ? /none ? ?",
            "h 1020 1030 10 read read 100 ? 2 2 worker 3 /x ? ?",
            // By the other thread of the process, of the same descriptor.
            "h 1031 1036 5 read read ? EAGAIN 2 3 worker 3 /x ? ?",
            "h 1040 1044 4 sendto write 300 ? 2 2 worker 9 ? ? ?",
            "h 1050 1056 6 sendfile transfer 200 ? 2 2 worker 3 /x 9 ?",
            "h 1060 1080 20 fsync sync ? ? 2 3 worker 3 /x ? ?",
            "h 1089 1090 1 close close ? ? 2 2 worker 3 /x ? ?",
        ];
        let check = |filter, expect: &[&str]| {
            let options = Options { filter, ..Options::default() };
            check(AnalysisKind::IoLog, &io_spans(), &options, When::default(), expect);
        };
        check(Filter::default(), &all);
        check(Filter { tids: vec![3], ..Filter::default() }, &[all[0], all[4], all[7]]);
        check(Filter { max_bytes: Some(200), ..Filter::default() }, &[all[0], all[3], all[6]]);
        check(Filter { min_ns: Some(10), ..Filter::default() }, &[all[0], all[3], all[7]]);
    }
}
