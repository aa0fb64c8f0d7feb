//! The threads of a scripted host by number, and which of them each CPU runs.
//!
//! [`super::script`] asks it for what events repeat: names, priorities, processes.

use std::collections::BTreeMap;

/// Priority of an ordinary thread, as the tracer counts.
const ORDINARY: i32 = 20;
/// Longest name of a thread in bytes.
const COMM: usize = 15;
/// Where the kernel's tables of file descriptors are said to lie: one by process.
const TABLES: u64 = 0xffff_8880_0000_0000;
/// The namespace of process numbers that all see.
pub(crate) const ROOT_NS: u32 = 4_026_531_836;

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimTask {
    pub(crate) tid: i32,
    pub(crate) pid: i32,
    /// Process that made its process.
    pub(crate) parent: i32,
    pub(crate) comm: String,
    pub(crate) priority: i32,
    pub(crate) is_kernel: bool,
    /// Address of its table of file descriptors.
    pub(crate) table: u64,
    /// The CPU that it runs on, or ran on last.
    pub(crate) cpu: u32,
    pub(crate) inner: Option<Inner>,
}

/// What a thread is called in a namespace of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inner {
    pub(crate) vtid: i32,
    pub(crate) vpid: i32,
    pub(crate) ns: u32,
}

impl SimTask {
    pub(crate) fn new(tid: i32, pid: i32, comm: &str) -> Self {
        Self {
            tid,
            pid,
            parent: 1,
            comm: shortened(comm),
            priority: ORDINARY,
            is_kernel: false,
            table: TABLES + 0x40 * u64::from(pid.unsigned_abs()),
            cpu: 0,
            inner: None,
        }
    }

    pub(crate) fn kernel(tid: i32, comm: &str) -> Self {
        Self { parent: 2, is_kernel: true, table: TABLES, ..Self::new(tid, tid, comm) }
    }

    /// Its number as the innermost namespace sees it.
    pub(crate) fn vtid(&self) -> i32 {
        self.inner.map_or(self.tid, |inner| inner.vtid)
    }

    pub(crate) fn namespace(&self) -> u32 {
        self.inner.map_or(ROOT_NS, |inner| inner.ns)
    }
}

/// All threads.
#[derive(Debug, Clone)]
pub(crate) struct TaskTable {
    threads: BTreeMap<i32, SimTask>,
    /// Numbers of the threads that the CPUs run.
    running: Vec<i32>,
}

impl Default for TaskTable {
    fn default() -> Self {
        Self { threads: BTreeMap::new(), running: vec![0] }
    }
}

impl TaskTable {
    pub(crate) fn cpus(&mut self, count: u32) {
        self.running.resize(count as usize, 0);
    }

    /// Introduces a thread, or a new one with the number of another.
    pub(crate) fn put(&mut self, thread: SimTask) {
        self.threads.insert(thread.tid, thread);
    }

    pub(crate) fn remove(&mut self, tid: i32) {
        self.threads.remove(&tid);
    }

    /// A thread that is to be changed, introduced if need be.
    pub(crate) fn change(&mut self, tid: i32) -> &mut SimTask {
        self.threads.entry(tid).or_insert_with(|| stranger(tid))
    }

    /// A thread as it is seen on a CPU: each has its own idle task.
    pub(crate) fn get(&self, cpu: u32, tid: i32) -> SimTask {
        match self.threads.get(&tid) {
            Some(thread) => thread.clone(),
            None if tid == 0 => SimTask { parent: 0, ..SimTask::kernel(0, &format!("swapper/{cpu}")) },
            None => stranger(tid),
        }
    }

    /// All threads in the order of their numbers, without idle tasks.
    pub(crate) fn all(&self) -> impl Iterator<Item = &SimTask> {
        self.threads.values().filter(|thread| thread.tid != 0)
    }

    /// Whether a CPU runs a thread.
    pub(crate) fn runs(&self, tid: i32) -> bool {
        self.running.contains(&tid)
    }

    /// The number of the thread that a CPU runs; CPUs that are not there run none.
    pub(crate) fn running(&self, cpu: u32) -> i32 {
        self.running.get(cpu as usize).copied().unwrap_or(0)
    }

    pub(crate) fn run(&mut self, cpu: u32, tid: i32) {
        if let Some(running) = self.running.get_mut(cpu as usize) {
            *running = tid;
        }
        if tid != 0 {
            self.change(tid).cpu = cpu;
        }
    }

    /// A thread gets the number of another one, which is no more: a thread that called `execve` becomes its process.
    pub(crate) fn renumber(&mut self, from: i32, to: i32) {
        let mut thread = self.threads.remove(&from).unwrap_or_else(|| stranger(from));
        thread.tid = to;
        self.put(thread);
        for running in &mut self.running {
            if *running == from {
                *running = to;
            }
        }
    }
}

/// A thread that the script has not introduced.
fn stranger(tid: i32) -> SimTask {
    SimTask::new(tid, tid, &format!("t{tid}"))
}

/// A name as the kernel keeps it.
pub(crate) fn shortened(comm: &str) -> String {
    let end = (0..=COMM.min(comm.len())).rev().find(|&end| comm.is_char_boundary(end));
    comm[..end.unwrap_or(0)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_the_kernel() {
        for (name, expect) in
            [("sh", "sh"), ("a-name-of-seventeen", "a-name-of-seven"), ("12345678901234é", "12345678901234")]
        {
            assert_eq!(shortened(name), expect);
        }
    }

    #[test]
    fn numbers_move_with_who_runs() {
        let mut who = TaskTable::default();
        who.put(SimTask::new(5, 4, "pool"));
        who.run(0, 5);
        who.renumber(5, 4);
        assert_eq!(
            (who.running(0), who.get(0, 4).comm, who.get(0, 5).comm),
            (4, "pool".to_owned(), "t5".to_owned())
        );
    }
}
