//! The threads that a recording lists, as LTTng's dump of the state has them, and the processes of new ones.

use crate::class::{Class, Machine, integer};
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
#[derive(Debug, Default)]
pub(crate) struct ThreadList {
    pub(crate) threads: Vec<ListedThread>,
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
    /// Whether all threads of the host are in it: tools that list those of some processes leave out the
    /// kernel's own.
    pub(crate) fn is_complete(&self) -> bool {
        let has = |tid| self.threads.iter().any(|thread| thread.tid == tid);
        has(INIT) && has(KTHREADD)
    }
}

impl ListedThread {
    /// The name that the scheduler's events have. Lists add to those of the kernel's workers what these do at
    /// the moment.
    fn comm(&self) -> &[u8] {
        let is_worker = self.ppid == KTHREADD && self.name.starts_with(b"kworker/");
        let end = self.name.iter().position(|it| is_worker && matches!(it, b'-' | b'+'));
        &self.name[..end.unwrap_or(self.name.len())]
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
    }

    #[test]
    fn a_list_of_some_processes_is_not_complete() {
        let list =
            |tids: &[i32]| ThreadList { threads: tids.iter().map(|&tid| thread(tid, 0, "")).collect() };
        assert!(list(&[1, 2, 77]).is_complete());
        assert!(!list(&[1, 77]).is_complete());
        assert!(!list(&[]).is_complete());
    }
}
