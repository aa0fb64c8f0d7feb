//! Which events of contexts a trace has: without them it is unknown what a thread did by itself.

use isochrone_ctf::Trace;

use super::machine::{is_hrtimer_entry, is_page_fault, vector_of};
use crate::span::Cause;

/// Families of events that a trace has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // One for each family.
pub(super) struct Records {
    irqs: bool,
    softirqs: bool,
    hrtimers: bool,
    /// Interrupts between CPUs.
    ipis: bool,
    /// Wake-ups on the CPU that decides them.
    waking: bool,
    switches: bool,
    page_faults: bool,
}

impl Records {
    /// The families of all streams of a trace. Linear in its event classes.
    pub(super) fn of(trace: &Trace) -> Self {
        let mut records = Self::default();
        let mut last = None;
        for stream in 0..trace.streams().len() {
            let plan = trace.stream_plan(stream);
            // Streams of one class are adjacent.
            if last.replace(std::ptr::from_ref(plan)) == Some(std::ptr::from_ref(plan)) {
                continue;
            }
            plan.events.iter().filter_map(|class| class.name.as_deref()).for_each(|name| records.add(name));
        }
        records
    }

    fn add(&mut self, name: &str) {
        match name {
            "irq_handler_entry" => self.irqs = true,
            "softirq_entry" | "irq_softirq_entry" => self.softirqs = true,
            "sched_waking" => self.waking = true,
            "sched_switch" => self.switches = true,
            _ if is_page_fault(name) => self.page_faults = true,
            _ if is_hrtimer_entry(name) => self.hrtimers = true,
            _ => self.ipis |= vector_of(name).is_some_and(|(vector, _)| vector == "reschedule"),
        }
    }

    /// The cause of a wake-up by an event of this name if no context is active on its CPU.
    pub(super) fn waker(self, event: &str) -> Cause {
        // If a wake-up is decided on one CPU and done on another, `sched_waking` is the event of the first.
        let is_here = self.ipis || (self.waking && event == "sched_waking");
        if self.has_interrupts() && self.hrtimers && is_here { Cause::Thread } else { Cause::Unknown }
    }

    /// Whether it has all that can run on a CPU: what happens there is then of one thread or interrupt for
    /// certain.
    pub(super) fn has_all_that_runs(self) -> bool {
        self.switches && self.has_interrupts()
    }

    /// Whether it has page faults.
    pub(super) fn has_page_faults(self) -> bool {
        self.page_faults
    }

    /// Whether it has all interrupts of devices and all softirqs.
    fn has_interrupts(self) -> bool {
        self.irqs && self.softirqs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_wake_only_if_all_else_would_be_seen() {
        let check = |names: &str, event, expect| {
            let mut records = Records::default();
            names.split(' ').for_each(|name| records.add(name));
            assert_eq!(records.waker(event), expect, "{names}: {event}");
        };
        let usual = "irq_handler_entry irq_softirq_entry timer_hrtimer_expire_entry sched_waking";
        check(usual, "sched_waking", Cause::Thread);
        check(usual, "sched_wakeup", Cause::Unknown);
        check(&format!("{usual} x86_irq_vectors_reschedule_entry"), "sched_wakeup", Cause::Thread);
        check("irq_handler_entry irq_softirq_entry sched_waking", "sched_waking", Cause::Unknown);
        check("irq_handler_entry softirq_entry hrtimer_expire_entry", "sched_wakeup", Cause::Unknown);
        check("sched_waking", "sched_waking", Cause::Unknown);
    }
}
