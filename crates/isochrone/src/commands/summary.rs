//! `isochrone summary`: a page about an experiment, and `isochrone overview`: a screen. Their content
//! is in [`crate::render::summary`].

use std::io::{IsTerminal, Write};

use isochrone_analysis::{AnalysisKind, Options, Report};
use isochrone_crosshost::{
    Cluster, RequestQuery, Requests, bottleneck, critical_path, disk_accesses, lives, messages, path,
    requests,
};
use isochrone_experiment::{Opened, Question, Spread, reports};
use isochrone_export::html::{MAX_LIVES, Synchronization};
use isochrone_files::output as files;
use isochrone_matching::sample::MessageSample;
use isochrone_store::{Message, Store};
use isochrone_timing::{TimedHost, Times, extent, is_on_one_clock, recorded};

use super::analysis::add_needs;
use super::answers::modelled;
use super::crosshost::{steps_of, window};
use super::view::{command_line, name_of};
use super::{check_output, host_selection, index, named, open_named};
use crate::arguments::{Clock, Overview, Sources, Summary};
use crate::output::{self, Console, note};
use crate::render::plain::Plain;
use crate::render::summary::{Findings, ROWS, page, screen};
use crate::render::sync_page;
use crate::shared::corrections;

/// Maximum number of links with pictures: the page of `isochrone sync --html` has more.
const MAX_LINKS: usize = 6;

/// Steps of the lives of processes.
const STEPS: u32 = 150;

/// The analyses of the traces, in one pass.
const KINDS: [AnalysisKind; 8] = [
    AnalysisKind::Usage,
    AnalysisKind::CpuTop,
    AnalysisKind::IoUsageTop,
    AnalysisKind::IoLatencyTop,
    AnalysisKind::MemTop,
    AnalysisKind::SyscallStats,
    AnalysisKind::SchedStats,
    AnalysisKind::IrqStats,
];

pub(crate) fn run(arguments: &Summary, console: &Console) -> anyhow::Result<()> {
    let Summary { output, hosts: names, sources } = arguments;
    match output {
        Some(path) => check_output(path, &sources.inputs())?,
        None => anyhow::ensure!(
            !std::io::stdout().is_terminal(),
            "a page is not text for a terminal: name a file with -o"
        ),
    }
    find(names, sources, &KINDS, console, |findings| {
        let html = page(findings).to_html();
        let Some(path) = output else {
            return output::print(|stdout| Ok(stdout.write_all(html.as_bytes())?)).map(|_| ());
        };
        files::write(path, html.as_bytes())?;
        note!(console, "{} is for any browser", Plain(path.display()));
        Ok(())
    })
}

pub(crate) fn overview(arguments: &Overview, console: &Console) -> anyhow::Result<()> {
    let Overview { hosts: names, sources } = arguments;
    find(names, sources, &[AnalysisKind::CpuTop], console, |findings| {
        output::print(|stdout| Ok(screen::print(&findings, stdout)?)).map(|_| ())
    })
}

/// Finds out what is to be said of traces, by some analyses and by all that crosses hosts.
fn find(
    names: &[String],
    sources: &Sources,
    kinds: &[AnalysisKind],
    console: &Console,
    then: impl FnOnce(Findings<'_, '_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let named = named(&sources.traces)?;
    let kept = sources.store.store.as_deref();
    let opened = open_named(&named, kept, sources.clock.time_base()?, console)?;
    let experiment = opened.experiment();
    let hosts = host_selection::choose(&opened, &experiment, names, host_selection::NOT_FOLLOWED, console)?;
    let given = [sources.window.begin, sources.window.end, None];
    let times = host_selection::times(given, &hosts)?;
    let spread = Spread { threads: sources.store.threads, pieces: None };
    let (reports, events) = analysed(kinds, &hosts, times, spread, console)?;
    let store = index::store(&named, kept, &opened, spread, console)?;
    let cluster = Cluster::open(&store, &hosts, opened.clocks())?;
    let window = window(times, extent(hosts.iter().copied()).unwrap_or_default());
    let is_synchronized = is_on_one_clock(&hosts);
    let requests = requests(&cluster, &RequestQuery { of: Requests::Outermost, window, only_sums: true })?;
    let slowest = requests.iter().max_by_key(|it| (it.duration(), std::cmp::Reverse(it.number)));
    let slowest = match slowest.cloned() {
        Some(mut request) => {
            request.path = path(&cluster, &request)?;
            Some(request)
        }
        None => None,
    };
    then(Findings {
        name: name_of(&sources.traces),
        command: command_line(&sources.traces, &sources.clock),
        range: reports.iter().find_map(|report| report.range),
        hosts: &hosts,
        events,
        reports,
        cluster: &cluster,
        bottleneck: bottleneck(&cluster, window, &requests, steps_of(None, times, &hosts)?, is_synchronized)?,
        lives: lives(&cluster, window, STEPS, MAX_LIVES)?,
        accesses: disk_accesses(&cluster, window)?,
        critical_path: critical_path(&cluster, &requests, false, is_synchronized),
        messages: messages(&cluster, window, false, is_synchronized)?,
        requests,
        slowest,
        synchronization: synchronization(&sources.clock, &opened, &hosts, &store)?,
    })
}

/// The reports of all analyses, and the number of events.
fn analysed(
    kinds: &[AnalysisKind],
    hosts: &[&TimedHost<'_>],
    times: Times,
    spread: Spread,
    console: &Console,
) -> anyhow::Result<(Vec<Report>, u64)> {
    let options = Options { top: Some(ROWS), by_process: true, ..Options::default() };
    let question = Question { kinds, options: &options, times, periods: None };
    let modelled = modelled(&question, hosts, spread, console)?;
    let mut reports = reports(&modelled, &options, spread);
    add_needs(&mut reports, &recorded(hosts));
    Ok((reports, modelled.iter().map(|host| host.report.events).sum()))
}

/// The report of the synchronization; `None` where there was none, or there is no record of it.
fn synchronization(
    clock: &Clock,
    opened: &Opened,
    hosts: &[&TimedHost<'_>],
    store: &Store,
) -> anyhow::Result<Option<Synchronization>> {
    let Some(clocks) = opened.clocks() else { return Ok(None) };
    let Some(artefact) = corrections(opened, clock, || Ok(store.clocks()?))? else {
        return Ok(None);
    };
    let clock_of = |number: u32| {
        let entry = store.manifest().hosts.iter().find(|entry| entry.number == number)?;
        let host = hosts.iter().find(|host| host.traced.id == entry.id)?;
        Some(host.timing?.clock()?.number)
    };
    let clocks_of: Vec<Option<usize>> =
        store.manifest().hosts.iter().map(|entry| clock_of(entry.number)).collect();
    let number = |host: u32| clocks_of.get(host as usize).copied().flatten();
    let mut sample = MessageSample::default();
    store.messages(|Message { sent_host, sent_at, received_host, received_at, .. }| {
        if let (Some(sender), Some(receiver)) = (number(sent_host), number(received_host)) {
            sample.add(&isochrone_matching::Message {
                sender,
                sent: sent_at,
                receiver,
                received: received_at,
            });
        }
    })?;
    Ok(Some(sync_page::of(&artefact, clocks, &sample, Some, MAX_LINKS)?))
}
