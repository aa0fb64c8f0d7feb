//! Progress bars on stderr: for work that takes long, where stderr is a terminal and nobody asked for quiet.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isochrone_experiment::{Inputs, total_bytes};

/// Work that is done by then needs no bar.
const SHOW_AFTER: Duration = Duration::from_millis(500);

/// What a bar over bytes shows.
const OF_BYTES: &str = "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left";

/// What a bar over traced time shows.
const OF_TIME: &str = "{msg} {wide_bar} {percent} %, {eta} left";

/// How much of some work is done. Told from several threads.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
    show_after: Duration,
    /// Whether the bar has still to be shown.
    waits: AtomicBool,
    /// Where to draw it.
    target: fn() -> ProgressDrawTarget,
}

impl Progress {
    /// Over the bytes of all packets of the traces and of all captures.
    pub(crate) fn over_bytes(inputs: &Inputs, what: &'static str, quiet: bool) -> Self {
        Self::over(total_bytes(inputs), what, quiet)
    }

    /// Over so many bytes.
    pub(crate) fn over(bytes: u64, what: &'static str, quiet: bool) -> Self {
        let seen = is_seen(quiet, std::io::stderr().is_terminal());
        Self::new(bytes, what, OF_BYTES, seen, SHOW_AFTER, ProgressDrawTarget::stderr)
    }

    /// Over so many ns of traced time, of a result that goes to stdout: lines on a terminal are progress enough.
    pub(crate) fn over_time(ns: u64, what: &'static str, quiet: bool) -> Self {
        let is_open = std::io::stderr().is_terminal() && !std::io::stdout().is_terminal();
        Self::new(ns, what, OF_TIME, is_seen(quiet, is_open), SHOW_AFTER, ProgressDrawTarget::stderr)
    }

    /// Over so many ns of traced time, of a result that goes to a file, or to stdout where that is no terminal.
    pub(crate) fn over_file(ns: u64, what: &'static str, quiet: bool) -> Self {
        let seen = is_seen(quiet, std::io::stderr().is_terminal());
        Self::new(ns, what, OF_TIME, seen, SHOW_AFTER, ProgressDrawTarget::stderr)
    }

    fn new(
        bytes: u64,
        what: &'static str,
        template: &str,
        seen: bool,
        show_after: Duration,
        target: fn() -> ProgressDrawTarget,
    ) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self { bar, begun: Instant::now(), show_after, waits: AtomicBool::new(seen), target }
    }

    /// So many more bytes are done.
    pub(crate) fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        self.show();
    }

    /// So much is done in all.
    pub(crate) fn reach(&self, place: u64) {
        self.bar.set_position(place);
        self.show();
    }

    /// Shows the bar if it is time.
    fn show(&self) {
        if self.waits.load(Ordering::Relaxed)
            && self.begun.elapsed() >= self.show_after
            && self.waits.swap(false, Ordering::Relaxed)
        {
            self.bar.set_draw_target((self.target)());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// All is done: nothing of the bar stays on the terminal.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// Whether anybody would see a bar, and wants to.
fn is_seen(quiet: bool, terminal: bool) -> bool {
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
                Progress::new(1000, "reading", OF_BYTES, is_seen(quiet, terminal), show_after, target);
            progress.add(1);
            // Behind the first addition, which may have shown the bar, nothing is drawn too often.
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
