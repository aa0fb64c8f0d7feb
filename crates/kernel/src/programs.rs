//! Events of programs: the begins and ends of phases, and which thread they are of.
//!
//! Part of a `PartialState`. A program's tracer records the numbers that its thread has in its own pid namespace, and a thread of the
//! host may have the same number. So where switches were recorded, an event is of the thread that ran on its CPU, whatever
//! number it gives itself. While switches are missing, what it says counts where its partner agrees. Where they were never recorded, phases
//! are paired by what programs say, and are of no thread of the host; where the kernel was not traced at all, of the thread that they say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::completeness::LossCount;
use crate::event::{EventContext, KernelEvent};
use crate::id::{Name, PIECE_BEGIN, ThreadAliases, ThreadId, Time};
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
pub enum SwitchCoverage {
    /// The kernel was not traced: there are no threads but those that programs name.
    #[default]
    NoKernel,
    /// The kernel was, and never which thread runs: its threads may have the numbers of others.
    Never,
    /// By CPU: first and last raw time, ns, from the begin to the end of its stream.
    ByCpu(BTreeMap<u32, (Time, Time)>),
}

/// No thread of the host that is known: no CPU has this number, so that no switch identifies it.
const UNKNOWN: ThreadId = ThreadId::Unidentified { cpu: u32::MAX, since: PIECE_BEGIN };

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
        // Without anything that it says of itself, all programs would be one.
        let said = |this: &mut Self| match (&this.switch_coverage, tid?) {
            (SwitchCoverage::ByCpu(_), tid) => Some(this.numbered(tid, at)),
            (SwitchCoverage::Never, _) => Some(UNKNOWN),
            (SwitchCoverage::NoKernel, _) => None,
        };
        let known = self.program_thread(context);
        let Some(thread) = known.or_else(|| said(self)) else { return };
        let is_doubtful = known.is_none() && thread != UNKNOWN;
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
        let (cpu, at) = (context.cpu, context.time);
        let is_covered = match &self.switch_coverage {
            SwitchCoverage::NoKernel => return context.tid.is_some().then(|| self.present(context)),
            SwitchCoverage::Never => false,
            SwitchCoverage::ByCpu(all) => all.get(&cpu).is_some_and(|&(begin, end)| begin <= at && at <= end),
        };
        let there = self.cpus.or_default(cpu);
        let is_known = is_covered && there.switches_complete.missing_since(at).is_none();
        is_known.then(|| there.current(cpu, at, self.begin))
    }
}
