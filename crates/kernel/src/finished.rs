//! The model of a whole trace: the consumer of its spans, and its threads.

use std::collections::BTreeMap;

use crate::event::Namespace;
use crate::id::{Name, PIECE_BEGIN, ThreadId, Time};
use crate::missed::Missed;
use crate::partial_state::PartialState;
use crate::periods::PeriodTally;
use crate::retire::sort_heirs;
use crate::span::{Spans, Unknown};
use crate::thread::Facts;

/// All of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished<S> {
    /// The consumer, with all spans of the trace.
    pub spans: S,
    /// The threads, except those that have ended: these were emitted as [`Retired`](crate::Retired), and
    /// [`WithThreads`](crate::WithThreads) keeps them.
    pub threads: Threads,
    /// Names of disks and partitions by device, as far as the dump at the begin of the trace has them.
    pub disks: BTreeMap<u32, Name>,
    /// Times of the first and the last event of the kernel, or of programs where the kernel was not traced, raw ns.
    pub range: Option<(Time, Time)>,
    /// Number of events.
    pub events: u64,
    /// Number of losses, missing pieces included.
    pub losses: u64,
    /// Number of lost events, as far as known.
    pub events_lost: u64,
    /// Pieces that are missing, raw ns.
    pub gaps: Vec<(Time, Time)>,
    /// When events of the kernel may be missing, raw ns.
    pub missed: Missed,
    /// CPUs that events of others refer to and that have no events: what they did is unknown.
    pub missing_cpus: Vec<u32>,
    /// The periods that were not emitted, by definition.
    pub period_tallies: Vec<PeriodTally>,
}

impl<S> Finished<S> {
    /// The same with another consumer, which was made of this one; or why that could not be made.
    ///
    /// # Errors
    /// Those of `change`.
    pub fn try_with_spans<T, E>(self, change: impl FnOnce(S) -> Result<T, E>) -> Result<Finished<T>, E> {
        let Self {
            spans,
            threads,
            disks,
            range,
            events,
            losses,
            events_lost,
            gaps,
            missed,
            missing_cpus,
            period_tallies,
        } = self;
        let spans = change(spans)?;
        Ok(Finished {
            spans,
            threads,
            disks,
            range,
            events,
            losses,
            events_lost,
            gaps,
            missed,
            missing_cpus,
            period_tallies,
        })
    }
}

/// The facts of all threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Threads(BTreeMap<ThreadId, Facts>);

impl Threads {
    /// Returns the facts of a thread.
    pub fn get(&self, thread: ThreadId) -> Option<&Facts> {
        self.0.get(&thread)
    }

    /// All threads, by tid and begin of life.
    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, &Facts)> {
        self.0.iter().map(|(&thread, facts)| (thread, facts))
    }

    /// Adds the facts of other threads.
    pub(crate) fn add(&mut self, others: BTreeMap<ThreadId, Facts>) {
        self.0.extend(others);
    }

    /// Gives threads that an exec renumbered the facts of the threads that they were before.
    fn inherit(&mut self, heirs: &mut [(ThreadId, ThreadId)]) {
        sort_heirs(heirs);
        for &(heir, was) in heirs.iter() {
            let before = self.0.get(&was).cloned();
            if let (Some(before), Some(facts)) = (before, self.0.get_mut(&heir)) {
                facts.inherit(before);
            }
        }
    }

    /// The leader of a thread's process: tids are reused, so it is the last thread with the tid of the process that is not
    /// younger than the thread. It need not have been seen itself.
    pub fn leader(&self, thread: ThreadId) -> Option<ThreadId> {
        let ThreadId::Thread { tid, born } = thread else { return None };
        let pid = self.get(thread)?.pid?;
        if pid == tid {
            return Some(thread);
        }
        let first = ThreadId::Thread { tid: pid, born: PIECE_BEGIN };
        let known = self.0.range(first..=ThreadId::Thread { tid: pid, born });
        Some(known.last().map_or(first, |(&leader, _)| leader))
    }

    /// The ids of a thread in its innermost pid namespace, as [`Facts::inner`] has them, with the pid that its leader has there.
    pub fn inner(&self, thread: ThreadId) -> Option<Namespace> {
        let inner = self.get(thread)?.inner?;
        let leader = || self.get(self.leader(thread)?)?.inner.filter(|it| it.inode == inner.inode);
        Some(Namespace { vpid: inner.vpid.or_else(|| Some(leader()?.vtid)), ..inner })
    }
}

impl<S: Spans> PartialState<S> {
    /// Ends the trace: emits all that is open at either end of it. `O(n log n)` in what is kept.
    pub fn finish(mut self) -> Finished<S> {
        self.settle_begin();
        let Self {
            range,
            programs_range,
            events,
            complete,
            events_lost,
            gaps,
            missed,
            cpus,
            referenced_cpus,
            threads,
            deferred_effects,
            files,
            requests,
            disks,
            periods,
            mut spans,
            ..
        } = self;
        let span = range.unwrap_or_default();
        let losses = complete.losses();
        let end = complete.loss_count(span.1);
        if range.is_some() {
            for (cpu, there) in cpus.sorted() {
                there.timeline.finish(cpu, span, there.over, &mut spans);
                there.interrupts.finish(cpu, &mut spans);
                there.contexts.finish(&mut spans);
                there.call.finish(&mut spans);
            }
        }
        deferred_effects.sorted().into_iter().for_each(|(_, deferred)| deferred.finish(&mut spans));
        let mut missing_cpus = referenced_cpus;
        missing_cpus.retain(|cpu| cpus.get(*cpu).is_none());
        for &cpu in &missing_cpus {
            spans.unknown(&Unknown { cpu, thread: None, begin: span.0, end: span.1 });
        }
        for (&thread, there) in threads.sorted() {
            there.call.finish(&mut spans);
            there.call_off.finish(&mut spans);
            there.waits.finish(thread, end, span.1, &mut spans);
        }
        files.finish(span.1, &mut spans);
        requests.finish(&mut spans);
        let period_tallies = periods.finish(&mut spans);
        let mut heirs: Vec<(ThreadId, ThreadId)> =
            threads.sorted().into_iter().filter_map(|(&thread, there)| Some((thread, there.was?))).collect();
        let mut threads =
            Threads(threads.into_sorted().into_iter().map(|(thread, there)| (thread, there.facts)).collect());
        threads.inherit(&mut heirs);
        for (&thread, facts) in &mut threads.0 {
            *facts = std::mem::take(facts).settled(thread);
        }
        Finished {
            spans,
            threads,
            disks,
            range: range.or(programs_range),
            events,
            losses,
            events_lost,
            gaps,
            missed,
            missing_cpus,
            period_tallies,
        }
    }
}
