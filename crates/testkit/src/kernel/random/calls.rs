//! The system calls of a random host: what threads ask for. What comes of it is in [`super::returns`].

use super::host::{RandomHost, Task};
use crate::random::Random;
use crate::value::FieldValue;

const FILES: [&str; 5] =
    ["/etc/passwd", "/var/log/syslog", "data.bin", "/tmp/a \"quoted\" name", "/proc/self/status"];
const PROGRAMS: [&str; 3] = ["/bin/ls", "/usr/bin/cut", "/usr/sbin/a-very-long-program"];
const AT_FDCWD: i32 = -100;
const O_CLOEXEC: i32 = 0x8_0000;
const FD_CLOEXEC: u32 = 1;
/// Flags of clone: threads of a process; processes that share their files; processes that do not.
const CLONE_THREAD: i32 = 0x3d_0f00;
const CLONE_FILES: i32 = 0x400 | SIGCHLD;
const SIGCHLD: i32 = 17;
/// Commands of fcntl.
const F_DUPFD: u32 = 0;
const F_SETFD: u32 = 2;
const F_DUPFD_CLOEXEC: u32 = 1030;
/// An address that fits all machines.
const BUFFER: u32 = 0x7f00_1000;

/// A system call that a thread is in.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) done: Done,
    /// Whether it may wait for something.
    pub(super) waits: bool,
    /// Whether its entry was recorded.
    pub(super) entered: bool,
}

/// What a call does when it succeeds.
#[derive(Debug, Clone)]
pub(super) enum Done {
    /// It returns a number up to this one.
    Number(u64),
    /// It returns this.
    Is(i32),
    /// As [`Self::Number`], of a file.
    Use {
        fd: i32,
        most: u64,
    },
    /// Some of these are ready: told by their numbers, or, of a set of epoll, by what the program calls them.
    Ready {
        set: Option<i32>,
        fds: Vec<i32>,
    },
    /// The lowest free file descriptor, and whether an exec closes it.
    Open {
        closes: bool,
    },
    /// A file descriptor for a connection that comes to a file.
    Accept {
        fd: i32,
        closes: bool,
    },
    Close(i32),
    /// Another number for a file.
    DupTo {
        from: i32,
        to: i32,
        closes: bool,
    },
    /// A free number from `from` on for a file.
    Copy {
        of: i32,
        from: i32,
        closes: bool,
    },
    Mark {
        fd: i32,
        closes: bool,
    },
    /// Two file descriptors, recorded in a field.
    Pair {
        field: &'static str,
        closes: bool,
    },
    Clone {
        is_thread: bool,
        shares_files: bool,
        child: Option<i32>,
    },
    Exec {
        program: &'static str,
        is_done: bool,
    },
    Exit {
        group: bool,
    },
}

impl Call {
    /// One that began before the trace.
    pub(super) fn waiting(random: &mut Random) -> Self {
        let name =
            ["poll", "futex", "read", "wait4", "epoll_wait", "clock_nanosleep"][random.below(6) as usize];
        Self { name, done: Done::Number(1), waits: true, entered: false }
    }

    /// The one that a new thread comes back from.
    pub(super) fn cloned() -> Self {
        Self { name: "clone", done: Done::Number(0), waits: false, entered: false }
    }

    /// Whether it may return an error: after a fork or an exec it cannot.
    pub(super) fn may_fail(&self) -> bool {
        !matches!(self.done, Done::Clone { .. } | Done::Exec { .. } | Done::Close(_) | Done::Is(_))
    }

    /// Whether its exit may show that it was interrupted.
    pub(super) fn may_be_interrupted(&self) -> bool {
        self.entered && !matches!(self.done, Done::Exit { .. })
    }
}

/// A call, its fields, and what it does.
type CallRequest = (&'static str, Vec<(&'static str, FieldValue)>, Done);

impl RandomHost {
    /// The running thread enters some call.
    pub(super) fn enter(&mut self, cpu: u32, tid: i32) {
        let Some(task) = self.tasks.get(&tid).cloned() else { return };
        let (name, fields, done) = match self.random.below(20) {
            0..=8 => self.file_call(&task),
            9..=15 => self.other_call(&task),
            _ => self.life_call(&task),
        };
        let waits = match name {
            "read" | "accept" | "accept4" | "poll" | "futex" | "nanosleep" | "wait4" | "epoll_wait"
            | "select" => true,
            "write" | "openat" | "pread64" | "fsync" => self.random.permille(300),
            _ => false,
        };
        self.at(cpu).enter(name, &fields);
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.call = Some(Call { name, done, waits, entered: true });
        }
    }

    /// Calls that change what is open.
    fn file_call(&mut self, task: &Task) -> CallRequest {
        let closes = self.random.permille(400);
        let cloexec = if closes { O_CLOEXEC } else { 0 };
        let fd = self.open_file(task);
        let open = Done::Open { closes };
        let stays = Done::Open { closes: false };
        let path: FieldValue = FILES[self.random.below(FILES.len() as u64) as usize].into();
        let flags = ("flags", cloexec.into());
        let family = if self.random.permille(700) { 2 } else { 1 };
        let sockets = vec![("family", family.into()), ("type", (1 | cloexec).into()), ("protocol", 0.into())];
        match self.random.below(22) {
            0..=3 => (
                "openat",
                vec![("dfd", AT_FDCWD.into()), ("filename", path), flags, ("mode", 0o644.into())],
                open,
            ),
            4 => (
                "open",
                vec![("filename", path), ("flags", (cloexec | 0o101).into()), ("mode", 0o600.into())],
                open,
            ),
            5 => ("creat", vec![("pathname", path), ("mode", 0o600.into())], stays),
            6..=9 => ("close", vec![("fd", fd.into())], Done::Close(fd)),
            10 => ("dup", vec![("fildes", fd.into())], Done::Copy { of: fd, from: 0, closes: false }),
            11 | 12 => {
                let to = self.random.below(12) as i32;
                let mut fields = vec![("oldfd", fd.into()), ("newfd", to.into())];
                if closes && to != fd {
                    fields.push(flags);
                    ("dup3", fields, Done::DupTo { from: fd, to, closes })
                } else {
                    ("dup2", fields, Done::DupTo { from: fd, to, closes: false })
                }
            }
            13 => ("pipe", vec![], Done::Pair { field: "fildes", closes: false }),
            14 => ("pipe2", vec![flags], Done::Pair { field: "fildes", closes }),
            15 => ("socketpair", sockets, Done::Pair { field: "socket", closes }),
            16 => ("socket", sockets, open),
            17 => ("accept", vec![("fd", fd.into())], Done::Accept { fd, closes: false }),
            18 => ("accept4", vec![("fd", fd.into()), flags], Done::Accept { fd, closes }),
            19 => {
                let cmd = if closes { F_DUPFD_CLOEXEC } else { F_DUPFD };
                let from = self.random.below(8) as i32;
                let fields = vec![("fd", fd.into()), ("cmd", cmd.into()), ("arg", from.into())];
                ("fcntl", fields, Done::Copy { of: fd, from, closes })
            }
            20 => {
                let arg = if closes { FD_CLOEXEC } else { 0 };
                let fields = vec![("fd", fd.into()), ("cmd", F_SETFD.into()), ("arg", arg.into())];
                ("fcntl", fields, Done::Mark { fd, closes })
            }
            _ => match self.random.below(5) {
                0 => (
                    "memfd_create",
                    vec![("uname", "memory".into()), ("flags", u32::from(closes).into())],
                    open,
                ),
                1 => ("epoll_create1", vec![flags], open),
                2 => ("eventfd2", vec![("count", 0.into()), flags], open),
                3 => ("timerfd_create", vec![("clockid", 1.into()), flags], open),
                _ => ("inotify_init", vec![], stays),
            },
        }
    }

    /// Calls that use what is open, wait, or do nothing.
    fn other_call(&mut self, task: &Task) -> CallRequest {
        let file = self.open_file(task);
        let fd = ("fd", FieldValue::from(file));
        let uses = |most| Done::Use { fd: file, most };
        let count = ("count", FieldValue::from(4096));
        let buffer = ("buf", FieldValue::from(BUFFER));
        let number = Done::Number;
        match self.random.below(16) {
            0..=3 => ("read", vec![fd, count], uses(4096)),
            4..=6 => ("write", vec![fd, buffer, count], uses(4096)),
            7 => ("pread64", vec![fd, count, ("pos", 512.into())], uses(4096)),
            8 => ("futex", vec![("uaddr", BUFFER.into()), ("op", 128.into()), ("val", 2.into())], number(1)),
            9 => ("nanosleep", vec![("rqtp", BUFFER.into())], number(0)),
            10 => self.waiting_call(task),
            11 if self.random.permille(300) => {
                ("munmap", vec![("addr", BUFFER.into()), ("len", 4096.into())], number(0))
            }
            11 => {
                let fd = if self.random.permille(500) { file } else { -1 };
                let flags = 1 + self.random.below(2) as i32;
                let fields = vec![
                    ("len", 4096.into()),
                    ("prot", 3.into()),
                    ("flags", flags.into()),
                    ("fd", fd.into()),
                ];
                ("mmap", fields, number(BUFFER.into()))
            }
            12 => ("fsync", vec![fd], uses(0)),
            13 => ("getpid", vec![], Done::Is(task.pid)),
            14 if self.random.permille(500) => self.sending_call(file),
            14 => ("wait4", vec![("upid", (-1).into())], number(0)),
            // Something that no tracer has a class for, until 2.14.
            _ => ("io_uring_setup", vec![("entries", 8.into())], number(0)),
        }
    }

    /// Calls that wait for descriptors, and those that say for which.
    fn waiting_call(&mut self, task: &Task) -> CallRequest {
        const POLLIN: u32 = 1;
        let fds: Vec<i32> = (0..self.random.below(4)).map(|_| self.open_file(task)).collect();
        let set = self.open_file(task);
        match self.random.below(5) {
            0 | 1 => {
                let asked = fds.iter().map(|&fd| FieldValue::Array(vec![fd.into(), POLLIN.into()]));
                let fields = vec![
                    ("nfds", (fds.len() as u32).into()),
                    ("timeout_msecs", (-1).into()),
                    ("fds", FieldValue::Array(asked.collect())),
                ];
                ("poll", fields, Done::Ready { set: None, fds })
            }
            2 => {
                let (fd, op) = (fds.first().copied().unwrap_or_default(), 1 + self.random.below(3) as i32);
                let mut fields =
                    vec![("epfd", set.into()), ("op_enum", op.into()), ("op", op.into()), ("fd", fd.into())];
                if self.generation().shows_waits() {
                    let data = FieldValue::Array(vec![(fd as u32).into(), fd.into()]);
                    fields.push(("event", FieldValue::Array(vec![data, POLLIN.into()])));
                }
                ("epoll_ctl", fields, Done::Use { fd: set, most: 0 })
            }
            _ => {
                let fields = vec![("epfd", set.into()), ("maxevents", 8.into()), ("timeout", (-1).into())];
                ("epoll_wait", fields, Done::Ready { set: Some(set), fds })
            }
        }
    }

    /// Calls that have packets sent.
    fn sending_call(&mut self, file: i32) -> CallRequest {
        let fd = ("fd", FieldValue::from(file));
        if self.random.permille(500) {
            return ("sendto", vec![fd, ("len", 100.into())], Done::Use { fd: file, most: 100 });
        }
        let mut fields = vec![fd];
        if self.random.permille(700) {
            fields.push(("family", 2_u16.into()));
            fields.push(("dport", 80_u16.into()));
            fields.push(("v4addr", [10_u8, 0, 0, 2].into()));
        }
        ("connect", fields, Done::Use { fd: file, most: 0 })
    }

    /// Calls by which threads begin, change and end; others where there are too many or too few of them.
    fn life_call(&mut self, task: &Task) -> CallRequest {
        let alive = self.alive();
        match self.random.below(8) {
            0..=3 if alive < self.most => {
                let (flags, is_thread, shares_files) = match self.random.below(5) {
                    0 | 1 => (CLONE_THREAD, true, true),
                    2 => (CLONE_FILES, false, true),
                    _ => (SIGCHLD, false, false),
                };
                // The same field has two names.
                let fields = vec![("flags", flags.into()), ("clone_flags", flags.into())];
                ("clone", fields, Done::Clone { is_thread, shares_files, child: None })
            }
            4 | 5 if self.is_alone(task.tid) => {
                let program = PROGRAMS[self.random.below(PROGRAMS.len() as u64) as usize];
                ("execve", vec![("filename", program.into())], Done::Exec { program, is_done: false })
            }
            6 | 7 if 2 * alive > self.most / 2 => {
                let group = self.random.permille(500);
                (
                    if group { "exit_group" } else { "exit" },
                    vec![("error_code", 0.into())],
                    Done::Exit { group },
                )
            }
            _ => ("gettid", vec![], Done::Is(task.tid)),
        }
    }

    /// An open file of a thread, or now and then one that is not open.
    fn open_file(&mut self, task: &Task) -> i32 {
        let open: Vec<i32> =
            self.tables.get(&task.table).map(|table| table.keys().copied().collect()).unwrap_or_default();
        match open.get(self.random.below(open.len() as u64) as usize) {
            Some(&fd) if !self.random.permille(50) => fd,
            _ => self.random.below(20) as i32,
        }
    }
}
