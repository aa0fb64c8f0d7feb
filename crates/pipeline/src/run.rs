//! Pieces mapped on several cores and merged as they are ready.

use std::fmt::Display;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use isochrone_kernel::Time;

use crate::assembly::{Assembly, Part, join};
use crate::border::{Border, Piece};
use crate::plan::{Plan, Step};
use isochrone_hosts::Host;
use isochrone_hosts::Report;
use isochrone_hosts::{HostEvents, Progress};

/// How events become models, and models one model.
///
/// Its part of the law: the model of a whole is the merged models of any pieces of it, whatever is merged first.
pub trait Mapper: Sync {
    /// What becomes of the events of a piece.
    type Model: Send;
    /// Why two models cannot be merged.
    type Error: Display + Send;

    /// Makes a model of the events and losses of a piece, and reads them to their end.
    fn map<'t>(&self, host: &Host<'t>, piece: Piece, events: &mut HostEvents<'_, 't>) -> Self::Model;

    /// The model of a piece from which everything is missing, between two raw times.
    fn gap(&self, host: &Host<'_>, from: Time, to: Time) -> Self::Model;

    /// Makes one model of those of two neighbours.
    ///
    /// # Errors
    /// They are no neighbours.
    fn merge(&self, left: Self::Model, right: Self::Model) -> Result<Self::Model, Self::Error>;
}

/// Maps the pieces of a plan on so many threads and merges them. The result depends neither on the threads nor on the
/// cuts.
/// At most one piece a thread is being read; models that wait for their neighbours are as few.
///
/// # Errors
/// The mapper could not merge two models.
pub fn map_merge<M: Mapper>(
    host: &Host<'_>,
    plan: &Plan,
    threads: usize,
    mapper: &M,
    progress: Option<Progress<'_>>,
) -> Result<Part<M::Model>, M::Error> {
    let job = Job {
        host,
        steps: plan.steps(),
        mapper,
        progress,
        next: AtomicUsize::new(0),
        assembly: Mutex::new(Assembly::default()),
        error: Mutex::new(None),
        is_stopped: AtomicBool::new(false),
    };
    let threads = threads.min(plan.steps().len());
    let pool = (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
    match pool {
        Some(Ok(pool)) => pool.scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|_| job.work());
            }
        }),
        // Where no threads are to be had, one does it all.
        Some(Err(_)) | None => job.work(),
    }
    let (error, assembly) = (into_inner(job.error), into_inner(job.assembly));
    if let Some(error) = error {
        return Err(error);
    }
    let nothing = Step { piece: Piece { from: Border::Begin, to: Border::Begin }, is_gap: false };
    // Without pieces there is nothing; with pieces of a plan, which are one behind the other, one part is left.
    Ok(assembly.finish().unwrap_or_else(|_| map_piece(host, nothing, mapper, None)))
}

/// Maps one piece of a plan, or of none.
pub fn map_piece<M: Mapper>(
    host: &Host<'_>,
    step: Step,
    mapper: &M,
    progress: Option<Progress<'_>>,
) -> Part<M::Model> {
    let piece = step.piece;
    if step.is_gap {
        let model = mapper.gap(host, piece.from.time(), piece.to.time());
        return Part { piece, model, report: Report::default() };
    }
    let mut events = host.read(piece.window()).with_progress(progress);
    let model = mapper.map(host, piece, &mut events);
    Part { piece, model, report: events.into_report() }
}

/// What threads share.
struct Job<'r, 't, M: Mapper> {
    host: &'r Host<'t>,
    steps: &'r [Step],
    mapper: &'r M,
    progress: Option<Progress<'r>>,
    /// The next piece to be mapped.
    next: AtomicUsize,
    assembly: Mutex<Assembly<M::Model>>,
    error: Mutex<Option<M::Error>>,
    is_stopped: AtomicBool,
}

impl<M: Mapper> Job<'_, '_, M> {
    /// Maps pieces until there are no more. They are taken in their order, so that few wait for those before them.
    fn work(&self) {
        while !self.is_stopped.load(Ordering::Relaxed)
            && let Some(&step) = self.steps.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            let part = map_piece(self.host, step, self.mapper, self.progress);
            if let Err(error) = self.assemble(part) {
                self.is_stopped.store(true, Ordering::Relaxed);
                lock(&self.error).get_or_insert(error);
            }
        }
    }

    /// Merges a part with its neighbours, while others work.
    fn assemble(&self, mut part: Part<M::Model>) -> Result<(), M::Error> {
        loop {
            let neighbours = lock(&self.assembly).place(part);
            let Some((left, right)) = neighbours else { return Ok(()) };
            part = join(left, right, &mut |left, right| self.mapper.merge(left, right))?;
        }
    }
}

/// What a mutex holds; where somebody panicked with it, too: nothing is left half done in here.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
