//! Interrupts and softirqs of a random host.

use super::host::RandomHost;
use crate::kernel::Generation;

/// Interrupts nest no deeper.
const DEEPEST: usize = 3;
const HANDLERS: [(i32, &str); 4] =
    [(9, "acpi"), (24, "virtio0-requests"), (25, "virtio1-input.0"), (26, "virtio1-output.0")];
/// Those of timers, received packets, disks, the scheduler and RCU.
const SOFTIRQS: [u32; 5] = [1, 3, 4, 7, 9];

/// Interrupts of the CPU's own controller.
const VECTORS: [(&str, i32); 3] = [("local_timer", 236), ("reschedule", 253), ("call_function_single", 251)];

/// What a CPU does instead of running its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// The number of the interrupt.
    Irq(i32),
    /// The softirq's vector.
    Softirq(u32),
    /// Name and vector of an interrupt of the CPU's own controller.
    Vector(&'static str, i32),
    /// A timer, and whether it is one of high resolution.
    Timer(bool),
}

impl RandomHost {
    pub(super) fn in_interrupt(&self, cpu: u32) -> bool {
        !self.stacks[cpu as usize].is_empty()
    }

    /// An interrupt comes: another one than those that are being handled.
    pub(super) fn interrupt(&mut self, cpu: u32) {
        if self.generation().has_vectors() && self.random.permille(300) {
            return self.vector(cpu);
        }
        let (irq, name) = HANDLERS[self.random.below(HANDLERS.len() as u64) as usize];
        let stack = &self.stacks[cpu as usize];
        if stack.len() < DEEPEST && !stack.contains(&Level::Irq(irq)) {
            self.stacks[cpu as usize].push(Level::Irq(irq));
            self.at(cpu).irq_entry(irq, name);
        }
    }

    fn vector(&mut self, cpu: u32) {
        let (name, vector) = VECTORS[self.random.below(VECTORS.len() as u64) as usize];
        let stack = &mut self.stacks[cpu as usize];
        if stack.len() < DEEPEST && !stack.iter().any(|level| matches!(level, Level::Vector(..))) {
            stack.push(Level::Vector(name, vector));
            self.at(cpu).vector_entry(name, vector);
        }
    }

    fn timer(&mut self, cpu: u32, is_high: bool) {
        let stack = &mut self.stacks[cpu as usize];
        if stack.contains(&Level::Timer(is_high)) {
            return;
        }
        stack.push(Level::Timer(is_high));
        if is_high {
            self.at(cpu).hrtimer_entry();
        } else {
            self.at(cpu).timer_entry();
        }
    }

    pub(super) fn interrupt_step(&mut self, cpu: u32) {
        let Some(&level) = self.stacks[cpu as usize].last() else { return };
        match (self.random.below(12), level) {
            (0, _) => self.interrupt(cpu),
            (1 | 2, _) => self.wake_any(cpu),
            (3, _) => self.complete(cpu),
            (4 | 5, Level::Vector("local_timer", _)) | (6, Level::Irq(_)) => self.timer(cpu, true),
            (4 | 6, Level::Softirq(1)) => self.timer(cpu, false),
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
            Level::Vector(name, vector) => self.at(cpu).vector_exit(name, vector),
            Level::Timer(true) => self.at(cpu).hrtimer_exit(),
            Level::Timer(false) => self.at(cpu).timer_exit(),
        };
        if !self.in_interrupt(cpu)
            && let Some(vec) = self.raised[cpu as usize].pop()
        {
            self.stacks[cpu as usize].push(Level::Softirq(vec));
            self.at(cpu).softirq_entry(vec);
        }
    }

    /// The disk has done a request, or a part of it; or it takes or gives back one.
    fn complete(&mut self, cpu: u32) {
        if !self.queued.is_empty() && self.random.permille(400) {
            let n = self.random.below(self.queued.len() as u64) as usize;
            let (dev, sector, nr) = self.queued.swap_remove(n);
            if self.generation() == Generation::V2_14 && self.random.permille(200) {
                self.at(cpu).block_merge(dev, sector, nr);
            } else {
                self.requests.push((dev, sector, nr));
                self.at(cpu).block_issue(dev, sector, nr);
            }
        } else if self.generation() != Generation::V2_8 && self.random.permille(50) {
            if let Some((dev, sector, nr)) = self.requests.pop() {
                self.queued.push((dev, sector, nr));
                self.at(cpu).block_requeue(dev, sector, nr);
            }
        } else if self.random.permille(100) {
            if let Some((dev, sector, nr)) = self.requests.pop() {
                self.requests.push((dev, sector + u64::from(nr / 2), nr - nr / 2));
                self.at(cpu).block_complete(dev, sector, nr / 2);
            }
        } else if !self.requests.is_empty() {
            let n = self.random.below(self.requests.len() as u64) as usize;
            let (dev, sector, nr) = self.requests.swap_remove(n);
            self.at(cpu).block_complete(dev, sector, nr);
        }
    }
}
