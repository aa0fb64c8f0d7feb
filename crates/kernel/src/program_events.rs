//! Handlers of events of programs, and of events that definitions of periods name.

use std::sync::Arc;

use isochrone_periods::{Candidate, Definitions};

use crate::event::{EventContext, KernelEvent};
use crate::id::ThreadId;
use crate::partial_state::PartialState;
use crate::periods::{Offered, Periods};
use crate::programs::{Edge, PhaseKey, SwitchCoverage, UNKNOWN};
use crate::span::Spans;

impl<S: Spans> PartialState<S> {
    /// The piece with what is known of the host. To be called before the first event, for all pieces of a
    /// trace alike; forgotten when the piece is closed.
    #[must_use]
    pub fn with_switches(mut self, switch_coverage: SwitchCoverage) -> Self {
        self.programs.switch_coverage = switch_coverage;
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
        let thread = of_program.unwrap_or_else(|| self.current_thread(&EventContext { tid, ..*context }));
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
        let edge = Edge { at, loss_count: self.losses.programs.loss_count(at), is_doubtful };
        match what {
            KernelEvent::PhaseBegin(_) => self.programs.begin(key, edge),
            _ => self.programs.end(&key, edge, &mut self.spans),
        }
    }

    /// The thread of a program's event; `None` where no event shows it.
    fn program_thread(&mut self, context: &EventContext<'_>) -> Option<ThreadId> {
        let (number, at) = (context.cpu, context.time);
        let is_covered = match &self.programs.switch_coverage {
            SwitchCoverage::NoKernel => {
                return context.tid.is_some().then(|| self.current_with_context(context));
            }
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
