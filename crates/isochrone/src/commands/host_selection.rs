//! The choice of hosts, of the time range, and what is reported of both and of the hosts' clocks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use isochrone_corrections::artefact::RefusedKind;
use isochrone_corrections::{Clock, Clocks};
use isochrone_experiment::{Experiment, Opened, Selection};
use isochrone_time::UnixNs;
use isochrone_timing::{TimedHost, Times, Timing, UnknownHost, WrongTimes, extent, extent_of_events};
use wildmatch::WildMatch;

use crate::arguments::time::TimeArg;
use crate::output::{Console, note, warn_partial};
use crate::render::error_summary::Errors;
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures, time};
use crate::suggest::did_you_mean;

/// Consequence of clocks that cannot be compared, for tables of single hosts.
pub(crate) const NOT_COMPARABLE: &str = ": their times cannot be compared";

/// The same for what is followed from host to host.
pub(crate) const NOT_FOLLOWED: &str = ": what goes from one to the other is not followed";

/// Notes the trace of each host, where several have one name and are numbered.
pub(super) fn note_names<'h, 'o: 'h>(hosts: impl IntoIterator<Item = &'h TimedHost<'o>>, console: &Console) {
    for host in hosts {
        let shared = host.name().split_once('#').map(|(name, _)| name);
        let shared = shared.filter(|name| host.traced.hostnames.iter().any(|own| own == name));
        if let (Some(name), Some(trace)) = (shared, host.traced.traces().first()) {
            let (name, numbered, path) = (plain(name), plain(host.name()), Plain(trace.path().display()));
            note!(console, "several hosts are called {name}; {numbered} is the one of {path}");
        }
    }
}

/// The hosts of an experiment that are requested (all, where `names` is empty). Reports hosts that are left
/// out, names that are ambiguous, and clocks. `consequence`: of clocks that no messages tie together.
///
/// # Errors
/// There is no host of a name, or no host is left.
pub(crate) fn choose<'e, 'o>(
    opened: &'o Opened,
    experiment: &'e Experiment<'o>,
    names: &[String],
    consequence: &str,
    console: &Console,
) -> anyhow::Result<Vec<&'e TimedHost<'o>>> {
    for trace in experiment.left_out() {
        warn_partial!(console, "{}: no clock stamps its events; left out", Plain(trace.path().display()));
    }
    let Selection { hosts, uncorrected } = experiment.select(names).map_err(|error| unknown_host(&error))?;
    for host in uncorrected {
        warn_uncorrected(&host.traced.name, console);
    }
    anyhow::ensure!(!hosts.is_empty(), OTHER_CLOCKS);
    complaints::of_misfits(experiment, &hosts, console);
    note_names(hosts.iter().copied(), console);
    let clocks = hosts.iter().filter_map(|host| host.timing.and_then(Timing::clock));
    report_clocks(opened, clocks, consequence, console);
    Ok(hosts)
}

/// Why no host is left with corrections.
pub(super) const OTHER_CLOCKS: &str = "the corrections are of other clocks than those of these traces";

/// Why there are no bounds to show.
pub(super) const NO_BOUNDS: &str =
    "--bounds: a host's own clock has no bounds; name the traces of several hosts, or a --sync FILE";

/// No host has a name. Names of hosts come from traces.
pub(super) fn unknown_host(UnknownHost { name, known }: &UnknownHost) -> anyhow::Error {
    let known: Vec<_> = known.iter().map(|name| plain(name)).collect();
    anyhow::anyhow!("no host is called `{}`; there are {}", plain(name), known.join(", "))
}

/// Warns that something is left out because no correction of its clock is known.
pub(super) fn warn_uncorrected(what: impl Display, console: &Console) {
    warn_partial!(console, "{}: no correction for its clock is known; left out", Plain(what));
}

/// Reports the bounds of the clocks of some hosts, where they were synchronized by this command, and hosts
/// that no messages tie to the others.
pub(super) fn report_clocks<'c>(
    opened: &'c Opened,
    shown: impl IntoIterator<Item = &'c Clock>,
    consequence: &str,
    console: &Console,
) {
    let Some(clocks) = opened.clocks() else { return };
    let islands = islands_of(shown);
    let refused = opened.synchronized().map_or(&[][..], |outcome| &outcome.refused);
    for refused in refused.iter().filter(|refused| refused.what != RefusedKind::Trace) {
        complaints::show_refused(std::slice::from_ref(refused), "warning");
    }
    if opened.is_synchronized() {
        note_islands(&islands, clocks, "", console);
    }
    if warn_apart(&islands, consequence, console)
        && let Some(outcome) = opened.synchronized()
    {
        complaints::show_advice(&outcome.advice, console);
    }
}

/// Notes the bounds of clocks that this command has synchronized; `until` is put after each.
pub(super) fn note_synchronized(clocks: &Clocks, until: &str, console: &Console) {
    note_islands(&islands_of(clocks.iter()), clocks, until, console);
}

/// Warns of hosts that no messages tie to the others.
pub(super) fn warn_untied(clocks: &Clocks, consequence: &str, console: &Console) {
    warn_apart(&islands_of(clocks.iter()), consequence, console);
}

fn islands_of<'c>(shown: impl IntoIterator<Item = &'c Clock>) -> Vec<Vec<&'c Clock>> {
    let mut islands: BTreeMap<usize, BTreeMap<usize, &Clock>> = BTreeMap::new();
    for clock in shown {
        islands.entry(clock.entry.island).or_default().insert(clock.number, clock);
    }
    islands.into_values().map(|island| island.into_values().collect()).collect()
}

fn note_islands(islands: &[Vec<&Clock>], clocks: &Clocks, until: &str, console: &Console) {
    for island in islands.iter().filter(|island| island.iter().any(|clock| !is_reference(clock))) {
        note!(console, "{}{until}", synchronized(island, clocks));
    }
}

/// Whether there are several islands, which it warns of.
fn warn_apart(islands: &[Vec<&Clock>], consequence: &str, console: &Console) -> bool {
    if islands.len() < 2 {
        return false;
    }
    let shown = |island: &Vec<&Clock>| match island.len() {
        1 => listed(island),
        _ => format!("({})", listed(island)),
    };
    let names: Vec<String> = islands.iter().map(shown).collect();
    warn_partial!(
        console,
        "no usable chain of messages ties {} together{consequence}",
        names.join(if islands.len() == 2 { " and " } else { "; " })
    );
    true
}

/// Maximum number of hosts that are named; the rest is counted.
const MAX_NAMED: usize = 8;

fn listed(island: &[&Clock]) -> String {
    let names: Vec<String> = island.iter().map(|clock| plain(&clock.entry.host).into_owned()).collect();
    figures::listed(&names, MAX_NAMED)
}

fn is_reference(clock: &Clock) -> bool {
    clock.entry.host == clock.reference
}

/// `times of 3 hosts are synchronized to the clock of h2; worst bound ± 332.7 µs (h1)`
fn synchronized(island: &[&Clock], clocks: &Clocks) -> String {
    let reference = island.first().map_or("", |clock| clock.reference.as_str());
    let whose = match island {
        [one] => plain(&one.entry.host).into_owned(),
        several => figures::plural(several.len(), "host"),
    };
    let corrected = || island.iter().filter(|clock| !is_reference(clock));
    let errors = corrected().filter(|clock| clock.proven).map(|clock| (Errors::of(clock, clocks), clock));
    let worst = errors.max_by_key(|(errors, clock)| (errors.worst, std::cmp::Reverse(clock.number)));
    let bound = worst.map_or(String::new(), |(errors, clock)| {
        let steps = if errors.at_steps.is_some() { ", except around steps of a clock" } else { "" };
        format!("; worst bound ± {} ({}{steps})", figures::duration(errors.worst), plain(&clock.entry.host))
    });
    let unproven: Vec<&Clock> = corrected().filter(|clock| !clock.proven).copied().collect();
    let unproven = match unproven.as_slice() {
        [] => String::new(),
        some => format!("; nothing is guaranteed for {}", listed(some)),
    };
    format!("times of {whose} are synchronized to the clock of {}{bound}{unproven}", plain(reference))
}

/// Notes patterns that no name matches, with similar names.
pub(super) fn note_unmatched<'p>(
    what: &str,
    patterns: impl IntoIterator<Item = &'p String>,
    known: &BTreeSet<String>,
    console: &Console,
) {
    for pattern in patterns {
        let parsed = WildMatch::new(pattern);
        if !known.iter().any(|name| parsed.matches(name)) {
            let near = did_you_mean(pattern, known.iter().map(String::as_str));
            note!(console, "no {what} in the traces is called `{}`{}", plain(pattern), plain(&near));
        }
    }
}

/// When some hosts were traced: from the first to the last event, where these can be read.
pub(super) struct Traced {
    events: Option<(UnixNs, UnixNs)>,
    /// The same, or that of the packets where no event can be read.
    extent: Option<(UnixNs, UnixNs)>,
}

impl Traced {
    pub(super) fn of(hosts: &[&TimedHost<'_>]) -> Self {
        let events = extent_of_events(hosts.iter().copied());
        Self { events, extent: events.or_else(|| extent(hosts.iter().copied())) }
    }

    /// An instant that was given in any form.
    ///
    /// # Errors
    /// It counts from an event, and none can be read.
    pub(super) fn instant(&self, given: Option<TimeArg>) -> anyhow::Result<Option<UnixNs>> {
        let unix = |given: TimeArg| match self.events {
            None => given.absolute(self.extent.map(|(start, _)| start)),
            events => given.unix(events),
        };
        given.map(unix).transpose().map_err(anyhow::Error::msg)
    }
}

/// The requested times of some hosts: `--begin`, `--end` and `--at`.
pub(super) fn times(given: [Option<TimeArg>; 3], hosts: &[&TimedHost<'_>]) -> anyhow::Result<Times> {
    times_of(given, hosts, true)
}

/// The same, where it is known whether the traces are whole: what is outside of one chunk of a session may be
/// in another.
pub(super) fn times_of(
    given: [Option<TimeArg>; 3],
    hosts: &[&TimedHost<'_>],
    are_whole: bool,
) -> anyhow::Result<Times> {
    if given == [None; 3] {
        return Ok(Times::default());
    }
    let traced = Traced::of(hosts);
    let [begin, end, at] = given.map(|given| traced.instant(given));
    let times = [begin?, end?, at?];
    Times::new(times, traced.extent.filter(|_| are_whole)).map_err(|wrong| wrong_times(times, wrong))
}

/// That times which are known are those of some hosts, as far as it is known when these were traced.
pub(super) fn check_times(Times { start, end, at }: Times, hosts: &[&TimedHost<'_>]) -> anyhow::Result<()> {
    let times = [start, end, at];
    if times != [None; 3] {
        Times::new(times, Traced::of(hosts).extent).map_err(|wrong| wrong_times(times, wrong))?;
    }
    Ok(())
}

fn wrong_times([begin, end, at]: [Option<UnixNs>; 3], wrong: WrongTimes) -> anyhow::Error {
    match wrong {
        WrongTimes::Empty => anyhow::anyhow!("--end is not after --begin"),
        WrongTimes::Outside { first, last } => {
            let shown = [("--begin", begin), ("--end", end), ("--at", at)]
                .into_iter()
                .filter_map(|(option, time)| Some(format!("{option} {}", time::full(time?))))
                .collect::<Vec<_>>()
                .join(", ");
            anyhow::anyhow!(
                "{shown}: outside the traces, which run from {} to {} {}",
                time::full(first),
                time::full(last),
                time::zone_name()
            )
        }
    }
}
