//! Reading the streams of traces: what each holds and lacks, the packets of the network, and what shows who
//! steers the clock. A [`StreamSource`] does so for one stream, at once or one stretch of time after the
//! other; a [`TraceSource`] joins the streams that record one arrival together.

use std::path::PathBuf;

use isochrone_clock::MAX_ABS_NS;
use isochrone_ctf::plan::StreamPlan;
use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::{Diagnostic, Event, Loss, Packet, StreamEvents, Trace};
use isochrone_hosts::Host;
use isochrone_net::tracer;
use isochrone_net::tracer::pending::{ArrivalJoiner, Stamp};
use isochrone_net::{Direction, Sighting, StreamRef};
use isochrone_time::{RawNs, Window};

use crate::beyond::Beyond;
use crate::facts::{NamespaceWatch, StreamFacts, Tally};
use crate::missing::missing;
use crate::packet_decoder::{PacketDecoder, times};
use crate::rounds::PacketSource;
use crate::stamps::StampGrid;
use crate::steering::{SteeringWatch, StreamEvidence};
use crate::traffic::Traffic;
use isochrone_hosts::Progress;

/// A trace to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamped<'t> {
    pub(crate) trace: &'t Trace,
    /// Number of the trace among the inputs.
    pub(crate) number: usize,
    /// Index of the clock that stamps it.
    pub(crate) clock: usize,
}

/// The streams of a trace that are read as one source: those that record one arrival together; all others
/// each by itself.
pub(crate) fn together(trace: &Trace, decode_packets: bool) -> Vec<Vec<usize>> {
    let (whole, single): (Vec<usize>, Vec<usize>) = (0..trace.streams().len())
        .partition(|&stream| decode_packets && tracer::has_split_arrivals(trace.stream_plan(stream)));
    let mut streams: Vec<Vec<usize>> = single.into_iter().map(|stream| vec![stream]).collect();
    streams.extend((!whole.is_empty()).then_some(whole));
    streams
}

/// What a source reported of its trace.
pub(crate) struct SourceReport {
    /// Index of the trace.
    pub(crate) index: usize,
    pub(crate) traffic: Traffic,
    /// By number of the stream.
    pub(crate) facts: Vec<(usize, StreamFacts)>,
    pub(crate) steering: Vec<StreamEvidence>,
}

/// One stream of a trace, or those of its streams that record arrivals together.
pub(crate) struct TraceSource<'t> {
    /// Index of the trace.
    index: usize,
    /// Not empty.
    streams: Vec<StreamSource<'t>>,
    joiner: ArrivalJoiner,
}

impl<'t> TraceSource<'t> {
    /// Opens streams of a trace.
    ///
    /// `index`: of the trace; `first`: by stream, the packet where reading starts; `decode_packets`: whether
    /// the packets of the network are decoded.
    pub(crate) fn open(
        trace: Stamped<'t>,
        (index, streams): (usize, &[usize]),
        first: &dyn Fn(usize) -> usize,
        decode_packets: bool,
        progress: Progress<'t>,
    ) -> Self {
        let open =
            |&stream: &usize| StreamSource::new(trace, stream, first(stream), decode_packets, progress);
        Self { index, streams: streams.iter().map(open).collect(), joiner: ArrivalJoiner::default() }
    }

    /// What it has found so far.
    pub(crate) fn into_report(self) -> SourceReport {
        let Self { index, streams, joiner } = self;
        let (mut traffic, mut steering, mut facts) = (Traffic::default(), Vec::new(), Vec::new());
        traffic.of_mut(Direction::Received).unstamped += joiner.lost();
        for mut stream in streams {
            if let Some(packets) = &stream.packets {
                traffic.join(packets.traffic);
            }
            steering.extend(stream.steering());
            facts.push((stream.stream, stream.into_facts()));
        }
        SourceReport { index, traffic, facts, steering }
    }
}

impl PacketSource for TraceSource<'_> {
    fn clock(&self) -> usize {
        self.streams[0].clock
    }

    fn span(&self) -> Option<Window<RawNs>> {
        let spans = self.streams.iter().filter_map(StreamSource::span);
        spans.reduce(|a, b| Window::new(a.start.min(b.start), a.end.max(b.end)))
    }

    fn take_broken(&mut self) -> Vec<Window<RawNs>> {
        self.streams.iter_mut().flat_map(|stream| std::mem::take(&mut stream.broken)).collect()
    }

    fn read_until(&mut self, limit: RawNs, most: usize, out: &mut Vec<Sighting>) -> Option<RawNs> {
        if let [only] = &mut self.streams[..]
            && only.packets.as_ref().is_none_or(|packets| !packets.has_split_arrivals)
        {
            return only.read_until(limit, most, out);
        }
        let mut next = None;
        for stream in &mut self.streams {
            let later = stream.read_until(limit, most, out);
            next = match (next, later) {
                (Some(a), Some(b)) => Some(RawNs::min(a, b)),
                (one, other) => one.or(other),
            };
            if let Some(packets) = &mut stream.packets {
                self.joiner.add(packets.halves.drain(..));
            }
        }
        let (clock, direction) = (self.clock(), Direction::Received);
        let received = self.joiner.before(next.unwrap_or(RawNs::MAX));
        out.extend(received.into_iter().map(|(stamp, packet)| {
            let Stamp { time, raw, place } = stamp;
            Sighting { clock, time, raw, place, direction, device: 0, packet }
        }));
        next
    }
}

/// Raw times between which a host may have sent packets that were not recorded: all that is known to be
/// missing, before reading, of streams that show packets.
pub(crate) fn losses(host: &Host<'_>) -> Vec<Window<RawNs>> {
    let shows_packets =
        |plan: &StreamPlan| plan.events.iter().any(|class| tracer::extractor(plan, class).is_some());
    missing(host, shows_packets, |_| true)
}

/// The last cycles of a clock whose time is one that clocks are computed with, whatever a tick of it can
/// mean.
fn last_cycles(stamps: &ClockClass) -> u64 {
    let beyond = stamps.cycles(i128::from(MAX_ABS_NS) + 1).unwrap_or(u64::MAX);
    // A stamp of a coarse clock can mean the next tick, too.
    beyond.saturating_sub(if stamps.frequency < 1_000_000_000 { 3 } else { 1 })
}

/// A class of events of a stream.
#[derive(Debug, Clone, Copy)]
struct Class {
    tally: Tally,
    role: Role,
}

/// What events of a class are looked at for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// They are counted.
    None,
    /// A packet of the network.
    Packet,
    /// Who steers the clock.
    Steering,
    /// A thread with its pid namespace.
    Namespace,
}

/// A stream of a trace.
pub(crate) struct StreamSource<'t> {
    trace: &'t Trace,
    stream: usize,
    /// The packet where reading starts.
    first_packet: usize,
    clock: usize,
    stamps: Option<&'t ClockClass>,
    events: StreamEvents<'t>,
    /// The event at which it will go on.
    next: Option<Event<'t>>,
    begin: Option<RawNs>,
    packet: Option<&'t Packet>,
    classes: Vec<Class>,
    first: Option<u64>,
    last: Option<u64>,
    grid: StampGrid,
    packets: Option<PacketDecoder>,
    watch: Option<SteeringWatch<'t>>,
    namespaces: NamespaceWatch,
    progress: Progress<'t>,
    /// Raw times between which events could not be decoded, since they were last taken.
    broken: Vec<Window<RawNs>>,
    /// Diagnostics that are in there already, or were taken.
    diagnosed: usize,
    /// The last cycles that clocks are computed with; all where events are only counted.
    most: u64,
    /// Events beyond that, and the file of the first.
    beyond: Beyond,
    beyond_in: PathBuf,
}

impl<'t> StreamSource<'t> {
    fn new(
        Stamped { trace, number, clock }: Stamped<'t>,
        stream: usize,
        first: usize,
        decode_packets: bool,
        progress: Progress<'t>,
    ) -> Self {
        let (plan, stamps) = (trace.stream_plan(stream), trace.clock(stream));
        let place = StreamRef::of_trace(number, stream);
        let packets = decode_packets.then(|| PacketDecoder::new(trace, stream, clock, place));
        let watch = decode_packets.then(|| SteeringWatch::new(plan, stamps)).flatten();
        // A synchronization needs none of them.
        let namespaces = if decode_packets { NamespaceWatch::default() } else { NamespaceWatch::new(plan) };
        let role = |class: usize| match (&packets, &watch) {
            (Some(packets), _) if packets.extractors[class].is_some() => Role::Packet,
            (_, Some(watch)) if watch.watches(class) => Role::Steering,
            _ if namespaces.watches(class) => Role::Namespace,
            _ => Role::None,
        };
        let classes =
            (0..plan.events.len()).map(|class| Class { tally: Tally::default(), role: role(class) });
        let mut source = Self {
            trace,
            stream,
            first_packet: first,
            clock,
            stamps,
            events: trace.events_from(stream, first),
            next: None,
            begin: None,
            packet: None,
            classes: classes.collect(),
            first: None,
            last: None,
            grid: StampGrid::default(),
            packets,
            watch,
            namespaces,
            progress,
            broken: Vec::new(),
            diagnosed: 0,
            most: stamps.filter(|_| decode_packets).map_or(u64::MAX, last_cycles),
            beyond: Beyond::default(),
            beyond_in: PathBuf::new(),
        };
        source.read(0, 0, &mut Vec::new());
        source.begin = source.next.map(|event| source.time(&event));
        source
    }

    /// Reads on to the first event after `last` cycles, or until there are enough sightings. One function for
    /// all who read, not one each: the compiler makes the decoder a part of the only loop that there is.
    #[inline(never)]
    fn read(&mut self, last: u64, most: usize, out: &mut Vec<Sighting>) {
        loop {
            let Some(event) = self.next.take().or_else(|| self.events.next()) else {
                self.note_broken(RawNs::MAX);
                return;
            };
            let cycles = event.cycles();
            if cycles > Some(self.most) {
                self.leave_out(&event);
                continue;
            }
            if cycles > Some(last) || out.len() >= most {
                self.next = Some(event);
                return;
            }
            if self.packet.is_none_or(|packet| !std::ptr::eq(packet, event.packet())) {
                self.note_broken(self.time(&event));
                self.packet = Some(event.packet());
                (self.progress)(event.packet().total_bits / 8);
            }
            let class = &mut self.classes[event.class().index];
            class.tally.count += 1;
            class.tally.bytes += event.size();
            let role = class.role;
            self.first = self.first.or(cycles).min(cycles);
            self.last = self.last.max(cycles);
            if !self.grid.is_finest()
                && let Some(cycles) = cycles.and_then(|cycles| i64::try_from(cycles).ok())
            {
                self.grid.see(cycles);
            }
            match (role, &mut self.packets, &mut self.watch) {
                (Role::Steering, _, Some(watch)) => _ = watch.see(&event),
                (Role::Namespace, ..) => _ = self.namespaces.see(&event),
                (Role::Packet, Some(packets), _) => {
                    if let Some(extractor) = &packets.extractors[event.class().index] {
                        let direction = extractor.direction();
                        let seen = extractor.seen(&event);
                        let stamp = self.stamps.zip(cycles);
                        let times = stamp.and_then(|(stamps, cycles)| times(stamps, cycles, direction));
                        packets.keep(seen, direction, times, out);
                    }
                }
                (Role::None | Role::Steering | Role::Packet, ..) => {}
            }
        }
    }

    /// Notes that the packets before an event could not be read to their ends, if that is so.
    #[cold]
    fn note_broken(&mut self, until: RawNs) {
        let diagnosed = self.events.diagnostics().iter().filter(|diagnostic| diagnostic.is_loss()).count();
        if diagnosed > self.diagnosed {
            self.diagnosed = diagnosed;
            let since = self.last.and_then(|last| self.raw(last)).unwrap_or(RawNs::MIN);
            self.broken.push(Window::new(since, until.max(since)));
        }
    }

    /// Counts an event beyond what clocks are computed with, and nothing else of it.
    #[cold]
    fn leave_out(&mut self, event: &Event<'_>) {
        let class = &mut self.classes[event.class().index];
        class.tally.count += 1;
        class.tally.bytes += event.size();
        let packet = event.packet();
        if self.beyond == Beyond::default() {
            self.beyond_in = self.trace.path().join(self.trace.packet_file_name(packet));
        }
        if let Some((stamps, cycles)) = self.stamps.zip(event.cycles()) {
            let raw = stamps.raw_ns(cycles);
            let place = (packet.number.into(), packet.offset);
            self.beyond.add(place, raw, raw.saturating_add(stamps.offset_ns()));
        }
    }

    /// Raw time of an event in 64 bits.
    fn time(&self, event: &Event<'_>) -> RawNs {
        let raw = self.stamps.zip(event.cycles()).map_or(0, |(stamps, cycles)| stamps.raw_ns(cycles));
        RawNs(i64::try_from(raw).unwrap_or(i64::MAX - 1).min(i64::MAX - 1))
    }

    fn raw(&self, cycles: u64) -> Option<RawNs> {
        i64::try_from(self.stamps?.raw_ns(cycles)).ok().map(RawNs)
    }

    /// What it shows of who steers the clock, when all of it has been read. Where something could not be
    /// decoded, or the whole trace is damaged, anything may be missing.
    fn steering(&mut self) -> Option<StreamEvidence> {
        let watch = self.watch.take()?;
        let end = |end: Option<u64>| end.and_then(|end| self.raw(end));
        let lost = |loss: &Loss| {
            Window::new(end(loss.begin).unwrap_or(RawNs::MIN), end(loss.end).unwrap_or(RawNs::MAX))
        };
        let mut losses: Vec<Window<RawNs>> = self.trace.losses(self.stream).iter().map(lost).collect();
        let mut diagnostics = self.events.diagnostics().iter().chain(self.trace.diagnostics());
        losses.extend(diagnostics.any(Diagnostic::is_loss).then_some(Window::ALL));
        Some(watch.finish(self.span(), losses))
    }

    fn into_facts(self) -> StreamFacts {
        let Self { classes, first, last, grid, first_packet, .. } = self;
        let packets = self.trace.streams()[self.stream].packets.get(first_packet..).unwrap_or_default();
        let diagnostics = self.events.diagnostics().to_vec();
        let left_out = self.beyond.diagnostic(&self.beyond_in, "event");
        let classes = classes.into_iter().map(|class| class.tally).collect();
        StreamFacts {
            classes,
            bytes: packets.iter().map(|packet| packet.total_bits / 8).sum(),
            first,
            last,
            first_packet,
            losses: self.trace.losses(self.stream),
            pid_namespaces: self.namespaces.into_ids(),
            diagnostics,
            left_out,
            grid,
        }
    }

    /// See [`PacketSource::span`].
    fn span(&self) -> Option<Window<RawNs>> {
        let begin = self.begin?;
        let ends = self.trace.streams()[self.stream].packets.iter().filter_map(Packet::end);
        let ends = ends.map(|end| end.min(self.most));
        let end = ends.max().and_then(|end| self.raw(end)).map_or(begin, |end| end.max(begin));
        Some(Window::new(begin, end))
    }

    fn read_until(&mut self, limit: RawNs, most: usize, out: &mut Vec<Sighting>) -> Option<RawNs> {
        match (limit, self.stamps) {
            (RawNs::MAX, _) | (_, None) => self.read(u64::MAX, most, out),
            (RawNs(..0), Some(_)) => {}
            (RawNs(limit), Some(stamps)) => {
                let after = stamps.cycles(i128::from(limit) + 1);
                self.read(after.map_or(u64::MAX, |after| after.saturating_sub(1)), most, out);
            }
        }
        self.next.map(|event| self.time(&event))
    }
}
