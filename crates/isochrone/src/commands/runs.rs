//! `isochrone diff` and `isochrone check`: the requests of two runs against each other, and those of one
//! against limits.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use isochrone_analysis::{Options, lacking, nearest_rank};
use isochrone_crosshost::{
    Cluster, Request, RequestQuery, Requests, Run, compare, needs, phase_names, requests,
};
use isochrone_experiment::{Spread, TimeBase};
use isochrone_time::{UnixNs, Window};
use isochrone_timing::{extent, recorded};
use serde::Serialize;
use wildmatch::WildMatch;

use super::crosshost::window;
use super::reports::{ReportStyle, TEXT_ROWS};
use super::{host_selection, index, named, open_named};
use crate::arguments::{Check, Diff, Figure, Limit, OfRequests, ReportFormat, TableFormat};
use crate::output::{self, Console, note};
use crate::render::figures;
use crate::render::plain::Plain;

/// Compares two runs.
pub(crate) fn diff(arguments: &Diff, console: &Console) -> anyhow::Result<()> {
    let Diff { before, after, of, limit, format, table, threads } = arguments;
    let open = |path: &PathBuf, with: &mut dyn FnMut(Run<'_, '_>) -> anyhow::Result<()>| {
        with_run(&Opening { paths: std::slice::from_ref(path), of, threads: *threads, console }, |run| {
            with(run)
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

/// A run that is opened.
struct Opening<'a> {
    paths: &'a [PathBuf],
    of: &'a OfRequests,
    threads: Option<NonZeroUsize>,
    console: &'a Console,
}

/// Opens a run and its store, on one clock, and passes its requests on.
fn with_run(
    opening: &Opening<'_>,
    with: impl FnOnce(Run<'_, '_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Opening { paths, of, threads, console } = *opening;
    let named = named(paths)?;
    let opened = open_named(&named, None, TimeBase::Usual, console)?;
    let experiment = opened.experiment();
    let hosts = host_selection::choose(&opened, &experiment, &[], host_selection::NOT_FOLLOWED, console)?;
    let spread = Spread { threads, pieces: None };
    let store = index::store(&named, None, &opened, spread, console)?;
    let cluster = Cluster::open(&store, &hosts, opened.clocks())?;
    for missing in lacking(&needs("critical-path"), &recorded(&hosts)) {
        let paths = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        note!(console, "{}: {}", Plain(paths), Plain(missing.shown(|ns| figures::span(ns.into()))));
    }
    let found = chosen(&cluster, of, None, console)?;
    with(Run { cluster: &cluster, requests: &found })
}

/// The requests that were chosen, with the sums of their paths.
fn chosen(
    cluster: &Cluster<'_>,
    of: &OfRequests,
    window: Option<Window<UnixNs>>,
    console: &Console,
) -> anyhow::Result<Vec<Request>> {
    let of = match (&of.service, of.phases.as_slice()) {
        (Some(service), _) => Requests::Service(service.clone()),
        (None, []) => Requests::Outermost,
        (None, names) => {
            host_selection::note_unmatched("phase", names, &phase_names(cluster)?, console);
            Requests::Phases(names.iter().map(|name| WildMatch::new(name)).collect())
        }
    };
    Ok(requests(cluster, &RequestQuery { of, window, only_sums: true })?)
}

/// Holds figures of the requests of a run against limits.
pub(crate) fn check(arguments: &Check, console: &Console) -> anyhow::Result<()> {
    let Check { limits, of, format, sources } = arguments;
    let named = named(&sources.traces)?;
    let kept = sources.store.store.as_deref();
    let opened = open_named(&named, kept, sources.clock.time_base()?, console)?;
    let experiment = opened.experiment();
    let hosts = host_selection::choose(&opened, &experiment, &[], host_selection::NOT_FOLLOWED, console)?;
    let extent = extent(hosts.iter().copied()).unwrap_or_default();
    let times = host_selection::times([sources.window.begin, sources.window.end, None], Some(extent))?;
    let spread = Spread { threads: sources.store.threads, pieces: None };
    let store = index::store(&named, kept, &opened, spread, console)?;
    let cluster = Cluster::open(&store, &hosts, opened.clocks())?;
    for missing in lacking(&needs("critical-path"), &recorded(&hosts)) {
        note!(console, "{}", Plain(missing.shown(|ns| figures::span(ns.into()))));
    }
    let found = chosen(&cluster, of, window(times, extent), console)?;
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
