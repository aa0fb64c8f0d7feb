//! What the second program, `isochrone-sql`, has in common with this one: traces are opened, stores made, complaints worded, tables laid
//! out and errors ended with in the same way.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use isochrone_experiment::{Opened, Spread, read_corrections};
use isochrone_store::Store;
use isochrone_sync::artefact::Artefact;

use crate::commands::{host_selection, index, named, open_named};
use crate::output::tell;
use crate::render::complaints;
use crate::render::plain::PlainLines;
use crate::render::table::Layout;

pub use crate::ExitStatus;
pub use crate::arguments::{Clock, Keys};
pub use crate::commands::check_output;
pub use crate::commands::signals::{EndsAtOnce, leave_nothing_on_signals};
pub use crate::near::did_you_mean;
pub use crate::output::{Stdout, print};
pub use crate::render::figures::duration;
pub use crate::render::plain::plain;
pub use isochrone_server::Token;

/// Where the system truncates a mapped file, the process ends with a message that begins so, not with a signal.
pub fn watch_files(begin: &'static str) {
    // Where the system refuses this, such a file is a SIGBUS, as without it.
    #[cfg(unix)]
    let _ = isochrone_ctf::exit_on_truncation(begin, 2);
}

/// How a program of this name ends: an error is said on stderr.
pub fn exit(program: &str, ending: anyhow::Result<ExitStatus>) -> ExitCode {
    match ending {
        Ok(ExitStatus::Done) => ExitCode::SUCCESS,
        Ok(ExitStatus::Partly) => ExitCode::from(1),
        Err(error) => {
            complain(program, &error);
            ExitCode::from(2)
        }
    }
}

/// Says an error on stderr.
pub fn complain(program: &str, error: &anyhow::Error) {
    tell!("{program}: {}", PlainLines(format_args!("{error:#}")));
}

/// Says a note on stderr.
pub fn note(text: &str) {
    tell!("note: {}", PlainLines(text));
}

/// Says what could not be read.
pub fn show_lost(lost: &[isochrone_ctf::Diagnostic], quiet: bool) -> ExitStatus {
    complaints::show(lost, quiet)
}

/// Traces with their store.
#[derive(Debug)]
pub struct Ready {
    /// The traces, on the clock that was asked for.
    pub opened: Opened,
    /// What was named, or what the store was made of that was named: absolute paths.
    pub paths: Vec<PathBuf>,
    /// Their store, of all hosts.
    pub store: Store,
    /// Where it is, absolute.
    pub store_path: PathBuf,
    /// How it went.
    pub ending: ExitStatus,
}

/// Opens traces, or those that a store was made of, as all commands do that read a store: says what is odd about them and what their
/// clocks are worth, and makes the store in the cache where there is none. `kept`: a store that was named beside.
///
/// # Errors
/// One of them is not there, nothing can be read, or the store cannot be made.
pub fn open(
    traces: &[PathBuf],
    clock: &Clock,
    kept: Option<&Path>,
    threads: Option<NonZeroUsize>,
    quiet: bool,
) -> anyhow::Result<Ready> {
    let named = named(traces)?;
    let (opened, ending) = open_named(&named, kept, clock.time_base()?, quiet)?;
    let experiment = opened.experiment();
    let consequence = ": their times cannot be compared";
    let (_, ending) = host_selection::chosen(&opened, &experiment, &[], consequence, ending, quiet)?;
    let spread = Spread { threads, pieces: None };
    let (store, ending) = index::store(&named, kept, &opened, spread, ending, quiet)?;
    drop(experiment);
    let absolute = |path: &PathBuf| std::path::absolute(path);
    let paths = named.traces().iter().map(absolute).collect::<Result<_, _>>()?;
    let store_path = std::path::absolute(index::place(&named, kept)?)?;
    Ok(Ready { opened, paths, store, store_path, ending })
}

/// The corrections that open traces are on, as a `sync.json` would say them; `None`: each host is on its own clock, or nobody has written
/// down how they came about. `clock`: what was asked for; `stored`: the text in the store of the traces.
///
/// # Errors
/// A `sync.json`, or the store, cannot be read.
pub fn corrections(
    opened: &Opened,
    clock: &Clock,
    stored: impl FnOnce() -> anyhow::Result<Option<String>>,
) -> anyhow::Result<Option<Artefact>> {
    let text = match (&clock.sync, opened.clocks(), opened.synchronized()) {
        (Some(path), ..) => Some(read_corrections(path)?.1),
        (None, None, _) => None,
        (None, Some(_), Some(outcome)) => return Ok(Some(outcome.artefact.clone())),
        (None, Some(_), None) => stored()?,
    };
    Ok(text.as_deref().map(Artefact::from_json).transpose()?)
}

/// Prints rows as a table that fits the terminal. `is_right`: which columns are put to the right.
///
/// # Errors
/// It cannot be written.
pub fn table(
    header: &[&str],
    rows: &[Vec<String>],
    is_right: &dyn Fn(usize) -> bool,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let layout = Layout { header, is_right, spare: &[], indent: "", room: crate::output::width() };
    let fit = layout.fit(&(|| rows.iter()));
    layout.print(&fit, || rows.iter(), |_| None, out)
}
