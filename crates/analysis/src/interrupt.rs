//! What interrupts a CPU, as the three analyses of interrupts name it.

use std::fmt;

use isochrone_kernel::{Irq, Name};
use serde::{Deserialize, Serialize};

use crate::options::{Interrupt, Options};
use crate::output::table::Cell;

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
                [Cell::text("SoftIRQ"), (*vector).into(), name.unwrap_or(Cell::Unknown)]
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

impl<N: PartialEq> Interrupt<N> {
    /// Whether it is the one of a number and a name.
    fn is(&self, number: &N, name: &str) -> bool {
        match self {
            Self::Number(asked) => asked == number,
            Self::Name(asked) => asked.matches(name),
        }
    }
}

/// Which interrupts are requested; `None` in it: all of its sort.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InterruptFilter {
    hard: Option<Vec<Interrupt<i32>>>,
    soft: Option<Vec<Interrupt<u32>>>,
}

/// A list that is not given is nothing where the `other` one is, else all.
fn list<T: Clone>(list: Option<&Vec<T>>, other: bool) -> Option<Vec<T>> {
    match list {
        Some(list) if list.is_empty() => None,
        Some(list) => Some(list.clone()),
        None => other.then(Vec::new),
    }
}

impl InterruptFilter {
    /// What the options say: a sort that is not named is left out if the other is.
    pub(crate) fn new(options: &Options) -> Self {
        let asked = &options.interrupts;
        Self {
            hard: list(asked.hard.as_ref(), asked.soft.is_some()),
            soft: list(asked.soft.as_ref(), asked.hard.is_some()),
        }
    }

    /// Whether a hardware interrupt is requested.
    pub(crate) fn hard(&self, irq: &Irq) -> bool {
        self.hard.as_ref().is_none_or(|asked| asked.iter().any(|one| one.is(&irq.number, &irq.name)))
    }

    /// Whether a softirq is. Its name counts as the kernel has it, and as people say it.
    pub(crate) fn soft(&self, vector: u32) -> bool {
        let Some(asked) = &self.soft else { return true };
        let name = SOFTIRQS.get(vector as usize).copied().unwrap_or_default();
        let short = name.trim_end_matches("_SOFTIRQ").to_ascii_lowercase();
        asked.iter().any(|one| one.is(&vector, name) || one.is(&vector, &short))
    }
}

#[cfg(test)]
mod tests {
    use wildmatch::WildMatch;

    use isochrone_time::RawNs;

    use super::*;
    use crate::options::Interrupts;

    #[test]
    fn selection() {
        let (begin, end) = (RawNs(0), RawNs(0));
        let irq = |number, name: &str| Irq { cpu: 0, number, name: name.into(), ret: 1, begin, end };
        let check = |hard: Option<&[&str]>, soft: Option<&[&str]>, expect: [bool; 4]| {
            fn asked<N: std::str::FromStr>(names: &[&str]) -> Vec<Interrupt<N>> {
                let of = |name: &&str| match name.parse() {
                    Ok(number) => Interrupt::Number(number),
                    Err(_) => Interrupt::Name(WildMatch::new(name)),
                };
                names.iter().map(of).collect()
            }
            let interrupts = Interrupts { hard: hard.map(asked), soft: soft.map(asked) };
            let selected = InterruptFilter::new(&Options { interrupts, ..Options::default() });
            let found = [
                selected.hard(&irq(1, "virtio0")),
                selected.hard(&irq(2, "tty")),
                selected.soft(1),
                selected.soft(3),
            ];
            assert_eq!(found, expect, "{hard:?} {soft:?}");
        };
        check(None, None, [true; 4]);
        check(Some(&["1"]), None, [true, false, false, false]);
        check(Some(&["virtio*", "2"]), None, [true, true, false, false]);
        check(None, Some(&["3"]), [false, false, false, true]);
        check(None, Some(&["net_rx"]), [false, false, false, true]);
        check(None, Some(&["TIMER_SOFTIRQ"]), [false, false, true, false]);
        check(Some(&[]), Some(&["1"]), [true, true, true, false]);
    }

    #[test]
    fn names() {
        assert_eq!(InterruptSource::Soft(9).cells()[2], Cell::text("RCU_SOFTIRQ"));
        assert_eq!(InterruptSource::Soft(10).cells()[2], Cell::Unknown);
        assert_eq!(InterruptSource::Soft(3).to_string(), "SoftIRQ 3 NET_RX_SOFTIRQ");
        assert_eq!(InterruptSource::Soft(10).to_string(), "SoftIRQ 10");
        assert_eq!(InterruptSource::Hard { number: 4, name: "tty".into() }.to_string(), "IRQ 4 tty");
        assert_eq!(InterruptSource::Hard { number: 4, name: Name::default() }.cells()[2], Cell::Unknown);
    }
}
