//! The program `isochrone-sql`: runs SQL statements on traces, and writes the answers.
//!
//! `arguments` defines what can be typed, `statements` splits and runs statements, `output` writes results,
//! `prompt` reads from a person, `words` says what is wrong, `parts` runs the parts of a cluster. With
//! `--listen`, other programs ask (`flight`); with `--parquet`, `written` writes all tables. What that wrote
//! is read in place of traces.

mod arguments;
mod output;
mod parts;
mod prompt;
mod statements;
mod words;
mod written;

use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use datafusion::execution::context::SessionContext;
use isochrone::shared::{self, ExitStatus, Ready};
use isochrone_files::output as files;
use tokio::runtime::Runtime;

use crate::cluster::{self, Door};
use crate::flight;
use crate::origin::Origin;
use crate::parquet_dir::Directory;
use crate::session::session;
use crate::traced::Traced;
use arguments::Arguments;
use output::Target;
use parts::say;
use statements::Asker;

pub(crate) use words::explain;

/// The name of the program.
pub(crate) const PROGRAM: &str = "isochrone-sql";

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    shared::watch_files("isochrone-sql: ");
    let arguments = Arguments::parse();
    shared::exit(PROGRAM, run(&arguments))
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitStatus> {
    if let Some(part) = &arguments.part {
        return parts::run(part).map(|()| ExitStatus::Done);
    }
    anyhow::ensure!(
        arguments.cluster.is_some() || arguments.listen.is_some() || arguments.keys.cert.is_none(),
        "--cert is for a cluster and for clients; say which by --cluster HOST:PORT or --listen ADDRESS:PORT"
    );
    let is_parquet = written::is_one(arguments)?;
    let ends = shared::leave_nothing_on_signals()?;
    if let Some(directory) = &arguments.parquet {
        return written::run(arguments, directory);
    }
    let door = Door::new(&arguments.keys)?;
    if let Some(listen) = arguments.listen {
        // Before anything is read.
        door.guards(listen)?;
    }
    // Statements are read first: a missing file costs no time.
    let given = match arguments.listen {
        Some(_) => None,
        None => given(arguments)?,
    };
    let format = output::format(arguments, given.is_none())?;
    if let Some(path) = &arguments.output {
        let checked = shared::check_output(path, &arguments.traces);
        checked.with_context(|| format!("cannot write {}", path.display()))?;
        if is_parquet {
            written::check_output(path, &arguments.traces[0])?;
        }
    }
    let runtime = Runtime::new().context("threads cannot be started")?;
    let Opened { context, traced, status: mut ending } =
        if is_parquet { of_parquet(arguments, &runtime)? } else { of_traces(arguments, &runtime, &door)? };
    let quiet = arguments.quiet;
    if let Some(listen) = arguments.listen {
        let token = flight::Token::new(!door.is_locked() && !arguments.no_token);
        let line = token.line();
        let ready = |address: &str| {
            let line = line.map(|line| format!(", authorization: {line}")).unwrap_or_default();
            say(&format!("Flight SQL on {address}{line}"))
        };
        ends.leave_to_others();
        runtime.block_on(flight::serve(context, traced, listen, &door, token, quiet, ready))?;
        return Ok(ending);
    }
    match &arguments.output {
        Some(path) => files::write_with(path, |to| {
            let target = Target::new(format, Some((path, to)));
            ending = ask(Asker { context, runtime, traced, target, ending, quiet }, given)?;
            anyhow::Ok(())
        })?,
        None => {
            let target = Target::new(format, None);
            ending = ask(Asker { context, runtime, traced, target, ending, quiet }, given)?;
        }
    }
    Ok(ending)
}

/// What is queried.
struct Opened {
    context: SessionContext,
    /// The traces, unless it is a directory of Parquet.
    traced: Option<Arc<Traced>>,
    status: ExitStatus,
}

fn of_traces(arguments: &Arguments, runtime: &Runtime, door: &Door) -> anyhow::Result<Opened> {
    let Arguments { traces, clock, store, threads, quiet, .. } = arguments;
    let ready = shared::open(traces, clock, store.as_deref(), *threads, *quiet)?;
    let origin = match arguments.cluster {
        Some(_) => Some(Origin::of(&ready, clock)?),
        None => None,
    };
    let Ready { opened, store, status, .. } = ready;
    let traced = Arc::new(Traced::new(opened, store, origin));
    let context = match &arguments.cluster {
        Some(scheduler) => runtime.block_on(cluster::session(&traced, scheduler, door))?,
        None => session(&traced, *threads)?,
    };
    Ok(Opened { context, traced: Some(traced), status })
}

fn of_parquet(arguments: &Arguments, runtime: &Runtime) -> anyhow::Result<Opened> {
    let directory = runtime.block_on(Directory::open(&arguments.traces[0]))?;
    let context = directory.session(arguments.threads)?;
    Ok(Opened { context, traced: None, status: ExitStatus::Done })
}

/// Runs the given statements, or those that a person types.
fn ask(mut asker: Asker<'_>, given: Option<Vec<String>>) -> anyhow::Result<ExitStatus> {
    match given {
        Some(texts) => texts.iter().try_for_each(|text| asker.ask_all(text))?,
        None => prompt::run(&mut asker)?,
    }
    Ok(asker.ending)
}

/// The statements, unless a person is to type them.
fn given(arguments: &Arguments) -> anyhow::Result<Option<Vec<String>>> {
    let mut texts = Vec::new();
    for file in &arguments.files {
        let text = std::fs::read_to_string(file);
        texts.push(text.with_context(|| format!("cannot read {}", file.display()))?);
    }
    texts.extend(arguments.commands.iter().cloned());
    if !texts.is_empty() {
        return Ok(Some(texts));
    }
    if std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read what is asked from stdin")?;
    Ok(Some(vec![text]))
}
