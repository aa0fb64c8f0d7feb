//! A call as it is kept, and as a row of the table.

use isochrone_kernel::calls::line;
use isochrone_kernel::{Half, HalfSyscall, Name, Syscall, ThreadAliases, ThreadId, Time};
use serde::{Deserialize, Serialize};

use super::Syscalls;
use crate::analysis::HostResult;
use crate::cpu_states::time;
use crate::errno::{errno_name, error_in};
use crate::fd_annotation::{annotated, makes, taken};
use crate::fd_names::FdNames;
use crate::options::Options;
use crate::snapshot::CurrentCall;
use crate::stats::duration;
use crate::table::Cell;

/// A call. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct CallRow {
    /// Its begin; where that was not seen, its end.
    at: Time,
    begin: Option<Time>,
    /// Its end, if that was seen.
    pub(super) end: Option<Time>,
    cpu: Option<u32>,
    thread: ThreadId,
    name: Option<Name>,
    ret: Option<i64>,
    line: Box<str>,
    /// The descriptors that it took.
    fds: [Option<i32>; 2],
    /// Whether it returned one.
    makes: bool,
}

impl CallRow {
    /// One of which both ends were seen.
    pub(super) fn of(call: &Syscall<'_>) -> Self {
        Self {
            at: call.begin,
            begin: Some(call.begin),
            end: Some(call.end),
            cpu: Some(call.cpu),
            thread: call.thread,
            name: Some(call.entry.name.clone()),
            ret: Some(call.exit.ret),
            line: line(Some(call.entry), Some(call.exit)).into(),
            fds: taken(&call.entry.effect),
            makes: makes(&call.entry.effect),
        }
    }

    /// One of which one end was seen.
    pub(super) fn of_half(half: &HalfSyscall<'_>) -> Self {
        let (begin, end, line) = match half.half {
            Half::Begin => (Some(half.at), None, begun(half.name)),
            Half::End => (None, Some(half.at), format!("{}(...) = ...", shown(half.name))),
        };
        Self::partial(half.thread, half.name, half.at, begin, end, line)
    }

    /// One that was in progress at an instant and of which one end is missing. Those whose begin is unknown come first.
    pub(super) fn in_progress(thread: ThreadId, call: CurrentCall<'_>) -> Self {
        let at = call.since.unwrap_or(Time::MIN);
        Self::partial(thread, call.name, at, call.since, None, begun(call.name))
    }

    /// One of which nothing is known but this.
    fn partial(
        thread: ThreadId,
        name: Option<&Name>,
        at: Time,
        begin: Option<Time>,
        end: Option<Time>,
        line: String,
    ) -> Self {
        Self {
            at,
            begin,
            end,
            cpu: None,
            thread,
            name: name.cloned(),
            ret: None,
            line: line.into(),
            fds: [None; 2],
            makes: false,
        }
    }

    /// Gives the thread another name.
    pub(super) fn rename(&mut self, aliases: &ThreadAliases) {
        self.thread = aliases.of(self.thread);
    }

    /// Its row, if the filter keeps the thread.
    pub(super) fn row(
        &self,
        fd_names: &FdNames<'_>,
        result: &HostResult<'_, Syscalls>,
        options: &Options,
    ) -> Option<Vec<Cell>> {
        let who = result.who(self.thread, options)?;
        let name_of = |fd: i32, at| Some((fd, fd_names.name(self.thread, fd, at)?));
        let taken: Vec<_> = self.fds.iter().flatten().filter_map(|&fd| name_of(fd, self.at)).collect();
        let made =
            self.ret.filter(|ret| self.makes && *ret >= 0).and_then(|ret| name_of(ret as i32, self.end?));
        let ns = self.begin.zip(self.end).map(|(begin, end)| duration(begin, end));
        let error = self.ret.and_then(error_in).map(errno_name);
        let mut cells =
            vec![result.name(), time(result, self.begin), time(result, self.end), ns.into(), self.cpu.into()];
        cells.extend(who.cells());
        cells.extend([
            self.name.as_ref().into(),
            self.ret.into(),
            match error {
                Some(error) => Cell::text(&error),
                None if self.ret.is_some() => Cell::None,
                None => Cell::Null,
            },
            Cell::text(&annotated(&self.line, &taken, made)),
        ]);
        Some(cells)
    }
}

fn shown(name: Option<&Name>) -> &str {
    name.map_or("?", Name::as_str)
}

/// The line of a call that was not seen to return.
fn begun(name: Option<&Name>) -> String {
    format!("{}(...) = ?", shown(name))
}
