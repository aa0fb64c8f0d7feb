//! `isochrone view` and `isochrone serve`: a server for the page and for viewers.

use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use isochrone_experiment::Spread;
use isochrone_server::{
    Addresses, CommandLine, Current, Generation, Library, Session, SessionConfig, Settings, SqlProgram,
    Stage, serve as serve_at,
};
use isochrone_store::Store;

use super::{Named, index, named};
use crate::arguments::{Clock, Serve, Served, View};
use crate::output::{self, Console, eprint_line, note, warning};
use crate::render::plain::plain;

/// Port of the page, unless it is in use.
const PAGE_PORT: u16 = 8191;

/// Interval of checks whether traces are open.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Opens a page of traces.
pub(crate) fn view(arguments: &View, console: &Console) -> anyhow::Result<()> {
    let (library, session) = library(&arguments.traces, &arguments.served, console)?;
    let session = session.context("no trace was named")?;
    let opens = !arguments.no_open && std::io::stdout().is_terminal();
    let listening = |addresses: &Addresses| {
        // The page does not need the terminal.
        let _ = output::print(|stdout| Ok(writeln!(stdout, "{}", addresses.page)?));
        note!(console, "viewers of the Trace Server Protocol find it at {}", addresses.protocol);
        note!(console, "Ctrl-C ends it");
        if opens && let Err(error) = open::that_detached(&addresses.page) {
            eprint_line!("note: no browser could be opened: {}", plain(&error.to_string()));
        }
    };
    let current = Current::new(Arc::clone(&session));
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, PAGE_PORT));
    let settings = |listen| settings(listen, &arguments.served);
    let at = |listen| serve_at(&settings(listen), Arc::clone(&library), Some(current.clone()), listening);
    let ended = match at(arguments.listen.unwrap_or(usual)) {
        Err(error) if error.kind() == ErrorKind::AddrInUse && arguments.listen.is_none() => {
            at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        }
        ended => ended,
    };
    // Another thread may write a store still.
    isochrone_store::remove_unfinished();
    ended.with_context(|| format!("cannot listen on {}", arguments.listen.unwrap_or(usual)))?;
    console.partial_if(matches!(session.stage(), Stage::Failed(_)));
    Ok(())
}

/// Serves traces to viewers, without a page.
pub(crate) fn serve(arguments: &Serve, console: &Console) -> anyhow::Result<()> {
    let (library, session) = library(&arguments.traces, &arguments.served, console)?;
    let listening = |addresses: &Addresses| {
        let _ = output::print(|stdout| Ok(writeln!(stdout, "{}", addresses.protocol)?));
        note!(console, "Ctrl-C ends it");
    };
    let ended = serve_at(&settings(arguments.listen, &arguments.served), library, None, listening);
    isochrone_store::remove_unfinished();
    ended.with_context(|| format!("cannot listen on {}", arguments.listen))?;
    let is_failed = session.is_some_and(|session| matches!(session.stage(), Stage::Failed(_)));
    console.partial_if(is_failed);
    Ok(())
}

/// The settings of the server.
fn settings(listen: SocketAddr, served: &Served) -> Settings {
    Settings { listen, origins: served.allow_origin.clone(), needs_token: served.needs_token() }
}

/// What is served: an experiment of the traces, if there are some, and experiments that viewers make.
fn library(
    paths: &[PathBuf],
    served: &Served,
    console: &Console,
) -> anyhow::Result<(Arc<Library>, Option<Arc<Session>>)> {
    let named = named(paths)?;
    super::refuse_missing(&served.root)?;
    // A trace that is cut while it is read fails its own requests only.
    #[cfg(unix)]
    isochrone_ctf::survive_truncation();
    // Problems of a file of corrections are reported before anything is served.
    served.clock.time_base()?;
    let spread = Spread { threads: served.store.threads, pieces: None };
    if !named.pieces.is_empty() {
        index::of_pieces(&named, served.store.store.as_deref(), spread, console)?;
    }
    let clock = served.clock.clone();
    let store = store_path(&named, served.store.store.as_deref())?;
    let first = (named.traces.clone(), store.clone());
    let name = name_of(paths);
    let command = command_line(paths, &served.clock);
    let sql = sql_program(&served.clock);
    let opener = move |paths: &[PathBuf], name: String| {
        let (store, command) = match first.0 == paths {
            true => (Ok(first.1.clone()), command.clone()),
            false => (index::cache(paths), CommandLine { traces: words(paths), ..command.clone() }),
        };
        let store = store.map_err(|error| format!("{error:#}"))?;
        let base = clock.time_base().map_err(|error| error.to_string())?;
        Ok(SessionConfig {
            name,
            paths: paths.to_vec(),
            store,
            base,
            command,
            generation: Generation::default(),
            sql: sql.clone(),
        })
    };
    let roots: Vec<PathBuf> = paths.iter().chain(&named.traces).chain(&served.root).cloned().collect();
    let library = Library::new(&roots, Box::new(opener));
    if named.traces.is_empty() {
        return Ok((library, None));
    }
    let session = library.open(&named.traces, name, spread).map_err(anyhow::Error::msg)?;
    let is_cached = served.store.store.is_none() && named.store.is_none();
    report_failure(Arc::clone(&session), is_cached.then_some(store));
    Ok((library, Some(session)))
}

/// These traces in command lines that are shown.
pub(super) fn command_line(paths: &[PathBuf], clock: &Clock) -> CommandLine {
    let mut options = Vec::new();
    if let Some(sync) = &clock.sync {
        options.push(format!("--sync {}", CommandLine::quoted(&sync.to_string_lossy())));
    }
    if clock.no_sync {
        options.push("--no-sync".to_owned());
    }
    CommandLine { options: options.join(" "), traces: words(paths) }
}

/// What answers questions in SQL, with times on that clock.
pub(super) fn sql_program(clock: &Clock) -> SqlProgram {
    let mut options: Vec<OsString> = Vec::new();
    if let Some(sync) = &clock.sync {
        options.extend(["--sync".into(), sync.into()]);
    }
    options.extend(clock.no_sync.then(|| "--no-sync".into()));
    SqlProgram { program: super::sql::program(), options }
}

/// Paths as words of a command line.
fn words(paths: &[PathBuf]) -> String {
    let words: Vec<String> = paths.iter().map(|path| CommandLine::quoted(&path.to_string_lossy())).collect();
    words.join(" ")
}

/// The path of the store of the traces that were named, whether it exists or not.
fn store_path(named: &Named, kept: Option<&Path>) -> anyhow::Result<PathBuf> {
    match kept.or(named.store.as_deref()) {
        Some(path) => {
            index::refuse_unless_store(path)?;
            Ok(path.to_owned())
        }
        None => index::cache(&named.traces),
    }
}

/// A name for some traces: those of their directories.
pub(super) fn name_of(traces: &[PathBuf]) -> String {
    let name = |path: &PathBuf| {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        path.file_name()
            .map_or_else(|| path.to_string_lossy().into_owned(), |name| name.to_string_lossy().into_owned())
    };
    let names: Vec<String> = traces.iter().map(name).collect();
    match names.as_slice() {
        [one] => one.clone(),
        [first, .., last] if names.len() > 3 => format!("{first} … {last}"),
        several => several.join(", "),
    }
}

/// Reports on the terminal that traces cannot be opened, or that their store is damaged, which the page shows only when it needs that part.
/// `cached`: the store, if it is in the cache.
fn report_failure(session: Arc<Session>, cached: Option<PathBuf>) {
    std::thread::spawn(move || {
        loop {
            match session.stage() {
                Stage::Failed(why) => return eprint_line!("isochrone: {}", plain(&why)),
                Stage::Ready => {
                    drop(session);
                    let Some(store) = cached else { return };
                    if let Err(error) = Store::open(&store).and_then(|store| store.verify())
                        && Store::discard_if_damaged(&store)
                    {
                        warning!(
                            "{}; the store will be built again the next time",
                            plain(&error.to_string())
                        );
                    }
                    return;
                }
                Stage::Opening | Stage::Synchronizing | Stage::Indexing => std::thread::sleep(CHECK_INTERVAL),
            }
        }
    });
}
