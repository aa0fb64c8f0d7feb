//! A host with its clock, and names of hosts.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use isochrone_analysis::Recorded;
use isochrone_corrections::{Clock, Clocks};
use isochrone_hosts::Host;
use isochrone_time::{RawNs, UnixNs};

use crate::stamp::{Stamp, Timing};

/// A host and its clock.
#[derive(Debug)]
pub struct TimedHost<'o> {
    /// Its traces, and what is missing of them.
    pub traced: Host<'o>,
    /// What its raw times mean. `None`: corrections are asked for, and there is none for its clock.
    pub timing: Option<Timing<'o>>,
    /// What the crate that opened it keeps with it; nothing is known of it here.
    pub kept: Option<Arc<dyn Any + Send + Sync>>,
}

impl<'o> TimedHost<'o> {
    /// A host, on the clock of its correction, or without `clocks` on its own. `keeps_all`: whether it stays
    /// on its own clock where it has no correction. Linear in the clocks of the corrections.
    pub fn new(traced: Host<'o>, clocks: Option<&'o Clocks>, keeps_all: bool) -> Self {
        let own = Timing::Own { offset_ns: traced.offset_ns };
        let timing = match clocks {
            None => Some(own),
            Some(clocks) => {
                let clock = traced.traces().iter().find_map(|trace| clocks.of_trace(trace));
                clock.map(Timing::Common).or(keeps_all.then_some(own))
            }
        };
        Self { traced, timing, kept: None }
    }

    /// What people call it: as the corrections do, which may know more hosts of its name.
    pub fn name(&self) -> &str {
        let clock = self.timing.and_then(Timing::clock);
        clock.map_or(&self.traced.name, |clock| &clock.entry.host)
    }

    /// What it recorded. Linear in the classes of events.
    pub fn recorded(&self) -> Recorded<'_> {
        let streams = self.traced.traces().iter().flat_map(|trace| &trace.schema().streams);
        let events = streams.flat_map(|stream| &stream.events).filter_map(|event| event.name.as_deref());
        Recorded {
            name: self.name(),
            events: events.collect(),
            has_nameless_programs: self.traced.has_nameless_programs(),
            has_nameless_calls: self.traced.has_nameless_calls(),
            absent: self.absent(),
        }
    }

    /// What is not there of what was recorded, in words; times are raw ns.
    fn absent(&self) -> Vec<String> {
        let parts = self.traced.parts().into_iter().map(|words| format!("a part of another trace: {words}"));
        let mut parts: Vec<String> = parts.collect();
        parts.extend(self.traced.notes().iter().map(ToString::to_string));
        parts
    }

    /// A raw time of its clock. `None` where its clock has no correction.
    pub fn stamp(&self, raw: RawNs) -> Option<Stamp> {
        self.timing.map(|timing| timing.stamp(raw))
    }

    /// The raw time of an instant: see [`Timing::raw`]. `None` where its clock has no correction.
    pub fn raw(&self, unix: UnixNs) -> Option<RawNs> {
        self.timing.map(|timing| timing.raw(unix))
    }
}

/// A name that no host has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no host is called `{name}`; there are {}", known.join(", "))]
pub struct UnknownHost {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
}

impl UnknownHost {
    /// For a name that is none of those that are known.
    pub fn new<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Self {
        Self { name: name.to_owned(), known: known.into_iter().map(str::to_owned).collect() }
    }
}

/// What hosts recorded.
pub fn recorded<'h>(hosts: &[&'h TimedHost<'_>]) -> Vec<Recorded<'h>> {
    hosts.iter().map(|host| host.recorded()).collect()
}

/// Checks that there are hosts of all names that are asked for.
///
/// # Errors
/// The first name that is none of those that are known.
pub fn check_names<'n>(
    asked: &[String],
    known: impl IntoIterator<Item = &'n str>,
) -> Result<(), UnknownHost> {
    let known: BTreeSet<&str> = known.into_iter().collect();
    match asked.iter().find(|name| !known.contains(name.as_str())) {
        Some(name) => Err(UnknownHost::new(name, known)),
        None => Ok(()),
    }
}

/// Whether the times of some hosts are all on one common clock, that of the reference of their island.
pub fn is_on_one_clock(hosts: &[&TimedHost<'_>]) -> bool {
    share_a_clock(hosts.iter().map(|host| host.timing.and_then(Timing::clock)))
}

/// Whether there are corrections, all of one island.
pub fn share_a_clock<'c>(clocks: impl Iterator<Item = Option<&'c Clock>>) -> bool {
    let islands: BTreeSet<Option<usize>> = clocks.map(|clock| Some(clock?.entry.island)).collect();
    islands.len() == 1 && !islands.contains(&None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        let check = |asked: &[&str], expect: Option<&str>| {
            let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
            let error = check_names(&asked, ["web", "app", "app"]).err();
            assert_eq!(error.map(|error| error.to_string()).as_deref(), expect, "{asked:?}");
        };
        check(&[], None);
        check(&["app", "web"], None);
        check(&["web", "db", "x"], Some("no host is called `db`; there are app, web"));
    }
}
