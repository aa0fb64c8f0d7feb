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

    pub(crate) fn wake(
        &mut self,
        thread: ThreadId,
        at: Time,
        waker: Option<ThreadId>,
        loss_count: LossCount,
        spans: &mut impl Spans,
    ) {
        let wake = Wake { at, waker };
        if self.is_untouched() {
            self.wake.get_or_insert((wake, loss_count));
        } else if let Some((state, since)) = &mut self.state
            && since.no_loss_between(loss_count)
        {
            state.wake(thread, wake, spans);
        }
    }

    pub(crate) fn step(
        &mut self,
        thread: ThreadId,
        to: SchedChange,
        loss_count: LossCount,
        spans: &mut impl Spans,
    ) {
        if self.is_untouched() {
            self.first = Some((to, loss_count));
        } else if let Some((state, since)) = self.state
            && since.no_loss_between(loss_count)
        {
            state.leave(thread, to, spans);
        }
        self.state = Some((SchedState::after(to), loss_count));
    }

    /// Appends the next piece, which has been shifted by the losses of this one, which ends at `boundary`.
    pub(crate) fn append(
        &mut self,
        thread: ThreadId,
        right: Self,
        boundary: LossCount,
        spans: &mut impl Spans,
    ) {
        if self.is_untouched() {
            self.wake = self.wake.or(right.wake);
            self.first = right.first;
            self.state = right.state;
            return;
        }
        // Only what was true at the boundary and still was at the first event after it is relied on.
        let mut state =
            self.state.filter(|&(_, since)| since.no_loss_between(boundary)).map(|(state, _)| state);
        if let (Some(state), Some((wake, loss_count))) = (&mut state, right.wake)
            && loss_count.no_loss_between(boundary)
        {
            state.wake(thread, wake, spans);
        }
        if let (Some(state), Some((first, loss_count))) = (state, right.first)
            && loss_count.no_loss_between(boundary)
        {
            state.leave(thread, first, spans);
        }
        if right.state.is_some() {
            self.state = right.state;
        } else if let (Some(state), Some((there, _))) = (state, &mut self.state) {
            *there = state;
        }
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

    /// Emits what is open at either end of the trace, which ends at `end`.
    pub(crate) fn finish(&self, thread: ThreadId, loss_count: LossCount, end: Time, spans: &mut impl Spans) {
        self.finish_begin(thread, spans);
        if let Some((SchedState::OffCpu { since, reason, woken: None }, seen)) = self.state
            && seen.no_loss_between(loss_count)
        {
            spans.off_cpu(&OffCpu { thread, reason, begin: since, end: end.max(since), waker: None });
        }
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
    fn wake(&mut self, thread: ThreadId, wake: Wake, spans: &mut impl Spans) {
        match self {
            Self::New { woken: woken @ None } => *woken = Some(wake),
            Self::OffCpu { since, reason, woken: woken @ None } => {
                if *reason != OffCpuReason::Preempted {
                    spans.off_cpu(&OffCpu {
                        thread,
                        reason: *reason,
                        begin: *since,
                        end: wake.at,
                        waker: wake.waker,
                    });
                }
                *woken = Some(wake);
            }
            _ => {}
        }
    }

    fn leave(self, thread: ThreadId, to: SchedChange, spans: &mut impl Spans) {
        let SchedChange::On { at, cpu, priority } = to else { return };
        let (Self::New { woken } | Self::OffCpu { woken, .. }) = self else { return };
        if let Some(Wake { at: begin, waker }) = woken {
            spans.sched_latency(&SchedLatency { thread, waker, cpu, priority, begin, end: at });
        }
        if let Self::OffCpu { since, reason, woken } = self
            && (woken.is_none() || reason == OffCpuReason::Preempted)
        {
            spans.off_cpu(&OffCpu { thread, reason, begin: since, end: at, waker: None });
        }
    }
}
