//! Events of the scheduler, for formats whose readers make states of threads and CPUs of them.

use isochrone_time::UnixNs;

/// A thread as events of the scheduler name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task<'a> {
    /// The id among all hosts ([`unique_id`](super::unique_id)); 0 of the idle task of any CPU.
    pub id: i64,
    /// Its name.
    pub name: &'a str,
    /// Its priority as the kernel numbers it, if recorded.
    pub priority: Option<i32>,
}

/// The state that a thread is in after it has left its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftAs {
    /// It was preempted, and could run on.
    Runnable,
    /// It waits, interruptible by signals.
    Interruptible,
    /// It waits, not interruptible.
    Uninterruptible,
    /// It is stopped, by a debugger or a signal.
    Stopped,
    /// It is over.
    Dead,
    /// That was not recorded.
    Unknown,
}

/// A switch of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedSwitch<'a> {
    /// The CPU, by a number that it alone has among those of all hosts.
    pub cpu: u32,
    /// When, on the common clock.
    pub at: UnixNs,
    /// What ran before.
    pub prev: Task<'a>,
    /// The state of that since.
    pub prev_state: LeftAs,
    /// What runs since.
    pub next: Task<'a>,
}

/// A wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedWaking<'a> {
    /// The CPU that woke, by a number that it alone has among those of all hosts.
    pub cpu: u32,
    /// When, on the common clock.
    pub at: UnixNs,
    /// The id of what ran on that CPU, as [`Task::id`].
    pub waker: i64,
    /// Whether an interrupt woke the thread, and not what ran.
    pub is_by_interrupt: bool,
    /// The thread that was woken.
    pub woken: Task<'a>,
}
