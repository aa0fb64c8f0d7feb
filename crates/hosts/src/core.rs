//! The core of a chunk: the window in which what is read of a host does not depend on the chunks before and
//! after it.
//!
//! A rotation is not atomic, and what was lost at one is only shown by both sides: the first packet of a
//! stream counts what was discarded before it, its number shows whether packets are missing, and a stream
//! that ends continues in the next chunk or is over. So a chunk that is read alone is certain from where all
//! of its streams have shown that, to where the first of them ends.

use isochrone_time::{RawNs, Window};

use crate::host::Host;
use crate::source::{EventSource, SLACK};

impl Host<'_> {
    /// The window in which no stream of the kernel begins, continues from another chunk, or ends, raw ns:
    /// events in it, and the losses of the kernel, are those of the whole of which the traces are a chunk, if
    /// that has the same CPUs and channels there. Streams of programs are taken to turn over within 250 ms
    /// of the kernel's: where they did not, the whole shows that they have events in the window.
    ///
    /// `None` where there is no such window, a packet records no time, a file of a stream has no packet, or
    /// the kernel was not traced.
    ///
    /// Linear in the streams, and in the events of their last packets.
    pub fn core(&self) -> Option<Window<RawNs>> {
        // What is not there of a stream without a packet is unknown to its end.
        if !self.is_full() {
            return None;
        }
        let with_packets = || self.sources().iter().filter(|source| !source.packets().is_empty());
        let of_kernel = || with_packets().filter(|source| source.is_kernel);
        let of_programs = || with_packets().filter(|source| !source.is_kernel);
        let starts: Option<Vec<RawNs>> = of_kernel().map(certain_from).collect();
        let ends: Option<Vec<RawNs>> = of_kernel().map(certain_to).collect();
        let (start, end) = (starts?.into_iter().max()?, ends?.into_iter().min()?);
        let near = |time: &RawNs, to: RawNs| (*time - to).abs() <= TURN;
        let later = of_programs().filter_map(EventSource::begin).filter(|begin| near(begin, start));
        let earlier = of_programs().filter_map(EventSource::end).filter(|at| near(at, end));
        let (start, end) = (later.fold(start, RawNs::max), earlier.fold(end, RawNs::min));
        // Events lie so far outside of what packets say, and count so much later than they are.
        let (start, end) = (start.saturating_add(2 * SLACK + 1), end.saturating_sub(2 * SLACK));
        (start < end).then_some(Window::new(start, end))
    }
}

/// Streams turn over to the next chunk within this time, ns: some ms where a host has few CPUs.
const TURN: i64 = 250_000_000;

/// From where on a stream does not depend on what its chunk before holds.
fn certain_from(source: &EventSource<'_>) -> Option<RawNs> {
    let first = source.packets().start;
    let begin = source.begin_of(first)?;
    let has_discarded = source.counters_of(first)?.discarded.is_some_and(|count| count.value > 0);
    Some(if has_discarded { source.end_of(first).max(begin) } else { begin })
}

/// To where a stream does not depend on what its next chunk holds.
fn certain_to(source: &EventSource<'_>) -> Option<RawNs> {
    let last = source.packets().last()?;
    let mut events = source.trace().packet(source.stream, last);
    events.by_ref().for_each(drop);
    if events.error().is_some() { source.begin_of(last) } else { source.end() }
}
