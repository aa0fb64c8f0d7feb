//! What a thread, or a request, spent its time on.

use std::fmt;

/// A cause: what is done, or what is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A thread is on a CPU, interrupts that lie in that time included.
    Cpu,
    /// A thread that could run waits for a CPU.
    WaitCpu,
    /// A hardware interrupt is handled that wakes the thread.
    Irq,
    /// A softirq is handled that wakes the thread, or answers in its place.
    Softirq,
    /// A packet is on its way: from the queue of the sender's device until the receiver has it; or from somebody who is not traced.
    Network,
    /// A disk.
    Disk,
    /// A timer.
    Sleep,
    /// A lock that another thread has.
    Lock,
    /// A pipe.
    Pipe,
    /// A socket of the same host.
    Socket,
    /// A child process.
    Child,
    /// A signal.
    Signal,
    /// Something else.
    Other,
    /// Not known: events are missing.
    Unknown,
}

impl Cause {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::WaitCpu => "wait-cpu",
            Self::Irq => "irq",
            Self::Softirq => "softirq",
            Self::Network => "network",
            Self::Disk => "disk",
            Self::Sleep => "sleep",
            Self::Lock => "lock",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Child => "child",
            Self::Signal => "signal",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }

    /// What a thread waits for in a system call, where nothing more is known. `kind`: that of the file that the call is about.
    pub(crate) fn of_call(call: &str, kind: Option<&str>) -> Self {
        match call {
            "futex" | "futex_waitv" | "flock" | "fcntl" | "semop" | "semtimedop" => Self::Lock,
            "nanosleep" | "clock_nanosleep" => Self::Sleep,
            "wait4" | "waitid" | "waitpid" | "vfork" => Self::Child,
            "pause" | "rt_sigsuspend" | "sigsuspend" | "rt_sigtimedwait" => Self::Signal,
            "fsync" | "fdatasync" | "sync" | "syncfs" | "sync_file_range" | "msync" | "io_submit"
            | "io_getevents" => Self::Disk,
            "connect" | "accept" | "accept4" | "recvfrom" | "recvmsg" | "recvmmsg" | "sendto" | "sendmsg"
            | "sendmmsg" => Self::Socket,
            _ => match kind {
                Some("pipe") => Self::Pipe,
                Some("socket") => Self::Socket,
                Some("file" | "directory") => Self::Disk,
                _ if is_of_files(call) => Self::Disk,
                _ => Self::Other,
            },
        }
    }
}

/// Whether a call without a descriptor looks into file systems.
fn is_of_files(call: &str) -> bool {
    [
        "open", "stat", "execve", "unlink", "rename", "mkdir", "rmdir", "getdents", "statx", "access",
        "readlink",
    ]
    .iter()
    .any(|part| call.contains(part))
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_in_calls() {
        let check = |call, kind, expect| assert_eq!(Cause::of_call(call, kind), expect, "{call} {kind:?}");
        check("futex", None, Cause::Lock);
        check("read", Some("pipe"), Cause::Pipe);
        check("read", Some("socket"), Cause::Socket);
        check("pread64", Some("file"), Cause::Disk);
        check("read", None, Cause::Other);
        check("openat", None, Cause::Disk);
        check("wait4", None, Cause::Child);
        check("epoll_wait", None, Cause::Other);
    }
}
