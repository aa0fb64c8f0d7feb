//! The catalog of calls that concern file descriptors, and where their arguments are.

use super::Object;
use super::effect::{Created, Opener, Use};
use crate::id::Name;

/// The kind of effect of a call; the comments list its arguments, in the order of [`Call::fields`].
#[derive(Debug, Clone)]
pub(super) enum EffectKind {
    /// Directory, path, flags.
    Open,
    /// Flags, and what more of it is in the arguments: the name, the process, of a signal's descriptor the
    /// one to change, or -1.
    Create(Created, OnExec),
    /// Family, type, protocol.
    Socket,
    /// Flags.
    Pipe,
    /// Family, type, protocol.
    Socketpair,
    /// Descriptor.
    Close,
    /// First, last, flags.
    CloseRange,
    /// Descriptor, new number, flags.
    Duplicate,
    /// Descriptor, command, argument.
    Fcntl,
    /// Descriptor, command.
    Ioctl,
    /// Descriptor; the address has fields of its own.
    Connect,
    /// Descriptor; the address has fields of its own.
    Bind,
    /// Descriptor.
    Listen,
    /// Descriptor, flags.
    Accept,
    /// The sets have fields of their own.
    Poll,
    /// Set, operation, descriptor; the event has a field of its own.
    EpollControl,
    /// Set.
    EpollWait,
    /// Descriptor.
    Use(Use),
    /// Descriptor, flags, length, protection.
    Map,
    /// Address, length.
    Unmap,
    /// From, to.
    Transfer,
    /// Flags.
    Clone,
    /// Nothing.
    Fork,
    /// Nothing.
    Vfork,
    /// Flags.
    Unshare,
    /// Nothing.
    Exec,
    /// Address, operation.
    Futex,
    /// Process or thread, signal.
    Signal,
    /// Descriptor of a process, signal.
    SignalByDescriptor,
    /// Id, of what it makes of it.
    ById(fn(i32) -> Object),
}

/// Whether a new descriptor is closed on exec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnExec {
    /// If this bit of the flags is set.
    Flag(u32),
    /// Closed.
    Close,
    /// Kept.
    Keep,
}

/// A call that concerns file descriptors.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) what: EffectKind,
    /// Names of the fields that hold the arguments, `-` for one that does not exist; tracers differ: `a|b`.
    pub(super) fields: &'static str,
    /// Which of the call's arguments they are, by place, for calls without fields of their own.
    pub(super) places: &'static [usize],
}

/// A name that is in the arguments.
const NO_NAME: Name = Name::const_new("");
/// No such argument.
const NO: usize = usize::MAX;
/// `O_CLOEXEC`, which is also that of many other calls.
const CLOEXEC: OnExec = OnExec::Flag(super::open_flag::CLOEXEC);
/// Calls of the new mount interface and others have a flag of their own.
const ONE: OnExec = OnExec::Flag(1);

/// The call of a name, if it concerns file descriptors, threads or programs.
pub(super) fn find(name: &str) -> Option<Call> {
    let call = |what, fields, places| Some(Call { what, fields, places });
    let create = |new, on_exec, fields, places| call(EffectKind::Create(new, on_exec), fields, places);
    let first: &[usize] = &[0];
    let uses = |what, fields| call(EffectKind::Use(what), fields, first);
    let id = |object, fields| call(EffectKind::ById(object), fields, first);
    match name {
        "open" => call(EffectKind::Open, "-, filename|pathname, flags", &[NO, NO, 1]),
        "openat" => call(EffectKind::Open, "dfd, filename|pathname, flags", &[0, NO, 2]),
        "openat2" => call(EffectKind::Open, "dfd, filename|pathname, -", &[0]),
        "creat" => call(EffectKind::Open, "-, pathname|filename, -", &[]),
        "open_by_handle_at" => call(EffectKind::Open, "-, -, flags", &[NO, NO, 2]),
        "open_tree" => call(EffectKind::Open, "dfd, filename|path|pathname, flags", &[0, NO, 2]),
        "socket" => call(EffectKind::Socket, "family, type, protocol", &[0, 1, 2]),
        "socketpair" => call(EffectKind::Socketpair, "family, type, protocol", &[0, 1, 2]),
        "pipe" => call(EffectKind::Pipe, "-, -, -", &[]),
        "pipe2" => call(EffectKind::Pipe, "flags, -, -", &[1]),
        "close" => call(EffectKind::Close, "fd, -, -", first),
        "close_range" => call(EffectKind::CloseRange, "fd, max_fd, flags", &[0, 1, 2]),
        "dup" => call(EffectKind::Duplicate, "fildes|fd|oldfd, -, -", first),
        "dup2" => call(EffectKind::Duplicate, "oldfd, newfd, -", &[0, 1]),
        "dup3" => call(EffectKind::Duplicate, "oldfd, newfd, flags", &[0, 1, 2]),
        "fcntl" | "fcntl64" => call(EffectKind::Fcntl, "fd, cmd, arg", &[0, 1, 2]),
        "ioctl" => call(EffectKind::Ioctl, "fd, cmd, -", &[0, 1]),
        "connect" => call(EffectKind::Connect, "fd, -, -", first),
        "bind" => call(EffectKind::Bind, "fd, -, -", first),
        "listen" => call(EffectKind::Listen, "fd, -, -", first),
        "accept" => call(EffectKind::Accept, "fd, -, -", first),
        "accept4" => call(EffectKind::Accept, "fd, flags, -", &[0, 3]),
        "eventfd" => create(Created::Event, OnExec::Keep, "-, -, -", &[]),
        "eventfd2" => create(Created::Event, CLOEXEC, "flags, -, -", &[1]),
        "epoll_create" => create(Created::Epoll, OnExec::Keep, "-, -, -", &[]),
        "epoll_create1" => create(Created::Epoll, CLOEXEC, "flags, -, -", first),
        "timerfd_create" => create(Created::Timer, CLOEXEC, "flags, -, -", &[1]),
        "signalfd" => create(Created::Signal, OnExec::Keep, "-, ufd, -", &[NO, 0, NO]),
        "signalfd4" => create(Created::Signal, CLOEXEC, "flags, ufd, -", &[3, 0]),
        "inotify_init" => create(Created::Inotify, OnExec::Keep, "-, -, -", &[]),
        "inotify_init1" => create(Created::Inotify, CLOEXEC, "flags, -, -", first),
        "fanotify_init" => create(Created::Fanotify, ONE, "flags, -, -", first),
        "memfd_create" => create(Created::Memory(NO_NAME), ONE, "flags, uname|uname_ptr, -", &[1]),
        "memfd_secret" => create(Created::Memory(NO_NAME), CLOEXEC, "flags, -, -", first),
        "userfaultfd" => create(Created::UserFault, CLOEXEC, "flags, -, -", first),
        "perf_event_open" => create(Created::Perf, OnExec::Flag(8), "flags, -, -", &[4]),
        "pidfd_open" => create(Created::Process(0), OnExec::Close, "flags, pid, -", &[1, 0]),
        "pidfd_getfd" => create(Created::Other, OnExec::Close, "-, -, -", &[]),
        "io_uring_setup" => create(Created::Ring, OnExec::Close, "-, -, -", &[]),
        "mq_open" => create(Created::Queue(NO_NAME), OnExec::Close, "-, u_name, -", &[]),
        "fsopen" | "fsmount" => create(Created::Other, ONE, "flags, -, -", &[1]),
        "fspick" => create(Created::Other, ONE, "flags, -, -", &[2]),
        "clone" => call(EffectKind::Clone, "clone_flags|flags, -, -", first),
        "clone3" => call(EffectKind::Clone, "-, -, -", &[]),
        "fork" => call(EffectKind::Fork, "-, -, -", &[]),
        "vfork" => call(EffectKind::Vfork, "-, -, -", &[]),
        "unshare" => call(EffectKind::Unshare, "unshare_flags|flags, -, -", first),
        "execve" | "execveat" => call(EffectKind::Exec, "-, -, -", &[]),
        "sendfile" | "sendfile64" => call(EffectKind::Transfer, "in_fd, out_fd, -", &[1, 0]),
        "splice" | "copy_file_range" => call(EffectKind::Transfer, "fd_in, fd_out, -", &[0, 2]),
        "tee" => call(EffectKind::Transfer, "fdin, fdout, -", &[0, 1]),
        "mmap" | "mmap2" | "mmap_pgoff" => call(EffectKind::Map, "fd, flags, len, prot", &[4, 3, 1, 2]),
        "munmap" => call(EffectKind::Unmap, "addr, len, -", &[0, 1]),
        "mremap" => call(EffectKind::Unmap, "addr, old_len, -", &[0, 1]),
        "read" | "pread64" | "readv" | "preadv" | "preadv2" | "recv" | "recvfrom" | "recvmsg" => {
            uses(Use::Read, "fd, -, -")
        }
        "mq_timedreceive" => uses(Use::Read, "mqdes, -, -"),
        "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" | "send" | "sendto" | "sendmsg" => {
            uses(Use::Write, "fd, -, -")
        }
        "poll" | "ppoll" | "select" | "pselect6" => call(EffectKind::Poll, "-, -, -", &[]),
        "epoll_ctl" => call(EffectKind::EpollControl, "epfd, op_enum|op, fd", &[0, 1, 2]),
        "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => call(EffectKind::EpollWait, "epfd, -, -", first),
        "timerfd_settime" | "timerfd_gettime" => uses(Use::Other, "ufd, -, -"),
        "mq_timedsend" | "mq_notify" | "mq_getsetattr" => uses(Use::Other, "mqdes, -, -"),
        "fanotify_mark" => uses(Use::Other, "fanotify_fd, -, -"),
        "pidfd_send_signal" => call(EffectKind::SignalByDescriptor, "pidfd, sig, -", &[0, 1]),
        "kill" | "rt_sigqueueinfo" | "tkill" => call(EffectKind::Signal, "pid|tid, sig, -", &[0, 1]),
        "tgkill" | "rt_tgsigqueueinfo" => call(EffectKind::Signal, "pid|tid, sig, -", &[1, 2]),
        "futex" | "futex_time64" => call(EffectKind::Futex, "uaddr, op, -", &[0, 1]),
        "semop" | "semtimedop" | "semtimedop_time64" => id(Object::Semaphores, "semid, -, -"),
        "msgsnd" | "msgrcv" => id(Object::MessageQueue, "msqid, -, -"),
        "shmat" => id(Object::SharedMemory, "shmid, -, -"),
        "fsync" | "fdatasync" | "sync_file_range" | "syncfs" | "fallocate" | "ftruncate" | "ftruncate64"
        | "lseek" | "llseek" | "fstat" | "fstat64" | "newfstat" | "fstatfs" | "fstatfs64" | "getdents"
        | "getdents64" | "fchmod" | "fchown" | "fchown16" | "flock" | "fchdir" | "fadvise64"
        | "fadvise64_64" | "readahead" | "getsockopt" | "setsockopt" | "getsockname" | "getpeername"
        | "shutdown" | "inotify_add_watch" | "inotify_rm_watch" | "fgetxattr" | "fsetxattr"
        | "flistxattr" | "fremovexattr" | "finit_module" | "setns" | "recvmmsg" | "sendmmsg" | "vmsplice"
        | "io_uring_enter" | "io_uring_register" => uses(Use::Other, "fd, -, -"),
        _ => None,
    }
}

/// Whether the exit of a call of this name may concern file descriptors: then the file tables need it even if
/// its entry was not seen.
pub fn is_about_files(call: &str) -> bool {
    find(call).is_some_and(|call| {
        !matches!(
            call.what,
            EffectKind::Clone
                | EffectKind::Fork
                | EffectKind::Vfork
                | EffectKind::Poll
                | EffectKind::Futex
                | EffectKind::Signal
                | EffectKind::ById(_)
        )
    })
}

/// What a call of this name does with the one descriptor that it is about, if that is all it does.
pub fn use_of(call: &str) -> Option<Use> {
    match find(call)?.what {
        EffectKind::Use(what) => Some(what),
        _ => None,
    }
}

/// What a call of this name makes without regard to its arguments, if that has no path and is no socket.
pub(crate) fn created_by(call: &str) -> Option<Created> {
    match find(call)?.what {
        EffectKind::Create(what, _) => Some(what),
        _ => None,
    }
}

/// The opener of this name. Every call that makes a descriptor has one.
pub(super) fn opener(name: &str) -> Opener {
    Opener::find(name).unwrap_or(Opener::Open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_about_files_are_known() {
        let check = |name: &str, expect| assert_eq!(is_about_files(name), expect, "{name}");
        check("openat", true);
        check("close_range", true);
        check("execve", true);
        check("read", true);
        check("clone", false);
        check("poll", false);
        check("epoll_wait", true);
        check("kill", false);
        check("pidfd_send_signal", true);
        check("getpid", false);
        check("", false);
    }
}
