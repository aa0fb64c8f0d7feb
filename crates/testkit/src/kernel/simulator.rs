//! Plays a script in the order of time: what each action changes on the host, and the event that records it.
//!
//! [`super::tasks`] remembers the threads; system calls are spelled by [`super::call_event`].

use std::net::SocketAddrV4;

use super::at::{Action, Fields, Net, State, Woken};
use super::call_event;
use super::generation::Generation;
use super::tasks::{ROOT_NS, SimTask, TaskTable, shortened};
use crate::assign::Given;
use crate::value::FieldValue;

/// Addresses of what events speak of.
const PAGE: u64 = 0xffff_ea00_0000_0000;
const FIRST_PFN: u64 = 0x1_0000;
const PACKET: u64 = 0xffff_9000_0000_0000;
const TIMER: u64 = 0xffff_a000_0000_0000;
/// Number of the protocol.
const TCP: u8 = 6;
/// A request reads.
const RWBS_READ: u32 = 4;
/// What dumps record of threads: an unknown mode and submode; whether they run or wait.
const MODE_UNKNOWN: u32 = 5;
const SUBMODE_UNKNOWN: u32 = 1;
const STATUS_WAITS: u32 = 5;
const STATUS_RUNS: u32 = 6;

/// Class and fields of an event.
pub(crate) type EmittedEvent<'s> = (String, Vec<Given<'s>>);

/// The simulated host while the script is played.
pub(crate) struct Simulator {
    generation: Generation,
    contexts: bool,
    who: TaskTable,
}

impl Simulator {
    pub(crate) fn new(generation: Generation, contexts: bool, who: TaskTable) -> Self {
        Self { generation, contexts, who }
    }

    /// Does what an action says and gives the events that record it: one, but for dumps.
    pub(crate) fn play<'s>(&mut self, cpu: u32, action: &'s Action) -> Vec<EmittedEvent<'s>> {
        // Who runs when the event is written: an exec records the new program, a switch the thread that leaves.
        let before = self.who.get(cpu, self.who.running(cpu));
        let mut events = self.events(cpu, action, &before);
        if self.contexts {
            let running = match action {
                Action::Exec { .. } => self.who.get(cpu, self.who.running(cpu)),
                Action::Switch { prev, .. } => self.who.get(cpu, *prev),
                _ => before,
            };
            for (_, fields) in &mut events {
                fields.push(("context.tid", running.tid.into()));
                fields.push(("context.pid", running.pid.into()));
                fields.push(("context.procname", running.comm.clone().into()));
            }
        }
        events
    }

    fn events<'s>(&mut self, cpu: u32, action: &'s Action, running: &SimTask) -> Vec<EmittedEvent<'s>> {
        let generation = self.generation;
        let event = match action {
            Action::Switch { prev, state, next } => self.switch(cpu, *prev, *state, *next),
            Action::Wake { kind, tid, target } => self.wake(cpu, *kind, *tid, *target),
            Action::Migrate { tid, to } => self.migrate(cpu, *tid, *to),
            Action::Priority { tid, priority } => self.priority(cpu, *tid, *priority),
            Action::Fork { parent, child, child_pid } => self.fork(cpu, *parent, *child, *child_pid),
            Action::Exec { filename } => self.exec(filename, running),
            Action::ProcessExit => ("sched_process_exit".to_owned(), party(running)),
            Action::ProcessFree { tid } => {
                let thread = self.who.get(cpu, *tid);
                self.who.remove(*tid);
                ("sched_process_free".to_owned(), party(&thread))
            }
            Action::Enter { call, fields } => call_event::entry(generation, call, fields),
            Action::Exit { call, fields } => call_event::exit(generation, call, fields),
            Action::Dump => return self.dump(),
            Action::DumpProcess { tid } => return self.dump_process(&self.who.get(cpu, *tid)),
            Action::DumpFile { pid, fd, flags, filename } => self.dump_file(*pid, *fd, *flags, filename),
            Action::Softirq { what, vec } => (generation.softirq_class(what), vec![("vec", (*vec).into())]),
            Action::Page { what, order } => {
                let mut fields = vec![("page", PAGE.into()), ("order", (*order).into())];
                if generation >= Generation::V2_8 {
                    fields.push(("pfn", FIRST_PFN.into()));
                }
                (generation.page_class(what), fields)
            }
            Action::Timer { is_high, what } => {
                let timer = if *is_high { "hrtimer" } else { "timer" };
                (generation.timer_class(*is_high, what), vec![(timer, TIMER.into())])
            }
            Action::BlockStart { what, dev, sector, nr } => {
                let mut fields = request(*dev, *sector, *nr);
                fields.push(("bytes", nr.saturating_mul(512).into()));
                fields.push(("comm", running.comm.clone().into()));
                if generation >= Generation::V2_5 {
                    fields.push(("tid", running.tid.into()));
                }
                (format!("block_rq_{what}"), fields)
            }
            Action::BlockRequeue { dev, sector, nr } => {
                ("block_rq_requeue".to_owned(), request(*dev, *sector, *nr))
            }
            Action::BlockComplete { dev, sector, nr } => {
                ("block_rq_complete".to_owned(), request(*dev, *sector, *nr))
            }
            Action::Net { way, dev, len, flow } => {
                let name = match way {
                    Net::Queue => "net_dev_queue",
                    Net::Send => "net_dev_xmit",
                    Net::Receive if generation <= Generation::V2_8 => "netif_receive_skb",
                    Net::Receive => "net_if_receive_skb",
                };
                let mut fields =
                    vec![("skbaddr", PACKET.into()), ("len", (*len).into()), ("name", dev.as_str().into())];
                if let Some((from, to)) = flow.filter(|_| generation.has_headers()) {
                    fields.extend(headers(from, to));
                }
                (name.to_owned(), fields)
            }
            Action::Event { name, fields } => (name.clone(), given(fields)),
        };
        vec![event]
    }

    fn switch<'s>(&mut self, cpu: u32, prev: i32, state: State, next: i32) -> EmittedEvent<'s> {
        self.who.run(cpu, next);
        let state = match state {
            State::Waits => i64::from(prev != 0),
            // The idle task is always ready.
            State::Preempted if prev == 0 => 0,
            State::Preempted => self.generation.preempted(),
            State::Dead => self.generation.dead(),
            State::Number(state) => state,
        };
        let [prev, next] = [prev, next].map(|tid| self.who.get(cpu, tid));
        let fields = vec![
            ("prev_comm", prev.comm.into()),
            ("prev_tid", prev.tid.into()),
            ("prev_prio", prev.priority.into()),
            ("prev_state", state.into()),
            ("next_comm", next.comm.into()),
            ("next_tid", next.tid.into()),
            ("next_prio", next.priority.into()),
        ];
        ("sched_switch".to_owned(), fields)
    }

    fn wake<'s>(&mut self, cpu: u32, kind: Woken, tid: i32, target: u32) -> EmittedEvent<'s> {
        let thread = self.who.get(cpu, tid);
        let name = match kind {
            Woken::Waking if self.generation.has_waking() => "sched_waking",
            Woken::Waking | Woken::Ready => "sched_wakeup",
            Woken::New => "sched_wakeup_new",
        };
        let mut fields = vec![
            ("comm", thread.comm.into()),
            ("tid", tid.into()),
            ("prio", self.generation.wakeup_priority(thread.priority).into()),
            ("target_cpu", target.into()),
        ];
        if !self.generation.has_waking() {
            fields.push(("success", 1.into()));
        }
        (name.to_owned(), fields)
    }

    fn migrate<'s>(&mut self, cpu: u32, tid: i32, to: u32) -> EmittedEvent<'s> {
        let thread = self.who.get(cpu, tid);
        self.who.change(tid).cpu = to;
        let mut fields = party(&thread);
        fields.push(("orig_cpu", thread.cpu.into()));
        fields.push(("dest_cpu", to.into()));
        ("sched_migrate_task".to_owned(), fields)
    }

    fn priority<'s>(&mut self, cpu: u32, tid: i32, priority: i32) -> EmittedEvent<'s> {
        let thread = self.who.get(cpu, tid);
        self.who.change(tid).priority = priority;
        let fields = vec![
            ("comm", thread.comm.into()),
            ("tid", tid.into()),
            ("oldprio", thread.priority.into()),
            ("newprio", priority.into()),
        ];
        ("sched_pi_setprio".to_owned(), fields)
    }

    fn fork<'s>(&mut self, cpu: u32, parent: i32, child: i32, child_pid: i32) -> EmittedEvent<'s> {
        let parent = self.who.get(cpu, parent);
        let mut new = SimTask::new(child, child_pid, &parent.comm);
        new.priority = parent.priority;
        new.is_kernel = parent.is_kernel;
        new.cpu = cpu;
        if child_pid == parent.pid {
            (new.parent, new.table) = (parent.parent, parent.table);
        } else {
            new.parent = parent.pid;
        }
        // In a namespace numbers count from elsewhere.
        new.inner = parent.inner.map(|mut inner| {
            let shift = parent.tid - inner.vtid;
            inner.vpid = if child_pid == parent.pid { inner.vpid } else { child_pid - shift };
            inner.vtid = child - shift;
            inner
        });
        let mut fields = vec![
            ("parent_comm", parent.comm.clone().into()),
            ("parent_tid", parent.tid.into()),
            ("child_comm", new.comm.clone().into()),
            ("child_tid", child.into()),
        ];
        if self.generation >= Generation::V2_5 {
            fields.push(("parent_pid", parent.pid.into()));
            fields.push(("child_pid", child_pid.into()));
        }
        if self.generation >= Generation::V2_8 {
            fields.push(("parent_ns_inum", parent.namespace().into()));
            fields.push(("child_ns_inum", new.namespace().into()));
            let numbers: Vec<i32> = [child].into_iter().chain(new.inner.map(|inner| inner.vtid)).collect();
            fields.push(("vtids", numbers.into()));
        }
        self.who.put(new);
        ("sched_process_fork".to_owned(), fields)
    }

    fn exec<'s>(&mut self, filename: &'s str, running: &SimTask) -> EmittedEvent<'s> {
        let (tid, old) = (running.pid, running.tid);
        if tid != old {
            self.who.renumber(old, tid);
        }
        let thread = self.who.change(tid);
        thread.comm = shortened(filename.rsplit('/').next().unwrap_or_default());
        if let Some(inner) = &mut thread.inner {
            inner.vtid = inner.vpid;
        }
        let [new, before] =
            if self.generation == Generation::V2_1 { ["pid", "old_pid"] } else { ["tid", "old_tid"] };
        let fields = vec![("filename", filename.into()), (new, tid.into()), (before, old.into())];
        ("sched_process_exec".to_owned(), fields)
    }

    fn dump<'s>(&self) -> Vec<EmittedEvent<'s>> {
        let mark = |what: &str| (format!("lttng_statedump_{what}"), Vec::new());
        let threads = self.who.all().flat_map(|thread| self.dump_process(thread));
        [mark("start")].into_iter().chain(threads).chain([mark("end")]).collect()
    }

    fn dump_process<'s>(&self, thread: &SimTask) -> Vec<EmittedEvent<'s>> {
        let status = if self.who.runs(thread.tid) { STATUS_RUNS } else { STATUS_WAITS };
        let mut state = vec![
            ("tid", thread.tid.into()),
            ("pid", thread.pid.into()),
            ("ppid", thread.parent.into()),
            ("name", thread.comm.clone().into()),
            ("type", u32::from(thread.is_kernel).into()),
            ("mode", MODE_UNKNOWN.into()),
            ("submode", SUBMODE_UNKNOWN.into()),
            ("status", status.into()),
        ];
        let vpid = thread.inner.map_or(thread.pid, |inner| inner.vpid);
        let vppid = if thread.inner.is_some() { 0 } else { thread.parent };
        let level = u32::from(thread.inner.is_some());
        let inner: [Given<'s>; 3] =
            [("vtid", thread.vtid().into()), ("vpid", vpid.into()), ("vppid", vppid.into())];
        if self.generation < Generation::V2_13 {
            state.extend(inner);
            state.push(("ns_level", level.into()));
            if self.generation >= Generation::V2_8 {
                state.push(("ns_inum", thread.namespace().into()));
            }
            return vec![("lttng_statedump_process_state".to_owned(), state)];
        }
        state.push(("cpu", thread.cpu.into()));
        state.push(("file_table_address", thread.table.into()));
        let name = || "lttng_statedump_process_pid_ns".to_owned();
        let namespace = |inner: [Given<'s>; 3], level: u32, ns: u32| -> EmittedEvent<'s> {
            let rest = [("tid", thread.tid.into()), ("ns_level", level.into()), ("ns_inum", ns.into())];
            (name(), inner.into_iter().chain(rest).collect())
        };
        let root =
            [("vtid", thread.tid.into()), ("vpid", thread.pid.into()), ("vppid", thread.parent.into())];
        let mut events = vec![("lttng_statedump_process_state".to_owned(), state)];
        if level > 0 {
            events.push(namespace(inner, level, thread.namespace()));
        }
        events.push(namespace(root, 0, ROOT_NS));
        events
    }

    fn dump_file<'s>(&self, pid: i32, fd: i32, flags: u32, filename: &'s str) -> EmittedEvent<'s> {
        let owner = match self.generation {
            Generation::V2_13 | Generation::V2_14 => {
                ("file_table_address", self.who.get(0, pid).table.into())
            }
            _ => ("pid", pid.into()),
        };
        let mut fields = vec![owner, ("fd", fd.into()), ("filename", filename.into())];
        if self.generation >= Generation::V2_5 {
            // FMODE_READ, FMODE_WRITE: access modes moved by one.
            fields.push(("flags", flags.into()));
            fields.push(("fmode", (flags.wrapping_add(1) & 3).into()));
        }
        ("lttng_statedump_file_descriptor".to_owned(), fields)
    }
}

/// The headers of a TCP segment, as far as they tell from where to where it goes.
fn headers<'s>(from: SocketAddrV4, to: SocketAddrV4) -> [Given<'s>; 9] {
    [
        ("network_header_type", "ipv4".into()),
        ("network_header.ipv4.version", 4.into()),
        ("network_header.ipv4.ihl", 5.into()),
        ("network_header.ipv4.protocol", TCP.into()),
        ("network_header.ipv4.saddr", from.ip().octets().into()),
        ("network_header.ipv4.daddr", to.ip().octets().into()),
        ("network_header.ipv4.transport_header_type", "tcp".into()),
        ("network_header.ipv4.transport_header.tcp.source_port", from.port().into()),
        ("network_header.ipv4.transport_header.tcp.dest_port", to.port().into()),
    ]
}

/// A thread as most events name it.
fn party<'s>(thread: &SimTask) -> Vec<Given<'s>> {
    vec![("comm", thread.comm.clone().into()), ("tid", thread.tid.into()), ("prio", thread.priority.into())]
}

fn request<'s>(dev: u32, sector: u64, nr: u32) -> Vec<Given<'s>> {
    vec![("dev", dev.into()), ("sector", sector.into()), ("nr_sector", nr.into()), ("rwbs", RWBS_READ.into())]
}

pub(crate) fn given(fields: &Fields) -> Vec<Given<'_>> {
    fields.iter().map(|(name, value): &(String, FieldValue)| (name.as_str(), value.clone())).collect()
}
