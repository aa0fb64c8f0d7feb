//! `isochrone info`: the content of traces. Its layout is in [`crate::render::info`].

use std::io::Write;

use isochrone_experiment::chunks::{ChunkHead, Chunks};
use isochrone_experiment::{Inputs, Opened, Survey};
use isochrone_files::InputTrace;
use isochrone_matching::TraceFacts;

use super::named;
use crate::arguments::{Info, ReportFormat};
use crate::output::{self, Console, note};
use crate::progress::Progress;
use crate::render::complaints;
use crate::render::info::captured::{self, CaptureInfo};
use crate::render::info::coverage::{self, HostInfo};
use crate::render::info::session;
use crate::render::info::summary::{Document, TraceInfo};
use crate::render::info::text;
use crate::render::plain::plain;

pub(crate) fn run(arguments: &Info, console: &Console) -> anyhow::Result<()> {
    anyhow::ensure!(
        !arguments.verbose || arguments.format == ReportFormat::Text,
        "--verbose does not apply to --format json, which shows each chunk"
    );
    let inputs = Inputs::open(&named(&arguments.traces)?.traces);
    complaints::of_inputs(&inputs, console)?;
    let opened = Opened::unsynchronized(inputs);
    let (inputs, experiment) = (opened.inputs(), opened.experiment());
    let bar = Progress::over_bytes(inputs, "reading", console);
    let Survey { traces: facts, captures: captured } = experiment.survey(&|bytes| bar.add(bytes));
    bar.finish();
    // What an excerpt has is that of its whole trace.
    let is_part = |(input, facts): (&InputTrace, &TraceFacts)| {
        input.excerpt.is_some() && facts.streams.iter().any(|stream| stream.first_packet > 0)
    };
    if let Some((input, _)) = inputs.traces.iter().zip(&facts).find(|&found| is_part(found)) {
        anyhow::bail!(
            "{}: an earlier snapshot has packets of it, and a mapped piece does not say what is in each: \
             name the traces that it was mapped of",
            input.path().display()
        );
    }
    for facts in &facts {
        complaints::show(facts.diagnostics(), console);
    }
    for facts in &captured {
        complaints::show(&facts.diagnostics, console);
        console.partial_if(facts.error.is_some());
    }
    let traces =
        inputs.traces.iter().zip(&facts).map(|(input, facts)| TraceInfo::new(input, facts)).collect();
    let captures = inputs.captures.iter().zip(&captured);
    let captures = captures.map(|(input, facts)| CaptureInfo::new(input, facts)).collect();
    experiment.hosts().iter().for_each(|host| complaints::of_host(host, console));
    let hosts = experiment.hosts().iter().map(HostInfo::new).collect();
    if let Some(head) = Chunks::of(inputs).head() {
        note!(console, "{}", mapped_for(head));
    }
    let document = Document { traces, captures, hosts };
    output::print(|stdout| {
        match arguments.format {
            ReportFormat::Json => {
                output::json(&document, stdout)?;
            }
            ReportFormat::Text => {
                let joined = if arguments.verbose { Vec::new() } else { session::joined(&document.traces) };
                let shown = if arguments.verbose { &document.traces } else { &joined };
                for (index, info) in shown.iter().enumerate() {
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
    Ok(())
}

/// What mapped chunks were mapped for. Not in what is printed: that is of the traces.
fn mapped_for(head: &ChunkHead) -> String {
    let spans = head.has_spans.then_some("spans");
    let what: Vec<_> = spans.into_iter().chain(head.asked.kinds.iter().map(|kind| kind.name())).collect();
    let text = format!("mapped for {}", what.join(","));
    match &head.asked.periods {
        Some(periods) => {
            let labels: Vec<_> = periods.iter().map(|it| plain(it.label()).into_owned()).collect();
            format!("{text}, with the periods {}", labels.join(", "))
        }
        None => text,
    }
}
