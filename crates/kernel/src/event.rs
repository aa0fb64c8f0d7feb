//! What a kernel event says, whatever version of the tracer wrote it.
//!
//! `decode` makes them from events; `PartialState` is made from them.

use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use crate::calls::{Entry, Exit};
use crate::contexts::Context;
use crate::id::{Name, Time};
use crate::requests::Asked;
use crate::span::{Cause, OffCpuReason};

/// Where and when an event was recorded, and what its contexts tell.
#[derive(Debug, Clone, Copy)]
pub struct EventContext<'e> {
    /// Raw time, ns.
    pub time: Time,
    /// The CPU.
    pub cpu: u32,
    /// The running thread, where the trace has that context.
    pub tid: Option<i32>,
    /// Its process, where the trace has that context.
    pub pid: Option<i32>,
    /// Its name, where the trace has that context.
    pub comm: Option<&'e [u8]>,
    /// Whether a program's own tracepoint told it, not the kernel.
    pub is_user: bool,
}

/// A thread as an event names it.
#[derive(Debug, Clone, Copy)]
pub struct TaskRef<'e> {
    /// Its number.
    pub tid: i32,
    /// Its name.
    pub comm: &'e [u8],
    /// Its priority as the tracer counts (0 … 139, real-time threads below 0).
    pub priority: i32,
}

/// Why a thread left its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrevState {
    /// It waits, or could have gone on.
    OffCpu(OffCpuReason),
    /// It will never run again.
    Dead,
}

/// The numbers that a thread and its process have in a namespace of process numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    /// Number of the thread there.
    pub vtid: i32,
    /// Number of its process there.
    pub vpid: i32,
    /// How deep the namespace is nested: 0 is that of the host.
    pub level: u32,
    /// Which one it is: the number of its inode, where told.
    pub inode: Option<u64>,
}

/// What happens to a request to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockStep {
    /// `block_rq_insert`: it comes into a queue.
    Insert,
    /// `block_rq_merge`: it becomes a part of another one.
    Merge,
    /// `block_rq_issue`: the driver takes it.
    Issue,
    /// `block_rq_requeue`: the driver gives it back.
    Requeue,
    /// `block_rq_complete`, with the error as a negative number.
    Complete(i32),
}

/// What happened.
#[derive(Debug)]
pub enum KernelEvent<'e> {
    /// `sched_switch`: a CPU goes from one thread to another.
    Switch {
        /// Who leaves.
        prev: TaskRef<'e>,
        /// Why.
        prev_state: PrevState,
        /// Who comes.
        next: TaskRef<'e>,
    },
    /// `sched_waking`, `sched_wakeup`, `sched_wakeup_new`: a thread may run again.
    Wakeup {
        /// Who.
        who: TaskRef<'e>,
        /// Where it will run.
        target_cpu: Option<u32>,
        /// What does it if no interrupt or timer that the trace tells of is under way: [`Cause::Thread`] or [`Cause::Unknown`].
        cause: Cause,
    },
    /// `sched_migrate_task`.
    Migrate {
        /// Who.
        who: TaskRef<'e>,
        /// To which CPU.
        to: u32,
    },
    /// `sched_pi_setprio`.
    Priority {
        /// Who, with the new priority.
        who: TaskRef<'e>,
    },
    /// `sched_process_fork`.
    Fork {
        /// The thread that forked.
        parent: i32,
        /// Its process, where told.
        parent_pid: Option<i32>,
        /// The new thread.
        child: i32,
        /// Its process: itself, unless it is a further thread of the parent's; where told.
        child_pid: Option<i32>,
        /// The name it starts with.
        child_comm: &'e [u8],
    },
    /// `sched_process_exec`: the running thread got another program.
    Exec {
        /// The program.
        filename: &'e [u8],
        /// The thread, which has the number of its process now.
        tid: Option<i32>,
        /// The number it had.
        old_tid: Option<i32>,
    },
    /// `sched_process_exit`: a thread ends.
    Exit(TaskRef<'e>),
    /// A timer or an interrupt of the CPU's own controller begins: `hrtimer_expire_entry`, `timer_expire_entry`,
    /// `irq_vectors_*_entry`, by whatever names.
    Enter(Context),
    /// It ends.
    Leave(Context),
    /// `irq_handler_entry`.
    IrqEntry {
        /// Number of the interrupt.
        number: i32,
        /// Name of the handler.
        name: &'e [u8],
    },
    /// `irq_handler_exit`.
    IrqExit {
        /// Number of the interrupt.
        number: i32,
        /// What the handler returned.
        ret: i64,
    },
    /// `softirq_raise`, `irq_softirq_raise`.
    SoftirqRaise(u32),
    /// `softirq_entry`, `irq_softirq_entry`.
    SoftirqEntry(u32),
    /// `softirq_exit`, `irq_softirq_exit`.
    SoftirqExit(u32),
    /// `syscall_entry_*`, `sys_*`, `compat_sys_*`.
    SyscallEntry(Entry),
    /// `syscall_exit_*`, `exit_syscall`.
    SyscallExit(Exit),
    /// Something happens to a request to a disk.
    Block {
        /// The device, as the kernel numbers it.
        device: u32,
        /// First sector.
        sector: u64,
        /// What it asks for; of `complete`, what is done.
        asked: Asked,
        /// What happens.
        step: BlockStep,
    },
    /// `net_dev_queue`, `netif_receive_skb`, `net_if_receive_skb`.
    Packet {
        /// Name of the network device.
        device: &'e [u8],
        /// Length in bytes.
        bytes: u32,
        /// Whether it is sent.
        is_sent: bool,
        /// From where to where it goes, where the tracer tells.
        flow: Option<Flow>,
        /// Whether the trace tells of all softirqs and interrupts that might send it.
        is_accounted: bool,
    },
    /// `mm_page_alloc`, `mm_page_free` and so on.
    PageAllocation {
        /// How many.
        pages: u64,
        /// Whether they are given back.
        is_free: bool,
    },
    /// The begin of a phase of a program, by its name.
    PhaseBegin(&'e Name),
    /// The end of one.
    PhaseEnd(&'e Name),
    /// `lttng_statedump_process_state`: a thread that was there when the trace began.
    DumpProcess {
        /// The thread.
        tid: i32,
        /// Its process.
        pid: i32,
        /// The parent of its process.
        ppid: i32,
        /// Its name.
        comm: &'e [u8],
        /// Whether it is one of the kernel's own.
        is_kernel: bool,
        /// Which table of file descriptors it has, from LTTng 2.10 on.
        file_table: Option<u64>,
        /// What it is called in its innermost namespace, where told.
        inner: Option<Namespace>,
    },
    /// `lttng_statedump_process_pid_ns`: what a thread is called in a namespace.
    DumpNamespace {
        /// The thread.
        tid: i32,
        /// What it is called there.
        inner: Namespace,
    },
    /// `lttng_statedump_file_descriptor`: a file that was open when the trace began.
    DumpFile {
        /// The process whose it is, up to LTTng 2.9.
        pid: Option<i32>,
        /// The table it is in, from 2.10 on.
        file_table: Option<u64>,
        /// Its number.
        fd: i32,
        /// Flags it was opened with.
        flags: Option<u32>,
        /// The path.
        filename: &'e [u8],
    },
    /// Nothing that the model needs, but an event of the running thread.
    Other,
}
