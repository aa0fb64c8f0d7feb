//! What a thread waited for while it was blocked: by the call that it was in, what the descriptor of that call is, and who
//! woke it.

use isochrone_kernel::Cause as Waker;
use isochrone_store::OpenFile;

/// What time went to: a name of the column `cause`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    Cpu,
    WaitCpu,
    Interrupt,
    Network,
    Disk,
    Sleep,
    Lock,
    Pipe,
    Socket,
    Child,
    Signal,
    Other,
    Unknown,
}

impl Cause {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::WaitCpu => "wait-cpu",
            Self::Interrupt => "irq",
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
}

/// Whether a call waits for several descriptors: which of them ended the wait is known when it returns.
pub(super) fn is_poll(call: &str) -> bool {
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

/// What a call waits for, if that is known whatever its descriptor is.
pub(super) fn of_call(call: &str) -> Option<Cause> {
    Some(match call.trim_end_matches("_time64") {
        "nanosleep" | "clock_nanosleep" => Cause::Sleep,
        "flock" | "fcntl" | "fcntl64" | "semop" | "semtimedop" => Cause::Lock,
        call if call.starts_with("futex") => Cause::Lock,
        "wait4" | "waitid" | "waitpid" | "vfork" | "clone" | "clone3" => Cause::Child,
        "pause" | "rt_sigsuspend" | "rt_sigtimedwait" | "sigsuspend" => Cause::Signal,
        "sync" | "fsync" | "fdatasync" | "syncfs" | "sync_file_range" | "msync" => Cause::Disk,
        _ => return None,
    })
}

/// Calls on paths, which wait for the disk that the paths are on.
pub(super) fn is_on_path(call: &str) -> bool {
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

/// What somebody who waits for a descriptor waits for.
pub(super) fn of_file(file: &OpenFile) -> Cause {
    /// What is not on a disk although it has a path.
    const NO_DISK: [&str; 3] = ["/dev/", "/proc/", "/sys/"];
    match file.kind.as_deref() {
        Some("socket") if file.name.starts_with("AF_UNIX") => Cause::Socket,
        Some("socket") if file.name.starts_with("AF_INET") => Cause::Network,
        Some("socket") if file.peer.is_some() => Cause::Network,
        Some("socket") => Cause::Socket,
        Some("pipe") => Cause::Pipe,
        Some("file" | "directory") if !NO_DISK.iter().any(|head| file.name.starts_with(head)) => Cause::Disk,
        Some("timerfd") => Cause::Sleep,
        Some("signalfd") => Cause::Signal,
        Some("pidfd") => Cause::Child,
        _ => Cause::Other,
    }
}

/// What a thread waited for that no call names (it touched a page, or the kernel works for itself): by who woke it.
pub(super) fn of_waker(waker: Option<Waker>) -> Cause {
    /// Vectors of softirqs.
    const NET: [u32; 2] = [2, 3];
    const BLOCK: [u32; 2] = [4, 5];
    match waker {
        Some(Waker::Softirq(vector)) if BLOCK.contains(&vector) => Cause::Disk,
        Some(Waker::Softirq(vector)) if NET.contains(&vector) => Cause::Network,
        Some(Waker::Timer) => Cause::Sleep,
        _ => Cause::Other,
    }
}
