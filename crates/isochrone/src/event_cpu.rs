//! The CPU of events: that of their packets, else that of their contexts. For filters of events and their CSV.

use isochrone_ctf::{Event, FieldRef, Packet};
use isochrone_kernel::cpu_of;
use rustc_hash::FxHashMap;

/// The CPUs of packets and events, looked up once for each packet and class.
#[derive(Default)]
pub(crate) struct EventCpus {
    /// By trace and stream: the last packet, and its CPU.
    packets: FxHashMap<(usize, usize), (*const Packet, Option<u32>)>,
    /// By trace, stream class and event class: the context with the CPU.
    contexts: FxHashMap<(usize, usize, usize), Option<FieldRef>>,
}

impl EventCpus {
    /// The CPU of an event of the trace of a number.
    pub(crate) fn of(&mut self, source: usize, event: &Event<'_>) -> Option<u32> {
        let packet = event.packet();
        let of_packet = self.packets.entry((source, event.stream())).or_insert((std::ptr::null(), None));
        if !std::ptr::eq(of_packet.0, packet) {
            *of_packet = (packet, cpu_of(event.trace(), event.stream(), packet));
        }
        of_packet.1.or_else(|| self.own(source, event))
    }

    fn own(&mut self, source: usize, event: &Event<'_>) -> Option<u32> {
        let class = event.trace().streams()[event.stream()].class;
        let context = self
            .contexts
            .entry((source, class, event.class().index))
            .or_insert_with(|| event.class().context_field(event.stream_plan(), "cpu_id"));
        u32::try_from(event.unsigned(context.as_ref()?)?).ok()
    }
}
