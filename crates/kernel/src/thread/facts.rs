//! Who a thread is.

use serde::{Deserialize, Serialize};

use crate::event::Namespace;
use crate::id::{Name, ThreadId, Time};

/// What is known of a thread, the last that was said of each: `None` where nothing was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Its name.
    pub comm: Option<Name>,
    /// The number of its process.
    pub pid: Option<i32>,
    /// The number of the process that made its process.
    pub parent: Option<i32>,
    /// Whether it is one of the kernel's own.
    pub is_kernel: Option<bool>,
    /// What it is called in its innermost namespace.
    pub inner: Option<Namespace>,
    /// The priority that it ran with last, as the tracer counts.
    pub priority: Option<i32>,
    /// The program that it runs, if it was seen to start.
    pub program: Option<Name>,
    /// Whether its begin was seen.
    pub was_forked: bool,
    /// When it said that it ends, raw ns.
    pub exited: Option<Time>,
    /// When it left its CPU for good, raw ns.
    pub dead: Option<Time>,
}

/// A name as bytes: like most it is text.
pub(crate) fn set_name(name: &mut Option<Name>, bytes: &[u8]) {
    if !bytes.is_empty() && name.as_ref().is_none_or(|name| name.as_bytes() != bytes) {
        *name = Some(Name::from_utf8_lossy(bytes));
    }
}

impl Facts {
    /// Takes over what is known of the thread that it was before an exec: what is known of itself is younger.
    pub(crate) fn inherit(&mut self, before: Self) {
        let since = std::mem::replace(self, Self { exited: None, dead: None, ..before });
        self.append(since);
    }

    /// What is known in the end, with what follows from it. `thread`: whose they are.
    pub(crate) fn settled(mut self, thread: ThreadId) -> Self {
        // The kernel's own threads execute nothing, and who does is the only thread of its process.
        if self.program.is_some() {
            self.is_kernel = Some(false);
            self.pid = thread.tid().or(self.pid);
        }
        self
    }

    /// Puts what was said later over what is known.
    pub(crate) fn append(&mut self, right: Self) {
        let keep = |left: &mut Option<Name>, right: Option<Name>| {
            if right.is_some() {
                *left = right;
            }
        };
        keep(&mut self.comm, right.comm);
        keep(&mut self.program, right.program);
        self.pid = right.pid.or(self.pid);
        self.parent = right.parent.or(self.parent);
        self.is_kernel = right.is_kernel.or(self.is_kernel);
        self.inner = right.inner.or(self.inner);
        self.priority = right.priority.or(self.priority);
        self.was_forked |= right.was_forked;
        self.exited = right.exited.or(self.exited);
        self.dead = right.dead.or(self.dead);
    }
}
