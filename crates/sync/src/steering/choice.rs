//! `--clock`: what a user declares of clocks, instead of what the traces show.

use std::str::FromStr;

use isochrone_clock::{STEERED_PPM, Steering};

use super::decide::{Origin, decide, declared_changes};
use super::verdict::Verdict;
use crate::error::{SyncError, said_of};
use isochrone_hosts::clocks::HostClock;
use isochrone_matching::steering::StreamEvidence;
use isochrone_time::{RawNs, Window};

/// The greatest rate that can be named, ppm: that of a slew by `chronyd` at its start, and some more.
const MAX_STEERED_PPM: u32 = 100_000;

/// What is declared of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockChoice {
    /// No daemon steers it.
    Free,
    /// Its rate changes only by the calls that the traces show, or while a daemon runs.
    Calls,
    /// It is steered at any time, by this many ppm at most.
    Steered(u32),
    /// Nothing is known.
    Unknown,
}

impl FromStr for ClockChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "free" => Ok(Self::Free),
            None if text == "calls" => Ok(Self::Calls),
            None if text == "unknown" => Ok(Self::Unknown),
            None if text == "steered" => Ok(Self::Steered(STEERED_PPM)),
            Some(("steered", ppm)) => {
                let known = ppm.parse().ok().filter(|ppm| (1..=MAX_STEERED_PPM).contains(ppm));
                let ppm = known.ok_or_else(|| {
                    format!("`{ppm}` is not a whole number of ppm from 1 to {MAX_STEERED_PPM}")
                })?;
                Ok(Self::Steered(ppm))
            }
            _ => Err(format!("`{text}` is not one of free, calls, steered, steered:PPM and unknown")),
        }
    }
}

/// What is declared of each clock.
#[derive(Debug)]
pub(crate) struct Choices(Vec<Option<ClockChoice>>);

impl Choices {
    /// By clock.
    ///
    /// # Errors
    /// A name that no host has.
    pub(crate) fn new(
        clocks: &[HostClock],
        said: &[(Option<String>, ClockChoice)],
    ) -> Result<Self, SyncError> {
        said_of(clocks, said).map(Self)
    }

    /// By clock: whether it is declared that no daemon steers it.
    pub(crate) fn declared_free(&self) -> Vec<bool> {
        self.0.iter().map(|choice| *choice == Some(ClockChoice::Free)).collect()
    }

    /// What is assumed of a clock: what is declared, else what its traces show.
    ///
    /// # Errors
    /// Its rate is declared to change by calls alone, and its traces show neither calls nor daemons.
    pub(crate) fn verdict(
        &self,
        index: usize,
        clock: &HostClock,
        origin: Origin,
        traces: Vec<Vec<StreamEvidence>>,
        span: Window<RawNs>,
    ) -> Result<Verdict, SyncError> {
        let said = |steering| Ok(Verdict::always(steering, "--clock says so".to_owned()));
        match self.0.get(index).copied().flatten() {
            None => Ok(decide(origin, traces, span)),
            Some(ClockChoice::Free) => said(Steering::Free),
            Some(ClockChoice::Steered(ppm)) => said(Steering::Steered { ppm }),
            Some(ClockChoice::Unknown) => said(Steering::Unknown),
            Some(ClockChoice::Calls) => {
                let none = || SyncError::NoCalls(clock.host.clone());
                let changes = declared_changes(traces).ok_or_else(none)?;
                Ok(Verdict { changes, ..said(Steering::Stepwise)? })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        let check = |text: &str, expect: Option<ClockChoice>| {
            assert_eq!(text.parse::<ClockChoice>().ok(), expect, "{text}");
        };
        check("free", Some(ClockChoice::Free));
        check("calls", Some(ClockChoice::Calls));
        check("steered", Some(ClockChoice::Steered(500)));
        check("steered:20", Some(ClockChoice::Steered(20)));
        check("unknown", Some(ClockChoice::Unknown));
        for wrong in ["", "Free", "steered:", "steered:0", "steered:100001", "steered:1.5", "free:1"] {
            check(wrong, None);
        }
    }

    #[test]
    fn what_is_said_of_a_host_counts_more() {
        let clocks: Vec<HostClock> =
            ["a", "b", "c"].map(|name| HostClock::named(name.to_owned(), Vec::new())).into();
        let check = |said: &[(Option<&str>, ClockChoice)], expect: [Option<ClockChoice>; 3]| {
            let said: Vec<_> = said.iter().map(|&(host, choice)| (host.map(str::to_owned), choice)).collect();
            assert_eq!(Choices::new(&clocks, &said).unwrap().0, expect);
        };
        let (free, calls, unknown) = (ClockChoice::Free, ClockChoice::Calls, ClockChoice::Unknown);
        check(&[], [None; 3]);
        check(&[(Some("b"), calls)], [None, Some(calls), None]);
        check(&[(Some("b"), calls), (None, free)], [Some(free), Some(calls), Some(free)]);
        check(&[(Some("b"), calls), (Some("b"), unknown)], [None, Some(unknown), None]);
        assert!(Choices::new(&clocks, &[(Some("d".to_owned()), free)]).is_err());
    }
}
