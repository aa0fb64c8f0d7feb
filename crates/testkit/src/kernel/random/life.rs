//! How threads of a random host begin, become others and end.

use super::calls::Call;
use super::host::{OffCpuReason, RandomHost, Task, TaskState};

/// Sectors of the disk.
const SECTORS: u64 = 1 << 30;

impl RandomHost {
    /// Threads of user space that have not ended.
    pub(super) fn alive(&self) -> usize {
        self.tasks.values().filter(|task| !task.is_kernel && task.life != TaskState::Dead).count()
    }

    /// A number for a new thread: one that was used before, if it is free.
    fn new_tid(&mut self) -> i32 {
        if !self.free_tids.is_empty() && self.random.permille(600) {
            let n = self.random.below(self.free_tids.len() as u64) as usize;
            return self.free_tids.swap_remove(n);
        }
        self.next_tid += 1;
        self.next_tid - 1
    }

    /// A thread makes another: of its own process, or of a new one that shares its files or has a copy. Gives its number.
    pub(super) fn fork(&mut self, cpu: u32, parent: i32, is_thread: bool, shares_files: bool) -> i32 {
        let Some(parent) = self.tasks.get(&parent).cloned() else { return 0 };
        let child = self.new_tid();
        let pid = if is_thread { parent.pid } else { child };
        let table = if is_thread || shares_files { parent.table } else { self.copied(parent.table) };
        let target = self.random.below(self.cpus.into()) as u32;
        self.at(cpu).fork(parent.tid, child, pid);
        self.at(cpu).wakeup_new(child, target);
        // It comes back from the call that its parent made.
        let call = Some(Call::cloned());
        let life = TaskState::Ready;
        self.tasks.insert(child, Task { tid: child, pid, life, cpu: target, call, table, ..parent });
        child
    }

    /// A table of its own with the same files.
    fn copied(&mut self, table: u32) -> u32 {
        let files = self.tables.get(&table).cloned().unwrap_or_default();
        let number = self.tables.keys().next_back().map_or(1, |last| last + 1);
        self.tables.insert(number, files);
        number
    }

    /// Whether a thread may call `execve` here: its siblings have all ended.
    pub(super) fn is_alone(&self, tid: i32) -> bool {
        let Some(task) = self.tasks.get(&tid) else { return false };
        let mut siblings = self.tasks.values().filter(|other| other.pid == task.pid && other.tid != tid);
        let leader = self.tasks.contains_key(&task.pid);
        leader && siblings.all(|other| other.life == TaskState::Dead)
    }

    /// The running thread becomes its process, with another program. Gives the number that it has now.
    pub(super) fn exec(&mut self, cpu: u32, tid: i32, program: &str) -> i32 {
        let Some(task) = self.tasks.get(&tid).cloned() else { return tid };
        let table = self.copied(task.table);
        if let Some(files) = self.tables.get_mut(&table) {
            files.retain(|_, closes| !*closes);
        }
        self.at(cpu).exec(program);
        self.drop_table(task.table, tid);
        let pid = task.pid;
        if pid != tid
            && let Some(leader) = self.tasks.remove(&pid)
        {
            // The two have changed their numbers.
            self.tasks.insert(tid, Task { tid, ..leader });
        }
        self.running[cpu as usize] = pid;
        self.tasks.insert(pid, Task { tid: pid, table, ..task });
        pid
    }

    /// The running thread ends.
    pub(super) fn end(&mut self, cpu: u32, tid: i32) {
        if let Some(call) = self.tasks.get_mut(&tid).and_then(|task| task.call.take())
            && call.may_be_interrupted()
            && self.random.permille(500)
        {
            // ERESTARTSYS: it was interrupted for good.
            self.at(cpu).exit(call.name, -512);
        }
        self.at(cpu).process_exit();
        if let Some(table) = self.tasks.get(&tid).map(|task| task.table) {
            self.drop_table(table, tid);
        }
        self.leave(cpu, OffCpuReason::Ended);
    }

    /// All threads of a process will end.
    pub(super) fn doom(&mut self, cpu: u32, pid: i32) {
        let others: Vec<i32> =
            self.tasks.values().filter(|task| task.pid == pid).map(|task| task.tid).collect();
        for tid in others {
            let Some(task) = self.tasks.get_mut(&tid).filter(|task| task.life != TaskState::Dead) else {
                continue;
            };
            task.doomed = true;
            if task.life == TaskState::Waits {
                self.wake(cpu, tid);
            }
        }
    }

    /// Files are closed with the last thread that has them.
    fn drop_table(&mut self, table: u32, tid: i32) {
        let mut others =
            self.tasks.values().filter(|other| other.tid != tid && other.life != TaskState::Dead);
        if !others.any(|other| other.table == table) {
            self.tables.remove(&table);
        }
    }

    /// The number of a thread that has ended becomes free: of a process when all its threads are gone.
    pub(super) fn free_any(&mut self, cpu: u32) {
        let has_threads: Vec<i32> =
            self.tasks.values().filter(|task| task.tid != task.pid).map(|task| task.pid).collect();
        let gone = self.any(|task| task.life == TaskState::Dead && !has_threads.contains(&task.tid));
        if let Some(tid) = gone {
            self.tasks.remove(&tid);
            self.free_tids.push(tid);
            self.at(cpu).process_free(tid);
        }
    }

    /// The running thread asks the disk for something.
    pub(super) fn request(&mut self, cpu: u32) {
        // Now and then a place that others ask for too.
        let sectors = if self.random.permille(300) { 3 } else { SECTORS };
        let request = (0x0fe0_0000, self.random.below(sectors) * 8, 8 << self.random.below(5));
        if self.random.permille(500) {
            self.queued.push(request);
            self.at(cpu).block_insert(request.0, request.1, request.2);
        } else {
            self.requests.push(request);
            self.at(cpu).block_issue(request.0, request.1, request.2);
        }
    }
}
