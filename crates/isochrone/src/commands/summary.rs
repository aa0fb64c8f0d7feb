//! `isochrone summary`: one page about an experiment. What is on it is in [`crate::render::summary`].

use std::io::{IsTerminal, Write};

use isochrone_analysis::{AnalysisKind, Options, Report};
use isochrone_crosshost::{Asked, Cluster, Requests, critical_path, messages, path, requests};
use isochrone_experiment::{
    Opened, Question, Spread, TimedHost, Times, extent, is_on_one_clock, recorded, reports,
};
use isochrone_export::html::Synchronization;
use isochrone_store::{Message, Store};
use isochrone_sync::output as files;
use isochrone_sync::sample::MessageSample;

use super::analyze::add_needs;
use super::answers::modelled;
use super::crosshost::window;
use super::view::{command_line, name_of};
use super::{check_output, host_selection, index, named, open_named};
use crate::ExitStatus;
use crate::arguments::Summary;
use crate::output::{self, tell};
use crate::render::plain::Plain;
use crate::render::summary::{Found, ROWS, page};
use crate::render::sync_page;
use crate::shared::corrections;

/// Links with pictures, most: the page of `isochrone sync --html` has more.
const MOST_LINKS: usize = 6;

/// What is asked of the traces, in one pass.
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

pub(crate) fn run(arguments: &Summary, quiet: bool) -> anyhow::Result<ExitStatus> {
    match &arguments.output {
        Some(path) => {
            let (sync, store) = (arguments.clock.sync.as_slice(), arguments.store.as_slice());
            check_output(path, &[&arguments.traces[..], sync, store].concat())?;
        }
        None => anyhow::ensure!(
            !std::io::stdout().is_terminal(),
            "a page is no text for a terminal: name a file with -o"
        ),
    }
    let named = named(&arguments.traces)?;
    let kept = arguments.store.as_deref();
    let (opened, ending) = open_named(&named, kept, arguments.clock.time_base()?, quiet)?;
    let experiment = opened.experiment();
    let consequence = ": what goes from one to the other is not followed";
    let (hosts, ending) =
        host_selection::chosen(&opened, &experiment, &arguments.hosts, consequence, ending, quiet)?;
    let whole = extent(hosts.iter().copied());
    let times = host_selection::times([arguments.begin, arguments.end, None], whole)?;
    let spread = Spread { threads: arguments.threads, pieces: None };
    let (reports, events, here) = analysed(&hosts, times, spread, quiet)?;
    let (store, ending) = index::store(&named, kept, &opened, spread, ending.max(here), quiet)?;
    let cluster = Cluster::open(&store, &hosts, opened.clocks())?;
    let window = window(times, whole.unwrap_or_default());
    let is_synchronized = is_on_one_clock(&hosts);
    let asked = Asked { of: Requests::Outermost, window, only_sums: true };
    let requests = requests(&cluster, &asked)?;
    let slowest = requests.iter().max_by_key(|it| (it.duration(), std::cmp::Reverse(it.number)));
    let slowest = match slowest.cloned() {
        Some(mut request) => {
            request.path = path(&cluster, &request)?;
            Some(request)
        }
        None => None,
    };
    let found = Found {
        name: name_of(&arguments.traces),
        command: command_line(&arguments.traces, &arguments.clock),
        range: reports.iter().find_map(|report| report.range).map(|[begin, end]| (begin, end)),
        hosts: &hosts,
        events,
        reports,
        cluster: &cluster,
        critical_path: critical_path(&cluster, &requests, false, is_synchronized),
        messages: messages(&cluster, window, false, is_synchronized)?,
        requests,
        slowest,
        synchronization: synchronization(arguments, &opened, &hosts, &store)?,
    };
    let html = page(found).to_html();
    match &arguments.output {
        Some(path) => files::write(path, html.as_bytes())?,
        None => {
            output::print(|stdout| Ok(stdout.write_all(html.as_bytes())?))?;
        }
    }
    if let (Some(path), false) = (&arguments.output, quiet) {
        tell!("note: {} is for any browser", Plain(path.display()));
    }
    Ok(ending)
}

/// The reports of all analyses, and how many events were read.
fn analysed(
    hosts: &[&TimedHost<'_>],
    times: Times,
    spread: Spread,
    quiet: bool,
) -> anyhow::Result<(Vec<Report>, u64, ExitStatus)> {
    let options = Options { top: Some(ROWS), by_process: true, ..Options::default() };
    let question = Question { kinds: &KINDS, options: &options, times, periods: None };
    let (modelled, ending) = modelled(&question, hosts, spread, quiet)?;
    let mut reports = reports(&modelled, &options, spread);
    add_needs(&mut reports, &recorded(hosts));
    Ok((reports, modelled.iter().map(|host| host.report.events).sum(), ending))
}

/// How the clocks were put on one; nothing where they were not, or where nobody has written down how.
fn synchronization(
    arguments: &Summary,
    opened: &Opened,
    hosts: &[&TimedHost<'_>],
    store: &Store,
) -> anyhow::Result<Option<Synchronization>> {
    let Some(clocks) = opened.clocks() else { return Ok(None) };
    let Some(artefact) = corrections(opened, &arguments.clock, || Ok(store.clocks()?))? else {
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
    store.messages(|Message { sent, received }| {
        if let (Some(sender), Some(receiver)) = (number(sent.host), number(received.host)) {
            sample.add(&isochrone_sync::matching::Message {
                sender,
                sent: sent.at,
                receiver,
                received: received.at,
            });
        }
    })?;
    Ok(Some(sync_page::of(&artefact, clocks, &sample, Some, MOST_LINKS)?))
}
