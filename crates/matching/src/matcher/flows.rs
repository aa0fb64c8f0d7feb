//! What has left each host of each TCP connection: whether a departure can be a repetition of one before.
//!
//! A reception proves only that some copy of a packet left before it. Which copy matters where the packet has
//! no identification that distinguishes copies: then the first departure is a bound that holds for all of
//! them, provided that it is the first. It is where the sender's numbers go on from those of an earlier
//! departure; and not for certain in the first moments of a trace or after a loss of events, when a sender
//! may repeat what left unrecorded.

use std::collections::HashMap;

use isochrone_net::{flags, known, protocol};
use isochrone_time::{RawNs, Window};

use super::stored_sighting::{StoredSighting, bit};

/// A connection that was under way when tracing began is trusted after so long: repairing a loss takes a few
/// round trips.
const SETTLED_NS: i64 = 1_000_000_000;
/// Connections kept before those without recent departures are forgotten: 2¹⁸ of them take about 20 MiB.
const MAX_FLOWS: usize = 1 << 18;
/// A connection whose last departure is this long ago is the first to be forgotten.
const IDLE_NS: i64 = 60_000_000_000;

/// The connections that hosts send on.
#[derive(Debug, Default)]
pub(super) struct Flows {
    /// By clock, addresses and ports.
    by_key: HashMap<(u32, u64, (u16, u16)), Flow>,
    /// By clock: when losses of its tracer begin and end, each in order.
    losses: Vec<(Vec<RawNs>, Vec<RawNs>)>,
    /// By clock: the last departure.
    latest: Vec<RawNs>,
}

#[derive(Debug)]
struct Flow {
    /// The number after the last byte that left.
    end: u32,
    /// The latest acknowledgement that left: the first segment of a connection has none.
    ack: Option<u32>,
    /// How many losses of the host's tracer had ended.
    losses: usize,
    /// Whether a segment without bytes left with these two numbers.
    bare: bool,
    /// Whether the connection's begin was seen.
    opened: bool,
    first: RawNs,
    last: RawNs,
}

impl Flows {
    /// `losses`: by clock, times between which events are missing.
    pub(super) fn new<'l>(losses: impl Iterator<Item = &'l Vec<Window<RawNs>>>) -> Self {
        let sorted = |losses: &'l Vec<Window<RawNs>>| {
            let (mut begins, mut ends): (Vec<_>, Vec<_>) =
                losses.iter().map(|loss| (loss.start, loss.end)).unzip();
            begins.sort_unstable();
            ends.sort_unstable();
            (begins, ends)
        };
        let losses: Vec<_> = losses.map(sorted).collect();
        let latest = vec![RawNs::MIN; losses.len()];
        Self { by_key: HashMap::new(), losses, latest }
    }

    /// Says that events of a host are missing between two raw times, the latter of which no departure has
    /// come to.
    pub(super) fn lose(&mut self, clock: usize, loss: Window<RawNs>) {
        let (begins, ends) = &mut self.losses[clock];
        begins.insert(begins.partition_point(|&known| known <= loss.start), loss.start);
        ends.insert(ends.partition_point(|&known| known <= loss.end), loss.end);
    }

    /// Marks a departure by what is known of the copies of it that may have left before. Departures of a host
    /// come in the order of time.
    pub(super) fn depart(&mut self, kept: &mut StoredSighting) {
        if kept.key.protocol != protocol::TCP || !kept.key.knows(known::ADDRESSES | known::PORTS) {
            return;
        }
        let clock = kept.clock as usize;
        let (begins, ends) = &self.losses[clock];
        let losses = ends.partition_point(|&end| end < kept.time);
        let losing = begins.partition_point(|&begin| begin <= kept.time) > losses;
        self.latest[clock] = self.latest[clock].max(kept.time);
        let (seq, time) = (kept.key.seq(), kept.time);
        let opens = kept.key.flags & flags::SYN != 0;
        let end = seq
            .wrapping_add(kept.key.size)
            .wrapping_add(u32::from(opens))
            .wrapping_add(u32::from(kept.key.flags & flags::FIN != 0));
        let bare = end == seq;
        let acknowledges = kept.key.flags & flags::ACK != 0;
        let ack = acknowledges.then_some(kept.key.ack());
        let start = Flow { end, ack, losses, bare, opened: opens, first: time, last: time };
        let key = (kept.clock, kept.key.addresses, kept.key.ports);
        let flow = match self.by_key.entry(key) {
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(start);
                kept.bits |= if opens { 0 } else { bit::DOUBTFUL };
                return;
            }
            std::collections::hash_map::Entry::Occupied(occupied) => occupied.into_mut(),
        };
        if losses != flow.losses || (opens && end != flow.end) {
            *flow = start;
            kept.bits |= if opens { 0 } else { bit::DOUBTFUL };
            return;
        }
        let ahead = seq.wrapping_sub(flow.end).cast_signed();
        let newer = |ack: u32| flow.ack.is_none_or(|last| ack.wrapping_sub(last).cast_signed() > 0);
        let newer_ack = ack.is_some_and(newer);
        let new_bytes = ahead >= 0 && !bare;
        let first_bare = ahead == 0 && bare && !flow.bare;
        let trusted = !losing && (flow.opened || time.saturating_since(flow.first) >= SETTLED_NS);
        kept.bits |= match new_bytes || ahead > 0 || newer_ack || first_bare {
            true if trusted => bit::FRESH,
            true => 0,
            false => bit::DOUBTFUL,
        };
        if new_bytes && trusted {
            kept.bits |= bit::FRESH_BYTES;
        }
        if end != flow.end && ahead >= 0 || newer_ack {
            flow.bare = false;
        }
        if ahead >= 0 {
            flow.end = end;
            flow.bare |= bare;
        }
        if newer_ack {
            flow.ack = ack;
        }
        flow.last = flow.last.max(time);
    }

    /// Forgets connections when there are too many. Those that go on are then as if they began.
    pub(super) fn tidy(&mut self) {
        if self.by_key.len() > MAX_FLOWS {
            let latest = &self.latest;
            self.by_key.retain(|key, flow| flow.last >= latest[key.0 as usize].saturating_sub(IDLE_NS));
        }
        if self.by_key.len() > MAX_FLOWS {
            self.by_key.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::tests::{S, tcp};

    /// Departures as `(time, seq, ack, payload, flags)` and what is said of each: `d`oubtful, `n`ew, `f`resh,
    /// fresh `b`ytes.
    fn check(losses: &[(i64, i64)], departures: &[(i64, u32, u32, u32, u8, char)]) {
        let losses = losses.iter().map(|&(start, end)| Window::new(RawNs(start), RawNs(end))).collect();
        let mut flows = Flows::new([losses].iter());
        for &(time, seq, ack, payload, flags, expect) in departures {
            let mut kept = StoredSighting::new(
                &tcp(0, '>', time).seq(seq).ack(ack).payload(payload).flags(flags).done(),
            );
            flows.depart(&mut kept);
            let found = match kept.bits {
                bits if bits & bit::DOUBTFUL != 0 => 'd',
                bits if bits & bit::FRESH_BYTES != 0 => 'b',
                bits if bits & bit::FRESH != 0 => 'f',
                _ => 'n',
            };
            assert_eq!(found, expect, "at {time}: seq {seq}");
        }
    }

    #[test]
    fn numbers_that_go_on_are_new() {
        // The connection's begin is seen.
        check(
            &[],
            &[
                (0, 9, 0, 0, 2, 'n'),
                (1, 10, 5, 0, 16, 'f'),
                (2, 10, 5, 100, 16, 'b'),
                (3, 110, 5, 1, 16, 'b'),
            ],
        );
        // It is not: the first may be a repetition, and nothing is sure in the first second.
        check(&[], &[(0, 10, 5, 10, 16, 'd'), (1, 20, 5, 10, 16, 'n'), (2 * S, 30, 5, 10, 16, 'b')]);
    }

    #[test]
    fn repetitions_are_doubtful() {
        check(
            &[],
            &[
                (0, 9, 0, 0, 2, 'n'),
                (1, 9, 0, 0, 2, 'd'),
                (2, 10, 5, 100, 16, 'b'),
                (3, 10, 5, 100, 16, 'd'),
                (4, 110, 5, 0, 16, 'f'),
                (4, 110, 5, 0, 16, 'd'),
                // The same bytes with a newer acknowledgement are a packet that never left before, but old
                // bytes.
                (5, 10, 6, 100, 16, 'f'),
                // A probe of the window's state.
                (6, 109, 6, 0, 16, 'd'),
                (7, 110, 6, 10, 16, 'b'),
            ],
        );
    }

    #[test]
    fn numbers_wrap() {
        let high = u32::MAX - 49;
        check(
            &[],
            &[
                (0, high - 1, 0, 0, 2, 'n'),
                (1, high, high, 0, 16, 'f'),
                (2, high, high, 100, 16, 'b'),
                (3, 50, 5, 100, 16, 'b'),
                (4, high, 5, 9, 16, 'd'),
                (5, 150, high, 0, 16, 'f'),
                (6, 150, high, 0, 16, 'd'),
            ],
        );
    }

    #[test]
    fn a_loss_of_events_ends_what_is_known() {
        let departures = [
            (0, 9, 0, 0, 2, 'n'),
            (1, 10, 5, 100, 16, 'b'),
            (3, 110, 5, 10, 16, 'n'),
            (6, 120, 5, 10, 16, 'd'),
            (7, 130, 5, 10, 16, 'n'),
            (2 * S, 140, 5, 10, 16, 'b'),
        ];
        check(&[(2, 5)], &departures);
    }

    #[test]
    fn a_port_used_anew_begins_anew() {
        check(
            &[],
            &[(0, 9, 0, 0, 2, 'n'), (1, 10, 5, 9, 16, 'b'), (2, 5, 0, 0, 2, 'n'), (3, 6, 1, 9, 16, 'b')],
        );
    }
}
