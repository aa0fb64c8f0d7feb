//! The command line of Isochrone: parses arguments, calls one library function, renders. The only crate that prints.
//!
//! `arguments` defines what can be typed, `commands` holds one file a command, `render` what several of them show,
//! `output` writes it. [`shared`] is what the second program, `isochrone-sql`, has in common with this one.

mod arguments;
mod commands;
mod event_cpu;
mod near;
mod output;
mod progress;
mod render;
pub mod shared;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{ColorChoice, FromArgMatches};

use crate::arguments::{Arguments, Command, spelled_short};
use crate::output::{are_colours_welcome, tell};
use crate::render::plain::PlainLines;
use crate::render::time;

/// How a command ended; the worse end of two parts is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// All was done.
    Done,
    /// Done in part: something was refused.
    Partly,
}

impl ExitStatus {
    fn partly_if(lost: bool) -> Self {
        if lost { Self::Partly } else { Self::Done }
    }
}

/// Runs the program `isochrone` with the arguments of this process.
pub fn main() -> ExitCode {
    shared::watch_files("isochrone: ");
    let ending = match parse() {
        Ok(arguments) => run(arguments).or_else(try_again),
        Err(wrong) if wrong.use_stderr() => wrong.exit(),
        Err(help) => show_help(&help),
    };
    shared::exit("isochrone", ending)
}

/// Reads the command line. Help and errors are coloured as results are: clap alone would colour dumb terminals where `CI` is set.
fn parse() -> Result<Arguments, clap::Error> {
    let colours = if are_colours_welcome() { ColorChoice::Auto } else { ColorChoice::Never };
    let mut command = Arguments::command_line().color(colours);
    let arguments = spelled_short(std::env::args_os(), &command);
    let matches = command.try_get_matches_from_mut(arguments)?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(|wrong| wrong.format(&mut command))?;
    Ok(arguments.with_given(&matches))
}

/// Help and version are results that somebody asked for.
fn show_help(help: &clap::Error) -> anyhow::Result<ExitStatus> {
    match help.print().and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("the help cannot be written")
        }
        _ => Ok(ExitStatus::Done),
    }
}

/// A damaged store in the cache costs the time to make it anew, and the result only if some of that is written already.
fn try_again(error: anyhow::Error) -> anyhow::Result<ExitStatus> {
    if !commands::index::discard_damaged(&error) || output::has_printed() {
        return Err(error);
    }
    tell!("warning: {}; the store in the cache is made anew", PlainLines(format_args!("{error:#}")));
    run(parse()?)
}

fn run(arguments: Arguments) -> anyhow::Result<ExitStatus> {
    let quiet = arguments.quiet;
    // These end what they have begun by themselves.
    let ends_itself = matches!(
        arguments.command,
        Command::Live(_) | Command::Watch(_) | Command::View(_) | Command::Serve(_)
    );
    if !ends_itself {
        commands::signals::leave_nothing_on_signals()?;
    }
    if let Some(zone) = arguments.command.zone() {
        time::choose(zone.get());
    }
    match arguments.command {
        Command::Info(command) => commands::info::run(&command, quiet),
        Command::Events(command) => commands::events::run(&command, quiet),
        Command::Analyze(command) => commands::analyze::run(&command, quiet),
        Command::CrossHost(command) => commands::crosshost::run(&command, quiet),
        Command::Short(command) => {
            let command = command.spelled_out().map_err(anyhow::Error::msg)?;
            commands::analyze::run(&command, quiet)
        }
        Command::Dump(command) => commands::dump::run(&command, quiet),
        Command::Sync(command) => commands::sync::run(&command, quiet),
        Command::Index(command) => commands::index::run(&command, quiet),
        Command::Export(command) => commands::export::run(&command, quiet),
        Command::Summary(command) => commands::summary::run(&command, quiet),
        Command::Live(command) => commands::live::run(&command, quiet),
        Command::Map(command) => commands::pieces::map(&command, quiet),
        Command::Merge(command) => commands::pieces::merge(&command, quiet),
        Command::Watch(command) => commands::watch::run(&command, quiet),
        Command::View(command) => commands::view::view(&command, quiet),
        Command::Serve(command) => commands::view::serve(&command, quiet),
        Command::Sql(command) => commands::sql::run(&command, quiet),
        Command::Convert(command) => commands::convert::run(&command, quiet),
        Command::Order(command) => commands::order::run(&command, quiet),
        Command::Completions(command) => commands::shell::completions(&command),
        Command::Man(command) => commands::shell::man(&command),
    }
}
