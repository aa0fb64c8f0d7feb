//! Pieces mapped on several cores and merged as they are ready: those of one host, or of many in one queue.

use std::fmt::Display;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use isochrone_time::RawNs;

use crate::border::{Border, Piece};
use crate::piece_merger::{PieceMerger, PieceModel, join};
use crate::plan::{Plan, Step};
use crate::pool::{in_order, into_inner, lock};
use isochrone_hosts::Host;
use isochrone_hosts::ReadReport;
use isochrone_hosts::{HostEvents, Observer, Progress};

/// A job of map and merge: events of a piece to a model, models of two neighbours to one.
///
/// The merge invariant: the model of a whole is the merged models of any pieces of it, whatever is merged
/// first.
pub trait MapMerge: Sync {
    /// The model of a piece.
    type Model: Send;
    /// Why two models cannot be merged.
    type Error: Display + Send;

    /// Makes a model of the events and losses of a piece, and reads them to their end.
    fn map<'t>(&self, host: &Host<'t>, piece: Piece, events: &mut HostEvents<'_, 't>) -> Self::Model;

    /// The model of a piece from which everything is missing, between two raw times.
    fn gap(&self, host: &Host<'_>, from: RawNs, to: RawNs) -> Self::Model;

    /// The model of a piece that was mapped before, if it was.
    fn mapped(&self, _: &Host<'_>, _: Piece) -> Option<PieceModel<Self::Model>> {
        None
    }

    /// What is given the events of a piece of a host while it is mapped.
    fn observer(&self, _: &Host<'_>) -> Option<Observer<'_>> {
        None
    }

    /// Whether nobody wants the model any more: then no further piece is mapped, and what is merged is of
    /// some pieces only.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Makes one model of those of two neighbours.
    ///
    /// # Errors
    /// They are no neighbours.
    fn merge(&self, left: Self::Model, right: Self::Model) -> Result<Self::Model, Self::Error>;
}

/// A host that is to be mapped.
#[derive(Debug, Clone)]
pub struct Job<'r, 't, M> {
    /// The host.
    pub host: &'r Host<'t>,
    /// Where it is cut.
    pub plan: Plan,
    /// What makes models of its pieces.
    pub mapper: M,
}

/// Maps the pieces of a plan on some threads and merges them. The result depends neither on the threads nor
/// on the cuts. At most one piece a thread is being read; models that wait for their neighbours are as few.
///
/// # Errors
/// The mapper could not merge two models.
pub fn map_merge<M: MapMerge>(
    host: &Host<'_>,
    plan: &Plan,
    threads: usize,
    mapper: &M,
    progress: Option<Progress<'_>>,
) -> Result<PieceModel<M::Model>, M::Error> {
    let task = Task::new(host, plan.steps(), mapper, progress);
    in_order(task.steps.len(), threads, |step| {
        task.map(step);
    });
    task.finish()
}

/// Maps the pieces of many hosts on some threads, and merges those of each: what `done` makes of the model
/// that [`map_merge`] gives for each job, in their order. All pieces are in one queue, host by host, so that
/// no thread waits for the last piece of a host while another host has pieces left. `done` is called as soon
/// as a host is whole, with the number of its job, while others are read.
///
/// At most one piece a thread is being read; besides what is made of hosts that are done, at most two models
/// a thread, and one more, wait for their neighbours. Where two models of a host cannot be merged, its other
/// pieces are left out, and the other hosts are mapped anyway.
pub fn map_merge_all<M: MapMerge, R: Send>(
    jobs: &[Job<'_, '_, M>],
    threads: usize,
    done: impl Fn(usize, PieceModel<M::Model>) -> R + Sync,
    progress: Option<Progress<'_>>,
) -> Vec<Result<R, M::Error>> {
    let tasks: Vec<Task<'_, '_, M>> =
        jobs.iter().map(|job| Task::new(job.host, job.plan.steps(), &job.mapper, progress)).collect();
    let all = |(job, task): (usize, &Task<'_, '_, M>)| (0..task.steps.len()).map(move |step| (job, step));
    let queue: Vec<(usize, usize)> = tasks.iter().enumerate().flat_map(all).collect();
    let finish = |job: usize| tasks[job].finish().map(|part| done(job, part));
    let results: Vec<_> = jobs.iter().map(|_| Mutex::new(None)).collect();
    in_order(queue.len(), threads, |index| {
        let (job, step) = queue[index];
        if tasks[job].map(step) {
            let result = finish(job);
            *lock(&results[job]) = Some(result);
        }
    });
    // A plan without steps has no last one.
    let results = results.into_iter().enumerate();
    results.map(|(job, result)| into_inner(result).unwrap_or_else(|| finish(job))).collect()
}

/// Maps one piece of a plan, or of none.
pub fn map_piece<M: MapMerge>(
    host: &Host<'_>,
    step: Step,
    mapper: &M,
    progress: Option<Progress<'_>>,
) -> PieceModel<M::Model> {
    let piece = step.piece;
    if let Some(mapped) = mapper.mapped(host, piece) {
        return mapped;
    }
    if step.is_gap {
        let model = mapper.gap(host, piece.from.time(), piece.to.time());
        return PieceModel { piece, model, report: ReadReport::default() };
    }
    let events = host.read(piece.window()).with_progress(progress);
    let mut events = events.with_observer(mapper.observer(host));
    let model = mapper.map(host, piece, &mut events);
    PieceModel { piece, model, report: events.into_report() }
}

/// The work on a host, which threads share.
struct Task<'r, 't, M: MapMerge> {
    host: &'r Host<'t>,
    steps: &'r [Step],
    mapper: &'r M,
    progress: Option<Progress<'r>>,
    /// Steps that are still to be mapped or merged.
    left: AtomicUsize,
    merger: Mutex<PieceMerger<M::Model>>,
    /// Why there will be no model of the host.
    error: Mutex<Option<M::Error>>,
}

impl<'r, 't, M: MapMerge> Task<'r, 't, M> {
    fn new(host: &'r Host<'t>, steps: &'r [Step], mapper: &'r M, progress: Option<Progress<'r>>) -> Self {
        let (merger, error) = (Mutex::new(PieceMerger::default()), Mutex::new(None));
        let left = AtomicUsize::new(steps.len());
        Self { host, steps, mapper, progress, left, merger, error }
    }

    /// Maps a step and merges it with its neighbours, while others work. Steps are begun in their order, so
    /// that few wait for those before them. Returns whether it was the last one: then the host is whole.
    fn map(&self, step: usize) -> bool {
        if lock(&self.error).is_none() && !self.mapper.is_stopped() {
            let part = map_piece(self.host, self.steps[step], self.mapper, self.progress);
            if let Err(error) = self.assemble(part) {
                lock(&self.error).get_or_insert(error);
            }
        }
        // What others have assembled is seen through the mutex; the order makes it seen before this number.
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }

    fn assemble(&self, mut part: PieceModel<M::Model>) -> Result<(), M::Error> {
        loop {
            let neighbours = lock(&self.merger).place(part);
            let Some((left, right)) = neighbours else { return Ok(()) };
            part = join(left, right, &mut |left, right| self.mapper.merge(left, right))?;
        }
    }

    /// The model of the host, once, when all its steps have been mapped.
    fn finish(&self) -> Result<PieceModel<M::Model>, M::Error> {
        let whole = std::mem::take(&mut *lock(&self.merger)).finish();
        if let Some(error) = lock(&self.error).take() {
            return Err(error);
        }
        let nothing = Step { piece: Piece { from: Border::Begin, to: Border::Begin }, is_gap: false };
        // Without pieces there is nothing; with pieces of a plan, which are one after the other, one part is
        // left.
        Ok(whole.unwrap_or_else(|_| map_piece(self.host, nothing, self.mapper, None)))
    }
}
