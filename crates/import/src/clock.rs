//! Clocks of recordings: what their times mean.

use linux_perf_data::linux_perf_event_reader::{ClockId, PerfClock};

use crate::error::ImportError;

/// The clock of a recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// What the kernel calls it.
    pub(crate) name: &'static str,
    /// Unix time of its zero, ns; `None`: unknown.
    pub(crate) offset: Option<i64>,
    /// How cycles become ns.
    cycles: Option<Cycles>,
    /// Whether the CPUs of a machine may differ, so that the order of their events is not known.
    pub(crate) is_of_cpu: bool,
}

/// Cycles as ns: times a number, over a power of two, and so many more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cycles {
    multiplier: u32,
    shift: u32,
    offset: u64,
}

impl Cycles {
    pub(crate) fn new(multiplier: u32, shift: u32, offset: u64) -> Option<Self> {
        (multiplier > 0 && shift < 64).then_some(Self { multiplier, shift, offset })
    }

    fn ns(self, cycles: u64) -> u64 {
        let ns = ((u128::from(cycles) * u128::from(self.multiplier)) >> self.shift) as u64;
        ns.wrapping_add(self.offset)
    }
}

impl Clock {
    /// A clock of ftrace. `date`: the Unix time of its zero, ns, if the recording says it.
    pub(crate) fn of_ftrace(
        name: &str,
        cycles: Option<Cycles>,
        date: Option<i64>,
    ) -> Result<Self, ImportError> {
        // `uptime` counts ticks of the kernel, `counter` events.
        const NS: [&str; 7] = ["local", "global", "perf", "mono", "mono_raw", "boot", "tai"];
        let unknown = || ImportError::Clock(if name.is_empty() { "?" } else { name }.to_owned());
        let is_of_cycles = name == "x86-tsc";
        let known = match is_of_cycles {
            true => cycles.map(|_| "x86-tsc"),
            false => NS.into_iter().find(|known| *known == name),
        };
        Ok(Self {
            name: known.ok_or_else(unknown)?,
            offset: date,
            cycles: cycles.filter(|_| is_of_cycles),
            is_of_cpu: matches!(name, "local" | "perf"),
        })
    }

    /// A clock of perf.
    pub(crate) fn of_perf(clock: PerfClock, offset: Option<i64>) -> Result<Self, ImportError> {
        let name = match clock {
            PerfClock::Default => "perf",
            PerfClock::ClockId(ClockId::Realtime) => "realtime",
            PerfClock::ClockId(ClockId::Monotonic) => "mono",
            PerfClock::ClockId(ClockId::MonotonicRaw) => "mono_raw",
            PerfClock::ClockId(ClockId::Boottime) => "boot",
            PerfClock::ClockId(other) => return Err(ImportError::Clock(format!("{other:?}"))),
        };
        // The real time has its zero where Unix time has it.
        let offset = if name == "realtime" { Some(0) } else { offset };
        Ok(Self { name, offset, cycles: None, is_of_cpu: name == "perf" })
    }

    /// A time in ns.
    pub(crate) fn ns(self, time: u64) -> u64 {
        self.cycles.map_or(time, |cycles| cycles.ns(time))
    }
}
