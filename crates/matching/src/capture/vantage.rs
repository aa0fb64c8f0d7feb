//! From which side a capture looks at packets: from an end host, which sends some and receives the others, or
//! from their way, as a switch, a mirror port or a tap does.
//!
//! What a file records itself is believed first: the direction of single packets (pcapng), the packet type of
//! cooked headers, the address of the interface. Else the frames decide (`observed`), other captures of the
//! same packets (`shared`), or the hosts that are known to record their packets elsewhere. Where all that
//! misleads, or does not suffice, the user says it: [`DeclaredVantage`].
//!
//! The view from the way proves one thing of a frame: that it has left its sender. It need not have been
//! under way still: copies that a switch makes of frames are stamped after the frames themselves were passed
//! on, and may come later than these arrive. Only who passes on the very frames that it stamps, as an inline
//! tap or a software bridge does, has stamped them before they arrive. That is what the user says with
//! `inline`; it is never guessed.
//!
//! That a host stamps the frames that it sends before they leave is a condition as well: some adapters stamp
//! them when they learn that they left. By how much later at most is what the user says with `late`.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use isochrone_capture::{Content, Frame, Mac, PacketType, Passed};

/// How much later than frames leave their stamps may be at most, ns: what a sighting has room for.
const MAX_LATE_NS: i64 = 4_000_000_000;

/// A station of a network, by the address that a capture knows it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Station {
    /// By its Ethernet address.
    Mac(Mac),
    /// By its IP address, where frames have no link layer.
    Ip(IpAddr),
}

impl Station {
    /// The station that sent a frame, as the capture knows stations; `None` where the frame does not say.
    pub(super) fn sender(frame: &Frame) -> Option<Self> {
        match (frame.link.source, &frame.content) {
            (Some(mac), _) => Some(Self::Mac(mac)),
            (None, Content::Ip(packet)) => Some(Self::Ip(packet.source)),
            _ => None,
        }
    }

    /// Whether it sent a frame.
    fn sent(self, frame: &Frame) -> bool {
        match self {
            Self::Mac(own) => frame.link.source == Some(own),
            Self::Ip(own) => matches!(&frame.content, Content::Ip(packet) if packet.is_from(own)),
        }
    }
}

/// From which side an interface looks at packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VantagePoint {
    /// Of an end host: each frame says which way it passes.
    Stated,
    /// Of an end host with this address.
    Host(Station),
    /// On the way: frames of others pass, or copies of them.
    Way,
    /// On the way, and each frame is sent on after its stamp.
    Inline,
    /// It could be that of either of two hosts, or between them; it counts as one on the way.
    Either([Station; 2]),
    /// Nothing passed that shows it.
    Unknown,
}

/// Where a capture was taken, as a user says it: `way`, `inline`, or an Ethernet or IP address of the end
/// host; and by how much at most its stamps of sent frames are late, as `late:300us`. Both, with a comma
/// between them, or one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeclaredVantage {
    place: Option<VantagePoint>,
    late_ns: Option<i64>,
}

impl FromStr for DeclaredVantage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut said = Self::default();
        for part in text.split(',') {
            match part.strip_prefix("late:") {
                Some(time) if said.late_ns.is_none() => said.late_ns = Some(late(time)?),
                None if said.place.is_none() => said.place = Some(place(part)?),
                _ => {
                    return Err(format!(
                        "`{text}` says twice where the capture was taken, or how late it is"
                    ));
                }
            }
        }
        Ok(said)
    }
}

fn place(text: &str) -> Result<VantagePoint, String> {
    match text {
        "way" => return Ok(VantagePoint::Way),
        "inline" => return Ok(VantagePoint::Inline),
        _ => {}
    }
    if let Ok(address) = text.parse() {
        return Ok(VantagePoint::Host(Station::Ip(address)));
    }
    let bytes: Result<Vec<u8>, _> = text.split(':').map(|part| u8::from_str_radix(part, 16)).collect();
    let mac = bytes.ok().and_then(|bytes| bytes.try_into().ok());
    let wrong = || format!("`{text}` is neither `way` nor `inline` nor an Ethernet or IP address");
    mac.map(|mac| VantagePoint::Host(Station::Mac(Mac(mac)))).ok_or_else(wrong)
}

/// A time in ns, as a whole number with a unit.
fn late(text: &str) -> Result<i64, String> {
    const UNITS: [(&str, i64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = UNITS.iter().find(|(unit, _)| *unit == &text[digits.len()..]);
    let number =
        digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse::<i64>().ok()).flatten();
    let wrong = || format!("`late:{text}`: not a whole number of ns, us, ms or s, as in late:300us");
    let ns = unit.zip(number).ok_or_else(wrong)?;
    let ns = ns.1.checked_mul(ns.0.1).filter(|&ns| ns <= MAX_LATE_NS);
    ns.ok_or_else(|| format!("`late:{text}`: more than 4 s"))
}

/// Why a vantage point is believed, or unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    /// Nothing is to be added.
    Plain,
    /// The interface saw nothing at all.
    Idle,
    /// Only its short frames are not padded.
    Unpadded,
    /// What it sends has passed no router, and what comes from elsewhere has.
    Fresh,
    /// It has this address, which is in all packets, and those from elsewhere come from this many.
    InAll(IpAddr, usize),
    /// The other of two hosts records its own packets elsewhere.
    OtherElsewhere,
    /// It records its own packets elsewhere.
    Elsewhere,
    /// Another capture of the same packets shows it, by the times between packets there and back.
    Exchanges(Exchanges),
    /// Other captures show that it is between them, or not where its frames let it seem.
    Between,
}

/// What packets in two captures show of where these were taken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Exchanges {
    /// The other capture, by its host.
    pub(super) other: String,
    /// Packets that both hold.
    pub(super) shared: u64,
    /// Times between two of them that go opposite ways and differ in the two captures: those that show the
    /// order, of all.
    pub(super) longer: (u64, u64),
}

/// From where an interface looks, and what else could be meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) point: VantagePoint,
    pub(super) why: Why,
    /// Whether it was guessed from the stations' parts in the traffic, and by which IP addresses the stations
    /// of [`VantagePoint::Host`] and [`VantagePoint::Either`] are known, in their order.
    pub(super) guessed: Option<Vec<Vec<IpAddr>>>,
}

impl DeclaredVantage {
    /// Whether it names the host by its IP address.
    pub(super) fn is_by_address(self) -> bool {
        matches!(self.place, Some(VantagePoint::Host(Station::Ip(_))))
    }
}

/// From which side each interface of a capture looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VantagePoints {
    pub(super) by_interface: Vec<Place>,
    /// What the user says of all of them.
    said: Option<VantagePoint>,
    /// By how much at most stamps of sent frames are late, ns, as the user says.
    late_ns: Option<i64>,
}

impl VantagePoints {
    /// As the frames of each interface show.
    pub(super) fn found(by_interface: Vec<Place>) -> Self {
        Self { by_interface, ..Self::default() }
    }

    /// By interface, without those that saw nothing.
    pub fn by_interface(&self) -> impl Iterator<Item = VantagePoint> + '_ {
        self.busy().map(|place| place.point)
    }

    /// Those that saw anything; all where none did.
    fn busy(&self) -> impl Iterator<Item = &Place> + '_ {
        let all = self.by_interface.iter().all(|place| place.why == Why::Idle);
        self.by_interface.iter().filter(move |place| all || place.why != Why::Idle)
    }

    /// From which side an interface looks.
    pub fn of(&self, interface: usize) -> VantagePoint {
        let shown = self.by_interface.get(interface).map_or(VantagePoint::Unknown, |place| place.point);
        self.said.unwrap_or(shown)
    }

    /// By how much at most stamps of sent frames are late, ns.
    pub fn late_ns(&self) -> i64 {
        self.late_ns.unwrap_or_default()
    }

    /// Whether a user says that it sends on what it stamps.
    pub(super) fn is_inline(&self) -> bool {
        self.said == Some(VantagePoint::Inline)
    }

    /// Whether a user says where it was taken.
    pub(super) fn is_said(&self) -> bool {
        self.said.is_some()
    }

    /// The stations with these IP addresses record their own packets elsewhere, under other names: what
    /// seemed to be taken on one of them was taken next to it, on a switch that it is the centre of, say; and
    /// of two hosts at which a capture may be taken, it is taken at the other one.
    pub(super) fn recorded_elsewhere(&mut self, addresses: &HashSet<IpAddr>) {
        for place in &mut self.by_interface {
            let known = |of: &Vec<IpAddr>| of.iter().any(|address| addresses.contains(address));
            let elsewhere: Vec<bool> = place.guessed.iter().flatten().map(known).collect();
            let (point, why) = match (place.point, elsewhere.as_slice()) {
                (VantagePoint::Host(_), [true]) | (VantagePoint::Either(_), [true, true]) => {
                    (VantagePoint::Way, Why::Elsewhere)
                }
                (VantagePoint::Either([_, b]), [true, false]) => (VantagePoint::Host(b), Why::OtherElsewhere),
                (VantagePoint::Either([a, _]), [false, true]) => (VantagePoint::Host(a), Why::OtherElsewhere),
                _ => continue,
            };
            (place.point, place.why) = (point, why);
        }
    }

    /// The user knows better.
    pub fn say(&mut self, taken: DeclaredVantage) {
        self.said = taken.place.or(self.said);
        self.late_ns = taken.late_ns.or(self.late_ns);
    }

    /// Whether a frame is one that was sent, and one that was received: both, where it is sent on.
    pub fn directions(&self, frame: &Frame) -> (bool, bool) {
        const SENT: (bool, bool) = (true, false);
        const RECEIVED: (bool, bool) = (false, true);
        let by = |is_own: bool| if is_own { SENT } else { RECEIVED };
        let point = self.of(frame.interface);
        match (point, stated(frame)) {
            (VantagePoint::Inline, _) => (true, true),
            (_, Some(sent)) if point != VantagePoint::Way => by(sent),
            (VantagePoint::Host(own), _) => by(own.sent(frame)),
            _ => RECEIVED,
        }
    }

    /// The two stations, with their IP addresses, where it was taken at one of them and it is unknown at
    /// which.
    pub(crate) fn either(&self) -> Option<[(Station, &[IpAddr]); 2]> {
        let of = |place: &'_ Place| matches!(place.point, VantagePoint::Either(_));
        let place = self.by_interface.iter().find(|place| of(place)).filter(|_| self.said.is_none())?;
        let (VantagePoint::Either([a, b]), Some([of_a, of_b])) = (place.point, place.guessed.as_deref())
        else {
            return None;
        };
        Some([(a, of_a), (b, of_b)])
    }

    /// What a user can say about it that would show more; nothing where it is known where it was taken.
    /// `name`: of the capture.
    pub(super) fn hint(&self, name: &str) -> Option<String> {
        if self.said.is_some() {
            return None;
        }
        let mut points: Vec<VantagePoint> = self.by_interface().collect();
        points.sort_unstable();
        points.dedup();
        match points.as_slice() {
            [VantagePoint::Either([a, b])] => Some(format!(
                "--captured {name}={a} or --captured {name}={b} says at which of them it was taken, \
                 --captured {name}=inline that frames are sent on after \
                     their stamps"
            )),
            [VantagePoint::Way | VantagePoint::Either(_) | VantagePoint::Unknown, ..] => Some(format!(
                "--captured {name}=inline says that frames are sent on after their stamps, as an inline \
                 tap or a software bridge does"
            )),
            [VantagePoint::Host(own)] if self.busy().any(|place| matches!(place.why, Why::Exchanges(_))) => {
                Some(format!("--captured {name}={own} says the same"))
            }
            _ => None,
        }
    }

    /// Whether nothing that an interface saw shows from where it looks.
    pub fn is_idle(&self) -> bool {
        self.said.is_none() && self.busy().next().is_none()
    }

    /// Whether it is, or may be, on the way.
    pub(crate) fn is_on_the_way(&self) -> bool {
        let is = |point| matches!(point, VantagePoint::Way | VantagePoint::Either(_) | VantagePoint::Unknown);
        self.said.map_or_else(|| self.by_interface().any(is), is)
    }
}

impl fmt::Display for VantagePoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.said {
            Some(place) => write!(f, "{place} (as you say)")?,
            None => {
                let mut shown: Vec<String> = self.busy().map(ToString::to_string).collect();
                shown.sort();
                shown.dedup();
                match shown.as_slice() {
                    [] => f.write_str("nothing was captured")?,
                    several => f.write_str(&several.join("; "))?,
                }
            }
        }
        match self.late_ns {
            Some(late) => {
                write!(f, "; sent frames are stamped at most {} after they left (as you say)", duration(late))
            }
            None => Ok(()),
        }
    }
}

/// In the greatest unit that it is a whole number of.
fn duration(ns: i64) -> String {
    let (ns, unit) = match ns {
        0 => (0, "s"),
        ns if ns % 1_000_000_000 == 0 => (ns / 1_000_000_000, "s"),
        ns if ns % 1_000_000 == 0 => (ns / 1_000_000, "ms"),
        ns if ns % 1_000 == 0 => (ns / 1_000, "µs"),
        ns => (ns, "ns"),
    };
    format!("{ns} {unit}")
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, why, .. } = self;
        write!(f, "{point}{why}")
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain | Self::Idle => Ok(()),
            Self::Unpadded => f.write_str(": of the short frames only those that it sends are not padded"),
            Self::Fresh => {
                f.write_str(": what it sends has passed no router, and what comes from elsewhere has")
            }
            Self::InAll(address, others) => {
                write!(
                    f,
                    ": {address} is in all packets, and what comes from elsewhere comes from {others} \
                     addresses or more"
                )
            }
            Self::OtherElsewhere => f.write_str(": the other host that it could be records its own packets"),
            Self::Elsewhere => f.write_str(": the host that it seems to be taken at records its own packets"),
            Self::Exchanges(Exchanges { other, shared, longer: (longer, all) }) => write!(
                f,
                ": {shared} packets are in {other}, too, and by the times between those that go opposite \
                 ways, in {longer} of {all} cases, this one is nearer to \
                 that address"
            ),
            Self::Between => {
                f.write_str(": other captures with the same packets show that it is at neither end")
            }
        }
    }
}

impl fmt::Display for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mac(mac) => mac.fmt(f),
            Self::Ip(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for VantagePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stated => f.write_str("captured on an end host: frames say which way they pass"),
            Self::Host(own) => write!(f, "captured on an end host, whose address is {own}"),
            Self::Way => f.write_str(
                "captured on the way, at a switch or a mirror port: each packet counts as received, and \
                 not as sent on",
            ),
            Self::Inline => f.write_str(
                "captured on the way, inline: each packet counts as received, and as sent on after its stamp",
            ),
            Self::Either([a, b]) => write!(
                f,
                "captured at {a}, at {b} or between them, which the frames do not tell: each packet counts \
                 as received, and not as sent"
            ),
            Self::Unknown => f.write_str(
                "no frame shows where it was captured: each packet counts as received, and not as sent",
            ),
        }
    }
}

/// Whether a frame was sent (else received), where the file records it.
pub(super) fn stated(frame: &Frame) -> Option<bool> {
    let by_type = frame.link.packet_type.map(|kind| kind == PacketType::FromUs);
    frame.passed.map(|passed| passed == Passed::Out).or(by_type)
}
