//! Where an event lies in its packet, without a reference to the trace: the event can be had of it again.

use super::{Event, Trace};

/// The place of an event, and what was decoded of its header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventPlace {
    /// Where it begins, in bits from the packet's start; its header follows at the next border.
    pub(crate) header: u64,
    /// Where what follows the header begins.
    pub(crate) body: u64,
    /// Where it ends.
    pub(crate) end: u64,
    /// 0 where the stream has no clock.
    pub(crate) cycles: u64,
    /// Index of its class in the stream class.
    pub(crate) class: usize,
}

impl EventPlace {
    /// That of an event.
    #[inline]
    pub(crate) fn of(event: &Event<'_>) -> Self {
        let &Event { header, body, end, cycles, class, .. } = event;
        Self { header, body, end, cycles, class: class.index }
    }

    /// The events at some places of the packet with an index in a stream of the trace.
    pub(crate) fn events<'t>(
        places: &[Self],
        trace: &'t Trace,
        stream: usize,
        packet: usize,
    ) -> impl Iterator<Item = Event<'t>> {
        let packet = &trace.streams()[stream].packets[packet];
        let (bytes, plan) = (trace.packet_bytes(packet), trace.stream_plan(stream));
        places.iter().map(move |&Self { header, body, end, cycles, class }| {
            let class = &plan.events[class];
            Event { trace, packet, bytes, header, body, end, cycles, stream, plan, class }
        })
    }
}
