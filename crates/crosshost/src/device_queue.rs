//! How long packets wait in the queue of a network device: from `net_dev_queue` until the device has taken them, `net_dev_xmit`.
//!
//! Both events name the buffer that holds the packet. The kernel uses the memory of a buffer again for other packets, so a device has taken
//! the packet that was queued in that buffer last. One that goes through stacked devices (a VLAN on a card) is queued once more for
//! each, and the outer device has taken it when the inner one has.

use isochrone_store::{HostStore, PacketSpan, StoreError};
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

/// When devices took the packets among some (by time) that were queued: by the instant and the CPU of their events. Those that were dropped
/// are not in it, nor those with an event that may be missing. Linear in the packets of the window, in the times in which
/// something is missing, times the logarithm of these.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn taken(
    store: &HostStore,
    packets: &[PacketSpan],
    window: Window<RawNs>,
) -> Result<FxHashMap<(RawNs, u32), RawNs>, StoreError> {
    let mut events: Vec<Event<'_>> = packets
        .iter()
        .filter(|packet| packet.is_sent)
        .filter_map(|packet| Some(Event { at: packet.at, buffer: packet.buffer?, queued: Some(packet) }))
        .collect();
    store.packets_taken(window, |it| events.push(Event { at: it.at, buffer: it.buffer, queued: None }))?;
    // Where both are recorded at one instant, a packet is queued before it is taken.
    events.sort_by_key(|event| (event.at, event.queued.is_none()));
    let mut losses: Vec<(RawNs, RawNs)> =
        store.losses(window)?.into_iter().map(|loss| (loss.start, loss.end)).collect();
    losses.sort_unstable();
    // Of each and all before it: until when something is missing.
    let mut until = RawNs::MIN;
    for loss in &mut losses {
        until = until.max(loss.1);
        loss.1 = until;
    }
    let is_whole = |from: RawNs, to: RawNs| {
        let before = losses.partition_point(|loss| loss.0 < to);
        losses[..before].last().is_none_or(|loss| loss.1 <= from)
    };
    Ok(pairs(&events).filter(|&(queued, at)| is_whole(queued.0, at)).collect())
}

/// A packet is queued, or taken.
#[derive(Debug, Clone, Copy)]
struct Event<'p> {
    at: RawNs,
    buffer: u64,
    queued: Option<&'p PacketSpan>,
}

/// Joins events, by time: instant and CPU of what was queued, and when that was taken.
fn pairs(events: &[Event<'_>]) -> impl Iterator<Item = ((RawNs, u32), RawNs)> {
    // By buffer: the same packet in the queues of stacked devices, the last one last.
    let mut waiting: FxHashMap<u64, Vec<&PacketSpan>> = FxHashMap::default();
    let mut pairs = Vec::new();
    for event in events {
        let here = waiting.entry(event.buffer).or_default();
        match event.queued {
            Some(packet) => {
                if here.last().is_some_and(|last| last.flow != packet.flow) {
                    // Another packet: the one before was dropped.
                    here.clear();
                }
                here.push(packet);
            }
            None => pairs.extend(here.pop().map(|packet| ((packet.at, packet.cpu), event.at))),
        }
    }
    pairs.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use isochrone_net::{Carried, Flow};

    /// Checks when packets are taken: events are `q` (queued) or `t` (taken), the buffer, and the sequence number of what is
    /// queued; each is at ten times its index.
    fn check(script: &str, expect: &[(i64, i64)]) {
        let packet = |at: RawNs, buffer: u64, seq: u32| PacketSpan {
            at,
            cpu: 0,
            thread: None,
            device: "eth0".into(),
            bytes: 100,
            is_sent: true,
            buffer: Some(buffer),
            flow: Some((
                Flow {
                    protocol: isochrone_net::protocol::TCP,
                    source: ([10, 0, 0, 1], 1).into(),
                    destination: ([10, 0, 0, 2], 2).into(),
                },
                Carried { seq: Some(seq), ..Carried::default() },
            )),
        };
        let numbers = |step: &str| -> Vec<u64> {
            step.get(1..).unwrap_or_default().split('/').filter_map(|number| number.parse().ok()).collect()
        };
        let steps: Vec<(RawNs, Vec<u64>)> =
            (0..).map(|index| RawNs(index * 10)).zip(script.split(' ').map(numbers)).collect();
        let packets: Vec<Option<PacketSpan>> = steps
            .iter()
            .map(|(at, numbers)| numbers.get(1).map(|&seq| packet(*at, numbers[0], seq as u32)))
            .collect();
        let events: Vec<Event<'_>> = steps
            .iter()
            .zip(&packets)
            .map(|((at, numbers), queued)| Event { at: *at, buffer: numbers[0], queued: queued.as_ref() })
            .collect();
        let mut found: Vec<(i64, i64)> = pairs(&events).map(|((at, _), taken)| (at.0, taken.0)).collect();
        found.sort_unstable();
        assert_eq!(found, expect, "{script}");
    }

    #[test]
    fn packets_are_taken_by_their_buffers() {
        check("q7/1 t7", &[(0, 10)]);
        check("q7/1 q8/2 t8 t7", &[(0, 30), (10, 20)]);
        // Through a VLAN.
        check("q7/1 q7/1 t7 t7", &[(0, 30), (10, 20)]);
        // The first one was dropped, and its buffer used again.
        check("q7/1 q7/2 t7 t7", &[(10, 20)]);
        check("t7 q7/1", &[]);
    }
}
