//! What answers `isochrone analyze`, and commands that show what it would say: one pass over the traces for analyses of whole traces and of
//! periods, two for what lies within periods; the store for what threads and descriptors were at an instant.

use isochrone_analysis::{AnalysisKind, AnalysisSet, Asks, HostContext, Options, Report};
use isochrone_experiment::{
    ModelError, ModelledHost, Opened, Question, Spread, TimedHost, Times, ask_within, at_instant,
    instant_reports, is_on_one_clock, recorded, reports, reports_within, unfinished,
};
use isochrone_hosts::Progress as Read;

use super::analyze::{in_words, report_missing, tell_unmatched};
use super::{Named, index, lami, periods};
use crate::ExitStatus;
use crate::arguments::Analyze;
use crate::progress::Progress;

/// What is asked, and of whom.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a, 'o> {
    pub(super) arguments: &'a Analyze,
    pub(super) named: &'a Named,
    pub(super) opened: &'a Opened,
    pub(super) options: &'a Options,
    pub(super) hosts: &'a [&'a TimedHost<'o>],
    pub(super) times: Times,
    pub(super) quiet: bool,
}

/// The reports of analyses, in the order in which they were asked for.
pub(super) fn answers(
    asked: Asked<'_, '_>,
    kinds: &[AnalysisKind],
) -> anyhow::Result<(Vec<Report>, ExitStatus)> {
    let Asked { arguments, options, hosts, times, .. } = asked;
    let definitions = periods::definitions(arguments)?;
    if let Some(definitions) = &definitions {
        periods::check(hosts, definitions)?;
    }
    // The text of calls is in the traces alone.
    let is_instant =
        |kind: &AnalysisKind| times.at.is_some() && kind.answers_instant() && *kind != AnalysisKind::Syscalls;
    let (instant, others): (Vec<AnalysisKind>, Vec<AnalysisKind>) =
        kinds.iter().partition(|kind| is_instant(kind));
    // Analyses of periods find them on their way; the others are asked of what lies within them.
    let is_within = |kind: &AnalysisKind| definitions.is_some() && !kind.uses(Asks::Periods);
    let (within, direct): (Vec<AnalysisKind>, Vec<AnalysisKind>) = others.into_iter().partition(is_within);
    let spread = Spread { threads: arguments.threads, pieces: arguments.chunks };
    let (mut all, mut ending) = (Vec::new(), ExitStatus::Done);
    if !instant.is_empty() {
        let (reports, here) = of_instant(asked, &instant, spread)?;
        ending = ending.max(here);
        all.extend(reports);
    }
    if !direct.is_empty() {
        let question = Question { kinds: &direct, options, times, periods: definitions.clone() };
        let (modelled, here) = read(asked, |progress| question.ask(hosts, spread, Some(progress)))?;
        ending = ending.max(here);
        let mut direct = reports(&modelled, options, spread);
        for report in direct.iter_mut().filter(|_| definitions.is_some()) {
            let tallied = |host: &ModelledHost<'_, _>| unfinished(host.name(), &host.model.period_tallies);
            report.notes.extend(modelled.iter().flat_map(tallied));
        }
        all.extend(direct);
    }
    if let Some(definitions) = definitions.filter(|_| !within.is_empty()) {
        let question = Question { kinds: &within, options, times, periods: None };
        let found = periods::found(hosts, spread, &definitions, asked.quiet)?;
        let names: Vec<&str> = definitions.iter().map(|it| it.label().as_str()).collect();
        // What the traces lack has been said where there was a pass before.
        let asked = Asked { quiet: asked.quiet || !direct.is_empty(), ..asked };
        let (modelled, here) =
            read(asked, |progress| ask_within(&question, hosts, &found, &names, spread, Some(progress)))?;
        ending = ending.max(here);
        let mut of_periods = reports_within(&modelled, &question, &names);
        for report in &mut of_periods {
            let tallied = |host: &ModelledHost<'_, _>| unfinished(host.name(), &host.model.period_tallies);
            report.notes.extend(found.iter().flat_map(tallied));
        }
        all.extend(of_periods);
    }
    all.sort_by_key(|report| kinds.iter().position(|kind| kind.name() == report.analysis));
    Ok((all, ending))
}

/// The reports of an instant, from the store of what was named, which is built if it is missing.
fn of_instant(
    asked: Asked<'_, '_>,
    kinds: &[AnalysisKind],
    spread: Spread,
) -> anyhow::Result<(Vec<Report>, ExitStatus)> {
    let Asked { arguments, named, opened, options, hosts, times, quiet } = asked;
    let kept = arguments.store.as_deref();
    let (store, ending) = index::store(named, kept, opened, spread, ExitStatus::Done, quiet)?;
    let stored = at_instant(&store, hosts, kinds, options, times)?;
    if !quiet {
        let stored: Vec<&dyn HostContext> = stored.iter().map(|host| host as &dyn HostContext).collect();
        tell_unmatched(arguments, &recorded(hosts), &stored);
    }
    Ok((instant_reports(&stored, options, is_on_one_clock(hosts)), ending))
}

/// The answers of all hosts, while their reading is shown; tells what could not be read.
fn read<'o, S: Sync>(
    asked: Asked<'_, 'o>,
    ask: impl FnOnce(Read<'_>) -> Vec<Result<ModelledHost<'o, S>, ModelError>>,
) -> anyhow::Result<(Vec<ModelledHost<'o, S>>, ExitStatus)> {
    let Asked { arguments, hosts, quiet, .. } = asked;
    let bytes = hosts.iter().map(|host| host.traced.bytes()).sum();
    let bar = Progress::over(bytes, "analysing", quiet);
    let lines = arguments.output_progress.then(|| lami::ProgressLines::over(bytes));
    let answers = ask(&|bytes| {
        bar.add(bytes);
        if let Some(lines) = &lines {
            lines.add(bytes);
        }
    });
    bar.finish();
    let (modelled, ending) = complete(answers, hosts, quiet)?;
    if !quiet {
        let modelled: Vec<&dyn HostContext> = modelled.iter().map(|host| host as &dyn HostContext).collect();
        tell_unmatched(arguments, &recorded(hosts), &modelled);
    }
    Ok((modelled, ending))
}

/// What analyses heard of all hosts, while their reading is shown; tells what could not be read.
pub(super) fn modelled<'o>(
    question: &Question<'_>,
    hosts: &[&TimedHost<'o>],
    spread: Spread,
    quiet: bool,
) -> anyhow::Result<(Vec<ModelledHost<'o, AnalysisSet>>, ExitStatus)> {
    let bar = Progress::over(hosts.iter().map(|host| host.traced.bytes()).sum(), "analysing", quiet);
    let answers = question.ask(hosts, spread, Some(&|bytes| bar.add(bytes)));
    bar.finish();
    complete(answers, hosts, quiet)
}

/// The models of all hosts; tells what could not be read.
fn complete<'o, S>(
    answers: Vec<Result<ModelledHost<'o, S>, ModelError>>,
    hosts: &[&TimedHost<'o>],
    quiet: bool,
) -> anyhow::Result<(Vec<ModelledHost<'o, S>>, ExitStatus)> {
    let modelled: Vec<ModelledHost<'o, S>> =
        answers.into_iter().map(|answer| answer.map_err(in_words)).collect::<anyhow::Result<_>>()?;
    let endings = modelled
        .iter()
        .zip(hosts)
        .map(|(host, TimedHost { traced, .. })| report_missing(traced, &host.report, quiet));
    let ending = endings.fold(ExitStatus::Done, ExitStatus::max);
    Ok((modelled, ending))
}
