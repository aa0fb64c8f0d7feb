//! An I/O call as a row of a table.

use isochrone_kernel::{Name, Syscall, ThreadId};
use isochrone_strace::errno_name;
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::stats::duration;
use crate::file_io::call::{IoCall, IoKind, SizeFilter, asked_path};
use crate::file_io::fd_names::FdNames;
use crate::options::Options;
use crate::output::table::{Cell, Row, Table, Unit, Visibility};
use crate::storage::log_rows::LogRow;
use crate::storage::sorted_rows::SortKey;

/// A call with both ends. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IoRow {
    begin: RawNs,
    end: RawNs,
    thread: ThreadId,
    name: Name,
    kind: IoKind,
    fd: Option<i32>,
    other: Option<i32>,
    bytes: Option<u64>,
    error: Option<u16>,
    /// What was to be opened, where nothing was.
    asked: Option<Name>,
}

impl LogRow for IoRow {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [Some(&mut self.thread), None]
    }
}

impl SortKey for IoRow {
    fn sort_key(&self) -> u64 {
        duration(self.begin, self.end)
    }
}

impl IoRow {
    /// The row of a call, if it is I/O of a size that counts.
    pub(crate) fn of(call: &Syscall<'_>, sizes: SizeFilter) -> Option<Self> {
        let io = IoCall::of(call).filter(|io| sizes.keeps(io.bytes))?;
        Some(Self {
            begin: call.begin,
            end: call.end,
            thread: call.thread,
            name: call.entry.name.clone(),
            kind: io.kind,
            fd: io.fd,
            other: io.other,
            bytes: io.bytes,
            error: io.error,
            asked: asked_path(&call.entry.effect).filter(|_| io.fd.is_none()).cloned(),
        })
    }

    /// What the call does.
    pub(crate) fn kind(&self) -> IoKind {
        self.kind
    }

    /// A table of calls without rows.
    pub(crate) fn table(name: &'static str, title: &'static str) -> Table {
        Table::new(name, title, &[])
            .with_columns(Unit::None, &["host"])
            .with_columns(Unit::Time, &["begin_ns", "end_ns"])
            .with_columns(Unit::Ns, &["duration_ns"])
            .with_columns(Unit::None, &["syscall", "kind"])
            .with_columns(Unit::Bytes, &["bytes"])
            .with_columns(Unit::None, &["error", "pid", "tid", "comm", "fd", "path", "to_fd", "to_path"])
            .show(&["end_ns", "kind"], Visibility::Hidden)
            .show(&["path", "to_fd", "to_path"], Visibility::Trailing)
    }

    /// Its row in that table, if the filter keeps the thread.
    pub(crate) fn row<A: Analysis>(
        &self,
        names: &FdNames<'_>,
        result: &HostResult<'_, A>,
        options: &Options,
    ) -> Option<Row> {
        let who = result.who_at(self.thread, self.begin, options)?.cells();
        // A new descriptor is one from the end of its call on.
        let at = if self.kind == IoKind::Open { self.end } else { self.begin };
        let path = |fd: Option<i32>, asked: Option<&Name>| match fd {
            Some(fd) => names.name(self.thread, fd, at).as_ref().into(),
            None => Cell::or_none(asked),
        };
        let row = result
            .row()
            .cells([self.begin, self.end].map(|at| result.time(at)))
            .cell(self.sort_key())
            .cells([(&self.name).into(), Cell::text(self.kind.label()), Cell::or_none(self.bytes)])
            .cell(self.error.map_or(Cell::NotApplicable, |error| Cell::text(&errno_name(error))))
            .cells(who);
        let [fd, other] = [self.fd, self.other];
        Some(row.cells([
            Cell::or_none(fd),
            path(fd, self.asked.as_ref()),
            Cell::or_none(other),
            path(other, None),
        ]))
    }
}
