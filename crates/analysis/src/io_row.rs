//! An I/O call as a row of a table.

use isochrone_kernel::{Name, Syscall, ThreadId, Time};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::errno::errno_name;
use crate::fd_names::FdNames;
use crate::io_call::{IoCall, IoKind, SizeFilter, asked_path};
use crate::log_rows::LogRow;
use crate::options::Options;
use crate::sorted_rows::SortKey;
use crate::stats::duration;
use crate::table::{Cell, Shown, Table, Unit};

/// A call with both ends. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IoRow {
    begin: Time,
    end: Time,
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
        const COLUMNS: &[(&str, Unit)] = &[
            ("host", Unit::None),
            ("begin_ns", Unit::Time),
            ("end_ns", Unit::Time),
            ("duration_ns", Unit::Ns),
            ("syscall", Unit::None),
            ("kind", Unit::None),
            ("bytes", Unit::Bytes),
            ("error", Unit::None),
            ("pid", Unit::None),
            ("tid", Unit::None),
            ("comm", Unit::None),
            ("fd", Unit::None),
            ("path", Unit::None),
            ("to_fd", Unit::None),
            ("to_path", Unit::None),
        ];
        Table::new(name, title, COLUMNS)
            .show(&["end_ns", "kind"], Shown::Nowhere)
            .show(&["path", "to_fd", "to_path"], Shown::Last)
    }

    /// Its row in that table, if the filter keeps the thread.
    pub(crate) fn row<A: Analysis>(
        &self,
        names: &FdNames<'_>,
        result: &HostResult<'_, A>,
        options: &Options,
    ) -> Option<Vec<Cell>> {
        let who = result.who_at(self.thread, self.begin, options)?.cells();
        // A new descriptor is one from the end of its call on.
        let at = if self.kind == IoKind::Open { self.end } else { self.begin };
        let fd = |fd: Option<i32>| fd.map_or(Cell::None, Cell::from);
        let path = |fd: Option<i32>, asked: Option<&Name>| match fd {
            Some(fd) => names.name(self.thread, fd, at).as_ref().into(),
            None => asked.map_or(Cell::None, Cell::from),
        };
        let mut cells = vec![
            result.name(),
            result.time(self.begin),
            result.time(self.end),
            self.sort_key().into(),
            (&self.name).into(),
            Cell::text(self.kind.label()),
            self.bytes.map_or(Cell::None, Cell::from),
            self.error.map_or(Cell::None, |error| Cell::text(&errno_name(error))),
        ];
        cells.extend(who);
        cells.extend([
            fd(self.fd),
            path(self.fd, self.asked.as_ref()),
            fd(self.other),
            path(self.other, None),
        ]);
        Some(cells)
    }
}
