//! Output to stdout and stderr: results, and notes and warnings about them.
//!
//! No result is lost because stderr is closed or full. A reader of stdout may stop early (`isochrone events … | head`); any other failure of
//! stdout is an error.

pub(crate) mod pager;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::Context;
use serde::Serialize;

use crate::ExitStatus;

/// Prints a line on stderr, as `eprintln!` does, which panics where stderr cannot be written.
macro_rules! eprint_line {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use eprint_line;

/// Prints a note on stderr, unless the console is quiet.
macro_rules! note {
    ($console:expr, $($text:tt)*) => { $console.note(format_args!($($text)*)) };
}
pub(crate) use note;

/// Prints a warning on stderr.
macro_rules! warning {
    ($($text:tt)*) => { $crate::output::line(format_args!("warning: {}", format_args!($($text)*))) };
}
pub(crate) use warning;

/// Prints a warning on stderr, after which the result of the command is partial.
macro_rules! warn_partial {
    ($console:expr, $($text:tt)*) => {{
        $crate::output::warning!($($text)*);
        $console.partial_if(true);
    }};
}
pub(crate) use warn_partial;

/// What [`eprint_line!`] calls. The line is written at once, so that no other process writes into it.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let _ = io::stderr().write_all(without_error_numbers(&format!("{text}\n")).as_bytes());
}

/// How a command reports what is not its result: notes and progress, unless they are unwanted, and whether the result is partial.
#[derive(Debug, Clone, Default)]
pub struct Console {
    is_quiet: bool,
    is_partial: Arc<AtomicBool>,
    /// What is printed once, and was.
    printed: Arc<Mutex<BTreeSet<String>>>,
}

impl Console {
    /// A console for a command whose result is complete so far.
    pub fn new(is_quiet: bool) -> Self {
        Self { is_quiet, is_partial: Arc::default(), printed: Arc::default() }
    }

    /// The same console, quiet in any case.
    pub(crate) fn silenced(&self) -> Self {
        Self { is_quiet: true, ..self.clone() }
    }

    /// A console for problems that do not make the result of this one partial.
    pub(crate) fn apart(&self) -> Self {
        Self { is_partial: Arc::default(), ..self.clone() }
    }

    /// Whether a text is the first of its kind that is to be printed once for a command.
    pub(crate) fn is_first(&self, text: &str) -> bool {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned())
    }

    /// Whether notes and progress are unwanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Prints a note, unless the console is quiet.
    pub(crate) fn note(&self, text: fmt::Arguments<'_>) {
        if !self.is_quiet {
            eprint_line!("note: {text}");
        }
    }

    /// Marks the result as partial where that is so.
    pub(crate) fn partial_if(&self, is_partial: bool) {
        self.is_partial.fetch_or(is_partial, Ordering::Relaxed);
    }

    /// The exit status of the command, if it ends without an error.
    pub fn status(&self) -> ExitStatus {
        if self.is_partial.load(Ordering::Relaxed) { ExitStatus::Partial } else { ExitStatus::Done }
    }
}

/// Removes the numbers after the system's texts of errors: `No such file or directory (os error 2)`. Anything else that looks like such a
/// number, in a path, stays.
fn without_error_numbers(text: &str) -> Cow<'_, str> {
    const BEFORE: &str = " (os error ";
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEFORE) {
        kept.push_str(before);
        let number = after.split_once(')').and_then(|(number, after)| Some((number.parse().ok()?, after)));
        match number {
            Some((number, after)) if ends_in_error(before, number) => rest = after,
            _ => {
                kept.push_str(BEFORE);
                rest = after;
            }
        }
    }
    if kept.is_empty() { text.into() } else { (kept + rest).into() }
}

/// Whether a text ends in the system's text of the error of a number.
fn ends_in_error(text: &str, number: i32) -> bool {
    let error = io::Error::from_raw_os_error(number).to_string();
    error.split_once(" (os error ").is_some_and(|(error, _)| text.ends_with(error))
}

/// Whether lines of tables are not limited.
static IS_WIDE: AtomicBool = AtomicBool::new(false);

/// Limits lines of tables no longer.
pub(crate) fn be_wide() {
    IS_WIDE.store(true, Ordering::Relaxed);
}

/// Maximum width of the lines of tables: that of the terminal, or `COLUMNS`; `None`: unknown, or lines are not limited.
pub(crate) fn width() -> Option<usize> {
    if IS_WIDE.load(Ordering::Relaxed) {
        return None;
    }
    let of_environment = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let of_terminal = || pager::width().or_else(terminal_width);
    of_environment.or_else(of_terminal).filter(|&columns| columns > 0)
}

/// Width of the terminal that stdout is, in columns.
fn terminal_width() -> Option<usize> {
    Some(usize::from(terminal_size::terminal_size_of(io::stdout())?.0.0))
}

/// Whether results are coloured: on a terminal, unless its user does not want colours.
pub(crate) fn has_colours() -> bool {
    static COLOURED: OnceLock<bool> = OnceLock::new();
    *COLOURED.get_or_init(|| io::stdout().is_terminal() && are_colours_wanted())
}

/// Whether colours are wanted: `NO_COLOR` is not set, and the terminal is not a dumb one.
pub(crate) fn are_colours_wanted() -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && !is_dumb()
}

/// Whether the terminal can do nothing but print.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// A heading of a table: bold on terminals.
pub(crate) fn heading(text: &str) -> Cow<'_, str> {
    match has_colours() {
        true => format!("\x1b[1m{text}\x1b[0m").into(),
        false => text.into(),
    }
}

/// Colours of hosts on terminals: those that can be read on light and on dark ones.
const COLOURS: [u8; 6] = [36, 33, 35, 32, 34, 31];

/// The name of the host of a number, in a colour of its own on terminals.
pub(crate) fn host(number: usize, name: &str) -> Cow<'_, str> {
    match has_colours() {
        true => format!("\x1b[{}m{name}\x1b[0m", COLOURS[number % COLOURS.len()]).into(),
        false => name.into(),
    }
}

/// Stdout as [`print()`] passes it on.
pub type Stdout = BufWriter<FailureRecorder<io::StdoutLock<'static>>>;

/// Writes a result to stdout. `None`: its reader has stopped, so that the rest is not needed.
///
/// # Errors
/// Stdout cannot be written, or `write` fails.
pub fn print<T>(write: impl FnOnce(&mut Stdout) -> anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    let mut out = BufWriter::new(FailureRecorder { inner: io::stdout().lock(), failed: None });
    let written = write(&mut out).and_then(|result| {
        out.flush()?;
        Ok(result)
    });
    // Without another attempt to write the rest.
    let (recorder, _) = out.into_parts();
    match recorder.failed {
        None => written.map(Some),
        Some(io::ErrorKind::BrokenPipe) => Ok(None),
        Some(_) => written.map(Some).context("cannot write to stdout"),
    }
}

/// Writes a document of JSON for people and programs.
pub(crate) fn json(document: &impl Serialize, out: &mut Stdout) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    Ok(writeln!(out)?)
}

/// Records why it could not write: later errors hide the cause.
pub struct FailureRecorder<W> {
    inner: W,
    failed: Option<io::ErrorKind>,
}

impl<W> FailureRecorder<W> {
    fn record<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.failed = Some(error.kind());
        }
        result
    }
}

/// Whether a part of a result has been written.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether a part of a result has been written.
pub(crate) fn has_printed() -> bool {
    PRINTED.load(Ordering::Relaxed)
}

impl<W: Write> Write for FailureRecorder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !PRINTED.swap(true, Ordering::Relaxed) {
            pager::start();
        }
        let written = self.inner.write(bytes);
        self.record(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.record(flushed)
    }
}

#[cfg(test)]
mod tests {
    use super::without_error_numbers;

    #[test]
    fn numbers_of_errors_are_left_out() {
        let check = |text: &str, expect: &str| assert_eq!(without_error_numbers(text), expect);
        let (absent, refused) = ("No such file or directory", "Permission denied");
        check(&format!("a: {absent} (os error 2)\n"), &format!("a: {absent}\n"));
        check(
            &format!("a: {absent} (os error 2); b: {refused} (os error 13)"),
            &format!("a: {absent}; b: {refused}"),
        );
        // Of paths.
        check("a (os error x)", "a (os error x)");
        check("my (os error 5) trace", "my (os error 5) trace");
        check("plain", "plain");
    }
}
