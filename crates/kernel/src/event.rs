//! Kernel events, independent of the version of the tracer.
//!
//! `decode` makes them from CTF events; `PartialState` consumes them.

use isochrone_net::{Carried, Flow};
use serde::{Deserialize, Serialize};

use crate::calls::{Entry, Exit};
use crate::contexts::Context;
use crate::id::{Name, Namespace, Time};
use crate::requests::BlockTransfer;
use crate::span::{Cause, OffCpuReason};

/// The CPU of an event that does not say which: none has this number.
pub const NO_CPU: u32 = u32::MAX;

/// Where and when an event was recorded, and the fields of its contexts.
#[derive(Debug, Clone, Copy)]
pub struct EventContext<'e> {
    /// Raw time, ns.
    pub time: Time,
    /// The CPU; [`NO_CPU`] of an event of a program that does not say it.
    pub cpu: u32,
    /// The current thread, if the trace has that context.
    pub tid: Option<i32>,
    /// Whether `tid` of an event of a program is nevertheless the kernel's number of the thread.
    pub has_kernel_tid: bool,
    /// Its process, if the trace has that context.
    pub pid: Option<i32>,
    /// Its name, if the trace has that context.
    pub comm: Option<&'e [u8]>,
    /// Whether a program's own tracepoint recorded it, not the kernel. The contexts are then the numbers that
    /// the thread has in its own pid namespace.
    pub is_user: bool,
    /// What the session is known by that recorded it.
    pub session: u64,
    /// Whether the trace records page faults: what threads do is then followed for them.
    pub has_faults: bool,
}

/// A task as an event names it.
#[derive(Debug, Clone, Copy)]
pub struct TaskRef<'e> {
    /// Its tid.
    pub tid: i32,
    /// Its name.
    pub comm: &'e [u8],
    /// Its priority as the tracer reports it (0 … 139, real-time threads below 0).
    pub priority: i32,
}

/// Why a thread left its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrevState {
    /// It waits, or was preempted.
    OffCpu(OffCpuReason),
    /// It will never run again.
    Dead,
}

/// `sched_process_fork`: a new thread.
#[derive(Debug, Clone, Copy)]
pub struct ForkEvent<'e> {
    /// Tid of the thread that forked.
    pub parent: i32,
    /// Pid of its process, if recorded.
    pub parent_pid: Option<i32>,
    /// Tid of the new thread.
    pub child: i32,
    /// Pid of the new thread: its own tid, or the parent's pid for a further thread of its process; if
    /// recorded.
    pub child_pid: Option<i32>,
    /// The initial name of the new thread.
    pub child_comm: &'e [u8],
    /// The ids of the new thread in its innermost namespace, if recorded.
    pub inner: Option<Namespace>,
}

/// A step of a request to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockStep {
    /// `block_rq_insert`: it enters a queue.
    Insert,
    /// `block_rq_merge`: it becomes part of another request.
    Merge,
    /// `block_rq_issue`: the driver accepts it.
    Issue,
    /// `block_rq_requeue`: the driver returns it.
    Requeue,
    /// `block_rq_complete`, with the error as a negative number.
    Complete(i32),
}

/// `x86_exceptions_page_fault_user`, `x86_exceptions_page_fault_kernel`, and what other machines and old
/// tracers call these: the current thread touches a page that is not mapped so, a fault starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultEvent {
    /// The address that was touched.
    pub address: u64,
    /// Address of the instruction.
    pub ip: u64,
    /// The error code of the processor, if recorded.
    pub code: Option<u64>,
    /// Whether the thread's program touched it; else the kernel did, mostly in a call.
    pub is_user: bool,
}

/// A kernel event.
#[derive(Debug)]
pub enum KernelEvent<'e> {
    /// `sched_switch`: a CPU switches from one thread to another.
    Switch {
        /// The thread that leaves the CPU.
        prev: TaskRef<'e>,
        /// Why it leaves.
        prev_state: PrevState,
        /// The thread that runs next.
        next: TaskRef<'e>,
    },
    /// `sched_waking`, `sched_wakeup`, `sched_wakeup_new`: a thread becomes runnable.
    Wakeup {
        /// The woken thread.
        who: TaskRef<'e>,
        /// The CPU that it will run on.
        target_cpu: Option<u32>,
        /// The cause if no traced interrupt or timer is active: [`Cause::Thread`] or [`Cause::Unknown`].
        cause: Cause,
    },
    /// `sched_migrate_task`.
    Migrate {
        /// The thread.
        who: TaskRef<'e>,
        /// The CPU that it is moved to.
        to: u32,
    },
    /// `sched_pi_setprio`.
    Priority {
        /// The thread, with its new priority.
        who: TaskRef<'e>,
    },
    /// `sched_process_fork`.
    Fork(ForkEvent<'e>),
    /// `sched_process_exec`: the current thread executes another program.
    Exec {
        /// Path of the program.
        filename: &'e [u8],
        /// The thread, whose tid is now that of its process.
        tid: Option<i32>,
        /// Its tid before.
        old_tid: Option<i32>,
    },
    /// `sched_process_exit`: a thread exits.
    Exit(TaskRef<'e>),
    /// A timer or an interrupt of the CPU's own controller begins: `hrtimer_expire_entry`,
    /// `timer_expire_entry`, `irq_vectors_*_entry`, under the names of all tracers.
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
    /// A step of a request to a disk.
    Block {
        /// The device, as the kernel numbers it.
        device: u32,
        /// First sector.
        sector: u64,
        /// What it requests; of `complete`, what is done.
        transfer: BlockTransfer,
        /// The thread that ran, if the event has it.
        tid: Option<i32>,
        /// The step.
        step: BlockStep,
    },
    /// `net_dev_queue` (`net_dev_xmit` where a trace does not have it), `netif_receive_skb`,
    /// `net_if_receive_skb`.
    Packet {
        /// Name of the network device.
        device: &'e [u8],
        /// Length in bytes.
        bytes: u32,
        /// Whether it is sent.
        is_sent: bool,
        /// The address of the buffer that holds it (`skbaddr`), if recorded.
        buffer: Option<u64>,
        /// Source and destination, and what it carries, if the tracer records them.
        flow: Option<(Flow, Carried)>,
        /// Whether the trace has all softirqs and interrupts that might send it.
        is_accounted: bool,
    },
    /// `net_dev_xmit` where a trace has `net_dev_queue`: a device has taken a packet from its queue.
    PacketTaken {
        /// The address of the buffer that holds it.
        buffer: u64,
    },
    /// `signal_generate`: the current thread sends a signal.
    Signal {
        /// Its number.
        number: i32,
        /// The tid of the thread that it is for; of a signal for a process, one of its threads.
        to: i32,
    },
    /// `signal_deliver`: the current thread gets a signal.
    SignalDelivered {
        /// Its number.
        number: i32,
    },
    /// `mm_page_alloc`, `mm_page_free` and so on.
    PageAllocation {
        /// Number of pages.
        pages: u64,
        /// Whether they are freed.
        is_free: bool,
    },
    /// A page fault starts.
    PageFault(FaultEvent),
    /// `page_fault_exit` of old tracers: it ends.
    PageFaultEnd,
    /// The begin of a phase of a program, by its name.
    PhaseBegin(Name),
    /// The end of one.
    PhaseEnd(Name),
    /// `lttng_statedump_process_state`: a thread that existed when the trace began.
    DumpProcess {
        /// The thread.
        tid: i32,
        /// Its process.
        pid: i32,
        /// The parent of its process.
        ppid: i32,
        /// Its name.
        comm: &'e [u8],
        /// Whether it is a kernel thread.
        is_kernel: bool,
        /// The table of file descriptors that it is attached to, from LTTng 2.10 on.
        file_table: Option<u64>,
        /// Its ids in its innermost namespace, if recorded.
        inner: Option<Namespace>,
    },
    /// `lttng_statedump_block_device`: the name of a disk or a partition.
    DumpDisk {
        /// The device, as the kernel numbers it.
        device: u32,
        /// Its name, `sda1`.
        name: &'e [u8],
    },
    /// `lttng_statedump_process_pid_ns`: the ids of a thread in a namespace.
    DumpNamespace {
        /// The thread.
        tid: i32,
        /// Its ids there.
        inner: Namespace,
    },
    /// `lttng_statedump_file_descriptor`: a file that was open when the trace began.
    DumpFile {
        /// The process that owns it, up to LTTng 2.9.
        pid: Option<i32>,
        /// The table that has it, from 2.10 on.
        file_table: Option<u64>,
        /// The file descriptor.
        fd: i32,
        /// Flags it was opened with.
        flags: Option<u32>,
        /// The path.
        filename: &'e [u8],
    },
    /// An event that the model does not need, but of the current thread.
    Other,
}
