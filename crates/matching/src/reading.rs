//! Reading all traces and captures of some clocks side by side: their messages, and what else one pass over
//! them shows.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use isochrone_corrections::artefact::{Refused, RefusedKind};
use isochrone_ctf::{Diagnostic, Trace};
use isochrone_files::Inputs;
use isochrone_hosts::clocks::{self, HostClock};
use isochrone_hosts::{Host, Progress};
use isochrone_net::{Direction, Origin};
use isochrone_time::{RawNs, Window};

use crate::capture::{self, CaptureFacts, DeclaredVantage};
use crate::chain::{Opening, joined};
use crate::extract::collect_reports;
use crate::facts::TraceFacts;
use crate::matcher::{MessageSink, Summary};
use crate::mpi::{self, MpiMatched, MpiSummary};
use crate::rounds::{PacketSource, match_sources};
use crate::stamps::Stamps;
use crate::steering::{StreamEvidence, unlisted};
use crate::stream_source::{Stamped, losses};
use crate::traffic::Traffic;

/// How much of each trace is read for the addresses of its host: sightings of a stream, and raw ns.
const LOOK_AHEAD: (usize, i64) = (64, 10_000_000_000);

/// The clocks that stamp the traces and captures, in the order of their numbers in messages.
pub fn clocks_of(inputs: &Inputs) -> Vec<HostClock> {
    let traces: Vec<&Trace> = inputs.traces.iter().map(|input| &input.trace).collect();
    let mut stamped = clocks::group(&traces);
    capture::add_clocks(&mut stamped, &inputs.captures);
    stamped
}

/// The traces and captures of some clocks, to be read.
pub struct Recordings<'i> {
    inputs: &'i Inputs,
    clocks: &'i [HostClock],
    /// The traces of all clocks, by clock.
    traces: Vec<Stamped<'i>>,
    /// By clock.
    hosts: Vec<Host<'i>>,
    /// By clock: Unix time less raw time, ns.
    offsets: Vec<i64>,
    /// By trace and stream: the packet where reading starts, if it is not the first.
    first_packets: HashMap<(usize, usize), usize>,
}

/// What one pass over all traces and captures shows.
#[derive(Debug)]
pub struct Reading {
    /// By input trace.
    pub facts: Vec<TraceFacts>,
    /// By input trace: what it shows of packets.
    pub traffic: Vec<Traffic>,
    /// By input trace, by stream: what it shows of who steers its clock.
    pub steering: Vec<Vec<StreamEvidence>>,
    /// By input capture.
    pub captures: Vec<CaptureFacts>,
    /// By input capture: what it shows of packets.
    pub captured: Vec<Traffic>,
    /// What became of the packets.
    pub packets: Summary,
}

impl<'i> Recordings<'i> {
    /// Those of `clocks`, which have their numbers in messages.
    pub fn new(inputs: &'i Inputs, clocks: &'i [HostClock]) -> Self {
        let mut traces = Vec::new();
        for (clock, of) in clocks.iter().enumerate() {
            let stamped = |&number: &usize| Stamped { trace: &inputs.traces[number].trace, number, clock };
            traces.extend(of.traces.iter().map(stamped));
        }
        let all: Vec<&Trace> = inputs.traces.iter().map(|input| &input.trace).collect();
        let hosts: Vec<Host<'_>> = clocks.iter().map(|clock| Host::new(clock, &all)).collect();
        let first_packets = hosts.iter().flat_map(Host::first_packets).collect();
        let offsets = clocks.iter().map(|clock| clock.offset_ns).collect();
        Self { inputs, clocks, traces, hosts, offsets, first_packets }
    }

    /// The hosts, by clock.
    pub fn hosts(&self) -> &[Host<'i>] {
        &self.hosts
    }

    /// The packet where reading of a stream starts; `at`: index in `traces`.
    fn first_packet(&self, at: usize, stream: usize) -> usize {
        self.first_packets.get(&(self.traces[at].number, stream)).copied().unwrap_or(0)
    }

    /// Reads all of them side by side and passes each message to `sink` as it is found. `vantage`: where
    /// captures were taken, by the names of their hosts, instead of what the captures show.
    pub fn read(
        &self,
        vantage: &[(String, DeclaredVantage)],
        progress: Progress<'_>,
        sink: MessageSink<'_>,
    ) -> Reading {
        let Inputs { traces, captures: files, .. } = self.inputs;
        let losses = self.hosts.iter().map(losses).collect();
        let first = |at: usize, stream: usize| self.first_packet(at, stream);
        let opening = Opening { traces: &self.traces, first: &first, decode_packets: true, progress };
        let mut streams = joined(opening.sources());
        let mut captures = capture::look(files, vantage);
        if !captures.is_empty() {
            let addresses = sent_from(&self.traces, self.clocks.len());
            let traced: Vec<_> = self.clocks.iter().zip(addresses).collect();
            capture::beside(files, &mut captures, &traced);
        }
        let mut readers = capture::readers(files, self.clocks, &mut captures, progress);
        let streams_too = streams.iter_mut().map(|s| s as &mut dyn PacketSource);
        let mut all: Vec<&mut dyn PacketSource> =
            streams_too.chain(readers.iter_mut().map(|r| r as &mut dyn PacketSource)).collect();
        let mut sent = vec![0; files.len()];
        let packets = match_sources(&mut all, &self.offsets, losses, &mut |matched| {
            if let Origin::Capture(capture) = matched.sent.place.origin
                && let Some(sent) = sent.get_mut(capture as usize)
            {
                *sent += 1;
            }
            sink(matched);
        });
        let mut captured = vec![Traffic::default(); files.len()];
        for reader in &readers {
            captured[reader.number()] = reader.traffic();
        }
        for (capture, sent) in captures.iter_mut().zip(sent) {
            capture.sent = sent;
        }
        let mut facts = vec![TraceFacts::default(); traces.len()];
        let mut traffic = vec![Traffic::default(); traces.len()];
        let mut steering = vec![Vec::new(); traces.len()];
        let reports = collect_reports(streams, self.traces.len());
        let reports = reports.facts.into_iter().zip(reports.traffic).zip(reports.steering);
        for (Stamped { number, .. }, ((of_facts, of_traffic), evidence)) in self.traces.iter().zip(reports) {
            facts[*number] = of_facts;
            traffic[*number] = of_traffic;
            steering[*number] = evidence;
        }
        for (clock, host) in self.clocks.iter().zip(&self.hosts) {
            if let Some(trace) = clock.traces.iter().copied().find(|&trace| !steering[trace].is_empty()) {
                steering[trace][0].uncovered = unlisted(host);
            }
        }
        Reading { facts, traffic, steering, captures, captured, packets }
    }

    /// Passes the messages of MPI programs to `sink`, those within a host too; `None`: there are no such
    /// events. Reads the streams that have such events twice; others not at all.
    pub fn mpi_messages(&self, sink: &mut dyn FnMut(&MpiMatched)) -> Option<MpiSummary> {
        let first = |at: usize, stream: usize| self.first_packet(at, stream);
        mpi::messages(&self.traces, &first, &self.hosts, &self.offsets, sink)
    }

    /// Traces that no clock stamps, or none that can be used.
    pub fn unclocked(&self) -> Vec<Refused> {
        let clocked: HashSet<usize> = self.clocks.iter().flat_map(|clock| &clock.traces).copied().collect();
        let all = self.inputs.traces.iter().enumerate();
        let without = all.filter(|(index, _)| !clocked.contains(index));
        let refuse = |(index, _): (usize, _)| {
            let why = match self.inputs.traces[index].trace.schema().single_clock() {
                Some(clock) => format!("the offset of its clock `{}` does not fit 64 bits of ns", clock.name),
                None => "no clock stamps its events, or more than one does".to_owned(),
            };
            refused(self.inputs, index, why)
        };
        without.map(refuse).collect()
    }
}

impl Reading {
    /// From the first to the last event of a clock over all its traces and captures; `None` where none has a
    /// time that can be used.
    pub fn span(&self, inputs: &Inputs, clock: &HostClock) -> Option<Window<RawNs>> {
        let captured = clock.captures.iter().filter_map(|&capture| self.captures[capture].usable);
        let of = |pick: fn(&TraceFacts) -> Option<u64>| {
            clock.traces.iter().filter_map(move |&trace| {
                let stamps = inputs.traces[trace].trace.schema().single_clock()?;
                i64::try_from(stamps.raw_ns(pick(&self.facts[trace])?)).ok().map(RawNs)
            })
        };
        let traced = of(TraceFacts::first).min().zip(of(TraceFacts::last).max());
        let traced = traced.map(|(start, end)| Window::new(start, end));
        captured.chain(traced).reduce(|a, b| Window::new(a.start.min(b.start), a.end.max(b.end)))
    }

    /// What the stamps of all traces and captures of a clock have in common; `None`: there are none.
    pub fn stamps(&self, inputs: &Inputs, clock: &HostClock) -> Option<Stamps> {
        let of_streams = clock.traces.iter().filter_map(|&trace| {
            let per_s = inputs.traces[trace].trace.schema().single_clock()?.frequency;
            Some(self.facts[trace].streams.iter().map(move |stream| Stamps::of_stream(stream.grid, per_s)))
        });
        let of_captures = clock.captures.iter().filter_map(|&capture| self.captures[capture].stamps);
        of_streams.flatten().chain(of_captures).reduce(|mut all, stamps| {
            all.merge(&stamps);
            all
        })
    }

    /// The traces of a clock without a usable time.
    pub fn eventless(&self, inputs: &Inputs, clock: &HostClock) -> Vec<Refused> {
        let refuse = |&trace: &usize| {
            let why = match self.facts[trace].events() {
                0 => "it holds no events".to_owned(),
                events => format!("none of its {events} events has a time that fits 64 bits of ns"),
            };
            refused(inputs, trace, why)
        };
        clock.traces.iter().map(refuse).collect()
    }

    /// Whether something of the traces or captures could not be read.
    pub fn is_damaged(&self, inputs: &Inputs) -> bool {
        let opened = inputs.traces.iter().flat_map(|input| input.trace.diagnostics());
        let of_captures = self.captures.iter().flat_map(|facts| &facts.diagnostics);
        let read = self.facts.iter().flat_map(TraceFacts::diagnostics).chain(of_captures);
        opened.chain(read).any(Diagnostic::is_loss)
    }
}

fn refused(inputs: &Inputs, trace: usize, why: String) -> Refused {
    Refused { what: RefusedKind::Trace, name: inputs.traces[trace].path().display().to_string(), why }
}

/// By clock: IP addresses that packets were sent from, as the start of its traces shows.
fn sent_from(traces: &[Stamped<'_>], clocks: usize) -> Vec<HashSet<IpAddr>> {
    let mut addresses = vec![HashSet::new(); clocks];
    let opening = Opening { traces, first: &|_, _| 0, decode_packets: true, progress: &|_| {} };
    for mut source in opening.sources() {
        let Some(span) = source.span() else { continue };
        let mut seen = Vec::new();
        source.read_until(span.start.saturating_add(LOOK_AHEAD.1), LOOK_AHEAD.0, &mut seen);
        let sent = seen.iter().filter(|sighting| sighting.direction == Direction::Sent);
        addresses[source.clock()].extend(sent.filter_map(|sighting| Some(sighting.packet.addresses?.0)));
    }
    addresses
}
