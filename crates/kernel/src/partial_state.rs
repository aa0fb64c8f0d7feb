//! The partial state: the model of one piece of a host's trace, made from its events in one pass.
//!
//! `decode` feeds it; what begins and ends within the piece is emitted to [`Spans`] at once. What crosses a
//! border is kept until [`PartialState::merge`] joins it to the piece before or after. Its size is that of
//! what is open, of the threads that are alive, and of what the consumer keeps.
//!
//! Each part has its own state, and joins it to that of the next piece: [`Cpus`], [`ThreadTable`], [`Files`],
//! [`Disks`], [`Programs`], [`Periods`]. This file passes events to them, `scheduling` and `program_events`
//! those that concern several, `merge` joins two pieces, `finished` ends the trace.

use serde::{Deserialize, Serialize};

use crate::border::{Border, CpuLoss, CpuLossBegin, Extent};
use crate::call_owner::CallOwner;
use crate::call_owners::CallOwners;
use crate::calls::Object;
use crate::contexts::{Context, Contexts};
use crate::cpu::{Cpu, Cpus};
use crate::disk::Disks;
use crate::event::{EventContext, KernelEvent};
use crate::files::{DumpOwner, FileOp, Files};
use crate::id::{Name, ThreadAliases, ThreadId, Time};
use crate::in_flight::{CallPoint, DeferredEffects};
use crate::loss_tracker::Losses;
use crate::missed::Missed;
use crate::periods::Periods;
use crate::programs::{Programs, SwitchCoverage};
use crate::requests::Start;
use crate::span::{Migration, NetPacket, ObjectUse, PacketTaken, PageAllocation, Spans, ThreadChange};
use crate::thread::{Membership, ThreadTable};

/// The model of a piece of a host's trace, and the consumer of its spans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialState<S> {
    pub(crate) extent: Extent,
    pub(crate) losses: Losses,
    pub(crate) cpus: Cpus,
    pub(crate) threads: ThreadTable,
    /// What happens to calls that were in flight when the piece began.
    pub(crate) deferred: DeferredEffects,
    pub(crate) files: Files,
    pub(crate) disks: Disks,
    pub(crate) programs: Programs,
    pub(crate) periods: Periods,
    /// Aliases that were not passed to the consumer yet: it may keep much, and each loss adds one. Empty in a
    /// piece that is closed.
    #[serde(skip)]
    pub(crate) pending_aliases: ThreadAliases,
    pub(crate) spans: S,
}

impl<S> PartialState<S> {
    /// The same model of a piece that is closed with another consumer, which `change` makes of this one.
    ///
    /// # Errors
    /// Those of `change`.
    pub fn try_with_spans<T, E>(self, change: impl FnOnce(S) -> Result<T, E>) -> Result<PartialState<T>, E> {
        let Self {
            extent,
            losses,
            cpus,
            threads,
            deferred,
            files,
            disks,
            programs,
            periods,
            pending_aliases,
            spans,
        } = self;
        let spans = change(spans)?;
        Ok(PartialState {
            extent,
            losses,
            cpus,
            threads,
            deferred,
            files,
            disks,
            programs,
            periods,
            pending_aliases,
            spans,
        })
    }
}

impl<S: Spans> PartialState<S> {
    /// A piece that begins at a border, without events so far.
    pub fn new(begin: Border, spans: S) -> Self {
        let is_first = begin == Border::Begin;
        Self {
            extent: Extent::new(begin, begin),
            losses: Losses::default(),
            cpus: Cpus::default(),
            threads: ThreadTable::default(),
            deferred: DeferredEffects::default(),
            files: Files::with_scratch(is_first, spans.scratch()),
            disks: Disks::new(is_first),
            programs: Programs::default(),
            periods: Periods::default(),
            pending_aliases: ThreadAliases::default(),
            spans,
        }
    }

    /// A missing piece, between two raw times, ns: the state of whatever was open before is unknown after it.
    pub fn gap(from: Time, to: Time, spans: S) -> Self {
        let mut gap = Self {
            extent: Extent::new(Border::At(from), Border::At(to)),
            losses: Losses::missing(from, to),
            disks: Disks::missing(),
            programs: Programs::missing(),
            ..Self::new(Border::At(from), spans)
        };
        gap.files.note(FileOp::Lost { at: from }, &mut gap.spans);
        gap
    }

    /// The times of the first and the last event of the kernel, raw ns.
    pub fn kernel_events(&self) -> Option<(Time, Time)> {
        self.extent.kernel
    }

    /// Records that the kernel was traced between two raw times, ns, though nothing of it is there: they are
    /// in [`Finished::range`](crate::Finished::range).
    pub fn covers(&mut self, from: Time, to: Time) {
        self.extent.covers(from, to);
    }

    /// Begin of the piece.
    pub fn begin(&self) -> Border {
        self.extent.begin
    }

    /// End of the piece.
    pub fn end(&self) -> Border {
        self.extent.end
    }

    /// Whether no piece comes before.
    pub(crate) fn is_first(&self) -> bool {
        self.extent.begin == Border::Begin
    }

    /// The consumer, with the spans so far.
    pub fn spans(&self) -> &S {
        &self.spans
    }

    /// The consumer, mutable: the model does not depend on what it holds.
    pub fn spans_mut(&mut self) -> &mut S {
        &mut self.spans
    }

    /// Number of events so far, those of programs included.
    pub fn events(&self) -> u64 {
        self.extent.events
    }

    /// Closes the piece: all events up to a border are there.
    pub fn close(&mut self, end: Border) {
        self.extent.end = end;
        self.programs.switch_coverage = SwitchCoverage::default();
        self.programs.lacks_switches = false;
        self.emit_aliases();
        self.forget_orphans();
        self.losses.close(end);
        self.cpus.close(end);
    }

    /// Begins a loss: from some instant on, events of a CPU may be missing. To be called before the first
    /// event that is not before the instant, and at the begin of each later piece as long as the loss lasts.
    pub fn loss_begins(&mut self, begin: &CpuLossBegin) {
        let &CpuLossBegin { cpu, at, to, .. } = begin;
        let piece = self.begin();
        self.losses.kernel.begin(at, to, piece);
        self.losses.missed.add(at, to);
        self.cpus.or_default(cpu).loss_begins(begin, piece);
        // Else the piece before has recorded it.
        if at > piece.time() {
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
        let piece = self.begin();
        self.cpus.or_default(cpu).losses.begin(Time::MIN, Time::MAX, piece);
        self.missing_somewhere();
    }

    fn missing_somewhere(&mut self) {
        self.losses.kernel.begin(Time::MIN, Time::MAX, self.extent.begin);
        self.losses.missed = Missed::always();
        if self.is_first() {
            self.files.note(FileOp::LossBegins { at: Time::MIN, to: Time::MAX }, &mut self.spans);
        }
    }

    /// As [`Self::loss_begins`], of programs' events, on any CPU.
    pub fn program_loss_begins(&mut self, at: Time, to: Time) {
        self.losses.programs.begin(at, to, self.extent.begin);
    }

    /// As [`Self::lost`], of programs' events, on any CPU.
    pub fn program_lost(&mut self) {
        self.losses.programs.end();
    }

    /// Ends a loss of a CPU. To be called once, before the CPU's first event after the loss, in the piece
    /// that holds the end of the loss.
    pub fn lost(&mut self, loss: &CpuLoss) {
        self.losses.kernel.end();
        self.losses.events = self.losses.events.saturating_add(loss.events.unwrap_or(0));
        self.cpus.or_default(loss.cpu).on_loss(loss, &mut self.spans);
        self.disks.on_loss(&mut self.spans);
        self.files.note(FileOp::Lost { at: loss.to }, &mut self.spans);
    }

    /// Records that there is a CPU: it is in the results even if it has no event, as unknown.
    pub fn reference_cpu(&mut self, cpu: u32) {
        self.cpus.reference(cpu);
    }

    /// Consumes the next event. Events of one CPU come in the order of time, those of several CPUs in the
    /// order of their times. Amortized constant.
    pub fn event(&mut self, context: &EventContext<'_>, what: KernelEvent<'_>) {
        self.extent.event(context.time, context.is_user);
        if context.is_user {
            return self.program_event(context, &what);
        }
        self.threads.follows_faults |= context.has_faults;
        let (at, number) = (context.time, context.cpu);
        match what {
            KernelEvent::Switch { prev, prev_state, next } => self.switch(context, prev, prev_state, next),
            KernelEvent::Wakeup { who, target_cpu, cause } => self.wakeup(context, who, target_cpu, cause),
            KernelEvent::Migrate { who, to } => {
                self.reference_cpu(to);
                if let Some(thread) = self.threads.of_task(who, at) {
                    self.spans.migration(&Migration { thread, at, to });
                }
            }
            KernelEvent::Priority { who } => {
                if let Some(thread) = self.threads.of_task(who, at) {
                    self.threads.or_default(thread).facts.priority = Some(who.priority);
                }
            }
            KernelEvent::Fork(fork) => self.fork(context, &fork),
            KernelEvent::Exec { filename, tid, old_tid } => self.exec(context, filename, tid, old_tid),
            KernelEvent::Exit(who) => {
                if let Some(thread) = self.threads.of_task(who, at) {
                    self.threads.or_default(thread).facts.exited = Some(at);
                    self.goes_on(thread, at);
                    self.emit_change(thread, at, ThreadChange::Exits);
                    self.leave_process(thread, at);
                }
            }
            KernelEvent::IrqEntry { number: irq, name } => {
                let cpu = self.cpus.or_default(number);
                cpu.contexts.enter(Context::Irq(irq), at);
                cpu.interrupts.enter(irq, name, at);
            }
            KernelEvent::IrqExit { number: irq, ret } => {
                let cpu = self.cpus.or_default(number);
                cpu.contexts.leave(Context::Irq(irq));
                cpu.interrupts.exit(number, irq, ret, at, &mut self.spans);
            }
            KernelEvent::SoftirqRaise(vector) => {
                self.cpus.or_default(number).interrupts.soft_raise(vector, at);
            }
            KernelEvent::SoftirqEntry(vector) => {
                let cpu = self.cpus.or_default(number);
                cpu.contexts.enter(Context::Softirq(vector), at);
                cpu.interrupts.soft_enter(vector, at);
            }
            KernelEvent::SoftirqExit(vector) => {
                let cpu = self.cpus.or_default(number);
                cpu.contexts.leave(Context::Softirq(vector));
                cpu.interrupts.soft_exit(number, vector, at, &mut self.spans);
            }
            KernelEvent::SyscallEntry(entry) => {
                let thread = self.current_with_context(context);
                self.goes_on(thread, at);
                let owner = CallOwner::of(thread, context.tid, context.cpu);
                let point = self.call_point(thread, context, |contexts| contexts.call(owner));
                match self.programs.shows_callers(context) {
                    true => self.calls().begin(owner, point, entry),
                    false => self.calls().begin_of_unknown(point, entry),
                }
            }
            KernelEvent::SyscallExit(exit) => {
                let thread = self.current_with_context(context);
                self.goes_on(thread, at);
                let point = self.call_point(thread, context, Contexts::call_returns);
                match self.programs.shows_callers(context) {
                    true => self.calls().end(CallOwner::of(thread, context.tid, context.cpu), point, &exit),
                    false => self.calls().end_of_unknown(point, &exit),
                }
            }
            KernelEvent::Enter(context) => self.cpus.or_default(number).contexts.enter(context, at),
            KernelEvent::Leave(context) => self.cpus.or_default(number).contexts.leave(context),
            KernelEvent::Block { device, sector, transfer, tid, step } => {
                let thread = self.current_thread(&EventContext { tid: context.tid.or(tid), ..*context });
                let event = Start { at, loss_count: self.losses.kernel.loss_count(at), thread, transfer };
                self.disks.step((device, sector), event, step, &mut self.spans);
            }
            KernelEvent::Packet { device, bytes, is_sent, buffer, flow, is_accounted } => {
                let (thread, device) = (self.current_thread(context), Name::from_utf8_lossy(device));
                let (flow, carried) = flow.unzip();
                let carried = carried.unwrap_or_default();
                let packet =
                    NetPacket { at, cpu: number, thread, device, bytes, buffer, flow, carried, is_sent };
                self.spans.packet(&packet);
                if let Some(flow) = flow.filter(|_| is_sent && is_accounted) {
                    let is_first = self.is_first();
                    if let Some(owner) = self.cpus.contexts_at(number, at).sent(flow, is_first) {
                        self.calls().sent(owner, flow);
                    }
                }
            }
            KernelEvent::PacketTaken { buffer } => {
                self.spans.packet_taken(&PacketTaken { at, cpu: number, buffer });
            }
            KernelEvent::Signal { number: signal, to } => {
                let thread = self.current_with_context(context);
                let object = Object::Signal { number: signal, to: Some(to) };
                self.spans.object_use(&ObjectUse { thread, at, object, is_event: true });
            }
            KernelEvent::SignalDelivered { number: signal } => {
                let thread = self.current_with_context(context);
                let object = Object::Delivered(signal);
                self.spans.object_use(&ObjectUse { thread, at, object, is_event: true });
            }
            KernelEvent::PageAllocation { pages, is_free } => {
                let thread = self.current_thread(context);
                self.spans.page_allocation(&PageAllocation { at, thread, pages, is_free });
            }
            KernelEvent::DumpProcess { tid, pid, ppid, comm, is_kernel, file_table, inner } => {
                let (id, thread) = self.threads.by_tid(tid, at);
                thread.set_comm(comm, at);
                thread.facts.parent = Some(ppid);
                thread.facts.is_kernel = Some(is_kernel);
                thread.facts.note_inner(inner);
                self.join_process(id, pid, at);
                if let Some(table) = file_table {
                    self.files.note(FileOp::DumpOwner { thread: id, table }, &mut self.spans);
                }
            }
            KernelEvent::DumpDisk { device, name } => self.disks.name(device, name),
            KernelEvent::DumpNamespace { tid, inner } => {
                self.threads.by_tid(tid, at).1.facts.note_inner(Some(inner));
            }
            KernelEvent::DumpFile { pid, file_table, fd, flags, filename } => {
                let owner = match (file_table, pid) {
                    (Some(table), _) => DumpOwner::Table(table),
                    (None, Some(pid)) => DumpOwner::Thread(self.threads.by_tid(pid, at).0),
                    (None, None) => return,
                };
                let name = Name::from_utf8_lossy(filename);
                self.files.note(FileOp::DumpFile { owner, at, fd, flags, name }, &mut self.spans);
            }
            KernelEvent::PageFault(event) => {
                let thread = self.current_with_context(context);
                let count = self.losses.kernel.loss_count(at);
                if let Some(faults) = self.threads.faults(thread) {
                    faults.fault((thread, number), at, event, count, &mut self.spans);
                }
            }
            KernelEvent::PageFaultEnd => {
                let thread = self.current_with_context(context);
                self.goes_on(thread, at);
            }
            KernelEvent::PhaseBegin(_) | KernelEvent::PhaseEnd(_) | KernelEvent::Other => {
                // The CPU exists, even if it has no other event.
                self.cpus.or_default(number);
            }
        }
    }

    /// A thread goes on: a page fault that it was in is over.
    #[inline]
    pub(crate) fn goes_on(&mut self, thread: ThreadId, at: Time) {
        if let Some(faults) = self.threads.faults(thread) {
            faults.goes_on(thread, at, self.losses.kernel.loss_count(at), &mut self.spans);
        }
    }

    /// The thread that ran on the CPU when an event was recorded: from its contexts, else from the last
    /// switch.
    pub(crate) fn current_thread(&mut self, context: &EventContext<'_>) -> ThreadId {
        match context.tid {
            Some(0) => ThreadId::Idle(context.cpu),
            Some(tid) => self.threads.by_tid(tid, context.time).0,
            None => {
                let cpu = self.cpus.or_default(context.cpu);
                cpu.current(context.cpu, context.time, self.extent.begin)
            }
        }
    }

    /// As [`Self::current_thread`], and records the facts in the event's contexts.
    pub(crate) fn current_with_context(&mut self, context: &EventContext<'_>) -> ThreadId {
        let EventContext { time: at, pid, comm, .. } = *context;
        let id = self.current_thread(context);
        let pid = pid.filter(|_| !id.is_idle());
        if pid.is_none() && comm.is_none() {
            return id;
        }
        let thread = self.threads.or_default(id);
        if let Some(comm) = comm {
            thread.set_comm(comm, at);
        }
        if let Some(pid) = pid
            && thread.join(pid, at)
        {
            self.files.note(FileOp::Member { thread: id, pid }, &mut self.spans);
        }
        id
    }

    /// The owners of calls, to change what they have.
    #[inline]
    pub(crate) fn calls(&mut self) -> CallOwners<'_, S> {
        let is_first = self.is_first();
        let Self { cpus, threads, deferred, files, spans, .. } = self;
        CallOwners { is_first, cpus, threads, deferred, files, spans }
    }

    /// The call point of an event. `change` applies the event to the contexts of its CPU.
    #[inline]
    pub(crate) fn call_point(
        &mut self,
        thread: ThreadId,
        context: &EventContext<'_>,
        change: impl FnOnce(&mut Contexts),
    ) -> CallPoint {
        let cpu: &mut Cpu = self.cpus.or_default(context.cpu);
        change(&mut cpu.contexts);
        cpu.call_point(context.cpu, thread, context.time, &self.losses.kernel)
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
}
