//! Through what one process acts on another: the kind of that, and what names the object. [`crate::waits()`]
//! has it of each wait, of which [`crate::ipc`] and [`crate::blocking()`] make tables.

use isochrone_analysis::Cell;
use isochrone_kernel::Name;
use isochrone_kernel::calls::{Object, signal_name};

use crate::sockets::Socket;

/// What names the object that processes have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectName {
    /// It has no name.
    Nameless,
    /// It has one that was not recorded.
    Unknown,
    /// Its path, its id, its address.
    Named(Name),
}

impl ObjectName {
    /// The name, if it is known.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Nameless | Self::Unknown => None,
        }
    }

    pub(crate) fn cell(&self) -> Cell {
        match self {
            Self::Nameless => Cell::NotApplicable,
            Self::Unknown => Cell::Unknown,
            Self::Named(name) => Cell::text(name),
        }
    }

    pub(crate) fn known(name: Option<&str>) -> Self {
        name.map_or(Self::Unknown, |name| Self::Named(name.into()))
    }

    /// Of a descriptor: its path, or the inode of a pipe. What the model calls a pipe or the like that has
    /// none (`pipe 5 → 4`, `anon_inode:[eventfd]`) is of its own process.
    pub(crate) fn of_file(fd: Option<i32>, kind: Option<&str>, name: Option<&str>) -> Self {
        match (kind, name) {
            _ if fd.is_none() => Self::Nameless,
            (Some("file" | "directory" | "mqueue"), name) => Self::known(name),
            (Some("pipe"), Some(name)) if name.starts_with("pipe:[") => Self::known(Some(name)),
            (None, None) => Self::Unknown,
            _ => Self::Nameless,
        }
    }
}

/// Through what one process acts on another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Through {
    /// The kind: `pipe`, `futex`, `signal` …
    pub kind: &'static str,
    /// Which one.
    pub object: ObjectName,
}

impl Through {
    pub(crate) fn new(kind: &'static str, object: ObjectName) -> Self {
        Self { kind, object }
    }

    /// Through what has no name.
    pub(crate) fn nameless(kind: &'static str) -> Self {
        Self::new(kind, ObjectName::Nameless)
    }

    /// Through a connection, by the address of its server.
    pub(crate) fn connection(is_within: bool, server: Option<std::net::SocketAddr>) -> Self {
        let object = server.map_or(ObjectName::Unknown, |at| ObjectName::Named(at.to_string().into()));
        Self::new(if is_within { "loopback" } else { "network" }, object)
    }

    /// Through a signal of a number.
    pub(crate) fn signal(number: Option<i32>) -> Self {
        let object = number.map(|number| match signal_name(number) {
            Some(name) => format!("{number} {name}"),
            None => number.to_string(),
        });
        Self::new("signal", ObjectName::known(object.as_deref()))
    }

    /// What its object is called.
    pub(crate) fn object(kind: &'static str, object: Option<Object>) -> Self {
        let name = object.map(|object| match object {
            Object::Futex(address) => format!("{address:#x}"),
            Object::Semaphores(id) => format!("semid {id}"),
            Object::MessageQueue(id) => format!("msqid {id}"),
            Object::SharedMemory(id) => format!("shmid {id}"),
            Object::Signal { number, .. } | Object::Delivered(number) => number.to_string(),
        });
        Self::new(kind, ObjectName::known(name.as_deref()))
    }

    /// Whether a timer of the kernel acts, not a process.
    pub(crate) fn is_timer(&self) -> bool {
        ["sleep", "timeout", "timerfd"].contains(&self.kind)
    }
}

/// The address of the server of a socket's connection.
pub(crate) fn server_of(socket: &Socket) -> std::net::SocketAddr {
    if socket.is_server { socket.local } else { socket.peer }
}
