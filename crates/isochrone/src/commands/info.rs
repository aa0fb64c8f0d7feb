//! `isochrone info`: what is in traces. How it looks is in [`crate::render::info`].

use std::io::Write;

use isochrone_hosts::{Host, Hosts};
use isochrone_sync::{Inputs, capture, survey};

use crate::Ending;
use crate::arguments::{Info, ReportFormat};
use crate::output;
use crate::progress::Progress;
use crate::render::complaints;
use crate::render::info::captured::{self, CaptureInfo};
use crate::render::info::coverage::{self, HostInfo};
use crate::render::info::summary::{Document, TraceInfo};
use crate::render::info::text;

pub(crate) fn run(arguments: &Info, quiet: bool) -> anyhow::Result<Ending> {
    let inputs = Inputs::open(&arguments.traces);
    let mut ending = complaints::of_inputs(&inputs, quiet)?;
    let traces: Vec<_> = inputs.traces.iter().map(|input| &input.trace).collect();
    let bar = Progress::over_bytes(&inputs, "reading", quiet);
    let mut facts = survey(&traces, &|bytes| bar.add(bytes));
    let captured = capture::survey(&inputs.captures, &|bytes| bar.add(bytes));
    bar.finish();
    for facts in &facts {
        ending = ending.max(complaints::show(facts.diagnostics(), quiet));
    }
    for facts in &captured {
        ending = ending.max(complaints::show(&facts.diagnostics, quiet));
        ending = ending.max(Ending::partly_if(facts.error.is_some()));
    }
    let grouped = Hosts::group(inputs.traces.iter().map(|input| &input.trace));
    for ((place, stream), events) in grouped.hosts.iter().flat_map(Host::counted_before) {
        if let Some(facts) = facts.get_mut(place).and_then(|facts| facts.streams.get_mut(stream)) {
            facts.were_counted_before(events);
        }
    }
    let traces =
        inputs.traces.iter().zip(&facts).map(|(input, facts)| TraceInfo::new(input, facts)).collect();
    let captures = inputs.captures.iter().zip(&captured);
    let captures = captures.map(|(input, facts)| CaptureInfo::new(input, facts)).collect();
    grouped.hosts.iter().for_each(|host| complaints::of_host(host, quiet));
    let hosts = grouped.hosts.iter().map(HostInfo::new).collect();
    let document = Document { traces, captures, hosts };
    output::print(|stdout| {
        match arguments.format {
            ReportFormat::Json => {
                serde_json::to_writer_pretty(&mut *stdout, &document)?;
                writeln!(stdout)?;
            }
            ReportFormat::Text => {
                for (index, info) in document.traces.iter().enumerate() {
                    if index > 0 {
                        writeln!(stdout)?;
                    }
                    text::print(info, stdout)?;
                }
                for (index, info) in document.captures.iter().enumerate() {
                    if index + document.traces.len() > 0 {
                        writeln!(stdout)?;
                    }
                    captured::print(info, stdout)?;
                }
                for info in &document.hosts {
                    coverage::print(info, stdout)?;
                }
            }
        }
        Ok(())
    })?;
    Ok(ending)
}
