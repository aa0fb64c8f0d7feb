//! What is said of the choice of hosts and of their clocks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use isochrone_experiment::{Opened, Times, UnknownHost, WrongTimes};
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
    if let Some(made) = opened.synchronized() {
        for refused in made.refused.iter().filter(|refused| refused.what != RefusedKind::Trace) {
            complaints::show_refused(std::slice::from_ref(refused), "warning");
        }
        if !quiet {
            for island in several.iter().filter(|island| island.iter().any(|clock| !is_reference(clock))) {
                tell!("note: {}", synchronized(island, clocks));
            }
        }
    }
    if several.len() < 2 {
        return ExitStatus::Done;
    }
    let names: Vec<String> = several.iter().map(|island| listed(island)).collect();
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
