//! An experiment that is served: opened on a thread of its own, queried by jobs that a few workers do.
//!
//! Traces, their hosts and their clocks borrow from each other, so they live on the stack of one thread
//! (`opening.rs`), and queries are sent there ([`Session::query`]). When the session is dropped, its workers
//! end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::thread;

use isochrone_ctf::Truncations;
use isochrone_experiment::{Spread, TimeBase, Work};
use isochrone_time::{UnixNs, Window};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::error::{ApiError, Result};
use crate::opening::open_and_work;
use crate::sql::SqlProgram;
use crate::stage::{Progress, Stage};
use crate::view::overview::Overview;
use crate::view::sample::Sample;
use crate::view::{CommandLine, ExperimentView};
use crate::works::{StopOnDrop, Works};

/// Jobs that wait for a worker; further queries are refused.
const MAX_WAITING: usize = 256;

/// A query of an experiment.
pub(crate) type Job = Box<dyn for<'s, 'o> FnOnce(&'s ExperimentView<'o>) + Send>;

/// Configuration of a session.
#[derive(Debug)]
pub struct SessionConfig {
    /// Name for people.
    pub name: String,
    /// Traces and captures.
    pub paths: Vec<PathBuf>,
    /// Directory of its store, which may not exist yet.
    pub store: PathBuf,
    /// Whose clock times are on.
    pub base: TimeBase,
    /// The part of a command line that all commands need to name its traces.
    pub command: CommandLine,
    /// Whether the traces grow.
    pub generation: Generation,
    /// What answers questions in SQL.
    pub sql: SqlProgram,
}

/// Which of the sessions of traces that grow this is. The default is for traces that do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Generation {
    /// Number of the generation, from 1; 0 where traces do not grow.
    pub number: u64,
    /// Whether another one is to be expected.
    pub grows: bool,
}

/// An experiment that is served.
#[derive(Debug)]
pub struct Session {
    pub(crate) name: String,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) command: CommandLine,
    /// Its directory.
    pub(crate) store: PathBuf,
    pub(crate) sql: SqlProgram,
    generation: Generation,
    pub(crate) progress: Progress,
    /// Files that were truncated before the session was opened: it mapped what was left.
    truncations: Truncations,
    /// From headers of packets alone.
    pub(crate) overview: OnceLock<Overview>,
    /// From the start of some packets; taken where there is no store yet.
    pub(crate) sample: OnceLock<Sample>,
    /// The answer of `/api/experiment` once it is ready.
    pub(crate) summary: OnceLock<Value>,
    /// What ids of rows and times in answers are of, once it is ready: equal for equal traces and clocks.
    pub(crate) identity: OnceLock<String>,
    /// The first and the last event on the common clock, once it is ready.
    pub(crate) range: OnceLock<Window<UnixNs>>,
    /// Number of events, once they were counted.
    events: Arc<OnceLock<u64>>,
    /// Whether they are being counted, or were.
    are_events_counted: AtomicBool,
    jobs: SyncSender<Job>,
    /// Answers that take long.
    pub(crate) works: Works,
}

impl Session {
    /// Starts to open traces, on a thread of its own.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn open(config: SessionConfig, spread: Spread) -> std::io::Result<Arc<Self>> {
        let (sender, jobs) = sync_channel(MAX_WAITING);
        let SessionConfig { name, paths, store, base, command, generation, sql } = config;
        let session = Arc::new(Self {
            name,
            paths,
            command,
            store: store.clone(),
            sql,
            generation,
            progress: Progress::new(),
            truncations: Truncations::now(),
            overview: OnceLock::new(),
            sample: OnceLock::new(),
            summary: OnceLock::new(),
            identity: OnceLock::new(),
            range: OnceLock::new(),
            events: Arc::default(),
            are_events_counted: AtomicBool::new(false),
            jobs: sender,
            works: Works::default(),
        });
        let inside = Arc::clone(&session);
        thread::Builder::new()
            .name("isochrone-open".to_owned())
            .spawn(move || open_and_work(inside, &store, base, spread, jobs))?;
        Ok(session)
    }

    /// The stage of its opening.
    pub fn stage(&self) -> Stage {
        self.progress.stage()
    }

    /// The answer of `/api/experiment`.
    pub(crate) fn experiment(&self) -> Value {
        let mut answer = self.summary.get().cloned().unwrap_or_else(|| {
            let overview = self.overview.get();
            json!({
                "name": self.name, "version": env!("CARGO_PKG_VERSION"),
                "origin_unix_ns": overview.map(|it| it.origin.to_string()),
                "begin": overview.map(|it| it.extent.start), "end": overview.map(|it| it.extent.end),
                "own": null, "is_synchronized": false, "hosts": [], "messages": null,
                "traces": self.paths, "command": self.command.of("view"), "notes": [],
            })
        });
        answer["stage"] = self.progress.json();
        answer["store"] = self.identity.get().cloned().into();
        answer["look"] = self.generation.number.into();
        answer["grows"] = self.generation.grows.into();
        answer
    }

    /// The first and the last event: on the common clock, or until that is known as headers of packets have
    /// it.
    pub(crate) fn range(&self) -> Option<Window<UnixNs>> {
        self.range.get().copied().or_else(|| {
            let overview = self.overview.get()?;
            let [start, end] = [overview.extent.start, overview.extent.end].map(|at| overview.origin + at.0);
            Some(Window::new(start, end))
        })
    }

    /// Number of events; 0 until they were counted.
    pub(crate) fn events_counted(&self) -> u64 {
        self.events.get().copied().unwrap_or(0)
    }

    /// Starts to count the events, unless that was done: viewers request their number again later.
    pub(crate) fn count_events(&self) {
        if self.stage() != Stage::Ready || self.are_events_counted.swap(true, Ordering::Relaxed) {
            return;
        }
        let events = Arc::clone(&self.events);
        let job: Job = Box::new(move |view| {
            // A panic is an error of the request for the table.
            if let Ok(total) = catch_unwind(AssertUnwindSafe(|| view.event_index().total)) {
                let _ = events.set(total);
            }
        });
        if self.jobs.try_send(job).is_err() {
            // Too many queries at that time: the next request tries again.
            self.are_events_counted.store(false, Ordering::Relaxed);
        }
    }

    /// Does a job with the experiment.
    ///
    /// # Errors
    /// It is not ready, there are too many queries at once, or the job fails.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        job: impl FnOnce(&ExperimentView<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.query_long(None, |view, _| job(view)).await
    }

    /// As [`Self::query`], for a job that may take long: it is stopped when nobody waits for it any more.
    /// `name`: by which it can be asked how far it is.
    pub(crate) async fn query_long<T: Send + 'static>(
        &self,
        name: Option<String>,
        job: impl FnOnce(&ExperimentView<'_>, &Arc<Work>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self.stage() {
            Stage::Ready => {}
            Stage::Failed(why) => return Err(ApiError::unavailable(why)),
            stage => {
                return Err(ApiError::unavailable(format!(
                    "the traces are not ready: {} is in progress; try again in a moment",
                    stage.name()
                )));
            }
        }
        let (answer, answered) = oneshot::channel();
        let events = Arc::clone(&self.events);
        let work = self.works.begin(name);
        // This future is dropped when the request's connection is closed.
        let _waiting = StopOnDrop(Arc::clone(&work));
        let job: Job = Box::new(move |view| {
            // The page has moved on.
            if answer.is_closed() {
                return;
            }
            let done = catch_unwind(AssertUnwindSafe(|| job(view, &work))).unwrap_or_else(|_| {
                Err(ApiError::internal("the program failed at this request; please report it"))
            });
            if let Some(counted) = view.events_counted() {
                let _ = events.set(counted);
            }
            let _ = answer.send(done);
        });
        let closed = || ApiError::unavailable("it was closed");
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => ApiError::busy(),
            TrySendError::Disconnected(_) => closed(),
        })?;
        let answer = answered.await.map_err(|_| closed())?;
        if let Some(why) = self.truncated() {
            self.progress.fail(why.clone());
            return Err(ApiError::unavailable(why));
        }
        answer
    }

    /// The message about a file that was truncated while the session was open. What is missing was read as
    /// zeros: no answer is right from then on.
    pub(crate) fn truncated(&self) -> Option<String> {
        let files = self.truncations.since();
        let file = files.into_iter().find(|file| self.paths.iter().any(|path| file.starts_with(path)))?;
        Some(format!("{} became shorter while it was read: open the traces again", file.display()))
    }
}

/// The session that the page shows now. Requests that have started continue with the session that they
/// started with.
#[derive(Debug, Clone)]
pub struct Current(Arc<RwLock<Arc<Session>>>);

impl Current {
    /// Shows a session, until there is another.
    pub fn new(session: Arc<Session>) -> Self {
        Self(Arc::new(RwLock::new(session)))
    }

    /// The session that is shown now.
    pub fn session(&self) -> Arc<Session> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows another one from now on.
    pub fn replace(&self, session: Arc<Session>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = session;
    }
}
