//! The operations on tables of file descriptors, and the normal form of one.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::span::Uses;
use crate::calls::{Effect, Made, Use};
use crate::id::{Name, Renames, ThreadId, Time};

const EBADF: i64 = -9;
const EINTR: i64 = -4;
const EALREADY: i64 = -114;
const EINPROGRESS: i64 = -115;

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
        made: Made,
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
    /// Events are missing here: nobody knows whether what was open still is.
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
    /// The threads that it names.
    fn threads(&self) -> [Option<ThreadId>; 2] {
        match *self {
            Self::Call { thread, .. }
            | Self::Exec { thread, .. }
            | Self::Exit { thread, .. }
            | Self::Member { thread, .. }
            | Self::DumpOwner { thread, .. }
            | Self::DumpFile { owner: DumpOwner::Thread(thread), .. } => [Some(thread), None],
            Self::Fork { parent, child, .. } => [Some(parent), Some(child)],
            Self::DumpFile { .. } | Self::Lost { .. } => [None, None],
        }
    }

    /// Whether it names a thread that nobody knows yet.
    pub(super) fn is_blocked(&self) -> bool {
        self.threads().into_iter().flatten().any(is_unknown)
    }

    /// Gives threads their new names.
    pub(super) fn rename(&mut self, renames: &Renames) {
        match self {
            Self::Call { thread, .. }
            | Self::Exec { thread, .. }
            | Self::Exit { thread, .. }
            | Self::Member { thread, .. }
            | Self::DumpOwner { thread, .. }
            | Self::DumpFile { owner: DumpOwner::Thread(thread), .. } => *thread = renames.of(*thread),
            Self::Fork { parent, child, .. } => {
                *parent = renames.of(*parent);
                *child = renames.of(*child);
            }
            Self::DumpFile { .. } | Self::Lost { .. } => {}
        }
    }
}

/// Whether nobody knows yet who a thread is.
pub(super) fn is_unknown(thread: ThreadId) -> bool {
    matches!(thread, ThreadId::Running { .. })
}

/// What a thread did with a descriptor, added up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    /// The first use, and whose that was: equal times are told apart by the thread, not by who came first.
    pub(super) first: (Time, ThreadId),
    pub(super) uses: Uses,
}

impl Tally {
    /// Adds more of the same kind.
    pub(super) fn add(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.uses.add(&other.uses);
    }

    /// The same by other names.
    pub(super) fn renamed(mut self, renames: &Renames) -> Self {
        self.first.1 = renames.of(self.first.1);
        self
    }
}

/// Whose, which descriptor, what.
pub(super) type OneUse = (ThreadId, i32, Tally);

/// An operation in its normal form.
pub(super) enum Step {
    /// It changes nothing.
    Nothing,
    /// It uses a descriptor.
    Use(OneUse),
    /// It uses two.
    Uses(OneUse, OneUse),
    /// Anything else.
    Op(FileOp),
}

/// The normal form: what does not matter is left out, so that it cannot make a difference.
pub(super) fn step(op: FileOp) -> Step {
    let FileOp::Call { thread, at, effect: Some(effect), ret, made, .. } = op else { return Step::Op(op) };
    let tally = |fd, uses| (thread, fd, Tally { first: (at, thread), uses });
    let failed = || Uses { errors: 1, ..Uses::default() };
    let used = |what| {
        let bytes = ret as u64;
        match what {
            _ if ret < 0 => failed(),
            Use::Read => Uses { reads: 1, read_bytes: bytes, ..Uses::default() },
            Use::Write => Uses { writes: 1, written_bytes: bytes, ..Uses::default() },
            Use::Other => Uses { others: 1, ..Uses::default() },
        }
    };
    match effect {
        Effect::Nothing | Effect::Clone { .. } => Step::Nothing,
        // Nothing was open there. Of other errors nobody knows whether the kernel looked for the descriptor first.
        Effect::Use { .. } | Effect::Transfer { .. } if ret == EBADF => Step::Nothing,
        Effect::Use { fd, what } => Step::Use(tally(fd, used(what))),
        Effect::Transfer { from, to } => {
            Step::Uses(tally(from, used(Use::Read)), tally(to, used(Use::Write)))
        }
        Effect::Connect { fd, .. } if ret < 0 && !matches!(ret, EINTR | EALREADY | EINPROGRESS) => {
            if ret == EBADF { Step::Nothing } else { Step::Use(tally(fd, failed())) }
        }
        Effect::Bind { fd, .. } | Effect::Listen { fd } | Effect::Accept { fd, .. }
            if ret < 0 && ret != EBADF =>
        {
            Step::Use(tally(fd, failed()))
        }
        Effect::Connect { .. } => {
            Step::Op(FileOp::Call { thread, at, effect: Some(effect), name: None, ret, made })
        }
        // Linux closes a descriptor whatever comes of it, unless there was none.
        Effect::Close { .. } if ret != EBADF => {
            Step::Op(FileOp::Call { thread, at, effect: Some(effect), name: None, ret, made })
        }
        _ if ret < 0 => Step::Nothing,
        effect => Step::Op(FileOp::Call { thread, at, effect: Some(effect), name: None, ret, made }),
    }
}
