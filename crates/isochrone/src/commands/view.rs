//! `isochrone view` and `isochrone serve`: a server for the page and for viewers.

use std::io::{ErrorKind, IsTerminal, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use isochrone_experiment::Spread;
use isochrone_server::{
    Addresses, CommandLine, Current, Growth, Library, Session, Settings, Stage, Wanted, serve as serve_at,
};
use isochrone_store::Store;

use super::{Named, index, named};
use crate::ExitStatus;
use crate::arguments::{Clock, Serve, Served, View};
use crate::output::{self, tell};
use crate::render::plain::plain;

/// Where the page is, unless somebody else is there.
const PAGE_PORT: u16 = 8191;

/// How often it is looked whether traces are open.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Opens a page of traces.
pub(crate) fn view(arguments: &View, quiet: bool) -> anyhow::Result<ExitStatus> {
    let (library, session) = library(&arguments.traces, &arguments.served, quiet)?;
    let session = session.context("no trace was named")?;
    let opens = !arguments.no_open && std::io::stdout().is_terminal();
    let listening = |addresses: &Addresses| {
        // A terminal that is closed costs no page.
        let _ = output::print(|stdout| Ok(writeln!(stdout, "{}", addresses.page)?));
        if !quiet {
            tell!("note: viewers of the Trace Server Protocol find it at {}", addresses.protocol);
            tell!("note: Ctrl-C ends it");
        }
        if opens && let Err(error) = open::that_detached(&addresses.page) {
            tell!("note: no browser could be opened: {}", plain(&error.to_string()));
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
    Ok(ExitStatus::partly_if(matches!(session.stage(), Stage::Failed(_))))
}

/// Serves traces to viewers, without a page.
pub(crate) fn serve(arguments: &Serve, quiet: bool) -> anyhow::Result<ExitStatus> {
    let (library, session) = library(&arguments.traces, &arguments.served, quiet)?;
    let listening = |addresses: &Addresses| {
        let _ = output::print(|stdout| Ok(writeln!(stdout, "{}", addresses.protocol)?));
        if !quiet {
            tell!("note: Ctrl-C ends it");
        }
    };
    let ended = serve_at(&settings(arguments.listen, &arguments.served), library, None, listening);
    isochrone_store::remove_unfinished();
    ended.with_context(|| format!("cannot listen on {}", arguments.listen))?;
    let is_failed = session.is_some_and(|session| matches!(session.stage(), Stage::Failed(_)));
    Ok(ExitStatus::partly_if(is_failed))
}

/// How the server is reached.
fn settings(listen: SocketAddr, served: &Served) -> Settings {
    Settings { listen, origins: served.allow_origin.clone(), needs_token: served.needs_token() }
}

/// What is served: an experiment of the traces, if there are some, and what viewers make of them.
fn library(
    paths: &[PathBuf],
    served: &Served,
    quiet: bool,
) -> anyhow::Result<(Arc<Library>, Option<Arc<Session>>)> {
    let named = named(paths)?;
    super::refuse_missing(&served.root)?;
    // One trace that is cut while it is read costs its own answers, and no other's.
    #[cfg(unix)]
    isochrone_ctf::survive_truncation();
    // What is wrong with a file of corrections is said before anything is served.
    served.clock.time_base()?;
    let spread = Spread { threads: served.threads, pieces: None };
    if !named.pieces.is_empty() {
        index::of_pieces(&named, served.store.as_deref(), spread, quiet)?;
    }
    let clock = served.clock.clone();
    let store = store_of(&named, served.store.as_deref())?;
    let first = (named.traces.clone(), store.clone());
    let name = name_of(paths);
    let command = command_line(paths, &served.clock);
    let opener = move |paths: &[PathBuf], name: String| {
        let (store, command) = match first.0 == paths {
            true => (Ok(first.1.clone()), command.clone()),
            false => (index::cache(paths), CommandLine { traces: words(paths), ..command.clone() }),
        };
        let store = store.map_err(|error| format!("{error:#}"))?;
        let base = clock.time_base().map_err(|error| error.to_string())?;
        Ok(Wanted { name, paths: paths.to_vec(), store, base, command, growth: Growth::default() })
    };
    let roots: Vec<PathBuf> = paths.iter().chain(&named.traces).chain(&served.root).cloned().collect();
    let library = Library::new(&roots, Box::new(opener));
    if named.traces.is_empty() {
        return Ok((library, None));
    }
    let session = library.open(&named.traces, name, spread).map_err(anyhow::Error::msg)?;
    let is_cached = served.store.is_none() && named.store.is_none();
    tell_failure(Arc::clone(&session), is_cached.then_some(store));
    Ok((library, Some(session)))
}

/// How these traces are named in command lines that are shown.
pub(super) fn command_line(paths: &[PathBuf], clock: &Clock) -> CommandLine {
    let mut options = Vec::new();
    if let Some(sync) = &clock.sync {
        options.push(format!("--sync {}", CommandLine::word(&sync.to_string_lossy())));
    }
    if clock.no_sync {
        options.push("--no-sync".to_owned());
    }
    CommandLine { options: options.join(" "), traces: words(paths) }
}

/// Paths as words of a command line.
fn words(paths: &[PathBuf]) -> String {
    let words: Vec<String> = paths.iter().map(|path| CommandLine::word(&path.to_string_lossy())).collect();
    words.join(" ")
}

/// Where the store of what was named is, or is to be made.
fn store_of(named: &Named, kept: Option<&Path>) -> anyhow::Result<PathBuf> {
    match kept.or(named.store.as_deref()) {
        Some(path) => {
            index::refuse_what_is_no_store(path)?;
            Ok(path.to_owned())
        }
        None => index::cache(&named.traces),
    }
}

/// What people call some traces: the directory, and how many there are beside it.
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

/// Says on the terminal when traces cannot be opened, or something in their store is damaged: the page says it, too, once it needs that.
/// `cached`: the store, if it is in the cache.
fn tell_failure(session: Arc<Session>, cached: Option<PathBuf>) {
    std::thread::spawn(move || {
        loop {
            match session.stage() {
                Stage::Failed(why) => return tell!("isochrone: {}", plain(&why)),
                Stage::Ready => {
                    drop(session);
                    let Some(store) = cached else { return };
                    if let Err(error) = Store::open(&store).and_then(|store| store.verify())
                        && Store::discard_if_damaged(&store)
                    {
                        tell!("warning: {}; the store is made anew the next time", plain(&error.to_string()));
                    }
                    return;
                }
                Stage::Opening | Stage::Synchronizing | Stage::Indexing => std::thread::sleep(LOOK_EVERY),
            }
        }
    });
}
