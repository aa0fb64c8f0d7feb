//! Traces that were named or are below the roots, and experiments made of them.
//!
//! Nothing is ever removed from a disk, and nothing outside of what was named can be opened: of traces that
//! viewers name, links are checked, too. Used by the requests of `tsp/`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, fs};

use isochrone_experiment::{Experiment, Inputs, Spread};
use isochrone_time::{UnixNs, Window};
use serde::Serialize;
use uuid::Uuid;

use crate::session::{Session, SessionConfig};

/// Experiments that are open at once: each has its threads and its store.
const MAX_EXPERIMENTS: usize = 16;

/// Traces that are known at once.
const MAX_TRACES: usize = 1000;

/// Bookmarks of an experiment.
const MAX_BOOKMARKS: usize = 10_000;

/// Makes the configuration of an experiment from its traces and its name; errors are texts.
pub type Opener = Box<dyn Fn(&[PathBuf], String) -> Result<SessionConfig, String> + Send + Sync>;

/// A trace in the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LibraryTrace {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// Its first and last packet by the clocks of its hosts, once its headers were read.
    pub(crate) range: Option<Window<UnixNs>>,
    /// The names of its hosts.
    pub(crate) hosts: Vec<String>,
}

/// An experiment that is open.
#[derive(Debug, Clone)]
pub(crate) struct LibraryExperiment {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) traces: Vec<LibraryTrace>,
    pub(crate) session: Arc<Session>,
    pub(crate) bookmarks: BTreeMap<Uuid, Bookmark>,
}

/// A bookmark of an experiment, Unix ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Bookmark {
    pub(crate) uuid: Uuid,
    pub(crate) name: String,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// Why something cannot be added or removed.
#[derive(Debug, Clone)]
pub(crate) enum Refusal {
    /// It is not one of those that may be opened.
    NotServed,
    /// It does not exist.
    Missing,
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// There are too many already.
    TooMany,
    /// Another trace has the name, or an experiment needs it.
    TraceInTheWay(Box<LibraryTrace>),
    /// Another experiment has the name.
    ExperimentInTheWay(Box<LibraryExperiment>),
}

/// Traces and experiments for viewers.
pub struct Library {
    /// These and all below them may be opened.
    roots: Vec<PathBuf>,
    opener: Opener,
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    traces: BTreeMap<Uuid, LibraryTrace>,
    /// Those that were named on the command line.
    named: BTreeSet<Uuid>,
    experiments: BTreeMap<Uuid, LibraryExperiment>,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("roots", &self.roots).finish_non_exhaustive()
    }
}

impl Library {
    /// Serves `roots` and all below them. `opener` decides where the stores of experiments are, and whose
    /// clock their times are on.
    pub fn new(roots: &[PathBuf], opener: Opener) -> Arc<Self> {
        let roots = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
        Arc::new(Self { roots, opener, contents: Mutex::default() })
    }

    /// Opens an experiment of traces, each under its own name.
    ///
    /// # Errors
    /// They cannot be opened, for the reason in the text.
    pub fn open(&self, paths: &[PathBuf], name: String, spread: Spread) -> Result<Arc<Session>, String> {
        let session = self.prepare(paths, name.clone(), spread)?;
        self.insert(paths, name, Arc::clone(&session));
        Ok(session)
    }

    /// Adds the experiment of a session under a name. One of the same traces and name is replaced, and keeps
    /// its bookmarks.
    pub fn insert(&self, paths: &[PathBuf], name: String, session: Arc<Session>) {
        let traces: Vec<LibraryTrace> = paths.iter().map(|path| Self::unread_trace(path)).collect();
        let mut contents = self.contents();
        let id = id_of_experiment(&name, &traces);
        for trace in &traces {
            contents.traces.insert(trace.id, trace.clone());
            contents.named.insert(trace.id);
        }
        let bookmarks = contents.experiments.remove(&id).map(|old| old.bookmarks).unwrap_or_default();
        contents.experiments.insert(id, LibraryExperiment { id, name, traces, session, bookmarks });
    }

    /// Starts to open an experiment, but does not add it: see [`Self::insert`].
    ///
    /// # Errors
    /// It cannot be opened, for the reason in the text.
    pub fn prepare(&self, paths: &[PathBuf], name: String, spread: Spread) -> Result<Arc<Session>, String> {
        let config = (self.opener)(paths, name)?;
        Session::open(config, spread).map_err(|error| error.to_string())
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A trace of a path, before anything of it is read.
    fn unread_trace(path: &Path) -> LibraryTrace {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        LibraryTrace {
            id: id_of(path.to_string_lossy().as_bytes()),
            name,
            path,
            range: None,
            hosts: Vec::new(),
        }
    }

    /// The session of an experiment.
    pub(crate) fn session(&self, id: Uuid) -> Option<Arc<Session>> {
        self.contents().experiments.get(&id).map(|experiment| Arc::clone(&experiment.session))
    }

    pub(crate) fn traces(&self) -> Vec<LibraryTrace> {
        self.contents().traces.values().cloned().collect()
    }

    pub(crate) fn trace(&self, id: Uuid) -> Option<LibraryTrace> {
        self.contents().traces.get(&id).cloned()
    }

    pub(crate) fn experiments(&self) -> Vec<LibraryExperiment> {
        self.contents().experiments.values().cloned().collect()
    }

    pub(crate) fn experiment(&self, id: Uuid) -> Option<LibraryExperiment> {
        self.contents().experiments.get(&id).cloned()
    }

    /// Adds a trace. Reads the headers of its packets.
    ///
    /// # Errors
    /// It may not be opened, is not a trace, or another one has its name.
    pub(crate) fn add_trace(&self, path: &Path, name: Option<String>) -> Result<LibraryTrace, Refusal> {
        let path = path.canonicalize().map_err(|_| Refusal::Missing)?;
        if !self.roots.iter().any(|root| path.starts_with(root)) {
            return Err(Refusal::NotServed);
        }
        let mut trace = Self::unread_trace(&path);
        trace.name = name.unwrap_or(trace.name);
        self.must_fit(&trace)?;
        self.must_be_inside(&trace)?;
        let inputs = Inputs::open(&[path]);
        if inputs.traces.is_empty() {
            let why =
                inputs.refused.first().map_or("there is no trace there", |refused| refused.why.as_str());
            return Err(Refusal::Unreadable(why.to_owned()));
        }
        let experiment = Experiment::new(&inputs, None);
        let range = isochrone_timing::extent(experiment.hosts());
        trace.range = range.map(|(start, end)| Window::new(start, end));
        trace.hosts = experiment.hosts().iter().map(|host| host.name().to_owned()).collect();
        self.must_fit(&trace)?;
        let mut contents = self.contents();
        Ok(contents.traces.entry(trace.id).or_insert(trace).clone())
    }

    /// Checks that all of a trace is below the roots, wherever links in it lead. One that was named on the
    /// command line may have any links.
    fn must_be_inside(&self, trace: &LibraryTrace) -> Result<(), Refusal> {
        if self.contents().named.contains(&trace.id) {
            return Ok(());
        }
        match outside(&trace.path, &self.roots, &mut BTreeSet::new()) {
            Some(link) => {
                Err(Refusal::Unreadable(format!("{} leads out of what may be opened", link.display())))
            }
            None => Ok(()),
        }
    }

    /// Checks that a trace can be added to the others.
    fn must_fit(&self, trace: &LibraryTrace) -> Result<(), Refusal> {
        let contents = self.contents();
        let other = contents.traces.values().find(|it| (it.name == trace.name) != (it.id == trace.id));
        match other {
            Some(other) => Err(Refusal::TraceInTheWay(Box::new(other.clone()))),
            None if contents.traces.len() >= MAX_TRACES => Err(Refusal::TooMany),
            None => Ok(()),
        }
    }

    /// Removes a trace from the library.
    ///
    /// # Errors
    /// There is none, or an experiment needs it.
    pub(crate) fn remove_trace(&self, id: Uuid) -> Result<LibraryTrace, Refusal> {
        let mut contents = self.contents();
        let trace = contents.traces.get(&id).cloned().ok_or(Refusal::Missing)?;
        let is_needed = |it: &LibraryExperiment| it.traces.iter().any(|trace| trace.id == id);
        if contents.experiments.values().any(is_needed) {
            return Err(Refusal::TraceInTheWay(Box::new(trace)));
        }
        contents.traces.remove(&id);
        Ok(trace)
    }

    /// Starts to open an experiment of traces of the library; one that is open already is returned as it is.
    ///
    /// # Errors
    /// A trace is unknown, another experiment has the name, or it cannot be opened.
    pub(crate) fn add_experiment(&self, name: String, traces: &[Uuid]) -> Result<LibraryExperiment, Refusal> {
        let traces: Option<Vec<LibraryTrace>> = traces.iter().map(|&id| self.trace(id)).collect();
        let traces = traces.ok_or(Refusal::Missing)?;
        // Links may have changed since a trace was added.
        traces.iter().try_for_each(|trace| self.must_be_inside(trace))?;
        let id = id_of_experiment(&name, &traces);
        // Held while it is added, so that there are never two of one name. It is opened on a thread of its
        // own.
        let mut contents = self.contents();
        if let Some(open) = contents.experiments.get(&id) {
            return Ok(open.clone());
        }
        if let Some(other) = contents.experiments.values().find(|it| it.name == name) {
            return Err(Refusal::ExperimentInTheWay(Box::new(other.clone())));
        }
        if contents.experiments.len() >= MAX_EXPERIMENTS {
            return Err(Refusal::TooMany);
        }
        let paths: Vec<PathBuf> = traces.iter().map(|trace| trace.path.clone()).collect();
        let session = self.prepare(&paths, name.clone(), Spread::default()).map_err(Refusal::Unreadable)?;
        let experiment = LibraryExperiment { id, name, traces, session, bookmarks: BTreeMap::new() };
        contents.experiments.insert(id, experiment.clone());
        Ok(experiment)
    }

    /// Closes an experiment.
    pub(crate) fn remove_experiment(&self, id: Uuid) -> Option<LibraryExperiment> {
        self.contents().experiments.remove(&id)
    }

    /// Changes the bookmarks of an experiment; `None` where there is no such experiment.
    pub(crate) fn with_bookmarks<T>(
        &self,
        id: Uuid,
        change: impl FnOnce(&mut BTreeMap<Uuid, Bookmark>) -> T,
    ) -> Option<T> {
        self.contents().experiments.get_mut(&id).map(|experiment| change(&mut experiment.bookmarks))
    }
}

/// A link in a path, or at or below it, that leads out of all roots. Hidden directories are skipped, as no
/// trace is read from them.
fn outside(path: &Path, roots: &[PathBuf], seen: &mut BTreeSet<PathBuf>) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    if !roots.iter().any(|root| real.starts_with(root)) {
        return Some(path.to_owned());
    }
    if !real.is_dir() || !seen.insert(real) {
        return None;
    }
    let inner = fs::read_dir(path).into_iter().flatten().flatten().filter(|entry| {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        !is_hidden && entry.file_type().is_ok_and(|kind| !kind.is_file())
    });
    inner.map(|entry| entry.path()).find_map(|path| outside(&path, roots, seen))
}

/// Whether no bookmark can be added.
pub(crate) fn is_full(bookmarks: &BTreeMap<Uuid, Bookmark>) -> bool {
    bookmarks.len() >= MAX_BOOKMARKS
}

/// The id of some bytes, the same whenever the server runs: addresses and viewers keep them.
fn id_of(bytes: &[u8]) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, bytes)
}

fn id_of_experiment(name: &str, traces: &[LibraryTrace]) -> Uuid {
    let mut bytes = name.as_bytes().to_vec();
    for trace in traces {
        bytes.push(0);
        bytes.extend_from_slice(trace.id.as_bytes());
    }
    id_of(&bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_lead_nowhere_else() {
        let directory = tempfile::tempdir().unwrap();
        let [root, elsewhere] = ["root", "elsewhere"].map(|name| directory.path().join(name));
        for made in ["a/kernel", "b", "c", "d/.hidden", "e"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("ch_0"), "").unwrap();
        symlink(root.join("a"), root.join("b/inside")).unwrap();
        symlink(elsewhere.join("ch_0"), root.join("c/ch_0")).unwrap();
        symlink(&elsewhere, root.join("d/.hidden/link")).unwrap();
        // Over another directory below the root, which has no trace of its own.
        symlink(root.join("c"), root.join("e/link")).unwrap();
        let roots = [root.canonicalize().unwrap()];
        let check = |name: &str, expect: Option<&str>| {
            let found = outside(&root.join(name), &roots, &mut BTreeSet::new());
            assert_eq!(found, expect.map(|link| root.join(link)), "{name}");
        };
        check("a", None);
        check("b", None);
        check("c", Some("c/ch_0"));
        check("d", None);
        check("e", Some("e/link/ch_0"));
        let library = Library::new(&roots, Box::new(|_, _| Err("none".to_owned())));
        let refused = library.add_trace(&root.join("c"), None);
        assert!(
            matches!(&refused, Err(Refusal::Unreadable(why)) if why.contains("leads out of")),
            "{refused:?}"
        );
    }
}
