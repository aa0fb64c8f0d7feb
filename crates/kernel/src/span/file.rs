//! The span of a file descriptor, emitted when it is closed or the trace ends.

use std::fmt;

use isochrone_net::{Flow, protocol};
use serde::{Deserialize, Serialize};

use crate::calls::{Address, Opener};
use crate::id::{Name, ThreadAliases, ThreadId, Time};

/// The life of a file descriptor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileSpan {
    /// The thread that opened it, or was first seen to use it.
    pub thread: ThreadId,
    /// Pid of the process whose table it is in, if known.
    pub process: Option<i32>,
    /// The descriptor.
    pub fd: i32,
    /// When it was opened, or first seen; raw ns.
    pub begin: Time,
    /// When it was closed, or last known to be open; raw ns.
    pub end: Time,
    /// Whether it was seen to be opened.
    pub begin_bound: Bound,
    /// Whether it was seen to be closed.
    pub end_bound: Bound,
    /// What it refers to.
    pub kind: FileKind,
    /// Its path, or the kernel's name for it; empty if nothing is known. Paths relative to a directory's
    /// descriptor have the path of that before them if it is known, else they look like `fd 7 → x`.
    pub name: Name,
    /// How it was opened.
    pub opened_by: OpenedBy,
    /// How it was closed.
    pub closed_by: ClosedBy,
    /// Whether it is closed on exec, at its end.
    pub close_on_exec: bool,
    /// Whether events are missing that may be about it: it may have been closed and opened again, or be of
    /// another table.
    pub is_doubtful: bool,
    /// Since when events are missing between its begin and its end, raw ns: what it is called is not sure
    /// since. `None`: none are.
    pub doubtful_from: Option<Time>,
    /// Its uses.
    pub uses: Uses,
}

impl FileSpan {
    /// Renames threads.
    pub fn rename(&mut self, aliases: &ThreadAliases) {
        self.thread = aliases.of(self.thread);
    }
}

/// Whether an end of a span was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Bound {
    /// It was seen.
    Hard,
    /// It is only known to exist by then.
    Soft,
}

/// How a descriptor was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OpenedBy {
    /// Not seen.
    Unknown,
    /// It was in the dump at the begin of the trace.
    Dump,
    /// Its process inherited it from its parent, or from one that it shared a table with.
    Inherited,
    /// By a call.
    Call(Opener),
}

/// How a descriptor was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ClosedBy {
    /// `close`.
    Close,
    /// `close_range`.
    CloseRange,
    /// `dup2` and `dup3` reused its number.
    Replaced,
    /// Its process executed another program.
    Exec,
    /// The last thread attached to its table ended.
    Exit,
    /// Its number was reused, so it must have been closed.
    Unseen,
    /// Not closed: the trace ends.
    TraceEnd,
}

/// What a descriptor refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FileKind {
    /// Not known.
    #[default]
    Unknown,
    /// Something with a path.
    File,
    /// A directory.
    Directory,
    /// A socket.
    Socket(Box<Socket>),
    /// An end of a pipe.
    Pipe {
        /// Whether it is the read end, if known.
        is_read: Option<bool>,
        /// The descriptor of the other end when both were made.
        other: Option<i32>,
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
    /// `memfd_create`.
    Memory,
    /// `userfaultfd`.
    UserFault,
    /// `perf_event_open`.
    Perf,
    /// `pidfd_open`: of a process.
    Process(i32),
    /// `io_uring_setup`.
    Ring,
    /// `mq_open`.
    Queue,
    /// Something else.
    Other,
}

/// What is known of a socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Socket {
    /// `AF_INET` is 2.
    pub family: Option<u16>,
    /// `SOCK_STREAM` is 1.
    pub kind: Option<u16>,
    /// Protocol in the family.
    pub protocol: Option<u16>,
    /// Its own address: as it was bound to, or from the first packet that a call on it sent.
    pub local: Option<Address>,
    /// Its peer, from the calls or that packet.
    pub peer: Option<Address>,
    /// The descriptor of the other socket of its pair.
    pub other: Option<i32>,
    /// Whether it listens.
    pub is_listening: bool,
}

/// `AF_INET`, `AF_INET6`; `SOCK_STREAM`, `SOCK_DGRAM`.
const INTERNET: [u16; 2] = [2, 10];
const STREAM: u16 = 1;
const DATAGRAM: u16 = 2;

impl Socket {
    /// Sets its addresses from a packet that a call on it sent, unless the packet cannot be the socket's own:
    /// the call may have caused another one, of a network file system or a tunnel.
    pub(crate) fn learn(&mut self, flow: &Flow) {
        let kind = match flow.protocol {
            protocol::TCP => STREAM,
            _ => DATAGRAM,
        };
        let fits = self.family.is_none_or(|family| INTERNET.contains(&family))
            && self.kind.is_none_or(|own| own == kind)
            && !self.is_listening
            && self.other.is_none();
        let [local, peer] = [flow.source, flow.destination].map(|at| (at.ip().to_canonical(), at.port()));
        let of = |(ip, port)| Some(Address::Ip { ip, port });
        let own_peer = self.peer.and_then(Address::canonical);
        let own_local = self.local.and_then(Address::canonical);
        // A bound socket has a port, and any address of the host if its own is a wildcard.
        let is_bound_so = own_local.is_none_or(|(ip, port)| {
            (ip == local.0 || ip.is_unspecified()) && (port == local.1 || port == 0)
        });
        if !fits || !is_bound_so || own_peer.is_some_and(|own| own != peer) {
            return;
        }
        self.local = of(local);
        // Datagrams may go to any peer unless a socket is connected.
        if own_peer.is_none() && kind == STREAM {
            self.peer = of(peer);
        }
    }
}

/// `AF_INET SOCK_STREAM 10.0.0.1:80 → 10.0.0.2:4711`.
impl fmt::Display for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.family {
            Some(family) => Address::Family(family).fmt(f)?,
            None => f.write_str("socket")?,
        }
        if let Some(kind) = self.kind.and_then(|kind| isochrone_strace::socket_type_name(kind.into())) {
            write!(f, " {kind}")?;
        }
        if let Some(local) = self.local {
            write!(f, " {local}")?;
        }
        if self.is_listening {
            f.write_str(" listening")?;
        }
        if let Some(peer) = self.peer {
            write!(f, " → {peer}")?;
        }
        match self.other {
            Some(other) => write!(f, " ↔ fd {other}"),
            None => Ok(()),
        }
    }
}

impl OpenedBy {
    /// Name of the call, or another way, as tables show it; `None` if not known.
    pub fn label(self) -> Option<&'static str> {
        match self {
            Self::Unknown => None,
            Self::Dump => Some("before the trace"),
            Self::Inherited => Some("inherited"),
            Self::Call(call) => Some(call.name()),
        }
    }

    /// The way of a label: the inverse of [`Self::label`].
    pub fn of_label(label: Option<&str>) -> Self {
        let Some(label) = label else { return Self::Unknown };
        [Self::Dump, Self::Inherited]
            .into_iter()
            .find(|way| way.label() == Some(label))
            .or_else(|| Opener::find(label).map(Self::Call))
            .unwrap_or(Self::Unknown)
    }
}

impl ClosedBy {
    /// How it was closed, as tables show it; `None` while it is open.
    pub fn label(self) -> Option<&'static str> {
        Some(match self {
            Self::Close => "close",
            Self::CloseRange => "close_range",
            Self::Replaced => "dup",
            Self::Exec => "exec",
            Self::Exit => "exit",
            Self::Unseen => "unseen",
            Self::TraceEnd => return None,
        })
    }

    /// The way of a label: the inverse of [`Self::label`].
    pub fn of_label(label: Option<&str>) -> Self {
        [Self::Close, Self::CloseRange, Self::Replaced, Self::Exec, Self::Exit, Self::Unseen]
            .into_iter()
            .find(|way| way.label() == label)
            .unwrap_or(Self::TraceEnd)
    }
}

impl FileKind {
    /// What it refers to, as tables show it; `None` if not known.
    pub fn label(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unknown => return None,
            Self::File => "file",
            Self::Directory => "directory",
            Self::Socket(_) => "socket",
            Self::Pipe { .. } => "pipe",
            Self::Event => "eventfd",
            Self::Epoll => "epoll",
            Self::Timer => "timerfd",
            Self::Signal => "signalfd",
            Self::Inotify => "inotify",
            Self::Fanotify => "fanotify",
            Self::Memory => "memfd",
            Self::UserFault => "userfaultfd",
            Self::Perf => "perf_event",
            Self::Process(_) => "pidfd",
            Self::Ring => "io_uring",
            Self::Queue => "mqueue",
            Self::Other => "other",
        })
    }

    /// The kind of a label, without what the label does not say: the inverse of [`Self::label`].
    pub fn of_label(label: Option<&str>) -> Self {
        [
            Self::File,
            Self::Directory,
            Self::Socket(Box::default()),
            Self::Pipe { is_read: None, other: None },
            Self::Event,
            Self::Epoll,
            Self::Timer,
            Self::Signal,
            Self::Inotify,
            Self::Fanotify,
            Self::Memory,
            Self::UserFault,
            Self::Perf,
            Self::Process(0),
            Self::Ring,
            Self::Queue,
            Self::Other,
        ]
        .into_iter()
        .find(|kind| kind.label() == label)
        .unwrap_or_default()
    }

    /// The default name of a descriptor without a path: mostly that of the kernel.
    pub(crate) fn default_name(&self, fd: i32) -> Name {
        use compact_str::format_compact;
        let fixed = match self {
            Self::Unknown | Self::File | Self::Directory | Self::Other | Self::Queue => "",
            Self::Socket(socket) => return format_compact!("{socket}"),
            Self::Pipe { is_read: Some(true), other: Some(other) } => {
                return format_compact!("pipe {other} → {fd}");
            }
            Self::Pipe { is_read: Some(false), other: Some(other) } => {
                return format_compact!("pipe {fd} → {other}");
            }
            Self::Pipe { .. } => "pipe",
            Self::Event => "anon_inode:[eventfd]",
            Self::Epoll => "anon_inode:[eventpoll]",
            Self::Timer => "anon_inode:[timerfd]",
            Self::Signal => "anon_inode:[signalfd]",
            Self::Inotify => "anon_inode:inotify",
            Self::Fanotify => "anon_inode:[fanotify]",
            Self::Memory => "/memfd:",
            Self::UserFault => "anon_inode:[userfaultfd]",
            Self::Perf => "anon_inode:[perf_event]",
            Self::Process(_) => "anon_inode:[pidfd]",
            Self::Ring => "anon_inode:[io_uring]",
        };
        Name::const_new(fixed)
    }

    /// The kind of a name that the kernel reports.
    pub(crate) fn of_name(name: &str, is_directory: bool) -> Self {
        if name.starts_with("socket:") {
            return Self::Socket(Box::default());
        }
        if name.starts_with("pipe:") {
            return Self::Pipe { is_read: None, other: None };
        }
        if name.starts_with("/memfd:") {
            return Self::Memory;
        }
        if let Some(inode) = name.strip_prefix("anon_inode:") {
            return match inode.trim_matches(['[', ']']) {
                "eventfd" => Self::Event,
                "eventpoll" => Self::Epoll,
                "timerfd" => Self::Timer,
                "signalfd" => Self::Signal,
                "inotify" => Self::Inotify,
                "fanotify" => Self::Fanotify,
                "userfaultfd" => Self::UserFault,
                "perf_event" => Self::Perf,
                "io_uring" => Self::Ring,
                _ => Self::Other,
            };
        }
        match name.starts_with('/') {
            true if is_directory => Self::Directory,
            true => Self::File,
            false => Self::Other,
        }
    }
}

/// Uses of a descriptor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Uses {
    /// Calls that read or received.
    pub reads: u64,
    /// Bytes that they returned.
    pub read_bytes: u64,
    /// Calls that wrote or sent.
    pub writes: u64,
    /// Bytes that they passed.
    pub written_bytes: u64,
    /// Other calls.
    pub others: u64,
    /// Calls that failed.
    pub errors: u64,
}

impl Uses {
    /// Adds other uses.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.reads, other.reads),
            (&mut self.read_bytes, other.read_bytes),
            (&mut self.writes, other.writes),
            (&mut self.written_bytes, other.written_bytes),
            (&mut self.others, other.others),
            (&mut self.errors, other.errors),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}
