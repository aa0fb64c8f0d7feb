//! What is said of the choice of hosts and of their clocks.

use std::fmt::Display;

use isochrone_experiment::{UnknownHost, islands};
use isochrone_sync::apply::Clock;

use crate::ExitStatus;
use crate::output::tell;
use crate::render::plain::{Plain, plain};

/// Why nothing is left where corrections are asked for.
pub(super) const OTHER_CLOCKS: &str = "the corrections are of other clocks than those of these traces";

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

/// Times of different islands cannot be compared. `consequence`: what that means for what is shown.
pub(super) fn warn_of_islands<'c>(clocks: impl Iterator<Item = &'c Clock>, consequence: &str) {
    let islands = islands(clocks);
    if islands.len() > 1 {
        tell!("warning: the hosts fall into {} islands{consequence}", islands.len());
    }
}
