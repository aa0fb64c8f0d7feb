//! `isochrone sync`: the main job. The report is in [`crate::render::report`].

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use isochrone_clock::Model;
use isochrone_ctf::Diagnostic;
use isochrone_sync::{Inputs, Options, Outcome, TraceFacts, copies, synchronize, synchronize_messages};

use super::{named, writable};
use crate::ExitStatus;
use crate::arguments::{ReportFormat, Sync};
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::render::plain::Plain;
use crate::render::{complaints, figures, report};

pub(crate) fn run(arguments: &Sync, quiet: bool) -> anyhow::Result<ExitStatus> {
    // What cannot be written is better said before hours of reading than after.
    if let Some(path) = &arguments.output {
        anyhow::ensure!(path.as_os_str() != "-", "-o -: use --format json to print the corrections");
        writable(path.parent().unwrap_or(Path::new("")))?;
        let read: Vec<_> = arguments.traces.iter().chain(&arguments.messages).cloned().collect();
        isochrone_sync::output::check(path, &read)?;
    }
    let options = Options {
        reference: arguments.reference.clone(),
        model: Model {
            wander_ppm: arguments.wander,
            prior_ppm: arguments.rate_prior,
            asymmetry: arguments.asymmetry,
        },
        trusted: arguments.trust_clock.iter().map(|group| group.0.clone()).collect(),
        clocks: arguments.clock.clone(),
        vantage: arguments.captured.clone(),
    };
    if let Some(path) = &arguments.messages {
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let bar = Progress::over(bytes, "reading messages", quiet);
        let outcome = synchronize_messages(path, &options, &|bytes| bar.add(bytes))?;
        bar.finish();
        return finish(arguments, &Inputs::default(), &outcome, quiet);
    }
    let inputs = Inputs::open(&named(&arguments.traces)?.traces);
    let opened = complaints::of_inputs(&inputs, quiet)?;
    if let Some(directory) = &arguments.write {
        copies::check(&inputs, directory)?;
        let there =
            directory.ancestors().find(|directory| directory.exists() || directory.as_os_str().is_empty());
        writable(there.unwrap_or(directory))?;
    }
    let bar = Progress::over_bytes(&inputs, "matching packets", quiet);
    let outcome = synchronize(&inputs, &options, &|bytes| bar.add(bytes))?;
    bar.finish();
    Ok(opened.max(finish(arguments, &inputs, &outcome, quiet)?))
}

/// Writes the result down and shows it. What is written does not depend on whether somebody reads the report, nor is the report
/// lost because something cannot be written.
fn finish(arguments: &Sync, inputs: &Inputs, outcome: &Outcome, quiet: bool) -> anyhow::Result<ExitStatus> {
    show_complaints(outcome, quiet);
    let json = outcome.artefact.to_json()?;
    let saved = save(arguments, inputs, outcome, &json, quiet);
    let shown = output::print(|stdout| {
        match arguments.format {
            ReportFormat::Json => stdout.write_all(json.as_bytes())?,
            ReportFormat::Text => report::print(&outcome.artefact, &outcome.clocks, stdout)?,
        }
        Ok(())
    });
    let saved = saved?;
    shown?;
    Ok(saved.max(ExitStatus::partly_if(outcome.partial)))
}

/// Writes the files that are asked for.
fn save(
    arguments: &Sync,
    inputs: &Inputs,
    outcome: &Outcome,
    json: &str,
    quiet: bool,
) -> anyhow::Result<ExitStatus> {
    if let Some(path) = &arguments.output {
        isochrone_sync::output::write(path, json.as_bytes())?;
    }
    match &arguments.write {
        Some(directory) => write_copies(inputs, outcome, directory, quiet),
        None => Ok(ExitStatus::Done),
    }
}

/// What was lost, refused, odd or missing: on stderr, before the result.
fn show_complaints(outcome: &Outcome, quiet: bool) {
    for facts in &outcome.facts {
        complaints::show(facts.diagnostics(), quiet);
    }
    for facts in &outcome.captures {
        complaints::show(&facts.diagnostics, quiet);
    }
    complaints::show_refused(&outcome.refused, "warning");
    if quiet {
        return;
    }
    for note in &outcome.notes {
        tell!("note: {}", Plain(note));
    }
    complaints::show_advice(&outcome.advice);
}

fn write_copies(
    inputs: &Inputs,
    outcome: &Outcome,
    directory: &Path,
    quiet: bool,
) -> anyhow::Result<ExitStatus> {
    if !quiet {
        for capture in &inputs.captures {
            tell!("note: {}: no copy of a capture is written", Plain(capture.path.display()));
        }
    }
    let copied = copies::write(inputs, &outcome.clocks, directory)?;
    // What could not be decoded has been told when the traces were read.
    let told = outcome.facts.iter().flat_map(TraceFacts::diagnostics);
    let told: HashSet<String> = told.map(Diagnostic::to_string).collect();
    let mut ending = ExitStatus::Done;
    for copy in &copied {
        let new: Vec<_> = copy.summary.lost.iter().filter(|lost| !told.contains(&lost.to_string())).collect();
        ending = ending.max(complaints::show(new, quiet));
    }
    if !quiet {
        let events: u64 = copied.iter().map(|copy| copy.summary.events).sum();
        let (traces, events) = (figures::plural(copied.len(), "trace"), figures::count(events));
        tell!("{traces} with {events} events written below {}", Plain(directory.display()));
    }
    Ok(ending)
}
