//! Where a capture was taken, as its own frames show: an end host's own address is part of every frame that
//! is not for a group (of several such the one in most). Between two stations that only talk to each other,
//! Ethernet's padding can still show it (a host sees its own short frames before they are padded and those of
//! others after that), and so can hop counts: what comes from a router has passed one, what the host sends
//! has not. And an IP address that is in all packets, on one of the two sides, is that of the host if the
//! other side stands for several, as a router does.

use std::collections::HashMap;
use std::net::IpAddr;

use isochrone_capture::{Content, Frame, Mac};

use super::vantage::{Place, Station, VantagePoint, VantagePoints, Why, stated};

/// Stations of an interface that are counted. An own address is among the first, unless a capture has more
/// than that before it comes; such a one is taken for one from the way.
const MAX_STATIONS: usize = 4096;
/// Interfaces that are distinguished. Those beyond are taken for ones on the way.
const MAX_INTERFACES: usize = 256;
/// Frames between others that an end host may see, of a hundred: switches flood frames whose receivers they
/// forgot.
const MAX_FOREIGN_PERCENT: u64 = 1;
/// Ethernet pads shorter frames to this length (without check sequence).
const MIN_FRAME: u32 = 60;
/// Bytes of an Ethernet header.
const HEADER: u32 = 14;
/// Hop counts that packets begin with.
const FIRST_HOPS: [u8; 3] = [64, 128, 255];
/// IP addresses of a station that are remembered.
const MAX_ADDRESSES: usize = 8;
/// A station that sends for so many IP addresses, to one, is a router and not a host.
const ROUTED: usize = 3;

/// Gathers what decides. Memory is bounded by [`MAX_STATIONS`] and [`MAX_INTERFACES`].
#[derive(Debug, Default)]
pub(super) struct Observer {
    interfaces: Vec<Observed>,
}

/// What one interface saw.
#[derive(Debug, Default)]
struct Observed {
    /// Whether there was any frame.
    seen: bool,
    /// Frames that say which way they pass.
    stated: u64,
    /// The interface's own address, as the file records it.
    own: Option<Mac>,
    /// Frames of one station for another.
    unicast: u64,
    stations: HashMap<Station, Seen>,
}

/// What passed of one station.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// Frames that it sent or that were for it.
    frames: u64,
    /// Frames that it sent before they were padded.
    short: u64,
    /// Frames that it sent, padded.
    padded: u64,
    /// Packets that it sent and no router has passed on.
    fresh: u64,
    /// Packets that a router has passed on.
    routed: u64,
    /// Where the first packets that it sent came from, each address once.
    sources: Vec<IpAddr>,
    /// Where packets for it went to that are for none of these, or where they had not been seen.
    targets: Vec<IpAddr>,
}

impl Observer {
    pub(super) fn add(&mut self, frame: &Frame) {
        if frame.link.is_loopback || frame.interface >= MAX_INTERFACES {
            return;
        }
        if self.interfaces.len() <= frame.interface {
            self.interfaces.resize_with(frame.interface + 1, Observed::default);
        }
        self.interfaces[frame.interface].add(frame);
    }

    pub(super) fn decide(&self) -> VantagePoints {
        VantagePoints::found(self.interfaces.iter().map(Observed::decide).collect())
    }
}

impl Observed {
    fn add(&mut self, frame: &Frame) {
        self.seen = true;
        if stated(frame).is_some() {
            self.stated += 1;
            return;
        }
        self.own = self.own.or(frame.own);
        let packet = match &frame.content {
            Content::Ip(packet) => Some(packet),
            _ => None,
        };
        let (source, destination) = match (frame.link.source, frame.link.destination, packet) {
            (Some(source), Some(destination), _) if !destination.is_group() => {
                (Station::Mac(source), Station::Mac(destination))
            }
            (None, None, Some(packet)) if !packet.destination.is_multicast() => {
                (Station::Ip(packet.source), Station::Ip(packet.destination))
            }
            _ => return,
        };
        self.unicast += 1;
        if source != destination {
            self.count(destination, |station| {
                station.frames += 1;
                let target = packet.map(|packet| packet.destination);
                remember(&mut station.targets, target.filter(|target| !station.sources.contains(target)));
            });
        }
        let needed = packet.map_or(MIN_FRAME, |packet| packet.length.saturating_add(HEADER));
        let is_ethernet = matches!(source, Station::Mac(_));
        let fresh = packet.map(|packet| FIRST_HOPS.contains(&packet.hops));
        self.count(source, |station| {
            station.frames += 1;
            remember(&mut station.sources, packet.map(|packet| packet.source));
            station.short += u64::from(is_ethernet && frame.wire < MIN_FRAME);
            station.padded += u64::from(is_ethernet && frame.wire >= MIN_FRAME && needed < MIN_FRAME);
            station.fresh += u64::from(fresh == Some(true));
            station.routed += u64::from(fresh == Some(false));
        });
    }

    /// Counts for a station, unless there are too many others.
    fn count(&mut self, station: Station, count: impl FnOnce(&mut Seen)) {
        if self.stations.len() < MAX_STATIONS {
            count(self.stations.entry(station).or_default());
        } else if let Some(seen) = self.stations.get_mut(&station) {
            count(seen);
        }
    }

    fn decide(&self) -> Place {
        let is_own = |frames: u64| (self.unicast - frames) * 100 <= self.unicast * MAX_FOREIGN_PERCENT;
        let known = |point| {
            let why = if self.seen { Why::Plain } else { Why::Idle };
            Place { point, why, guessed: None }
        };
        if let Some(own) = self.own.map(Station::Mac) {
            let frames = self.stations.get(&own).map_or(0, |station| station.frames);
            return known(if is_own(frames) { VantagePoint::Host(own) } else { VantagePoint::Way });
        }
        if self.unicast == 0 {
            return known(if self.stated > 0 { VantagePoint::Stated } else { VantagePoint::Unknown });
        }
        let guess = |point, why, of: &[&Seen]| {
            let guessed = Some(of.iter().map(|seen| seen.sources.clone()).collect());
            Place { point, why, guessed }
        };
        let most = self.stations.values().map(|seen| seen.frames).max().unwrap_or_default();
        let own = self.stations.iter().filter(|(_, seen)| seen.frames == most && is_own(most));
        let mut own: Vec<(Station, &Seen)> = own.map(|(station, seen)| (*station, seen)).collect();
        own.sort_unstable_by_key(|(station, _)| *station);
        match own.as_slice() {
            // A host does not see its own frames padded; a switch that all frames of one station pass does.
            [(_, seen)] if seen.short == 0 && seen.padded > 0 => guess(VantagePoint::Way, Why::Plain, &[]),
            [(own, seen)] => guess(VantagePoint::Host(*own), Why::Plain, &[seen]),
            [(a, of_a), (b, of_b)] => match (of_a.is_nearer(of_b), of_b.is_nearer(of_a)) {
                (Some(why), None) => guess(VantagePoint::Host(*a), why, &[of_a]),
                (None, Some(why)) => guess(VantagePoint::Host(*b), why, &[of_b]),
                _ => guess(VantagePoint::Either([*a, *b]), Why::Plain, &[of_a, of_b]),
            },
            _ => guess(VantagePoint::Way, Why::Plain, &[]),
        }
    }
}

impl Seen {
    /// Why frames were seen where this station sends them, if they were: before padding, those of the other
    /// after that; fresh, those of the other from a router; from the one address that all packets have in
    /// common.
    fn is_nearer(&self, other: &Self) -> Option<Why> {
        let unpadded = self.short > 0 && self.padded == 0 && other.short == 0 && other.padded > 0;
        let is_fresh = self.fresh > 0 && self.routed == 0;
        let is_one = |version: fn(&&IpAddr) -> bool| self.sources.iter().filter(version).count() <= 1;
        let in_all = is_one(|address| address.is_ipv4())
            && is_one(|address| address.is_ipv6())
            && self.targets.iter().all(|target| self.sources.contains(target))
            && other.sources.len() >= ROUTED;
        match self.sources.first() {
            _ if unpadded => Some(Why::Unpadded),
            _ if is_fresh && other.routed > other.fresh => Some(Why::Fresh),
            Some(own) if is_fresh && in_all => Some(Why::InAll(*own, other.sources.len())),
            _ => None,
        }
    }
}

/// Adds an address to a list that has room.
fn remember(addresses: &mut Vec<IpAddr>, address: Option<IpAddr>) {
    let room = addresses.len() < MAX_ADDRESSES;
    addresses.extend(address.filter(|address| room && !addresses.contains(address)));
}
