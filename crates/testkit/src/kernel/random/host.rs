//! The threads of a random host, and who runs where.
//!
//! The host does one thing after the other, each on some CPU and later than the one before, or at the same time on the
//! same CPU: a reader that sorts its events by time finds the order in which they happened.

use std::collections::BTreeMap;

use super::calls::Call;
use super::interrupts::Level;
use crate::kernel::at::At;
use crate::kernel::script::KernelScript;
use crate::random::Random;

/// Mean time between two events, ns.
const MEAN_GAP_NS: u64 = 700;
/// When the trace begins, ns.
const BEGIN_NS: u64 = 1_000_000;
/// Numbers of the first threads of user space.
pub(super) const FIRST_TID: i32 = 100;
/// `prev_state` of a thread that waits for a disk.
const UNINTERRUPTIBLE: i64 = 2;
const PROGRAMS: [&str; 6] = ["sh", "nginx", "redis-server", "cut", "a-very-long-program", "python3"];

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskState {
    Runs,
    Ready,
    Waits,
    /// It has ended, but its number is not free yet.
    Dead,
}

/// A thread.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) tid: i32,
    pub(super) pid: i32,
    pub(super) is_kernel: bool,
    pub(super) life: TaskState,
    /// Where it runs, or ran last.
    pub(super) cpu: u32,
    /// The call that it is in.
    pub(super) call: Option<Call>,
    /// Number of its table of open files.
    pub(super) table: u32,
    /// It will end as soon as it runs.
    pub(super) doomed: bool,
}

/// Open files: whether an exec closes them.
pub(super) type Table = BTreeMap<i32, bool>;

/// Everything.
pub(super) struct RandomHost {
    script: KernelScript,
    pub(super) random: Random,
    now: u64,
    /// The CPU of the last event.
    last: Option<u32>,
    events: u64,
    pub(super) cpus: u32,
    pub(super) tasks: BTreeMap<i32, Task>,
    pub(super) tables: BTreeMap<u32, Table>,
    /// Which thread runs on each CPU; 0: none.
    pub(super) running: Vec<i32>,
    /// Interrupts and softirqs of each CPU, the outermost first.
    pub(super) stacks: Vec<Vec<Level>>,
    /// Softirqs that were asked for.
    pub(super) raised: Vec<Vec<u32>>,
    /// Requests that the disk has not done yet.
    pub(super) requests: Vec<(u32, u64, u32)>,
    /// Requests that the disk has not taken yet.
    pub(super) queued: Vec<(u32, u64, u32)>,
    pub(super) next_tid: i32,
    pub(super) free_tids: Vec<i32>,
    /// Most threads of user space.
    pub(super) most: usize,
}

impl RandomHost {
    pub(super) fn new(script: KernelScript, cpus: u32, threads: u32, random: Random) -> Self {
        let mut host = Self {
            script,
            random,
            now: BEGIN_NS,
            last: None,
            events: 0,
            cpus,
            tasks: BTreeMap::new(),
            tables: BTreeMap::new(),
            running: vec![0; cpus as usize],
            stacks: vec![Vec::new(); cpus as usize],
            raised: vec![Vec::new(); cpus as usize],
            requests: Vec::new(),
            queued: Vec::new(),
            next_tid: FIRST_TID,
            free_tids: Vec::new(),
            most: 2 * threads as usize + 1,
        };
        host.populate(threads);
        host
    }

    fn populate(&mut self, threads: u32) {
        for cpu in 0..self.cpus {
            let tid = 20 + cpu as i32;
            self.script.kernel_thread(tid, &format!("ksoftirqd/{cpu}"));
            self.tasks.insert(tid, Task { is_kernel: true, cpu, ..waiting(tid, tid, 0) });
        }
        let mut pid = 0;
        for n in 0..threads {
            let tid = self.next_tid;
            self.next_tid += 1;
            if n == 0 || self.random.permille(600) {
                pid = tid;
                let table = [(0, false), (1, false), (2, false)].into_iter().collect();
                self.tables.insert(tid as u32, table);
            }
            let program = PROGRAMS[self.random.below(PROGRAMS.len() as u64) as usize];
            self.script.thread(tid, pid, program);
            let inner = tid - FIRST_TID + 1;
            if pid % 5 == 0 {
                self.script.namespace(tid, inner, pid - FIRST_TID + 1, 4_026_532_000 + pid as u32);
            }
            let mut task =
                Task { cpu: self.random.below(self.cpus.into()) as u32, ..waiting(tid, pid, pid as u32) };
            let idle = self.running[task.cpu as usize] == 0;
            match self.random.below(3) {
                0 if idle => {
                    task.life = TaskState::Runs;
                    self.running[task.cpu as usize] = tid;
                    self.script.runs(task.cpu, tid);
                }
                0 => task.life = TaskState::Ready,
                _ => task.call = Some(Call::waiting(&mut self.random)),
            }
            self.tasks.insert(tid, task);
        }
    }

    /// A state dump, recorded on CPU 0.
    pub(super) fn dump(&mut self) {
        let mut at = self.script.at(self.now);
        at.dump();
        for (&pid, table) in &self.tables {
            for &fd in table.keys() {
                at.dump_file(pid as i32, fd, 0o2, &format!("/dev/pts/{fd}"));
            }
        }
        self.now += 1;
    }

    /// Lets the host do so many things.
    pub(super) fn run(mut self, events: u64) -> KernelScript {
        // Every step but a few makes an event.
        let mut steps = events.saturating_mul(50);
        while self.events < events && steps > 0 {
            // Stays where it is for a while now and then.
            let stays = self.random.permille(600);
            let cpu = self.last.filter(|_| stays).unwrap_or(self.random.below(self.cpus.into()) as u32);
            self.step(cpu);
            steps -= 1;
        }
        self.script
    }

    fn step(&mut self, cpu: u32) {
        if self.in_interrupt(cpu) {
            return self.interrupt_step(cpu);
        }
        let tid = self.running[cpu as usize];
        let Some(task) = self.tasks.get(&tid) else { return self.idle_step(cpu) };
        if task.doomed {
            self.end(cpu, tid);
        } else if task.is_kernel {
            match self.random.below(4) {
                0 => self.interrupt(cpu),
                1 => self.wake_any(cpu),
                2 => self.free_any(cpu),
                _ => self.wait(cpu),
            }
        } else if task.call.is_some() {
            self.call_step(cpu, tid);
        } else {
            self.user_step(cpu, tid);
        }
    }

    fn idle_step(&mut self, cpu: u32) {
        match self.random.below(10) {
            0 | 1 => self.interrupt(cpu),
            2 => self.free_any(cpu),
            _ if self.next(cpu).is_some() => self.leave(cpu, OffCpuReason::Waits),
            // One thread must wake another.
            _ => self.interrupt(cpu),
        }
    }

    fn user_step(&mut self, cpu: u32, tid: i32) {
        match self.random.below(20) {
            0 | 1 => self.interrupt(cpu),
            2 | 3 => self.leave(cpu, OffCpuReason::Preempted),
            4 => self.pages(cpu),
            5 => self.fault(cpu),
            _ => self.enter(cpu, tid),
        }
    }

    /// Speaks of an event of a CPU.
    pub(super) fn at(&mut self, cpu: u32) -> At<'_> {
        let same = self.last == Some(cpu) && self.random.permille(100);
        if !same {
            self.now += 1 + self.random.exponential(MEAN_GAP_NS).unsigned_abs();
        }
        self.last = Some(cpu);
        self.events += 1;
        let mut at = self.script.at(self.now);
        at.cpu(cpu);
        at
    }

    /// Any of these threads.
    pub(super) fn any(&mut self, wanted: impl Fn(&Task) -> bool) -> Option<i32> {
        let found: Vec<i32> = self.tasks.values().filter(|task| wanted(task)).map(|task| task.tid).collect();
        found.get(self.random.below(found.len() as u64) as usize).copied()
    }

    /// Who could run next on a CPU: one of its own, or of another's.
    fn next(&mut self, cpu: u32) -> Option<i32> {
        let own = self.any(|task| task.life == TaskState::Ready && task.cpu == cpu);
        own.or_else(|| self.any(|task| task.life == TaskState::Ready))
    }

    /// The running thread waits for something.
    pub(super) fn wait(&mut self, cpu: u32) {
        let disk = self.random.permille(200);
        self.leave(cpu, if disk { OffCpuReason::WaitsForDisk } else { OffCpuReason::Waits });
    }

    /// The CPU goes to another thread.
    pub(super) fn leave(&mut self, cpu: u32, why: OffCpuReason) {
        let prev = self.running[cpu as usize];
        let next = self.next(cpu);
        if why == OffCpuReason::Preempted && next.is_none() {
            return;
        }
        if let Some(next) = next
            && self.tasks.get(&next).is_some_and(|task| task.cpu != cpu)
        {
            self.at(cpu).migrate(next, cpu);
        }
        let to = next.unwrap_or(0);
        let mut at = self.at(cpu);
        match why {
            OffCpuReason::Preempted => at.preempt(prev, to),
            OffCpuReason::Waits => at.switch(prev, to),
            OffCpuReason::WaitsForDisk => at.switch_state(prev, UNINTERRUPTIBLE, to),
            OffCpuReason::Ended => at.switch_dead(prev, to),
        };
        if let Some(task) = self.tasks.get_mut(&prev) {
            task.life = match why {
                OffCpuReason::Preempted => TaskState::Ready,
                OffCpuReason::Waits | OffCpuReason::WaitsForDisk => TaskState::Waits,
                OffCpuReason::Ended => TaskState::Dead,
            };
        }
        if let Some(task) = self.tasks.get_mut(&to) {
            (task.life, task.cpu) = (TaskState::Runs, cpu);
        }
        self.running[cpu as usize] = to;
    }

    /// Wakes a thread that waits.
    pub(super) fn wake_any(&mut self, cpu: u32) {
        if let Some(tid) = self.any(|task| task.life == TaskState::Waits) {
            self.wake(cpu, tid);
        }
    }

    /// Wakes a thread that waits: it is decided here, and done here or where it will run.
    pub(super) fn wake(&mut self, cpu: u32, tid: i32) {
        let Some(old) = self.tasks.get(&tid).map(|task| task.cpu) else { return };
        let target = if self.random.permille(300) { self.random.below(self.cpus.into()) as u32 } else { old };
        if self.generation().has_waking() {
            self.at(cpu).wake(tid, old);
        }
        if target != old {
            self.at(cpu).migrate(tid, target);
        }
        let there = if self.random.permille(300) { target } else { cpu };
        self.at(there).wakeup(tid, target);
        if let Some(task) = self.tasks.get_mut(&tid) {
            (task.life, task.cpu) = (TaskState::Ready, target);
        }
    }

    /// A thread inherits a priority, or gives it back.
    pub(super) fn priority(&mut self, cpu: u32) {
        if let Some(tid) = self.any(|task| matches!(task.life, TaskState::Ready | TaskState::Waits)) {
            let priority = [20, 20, 19, 39, 0, -51][self.random.below(6) as usize];
            self.at(cpu).prio(tid, priority);
        }
    }

    /// Pages are got or given back.
    pub(super) fn pages(&mut self, cpu: u32) {
        let order = self.random.below(4) as u32;
        if self.random.permille(600) {
            self.at(cpu).page_alloc(order);
        } else {
            self.at(cpu).page_free(order);
        }
    }

    /// The program touches a page that is not there: it comes from nowhere, from a disk, or after a wait.
    fn fault(&mut self, cpu: u32) {
        let address = 0x7000_0000 + self.random.below(64) * 0x1000;
        let ip = 0x40_0000 + self.random.below(4);
        if !self.generation().has_page_faults() {
            return;
        }
        self.at(cpu).page_fault(address, ip);
        let kind = self.random.below(4);
        if kind == 0 {
            self.request(cpu);
        }
        if kind < 2 {
            self.leave(cpu, OffCpuReason::WaitsForDisk);
        }
    }

    pub(super) fn generation(&self) -> crate::kernel::Generation {
        self.script.generation()
    }
}

/// Why a thread leaves its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OffCpuReason {
    Preempted,
    Waits,
    WaitsForDisk,
    Ended,
}

fn waiting(tid: i32, pid: i32, table: u32) -> Task {
    Task { tid, pid, is_kernel: false, life: TaskState::Waits, cpu: 0, call: None, table, doomed: false }
}
