//! When the first and the last event of a host are. What packets say of themselves is wider: a tracer opens
//! its buffers before the first event, and closes them after the last.

use std::cmp::Reverse;

use isochrone_time::{RawNs, Window};

use crate::cursor::StreamCursor;
use crate::host::Host;
use crate::source::EventSource;

impl<'t> EventSource<'t> {
    fn from(&self, start: RawNs) -> (StreamCursor<'_, 't>, Option<RawNs>) {
        StreamCursor::new(self, 0, Window::new(start, RawNs::MAX))
    }

    /// The time of its last event from the start of a packet on.
    fn last_from(&self, packet: usize) -> Option<RawNs> {
        let (mut cursor, mut last) = self.from(self.earliest_of(packet));
        while let Some(time) = last.and_then(|_| cursor.advance()) {
            last = Some(time);
        }
        last
    }
}

impl Host<'_> {
    /// The time of the first event, raw ns; `None` where no event can be decoded, as where only the heads of
    /// packets are at hand. Reads the first events of each source that begins before what was found.
    pub fn first_event(&self) -> Option<RawNs> {
        let mut sources: Vec<_> =
            self.sources().iter().map(|it| (it.earliest_of(it.first_packet()), it)).collect();
        sources.sort_by_key(|&(earliest, _)| earliest);
        let mut first = None;
        for (earliest, source) in sources {
            if first.is_some_and(|first| first <= earliest) {
                break;
            }
            let (_, time) = source.from(RawNs::MIN);
            first = first.into_iter().chain(time).min();
        }
        first
    }

    /// The time of the last event, raw ns; `None` as for [`Host::first_event`]. Reads the last packets of
    /// each source that may have an event after what was found: of a session that was stopped, of all.
    pub fn last_event(&self) -> Option<RawNs> {
        let latest = |it: &EventSource<'_>| it.packets().next_back().map(|packet| it.latest_of(packet));
        let mut sources: Vec<_> = self.sources().iter().map(|it| (latest(it), it)).collect();
        sources.sort_by_key(|&(latest, _)| Reverse(latest));
        let mut last = None;
        for (_, source) in sources {
            for packet in source.packets().rev() {
                if last.is_some_and(|last| last >= source.latest_of(packet)) {
                    break;
                }
                let of_source = source.last_from(packet);
                last = last.max(of_source);
                if of_source.is_some() {
                    break;
                }
            }
        }
        last
    }
}
