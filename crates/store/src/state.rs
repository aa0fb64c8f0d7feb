//! States of threads.

use std::fmt;

use isochrone_kernel::Name;
use isochrone_time::RawNs;

use crate::threads::ThreadRow;

/// The state of a thread. [`UserMode`](Self::UserMode), [`Syscall`](Self::Syscall),
/// [`Interrupted`](Self::Interrupted) and [`Running`](Self::Running) are on a CPU: together they are its CPU
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum State {
    /// Not known.
    Unknown = 0,
    /// It runs in user mode.
    UserMode = 1,
    /// It runs in a system call; of kernel threads: it runs.
    Syscall = 2,
    /// It is on a CPU that handles an interrupt or a softirq.
    Interrupted = 3,
    /// It is runnable and waits for a CPU.
    WaitCpu = 4,
    /// It waits for something.
    Blocked = 5,
    /// It was forked and has not been woken yet.
    WaitFork = 6,
    /// It has ended.
    Dead = 7,
    /// It is on a CPU; whether in user mode or in a system call is unknown.
    Running = 8,
}

impl State {
    /// All states, by number.
    pub const ALL: [Self; 9] = [
        Self::Unknown,
        Self::UserMode,
        Self::Syscall,
        Self::Interrupted,
        Self::WaitCpu,
        Self::Blocked,
        Self::WaitFork,
        Self::Dead,
        Self::Running,
    ];

    /// The state of a number in the column `state`.
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The names in tables, by number.
    const NAMES: [&'static str; 9] = [
        "unknown",
        "usermode",
        "syscall",
        "interrupted",
        "wait-cpu",
        "blocked",
        "wait-fork",
        "dead",
        "running",
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether the thread is on a CPU.
    pub fn is_on_cpu(self) -> bool {
        matches!(self, Self::UserMode | Self::Syscall | Self::Interrupted | Self::Running)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A time in which a thread is in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRow {
    /// The thread.
    pub thread: ThreadRow,
    /// The state. Where several states were combined to a pixel, the one that filled most of it.
    pub state: State,
    /// Start.
    pub start: RawNs,
    /// End.
    pub end: RawNs,
    /// The CPU that it is on.
    pub cpu: Option<u32>,
    /// The system call that it is in, on a CPU or off it.
    pub syscall: Option<Name>,
    /// The file descriptor that the call is about.
    pub fd: Option<i32>,
    /// The waker, of a wait for a CPU.
    pub waker: Option<ThreadRow>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_their_numbers() {
        for (number, state) in (0..).zip(State::ALL) {
            assert_eq!((state as u8, State::of(number)), (number, Some(state)));
        }
        assert_eq!(State::of(9), None);
    }
}
