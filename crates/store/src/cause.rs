//! What time is spent on: the causes, and what a thread waits for by its call, its descriptor and who woke
//! it. For phases of programs, and for paths and waits across hosts.

use std::fmt;

use isochrone_kernel::Cause as Waker;

/// What stands for a call where a thread waits in a page fault of its program, which is in no call.
pub const PAGE_FAULT: &str = "page fault";

/// A cause: what is done, or what is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A thread is on a CPU; on a path, interrupts that lie in that time included.
    Cpu,
    /// A thread that could run waits for a CPU.
    WaitCpu,
    /// A hardware interrupt is handled, on a path one that wakes the thread; of phases, softirqs too.
    Irq,
    /// A softirq is handled that wakes the thread, or answers in its place.
    Softirq,
    /// A packet is on its way: from the queue of the sender's device until the receiver has it; or from
    /// somebody who is not traced.
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

    /// What a call waits for, if that is known whatever its descriptor is.
    pub fn of_call(call: &str) -> Option<Self> {
        Some(match call.trim_end_matches("_time64") {
            "nanosleep" | "clock_nanosleep" => Self::Sleep,
            "flock" | "fcntl" | "fcntl64" | "semop" | "semtimedop" => Self::Lock,
            call if call.starts_with("futex") => Self::Lock,
            "wait4" | "waitid" | "waitpid" | "vfork" | "clone" | "clone3" => Self::Child,
            "pause" | "rt_sigsuspend" | "rt_sigtimedwait" | "sigsuspend" => Self::Signal,
            "sync" | "fsync" | "fdatasync" | "syncfs" | "sync_file_range" | "msync" | "io_submit"
            | "io_getevents" => Self::Disk,
            _ => return None,
        })
    }

    /// What somebody who waits for a descriptor waits for: by the kind and the name of its file, and whether
    /// it has a peer. Nothing but the packet tells whether the other side of an internet socket is on another
    /// host.
    pub fn of_file(kind: Option<&str>, name: &str, has_peer: bool) -> Self {
        /// What is not on a disk although it has a path.
        const NO_DISK: [&str; 3] = ["/dev/", "/proc/", "/sys/"];
        match kind {
            Some("socket") if name.starts_with("AF_UNIX") => Self::Socket,
            Some("socket") if name.starts_with("AF_INET") || has_peer => Self::Network,
            Some("socket") => Self::Socket,
            Some("pipe") => Self::Pipe,
            Some("file" | "directory") if !NO_DISK.iter().any(|head| name.starts_with(head)) => Self::Disk,
            Some("timerfd") => Self::Sleep,
            Some("signalfd") => Self::Signal,
            Some("pidfd") => Self::Child,
            _ => Self::Other,
        }
    }

    /// What a thread waited for that no call names (it touched a page, or the kernel works for itself): by
    /// who woke it.
    pub fn of_waker(waker: Option<Waker>) -> Self {
        /// Vectors of softirqs.
        const NET: [u32; 2] = [2, 3];
        const BLOCK: [u32; 2] = [4, 5];
        match waker {
            Some(Waker::Softirq(vector)) if BLOCK.contains(&vector) => Self::Disk,
            Some(Waker::Softirq(vector)) if NET.contains(&vector) => Self::Network,
            Some(Waker::Timer) => Self::Sleep,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a call waits for several descriptors: which of them ended the wait is known when it returns.
pub fn is_poll(call: &str) -> bool {
    matches!(
        call,
        "poll"
            | "ppoll"
            | "select"
            | "pselect6"
            | "_newselect"
            | "epoll_wait"
            | "epoll_pwait"
            | "epoll_pwait2"
            | "ppoll_time64"
            | "pselect6_time64"
    )
}

/// Whether a call is on a path: it waits for the disk that the path is on.
pub fn is_on_path(call: &str) -> bool {
    const HEADS: [&str; 14] = [
        "open",
        "creat",
        "stat",
        "lstat",
        "newfstatat",
        "access",
        "faccessat",
        "unlink",
        "rename",
        "mkdir",
        "rmdir",
        "readlink",
        "truncate",
        "execve",
    ];
    HEADS.iter().any(|head| call.starts_with(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_in_calls() {
        let check = |call, expect| assert_eq!(Cause::of_call(call), expect, "{call}");
        check("futex", Some(Cause::Lock));
        check("futex_time64", Some(Cause::Lock));
        check("clock_nanosleep_time64", Some(Cause::Sleep));
        check("wait4", Some(Cause::Child));
        check("read", None);
        check("epoll_wait", None);
        check(PAGE_FAULT, None);
        assert!(is_on_path("openat") && is_on_path("statx") && !is_on_path("read"));
    }

    #[test]
    fn waits_for_files() {
        let check = |kind, name, has_peer, expect| {
            assert_eq!(Cause::of_file(kind, name, has_peer), expect, "{kind:?} {name}");
        };
        check(Some("pipe"), "", false, Cause::Pipe);
        check(Some("socket"), "AF_UNIX", false, Cause::Socket);
        check(Some("socket"), "AF_INET 10.0.0.1:80", false, Cause::Network);
        check(Some("socket"), "", true, Cause::Network);
        check(Some("file"), "/data/x", false, Cause::Disk);
        check(Some("file"), "/dev/null", false, Cause::Other);
        check(Some("timerfd"), "", false, Cause::Sleep);
        check(None, "", false, Cause::Other);
    }
}
