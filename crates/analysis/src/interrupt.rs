//! What interrupts a CPU, as the three analyses of interrupts name it.

use std::collections::BTreeSet;
use std::fmt;

use isochrone_kernel::{Irq, Name};
use serde::{Deserialize, Serialize};

use crate::options::Options;
use crate::table::Cell;

/// The softirqs of Linux by vector. The sixth was `BLOCK_IOPOLL_SOFTIRQ` up to Linux 4.4.
const SOFTIRQS: [&str; 10] = [
    "HI_SOFTIRQ",
    "TIMER_SOFTIRQ",
    "NET_TX_SOFTIRQ",
    "NET_RX_SOFTIRQ",
    "BLOCK_SOFTIRQ",
    "IRQ_POLL_SOFTIRQ",
    "TASKLET_SOFTIRQ",
    "SCHED_SOFTIRQ",
    "HRTIMER_SOFTIRQ",
    "RCU_SOFTIRQ",
];

/// An interrupt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum InterruptSource {
    /// One of the hardware. Several handlers may share a number.
    Hard {
        /// Its number.
        number: i32,
        /// Name of the handler; empty where it is not known.
        name: Name,
    },
    /// A softirq, by its vector.
    Soft(u32),
}

impl InterruptSource {
    /// The interrupt of a run.
    pub fn of(irq: &Irq) -> Self {
        Self::Hard { number: irq.number, name: irq.name.clone() }
    }

    /// The cells `type, number, name`.
    pub fn cells(&self) -> [Cell; 3] {
        match self {
            Self::Hard { number, name } => {
                [Cell::text("IRQ"), (*number).into(), (!name.is_empty()).then_some(name).into()]
            }
            Self::Soft(vector) => {
                let name = SOFTIRQS.get(*vector as usize).map(|name| Cell::text(name));
                [Cell::text("SoftIRQ"), (*vector).into(), name.unwrap_or(Cell::Null)]
            }
        }
    }
}

/// In a line: `IRQ 27 virtio`, `SoftIRQ 3 NET_RX_SOFTIRQ`.
impl fmt::Display for InterruptSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hard { number, name } if name.is_empty() => write!(f, "IRQ {number}"),
            Self::Hard { number, name } => write!(f, "IRQ {number} {name}"),
            Self::Soft(vector) => match SOFTIRQS.get(*vector as usize) {
                Some(name) => write!(f, "SoftIRQ {vector} {name}"),
                None => write!(f, "SoftIRQ {vector}"),
            },
        }
    }
}

/// Which interrupts are asked for; `None` in it: all of its sort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InterruptFilter {
    hard: Option<BTreeSet<i32>>,
    soft: Option<BTreeSet<u32>>,
}

/// A list as a set; a list that is not given is nothing where the `other` one is, else all.
fn set<T: Ord + Copy>(list: Option<&Vec<T>>, other: bool) -> Option<BTreeSet<T>> {
    match list {
        Some(list) if list.is_empty() => None,
        Some(list) => Some(list.iter().copied().collect()),
        None => other.then(BTreeSet::new),
    }
}

impl InterruptFilter {
    /// What the options say: a sort that is not named is left out if the other is.
    pub(crate) fn new(options: &Options) -> Self {
        let asked = &options.interrupts;
        Self {
            hard: set(asked.hard.as_ref(), asked.soft.is_some()),
            soft: set(asked.soft.as_ref(), asked.hard.is_some()),
        }
    }

    /// Whether a hardware interrupt is asked for.
    pub(crate) fn hard(&self, number: i32) -> bool {
        self.hard.as_ref().is_none_or(|numbers| numbers.contains(&number))
    }

    /// Whether a softirq is.
    pub(crate) fn soft(&self, vector: u32) -> bool {
        self.soft.as_ref().is_none_or(|vectors| vectors.contains(&vector))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Interrupts;

    #[test]
    fn selection() {
        let check = |hard: Option<&[i32]>, soft: Option<&[u32]>, expect: [bool; 4]| {
            let interrupts = Interrupts { hard: hard.map(<[_]>::to_vec), soft: soft.map(<[_]>::to_vec) };
            let selected = InterruptFilter::new(&Options { interrupts, ..Options::default() });
            let found = [selected.hard(1), selected.hard(2), selected.soft(1), selected.soft(2)];
            assert_eq!(found, expect, "{hard:?} {soft:?}");
        };
        check(None, None, [true; 4]);
        check(Some(&[1]), None, [true, false, false, false]);
        check(None, Some(&[2]), [false, false, false, true]);
        check(Some(&[]), Some(&[1]), [true, true, true, false]);
    }

    #[test]
    fn names() {
        assert_eq!(InterruptSource::Soft(9).cells()[2], Cell::text("RCU_SOFTIRQ"));
        assert_eq!(InterruptSource::Soft(10).cells()[2], Cell::Null);
        assert_eq!(InterruptSource::Soft(3).to_string(), "SoftIRQ 3 NET_RX_SOFTIRQ");
        assert_eq!(InterruptSource::Soft(10).to_string(), "SoftIRQ 10");
        assert_eq!(InterruptSource::Hard { number: 4, name: "tty".into() }.to_string(), "IRQ 4 tty");
        assert_eq!(InterruptSource::Hard { number: 4, name: Name::default() }.cells()[2], Cell::Null);
    }
}
