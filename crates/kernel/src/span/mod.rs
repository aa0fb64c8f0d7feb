//! What a host did, as spans with a begin and an end. Times are raw ns of the host's clock.
//!
//! `PartialState` makes them from events, and where pieces are merged. The list of all kinds, and their
//! consumers, are in [`kinds`].

pub(crate) mod file;
mod kinds;

use isochrone_net::{Carried, Flow};
use isochrone_periods::Value;
use serde::{Deserialize, Serialize};

pub use kinds::*;

use crate::calls::{Effect, Entry, Exit, ExitOutput, Object, Sharing, WaitedSet};
use crate::id::{Name, ThreadId, Time};
use crate::thread::Facts;

/// A thread on a CPU, from the switch to it until the switch to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The CPU.
    pub cpu: u32,
    /// The thread; idle tasks, too.
    pub thread: ThreadId,
    /// The priority that it was switched to with, if that was seen.
    pub priority: Option<i32>,
    /// Begin.
    pub begin: Time,
    /// End.
    pub end: Time,
}

/// Time of a CPU in which it is unknown what ran: before its first switch, or from a loss until the next
/// switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// The CPU.
    pub cpu: u32,
    /// The thread that left the CPU at its end: it ran there for some of the time. `None` if the time ends
    /// otherwise.
    pub thread: Option<ThreadId>,
    /// Begin.
    pub begin: Time,
    /// End.
    pub end: Time,
}

/// A system call whose entry and exit were both seen.
#[derive(Debug, Clone, Copy)]
pub struct Syscall<'s> {
    /// The calling thread.
    pub thread: ThreadId,
    /// The CPU of the exit.
    pub cpu: u32,
    /// Time of the entry.
    pub begin: Time,
    /// Time of the exit.
    pub end: Time,
    /// Name and arguments.
    pub entry: &'s Entry,
    /// Result.
    pub exit: &'s Exit,
}

/// A call whose entry or exit was not seen, because the other is outside of the trace or lost, or because it
/// never returns.
#[derive(Debug, Clone, Copy)]
pub struct HalfSyscall<'s> {
    /// The calling thread.
    pub thread: ThreadId,
    /// The CPU of the end that was seen.
    pub cpu: u32,
    /// Name of the call, if known: exits of old tracers do not record it.
    pub name: Option<&'s Name>,
    /// The time of the end that was seen.
    pub at: Time,
    /// The end that was seen.
    pub half: Half,
    /// Name and arguments, if the entry was seen.
    pub entry: Option<&'s Entry>,
}

/// An end of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Half {
    /// Only the begin was seen.
    Begin,
    /// Only the end was seen.
    End,
}

/// A [`Syscall`] that owns its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedSyscall {
    /// The calling thread.
    pub thread: ThreadId,
    /// The CPU of the exit.
    pub cpu: u32,
    /// Time of the entry.
    pub begin: Time,
    /// Time of the exit.
    pub end: Time,
    /// Name and arguments.
    pub entry: Entry,
    /// Result.
    pub exit: Exit,
}

impl OwnedSyscall {
    /// The same, borrowed.
    pub fn borrowed(&self) -> Syscall<'_> {
        let Self { thread, cpu, begin, end, ref entry, ref exit } = *self;
        Syscall { thread, cpu, begin, end, entry, exit }
    }
}

impl Syscall<'_> {
    /// The same, with a copy of all that it borrows.
    pub fn owned(&self) -> OwnedSyscall {
        let Self { thread, cpu, begin, end, entry, exit } = *self;
        OwnedSyscall { thread, cpu, begin, end, entry: entry.clone(), exit: exit.clone() }
    }
}

/// A [`HalfSyscall`] that owns its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedHalfSyscall {
    /// The calling thread.
    pub thread: ThreadId,
    /// The CPU of the end that was seen.
    pub cpu: u32,
    /// Name of the call, if known.
    pub name: Option<Name>,
    /// The time of the end that was seen.
    pub at: Time,
    /// The end that was seen.
    pub half: Half,
    /// Name and arguments, if the entry was seen.
    pub entry: Option<Box<Entry>>,
}

impl OwnedHalfSyscall {
    /// The same, borrowed.
    pub fn borrowed(&self) -> HalfSyscall<'_> {
        let Self { thread, cpu, ref name, at, half, ref entry } = *self;
        HalfSyscall { thread, cpu, name: name.as_ref(), at, half, entry: entry.as_deref() }
    }
}

impl HalfSyscall<'_> {
    /// The same, with a copy of all that it borrows.
    pub fn owned(&self) -> OwnedHalfSyscall {
        let Self { thread, cpu, name, at, half, entry } = *self;
        OwnedHalfSyscall { thread, cpu, name: name.cloned(), at, half, entry: entry.cloned().map(Box::new) }
    }
}

/// A wait for descriptors that has returned: `poll`, `select`, `epoll_wait`. Only if the tracer records the
/// descriptors (LTTng 2.13 does, 2.8 does not); and of `epoll_wait`, only if any are ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    /// The waiting thread.
    pub thread: ThreadId,
    /// When the call returned: the end of the thread's [`Syscall`].
    pub at: Time,
    /// Descriptor of the set of `epoll_wait`.
    pub set: Option<i32>,
    /// The requested descriptors; of `epoll_wait`, what was in the set, as far as seen.
    pub waited: WaitedSet,
    /// The ready descriptors; of `epoll_wait` fewer than the count if their adding to the set was not seen.
    pub ready: WaitedSet,
}

impl Poll {
    /// The wait of a call that returned, if the call is `poll` or `select`.
    pub(crate) fn of_call(thread: ThreadId, at: Time, entry: &Entry, exit: &Exit) -> Option<Self> {
        let Effect::Poll { asked } = &entry.effect else { return None };
        let ready = match &exit.output {
            ExitOutput::Ready(ready) => ready.clone(),
            _ => WaitedSet::default(),
        };
        Some(Self { thread, at, set: None, waited: asked.clone(), ready })
    }
}

/// A thread has acted on an object of the kernel that is no file: by a call that succeeded, or, of signals,
/// by an event that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectUse {
    /// The thread.
    pub thread: ThreadId,
    /// When the call returned: the end of the thread's [`Syscall`]; of an event, its time.
    pub at: Time,
    /// The object.
    pub object: Object,
    /// Whether the event of a signal (`signal_generate`, `signal_deliver`) says so, not a call. It
    /// names the thread that the signal is for as the host does.
    pub is_event: bool,
}

impl ObjectUse {
    /// What a call that returned did.
    pub(crate) fn of_call(thread: ThreadId, at: Time, entry: &Entry, exit: &Exit) -> Option<Self> {
        let Effect::Object { object, .. } = entry.effect else { return None };
        let is_error = (-4095..0).contains(&exit.ret);
        (!is_error).then_some(Self { thread, at, object, is_event: false })
    }
}

/// A run of a hardware interrupt's handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Irq {
    /// The CPU.
    pub cpu: u32,
    /// Number of the interrupt.
    pub number: i32,
    /// Name of the handler, if recorded.
    pub name: Name,
    /// What it returned.
    pub ret: i64,
    /// Begin.
    pub begin: Time,
    /// End.
    pub end: Time,
}

/// A run of a softirq.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Softirq {
    /// The CPU.
    pub cpu: u32,
    /// Its vector (1: timer, 3: network reception …).
    pub vector: u32,
    /// When it was first raised since its last run, if that was seen.
    pub raised: Option<Time>,
    /// Begin.
    pub begin: Time,
    /// End.
    pub end: Time,
}

/// Scheduling latency: a thread's wait for a CPU, from the wake-up to the switch to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedLatency {
    /// The woken thread.
    pub thread: ThreadId,
    /// The thread on the CPU of the wake-up: possibly the idle task, interrupted.
    pub waker: Option<ThreadId>,
    /// The CPU of the switch.
    pub cpu: u32,
    /// Its priority at the switch.
    pub priority: i32,
    /// When it was woken: the first time since it left the CPU.
    pub begin: Time,
    /// When it was switched to.
    pub end: Time,
}

/// A wake-up of a thread, whether or not the thread ever runs: each recorded `sched_waking`, `sched_wakeup`
/// and `sched_wakeup_new`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wakeup {
    /// The woken thread.
    pub thread: ThreadId,
    /// When.
    pub at: Time,
    /// The CPU of the event.
    pub cpu: u32,
    /// The CPU that the thread is to run on, if the event has it.
    pub target_cpu: Option<u32>,
    /// The thread on the CPU of the event: possibly the idle task, interrupted.
    pub waker: ThreadId,
    /// The cause: the waker, or what has interrupted it.
    pub cause: Cause,
}

/// The cause of a wake-up: the innermost context that was active on the CPU then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// The running thread itself. Only if the trace has the events of interrupts, softirqs and
    /// high-resolution timers; and, of `sched_wakeup`, which may complete on one CPU what another one has
    /// begun, those of interrupts between CPUs.
    Thread,
    /// The handler of the interrupt with this number.
    Irq(i32),
    /// The softirq with this vector.
    Softirq(u32),
    /// A timer, or the interrupt of the CPU's own timer.
    Timer,
    /// An interrupt by another CPU, with its vector; also one that a CPU sends to itself to do something
    /// later (`irq_work`).
    Ipi(i32),
    /// Another interrupt of the CPU's own controller, with its vector.
    Vector(i32),
    /// Events are missing, or the trace does not record them.
    Unknown,
}

impl Cause {
    /// Its number in tables, and that of the interrupt, softirq or vector where it has one.
    pub fn number(self) -> (u8, Option<i32>) {
        match self {
            Self::Unknown => (0, None),
            Self::Thread => (1, None),
            Self::Irq(number) => (2, Some(number)),
            Self::Softirq(vector) => (3, Some(vector as i32)),
            Self::Timer => (4, None),
            Self::Ipi(vector) => (5, Some(vector)),
            Self::Vector(vector) => (6, Some(vector)),
        }
    }

    /// That of a number in tables, and of a number of its source; what has none of these is unknown.
    ///
    /// ```
    /// use isochrone_kernel::Cause;
    /// assert_eq!(Cause::of(2, Some(27)), Cause::Irq(27));
    /// assert_eq!((Cause::of(2, None), Cause::of(9, None)), (Cause::Unknown, Cause::Unknown));
    /// ```
    pub fn of(number: u8, source: Option<i32>) -> Self {
        match (number, source) {
            (1, _) => Self::Thread,
            (2, Some(number)) => Self::Irq(number),
            (3, Some(vector)) => Self::Softirq(vector as u32),
            (4, _) => Self::Timer,
            (5, Some(vector)) => Self::Ipi(vector),
            (6, Some(vector)) => Self::Vector(vector),
            _ => Self::Unknown,
        }
    }

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Thread => "thread",
            Self::Irq(_) => "irq",
            Self::Softirq(_) => "softirq",
            Self::Timer => "timer",
            Self::Ipi(_) => "ipi",
            Self::Vector(_) => "vector",
        }
    }
}

/// A change of a thread: it begins, ends, or gets another id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadEvent {
    /// The thread.
    pub thread: ThreadId,
    /// When.
    pub at: Time,
    /// The change.
    pub what: ThreadChange,
}

/// A thread that has ended, with all facts. It is emitted once, and the model drops the thread: consumers
/// that need names of threads later keep them ([`WithThreads`](crate::WithThreads)).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retired {
    /// The thread.
    pub thread: ThreadId,
    /// Its facts.
    pub facts: Facts,
}

/// Kinds of changes of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreadChange {
    /// It was forked.
    Forked {
        /// The parent.
        parent: ThreadId,
        /// Its initial name.
        comm: Name,
    },
    /// It executes another program.
    Executed {
        /// Path of the program.
        program: Name,
    },
    /// An exec gave a thread that was not the leader of its process the tid of the leader: `thread` is the
    /// new id.
    Renumbered {
        /// Its id before.
        was: ThreadId,
    },
    /// It exits; it runs on for a while.
    Exits,
    /// It has left its CPU for good.
    Died,
}

/// A thread that was off all CPUs: from the switch to another until its wake-up or, if it was preempted,
/// until the switch to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffCpu {
    /// The thread.
    pub thread: ThreadId,
    /// Why it left the CPU.
    pub reason: OffCpuReason,
    /// When it left.
    pub begin: Time,
    /// When it was woken or switched to.
    pub end: Time,
    /// The thread on the CPU that woke it; `None` for those that were preempted.
    pub waker: Option<ThreadId>,
}

/// Why a thread left its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OffCpuReason {
    /// Another one was to run: it was runnable.
    Preempted,
    /// It waited, interruptible by signals.
    Blocked,
    /// It waited, not interruptible, mostly for a disk.
    Uninterruptible,
    /// It was stopped, by a debugger or a signal.
    Stopped,
}

impl OffCpuReason {
    /// All of them, by their numbers in tables.
    pub const ALL: [Self; 4] = [Self::Preempted, Self::Blocked, Self::Uninterruptible, Self::Stopped];

    /// Its number in tables.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// That of a number in tables.
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preempted => "preempted",
            Self::Blocked => "blocked",
            Self::Uninterruptible => "uninterruptible",
            Self::Stopped => "stopped",
        }
    }
}

/// A packet of the network on its way through the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetPacket {
    /// When.
    pub at: Time,
    /// On which CPU.
    pub cpu: u32,
    /// The thread that ran there; receptions mostly interrupt an unrelated thread.
    pub thread: ThreadId,
    /// Name of the network device.
    pub device: Name,
    /// Its length in bytes, with the headers that it had there.
    pub bytes: u32,
    /// The address of the buffer that holds it, if recorded: by it, [`PacketTaken`] is of the packet that was
    /// queued last.
    pub buffer: Option<u64>,
    /// Source and destination, if recorded.
    pub flow: Option<Flow>,
    /// What it carries, as far as recorded.
    pub carried: Carried,
    /// Whether it was sent.
    pub is_sent: bool,
}

/// A network device has taken a packet from its queue: its driver has returned. The packet may be on its way
/// before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketTaken {
    /// When.
    pub at: Time,
    /// On which CPU.
    pub cpu: u32,
    /// The address of the buffer that holds it.
    pub buffer: u64,
}

/// Pages of memory that were allocated or freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageAllocation {
    /// When.
    pub at: Time,
    /// The thread.
    pub thread: ThreadId,
    /// Number of pages.
    pub pages: u64,
    /// Whether they were freed.
    pub is_free: bool,
}

/// A change of what the memory of a process shows: `mmap`, `munmap`, `mremap`; an exec, which leaves nothing,
/// and a fork.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    /// The thread that made it.
    pub thread: ThreadId,
    /// When.
    pub at: Time,
    /// First address.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// What is there from now on.
    pub what: Mapped,
}

/// What a range of addresses shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mapped {
    /// Nothing any more, or what the trace does not show.
    Nothing,
    /// Memory without a file.
    Anonymous {
        /// When it was mapped, of what processes can share.
        made: Option<Time>,
        /// Who sees what is written there.
        sharing: Sharing,
    },
    /// A file, by its name; empty if unknown.
    File {
        /// Its name.
        name: Name,
        /// When it was made, of one that only descriptors refer to (`memfd_create`): others have that
        /// name, too.
        made: Option<Time>,
        /// Who sees what is written there.
        sharing: Sharing,
    },
    /// What the process of another thread shows: a fork. That may be a thread of the same process.
    CopyOf(ThreadId),
}

/// A phase of a program, between two of its own tracepoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Name of the two tracepoints, without `begin` and `end`; after it, where both have a text field that
    /// identifies the phase, that text: `thumb:phase decode`.
    pub name: Name,
    /// The thread.
    pub thread: ThreadId,
    /// Begin.
    pub begin: Time,
    /// End.
    pub end: Time,
}

/// A period that a definition describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// The name of the definition, or its number among them: `#2`.
    pub name: Name,
    /// Its number among all periods of the trace, in the order of their begins.
    pub number: u64,
    /// The number and the name of the period that it lies within, if its definition has a parent.
    pub parent: Option<(u64, Name)>,
    /// The thread that ran where it began.
    pub thread: ThreadId,
    /// Begin.
    pub begin: Time,
    /// End.
    pub end: Time,
    /// Whether it ends because its parent does.
    pub is_cut: bool,
    /// What was captured of the event that it began with.
    pub begin_captures: Vec<(Name, Value)>,
    /// What was captured of the event that it ended with.
    pub end_captures: Vec<(Name, Value)>,
}

/// A thread that was moved to another CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migration {
    /// The thread.
    pub thread: ThreadId,
    /// When.
    pub at: Time,
    /// The new CPU.
    pub to: u32,
}
