//! Packets that several captures hold, and what they show of where these were taken.
//!
//! Let a packet pass capture a first and then b, and a later one, which goes the other way, b first and then
//! a. Then more time passes between the two at a than at b: by the delays between a and b there and back. How
//! the two clocks stand to each other does not matter, nor whether the one packet answers the other. So the
//! sign of that difference tells which of the two captures is nearer to the sender of the first packet. Where
//! it is the same for nearly all neighbouring packets, the order is proven, provided that stamps are those of
//! frames on their way: stamps that come late by as much as the delays show no sign that stays.
//!
//! Of each capture, a sample of packets is kept: those of the least hashes, which are the same packets in all
//! captures, whatever their clocks show.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use isochrone_capture::Frame;
use isochrone_net::{Packet, known, protocol};

use super::CaptureFacts;
use super::vantage::{Exchanges, Station, VantagePoint, Why};

/// Packets that are kept of a capture.
const MAX_PACKETS: usize = 1 << 14;
/// Pairs of packets that must show the same order at least.
const MIN_PAIRS: u64 = 8;
/// Pairs that may show another order, of a hundred: a clock that was set between two packets, a stamp that is
/// wrong.
const MAX_CONTRARY_PERCENT: u64 = 1;
/// How far the rates of two clocks may differ, as a part: twice as much as of clocks that run.
const RATES: i128 = 1000;
/// Packets that are farther apart are not compared: there and back no packet takes so long.
const APART_NS: i128 = 10_000_000_000;

/// A sample of the packets of a capture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PacketSample {
    by_hash: BTreeMap<u64, Kept>,
}

/// A packet of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    /// When it was seen first: the earliest and the latest instant that its stamp can mean, ns.
    time: (i64, i64),
    interface: usize,
    sender: Option<Station>,
    /// How often it was seen.
    times: u32,
    /// When, and by which interface, it was seen the second time.
    second: Option<(i64, usize)>,
}

impl PacketSample {
    /// Takes a packet in. `O(log n)`, and less where it is not kept.
    pub(super) fn add(&mut self, frame: &Frame, packet: &Packet) {
        let hash = hash(packet);
        if self.by_hash.len() >= MAX_PACKETS
            && self.by_hash.last_key_value().is_some_and(|(&last, _)| hash > last)
        {
            return;
        }
        let time = (frame.stamp.earliest_ns, frame.stamp.latest_ns);
        if let Some(kept) = self.by_hash.get_mut(&hash) {
            kept.times += 1;
            kept.second = kept.second.or(Some((time.0, frame.interface)));
            return;
        }
        let sender = Station::sender(frame);
        self.by_hash.insert(hash, Kept { time, interface: frame.interface, sender, times: 1, second: None });
        if self.by_hash.len() > MAX_PACKETS {
            self.by_hash.pop_last();
        }
    }

    /// Where most packets are there twice, about the same time apart: that time, ns. `None` where copies
    /// follow each other as on the devices of one host.
    pub fn twice_apart_ns(&self) -> Option<i64> {
        /// Copies of a packet on the devices of a host are not farther apart.
        const SAME_HOST_NS: i64 = 5_000_000;
        let apart = |kept: &Kept| {
            let (time, interface) = kept.second.filter(|_| kept.times == 2)?;
            let apart = time.saturating_sub(kept.time.0);
            // One way round, whichever of the two stamps comes first in the file.
            Some(if interface < kept.interface { apart.saturating_neg() } else { apart })
        };
        let mut all: Vec<i64> = self.by_hash.values().filter_map(apart).collect();
        all.sort_unstable();
        let middle = *all.get(all.len() / 2)?;
        let near = all.iter().filter(|apart| apart.abs_diff(middle) <= middle.unsigned_abs() / 4).count();
        let is_most =
            all.len() as u64 >= MIN_PAIRS && all.len() * 2 > self.by_hash.len() && near * 10 >= all.len() * 9;
        (is_most && middle.saturating_abs() > SAME_HOST_NS).then_some(middle.saturating_abs())
    }
}

/// Of what a packet is by itself: translators may change its addresses and ports.
fn hash(packet: &Packet) -> u64 {
    let mut key = packet.key();
    if key.protocol == protocol::TCP {
        (key.addresses, key.ports) = (0, (0, 0));
        key.known &= !(known::ADDRESSES | known::PORTS | known::V6);
    }
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    if let isochrone_net::Transport::Udp(datagram) = &packet.transport {
        datagram.check.hash(&mut hasher);
    }
    hasher.finish()
}

/// What two captures show of each other.
#[derive(Debug, Default, Clone, Copy)]
struct Order {
    /// Packets that both hold.
    shared: u64,
    /// Pairs of packets that go opposite ways.
    compared: u64,
    /// Of these, pairs between which more time passes in the first one, as if it was nearer to the station in
    /// question; and those with less.
    nearer: u64,
    farther: u64,
}

impl Order {
    /// Whether the first capture is nearer to the station than the other one; `None` where that is not
    /// certain.
    fn is_nearer(self) -> Option<bool> {
        let all = self.nearer + self.farther;
        let is_certain = |few: u64| all >= MIN_PAIRS && few * 100 <= all * MAX_CONTRARY_PERCENT;
        match (is_certain(self.farther), is_certain(self.nearer)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

/// Compares packets of an interface of a capture, those of a station and those for it, with those of another
/// capture. `O(n log n)`.
fn order(of: &PacketSample, interface: usize, station: Station, other: &PacketSample) -> Order {
    let mut shared = Vec::new();
    for (hash, kept) in of.by_hash.iter().filter(|(_, kept)| kept.interface == interface && kept.times == 1) {
        let Some(there) = other.by_hash.get(hash).filter(|there| there.times == 1) else { continue };
        shared.push((kept.time, there.time, kept.sender == Some(station)));
    }
    shared.sort_unstable();
    let mut order = Order { shared: shared.len() as u64, ..Order::default() };
    for pair in shared.windows(2) {
        let [(here, there, sent), (here_next, there_next, sent_next)] = [pair[0], pair[1]];
        if sent == sent_next {
            continue;
        }
        let between = |first: (i64, i64), next: (i64, i64)| i128::from(next.0) - i128::from(first.0);
        let (here_between, there_between) = (between(here, here_next), between(there, there_next));
        let gap = here_between.abs().max(there_between.abs());
        let tick = |stamp: (i64, i64)| i128::from(stamp.1) - i128::from(stamp.0);
        let unsure = gap / RATES + tick(here).max(tick(here_next)) + tick(there).max(tick(there_next));
        // A packet of the station first, and one for it after that: nearer to the station more time passes.
        let longer = if sent { here_between - there_between } else { there_between - here_between };
        if gap <= APART_NS {
            order.compared += 1;
            order.nearer += u64::from(longer > unsure);
            order.farther += u64::from(-longer > unsure);
        }
    }
    order
}

/// Decides by packets in several captures where those were taken whose own frames do not show it, or let it
/// be guessed. `names`: of the captures. Quadratic in the captures.
pub(super) fn decide(names: &[String], facts: &mut [CaptureFacts]) {
    let mut decided = Vec::new();
    for (capture, of) in facts.iter().enumerate().filter(|(_, facts)| !facts.places.is_said()) {
        for (interface, place) in of.places.by_interface.iter().enumerate() {
            let (VantagePoint::Either([near, _]) | VantagePoint::Host(near), Some(_)) =
                (place.point, &place.guessed)
            else {
                continue;
            };
            let mut orders = Vec::new();
            for (other, there) in facts.iter().enumerate().filter(|(other, _)| *other != capture) {
                let order = order(&of.sample, interface, near, &there.sample);
                if order.compared >= MIN_PAIRS {
                    orders.push((order.is_nearer(), order, other));
                }
            }
            let Some(&(Some(is_nearer), order, other)) =
                orders.iter().max_by_key(|(_, order, _)| order.shared)
            else {
                continue;
            };
            // Of copies with stamps that come late, say, one is nothing to go by where another one shows no
            // order.
            if orders.iter().any(|(found, ..)| found.is_none()) {
                continue;
            }
            let agree = orders.iter().all(|(found, ..)| *found == Some(is_nearer));
            let all = order.nearer + order.farther;
            let exchanges = Exchanges {
                other: names[other].clone(),
                shared: order.shared,
                longer: (order.nearer.max(order.farther), all),
            };
            let found = match (place.point, agree) {
                (VantagePoint::Either([near, far]), true) => Some((
                    VantagePoint::Host(if is_nearer { near } else { far }),
                    Why::Exchanges(exchanges),
                    Some(is_nearer),
                )),
                (VantagePoint::Host(_), true) if is_nearer => None,
                _ => Some((VantagePoint::Way, Why::Between, None)),
            };
            decided.extend(found.map(|found| (capture, interface, found)));
        }
    }
    for (capture, interface, (point, why, is_nearer)) in decided {
        let place = &mut facts[capture].places.by_interface[interface];
        (place.point, place.why) = (point, why);
        // Of two stations, one is left.
        if let (Some(guessed), Some(is_nearer)) = (&mut place.guessed, is_nearer) {
            guessed.truncate(2);
            if guessed.len() == 2 {
                guessed.swap_remove(usize::from(is_nearer));
            }
        }
    }
}
