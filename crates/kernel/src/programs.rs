//! Phases of programs: begins and ends, and what they have in common.
//!
//! Part of a `PartialState`. A program's tracer records the numbers that its thread has in its own pid
//! namespace, and a thread of the host may have the same number. So where switches were recorded, an event is
//! of the thread that ran on its CPU, whatever number it carries. While switches are missing, the number
//! counts where the other end agrees. Where they were never recorded, phases are paired by what programs
//! record, and are of no thread of the host; where the kernel was not traced at all, of the thread that they
//! name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::begin_end::BeginEndMatcher;
use crate::event::EventContext;
use crate::id::{Name, PIECE_BEGIN, ThreadAliases, ThreadId, Time};
use crate::loss_tracker::{LossCount, LossesBefore};
use crate::span::{Phase, Spans};

/// The phases of a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Programs {
    phases: BeginEndMatcher<PhaseKey, Edge, Edge>,
    /// Begins and ends that wait for what is known of losses, in their order: see
    /// [`PartialState::deferring_phases`](crate::PartialState::deferring_phases).
    deferred: Vec<DeferredEdge>,
    #[serde(skip)]
    pub(crate) defers: bool,
    /// When it is recorded which thread runs. Empty in a piece that is closed.
    #[serde(skip)]
    pub(crate) switch_coverage: SwitchCoverage,
    /// See [`PartialState::without_switches`](crate::PartialState::without_switches).
    #[serde(skip)]
    pub(crate) lacks_switches: bool,
}

impl Programs {
    /// Whether it is recorded which thread an event of the kernel is of: by the event, or by switches.
    /// Without, the exit of a call may be that of another thread's.
    #[inline]
    pub(crate) fn shows_callers(&self, context: &EventContext<'_>) -> bool {
        context.tid.is_some() || !self.lacks_switches
    }
}

/// What a begin and an end of a phase have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct PhaseKey {
    thread: ThreadId,
    /// The session that recorded it: programs of one number may be of several.
    session: u64,
    /// The numbers and the name in the event.
    tid: Option<i32>,
    pid: Option<i32>,
    comm: Option<Name>,
    name: Name,
}

/// A begin or an end of a phase, before it is known what is missing around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeferredEdge {
    pub(crate) key: PhaseKey,
    pub(crate) at: Time,
    pub(crate) is_begin: bool,
    pub(crate) is_doubtful: bool,
}

/// An end of a phase: its time, and the losses before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) at: Time,
    pub(crate) loss_count: LossCount,
    /// Whether switches are missing at that time: the thread is the one that the event names.
    pub(crate) is_doubtful: bool,
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
pub(crate) const UNKNOWN: ThreadId = ThreadId::Unidentified { cpu: u32::MAX, since: PIECE_BEGIN };

/// Between the name of a phase and an id that tells it from others of that name, in its key alone: no text
/// of a trace has it.
const BEFORE_ID: char = '\0';

/// The name of a phase with its id, for its key.
pub(crate) fn name_with_id(name: &str, id: &[u8]) -> Name {
    let mut key = Name::from(name);
    key.push(BEFORE_ID);
    key.push_str(&String::from_utf8_lossy(id));
    key
}

impl PhaseKey {
    /// The key of an event of a thread.
    pub(crate) fn new(thread: ThreadId, name: &Name, context: &EventContext<'_>) -> Self {
        let EventContext { session, tid, pid, comm, .. } = *context;
        Self { thread, session, tid, pid, comm: comm.map(Name::from_utf8_lossy), name: name.clone() }
    }

    /// Emits a phase, unless events are missing in between, or no event shows that its thread is the one that
    /// it names.
    fn emit(&self, begin: Edge, end: Edge, spans: &mut impl Spans) {
        let is_sure = !(begin.is_doubtful && end.is_doubtful);
        if is_sure && begin.loss_count.no_loss_between(end.loss_count) {
            let name =
                self.name.split_once(BEFORE_ID).map_or_else(|| self.name.clone(), |(name, _)| name.into());
            let thread = self.thread;
            spans.phase(&Phase { name, thread, begin: begin.at, end: end.at });
        }
    }
}

impl Programs {
    /// The phases of a piece that is missing.
    pub(crate) fn missing() -> Self {
        Self { phases: BeginEndMatcher::missing(), ..Self::default() }
    }

    /// Keeps an edge until losses are known.
    pub(crate) fn defer(&mut self, edge: DeferredEdge) {
        self.deferred.push(edge);
    }

    /// The edges that wait, in their order.
    pub(crate) fn take_deferred(&mut self) -> Vec<DeferredEdge> {
        std::mem::take(&mut self.deferred)
    }

    /// A phase begins.
    pub(crate) fn begin(&mut self, key: PhaseKey, edge: Edge) {
        self.phases.begin(key, edge);
    }

    /// A phase ends.
    pub(crate) fn end(&mut self, key: &PhaseKey, edge: Edge, spans: &mut impl Spans) {
        if let Some((begin, end)) = self.phases.end(key, edge) {
            key.emit(begin, end, spans);
        }
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases, spans: &mut impl Spans) {
        for edge in &mut self.deferred {
            edge.key.thread = aliases.of(edge.key.thread);
        }
        self.phases.rekey(
            |key| PhaseKey { thread: aliases.of(key.thread), ..key.clone() },
            |key| key.thread.was_before_alias(),
            |key, begin, end| key.emit(begin, end, spans),
        );
    }

    /// Appends the next piece; `before`: the losses of this one.
    pub(crate) fn append(&mut self, mut right: Self, before: LossesBefore, spans: &mut impl Spans) {
        let shift = |edge: &mut Edge| edge.loss_count.shift(before.programs);
        right.phases.change(shift, shift);
        self.deferred.append(&mut right.deferred);
        self.phases.append(right.phases, |key, begin, end| key.emit(begin, end, spans));
    }
}
