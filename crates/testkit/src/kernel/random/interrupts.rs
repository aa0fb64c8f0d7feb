//! Interrupts and softirqs of a random host.

use super::host::RandomHost;

/// Interrupts nest no deeper.
const DEEPEST: usize = 3;
const HANDLERS: [(i32, &str); 4] =
    [(9, "acpi"), (24, "virtio0-requests"), (25, "virtio1-input.0"), (26, "virtio1-output.0")];
/// Those of timers, received packets, disks, the scheduler and RCU.
const SOFTIRQS: [u32; 5] = [1, 3, 4, 7, 9];

/// What a CPU does instead of running its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// The number of the interrupt.
    Irq(i32),
    /// The softirq's vector.
    Softirq(u32),
}

impl RandomHost {
    pub(super) fn in_interrupt(&self, cpu: u32) -> bool {
        !self.stacks[cpu as usize].is_empty()
    }

    /// An interrupt comes: another one than those that are being handled.
    pub(super) fn interrupt(&mut self, cpu: u32) {
        let (irq, name) = HANDLERS[self.random.below(HANDLERS.len() as u64) as usize];
        let stack = &self.stacks[cpu as usize];
        if stack.len() < DEEPEST && !stack.contains(&Level::Irq(irq)) {
            self.stacks[cpu as usize].push(Level::Irq(irq));
            self.at(cpu).irq_entry(irq, name);
        }
    }

    pub(super) fn interrupt_step(&mut self, cpu: u32) {
        let Some(&level) = self.stacks[cpu as usize].last() else { return };
        match (self.random.below(12), level) {
            (0, _) => self.interrupt(cpu),
            (1 | 2, _) => self.wake_any(cpu),
            (3, _) => self.complete(cpu),
            (4 | 5, Level::Irq(_)) => self.raise(cpu),
            (4, Level::Softirq(_)) => self.free_any(cpu),
            (5, Level::Softirq(3)) => {
                let len = 60 + self.random.below(1440) as u32;
                self.at(cpu).net_receive("eth0", len);
            }
            _ => self.leave_interrupt(cpu, level),
        }
    }

    fn raise(&mut self, cpu: u32) {
        let vec = SOFTIRQS[self.random.below(SOFTIRQS.len() as u64) as usize];
        let raised = &mut self.raised[cpu as usize];
        if !raised.contains(&vec) {
            raised.push(vec);
            self.at(cpu).softirq_raise(vec);
        }
    }

    /// Softirqs come when the last interrupt is done.
    fn leave_interrupt(&mut self, cpu: u32, level: Level) {
        self.stacks[cpu as usize].pop();
        match level {
            Level::Irq(irq) => self.at(cpu).irq_exit(irq),
            Level::Softirq(vec) => self.at(cpu).softirq_exit(vec),
        };
        if !self.in_interrupt(cpu)
            && let Some(vec) = self.raised[cpu as usize].pop()
        {
            self.stacks[cpu as usize].push(Level::Softirq(vec));
            self.at(cpu).softirq_entry(vec);
        }
    }

    /// The disk has done a request.
    fn complete(&mut self, cpu: u32) {
        if !self.requests.is_empty() {
            let n = self.random.below(self.requests.len() as u64) as usize;
            let (dev, sector, nr) = self.requests.swap_remove(n);
            self.at(cpu).block_complete(dev, sector, nr);
        }
    }
}
