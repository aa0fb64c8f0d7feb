//! `isochrone export`: timelines in the formats of other tools, from the store of the traces.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use isochrone_experiment::{Spread, extent};
use isochrone_export::chrome::Chrome;
use isochrone_export::perfetto::Perfetto;
use isochrone_export::{ExportError, Exported, export};
use isochrone_sync::output as files;

use super::{host_selection, index, named, open_named, writable};
use crate::ExitStatus;
use crate::arguments::{Export, ExportFormat};
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::render::plain::Plain;

pub(crate) fn run(arguments: &Export, quiet: bool) -> anyhow::Result<ExitStatus> {
    anyhow::ensure!(
        arguments.to != ExportFormat::Lami,
        "--to lami: LAMI has reports and no timelines: isochrone analyze NAME --format lami"
    );
    check_output(arguments)?;
    let named = named(&arguments.traces)?;
    let kept = arguments.store.as_deref();
    let (opened, ending) = open_named(&named, kept, arguments.clock.time_base()?, quiet)?;
    let experiment = opened.experiment();
    let consequence = ": their times cannot be compared";
    let (hosts, ending) =
        host_selection::chosen(&opened, &experiment, &arguments.hosts, consequence, ending, quiet)?;
    let given = [arguments.begin, arguments.end, None];
    let times = host_selection::times(given, extent(hosts.iter().copied()))?;
    let spread = Spread { threads: arguments.threads, pieces: None };
    let (store, ending) = index::store(&named, kept, &opened, spread, ending, quiet)?;
    let clocks = opened.clocks();
    let exported = Exported { store: &store, hosts: &hosts, clocks, times, every: arguments.every };
    let traced = hosts.iter().filter_map(|host| host.traced.extent());
    let bar = Progress::over_file(traced.map(|(first, last)| last.abs_diff(first)).sum(), "exporting", quiet);
    let write = |to: &mut dyn Write| -> Result<(), ExportError> {
        let progress = |ns| bar.add(ns);
        match arguments.to {
            ExportFormat::Perfetto => export(&exported, &mut Perfetto::new(to)?, &progress),
            ExportFormat::Chrome | ExportFormat::Lami => {
                export(&exported, &mut Chrome::new(to, exported.origin())?, &progress)
            }
        }
    };
    match &arguments.output {
        Some(path) => files::write_with(path, |to| {
            write(to).with_context(|| format!("cannot write {}", Plain(path.display())))
        })?,
        None => {
            output::print(|stdout| Ok(write(stdout)?))?;
        }
    }
    bar.finish();
    if let (Some(path), false) = (&arguments.output, quiet) {
        tell!("note: {} is for {}", Plain(path.display()), viewers(arguments.to));
    }
    Ok(ending)
}

/// Who opens a format.
fn viewers(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Perfetto => "ui.perfetto.dev, which reads it in the browser and sends it nowhere",
        ExportFormat::Chrome | ExportFormat::Lami => "ui.perfetto.dev, chrome://tracing and Speedscope",
    }
}

/// What cannot be written is better said before hours of reading than after.
fn check_output(arguments: &Export) -> anyhow::Result<()> {
    match &arguments.output {
        Some(path) => {
            anyhow::ensure!(path.as_os_str() != "-", "-o -: leave -o out to write to stdout");
            writable(path.parent().unwrap_or(Path::new("")))?;
            files::check(path, &arguments.traces)?;
        }
        None => {
            let is_binary = arguments.to == ExportFormat::Perfetto;
            anyhow::ensure!(
                !is_binary || !std::io::stdout().is_terminal(),
                "--to perfetto is no text for a terminal: name a file with -o"
            );
        }
    }
    Ok(())
}
