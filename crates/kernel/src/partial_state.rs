//! The partial state: the model of one piece of a host's trace, made from its events in one pass.
//!
//! `decode` feeds it; what begins and ends within the piece is emitted to [`Spans`] at once. What crosses a border is kept
//! until [`PartialState::merge`](crate::merge) joins it to the piece before or after. Its size is that of what is open, of
//! the threads that are alive, and of what the consumer keeps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::begin_end::BeginEndMatcher;
use crate::border::{Border, CpuLoss, CpuLossBegin};
use crate::canonical_map::CanonicalMap;
use crate::completeness::Completeness;
use crate::contexts::{Context, Contexts};
use crate::event::{BlockStep, EventContext, KernelEvent, TaskRef};
use crate::files::{DumpOwner, FileOp, Files};
use crate::id::{Name, PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::in_flight::{DeferredEffects, PendingCall};
use crate::interrupts::Interrupts;
use crate::missed::Missed;
use crate::numbered::Numbered;
use crate::periods::Periods;
use crate::programs::{Edge, PhaseKey, SwitchCoverage};
use crate::requests::{End, Requests, Start};
use crate::span::{Migration, NetPacket, PacketTaken, PageAllocation, Spans, ThreadChange};
use crate::thread::{Membership, Thread};
use crate::tid_table::TidTable;
use crate::timeline::Timeline;

/// Fewer CPUs than this are indexes of a list.
const LOW_CPUS: usize = 64;

/// The least range that has both.
#[inline]
pub(crate) fn united(a: Option<(Time, Time)>, b: Option<(Time, Time)>) -> Option<(Time, Time)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

/// Bytes of a thread's name that the kernel keeps.
pub(crate) const COMM: usize = 15;

/// The model of a piece of a host's trace, and the consumer of its spans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialState<S> {
    pub(crate) begin: Border,
    pub(crate) end: Border,
    /// Times of the first and the last event of the kernel, raw ns.
    pub(crate) range: Option<(Time, Time)>,
    /// Times of the first and the last event of programs, raw ns.
    pub(crate) programs_range: Option<(Time, Time)>,
    /// Number of events, those of programs included.
    pub(crate) events: u64,
    /// Losses of the kernel's events, on all CPUs.
    pub(crate) complete: Completeness,
    /// Losses of programs' events.
    pub(crate) programs_complete: Completeness,
    /// When it is recorded which thread runs. Empty in a piece that is closed.
    #[serde(skip)]
    pub(crate) switch_coverage: SwitchCoverage,
    /// Number of lost events, as far as known.
    pub(crate) events_lost: u64,
    /// When events of the kernel may be missing.
    pub(crate) missed: Missed,
    /// Missing pieces between merged ones: from, to.
    pub(crate) gaps: Vec<(Time, Time)>,
    pub(crate) cpus: Numbered<u32, Cpu, LOW_CPUS>,
    /// CPUs that events of others refer to.
    pub(crate) referenced_cpus: Vec<u32>,
    pub(crate) threads: CanonicalMap<ThreadId, Thread>,
    pub(crate) tids: TidTable,
    /// What happens to calls that were in flight when the piece began.
    pub(crate) deferred_effects: DeferredEffects,
    pub(crate) files: Files,
    pub(crate) requests: Requests,
    /// Names of disks and partitions by device: the first that was seen.
    pub(crate) disks: BTreeMap<u32, Name>,
    pub(crate) phases: BeginEndMatcher<PhaseKey, Edge, Edge>,
    pub(crate) periods: Periods,
    /// Aliases that were not passed to the consumer yet: it may keep much, and each loss adds one. Empty in a piece that is
    /// closed.
    #[serde(skip)]
    pub(crate) pending_aliases: ThreadAliases,
    pub(crate) spans: S,
}

/// A CPU in one piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cpu {
    pub(crate) timeline: Timeline,
    pub(crate) interrupts: Interrupts,
    pub(crate) contexts: Contexts,
    /// The call of the thread that runs here.
    pub(crate) call: PendingCall,
    /// When the last switch was.
    pub(crate) switched: Option<Time>,
    /// Losses of its events.
    pub(crate) complete: Completeness,
    /// Losses among which switches may be: while one lasts, it is unknown which thread runs.
    pub(crate) switches_complete: Completeness,
    /// The stream of the CPU has ended: nothing is known from this instant on, raw ns.
    pub(crate) over: Option<Time>,
}

impl Cpu {
    /// The state of a CPU whose events are all missing since `from`, until `to`.
    pub(crate) fn missing((from, to): (Time, Time)) -> Self {
        let (timeline, interrupts) = (Timeline::missing(from, to), Interrupts::missing());
        let (contexts, complete) = (Contexts::missing(), Completeness::nothing());
        let call = PendingCall::Inherited;
        let (switched, switches_complete, over) = (None, Completeness::default(), None);
        Self { timeline, interrupts, contexts, call, switched, complete, switches_complete, over }
    }

    /// The thread that runs here at an event, possibly unidentified. `begin`: that of the piece.
    pub(crate) fn current(&self, cpu: u32, at: Time, begin: Border) -> ThreadId {
        self.unless_missing(cpu, self.switches_complete.missing_since(at), begin)
    }

    /// The same at the end of a piece that is closed.
    pub(crate) fn current_at_end(&self, cpu: u32, begin: Border) -> ThreadId {
        self.unless_missing(cpu, self.switches_complete.missing_at_end(), begin)
    }

    fn unless_missing(&self, cpu: u32, missing: Option<Time>, begin: Border) -> ThreadId {
        match missing {
            // The piece before knows since when.
            Some(since) if since <= begin.time() => ThreadId::Unidentified { cpu, since: PIECE_BEGIN },
            Some(since) => ThreadId::Unidentified { cpu, since },
            None => self.timeline.current(cpu),
        }
    }
}

impl<S: Spans> PartialState<S> {
    /// A piece that begins at a border, without events so far.
    pub fn new(begin: Border, spans: S) -> Self {
        Self {
            begin,
            end: begin,
            range: None,
            programs_range: None,
            events: 0,
            complete: Completeness::default(),
            programs_complete: Completeness::default(),
            switch_coverage: SwitchCoverage::default(),
            events_lost: 0,
            missed: Missed::default(),
            gaps: Vec::new(),
            cpus: Numbered::default(),
            referenced_cpus: Vec::new(),
            threads: CanonicalMap::default(),
            tids: TidTable::default(),
            deferred_effects: DeferredEffects::default(),
            files: Files::new(begin == Border::Begin),
            requests: Requests::new(begin == Border::Begin),
            disks: BTreeMap::new(),
            phases: BeginEndMatcher::default(),
            periods: Periods::default(),
            pending_aliases: ThreadAliases::default(),
            spans,
        }
    }

    /// A missing piece: the state of whatever was open before is unknown after it.
    pub fn gap(from: Time, to: Time, spans: S) -> Self {
        let mut gap = Self::new(Border::At(from), spans);
        gap.end = Border::At(to);
        gap.complete = Completeness::nothing();
        gap.programs_complete = Completeness::nothing();
        gap.gaps.push((from, to));
        gap.missed.add(from, to);
        gap.requests = Requests::missing();
        gap.phases = BeginEndMatcher::missing();
        gap.files.note(FileOp::Lost { at: from }, &mut gap.spans);
        gap
    }

    /// Where it begins.
    pub fn begin(&self) -> Border {
        self.begin
    }

    /// Where it ends.
    pub fn end(&self) -> Border {
        self.end
    }

    /// Whether no piece comes before.
    pub(crate) fn is_first(&self) -> bool {
        self.begin == Border::Begin
    }

    /// Its consumer, with the spans so far.
    pub fn spans(&self) -> &S {
        &self.spans
    }

    /// Its consumer, mutable: the model does not depend on what it holds.
    pub fn spans_mut(&mut self) -> &mut S {
        &mut self.spans
    }

    /// Number of events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Closes the piece: all events up to a border are there.
    pub fn close(&mut self, end: Border) {
        self.end = end;
        self.switch_coverage = SwitchCoverage::default();
        self.emit_aliases();
        self.forget_strays();
        self.complete.close(end);
        self.programs_complete.close(end);
        for (_, there) in self.cpus.unordered_mut() {
            there.complete.close(end);
            there.switches_complete.close(end);
        }
    }

    /// Begins a loss: from some instant on, events of a CPU may be missing. To be called before the first event that is not
    /// before the instant, and at the begin of each later piece as long as the loss lasts.
    pub fn loss_begins(&mut self, begin: &CpuLossBegin) {
        let &CpuLossBegin { cpu, at, to, has_switches } = begin;
        self.complete.begin(at, to, self.begin);
        self.missed.add(at, to);
        let there = self.cpus.or_default(cpu);
        there.complete.begin(at, to, self.begin);
        if has_switches {
            there.switches_complete.begin(at, to, self.begin);
            if to == Time::MAX {
                // The instant before is the last one of which something is known.
                let last = at.saturating_sub(1);
                there.over = Some(there.over.map_or(last, |before| before.min(last)));
            }
        }
        // Else the piece before has recorded it.
        if at > self.begin.time() {
            self.files.note(FileOp::LossBegins { at, to }, &mut self.spans);
        }
    }

    /// Records, before the first event, that all events of a CPU are missing.
    pub fn missing_cpu(&mut self, cpu: u32) {
        self.reference_cpu(cpu);
        self.missing_somewhere();
    }

    /// Records, before the first event, that all events of one channel of a CPU are missing that has others.
    pub fn missing_stream(&mut self, cpu: u32) {
        self.cpus.or_default(cpu).complete.begin(Time::MIN, Time::MAX, self.begin);
        self.missing_somewhere();
    }

    fn missing_somewhere(&mut self) {
        self.complete.begin(Time::MIN, Time::MAX, self.begin);
        self.missed = Missed::always();
        if self.is_first() {
            self.files.note(FileOp::LossBegins { at: Time::MIN, to: Time::MAX }, &mut self.spans);
        }
    }

    /// As [`Self::loss_begins`], of programs' events, on any CPU.
    pub fn program_loss_begins(&mut self, at: Time, to: Time) {
        self.programs_complete.begin(at, to, self.begin);
    }

    /// As [`Self::lost`], of programs' events, on any CPU.
    pub fn program_lost(&mut self) {
        self.programs_complete.end();
    }

    /// Ends a loss of a CPU. To be called once, before the CPU's first event after the loss, in the piece that holds the end
    /// of the loss.
    pub fn lost(&mut self, loss: &CpuLoss) {
        let &CpuLoss { cpu, from, to, events, has_switches } = loss;
        self.complete.end();
        self.events_lost = self.events_lost.saturating_add(events.unwrap_or(0));
        let there = self.cpus.or_default(cpu);
        there.complete.end();
        if has_switches {
            there.switches_complete.end();
            there.timeline.lose(cpu, from, to, &mut self.spans);
        }
        there.interrupts.lose();
        there.contexts.lose();
        self.requests.lose(&mut self.spans);
        self.files.note(FileOp::Lost { at: to }, &mut self.spans);
    }

    /// Consumes the next event. Events of one CPU come in the order of time, those of several CPUs in the order of their
    /// times. Amortized constant.
    pub fn event(&mut self, context: &EventContext<'_>, what: KernelEvent<'_>) {
        self.events += 1;
        let at = context.time;
        if context.is_user {
            self.programs_range = united(self.programs_range, Some((at, at)));
            self.program_event(context, &what);
            return;
        }
        self.range = united(self.range, Some((at, at)));
        let cpu = context.cpu;
        match what {
            KernelEvent::Switch { prev, prev_state, next } => self.switch(context, prev, prev_state, next),
            KernelEvent::Wakeup { who, target_cpu, cause } => self.wakeup(context, who, target_cpu, cause),
            KernelEvent::Migrate { who, to } => {
                self.reference_cpu(to);
                if let Some(thread) = self.named(who, at) {
                    self.spans.migration(&Migration { thread, at, to });
                }
            }
            KernelEvent::Priority { who } => {
                if let Some(thread) = self.named(who, at) {
                    self.threads.or_default(thread).facts.priority = Some(who.priority);
                }
            }
            KernelEvent::Fork { parent, parent_pid, child, child_pid, child_comm, inner } => {
                let thread = self.fork(context, parent, parent_pid, child, child_pid, child_comm);
                self.threads.or_default(thread).facts.inner = inner;
            }
            KernelEvent::Exec { filename, tid, old_tid } => self.exec(context, filename, tid, old_tid),
            KernelEvent::Exit(who) => {
                if let Some(thread) = self.named(who, at) {
                    self.threads.or_default(thread).facts.exited = Some(at);
                    self.emit_change(thread, at, ThreadChange::Exits);
                    self.leave_process(thread, at);
                }
            }
            KernelEvent::IrqEntry { number, name } => {
                let there = self.cpus.or_default(cpu);
                there.contexts.enter(Context::Irq(number), at);
                there.interrupts.enter(number, name, at);
            }
            KernelEvent::IrqExit { number, ret } => {
                let there = self.cpus.or_default(cpu);
                there.contexts.leave(Context::Irq(number));
                there.interrupts.exit(cpu, number, ret, at, &mut self.spans);
            }
            KernelEvent::SoftirqRaise(vector) => self.cpus.or_default(cpu).interrupts.soft_raise(vector, at),
            KernelEvent::SoftirqEntry(vector) => {
                let there = self.cpus.or_default(cpu);
                there.contexts.enter(Context::Softirq(vector), at);
                there.interrupts.soft_enter(vector, at);
            }
            KernelEvent::SoftirqExit(vector) => {
                let there = self.cpus.or_default(cpu);
                there.contexts.leave(Context::Softirq(vector));
                there.interrupts.soft_exit(cpu, vector, at, &mut self.spans);
            }
            KernelEvent::SyscallEntry(entry) => {
                let thread = self.present(context);
                let owner = Self::owner(thread, context);
                let point = self.call_point(thread, context, |contexts| contexts.call(owner));
                self.begin_call(owner, point, entry);
            }
            KernelEvent::SyscallExit(exit) => {
                let thread = self.present(context);
                let point = self.call_point(thread, context, Contexts::call_returns);
                self.end_call(Self::owner(thread, context), point, &exit);
            }
            KernelEvent::Enter(context) => self.cpus.or_default(cpu).contexts.enter(context, at),
            KernelEvent::Leave(context) => self.cpus.or_default(cpu).contexts.leave(context),
            KernelEvent::Block { device, sector, asked, tid, step } => {
                let (place, loss_count) = ((device, sector), self.complete.loss_count(at));
                let thread = self.current(&EventContext { tid: context.tid.or(tid), ..*context });
                let start = Start { at, loss_count, thread, asked };
                let Self { requests, spans, .. } = self;
                match step {
                    BlockStep::Insert => requests.insert(place, start, spans),
                    BlockStep::Merge => requests.merge(place, spans),
                    BlockStep::Issue => requests.issue(place, start),
                    BlockStep::Requeue => requests.end(place, End::Requeued, spans),
                    BlockStep::Complete(error) => {
                        requests.end(place, End::Complete { at, loss_count, asked, error }, spans);
                    }
                }
            }
            KernelEvent::Packet { device, bytes, is_sent, buffer, flow, is_accounted } => {
                let (thread, device) = (self.current(context), Name::from_utf8_lossy(device));
                let (flow, carried) = flow.unzip();
                let carried = carried.unwrap_or_default();
                let packet = NetPacket { at, cpu, thread, device, bytes, buffer, flow, carried, is_sent };
                self.spans.packet(&packet);
                if let Some(flow) = flow.filter(|_| is_sent && is_accounted) {
                    let is_first = self.is_first();
                    if let Some(owner) = self.contexts_at(cpu, at).sent(flow, is_first) {
                        self.sent_in_call(owner, flow);
                    }
                }
            }
            KernelEvent::PacketTaken { buffer } => self.spans.packet_taken(&PacketTaken { at, cpu, buffer }),
            KernelEvent::PageAllocation { pages, is_free } => {
                let thread = self.current(context);
                self.spans.page_allocation(&PageAllocation { at, thread, pages, is_free });
            }
            KernelEvent::DumpProcess { tid, pid, ppid, comm, is_kernel, file_table, inner } => {
                let thread = self.numbered(tid, at);
                let there = self.threads.or_default(thread);
                there.set_comm(comm, at);
                there.facts.parent = Some(ppid);
                there.facts.is_kernel = Some(is_kernel);
                there.facts.note_inner(inner);
                self.join_process(thread, pid, at);
                if let Some(table) = file_table {
                    self.files.note(FileOp::DumpOwner { thread, table }, &mut self.spans);
                }
            }
            KernelEvent::DumpDisk { device, name } => {
                self.disks.entry(device).or_insert_with(|| Name::from_utf8_lossy(name));
            }
            KernelEvent::DumpNamespace { tid, inner } => {
                let thread = self.numbered(tid, at);
                self.threads.or_default(thread).facts.note_inner(Some(inner));
            }
            KernelEvent::DumpFile { pid, file_table, fd, flags, filename } => {
                self.dump_file(at, pid, file_table, fd, flags, filename);
            }
            KernelEvent::PhaseBegin(_) | KernelEvent::PhaseEnd(_) | KernelEvent::Other => {
                // The CPU exists, even if it has no other event.
                self.cpus.or_default(cpu);
            }
        }
    }

    fn dump_file(
        &mut self,
        at: Time,
        pid: Option<i32>,
        file_table: Option<u64>,
        fd: i32,
        flags: Option<u32>,
        filename: &[u8],
    ) {
        let owner = match (file_table, pid) {
            (Some(table), _) => DumpOwner::Table(table),
            (None, Some(pid)) => DumpOwner::Thread(self.numbered(pid, at)),
            (None, None) => return,
        };
        let name = Name::from_utf8_lossy(filename);
        self.files.note(FileOp::DumpFile { owner, at, fd, flags, name }, &mut self.spans);
    }

    /// The thread that ran on the CPU when an event was recorded: from its contexts, else from the last switch.
    pub(crate) fn current(&mut self, context: &EventContext<'_>) -> ThreadId {
        match context.tid {
            Some(0) => ThreadId::Idle(context.cpu),
            Some(tid) => self.numbered(tid, context.time),
            None => {
                let there = self.cpus.or_default(context.cpu);
                there.current(context.cpu, context.time, self.begin)
            }
        }
    }

    /// The contexts of a CPU, none of which is known while some of its events are missing.
    pub(crate) fn contexts_at(&mut self, cpu: u32, at: Time) -> &mut Contexts {
        let there = self.cpus.or_default(cpu);
        if there.complete.missing_since(at).is_some() {
            there.contexts.lose();
        }
        &mut there.contexts
    }

    /// As [`Self::current`], and records the facts in the event's contexts.
    pub(crate) fn present(&mut self, context: &EventContext<'_>) -> ThreadId {
        let EventContext { time: at, pid, comm, .. } = *context;
        let thread = self.current(context);
        let pid = pid.filter(|_| !thread.is_idle());
        if pid.is_none() && comm.is_none() {
            return thread;
        }
        let there = self.threads.or_default(thread);
        if let Some(comm) = comm {
            there.set_comm(comm, at);
        }
        if let Some(pid) = pid
            && there.join(pid, at)
        {
            self.files.note(FileOp::Member { thread, pid }, &mut self.spans);
        }
        thread
    }

    /// The thread that has a tid at this time.
    pub(crate) fn numbered(&mut self, tid: i32, at: Time) -> ThreadId {
        self.known(tid, at).0
    }

    fn known(&mut self, tid: i32, at: Time) -> (ThreadId, &mut Thread) {
        let thread = self.tids.get(tid, at);
        let there = self.threads.or_default(thread);
        there.first.get_or_insert(at);
        (thread, there)
    }

    /// The thread that an event names, unless it is an idle task.
    pub(crate) fn named(&mut self, who: TaskRef<'_>, at: Time) -> Option<ThreadId> {
        if who.tid == 0 {
            return None;
        }
        let (thread, there) = self.known(who.tid, at);
        there.set_comm(who.comm, at);
        Some(thread)
    }

    pub(crate) fn named_on(&mut self, cpu: u32, who: TaskRef<'_>, at: Time) -> ThreadId {
        self.named(who, at).unwrap_or(ThreadId::Idle(cpu))
    }

    /// Records the process of a thread that runs.
    pub(crate) fn join_process(&mut self, thread: ThreadId, pid: i32, at: Time) {
        if self.threads.or_default(thread).join(pid, at) {
            self.files.note(FileOp::Member { thread, pid }, &mut self.spans);
        }
    }

    /// Records that a thread has left its process because it has ended.
    pub(crate) fn leave_process(&mut self, thread: ThreadId, at: Time) {
        self.threads.or_default(thread).membership = Some(Membership::Gone);
        self.files.note(FileOp::Exit { thread, at }, &mut self.spans);
    }

    /// Records that there is a CPU: it is in the results even if it has no event, as unknown.
    pub fn reference_cpu(&mut self, cpu: u32) {
        // Only a few: the list is small, and bad input must not make it grow.
        if let Err(place) = self.referenced_cpus.binary_search(&cpu)
            && cpu < MOST_CPUS
        {
            self.referenced_cpus.insert(place, cpu);
        }
    }
}

/// More CPUs than any Linux supports.
const MOST_CPUS: u32 = 8192;
