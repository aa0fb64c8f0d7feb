//! The threads that a recording lists, as LTTng's dump of the state has them, and the processes of new ones.
//!
//! Recordings by trace-cmd list none: `isochrone record` writes a list beside them, in a file of that name
//! with [`SUFFIX`].

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::class::{Class, Damaged, Machine, integer};
use crate::event_format::EventFormat;

/// A thread that was there before the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedThread {
    pub(crate) tid: i32,
    pub(crate) pid: i32,
    pub(crate) ppid: i32,
    pub(crate) name: Vec<u8>,
}

/// All that were there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ThreadList {
    pub(crate) threads: Vec<ListedThread>,
    /// When, in ns of the recording's clock; `None`: before its first event.
    pub(crate) at: Option<u64>,
}

/// What the name of a list ends with, behind that of its recording.
const SUFFIX: &str = ".threads";
/// How a list begins.
const HEAD: &str = "isochrone threads 1";
/// How it ends.
const END: &[u8] = b"\nend\n";
/// The largest one, bytes: a million threads.
const MAX_LIST: u64 = 64 << 20;

/// The path of the list of threads of a recording by trace-cmd, which `isochrone record` writes: whether
/// there is one or not.
pub fn list_beside(recording: &Path) -> PathBuf {
    let mut name = OsString::from(recording);
    name.push(SUFFIX);
    name.into()
}

/// The kernel's thread that starts all others of its own.
const KTHREADD: i32 = 2;
/// The first thread of all.
const INIT: i32 = 1;

/// Names of the events of LTTng's dump, in the order of their classes.
const DUMP: [&str; 3] = ["lttng_statedump_start", "lttng_statedump_process_state", "lttng_statedump_end"];

/// Which event of LTTng's dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dump {
    Start,
    Thread,
    End,
}

impl ThreadList {
    /// The list beside a recording, `None` if there is none; or that it is not as it is written.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn beside(recording: &Path) -> io::Result<Option<Result<Self, Damaged>>> {
        let file = match File::open(list_beside(recording)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_LIST + 1).read_to_end(&mut bytes)?;
        Ok(Some(Self::parse(&bytes)))
    }

    /// Reads a list: a line that says what it is, one with the time (s, with six digits behind the point),
    /// one for each thread (its number, its process, the parent of that, when it started in ticks, its
    /// name), and one that says that all are there.
    fn parse(bytes: &[u8]) -> Result<Self, Damaged> {
        let bytes = bytes.strip_suffix(END).filter(|_| bytes.len() as u64 <= MAX_LIST).ok_or(Damaged)?;
        let mut lines = bytes.split(|&byte| byte == b'\n');
        let mut text = || lines.next().and_then(|line| std::str::from_utf8(line).ok());
        if text() != Some(HEAD) {
            return Err(Damaged);
        }
        let at = text().and_then(|line| nanoseconds(line.strip_prefix("at ")?)).ok_or(Damaged)?;
        let threads = lines.map(|line| ListedThread::parse(line).ok_or(Damaged)).collect::<Result<_, _>>()?;
        Ok(Self { threads, at: Some(at) })
    }

    /// Whether all threads of the host are in it: tools that list those of some processes leave out the
    /// kernel's own.
    pub(crate) fn is_complete(&self) -> bool {
        let has = |tid| self.threads.iter().any(|thread| thread.tid == tid);
        has(INIT) && has(KTHREADD)
    }
}

/// A time in s with six digits behind the point, in ns.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, micros) = text.split_once('.').filter(|(_, micros)| micros.len() == 6)?;
    let [seconds, micros] = [seconds, micros].map(|digits| digits.parse::<u32>().ok().map(u64::from));
    Some(seconds? * 1_000_000_000 + micros? * 1_000)
}

impl ListedThread {
    /// A line of a list: the name is what is behind the fourth space.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut parts = line.splitn(5, |&byte| byte == b' ');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<i64>().ok();
        let [tid, pid, ppid, _started] = [number()?, number()?, number()?, number()?];
        let [tid, pid, ppid] =
            [tid, pid, ppid].map(|number| i32::try_from(number).ok().filter(|it| *it >= 0));
        Some(Self { tid: tid?, pid: pid?, ppid: ppid?, name: parts.next()?.to_vec() })
    }

    /// The name that the scheduler's events have. Lists add to those of the kernel's workers what these do at
    /// the moment.
    fn comm(&self) -> &[u8] {
        let is_worker = self.ppid == KTHREADD && self.name.starts_with(b"kworker/");
        // Those that rescue others are called by what they rescue, `kworker/R-name`.
        let number = self.name.iter().position(|&it| is_worker && it == b':').unwrap_or(self.name.len());
        let end = self.name[number..].iter().position(|it| matches!(it, b'-' | b'+'));
        &self.name[..end.map_or(self.name.len(), |end| number + end)]
    }

    /// The fields of its event, in the order of [`dump`].
    pub(crate) fn fields(&self, machine: Machine, out: &mut Vec<u8>) {
        for number in [self.tid, self.pid, self.ppid] {
            out.extend_from_slice(&machine.order.four(number as u32));
        }
        out.extend_from_slice(self.comm());
        out.push(0);
    }
}

/// The classes of a dump.
pub(crate) fn dump(machine: Machine) -> [Class; 3] {
    let int = integer(4, true);
    let fields = format!("{int} _tid; {int} _pid; {int} _ppid; string _name; ");
    DUMP.map(|name| {
        let fields = if name == DUMP[Dump::Thread as usize] { fields.clone() } else { String::new() };
        Class::without_record(name, fields, machine)
    })
}

/// Where the record of a new thread has its number; `None`: events of the format are none of new threads.
pub(crate) fn child(format: &EventFormat) -> Option<usize> {
    let is_fork = format.system == "sched" && format.name == "sched_process_fork";
    format.field("child_pid").filter(|field| is_fork && field.size == 4).map(|field| field.offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(tid: i32, ppid: i32, name: &str) -> ListedThread {
        ListedThread { tid, pid: tid, ppid, name: name.into() }
    }

    #[test]
    fn names_of_workers() {
        let check = |ppid, name, expect: &str| {
            assert_eq!(thread(9, ppid, name).comm(), expect.as_bytes(), "{name}");
        };
        check(2, "kworker/0:1-rcu_", "kworker/0:1");
        check(2, "kworker/u4:2+eve", "kworker/u4:2");
        check(2, "kworker/0:0", "kworker/0:0");
        check(2, "kthread-x", "kthread-x");
        check(1, "kworker/0:1-mine", "kworker/0:1-mine");
        check(2, "kworker/R-rcu_g", "kworker/R-rcu_g");
    }

    #[test]
    fn lists_beside_recordings() {
        let list = "isochrone threads 1\nat 12.000034\n1 1 0 5 systemd\n9 7 1 70 a b (c) \nend\n";
        let threads = vec![thread(1, 0, "systemd"), ListedThread { pid: 7, ..thread(9, 1, "a b (c) ") }];
        let expect = Ok(ThreadList { threads, at: Some(12_000_034_000) });
        assert_eq!(ThreadList::parse(list.as_bytes()), expect);
        for (from, to) in
            [("threads 1", "threads 2"), (".000034", ".34"), ("9 7 1", "9 x 1"), ("1 1 0", "-1 1 0")]
        {
            assert_eq!(ThreadList::parse(list.replacen(from, to, 1).as_bytes()), Err(Damaged), "{to}");
        }
        for cut in 0..list.len() {
            assert_eq!(ThreadList::parse(&list.as_bytes()[..cut]), Err(Damaged), "{cut}");
        }
    }

    #[test]
    fn a_list_of_some_processes_is_not_complete() {
        let list = |tids: &[i32]| ThreadList {
            threads: tids.iter().map(|&tid| thread(tid, 0, "")).collect(),
            at: None,
        };
        assert!(list(&[1, 2, 77]).is_complete());
        assert!(!list(&[1, 77]).is_complete());
        assert!(!list(&[]).is_complete());
    }
}
