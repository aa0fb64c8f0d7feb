//! `isochrone dump`: the canonical text of one trace.

use isochrone_ctf::{Trace, dump, find_traces};

use super::{index, refuse_capture, refuse_missing};
use crate::ExitStatus;
use crate::arguments::Dump;
use crate::output;
use crate::render::plain::Plain;
use crate::render::{complaints, figures};

/// Traces that are named; the rest is counted.
const MOST_TRACES: usize = 8;

pub(crate) fn run(arguments: &Dump, quiet: bool) -> anyhow::Result<ExitStatus> {
    refuse_missing(std::slice::from_ref(&arguments.trace))?;
    refuse_capture(&arguments.trace)?;
    // A directory that holds one trace stands for it, and a store for what it was made of, as in all other commands.
    let below = match index::is_store(&arguments.trace) {
        true => index::traces_of(&arguments.trace)?,
        false => find_traces(&arguments.trace).map(|found| found.traces).unwrap_or_default(),
    };
    let trace = match below.as_slice() {
        [only] => Trace::open(only)?,
        several if several.len() > 1 => {
            let paths: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            anyhow::bail!(
                "{}: name one of the traces in it: {}",
                Plain(arguments.trace.display()),
                Plain(figures::listed(&paths, MOST_TRACES))
            );
        }
        _ => Trace::open(&arguments.trace)?,
    };
    let opened = complaints::show(trace.diagnostics(), quiet);
    let lost = output::print(|out| Ok(dump::dump(&trace, out)?))?;
    let read = complaints::show(&lost.unwrap_or_default(), quiet);
    Ok(opened.max(read))
}
