//! `isochrone export`: timelines in the formats of other tools, from the store of the traces; and time series, from the traces.

use std::io::{IsTerminal, Write};

use anyhow::Context;
use isochrone_analysis::{AnalysisKind, Options, TIMELINE, lacking};
use isochrone_experiment::{Question, Spread, TimedHost, Times, extent, recorded, reports, step_length};
use isochrone_export::chrome::Chrome;
use isochrone_export::perfetto::Perfetto;
use isochrone_export::{ExportError, Exported, SOME_STEPS, export, openmetrics};
use isochrone_sync::output as files;

use super::answers::modelled;
use super::{check_output, host_selection, index, named, open_named};
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
    let is_series = arguments.to == ExportFormat::OpenMetrics;
    anyhow::ensure!(
        !is_series || arguments.store.is_none(),
        "--store does not apply to --to openmetrics: time series are made of the traces"
    );
    match &arguments.output {
        Some(path) => {
            let (sync, store) = (arguments.clock.sync.as_slice(), arguments.store.as_slice());
            check_output(path, &[&arguments.traces[..], sync, store].concat())?;
        }
        None => anyhow::ensure!(
            arguments.to != ExportFormat::Perfetto || !std::io::stdout().is_terminal(),
            "--to perfetto is no text for a terminal: name a file with -o"
        ),
    }
    let named = named(&arguments.traces)?;
    let kept = arguments.store.as_deref();
    let (opened, ending) = open_named(&named, kept, arguments.clock.time_base()?, quiet)?;
    let experiment = opened.experiment();
    let consequence = ": their times cannot be compared";
    let (hosts, mut ending) =
        host_selection::chosen(&opened, &experiment, &arguments.hosts, consequence, ending, quiet)?;
    let given = [arguments.begin, arguments.end, None];
    let times = host_selection::times(given, extent(hosts.iter().copied()))?;
    let spread = Spread { threads: arguments.threads, pieces: None };
    if is_series {
        let (text, here) = series(arguments, &hosts, times, spread, quiet)?;
        ending = ending.max(here);
        write(arguments, |to| Ok(to.write_all(text.as_bytes())?))?;
    } else {
        let (store, here) = index::store(&named, kept, &opened, spread, ending, quiet)?;
        ending = here;
        let clocks = opened.clocks();
        let exported = Exported { store: &store, hosts: &hosts, clocks, times, every: arguments.every };
        let traced = hosts.iter().filter_map(|host| host.traced.extent());
        let length = traced.map(|(first, last)| last.abs_diff(first)).sum();
        let bar = Progress::over_file(length, "exporting", quiet);
        write(arguments, |to| timeline(arguments.to, &exported, to, &|ns| bar.add(ns)))?;
        bar.finish();
    }
    if !quiet {
        let needs = if is_series { AnalysisKind::Usage.needs() } else { &TIMELINE };
        for note in lacking(needs, &recorded(&hosts)) {
            tell!("note: {}", Plain(note.shown(|ns| ns.to_string())));
        }
    }
    if let (Some(path), false) = (&arguments.output, quiet) {
        tell!("note: {} is for {}", Plain(path.display()), readers(arguments.to));
    }
    Ok(ending)
}

/// Writes to the file that is named, or to stdout.
fn write(
    arguments: &Export,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> anyhow::Result<()> {
    match &arguments.output {
        Some(path) => files::write_with(path, |to| {
            write(to).with_context(|| format!("cannot write {}", Plain(path.display())))
        }),
        None => output::print(|stdout| Ok(write(stdout)?)).map(|_| ()),
    }
}

/// Writes a timeline.
fn timeline(
    format: ExportFormat,
    exported: &Exported<'_, '_>,
    to: &mut dyn Write,
    progress: &dyn Fn(u64),
) -> Result<(), ExportError> {
    match format {
        ExportFormat::Perfetto => export(exported, &mut Perfetto::new(to)?, progress),
        ExportFormat::Chrome | ExportFormat::OpenMetrics | ExportFormat::Lami => {
            export(exported, &mut Chrome::new(to, exported.origin())?, progress)
        }
    }
}

/// The text of time series of what hosts used.
fn series(
    arguments: &Export,
    hosts: &[&TimedHost<'_>],
    times: Times,
    spread: Spread,
    quiet: bool,
) -> anyhow::Result<(String, ExitStatus)> {
    let every = step_length(arguments.every, times, hosts.iter().copied(), SOME_STEPS);
    let options = Options { every_ns: Some(every), ..Options::default() };
    let question = Question { kinds: &[AnalysisKind::Usage], options: &options, times, periods: None };
    let (modelled, ending) = modelled(&question, hosts, spread, quiet)?;
    Ok((openmetrics::text(&openmetrics::series(&reports(&modelled, &options, spread))), ending))
}

/// Who reads a format.
fn readers(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Perfetto => "ui.perfetto.dev, which reads it in the browser and sends it nowhere",
        ExportFormat::OpenMetrics => {
            "Prometheus: promtool tsdb create-blocks-from openmetrics FILE DIRECTORY"
        }
        ExportFormat::Chrome | ExportFormat::Lami => "ui.perfetto.dev, chrome://tracing and Speedscope",
    }
}
