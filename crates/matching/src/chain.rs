//! Sources that are open only while they are read, one after the other where their times allow it: the chunks
//! of a session, of which a fleet has a hundred thousand.
//!
//! A source that is open has decoders for all classes of events. What a [`Chain`] keeps of one that is not
//! open is its index and its span; of one that was read, its report.

use std::collections::{BTreeSet, VecDeque};

use isochrone_ctf::{Packet, Trace};
use isochrone_hosts::Progress;
use isochrone_net::Sighting;
use isochrone_time::{RawNs, Window};
use rayon::prelude::*;

use crate::rounds::PacketSource;
use crate::stream_source::{SourceReport, Stamped, TraceSource, together};

/// How sources are opened.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'o, 't> {
    pub(crate) traces: &'o [Stamped<'t>],
    /// By trace and stream: the packet where reading starts.
    pub(crate) first: &'o (dyn Fn(usize, usize) -> usize + Sync),
    /// Whether the packets of the network are decoded.
    pub(crate) decode_packets: bool,
    pub(crate) progress: Progress<'t>,
}

/// A source that is not open.
#[derive(Debug)]
struct Part {
    /// Its rank among all.
    rank: usize,
    /// Index of the trace.
    index: usize,
    streams: Box<[usize]>,
    span: Option<Window<RawNs>>,
    /// Whether its packets say when they end.
    has_ends: bool,
}

/// Sources of one clock, one after the other.
pub(crate) struct Chain<'o, 't> {
    opening: Opening<'o, 't>,
    clock: usize,
    /// Those that are still to be opened, in their order.
    waiting: VecDeque<Part>,
    open: Option<(usize, TraceSource<'t>)>,
    /// Of those that were read to their ends, with their ranks.
    reports: Vec<(usize, SourceReport)>,
    broken: Vec<Window<RawNs>>,
    span: Option<Window<RawNs>>,
}

impl<'o, 't> Opening<'o, 't> {
    /// Sources for the streams of the traces, by trace and stream. Those that record one arrival together are
    /// one source. Each is opened for a look at its first event.
    pub(crate) fn sources(self) -> Vec<Chain<'o, 't>> {
        let mut places: Vec<(usize, Box<[usize]>)> = Vec::new();
        for (index, Stamped { trace, .. }) in self.traces.iter().enumerate() {
            let streams = together(trace, self.decode_packets);
            places.extend(streams.into_iter().map(|streams| (index, streams.into())));
        }
        let look = |(rank, (index, streams)): (usize, (usize, Box<[usize]>))| {
            let Stamped { trace, clock, .. } = self.traces[index];
            let mut source = self.open(index, &streams);
            // What cannot be read before the first event is known from the start.
            let (span, broken) = (source.span(), source.take_broken());
            let has_ends = has_ends(trace, &streams);
            Chain {
                opening: self,
                clock,
                waiting: VecDeque::from([Part { rank, index, streams, span, has_ends }]),
                open: None,
                reports: Vec::new(),
                broken,
                span,
            }
        };
        places.into_par_iter().enumerate().map(look).collect()
    }

    fn open(self, index: usize, streams: &[usize]) -> TraceSource<'t> {
        let Self { traces, first, decode_packets, progress } = self;
        let first = |stream| first(index, stream);
        TraceSource::open(traces[index], (index, streams), &first, decode_packets, progress)
    }
}

/// Whether all packets of some streams say when they end.
fn has_ends(trace: &Trace, streams: &[usize]) -> bool {
    let packets = streams.iter().flat_map(|&stream| &trace.streams()[stream].packets);
    packets.map(Packet::end).all(|end| end.is_some())
}

/// Puts sources of one clock one after the other where each ends before the next one begins, so that as few
/// as possible are open at a time. `O(n log n)`.
pub(crate) fn joined<'o, 't>(sources: Vec<Chain<'o, 't>>) -> Vec<Chain<'o, 't>> {
    let mut sources = sources;
    sources.sort_by_key(|source| (source.clock, source.span.map(|span| (span.start, span.end))));
    let mut all: Vec<Chain<'o, 't>> = Vec::new();
    // Of the clock at hand: indices of chains, by when they end.
    let mut ends: BTreeSet<(RawNs, usize)> = BTreeSet::new();
    for source in sources {
        if all.last().is_some_and(|last| last.clock != source.clock) {
            ends.clear();
        }
        let span = source.span.filter(|_| source.waiting.iter().all(|part| part.has_ends));
        let ended = span.and_then(|span| ends.range(..(span.start, 0)).next_back().copied());
        match ended {
            Some(ended) => {
                ends.remove(&ended);
                all[ended.1].append(source);
                ends.extend(span.map(|span| (span.end, ended.1)));
            }
            None => {
                ends.extend(span.map(|span| (span.end, all.len())));
                all.push(source);
            }
        }
    }
    all
}

impl Chain<'_, '_> {
    /// Adds what comes after it.
    fn append(&mut self, later: Self) {
        self.waiting.extend(later.waiting);
        self.broken.extend(later.broken);
        self.span = match (self.span, later.span) {
            (Some(a), Some(b)) => Some(Window::new(a.start, a.end.max(b.end))),
            (one, other) => one.or(other),
        };
    }

    /// The reports of its sources, with their ranks: of those that were not read, what is known so far.
    pub(crate) fn into_reports(self) -> Vec<(usize, SourceReport)> {
        let Self { opening, waiting, open, mut reports, .. } = self;
        reports.extend(open.map(|(rank, source)| (rank, source.into_report())));
        let unread = |part: Part| (part.rank, opening.open(part.index, &part.streams).into_report());
        reports.extend(waiting.into_iter().map(unread));
        reports
    }
}

impl PacketSource for Chain<'_, '_> {
    fn clock(&self) -> usize {
        self.clock
    }

    fn span(&self) -> Option<Window<RawNs>> {
        self.span
    }

    fn take_broken(&mut self) -> Vec<Window<RawNs>> {
        std::mem::take(&mut self.broken)
    }

    fn read_until(&mut self, limit: RawNs, most: usize, out: &mut Vec<Sighting>) -> Option<RawNs> {
        loop {
            let (rank, mut source) = match self.open.take() {
                Some(open) => open,
                None => {
                    let part = self.waiting.front()?;
                    if let Some(span) = part.span.filter(|span| span.start > limit || out.len() >= most) {
                        return Some(span.start);
                    }
                    let part = self.waiting.pop_front()?;
                    let mut source = self.opening.open(part.index, &part.streams);
                    // That was said at the look.
                    source.take_broken();
                    (part.rank, source)
                }
            };
            let next = source.read_until(limit, most, out);
            self.broken.extend(source.take_broken());
            if next.is_some() {
                self.open = Some((rank, source));
                return next;
            }
            self.reports.push((rank, source.into_report()));
        }
    }
}
