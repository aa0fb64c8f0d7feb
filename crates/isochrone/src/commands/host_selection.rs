//! What is said of the choice of hosts and of their clocks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use isochrone_experiment::{
    Experiment, Opened, Selection, TimedHost, Times, Timing, UnknownHost, WrongTimes,
};
use isochrone_sync::RefusedKind;
use isochrone_sync::apply::{Clock, Clocks};
use wildmatch::WildMatch;

use crate::ExitStatus;
use crate::arguments::time::Given;
use crate::near::did_you_mean;
use crate::output::tell;
use crate::render::error_summary::Errors;
use crate::render::plain::{Plain, plain};
use crate::render::{complaints, figures, time};

/// Says which host is which, where several have one name and are told apart by numbers behind it.
pub(super) fn tell_names<'h, 'o: 'h>(hosts: impl IntoIterator<Item = &'h TimedHost<'o>>, quiet: bool) {
    for host in hosts.into_iter().filter(|_| !quiet) {
        let shared = host.name().split_once('#').map(|(name, _)| name);
        let shared = shared.filter(|name| host.traced.hostnames.iter().any(|own| own == name));
        if let (Some(name), Some(trace)) = (shared, host.traced.traces().first()) {
            let (name, numbered, path) = (plain(name), plain(host.name()), Plain(trace.path().display()));
            tell!("note: several hosts are called {name}; {numbered} is the one of {path}");
        }
    }
}

/// The hosts of an experiment that are asked for (all, where none are named), with what is to be said of those that are left out, of
/// their names and of their clocks. `consequence`: what it means for what is shown that no messages tie some of them.
///
/// # Errors
/// There is no host of a name, or nothing is left.
pub(crate) fn chosen<'e, 'o>(
    opened: &'o Opened,
    experiment: &'e Experiment<'o>,
    names: &[String],
    consequence: &str,
    mut ending: ExitStatus,
    quiet: bool,
) -> anyhow::Result<(Vec<&'e TimedHost<'o>>, ExitStatus)> {
    for trace in experiment.left_out() {
        tell!("warning: {}: no clock stamps its events; left out", Plain(trace.path().display()));
        ending = ExitStatus::Partly;
    }
    let Selection { hosts, uncorrected } = experiment.select(names).map_err(|error| unknown_host(&error))?;
    for host in uncorrected {
        ending = ending.max(leave_out_unsynchronized(&host.traced.name));
    }
    anyhow::ensure!(!hosts.is_empty(), OTHER_CLOCKS);
    tell_names(hosts.iter().copied(), quiet);
    let clocks = hosts.iter().filter_map(|host| host.timing.and_then(Timing::clock));
    ending = ending.max(tell_clocks(opened, clocks, consequence, quiet));
    Ok((hosts, ending))
}

/// Why nothing is left where corrections are asked for.
pub(super) const OTHER_CLOCKS: &str = "the corrections are of other clocks than those of these traces";

/// Why there are no bounds to show.
pub(super) const NO_BOUNDS: &str =
    "--bounds: a host's own clock has no bounds; name the traces of several hosts, or a --sync FILE";

/// No host has a name. Names of hosts come from traces.
pub(super) fn unknown_host(UnknownHost { name, known }: &UnknownHost) -> anyhow::Error {
    let known: Vec<_> = known.iter().map(|name| plain(name)).collect();
    anyhow::anyhow!("no host is called `{}`; there are {}", plain(name), known.join(", "))
}

/// Says that something is left out because nobody knows how to correct its clock.
pub(super) fn leave_out_unsynchronized(what: impl Display) -> ExitStatus {
    tell!("warning: {}: no correction for its clock is known; left out", Plain(what));
    ExitStatus::Partly
}

/// Says what the times of some hosts are worth, where they are on a common clock: with what bound they were synchronized on the
/// way, and which hosts no messages tie to the others. `consequence`: what that means for what is shown.
pub(super) fn tell_clocks<'c>(
    opened: &'c Opened,
    shown: impl IntoIterator<Item = &'c Clock>,
    consequence: &str,
    quiet: bool,
) -> ExitStatus {
    let Some(clocks) = opened.clocks() else { return ExitStatus::Done };
    let mut islands: BTreeMap<usize, BTreeMap<usize, &Clock>> = BTreeMap::new();
    for clock in shown {
        islands.entry(clock.entry.island).or_default().insert(clock.number, clock);
    }
    let several: Vec<Vec<&Clock>> =
        islands.into_values().map(|island| island.into_values().collect()).collect();
    let refused = opened.synchronized().map_or(&[][..], |made| &made.refused);
    for refused in refused.iter().filter(|refused| refused.what != RefusedKind::Trace) {
        complaints::show_refused(std::slice::from_ref(refused), "warning");
    }
    if opened.is_synchronized() && !quiet {
        for island in several.iter().filter(|island| island.iter().any(|clock| !is_reference(clock))) {
            tell!("note: {}", synchronized(island, clocks));
        }
    }
    if several.len() < 2 {
        return ExitStatus::Done;
    }
    // Where several are tied to each other, it is to be seen to which.
    let shown = |island: &Vec<&Clock>| match island.len() {
        1 => listed(island),
        _ => format!("({})", listed(island)),
    };
    let names: Vec<String> = several.iter().map(shown).collect();
    tell!(
        "warning: no usable chain of messages ties {} together{consequence}",
        names.join(if several.len() == 2 { " and " } else { "; " })
    );
    if !quiet && let Some(made) = opened.synchronized() {
        complaints::show_advice(&made.advice);
    }
    ExitStatus::Partly
}

/// How many hosts are named; the rest is counted.
const MOST_NAMED: usize = 8;

fn listed(island: &[&Clock]) -> String {
    let names: Vec<String> = island.iter().map(|clock| plain(&clock.entry.host).into_owned()).collect();
    figures::listed(&names, MOST_NAMED)
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

/// Says which patterns no name fits, and which names are near.
pub(super) fn tell_unmatched<'p>(
    what: &str,
    patterns: impl IntoIterator<Item = &'p String>,
    known: &BTreeSet<String>,
) {
    for pattern in patterns {
        let asked = WildMatch::new(pattern);
        if !known.iter().any(|name| asked.matches(name)) {
            let near = did_you_mean(pattern, known.iter().map(String::as_str));
            tell!("note: no {what} in the traces is called `{}`{}", plain(pattern), plain(&near));
        }
    }
}

/// The times that are asked for, of traces that hold these.
pub(super) fn times(given: [Option<Given>; 3], extent: Option<(i128, i128)>) -> anyhow::Result<Times> {
    let mut times = [None; 3];
    for (time, given) in times.iter_mut().zip(given) {
        let begin = extent.map(|(first, _)| first);
        *time = given.map(|given| given.unix_ns(begin)).transpose().map_err(anyhow::Error::msg)?;
    }
    let [begin, end, at] = times;
    Times::new(times, extent).map_err(|wrong| match wrong {
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
    })
}
