//! What is written to stdout and stderr: results, and what is said beside them.
//!
//! No result is lost because something else cannot be said: stderr may be closed or full. Whoever reads stdout may stop when
//! there is enough (`isochrone events … | head`); any other failure of stdout is an error.

use std::fmt;
use std::io::{self, BufWriter, Write};

use anyhow::Context;

/// Says a line on stderr, as `eprintln!` does, which panics where stderr cannot be written.
macro_rules! tell {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use tell;

/// What [`tell!`] calls. The line is written at once, so that no other process writes into it.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Stdout as [`print()`] hands it out.
pub(crate) type Stdout = BufWriter<Watched<io::StdoutLock<'static>>>;

/// Writes a result to stdout. `None`: nobody reads it to its end, so the rest need not be made.
///
/// # Errors
/// Stdout cannot be written, or what `write` says.
pub(crate) fn print<T>(write: impl FnOnce(&mut Stdout) -> anyhow::Result<T>) -> anyhow::Result<Option<T>> {
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
        Some(_) => written.map(Some).context("the result cannot be written"),
    }
}

/// Remembers why it could not write: of the errors that come of it, not all tell.
pub(crate) struct Watched<W> {
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

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.seen(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.seen(flushed)
    }
}
