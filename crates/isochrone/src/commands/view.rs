//! `isochrone view`: a server for the page.

use std::io::{ErrorKind, IsTerminal, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use isochrone_experiment::Spread;
use isochrone_server::{CommandLine, Session, Settings, Stage, Wanted, serve};

use super::{Named, index, named};
use crate::ExitStatus;
use crate::arguments::View;
use crate::output::{self, tell};
use crate::render::plain::plain;

/// Where the page is, unless somebody else is there.
const PAGE_PORT: u16 = 8191;

/// How often it is looked whether traces are open.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) fn run(arguments: &View, quiet: bool) -> anyhow::Result<ExitStatus> {
    let named = named(&arguments.traces)?;
    let store = store_of(&named, arguments.store.as_deref())?;
    let wanted = Wanted {
        name: name_of(&arguments.traces),
        paths: named.traces,
        store,
        base: arguments.clock.time_base()?,
        command: command_line(arguments),
    };
    let spread = Spread { threads: arguments.threads, pieces: None };
    let session = Session::open(wanted, spread).context("cannot open the traces")?;
    tell_failure(Arc::clone(&session));
    let opens = !arguments.no_open && std::io::stdout().is_terminal();
    let listening = |address: &str| {
        // A terminal that is closed costs no page.
        let _ = output::print(|stdout| Ok(writeln!(stdout, "{address}")?));
        if !quiet {
            tell!("note: Ctrl-C ends it");
        }
        if opens && let Err(error) = open::that_detached(address) {
            tell!("note: no browser could be opened: {}", plain(&error.to_string()));
        }
    };
    serve_at(arguments.listen, &session, &listening)?;
    Ok(ExitStatus::partly_if(matches!(session.stage(), Stage::Failed(_))))
}

/// How the page names these traces in command lines that it shows.
fn command_line(arguments: &View) -> CommandLine {
    let mut options = Vec::new();
    if let Some(sync) = &arguments.clock.sync {
        options.push(format!("--sync {}", quoted(&sync.to_string_lossy())));
    }
    if arguments.clock.no_sync {
        options.push("--no-sync".to_owned());
    }
    let traces: Vec<String> = arguments.traces.iter().map(|path| quoted(&path.to_string_lossy())).collect();
    CommandLine { options: options.join(" "), traces: traces.join(" ") }
}

/// Serves until Ctrl-C: where it is asked to listen, else at the usual port or, where that is taken, at a free one.
fn serve_at(
    listen: Option<SocketAddr>,
    session: &Arc<Session>,
    listening: &dyn Fn(&str),
) -> anyhow::Result<()> {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, PAGE_PORT));
    let at = listen.unwrap_or(usual);
    let ended = match serve(&Settings { listen: at }, Arc::clone(session), listening) {
        Err(error) if error.kind() == ErrorKind::AddrInUse && listen.is_none() => {
            let free = Settings { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) };
            serve(&free, Arc::clone(session), listening)
        }
        ended => ended,
    };
    ended.with_context(|| format!("cannot listen on {at}"))
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
fn name_of(traces: &[PathBuf]) -> String {
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

/// A word of a command line, as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Says on the terminal when traces cannot be opened: the page says it, too.
fn tell_failure(session: Arc<Session>) {
    std::thread::spawn(move || {
        loop {
            match session.stage() {
                Stage::Failed(why) => return tell!("isochrone: {}", plain(&why)),
                Stage::Ready => return,
                Stage::Opening | Stage::Synchronizing | Stage::Indexing => std::thread::sleep(LOOK_EVERY),
            }
        }
    });
}
