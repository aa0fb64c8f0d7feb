//! `isochrone diff` and `isochrone check`: the requests or the tables of two runs against each other, and the
//! requests of one against limits.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use isochrone_analysis::{AnalysisKind, Need, Note, Options, Report, VERSION, lacking, nearest_rank};
use isochrone_crosshost::{
    RUNS, Request, Run, accounting, blocking, compare, compare_reports, ipc, messages, needs, request_notes,
};
use isochrone_experiment::{Question, Spread, TimeBase, reports};
use isochrone_timing::{TimedHost, Times, recorded};
use serde::Serialize;

use super::analysis::add_needs;
use super::answers::modelled;
use super::crosshost::{Opening, Store, with_store};
use super::reports::{ReportStyle, TEXT_ROWS};
use crate::arguments::{Check, Compared, Diff, Figure, Limit, OfRequests, ReportFormat, TableFormat};
use crate::output::{self, Console, note};
use crate::render::figures;
use crate::render::plain::Plain;

/// Compares two runs.
pub(crate) fn diff(arguments: &Diff, console: &Console) -> anyhow::Result<()> {
    match &arguments.compared {
        Compared::Requests => diff_requests(arguments, console),
        Compared::Analyses(names) => diff_analyses(arguments, names, console),
    }
}

/// How a run is opened, of which all is compared.
fn opening<'a>(path: &'a PathBuf, arguments: &Diff) -> Opening<'a> {
    let traces = std::slice::from_ref(path);
    Opening { traces, kept: None, base: TimeBase::Usual, window: [None, None], threads: arguments.threads }
}

fn diff_requests(arguments: &Diff, console: &Console) -> anyhow::Result<()> {
    let Diff { before, after, of, .. } = arguments;
    let open = |run: usize, path: &PathBuf, with: &mut dyn FnMut(Run<'_, '_>) -> anyhow::Result<()>| {
        note_run(run, path, console);
        with_store(opening(path, arguments), console, |store| {
            note_missing(store, &format!("{}: ", path.display()), console);
            with(Run { cluster: store.cluster, requests: &store.requests(of, true)? })
        })
    };
    open(0, before, &mut |before| {
        open(1, after, &mut |after| {
            let hosts = before.cluster.len().max(after.cluster.len());
            show(compare(before, after), hosts, arguments, console)
        })
    })
}

/// Notes of which run the notes are that follow: both may have hosts of one name.
fn note_run(run: usize, path: &Path, console: &Console) {
    note!(console, "{}, {}:", RUNS[run], Plain(path.display()));
}

fn diff_analyses(arguments: &Diff, names: &[&'static str], console: &Console) -> anyhow::Result<()> {
    let OfRequests { service, phases } = &arguments.of;
    anyhow::ensure!(
        service.is_none() && phases.is_empty(),
        "--service and --phase choose requests: they do not apply to {}",
        names.join(", ")
    );
    let [before, after] = [(0, &arguments.before), (1, &arguments.after)].map(|(run, path)| {
        note_run(run, path, console);
        reports_of(path, arguments, names, console)
    });
    let ((before, hosts), (after, of_after)) = (before?, after?);
    let mut report = Report {
        analysis: "diff",
        version: VERSION,
        sync: before.iter().chain(&after).all(|report| report.sync),
        range: None,
        tables: before
            .iter()
            .zip(&after)
            .flat_map(|(before, after)| compare_reports(before, after))
            .collect(),
        notes: Vec::new(),
    };
    for (run, reports) in RUNS.into_iter().zip([&before, &after]) {
        if let Some([start, end]) = reports.iter().find_map(|report| report.range) {
            let length = u64::try_from(end.saturating_since(start)).unwrap_or(0);
            report.notes.push(Note::default().text(&format!("{run}: of ")).ns(length));
        }
        let notes = reports.iter().flat_map(|report| &report.notes);
        let of_run = notes.map(|note| Note::default().text(&format!("{run}: {}", note.shown(span))));
        report.notes.extend(of_run);
    }
    show(report, hosts.max(of_after), arguments, console)
}

/// A duration in a note.
fn span(ns: u64) -> String {
    figures::span(ns.into())
}

/// The reports of a run, and the number of its hosts.
fn reports_of(
    path: &PathBuf,
    arguments: &Diff,
    names: &[&'static str],
    console: &Console,
) -> anyhow::Result<(Vec<Report>, usize)> {
    let spread = Spread { threads: arguments.threads, pieces: None };
    with_store(opening(path, arguments), console, |store| {
        let Store { cluster, window, is_synchronized, .. } = *store;
        let kinds: Vec<AnalysisKind> = names.iter().filter_map(|name| AnalysisKind::of(name)).collect();
        let options = Options::default();
        let question = Question { kinds: &kinds, options: &options, times: Times::default(), periods: None };
        let mut of_hosts = match kinds.is_empty() {
            true => Vec::new(),
            false => reports(&modelled(&question, store.hosts, spread, console)?, &options, spread),
        };
        let mut all = Vec::new();
        for name in names {
            let of_name = of_hosts.iter().position(|report| report.analysis == *name);
            let mut report = match (of_name, *name) {
                (Some(index), _) => of_hosts.swap_remove(index),
                (None, "messages") => messages(cluster, window, true, is_synchronized)?,
                (None, "blocking") => blocking(cluster, window, |_| true, true, is_synchronized)?,
                (None, "accounting") => accounting(cluster, window, is_synchronized)?,
                (None, "ipc") => ipc(cluster, window, is_synchronized)?,
                (None, other) => anyhow::bail!("{other} cannot be compared"),
            };
            add_needs(std::slice::from_mut(&mut report), &recorded(store.hosts));
            all.push(report);
        }
        Ok((all, store.hosts.len()))
    })
}

/// Prints a comparison.
fn show(mut report: Report, hosts: usize, arguments: &Diff, console: &Console) -> anyhow::Result<()> {
    let Diff { limit, format, table, threads, .. } = arguments;
    let is_text = *format == TableFormat::Text;
    report.sort_and_limit(&Options {
        limit: limit.filter(|&limit| limit > 0),
        top: (is_text && limit.is_none()).then_some(TEXT_ROWS),
        ..Options::default()
    });
    let style = ReportStyle {
        format: *format,
        table: table.as_deref(),
        sort: None,
        has_bounds: false,
        threads: Spread { threads: *threads, pieces: None }.threads(),
    };
    style.print(&[report], None, hosts, console)
}

/// Notes what requests are made of and was not recorded.
fn note_missing(store: &Store<'_, '_>, of: &str, console: &Console) {
    for missing in lacking(&needs("critical-path"), &recorded(store.hosts)) {
        note!(console, "{}{}", Plain(of), Plain(missing.shown(span)));
    }
}

/// What requests between programs are found by, but for phases.
const REQUESTS: [Need; 5] = [Need::Calls, Need::Packets, Need::Received, Need::Sent, Need::Softirqs];

/// Whether no request can be missing: nothing was lost, and what requests are found by was recorded.
fn knows_all_requests(store: &Store<'_, '_>, of: &OfRequests) -> bool {
    let is_whole = |host: &&TimedHost<'_>| {
        let traced = &host.traced;
        let has_lost = traced.losses().iter().any(|loss| loss.what.is_loss());
        !has_lost && traced.gaps().is_empty() && traced.absent_streams().is_empty()
    };
    let lacks = |host: &&TimedHost<'_>| {
        let lacking = host.recorded().lacking();
        host.traced.has_kernel() && REQUESTS.iter().any(|need| lacking.contains(need))
    };
    store.hosts.iter().all(is_whole) && !(of.phases.is_empty() && store.hosts.iter().any(lacks))
}

/// Holds figures of the requests of a run against limits.
pub(crate) fn check(arguments: &Check, console: &Console) -> anyhow::Result<()> {
    let Check { limits, of, format, sources } = arguments;
    let (found, is_whole) = with_store(Opening::of(sources)?, console, |store| {
        note_missing(store, "", console);
        Ok((store.requests(of, true)?, knows_all_requests(store, of)))
    })?;
    for note in request_notes(&found) {
        note!(console, "{}", Plain(note.shown(span)));
    }
    let mut durations: Vec<i64> = found.iter().map(Request::duration).collect();
    durations.sort_unstable();
    let results: Vec<Checked> =
        limits.iter().map(|limit| Checked::new(limit, &durations, is_whole)).collect();
    output::print(|stdout| {
        if *format == ReportFormat::Json {
            return output::json(&Checks { requests: found.len(), limits: &results }, stdout);
        }
        for (limit, result) in limits.iter().zip(&results) {
            let word = match result.holds {
                Some(true) => "ok     ",
                Some(false) => "FAILED ",
                None => "UNKNOWN",
            };
            let value = match (limit.figure, result.value) {
                (_, None) => "there are no requests".to_owned(),
                (Figure::Count, Some(value)) if is_whole => value.to_string(),
                (Figure::Count, Some(value)) => format!("at least {value}, as events are missing"),
                (_, Some(value)) => figures::duration(value),
            };
            writeln!(stdout, "{word}  {}: {value}", Plain(&result.limit))?;
        }
        Ok(())
    })?;
    if let Some(unknown) = results.iter().find(|result| result.holds.is_none()) {
        let why = match unknown.value {
            None => "there are no requests in the traces, so that it is unknown",
            Some(_) => "events are missing that may have been of more requests, so that it is unknown",
        };
        anyhow::bail!("{}: {why}", Plain(&unknown.limit));
    }
    console.partial_if(results.iter().any(|result| result.holds == Some(false)));
    Ok(())
}

/// The result of `isochrone check`.
#[derive(Debug, Serialize)]
struct Checks<'r> {
    /// Number of requests that the figures are of.
    requests: usize,
    limits: &'r [Checked],
}

/// What became of a limit.
#[derive(Debug, Serialize)]
struct Checked {
    limit: String,
    /// ns, or a number of requests; absent where there are no requests.
    value: Option<i64>,
    /// Absent where it is unknown.
    holds: Option<bool>,
}

impl Checked {
    /// `durations`: of all requests, sorted, ns; `is_whole`: whether there cannot have been more.
    fn new(limit: &Limit, durations: &[i64], is_whole: bool) -> Self {
        let value = match limit.figure {
            Figure::Count => i64::try_from(durations.len()).ok(),
            Figure::Percentile(percent) => nearest_rank(durations, percent).copied(),
            Figure::Mean => mean(durations),
        };
        // More requests than are known could change what holds of a smaller number.
        let is_sure = |value: i64| {
            is_whole || limit.figure != Figure::Count || limit.holds(value) == limit.holds(i64::MAX)
        };
        let holds = value.filter(|&value| is_sure(value)).map(|value| limit.holds(value));
        Self { limit: limit.to_string(), value, holds }
    }
}

/// Rounded up, so that a mean above a limit is never said to be on it.
fn mean(durations: &[i64]) -> Option<i64> {
    let sum: i128 = durations.iter().map(|ns| i128::from(*ns)).sum();
    let count = i128::try_from(durations.len()).ok().filter(|count| *count > 0)?;
    i64::try_from((sum + count - 1).div_euclid(count)).ok()
}
