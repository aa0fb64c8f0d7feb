//! Facts of a thread: its name, its process, its begin and end.

use serde::{Deserialize, Serialize};

use super::names::Names;
use crate::id::{Name, Namespace, ThreadId, Time};

/// The facts of a thread, the last value of each: `None` if there was none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Its names.
    pub names: Names,
    /// Its pid.
    pub pid: Option<i32>,
    /// Pid of the parent of its process.
    pub parent: Option<i32>,
    /// Whether it is a kernel thread.
    pub is_kernel: Option<bool>,
    /// Its ids in its innermost pid namespace, which is that of the host at level 0.
    pub inner: Option<Namespace>,
    /// Its last priority, as the tracer reports it.
    pub priority: Option<i32>,
    /// The program that it executes, if the exec was seen.
    pub program: Option<Name>,
    /// Whether its begin was seen.
    pub was_forked: bool,
    /// When it began to exit, raw ns.
    pub exited: Option<Time>,
    /// When it left its CPU for good, raw ns.
    pub dead: Option<Time>,
}

impl Facts {
    /// Adds ids in a namespace that a dump shows: it shows those of each that the thread is in, and the
    /// innermost stays.
    pub(crate) fn note_inner(&mut self, seen: Option<Namespace>) {
        if seen.is_some_and(|seen| self.inner.is_none_or(|inner| inner.level <= seen.level)) {
            self.inner = seen;
        }
    }

    /// Adds the facts of the thread that it was before an exec: its own are younger.
    pub(crate) fn inherit(&mut self, before: Self) {
        let since = std::mem::replace(self, Self { exited: None, dead: None, ..before });
        self.append(since);
    }

    /// The facts at the end, with what follows from them. `thread`: their thread.
    pub(crate) fn settled(mut self, thread: ThreadId) -> Self {
        // A kernel thread executes no programs, and a thread that does is the only one of its process.
        if self.program.is_some() {
            self.is_kernel = Some(false);
            self.pid = thread.tid().or(self.pid);
        }
        self
    }

    /// Appends later facts: they overwrite earlier ones.
    pub(crate) fn append(&mut self, right: Self) {
        self.names.append(right.names);
        self.program = right.program.or_else(|| self.program.take());
        self.pid = right.pid.or(self.pid);
        self.parent = right.parent.or(self.parent);
        self.is_kernel = right.is_kernel.or(self.is_kernel);
        self.note_inner(right.inner);
        self.priority = right.priority.or(self.priority);
        self.was_forked |= right.was_forked;
        self.exited = right.exited.or(self.exited);
        self.dead = right.dead.or(self.dead);
    }
}
