//! The command line of Isochrone: parses arguments, calls one library function, renders. The only crate that prints.
//!
//! `arguments` defines the command line, `commands` has a file for each command, `render` what several of them show, `output` writes it.
//! [`shared`] is what the second program, `isochrone-sql`, has in common with this one.

mod arguments;
mod commands;
mod completion;
mod conversions;
mod event_cpu;
mod output;
mod progress;
mod render;
pub mod shared;
mod suggest;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{ColorChoice, FromArgMatches};

use crate::arguments::{Arguments, Command, with_command};
use crate::output::{Console, are_colours_wanted, warning};
use crate::render::plain::PlainLines;
use crate::render::time;

/// How a command ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// Its result is complete.
    Done,
    /// Its result is partial: something was refused or could not be read.
    Partial,
}

/// Runs the program `isochrone` with the arguments of this process.
pub fn main() -> ExitCode {
    if completion::answer() {
        return ExitCode::SUCCESS;
    }
    shared::watch_files("isochrone: ");
    let ended = match parse() {
        Ok(arguments) => run(arguments).or_else(try_again),
        Err(wrong) if wrong.use_stderr() => wrong.exit(),
        Err(help) => show_help(&help),
    };
    let code = shared::exit("isochrone", ended);
    if output::pager::end() { code } else { ExitCode::from(2) }
}

/// Reads the command line. Help and errors are coloured as results are: clap alone would colour dumb terminals where `CI` is set.
fn parse() -> Result<Arguments, clap::Error> {
    let colours = if are_colours_wanted() { ColorChoice::Auto } else { ColorChoice::Never };
    let mut command = Arguments::command_line().color(colours);
    // A terminal without a size has lines of any length, which are hard to read.
    if std::env::var("COLUMNS").is_ok_and(|columns| columns == "0") {
        command = command.term_width(100);
    }
    let arguments = with_command(std::env::args_os(), &command);
    let matches = command.try_get_matches_from_mut(arguments)?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(|wrong| wrong.format(&mut command))?;
    arguments.with_given(&matches).resolved(&mut command)
}

/// Prints the help or the version, which are results.
fn show_help(help: &clap::Error) -> anyhow::Result<ExitStatus> {
    match help.print().and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("the help cannot be written")
        }
        _ => Ok(ExitStatus::Done),
    }
}

/// Runs the command again where a damaged store in the cache was the error, unless a part of the result has been written.
fn try_again(error: anyhow::Error) -> anyhow::Result<ExitStatus> {
    if !commands::index::discard_damaged(&error) || output::has_printed() {
        return Err(error);
    }
    warning!("{}; the store in the cache is built again", PlainLines(format_args!("{error:#}")));
    run(parse()?)
}

fn run(arguments: Arguments) -> anyhow::Result<ExitStatus> {
    let console = &Console::new(arguments.quiet);
    conversions::keep(console);
    if arguments.wide {
        output::be_wide();
    }
    // Some commands end properly by themselves.
    let ends_itself = matches!(
        arguments.command,
        Command::Live(_) | Command::Record(_) | Command::Watch(_) | Command::View(_) | Command::Serve(_)
    );
    if !ends_itself {
        commands::signals::leave_nothing_on_signals()?;
        if !arguments.no_pager {
            output::pager::allow();
        }
    }
    if let Some(zone) = arguments.command.zone() {
        time::choose(zone.get());
    }
    match arguments.command {
        Command::Info(command) => commands::info::run(&command, console),
        Command::Events(command) => commands::events::run(&command, console),
        Command::Analyze(command) => commands::analyze::run(&command, console),
        Command::CrossHost(command) => commands::crosshost::run(&command, console),
        Command::Short(command) => commands::analyze::run(&command.into_analyze(), console),
        Command::Cache(command) => commands::cache::run(&command, console),
        Command::Flame(command) => commands::flame::run(&command, console),
        Command::Cut(command) => commands::cut::run(&command, console),
        Command::Dump(command) => commands::dump::run(&command, console),
        Command::Sync(command) => commands::sync::run(&command, console),
        Command::Index(command) => commands::index::run(&command, console),
        Command::Export(command) => commands::export::run(&command, console),
        Command::Summary(command) => commands::summary::run(&command, console),
        Command::Overview(command) => commands::summary::overview(&command, console),
        Command::Diff(command) => commands::runs::diff(&command, console),
        Command::Check(command) => commands::runs::check(&command, console),
        Command::Live(command) => commands::live::run(&command, console),
        Command::Map(command) => commands::pieces::map(&command, console),
        Command::Merge(command) => commands::pieces::merge(&command, console),
        Command::Record(command) => commands::record::run(&command, console),
        Command::Probe(command) => commands::record::probe(&command, console),
        Command::Watch(command) => commands::watch::run(*command, console),
        Command::View(command) => commands::view::view(&command, console),
        Command::Serve(command) => commands::view::serve(&command, console),
        Command::Sql(command) => commands::sql::run(&command, console),
        Command::Convert(command) => commands::convert::run(&command, console),
        Command::Order(command) => commands::order::run(&command, console),
        Command::Completions(command) => commands::shell::completions(&command),
        Command::Man(command) => commands::shell::man(&command),
    }?;
    Ok(console.status())
}
