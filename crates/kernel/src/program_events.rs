//! Handlers of events of programs, and of events that definitions of periods name.

use std::sync::Arc;

use isochrone_periods::{Candidate, Definitions};

use crate::event::{EventContext, KernelEvent, NO_CPU};
use crate::id::{ThreadId, Time};
use crate::partial_state::PartialState;
use crate::periods::{Offered, Periods};
use crate::programs::{DeferredEdge, Edge, PhaseKey, SwitchCoverage, UNKNOWN};
use crate::span::Spans;

/// That events of programs are missing, on any CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramLoss {
    /// From the first instant at which some may be missing to the first from which none are, raw ns.
    Begins {
        /// The first instant at which some may be missing.
        at: Time,
        /// The first instant from which none are.
        to: Time,
    },
    /// Of the first instant from which none are, raw ns.
    Ends {
        /// That instant.
        to: Time,
    },
}

impl ProgramLoss {
    /// Among events, it comes before those of this instant, raw ns.
    fn time(self) -> Time {
        match self {
            Self::Begins { at, .. } => at,
            Self::Ends { to } => to,
        }
    }
}

impl<S: Spans> PartialState<S> {
    /// The piece with what is known of the host. To be called before the first event, for all pieces of a
    /// trace alike; forgotten when the piece is closed.
    #[must_use]
    pub fn with_switches(mut self, switch_coverage: SwitchCoverage) -> Self {
        self.programs.switch_coverage = switch_coverage;
        self
    }

    /// The piece of a host of which no trace can have switches between threads, if that is so. To be called
    /// before the first event, for all pieces of a trace alike; forgotten when the piece is closed.
    #[must_use]
    pub fn without_switches(mut self, lacks_switches: bool) -> Self {
        self.programs.lacks_switches = lacks_switches;
        self
    }

    /// The piece with definitions of periods: to be called before its first event, for all pieces of a trace
    /// alike.
    #[must_use]
    pub fn with_periods(mut self, definitions: Option<&Arc<Definitions>>) -> Self {
        self.periods = Periods::new(definitions.cloned());
        self
    }

    /// Consumes what the definitions of periods keep of the next event; to be called before [`Self::event`].
    /// Linear in the periods that are open of the definitions that it concerns.
    pub fn period_event(&mut self, context: &EventContext<'_>, event: Candidate) {
        let of_program = if context.is_user { self.program_thread(context) } else { None };
        let tid = context.tid.filter(|_| !context.is_user);
        let thread = match of_program {
            Some(thread) => thread,
            None if context.cpu == NO_CPU => UNKNOWN,
            None => self.current_thread(&EventContext { tid, ..*context }),
        };
        let offered = Offered::new(event, context.time, thread, context.is_user, &self.losses);
        let is_first = self.is_first();
        self.periods.offer(offered, is_first, &mut self.spans);
    }

    pub(crate) fn program_event(&mut self, context: &EventContext<'_>, what: &KernelEvent<'_>) {
        let (KernelEvent::PhaseBegin(name) | KernelEvent::PhaseEnd(name)) = what else { return };
        let at = context.time;
        // Without any number in the event, all programs would be one.
        let named = |this: &mut Self| match (&this.programs.switch_coverage, context.tid?) {
            (SwitchCoverage::ByCpu(_), tid) => Some(this.threads.by_tid(tid, at).0),
            (SwitchCoverage::Never, _) => Some(UNKNOWN),
            (SwitchCoverage::NoKernel, _) => None,
        };
        let known = self.program_thread(context);
        let Some(thread) = known.or_else(|| named(self)) else { return };
        let is_doubtful = known.is_none() && thread != UNKNOWN;
        let key = PhaseKey::new(thread, name, context);
        let is_begin = matches!(what, KernelEvent::PhaseBegin(_));
        let edge = DeferredEdge { key, at, is_begin, is_doubtful };
        match self.programs.defers {
            true => self.programs.defer(edge),
            false => self.phase_edge(edge),
        }
    }

    fn phase_edge(&mut self, edge: DeferredEdge) {
        let DeferredEdge { key, at, is_begin, is_doubtful } = edge;
        let edge = Edge { at, loss_count: self.losses.programs.loss_count(at), is_doubtful };
        match is_begin {
            true => self.programs.begin(key, edge),
            false => self.programs.end(&key, edge, &mut self.spans),
        }
    }

    /// The piece whose begins and ends of phases wait until it is known which events of programs are missing:
    /// to be called before the first event. [`Self::settle_phases`] says so.
    #[must_use]
    pub fn deferring_phases(mut self, defers: bool) -> Self {
        self.programs.defers = defers;
        self
    }

    /// Says, of a piece that is closed and was [deferring phases](Self::deferring_phases), which events of
    /// programs are missing in it, in the order of time. Linear.
    pub fn settle_phases(&mut self, losses: impl IntoIterator<Item = ProgramLoss>) {
        let end = self.extent.end;
        let mut losses = losses.into_iter().peekable();
        for edge in self.programs.take_deferred() {
            while let Some(loss) = losses.next_if(|loss| loss.time() <= edge.at) {
                self.program_loss(loss);
            }
            self.phase_edge(edge);
        }
        losses.for_each(|loss| self.program_loss(loss));
        self.losses.programs.close(end);
    }

    fn program_loss(&mut self, loss: ProgramLoss) {
        match loss {
            ProgramLoss::Begins { at, to } => self.program_loss_begins(at, to),
            ProgramLoss::Ends { .. } => self.program_lost(),
        }
    }

    /// The thread of a program's event; `None` where no event shows it.
    fn program_thread(&mut self, context: &EventContext<'_>) -> Option<ThreadId> {
        let (number, at) = (context.cpu, context.time);
        let is_covered = match &self.programs.switch_coverage {
            SwitchCoverage::NoKernel => {
                return context.tid.is_some().then(|| self.current_with_context(context));
            }
            _ if context.has_kernel_tid => return context.tid.map(|tid| self.threads.by_tid(tid, at).0),
            _ if number == NO_CPU => return None,
            SwitchCoverage::Never => false,
            SwitchCoverage::ByCpu(all) => {
                all.get(&number).is_some_and(|&(begin, end)| begin <= at && at <= end)
            }
        };
        let piece = self.begin();
        let cpu = self.cpus.or_default(number);
        let is_known = is_covered && !cpu.lacks_switches(at);
        is_known.then(|| cpu.current(number, at, piece))
    }
}
