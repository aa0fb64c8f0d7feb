//! `isochrone analyze`: questions about hosts. What is asked is in [`crate::arguments`], how tables look in
//! [`crate::render::tables`].

use std::borrow::Cow;
use std::collections::BTreeSet;

use isochrone_analysis::{
    AnalysisKind, Asks, Calls, Filter, HostContext, Interrupts, Need, Options, Recorded, Report,
    ThreadIdentity, lacking,
};
use isochrone_experiment::{
    Experiment, ModelError, Opened, Spread, TimedHost, Times, Timing, add_bounds_of, extent, recorded,
    scratch,
};
use isochrone_hosts::{Host, ReadReport};
use isochrone_kernel::calls::call_of_entry;
use wildmatch::WildMatch;

use super::answers::{Asked, answers};
use super::pieces::{self, PieceKind};
use super::reports::{Shown, TEXT_ROWS, check_scratch};
use super::{host_selection, lami, named, on_cluster, open_named, stored};
use crate::ExitStatus;
use crate::arguments::{Analyze, AnalyzeNamed, Names, PHASES, STATES, TableFormat};
use crate::output::tell;
use crate::render::complaints;
use crate::render::plain::{Plain, plain};

/// Rows of a distribution.
const BARS: usize = 20;

pub(crate) fn run(AnalyzeNamed { names, analyze }: &AnalyzeNamed, quiet: bool) -> anyhow::Result<ExitStatus> {
    match names {
        Names::Kinds(kinds) => analyse(analyze, kinds, quiet),
        stored @ (Names::States | Names::Phases) => stored::run(analyze, stored, quiet),
    }
}

/// The analyses that are read from a store, and what they can be asked.
const STORED: [(&str, &[Asks]); 2] =
    [(PHASES, &[Asks::Threads, Asks::Durations]), (STATES, &[Asks::Threads])];

/// Options that would change nothing are errors; those that change only some of the analyses are worth a note.
pub(super) fn check_options(arguments: &Analyze, chosen: &[&str], quiet: bool) -> anyhow::Result<()> {
    for (option, asks) in arguments.given.iter().filter_map(|it| Some((it.name, it.asks?))) {
        let users = AnalysisKind::ALL.iter().filter(|kind| kind.uses(asks)).map(|kind| kind.name());
        let stored = STORED.iter().filter(|(_, uses)| uses.contains(&asks)).map(|(name, _)| *name);
        let users: Vec<&str> = users.chain(stored).collect();
        let unused: Vec<&str> = chosen.iter().copied().filter(|name| !users.contains(name)).collect();
        if unused.is_empty() {
            continue;
        }
        let (users, unused_by) = (users.join(", "), unused.join(", "));
        anyhow::ensure!(
            unused.len() < chosen.len(),
            "{option} does not apply to {unused_by}; it applies to {users}"
        );
        if !quiet {
            tell!("note: {option} does not apply to {unused_by}");
        }
    }
    let is_states = chosen == [STATES];
    let is_stored = is_states || chosen == [PHASES];
    let of_some = [
        ("--pixels", arguments.pixels.is_some() && !is_states, STATES),
        (
            "--store",
            arguments.store.is_some() && !is_stored && arguments.at.is_none(),
            "phases, states, and to processes and fds with --at",
        ),
        ("--period", !arguments.periods.is_empty() && is_states, "all analyses but states"),
    ];
    if let Some((option, _, users)) = of_some.into_iter().find(|(_, is_wrong, _)| *is_wrong) {
        anyhow::bail!("{option} does not apply to {}; it applies to {users}", chosen.join(", "));
    }
    Ok(())
}

/// The hosts that are asked for, and the times.
pub(super) fn hosts<'e, 'o>(
    arguments: &Analyze,
    opened: &'o Opened,
    experiment: &'e Experiment<'o>,
    ending: ExitStatus,
    quiet: bool,
) -> anyhow::Result<(Vec<&'e TimedHost<'o>>, Times, ExitStatus)> {
    let consequence = ": their times cannot be compared";
    let (hosts, ending) =
        host_selection::chosen(opened, experiment, &arguments.hosts, consequence, ending, quiet)?;
    let is_corrected = hosts.iter().any(|host| host.timing.and_then(Timing::clock).is_some());
    anyhow::ensure!(!arguments.bounds || is_corrected, host_selection::NO_BOUNDS);
    let given = [arguments.begin, arguments.end, arguments.at];
    let times = host_selection::times(given, extent(hosts.iter().copied()))?;
    Ok((hosts, times, ending))
}

fn analyse(arguments: &Analyze, kinds: &[AnalysisKind], quiet: bool) -> anyhow::Result<ExitStatus> {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    check_options(arguments, &names, quiet)?;
    on_cluster::check(arguments)?;
    if lami::answer(arguments, &names)? {
        return Ok(ExitStatus::Done);
    }
    if pieces::kind(&arguments.traces)? == Some(PieceKind::Analyses) {
        return pieces::analyse(arguments, kinds, quiet);
    }
    let options = options(arguments);
    if arguments.at.is_none() && !arguments.around && arguments.periods.is_empty() {
        // These have other tables.
        shown(arguments).check(&isochrone_analysis::empty_reports(kinds, &options))?;
    }
    let named = named(&arguments.traces)?;
    let kept = arguments.store.as_deref();
    let (opened, ending) = open_named(&named, kept, arguments.clock.time_base()?, quiet)?;
    let experiment = opened.experiment();
    let (hosts, times, mut ending) = hosts(arguments, &opened, &experiment, ending, quiet)?;
    if arguments.test_compatibility {
        lami::check_compatible(kinds, &recorded(&hosts))?;
        return Ok(ending);
    }
    if arguments.cluster.cluster.is_some() {
        let (named, opened, hosts) = (&named, &opened, &hosts);
        let asked = on_cluster::Asked { arguments, kinds, named, opened, hosts, times, quiet };
        return on_cluster::analyse(&asked, ending);
    }
    let asked =
        Asked { arguments, named: &named, opened: &opened, options: &options, hosts: &hosts, times, quiet };
    let (mut reports, here) = answers(asked, kinds)?;
    ending = ending.max(here);
    let timings: Vec<(&str, Timing<'_>)> =
        hosts.iter().filter_map(|host| Some((host.name(), host.timing?))).collect();
    with_notes(arguments, &mut reports, &recorded(&hosts), &timings);
    shown(arguments).print(&reports, times.at, hosts.len(), quiet)?;
    check_scratch(&options.scratch, quiet)?;
    Ok(ending)
}

/// Adds to reports what was not recorded for them, and bounds of times where they are asked for.
pub(super) fn with_notes(
    arguments: &Analyze,
    reports: &mut [Report],
    recorded: &[Recorded<'_>],
    timings: &[(&str, Timing<'_>)],
) {
    add_needs(reports, recorded);
    if arguments.bounds {
        for report in reports.iter_mut() {
            add_bounds_of(report, timings.iter().copied());
        }
    }
    if arguments.limit.is_some() {
        // Then it has been said how much of them is wanted.
        for table in reports.iter_mut().flat_map(|report| &mut report.tables) {
            table.is_detail = false;
        }
    }
}

/// Names of hosts come from traces.
pub(super) fn in_words(error: ModelError) -> anyhow::Error {
    match error {
        ModelError::Merge { host, source } => anyhow::Error::new(source)
            .context(format!("{}: the pieces of its trace do not fit", plain(&host))),
        ModelError::TooManySteps(_) => anyhow::anyhow!("--every: {error}"),
        ModelError::Uncorrected(_) => anyhow::anyhow!("{}", Plain(error)),
    }
}

/// What of reports is to be printed, and how.
pub(super) fn shown(arguments: &Analyze) -> Shown<'_> {
    Shown {
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
            tids: arguments.tids.clone(),
            pids: arguments.pids.clone(),
            names: arguments.procnames.iter().map(|name| WildMatch::new(name)).collect(),
            cpus: arguments.cpus.iter().cloned().flatten().collect(),
            fds: arguments.fds.clone(),
            min_ns: arguments.min,
            max_ns: arguments.max,
            min_bytes: arguments.min_size,
            max_bytes: arguments.max_size,
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

/// What a report is made of.
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

/// Says of each report what was not recorded for it, and how to record it.
pub(super) fn add_needs(reports: &mut [Report], hosts: &[Recorded<'_>]) {
    for report in reports {
        report.notes.extend(lacking(&needs(report.analysis), hosts));
    }
}

/// Says which names are of nothing in the traces.
pub(super) fn tell_unmatched(arguments: &Analyze, hosts: &[Recorded<'_>], known: &[&dyn HostContext]) {
    if !arguments.calls.is_empty() {
        let call = |name: &str| call_of_entry(name).map(|(call, _)| call.to_owned());
        let calls: BTreeSet<String> =
            hosts.iter().flat_map(|host| &host.events).filter_map(|name| call(name)).collect();
        // Where no calls were recorded that has been said.
        if !calls.is_empty() {
            host_selection::tell_unmatched("system call", &arguments.calls, &calls);
        }
    }
    if arguments.tids.is_empty() && arguments.pids.is_empty() && arguments.procnames.is_empty() {
        return;
    }
    let (mut tids, mut pids, mut names) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for host in known {
        for thread in host.threads() {
            let who = ThreadIdentity::of(*host, thread);
            tids.extend(who.tid);
            pids.extend(who.pid);
            names.extend(who.comm.map(Cow::into_owned));
        }
    }
    for (what, asked, there) in [("thread", &arguments.tids, tids), ("process", &arguments.pids, pids)] {
        for number in asked.iter().filter(|number| !there.contains(number)) {
            tell!("note: no {what} {number} is in the traces");
        }
    }
    host_selection::tell_unmatched("thread", &arguments.procnames, &names);
}

/// Tells what could not be read of a host. Losses that the tracer recorded are notes; what this program could not read makes the
/// work partial.
pub(super) fn report_missing(host: &Host<'_>, report: &ReadReport, quiet: bool) -> ExitStatus {
    let ending = tell_missing(&host.name, report);
    complaints::of_host(host, quiet);
    ending
}

/// Tells what could not be decoded of a host.
pub(super) fn tell_missing(name: &str, report: &ReadReport) -> ExitStatus {
    const MOST: usize = 10;
    for diagnostic in report.diagnostics.iter().take(MOST) {
        tell!("warning: {}", Plain(diagnostic));
    }
    if report.diagnostics.len() > MOST {
        tell!("… and {} more of {}", report.diagnostics.len() - MOST, plain(name));
    }
    ExitStatus::partly_if(report.broken_packets > 0)
}
