//! Owners of system calls in flight.

use serde::{Deserialize, Serialize};

use crate::id::{PIECE_BEGIN, ThreadAliases, ThreadId};

/// The owner of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum CallOwner {
    /// A CPU: the call of the thread that runs there.
    Cpu(u32),
    /// A thread that is off the CPUs.
    OffCpu(ThreadId),
    /// A thread whose events carry its id.
    Named(ThreadId),
}

impl CallOwner {
    /// The owner of the calls of the thread that an event on a CPU comes from. `tid`: that of the event's
    /// context.
    pub(crate) fn of(thread: ThreadId, tid: Option<i32>, cpu: u32) -> Self {
        match tid {
            Some(tid) if tid != 0 => Self::Named(thread),
            _ => Self::Cpu(cpu),
        }
    }

    /// Whether it began in the piece, so that it had no call before.
    pub(crate) fn is_born(self) -> bool {
        match self {
            Self::Cpu(_) => false,
            Self::OffCpu(thread) | Self::Named(thread) => {
                matches!(thread, ThreadId::Thread { born, .. } if born != PIECE_BEGIN)
            }
        }
    }

    pub(crate) fn renamed(self, aliases: &ThreadAliases) -> Self {
        match self {
            Self::Cpu(_) => self,
            Self::OffCpu(thread) => Self::OffCpu(aliases.of(thread)),
            Self::Named(thread) => Self::Named(aliases.of(thread)),
        }
    }
}
