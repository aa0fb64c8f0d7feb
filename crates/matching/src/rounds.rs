//! Reading many sources side by side, a stretch of time after the other, into the matcher.
//!
//! In a round all sources are read in parallel up to the same instant (roughly: each by its own clock). So
//! what is kept of the packets is what a stretch of time holds, however long the traces are.

use rayon::prelude::*;

use crate::matcher::{Matcher, MessageSink, Summary, Traced};
use isochrone_net::Sighting;
use isochrone_time::{RawNs, Window};

/// Something that records packets: a stream of a trace, a capture.
pub trait PacketSource: Send {
    /// Index of the clock that stamps it.
    fn clock(&self) -> usize;
    /// From its first record to, as far as known before reading, its last. `None` where it has none.
    fn span(&self) -> Option<Window<RawNs>>;
    /// Raw times between which records could not be read, that reading has come to since the last call.
    fn take_broken(&mut self) -> Vec<Window<RawNs>> {
        Vec::new()
    }
    /// Reads on, to the first record after a raw time or until it has given `most` sightings. Returns the raw
    /// time of the record where it will go on, `None` at the end. Sightings come roughly in the order of
    /// time.
    fn read_until(&mut self, limit: RawNs, most: usize, out: &mut Vec<Sighting>) -> Option<RawNs>;
}

/// How long the first round is that all sources read together. Each later one is twice as long as the one
/// before, or half as long where that one held too much.
const FIRST_ROUND_NS: i64 = 1_000_000_000;
/// Sightings of a round at most, 112 bytes each: 28 MiB.
const MAX_OF_ROUND: usize = 1 << 18;
/// Sightings that each source may give in a round, however many there are: with fewer, reading would
/// not end.
const MIN_OF_SOURCE: usize = 256;

/// Reads all sources to their ends and matches what they hold. `offsets_ns`: by clock, Unix time less raw
/// time. `losses`: by clock, raw times between which records are known to be missing. The messages go to
/// `sink` in an order of their own, which depends on the rounds; what they are does not. Memory does not grow
/// with the length of the sources.
pub fn match_sources(
    sources: &mut [&mut dyn PacketSource],
    offsets_ns: &[i64],
    losses: Vec<Vec<Window<RawNs>>>,
    sink: MessageSink<'_>,
) -> Summary {
    let mut matcher = Matcher::new(&traced(sources, offsets_ns, losses));
    let mut next: Vec<Option<RawNs>> = sources.iter().map(|source| Some(source.span()?.start)).collect();
    let mut ahead = FIRST_ROUND_NS;
    // First a look at where each source begins, whatever its clock says of the time: traces are mostly begun
    // together, and what they have in common shows how the clocks stand to each other.
    let mut limits = vec![RawNs::MAX; offsets_ns.len()];
    while next.iter().any(Option::is_some) {
        // One that is behind the others, as a server with many clients, has the round to itself.
        let is_due = |(source, next): &(&&mut dyn PacketSource, &Option<RawNs>)| {
            next.is_some_and(|at| at <= limits[source.clock()])
        };
        let due = sources.iter().zip(&next).filter(is_due).count();
        let most = (MAX_OF_ROUND / due.max(1)).max(MIN_OF_SOURCE);
        let found: Vec<(Option<RawNs>, Vec<Sighting>)> = sources
            .par_iter_mut()
            .zip(&next)
            .map(|(source, &next)| {
                let limit = limits[source.clock()];
                let mut out = Vec::new();
                let next = match next {
                    Some(at) if at <= limit => source.read_until(limit, most, &mut out),
                    waiting => waiting,
                };
                (next, out)
            })
            .collect();
        let total: usize = found.iter().map(|(_, sightings)| sightings.len()).sum();
        let stopped = found.iter().any(|(_, sightings)| sightings.len() >= most);
        let (later, sightings): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        // Times that no common time can separate: everything at once.
        let stuck = later == next;
        next = later;
        let read = read_to(sources, &next, offsets_ns.len());
        for source in sources.iter_mut() {
            matcher.lose(source.clock(), &source.take_broken());
        }
        matcher.round(sightings.into_iter().flatten(), &read, sink);
        ahead = match total {
            _ if stuck => i64::MAX,
            total if stopped || total > MAX_OF_ROUND / 2 => (ahead / 2).max(1),
            total if total < MAX_OF_ROUND / 4 => ahead.saturating_mul(2),
            _ => ahead,
        };
        limits = matcher.limits(&read, ahead);
    }
    matcher.finish(sink)
}

/// By clock: the raw time up to which all its sources have been read.
fn read_to(sources: &[&mut dyn PacketSource], next: &[Option<RawNs>], clocks: usize) -> Vec<RawNs> {
    let mut read = vec![RawNs::MAX; clocks];
    for (source, next) in sources.iter().zip(next) {
        if let Some(next) = next {
            let read = &mut read[source.clock()];
            *read = (*read).min(next.saturating_sub(1));
        }
    }
    read
}

/// What is known of the clocks beforehand.
fn traced(
    sources: &[&mut dyn PacketSource],
    offsets_ns: &[i64],
    losses: Vec<Vec<Window<RawNs>>>,
) -> Vec<Traced> {
    let mut clocks: Vec<Option<Traced>> = vec![None; offsets_ns.len()];
    for source in sources {
        let Some(span) = source.span() else { continue };
        let offset_ns = offsets_ns[source.clock()];
        let clock = clocks[source.clock()].get_or_insert(Traced { span, offset_ns, losses: Vec::new() });
        clock.span = Window::new(clock.span.start.min(span.start), clock.span.end.max(span.end));
    }
    let mut clocks: Vec<Traced> = clocks.into_iter().map(Option::unwrap_or_default).collect();
    for (clock, losses) in clocks.iter_mut().zip(losses) {
        clock.losses = losses;
    }
    clocks
}
