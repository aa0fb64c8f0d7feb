//! What commands that analyze share: the chosen hosts and options, notes on what was not recorded, how errors
//! and reports are shown.

use std::borrow::Cow;
use std::collections::BTreeSet;

use isochrone_analysis::{
    AnalysisKind, Calls, Filter, HostContext, Interrupts, Need, Note, OfHosts, Options, Recorded, Report,
    ThreadIdentity, lacking,
};
use isochrone_experiment::{Experiment, ModelError, Opened, Spread, add_bounds_of, scratch};
use isochrone_hosts::ReadReport;
use isochrone_kernel::calls::call_of_entry;
use isochrone_timing::{TimedHost, Times, Timing};
use wildmatch::WildMatch;

use super::host_selection;
use super::reports::{ReportStyle, TEXT_ROWS};
use crate::arguments::{Analyze, Applies, Decides, HostNumber, PHASES, STATES, TableFormat, Threads};
use crate::output::{Console, eprint_line, note, warning};
use crate::render::complaints;
use crate::render::plain::{Plain, plain};

/// Pieces that hold all spans, in messages.
pub(super) const SPANS: &str = "pieces with spans";

/// Number of rows of a distribution.
const BARS: usize = 20;

/// Refuses options that apply to none of the chosen analyses, and notes those that apply to some of them
/// only.
pub(super) fn check_options(arguments: &Analyze, chosen: &[&str], console: &Console) -> anyhow::Result<()> {
    // The format is checked with those of LAMI.
    for option in arguments.given.iter().filter(|option| option.applies != Applies::Lami) {
        if option.applies == Applies::Stores && arguments.at.is_some() {
            continue;
        }
        let unused: Vec<&str> = chosen.iter().copied().filter(|name| !option.applies.to(name)).collect();
        if unused.is_empty() {
            continue;
        }
        let (name, unused_by) = (option.name, unused.join(", "));
        anyhow::ensure!(
            unused.len() < chosen.len(),
            "{name} does not apply to {unused_by}; it applies to {}",
            option.applies.users()
        );
        note!(console, "{name} does not apply to {unused_by}");
    }
    Ok(())
}

/// The requested hosts and times.
pub(super) fn hosts<'e, 'o>(
    arguments: &Analyze,
    opened: &'o Opened,
    experiment: &'e Experiment<'o>,
    console: &Console,
) -> anyhow::Result<(Vec<&'e TimedHost<'o>>, Times)> {
    hosts_of(arguments, opened, experiment, true, console)
}

/// The same; `are_whole`: whether times outside of the traces are refused.
pub(super) fn hosts_of<'e, 'o>(
    arguments: &Analyze,
    opened: &'o Opened,
    experiment: &'e Experiment<'o>,
    are_whole: bool,
    console: &Console,
) -> anyhow::Result<(Vec<&'e TimedHost<'o>>, Times)> {
    let consequence = host_selection::NOT_COMPARABLE;
    let hosts = host_selection::choose(opened, experiment, &arguments.hosts, consequence, console)?;
    let is_corrected = hosts.iter().any(|host| host.timing.and_then(Timing::clock).is_some());
    anyhow::ensure!(!arguments.bounds || is_corrected, host_selection::NO_BOUNDS);
    let given = [arguments.window.begin, arguments.window.end, arguments.at];
    let times = host_selection::times_of(given, &hosts, are_whole)?;
    Ok((hosts, times))
}

/// Adds notes on what was not recorded to reports, and bounds of times where they are requested.
pub(super) fn add_notes(
    arguments: &Analyze,
    reports: &mut [Report],
    recorded: &[Recorded<'_>],
    timings: &[(&str, Timing<'_>)],
) {
    // `watch` prints the same reports, and never has all of a host: what hosts lack is on stderr alone.
    add_needs(reports, recorded);
    if arguments.bounds {
        for report in reports.iter_mut() {
            add_bounds_of(report, timings.iter().copied());
        }
    }
    if arguments.limit.is_some() {
        // The limit decides how much of them is shown.
        for table in reports.iter_mut().flat_map(|report| &mut report.tables) {
            table.is_detail = false;
        }
    }
}

/// An error with the names of hosts, which come from traces, escaped.
pub(super) fn model_error(error: ModelError) -> anyhow::Error {
    match error {
        ModelError::Merge { host, source } => anyhow::Error::new(source)
            .context(format!("{}: the pieces of its trace do not fit", plain(&host))),
        ModelError::TooManySteps(_) => anyhow::anyhow!("--every: {error}"),
        ModelError::Uncorrected(_)
        | ModelError::Stopped(_)
        | ModelError::Chunks { .. }
        | ModelError::Scratch { .. } => {
            anyhow::anyhow!("{}", Plain(error))
        }
    }
}

/// How reports are printed.
pub(super) fn style(arguments: &Analyze) -> ReportStyle<'_> {
    ReportStyle {
        format: arguments.format,
        table: arguments.table.as_deref(),
        sort: arguments.sort.as_deref(),
        has_bounds: arguments.bounds,
        threads: Spread { threads: arguments.threads, pieces: None }.threads(),
    }
}

pub(super) fn options(arguments: &Analyze) -> Options {
    let is_text = arguments.format == TableFormat::Text;
    Options {
        filter: Filter {
            hosts: Vec::new(),
            cpus: arguments.cpus.iter().cloned().flatten().collect(),
            fds: arguments.fds.clone(),
            min_ns: arguments.min,
            max_ns: arguments.max,
            min_bytes: arguments.min_size,
            max_bytes: arguments.max_size,
            ..thread_filter(&arguments.of)
        },
        limit: arguments.limit.filter(|&limit| limit > 0),
        top: (is_text && arguments.limit.is_none()).then_some(TEXT_ROWS),
        sort: arguments.sort.clone(),
        by_process: arguments.by_process,
        interrupts: Interrupts { hard: arguments.irq.clone(), soft: arguments.softirq.clone() },
        calls: Calls {
            names: arguments.calls.iter().map(|name| WildMatch::new(name)).collect(),
            errors: arguments.errors.clone(),
            around: arguments.around,
        },
        bars: arguments.bars.unwrap_or(BARS),
        every_ns: arguments.every,
        linear: arguments.linear,
        periods: !arguments.periods.is_empty(),
        scratch: scratch(),
    }
}

/// The filter that selects threads alone.
pub(super) fn thread_filter(of: &Threads) -> Filter {
    let (tids, tids_of_hosts) = HostNumber::apart(&of.tids);
    let (pids, pids_of_hosts) = HostNumber::apart(&of.pids);
    Filter {
        tids,
        pids,
        of_hosts: OfHosts { tids: tids_of_hosts, pids: pids_of_hosts },
        names: of.procnames.iter().map(|name| WildMatch::new(name)).collect(),
        ..Filter::default()
    }
}

/// The events that a report needs.
fn needs(report: &str) -> Vec<Need> {
    match (AnalysisKind::of(report), report) {
        (Some(kind), _) => kind.needs().to_vec(),
        (None, STATES) => {
            use Need::{Calls, Dump, EveryCall, Interrupts, Switches, Wakeups, Waking};
            vec![Switches, Wakeups, Waking, Calls, EveryCall, Interrupts, Dump]
        }
        (None, PHASES) => vec![Need::Switches, Need::Wakeups, Need::Calls, Need::Threads],
        (None, other) => isochrone_crosshost::needs(other),
    }
}

/// Adds to each report what was not recorded for it, and how to record it.
pub(super) fn add_needs(reports: &mut [Report], hosts: &[Recorded<'_>]) {
    for report in reports {
        report.notes.extend(lacking(&needs(report.analysis), hosts));
    }
}

/// Adds to each report for programs what its hosts lack of what was recorded: they have no stderr.
pub(super) fn add_lacks(reports: &mut [Report], hosts: &[Recorded<'_>], format: TableFormat) {
    if format == TableFormat::Json {
        let notes: Vec<Note> = hosts.iter().flat_map(Recorded::notes).collect();
        for report in reports {
            report.notes.extend(notes.iter().cloned());
        }
    }
}

/// Notes names and numbers of threads and calls that the traces do not have.
pub(super) fn note_unmatched(
    arguments: &Analyze,
    hosts: &[Recorded<'_>],
    known: &[&dyn HostContext],
    console: &Console,
) {
    let Threads { tids, pids, procnames } = &arguments.of;
    if !arguments.calls.is_empty() {
        let call = |name: &str| call_of_entry(name).map(|(call, _)| call.to_owned());
        let calls: BTreeSet<String> =
            hosts.iter().flat_map(|host| &host.events).filter_map(|name| call(name)).collect();
        // That no calls were recorded is noted elsewhere.
        if !calls.is_empty() {
            host_selection::note_unmatched("system call", &arguments.calls, &calls, console);
        }
    }
    if console.is_quiet() || tids.is_empty() && pids.is_empty() && procnames.is_empty() {
        return;
    }
    let (mut known_tids, mut known_pids, mut names) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for host in known {
        for thread in host.threads() {
            let identity = ThreadIdentity::of(*host, thread);
            known_tids.extend(identity.tid.map(|tid| (host.name(), tid)));
            known_pids.extend(identity.pid.map(|pid| (host.name(), pid)));
            names.extend(identity.comm.map(Cow::into_owned));
        }
    }
    for (what, requested, known) in [("thread", tids, known_tids), ("process", pids, known_pids)] {
        let is_known = |it: &HostNumber| known.iter().any(|&(host, number)| it.is(host, number.into()));
        for number in requested.iter().filter(|number| !is_known(number)) {
            note!(console, "no {what} {} is in the traces", plain(&number.to_string()));
        }
    }
    host_selection::note_unmatched("thread", procnames, &names, console);
}

/// Reports what could not be read of a host, which makes the result partial, and losses that the tracer
/// recorded.
pub(super) fn report_missing(host: &TimedHost<'_>, report: &ReadReport, console: &Console) {
    report_undecodable(&host.traced.name, report, console);
    complaints::of_host(host, console);
}

/// Reports what could not be decoded of a host.
pub(super) fn report_undecodable(name: &str, report: &ReadReport, console: &Console) {
    const MAX_SHOWN: usize = 10;
    for diagnostic in report.diagnostics.iter().take(MAX_SHOWN) {
        warning!("{}", Plain(diagnostic));
    }
    if report.diagnostics.len() > MAX_SHOWN {
        eprint_line!("… and {} more of {}", report.diagnostics.len() - MAX_SHOWN, plain(name));
    }
    console.partial_if(report.broken_packets > 0);
}

/// Refuses options that decide what does not apply.
pub(super) fn refuse(to: &str, arguments: &Analyze, decides: Decides) -> anyhow::Result<()> {
    refuse_others(to, arguments, decides, &[])
}

/// As [`refuse`], but for some options that do apply.
pub(super) fn refuse_others(
    to: &str,
    arguments: &Analyze,
    decides: Decides,
    applicable: &[&str],
) -> anyhow::Result<()> {
    let mut options = arguments.given.iter().filter(|option| option.decides == decides);
    let Some(option) = options.find(|option| !applicable.contains(&option.name)) else { return Ok(()) };
    let why = match decides {
        Decides::Kept if to == SPANS => "they hold all of the traces: give it to `isochrone analyze`",
        Decides::Kept => "it is for reading traces: give it to `isochrone map`",
        Decides::Tables => "it is for tables: give it to `isochrone analyze`",
        Decides::Traces => "it needs the traces: give it to `isochrone analyze` with them",
        Decides::Neither => return Ok(()),
    };
    anyhow::bail!("{} does not apply to {to}: {why}", option.name)
}
