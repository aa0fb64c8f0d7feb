//! Questions across hosts: `critical-path`, `accounting` and the like. Each is answered from the store of the traces.

use std::io::Write;

use anyhow::Context;
use isochrone_analysis::{Options, Report};
use isochrone_crosshost::{
    Asked, Cluster, Party, Requests, accounting, blocking, critical_path, dot, ipc, messages, path,
    phase_names, requests, thread_path,
};
use isochrone_experiment::{Spread, Times, extent, is_on_one_clock, recorded};
use wildmatch::WildMatch;

use super::analyze::add_needs;
use super::reports::{Shown, TEXT_ROWS};
use super::{host_selection, index, named, open_named};
use crate::ExitStatus;
use crate::arguments::{
    AcrossHosts, Blocking, CriticalPath, CrossHost, Ipc, Messages, TableFormat, ThreadName,
};
use crate::output;
use crate::render::{drawing, plain::plain};

/// The times that are asked for, Unix ns.
type Window = Option<(i64, i64)>;

pub(crate) fn run(asked: &CrossHost, quiet: bool) -> anyhow::Result<ExitStatus> {
    match asked {
        CrossHost::CriticalPath(asked) => critical_path_of(asked, quiet),
        CrossHost::Accounting(asked) => across(&asked.common, quiet, |cluster, window, is_synchronized| {
            Ok(Some(accounting(cluster, window, is_synchronized)?))
        }),
        CrossHost::Blocking(asked) => blocking_of(asked, quiet),
        CrossHost::Ipc(asked) => ipc_of(asked, quiet),
        CrossHost::Messages(asked) => messages_of(asked, quiet),
    }
}

fn critical_path_of(arguments: &CriticalPath, quiet: bool) -> anyhow::Result<ExitStatus> {
    across(&arguments.common, quiet, |cluster, window, is_synchronized| {
        // They are many: people name the one that they want.
        let has_steps = arguments.common.format != TableFormat::Text || arguments.common.table.is_some();
        let found = match &arguments.thread {
            Some(name) => vec![thread_path(cluster, party(cluster, name)?, span(cluster, window)?)?],
            None => {
                let of = match (&arguments.service, arguments.phases.as_slice()) {
                    (Some(service), _) => Requests::Service(service.clone()),
                    (None, []) => Requests::Outermost,
                    (None, names) => {
                        Requests::Phases(names.iter().map(|name| WildMatch::new(name)).collect())
                    }
                };
                if !arguments.phases.is_empty() {
                    host_selection::tell_unmatched("phase", &arguments.phases, &phase_names(cluster)?);
                }
                requests(cluster, &Asked { of, window, only_sums: !has_steps })?
            }
        };
        let report = critical_path(cluster, &found, has_steps, is_synchronized);
        let drawn =
            match arguments.request {
                Some(number) => {
                    let request = found.iter().find(|request| request.number == number);
                    Some(request.with_context(|| {
                        format!("there are {} requests, and no number {number}", found.len())
                    })?)
                }
                None => {
                    found.iter().max_by_key(|request| (request.duration(), std::cmp::Reverse(request.number)))
                }
            };
        let is_drawn = arguments.common.format == TableFormat::Text && arguments.common.table.is_none();
        if let Some(request) = drawn.filter(|_| is_drawn) {
            let mut request = request.clone();
            request.path = path(cluster, &request)?;
            output::print(|stdout| drawing::draw(cluster, &found, &request, stdout))?;
        }
        Ok(Some(report))
    })
}

fn blocking_of(asked: &Blocking, quiet: bool) -> anyhow::Result<ExitStatus> {
    let names: Vec<WildMatch> = asked.procnames.iter().map(|name| WildMatch::new(name)).collect();
    across(&asked.common, quiet, |cluster, window, is_synchronized| {
        let is_asked = |party: Party| {
            let comm = || cluster.comm(party);
            (asked.tids.is_empty() || cluster.tid(party).is_some_and(|tid| asked.tids.contains(&tid)))
                && (asked.pids.is_empty() || cluster.pid(party).is_some_and(|pid| asked.pids.contains(&pid)))
                && (names.is_empty()
                    || comm().is_some_and(|comm| names.iter().any(|name| name.matches(comm))))
        };
        let has_log = !asked.dot && has_log(&asked.common, "waits");
        shown_as(asked.dot, blocking(cluster, window, is_asked, has_log, is_synchronized)?)
    })
}

fn ipc_of(asked: &Ipc, quiet: bool) -> anyhow::Result<ExitStatus> {
    across(&asked.common, quiet, |cluster, window, is_synchronized| {
        shown_as(asked.dot, ipc(cluster, window, is_synchronized)?)
    })
}

/// Prints a report as a graph, if that is asked for; else gives it back.
fn shown_as(is_graph: bool, report: Report) -> anyhow::Result<Option<Report>> {
    if !is_graph {
        return Ok(Some(report));
    }
    output::print(|stdout| Ok(stdout.write_all(dot(&report).as_bytes())?))?;
    Ok(None)
}

fn messages_of(asked: &Messages, quiet: bool) -> anyhow::Result<ExitStatus> {
    across(&asked.common, quiet, |cluster, window, is_synchronized| {
        Ok(Some(messages(cluster, window, has_log(&asked.common, "messages"), is_synchronized)?))
    })
}

/// Whether a table with a row for each of many things is wanted: programs get it, people if they name it.
fn has_log(arguments: &AcrossHosts, table: &str) -> bool {
    match &arguments.table {
        Some(asked) => asked == table || arguments.format != TableFormat::Text,
        None => arguments.format != TableFormat::Text,
    }
}

/// The thread of a name.
fn party(cluster: &Cluster<'_>, name: &ThreadName) -> anyhow::Result<Party> {
    let hosts = match &name.host {
        Some(host) => {
            let place = cluster.host_named(host);
            vec![place.with_context(|| format!("no host is called `{}`", plain(host)))?]
        }
        None => (0..cluster.len()).collect(),
    };
    let found: Vec<Party> = hosts.iter().filter_map(|&host| cluster.thread_of(host, name.tid)).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => anyhow::bail!("no thread {} is in the traces", name.tid),
        _ => {
            let names: Vec<String> = found
                .iter()
                .map(|party| format!("{}:{}", plain(cluster.host_name(party.host)), name.tid))
                .collect();
            anyhow::bail!("several hosts have a thread {}: name one of {}", name.tid, names.join(", "))
        }
    }
}

/// The whole time, unless a part is asked for.
fn span(cluster: &Cluster<'_>, window: Window) -> anyhow::Result<(i64, i64)> {
    window.or_else(|| cluster.range()).context("the traces have no events")
}

/// The times that are asked for, of traces that hold these.
pub(super) fn window(times: Times, (first, last): (i128, i128)) -> Window {
    let bound =
        |time: Option<i128>, otherwise: i128| time.unwrap_or(otherwise).clamp(0, i64::MAX.into()) as i64;
    let is_asked = times.begin.is_some() || times.end.is_some();
    is_asked.then(|| (bound(times.begin, first), bound(times.end, last + 1)))
}

/// Opens what was named and its store, asks, and prints the report.
fn across(
    arguments: &AcrossHosts,
    quiet: bool,
    ask: impl FnOnce(&Cluster<'_>, Window, bool) -> anyhow::Result<Option<Report>>,
) -> anyhow::Result<ExitStatus> {
    let named = named(&arguments.traces)?;
    let kept = arguments.store.as_deref();
    let (opened, ending) = open_named(&named, kept, arguments.clock.time_base()?, quiet)?;
    let experiment = opened.experiment();
    let consequence = ": what goes from one to the other is not followed";
    let (hosts, ending) = host_selection::chosen(&opened, &experiment, &[], consequence, ending, quiet)?;
    let (first, last) = extent(hosts.iter().copied()).unwrap_or_default();
    let times = host_selection::times([arguments.begin, arguments.end, None], Some((first, last)))?;
    let window = window(times, (first, last));
    let spread = Spread { threads: arguments.threads, pieces: None };
    let (store, ending) = index::store(&named, kept, &opened, spread, ending, quiet)?;
    let cluster = Cluster::open(&store, &hosts, opened.clocks())?;
    let Some(mut report) = ask(&cluster, window, is_on_one_clock(&hosts))? else { return Ok(ending) };
    let shown = Shown {
        format: arguments.format,
        table: arguments.table.as_deref(),
        sort: arguments.sort.as_deref(),
        has_bounds: false,
        threads: spread.threads(),
    };
    shown.check(std::slice::from_ref(&report))?;
    let is_text = arguments.format == TableFormat::Text;
    if is_text && arguments.sort.is_none() {
        // The slowest and the dearest first: people look for these.
        for table in report.tables.iter_mut().filter(|table| table.name == "requests") {
            let _ = table.sort("total_ns") || table.sort("cpu_ns");
            (table.is_top, table.by_time) = (true, None);
        }
    }
    report.arrange(&Options {
        limit: arguments.limit.filter(|&limit| limit > 0),
        top: (is_text && arguments.limit.is_none()).then_some(TEXT_ROWS),
        sort: arguments.sort.clone(),
        ..Options::default()
    });
    let mut reports = [report];
    add_needs(&mut reports, &recorded(&hosts));
    shown.print(&reports, None, hosts.len(), quiet)?;
    Ok(ending)
}
