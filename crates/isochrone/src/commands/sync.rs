//! `isochrone sync`: the main job. The report is in [`crate::render::report`].

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use isochrone_clock::Model;
use isochrone_ctf::Diagnostic;
use isochrone_files::Inputs;
use isochrone_matching::TraceFacts;
use isochrone_matching::sample::MessageSample;
use isochrone_sync::{Options, Outcome, copies, synchronize_messages_with, synchronize_with};

use super::{check_output, named, sync_eval, writable};
use crate::arguments::{ReportFormat, Sync, SyncCommand};
use crate::output::{self, Console, eprint_line, note};
use crate::progress::Progress;
use crate::render::plain::Plain;
use crate::render::sync_page::MAX_PICTURES;
use crate::render::{PROGRAM, complaints, figures, report, sync_page};

/// Default digits of formulas: those of IEEE 754's decimal128, with which Trace Compass computes.
const DIGITS: u32 = 34;

pub(crate) fn run(arguments: &Sync, console: &Console) -> anyhow::Result<()> {
    if let Some(SyncCommand::Eval(arguments)) = &arguments.command {
        return sync_eval::run(arguments, console);
    }
    if arguments.dry_run {
        return sync_eval::dry_run(arguments, console);
    }
    let method = arguments.method.published();
    anyhow::ensure!(
        method.is_some() || arguments.digits.is_none(),
        "--digits is for the formulas of --method: those of the default estimate are exact"
    );
    let read: Vec<_> = arguments.traces.iter().chain(&arguments.messages).cloned().collect();
    if let Some(path) = &arguments.output {
        anyhow::ensure!(path.as_os_str() != "-", "-o -: use --format json to print the corrections");
        check_output(path, &read)?;
    }
    if let Some(path) = &arguments.html {
        anyhow::ensure!(path.as_os_str() != "-", "--html -: name a file");
        check_output(path, &read).context("--html")?;
        let real = |path: &PathBuf| isochrone_files::output::place(path).ok();
        anyhow::ensure!(
            arguments.output.as_ref().and_then(real).is_none_or(|output| Some(output) != real(path)),
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
        without: None,
    };
    if let Some(path) = &arguments.messages {
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let bar = Progress::over(bytes, "reading messages", console);
        let outcome = synchronize_messages_with(path, &options, &|bytes| bar.add(bytes), &mut |message| {
            if let Some(sample) = &mut sample {
                sample.add(message);
            }
        })?;
        bar.finish();
        return finish(arguments, &Inputs::default(), &outcome, sample.as_ref(), console);
    }
    let mut inputs = Inputs::open(&named(&arguments.traces)?.traces);
    inputs.split(&arguments.per_interface)?;
    complaints::of_inputs(&inputs, console)?;
    if let Some(directory) = &arguments.write {
        copies::check(&inputs, directory)?;
        let existing =
            directory.ancestors().find(|directory| directory.exists() || directory.as_os_str().is_empty());
        writable(existing.unwrap_or(directory))?;
    }
    let bar = Progress::over_bytes(&inputs, "matching packets", console);
    let outcome = synchronize_with(&inputs, &options, &|bytes| bar.add(bytes), &mut |matched| {
        if let Some(sample) = &mut sample {
            sample.add(&matched.message());
        }
    })?;
    bar.finish();
    finish(arguments, &inputs, &outcome, sample.as_ref(), console)
}

/// Writes the files and prints the report, each of them also where the other fails.
fn finish(
    arguments: &Sync,
    inputs: &Inputs,
    outcome: &Outcome,
    sample: Option<&MessageSample>,
    console: &Console,
) -> anyhow::Result<()> {
    show_complaints(outcome, console);
    let json = outcome.artefact.to_json()?;
    let saved = save(arguments, inputs, outcome, sample, &json, console);
    let shown = output::print(|stdout| {
        match arguments.format {
            ReportFormat::Json => stdout.write_all(json.as_bytes())?,
            ReportFormat::Text => report::print(&outcome.artefact, &outcome.clocks, stdout)?,
        }
        Ok(())
    });
    saved?;
    shown?;
    console.partial_if(outcome.partial);
    Ok(())
}

/// Writes the requested files.
fn save(
    arguments: &Sync,
    inputs: &Inputs,
    outcome: &Outcome,
    sample: Option<&MessageSample>,
    json: &str,
    console: &Console,
) -> anyhow::Result<()> {
    if let Some(path) = &arguments.output {
        isochrone_files::output::write(path, json.as_bytes())?;
    }
    if let Some((path, sample)) = arguments.html.as_ref().zip(sample) {
        let number = |clock: usize| outcome.numbers.get(clock).copied().flatten();
        let of = sync_page::of(&outcome.artefact, &outcome.clocks, sample, number, MAX_PICTURES)?;
        let page = of.to_html(PROGRAM);
        isochrone_files::output::write(path, page.as_bytes())?;
    }
    match &arguments.write {
        Some(directory) => write_copies(inputs, outcome, directory, console),
        None => Ok(()),
    }
}

/// Reports what was lost, refused, odd or missing, before the result. Losses of inputs do not make corrections partial.
fn show_complaints(outcome: &Outcome, console: &Console) {
    for facts in &outcome.facts {
        complaints::show(facts.diagnostics(), &console.apart());
    }
    for facts in &outcome.captures {
        complaints::show(&facts.diagnostics, &console.apart());
    }
    complaints::show_refused(&outcome.refused, "warning");
    for text in &outcome.notes {
        note!(console, "{}", Plain(text));
    }
    complaints::show_advice(&outcome.advice, console);
}

fn write_copies(
    inputs: &Inputs,
    outcome: &Outcome,
    directory: &Path,
    console: &Console,
) -> anyhow::Result<()> {
    for capture in &inputs.captures {
        note!(console, "{}: no copy of a capture is written", Plain(capture.path.display()));
    }
    let copied = copies::write(inputs, &outcome.clocks, directory)?;
    // What could not be decoded was reported when the traces were read.
    let reported = outcome.facts.iter().flat_map(TraceFacts::diagnostics);
    let reported: HashSet<String> = reported.map(Diagnostic::to_string).collect();
    for copy in &copied {
        let is_new = |lost: &&Diagnostic| !reported.contains(&lost.to_string());
        complaints::show(copy.summary.lost.iter().filter(is_new).collect::<Vec<_>>(), console);
    }
    if !console.is_quiet() {
        let events: u64 = copied.iter().map(|copy| copy.summary.events).sum();
        let (traces, events) = (figures::plural(copied.len(), "trace"), figures::count(events));
        eprint_line!("{traces} with {events} events written below {}", Plain(directory.display()));
    }
    Ok(())
}
