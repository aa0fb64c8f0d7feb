//! Traces of which nothing can be used though they could be opened, and why: for [`mod@crate::synchronize`].

use isochrone_hosts::clocks::HostClock;

use crate::facts::TraceFacts;
use crate::input::Inputs;
use crate::refused::{Refused, RefusedKind};

/// Traces that no clock stamps, or none that can be used.
pub(crate) fn unclocked(inputs: &Inputs, clocks: &[HostClock]) -> Vec<Refused> {
    let without = inputs
        .traces
        .iter()
        .enumerate()
        .filter(|(index, _)| !clocks.iter().any(|c| c.traces.contains(index)));
    without
        .map(|(_, input)| {
            let why = match input.trace.schema().single_clock() {
                Some(clock) => format!("the offset of its clock `{}` does not fit 64 bits of ns", clock.name),
                None => "no clock stamps its events, or more than one does".to_owned(),
            };
            Refused { what: RefusedKind::Trace, name: input.path().display().to_string(), why }
        })
        .collect()
}

/// The traces of a clock without a usable time.
pub(crate) fn eventless(inputs: &Inputs, clock: &HostClock, facts: &[TraceFacts]) -> Vec<Refused> {
    let refuse = |&trace: &usize| {
        let why = match facts[trace].events() {
            0 => "it holds no events".to_owned(),
            events => format!("none of its {events} events has a time that fits 64 bits of ns"),
        };
        Refused { what: RefusedKind::Trace, name: inputs.traces[trace].path().display().to_string(), why }
    };
    clock.traces.iter().map(refuse).collect()
}
