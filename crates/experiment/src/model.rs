//! Reading hosts: all pieces of all of them on one pool of threads, and what is known of each when all of it
//! has been read.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use isochrone_analysis::{HostContext, Need, ThreadIdentity};
use isochrone_hosts::{Progress, ReadReport, Work};
use isochrone_kernel::scratch::ScratchError;
use isochrone_kernel::{
    Facts, Finished, MergeError, Missed, Name, PIECE_BEGIN, PartialState, Spans, ThreadId, WithThreads,
};
use isochrone_periods::Definitions;
use isochrone_pipeline::{Cuts, Job, Observe, Observed, PieceModel, Plan, SpanMapper, map_merge_all};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::{Stamp, TimedHost, Timing, TooManySteps};

/// Each thread has pieces of its own: more than machines have cores would only make pieces that cost more to
/// merge than to read.
pub const MOST_THREADS: usize = 256;

/// How the work is spread. No result depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many threads read, at most [`MOST_THREADS`]; as many as there are cores, unless told.
    pub threads: Option<NonZeroUsize>,
    /// Into how many pieces of equal time each host is cut; as many as keep the threads busy, unless told.
    pub pieces: Option<NonZeroUsize>,
}

impl Spread {
    /// The number of threads: that which was told, else as many as there are cores, at most [`MOST_THREADS`].
    pub fn threads(self) -> usize {
        let threads = self.threads.or_else(|| thread::available_parallelism().ok());
        threads.map_or(1, NonZeroUsize::get).min(MOST_THREADS)
    }

    fn plans(self, hosts: &[&TimedHost<'_>]) -> Vec<Plan> {
        let traced = hosts.iter().map(|host| &host.traced);
        match self.pieces {
            Some(pieces) => traced.map(|host| Plan::new(host, &Cuts::Times(pieces.get()))).collect(),
            None => Plan::for_hosts(traced, self.threads()),
        }
    }
}

/// What is wanted of hosts beside what all of them give.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// System calls as lines, which takes most of the time then.
    pub lines: bool,
    /// Periods of these definitions.
    pub periods: Option<Arc<Definitions>>,
    /// Whether it was recorded before, in traces that are not open now, which threads run.
    pub has_switches: bool,
    /// Whether phases of programs wait until it is known what is missing of them.
    pub defers_phases: bool,
    /// The work that reading them is a part of: when that is stopped, there are no models.
    pub work: Option<Arc<Work>>,
}

impl Wanted {
    /// Whether nobody waits for the models any more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.is_stopped())
    }
}

/// A host of which everything has been read: its model, and its clock.
#[derive(Debug)]
pub struct ModelledHost<'o, S> {
    name: String,
    timing: Timing<'o>,
    /// What it did not record.
    lacking: Vec<Need>,
    /// What was heard of its trace, and who was there.
    pub model: Finished<S>,
    /// What was read, and what was missing.
    pub report: ReadReport,
}

/// Why there is no model of a host.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModelError {
    /// Nobody knows how to put its times on the clock that is asked for.
    #[error("{0}: no correction for its clock is known")]
    Uncorrected(String),
    /// It was stopped before it was read.
    #[error("{0}: reading it was stopped")]
    Stopped(String),
    /// The time is to be cut into so many steps that nobody wants them.
    #[error(transparent)]
    TooManySteps(#[from] TooManySteps),
    /// Its mapped chunks do not have what is asked for.
    #[error("{host}: {why}")]
    Chunks {
        /// The host's name.
        host: String,
        /// What they lack, or why they cannot be read.
        why: String,
    },
    /// What was put into a temporary file is not there any more.
    #[error("{host}: {source}")]
    Scratch {
        /// The host's name.
        host: String,
        /// Why it cannot be read.
        source: ScratchError,
    },
    /// The pieces of its trace do not become one model, which does not happen with the pieces of a plan.
    #[error("{host}: the pieces of its trace do not fit")]
    Merge {
        /// The host's name.
        host: String,
        /// Which pieces.
        source: MergeError,
    },
}

/// Reads hosts that have a timing, and gives the model of each, in their order.
pub(crate) fn of_traces<'o, S: Spans + Send, F: Fn() -> S + Sync>(
    hosts: &[&TimedHost<'o>],
    spread: Spread,
    wanted: &Wanted,
    make: impl Fn(&TimedHost<'o>, Timing<'o>) -> F,
    progress: Option<Progress<'_>>,
) -> Vec<Result<(Finished<S>, ReadReport), ModelError>> {
    let plans = spread.plans(hosts);
    // A finished model is much smaller: it is made as soon as its host is whole.
    let finish =
        |PieceModel { model, report, .. }: PieceModel<Model<S>>| (model.finish().with_threads(), report);
    read(hosts, plans, (spread.threads(), None), wanted, make, finish, progress)
}

/// What a piece of a host is mapped to: the consumer, and the threads that have ended.
pub(crate) type Model<S> = PartialState<WithThreads<S>>;

/// Reads what plans say of hosts, all of which have a timing: what `finish` makes of the model of each, in
/// their order. `by`: who is given the events, too.
pub(crate) fn read<'o, S: Spans + Send, F: Fn() -> S + Sync, R: Send>(
    hosts: &[&TimedHost<'o>],
    plans: Vec<Plan>,
    (threads, by): (usize, Option<&dyn Observe>),
    wanted: &Wanted,
    make: impl Fn(&TimedHost<'o>, Timing<'o>) -> F,
    finish: impl Fn(PieceModel<Model<S>>) -> R + Sync,
    progress: Option<Progress<'_>>,
) -> Vec<Result<R, ModelError>> {
    let mut jobs = Vec::with_capacity(hosts.len());
    for (plan, host) in plans.into_iter().zip(hosts) {
        let Some(timing) = host.timing else { continue };
        let consumer = make(host, timing);
        let mapper = SpanMapper::new(move || WithThreads::new(consumer()));
        let mapper = mapper.lines(wanted.lines).periods(wanted.periods.clone()).switches(wanted.has_switches);
        let mapper = mapper.deferring_phases(wanted.defers_phases).of_work(wanted.work.clone());
        jobs.push(Job { host: &host.traced, plan, mapper: Observed { mapper, by } });
    }
    let parts = map_merge_all(&jobs, threads, |_, part| finish(part), progress);
    let is_stopped = wanted.is_stopped();
    let named = |(part, host): (Result<R, MergeError>, &&TimedHost<'o>)| {
        // What is there then may be of some pieces only.
        if is_stopped {
            return Err(ModelError::Stopped(host.name().to_owned()));
        }
        part.map_err(|source| ModelError::Merge { host: host.name().to_owned(), source })
    };
    parts.into_iter().zip(hosts).map(named).collect()
}

impl<'o, S> ModelledHost<'o, S> {
    /// Of the model of a host.
    pub(crate) fn new(
        host: &TimedHost<'_>,
        timing: Timing<'o>,
        (model, report): (Finished<S>, ReadReport),
    ) -> Self {
        Self::of_finished(host.name().to_owned(), timing, host.recorded().lacking(), (model, report))
    }
}

impl<'o, S: Spans> ModelledHost<'o, S> {
    /// Of a model that was put together from pieces. `lacking`: what the host did not record.
    pub(crate) fn of_pieces(
        name: String,
        timing: Timing<'o>,
        lacking: Vec<Need>,
        part: PieceModel<Model<S>>,
    ) -> Self {
        let PieceModel { model, report, .. } = part;
        Self::of_finished(name, timing, lacking, (model.finish().with_threads(), report))
    }
}

impl<'o, S> ModelledHost<'o, S> {
    /// Of a model that is finished.
    pub(crate) fn of_finished(
        name: String,
        timing: Timing<'o>,
        lacking: Vec<Need>,
        (model, report): (Finished<S>, ReadReport),
    ) -> Self {
        Self { name, timing, lacking, model, report }
    }

    /// What people call it.
    pub(crate) fn name_of_host(&self) -> &str {
        &self.name
    }

    /// What its raw times mean.
    pub fn timing(&self) -> Timing<'o> {
        self.timing
    }

    /// A raw time of it on the requested clock, with its bounds.
    pub fn stamp(&self, raw: RawNs) -> Stamp {
        self.timing.stamp(raw)
    }
}

impl<S: Sync> HostContext for ModelledHost<'_, S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn window(&self) -> Option<Window<RawNs>> {
        self.model.range.map(|(first, last)| Window::new(first, last))
    }

    fn unix(&self, raw: RawNs) -> UnixNs {
        self.timing.unix(raw)
    }

    fn thread(&self, thread: ThreadId) -> Option<ThreadIdentity<'_>> {
        let facts = self.model.threads.get(thread)?;
        Some(ThreadIdentity {
            tid: thread.tid(),
            pid: facts.pid,
            leader: self.model.threads.leader(thread, facts),
            ppid: facts.parent,
            comm: facts.names.last().map(|name| name.as_str().into()),
            is_kernel: facts.is_kernel,
            inner: self.model.threads.inner(thread, facts),
            born: born(thread, facts),
            died: facts.dead,
        })
    }

    fn comm_at(&self, thread: ThreadId, at: RawNs) -> Option<&str> {
        self.model.threads.get(thread)?.names.at(at).map(Name::as_str)
    }

    fn lacks(&self, need: Need) -> bool {
        self.lacking.contains(&need)
    }

    fn missed(&self) -> &Missed {
        &self.model.missed
    }

    fn disk(&self, device: u32) -> Option<&Name> {
        self.model.disks.get(&device)
    }

    fn threads(&self) -> Vec<ThreadId> {
        let named = |thread: &ThreadId| matches!(thread, ThreadId::Thread { .. });
        self.model.threads.iter().map(|(thread, _)| thread).filter(named).collect()
    }
}

/// When a thread was seen to begin.
fn born(thread: ThreadId, facts: &Facts) -> Option<RawNs> {
    match thread {
        ThreadId::Thread { born, .. } if born != PIECE_BEGIN && facts.was_forked => Some(born),
        _ => None,
    }
}
