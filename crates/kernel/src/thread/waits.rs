//! Waits of one thread: why it is off the CPUs, its wake-ups, its waits for a CPU.

use serde::{Deserialize, Serialize};

use crate::event::PrevState;
use crate::id::{ThreadAliases, ThreadId, Time};
use crate::loss_tracker::LossCount;
use crate::span::{OffCpu, OffCpuReason, SchedLatency, Spans};

/// The waits of one thread in one piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Waits {
    /// The first wake-up, if the piece has it before `first`.
    wake: Option<(Wake, LossCount)>,
    /// The first change.
    first: Option<(SchedChange, LossCount)>,
    /// The state since the last change.
    state: Option<(SchedState, LossCount)>,
}

/// A wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Wake {
    at: Time,
    /// The thread that ran on the CPU of the wake-up.
    waker: Option<ThreadId>,
}

/// A change between on a CPU and off it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SchedChange {
    /// It is switched to.
    On { at: Time, cpu: u32, priority: i32 },
    /// It leaves the CPU.
    OffCpu { at: Time, prev_state: PrevState },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum SchedState {
    /// It was forked and has not run.
    New {
        woken: Option<Wake>,
    },
    OnCpu,
    OffCpu {
        since: Time,
        reason: OffCpuReason,
        woken: Option<Wake>,
    },
    Dead,
}

impl Waits {
    pub(crate) fn shift(&mut self, losses: u64) {
        let Self { wake, first, state } = self;
        let counts = [
            wake.as_mut().map(|(_, count)| count),
            first.as_mut().map(|(_, count)| count),
            state.as_mut().map(|(_, count)| count),
        ];
        counts.into_iter().flatten().for_each(|count| count.shift(losses));
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        let rename = |wake: &mut Wake| aliases.change_some(&mut wake.waker);
        if let Some((wake, _)) = &mut self.wake {
            rename(wake);
        }
        if let Some((
            SchedState::OffCpu { woken: Some(wake), .. } | SchedState::New { woken: Some(wake) },
            _,
        )) = &mut self.state
        {
            rename(wake);
        }
    }

    /// It was forked.
    pub(crate) fn fork(&mut self, loss_count: LossCount) {
        self.state = Some((SchedState::New { woken: None }, loss_count));
    }

    fn is_untouched(&self) -> bool {
        self.first.is_none() && self.state.is_none()
    }

    /// It is woken. Returns the wait that this ends, which is emitted.
    pub(crate) fn wake(
        &mut self,
        thread: ThreadId,
        at: Time,
        waker: Option<ThreadId>,
        loss_count: LossCount,
        spans: &mut impl Spans,
    ) -> Option<OffCpu> {
        let wake = Wake { at, waker };
        if self.is_untouched() {
            self.wake.get_or_insert((wake, loss_count));
            return None;
        }
        let (state, _) = self.state.as_mut().filter(|(_, since)| since.no_loss_between(loss_count))?;
        state.wake(thread, wake, spans)
    }

    /// It is switched to, or leaves the CPU. Returns the time off the CPUs that this ends, which is emitted.
    pub(crate) fn step(
        &mut self,
        thread: ThreadId,
        to: SchedChange,
        loss_count: LossCount,
        spans: &mut impl Spans,
    ) -> Option<OffCpu> {
        let mut off = None;
        if self.is_untouched() {
            self.first = Some((to, loss_count));
        } else if let Some((state, since)) = self.state
            && since.no_loss_between(loss_count)
        {
            off = state.leave(thread, to, spans);
        }
        self.state = Some((SchedState::after(to), loss_count));
        off
    }

    /// Appends the next piece, which has been shifted by the losses of this one, which ends at `boundary`.
    /// Returns the time off the CPUs that ends in that piece, which is emitted.
    pub(crate) fn append(
        &mut self,
        thread: ThreadId,
        right: Self,
        boundary: LossCount,
        spans: &mut impl Spans,
    ) -> Option<OffCpu> {
        if self.is_untouched() {
            self.wake = self.wake.or(right.wake);
            self.first = right.first;
            self.state = right.state;
            return None;
        }
        let mut off = None;
        // Only what was true at the boundary and still was at the first event after it is relied on.
        let mut state =
            self.state.filter(|&(_, since)| since.no_loss_between(boundary)).map(|(state, _)| state);
        if let (Some(state), Some((wake, loss_count))) = (&mut state, right.wake)
            && loss_count.no_loss_between(boundary)
        {
            off = state.wake(thread, wake, spans);
        }
        if let (Some(state), Some((first, loss_count))) = (state, right.first)
            && loss_count.no_loss_between(boundary)
        {
            off = off.or(state.leave(thread, first, spans));
        }
        if right.state.is_some() {
            self.state = right.state;
        } else if let (Some(state), Some((there, _))) = (state, &mut self.state) {
            *there = state;
        }
        off
    }

    /// Emits a wake-up at the begin of the trace, before which nothing is known.
    pub(crate) fn finish_begin(&self, thread: ThreadId, spans: &mut impl Spans) {
        if let (Some((wake, woken)), Some((SchedChange::On { at, cpu, priority }, on))) =
            (self.wake, self.first)
            && woken.no_loss_between(LossCount::ZERO)
            && on.no_loss_between(LossCount::ZERO)
        {
            spans.sched_latency(&SchedLatency {
                thread,
                waker: wake.waker,
                cpu,
                priority,
                begin: wake.at,
                end: at,
            });
        }
    }

    /// Emits what is open at either end of the trace, which ends at `end`. Returns the wait that is open.
    pub(crate) fn finish(
        &self,
        thread: ThreadId,
        loss_count: LossCount,
        end: Time,
        spans: &mut impl Spans,
    ) -> Option<OffCpu> {
        self.finish_begin(thread, spans);
        if let Some((SchedState::OffCpu { since, reason, woken: None }, seen)) = self.state
            && seen.no_loss_between(loss_count)
        {
            let off = OffCpu { thread, reason, begin: since, end: end.max(since), waker: None };
            return Some(emitted(off, spans));
        }
        None
    }
}

impl SchedState {
    fn after(to: SchedChange) -> Self {
        match to {
            SchedChange::On { .. } => Self::OnCpu,
            SchedChange::OffCpu { prev_state: PrevState::Dead, .. } => Self::Dead,
            SchedChange::OffCpu { at, prev_state: PrevState::OffCpu(reason) } => {
                Self::OffCpu { since: at, reason, woken: None }
            }
        }
    }

    /// Records a wake-up: the first one since the thread left the CPU counts; none while it runs.
    fn wake(&mut self, thread: ThreadId, wake: Wake, spans: &mut impl Spans) -> Option<OffCpu> {
        match self {
            Self::New { woken: woken @ None } => *woken = Some(wake),
            Self::OffCpu { since: begin, reason, woken: woken @ None } => {
                let Wake { at: end, waker } = *woken.insert(wake);
                if *reason != OffCpuReason::Preempted {
                    let off = OffCpu { thread, reason: *reason, begin: *begin, end, waker };
                    return Some(emitted(off, spans));
                }
            }
            _ => {}
        }
        None
    }

    fn leave(self, thread: ThreadId, to: SchedChange, spans: &mut impl Spans) -> Option<OffCpu> {
        let SchedChange::On { at, cpu, priority } = to else { return None };
        let (Self::New { woken } | Self::OffCpu { woken, .. }) = self else { return None };
        if let Some(Wake { at: begin, waker }) = woken {
            spans.sched_latency(&SchedLatency { thread, waker, cpu, priority, begin, end: at });
        }
        if let Self::OffCpu { since, reason, woken } = self
            && (woken.is_none() || reason == OffCpuReason::Preempted)
        {
            return Some(emitted(OffCpu { thread, reason, begin: since, end: at, waker: None }, spans));
        }
        None
    }
}

fn emitted(off: OffCpu, spans: &mut impl Spans) -> OffCpu {
    spans.off_cpu(&off);
    off
}
