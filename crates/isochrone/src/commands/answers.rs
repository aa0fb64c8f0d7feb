//! The answers of `isochrone analyze` and of commands that show the same: one pass over the traces for
//! analyses of whole traces and of periods, two for what lies within periods; the store for the state of
//! threads and descriptors at an instant.

use isochrone_analysis::{AnalysisKind, AnalysisSet, HostContext, Note, OptionKind, Options, Report};
use isochrone_experiment::{
    ModelError, ModelledHost, Opened, PeriodLog, Question, Spread, ask_within, at_instant, from_store,
    reports, reports_within, stored_reports, unfinished,
};
use isochrone_hosts::Progress as Read;
use isochrone_timing::{TimedHost, Times, is_on_one_clock, recorded};

use super::analysis::{model_error, note_unmatched, report_missing};
use super::{Named, index, lami, periods};
use crate::arguments::Analyze;
use crate::output::{Console, warning};
use crate::progress::Progress;
use crate::render::complaints;
use crate::render::plain::Plain;

/// An `isochrone analyze` that is being answered.
#[derive(Clone, Copy)]
pub(super) struct Answering<'a, 'o> {
    pub(super) arguments: &'a Analyze,
    pub(super) named: &'a Named,
    pub(super) opened: &'o Opened,
    pub(super) options: &'a Options,
    pub(super) hosts: &'a [&'a TimedHost<'o>],
    pub(super) times: Times,
    pub(super) console: &'a Console,
}

/// The reports of analyses, in the order in which they were requested.
pub(super) fn answers(of: Answering<'_, '_>, kinds: &[AnalysisKind]) -> anyhow::Result<Vec<Report>> {
    let Answering { arguments, options, hosts, times, console, .. } = of;
    let definitions = periods::definitions(&arguments.periods, &arguments.period_captures)?;
    if let Some(definitions) = &definitions {
        periods::check(hosts, definitions)?;
    }
    // The text of calls is in the traces alone.
    let is_instant =
        |kind: &AnalysisKind| times.at.is_some() && kind.answers_instant() && *kind != AnalysisKind::Syscalls;
    let (instant, others): (Vec<AnalysisKind>, Vec<AnalysisKind>) =
        kinds.iter().partition(|kind| is_instant(kind));
    // Analyses of periods find them by themselves; the others are about what lies within them.
    let is_within = |kind: &AnalysisKind| definitions.is_some() && !kind.accepts(OptionKind::Periods);
    let (within, direct): (Vec<AnalysisKind>, Vec<AnalysisKind>) = others.into_iter().partition(is_within);
    let spread = Spread { threads: arguments.threads, pieces: arguments.chunks };
    let mut all = Vec::new();
    if !instant.is_empty() {
        all.extend(of_instant(of, &instant, spread)?);
    }
    if !direct.is_empty() {
        let question = Question { kinds: &direct, options, times, periods: definitions.clone() };
        all.extend(match of_window(of, &question, spread) {
            Some(stored) => stored,
            None => of_traces(of, &question, spread)?,
        });
    }
    if let Some(definitions) = definitions.filter(|_| !within.is_empty()) {
        let question = Question { kinds: &within, options, times, periods: None };
        let found = periods::found(hosts, spread, &definitions, console)?;
        let names: Vec<&str> = definitions.iter().map(|it| it.label().as_str()).collect();
        // What the traces lack has been reported if there was a pass before.
        let silenced = console.silenced();
        let of = Answering { console: if direct.is_empty() { console } else { &silenced }, ..of };
        let modelled = read(of, &within, |progress| {
            ask_within(&question, hosts, &found, &names, spread, Some(progress))
        })?;
        let mut of_periods = reports_within(&modelled, &question, &names);
        for report in &mut of_periods {
            report.notes.extend(found.iter().flat_map(unfinished_periods::<PeriodLog>));
        }
        all.extend(of_periods);
    }
    all.sort_by_key(|report| kinds.iter().position(|kind| kind.name() == report.analysis));
    Ok(all)
}

/// The reports of a pass over the traces.
fn of_traces(of: Answering<'_, '_>, question: &Question<'_>, spread: Spread) -> anyhow::Result<Vec<Report>> {
    let modelled = read(of, question.kinds, |progress| question.ask(of.hosts, spread, Some(progress)))?;
    let mut all = reports(&modelled, of.options, spread);
    for report in all.iter_mut().filter(|_| question.periods.is_some()) {
        report.notes.extend(modelled.iter().flat_map(unfinished_periods));
    }
    Ok(all)
}

/// The reports of a window from the store of the traces, if there is one that has all that they need.
fn of_window(of: Answering<'_, '_>, question: &Question<'_>, spread: Spread) -> Option<Vec<Report>> {
    let Answering { arguments, named, opened, options, hosts, console, .. } = of;
    // Progress is that of reading; how the traces are cut is to make no difference, which is tried.
    if arguments.output_progress || arguments.chunks.is_some() {
        return None;
    }
    let store = index::kept_store(named, None, opened.inputs())?;
    let stored = match from_store(&store, hosts, question, spread, None) {
        Ok(Some(stored)) => stored,
        Ok(None) => return None,
        Err(error) => {
            warning!("{}; the traces are read instead", Plain(error));
            return None;
        }
    };
    for host in hosts {
        complaints::of_host(host, console);
    }
    let known: Vec<&dyn HostContext> = stored.iter().map(|host| host as &dyn HostContext).collect();
    note_unmatched_of(question.kinds, of, &known);
    Some(stored_reports(&stored, options, is_on_one_clock(hosts)))
}

/// Notes on periods of a host that have no end.
fn unfinished_periods<S: Sync>(host: &ModelledHost<'_, S>) -> Vec<Note> {
    unfinished(host.name(), &host.model.period_tallies).into_iter().collect()
}

/// The reports of an instant, from the store of the traces, which is built if it is missing.
fn of_instant(of: Answering<'_, '_>, kinds: &[AnalysisKind], spread: Spread) -> anyhow::Result<Vec<Report>> {
    let Answering { arguments, named, opened, options, hosts, times, console } = of;
    let store = index::store(named, arguments.store.as_deref(), opened, spread, console)?;
    let stored = at_instant(&store, hosts, kinds, options, times)?;
    for host in hosts {
        complaints::of_host(host, console);
    }
    let known: Vec<&dyn HostContext> = stored.iter().map(|host| host as &dyn HostContext).collect();
    note_unmatched(arguments, &recorded(hosts), &known, console);
    Ok(stored_reports(&stored, options, is_on_one_clock(hosts)))
}

/// The answers of all hosts, with progress; reports what could not be read.
fn read<'o, S: Sync>(
    of: Answering<'_, 'o>,
    kinds: &[AnalysisKind],
    ask: impl FnOnce(Read<'_>) -> Vec<Result<ModelledHost<'o, S>, ModelError>>,
) -> anyhow::Result<Vec<ModelledHost<'o, S>>> {
    let Answering { arguments, hosts, console, .. } = of;
    let bytes = hosts.iter().map(|host| host.traced.bytes()).sum();
    let bar = Progress::over(bytes, "analysing", console);
    let lines = arguments.output_progress.then(|| lami::ProgressLines::over(bytes));
    let answers = ask(&|bytes| {
        bar.add(bytes);
        if let Some(lines) = &lines {
            lines.add(bytes);
        }
    });
    bar.finish();
    let modelled = complete(answers, hosts, console)?;
    let known: Vec<&dyn HostContext> = modelled.iter().map(|host| host as &dyn HostContext).collect();
    note_unmatched_of(kinds, of, &known);
    Ok(modelled)
}

/// Notes names and numbers of threads and calls that the hosts do not have, if any of the analyses is about
/// threads: without, those that have ended are not known.
fn note_unmatched_of(kinds: &[AnalysisKind], of: Answering<'_, '_>, known: &[&dyn HostContext]) {
    if kinds.iter().any(|kind| kind.accepts(OptionKind::Threads)) {
        note_unmatched(of.arguments, &recorded(of.hosts), known, of.console);
    }
}

/// The results of analyses of all hosts, with progress; reports what could not be read.
pub(super) fn modelled<'o>(
    question: &Question<'_>,
    hosts: &[&TimedHost<'o>],
    spread: Spread,
    console: &Console,
) -> anyhow::Result<Vec<ModelledHost<'o, AnalysisSet>>> {
    let bar = Progress::over(hosts.iter().map(|host| host.traced.bytes()).sum(), "analysing", console);
    let answers = question.ask(hosts, spread, Some(&|bytes| bar.add(bytes)));
    bar.finish();
    complete(answers, hosts, console)
}

/// As [`modelled`], and notes names and numbers of threads and calls that the hosts do not have.
pub(super) fn modelled_with_notes<'o>(
    question: &Question<'_>,
    hosts: &[&TimedHost<'o>],
    spread: Spread,
    arguments: &Analyze,
    console: &Console,
) -> anyhow::Result<Vec<ModelledHost<'o, AnalysisSet>>> {
    let modelled = modelled(question, hosts, spread, console)?;
    let known: Vec<&dyn HostContext> = modelled.iter().map(|host| host as &dyn HostContext).collect();
    note_unmatched(arguments, &recorded(hosts), &known, console);
    Ok(modelled)
}

/// The models of all hosts; reports what could not be read.
fn complete<'o, S>(
    answers: Vec<Result<ModelledHost<'o, S>, ModelError>>,
    hosts: &[&TimedHost<'o>],
    console: &Console,
) -> anyhow::Result<Vec<ModelledHost<'o, S>>> {
    let modelled: Vec<ModelledHost<'o, S>> =
        answers.into_iter().map(|answer| answer.map_err(model_error)).collect::<anyhow::Result<_>>()?;
    for (host, timed) in modelled.iter().zip(hosts) {
        report_missing(timed, &host.report, console);
    }
    Ok(modelled)
}
