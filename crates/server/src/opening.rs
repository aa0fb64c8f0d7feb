//! The opening of a session: traces, their clocks and their store are opened or made, then jobs are done with
//! them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use isochrone_experiment::{
    Experiment, Indexing, Inputs, Opened, Spread, TimeBase, fresh_store, index_if_stale, stored_clocks,
    total_bytes,
};
use isochrone_store::Store;
use isochrone_time::Window;
use serde_json::Value;
use uuid::Uuid;

use crate::session::{Job, Session};
use crate::stage::Stage;
use crate::view::ExperimentView;
use crate::view::overview::Overview;
use crate::view::sample::Sample;

/// Workers of a session. Requests mostly wait for memory, not for each other.
const WORKERS: usize = 4;

/// Opens traces and their store, then does jobs until the session is dropped. An error before that is the
/// last stage of the session.
pub(crate) fn open_and_work(
    session: Arc<Session>,
    path: &Path,
    base: TimeBase,
    spread: Spread,
    jobs: Receiver<Job>,
) {
    let (opened, stored) = match caught(|| load(&session, path, base, spread)) {
        Ok(loaded) => loaded,
        Err(why) => return session.progress.fail(why),
    };
    let experiment = opened.experiment();
    let view_of = |store| {
        caught(|| {
            let view = ExperimentView::new(&opened, &experiment, store, session.command.clone());
            let view = view.map_err(|error| error.to_string())?;
            let summary = view.summary(&session.name, &session.paths);
            let _ = session.identity.set(identity(store, &summary));
            let _ = session.summary.set(summary);
            let Window { start, end } = view.extent;
            let _ = session.range.set(Window::new(view.unix(start), view.unix(end)));
            Ok(view)
        })
    };
    let made;
    let view = match view_of(&stored) {
        // As one that is stale.
        Err(_) if Store::discard_if_damaged(path) => {
            match caught(|| make_store(&session, &opened, path, spread)) {
                Ok(store) => {
                    made = store;
                    view_of(&made)
                }
                Err(why) => Err(why),
            }
        }
        view => view,
    };
    match view {
        Ok(view) => {
            session.progress.start(Stage::Ready, 0);
            // The channel of its jobs closes when all others have dropped it.
            drop(session);
            work(&view, jobs);
        }
        Err(why) => session.progress.fail(why),
    }
}

/// What answers are of: equal where the store has equal tables, and times are on equal clocks.
fn identity(store: &Store, summary: &Value) -> String {
    let of = format!("{} {summary}", store.manifest().crc32);
    Uuid::new_v5(&Uuid::NAMESPACE_OID, of.as_bytes()).simple().to_string()
}

/// The result of something, with a panic as an error.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let failed = |_| Err("the program failed on these traces; please report it".to_owned());
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(failed)
}

/// Opens traces, and finds or makes their store.
fn load(session: &Session, path: &Path, base: TimeBase, spread: Spread) -> Result<(Opened, Store), String> {
    let progress = &session.progress;
    let inputs = Inputs::open(&session.paths);
    if inputs.traces.is_empty() {
        let refused = inputs.refused.iter().map(|refused| format!("{}: {}", refused.name, refused.why));
        let why: Vec<String> = refused.collect();
        return Err(if why.is_empty() { "there is no trace there".to_owned() } else { why.join("; ") });
    }
    let overview = session.overview.get_or_init(|| Overview::of_headers(&inputs));
    let stored = fresh_store(path, &inputs);
    if stored.is_none() {
        let _ = session.sample.set(Sample::of_inputs(&inputs, overview.origin, spread));
    }
    let base = match base {
        TimeBase::Usual => stored.as_ref().and_then(stored_clocks).map_or(TimeBase::Usual, TimeBase::Stored),
        other => other,
    };
    progress.start(Stage::Synchronizing, total_bytes(&inputs));
    let opened =
        Opened::new(inputs, base, &|bytes| progress.add(bytes)).map_err(|error| error.to_string())?;
    let store = match stored {
        Some(store) => store,
        None => make_store(session, &opened, path, spread)?,
    };
    session.truncated().map_or(Ok((opened, store)), Err)
}

/// Makes a store of traces.
fn make_store(session: &Session, opened: &Opened, path: &Path, spread: Spread) -> Result<Store, String> {
    let progress = &session.progress;
    let own = Experiment::new(opened.inputs(), None);
    progress.start(Stage::Indexing, own.hosts().iter().map(|host| host.traced.bytes()).sum());
    if let Some(why) = session.truncated() {
        return Err(why);
    }
    let indexing = Indexing { progress: Some(&|bytes| progress.add(bytes)), waits: None };
    index_if_stale(&own, path, spread, indexing).map_err(|error| error.to_string())?;
    Store::open(path).map_err(|error| error.to_string())
}

/// Does jobs until the channel is closed.
fn work(view: &ExperimentView<'_>, jobs: Receiver<Job>) {
    let jobs = Mutex::new(jobs);
    let do_jobs = || {
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            match job {
                Ok(job) => job(view),
                Err(_) => return,
            }
        }
    };
    thread::scope(|scope| {
        for number in 0..WORKERS {
            let builder = thread::Builder::new().name(format!("isochrone-{number}"));
            // With fewer workers, or with this thread alone, it is slower, not different.
            let _ = builder.spawn_scoped(scope, do_jobs);
        }
        // Later requests find it made; without a thread for it, the first request makes it.
        let _ = thread::Builder::new()
            .name("isochrone-prepare".to_owned())
            .spawn_scoped(scope, || view.prepare());
        do_jobs();
    });
}
