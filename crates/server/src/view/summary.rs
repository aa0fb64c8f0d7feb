//! The answer of `/api/experiment` when an experiment is ready.

use std::path::PathBuf;

use isochrone_analysis::{TIMELINE, lacking};
use isochrone_corrections::artefact::{BreakEntry, BreakKind};
use isochrone_time::{RawNs, SinceOrigin, Window};
use isochrone_timing::{is_on_one_clock, recorded};
use serde::Serialize;
use serde_json::{Value, json};

use super::overview::ClockBreak;
use super::{Clock, ExperimentView, HostView};

/// A host and its clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HostSummary {
    host: usize,
    pub(crate) name: String,
    row: Option<u32>,
    island: Option<usize>,
    pub(crate) is_reference: bool,
    /// Likely error in the middle of the trace.
    pub(crate) likely_ns: Option<i64>,
    /// Half of the guaranteed interval there.
    pub(crate) sure_ns: Option<i64>,
    begin: SinceOrigin,
    end: SinceOrigin,
    cpus: Vec<u32>,
    /// Its trace directories.
    traces: Vec<PathBuf>,
    shift_ns: i64,
}

impl ExperimentView<'_> {
    /// All hosts and their clocks.
    pub(crate) fn host_summaries(&self) -> Vec<HostSummary> {
        let of_host = |(index, host): (usize, &HostView<'_>)| {
            let middle = host.range.start + (host.range.end - host.range.start) / 2;
            let stamp = host.timing.stamp(middle);
            let clock = host.timing.clock();
            let shift =
                self.at(index, middle, Clock::Own).saturating_since(self.at(index, middle, Clock::Common));
            HostSummary {
                host: index,
                name: host.name.clone(),
                row: self.rows.of_host(index),
                island: stamp.island,
                is_reference: clock.is_some_and(|clock| clock.entry.host == clock.reference),
                likely_ns: stamp.e95,
                sure_ns: stamp.bounds_around().map(|(lo, hi)| hi.saturating_sub(lo) / 2),
                begin: self.at(index, host.range.start, Clock::Common),
                end: self.at(index, host.range.end, Clock::Common),
                cpus: host.store.entry().cpus.clone(),
                traces: host.timed.traced.traces().iter().map(|trace| trace.path().to_owned()).collect(),
                shift_ns: shift,
            }
        };
        self.hosts.iter().enumerate().map(of_host).collect()
    }

    /// Whether all hosts are on one clock.
    pub(crate) fn is_synchronized(&self) -> bool {
        is_on_one_clock(&self.timed_hosts())
    }

    /// Breaks of all clocks.
    pub(crate) fn breaks(&self) -> Vec<ClockBreak> {
        let of_host = |(index, host): (usize, &HostView<'_>)| {
            let breaks = host.timing.clock().map(|clock| clock.entry.breaks.as_slice()).unwrap_or_default();
            let entry = |it: &BreakEntry| ClockBreak {
                host: index,
                at: self.at(index, RawNs(it.raw_ns), Clock::Common),
                text: match it.kind {
                    BreakKind::Step => format!("{}: its clock was set by {} ns", host.name, it.size_ns),
                    BreakKind::Slew => format!("{}: its rate changed by {} ppm", host.name, it.size_ppm),
                },
            };
            breaks.iter().map(entry).collect::<Vec<_>>()
        };
        self.hosts.iter().enumerate().flat_map(of_host).collect()
    }

    /// The whole answer, but for its stage.
    pub(crate) fn summary(&self, name: &str, paths: &[PathBuf]) -> Value {
        let own = |end: fn(&Window<RawNs>) -> RawNs| {
            let hosts = self.hosts.iter().enumerate();
            hosts.map(move |(index, host)| self.at(index, end(&host.range), Clock::Own))
        };
        let own = own(|range| range.start).min().zip(own(|range| range.end).max());
        let missing = lacking(&TIMELINE, &recorded(&self.timed_hosts()));
        let missing = missing.iter().map(|note| note.shown(|ns| ns.to_string()));
        let notes: Vec<String> = self.opened.inputs().notes.iter().cloned().chain(missing).collect();
        json!({
            "name": name,
            "version": env!("CARGO_PKG_VERSION"),
            "stage": null,
            "origin_unix_ns": self.origin.to_string(),
            "begin": self.extent.start,
            "end": self.extent.end,
            "own": own.map(|(begin, end)| json!({"begin": begin, "end": end})),
            "is_synchronized": self.is_synchronized(),
            "hosts": self.host_summaries(),
            "traces": paths,
            "command": self.command.of("view"),
            "notes": notes,
        })
    }
}
