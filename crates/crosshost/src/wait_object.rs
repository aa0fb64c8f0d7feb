//! What the object of a wait is: through what one thread ended the wait of another. For [`crate::waits()`].

use isochrone_kernel::calls::Object;
use isochrone_store::{CallSpan, Cause, ThreadRow};
use isochrone_time::{RawNs, Window};

use crate::through::{ObjectName, Through, server_of};
use crate::timeline::ClusterWindow;
use crate::waits::Wait;

/// Whether a call returned that a signal interrupted: `EINTR`, or what the kernel has for calls that
/// it starts again.
fn is_interrupted(ret: i64) -> bool {
    ret == -4 || (-516..=-512).contains(&ret)
}

impl ClusterWindow<'_, '_> {
    /// Through what a wait was ended, and when the signal was sent that ended it. `call`: that of the wait;
    /// `by`: the thread of the same host that ended it, and when.
    pub(crate) fn through(
        &self,
        wait: &Wait,
        call: Option<&CallSpan>,
        by: Option<(ThreadRow, RawNs)>,
    ) -> (Through, Option<Window<RawNs>>) {
        let host = wait.who.host;
        let timeline = &self.timelines[host];
        let by_call = by.and_then(|(thread, at)| timeline.call_at(thread, at));
        let by_object = by.zip(by_call).and_then(|((thread, _), call)| timeline.object(thread, call.end));
        if let (Some(Object::Signal { number, .. }), Some(call)) = (by_object, by_call) {
            return (Through::signal(Some(number)), Some(Window::new(call.start, call.end)));
        }
        let interrupted = call.filter(|call| is_interrupted(call.ret));
        let delivered = interrupted.and_then(|call| timeline.delivered(wait.who.thread, call));
        if wait.cause == Cause::Signal || delivered.is_some() {
            let event = by.and_then(|(thread, at)| timeline.signal(thread, Window::new(wait.start, at)));
            let received = call.filter(|call| call.name.starts_with("rt_sigtimedwait") && call.ret > 0);
            let received = received.map(|call| call.ret as i32);
            let number = event.map(|(number, _)| number).or(received).or(delivered);
            return (Through::signal(number), event.map(|(_, at)| Window::new(at, at)));
        }
        (self.through_object(wait, call, by.map(|(thread, _)| thread).zip(by_call)), None)
    }

    /// As [`Self::through`], of what is no signal.
    fn through_object(
        &self,
        wait: &Wait,
        call: Option<&CallSpan>,
        by: Option<(ThreadRow, &CallSpan)>,
    ) -> Through {
        let (host, thread) = (wait.who.host, wait.who.thread);
        let there = &self.cluster.hosts[host];
        let pid = there.pid(thread);
        let fd = wait.ready.or(wait.fd);
        let file = fd.zip(pid);
        let kind = file.and_then(|(fd, pid)| there.kind_of(pid, fd, wait.start));
        let name = file.and_then(|(fd, pid)| there.name_of(pid, fd, wait.start));
        let object = || call.and_then(|call| self.timelines[host].object(thread, call.end));
        let of_file = ObjectName::of_file(fd, kind, name);
        // Of a set, it is known when the call has returned.
        let cause = match wait.cause {
            Cause::Other if wait.ready.is_some() => Cause::of_file(kind, name.unwrap_or_default(), false),
            cause => cause,
        };
        match (cause, wait.call.as_deref().unwrap_or_default()) {
            (Cause::Network, _) if wait.cause == Cause::Network => {
                Through::connection(false, self.server(wait))
            }
            (Cause::Socket | Cause::Network, _) => match name {
                Some(name) if name.starts_with("AF_UNIX") && name.contains('↔') => {
                    Through::nameless("unix-socket")
                }
                // The tracer does not record its path.
                Some(name) if name.starts_with("AF_UNIX") => Through::new("unix-socket", ObjectName::Unknown),
                _ if self.server(wait).is_some() || name.is_some_and(|name| name.starts_with("AF_INET")) => {
                    Through::connection(true, self.server(wait))
                }
                _ => Through::new("socket", ObjectName::Unknown),
            },
            (Cause::Pipe, _) => Through::new("pipe", of_file),
            (Cause::Lock, "flock" | "fcntl" | "fcntl64") => Through::new("file-lock", of_file),
            (Cause::Lock, call) if call.starts_with("futex") => {
                let by = wait.ended_by.and_then(|by| self.cluster.hosts[by.host].pid(by.thread));
                let is_within = by.is_none() || by == pid;
                Through::object(if is_within { "futex" } else { "shared-futex" }, object())
            }
            (Cause::Lock, _) => Through::object("sysv-semaphore", object()),
            (Cause::Child, _) => Through::nameless("child"),
            (Cause::Disk, _) => {
                let fifo = call.zip(by).and_then(|(call, by)| self.fifo(wait, call, by));
                fifo.unwrap_or_else(|| Through::new("disk", of_file))
            }
            (Cause::Other, "msgsnd" | "msgrcv") => Through::object("sysv-queue", object()),
            (Cause::Other, "io_uring_enter") => Through::nameless("io-uring"),
            (Cause::Other, call) if call.starts_with("mq_") => Through::new("posix-queue", of_file),
            (Cause::Other, _) => match kind {
                Some("mqueue") => Through::new("posix-queue", of_file),
                Some("eventfd") => Through::nameless("eventfd"),
                Some("io_uring") => Through::nameless("io-uring"),
                _ => Through::new("other", of_file),
            },
            _ => Through::new("other", of_file),
        }
    }

    /// Which timer ended a wait in a call: that of a sleep, that of a descriptor, or the limit of a wait for
    /// something else.
    pub(crate) fn through_timer(&self, wait: &Wait) -> Through {
        let there = &self.cluster.hosts[wait.who.host];
        let file = wait.ready.or(wait.fd).zip(there.pid(wait.who.thread));
        let is_of_file = file.is_some_and(|(fd, pid)| there.kind_of(pid, fd, wait.start) == Some("timerfd"));
        Through::nameless(match wait.call.as_deref() {
            Some(call) if Cause::of_call(call) == Some(Cause::Sleep) => "sleep",
            Some(_) if is_of_file => "timerfd",
            Some(_) => "timeout",
            None => "other",
        })
    }

    /// The server of the connection that a wait is on.
    fn server(&self, wait: &Wait) -> Option<std::net::SocketAddr> {
        let there = &self.cluster.hosts[wait.who.host];
        let (fd, pid) = wait.ready.or(wait.fd).zip(there.pid(wait.who.thread))?;
        there.sockets.at(pid, fd, wait.end).map(server_of)
    }

    /// The FIFO that a wait is on. Nothing says of a path that it is one. But what somebody waits for who
    /// reads from a file, or opens one, does not come from one who starts to use the same path after that:
    /// who has the lock of a file has started before.
    fn fifo(&self, wait: &Wait, call: &CallSpan, (by, by_call): (ThreadRow, &CallSpan)) -> Option<Through> {
        let there = &self.cluster.hosts[wait.who.host];
        let path = |thread: ThreadRow, call: &CallSpan| {
            let (fd, at) = match call.name.starts_with("open") {
                true => (i32::try_from(call.ret).ok()?, call.end),
                false => (call.fd?, call.start),
            };
            let pid = there.pid(thread)?;
            (there.kind_of(pid, fd, at)? == "file").then(|| there.name_of(pid, fd, at)).flatten()
        };
        let name = path(wait.who.thread, call).filter(|_| by_call.start > wait.start)?;
        (path(by, by_call) == Some(name)).then(|| Through::new("fifo", ObjectName::known(Some(name))))
    }
}
