//! How each argument of a call is shown.

use crate::tables::{self as t, Flags, Names};

/// How a value is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// Not at all.
    Skip,
    /// As its class defines: numbers in their base, text quoted.
    Plain,
    /// As an address in memory.
    Pointer,
    /// A directory's descriptor.
    Directory,
    /// Permissions.
    Octal,
    /// Permissions that matter only for files that are made.
    OctalIfCreated,
    /// Flags of `open`.
    Open,
    /// Bits, and what is shown if none is set.
    Flags(Flags, &'static str),
    /// One of some numbers.
    Names(Names),
    /// One of some numbers; others are shown in base 16.
    Command(Names),
    /// Type of a socket with its flags.
    SocketType,
    /// Flags of `clone` with the signal in their lowest byte.
    Clone,
    /// `futex`'s operation with its flags.
    Futex,
    /// A set of descriptors as bits.
    FdSet,
}

/// How a field of a call's entry is shown.
pub(crate) fn of_entry(call: &str, field: &str, unsigned: bool) -> Show {
    if is_hidden(field) {
        return Show::Skip;
    }
    match (call, field) {
        (_, "dfd" | "olddfd" | "newdfd") => Show::Directory,
        ("open" | "openat" | "open_by_handle_at", "flags") | ("mq_open", "oflag") => Show::Open,
        ("open" | "openat" | "mq_open", "mode") => Show::OctalIfCreated,
        ("access" | "faccessat", "mode") => Show::Flags(t::ACCESS, "F_OK"),
        ("fallocate" | "mbind" | "set_mempolicy", "mode") | ("fcntl" | "fcntl64", "arg") => Show::Plain,
        (_, "mode") | ("umask", "mask") => Show::Octal,
        (_, "prot") => Show::Flags(t::PROT, "PROT_NONE"),
        ("mmap" | "mmap2" | "mmap_pgoff", "flags") => Show::Flags(t::MAP, "0"),
        ("mremap", "flags") => Show::Flags(t::MREMAP, "0"),
        ("clone", "flags" | "clone_flags") => Show::Clone,
        ("unshare", _) | ("setns", "nstype") => Show::Flags(t::CLONE, "0"),
        ("socket" | "socketpair", "family") => Show::Names(t::FAMILY),
        ("socket" | "socketpair", "type") => Show::SocketType,
        (
            "sendto" | "recvfrom" | "sendmsg" | "recvmsg" | "send" | "recv" | "sendmmsg" | "recvmmsg",
            "flags",
        ) => Show::Flags(t::MESSAGE, "0"),
        ("accept4", "flags") => Show::Flags(t::SOCKET_FLAGS, "0"),
        ("pipe2" | "dup3" | "userfaultfd", "flags") => Show::Flags(t::OPEN, "0"),
        ("eventfd2", "flags") => Show::Flags(t::EVENT_FLAGS, "0"),
        ("epoll_create1", "flags") => Show::Flags(t::EPOLL_FLAGS, "0"),
        ("inotify_init1", "flags") => Show::Flags(t::INOTIFY_FLAGS, "0"),
        ("timerfd_create", "flags") => Show::Flags(t::TIMER_FLAGS, "0"),
        ("timerfd_settime", "flags") => Show::Flags(t::TIMER_SET_FLAGS, "0"),
        ("signalfd4", "flags") => Show::Flags(t::SIGNAL_FD_FLAGS, "0"),
        ("memfd_create", "flags") => Show::Flags(t::MEMORY_FD_FLAGS, "0"),
        ("clock_nanosleep", "flags") => Show::Flags(t::SLEEP_FLAGS, "0"),
        ("splice" | "tee" | "vmsplice", "flags") => Show::Flags(t::SPLICE, "0"),
        ("close_range", "flags") => Show::Flags(t::CLOSE_RANGE, "0"),
        ("unlinkat", "flag") => Show::Flags(t::AT_UNLINK, "0"),
        (_, "flag") | ("utimensat" | "linkat" | "faccessat2" | "statx", "flags") => Show::Flags(t::AT, "0"),
        ("wait4" | "waitid" | "waitpid", "options") => Show::Flags(t::WAIT, "0"),
        ("epoll_ctl", "op") => Show::Names(t::EPOLL_OP),
        ("fcntl" | "fcntl64", "cmd") => Show::Names(t::FCNTL),
        ("ioctl", "cmd") => Show::Command(t::IOCTL),
        ("lseek", "whence" | "origin") => Show::Names(t::WHENCE),
        ("shutdown", "how") => Show::Names(t::SHUTDOWN),
        ("rt_sigprocmask", "how") => Show::Names(t::MASK_HOW),
        (_, "which_clock" | "clockid") => Show::Names(t::CLOCK),
        ("futex", "op") => Show::Futex,
        ("setsockopt" | "getsockopt", "level") => Show::Names(t::LEVEL),
        (_, "resource") => Show::Names(t::RESOURCE),
        (_, "behavior") => Show::Names(t::ADVICE),
        (_, "sig") => Show::Names(t::SIGNAL),
        (_, "readfds" | "writefds" | "exceptfds") => Show::FdSet,
        (_, "arg") => Show::Pointer,
        _ => of_name(field, unsigned),
    }
}

/// How a field of a call's exit is shown: addresses mean nothing there.
pub(crate) fn of_exit(call: &str, field: &str, unsigned: bool) -> Show {
    match of_entry(call, field, unsigned) {
        Show::Pointer => Show::Skip,
        _ if matches!(field, "ret" | "nfds" | "upeer_addrlen" | "arg") => Show::Skip,
        show => show,
    }
}

/// Whether a field only serves other fields; those of addresses are shown as one.
fn is_hidden(field: &str) -> bool {
    field.ends_with("_length")
        || matches!(field, "overflow" | "family_" | "sport" | "dport" | "v4addr" | "v6addr")
}

/// How a field of a call is shown that has no way of its own: those of these names are addresses in memory,
/// where they are unsigned.
fn of_name(field: &str, unsigned: bool) -> Show {
    match field {
        "act" | "addr" | "addr_len" | "arg2" | "arg3" | "arg4" | "arg5" | "argv" | "attr_uptr" | "brk"
        | "buf" | "buff" | "child_tid" | "cpup" | "ctxp" | "data" | "dirent" | "egidp" | "envp" | "euidp"
        | "events" | "exp" | "fildes_ptr" | "grouplist" | "handle" | "head" | "head_ptr" | "info"
        | "infop" | "inp" | "interval" | "iocb" | "iocbpp" | "iov" | "len_ptr" | "lvec" | "mmsg"
        | "mnt_id" | "msg" | "msgp" | "name" | "new_addr" | "new_rlim" | "new_setting" | "newsp"
        | "nmask" | "nodes" | "nset" | "oact" | "off_in" | "off_out" | "offset" | "old_rlim"
        | "old_setting" | "optlen" | "optval" | "oset" | "otmr" | "outp" | "param" | "parent_tid"
        | "policy" | "rgidp" | "rlim" | "rmtp" | "rqtp" | "ru" | "ruidp" | "rvec" | "setting" | "sgidp"
        | "shmaddr" | "sigmask" | "start" | "stat_addr" | "statbuf" | "status" | "suidp" | "tidptr"
        | "timeout" | "times" | "tloc" | "tp" | "tsops" | "tsp" | "tv" | "tvp" | "tz" | "u_attr"
        | "u_msg_ptr" | "uaddr" | "uaddr2" | "uargs" | "ubuf" | "uinfo" | "umyaddr" | "unewset" | "uoset"
        | "uoss" | "upeer_sockaddr" | "user_mask" | "user_mask_ptr" | "uservaddr" | "uset" | "usockaddr"
        | "usockaddr_len" | "usockvec" | "uss" | "uthese" | "utime" | "utimes" | "utmr" | "uts" | "utx"
        | "value" | "vec" | "wstatus" | "zone"
            if unsigned =>
        {
            Show::Pointer
        }
        _ => Show::Plain,
    }
}
