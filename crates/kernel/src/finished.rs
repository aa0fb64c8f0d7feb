//! The model of a whole trace: the consumer of its spans, and its threads.

use std::collections::BTreeMap;

use crate::id::{Name, Namespace, ThreadId, Time};
use crate::missed::Missed;
use crate::partial_state::PartialState;
use crate::periods::PeriodTally;
use crate::span::Spans;
use crate::thread::{Facts, Thread, sort_exec_renames};

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
    /// Times of the first and the last event of the kernel, or of programs where the kernel was not traced,
    /// raw ns.
    pub range: Option<(Time, Time)>,
    /// Number of events.
    pub events: u64,
    /// Number of losses of the kernel's events, missing pieces included.
    pub losses: u64,
    /// Number of lost events, as far as known.
    pub events_lost: u64,
    /// Pieces that are missing, raw ns.
    pub gaps: Vec<(Time, Time)>,
    /// Times in which events of the kernel may be missing, raw ns.
    pub missed: Missed,
    /// CPUs that events of others refer to and that have no events: what they did is unknown.
    pub missing_cpus: Vec<u32>,
    /// The periods that were not emitted, by definition.
    pub period_tallies: Vec<PeriodTally>,
}

impl<S> Finished<S> {
    /// The same model with another consumer, which `change` makes of this one.
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

    /// The facts of threads at the end of the trace; those that an exec renamed have those of the threads
    /// that they were before.
    fn new(threads: Vec<(ThreadId, Thread)>) -> Self {
        let mut renames: Vec<_> =
            threads.iter().filter_map(|(id, thread)| Some((*id, thread.was?))).collect();
        sort_exec_renames(&mut renames);
        let mut all: BTreeMap<ThreadId, Facts> =
            threads.into_iter().map(|(id, thread)| (id, thread.facts)).collect();
        for (id, was) in renames {
            let before = all.get(&was).cloned();
            if let (Some(before), Some(facts)) = (before, all.get_mut(&id)) {
                facts.inherit(before);
            }
        }
        for (&id, facts) in &mut all {
            *facts = std::mem::take(facts).settled(id);
        }
        Self(all)
    }

    /// The leader of the process of a thread with these facts: see [`ThreadId::leader`].
    pub fn leader(&self, thread: ThreadId, facts: &Facts) -> Option<ThreadId> {
        thread.leader(facts.pid?, |range| Some(*self.0.range(range).next_back()?.0))
    }

    /// The ids of a thread with these facts in its innermost pid namespace, as [`Facts::inner`] has them,
    /// with the pid that its leader has there.
    pub fn inner(&self, thread: ThreadId, facts: &Facts) -> Option<Namespace> {
        let inner = facts.inner?;
        let leader = || self.get(self.leader(thread, facts)?)?.inner.filter(|it| it.inode == inner.inode);
        Some(Namespace { vpid: inner.vpid.or_else(|| Some(leader()?.vtid)), ..inner })
    }
}

impl<S: Spans> PartialState<S> {
    /// Ends the trace: emits all that is open at either end of it. `O(n log n)` in what is kept.
    pub fn finish(mut self) -> Finished<S> {
        self.resolve_begin();
        let Self { extent, losses, cpus, threads, deferred, files, disks, periods, mut spans, .. } = self;
        let range = extent.kernel.unwrap_or_default();
        let end = losses.kernel.loss_count(range.1);
        cpus.finish(extent.kernel, &mut spans);
        deferred.sorted().into_iter().for_each(|(_, deferred)| deferred.finish(&mut spans));
        let missing_cpus = cpus.finish_missing(range, &mut spans);
        let threads = threads.into_sorted();
        for (id, thread) in &threads {
            thread.call.finish(&mut spans);
            thread.call_off.finish(&mut spans);
            thread.waits.finish(*id, end, range.1, &mut spans);
            if let Some(faults) = &thread.faults {
                faults.finish(*id, Some((range.1, end)), &mut spans);
            }
        }
        files.finish(range.1, &mut spans);
        let disks = disks.finish(&mut spans);
        let period_tallies = periods.finish(&mut spans);
        Finished {
            spans,
            threads: Threads::new(threads),
            disks,
            range: extent.kernel.or(extent.programs),
            events: extent.events,
            losses: losses.kernel.losses(),
            events_lost: losses.events,
            gaps: losses.gaps,
            missed: losses.missed,
            missing_cpus,
            period_tallies,
        }
    }
}
