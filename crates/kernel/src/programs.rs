//! Events of programs: the begins and ends of phases, and which thread they are of.
//!
//! Part of a `PartialState`. A program's tracer records the numbers that its thread has in its own pid namespace, and a thread of the
//! host may have the same number. So where switches were recorded, an event is of the thread that ran on its CPU, whatever
//! number it gives itself; else of the thread that it says, and of none where it says nothing. While switches are missing, what it says
//! counts where its partner agrees.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::completeness::LossCount;
use crate::event::{EventContext, KernelEvent};
use crate::id::{Name, ThreadAliases, ThreadId, Time};
use crate::partial_state::PartialState;
use crate::span::{Phase, Spans};

/// What a begin and an end of a phase have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct PhaseKey {
    pub(crate) thread: ThreadId,
    /// The session that recorded it: programs of one number may be of several.
    session: u64,
    /// What it says of itself.
    tid: Option<i32>,
    pid: Option<i32>,
    comm: Option<Name>,
    name: Name,
}

/// An end of a phase: its time, and the losses before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edge {
    at: Time,
    pub(crate) loss_count: LossCount,
    /// Whether switches are missing at that time: the thread is the one that the event says.
    is_doubtful: bool,
}

/// What is known of a host beyond a piece of it: when it is recorded which thread runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SwitchCoverage {
    /// Whether it is recorded at all.
    pub is_recorded: bool,
    /// By CPU: first and last raw time, ns, from the begin to the end of its stream.
    pub by_cpu: BTreeMap<u32, (Time, Time)>,
}

impl SwitchCoverage {
    fn has(&self, cpu: u32, at: Time) -> bool {
        self.by_cpu.get(&cpu).is_some_and(|&(begin, end)| begin <= at && at <= end)
    }
}

impl PhaseKey {
    pub(crate) fn renamed(&self, aliases: &ThreadAliases) -> Self {
        Self { thread: aliases.of(self.thread), ..self.clone() }
    }

    /// Emits a phase, unless events are missing in between, or nothing shows that its thread is the one that it says.
    pub(crate) fn emit(&self, begin: Edge, end: Edge, spans: &mut impl Spans) {
        let is_sure = !(begin.is_doubtful && end.is_doubtful);
        if is_sure && begin.loss_count.agrees(end.loss_count) {
            let (name, thread) = (self.name.clone(), self.thread);
            spans.phase(&Phase { name, thread, begin: begin.at, end: end.at });
        }
    }
}

impl<S: Spans> PartialState<S> {
    /// The piece with what is known of the host. To be called before the first event, for all pieces of a trace alike; forgotten
    /// when the piece is closed.
    #[must_use]
    pub fn with_switches(self, switch_coverage: SwitchCoverage) -> Self {
        Self { switch_coverage, ..self }
    }

    pub(crate) fn program_event(&mut self, context: &EventContext<'_>, what: &KernelEvent<'_>) {
        let (KernelEvent::PhaseBegin(name) | KernelEvent::PhaseEnd(name)) = what else { return };
        let EventContext { time: at, session, tid, pid, comm, .. } = *context;
        let known = self.program_thread(context);
        let is_doubtful = known.is_none();
        let said = |this: &mut Self| {
            tid.filter(|_| this.switch_coverage.is_recorded).map(|tid| this.numbered(tid, at))
        };
        let Some(thread) = known.or_else(|| said(self)) else { return };
        let comm = comm.map(Name::from_utf8_lossy);
        let key = PhaseKey { thread, session, tid, pid, comm, name: name.clone() };
        let edge = Edge { at, loss_count: self.programs_complete.loss_count(at), is_doubtful };
        if let KernelEvent::PhaseBegin(_) = what {
            self.phases.begin(key, edge);
        } else if let Some((begin, end)) = self.phases.end(&key, edge) {
            key.emit(begin, end, &mut self.spans);
        }
    }

    /// The thread of a program's event; `None` where nothing shows it.
    pub(crate) fn program_thread(&mut self, context: &EventContext<'_>) -> Option<ThreadId> {
        if !self.switch_coverage.is_recorded {
            return context.tid.is_some().then(|| self.present(context));
        }
        let (cpu, at) = (context.cpu, context.time);
        let there = self.cpus.or_default(cpu);
        let is_known =
            self.switch_coverage.has(cpu, at) && there.switches_complete.missing_since(at).is_none();
        is_known.then(|| there.current(cpu, at, self.begin))
    }
}
