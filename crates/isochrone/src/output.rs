//! What is written to stdout and stderr: results, and what is said beside them.
//!
//! No result is lost because something else cannot be said: stderr may be closed or full. Whoever reads stdout may stop when
//! there is enough (`isochrone events … | head`); any other failure of stdout is an error.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

/// Says a line on stderr, as `eprintln!` does, which panics where stderr cannot be written.
macro_rules! tell {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use tell;

/// What [`tell!`] calls. The line is written at once, so that no other process writes into it.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let _ = io::stderr().write_all(without_numbers(&format!("{text}\n")).as_bytes());
}

/// Text without the numbers behind what the system says of failures: `No such file or directory (os error 2)`. Anything else that looks like
/// such a number, in a path, stays.
fn without_numbers(text: &str) -> Cow<'_, str> {
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

/// Whether a text ends in what the system says of an error of this number.
fn ends_in_error(text: &str, number: i32) -> bool {
    let said = io::Error::from_raw_os_error(number).to_string();
    said.split_once(" (os error ").is_some_and(|(said, _)| text.ends_with(said))
}

/// How wide the lines of tables may be: as wide as the terminal, or as `COLUMNS` says; `None`: nobody knows, and they are as wide as
/// they are.
pub(crate) fn width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let of_terminal = || Some(usize::from(terminal_size::terminal_size_of(io::stdout())?.0.0));
    said.or_else(of_terminal).filter(|&columns| columns > 0)
}

/// Whether colours are of use: on a terminal, unless its user does not want them.
pub(crate) fn is_coloured() -> bool {
    static COLOURED: OnceLock<bool> = OnceLock::new();
    *COLOURED.get_or_init(|| io::stdout().is_terminal() && are_colours_welcome())
}

/// Whether nobody refuses colours: `NO_COLOR` is not set, and the terminal is not a dumb one.
pub(crate) fn are_colours_welcome() -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A heading of a table: bold on terminals.
pub(crate) fn heading(text: &str) -> Cow<'_, str> {
    match is_coloured() {
        true => format!("\x1b[1m{text}\x1b[0m").into(),
        false => text.into(),
    }
}

/// Colours of hosts on terminals: those that can be read on light and on dark ones.
const COLOURS: [u8; 6] = [36, 33, 35, 32, 34, 31];

/// The name of the host of a number, ready to be shown: in a colour of its own on terminals.
pub(crate) fn host(number: usize, name: &str) -> Cow<'_, str> {
    match is_coloured() {
        true => format!("\x1b[{}m{name}\x1b[0m", COLOURS[number % COLOURS.len()]).into(),
        false => name.into(),
    }
}

/// Stdout as [`print()`] hands it out.
pub type Stdout = BufWriter<Watched<io::StdoutLock<'static>>>;

/// Writes a result to stdout. `None`: nobody reads it to its end, so the rest need not be made.
///
/// # Errors
/// Stdout cannot be written, or what `write` says.
pub fn print<T>(write: impl FnOnce(&mut Stdout) -> anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    let mut out = BufWriter::new(Watched { inner: io::stdout().lock(), failed: None });
    let written = write(&mut out).and_then(|result| {
        out.flush()?;
        Ok(result)
    });
    // Without another attempt to write what is left.
    let (watched, _) = out.into_parts();
    match watched.failed {
        None => written.map(Some),
        Some(io::ErrorKind::BrokenPipe) => Ok(None),
        Some(_) => written.map(Some).context("cannot write to stdout"),
    }
}

/// Remembers why it could not write: of the errors that come of it, not all tell.
pub struct Watched<W> {
    inner: W,
    failed: Option<io::ErrorKind>,
}

impl<W> Watched<W> {
    fn seen<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.failed = Some(error.kind());
        }
        result
    }
}

/// Whether some of a result is written.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether some of a result is written already.
pub(crate) fn has_printed() -> bool {
    PRINTED.load(Ordering::Relaxed)
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        PRINTED.store(true, Ordering::Relaxed);
        let written = self.inner.write(bytes);
        self.seen(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.seen(flushed)
    }
}

#[cfg(test)]
mod tests {
    use super::without_numbers;

    #[test]
    fn numbers_of_errors_are_left_out() {
        let check = |text: &str, expect: &str| assert_eq!(without_numbers(text), expect);
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
