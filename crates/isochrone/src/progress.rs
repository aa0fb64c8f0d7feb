//! Progress bars on stderr: for long work, where stderr is a terminal and the console is not quiet.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isochrone_experiment::{Inputs, total_bytes};

use crate::output::Console;

/// Shorter work has no bar.
const SHOW_AFTER: Duration = Duration::from_millis(500);

/// Template of a bar over bytes.
const OF_BYTES: &str = "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left";

/// Template of a bar over traced time.
const OF_TIME: &str = "{msg} {wide_bar} {percent} %, {eta} left";

/// Progress of some work, updated by several threads.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    show_after: Duration,
    /// Whether the bar has still to be shown.
    is_pending: AtomicBool,
    /// Where to draw it.
    target: fn() -> ProgressDrawTarget,
}

impl Progress {
    /// Over the bytes of all packets of the traces and of all captures.
    pub(crate) fn over_bytes(inputs: &Inputs, what: &'static str, console: &Console) -> Self {
        Self::over(total_bytes(inputs), what, console)
    }

    /// Over a number of bytes.
    pub(crate) fn over(bytes: u64, what: &'static str, console: &Console) -> Self {
        let is_visible = is_visible(console.is_quiet(), std::io::stderr().is_terminal());
        Self::new(bytes, what, OF_BYTES, is_visible, SHOW_AFTER, ProgressDrawTarget::stderr)
    }

    /// Over ns of traced time, of a result that goes to stdout: on a terminal, its lines show progress.
    pub(crate) fn over_time(ns: u64, what: &'static str, console: &Console) -> Self {
        let is_open = std::io::stderr().is_terminal() && !std::io::stdout().is_terminal();
        Self::new(
            ns,
            what,
            OF_TIME,
            is_visible(console.is_quiet(), is_open),
            SHOW_AFTER,
            ProgressDrawTarget::stderr,
        )
    }

    /// Over ns of traced time, of a result that goes to a file, or to stdout where that is not a terminal.
    pub(crate) fn over_file(ns: u64, what: &'static str, console: &Console) -> Self {
        let is_visible = is_visible(console.is_quiet(), std::io::stderr().is_terminal());
        Self::new(ns, what, OF_TIME, is_visible, SHOW_AFTER, ProgressDrawTarget::stderr)
    }

    fn new(
        bytes: u64,
        what: &'static str,
        template: &str,
        is_visible: bool,
        show_after: Duration,
        target: fn() -> ProgressDrawTarget,
    ) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self { bar, started: Instant::now(), show_after, is_pending: AtomicBool::new(is_visible), target }
    }

    /// Adds bytes that are done.
    pub(crate) fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        self.show();
    }

    /// Sets the total that is done.
    pub(crate) fn reach(&self, done: u64) {
        self.bar.set_position(done);
        self.show();
    }

    /// Shows the bar if it is time.
    fn show(&self) {
        if self.is_pending.load(Ordering::Relaxed)
            && self.started.elapsed() >= self.show_after
            && self.is_pending.swap(false, Ordering::Relaxed)
        {
            self.bar.set_draw_target((self.target)());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Removes the bar from the terminal.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// Whether a bar is possible and wanted.
fn is_visible(quiet: bool, terminal: bool) -> bool {
    terminal && !quiet
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use indicatif::TermLike;

    use super::*;

    /// What was drawn. A target is made by a plain function, so this cannot be the test's own.
    static WRITTEN: Mutex<String> = Mutex::new(String::new());

    #[derive(Debug)]
    struct Terminal;

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            WRITTEN.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_long_work_on_a_terminal_without_quiet_shows_a_bar() {
        let check = |quiet, terminal, show_after, expect: bool| {
            WRITTEN.lock().unwrap().clear();
            let target = || ProgressDrawTarget::term_like(Box::new(Terminal));
            let progress =
                Progress::new(1000, "reading", OF_BYTES, is_visible(quiet, terminal), show_after, target);
            progress.add(1);
            // After the first addition, which may have shown the bar, nothing is drawn too often.
            std::thread::sleep(Duration::from_millis(100));
            progress.add(500);
            let written = WRITTEN.lock().unwrap().clone();
            let shown = written.contains("reading");
            assert!(!shown || written.contains(" of 1000 B, ") && written.contains(" left"), "{written}");
            progress.finish();
            assert_eq!(shown, expect, "quiet {quiet}, terminal {terminal}, after {show_after:?}");
        };
        let (at_once, never) = (Duration::ZERO, Duration::MAX);
        check(false, true, at_once, true);
        check(false, true, never, false);
        check(true, true, at_once, false);
        check(false, false, at_once, false);
        check(true, false, at_once, false);
    }
}
