//! Why one thread is off the CPUs: switched away, blocked, woken, waiting for a CPU.

use serde::{Deserialize, Serialize};

use crate::completeness::Epoch;
use crate::happening::Left;
use crate::id::{Renames, ThreadId, Time};
use crate::span::{Latency, Off, Spans, Why};

/// One thread in one piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Waits {
    /// The first wake-up, if the piece shows it before the first move …
    wake: Option<(Wake, Epoch)>,
    /// … which is this one.
    first: Option<(Move, Epoch)>,
    /// Where it is since its last move.
    place: Option<(Place, Epoch)>,
}

/// A wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Wake {
    at: Time,
    /// Who ran on the CPU that did it.
    waker: Option<ThreadId>,
}

/// On a CPU or off it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Move {
    /// It gets a CPU.
    On { at: Time, cpu: u32, priority: i32 },
    /// It leaves it.
    Off { at: Time, left: Left },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Place {
    /// It has just been made.
    New {
        woken: Option<Wake>,
    },
    OnCpu,
    Off {
        since: Time,
        why: Why,
        woken: Option<Wake>,
    },
    Dead,
}

impl Waits {
    pub(crate) fn shift(&mut self, losses: u64) {
        if let Some((_, epoch)) = &mut self.wake {
            epoch.shift(losses);
        }
        if let Some((_, epoch)) = &mut self.first {
            epoch.shift(losses);
        }
        if let Some((_, epoch)) = &mut self.place {
            epoch.shift(losses);
        }
    }

    pub(crate) fn rename(&mut self, renames: &Renames) {
        let rename = |wake: &mut Wake| wake.waker = wake.waker.map(|waker| renames.of(waker));
        if let Some((wake, _)) = &mut self.wake {
            rename(wake);
        }
        if let Some((Place::Off { woken: Some(wake), .. } | Place::New { woken: Some(wake) }, _)) =
            &mut self.place
        {
            rename(wake);
        }
    }

    /// It was made just now.
    pub(crate) fn fork(&mut self, epoch: Epoch) {
        self.place = Some((Place::New { woken: None }, epoch));
    }

    fn is_untouched(&self) -> bool {
        self.first.is_none() && self.place.is_none()
    }

    pub(crate) fn wake(
        &mut self,
        thread: ThreadId,
        at: Time,
        waker: Option<ThreadId>,
        epoch: Epoch,
        spans: &mut impl Spans,
    ) {
        let wake = Wake { at, waker };
        if self.is_untouched() {
            self.wake.get_or_insert((wake, epoch));
        } else if let Some((place, since)) = &mut self.place
            && since.agrees(epoch)
        {
            place.wake(thread, wake, spans);
        }
    }

    pub(crate) fn step(&mut self, thread: ThreadId, to: Move, epoch: Epoch, spans: &mut impl Spans) {
        if self.is_untouched() {
            self.first = Some((to, epoch));
        } else if let Some((place, since)) = self.place
            && since.agrees(epoch)
        {
            place.leave(thread, to, spans);
        }
        self.place = Some((Place::after(to), epoch));
    }

    /// Adds what came next, which has been shifted by the losses of this piece, which ends at `seam`.
    pub(crate) fn append(&mut self, thread: ThreadId, right: Self, seam: Epoch, spans: &mut impl Spans) {
        if self.is_untouched() {
            self.wake = self.wake.or(right.wake);
            self.first = right.first;
            self.place = right.place;
            return;
        }
        // Only what was true at the seam and still was at the first event behind it is relied on.
        let mut place = self.place.filter(|&(_, since)| since.agrees(seam)).map(|(place, _)| place);
        if let (Some(place), Some((wake, epoch))) = (&mut place, right.wake)
            && epoch.agrees(seam)
        {
            place.wake(thread, wake, spans);
        }
        if let (Some(place), Some((first, epoch))) = (place, right.first)
            && epoch.agrees(seam)
        {
            place.leave(thread, first, spans);
        }
        if right.place.is_some() {
            self.place = right.place;
        } else if let (Some(place), Some((there, _))) = (place, &mut self.place) {
            *there = place;
        }
    }

    /// Tells what is open at either end of the trace, which ends at `end`.
    pub(crate) fn finish(&self, thread: ThreadId, epoch: Epoch, end: Time, spans: &mut impl Spans) {
        if let (Some((wake, woken)), Some((Move::On { at, cpu, priority }, on))) = (self.wake, self.first)
            && woken.agrees(Epoch::FIRST)
            && on.agrees(Epoch::FIRST)
        {
            spans.latency(&Latency { thread, waker: wake.waker, cpu, priority, begin: wake.at, end: at });
        }
        if let Some((Place::Off { since, why, woken: None }, seen)) = self.place
            && seen.agrees(epoch)
        {
            spans.off(&Off { thread, why, begin: since, end: end.max(since), waker: None });
        }
    }
}

impl Place {
    fn after(to: Move) -> Self {
        match to {
            Move::On { .. } => Self::OnCpu,
            Move::Off { left: Left::Dead, .. } => Self::Dead,
            Move::Off { at, left: Left::Off(why) } => Self::Off { since: at, why, woken: None },
        }
    }

    /// The first wake-up since it left the CPU counts; none while it runs.
    fn wake(&mut self, thread: ThreadId, wake: Wake, spans: &mut impl Spans) {
        match self {
            Self::New { woken: woken @ None } => *woken = Some(wake),
            Self::Off { since, why, woken: woken @ None } => {
                if *why != Why::Preempted {
                    spans.off(&Off { thread, why: *why, begin: *since, end: wake.at, waker: wake.waker });
                }
                *woken = Some(wake);
            }
            _ => {}
        }
    }

    fn leave(self, thread: ThreadId, to: Move, spans: &mut impl Spans) {
        let Move::On { at, cpu, priority } = to else { return };
        let (Self::New { woken } | Self::Off { woken, .. }) = self else { return };
        if let Some(Wake { at: begin, waker }) = woken {
            spans.latency(&Latency { thread, waker, cpu, priority, begin, end: at });
        }
        if let Self::Off { since, why, woken } = self
            && (woken.is_none() || why == Why::Preempted)
        {
            spans.off(&Off { thread, why, begin: since, end: at, waker: None });
        }
    }
}
