//! Pairs departures and arrivals of one packet: which of them are certainly messages.
//!
//! A host that only sent the packet is its origin, one that only received it a destination, and one with both
//! has passed it on. Certain are the ways from the origin to each of the others, and from each host in
//! transit to each destination.

use std::ops::Range;

use isochrone_net::{known, protocol};

use super::alignment::Alignment;
use super::stored_sighting::{StoredSighting, bit};
use super::{Matched, MessageSink, Summary};

/// One packet passes all devices of a host within this time: kernels take microseconds, machines that are
/// emulated or starved of their processor some thousand times as long.
pub(super) const SAME_PACKET_NS: i64 = 5_000_000;
/// Datagrams without identification count only so long after the sender's trace began: an equal one may have
/// left before.
const MAX_TRANSIT_NS: i64 = 1_000_000_000;
/// Sightings of one loosest key by tracers of different families that are compared each with each.
const MAX_COMPARED: usize = 128;

/// Hosts that saw one packet and are compared two by two.
const MAX_UNDIRECTED: usize = 8;

/// Where messages and counts go.
pub(super) struct MatchSink<'m> {
    pub(super) sink: MessageSink<'m>,
    pub(super) summary: &'m mut Summary,
    pub(super) alignment: &'m mut Alignment,
}

/// The sightings of a packet by one host, as ranges of the slice of all sightings.
#[derive(Debug, Clone)]
struct HostSightings {
    clock: usize,
    received: Range<usize>,
    sent: Range<usize>,
}

impl MatchSink<'_> {
    /// Gives out a message, and learns from it how its clocks stand to each other.
    pub(super) fn message(&mut self, sent: &StoredSighting, received: &StoredSighting) {
        let of = |kept: &StoredSighting| (kept.clock as usize, kept.time);
        self.alignment.learn(of(sent), of(received));
        (self.sink)(&Matched { sent: sent.end(), received: received.end() });
    }

    /// Judges all sightings of one loosest key that can belong together, in the order of
    /// [`StoredSighting::compare`], and marks those that are answered.
    pub(super) fn judge(&mut self, sightings: &mut [StoredSighting]) {
        let Some(first) = sightings.first() else { return };
        let knowledge = first.knowledge();
        if sightings.iter().all(|kept| kept.knowledge() == knowledge) {
            for packet in sightings.chunk_by_mut(|a, b| a.identity() == b.identity()) {
                self.packet(packet);
            }
        } else if sightings.len() <= MAX_COMPARED {
            self.mixed(sightings);
        } else {
            for kept in sightings.iter_mut() {
                kept.bits |= bit::ANSWERED;
            }
            let hosts = |sent: u16| {
                let mut clocks: Vec<u32> =
                    sightings.iter().filter(|k| k.bits & bit::SENT == sent).map(|k| k.clock).collect();
                clocks.sort_unstable();
                clocks.dedup();
                clocks
            };
            for &sender in &hosts(bit::SENT) {
                for receiver in hosts(0).into_iter().filter(|&receiver| receiver != sender) {
                    self.summary.pair(sender as usize, receiver as usize).ambiguous += 1;
                }
            }
        }
        self.translated(sightings);
    }

    /// Tracers that know different parts: sightings hang together where a departure and an arrival agree.
    fn mixed(&mut self, sightings: &mut [StoredSighting]) {
        let mut parts: Vec<usize> = (0..sightings.len()).collect();
        for a in 0..sightings.len() {
            for b in 0..a {
                let opposite = (sightings[a].bits ^ sightings[b].bits) & bit::SENT != 0;
                if opposite && parts[a] != parts[b] && sightings[a].agrees(&sightings[b]) {
                    let (keep, drop) = (parts[a].min(parts[b]), parts[a].max(parts[b]));
                    parts.iter_mut().filter(|part| **part == drop).for_each(|part| *part = keep);
                }
            }
        }
        let mut numbered: Vec<(usize, StoredSighting)> =
            parts.into_iter().zip(sightings.iter().copied()).collect();
        numbered.sort_by_key(|(part, kept)| (*part, kept.clock, kept.bits & bit::SENT, kept.time));
        let numbers: Vec<usize> = numbered.iter().map(|(part, _)| *part).collect();
        for (place, (_, kept)) in sightings.iter_mut().zip(numbered) {
            *place = kept;
        }
        let mut begin = 0;
        for packet in numbers.chunk_by(|a, b| a == b) {
            self.packet(&mut sightings[begin..begin + packet.len()]);
            begin += packet.len();
        }
    }

    /// Judges the sightings of one packet, sorted by host, direction and time.
    fn packet(&mut self, seen: &mut [StoredSighting]) {
        let hosts = hosts(seen);
        if hosts.len() < 2 {
            return;
        }
        self.undirected(&hosts);
        let origins = hosts.iter().filter(|host| !host.sent.is_empty() && host.received.is_empty()).count();
        for x in hosts.iter().filter(|host| !host.sent.is_empty()) {
            for y in hosts.iter().filter(|host| !host.received.is_empty() && host.clock != x.clock) {
                // Which of two hosts in transit came first is not known.
                if !x.received.is_empty() && !y.sent.is_empty() {
                    continue;
                }
                let certain = if origins > 1 { None } else { self.certain(seen, x, y) };
                let (from, to) = (x.clock, y.clock);
                let pair = self.summary.pair(from, to);
                let left_over = match certain {
                    Some((sent, received)) => {
                        pair.messages += 1;
                        self.message(&sent, &received);
                        x.sent.len().min(y.received.len()) - 1
                    }
                    None => x.sent.len().min(y.received.len()),
                };
                if !(certain.is_some() && seen[x.sent.start].has_unique_id()) {
                    self.summary.pair(from, to).ambiguous += left_over as u64;
                }
                // Other departures of the same bytes may decide it.
                let bytes = certain.is_none() && origins < 2 && seen[x.sent.start].carries_bytes();
                for place in x.sent.clone().chain(y.received.clone()) {
                    seen[place].bits |= if bytes { bit::AMBIGUOUS } else { bit::ANSWERED };
                }
            }
        }
    }

    /// Counts a packet for each two hosts that saw it from the same side alone.
    fn undirected(&mut self, hosts: &[HostSightings]) {
        // A packet for many hosts says nothing of two of them.
        for (at, x) in hosts.iter().enumerate().filter(|_| hosts.len() <= MAX_UNDIRECTED) {
            for y in &hosts[at + 1..] {
                let sides = |host: &HostSightings| (!host.received.is_empty(), !host.sent.is_empty());
                if sides(x) != sides(y) {
                    continue;
                }
                let counts = self.summary.undirected.entry((x.clock, y.clock)).or_default();
                let (received, sent) =
                    (x.received.len().min(y.received.len()), x.sent.len().min(y.sent.len()));
                match sides(x) {
                    (true, false) => counts.received += received as u64,
                    (false, true) => counts.sent += sent as u64,
                    _ => counts.passed_on += received.min(sent) as u64,
                }
            }
        }
    }

    /// A departure from `x` that cannot have been later than the one that the arrival at `y` is of.
    fn certain(
        &self,
        seen: &[StoredSighting],
        x: &HostSightings,
        y: &HostSightings,
    ) -> Option<(StoredSighting, StoredSighting)> {
        let (sent, received) = (&seen[x.sent.clone()], &seen[y.received.clone()]);
        let (first, arrival) = (&sent[0], &received[0]);
        let is_tcp = first.key.protocol == protocol::TCP;
        let is_origin = x.received.is_empty();
        let at_once = |side: &[StoredSighting]| {
            side[side.len() - 1].time.saturating_since(side[0].time) <= SAME_PACKET_NS
        };
        let one_id = sent.iter().chain(received).all(|k| k.has_unique_id() && k.key.ip_id == first.key.ip_id);
        if one_id {
            if at_once(sent) && (is_tcp || at_once(received)) {
                // Two devices on top of each other: the lower one is nearer to the wire. With more, or a
                // packet for many, they may lie side by side. One device that saw it twice may have seen two
                // packets, and so may any device where nothing is known of a datagram but its length.
                let stacked = sent.len() == 2
                    && (is_tcp || first.has(bit::CHECKED))
                    && is_origin
                    && !first.has(bit::GROUP)
                    && first.is_elsewhere(&sent[sent.len() - 1]);
                return Some((sent[usize::from(stacked)], *arrival));
            }
            return (is_tcp && is_origin && first.has(bit::FRESH)).then_some((*first, *arrival));
        }
        let crowded = first.has(bit::CROWDED) || arrival.has(bit::CROWDED);
        let alone = sent.len() == 1 && received.len() == 1 && !crowded;
        let certain = match first.key.protocol {
            protocol::TCP if alone => !first.has(bit::DOUBTFUL),
            protocol::TCP => is_origin && first.has(bit::FRESH),
            protocol::UDP => alone && self.is_under_way(x.clock, arrival),
            // An echo counts itself.
            _ => alone,
        };
        certain.then_some((*first, *arrival))
    }

    /// Whether the sender had been traced for some time when a packet arrived.
    fn is_under_way(&self, sender: usize, arrival: &StoredSighting) -> bool {
        let arrived = self.alignment.common(arrival.clock as usize, arrival.time);
        arrived.saturating_sub(self.alignment.begin(sender)) >= MAX_TRANSIT_NS
    }

    /// A segment that left one host and arrived at another with the same numbers but other addresses or ports
    /// has passed a translator, if nothing else can have been meant: among all with these numbers, its size,
    /// flags and identification are those of these two alone.
    fn translated(&mut self, sightings: &mut [StoredSighting]) {
        let is_open = |kept: &StoredSighting| kept.bits & (bit::ANSWERED | bit::AMBIGUOUS) == 0;
        let open: Vec<usize> = (0..sightings.len()).filter(|&place| is_open(&sightings[place])).collect();
        if open.len() < 2 || open.len() > MAX_COMPARED {
            return;
        }
        for &place in &open {
            let sent = sightings[place];
            if !sent.has(bit::SENT) {
                continue;
            }
            let is_like = |kept: &StoredSighting, other: usize| {
                other != place && kept.agrees_but_for_endpoints(&sightings[other])
            };
            let mut like = open.iter().copied().filter(|&other| is_like(&sent, other));
            let (Some(arrival), None) = (like.next(), like.next()) else { continue };
            let received = sightings[arrival];
            let only = open.iter().all(|&other| other == arrival || !is_like(&received, other));
            if only && is_translated(&sent, &received) {
                let pair = self.summary.pair(sent.clock as usize, received.clock as usize);
                pair.messages += 1;
                pair.translated += 1;
                self.message(&sent, &received);
                sightings[place].bits |= bit::ANSWERED;
                sightings[arrival].bits |= bit::ANSWERED;
            }
        }
    }
}

/// Whether two sightings that agree but for their places are certainly of one segment.
fn is_translated(sent: &StoredSighting, received: &StoredSighting) -> bool {
    let known = known::ADDRESSES | known::PORTS | known::SIZE;
    // Two numbers of 32 bits identify a segment; a SYN has only one.
    let is_unlike_others = sent.key.protocol == protocol::TCP && sent.key.ack() != 0;
    let certain = (sent.has_unique_id() && received.has_unique_id()) || !sent.has(bit::DOUBTFUL);
    !received.has(bit::SENT)
        && sent.clock != received.clock
        && is_unlike_others
        && certain
        && sent.key.knows(known)
        && received.key.knows(known)
}

/// The hosts in sightings that are sorted by host, direction and time. A sighting in two overlapping traces
/// of a host is one.
fn hosts(seen: &[StoredSighting]) -> Vec<HostSightings> {
    let mut hosts: Vec<HostSightings> = Vec::new();
    let mut begin = 0;
    for of_host in seen.chunk_by(|a, b| a.clock == b.clock) {
        let arrivals = of_host.iter().take_while(|kept| !kept.has(bit::SENT)).count();
        let (middle, end) = (begin + arrivals, begin + of_host.len());
        hosts.push(HostSightings {
            clock: of_host[0].clock as usize,
            received: begin..middle,
            sent: middle..end,
        });
        begin = end;
    }
    hosts
}
