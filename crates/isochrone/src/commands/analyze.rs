//! `isochrone analyze`: questions about hosts. What is asked is in [`crate::arguments`], how tables look in
//! [`crate::render::tables`].

use std::collections::BTreeSet;
use std::io::Write;

use isochrone_analysis::{AnalysisKind, Calls, Filter, Interrupts, Options, Report, csv};
use isochrone_experiment::{
    EmptyWindow, Experiment, ModelError, Question, Selection, Spread, StateFilter, TimedHost, Times, Timing,
    reports,
};
use isochrone_hosts::Host;
use wildmatch::WildMatch;

use super::{host_selection, index, open, time_base};
use crate::ExitStatus;
use crate::arguments::{Analyze, Names, TableFormat};
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures, tables};

/// Rows of a text's tables that are sorted by a figure.
const TEXT_ROWS: usize = 10;

pub(crate) fn run(arguments: &Analyze, quiet: bool) -> anyhow::Result<ExitStatus> {
    match &arguments.names {
        Names::Kinds(kinds) => analyse(arguments, kinds, quiet),
        Names::States => states(arguments, quiet),
    }
}

/// What threads did, from the store of the traces.
fn states(arguments: &Analyze, quiet: bool) -> anyhow::Result<ExitStatus> {
    refuse_what_states_do_not_use(arguments)?;
    let base = time_base(arguments.sync.as_deref())?;
    let (opened, ending) = open(&arguments.traces, base, quiet)?;
    let experiment = opened.experiment();
    let (hosts, times, ending) = hosts(arguments, &experiment, ending)?;
    let spread = Spread { threads: arguments.threads, pieces: arguments.chunks };
    let (store, ending) = match &arguments.store {
        Some(path) => (index::kept(path, &opened)?, ending),
        None => index::cached(&arguments.traces, &opened, spread, ending, quiet)?,
    };
    let filter = &options(arguments).filter;
    let asked = StateFilter { filter, times, pixels: arguments.pixels };
    let report = isochrone_experiment::states(&store, &hosts, asked, opened.clocks().is_some())?;
    print(arguments, &[report], None, hosts.len(), quiet)?;
    Ok(ending)
}

/// Options that would change nothing are errors.
fn refuse_what_states_do_not_use(arguments: &Analyze) -> anyhow::Result<()> {
    let unused = [
        ("--at", arguments.at.is_some()),
        ("--cpu", !arguments.cpus.is_empty()),
        ("--min", arguments.min.is_some()),
        ("--max", arguments.max.is_some()),
        ("--irq", arguments.irq.is_some()),
        ("--softirq", arguments.softirq.is_some()),
        ("--fd", !arguments.fds.is_empty()),
        ("--call", !arguments.calls.is_empty()),
        ("--errno", !arguments.errors.is_empty()),
        ("--around", arguments.around),
        ("--by-process", arguments.by_process),
        ("--limit", arguments.limit.is_some()),
        ("--linear", arguments.linear),
    ];
    let unused: Vec<&str> = unused.into_iter().filter(|option| option.1).map(|option| option.0).collect();
    anyhow::ensure!(unused.is_empty(), "`states` does not use {}", unused.join(", "));
    Ok(())
}

/// The hosts that are asked for, and the times.
fn hosts<'e, 'o>(
    arguments: &Analyze,
    experiment: &'e Experiment<'o>,
    mut ending: ExitStatus,
) -> anyhow::Result<(Vec<&'e TimedHost<'o>>, Times, ExitStatus)> {
    for trace in experiment.left_out() {
        tell!("warning: {}: no clock stamps its events; left out", Plain(trace.path().display()));
        ending = ExitStatus::Partly;
    }
    let selected =
        experiment.select(&arguments.hosts).map_err(|error| host_selection::unknown_host(&error))?;
    let Selection { hosts, uncorrected } = selected;
    for host in uncorrected {
        ending = ending.max(host_selection::leave_out_unsynchronized(&host.traced.name));
    }
    anyhow::ensure!(!hosts.is_empty(), host_selection::OTHER_CLOCKS);
    let clocks = hosts.iter().filter_map(|host| host.timing.and_then(Timing::clock));
    host_selection::warn_of_islands(clocks, ", whose times cannot be compared");
    let instants = [arguments.begin, arguments.end, arguments.at];
    let times = Times::new(instants, hosts.iter().copied())
        .map_err(|EmptyWindow| anyhow::anyhow!("--end is not behind --begin"))?;
    Ok((hosts, times, ending))
}

fn analyse(arguments: &Analyze, kinds: &[AnalysisKind], quiet: bool) -> anyhow::Result<ExitStatus> {
    let base = time_base(arguments.sync.as_deref())?;
    let (opened, ending) = open(&arguments.traces, base, quiet)?;
    let experiment = opened.experiment();
    let (hosts, times, mut ending) = hosts(arguments, &experiment, ending)?;
    let options = options(arguments);
    let question = Question { kinds, options: &options, times };
    let spread = Spread { threads: arguments.threads, pieces: arguments.chunks };
    let bar = Progress::over(hosts.iter().map(|host| host.traced.bytes()).sum(), "analysing", quiet);
    let answers = question.ask(&hosts, spread, Some(&|bytes| bar.add(bytes)));
    bar.finish();
    let mut modelled = Vec::with_capacity(answers.len());
    for (answer, TimedHost { traced, .. }) in answers.into_iter().zip(&hosts) {
        let answer = answer.map_err(in_words)?;
        ending = ending.max(report_missing(traced, &answer.report, quiet));
        modelled.push(answer);
    }
    print(arguments, &reports(&modelled, &options), times.at, modelled.len(), quiet)?;
    Ok(ending)
}

/// Names of hosts come from traces.
pub(super) fn in_words(error: ModelError) -> anyhow::Error {
    match error {
        ModelError::Merge { host, source } => anyhow::Error::new(source)
            .context(format!("{}: the pieces of its trace do not fit", plain(&host))),
        ModelError::Uncorrected(_) => anyhow::anyhow!("{}", Plain(error)),
    }
}

fn options(arguments: &Analyze) -> Options {
    let is_text = arguments.format == TableFormat::Text;
    Options {
        filter: Filter {
            hosts: Vec::new(),
            tids: arguments.tids.clone(),
            names: arguments.procnames.iter().map(|name| WildMatch::new(name)).collect(),
            cpus: arguments.cpus.clone(),
            fds: arguments.fds.clone(),
            min_ns: arguments.min,
            max_ns: arguments.max,
        },
        limit: match arguments.limit {
            Some(0) => None,
            None if is_text => Some(TEXT_ROWS),
            limit => limit,
        },
        by_process: arguments.by_process,
        interrupts: Interrupts { hard: arguments.irq.clone(), soft: arguments.softirq.clone() },
        calls: Calls {
            names: arguments.calls.clone(),
            errors: arguments.errors.clone(),
            around: arguments.around,
        },
        bars: arguments.bars,
        linear: arguments.linear,
    }
}

/// Tells what could not be read of a host. Losses that the tracer recorded are notes; what this program could not read makes the
/// work partial.
pub(super) fn report_missing(
    host: &Host<'_>,
    report: &isochrone_hosts::ReadReport,
    quiet: bool,
) -> ExitStatus {
    const MOST: usize = 10;
    for diagnostic in report.diagnostics.iter().take(MOST) {
        tell!("warning: {}", Plain(diagnostic));
    }
    if report.diagnostics.len() > MOST {
        tell!("… and {} more of {}", report.diagnostics.len() - MOST, plain(&host.name));
    }
    complaints::of_host(host, quiet);
    ExitStatus::partly_if(report.broken_packets > 0)
}

fn print(
    arguments: &Analyze,
    reports: &[Report],
    at: Option<i128>,
    hosts: usize,
    quiet: bool,
) -> anyhow::Result<()> {
    let name = arguments.table.as_deref();
    if let Some(name) = name {
        let known: Vec<&str> =
            reports.iter().flat_map(|report| &report.tables).map(|table| table.name).collect();
        anyhow::ensure!(known.contains(&name), "no table is called `{name}`; there are {}", known.join(", "));
    }
    output::print(|stdout| {
        match arguments.format {
            TableFormat::Text => {
                for (index, report) in reports.iter().enumerate() {
                    if index > 0 {
                        writeln!(stdout)?;
                    }
                    tables::print(report, name, at, hosts, stdout)?;
                }
            }
            TableFormat::Csv => {
                let all = reports.iter().flat_map(|report| &report.tables);
                match name {
                    Some(name) => all
                        .filter(|table| table.name == name)
                        .try_for_each(|table| csv::write(table, stdout))?,
                    None => csv::write_all(all, stdout)?,
                }
            }
            TableFormat::Json => {
                for report in reports {
                    let mut report = report.clone();
                    report.tables.retain(|table| name.is_none_or(|name| table.name == name));
                    serde_json::to_writer(&mut *stdout, &report)?;
                    writeln!(stdout)?;
                }
            }
        }
        Ok(())
    })?;
    if !quiet && arguments.format != TableFormat::Json {
        let mut told = BTreeSet::new();
        for note in reports.iter().flat_map(|report| &report.notes) {
            if told.insert(note) {
                tell!(
                    "note: {}",
                    Plain(note.shown(|ns| figures::duration(i64::try_from(ns).unwrap_or(i64::MAX))))
                );
            }
        }
    }
    Ok(())
}
