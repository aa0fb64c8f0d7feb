//! `isochrone index`: the store of traces, and where it is kept. Commands that read a store find or build it
//! here.

use std::ffi::OsStr;
use std::fs;
use std::hash::Hasher;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::Context;
use isochrone_corrections::Clocks;
use isochrone_experiment::{
    Experiment, IndexError, Indexing, Inputs, Opened, Spread, TimeBase, fresh_store, index, index_if_stale,
    index_of_pieces, sources, stored_clocks,
};
use isochrone_export::ExportError;
use isochrone_store::{Manifest, Store, StoreError};
use isochrone_unfinished::UnfinishedDirectory;

use super::analysis::{model_error, report_missing};
use super::mapped::{pieces_error, spans};
use super::{Named, named, open_named, sql, writable};
use crate::arguments::Index;
use crate::output::{self, Console, note};
use crate::progress::Progress;
use crate::render::figures;
use crate::render::plain::{Plain, plain};

pub(crate) fn run(arguments: &Index, console: &Console) -> anyhow::Result<()> {
    if let Some(directory) = &arguments.parquet {
        return sql::write_parquet(arguments, directory, console);
    }
    let named = named(&arguments.traces)?;
    let path = match &arguments.output {
        Some(path) => {
            refuse_unless_store(path)?;
            writable(path.parent().unwrap_or(Path::new("")))?;
            path.clone()
        }
        None => cache(&named.traces)?,
    };
    let opened = open_named(&named, None, TimeBase::Own, console)?;
    let spread = Spread { threads: arguments.threads, pieces: None };
    build(&path, &named.pieces, &opened, spread, When::Always, console)?;
    let store = Store::open(&path)?;
    output::print(|stdout| {
        writeln!(stdout, "{}", Plain(path.display()))?;
        for host in &store.manifest().hosts {
            let rows = |name: &str| {
                let table = host.tables.iter().find(|table| table.name == name);
                figures::count(table.map_or(0, |table| table.rows))
            };
            let bytes: u64 = host.tables.iter().map(|table| table.bytes).sum();
            writeln!(
                stdout,
                "  {}: {} threads, {} slices, {} system calls, {:.1} MB",
                plain(&host.name),
                rows("threads"),
                rows("slices"),
                rows("syscalls"),
                bytes as f64 / 1e6
            )?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Whether a path is a store, of any version, or a damaged one.
pub(super) fn is_store(path: &Path) -> bool {
    Manifest::version_at(path).is_some() || Store::is_at(path)
}

/// The files of a store.
pub(super) fn files_of(store: &Path) -> Vec<PathBuf> {
    let inside =
        |directory: &Path| fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let (hosts, files): (Vec<_>, Vec<_>) = inside(store).partition(|path| path.is_dir());
    files.into_iter().chain(hosts.iter().flat_map(|host| inside(host))).collect()
}

/// Whether the cause of an error is a damaged store in the cache, which is removed then, so that it will be
/// built again.
pub(crate) fn discard_damaged(error: &anyhow::Error) -> bool {
    let of_store = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref() {
        Some(ExportError::Store(error)) => Some(error.path().to_owned()),
        _ => Some(cause.downcast_ref::<StoreError>()?.path().to_owned()),
    };
    let (Some(file), Ok(cache)) = (error.chain().find_map(of_store), cache_directory()) else { return false };
    let store = file.ancestors().find(|directory| directory.parent() == Some(cache.as_path()));
    store.is_some_and(Store::discard_if_damaged)
}

/// The traces and captures of which a store was made.
///
/// # Errors
/// It is of another version, or one of them no longer exists.
pub(super) fn traces_of(store: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let all = inputs_of(&Manifest::read(store)?);
    for path in &all {
        anyhow::ensure!(
            path.exists(),
            "{}: a store of {}, which no longer exists",
            Plain(store.display()),
            Plain(path.display())
        );
    }
    Ok(all)
}

/// The directories of the traces, and the captures, of which a store was made, whether they exist or not.
pub(super) fn inputs_of(manifest: &Manifest) -> Vec<PathBuf> {
    let sources = &manifest.sources;
    let is_metadata = |path: &Path| path.file_name().is_some_and(|name| name == "metadata");
    let traces: Vec<PathBuf> = sources
        .iter()
        .filter(|source| is_metadata(&source.path))
        .filter_map(|source| Some(source.path.parent()?.to_owned()))
        .collect();
    let captures = sources.iter().map(|source| source.path.clone());
    let captures: Vec<PathBuf> =
        captures.filter(|path| !traces.iter().any(|trace| path.starts_with(trace))).collect();
    traces.into_iter().chain(captures).collect()
}

/// The store of the traces that were named, built in the cache if it is missing or stale. `kept`: a store
/// that was named in addition.
///
/// # Errors
/// The store that was named is not of these traces as they are, or none can be built.
pub(crate) fn store(
    named: &Named,
    kept: Option<&Path>,
    opened: &Opened,
    spread: Spread,
    console: &Console,
) -> anyhow::Result<Store> {
    let Some(path) = kept.or(named.store.as_deref()) else { return cached(named, opened, spread, console) };
    let store = Store::open(path)?;
    anyhow::ensure!(
        store.manifest().sources == sources(opened.inputs())?,
        "{}: not a store of these traces as they are now; build it again with `isochrone index -o`",
        Plain(path.display())
    );
    Ok(store)
}

/// Builds the store of pieces that were named, where there is none, before it is needed.
///
/// # Errors
/// The traces cannot be opened, or the store cannot be built.
pub(super) fn of_pieces(
    named: &Named,
    kept: Option<&Path>,
    spread: Spread,
    console: &Console,
) -> anyhow::Result<()> {
    let opened = open_named(named, kept, TimeBase::Own, &Console::new(true))?;
    let path = path_of(named, kept)?;
    refuse_unless_store(&path)?;
    build(&path, &named.pieces, &opened, spread, When::Stale, &console.apart())
}

/// The corrections in the store of the traces that were named, if it is of the traces as they are, and its
/// corrections are all that a synchronization would give.
pub(super) fn clocks(named: &Named, kept: Option<&Path>, inputs: &Inputs) -> Option<Clocks> {
    stored_clocks(&kept_store(named, kept, inputs)?)
}

/// The store of the traces that were named, if there is one of the traces as they are.
pub(super) fn kept_store(named: &Named, kept: Option<&Path>, inputs: &Inputs) -> Option<Store> {
    fresh_store(&path_of(named, kept).ok()?, inputs)
}

/// The path of the store of the traces that were named, whether it exists or not.
///
/// # Errors
/// There is no cache.
pub(crate) fn path_of(named: &Named, kept: Option<&Path>) -> anyhow::Result<PathBuf> {
    match kept.or(named.store.as_deref()) {
        Some(path) => Ok(path.to_owned()),
        None => cache(&named.traces),
    }
}

/// The store of traces in the cache, built if it is missing or stale.
fn cached(named: &Named, opened: &Opened, spread: Spread, console: &Console) -> anyhow::Result<Store> {
    let path = cache(&named.traces)?;
    if let Some(store) = fresh_store(&path, opened.inputs()) {
        return Ok(store);
    }
    if let Some(directory) = path.parent() {
        isochrone_store::remove_left(directory);
    }
    if let Err(why) = writable_cache() {
        note!(
            console,
            "the index is not kept: {why}; set XDG_CACHE_HOME, or name a directory by `isochrone index -o DIR` and --store DIR"
        );
    }
    build(&path, &named.pieces, opened, spread, When::Stale, console)?;
    Ok(Store::open(&path)?)
}

/// When a store is built.
#[derive(Clone, Copy)]
enum When {
    /// In any case.
    Always,
    /// Unless there is a store of the traces as they are.
    Stale,
}

/// Builds the store at a path: from pieces that hold the spans, if there are some, else from the traces.
fn build(
    path: &Path,
    pieces: &[PathBuf],
    opened: &Opened,
    spread: Spread,
    when: When,
    console: &Console,
) -> anyhow::Result<()> {
    // A store has all hosts, in raw time, whatever clocks times will be shown on.
    let experiment = Experiment::new(opened.inputs(), None);
    let bytes = experiment.hosts().iter().map(|host| host.traced.bytes()).sum();
    let bar = Progress::over(bytes, "indexing", console);
    let progress = |bytes| bar.add(bytes);
    let waits = || note!(console, "another process indexes these traces; waiting for it");
    let indexing = Indexing { progress: Some(&progress), waits: Some(&waits) };
    let built = match when {
        _ if !pieces.is_empty() => index_of_pieces(&experiment, &|| spans(pieces), path, spread, indexing),
        When::Always => index(&experiment, path, spread, indexing).map(Some),
        When::Stale => index_if_stale(&experiment, path, spread, indexing),
    };
    bar.finish();
    let built = built.map_err(|error| match error {
        IndexError::Store(error) => anyhow::Error::new(error),
        IndexError::Model(error) => model_error(error),
        IndexError::Pieces(error) => pieces_error(&error),
        IndexError::Sync(error) => anyhow::Error::new(error),
        IndexError::Artefact(error) => anyhow::Error::new(error),
        error @ IndexError::Cut(_) => anyhow::anyhow!("{}", Plain(error)),
    })?;
    for (host, report) in experiment.hosts().iter().zip(built.iter().flat_map(|built| &built.reports)) {
        report_missing(host, report, console);
    }
    Ok(())
}

/// Refuses to replace anything but a store.
pub(super) fn refuse_unless_store(path: &Path) -> anyhow::Result<()> {
    let is_free = !path.exists() || is_store(path);
    anyhow::ensure!(is_free, "{}: exists and is not a store", Plain(path.display()));
    Ok(())
}

/// The user's cache: `$XDG_CACHE_HOME/isochrone`, else `~/.cache/isochrone`.
pub(super) fn cache_directory() -> anyhow::Result<PathBuf> {
    let of_user = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home =
        || Some(PathBuf::from(std::env::var_os("HOME").filter(|path| !path.is_empty())?).join(".cache"));
    let directory = of_user.or_else(home).context(
        "neither XDG_CACHE_HOME nor HOME is set; `isochrone index -o DIR` and --store DIR need none",
    )?;
    Ok(directory.join("isochrone"))
}

/// The user's cache, if it can be written; else why not. It is tried once.
fn writable_cache() -> &'static Result<PathBuf, String> {
    static TRIED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    TRIED.get_or_init(|| {
        let directory = cache_directory().map_err(|error| format!("{error:#}"))?;
        match fs::create_dir_all(&directory).and_then(|()| tempfile::tempfile_in(&directory)) {
            Ok(_) => Ok(directory),
            Err(error) => Err(format!("{}: {error}", Plain(directory.display()))),
        }
    })
}

/// The directory in a cache that keeps what recordings became.
pub(super) fn recordings_in(cache: &Path) -> PathBuf {
    cache.join("recordings")
}

/// That of the user's cache, if it can be written.
pub(crate) fn writable_recordings() -> Option<PathBuf> {
    writable_cache().as_ref().ok().map(|cache| recordings_in(cache))
}

/// A directory for this process alone, where there is no cache that can be written.
static INSTEAD: Mutex<Option<UnfinishedDirectory>> = Mutex::new(None);

/// That directory, which is made if it is not there. `why` there is no cache.
fn instead(why: &str) -> anyhow::Result<PathBuf> {
    let mut instead = INSTEAD.lock().unwrap_or_else(PoisonError::into_inner);
    if instead.is_none() {
        let made = UnfinishedDirectory::new(OsStr::new("cache"), &std::env::temp_dir());
        *instead = Some(made.with_context(|| format!("{why}; nor can a temporary directory be made"))?);
    }
    instead.as_ref().map(|made| made.path().to_owned()).context("there is no temporary directory")
}

/// Removes the directory that stood for the cache, before this process ends.
pub(crate) fn remove_instead() {
    INSTEAD.lock().unwrap_or_else(PoisonError::into_inner).take();
}

/// The path of the store of traces, by their paths: in the user's cache, or where that cannot be written and
/// has no store of them as they are, in a directory that goes with this process ([`remove_instead`]).
pub(super) fn cache(traces: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let name = store_name(traces)?;
    match writable_cache() {
        Ok(directory) => Ok(directory.join(name)),
        Err(why) => {
            match in_cache(traces).filter(|path| Manifest::read(path).is_ok_and(|it| it.is_fresh())) {
                Some(path) => Ok(path),
                None => Ok(instead(why)?.join(name)),
            }
        }
    }
}

/// The path of the store of traces in the user's cache, whether it exists or not; nothing is made.
pub(crate) fn in_cache(traces: &[PathBuf]) -> Option<PathBuf> {
    Some(cache_directory().ok()?.join(store_name(traces).ok()?))
}

/// What the store of traces is called in a cache, by their paths.
fn store_name(traces: &[PathBuf]) -> anyhow::Result<String> {
    let mut paths: Vec<PathBuf> = Vec::with_capacity(traces.len());
    for path in traces {
        paths.push(path.canonicalize().with_context(|| format!("{}", Plain(path.display())))?);
    }
    paths.sort_unstable();
    paths.dedup();
    // Two sets of paths may share a path: the store is checked against the traces.
    let mut hasher = rustc_hash::FxHasher::default();
    for path in &paths {
        hasher.write(path.as_os_str().as_encoded_bytes());
        hasher.write_u8(0);
    }
    Ok(format!("{:016x}", hasher.finish()))
}
