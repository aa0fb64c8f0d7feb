//! Analyses across hosts: `critical-path`, `accounting` and the like, from the store of the traces.

use std::cmp::Reverse;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;
use isochrone_analysis::{Options, Report};
use isochrone_crosshost::{
    Cluster, Request, RequestQuery, Requests, ThreadRef, accounting, blocking, bottleneck, conversation,
    critical_path, dot, ipc, messages, named_paths, path, phase_names, requests, thread_path, wait_tree,
};
use isochrone_experiment::{Opened, Spread, TimeBase};
use isochrone_time::{UnixNs, Window};
use isochrone_timing::{
    SOME_STEPS, TimedHost, Times, TooManySteps, check_names, extent, is_on_one_clock, recorded, step_length,
    steps,
};
use wildmatch::WildMatch;

use super::analysis::{add_lacks, add_needs, thread_filter};
use super::named_spans::{self, NamedSpan};
use super::reports::{ReportStyle, TEXT_ROWS};
use super::{Named, host_selection, index, named, open_named};
use crate::arguments::time::TimeArg;
use crate::arguments::{
    AcrossHosts, Blocking, CriticalPath, CrossHost, HostNumber, Messages, OfRequests, Sources, TableFormat,
};
use crate::output::{self, Console, note};
use crate::render::{complaints, drawing, figures, plain::plain};

/// The store of the hosts, and what of it is analysed.
pub(super) struct Store<'c, 'o> {
    pub(super) cluster: &'c Cluster<'o>,
    pub(super) hosts: &'c [&'c TimedHost<'o>],
    times: Times,
    /// The requested times; `None`: all.
    pub(super) window: Option<Window<UnixNs>>,
    pub(super) is_synchronized: bool,
    console: &'c Console,
}

impl Store<'_, '_> {
    /// The requests that were chosen.
    pub(super) fn requests(&self, of: &OfRequests, only_sums: bool) -> anyhow::Result<Vec<Request>> {
        let of = match (&of.service, of.phases.as_slice()) {
            (Some(service), _) => Requests::Service(service.clone()),
            (None, []) => Requests::Outermost,
            (None, names) => {
                let known = phase_names(self.cluster)?;
                host_selection::note_unmatched("phase", names, &known, self.console);
                Requests::Phases(names.iter().map(|name| WildMatch::new(name)).collect())
            }
        };
        Ok(requests(self.cluster, &RequestQuery { of, window: self.window, only_sums })?)
    }
}

pub(crate) fn run(analysis: &CrossHost, console: &Console) -> anyhow::Result<()> {
    match analysis {
        CrossHost::CriticalPath(arguments) => critical_path_of(arguments, console),
        CrossHost::Bottleneck(arguments) => across(&arguments.common, console, |store| {
            let (cluster, window) = (store.cluster, store.window);
            let query = RequestQuery { window, only_sums: true, ..RequestQuery::default() };
            let requests = requests(cluster, &query)?;
            let every = steps_of(arguments.every, store.times, store.hosts)?;
            Ok(Some(bottleneck(cluster, window, &requests, every, store.is_synchronized)?))
        }),
        CrossHost::Accounting(common) => across(common, console, |store| {
            Ok(Some(accounting(store.cluster, store.window, store.is_synchronized)?))
        }),
        CrossHost::Blocking(arguments) => blocking_of(arguments, console),
        CrossHost::Ipc(arguments) => across(&arguments.common, console, |store| {
            report_or_graph(arguments.dot, ipc(store.cluster, store.window, store.is_synchronized)?)
        }),
        CrossHost::Messages(arguments) => across(&arguments.common, console, |store| {
            let Messages { follow, common } = &**arguments;
            anyhow::ensure!(
                follow.len() <= 2,
                "--follow takes one address, or two with a comma between them"
            );
            let (cluster, window, is_synchronized) = (store.cluster, store.window, store.is_synchronized);
            Ok(Some(match follow.as_slice() {
                [] => messages(cluster, window, has_log(common, "messages"), is_synchronized)?,
                ends => conversation(cluster, window, ends, is_synchronized)?,
            }))
        }),
    }
}

/// The length of steps of some hosts: as asked for, else some dozens of them.
///
/// # Errors
/// They are too many.
pub(super) fn steps_of(
    asked: Option<u64>,
    times: Times,
    hosts: &[&TimedHost<'_>],
) -> Result<u64, TooManySteps> {
    let every = step_length(asked, times, hosts.iter().copied(), SOME_STEPS);
    for (host, timing) in hosts.iter().filter_map(|host| Some((host, host.timing?))) {
        steps(every, times, host, timing)?;
    }
    Ok(every)
}

fn critical_path_of(arguments: &CriticalPath, console: &Console) -> anyhow::Result<()> {
    let CriticalPath { of, request, thread, span, common } = arguments;
    let Opening { traces, kept, base, window, threads } = Opening::of(&common.sources)?;
    let named = named(traces)?;
    let opened = open_named(&named, kept, base, console)?;
    let spans = span.as_ref().map(|id| named_spans::of_id(id, &opened, console)).transpose()?;
    with_store_of(&named, &opened, (kept, window, threads), console, |store| {
        let cluster = store.cluster;
        // Steps are many: as text they are shown if their table is named.
        let has_steps = common.format != TableFormat::Text || common.table.is_some();
        let found = match (&spans, thread) {
            (Some(spans), _) => paths_of_spans(store, spans, has_steps)?,
            (None, Some(name)) => {
                // The whole time, unless a part is requested.
                let window = store.window.or_else(|| cluster.range());
                let window = window.context("the traces have no events")?;
                vec![thread_path(cluster, party(cluster, name, window.end)?, window)?]
            }
            (None, None) => store.requests(of, !has_steps)?,
        };
        let report = critical_path(cluster, &found, has_steps, store.is_synchronized);
        let drawn = match request {
            Some(number) => Some(
                found
                    .iter()
                    .find(|request| request.number == *number)
                    .with_context(|| format!("there are {} requests, and no number {number}", found.len()))?,
            ),
            None => found.iter().max_by_key(|request| (request.duration(), Reverse(request.number))),
        };
        let is_drawn = common.format == TableFormat::Text && common.table.is_none();
        if let Some(request) = drawn.filter(|_| is_drawn) {
            let mut request = request.clone();
            request.path = path(cluster, &request)?;
            output::print(|stdout| drawing::draw(cluster, &found, &request, stdout))?;
        }
        show(report, common, store)
    })
}

/// The paths of the threads of spans, of those of which it is known; the others are counted.
fn paths_of_spans(
    store: &Store<'_, '_>,
    spans: &[NamedSpan],
    has_paths: bool,
) -> anyhow::Result<Vec<Request>> {
    let cluster = store.cluster;
    let (mut parts, mut of_no_thread, mut not_ended, mut not_traced) = (Vec::new(), 0, 0, 0);
    for NamedSpan { name, host, tid, start, end } in spans {
        // It may have begun before its thread was first seen.
        let at = cluster.range().map_or(*start, |range| range.start.max(*start));
        let named = |tid| cluster.host_named(host).and_then(|host| cluster.thread_at(host, tid, at));
        let thread = tid.map(named);
        match (thread, end) {
            (Some(Some(party)), &Some(end)) => {
                let all = store.window.unwrap_or(Window::new(*start, end));
                if all.start <= end && *start <= all.end {
                    let part = Window::new(all.start.max(*start), all.end.min(end));
                    parts.push((name.as_str().into(), party, part));
                }
            }
            (None, _) => of_no_thread += 1,
            (Some(None), _) => not_traced += 1,
            (_, None) => not_ended += 1,
        }
    }
    for (count, what) in [
        (of_no_thread, "do not say which thread they are of (`isochrone.tid`, docs/otlp.md)"),
        (not_traced, "are of threads that the traces of their hosts do not have"),
        (not_ended, "have no end"),
    ] {
        if count > 0 {
            let of = figures::plural(spans.len(), "span");
            note!(store.console, "{count} of {of} {what}: left out");
        }
    }
    let inside = if store.window.is_some() { " in the window" } else { "" };
    anyhow::ensure!(!parts.is_empty(), "--span: no thread can be followed{inside}");
    Ok(named_paths(cluster, parts, has_paths)?)
}

fn blocking_of(arguments: &Blocking, console: &Console) -> anyhow::Result<()> {
    let Blocking { of, dot, tree, common } = arguments;
    let filter = thread_filter(of);
    across(common, console, |store| {
        let is_shown = |party: ThreadRef| {
            let cluster = store.cluster;
            let (tid, pid) = (cluster.tid(party), cluster.pid(party));
            filter.keeps_thread(cluster.host_name(party.host), tid, pid, cluster.comm(party))
        };
        if *tree {
            return Ok(Some(wait_tree(store.cluster, store.window, is_shown, store.is_synchronized)?));
        }
        let has_log = !dot && has_log(common, "waits");
        let report = blocking(store.cluster, store.window, is_shown, has_log, store.is_synchronized)?;
        report_or_graph(*dot, report)
    })
}

/// Prints a report as a graph, if that is requested; else returns it.
fn report_or_graph(is_graph: bool, report: Report) -> anyhow::Result<Option<Report>> {
    if !is_graph {
        return Ok(Some(report));
    }
    output::print(|stdout| Ok(stdout.write_all(dot(&report).as_bytes())?))?;
    Ok(None)
}

/// Whether a report has its log: for programs always, as text if its table is named.
fn has_log(arguments: &AcrossHosts, table: &str) -> bool {
    match &arguments.table {
        // A heading may be that of the log.
        Some(name) => {
            name.eq_ignore_ascii_case(table) || name.contains(' ') || arguments.format != TableFormat::Text
        }
        None => arguments.format != TableFormat::Text,
    }
}

/// The thread that had a number at an instant.
fn party(cluster: &Cluster<'_>, name: &HostNumber, at: UnixNs) -> anyhow::Result<ThreadRef> {
    let hosts = match &name.host {
        Some(host) => {
            let index = cluster.host_named(host);
            vec![index.with_context(|| format!("no host is called `{}`", plain(host)))?]
        }
        None => (0..cluster.len()).collect(),
    };
    let found: Vec<ThreadRef> =
        hosts.iter().filter_map(|&host| cluster.thread_at(host, name.number, at)).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let end = cluster.range().map_or(at, |range| range.end);
            let starts_later = hosts.iter().any(|&host| cluster.thread_at(host, name.number, end).is_some());
            let later = if starts_later { " before the end of the window" } else { "" };
            anyhow::bail!("no thread {} is in the traces{later}", name.number)
        }
        _ => {
            let names: Vec<String> = found
                .iter()
                .map(|party| format!("{}:{}", plain(cluster.host_name(party.host)), name.number))
                .collect();
            anyhow::bail!("several hosts have a thread {}: name one of {}", name.number, names.join(", "))
        }
    }
}

/// The requested times of traces of an extent; `None`: all.
pub(super) fn window(times: Times, (first, last): (UnixNs, UnixNs)) -> Option<Window<UnixNs>> {
    let is_limited = times.start.is_some() || times.end.is_some();
    is_limited.then(|| Window::new(times.start.unwrap_or(first), times.end.unwrap_or(last + 1)))
}

/// Opens the traces that were named and their store, analyses them, and prints the report.
fn across(
    arguments: &AcrossHosts,
    console: &Console,
    analyse: impl FnOnce(&Store<'_, '_>) -> anyhow::Result<Option<Report>>,
) -> anyhow::Result<()> {
    with_store(Opening::of(&arguments.sources)?, console, |store| {
        let Some(report) = analyse(store)? else { return Ok(()) };
        show(report, arguments, store)
    })
}

/// A store that was named, a window, and a number of threads.
type Chosen<'a> = (Option<&'a Path>, [Option<TimeArg>; 2], Option<NonZeroUsize>);

/// What is opened, and how.
pub(super) struct Opening<'a> {
    pub(super) traces: &'a [PathBuf],
    /// A store of them that was named in addition.
    pub(super) kept: Option<&'a Path>,
    pub(super) base: TimeBase,
    pub(super) window: [Option<TimeArg>; 2],
    pub(super) threads: Option<NonZeroUsize>,
}

impl<'a> Opening<'a> {
    pub(super) fn of(sources: &'a Sources) -> anyhow::Result<Self> {
        Ok(Self {
            traces: &sources.traces,
            kept: sources.store.store.as_deref(),
            base: sources.clock.time_base()?,
            window: [sources.window.begin, sources.window.end],
            threads: sources.store.threads,
        })
    }
}

/// Opens traces and their store, and passes it on.
pub(super) fn with_store<T>(
    opening: Opening<'_>,
    console: &Console,
    with: impl FnOnce(&Store<'_, '_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let named = named(opening.traces)?;
    let opened = open_named(&named, opening.kept, opening.base, console)?;
    with_store_of(&named, &opened, (opening.kept, opening.window, opening.threads), console, with)
}

/// As [`with_store`], of traces that are open.
pub(super) fn with_store_of<T>(
    named: &Named,
    opened: &Opened,
    (kept, [begin, end], threads): Chosen<'_>,
    console: &Console,
    with: impl FnOnce(&Store<'_, '_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let experiment = opened.experiment();
    let hosts = host_selection::choose(opened, &experiment, &[], host_selection::NOT_FOLLOWED, console)?;
    let times = host_selection::times([begin, end, None], &hosts)?;
    let spread = Spread { threads, pieces: None };
    let store = index::store(named, kept, opened, spread, console)?;
    for host in &hosts {
        complaints::of_host(host, console);
    }
    let cluster = Cluster::open(&store, &hosts, opened.clocks())?;
    let window = window(times, extent(hosts.iter().copied()).unwrap_or_default());
    let is_synchronized = is_on_one_clock(&hosts);
    with(&Store { cluster: &cluster, hosts: &hosts, times, window, is_synchronized, console })
}

/// Prints a report.
fn show(mut report: Report, arguments: &AcrossHosts, store: &Store<'_, '_>) -> anyhow::Result<()> {
    let AcrossHosts { sort, limit, format, table, hosts: of_hosts, sources } = arguments;
    let Store { hosts, console, .. } = *store;
    if !of_hosts.is_empty() {
        check_names(of_hosts, hosts.iter().map(|host| host.name()))
            .map_err(|error| host_selection::unknown_host(&error))?;
        report.tables.iter_mut().for_each(|table| table.keep_hosts(of_hosts));
    }
    let spread = Spread { threads: sources.store.threads, pieces: None };
    let style = ReportStyle {
        format: *format,
        table: table.as_deref(),
        sort: sort.as_deref(),
        has_bounds: false,
        threads: spread.threads(),
    };
    style.check(std::slice::from_ref(&report))?;
    let is_text = *format == TableFormat::Text;
    if is_text && sort.is_none() {
        // The slowest and the most expensive first.
        for table in report.tables.iter_mut().filter(|table| table.name == "requests") {
            let _ = table.sort("total_ns") || table.sort("cpu_ns");
            (table.is_top, table.by_time) = (true, None);
        }
    }
    report.sort_and_limit(&Options {
        limit: limit.filter(|&limit| limit > 0),
        top: (is_text && limit.is_none()).then_some(TEXT_ROWS),
        sort: sort.clone(),
        ..Options::default()
    });
    let mut reports = [report];
    let recorded = recorded(hosts);
    add_lacks(&mut reports, &recorded, *format);
    add_needs(&mut reports, &recorded);
    style.print(&reports, None, hosts.len(), console)
}
