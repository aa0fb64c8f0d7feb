//! Steps of time that begin at the same instants on all hosts.

use isochrone_analysis::Steps;
use isochrone_time::UnixNs;

use crate::host::TimedHost;
use crate::stamp::Timing;
use crate::window::{Times, extent};

/// More steps than these are a mistake: each of them has a row for every process.
pub const MOST_STEPS: u64 = 100_000;
/// Without another length, reports have at most so many steps.
pub const SOME_STEPS: u64 = 60;

/// How many steps there would be, where these are more than [`MOST_STEPS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{0} steps are too many: {MOST_STEPS} is the most")]
pub struct TooManySteps(pub u64);

/// How long each step is to be, ns: as asked for, else 1, 2 or 5 times a power of ten such that there are
/// `most` at most.
pub fn step_length<'h, 'o: 'h>(
    asked: Option<u64>,
    times: Times,
    hosts: impl IntoIterator<Item = &'h TimedHost<'o>>,
    most: u64,
) -> u64 {
    if let Some(asked) = asked {
        return asked.max(1);
    }
    let Some((first, last)) = extent(hosts) else { return 1 };
    let whole = times.end.unwrap_or(last).min(last) - times.start.unwrap_or(first).max(first);
    let powers = (0..18).map(|power| 10i128.pow(power));
    let round = powers.flat_map(|power| [power, 2 * power, 5 * power]);
    // One more than fit into the whole: it begins between two edges.
    let fits = |every: &i128| whole / every < i128::from(most);
    round.into_iter().find(fits).and_then(|every| u64::try_from(every).ok()).unwrap_or(u64::MAX)
}

/// The steps of a host: at whole multiples of their length since 1970, from the first that it has events in
/// to the last.
///
/// # Errors
/// They are more than [`MOST_STEPS`].
pub fn steps(
    every: u64,
    times: Times,
    host: &TimedHost<'_>,
    timing: Timing<'_>,
) -> Result<Steps, TooManySteps> {
    let Some((first, last)) = host.traced.extent() else {
        return Ok(Steps { every_ns: every, edges: Vec::new() });
    };
    let start = times.start.unwrap_or(UnixNs::MIN).max(timing.unix(first));
    let end = times.end.map_or(UnixNs::MAX, |end| end - 1).min(timing.unix(last));
    let every_ns = i128::from(every);
    let (from, to) = (start.0.div_euclid(every_ns), end.0.div_euclid(every_ns));
    let count = u64::try_from(to - from + 1).unwrap_or_default();
    if count > MOST_STEPS {
        return Err(TooManySteps(count));
    }
    let edge = |step: u64| timing.raw(UnixNs((from + i128::from(step)) * every_ns));
    let edges = if count == 0 { Vec::new() } else { (0..=count).map(edge).collect() };
    Ok(Steps { every_ns: every, edges })
}
