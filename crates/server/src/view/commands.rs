//! The commands that answer the same on a terminal: each panel of the page shows one.

use isochrone_time::{SinceOrigin, Window};

use super::{Clock, ExperimentView, NS_PER_S};

/// The part of a command line that names the traces of a session.
#[derive(Debug, Clone, Default)]
pub struct CommandLine {
    /// Options for whose clock times are on, and for where the store is.
    pub options: String,
    /// The traces, quoted for a shell.
    pub traces: String,
}

impl CommandLine {
    /// A command with these traces.
    pub fn of(&self, command: &str) -> String {
        let options = if self.options.is_empty() { String::new() } else { format!(" {}", self.options) };
        format!("isochrone {command}{options} {}", self.traces)
    }

    /// A word of a command line, quoted for a shell where it has to be.
    pub fn quoted(word: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.to_owned(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    }
}

impl ExperimentView<'_> {
    /// The command with the same answer for a window on the common clock; `None`: for all of the time.
    pub(crate) fn command_of(&self, command: &str, window: Option<Window<SinceOrigin>>) -> String {
        let window = window.filter(|&window| window != self.extent && !window.is_empty());
        self.command.of(&format!("{command}{}", self.window_options(window)))
    }

    /// The command with the same answer for a window on a clock.
    pub(crate) fn command_on(&self, clock: Clock, command: &str, window: Window<SinceOrigin>) -> String {
        if clock == Clock::Common {
            return self.command_of(command, Some(window));
        }
        let own = CommandLine { options: "--no-sync".to_owned(), ..self.command.clone() };
        let window = Some(window).filter(|window| !window.is_empty());
        own.of(&format!("{command}{}", self.window_options(window)))
    }

    /// A window as options.
    fn window_options(&self, window: Option<Window<SinceOrigin>>) -> String {
        let seconds = |at: SinceOrigin| {
            let unix = self.unix(at).0;
            format!("{}.{:09}", unix.div_euclid(NS_PER_S), unix.rem_euclid(NS_PER_S))
        };
        window.map_or_else(String::new, |window| {
            format!(" --begin {} --end {}", seconds(window.start), seconds(window.end))
        })
    }
}
