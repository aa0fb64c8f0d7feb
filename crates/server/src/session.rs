//! An experiment that is served: opened on a thread of its own, asked by jobs that a few workers do.
//!
//! Traces, their hosts and their clocks borrow from each other, so they live on the stack of one thread, and what is asked of them
//! goes there ([`Session::ask`]). When the session is dropped, its workers end. Talks to: `shown/`, which the jobs look at, and
//! `api.rs`, which asks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use isochrone_experiment::{
    Indexing, Inputs, Opened, Spread, TimeBase, fresh_store, index_if_stale, stored_clocks, total_bytes,
};
use isochrone_store::Store;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::cut::Cut;
use crate::error::ApiError;
use crate::shown::Shown;
use crate::shown::overview;
use crate::shown::sample::{self, Sampled};
use crate::stage::{Progress, Stage};

/// Jobs that wait for a worker: whoever asks more is told to come back.
const MOST_WAITING: usize = 256;

/// Workers of a session. Requests mostly wait for memory, not for each other.
const WORKERS: usize = 4;

/// What is to be done with an experiment.
type Job = Box<dyn for<'s, 'o> FnOnce(&'s Shown<'o>) + Send>;

/// What a session shows.
#[derive(Debug)]
pub struct Wanted {
    /// What people call it.
    pub name: String,
    /// Traces and captures.
    pub paths: Vec<PathBuf>,
    /// Where its store is, or is to be made.
    pub store: PathBuf,
    /// Whose clock times are on.
    pub base: TimeBase,
    /// The command line that shows it, and what all commands need to name its traces.
    pub command: CommandLine,
    /// Whether the traces grow.
    pub growth: Growth,
}

/// How often traces were looked at that grow. The default is of traces that do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Growth {
    /// The number of the look.
    pub look: u64,
    /// Whether another one is to be expected.
    pub grows: bool,
}

/// How the traces of a session are named on a command line.
#[derive(Debug, Clone, Default)]
pub struct CommandLine {
    /// Options that say whose clock times are on, and where the store is.
    pub options: String,
    /// The traces, quoted for a shell.
    pub traces: String,
}

impl CommandLine {
    /// A command with these traces.
    pub fn of(&self, command: &str) -> String {
        let options = if self.options.is_empty() { String::new() } else { format!(" {}", self.options) };
        format!("isochrone {command}{options} {}", self.traces)
    }

    /// A word of a command line, as a shell reads it.
    pub fn word(word: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.to_owned(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    }
}

/// An experiment that is served.
#[derive(Debug)]
pub struct Session {
    pub(crate) name: String,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) command: CommandLine,
    growth: Growth,
    progress: Progress,
    /// What becomes shorter while it is open.
    cut: Cut,
    /// From headers of packets alone.
    overview: OnceLock<overview::Overview>,
    /// From the begin of some packets, where no store is there yet.
    sample: OnceLock<Sampled>,
    /// What `/api/experiment` says once all is there.
    experiment: OnceLock<Value>,
    /// The first and the last event on the common clock, Unix ns, once all is there.
    range: OnceLock<(i64, i64)>,
    /// How many events there are, once they were counted.
    events: Arc<OnceLock<u64>>,
    /// Somebody counts them, or has.
    are_events_counted: AtomicBool,
    jobs: SyncSender<Job>,
}

impl Session {
    /// Begins to open what is wanted, on a thread of its own.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn open(wanted: Wanted, spread: Spread) -> std::io::Result<Arc<Self>> {
        let (sender, jobs) = sync_channel(MOST_WAITING);
        let Wanted { name, paths, store, base, command, growth } = wanted;
        let session = Arc::new(Self {
            name,
            paths: paths.clone(),
            command,
            growth,
            progress: Progress::new(),
            cut: Cut::new(paths.clone()),
            overview: OnceLock::new(),
            sample: OnceLock::new(),
            experiment: OnceLock::new(),
            range: OnceLock::new(),
            events: Arc::default(),
            are_events_counted: AtomicBool::new(false),
            jobs: sender,
        });
        let inside = Arc::clone(&session);
        thread::Builder::new()
            .name("isochrone-open".to_owned())
            .spawn(move || open_and_work(inside, &paths, &store, base, spread, jobs))?;
        Ok(session)
    }

    /// How far it is.
    pub fn stage(&self) -> Stage {
        self.progress.stage()
    }

    /// The answer of `/api/experiment`.
    pub(crate) fn experiment(&self) -> Value {
        let stage = self.progress.json();
        match self.experiment.get() {
            Some(ready) => {
                let mut answer = ready.clone();
                answer["stage"] = stage;
                answer["look"] = self.growth.look.into();
                answer["grows"] = self.growth.grows.into();
                answer
            }
            None => json!({
                "look": self.growth.look, "grows": self.growth.grows,
                "name": self.name, "version": env!("CARGO_PKG_VERSION"), "stage": stage,
                "origin_unix_ns": self.overview.get().map(|it| it.origin.to_string()),
                "begin": self.overview.get().map(|it| it.begin), "end": self.overview.get().map(|it| it.end),
                "own": null, "is_synchronized": false, "hosts": [], "messages": null,
                "traces": self.paths, "command": self.command.of("view"), "notes": [],
            }),
        }
    }

    /// The first and the last event, Unix ns: on the common clock, or until that is known as headers of packets have it.
    pub(crate) fn range(&self) -> Option<(i64, i64)> {
        let of_headers = || {
            self.overview.get().map(|it| {
                let unix =
                    |at: i64| (i128::from(at) + it.origin).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                (unix(it.begin), unix(it.end))
            })
        };
        self.range.get().copied().or_else(of_headers)
    }

    /// How many events there are; 0 until they were counted.
    pub(crate) fn events_counted(&self) -> u64 {
        self.events.get().copied().unwrap_or(0)
    }

    /// Begins to count the events, unless that was done: whoever shows how many there are asks again.
    pub(crate) fn count_events(&self) {
        if self.stage() != Stage::Ready || self.are_events_counted.swap(true, Ordering::Relaxed) {
            return;
        }
        let events = Arc::clone(&self.events);
        let job: Job = Box::new(move |shown| {
            // Whoever asks for the table is told of a panic.
            if let Ok(total) = catch_unwind(AssertUnwindSafe(|| shown.event_numbers().total)) {
                let _ = events.set(total);
            }
        });
        if self.jobs.try_send(job).is_err() {
            // Too much was asked at that time: whoever comes next tries again.
            self.are_events_counted.store(false, Ordering::Relaxed);
        }
    }

    /// The overview from headers of packets, once these are read.
    pub(crate) fn overview(&self) -> Option<&overview::Overview> {
        self.overview.get()
    }

    /// The sample of the traces, once it was taken. Where a store was there, none is.
    pub(crate) fn sample(&self) -> Option<&Sampled> {
        self.sample.get()
    }

    /// Does a job with the experiment.
    ///
    /// # Errors
    /// It is not ready, too much is asked at once, or the job fails.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Shown<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        match self.stage() {
            Stage::Ready => {}
            Stage::Failed(why) => return Err(ApiError::unavailable(why)),
            stage => {
                return Err(ApiError::unavailable(format!(
                    "the traces are not ready: {} goes on; try again in a moment",
                    stage.name()
                )));
            }
        }
        let (answer, answered) = oneshot::channel();
        let events = Arc::clone(&self.events);
        let job: Job = Box::new(move |shown| {
            // Nobody waits any more: the page has moved on.
            if answer.is_closed() {
                return;
            }
            let done = catch_unwind(AssertUnwindSafe(|| job(shown))).unwrap_or_else(|_| {
                Err(ApiError::internal("the program failed at this question; please report it".to_owned()))
            });
            if let Some(counted) = shown.events_counted() {
                let _ = events.set(counted);
            }
            let _ = answer.send(done);
        });
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => ApiError::busy(),
            TrySendError::Disconnected(_) => ApiError::unavailable("it was closed".to_owned()),
        })?;
        let answer = answered.await.map_err(|_| ApiError::unavailable("it was closed".to_owned()))?;
        // What is missing was read as zeros: neither this answer nor any later one is right.
        if let Some(why) = self.cut.found() {
            self.progress.begin(Stage::Failed(why.clone()), 0);
            return Err(ApiError::unavailable(why));
        }
        answer
    }
}

/// Opens traces and their store, then does what is asked of them. Whatever goes wrong before is the last stage of the session, in words.
fn open_and_work(
    session: Arc<Session>,
    paths: &[PathBuf],
    path: &Path,
    base: TimeBase,
    spread: Spread,
    jobs: Receiver<Job>,
) {
    let (opened, kept) = match caught(|| load(&session, paths, path, base, spread)) {
        Ok(loaded) => loaded,
        Err(why) => return session.progress.begin(Stage::Failed(why), 0),
    };
    if let Some(why) = session.cut.found() {
        return session.progress.begin(Stage::Failed(why), 0);
    }
    let experiment = opened.experiment();
    let show = |store| {
        caught(|| {
            let shown = Shown::new(&opened, &experiment, store, session.command.clone());
            let shown = shown.map_err(|error| error.to_string())?;
            let _ = session.experiment.set(shown.summary(&session.name, &session.paths));
            let _ = session.range.set((shown.unix(shown.extent.0), shown.unix(shown.extent.1)));
            Ok(shown)
        })
    };
    let made_anew;
    let shown = match show(&kept) {
        // As one that is stale.
        Err(_) if Store::discard_if_damaged(path) => {
            match caught(|| indexed(&session, &opened, path, spread)) {
                Ok(store) => {
                    made_anew = store;
                    show(&made_anew)
                }
                Err(why) => Err(why),
            }
        }
        shown => shown,
    };
    match shown {
        Ok(shown) => {
            session.progress.begin(Stage::Ready, 0);
            // Whoever else holds the session ends it by letting it go.
            drop(session);
            work(&shown, jobs);
        }
        Err(why) => session.progress.begin(Stage::Failed(why), 0),
    }
}

/// What something says, a panic in words too.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let failed = |_| Err("the program failed on these traces; please report it".to_owned());
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(failed)
}

/// Does jobs until nobody can ask any more.
fn work(shown: &Shown<'_>, jobs: Receiver<Job>) {
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        for number in 0..WORKERS {
            let jobs = &jobs;
            let builder = thread::Builder::new().name(format!("isochrone-{number}"));
            // With fewer workers, or with this thread alone, it is slower and no other.
            let _ = builder.spawn_scoped(scope, move || serve(shown, jobs));
        }
        // A page that comes later finds it made; without a thread for it, the first request makes it.
        let _ = thread::Builder::new()
            .name("isochrone-prepare".to_owned())
            .spawn_scoped(scope, || shown.prepare());
        serve(shown, &jobs);
    });
}

fn serve(shown: &Shown<'_>, jobs: &Mutex<Receiver<Job>>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match job {
            Ok(job) => job(shown),
            Err(_) => return,
        }
    }
}

/// Opens traces, and finds or makes their store.
fn load(
    session: &Session,
    paths: &[PathBuf],
    path: &Path,
    base: TimeBase,
    spread: Spread,
) -> Result<(Opened, Store), String> {
    let progress = &session.progress;
    let inputs = Inputs::open(paths);
    if inputs.traces.is_empty() {
        let refused = inputs.refused.iter().map(|refused| format!("{}: {}", refused.name, refused.why));
        let why: Vec<String> = refused.collect();
        return Err(if why.is_empty() { "there is no trace there".to_owned() } else { why.join("; ") });
    }
    let seen = session.overview.get_or_init(|| overview::of_headers(&inputs));
    let kept = fresh_store(path, &inputs);
    if kept.is_none() {
        let _ = session.sample.set(sample::of_inputs(&inputs, seen.origin, spread));
    }
    let base = match base {
        TimeBase::Usual => kept.as_ref().and_then(stored_clocks).map_or(TimeBase::Usual, TimeBase::Stored),
        other => other,
    };
    progress.begin(Stage::Synchronizing, total_bytes(&inputs));
    let opened =
        Opened::new(inputs, base, &|bytes| progress.add(bytes)).map_err(|error| error.to_string())?;
    let store = match kept {
        Some(store) => store,
        None => indexed(session, &opened, path, spread)?,
    };
    Ok((opened, store))
}

/// Makes a store of traces.
fn indexed(session: &Session, opened: &Opened, path: &Path, spread: Spread) -> Result<Store, String> {
    let progress = &session.progress;
    let own = isochrone_experiment::Experiment::new(opened.inputs(), None);
    progress.begin(Stage::Indexing, own.hosts().iter().map(|host| host.traced.bytes()).sum());
    if let Some(why) = session.cut.found() {
        return Err(why);
    }
    let indexing = Indexing { progress: Some(&|bytes| progress.add(bytes)), waits: None };
    index_if_stale(&own, path, spread, indexing).map_err(|error| error.to_string())?;
    Store::open(path).map_err(|error| error.to_string())
}
