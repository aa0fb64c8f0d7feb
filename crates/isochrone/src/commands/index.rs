//! `isochrone index`: the store of traces, and where it is kept. Commands that read one find or make it here.

use std::fs;
use std::hash::Hasher;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use isochrone_experiment::{
    Experiment, IndexError, Indexing, Inputs, Opened, Spread, TimeBase, fresh_store, index, index_if_stale,
    index_of_pieces, sources, stored_clocks,
};
use isochrone_export::ExportError;
use isochrone_store::{Manifest, Store, StoreError};
use isochrone_sync::apply::Clocks;

use super::analyze::{in_words, report_missing};
use super::pieces::{error_in_words, spans};
use super::{Named, named, open_named, writable};
use crate::ExitStatus;
use crate::arguments::Index;
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::render::figures;
use crate::render::plain::{Plain, plain};

pub(crate) fn run(arguments: &Index, quiet: bool) -> anyhow::Result<ExitStatus> {
    let named = named(&arguments.traces)?;
    let path = match &arguments.output {
        Some(path) => {
            refuse_what_is_no_store(path)?;
            writable(path.parent().unwrap_or(Path::new("")))?;
            path.clone()
        }
        None => cache(&named.traces)?,
    };
    let (opened, ending) = open_named(&named, None, TimeBase::Own, quiet)?;
    let spread = Spread { threads: arguments.threads, pieces: None };
    let ending = make(&path, &named.pieces, &opened, spread, When::Always, ending, quiet)?;
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
    Ok(ending)
}

/// Whether a path is a store, of whatever version, or a damaged one.
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

/// Whether an error comes of a damaged store in the cache. That is none any more then: who needs it makes it anew.
pub(crate) fn discard_damaged(error: &anyhow::Error) -> bool {
    let of_store = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref() {
        Some(ExportError::Store(error)) => Some(error.path().to_owned()),
        _ => Some(cause.downcast_ref::<StoreError>()?.path().to_owned()),
    };
    let (Some(file), Ok(cache)) = (error.chain().find_map(of_store), cache_directory()) else { return false };
    let store = file.ancestors().find(|directory| directory.parent() == Some(cache.as_path()));
    store.is_some_and(Store::discard_if_damaged)
}

/// The traces and captures that a store was made of.
///
/// # Errors
/// It is of another version, or one of them is not there any more.
pub(super) fn traces_of(store: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let sources = Manifest::read(store)?.sources;
    let is_metadata = |path: &Path| path.file_name().is_some_and(|name| name == "metadata");
    let traces: Vec<PathBuf> = sources
        .iter()
        .filter(|source| is_metadata(&source.path))
        .filter_map(|source| Some(source.path.parent()?.to_owned()))
        .collect();
    let captures = sources.into_iter().map(|source| source.path);
    let captures: Vec<PathBuf> =
        captures.filter(|path| !traces.iter().any(|trace| path.starts_with(trace))).collect();
    let all: Vec<PathBuf> = traces.into_iter().chain(captures).collect();
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

/// The store of what was named, made in the cache if it is missing or stale. `kept`: where it was named beside.
///
/// # Errors
/// The one that was named is not of these traces as they are, or none can be made.
pub(crate) fn store(
    named: &Named,
    kept_at: Option<&Path>,
    opened: &Opened,
    spread: Spread,
    ending: ExitStatus,
    quiet: bool,
) -> anyhow::Result<(Store, ExitStatus)> {
    match kept_at.or(named.store.as_deref()) {
        Some(path) => Ok((kept(path, opened)?, ending)),
        None => cached(named, opened, spread, ending, quiet),
    }
}

/// Makes the store of pieces that were named, where there is none, before anybody looks at it.
///
/// # Errors
/// The traces cannot be opened, or the store not be made.
pub(super) fn of_pieces(
    named: &Named,
    kept_at: Option<&Path>,
    spread: Spread,
    quiet: bool,
) -> anyhow::Result<()> {
    let (opened, ending) = open_named(named, kept_at, TimeBase::Own, true)?;
    let path = place(named, kept_at)?;
    refuse_what_is_no_store(&path)?;
    make(&path, &named.pieces, &opened, spread, When::Stale, ending, quiet)?;
    Ok(())
}

/// The corrections in the store of what was named, if there is a store of the traces as they are, and they are all that a synchronization
/// would say.
pub(super) fn clocks(named: &Named, kept_at: Option<&Path>, inputs: &Inputs) -> Option<Clocks> {
    stored_clocks(&kept_store(named, kept_at, inputs)?)
}

/// The store of what was named, if there is one of the traces as they are.
pub(super) fn kept_store(named: &Named, kept_at: Option<&Path>, inputs: &Inputs) -> Option<Store> {
    fresh_store(&place(named, kept_at).ok()?, inputs)
}

/// Where the store of what was named is, or would be.
///
/// # Errors
/// There is no cache.
pub(crate) fn place(named: &Named, kept_at: Option<&Path>) -> anyhow::Result<PathBuf> {
    match kept_at.or(named.store.as_deref()) {
        Some(path) => Ok(path.to_owned()),
        None => cache(&named.traces),
    }
}

/// The store at a path that was named: it must be of these traces as they are.
fn kept(path: &Path, opened: &Opened) -> anyhow::Result<Store> {
    let store = Store::open(path)?;
    anyhow::ensure!(
        store.manifest().sources == sources(opened.inputs())?,
        "{}: not a store of these traces as they are now; build it again with `isochrone index -o`",
        Plain(path.display())
    );
    Ok(store)
}

/// The store of traces in the cache, made if it is missing or stale.
fn cached(
    named: &Named,
    opened: &Opened,
    spread: Spread,
    ending: ExitStatus,
    quiet: bool,
) -> anyhow::Result<(Store, ExitStatus)> {
    let path = cache(&named.traces)?;
    if let Some(store) = fresh_store(&path, opened.inputs()) {
        return Ok((store, ending));
    }
    if let Some(directory) = path.parent() {
        isochrone_store::remove_left(directory);
    }
    let ending = make(&path, &named.pieces, opened, spread, When::Stale, ending, quiet)?;
    Ok((Store::open(&path)?, ending))
}

/// When a store is made.
#[derive(Clone, Copy)]
enum When {
    /// Whatever is there.
    Always,
    /// Unless there is one of the traces as they are.
    Stale,
}

/// Makes the store at a path: of pieces that hold the spans, if there are some, else of the traces.
fn make(
    path: &Path,
    pieces: &[PathBuf],
    opened: &Opened,
    spread: Spread,
    when: When,
    ending: ExitStatus,
    quiet: bool,
) -> anyhow::Result<ExitStatus> {
    // Whatever clocks times are to be shown on: a store has all hosts, in raw time.
    let experiment = Experiment::new(opened.inputs(), None);
    let bytes = experiment.hosts().iter().map(|host| host.traced.bytes()).sum();
    let bar = Progress::over(bytes, "indexing", quiet);
    let progress = |bytes| bar.add(bytes);
    let waits = || {
        if !quiet {
            tell!("note: another process indexes these traces; waiting for it");
        }
    };
    let indexing = Indexing { progress: Some(&progress), waits: Some(&waits) };
    let made = match when {
        _ if !pieces.is_empty() => index_of_pieces(&experiment, &|| spans(pieces), path, spread, indexing),
        When::Always => index(&experiment, path, spread, indexing).map(Some),
        When::Stale => index_if_stale(&experiment, path, spread, indexing),
    };
    bar.finish();
    let made = made.map_err(|error| match error {
        IndexError::Store(error) => anyhow::Error::new(error),
        IndexError::Model(error) => in_words(error),
        IndexError::Pieces(error) => error_in_words(&error),
        IndexError::Sync(error) => anyhow::Error::new(error),
        IndexError::Artefact(error) => anyhow::Error::new(error),
        error @ IndexError::Cut(_) => anyhow::anyhow!("{}", Plain(error)),
    })?;
    let Some(made) = made else { return Ok(ending) };
    let missing = experiment
        .hosts()
        .iter()
        .zip(&made.reports)
        .map(|(host, report)| report_missing(&host.traced, report, quiet));
    Ok(missing.fold(ending, ExitStatus::max))
}

/// Nothing but a store is replaced.
pub(super) fn refuse_what_is_no_store(path: &Path) -> anyhow::Result<()> {
    let is_free = !path.exists() || is_store(path);
    anyhow::ensure!(is_free, "{}: exists and is not a store", Plain(path.display()));
    Ok(())
}

/// The user's cache: `$XDG_CACHE_HOME/isochrone`, else `~/.cache/isochrone`.
fn cache_directory() -> anyhow::Result<PathBuf> {
    let of_user = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home =
        || Some(PathBuf::from(std::env::var_os("HOME").filter(|path| !path.is_empty())?).join(".cache"));
    let directory = of_user.or_else(home).context(
        "neither XDG_CACHE_HOME nor HOME is set; `isochrone index -o DIR` and --store DIR need none",
    )?;
    Ok(directory.join("isochrone"))
}

/// Where the store of traces is in the user's cache, by their paths.
pub(super) fn cache(traces: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let directory = cache_directory()?;
    let mut paths: Vec<PathBuf> = Vec::with_capacity(traces.len());
    for path in traces {
        paths.push(path.canonicalize().with_context(|| format!("{}", Plain(path.display())))?);
    }
    paths.sort_unstable();
    paths.dedup();
    // Any two sets of paths may share a place: what is there is checked against the traces.
    let mut hasher = rustc_hash::FxHasher::default();
    for path in &paths {
        hasher.write(path.as_os_str().as_encoded_bytes());
        hasher.write_u8(0);
    }
    Ok(directory.join(format!("{:016x}", hasher.finish())))
}
