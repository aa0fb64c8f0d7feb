//! `isochrone export`: timelines in the formats of other tools, from the store of the traces; and time
//! series, from both.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use isochrone_analysis::{AnalysisKind, Options, Report, TIMELINE, lacking};
use isochrone_crosshost::{Cluster, RequestQuery, bottleneck, critical_path, requests};
use isochrone_experiment::{Question, Spread, reports};
use isochrone_export::chrome::Chrome;
use isochrone_export::perfetto::Perfetto;
use isochrone_export::{
    DEFAULT_STEPS, ExportError, ExportInput, SchedOfHost, WithoutSched, export, openmetrics, otlp,
};
use isochrone_files::output as files;
use isochrone_timing::{TimedHost, Times, extent, is_on_one_clock, recorded, step_length};

use super::answers::modelled;
use super::crosshost::window;
use super::{check_output, host_selection, index, named, open_named};
use crate::arguments::{Export, ExportFormat};
use crate::output::{self, Console, note};
use crate::progress::Progress;
use crate::render::plain::Plain;

pub(crate) fn run(arguments: &Export, console: &Console) -> anyhow::Result<()> {
    let Export { to: format, output, hosts: names, every, sources } = arguments;
    anyhow::ensure!(
        *format != ExportFormat::Lami,
        "--to lami: LAMI has reports and no timelines: isochrone analyze NAME --format lami"
    );
    anyhow::ensure!(
        *format != ExportFormat::Tables,
        "--to has timelines, series and requests: analyses print their tables so themselves, as in \
         isochrone analyze cputop --format csv (json, jsonl)"
    );
    let is_series = *format == ExportFormat::OpenMetrics;
    anyhow::ensure!(
        !is_series || sources.store.store.is_none(),
        "--store does not apply to --to openmetrics: time series are made of the traces"
    );
    anyhow::ensure!(
        *format != ExportFormat::Otlp || every.is_none(),
        "--every does not apply to --to otlp: it has requests, and no steps"
    );
    match output {
        Some(path) => check_output(path, &sources.inputs())?,
        None => anyhow::ensure!(
            *format != ExportFormat::Perfetto || !std::io::stdout().is_terminal(),
            "--to perfetto is not text for a terminal: name a file with -o"
        ),
    }
    let named = named(&sources.traces)?;
    let kept = sources.store.store.as_deref();
    let opened = open_named(&named, kept, sources.clock.time_base()?, console)?;
    let experiment = opened.experiment();
    let hosts = host_selection::choose(&opened, &experiment, names, host_selection::NOT_COMPARABLE, console)?;
    let given = [sources.window.begin, sources.window.end, None];
    let times = host_selection::times(given, &hosts)?;
    let spread = Spread { threads: sources.store.threads, pieces: None };
    if is_series {
        let of_usage = usage(*every, &hosts, times, spread, console)?;
        let store = index::store(&named, None, &opened, spread, console)?;
        let cluster = Cluster::open(&store, &hosts, opened.clocks())?;
        let window = window(times, extent(hosts.iter().copied()).unwrap_or_default());
        let asked = RequestQuery { window, only_sums: true, ..RequestQuery::default() };
        let requests = requests(&cluster, &asked)?;
        let every = step_length(*every, times, hosts.iter().copied(), DEFAULT_STEPS);
        let of_resources = bottleneck(&cluster, window, &requests, every, is_on_one_clock(&hosts))?;
        let all = [of_usage, vec![of_resources]].concat();
        let text = openmetrics::text(&openmetrics::series(&all));
        write(output.as_deref(), |to| Ok(to.write_all(text.as_bytes())?))?;
    } else if *format == ExportFormat::Otlp {
        let store = index::store(&named, kept, &opened, spread, console)?;
        let cluster = Cluster::open(&store, &hosts, opened.clocks())?;
        let window = window(times, extent(hosts.iter().copied()).unwrap_or_default());
        let found = requests(&cluster, &RequestQuery { window, ..RequestQuery::default() })?;
        let report = critical_path(&cluster, &found, true, is_on_one_clock(&hosts));
        for missing in &report.notes {
            note!(console, "{}", Plain(missing.shown(|ns| ns.to_string())));
        }
        write(output.as_deref(), |to| otlp::write(&report, to).map(|_| ()))?;
    } else {
        let store = index::store(&named, kept, &opened, spread, console)?;
        let clocks = opened.clocks();
        let input = ExportInput { store: &store, hosts: &hosts, clocks, times, every_ns: *every };
        let traced = hosts.iter().filter_map(|host| host.traced.extent());
        let length = traced.map(|(first, last)| last.ns().abs_diff(first.ns())).sum();
        let bar = Progress::over_file(length, "exporting", console);
        let mut of_sched = Vec::new();
        write(output.as_deref(), |to| {
            match format {
                ExportFormat::Perfetto => {
                    of_sched = export(&input, &mut Perfetto::new(to)?, &|ns| bar.add(ns))?;
                }
                _ => drop(export(&input, &mut Chrome::new(to, input.origin())?, &|ns| bar.add(ns))?),
            }
            Ok(())
        })?;
        bar.finish();
        sched_notes(&of_sched, console);
    }
    let needs = match format {
        ExportFormat::OpenMetrics => AnalysisKind::Usage.needs().to_vec(),
        ExportFormat::Otlp => isochrone_crosshost::needs("critical-path"),
        _ => TIMELINE.to_vec(),
    };
    for missing in lacking(&needs, &recorded(&hosts)) {
        note!(console, "{}", Plain(missing.shown(|ns| ns.to_string())));
    }
    if let Some(path) = output {
        note!(console, "{} is for {}", Plain(path.display()), readers(*format));
    }
    Ok(())
}

/// Notes which CPU of Perfetto's tables of the scheduler is which, and which hosts these have not.
fn sched_notes(hosts: &[SchedOfHost], console: &Console) {
    let cpus = hosts.iter().filter_map(|it| Some(format!("{} from {} on", it.host, it.first_cpu.ok()?)));
    let cpus: Vec<String> = cpus.collect();
    if cpus.len() > 1 {
        note!(
            console,
            "in Perfetto's tables sched and thread_state, CPUs are those of {}",
            Plain(cpus.join(", "))
        );
    }
    for SchedOfHost { host, first_cpu } in hosts {
        let why = match first_cpu {
            Ok(_) => continue,
            Err(WithoutSched::Missing) => "events are missing, and they have no state for what is unknown",
            Err(WithoutSched::TooManyCpus) => "they have 1,024 CPUs at most",
        };
        note!(
            console,
            "{}: not in Perfetto's tables sched and thread_state: {why}; all else is there",
            Plain(host)
        );
    }
}

/// Writes to a file, or to stdout.
fn write(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> anyhow::Result<()> {
    match path {
        Some(path) => files::write_with(path, |to| {
            write(to).with_context(|| format!("cannot write {}", Plain(path.display())))
        }),
        None => output::print(|stdout| Ok(write(stdout)?)).map(|_| ()),
    }
}

/// The report of the usage of hosts in steps.
fn usage(
    every: Option<u64>,
    hosts: &[&TimedHost<'_>],
    times: Times,
    spread: Spread,
    console: &Console,
) -> anyhow::Result<Vec<Report>> {
    let every = step_length(every, times, hosts.iter().copied(), DEFAULT_STEPS);
    let options = Options { every_ns: Some(every), ..Options::default() };
    let question = Question { kinds: &[AnalysisKind::Usage], options: &options, times, periods: None };
    let modelled = modelled(&question, hosts, spread, console)?;
    Ok(reports(&modelled, &options, spread))
}

/// Readers of a format.
fn readers(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Perfetto => {
            "ui.perfetto.dev, which reads it in the browser and does not send it anywhere"
        }
        ExportFormat::OpenMetrics => {
            "Prometheus: promtool tsdb create-blocks-from openmetrics FILE DIRECTORY"
        }
        ExportFormat::Otlp => "collectors of OpenTelemetry, Jaeger and Tempo",
        ExportFormat::Chrome | ExportFormat::Lami | ExportFormat::Tables => {
            "ui.perfetto.dev, chrome://tracing and Speedscope"
        }
    }
}
