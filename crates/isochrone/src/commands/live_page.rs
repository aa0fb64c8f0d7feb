//! `isochrone live --listen`: the page of `isochrone view` over what has come of sessions that are being recorded, for any number of readers.
//!
//! What has come is traces in a directory. They are looked at anew again and again, on a thread of its own; the connection to the relay daemon
//! knows nothing of it.

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
    Addresses, CommandLine, Current, Growth, Library, Session, Settings, Stage, Wanted, serve,
};
use isochrone_sync::unfinished::UnfinishedDirectory;

use super::view::command_line;
use crate::arguments::Clock;
use crate::output::tell;

/// What the experiment is called.
const NAME: &str = "live";

/// How often it is looked whether there is something new.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The least time from one look to the next.
const LEAST: Duration = Duration::from_secs(1);

/// A look takes this part of the time at most: as long again is left to everything else.
const SHARE: u32 = 2;

/// A page over traces that grow.
pub(super) struct LivePage {
    come: Arc<Come>,
    looks: JoinHandle<()>,
    /// The stores of looks.
    _stores: UnfinishedDirectory,
}

/// What is known of the traces without a look at them.
#[derive(Default)]
struct Come {
    bytes: AtomicU64,
    is_over: AtomicBool,
    looks: AtomicU64,
}

impl LivePage {
    /// Serves a page over the traces below a directory. `sync`: a file of corrections; without one, several hosts are synchronized by what
    /// has come of their packets.
    ///
    /// # Errors
    /// The address cannot be listened on, or there is no place for stores.
    pub(super) fn open(listen: SocketAddr, directory: &Path, sync: Option<&Path>) -> anyhow::Result<Self> {
        let stores =
            UnfinishedDirectory::temporary("isochrone-live-stores").context("no temporary directory")?;
        let come = Arc::new(Come::default());
        let clock = Clock { sync: sync.map(Path::to_owned), no_sync: false };
        let paths = vec![directory.to_owned()];
        let command = command_line(&paths, &clock);
        let library = library(stores.path().to_owned(), Arc::clone(&come), clock, command, &paths);
        let look = Look { library: Arc::clone(&library), paths };
        let first = look.begin()?;
        let current = Current::new(Arc::clone(&first));
        let addresses = served(listen, library, current.clone())?;
        tell!("note: a page of what has come is at {}", addresses.page);
        let known = Arc::clone(&come);
        let looks = thread::spawn(move || look.again_and_again(&known, &current, first));
        Ok(Self { come, looks, _stores: stores })
    }

    /// So many bytes more have come.
    pub(super) fn has_come(&self, bytes: u64) {
        self.come.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// All has come: looks at it once more.
    pub(super) fn end(self, is_stopped: &AtomicBool) {
        self.come.is_over.store(true, Ordering::Relaxed);
        let mut is_said = false;
        // Ctrl-C ends the page, and waits for nothing.
        while !is_stopped.load(Ordering::Relaxed) {
            if !is_said && self.looks.is_finished() {
                tell!("note: the sessions have ended; Ctrl-C ends the page");
                is_said = true;
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// What is served: the experiment of what has come, each look at it with a store of its own.
fn library(
    stores: PathBuf,
    come: Arc<Come>,
    clock: Clock,
    command: CommandLine,
    roots: &[PathBuf],
) -> Arc<Library> {
    let opener = move |paths: &[PathBuf], name: String| {
        let look = come.looks.fetch_add(1, Ordering::Relaxed) + 1;
        let base = clock.time_base().map_err(|error| error.to_string())?;
        let growth = Growth { look, grows: !come.is_over.load(Ordering::Relaxed) };
        let store = stores.join(format!("{look}.store"));
        // Whoever still reads one of the last looks has its files open, or asks again.
        if let Some(old) = look.checked_sub(3) {
            let _ = std::fs::remove_dir_all(stores.join(format!("{old}.store")));
        }
        Ok(Wanted { name, paths: paths.to_vec(), store, base, command: command.clone(), growth })
    };
    Library::new(roots, Box::new(opener))
}

/// Serves on a thread of its own; gives the addresses when it listens.
fn served(listen: SocketAddr, library: Arc<Library>, current: Current) -> anyhow::Result<Addresses> {
    let (to, listens) = channel::<std::io::Result<Addresses>>();
    thread::spawn(move || {
        let settings = Settings { listen, origins: Vec::new(), needs_token: false };
        let say = |to: &Sender<_>, what| drop(to.send(what));
        let ended = serve(&settings, library, Some(current), |addresses| say(&to, Ok(addresses.clone())));
        if let Err(error) = ended {
            say(&to, Err(error));
        }
    });
    let listens = listens.recv().context("the server ended before it began")?;
    listens.with_context(|| format!("cannot listen on {listen}"))
}

/// What is looked at.
struct Look {
    library: Arc<Library>,
    paths: Vec<PathBuf>,
}

impl Look {
    fn begin(&self) -> anyhow::Result<Arc<Session>> {
        let spread = Spread { threads: Some(std::num::NonZeroUsize::MIN), pieces: None };
        let session = self.library.prepare(&self.paths, NAME.to_owned(), spread);
        session.map_err(anyhow::Error::msg)
    }

    /// Looks whenever something has come, until all has, and once more then.
    fn again_and_again(&self, come: &Come, current: &Current, first: Arc<Session>) {
        let mut begun = Instant::now();
        let (mut seen, mut is_last, mut session) = (0, false, first);
        loop {
            wait_for(&session);
            // As long as nothing can be shown, it is said why.
            if is_last || session.stage() == Stage::Ready || current.session().stage() != Stage::Ready {
                self.library.insert(&self.paths, NAME.to_owned(), Arc::clone(&session));
                current.replace(session);
            }
            if is_last {
                return;
            }
            let next = begun + LEAST.max(begun.elapsed() * SHARE);
            loop {
                // The end is looked for first: what comes before it is then seen.
                is_last = come.is_over.load(Ordering::Relaxed);
                let bytes = come.bytes.load(Ordering::Relaxed);
                if is_last || (bytes > seen && Instant::now() >= next) {
                    seen = bytes;
                    break;
                }
                thread::sleep(LOOK_EVERY);
            }
            begun = Instant::now();
            // Without a thread for it there is no new look; the old one stays.
            let Ok(new) = self.begin() else { return };
            session = new;
        }
    }
}

/// Until a session can be asked, or cannot be opened.
fn wait_for(session: &Session) {
    while !matches!(session.stage(), Stage::Ready | Stage::Failed(_)) {
        thread::sleep(LOOK_EVERY);
    }
}
