//! From which side a capture looks at packets: from an end host, which sends some and receives the others, or from their
//! way, as a switch or a mirror port does, where each is received from its sender and sent on at the same instant.
//!
//! What a file records itself is believed first: the direction of single packets (pcapng), the packet type of cooked
//! headers, the address of the interface. Else the addresses decide: an end host's own is part of every frame that is not
//! for a group (of several such the one in most). Between two stations that only talk to each other, Ethernet's padding can still show it (a host sees its own
//! short frames before they are padded and those of others after that), and so can hop counts: what comes from a router has
//! passed one, what the host sends has not. Where all that misleads, the user says it: [`DeclaredVantage`].
//!
//! The view from the way is always true: a frame that is seen has left its sender and has not yet reached its receiver. It
//! is what is left where nothing else is certain.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::net::IpAddr;
use std::str::FromStr;

use isochrone_capture::{Content, Frame, Mac, PacketType, Passed};

/// Stations of an interface that are counted. An own address is among the first, unless a capture has more than that
/// before it comes; such a one is taken for one from the way.
const MAX_STATIONS: usize = 4096;
/// Interfaces that are distinguished. Those beyond are taken for ones on the way.
const MAX_INTERFACES: usize = 256;
/// Frames between others that an end host may see, of a hundred: switches flood frames whose receivers they forgot.
const MAX_FOREIGN_PERCENT: u64 = 1;
/// Ethernet pads shorter frames to this length (without check sequence).
const LEAST_FRAME: u32 = 60;
/// Bytes of an Ethernet header.
const HEADER: u32 = 14;

/// Hop counts that packets begin with.
const FIRST_HOPS: [u8; 3] = [64, 128, 255];

/// From which side an interface looks at packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VantagePoint {
    /// Of an end host: each frame says which way it passes.
    Stated,
    /// Of an end host with this address.
    Host(Mac),
    /// Of an end host with this address, where frames have no link layer.
    Address(IpAddr),
    /// On the way: frames of others pass.
    Way,
    /// It could be that of either of two hosts, so it is taken for one on the way.
    Either,
    /// Nothing passed that shows it.
    Unknown,
}

/// Where a capture was taken, as a user says it: `way`, or an Ethernet or IP address of the end host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclaredVantage(VantagePoint);

impl FromStr for DeclaredVantage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "way" {
            return Ok(Self(VantagePoint::Way));
        }
        if let Ok(address) = text.parse() {
            return Ok(Self(VantagePoint::Address(address)));
        }
        let bytes: Result<Vec<u8>, _> = text.split(':').map(|part| u8::from_str_radix(part, 16)).collect();
        let mac = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        let wrong = || format!("`{text}` is neither `way` nor an Ethernet or IP address");
        mac.map(|mac| Self(VantagePoint::Host(Mac(mac)))).ok_or_else(wrong)
    }
}

impl DeclaredVantage {
    /// Whether it names the host by its IP address.
    pub(super) fn is_by_address(self) -> bool {
        matches!(self.0, VantagePoint::Address(_))
    }
}

/// From which side each interface of a capture looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VantagePoints {
    by_interface: Vec<VantagePoint>,
    /// Where the place was guessed from a station's part in the traffic: an IP address of that station.
    guessed: Vec<Option<IpAddr>>,
    /// What the user says of all of them.
    said: Option<VantagePoint>,
}

impl VantagePoints {
    /// By interface.
    pub fn by_interface(&self) -> &[VantagePoint] {
        &self.by_interface
    }

    /// The stations with these IP addresses record their own packets elsewhere, under other names: what seemed to be taken on one of them
    /// was taken beside it, on a switch that it is the centre of, say.
    pub(super) fn recorded_elsewhere(&mut self, addresses: &HashSet<IpAddr>) {
        for (place, guessed) in self.by_interface.iter_mut().zip(&self.guessed) {
            if guessed.is_some_and(|station| addresses.contains(&station)) {
                *place = VantagePoint::Way;
            }
        }
    }

    /// The user knows better.
    pub fn say(&mut self, taken: DeclaredVantage) {
        self.said = Some(taken.0);
    }

    /// Whether a frame is one that was sent, and one that was received. On the way it is both.
    pub fn directions(&self, frame: &Frame) -> (bool, bool) {
        const SENT: (bool, bool) = (true, false);
        const RECEIVED: (bool, bool) = (false, true);
        if let (Some(sent), true) = (stated(frame), self.said != Some(VantagePoint::Way)) {
            return if sent { SENT } else { RECEIVED };
        }
        let by = |is_own: bool| if is_own { SENT } else { RECEIVED };
        match self.said.or_else(|| self.by_interface.get(frame.interface).copied()) {
            Some(VantagePoint::Host(own)) => by(frame.link.source == Some(own)),
            Some(VantagePoint::Address(own)) => match &frame.content {
                Content::Ip(packet) => by(packet.is_from(own)),
                _ => RECEIVED,
            },
            _ => (true, true),
        }
    }
}

impl fmt::Display for VantagePoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.said {
            return write!(f, "{place} (as you say)");
        }
        let mut shown: Vec<String> = self.by_interface.iter().map(ToString::to_string).collect();
        shown.sort();
        shown.dedup();
        match shown.as_slice() {
            [] => f.write_str("nothing was captured"),
            several => f.write_str(&several.join("; ")),
        }
    }
}

impl fmt::Display for VantagePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stated => f.write_str("captured on an end host: frames say which way they pass"),
            Self::Host(mac) => write!(f, "captured on an end host, whose address is {mac}"),
            Self::Address(address) => write!(f, "captured on an end host, whose address is {address}"),
            Self::Way => f.write_str(
                "captured on the way, at a switch or a mirror port: each packet counts as received and as sent on",
            ),
            Self::Either => f.write_str(
                "captured at either of two hosts or between them, which the frames do not tell: taken for on the way",
            ),
            Self::Unknown => f.write_str("no frame shows where it was captured: taken for on the way"),
        }
    }
}

/// Whether a frame was sent (else received), where the file records it.
fn stated(frame: &Frame) -> Option<bool> {
    let by_type = frame.link.packet_type.map(|kind| kind == PacketType::FromUs);
    frame.passed.map(|passed| passed == Passed::Out).or(by_type)
}

/// Gathers what decides. Memory is bounded by [`MAX_STATIONS`] and [`MAX_INTERFACES`].
#[derive(Debug, Default)]
pub(super) struct Observer {
    interfaces: Vec<Observed>,
}

/// What one interface saw.
#[derive(Debug, Default)]
struct Observed {
    /// Frames that say which way they pass.
    stated: u64,
    /// The interface's own address, as the file records it.
    own: Option<Mac>,
    /// Frames of one station for another.
    unicast: u64,
    stations: HashMap<Mac, Station>,
    /// Packets without a link layer.
    bare: u64,
    addresses: HashMap<IpAddr, u64>,
}

/// What passed of one station.
#[derive(Debug, Clone, Copy, Default)]
struct Station {
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
    /// Where the first packet that it sent came from.
    source: Option<IpAddr>,
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
        let by_interface: Vec<VantagePoint> = self.interfaces.iter().map(Observed::decide).collect();
        let guessed = self.interfaces.iter().zip(&by_interface).map(|(seen, place)| match *place {
            // What the interface says of itself is no guess.
            VantagePoint::Host(mac) if seen.own.is_none() => seen.stations.get(&mac)?.source,
            VantagePoint::Address(address) => Some(address),
            _ => None,
        });
        VantagePoints { guessed: guessed.collect(), by_interface, said: None }
    }
}

impl Observed {
    fn add(&mut self, frame: &Frame) {
        if stated(frame).is_some() {
            self.stated += 1;
            return;
        }
        self.own = self.own.or(frame.own);
        match (frame.link.source, frame.link.destination, &frame.content) {
            (Some(source), Some(destination), content) if !destination.is_group() => {
                self.unicast += 1;
                if source != destination {
                    bump(&mut self.stations, destination, |station| station.frames += 1);
                }
                let (needed, hops) = match content {
                    Content::Ip(packet) => (packet.length.saturating_add(HEADER), Some(packet.hops)),
                    _ => (LEAST_FRAME, None),
                };
                let address = match content {
                    Content::Ip(packet) => Some(packet.source),
                    _ => None,
                };
                let fresh = hops.map(|hops| FIRST_HOPS.contains(&hops));
                bump(&mut self.stations, source, |station| {
                    station.frames += 1;
                    station.source = station.source.or(address);
                    station.short += u64::from(frame.wire < LEAST_FRAME);
                    station.padded += u64::from(frame.wire >= LEAST_FRAME && needed < LEAST_FRAME);
                    station.fresh += u64::from(fresh == Some(true));
                    station.routed += u64::from(fresh == Some(false));
                });
            }
            (None, None, Content::Ip(packet)) if !packet.destination.is_multicast() => {
                self.bare += 1;
                bump(&mut self.addresses, packet.source, |frames| *frames += 1);
                if packet.source != packet.destination {
                    bump(&mut self.addresses, packet.destination, |frames| *frames += 1);
                }
            }
            _ => {}
        }
    }

    fn decide(&self) -> VantagePoint {
        let is_own = |frames: u64, all: u64| (all - frames) * 100 <= all * MAX_FOREIGN_PERCENT;
        if self.unicast == 0 && self.bare == 0 {
            return match (self.stated, self.own) {
                (1.., _) => VantagePoint::Stated,
                (0, Some(own)) => VantagePoint::Host(own),
                (0, None) => VantagePoint::Unknown,
            };
        }
        if self.unicast == 0 {
            let own = self.addresses.iter().filter(|&(_, &frames)| is_own(frames, self.bare));
            let most = self.addresses.values().max();
            return match own
                .filter(|&(_, frames)| Some(frames) == most)
                .map(|(&address, _)| address)
                .collect::<Vec<_>>()
                .as_slice()
            {
                [] => VantagePoint::Way,
                [own] => VantagePoint::Address(*own),
                _ => VantagePoint::Either,
            };
        }
        if let Some(own) = self.own {
            let frames = self.stations.get(&own).map_or(0, |station| station.frames);
            return if is_own(frames, self.unicast) { VantagePoint::Host(own) } else { VantagePoint::Way };
        }
        let own = self.stations.iter().filter(|(_, station)| is_own(station.frames, self.unicast));
        let most = self.stations.values().map(|station| station.frames).max();
        match own.filter(|(_, station)| Some(station.frames) == most).collect::<Vec<_>>().as_slice() {
            [] => VantagePoint::Way,
            // A host does not see its own frames padded; a switch that all frames of one station pass does.
            [(_, station)] if station.short == 0 && station.padded > 0 => VantagePoint::Way,
            [(own, _)] => VantagePoint::Host(**own),
            [(a, of_a), (_, of_b)] if of_a.is_nearer(of_b) => VantagePoint::Host(**a),
            [(_, of_a), (b, of_b)] if of_b.is_nearer(of_a) => VantagePoint::Host(**b),
            _ => VantagePoint::Either,
        }
    }
}

impl Station {
    /// Whether frames were seen where this station sends them: before padding, those of the other after that; fresh,
    /// those of the other from a router.
    fn is_nearer(&self, other: &Self) -> bool {
        let unpadded = self.short > 0 && self.padded == 0 && other.short == 0 && other.padded > 0;
        let after_router = self.fresh > 0 && self.routed == 0 && other.routed > other.fresh;
        unpadded || after_router
    }
}

/// Counts for a key, unless there are too many others.
fn bump<K: Eq + Hash, V: Default>(counts: &mut HashMap<K, V>, key: K, count: impl FnOnce(&mut V)) {
    if counts.len() < MAX_STATIONS {
        count(counts.entry(key).or_default());
    } else if let Some(value) = counts.get_mut(&key) {
        count(value);
    }
}
