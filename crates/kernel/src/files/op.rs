//! The operations on tables of file descriptors.

use compact_str::CompactString;
use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use super::returned::{OneUse, Returned};
use super::span::Uses;
use crate::calls::{Effect, ExitOutput};
use crate::id::{Name, ThreadAliases, ThreadId, Time};

/// Something that happened to file descriptors. Times are raw ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileOp {
    /// A call returned.
    Call {
        /// Whose.
        thread: ThreadId,
        /// When it returned.
        at: Time,
        /// What it does; `None`: its entry is in an earlier piece, or was lost.
        effect: Option<Effect>,
        /// Its name, where the exit tells it.
        name: Option<Name>,
        /// Its result.
        ret: i64,
        /// What the exit tells beside.
        output: ExitOutput,
        /// The first packet that it sent, where its effect is known.
        flow: Option<Box<Flow>>,
    },
    /// A thread was made.
    Fork {
        /// By whom.
        parent: ThreadId,
        /// The new one.
        child: ThreadId,
        /// When.
        at: Time,
        /// Whether it has the table of its parent; else it has a copy.
        shares_table: bool,
        /// Whether that is a guess, because the call that made it was not seen.
        is_guess: bool,
    },
    /// A thread runs another program: descriptors that are marked for it are closed.
    Exec {
        /// Who.
        thread: ThreadId,
        /// When.
        at: Time,
    },
    /// A thread ends. Said twice it is the same.
    Exit {
        /// Who.
        thread: ThreadId,
        /// When.
        at: Time,
    },
    /// A thread is of a process: unless something else is known it has the table of that. May be said often.
    Member {
        /// Who.
        thread: ThreadId,
        /// Number of the process.
        pid: i32,
    },
    /// The dump at the begin of a trace tells which table a thread has (LTTng 2.10 and younger).
    DumpOwner {
        /// Who.
        thread: ThreadId,
        /// Which table: an address in the kernel.
        table: u64,
    },
    /// The dump tells of a file that is open.
    DumpFile {
        /// Whose.
        owner: DumpOwner,
        /// When this was told.
        at: Time,
        /// Its number.
        fd: i32,
        /// Flags as of `open`, where told.
        flags: Option<u32>,
        /// The path.
        name: CompactString,
    },
    /// From here on events may be missing: nobody knows whether what was open still is, nor whether what is opened in the
    /// meantime is the file that is closed in the meantime.
    LossBegins {
        /// When.
        at: Time,
        /// Until when.
        to: Time,
    },
    /// Events are missing before this: nobody knows whether what was open still is.
    Lost {
        /// When.
        at: Time,
    },
}

/// Whose a file is that the dump tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DumpOwner {
    /// The process of this thread.
    Thread(ThreadId),
    /// All who have this table.
    Table(u64),
}

impl FileOp {
    /// The call that it is, if it is one.
    pub(super) fn returned(&self) -> Option<Returned<'_>> {
        let Self::Call { thread, at, effect, name, ret, output, flow } = self else { return None };
        let (effect, name, flow) = (effect.as_ref(), name.as_ref(), flow.as_deref());
        Some(Returned { thread: *thread, at: *at, effect, name, ret: *ret, output, flow })
    }

    /// Whether it names a thread that nobody knows yet.
    pub(super) fn is_blocked(&self) -> bool {
        match *self {
            Self::Call { thread, .. }
            | Self::Exec { thread, .. }
            | Self::Exit { thread, .. }
            | Self::Member { thread, .. }
            | Self::DumpOwner { thread, .. }
            | Self::DumpFile { owner: DumpOwner::Thread(thread), .. } => is_unknown(thread),
            Self::Fork { parent, child, .. } => is_unknown(parent) || is_unknown(child),
            Self::DumpFile { .. } | Self::LossBegins { .. } | Self::Lost { .. } => false,
        }
    }

    /// Gives threads their new names.
    pub(super) fn rename(&mut self, aliases: &ThreadAliases) {
        match self {
            Self::Call { thread, .. }
            | Self::Exec { thread, .. }
            | Self::Exit { thread, .. }
            | Self::Member { thread, .. }
            | Self::DumpOwner { thread, .. }
            | Self::DumpFile { owner: DumpOwner::Thread(thread), .. } => *thread = aliases.of(*thread),
            Self::Fork { parent, child, .. } => {
                *parent = aliases.of(*parent);
                *child = aliases.of(*child);
            }
            Self::DumpFile { .. } | Self::LossBegins { .. } | Self::Lost { .. } => {}
        }
    }
}

/// Whether nobody knows yet who a thread is.
pub(super) fn is_unknown(thread: ThreadId) -> bool {
    matches!(thread, ThreadId::Unidentified { .. })
}

/// What a thread did with a descriptor, added up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    /// The first use.
    pub(super) first: Time,
    pub(super) uses: Uses,
    /// The first packet that was sent in a use.
    pub(super) sent: Option<Box<Sent>>,
}

/// A packet that a call sent, and when that returned.
pub(super) type Sent = (Time, Flow);

/// Keeps the first of two packets, whichever is noted first.
pub(super) fn keep_first(sent: &mut Option<Box<Sent>>, other: Sent) {
    match sent {
        Some(first) => **first = other.min(**first),
        None => *sent = Some(Box::new(other)),
    }
}

impl Tally {
    /// Adds more of the same kind.
    pub(super) fn add(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.uses.add(&other.uses);
        if let Some(sent) = &other.sent {
            keep_first(&mut self.sent, **sent);
        }
    }

    /// Adds one.
    pub(super) fn count(&mut self, one: &OneUse<'_>) {
        self.first = self.first.min(one.at);
        self.uses.count(one.outcome);
        if let Some(flow) = one.flow {
            keep_first(&mut self.sent, (one.at, *flow));
        }
    }
}
