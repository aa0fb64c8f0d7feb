//! A call as it is kept, and as a row of the table.

use isochrone_kernel::{Half, HalfSyscall, Name, Syscall, ThreadId};
use isochrone_strace::{ArgumentValues, CallResult, errno_name, error_in};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use super::Syscalls;
use crate::analysis::HostResult;
use crate::figures::stats::duration;
use crate::file_io::annotated_call::AnnotatedCall;
use crate::file_io::fd_annotation::{makes, taken};
use crate::file_io::fd_names::FdNames;
use crate::options::Options;
use crate::output::table::{Cell, Row};
use crate::snapshot::CurrentCall;
use crate::storage::log_rows::LogRow;

/// A call. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct CallRow {
    /// Its begin; where that was not seen, its end.
    at: RawNs,
    begin: Option<RawNs>,
    /// Its end, if that was seen.
    pub(super) end: Option<RawNs>,
    cpu: Option<u32>,
    thread: ThreadId,
    name: Option<Name>,
    ret: Option<i64>,
    /// The arguments that it was entered with, and those that it filled in.
    given: Option<ArgumentValues>,
    filled: Option<ArgumentValues>,
    /// The descriptors that it took.
    fds: [Option<i32>; 2],
    /// Whether it returned one.
    makes: bool,
}

impl LogRow for CallRow {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [Some(&mut self.thread), None]
    }
}

impl CallRow {
    /// A call whose entry and exit were seen.
    pub(super) fn of(call: &Syscall<'_>) -> Self {
        Self {
            at: call.begin,
            begin: Some(call.begin),
            end: Some(call.end),
            cpu: Some(call.cpu),
            thread: call.thread,
            name: Some(call.entry.name.clone()),
            ret: Some(call.exit.ret),
            given: Some(call.entry.arguments.clone().unwrap_or_default()),
            filled: call.exit.arguments.clone(),
            fds: taken(&call.entry.effect),
            makes: makes(&call.entry.effect),
        }
    }

    /// A call whose entry or exit was seen.
    pub(super) fn of_half(half: &HalfSyscall<'_>) -> Self {
        let (begin, end) = match half.half {
            Half::Begin => (Some(half.at), None),
            Half::End => (None, Some(half.at)),
        };
        Self::partial(half.thread, half.name, half.at, begin, end)
    }

    /// A call that was in progress at an instant and whose entry or exit is missing. Those whose begin is
    /// unknown come first.
    pub(super) fn in_progress(thread: ThreadId, call: CurrentCall<'_>) -> Self {
        let at = call.since.unwrap_or(RawNs::MIN);
        Self::partial(thread, call.name, at, call.since, None)
    }

    /// A call without anything else that is known.
    fn partial(
        thread: ThreadId,
        name: Option<&Name>,
        at: RawNs,
        begin: Option<RawNs>,
        end: Option<RawNs>,
    ) -> Self {
        Self {
            at,
            begin,
            end,
            cpu: None,
            thread,
            name: name.cloned(),
            ret: None,
            given: None,
            filled: None,
            fds: [None; 2],
            makes: false,
        }
    }

    /// Its row, if the filter keeps the thread.
    pub(super) fn row(
        &self,
        fd_names: &FdNames<'_>,
        result: &HostResult<'_, Syscalls>,
        options: &Options,
    ) -> Option<Row> {
        let who = result.who_at(self.thread, self.at, options)?;
        let name_of = |fd: i32, at| Some((fd, fd_names.name(self.thread, fd, at)?));
        let line = AnnotatedCall {
            name: self.name.clone(),
            given: self.given.clone(),
            filled: self.filled.clone(),
            result: match (self.ret, self.end) {
                (Some(ret), _) => CallResult::Returned(ret),
                (None, Some(_)) => CallResult::Unseen,
                (None, None) => CallResult::Pending,
            },
            taken: self.fds.iter().flatten().filter_map(|&fd| name_of(fd, self.at)).collect(),
            made: self
                .ret
                .filter(|ret| self.makes && *ret >= 0)
                .and_then(|ret| name_of(ret as i32, self.end?)),
        };
        let ns = self.begin.zip(self.end).map(|(begin, end)| duration(begin, end));
        let error = self.ret.and_then(error_in).map(errno_name);
        let error = match error {
            None if self.ret.is_some() => Cell::NotApplicable,
            error => error.map(|error| Cell::text(&error)).into(),
        };
        let row = result.row().cells([self.begin, self.end].map(|at| result.time_or_unknown(at)));
        let row = row.cell(ns).cell(self.cpu).cells(who.cells()).cell(self.name.as_ref()).cell(self.ret);
        Some(row.cell(error).cell(Cell::Call(Box::new(line))))
    }
}
