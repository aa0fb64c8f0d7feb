//! `isochrone sync`: the main job. The report is in [`crate::render::report`].

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use isochrone_clock::Model;
use isochrone_ctf::Diagnostic;
use isochrone_sync::apply::Clocks;
use isochrone_sync::{Inputs, Options, Outcome, copies, synchronize, synchronize_messages};

use crate::Ending;
use crate::arguments::{ReportFormat, Sync};
use crate::progress::Progress;
use crate::render::{complaints, figures, report};

/// Hosts that one piece of advice names; the rest is counted.
const MAX_HOSTS: usize = 8;

pub(crate) fn run(arguments: &Sync, quiet: bool) -> anyhow::Result<Ending> {
    if let Some(parent) = arguments.output.as_deref().and_then(Path::parent) {
        let exists = parent.as_os_str().is_empty() || parent.is_dir();
        anyhow::ensure!(exists, "cannot write there: {} is no directory", parent.display());
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
        taken: arguments.captured.clone(),
    };
    if let Some(path) = &arguments.messages {
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let bar = Progress::over(bytes, "reading messages", quiet);
        let outcome = synchronize_messages(path, &options, &|bytes| bar.add(bytes))?;
        bar.finish();
        return Ok(show(arguments, &outcome, quiet)?.0);
    }
    let inputs = Inputs::open(&arguments.traces);
    let opened = complaints::of_inputs(&inputs, quiet)?;
    // What cannot be written is better said before hours of reading than after.
    if let Some(directory) = &arguments.write {
        copies::check(&inputs, directory)?;
    }
    let bar = Progress::over_bytes(&inputs, "matching packets", quiet);
    let outcome = synchronize(&inputs, &options, &|bytes| bar.add(bytes))?;
    bar.finish();
    let (ending, clocks) = show(arguments, &outcome, quiet)?;
    let ending = ending.max(opened);
    match &arguments.write {
        Some(directory) => Ok(ending.max(write_copies(&inputs, &clocks, directory, quiet)?)),
        None => Ok(ending),
    }
}

/// Shows the result and writes it down.
fn show(arguments: &Sync, outcome: &Outcome, quiet: bool) -> anyhow::Result<(Ending, Clocks)> {
    show_complaints(outcome, quiet);
    let clocks = Clocks::new(&outcome.artefact)?;
    let json = outcome.artefact.to_json()?;
    let mut stdout = io::stdout().lock();
    match arguments.format {
        ReportFormat::Json => stdout.write_all(json.as_bytes())?,
        ReportFormat::Text => report::print(&outcome.artefact, &clocks, &mut stdout)?,
    }
    stdout.flush()?;
    if let Some(path) = &arguments.output {
        std::fs::write(path, &json).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok((Ending::partly_if(outcome.partial), clocks))
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
        eprintln!("note: {note}");
    }
    for advice in &outcome.advice {
        let hosts = figures::listed(&advice.hosts, MAX_HOSTS);
        eprintln!("note: {hosts}: {}", advice.missing);
        if !advice.commands.is_empty() {
            let on = if advice.hosts.len() == 1 { &hosts } else { "each of them" };
            eprintln!("      before the next recording, type on {on}:");
            for command in &advice.commands {
                eprintln!("        {command}");
            }
        }
    }
}

fn write_copies(inputs: &Inputs, clocks: &Clocks, directory: &Path, quiet: bool) -> anyhow::Result<Ending> {
    if !quiet {
        for capture in &inputs.captures {
            eprintln!("note: {}: no copy of a capture is written", capture.path.display());
        }
    }
    let copied = copies::write(inputs, clocks, directory)?;
    // What could not be decoded has been told when the traces were read.
    let lost = copied.iter().flat_map(|copy| &copy.summary.lost).any(Diagnostic::is_loss);
    if !quiet {
        let events: u64 = copied.iter().map(|copy| copy.summary.events).sum();
        let (traces, events) = (figures::plural(copied.len(), "trace"), figures::count(events));
        eprintln!("{traces} with {events} events written below {}", directory.display());
    }
    Ok(Ending::partly_if(lost))
}
