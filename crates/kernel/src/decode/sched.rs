//! Decodes events of threads: switches, wake-ups, begins, ends, the dump of existing threads.

use isochrone_ctf::{Event, FieldRef};

use super::{Fields, States, Tracer, int32, text};
use crate::calls::Numbers;
use crate::event::{ForkEvent, KernelEvent, PrevState, TaskRef};
use crate::id::Namespace;
use crate::span::{Cause, OffCpuReason};

/// How to read an event of this family.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is one for each event class, not for each event.
pub(super) enum Class {
    Switch {
        prev: TaskRefFields,
        state: FieldRef,
        states: States,
        next: TaskRefFields,
    },
    Wakeup {
        who: TaskRefFields,
        target_cpu: Option<FieldRef>,
        success: Option<FieldRef>,
        cause: Cause,
    },
    Migrate {
        who: TaskRefFields,
        to: FieldRef,
    },
    Priority {
        who: TaskRefFields,
    },
    Fork {
        parent: FieldRef,
        parent_pid: Option<FieldRef>,
        child: FieldRef,
        child_pid: Option<FieldRef>,
        comm: FieldRef,
        inner: Option<ForkedInner>,
    },
    Exec {
        filename: FieldRef,
        tid: Option<FieldRef>,
        old_tid: Option<FieldRef>,
    },
    Exit {
        who: TaskRefFields,
    },
    Process(Box<Process>),
    PidNamespace {
        tid: FieldRef,
        inner: Inner,
    },
    File {
        pid: Option<FieldRef>,
        table: Option<FieldRef>,
        fd: FieldRef,
        flags: Option<FieldRef>,
        filename: FieldRef,
    },
}

#[derive(Debug)]
pub(super) struct TaskRefFields {
    tid: FieldRef,
    comm: FieldRef,
    priority: Option<FieldRef>,
}

/// `lttng_statedump_process_state`.
#[derive(Debug)]
pub(super) struct Process {
    tid: FieldRef,
    pid: FieldRef,
    ppid: FieldRef,
    name: FieldRef,
    kind: Option<FieldRef>,
    file_table: Option<FieldRef>,
    inner: Option<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    vtid: FieldRef,
    vpid: FieldRef,
    level: Option<FieldRef>,
    inode: Option<FieldRef>,
}

/// The numbers of a new thread in `sched_process_fork`: one of each namespace, from that of the host to the
/// innermost.
#[derive(Debug)]
pub(super) struct ForkedInner {
    vtids: FieldRef,
    inode: Option<FieldRef>,
}

impl Class {
    pub(super) fn new(fields: &Fields<'_>, name: &str, facts: Tracer) -> Option<Self> {
        let get = |name: &str| fields.get(name);
        let who = || TaskRefFields::new(fields, "tid", "comm", "prio");
        Some(match name {
            "sched_switch" => Self::Switch {
                prev: TaskRefFields::new(fields, "prev_tid", "prev_comm", "prev_prio")?,
                state: get("prev_state")?,
                states: facts.states,
                next: TaskRefFields::new(fields, "next_tid", "next_comm", "next_prio")?,
            },
            "sched_wakeup" | "sched_waking" | "sched_wakeup_new" => {
                let (target_cpu, success) = (get("target_cpu"), get("success"));
                Self::Wakeup { who: who()?, target_cpu, success, cause: facts.records.waker(name) }
            }
            "sched_migrate_task" => Self::Migrate { who: who()?, to: get("dest_cpu")? },
            "sched_pi_setprio" => {
                Self::Priority { who: TaskRefFields::new(fields, "tid", "comm", "newprio")? }
            }
            "sched_process_fork" => Self::Fork {
                parent: get("parent_tid")?,
                parent_pid: get("parent_pid"),
                child: get("child_tid")?,
                child_pid: get("child_pid"),
                comm: get("child_comm")?,
                inner: get("vtids").map(|vtids| ForkedInner { vtids, inode: get("child_ns_inum") }),
            },
            "sched_process_exec" => {
                Self::Exec { filename: get("filename")?, tid: get("tid"), old_tid: get("old_tid") }
            }
            "sched_process_exit" => Self::Exit { who: who()? },
            "lttng_statedump_process_state" => Self::Process(Box::new(Process {
                tid: get("tid")?,
                pid: get("pid")?,
                ppid: get("ppid")?,
                name: get("name")?,
                kind: get("type"),
                file_table: get("file_table_address"),
                inner: Inner::new(fields),
            })),
            "lttng_statedump_process_pid_ns" => {
                Self::PidNamespace { tid: get("tid")?, inner: Inner::new(fields)? }
            }
            "lttng_statedump_file_descriptor" => Self::File {
                pid: get("pid"),
                table: get("file_table_address"),
                fd: get("fd")?,
                flags: get("flags"),
                filename: get("filename")?,
            },
            _ => return None,
        })
    }

    #[inline]
    pub(super) fn decode<'e>(&self, event: &Event<'e>) -> Option<KernelEvent<'e>> {
        let optional = |field: &Option<FieldRef>| field.as_ref().and_then(|field| int32(event, field));
        Some(match self {
            Self::Switch { prev, state, states, next } => KernelEvent::Switch {
                prev: prev.read(event)?,
                prev_state: prev_state(event.signed(state)?, *states),
                next: next.read(event)?,
            },
            // It was awake already.
            Self::Wakeup { success, .. } if optional(success) == Some(0) => return None,
            Self::Wakeup { who, target_cpu, cause, .. } => KernelEvent::Wakeup {
                cause: *cause,
                who: who.read(event)?,
                target_cpu: optional(target_cpu).and_then(|cpu| cpu.try_into().ok()),
            },
            Self::Migrate { who, to } => {
                KernelEvent::Migrate { who: who.read(event)?, to: int32(event, to)?.try_into().ok()? }
            }
            Self::Priority { who } => KernelEvent::Priority { who: who.read(event)? },
            Self::Fork { parent, parent_pid, child, child_pid, comm, inner } => {
                let (child, child_pid) = (int32(event, child)?, optional(child_pid));
                KernelEvent::Fork(ForkEvent {
                    parent: int32(event, parent)?,
                    parent_pid: optional(parent_pid),
                    child,
                    child_pid,
                    child_comm: text(event, comm),
                    inner: inner.as_ref().and_then(|inner| inner.read(event, child_pid == Some(child))),
                })
            }
            Self::Exec { filename, tid, old_tid } => KernelEvent::Exec {
                filename: text(event, filename),
                tid: optional(tid),
                old_tid: optional(old_tid),
            },
            Self::Exit { who } => KernelEvent::Exit(who.read(event)?),
            Self::Process(process) => process.read(event)?,
            Self::PidNamespace { tid, inner } => {
                KernelEvent::DumpNamespace { tid: int32(event, tid)?, inner: inner.read(event)? }
            }
            Self::File { pid, table, fd, flags, filename } => KernelEvent::DumpFile {
                pid: optional(pid),
                file_table: table.as_ref().and_then(|field| event.unsigned(field)),
                fd: int32(event, fd)?,
                flags: optional(flags).map(|flags| flags as u32),
                filename: text(event, filename),
            },
        })
    }
}

/// The meaning of the state of a thread that leaves its CPU. Bits: 1 interruptible sleep, 2 uninterruptible
/// sleep, 4 stopped, 8 traced, 16 and 32 ended. Linux before 4.14 shows its own bits: 64 is dead, and a
/// preempted thread shows 0 or, alone, the bit above all existing states (`TASK_STATE_MAX`: 512 at first,
/// 1024 to 4096 since 3.9). Since then 64 is parked, 128 idle, and 256 preempted (`include/linux/sched.h`,
/// `TASK_REPORT`).
fn prev_state(state: i64, states: States) -> PrevState {
    let has = |bits: i64| state & bits != 0;
    let preempted_bit = match states {
        States::Before3_9 => 0x200,
        States::Before4_14 => 0x1c00,
        States::Reported => 0x100,
    };
    if has(0x30) || (states != States::Reported && has(0x40)) {
        return PrevState::Dead;
    }
    PrevState::OffCpu(if state == 0 || (has(preempted_bit) && !has(0xff)) {
        OffCpuReason::Preempted
    } else if has(2) {
        OffCpuReason::Uninterruptible
    } else if has(0xc) {
        OffCpuReason::Stopped
    } else {
        OffCpuReason::Blocked
    })
}

impl TaskRefFields {
    fn new(fields: &Fields<'_>, tid: &str, comm: &str, priority: &str) -> Option<Self> {
        Some(Self { tid: fields.get(tid)?, comm: fields.get(comm)?, priority: fields.get(priority) })
    }

    #[inline]
    fn read<'e>(&self, event: &Event<'e>) -> Option<TaskRef<'e>> {
        Some(TaskRef {
            tid: int32(event, &self.tid)?,
            comm: text(event, &self.comm),
            priority: self.priority.as_ref().and_then(|field| int32(event, field)).unwrap_or(0),
        })
    }
}

impl Process {
    fn read<'e>(&self, event: &Event<'e>) -> Option<KernelEvent<'e>> {
        Some(KernelEvent::DumpProcess {
            tid: int32(event, &self.tid)?,
            pid: int32(event, &self.pid)?,
            ppid: int32(event, &self.ppid)?,
            comm: text(event, &self.name),
            // 0: user, 1: kernel.
            is_kernel: self.kind.as_ref().and_then(|field| event.signed(field)) == Some(1),
            file_table: self.file_table.as_ref().and_then(|field| event.unsigned(field)),
            inner: self.inner.as_ref().and_then(|inner| inner.read(event)),
        })
    }
}

impl Inner {
    fn new(fields: &Fields<'_>) -> Option<Self> {
        Some(Self {
            vtid: fields.get("vtid")?,
            vpid: fields.get("vpid")?,
            level: fields.get("ns_level"),
            inode: fields.get("ns_inum"),
        })
    }

    fn read(&self, event: &Event<'_>) -> Option<Namespace> {
        Some(Namespace {
            vtid: int32(event, &self.vtid)?,
            vpid: Some(int32(event, &self.vpid)?),
            level: self.level.as_ref().and_then(|field| int32(event, field)).unwrap_or(0).unsigned_abs(),
            inode: self.inode.as_ref().and_then(|field| event.unsigned(field)),
        })
    }
}

impl ForkedInner {
    /// `is_leader`: whether the thread is the first one of a process.
    fn read(&self, event: &Event<'_>, is_leader: bool) -> Option<Namespace> {
        let vtids = Numbers::read(event, &self.vtids);
        // Of longer lists the end is not kept.
        let last = vtids.count.checked_sub(1).filter(|_| vtids.count < vtids.values.len())?;
        let vtid = i32::try_from(vtids.values[last]).ok()?;
        Some(Namespace {
            vtid,
            vpid: is_leader.then_some(vtid),
            level: last as u32,
            inode: self.inode.as_ref().and_then(|field| event.unsigned(field)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_mean_what_the_kernel_says() {
        use States::{Before3_9, Before4_14, Reported};
        let check =
            |state, states, expect| assert_eq!(prev_state(state, states), expect, "{state} {states:?}");
        for states in [Before3_9, Before4_14, Reported] {
            check(0, states, PrevState::OffCpu(OffCpuReason::Preempted));
            check(1, states, PrevState::OffCpu(OffCpuReason::Blocked));
            check(2, states, PrevState::OffCpu(OffCpuReason::Uninterruptible));
            check(0x82, states, PrevState::OffCpu(OffCpuReason::Uninterruptible));
            check(4, states, PrevState::OffCpu(OffCpuReason::Stopped));
            check(16, states, PrevState::Dead);
            check(32, states, PrevState::Dead);
        }
        check(64, Before3_9, PrevState::Dead);
        check(64, Before4_14, PrevState::Dead);
        check(64, Reported, PrevState::OffCpu(OffCpuReason::Blocked));
        check(128, Reported, PrevState::OffCpu(OffCpuReason::Blocked));
        check(256, Reported, PrevState::OffCpu(OffCpuReason::Preempted));
        check(512, Before3_9, PrevState::OffCpu(OffCpuReason::Preempted));
        check(512, Before4_14, PrevState::OffCpu(OffCpuReason::Blocked));
        check(1024, Before4_14, PrevState::OffCpu(OffCpuReason::Preempted));
        check(4096, Before4_14, PrevState::OffCpu(OffCpuReason::Preempted));
        // A thread that does not count into the load is blocked, too.
        check(0x402, Before4_14, PrevState::OffCpu(OffCpuReason::Uninterruptible));
    }
}
