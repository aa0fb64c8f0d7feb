//! The words of a script: what happens at one time on one CPU.
//!
//! [`super::script`] keeps them; [`super::simulator`] makes events of them.

use std::net::SocketAddrV4;

use super::script::{KernelScript, What};
use crate::value::FieldValue;

/// What a word of a script means.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Switch { prev: i32, state: State, next: i32 },
    Wake { kind: Woken, tid: i32, target: u32 },
    Migrate { tid: i32, to: u32 },
    Priority { tid: i32, priority: i32 },
    Fork { parent: i32, child: i32, child_pid: i32 },
    Exec { filename: String },
    ProcessExit,
    ProcessFree { tid: i32 },
    Enter { call: String, fields: Fields },
    Exit { call: String, fields: Fields },
    Dump,
    DumpProcess { tid: i32 },
    DumpFile { pid: i32, fd: i32, flags: u32, filename: String },
    Softirq { what: &'static str, vec: u32 },
    Page { what: &'static str, order: u32 },
    BlockStart { what: &'static str, dev: u32, sector: u64, nr: u32 },
    BlockRequeue { dev: u32, sector: u64, nr: u32 },
    Timer { is_high: bool, what: &'static str },
    BlockComplete { dev: u32, sector: u64, nr: u32 },
    Net { way: Net, dev: String, len: u32, flow: Option<Flow> },
    Event { name: String, fields: Fields },
}

/// From where to where a TCP segment goes.
pub type Flow = (SocketAddrV4, SocketAddrV4);

/// Fields by name, kept.
pub(crate) type Fields = Vec<(String, FieldValue)>;

/// Why a thread leaves its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It waits; the idle task never does.
    Waits,
    Preempted,
    Dead,
    Number(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// `sched_waking`, or `sched_wakeup` where there is no such event.
    Waking,
    Ready,
    New,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Net {
    Queue,
    Send,
    Receive,
}

/// A time and a CPU of a [`KernelScript`]. What happens there is written call by call, each of them an event:
///
/// ```
/// # use isochrone_testkit::{Generation, KernelScript};
/// let mut script = KernelScript::new("h1", Generation::V2_1);
/// script.at(1_000).cpu(0).irq_entry(27, "virtio").after(50).softirq_raise(3).after(10).irq_exit(27);
/// ```
#[derive(Debug)]
pub struct At<'s> {
    script: &'s mut KernelScript,
    time: u64,
    cpu: u32,
}

impl<'s> At<'s> {
    pub(crate) fn new(script: &'s mut KernelScript, time: u64) -> Self {
        Self { script, time, cpu: 0 }
    }

    /// Goes to a CPU.
    pub fn cpu(&mut self, cpu: u32) -> &mut Self {
        self.cpu = cpu;
        self
    }

    /// Goes so many nanoseconds on.
    pub fn after(&mut self, ns: u64) -> &mut Self {
        let time = self.time.saturating_add(ns);
        *self.script.spoken() = time;
        self.time = time;
        self
    }

    /// The CPU goes from one thread to another, 0 being its idle task; the one that leaves waits for something
    /// (`prev_state` 1).
    pub fn switch(&mut self, prev: i32, next: i32) -> &mut Self {
        self.action(Action::Switch { prev, state: State::Waits, next })
    }

    /// As [`Self::switch`]; the one that leaves could go on.
    pub fn preempt(&mut self, prev: i32, next: i32) -> &mut Self {
        self.action(Action::Switch { prev, state: State::Preempted, next })
    }

    /// As [`Self::switch`]; the one that leaves has ended.
    pub fn switch_dead(&mut self, prev: i32, next: i32) -> &mut Self {
        self.action(Action::Switch { prev, state: State::Dead, next })
    }

    /// As [`Self::switch`], with this `prev_state`.
    pub fn switch_state(&mut self, prev: i32, state: i64, next: i32) -> &mut Self {
        self.action(Action::Switch { prev, state: State::Number(state), next })
    }

    /// It is decided that a thread may run again: `sched_waking`, or `sched_wakeup` of tracers that know no other.
    pub fn wake(&mut self, tid: i32, target_cpu: u32) -> &mut Self {
        self.action(Action::Wake { kind: Woken::Waking, tid, target: target_cpu })
    }

    /// A thread is ready to run again: `sched_wakeup`.
    pub fn wakeup(&mut self, tid: i32, target_cpu: u32) -> &mut Self {
        self.action(Action::Wake { kind: Woken::Ready, tid, target: target_cpu })
    }

    /// A thread is ready to run for the first time: `sched_wakeup_new`.
    pub fn wakeup_new(&mut self, tid: i32, target_cpu: u32) -> &mut Self {
        self.action(Action::Wake { kind: Woken::New, tid, target: target_cpu })
    }

    /// A thread that does not run goes to another CPU: `sched_migrate_task`.
    pub fn migrate(&mut self, tid: i32, to: u32) -> &mut Self {
        self.action(Action::Migrate { tid, to })
    }

    /// A thread gets another priority for a while: `sched_pi_setprio`.
    pub fn prio(&mut self, tid: i32, priority: i32) -> &mut Self {
        self.action(Action::Priority { tid, priority })
    }

    /// A thread makes a new one, which has the parent's name, and with the parent's process its files.
    pub fn fork(&mut self, parent: i32, child: i32, child_pid: i32) -> &mut Self {
        self.action(Action::Fork { parent, child, child_pid })
    }

    /// The running thread gets another program, whose name it takes, and the number of its process if it had not.
    pub fn exec(&mut self, filename: &str) -> &mut Self {
        self.action(Action::Exec { filename: filename.to_owned() })
    }

    /// The running thread ends: `sched_process_exit`. It leaves the CPU by [`Self::switch_dead`].
    pub fn process_exit(&mut self) -> &mut Self {
        self.action(Action::ProcessExit)
    }

    /// Nothing is left of a thread, and its number is free: `sched_process_free`.
    pub fn process_free(&mut self, tid: i32) -> &mut Self {
        self.action(Action::ProcessFree { tid })
    }

    /// The running thread enters a system call. Calls that the tracer has no class for become `unknown`; fields that only
    /// other generations have are left out. Calls of 32-bit programs have the prefix `compat_`.
    pub fn enter(&mut self, call: &str, fields: &[(&str, FieldValue)]) -> &mut Self {
        self.action(Action::Enter { call: call.to_owned(), fields: kept(fields) })
    }

    /// The running thread leaves a system call.
    pub fn exit(&mut self, call: &str, ret: i64) -> &mut Self {
        self.exit_with(call, ret, &[])
    }

    /// As [`Self::exit`], with what else the exit records; what only other generations record is left out.
    pub fn exit_with(&mut self, call: &str, ret: i64, fields: &[(&str, FieldValue)]) -> &mut Self {
        let fields = [("ret", ret.into())].iter().chain(fields).cloned().collect::<Vec<_>>();
        self.action(Action::Exit { call: call.to_owned(), fields: kept(&fields) })
    }

    /// A state dump: its begin, all threads that are there now, its end.
    pub fn dump(&mut self) -> &mut Self {
        self.action(Action::Dump)
    }

    /// A state dump records one thread, and from 2.13 on of its numbers in each namespace.
    pub fn dump_process(&mut self, tid: i32) -> &mut Self {
        self.action(Action::DumpProcess { tid })
    }

    /// A state dump records an open file of a process.
    pub fn dump_file(&mut self, pid: i32, fd: i32, flags: u32, filename: &str) -> &mut Self {
        self.action(Action::DumpFile { pid, fd, flags, filename: filename.to_owned() })
    }

    /// An interrupt handler begins.
    pub fn irq_entry(&mut self, irq: i32, name: &str) -> &mut Self {
        self.event("irq_handler_entry", &[("irq", irq.into()), ("name", name.into())])
    }

    /// An interrupt handler ends; the interrupt was for it (`ret` 1).
    pub fn irq_exit(&mut self, irq: i32) -> &mut Self {
        self.event("irq_handler_exit", &[("irq", irq.into()), ("ret", 1.into())])
    }

    /// A softirq is asked for.
    pub fn softirq_raise(&mut self, vec: u32) -> &mut Self {
        self.action(Action::Softirq { what: "raise", vec })
    }

    /// A softirq begins.
    pub fn softirq_entry(&mut self, vec: u32) -> &mut Self {
        self.action(Action::Softirq { what: "entry", vec })
    }

    /// A softirq ends.
    pub fn softirq_exit(&mut self, vec: u32) -> &mut Self {
        self.action(Action::Softirq { what: "exit", vec })
    }

    /// A read request goes to a disk: sectors of 512 bytes.
    pub fn block_issue(&mut self, dev: u32, sector: u64, nr: u32) -> &mut Self {
        self.action(Action::BlockStart { what: "issue", dev, sector, nr })
    }

    /// A read request is put into the queue of a disk.
    pub fn block_insert(&mut self, dev: u32, sector: u64, nr: u32) -> &mut Self {
        self.action(Action::BlockStart { what: "insert", dev, sector, nr })
    }

    /// A request that is queued becomes a part of another one: only 2.14 says so.
    pub fn block_merge(&mut self, dev: u32, sector: u64, nr: u32) -> &mut Self {
        self.action(Action::BlockStart { what: "merge", dev, sector, nr })
    }

    /// A disk's driver gives a request back.
    pub fn block_requeue(&mut self, dev: u32, sector: u64, nr: u32) -> &mut Self {
        self.action(Action::BlockRequeue { dev, sector, nr })
    }

    /// A high-resolution timer begins to run.
    pub fn hrtimer_entry(&mut self) -> &mut Self {
        self.action(Action::Timer { is_high: true, what: "entry" })
    }

    /// It ends.
    pub fn hrtimer_exit(&mut self) -> &mut Self {
        self.action(Action::Timer { is_high: true, what: "exit" })
    }

    /// A timer of the timer wheel begins to run.
    pub fn timer_entry(&mut self) -> &mut Self {
        self.action(Action::Timer { is_high: false, what: "entry" })
    }

    /// It ends.
    pub fn timer_exit(&mut self) -> &mut Self {
        self.action(Action::Timer { is_high: false, what: "exit" })
    }

    /// An interrupt of the CPU's own controller begins (`reschedule`), from 2.8 on.
    pub fn vector_entry(&mut self, name: &str, vector: i32) -> &mut Self {
        self.event(&format!("x86_irq_vectors_{name}_entry"), &[("vector", vector.into())])
    }

    /// It ends.
    pub fn vector_exit(&mut self, name: &str, vector: i32) -> &mut Self {
        self.event(&format!("x86_irq_vectors_{name}_exit"), &[("vector", vector.into())])
    }

    /// A disk has done a request.
    pub fn block_complete(&mut self, dev: u32, sector: u64, nr: u32) -> &mut Self {
        self.action(Action::BlockComplete { dev, sector, nr })
    }

    /// The running thread gets 2^`order` pages.
    pub fn page_alloc(&mut self, order: u32) -> &mut Self {
        self.action(Action::Page { what: "alloc", order })
    }

    /// The running thread gives back 2^`order` pages.
    pub fn page_free(&mut self, order: u32) -> &mut Self {
        self.action(Action::Page { what: "free", order })
    }

    /// The running thread's program touches an address that has no page, from 2.8 on.
    pub fn page_fault(&mut self, address: u64, ip: u64) -> &mut Self {
        self.event("x86_exceptions_page_fault_user", &[("address", address.into()), ("ip", ip.into())])
    }

    /// The kernel does so for the running thread, from 2.8 on.
    pub fn page_fault_kernel(&mut self, address: u64, ip: u64) -> &mut Self {
        self.event("x86_exceptions_page_fault_kernel", &[("address", address.into()), ("ip", ip.into())])
    }

    /// A packet is handed to a network device: `net_dev_queue`, without headers.
    pub fn net_queue(&mut self, dev: &str, len: u32) -> &mut Self {
        self.action(Action::Net { way: Net::Queue, dev: dev.to_owned(), len, flow: None })
    }

    /// As [`Self::net_queue`], of a TCP segment with its addresses, which 2.13 and younger tell.
    pub fn net_queue_tcp(&mut self, dev: &str, len: u32, flow: Flow) -> &mut Self {
        self.action(Action::Net { way: Net::Queue, dev: dev.to_owned(), len, flow: Some(flow) })
    }

    /// A network device has sent a packet: `net_dev_xmit`.
    pub fn net_send(&mut self, dev: &str, len: u32) -> &mut Self {
        self.action(Action::Net { way: Net::Send, dev: dev.to_owned(), len, flow: None })
    }

    /// A packet came from a network device: `netif_receive_skb`, or `net_if_receive_skb` without headers.
    pub fn net_receive(&mut self, dev: &str, len: u32) -> &mut Self {
        self.action(Action::Net { way: Net::Receive, dev: dev.to_owned(), len, flow: None })
    }

    /// Any event of the generation. Fields that are not named are zero or empty.
    pub fn event(&mut self, name: &str, fields: &[(&str, FieldValue)]) -> &mut Self {
        self.action(Action::Event { name: name.to_owned(), fields: kept(fields) })
    }

    fn action(&mut self, action: Action) -> &mut Self {
        self.script.item(self.time, self.cpu, What::Action(action));
        self
    }
}

fn kept(fields: &[(&str, FieldValue)]) -> Fields {
    fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}
