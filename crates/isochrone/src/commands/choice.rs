//! Which hosts a command is about, and what is to be said of their clocks.

use std::collections::BTreeSet;
use std::fmt::Display;

use isochrone_sync::apply::Clock;

use crate::Ending;
use crate::output::tell;
use crate::render::plain::{Plain, plain};

/// Why nothing is left where corrections are asked for.
pub(super) const OTHER_CLOCKS: &str = "the corrections are of other clocks than those of these traces";

/// Checks that there are hosts of all names that are asked for.
pub(super) fn check_hosts<'n>(asked: &[String], known: impl Iterator<Item = &'n str>) -> anyhow::Result<()> {
    let known: BTreeSet<&str> = known.collect();
    if let Some(host) = asked.iter().find(|host| !known.contains(host.as_str())) {
        return Err(unknown_host(host, known));
    }
    Ok(())
}

/// No host has a name.
pub(super) fn unknown_host<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> anyhow::Error {
    let known: Vec<_> = known.into_iter().map(plain).collect();
    anyhow::anyhow!("no host is called `{}`; there are {}", plain(name), known.join(", "))
}

/// Says that something is left out because nobody knows how to correct its clock.
pub(super) fn leave_out_unsynchronized(what: impl Display) -> Ending {
    tell!("warning: {}: no correction for its clock is known; left out", Plain(what));
    Ending::Partly
}

/// Times of different islands cannot be compared. `consequence`: what that means for what is shown.
pub(super) fn warn_of_islands<'c>(clocks: impl Iterator<Item = &'c Clock>, consequence: &str) {
    let islands: BTreeSet<usize> = clocks.map(|clock| clock.entry.island).collect();
    if islands.len() > 1 {
        tell!("warning: the hosts fall into {} islands{consequence}", islands.len());
    }
}
