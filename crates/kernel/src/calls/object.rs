//! Objects of the kernel that are no files, and what calls do with them: `entry` makes them of arguments,
//! [`ObjectUse`](crate::ObjectUse) tells consumers of spans.

use serde::{Deserialize, Serialize};

/// What a call acts on that is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Object {
    /// It waits for a futex: the address of that in its process.
    Futex(u64),
    /// It sends a signal.
    Signal {
        /// The number of the signal.
        number: i32,
        /// The tid or pid that it names, in its own pid namespace; `None`: a group of processes, all of them,
        /// or the one of a descriptor.
        to: Option<i32>,
    },
    /// It waits for semaphores of System V, or releases them: their id.
    Semaphores(i32),
    /// It sends to a message queue of System V, or receives from it: its id.
    MessageQueue(i32),
    /// It attaches shared memory of System V: its id.
    SharedMemory(i32),
    /// It gets a signal: the number of that.
    Delivered(i32),
}

/// Operations of `futex` that wait: `FUTEX_WAIT`, `FUTEX_LOCK_PI`, `FUTEX_WAIT_BITSET`,
/// `FUTEX_WAIT_REQUEUE_PI`, `FUTEX_LOCK_PI2`.
const WAITS: [i64; 5] = [0, 6, 9, 11, 13];
/// `FUTEX_PRIVATE_FLAG` and `FUTEX_CLOCK_REALTIME`.
const FLAGS: i64 = 128 | 256;

impl Object {
    /// What it is as tables show it, by the first of [`Self::parts`].
    pub fn name_of(kind: u8) -> &'static str {
        ["futex", "signal", "semaphores", "message-queue", "shared-memory", "delivered-signal"]
            .get(usize::from(kind))
            .copied()
            .unwrap_or("unknown")
    }

    /// What tables keep of it: a number for what it is, its own number (the address of a futex, with the same
    /// bits), and who a signal is for.
    pub fn parts(self) -> (u8, i64, Option<i32>) {
        match self {
            Self::Futex(address) => (0, address as i64, None),
            Self::Signal { number, to } => (1, number.into(), to),
            Self::Semaphores(id) => (2, id.into(), None),
            Self::MessageQueue(id) => (3, id.into(), None),
            Self::SharedMemory(id) => (4, id.into(), None),
            Self::Delivered(number) => (5, number.into(), None),
        }
    }

    /// The inverse of [`Self::parts`]; `None` of numbers that it does not give.
    pub fn of_parts(kind: u8, number: i64, to: Option<i32>) -> Option<Self> {
        let id = i32::try_from(number).ok();
        match kind {
            0 => Some(Self::Futex(number as u64)),
            1 => Some(Self::Signal { number: id?, to }),
            2 => id.map(Self::Semaphores),
            3 => id.map(Self::MessageQueue),
            4 => id.map(Self::SharedMemory),
            5 => id.map(Self::Delivered),
            _ => None,
        }
    }

    /// The futex of a call; `None`: the call does not wait for it.
    pub(super) fn futex(address: i64, operation: i64) -> Option<Self> {
        let waits = WAITS.contains(&(operation & !FLAGS)) && address != 0;
        waits.then_some(Self::Futex(address as u64))
    }

    /// The signal of a call; `None`: it only asks whether it could send one.
    pub(super) fn signal(number: i64, to: Option<i64>) -> Option<Self> {
        let to = to.filter(|&to| to > 0).map(|to| to as i32);
        (number != 0).then_some(Self::Signal { number: number as i32, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_same() {
        let all = [
            Object::Futex(u64::MAX),
            Object::Signal { number: 15, to: Some(10) },
            Object::Signal { number: 9, to: None },
            Object::Semaphores(i32::MAX),
            Object::MessageQueue(0),
            Object::SharedMemory(-1),
            Object::Delivered(64),
        ];
        for object in all {
            let (kind, number, to) = object.parts();
            assert_eq!(Object::of_parts(kind, number, to), Some(object));
            assert_ne!(Object::name_of(kind), "unknown");
        }
        assert_eq!(Object::of_parts(6, 0, None), None);
        assert_eq!(Object::of_parts(2, i64::MAX, None), None);
    }

    #[test]
    fn only_waits_for_futexes_count() {
        let check =
            |operation, expect| assert_eq!(Object::futex(64, operation).is_some(), expect, "{operation}");
        // FUTEX_WAIT, private and not; FUTEX_WAIT_BITSET with both flags; FUTEX_LOCK_PI.
        for operation in [128, 0, 393, 134] {
            check(operation, true);
        }
        // FUTEX_WAKE, FUTEX_REQUEUE.
        for operation in [129, 1, 3] {
            check(operation, false);
        }
    }
}
