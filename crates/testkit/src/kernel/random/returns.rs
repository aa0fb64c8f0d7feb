//! What comes of the system calls of a random host: what happens within them, what they return, what is open afterwards.

use std::net::SocketAddrV4;

use super::calls::{Call, Done};
use super::host::{OffCpuReason, RandomHost, Table};
use crate::value::FieldValue;

/// Errors that calls return: EPERM, ENOENT, EINTR, EAGAIN, EFAULT, ERESTARTSYS.
const ERRORS: [i64; 6] = [1, 2, 4, 11, 14, 512];
const EBADF: i64 = -9;
const ENOENT: i64 = -2;
/// Internet addresses.
const AF_INET: u16 = 2;

/// What the exit of a call records.
type CpuItem = (i64, Vec<(&'static str, FieldValue)>);

impl RandomHost {
    /// The running thread goes on in its call.
    pub(super) fn call_step(&mut self, cpu: u32, tid: i32) {
        let Some(call) = self.tasks.get(&tid).and_then(|task| task.call.clone()) else { return };
        match (self.random.below(20), call.name) {
            (0 | 1, _) => self.interrupt(cpu),
            (2, _) => self.leave(cpu, OffCpuReason::Preempted),
            (3, "read" | "write") if self.generation().has_page_faults() => {
                self.at(cpu).page_fault_kernel(0x7000_0000, 0xffff_ffff_8100_0000);
            }
            (3, "futex") => self.priority(cpu),
            (3, _) => self.pages(cpu),
            (4 | 5, "futex" | "write") => self.wake_any(cpu),
            (4 | 5, "read" | "pread64" | "fsync" | "openat") => self.request(cpu),
            (6 | 13, "write" | "sendto" | "connect") => {
                let len = 60 + self.random.below(1440) as u32;
                // From a few ports of this host to a few of the other one.
                let from = SocketAddrV4::new([10, 0, 0, 1].into(), 4711 + self.random.below(4) as u16);
                let to = SocketAddrV4::new([10, 0, 0, 2].into(), 80 + self.random.below(2) as u16);
                self.at(cpu).net_queue_tcp("eth0", len, (from, to));
                self.at(cpu).net_send("eth0", len);
            }
            (7..=12, _) if call.waits => self.wait(cpu),
            _ => self.advance(cpu, tid, &call),
        }
    }

    /// The call does what it is for, or returns.
    fn advance(&mut self, cpu: u32, tid: i32, call: &Call) {
        match call.done {
            Done::Exit { group } => {
                if let Some(pid) = self.tasks.get(&tid).filter(|_| group).map(|task| task.pid) {
                    self.doom(cpu, pid);
                }
                return self.end(cpu, tid);
            }
            Done::Clone { is_thread, shares_files, child: None } => {
                let child = Some(self.fork(cpu, tid, is_thread, shares_files));
                let done = Done::Clone { is_thread, shares_files, child };
                return self.keep(tid, Some(Call { done, ..call.clone() }));
            }
            Done::Exec { program, is_done: false } => {
                let tid = self.exec(cpu, tid, program);
                return self
                    .keep(tid, Some(Call { done: Done::Exec { program, is_done: true }, ..call.clone() }));
            }
            _ => {}
        }
        let fails = call.may_be_interrupted() && call.may_fail() && self.random.permille(80);
        let (ret, fields) = if fails {
            (-ERRORS[self.random.below(ERRORS.len() as u64) as usize], Vec::new())
        } else {
            self.returned(tid, &call.done)
        };
        self.keep(tid, None);
        self.at(cpu).exit_with(call.name, ret, &fields);
    }

    /// Whether the file that a call uses is open, if it uses one.
    fn has_file(&self, tid: i32, done: &Done) -> bool {
        let (Done::Use { fd, .. } | Done::Ready { set: Some(fd), .. }) = done else { return true };
        let table = self.tasks.get(&tid).and_then(|task| self.tables.get(&task.table));
        table.is_some_and(|files| files.contains_key(fd))
    }

    fn keep(&mut self, tid: i32, call: Option<Call>) {
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.call = call;
        }
    }

    /// Does to the open files what a call does, and gives what it returns.
    fn returned(&mut self, tid: i32, done: &Done) -> CpuItem {
        let number = |ret: i64| (ret, Vec::new());
        if let Done::Number(most) | Done::Use { most, .. } = done {
            let ret = self.random.below(most + 1) as i64;
            return number(if self.has_file(tid, done) { ret } else { EBADF });
        }
        if let Done::Ready { set, fds } = done {
            if !self.has_file(tid, done) {
                return number(EBADF);
            }
            let ready = fds.iter().filter(|_| self.random.permille(500)).map(|&fd| match set {
                None => FieldValue::Array(vec![fd.into(), 1.into()]),
                Some(_) => {
                    FieldValue::Array(vec![FieldValue::Array(vec![(fd as u32).into(), fd.into()]), 1.into()])
                }
            });
            let ready: Vec<FieldValue> = ready.collect();
            return (ready.len() as i64, vec![("fds", FieldValue::Array(ready))]);
        }
        let table = self.tasks.get(&tid).map(|task| task.table);
        let Some(files) = table.and_then(|table| self.tables.get_mut(&table)) else { return number(ENOENT) };
        match *done {
            Done::Open { closes } => number(open(files, 0, closes).into()),
            Done::Accept { fd, .. } if !files.contains_key(&fd) => number(EBADF),
            Done::Accept { closes, .. } => {
                let fields =
                    vec![("upeer_addrlen", 16.into()), ("family", AF_INET.into()), ("sport", 4711.into())];
                (open(files, 0, closes).into(), fields)
            }
            Done::Close(fd) => number(files.remove(&fd).map_or(EBADF, |_| 0)),
            Done::DupTo { from, to, closes } => match files.get(&from) {
                Some(_) if from == to => number(to.into()),
                Some(_) => {
                    files.insert(to, closes);
                    number(to.into())
                }
                None => number(EBADF),
            },
            Done::Copy { of, from, closes } => match files.contains_key(&of) {
                true => number(open(files, from, closes).into()),
                false => number(EBADF),
            },
            Done::Mark { fd, closes } => match files.get_mut(&fd) {
                Some(mark) => {
                    *mark = closes;
                    number(0)
                }
                None => number(EBADF),
            },
            Done::Pair { field, closes } => {
                let pair = [open(files, 0, closes), open(files, 0, closes)];
                (0, vec![(field, pair.into())])
            }
            Done::Clone { child, .. } => number(child.unwrap_or_default().into()),
            Done::Is(ret) => number(ret.into()),
            Done::Number(_)
            | Done::Use { .. }
            | Done::Ready { .. }
            | Done::Exec { .. }
            | Done::Exit { .. } => number(0),
        }
    }
}

/// The lowest free file descriptor from one on is taken.
fn open(files: &mut Table, from: i32, closes: bool) -> i32 {
    let mut fd = from;
    while files.contains_key(&fd) {
        fd += 1;
    }
    files.insert(fd, closes);
    fd
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_is_taken() {
        let mut files: Table = [(0, false), (1, false), (3, true)].into_iter().collect();
        let taken = [0, 0, 2, 9].map(|from| open(&mut files, from, false));
        assert_eq!(taken, [2, 4, 5, 9]);
    }
}
