//! `isochrone dump`: the canonical text of one trace.

use isochrone_ctf::{Trace, dump};

use super::refuse_capture;
use crate::ExitStatus;
use crate::arguments::Dump;
use crate::output;
use crate::render::complaints;

pub(crate) fn run(arguments: &Dump, quiet: bool) -> anyhow::Result<ExitStatus> {
    refuse_capture(&arguments.trace)?;
    let trace = Trace::open(&arguments.trace)?;
    let opened = complaints::show(trace.diagnostics(), quiet);
    let lost = output::print(|out| Ok(dump::dump(&trace, out)?))?;
    let read = complaints::show(&lost.unwrap_or_default(), quiet);
    Ok(opened.max(read))
}
