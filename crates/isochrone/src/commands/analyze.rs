//! `isochrone analyze`: questions about hosts. What is asked is in [`crate::arguments`], how tables look in
//! [`crate::render::tables`].

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write;

use isochrone_analysis::{
    AnalysisKind, AnalysisSet, Asks, Calls, Filter, HostContext as _, Interrupts, Note, Options, Report,
    ThreadIdentity, Unit, csv, jsonl,
};
use isochrone_experiment::{
    Experiment, ModelError, ModelledHost, Opened, Question, Selection, Spread, StateFilter, TimedHost, Times,
    Timing, add_bounds, extent, is_on_one_clock, reports,
};
use isochrone_hosts::Host;
use wildmatch::WildMatch;

use super::{host_selection, index, named, open};
use crate::ExitStatus;
use crate::arguments::{Analyze, Names, TableFormat};
use crate::output::{self, tell};
use crate::progress::Progress;
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures, tables};

/// Rows of a text's tables that are sorted by a figure.
const TEXT_ROWS: usize = 10;

/// Rows of a distribution.
const BARS: usize = 20;

pub(crate) fn run(arguments: &Analyze, quiet: bool) -> anyhow::Result<ExitStatus> {
    match &arguments.names {
        Names::Kinds(kinds) => analyse(arguments, kinds, quiet),
        Names::States => states(arguments, quiet),
    }
}

/// What threads did, from the store of the traces.
fn states(arguments: &Analyze, quiet: bool) -> anyhow::Result<ExitStatus> {
    check_options(arguments, &[], quiet)?;
    let traces = named(&arguments.traces)?;
    let (opened, ending) = open(&traces, arguments.clock.time_base()?, quiet)?;
    let experiment = opened.experiment();
    let (hosts, times, ending) = hosts(arguments, &opened, &experiment, ending, quiet)?;
    let spread = Spread { threads: arguments.threads, pieces: arguments.chunks };
    let store = match arguments.traces.as_slice() {
        [only] if index::is_store(only) => arguments.store.as_ref().or(Some(only)),
        _ => arguments.store.as_ref(),
    };
    let (store, ending) = match store {
        Some(path) => (index::kept(path, &opened)?, ending),
        None => index::cached(&traces, &opened, spread, ending, quiet)?,
    };
    let options = options(arguments);
    let asked = StateFilter { filter: &options.filter, times, pixels: arguments.pixels };
    let mut report = isochrone_experiment::states(&store, &hosts, asked, is_on_one_clock(&hosts))?;
    check_columns(arguments, std::slice::from_ref(&report))?;
    report.arrange(&options);
    if arguments.bounds {
        add_bounds(&mut report, &hosts);
    }
    print(arguments, &[report], None, hosts.len(), quiet)?;
    Ok(ending)
}

/// What the options concern that not all analyses have: whether each is given, and what it asks.
fn asked(arguments: &Analyze) -> [(&'static str, bool, Asks); 16] {
    [
        ("--tid", !arguments.tids.is_empty(), Asks::Threads),
        ("--pid", !arguments.pids.is_empty(), Asks::Threads),
        ("--procname", !arguments.procnames.is_empty(), Asks::Threads),
        ("--cpu", !arguments.cpus.is_empty(), Asks::Cpus),
        ("--min", arguments.min.is_some(), Asks::Durations),
        ("--max", arguments.max.is_some(), Asks::Durations),
        ("--irq", arguments.irq.is_some(), Asks::Interrupts),
        ("--softirq", arguments.softirq.is_some(), Asks::Interrupts),
        ("--fd", !arguments.fds.is_empty(), Asks::Fds),
        ("--call", !arguments.calls.is_empty(), Asks::Calls),
        ("--errno", !arguments.errors.is_empty(), Asks::Errors),
        ("--around", arguments.around, Asks::Around),
        ("--by-process", arguments.by_process, Asks::Processes),
        ("--bars", arguments.bars.is_some(), Asks::Distributions),
        ("--linear", arguments.linear, Asks::Distributions),
        ("--at", arguments.at.is_some(), Asks::Instant),
    ]
}

/// Options that would change nothing are errors; those that change only some of the analyses are worth a note. No analyses: states.
fn check_options(arguments: &Analyze, kinds: &[AnalysisKind], quiet: bool) -> anyhow::Result<()> {
    let is_states = kinds.is_empty();
    for (option, _, asks) in asked(arguments).into_iter().filter(|(_, given, _)| *given) {
        if is_states && asks == Asks::Threads {
            continue;
        }
        let unused: Vec<&str> = match is_states {
            true => vec![STATES],
            false => kinds.iter().filter(|kind| !kind.uses(asks)).map(|kind| kind.name()).collect(),
        };
        if unused.is_empty() {
            continue;
        }
        let users = AnalysisKind::ALL.iter().filter(|kind| kind.uses(asks)).map(|kind| kind.name());
        let is_of_states = asks == Asks::Threads;
        let users = users.chain(is_of_states.then_some(STATES)).collect::<Vec<_>>().join(", ");
        let unused_by = unused.join(", ");
        anyhow::ensure!(
            unused.len() < kinds.len(),
            "{option} does not apply to {unused_by}; it applies to {users}"
        );
        if !quiet {
            tell!("note: {option} does not apply to {unused_by}");
        }
    }
    let of_states = [("--pixels", arguments.pixels.is_some()), ("--store", arguments.store.is_some())];
    if let Some((option, _)) = of_states.into_iter().find(|(_, given)| *given && !is_states) {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        anyhow::bail!("{option} does not apply to {}; it applies to {STATES}", names.join(", "));
    }
    Ok(())
}

/// The name of the table that comes from a store.
const STATES: &str = "states";

/// The hosts that are asked for, and the times.
fn hosts<'e, 'o>(
    arguments: &Analyze,
    opened: &'o Opened,
    experiment: &'e Experiment<'o>,
    mut ending: ExitStatus,
    quiet: bool,
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
    ending =
        ending.max(host_selection::tell_clocks(opened, clocks, ": their times cannot be compared", quiet));
    let is_corrected = hosts.iter().any(|host| host.timing.and_then(Timing::clock).is_some());
    anyhow::ensure!(!arguments.bounds || is_corrected, host_selection::NO_BOUNDS);
    let given = [arguments.begin, arguments.end, arguments.at];
    let times = host_selection::times(given, extent(hosts.iter().copied()))?;
    Ok((hosts, times, ending))
}

fn analyse(arguments: &Analyze, kinds: &[AnalysisKind], quiet: bool) -> anyhow::Result<ExitStatus> {
    check_options(arguments, kinds, quiet)?;
    let options = options(arguments);
    if arguments.at.is_none() && !arguments.around {
        // These have other tables.
        check_columns(arguments, &isochrone_analysis::empty_reports(kinds, &options))?;
    }
    let (opened, ending) = open(&arguments.traces, arguments.clock.time_base()?, quiet)?;
    let experiment = opened.experiment();
    let (hosts, times, mut ending) = hosts(arguments, &opened, &experiment, ending, quiet)?;
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
    let mut reports = reports(&modelled, &options);
    add_needs(&mut reports, &hosts);
    if !quiet {
        tell_unmatched(arguments, &hosts, &modelled);
    }
    if arguments.bounds {
        for report in &mut reports {
            add_bounds(report, &hosts);
        }
    }
    print(arguments, &reports, times.at, modelled.len(), quiet)?;
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
            pids: arguments.pids.clone(),
            names: arguments.procnames.iter().map(|name| WildMatch::new(name)).collect(),
            cpus: arguments.cpus.iter().cloned().flatten().collect(),
            fds: arguments.fds.clone(),
            min_ns: arguments.min,
            max_ns: arguments.max,
        },
        limit: arguments.limit.filter(|&limit| limit > 0),
        top: (is_text && arguments.limit.is_none()).then_some(TEXT_ROWS),
        sort: arguments.sort.clone(),
        by_process: arguments.by_process,
        interrupts: Interrupts { hard: arguments.irq.clone(), soft: arguments.softirq.clone() },
        calls: Calls {
            names: arguments.calls.iter().map(|name| WildMatch::new(name)).collect(),
            errors: arguments.errors.clone(),
            around: arguments.around,
        },
        bars: arguments.bars.unwrap_or(BARS),
        linear: arguments.linear,
    }
}

/// Checks that there are the table and the column that are asked for.
fn check_columns(arguments: &Analyze, reports: &[Report]) -> anyhow::Result<()> {
    let tables = || reports.iter().flat_map(|report| &report.tables);
    if let Some(name) = &arguments.table {
        let known: Vec<&str> = tables().map(|table| table.name).collect();
        anyhow::ensure!(
            known.contains(&name.as_str()),
            "no table is called `{name}`; there are {}",
            known.join(", ")
        );
    }
    let is_shown = |name: &str| arguments.table.as_ref().is_none_or(|asked| asked == name);
    if arguments.bounds {
        let mut columns = tables().filter(|table| is_shown(table.name)).flat_map(|table| &table.columns);
        anyhow::ensure!(
            columns.any(|column| column.unit == Unit::Time),
            "--bounds: no times are in these tables"
        );
    }
    if let Some(sort) = &arguments.sort {
        let shown = tables().filter(|table| is_shown(table.name));
        let mut known: Vec<&str> = Vec::new();
        for column in shown.flat_map(|table| &table.columns) {
            if !known.contains(&&*column.name) {
                known.push(&column.name);
            }
        }
        let is_it = |name: &&str| *name == sort || name.strip_suffix("_ns") == Some(sort);
        anyhow::ensure!(
            known.iter().any(is_it),
            "--sort: no column is called `{sort}`; there are {}",
            known.join(", ")
        );
    }
    Ok(())
}

/// Names of the events that the traces of a host can have.
fn event_names<'t>(host: &'t TimedHost<'_>) -> impl Iterator<Item = &'t str> {
    let streams = host.traced.traces().iter().flat_map(|trace| &trace.schema().streams);
    streams.flat_map(|stream| &stream.events).filter_map(|event| event.name.as_deref())
}

/// Says of each analysis what was not recorded for it, and how to record it.
fn add_needs(reports: &mut [Report], hosts: &[&TimedHost<'_>]) {
    for report in reports {
        for need in AnalysisKind::of(report.analysis).map_or(&[][..], AnalysisKind::needs) {
            let lacks = |host: &&&TimedHost<'_>| !event_names(host).any(|name| need.is_met_by(name));
            let lacking: Vec<String> =
                hosts.iter().filter(lacks).map(|host| host.name().to_owned()).collect();
            if !lacking.is_empty() {
                let names = figures::listed(&lacking, MOST_HOSTS);
                let text =
                    format!("{names}: {}; before the next recording, type: {}", need.what(), need.command());
                report.notes.push(Note::default().text(&text));
            }
        }
    }
}

/// Hosts that a note names; the rest is counted.
const MOST_HOSTS: usize = 8;

/// Says which names are of nothing in the traces.
fn tell_unmatched(arguments: &Analyze, hosts: &[&TimedHost<'_>], modelled: &[ModelledHost<'_, AnalysisSet>]) {
    let call = |name: &'_ str| -> Option<String> {
        let prefixes = ["compat_syscall_entry_", "syscall_entry_", "compat_sys_", "sys_"];
        Some(prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))?.to_owned())
    };
    let calls: BTreeSet<String> = hosts.iter().flat_map(|host| event_names(host)).filter_map(call).collect();
    // Where no calls were recorded that has been said.
    host_selection::tell_unmatched(
        "system call",
        arguments.calls.iter().filter(|_| !calls.is_empty()),
        &calls,
    );
    if arguments.tids.is_empty() && arguments.pids.is_empty() && arguments.procnames.is_empty() {
        return;
    }
    let (mut tids, mut pids, mut names) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for host in modelled {
        for thread in host.threads() {
            let who = ThreadIdentity::of(host, thread);
            tids.extend(who.tid);
            pids.extend(who.pid);
            names.extend(who.comm.map(Cow::into_owned));
        }
    }
    for (what, asked, known) in [("thread", &arguments.tids, tids), ("process", &arguments.pids, pids)] {
        for number in asked.iter().filter(|number| !known.contains(number)) {
            tell!("note: no {what} {number} is in the traces");
        }
    }
    host_selection::tell_unmatched("thread", &arguments.procnames, &names);
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
    check_columns(arguments, reports)?;
    let name = arguments.table.as_deref();
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
                let all: Vec<_> = all.filter(|table| name.is_none_or(|name| table.name == name)).collect();
                match all.as_slice() {
                    // A table alone needs no name: other programs read it as it is.
                    [one] => csv::write(one, stdout)?,
                    several => csv::write_all(several.iter().copied(), stdout)?,
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
            TableFormat::Jsonl => {
                for report in reports {
                    let shown =
                        report.tables.iter().filter(|table| name.is_none_or(|name| table.name == name));
                    shown.into_iter().try_for_each(|table| jsonl::write(report.analysis, table, stdout))?;
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
