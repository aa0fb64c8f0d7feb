//! What the second program, `isochrone-sql`, has in common with this one: opening traces, building stores, wording complaints, laying out
//! tables, and ending with an error.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use isochrone_corrections::artefact::Artefact;
use isochrone_experiment::{Opened, Spread, read_corrections};
use isochrone_store::Store;

use crate::commands::{host_selection, index, named, open_named};
use crate::conversions;
use crate::output::eprint_line;
use crate::render::complaints;
use crate::render::plain::PlainLines;
use crate::render::table::Layout;

pub use crate::ExitStatus;
pub use crate::arguments::{Clock, Keys};
pub use crate::commands::check_output;
pub use crate::commands::signals::{EndsAtOnce, leave_nothing_on_signals};
pub use crate::output::{Console, Stdout, print};
pub use crate::render::figures::duration;
pub use crate::render::plain::plain;
pub use crate::suggest::did_you_mean;
pub use isochrone_server::Token;

/// Makes the process end with a message that starts with `prefix`, not with a signal, where the system truncates a mapped file.
pub fn watch_files(prefix: &'static str) {
    // Where the system refuses this, such a file is a SIGBUS, as without it.
    #[cfg(unix)]
    let _ = isochrone_ctf::exit_on_truncation(prefix, 2);
}

/// The exit code of a program. An error is printed on stderr.
pub fn exit(program: &str, ended: anyhow::Result<ExitStatus>) -> ExitCode {
    index::remove_instead();
    match ended {
        Ok(ExitStatus::Done) => ExitCode::SUCCESS,
        Ok(ExitStatus::Partial) => ExitCode::from(1),
        Err(error) => {
            complain(program, &error);
            ExitCode::from(2)
        }
    }
}

/// Prints an error on stderr.
pub fn complain(program: &str, error: &anyhow::Error) {
    eprint_line!("{program}: {}", PlainLines(format_args!("{error:#}")));
}

/// Prints a note on stderr.
pub fn note(text: &str) {
    eprint_line!("note: {}", PlainLines(text));
}

/// Prints what could not be read.
pub fn show_lost(lost: &[isochrone_ctf::Diagnostic], quiet: bool) -> ExitStatus {
    let console = Console::new(quiet);
    complaints::show(lost, &console);
    console.status()
}

/// Traces with their store.
#[derive(Debug)]
pub struct Ready {
    /// The traces, on the clock that was requested.
    pub opened: Opened,
    /// The traces that were named, or those of which the store was made that was named: absolute paths.
    pub paths: Vec<PathBuf>,
    /// The store of all hosts.
    pub store: Store,
    /// Absolute path of the store.
    pub store_path: PathBuf,
    /// Whether all could be read.
    pub status: ExitStatus,
}

/// Opens traces, or those of which a store was made, as all commands do that read a store: reports what is odd about them and the bounds of
/// their clocks, and builds the store in the cache where there is none. `kept`: a store that was named in addition.
///
/// # Errors
/// One of them does not exist, nothing can be read, or the store cannot be built.
pub fn open(
    traces: &[PathBuf],
    clock: &Clock,
    kept: Option<&Path>,
    threads: Option<NonZeroUsize>,
    quiet: bool,
) -> anyhow::Result<Ready> {
    let console = Console::new(quiet);
    conversions::keep(&console);
    let named = named(traces)?;
    let opened = open_named(&named, kept, clock.time_base()?, &console)?;
    let experiment = opened.experiment();
    host_selection::choose(&opened, &experiment, &[], host_selection::NOT_COMPARABLE, &console)?;
    let spread = Spread { threads, pieces: None };
    let store = index::store(&named, kept, &opened, spread, &console)?;
    drop(experiment);
    let absolute = |path: &PathBuf| std::path::absolute(path);
    let paths = named.traces().iter().map(absolute).collect::<Result<_, _>>()?;
    let store_path = std::path::absolute(index::path_of(&named, kept)?)?;
    Ok(Ready { opened, paths, store, store_path, status: console.status() })
}

/// The corrections of open traces, as a `sync.json` has them; `None`: each host is on its own clock, or there is no record of them.
/// `stored`: the text in the store of the traces.
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

/// Prints rows as a table that fits the terminal. `is_right`: whether a column is aligned right.
///
/// # Errors
/// It cannot be written.
pub fn table(
    header: &[&str],
    rows: &[Vec<String>],
    is_right: &dyn Fn(usize) -> bool,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let layout =
        Layout { header, is_right, spare: &[], last_spare: &[], indent: "", room: crate::output::width() };
    let fit = layout.fit(&(|| rows.iter()));
    layout.print(&fit, || rows.iter(), |_| None, out)
}
