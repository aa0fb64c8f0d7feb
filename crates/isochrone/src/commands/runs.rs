//! `isochrone diff` and `isochrone check`: the requests of two runs against each other, and those of one
//! against limits.

use std::io::Write as _;
use std::path::PathBuf;

use isochrone_analysis::{Options, lacking, nearest_rank};
use isochrone_crosshost::{Request, Run, compare, needs, request_notes};
use isochrone_experiment::{Spread, TimeBase};
use isochrone_timing::recorded;
use serde::Serialize;

use super::crosshost::{Opening, Store, with_store};
use super::reports::{ReportStyle, TEXT_ROWS};
use crate::arguments::{Check, Diff, Figure, Limit, ReportFormat, TableFormat};
use crate::output::{self, Console, note};
use crate::render::figures;
use crate::render::plain::Plain;

/// Compares two runs.
pub(crate) fn diff(arguments: &Diff, console: &Console) -> anyhow::Result<()> {
    let Diff { before, after, of, limit, format, table, threads } = arguments;
    let open = |path: &PathBuf, with: &mut dyn FnMut(Run<'_, '_>) -> anyhow::Result<()>| {
        let traces = std::slice::from_ref(path);
        let window = [None, None];
        let opening = Opening { traces, kept: None, base: TimeBase::Usual, window, threads: *threads };
        with_store(opening, console, |store| {
            note_missing(store, &format!("{}: ", path.display()), console);
            with(Run { cluster: store.cluster, requests: &store.requests(of, true)? })
        })
    };
    open(before, &mut |before| {
        open(after, &mut |after| {
            let mut report = compare(before, after);
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
            style.print(&[report], None, before.cluster.len().max(after.cluster.len()), console)
        })
    })
}

/// Notes what requests are made of and was not recorded.
fn note_missing(store: &Store<'_, '_>, of: &str, console: &Console) {
    for missing in lacking(&needs("critical-path"), &recorded(store.hosts)) {
        note!(console, "{}{}", Plain(of), Plain(missing.shown(|ns| figures::span(ns.into()))));
    }
}

/// Holds figures of the requests of a run against limits.
pub(crate) fn check(arguments: &Check, console: &Console) -> anyhow::Result<()> {
    let Check { limits, of, format, sources } = arguments;
    let found = with_store(Opening::of(sources)?, console, |store| {
        note_missing(store, "", console);
        store.requests(of, true)
    })?;
    for note in request_notes(&found) {
        note!(console, "{}", Plain(note.shown(|ns| figures::span(ns.into()))));
    }
    let mut durations: Vec<i64> = found.iter().map(Request::duration).collect();
    durations.sort_unstable();
    let results: Vec<Checked> = limits.iter().map(|limit| Checked::new(limit, &durations)).collect();
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
                (Figure::Count, Some(value)) => value.to_string(),
                (_, Some(value)) => figures::duration(value),
            };
            writeln!(stdout, "{word}  {}: {value}", Plain(&result.limit))?;
        }
        Ok(())
    })?;
    if let Some(unknown) = results.iter().find(|result| result.holds.is_none()) {
        anyhow::bail!(
            "{}: there are no requests in the traces, so that it is unknown",
            Plain(&unknown.limit)
        );
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
    holds: Option<bool>,
}

impl Checked {
    /// `durations`: of all requests, sorted, ns.
    fn new(limit: &Limit, durations: &[i64]) -> Self {
        let value = match limit.figure {
            Figure::Count => i64::try_from(durations.len()).ok(),
            Figure::Percentile(percent) => nearest_rank(durations, percent).copied(),
            Figure::Mean => mean(durations),
        };
        Self { limit: limit.to_string(), value, holds: value.map(|value| limit.holds(value)) }
    }
}

/// Rounded up, so that a mean above a limit is never said to be on it.
fn mean(durations: &[i64]) -> Option<i64> {
    let sum: i128 = durations.iter().map(|ns| i128::from(*ns)).sum();
    let count = i128::try_from(durations.len()).ok().filter(|count| *count > 0)?;
    i64::try_from((sum + count - 1).div_euclid(count)).ok()
}
