//! What `/api/experiment` says of an experiment that is ready.

use std::path::PathBuf;

use isochrone_analysis::{TIMELINE, lacking};
use isochrone_experiment::recorded;
use isochrone_sync::artefact::BreakKind;
use serde::Serialize;
use serde_json::{Value, json};

use super::overview::BreakShown;
use super::{Clock, Shown};

/// A host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HostShown {
    pub(crate) host: usize,
    pub(crate) name: String,
    pub(crate) row: Option<u32>,
    pub(crate) island: Option<usize>,
    pub(crate) is_reference: bool,
    pub(crate) likely_ns: Option<i64>,
    pub(crate) sure_ns: Option<i64>,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) cpus: Vec<u32>,
    pub(crate) shift_ns: i64,
}

impl Shown<'_> {
    /// All hosts.
    pub(crate) fn hosts_shown(&self) -> Vec<HostShown> {
        let of_host = |(place, host): (usize, &super::Host<'_, '_>)| {
            let middle = host.range.0 + (host.range.1 - host.range.0) / 2;
            let stamp = host.timing.stamp(middle);
            let clock = host.timing.clock();
            HostShown {
                host: place,
                name: host.name.clone(),
                row: self.rows.of_host(place),
                island: stamp.island,
                is_reference: clock.is_some_and(|clock| clock.entry.host == clock.reference),
                likely_ns: stamp.e95,
                sure_ns: stamp.bounds_around().map(|(lo, hi)| hi.saturating_sub(lo) / 2),
                begin: self.at(place, host.range.0, Clock::Common),
                end: self.at(place, host.range.1, Clock::Common),
                cpus: host.store.entry().cpus.clone(),
                shift_ns: self.at(place, middle, Clock::Own).saturating_sub(self.at(
                    place,
                    middle,
                    Clock::Common,
                )),
            }
        };
        self.hosts.iter().enumerate().map(of_host).collect()
    }

    /// Whether all hosts are on one clock.
    pub(crate) fn is_synchronized(&self) -> bool {
        let hosts: Vec<_> = self.hosts.iter().map(|host| host.timed).collect();
        isochrone_experiment::is_on_one_clock(&hosts)
    }

    /// Breaks of all clocks.
    pub(crate) fn breaks(&self) -> Vec<BreakShown> {
        let of_host = |(place, host): (usize, &super::Host<'_, '_>)| {
            let breaks = host.timing.clock().map(|clock| clock.entry.breaks.as_slice()).unwrap_or_default();
            let shown = |it: &isochrone_sync::artefact::BreakEntry| BreakShown {
                host: place,
                at: self.at(place, it.raw_ns, Clock::Common),
                text: match it.kind {
                    BreakKind::Step => format!("{}: its clock was set by {} ns", host.name, it.size_ns),
                    BreakKind::Slew => format!("{}: its rate changed by {} ppm", host.name, it.size_ppm),
                },
            };
            breaks.iter().map(shown).collect::<Vec<_>>()
        };
        self.hosts.iter().enumerate().flat_map(of_host).collect()
    }

    /// The whole answer, but for its stage.
    pub(crate) fn summary(&self, name: &str, paths: &[PathBuf]) -> Value {
        let own = |of: fn((i64, i64)) -> i64| {
            let ends = self.hosts.iter().enumerate();
            ends.map(move |(place, host)| self.at(place, of(host.range), Clock::Own))
        };
        let own = own(|range| range.0).min().zip(own(|range| range.1).max());
        let hosts: Vec<_> = self.hosts.iter().map(|host| host.timed).collect();
        let lacking = lacking(&TIMELINE, &recorded(&hosts));
        let lacking = lacking.iter().map(|note| note.shown(|ns| ns.to_string()));
        let notes: Vec<String> = self.opened.inputs().notes.iter().cloned().chain(lacking).collect();
        json!({
            "name": name,
            "version": env!("CARGO_PKG_VERSION"),
            "stage": null,
            "origin_unix_ns": self.origin.to_string(),
            "begin": self.extent.0,
            "end": self.extent.1,
            "own": own.map(|(begin, end)| json!({"begin": begin, "end": end})),
            "is_synchronized": self.is_synchronized(),
            "hosts": self.hosts_shown(),
            "messages": {
                "count": self.messages.all.len(),
                "inverted_own": self.messages.inverted_own,
                "inverted": self.messages.inverted,
            },
            "traces": paths,
            "command": self.command.of("view"),
            "notes": notes,
        })
    }
}
