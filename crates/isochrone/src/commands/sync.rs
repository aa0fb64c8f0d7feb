//! `isochrone sync`: the main job. The report is in [`crate::render::report`].

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use isochrone_clock::Model;
use isochrone_ctf::Diagnostic;
use isochrone_sync::sample::MessageSample;
use isochrone_sync::{
    Inputs, Options, Outcome, TraceFacts, copies, synchronize_messages_with, synchronize_with,
};

use super::{check_output, named, sync_eval, writable};
use crate::ExitStatus;
use crate::arguments::{ReportFormat, Sync, SyncCommand};
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::render::plain::Plain;
use crate::render::sync_page::MOST_PICTURES;
use crate::render::{PROGRAM, complaints, figures, report, sync_page};

/// Digits of formulas where none are asked for: those of IEEE 754's decimal128, with which Trace Compass computes.
const DIGITS: u32 = 34;

pub(crate) fn run(arguments: &Sync, quiet: bool) -> anyhow::Result<ExitStatus> {
    if let Some(SyncCommand::Eval(asked)) = &arguments.command {
        return sync_eval::run(asked, quiet);
    }
    if arguments.dry_run {
        return sync_eval::dry_run(arguments, quiet);
    }
    let method = arguments.method.published();
    anyhow::ensure!(
        method.is_some() || arguments.digits.is_none(),
        "--digits: the usual estimate has exact formulas of its own; it is for those of --method"
    );
    let read: Vec<_> = arguments.traces.iter().chain(&arguments.messages).cloned().collect();
    if let Some(path) = &arguments.output {
        anyhow::ensure!(path.as_os_str() != "-", "-o -: use --format json to print the corrections");
        check_output(path, &read)?;
    }
    if let Some(path) = &arguments.html {
        anyhow::ensure!(path.as_os_str() != "-", "--html -: name a file");
        check_output(path, &read).context("--html")?;
        let place = |path: &PathBuf| isochrone_sync::output::place(path).ok();
        anyhow::ensure!(
            arguments.output.as_ref().and_then(place).is_none_or(|output| Some(output) != place(path)),
            "-o and --html are one file: {}",
            Plain(path.display())
        );
    }
    let mut sample = arguments.html.is_some().then(MessageSample::default);
    let options = Options {
        reference: arguments.reference.clone(),
        model: Model {
            wander_ppm: arguments.wander,
            prior_ppm: arguments.rate_prior,
            asymmetry: arguments.asymmetry,
        },
        trusted: arguments.trust_clock.iter().map(|group| group.0.clone()).collect(),
        clocks: arguments.clock.clone(),
        resolution: arguments.resolution.clone(),
        vantage: arguments.captured.clone(),
        published: method.map(|method| (method, arguments.digits.unwrap_or(DIGITS))),
    };
    if let Some(path) = &arguments.messages {
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let bar = Progress::over(bytes, "reading messages", quiet);
        let outcome = synchronize_messages_with(path, &options, &|bytes| bar.add(bytes), &mut |message| {
            if let Some(sample) = &mut sample {
                sample.add(message);
            }
        })?;
        bar.finish();
        return finish(arguments, &Inputs::default(), &outcome, sample.as_ref(), quiet);
    }
    let mut inputs = Inputs::open(&named(&arguments.traces)?.traces);
    inputs.split(&arguments.per_interface)?;
    let opened = complaints::of_inputs(&inputs, quiet)?;
    if let Some(directory) = &arguments.write {
        copies::check(&inputs, directory)?;
        let there =
            directory.ancestors().find(|directory| directory.exists() || directory.as_os_str().is_empty());
        writable(there.unwrap_or(directory))?;
    }
    let bar = Progress::over_bytes(&inputs, "matching packets", quiet);
    let outcome = synchronize_with(&inputs, &options, &|bytes| bar.add(bytes), &mut |matched| {
        if let Some(sample) = &mut sample {
            sample.add(&matched.message());
        }
    })?;
    bar.finish();
    Ok(opened.max(finish(arguments, &inputs, &outcome, sample.as_ref(), quiet)?))
}

/// Writes the result down and shows it. What is written does not depend on whether somebody reads the report, nor is the report
/// lost because something cannot be written.
fn finish(
    arguments: &Sync,
    inputs: &Inputs,
    outcome: &Outcome,
    sample: Option<&MessageSample>,
    quiet: bool,
) -> anyhow::Result<ExitStatus> {
    show_complaints(outcome, quiet);
    let json = outcome.artefact.to_json()?;
    let saved = save(arguments, inputs, (outcome, sample), &json, quiet);
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
    (outcome, sample): (&Outcome, Option<&MessageSample>),
    json: &str,
    quiet: bool,
) -> anyhow::Result<ExitStatus> {
    if let Some(path) = &arguments.output {
        isochrone_sync::output::write(path, json.as_bytes())?;
    }
    if let Some((path, sample)) = arguments.html.as_ref().zip(sample) {
        let number = |clock: usize| outcome.numbers.get(clock).copied().flatten();
        let of = sync_page::of(&outcome.artefact, &outcome.clocks, sample, number, MOST_PICTURES)?;
        let page = of.to_html(PROGRAM);
        isochrone_sync::output::write(path, page.as_bytes())?;
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
