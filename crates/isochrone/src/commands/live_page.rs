//! `isochrone live --listen`: the page of `isochrone view` over what has been received of sessions that are being recorded, for any number of
//! readers.
//!
//! What has been received is traces in a directory. They are opened again and again, on a thread of its own, independent of the connection to
//! the relay daemon.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use isochrone_experiment::Spread;
use isochrone_server::{
    Addresses, CommandLine, Current, Generation, Library, Session, SessionConfig, Settings, Stage, serve,
};
use isochrone_unfinished::UnfinishedDirectory;

use super::view::{command_line, sql_program};
use crate::arguments::Clock;
use crate::output::eprint_line;

/// Name of the experiment.
const NAME: &str = "live";

/// Interval of checks for new bytes.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Minimum time between the starts of two generations.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Opening takes at most one in this many parts of the time.
const SHARE: u32 = 2;

/// A page over traces that grow.
pub(super) struct LivePage {
    received: Arc<Received>,
    generations: JoinHandle<()>,
    /// The stores of the generations.
    _stores: UnfinishedDirectory,
}

/// What is known of the traces without opening them.
#[derive(Default)]
struct Received {
    bytes: AtomicU64,
    is_over: AtomicBool,
    generations: AtomicU64,
}

impl LivePage {
    /// Serves a page over the traces below a directory.
    ///
    /// # Errors
    /// The address cannot be listened on, or there is no directory for stores.
    pub(super) fn open(listen: SocketAddr, directory: &Path, clock: &Clock) -> anyhow::Result<Self> {
        let stores =
            UnfinishedDirectory::temporary("isochrone-live-stores").context("no temporary directory")?;
        let received = Arc::new(Received::default());
        let paths = vec![directory.to_owned()];
        let command = command_line(&paths, clock);
        let library =
            library(stores.path().to_owned(), Arc::clone(&received), clock.clone(), command, &paths);
        let opener = Opener { library: Arc::clone(&library), paths };
        let first = opener.open()?;
        let current = Current::new(Arc::clone(&first));
        let addresses = served(listen, library, current.clone())?;
        eprint_line!("note: a page of what has been received is at {}", addresses.page);
        let of_opener = Arc::clone(&received);
        let generations = thread::spawn(move || opener.open_repeatedly(&of_opener, &current, first));
        Ok(Self { received, generations, _stores: stores })
    }

    /// Adds bytes that were received.
    pub(super) fn add_received(&self, bytes: u64) {
        self.received.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Ends when all has been received and opened, and the process is told to end.
    pub(super) fn end(self, is_stopped: &AtomicBool) {
        self.received.is_over.store(true, Ordering::Relaxed);
        let mut is_reported = false;
        // Ctrl-C ends the page, and waits for nothing.
        while !is_stopped.load(Ordering::Relaxed) {
            if !is_reported && self.generations.is_finished() {
                eprint_line!("note: the sessions have ended; Ctrl-C ends the page");
                is_reported = true;
            }
            thread::sleep(CHECK_INTERVAL);
        }
    }
}

/// What is served: the experiment of what has been received, each generation with a store of its own.
fn library(
    stores: PathBuf,
    received: Arc<Received>,
    clock: Clock,
    command: CommandLine,
    roots: &[PathBuf],
) -> Arc<Library> {
    let opener = move |paths: &[PathBuf], name: String| {
        let look = received.generations.fetch_add(1, Ordering::Relaxed) + 1;
        let base = clock.time_base().map_err(|error| error.to_string())?;
        let generation = Generation { number: look, grows: !received.is_over.load(Ordering::Relaxed) };
        let store = stores.join(format!("{look}.store"));
        // Readers of one of the last generations have its files open, or request again.
        if let Some(old) = look.checked_sub(3) {
            let _ = std::fs::remove_dir_all(stores.join(format!("{old}.store")));
        }
        let (command, sql) = (command.clone(), sql_program(&clock));
        Ok(SessionConfig { name, paths: paths.to_vec(), store, base, command, generation, sql })
    };
    Library::new(roots, Box::new(opener))
}

/// Serves on a thread of its own; gives the addresses when it listens.
fn served(listen: SocketAddr, library: Arc<Library>, current: Current) -> anyhow::Result<Addresses> {
    let (to, listens) = channel::<std::io::Result<Addresses>>();
    thread::spawn(move || {
        let settings = Settings { listen, origins: Vec::new(), needs_token: false };
        let report = |to: &Sender<_>, what| drop(to.send(what));
        let ended = serve(&settings, library, Some(current), |addresses| report(&to, Ok(addresses.clone())));
        if let Err(error) = ended {
            report(&to, Err(error));
        }
    });
    let listens = listens.recv().context("the server ended before it started")?;
    listens.with_context(|| format!("cannot listen on {listen}"))
}

/// Opens what has been received.
struct Opener {
    library: Arc<Library>,
    paths: Vec<PathBuf>,
}

impl Opener {
    fn open(&self) -> anyhow::Result<Arc<Session>> {
        let spread = Spread { threads: Some(std::num::NonZeroUsize::MIN), pieces: None };
        let session = self.library.prepare(&self.paths, NAME.to_owned(), spread);
        session.map_err(anyhow::Error::msg)
    }

    /// Opens a generation whenever something has been received, until all has, and once more then.
    fn open_repeatedly(&self, received: &Received, current: &Current, first: Arc<Session>) {
        let mut started = Instant::now();
        let (mut seen, mut is_last, mut session) = (0, false, first);
        loop {
            wait_for(&session);
            // As long as nothing can be shown, the session shows why.
            if is_last || session.stage() == Stage::Ready || current.session().stage() != Stage::Ready {
                self.library.insert(&self.paths, NAME.to_owned(), Arc::clone(&session));
                current.replace(session);
            }
            if is_last {
                return;
            }
            let next = started + MIN_INTERVAL.max(started.elapsed() * SHARE);
            loop {
                // The end is checked first, so that all bytes before it are opened.
                is_last = received.is_over.load(Ordering::Relaxed);
                let bytes = received.bytes.load(Ordering::Relaxed);
                if is_last || (bytes > seen && Instant::now() >= next) {
                    seen = bytes;
                    break;
                }
                thread::sleep(CHECK_INTERVAL);
            }
            started = Instant::now();
            // Without a thread for it the old generation stays.
            let Ok(new) = self.open() else { return };
            session = new;
        }
    }
}

/// Waits until a session is ready, or has failed.
fn wait_for(session: &Session) {
    while !matches!(session.stage(), Stage::Ready | Stage::Failed(_)) {
        thread::sleep(CHECK_INTERVAL);
    }
}
