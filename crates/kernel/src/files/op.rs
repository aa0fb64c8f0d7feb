//! The operations on tables of file descriptors.

use compact_str::CompactString;
use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use super::returned::{OneUse, Returned};
use crate::calls::{Effect, ExitOutput};
use crate::id::{Name, ThreadAliases, ThreadId, Time};
use crate::span::file::Uses;

/// An operation on file descriptors. Times are raw ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileOp {
    /// A call returned.
    Call {
        /// The thread.
        thread: ThreadId,
        /// When it returned.
        at: Time,
        /// Its effect; `None`: its entry is in an earlier piece, or was lost.
        effect: Option<Effect>,
        /// Its name, if the exit records it.
        name: Option<Name>,
        /// Its result.
        ret: i64,
        /// What the exit records besides the result.
        output: ExitOutput,
        /// The first packet that it sent, if its effect is known.
        flow: Option<Box<Flow>>,
    },
    /// A thread was forked.
    Fork {
        /// The parent.
        parent: ThreadId,
        /// The new thread.
        child: ThreadId,
        /// When.
        at: Time,
        /// Whether it shares the table of its parent; else it has a copy.
        shares_table: bool,
        /// Whether that is a guess, because the call that made it was not seen.
        is_guess: bool,
    },
    /// A thread executes another program: descriptors marked close-on-exec are closed.
    Exec {
        /// The thread.
        thread: ThreadId,
        /// When.
        at: Time,
    },
    /// A thread ends. Repeating it changes nothing.
    Exit {
        /// The thread.
        thread: ThreadId,
        /// When.
        at: Time,
    },
    /// A thread is of a process: unless something else is known it shares the table of that. May be repeated.
    Member {
        /// The thread.
        thread: ThreadId,
        /// Pid of the process.
        pid: i32,
    },
    /// The dump at the begin of a trace records the table of a thread (LTTng 2.10 and younger).
    DumpOwner {
        /// The thread.
        thread: ThreadId,
        /// The table: an address in the kernel.
        table: u64,
    },
    /// The dump records an open file.
    DumpFile {
        /// Its owner.
        owner: DumpOwner,
        /// Time of the record.
        at: Time,
        /// The descriptor.
        fd: i32,
        /// Flags as of `open`, if recorded.
        flags: Option<u32>,
        /// The path.
        name: CompactString,
    },
    /// From here on events may be missing: it is unknown whether what was open still is, and whether what is
    /// opened until the end of the loss is the file that is closed until then.
    LossBegins {
        /// When.
        at: Time,
        /// Until when.
        to: Time,
    },
    /// Events are missing before this: it is unknown whether what was open still is.
    Lost {
        /// When.
        at: Time,
    },
}

/// The owner of a file in the dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DumpOwner {
    /// The process of this thread.
    Thread(ThreadId),
    /// All threads attached to this table.
    Table(u64),
}

impl FileOp {
    /// Returns the call, if it is one.
    pub(super) fn returned(&self) -> Option<Returned<'_>> {
        let Self::Call { thread, at, effect, name, ret, output, flow } = self else { return None };
        let (effect, name, flow) = (effect.as_ref(), name.as_ref(), flow.as_deref());
        Some(Returned { thread: *thread, at: *at, effect, name, ret: *ret, output, flow })
    }

    /// The threads that it names.
    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> {
        let threads = match *self {
            Self::Call { thread, .. }
            | Self::Exec { thread, .. }
            | Self::Exit { thread, .. }
            | Self::Member { thread, .. }
            | Self::DumpOwner { thread, .. }
            | Self::DumpFile { owner: DumpOwner::Thread(thread), .. } => [Some(thread), None],
            Self::Fork { parent, child, .. } => [Some(parent), Some(child)],
            Self::DumpFile { .. } | Self::LossBegins { .. } | Self::Lost { .. } => [None, None],
        };
        threads.into_iter().flatten()
    }

    /// Whether it names an unidentified thread.
    pub(super) fn is_blocked(&self) -> bool {
        self.threads().any(is_unknown)
    }

    /// Renames threads.
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

impl Returned<'_> {
    /// The operation that is kept. The name matters only as long as the effect is not known.
    pub(super) fn to_op(self) -> FileOp {
        let Self { thread, at, effect, name, ret, output, flow } = self;
        let name = if effect.is_some() { None } else { name.cloned() };
        let flow = flow.filter(|_| matches!(effect, Some(Effect::Connect { .. })));
        let flow = flow.map(|flow| Box::new(*flow));
        FileOp::Call { thread, at, effect: effect.cloned(), name, ret, output: output.clone(), flow }
    }
}

/// Whether a thread is unidentified.
pub(super) fn is_unknown(thread: ThreadId) -> bool {
    matches!(thread, ThreadId::Unidentified { .. })
}

/// Uses of a descriptor by one thread, added up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    /// The first use.
    pub(super) first: Time,
    pub(super) uses: Uses,
    /// The first packet that was sent in a use.
    pub(super) sent: Option<Box<Sent>>,
}

/// A packet that a call sent, and when the call returned.
pub(super) type Sent = (Time, Flow);

/// Keeps the first of two packets, in whichever order they are noted.
pub(super) fn keep_first(sent: &mut Option<Box<Sent>>, other: Sent) {
    match sent {
        Some(first) => **first = other.min(**first),
        None => *sent = Some(Box::new(other)),
    }
}

/// None.
impl Default for Tally {
    fn default() -> Self {
        Self { first: Time::MAX, uses: Uses::default(), sent: None }
    }
}

impl Tally {
    /// Adds uses of the same descriptor and thread.
    pub(super) fn add(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.uses.add(&other.uses);
        if let Some(sent) = &other.sent {
            keep_first(&mut self.sent, **sent);
        }
    }

    /// Adds one use.
    pub(super) fn count(&mut self, one: &OneUse<'_>) {
        self.first = self.first.min(one.at);
        self.uses.count(one.outcome);
        if let Some(flow) = one.flow {
            keep_first(&mut self.sent, (one.at, *flow));
        }
    }
}
