//! One walk over an event with the headers of a packet in it: the numbers that matter, and the packet that
//! they make.

use std::net::{IpAddr, SocketAddr};

use isochrone_ctf::plan::Name;
use isochrone_ctf::schema::{IntegerClass, Scope};
use isochrone_ctf::{Event, Text, Visitor};

use super::shapes::{Header, MAX_DEPTH, Number, Part, Shapes};
use crate::packet::{Carried, Datagram, Echo, Flow, Packet, Seen, Segment, Transport, flags, protocol};

/// Packets on this device never leave the host.
const LOOPBACK: &[u8] = b"lo";
/// The bits of the fragment word that say where the fragment lies in its packet.
const FRAGMENT_OFFSET: u64 = 0x1fff;
/// Bytes of a UDP header.
const UDP_HEADER: u16 = 8;
/// Types of ICMP messages.
const ECHO_REPLY: u64 = 0;
const ECHO_REQUEST: u64 = 8;

/// What an event records that holds the headers of a packet. Linear in its fields.
pub(super) fn seen(event: &Event<'_>, shapes: &Shapes) -> Seen {
    found(event, shapes).map_or(Seen::NoHeader, |found| found.seen())
}

/// From where to where the packet goes that an event holds the headers of, and what it carries. Linear in its
/// fields.
pub(super) fn flow(event: &Event<'_>, shapes: &Shapes) -> Option<(Flow, Carried)> {
    let found = found(event, shapes)?;
    let flow = found.flow()?;
    Some((flow, found.carried(flow.protocol)))
}

fn found(event: &Event<'_>, shapes: &Shapes) -> Option<Found> {
    let mut walk = Walk { shapes, now: 0, first: [0; MAX_DEPTH], depth: 0, found: Found::default() };
    event.visit(Scope::Payload, &mut walk).ok()?;
    Some(walk.found)
}

/// The fields as they come, and where among the shapes they are.
struct Walk<'s> {
    shapes: &'s Shapes,
    /// The next value.
    now: u16,
    /// Of each field that the walk is in, the number of the first field in it.
    first: [u16; MAX_DEPTH],
    depth: usize,
    found: Found,
}

impl Walk<'_> {
    #[inline]
    fn part(&self) -> Part {
        self.shapes.get(self.now).part
    }

    #[inline]
    fn enter(&mut self) {
        let inside = self.shapes.get(self.now).first;
        if let Some(first) = self.first.get_mut(self.depth) {
            *first = inside;
        }
        self.depth += 1;
    }

    #[inline]
    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The next value is this one of what was entered last.
    #[inline]
    fn step(&mut self, index: usize) {
        let first = self.first.get(self.depth.wrapping_sub(1)).copied().unwrap_or_default();
        self.now = first.saturating_add(index as u16);
    }
}

impl Visitor for Walk<'_> {
    #[inline]
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        match self.part() {
            Part::Number(number) => self.found.numbers.set(number, value),
            Part::Source => self.found.source.push(class.size, value),
            Part::Destination => self.found.destination.push(class.size, value),
            Part::Other | Part::Header(_) | Part::Device => {}
        }
    }

    fn text(&mut self, text: Text<'_>) {
        if self.part() == Part::Device {
            self.found.loopback = text.shown() == LOOPBACK;
        }
    }

    #[inline]
    fn begin_struct(&mut self) {
        self.enter();
    }

    #[inline]
    fn member(&mut self, index: usize, _: &Name) {
        self.step(index);
    }

    #[inline]
    fn end_struct(&mut self) {
        self.leave();
    }

    #[inline]
    fn begin_array(&mut self, _: u64) {
        self.enter();
    }

    #[inline]
    fn element(&mut self, _: u64) {
        self.step(0);
    }

    #[inline]
    fn end_array(&mut self) {
        self.leave();
    }

    fn begin_variant(&mut self, index: usize, _: &Name) {
        self.enter();
        self.step(index);
        match self.part() {
            Part::Header(header @ (Header::Ipv4 | Header::Ipv6)) => self.found.network = Some(header),
            Part::Header(header) => self.found.transport = Some(header),
            _ => {}
        }
    }

    fn end_variant(&mut self) {
        self.leave();
    }

    fn begin_optional(&mut self, _: bool) {
        self.enter();
        self.step(0);
    }

    fn end_optional(&mut self) {
        self.leave();
    }
}

/// The parts of a packet.
#[derive(Debug, Default)]
struct Found {
    loopback: bool,
    network: Option<Header>,
    transport: Option<Header>,
    source: Address,
    destination: Address,
    numbers: Numbers,
}

/// The integers met, and which were.
#[derive(Debug, Default)]
struct Numbers {
    values: [u64; Number::COUNT],
    known: u32,
}

impl Numbers {
    #[inline]
    fn set(&mut self, number: Number, value: u64) {
        self.values[number as usize] = value;
        self.known |= 1 << number as u32;
    }

    fn get(&self, number: Number) -> Option<u64> {
        (self.known >> number as u32 & 1 == 1).then(|| self.values[number as usize])
    }

    fn ports(&self) -> Option<(u16, u16)> {
        Some((self.get(Number::SourcePort)? as u16, self.get(Number::DestinationPort)? as u16))
    }
}

/// An address as its elements come: bytes, words, or one number.
#[derive(Debug, Default)]
struct Address {
    value: u128,
    bits: u32,
}

impl Address {
    #[inline]
    fn push(&mut self, bits: u32, element: u64) {
        self.value = self.value.wrapping_shl(bits) | u128::from(element);
        self.bits = self.bits.saturating_add(bits);
    }

    fn get(&self) -> Option<IpAddr> {
        match self.bits {
            32 => Some(IpAddr::from((self.value as u32).to_be_bytes())),
            128 => Some(IpAddr::from(self.value.to_be_bytes())),
            _ => None,
        }
    }
}

impl Found {
    fn seen(&self) -> Seen {
        if self.loopback {
            return Seen::Loopback;
        }
        if self.network.is_none() && self.transport.is_none() && self.source.bits == 0 {
            return Seen::NoHeader;
        }
        if self.is_later_fragment() {
            return Seen::OtherProtocol;
        }
        let transport = match self.transport {
            Some(Header::Tcp) => self.segment().map(Transport::Tcp),
            Some(Header::Udp) => Some(Transport::Udp(self.datagram())),
            Some(Header::Icmp) => self.echo().map(Transport::Echo),
            _ => None,
        };
        let addresses = self.source.get().zip(self.destination.get());
        let ip_id = self.numbers.get(Number::Id).map(|id| id as u16);
        transport
            .map_or(Seen::OtherProtocol, |transport| Seen::Packet(Packet { addresses, transport, ip_id }))
    }

    /// After an offset there is no transport header, only what looks like one.
    fn is_later_fragment(&self) -> bool {
        self.numbers.get(Number::Fragment).is_some_and(|word| word & FRAGMENT_OFFSET != 0)
    }

    fn flow(&self) -> Option<Flow> {
        let protocol = match self.transport? {
            Header::Tcp => protocol::TCP,
            Header::Udp => protocol::UDP,
            _ => return None,
        };
        if self.is_later_fragment() {
            return None;
        }
        let (from, to) = self.numbers.ports()?;
        let (source, destination) = (self.source.get()?, self.destination.get()?);
        Some(Flow {
            protocol,
            source: SocketAddr::new(source, from),
            destination: SocketAddr::new(destination, to),
        })
    }

    fn carried(&self, of: u8) -> Carried {
        if of == protocol::UDP {
            let payload = self.datagram().length.and_then(|length| length.checked_sub(UDP_HEADER));
            return Carried { payload: payload.map(u32::from), ..Carried::default() };
        }
        let number = |number| self.numbers.get(number);
        Carried {
            payload: self.payload(),
            seq: number(Number::Seq).map(|seq| seq as u32),
            flags: number(Number::Flags).map(|flags| flags as u8),
        }
    }

    fn segment(&self) -> Option<Segment> {
        Some(Segment {
            ports: self.numbers.ports(),
            seq: self.numbers.get(Number::Seq)? as u32,
            ack: self.numbers.get(Number::Ack)? as u32,
            flags: self.numbers.get(Number::Flags)? as u8,
            known_flags: flags::ALL,
            payload: self.payload(),
        })
    }

    /// Bytes after the TCP header. Packets of more than 64 KiB say a length of zero: theirs is not known.
    fn payload(&self) -> Option<u32> {
        let (length, ip_words) = match self.numbers.get(Number::PayloadLength) {
            Some(length) => (length, 0),
            None => (self.numbers.get(Number::TotalLength)?, self.numbers.get(Number::Ihl)?),
        };
        let words = ip_words.saturating_add(self.numbers.get(Number::DataOffset)?);
        length.checked_sub(words.saturating_mul(4)).map(|payload| payload as u32)
    }

    fn datagram(&self) -> Datagram {
        let length = self.numbers.get(Number::DatagramLength).map(|length| length as u16);
        Datagram { ports: self.numbers.ports(), length, data: None, check: None }
    }

    fn echo(&self) -> Option<Echo> {
        let reply = match self.numbers.get(Number::Kind)? {
            ECHO_REPLY => true,
            ECHO_REQUEST => false,
            _ => return None,
        };
        let rest = self.numbers.get(Number::Rest)?;
        Some(Echo { reply, identifier: (rest >> 16) as u16, sequence: rest as u16 })
    }
}
