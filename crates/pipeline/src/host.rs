//! A host: all traces of one clock, as one row of events.
//!
//! Which traces share a clock is known to `isochrone-sync`. Here their streams become [`Source`]s in a fixed order, the
//! same stream of all chunks of a rotated session one after the other, and what they lack is found.

use std::collections::BTreeMap;

use isochrone_ctf::Trace;
use isochrone_kernel::Time;
use isochrone_sync::hosts;

use crate::border::Piece;
use crate::context::Context;
use crate::coverage::{self, Cover, Gap};
use crate::losses::{Extent, Lacking, Loss, Series, of_series};
use crate::rotation::{self, Archive};
use crate::source::Source;

/// The traces of one clock: the kernel's and those of user space, all chunks of rotated sessions.
#[derive(Debug)]
pub struct Host<'t> {
    /// The clock's uuid; else the host's name.
    pub id: String,
    /// Name for people, unlike that of any other host.
    pub name: String,
    /// All names that the traces give the host, sorted.
    pub hostnames: Vec<String>,
    /// Unix time of the clock's zero, from the earliest trace, ns.
    pub offset_ns: i64,
    /// Places of its traces among those that were grouped.
    pub places: Vec<usize>,
    traces: Vec<&'t Trace>,
    sources: Vec<Source<'t>>,
    losses: Vec<Loss>,
    gaps: Vec<Gap>,
    archives: Vec<Archive>,
    extent: Option<(Time, Time)>,
}

/// All hosts of some traces.
#[derive(Debug)]
pub struct Hosts<'t> {
    /// The hosts, by name.
    pub hosts: Vec<Host<'t>>,
    /// Places of the traces that no usable clock stamps: they are in no host.
    pub left_out: Vec<usize>,
}

impl<'t> Hosts<'t> {
    /// Puts the traces of each clock together. The result does not depend on the order of the traces, but for the places
    /// that it tells.
    pub fn group(traces: impl IntoIterator<Item = &'t Trace>) -> Self {
        let traces: Vec<&Trace> = traces.into_iter().collect();
        let clocks = hosts::group(&traces);
        let hosts: Vec<Host<'_>> = clocks.into_iter().map(|clock| Host::new(clock, &traces)).collect();
        let used: Vec<usize> = hosts.iter().flat_map(|host| &host.places).copied().collect();
        let left_out = (0..traces.len()).filter(|place| !used.contains(place)).collect();
        Self { hosts, left_out }
    }
}

/// What the same stream of all chunks of a session has in common. The kernel's come first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StreamKey {
    is_user_space: bool,
    session: String,
    class: u64,
    id: Option<u64>,
    /// Where packets carry no number.
    file: Option<String>,
}

impl<'t> Host<'t> {
    fn new(clock: hosts::HostClock, all: &[&'t Trace]) -> Self {
        let traces: Vec<&Trace> = clock.traces.iter().map(|&place| all[place]).collect();
        let (mut ranks, mut sessions) = (Vec::new(), BTreeMap::<String, usize>::new());
        let mut keyed = Vec::new();
        for (number, &trace) in traces.iter().enumerate() {
            let is_kernel = trace.schema().environment_text("domain") != Some("ust");
            let name = session_name(trace);
            let next = sessions.entry(name.clone()).or_default();
            ranks.push(*next);
            *next += 1;
            for (stream, info) in trace.streams().iter().enumerate() {
                let Some(source) = Source::new(trace, number, stream, is_kernel) else { continue };
                let key = StreamKey {
                    is_user_space: !is_kernel,
                    session: name.clone(),
                    class: trace.stream_class(stream).id,
                    id: info.id,
                    file: info.id.is_none().then(|| info.file.clone()),
                };
                keyed.push((key, source));
            }
        }
        keyed.sort_by(|(a, x), (b, y)| (a, x.trace_number, x.stream).cmp(&(b, y.trace_number, y.stream)));
        let mut series: Vec<(StreamKey, Vec<usize>)> = Vec::new();
        let mut sources = Vec::with_capacity(keyed.len());
        for (number, (key, mut source)) in keyed.into_iter().enumerate() {
            match series.last_mut() {
                Some((last, members)) if *last == key => members.push(number),
                _ => series.push((key, vec![number])),
            }
            source.series = series.len() - 1;
            sources.push(source);
        }
        for (_, members) in &series {
            join(&mut sources, members);
        }
        let archives = match ranks.iter().any(|&rank| rank > 0) {
            true => rotation::archives(&traces, &ranks, &sources),
            false => Vec::new(),
        };
        let mut host = Self {
            id: clock.id,
            name: clock.host,
            hostnames: clock.hostnames,
            offset_ns: clock.offset_ns,
            places: clock.traces,
            traces,
            extent: extent(&sources),
            sources,
            losses: Vec::new(),
            gaps: Vec::new(),
            archives,
        };
        host.find_losses(&series, &ranks);
        host
    }

    fn find_losses(&mut self, series: &[(StreamKey, Vec<usize>)], ranks: &[usize]) {
        let Some((begin, end)) = self.extent else { return };
        for source in &mut self.sources {
            source.host_end = end;
        }
        let sessions = self.ranks_with_packets(series, ranks);
        let (mut losses, mut covers) = (Vec::new(), Vec::new());
        for (key, members) in series {
            let part = |&number: &usize| {
                let source = &self.sources[number];
                (number, ranks[source.trace_number], source)
            };
            let parts: Vec<_> = members.iter().map(part).collect();
            let of_session = sessions.get(key.session.as_str()).copied().unwrap_or_default();
            let is_quiet = self.has_quiet_chunk(key, members);
            let found = of_series(&Series { parts, ranks: of_session, is_quiet }, Extent { begin, end });
            losses.extend(found.losses);
            let chunks = members.iter().filter_map(|&number| {
                let source = &self.sources[number];
                Some((source.begin()?, source.end().unwrap_or(end)))
            });
            covers.push(Cover { chunks: chunks.collect(), holes: found.holes });
        }
        self.gaps = coverage::gaps(&covers);
        self.losses = coverage::without_gaps(&losses, &self.gaps);
        for gap in &self.gaps {
            for source in &mut self.sources {
                match source.begin() {
                    Some(begin) if begin < gap.from => source.end_by(gap.from - 1),
                    _ => source.floor = gap.to,
                }
            }
        }
    }

    /// By session: ranks of the first and the last trace that have packets which no other one has.
    fn ranks_with_packets<'k>(
        &self,
        series: &'k [(StreamKey, Vec<usize>)],
        ranks: &[usize],
    ) -> BTreeMap<&'k str, (usize, usize)> {
        let mut sessions = BTreeMap::new();
        for (key, members) in series {
            let sources = members.iter().map(|&number| &self.sources[number]);
            for source in sources.filter(|source| !source.packets.is_empty()) {
                let rank = ranks[source.trace_number];
                let (first, last) = sessions.entry(key.session.as_str()).or_insert((rank, rank));
                (*first, *last) = (rank.min(*first), rank.max(*last));
            }
        }
        sessions
    }

    /// Whether a chunk of the session has the file of a stream, but no packets in it.
    fn has_quiet_chunk(&self, key: &StreamKey, members: &[usize]) -> bool {
        let Some(first) = members.first().map(|&number| &self.sources[number]) else { return false };
        let file = &first.trace.streams()[first.stream].file;
        let has = |number: usize| members.iter().any(|&member| self.sources[member].trace_number == number);
        self.traces.iter().enumerate().any(|(number, trace)| {
            !has(number) && session_name(trace) == key.session && trace.file_names().any(|name| name == file)
        })
    }

    /// Its traces, the earliest first.
    pub fn traces(&self) -> &[&'t Trace] {
        &self.traces
    }

    /// The streams of all traces, in the order that events with equal times have.
    pub fn sources(&self) -> &[Source<'t>] {
        &self.sources
    }

    /// What the traces say that they lack, by the times at which it is told. What a gap holds is not in it.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Times from which everything is missing.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The chunks, where a session was rotated; else none.
    pub fn archives(&self) -> &[Archive] {
        &self.archives
    }

    /// First and last raw time, ns, as the packets say; `None` where there are none.
    pub fn extent(&self) -> Option<(Time, Time)> {
        self.extent
    }

    /// Whether the kernel's tracer wrote any of its traces.
    pub fn has_kernel(&self) -> bool {
        self.sources.iter().any(|source| source.is_kernel)
    }

    /// Bytes of all packets.
    pub fn bytes(&self) -> u64 {
        self.sources.iter().map(Source::bytes).sum()
    }

    /// Says that a piece is that of a missing chunk.
    pub(crate) fn missing_chunk(&self, piece: Piece) -> Option<String> {
        let gap = self.gaps.iter().find(|gap| gap.piece() == piece)?;
        let (from, to) = (gap.from, gap.to);
        Some(format!("{}: a chunk is missing: nothing is known from {from} to {to} ns", self.name))
    }

    /// Says that a stream of a chunk is missing altogether, if that is what a loss means. What goes on behind a gap has been
    /// told with the gap.
    pub(crate) fn missing_stream(&self, loss: &Loss) -> Option<String> {
        let Loss { from, to, .. } = *loss;
        if loss.what != Lacking::All || self.gaps.iter().any(|gap| gap.to == from) {
            return None;
        }
        let source = self.sources.get(loss.source)?;
        let file = &source.trace.streams()[source.stream].file;
        Some(format!("{}: the stream {file} of a chunk is missing, from {from} to {to} ns", self.name))
    }
}

/// What the chunks of a session have in common: its uuid. A trace without one is a session of its own.
fn session_name(trace: &Trace) -> String {
    trace.schema().uuid.map_or_else(|| trace.path().display().to_string(), |uuid| uuid.to_string())
}

/// First and last time of sources.
fn extent(sources: &[Source<'_>]) -> Option<(Time, Time)> {
    let begin = sources.iter().filter_map(Source::begin).min()?;
    let last =
        |source: &Source<'_>| source.end().or_else(|| source.begin_of(source.packets.end.checked_sub(1)?));
    let end = sources.iter().filter_map(last).max().unwrap_or(begin);
    Some((begin, end.max(begin)))
}

/// Sources of one stream follow each other: a packet that two of them have is the first one's (snapshots of a buffer hold
/// what the one before held).
fn join(sources: &mut [Source<'_>], members: &[usize]) {
    let mut before: Option<usize> = None;
    for &number in members {
        if let Some(last) = before {
            let last_packet = sources[last].packets.end - 1;
            let known = begin_and_number(&sources[last], last_packet);
            let first = sources[number].packets.start;
            let overlaps = known.zip(begin_and_number(&sources[number], first));
            if let Some(((begin, sequence), (_, first_sequence))) =
                overlaps.filter(|(old, new)| new.0 <= old.0)
                && first_sequence <= sequence
            {
                let packets = sources[number].packets.clone();
                let known = |&packet: &usize| sources[number].begin_of(packet).is_none_or(|b| b <= begin);
                let count = packets.take_while(known).count();
                sources[number].packets.start += count;
            }
            if let Some(begin) = sources[number].begin() {
                sources[last].goes_on(begin);
            }
        }
        if !sources[number].packets.is_empty() {
            before = Some(number);
        }
    }
}

/// Begin of a packet and its number in the stream, where it tells both.
fn begin_and_number(source: &Source<'_>, packet: usize) -> Option<(Time, u64)> {
    let context = Context::of(source.trace, source.stream, source.packet(packet)?);
    Some((source.begin_of(packet)?, context.sequence?.value))
}
