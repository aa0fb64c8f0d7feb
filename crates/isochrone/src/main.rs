//! The command line of Isochrone: parses arguments, calls one library function, renders. The only crate that prints.
//!
//! [`arguments`] defines what can be typed, [`commands`] holds one file a command, [`render`] what several of them show.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod commands;
mod progress;
mod render;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};

/// How a command ended; the worse end of two parts is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    /// All was done.
    Done,
    /// Done in part: something was refused.
    Partly,
}

impl Ending {
    fn partly_if(lost: bool) -> Self {
        if lost { Self::Partly } else { Self::Done }
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Partly) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("isochrone: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<Ending> {
    let quiet = arguments.quiet;
    match arguments.command {
        Command::Info(command) => commands::info::run(&command, quiet),
        Command::Events(command) => commands::events::run(&command, quiet),
        Command::Analyze(command) => commands::analyze::run(&command, quiet),
        Command::Dump(command) => commands::dump::run(&command, quiet),
        Command::Sync(command) => commands::sync::run(&command, quiet),
        Command::Convert(command) => commands::convert::run(&command, quiet),
    }
}

/// Whoever read our output has seen enough (`isochrone events … | head`).
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(io::ErrorKind::BrokenPipe)
    })
}
