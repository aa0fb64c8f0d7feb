//! The passes over traces that answer `isochrone analyze`: one for analyses of whole traces and of periods, two for what lies within
//! periods.

use isochrone_analysis::{AnalysisKind, Asks, HostContext as _, Options, Report};
use isochrone_experiment::{
    ModelError, ModelledHost, Question, Spread, TimedHost, Times, ask_within, reports, reports_within,
    unfinished,
};
use isochrone_hosts::Progress as Read;

use super::analyze::{in_words, report_missing, tell_unmatched};
use super::{lami, periods};
use crate::ExitStatus;
use crate::arguments::Analyze;
use crate::progress::Progress;

/// What is asked, and of whom.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a, 'o> {
    pub(super) arguments: &'a Analyze,
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
    // Analyses of periods find them on their way; the others are asked of what lies within them.
    let is_within = |kind: &&AnalysisKind| definitions.is_some() && !kind.uses(Asks::Periods);
    let (within, direct): (Vec<AnalysisKind>, Vec<AnalysisKind>) = kinds.iter().partition(is_within);
    let spread = Spread { threads: arguments.threads, pieces: arguments.chunks };
    let (mut all, mut ending) = (Vec::new(), ExitStatus::Done);
    if !direct.is_empty() {
        let question = Question { kinds: &direct, options, times, periods: definitions.clone() };
        let (modelled, here) = read(asked, |progress| question.ask(hosts, spread, Some(progress)))?;
        ending = ending.max(here);
        all = reports(&modelled, options);
        for report in all.iter_mut().filter(|_| definitions.is_some()) {
            let tallied = |host: &ModelledHost<'_, _>| unfinished(host.name(), &host.model.period_tallies);
            report.notes.extend(modelled.iter().flat_map(tallied));
        }
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

/// The answers of all hosts, while their reading is shown; tells what could not be read.
fn read<'o, S>(
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
    let modelled: Vec<ModelledHost<'o, S>> =
        answers.into_iter().map(|answer| answer.map_err(in_words)).collect::<anyhow::Result<_>>()?;
    let endings = modelled
        .iter()
        .zip(hosts)
        .map(|(host, TimedHost { traced, .. })| report_missing(traced, &host.report, quiet));
    let ending = endings.fold(ExitStatus::Done, ExitStatus::max);
    if !quiet {
        tell_unmatched(arguments, hosts, &modelled);
    }
    Ok((modelled, ending))
}
