//! Effects of calls on file descriptors, independent of the tracer's field names.
//!
//! The decoders make these; the machine of [`crate::files`] executes them.

use serde::{Deserialize, Serialize};

use super::{Address, EpollChange, EpollReady, Object, WaitedSet};
use crate::id::Name;

/// Bits of `clone`'s and `unshare`'s flags.
pub mod clone_flag {
    /// The child shares the parent's memory.
    pub const VM: u64 = 0x100;
    /// The child shares the parent's table of file descriptors.
    pub const FILES: u64 = 0x400;
    /// The parent waits until the child executes another program or exits.
    pub const VFORK: u64 = 0x4000;
}

/// Bits of `open`'s flags (those of x86; they are the same on most machines).
pub mod open_flag {
    /// Only a directory may be opened.
    pub const DIRECTORY: u32 = 0o20_0000;
    /// The descriptor is closed on exec.
    pub const CLOEXEC: u32 = 0o200_0000;
}

/// The effect of a call on file descriptors if it succeeds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// Nothing.
    #[default]
    Nothing,
    /// Opens a file by its path.
    Open {
        /// The call.
        call: Opener,
        /// The directory that a relative path begins at; `None`: the current working directory.
        dir: Option<i32>,
        /// The path, empty if the tracer does not record it.
        path: Name,
        /// Flags.
        flags: u32,
    },
    /// Makes a descriptor of something that has no path.
    Create {
        /// The call.
        call: Opener,
        /// What the descriptor refers to.
        what: Created,
        /// Whether it is closed on exec.
        close_on_exec: bool,
    },
    /// Makes two connected descriptors; the exit has their numbers.
    Pair {
        /// The call.
        call: Opener,
        /// What they refer to.
        what: Paired,
        /// Whether they are closed on exec.
        close_on_exec: bool,
    },
    /// Closes a descriptor.
    Close {
        /// The descriptor.
        fd: i32,
    },
    /// Closes all of a range, or marks them.
    CloseRange {
        /// The first.
        first: u32,
        /// The last.
        last: u32,
        /// `CLOSE_RANGE_UNSHARE` (2), `CLOSE_RANGE_CLOEXEC` (4).
        flags: u32,
    },
    /// Duplicates a descriptor.
    Duplicate {
        /// The call.
        call: Opener,
        /// The descriptor that is duplicated.
        fd: i32,
        /// The requested number, of `dup2` and `dup3`: it is closed first.
        to: Option<i32>,
        /// Whether the new one is closed on exec.
        close_on_exec: bool,
    },
    /// Sets whether a descriptor is closed on exec.
    CloseOnExec {
        /// The descriptor.
        fd: i32,
        /// Whether it is.
        on: bool,
    },
    /// Connects a socket.
    Connect {
        /// The socket.
        fd: i32,
        /// The peer, if recorded.
        peer: Option<Address>,
    },
    /// Binds a socket to an address.
    Bind {
        /// The socket.
        fd: i32,
        /// The address, if recorded.
        local: Option<Address>,
    },
    /// Makes a socket listen.
    Listen {
        /// The socket.
        fd: i32,
    },
    /// Accepts a connection from a listening socket.
    Accept {
        /// The call.
        call: Opener,
        /// The listening socket.
        fd: i32,
        /// Whether the new one is closed on exec.
        close_on_exec: bool,
    },
    /// Uses a descriptor.
    Use {
        /// The descriptor.
        fd: i32,
        /// What for.
        what: Use,
    },
    /// Waits for descriptors: `poll`, `select`.
    Poll {
        /// The requested descriptors and events.
        asked: WaitedSet,
    },
    /// Changes a set of descriptors to wait for.
    EpollControl {
        /// Descriptor of the set.
        set: i32,
        /// The descriptor that is added, changed or removed.
        fd: i32,
        /// The change.
        change: EpollChange,
    },
    /// Waits for the descriptors of a set.
    EpollWait {
        /// Descriptor of the set.
        set: i32,
    },
    /// Moves bytes from one descriptor to another.
    Transfer {
        /// From.
        from: i32,
        /// To.
        to: i32,
    },
    /// Makes a thread or a process.
    Clone {
        /// Its flags; `None` if they are in memory that the tracer does not record (`clone3`).
        flags: Option<u64>,
    },
    /// Stops sharing resources with other threads.
    Unshare {
        /// Which resources: bits as of `clone`.
        flags: u64,
    },
    /// Executes another program.
    Exec,
    /// Maps memory at the address that it returns.
    Map {
        /// Descriptor of the file; `None` for memory without one.
        fd: Option<i32>,
        /// Number of bytes, if recorded.
        bytes: Option<u64>,
        /// Who sees what is written there.
        sharing: Sharing,
    },
    /// Unmaps memory.
    Unmap {
        /// First address.
        address: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// Acts on what is no file.
    Object {
        /// The object.
        object: Object,
        /// The descriptor that stands for a process, if a signal is sent through one.
        fd: Option<i32>,
    },
}

impl Effect {
    /// The descriptor that a call is about: that of the directory of an `openat`, the source of a transfer.
    /// `None` for calls with none, or with several.
    pub fn descriptor(&self) -> Option<i32> {
        match *self {
            Self::Open { dir: fd, .. } | Self::Object { fd, .. } => fd,
            Self::Close { fd }
            | Self::Duplicate { fd, .. }
            | Self::CloseOnExec { fd, .. }
            | Self::Connect { fd, .. }
            | Self::Bind { fd, .. }
            | Self::Listen { fd }
            | Self::Accept { fd, .. }
            | Self::Use { fd, .. }
            | Self::EpollControl { set: fd, .. }
            | Self::EpollWait { set: fd }
            | Self::Transfer { from: fd, .. }
            | Self::Map { fd: Some(fd), .. } => Some(fd),
            Self::Nothing
            | Self::Poll { .. }
            | Self::Create { .. }
            | Self::Pair { .. }
            | Self::CloseRange { .. }
            | Self::Clone { .. }
            | Self::Unshare { .. }
            | Self::Exec
            | Self::Map { fd: None, .. }
            | Self::Unmap { .. } => None,
        }
    }

    /// What it does to descriptors, in a word.
    pub fn action(&self) -> FileAction {
        match self {
            Self::Open { .. }
            | Self::Create { .. }
            | Self::Pair { .. }
            | Self::Duplicate { .. }
            | Self::Accept { .. } => FileAction::Opens,
            Self::Close { .. } | Self::CloseRange { .. } => FileAction::Closes,
            Self::Use { what: Use::Read, .. } => FileAction::Reads,
            Self::Use { what: Use::Write, .. } => FileAction::Writes,
            Self::Transfer { .. } => FileAction::Transfers,
            _ => FileAction::Other,
        }
    }

    /// The flags of `clone`, `fork`, `vfork`; see [`clone_flag`]. `None` for other calls, and where the flags
    /// are not recorded.
    pub fn clone_flags(&self) -> Option<u64> {
        match *self {
            Self::Clone { flags } => flags,
            _ => None,
        }
    }

    /// Whether it concerns file descriptors in any way. New threads and processes do not: the model records
    /// what they share, because it knows their ids.
    pub fn concerns_files(&self) -> bool {
        !matches!(
            self,
            Self::Nothing | Self::Clone { .. } | Self::Poll { .. } | Self::Object { fd: None, .. }
        )
    }
}

/// What a call does to descriptors, in a word: what analyses of I/O need of an [`Effect`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileAction {
    /// Nothing, or something else.
    Other,
    /// Makes a descriptor.
    Opens,
    /// Closes descriptors.
    Closes,
    /// Reads or receives.
    Reads,
    /// Writes or sends.
    Writes,
    /// Moves bytes from one descriptor to another.
    Transfers,
}

impl FileAction {
    /// All of them, by their numbers in tables.
    pub const ALL: [Self; 6] =
        [Self::Other, Self::Opens, Self::Closes, Self::Reads, Self::Writes, Self::Transfers];

    /// Its number in tables.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// That of a number in tables.
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Opens => "opens",
            Self::Closes => "closes",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Transfers => "transfers",
        }
    }

    /// An effect of this action on a descriptor; whatever else an effect has is not that of any call.
    pub fn effect(self, fd: Option<i32>) -> Effect {
        let known = fd;
        let fd = fd.unwrap_or(-1);
        match self {
            Self::Other => known.map_or(Effect::Nothing, |fd| Effect::Use { fd, what: Use::Other }),
            Self::Opens => Effect::Open { call: Opener::Open, dir: None, path: Name::default(), flags: 0 },
            Self::Closes => Effect::Close { fd },
            Self::Reads => Effect::Use { fd, what: Use::Read },
            Self::Writes => Effect::Use { fd, what: Use::Write },
            Self::Transfers => Effect::Transfer { from: fd, to: -1 },
        }
    }
}

/// The kind of use of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Use {
    /// The result is the number of bytes read or received.
    Read,
    /// The result is the number of bytes written or sent.
    Write,
    /// Something else.
    Other,
}

/// What a descriptor without a path refers to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Created {
    /// A socket.
    Socket {
        /// `AF_INET` is 2.
        family: u16,
        /// `SOCK_STREAM` is 1; without flags.
        kind: u16,
        /// Protocol in the family.
        protocol: u16,
    },
    /// `eventfd`.
    Event,
    /// `epoll_create`.
    Epoll,
    /// `timerfd_create`.
    Timer,
    /// `signalfd`.
    Signal,
    /// `inotify_init`.
    Inotify,
    /// `fanotify_init`.
    Fanotify,
    /// `memfd_create` and its name, if recorded.
    Memory(Name),
    /// `userfaultfd`.
    UserFault,
    /// `perf_event_open`.
    Perf,
    /// `pidfd_open`, and the process.
    Process(i32),
    /// `io_uring_setup`.
    Ring,
    /// `mq_open`, and its name.
    Queue(Name),
    /// Something else.
    Other,
}

/// What two connected descriptors refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Paired {
    /// A pipe: the first is the read end.
    Pipe,
    /// Two sockets.
    Sockets {
        /// `AF_UNIX` is 1.
        family: u16,
        /// `SOCK_STREAM` is 1; without flags.
        kind: u16,
        /// Protocol in the family.
        protocol: u16,
    },
}

/// What the exit of a call records besides its result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitOutput {
    /// Nothing.
    #[default]
    Nothing,
    /// The two descriptors that it made.
    Pair(i32, i32),
    /// The address of the peer.
    Peer(Address),
    /// Descriptors that are ready.
    Ready(WaitedSet),
    /// The ready events of an epoll set: the first ones.
    EpollReady(Box<[EpollReady]>),
}

/// Defines the calls that make descriptors, and their names.
macro_rules! openers {
    ($($variant:ident $name:literal,)*) => {
        /// A call that makes a descriptor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Opener {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl Opener {
            /// Name of the call.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The call of this name.
            pub fn find(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

openers! {
    Open "open",
    Openat "openat",
    Openat2 "openat2",
    Creat "creat",
    OpenByHandle "open_by_handle_at",
    OpenTree "open_tree",
    Fsopen "fsopen",
    Fspick "fspick",
    Fsmount "fsmount",
    Dup "dup",
    Dup2 "dup2",
    Dup3 "dup3",
    Fcntl "fcntl",
    Fcntl64 "fcntl64",
    PidfdGetfd "pidfd_getfd",
    Socket "socket",
    Socketpair "socketpair",
    Accept "accept",
    Accept4 "accept4",
    Pipe "pipe",
    Pipe2 "pipe2",
    Eventfd "eventfd",
    Eventfd2 "eventfd2",
    EpollCreate "epoll_create",
    EpollCreate1 "epoll_create1",
    TimerfdCreate "timerfd_create",
    Signalfd "signalfd",
    Signalfd4 "signalfd4",
    InotifyInit "inotify_init",
    InotifyInit1 "inotify_init1",
    FanotifyInit "fanotify_init",
    MemfdCreate "memfd_create",
    MemfdSecret "memfd_secret",
    Userfaultfd "userfaultfd",
    PerfEventOpen "perf_event_open",
    PidfdOpen "pidfd_open",
    IoUringSetup "io_uring_setup",
    MqOpen "mq_open",
}

/// Who sees what a process writes to memory that it mapped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Sharing {
    /// It alone (`MAP_PRIVATE`).
    #[default]
    Private,
    /// It sees what others write, and cannot write (`MAP_SHARED` without `PROT_WRITE`).
    ReadOnly,
    /// All that map it (`MAP_SHARED`, `PROT_WRITE`).
    Shared,
}

impl Sharing {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Private, Self::ReadOnly, Self::Shared];

    /// `private`, `read-only`, `shared`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::ReadOnly => "read-only",
            Self::Shared => "shared",
        }
    }
}
