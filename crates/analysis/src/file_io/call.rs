//! Which system calls are I/O, what each of them does, and how many bytes it moved: what all analyses of I/O
//! agree on.

use isochrone_kernel::calls::{Effect, ExitOutput, FileAction};
use isochrone_kernel::{Name, Syscall};
use isochrone_strace::error_in;
use serde::{Deserialize, Serialize};

use crate::options::Options;

/// What an I/O call does. The order is that of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum IoKind {
    /// Makes a descriptor: opens a path, makes or accepts a socket, duplicates a descriptor …
    Open,
    /// Reads or receives.
    Read,
    /// Writes or sends.
    Write,
    /// Moves bytes from one descriptor to another: it reads and writes.
    Transfer,
    /// Waits until what was written is on the disk.
    Sync,
    /// Closes descriptors.
    Close,
}

impl IoKind {
    /// All of them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Open, Self::Read, Self::Write, Self::Transfer, Self::Sync, Self::Close];

    /// Its name in tables.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Transfer => "transfer",
            Self::Sync => "sync",
            Self::Close => "close",
        }
    }

    /// What a call does, by its effect and its name; `None`: it is no I/O.
    fn of(name: &str, effect: &Effect) -> Option<Self> {
        Some(match effect.action() {
            FileAction::Opens => Self::Open,
            FileAction::Closes => Self::Close,
            FileAction::Reads => Self::Read,
            FileAction::Writes => Self::Write,
            FileAction::Transfers => Self::Transfer,
            FileAction::Other => match name {
                "recvmmsg" => Self::Read,
                "sendmmsg" | "vmsplice" | "mq_timedsend" => Self::Write,
                "sync" | "syncfs" | "fsync" | "fdatasync" | "sync_file_range" | "sync_file_range2"
                | "msync" => Self::Sync,
                _ => return None,
            },
        })
    }
}

/// An I/O call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IoCall {
    /// What it does.
    pub(crate) kind: IoKind,
    /// Its descriptor: that which is read, written or closed, or the new one; of a transfer, that which is
    /// read.
    pub(crate) fd: Option<i32>,
    /// The descriptor that a transfer writes, the second of a pair.
    pub(crate) other: Option<i32>,
    /// Number of bytes that it moved: what it returned. `None` for calls that move none, that failed, or that
    /// do not return bytes.
    pub(crate) bytes: Option<u64>,
    /// The error that it ended in.
    pub(crate) error: Option<u16>,
}

impl IoCall {
    /// The call as I/O, if it is.
    pub(crate) fn of(call: &Syscall<'_>) -> Option<Self> {
        let (effect, ret) = (&call.entry.effect, call.exit.ret);
        let kind = IoKind::of(&call.entry.name, effect)?;
        let (error, is_number) = (error_in(ret), matches!(&*call.entry.name, "recvmmsg" | "sendmmsg"));
        let made = || i32::try_from(ret).ok().filter(|_| error.is_none());
        let (fd, other) = match *effect {
            Effect::Pair { .. } => match call.exit.output {
                ExitOutput::Pair(one, two) => (Some(one), Some(two)),
                _ => (None, None),
            },
            Effect::Transfer { from, to } => (Some(from), Some(to)),
            Effect::CloseRange { first, .. } => (i32::try_from(first).ok(), None),
            _ if kind == IoKind::Open => (made(), None),
            _ => (effect.descriptor(), None),
        };
        let moves = matches!(kind, IoKind::Read | IoKind::Write | IoKind::Transfer) && !is_number;
        let bytes = u64::try_from(ret).ok().filter(|_| moves && error.is_none());
        Some(Self { kind, fd, other, bytes, error })
    }

    /// Bytes that it read from [`Self::fd`].
    pub(crate) fn read(&self) -> Option<u64> {
        self.bytes.filter(|_| matches!(self.kind, IoKind::Read | IoKind::Transfer))
    }

    /// The descriptor that it wrote, and how many bytes.
    pub(crate) fn written(&self) -> Option<(Option<i32>, u64)> {
        match self.kind {
            IoKind::Write => Some((self.fd, self.bytes?)),
            IoKind::Transfer => Some((self.other, self.bytes?)),
            _ => None,
        }
    }
}

/// The path that a call was asked to open.
pub(crate) fn asked_path(effect: &Effect) -> Option<&Name> {
    match effect {
        Effect::Open { path, .. } => Some(path).filter(|path| !path.is_empty()),
        _ => None,
    }
}

/// Sizes that count, bytes. Calls without a size do not where any is requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SizeFilter {
    min: Option<u64>,
    max: Option<u64>,
}

impl SizeFilter {
    /// The sizes of some options.
    pub(crate) fn new(options: &Options) -> Self {
        Self { min: options.filter.min_bytes, max: options.filter.max_bytes }
    }

    /// Whether a size counts.
    pub(crate) fn keeps(self, bytes: Option<u64>) -> bool {
        match bytes {
            Some(bytes) => self.min.is_none_or(|min| bytes >= min) && self.max.is_none_or(|max| bytes <= max),
            None => self == Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use isochrone_kernel::Span;
    use isochrone_kernel::calls::{Opener, Use};

    use super::*;
    use crate::testing::{line, thread};

    fn of(name: &str, effect: Effect, ret: i64) -> Option<IoCall> {
        match line(thread(1), name, "", effect, (0, 1, ret)) {
            Span::Syscall(call) => IoCall::of(&call.borrowed()),
            _ => None,
        }
    }

    /// Kind, both descriptors, bytes.
    type Expect = Option<(&'static str, Option<i32>, Option<i32>, Option<u64>)>;

    #[test]
    fn calls_that_are_io() {
        let check = |name: &str, effect: Effect, ret: i64, expect: Expect| {
            let found = of(name, effect, ret).map(|io| (io.kind.label(), io.fd, io.other, io.bytes));
            assert_eq!(found, expect, "{name} = {ret}");
        };
        let uses = |what| Effect::Use { fd: 3, what };
        check("preadv2", uses(Use::Read), 10, Some(("read", Some(3), None, Some(10))));
        check("read", uses(Use::Read), -11, Some(("read", Some(3), None, None)));
        check("sendmsg", uses(Use::Write), 7, Some(("write", Some(3), None, Some(7))));
        // It returns a number of messages.
        check("sendmmsg", uses(Use::Other), 7, Some(("write", Some(3), None, None)));
        check("fsync", uses(Use::Other), 0, Some(("sync", Some(3), None, None)));
        check("sync", Effect::Nothing, 0, Some(("sync", None, None, None)));
        check("ioctl", uses(Use::Other), 0, None);
        check("getpid", Effect::Nothing, 8, None);
        let splice = Effect::Transfer { from: 4, to: 5 };
        check("splice", splice, 100, Some(("transfer", Some(4), Some(5), Some(100))));
        let accept = |ret, fd| {
            let effect = Effect::Accept { call: Opener::Accept4, fd: 3, close_on_exec: false };
            check("accept4", effect, ret, Some(("open", fd, None, None)));
        };
        accept(9, Some(9));
        accept(-11, None);
        check("close", Effect::Close { fd: 8 }, 0, Some(("close", Some(8), None, None)));
    }

    #[test]
    fn both_sides_of_a_transfer() {
        let io = of("sendfile", Effect::Transfer { from: 4, to: 5 }, 100).unwrap();
        assert_eq!((io.read(), io.written()), (Some(100), Some((Some(5), 100))));
        let io = of("write", Effect::Use { fd: 3, what: Use::Write }, 9).unwrap();
        assert_eq!((io.read(), io.written()), (None, Some((Some(3), 9))));
    }

    #[test]
    fn sizes() {
        let check = |min, max, bytes, expect| {
            assert_eq!(SizeFilter { min, max }.keeps(bytes), expect, "{min:?} {max:?} {bytes:?}");
        };
        check(None, None, None, true);
        check(None, None, Some(5), true);
        check(Some(5), None, Some(5), true);
        check(Some(6), None, Some(5), false);
        check(None, Some(4), Some(5), false);
        check(Some(1), None, None, false);
    }
}
