//! The pager of results on a terminal, as git has it: `ISOCHRONE_PAGER`, else `PAGER`, else `less`, which
//! ends by itself where the result fits the screen. It starts with the first line of a result, so that what
//! has no result needs none.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use nix::unistd::{dup2_stderr, dup2_stdout};

use super::eprint_line;
use crate::render::plain::plain;

/// The pager where none is named.
const USUAL: &str = "less";

enum Pager {
    Unwanted,
    /// As it was named: not empty.
    Wanted(String),
    Running {
        child: Child,
        /// As it was named.
        named: String,
        /// What stderr was, if it goes there, too.
        stderr: Option<OwnedFd>,
    },
}

static PAGER: Mutex<Pager> = Mutex::new(Pager::Unwanted);

/// Width of the terminal, in columns, that a pager has taken the place of.
static WIDTH: OnceLock<Option<usize>> = OnceLock::new();

fn pager() -> MutexGuard<'static, Pager> {
    PAGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets results be read in a pager, where stdout is a terminal and one is wanted.
pub(crate) fn allow() {
    let named = ["ISOCHRONE_PAGER", "PAGER"].into_iter().find_map(|name| std::env::var(name).ok());
    let named = named.unwrap_or_else(|| USUAL.to_owned());
    let is_none = matches!(named.trim(), "" | "cat");
    if io::stdout().is_terminal() && !is_none && !super::is_dumb() {
        *pager() = Pager::Wanted(named);
    }
}

/// Starts the pager that is wanted, in the place of stdout and of what stderr writes to the terminal.
pub(super) fn start() {
    let mut pager = pager();
    let Pager::Wanted(named) = &*pager else { return };
    // Both are of the terminal, which stdout is no longer.
    super::has_colours();
    WIDTH.get_or_init(super::terminal_width);
    let mut command = words(named);
    for (name, usual) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, usual);
        }
    }
    let started = command.stdin(Stdio::piped()).spawn().and_then(|mut child| {
        let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let has_stderr = io::stderr().is_terminal();
        let stderr = has_stderr.then(|| io::stderr().as_fd().try_clone_to_owned()).transpose()?;
        if has_stderr {
            dup2_stderr(&pipe)?;
        }
        dup2_stdout(&pipe)?;
        Ok(Pager::Running { child, named: named.clone(), stderr })
    });
    *pager = started.unwrap_or_else(|error| {
        // Small systems lack the usual one.
        if named != USUAL {
            eprint_line!("note: the pager `{}` cannot be started: {error}", plain(named));
        }
        Pager::Unwanted
    });
}

/// The command of a pager: its words, or by a shell what only a shell reads.
fn words(named: &str) -> Command {
    const OF_SHELL: &[char] =
        &['|', '&', ';', '<', '>', '(', ')', '$', '`', '\\', '"', '\'', '*', '?', '[', '#', '~', '='];
    let mut words = named.split_whitespace();
    match words.next().filter(|_| !named.contains(OF_SHELL)) {
        Some(program) => {
            let mut command = Command::new(program);
            command.args(words);
            command
        }
        None => {
            let mut command = Command::new("sh");
            command.args(["-c", named]);
            command
        }
    }
}

/// Exit statuses of a shell that could not run a command.
const NOT_RUN: [Option<i32>; 2] = [Some(126), Some(127)];

/// Ends the text of a pager that runs, and waits until its reader has left it. Returns whether there was a
/// reader: a shell may not have found the pager, which is printed on stderr.
pub(crate) fn end() -> bool {
    // Held until the end: the program may end on one thread while another one waits here.
    let mut pager = pager();
    let ended = std::mem::replace(&mut *pager, Pager::Unwanted);
    let Pager::Running { mut child, named, stderr } = ended else { return true };
    // The pager waits for the last writer of its pipe.
    if let Ok(nothing) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = dup2_stdout(&nothing);
    }
    if let Some(stderr) = stderr {
        let _ = dup2_stderr(&stderr);
    }
    let is_run = child.wait().is_ok_and(|status| !NOT_RUN.contains(&status.code()));
    if !is_run {
        eprint_line!("isochrone: the pager `{}` cannot be run: --no-pager prints the result", plain(&named));
    }
    is_run
}

/// Width of the terminal that a pager writes to, if there is a pager and its terminal has one.
pub(super) fn width() -> Option<usize> {
    WIDTH.get().copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_shell_reads_what_only_a_shell_does() {
        let named = |pager: &str| format!("{:?}", words(pager));
        assert_eq!(named("less -S +F"), r#""less" "-S" "+F""#);
        assert_eq!(named("LESS=x less"), r#""sh" "-c" "LESS=x less""#);
        assert_eq!(named("head | cat"), r#""sh" "-c" "head | cat""#);
    }
}
