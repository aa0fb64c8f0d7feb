//! Calls on sockets, and the turns of an end of a connection that they make.

use isochrone_store::{CallSpan, ThreadRow};
use isochrone_time::RawNs;

/// What a call does on a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketOp {
    Connect,
    Read,
    Write,
}

fn what(call: &str) -> Option<SocketOp> {
    Some(match call {
        "connect" => SocketOp::Connect,
        "read" | "readv" | "recv" | "recvfrom" | "recvmsg" | "recvmmsg" | "preadv2" => SocketOp::Read,
        "write" | "writev" | "send" | "sendto" | "sendmsg" | "sendmmsg" | "sendfile" | "sendfile64"
        | "pwritev2" => SocketOp::Write,
        _ => return None,
    })
}

/// Whether a call reads from a descriptor that has no offset in a file: a pipe, a socket.
pub(crate) fn is_read(call: &str) -> bool {
    what(call) == Some(SocketOp::Read)
}

/// Whether a call returns how many messages it moved, not how many bytes.
pub(crate) fn counts_messages(call: &str) -> bool {
    matches!(call, "recvmmsg" | "recvmmsg_time64" | "sendmmsg")
}

/// A call on a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SocketCall {
    pub(crate) what: SocketOp,
    pub(crate) thread: ThreadRow,
    /// Entry.
    pub(crate) start: RawNs,
    /// Exit.
    pub(crate) end: RawNs,
    pub(crate) bytes: u64,
}

impl SocketCall {
    /// When it transfers what it does. A thread may wait in `read` for what comes next while another one still writes the answer to what came
    /// before.
    pub(crate) fn transfers_at(&self) -> RawNs {
        match self.what {
            SocketOp::Read => self.end,
            SocketOp::Connect | SocketOp::Write => self.start,
        }
    }
}

/// A call that transfers something on a descriptor, or connects it.
pub(crate) fn of_socket(call: &CallSpan) -> Option<(SocketOp, ThreadRow, i32)> {
    let what = what(&call.name)?;
    // A connection that does not block is made while `connect` returns EINPROGRESS.
    let is_good = call.ret > 0 || what == SocketOp::Connect;
    Some((what, call.thread?, call.fd?)).filter(|_| is_good)
}

/// A turn of one end: what it sends, or receives, and what follows until it starts again. One exchange, unless they are pipelined.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// `Some` of the client's first one.
    pub(crate) connect: Option<SocketCall>,
    /// Those that start it: writes of a client, reads of a server.
    pub(crate) first: Vec<SocketCall>,
    /// Those that end it.
    pub(crate) then: Vec<SocketCall>,
}

/// Cuts the calls of an end where it starts again after it has ended. `starts`: what starts.
pub(crate) fn parts(uses: &[SocketCall], starts: SocketOp) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut connect = None;
    for &it in uses {
        if it.what == SocketOp::Connect {
            connect = Some(it);
        } else if it.what == starts {
            match parts.last_mut().filter(|part| part.then.is_empty()) {
                Some(part) => part.first.push(it),
                None => parts.push(Part { connect: connect.take(), first: vec![it], then: Vec::new() }),
            }
        } else if let Some(part) = parts.last_mut() {
            part.then.push(it);
        }
    }
    parts.retain(|part| !part.then.is_empty());
    parts
}
