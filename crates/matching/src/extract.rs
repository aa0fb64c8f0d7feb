//! One pass over traces. [`survey`] collects what each of them holds and lacks; [`extract`] also decodes the
//! packets of the network and what shows who steers the clock.

use isochrone_ctf::Trace;
use isochrone_hosts::Progress;
use isochrone_net::Sighting;
use isochrone_time::RawNs;
use rayon::prelude::*;

use crate::chain::{Chain, Opening};
use crate::facts::{StreamFacts, TraceFacts};
use crate::rounds::PacketSource;
use crate::steering::StreamEvidence;
use crate::stream_source::{SourceReport, Stamped};
use crate::traffic::Traffic;

/// What all traces gave.
#[derive(Debug, Default)]
pub struct Extraction {
    /// By trace.
    pub facts: Vec<TraceFacts>,
    /// What each trace shows of the network.
    pub traffic: Vec<Traffic>,
    /// All sightings, by trace and stream.
    pub sightings: Vec<Sighting>,
}

/// Reads traces to their ends, several streams at a time; each comes with the index of its clock. Streams are
/// placed by the numbers of the traces in the list. Linear in the events; memory is proportional to the
/// sightings ([`crate::match_sources`] reads without keeping them).
pub fn extract(traces: &[(&Trace, usize)], progress: Progress<'_>) -> Extraction {
    let traces = numbered(traces);
    let opening = Opening { traces: &traces, first: &|_, _| 0, decode_packets: true, progress };
    let mut sources = opening.sources();
    let read = |source: &mut Chain<'_, '_>| {
        let mut out = Vec::new();
        source.read_until(RawNs::MAX, usize::MAX, &mut out);
        out
    };
    let sightings: Vec<Vec<Sighting>> = sources.par_iter_mut().map(read).collect();
    let TraceReports { facts, traffic, .. } = collect_reports(sources, traces.len());
    Extraction { facts, traffic, sightings: sightings.into_iter().flatten().collect() }
}

/// Reads traces as [`extract`] does, but no event's fields: what can be known without a look into the packets
/// of the network, which takes longer than all the rest on a host that talks much. Linear in the events;
/// memory does not depend on their number. `first`: by trace and stream, the packet where reading begins; an
/// earlier snapshot has those before it.
pub fn survey(
    traces: &[&Trace],
    first: &(dyn Fn(usize, usize) -> usize + Sync),
    progress: Progress<'_>,
) -> Vec<TraceFacts> {
    let traces: Vec<_> = traces.iter().map(|trace| (*trace, 0)).collect();
    let traces = numbered(&traces);
    let mut sources = Opening { traces: &traces, first, decode_packets: false, progress }.sources();
    sources.par_iter_mut().for_each(|source| {
        source.read_until(RawNs::MAX, usize::MAX, &mut Vec::new());
    });
    collect_reports(sources, traces.len()).facts
}

/// Traces by their numbers in a list.
fn numbered<'t>(traces: &[(&'t Trace, usize)]) -> Vec<Stamped<'t>> {
    let stamped = |(number, &(trace, clock)): (usize, &(&'t Trace, usize))| Stamped { trace, number, clock };
    traces.iter().enumerate().map(stamped).collect()
}

/// What sources reported of their traces, by trace.
#[derive(Debug, Default)]
pub(crate) struct TraceReports {
    pub(crate) facts: Vec<TraceFacts>,
    pub(crate) traffic: Vec<Traffic>,
    /// What the streams show of who steers the clock.
    pub(crate) steering: Vec<Vec<StreamEvidence>>,
}

/// Collects the reports of sources that have been read to their ends.
pub(crate) fn collect_reports(sources: Vec<Chain<'_, '_>>, traces: usize) -> TraceReports {
    let mut traffic = vec![Traffic::default(); traces];
    let mut streams: Vec<Vec<(usize, StreamFacts)>> = vec![Vec::new(); traces];
    let mut steering = vec![Vec::new(); traces];
    let mut reports: Vec<(usize, SourceReport)> = sources.into_iter().flat_map(Chain::into_reports).collect();
    reports.sort_by_key(|&(rank, _)| rank);
    for (_, report) in reports {
        traffic[report.index].join(report.traffic);
        steering[report.index].extend(report.steering);
        streams[report.index].extend(report.facts);
    }
    let in_order = |mut streams: Vec<(usize, StreamFacts)>| {
        streams.sort_by_key(|&(stream, _)| stream);
        TraceFacts { streams: streams.into_iter().map(|(_, facts)| facts).collect() }
    };
    TraceReports { facts: streams.into_iter().map(in_order).collect(), traffic, steering }
}
