//! `isochrone dump`: the canonical text of one trace.

use isochrone_ctf::{Trace, dump, find_traces};

use super::{index, refuse_capture, refuse_missing};
use crate::arguments::Dump;
use crate::output::{self, Console};
use crate::render::plain::Plain;
use crate::render::{complaints, figures};

/// Maximum number of traces that are named; the rest is counted.
const MAX_TRACES: usize = 8;

pub(crate) fn run(arguments: &Dump, console: &Console) -> anyhow::Result<()> {
    refuse_missing(std::slice::from_ref(&arguments.trace))?;
    refuse_capture(&arguments.trace)?;
    // A directory with one trace stands for it, and a store for its traces, as in all other commands.
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
                Plain(figures::listed(&paths, MAX_TRACES))
            );
        }
        _ => Trace::open(&arguments.trace)?,
    };
    complaints::show(trace.diagnostics(), console);
    let lost = output::print(|out| Ok(dump::dump(&trace, out)?))?;
    complaints::show(&lost.unwrap_or_default(), console);
    Ok(())
}
