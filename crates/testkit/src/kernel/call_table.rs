//! The fields of system calls: one row for each call.
//!
//! Fields are those that the metadata of real traces declare (those of `memfd_create` in 2.14: the tracer's sources; other
//! calls that are younger than Linux 3.10 in the same manner). [`super::calls`] reads the rows, [`super::spec`] the notation.

/// What is recorded of a peer's address at the entry of `connect` and at the exit of `accept`.
const ACCEPTED: &str = "i32 upeer_addrlen, u16 family, n16 sport, u32 _v4addr_length, n8 v4addr[_v4addr_length], \
                        u32 _v6addr_length, n16 v6addr[_v6addr_length]";
const CONNECT: &str = "i32 fd, ptr uservaddr, h32 addrlen, u16 family, n16 dport, u32 _v4addr_length, \
                       n8 v4addr[_v4addr_length], u32 _v6addr_length, n16 v6addr[_v6addr_length]";
/// Sets of file descriptors.
const SELECT: &str = "u8 overflow, ulong tvp, u8 _readfds_length, x8 readfds[_readfds_length], \
                      u8 _writefds_length, x8 writefds[_writefds_length], u8 _exceptfds_length, \
                      x8 exceptfds[_exceptfds_length]";
const SELECT_ENTRY: &str = "i32 n, u8 overflow, ulong tvp, u8 _readfds_length, x8 readfds[_readfds_length], \
                            u8 _writefds_length, x8 writefds[_writefds_length], u8 _exceptfds_length, \
                            x8 exceptfds[_exceptfds_length]";
const POLL: &str = "i32 timeout_msecs, u32 nfds, u32 fds_length, u8 overflow, pollfd fds[fds_length]";
const POLL_EXIT: &str = "u32 nfds, u32 fds_length, pollfd fds[fds_length]";
const PPOLL: &str = "ulong tsp, ulong sigmask, ulong sigsetsize, u32 nfds, u32 fds_length, u8 overflow, \
                     pollfd fds[fds_length]";
const PPOLL_EXIT: &str = "u32 nfds, u32 fds_length, u8 overflow, pollfd fds[fds_length]";
const EPOLLED: &str = "u32 fds_length, u8 overflow, epollfd fds[fds_length]";
const SOCKET: &str = "i32 family, i32 type, i32 protocol";

/// Name, number on x86-64, entry, exit, entry of old tracers.
pub(super) type Row = (&'static str, i32, &'static str, &'static str, &'static str);

pub(super) const CALLS: [Row; 96] = [
    ("read", 0, "u32 fd, ulong count", "ulong buf", "u32 fd, ptr buf, ulong count"),
    ("write", 1, "u32 fd, ulong buf, ulong count", "", "u32 fd, ptr buf, ulong count"),
    ("open", 2, "str filename, i32 flags, u16 mode", "", "str filename, i32 flags, u16 mode"),
    ("close", 3, "u32 fd", "", "u32 fd"),
    ("newstat", 4, "str filename", "ulong statbuf", "str filename, ptr statbuf"),
    ("newfstat", 5, "u32 fd", "ulong statbuf", "u32 fd, ptr statbuf"),
    ("poll", 7, POLL, POLL_EXIT, "ptr ufds, u32 nfds, i32 timeout_msecs"),
    ("lseek", 8, "u32 fd, i64 offset, u32 whence", "", "u32 fd, long offset, u32 origin"),
    (
        "mmap",
        9,
        "ptr addr, ulong len, i32 prot, i32 flags, i32 fd, long offset",
        "",
        "ptr addr, ulong len, i32 prot, i32 flags, i32 fd, long offset",
    ),
    ("munmap", 11, "ulong addr, ulong len", "", "ptr addr, ulong len"),
    ("brk", 12, "ulong brk", "", "ulong brk"),
    (
        "rt_sigaction",
        13,
        "i32 sig, ulong act, ulong sigsetsize",
        "ulong oact",
        "i32 sig, ptr act, ptr oact, ulong sigsetsize",
    ),
    ("ioctl", 16, "u32 fd, u32 cmd, ulong arg", "ulong arg", "u32 fd, u32 cmd, ulong arg"),
    ("pread64", 17, "u32 fd, ulong count, i64 pos", "ulong buf", "u32 fd, ptr buf, ulong count, i64 pos"),
    ("pwrite64", 18, "u32 fd, ulong buf, ulong count, i64 pos", "", "u32 fd, ptr buf, ulong count, i64 pos"),
    ("readv", 19, "ulong fd, ulong vec, ulong vlen", "ulong vec", "ulong fd, ptr vec, ulong vlen"),
    ("writev", 20, "ulong fd, ulong vec, ulong vlen", "ulong vec", "ulong fd, ptr vec, ulong vlen"),
    ("pipe", 22, "", "i32 fildes[2]", "ptr fildes"),
    ("select", 23, SELECT_ENTRY, SELECT, "i32 n, ptr inp, ptr outp, ptr exp, ptr tvp"),
    ("sched_yield", 24, "", "", ""),
    ("shmat", 30, "i32 shmid, ptr shmaddr, i32 shmflg", "", "i32 shmid, ptr shmaddr, i32 shmflg"),
    ("dup", 32, "u32 fildes", "", "u32 fildes"),
    ("dup2", 33, "u32 oldfd, u32 newfd", "", "u32 oldfd, u32 newfd"),
    ("pause", 34, "", "", ""),
    ("nanosleep", 35, "ulong rqtp", "ulong rmtp", "ptr rqtp, ptr rmtp"),
    ("getpid", 39, "", "", ""),
    (
        "sendfile64",
        40,
        "i32 out_fd, i32 in_fd, ulong offset, ulong count",
        "ulong offset",
        "i32 out_fd, i32 in_fd, ptr offset, ulong count",
    ),
    ("socket", 41, SOCKET, "", SOCKET),
    ("connect", 42, CONNECT, "", "i32 fd, ptr uservaddr, h32 addrlen"),
    (
        "accept",
        43,
        "i32 fd, ptr upeer_sockaddr, i32 upeer_addrlen",
        ACCEPTED,
        "i32 fd, ptr upeer_sockaddr, ptr upeer_addrlen",
    ),
    (
        "sendto",
        44,
        "i32 fd, ulong buff, ulong len, u32 flags, ulong addr, i32 addr_len",
        "",
        "i32 fd, ptr buff, ulong len, u32 flags, ptr addr, h32 addr_len",
    ),
    (
        "recvfrom",
        45,
        "i32 fd, ulong size, u32 flags, ulong addr_len",
        "ulong ubuf, ulong addr, ulong addr_len",
        "i32 fd, ptr ubuf, ulong size, u32 flags, ptr addr, ptr addr_len",
    ),
    ("sendmsg", 46, "i32 fd, ulong msg, u32 flags", "", "i32 fd, ptr msg, u32 flags"),
    ("recvmsg", 47, "i32 fd, ulong msg, u32 flags", "ulong msg", "i32 fd, ptr msg, u32 flags"),
    ("shutdown", 48, "i32 fd, i32 how", "", "i32 fd, i32 how"),
    ("bind", 49, "i32 fd, ulong umyaddr, i32 addrlen", "", "i32 fd, ptr umyaddr, h32 addrlen"),
    ("listen", 50, "i32 fd, i32 backlog", "", "i32 fd, i32 backlog"),
    ("socketpair", 53, SOCKET, "i32 socket[2]", "i32 family, i32 type, i32 protocol, ptr usockvec"),
    (
        "clone",
        56,
        "ptr flags, ptr newsp, ptr parent_tid, ptr child_tid",
        "",
        "ptr clone_flags, ptr newsp, ptr parent_tid, ptr child_tid",
    ),
    ("execve", 59, "str filename, ptr argv, ptr envp", "", "str filename, ptr argv, ptr envp"),
    ("exit", 60, "i32 error_code", "", "i32 error_code"),
    (
        "wait4",
        61,
        "i32 upid, i32 options",
        "ulong stat_addr, ulong ru",
        "i32 upid, ptr stat_addr, i32 options, ptr ru",
    ),
    ("kill", 62, "i32 pid, i32 sig", "", "i32 pid, i32 sig"),
    ("semop", 65, "i32 semid, ptr tsops, u32 nsops", "", "i32 semid, ptr tsops, u32 nsops"),
    (
        "msgsnd",
        69,
        "i32 msqid, ptr msgp, ulong msgsz, i32 msgflg",
        "",
        "i32 msqid, ptr msgp, ulong msgsz, i32 msgflg",
    ),
    (
        "msgrcv",
        70,
        "i32 msqid, ptr msgp, ulong msgsz, long msgtyp, i32 msgflg",
        "",
        "i32 msqid, ptr msgp, ulong msgsz, long msgtyp, i32 msgflg",
    ),
    ("fcntl", 72, "u32 fd, u32 cmd, ulong arg", "ulong arg", "u32 fd, u32 cmd, ulong arg"),
    ("flock", 73, "u32 fd, u32 cmd", "", "u32 fd, u32 cmd"),
    ("fsync", 74, "u32 fd", "", "u32 fd"),
    ("fdatasync", 75, "u32 fd", "", "u32 fd"),
    ("creat", 85, "str pathname, u16 mode", "", "str pathname, u16 mode"),
    ("unlink", 87, "str pathname", "", "str pathname"),
    (
        "rt_sigtimedwait",
        128,
        "ptr uts, ulong sigsetsize",
        "ptr uthese, ptr uinfo",
        "ptr uthese, ptr uinfo, ptr uts, ulong sigsetsize",
    ),
    ("rt_sigqueueinfo", 129, "i32 pid, i32 sig, ptr uinfo", "", "i32 pid, i32 sig, ptr uinfo"),
    ("rt_sigsuspend", 130, "ptr unewset, ulong sigsetsize", "", "ptr unewset, ulong sigsetsize"),
    ("setpriority", 141, "i32 which, i32 who, i32 niceval", "", "i32 which, i32 who, i32 niceval"),
    ("adjtimex", 159, "ulong txc_p", "ulong txc_p", "ptr txc_p"),
    ("gettid", 186, "", "", ""),
    ("tkill", 200, "i32 pid, i32 sig", "", "i32 pid, i32 sig"),
    (
        "futex",
        202,
        "ulong uaddr, i32 op, u32 val, ulong utime, ulong uaddr2, u32 val3",
        "ulong uaddr, ulong uaddr2",
        "ptr uaddr, i32 op, u32 val, ptr utime, ptr uaddr2, u32 val3",
    ),
    ("epoll_create", 213, "i32 size", "", "i32 size"),
    (
        "semtimedop",
        220,
        "i32 semid, ptr tsops, u32 nsops, ptr timeout",
        "",
        "i32 semid, ptr tsops, u32 nsops, ptr timeout",
    ),
    (
        "clock_nanosleep",
        230,
        "i32 which_clock, i32 flags, ulong rqtp",
        "ulong rmtp",
        "i32 which_clock, i32 flags, ptr rqtp, ptr rmtp",
    ),
    ("exit_group", 231, "i32 error_code", "", "i32 error_code"),
    (
        "epoll_wait",
        232,
        "i32 epfd, i32 maxevents, i32 timeout",
        EPOLLED,
        "i32 epfd, ptr events, i32 maxevents, i32 timeout",
    ),
    (
        "epoll_ctl",
        233,
        "i32 epfd, epollop op_enum, i32 fd, epollevent event",
        "",
        "i32 epfd, i32 op, i32 fd, ptr event",
    ),
    ("tgkill", 234, "i32 tgid, i32 pid, i32 sig", "", "i32 tgid, i32 pid, i32 sig"),
    (
        "mq_open",
        240,
        "str u_name, i32 oflag, u16 mode, ulong u_attr",
        "",
        "str u_name, i32 oflag, u16 mode, ptr u_attr",
    ),
    (
        "mq_timedsend",
        242,
        "i32 mqdes, ptr u_msg_ptr, ulong msg_len, u32 msg_prio, ptr u_abs_timeout",
        "",
        "i32 mqdes, ptr u_msg_ptr, ulong msg_len, u32 msg_prio, ptr u_abs_timeout",
    ),
    (
        "mq_timedreceive",
        243,
        "i32 mqdes, ulong msg_len, ptr u_abs_timeout",
        "ptr u_msg_ptr, ptr u_msg_prio",
        "i32 mqdes, ptr u_msg_ptr, ulong msg_len, ptr u_msg_prio, ptr u_abs_timeout",
    ),
    ("inotify_init", 253, "", "", ""),
    (
        "openat",
        257,
        "i32 dfd, str filename, i32 flags, u16 mode",
        "",
        "i32 dfd, str filename, i32 flags, u16 mode",
    ),
    (
        "mknodat",
        259,
        "i32 dfd, str filename, u16 mode, u32 dev",
        "",
        "i32 dfd, str filename, u16 mode, u32 dev",
    ),
    (
        "newfstatat",
        262,
        "i32 dfd, str filename, i32 flag",
        "ulong statbuf",
        "i32 dfd, str filename, ptr statbuf, i32 flag",
    ),
    ("unlinkat", 263, "i32 dfd, str pathname, i32 flag", "", "i32 dfd, str pathname, i32 flag"),
    ("ppoll", 271, PPOLL, PPOLL_EXIT, "ptr ufds, u32 nfds, ptr tsp, ptr sigmask, ulong sigsetsize"),
    ("unshare", 272, "ulong unshare_flags", "", "ulong unshare_flags"),
    (
        "splice",
        275,
        "i32 fd_in, ulong off_in, i32 fd_out, ulong off_out, ulong len, u32 flags",
        "",
        "i32 fd_in, ptr off_in, i32 fd_out, ptr off_out, ulong len, u32 flags",
    ),
    (
        "epoll_pwait",
        281,
        "i32 epfd, i32 maxevents, i32 timeout, ptr sigmask, ulong sigsetsize",
        EPOLLED,
        "i32 epfd, ptr events, i32 maxevents, i32 timeout, ptr sigmask, ulong sigsetsize",
    ),
    (
        "signalfd",
        282,
        "i32 ufd, ulong user_mask, ulong sizemask",
        "",
        "i32 ufd, ptr user_mask, ulong sizemask",
    ),
    ("timerfd_create", 283, "i32 clockid, i32 flags", "", "i32 clockid, i32 flags"),
    ("eventfd", 284, "u32 count", "", "u32 count"),
    (
        "timerfd_settime",
        286,
        "i32 ufd, i32 flags, ulong utmr",
        "ulong otmr",
        "i32 ufd, i32 flags, ptr utmr, ptr otmr",
    ),
    (
        "accept4",
        288,
        "i32 fd, ptr upeer_sockaddr, i32 upeer_addrlen, h32 flags",
        ACCEPTED,
        "i32 fd, ptr upeer_sockaddr, ptr upeer_addrlen, i32 flags",
    ),
    (
        "signalfd4",
        289,
        "i32 ufd, ulong user_mask, ulong sizemask, i32 flags",
        "",
        "i32 ufd, ptr user_mask, ulong sizemask, i32 flags",
    ),
    ("eventfd2", 290, "u32 count, i32 flags", "", "u32 count, i32 flags"),
    ("epoll_create1", 291, "i32 flags", "", "i32 flags"),
    ("dup3", 292, "u32 oldfd, u32 newfd, i32 flags", "", "u32 oldfd, u32 newfd, i32 flags"),
    ("pipe2", 293, "i32 flags", "i32 fildes[2]", "ptr fildes, i32 flags"),
    ("inotify_init1", 294, "i32 flags", "", "i32 flags"),
    (
        "preadv",
        295,
        "ulong fd, ulong vlen, ulong pos_l, ulong pos_h",
        "ulong vec",
        "ulong fd, ptr vec, ulong vlen, ulong pos_l, ulong pos_h",
    ),
    (
        "pwritev",
        296,
        "ulong fd, ulong vec, ulong vlen, ulong pos_l, ulong pos_h",
        "",
        "ulong fd, ptr vec, ulong vlen, ulong pos_l, ulong pos_h",
    ),
    (
        "perf_event_open",
        298,
        "ulong attr_uptr, i32 pid, i32 cpu, i32 group_fd, ulong flags",
        "",
        "ptr attr_uptr, i32 pid, i32 cpu, i32 group_fd, ulong flags",
    ),
    (
        "recvmmsg",
        299,
        "i32 fd, ptr mmsg, u32 vlen, u32 flags, ptr timeout",
        "ptr mmsg",
        "i32 fd, ptr mmsg, u32 vlen, u32 flags, ptr timeout",
    ),
    ("clock_adjtime", 305, "i32 which_clock, ulong utx", "ulong utx", "i32 which_clock, ptr utx"),
    ("setns", 308, "i32 fd, i32 nstype", "", "i32 fd, i32 nstype"),
];

/// Calls that no tracer up to 2.13 has classes for: name, number, fields of entry and exit.
pub(super) const YOUNG: [(&str, i32, &str); 13] = [
    ("fork", 57, ""),
    ("vfork", 58, ""),
    ("memfd_create", 319, "str uname, u32 flags"),
    ("execveat", 322, "i32 fd, str filename, ptr argv, ptr envp, i32 flags"),
    ("io_uring_setup", 425, "u32 entries, ptr params"),
    ("pidfd_send_signal", 424, "i32 pidfd, i32 sig, ptr info, u32 flags"),
    ("io_uring_enter", 426, "u32 fd, u32 to_submit, u32 min_complete, u32 flags, ptr argp, ulong argsz"),
    ("pidfd_open", 434, "i32 pid, u32 flags"),
    ("clone3", 435, "ptr uargs, ulong size"),
    ("close_range", 436, "u32 fd, u32 max_fd, u32 flags"),
    ("openat2", 437, "i32 dfd, str filename, ptr how, ulong usize"),
    ("pidfd_getfd", 438, "i32 pidfd, i32 fd, u32 flags"),
    ("epoll_pwait2", 441, "i32 epfd, ptr events, i32 maxevents, ptr timeout, ptr sigmask, ulong sigsetsize"),
];

/// Fields of 2.8 that differ from those of 2.13: name, entry, exit.
pub(super) const IN_2_8: [(&str, &str, &str); 14] = [
    (
        "accept",
        "i32 fd, ptr upeer_sockaddr, i32 upeer_addrlen, u32 _v4addr_length, n8 v4addr[_v4addr_length], \
         u32 _v6addr_length, n16 v6addr[_v6addr_length]",
        "i32 upeer_addrlen, i32 family, n16 sport",
    ),
    ("accept4", "i32 fd, ulong upeer_addrlen, i32 flags", "ulong upeer_sockaddr, ulong upeer_addrlen"),
    ("clone", "ptr clone_flags, ptr newsp, ptr parent_tid, ptr child_tid", ""),
    (
        "connect",
        "i32 fd, ptr uservaddr, h32 addrlen, i32 family, n16 dport, u32 _v4addr_length, n8 v4addr[_v4addr_length], \
         u32 _v6addr_length, n16 v6addr[_v6addr_length]",
        "",
    ),
    ("epoll_ctl", "i32 epfd, i32 op, i32 fd, ulong event", ""),
    ("epoll_pwait", "i32 epfd, i32 maxevents, i32 timeout, ulong sigmask, ulong sigsetsize", "ulong events"),
    ("epoll_wait", "i32 epfd, i32 maxevents, i32 timeout", "ulong events"),
    ("mmap", "ptr addr, ulong len, i32 prot, i32 flags, i32 fd, long offset", ""),
    ("pipe", "", "u32 fildes[2]"),
    ("pipe2", "i32 flags", "u32 fildes[2]"),
    ("poll", "ulong ufds, u32 nfds, i32 timeout_msecs", "ulong ufds"),
    ("ppoll", "ulong ufds, u32 nfds, ulong tsp, ulong sigmask, ulong sigsetsize", "ulong ufds, ulong tsp"),
    (
        "select",
        "i32 n, ulong inp, ulong outp, ulong exp, ulong tvp",
        "ulong inp, ulong outp, ulong exp, ulong tvp",
    ),
    ("socketpair", SOCKET, "u32 socket[2]"),
];

/// Calls that 32-bit programs on a 64-bit machine make in tests.
pub(super) const COMPAT: [&str; 8] = ["read", "write", "open", "openat", "close", "dup2", "clone", "execve"];
