//! The fields of a call's event class that hold the needed arguments, found once.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use compact_str::CompactString;
use isochrone_ctf::plan::{EventPlan, NodeKind, StreamPlan};
use isochrone_ctf::schema::IntegerClass;
use isochrone_ctf::{Event, FieldRef, Visitor};

use super::waiting::WaitedFields;
use super::{Address, EpollReady, WaitedSet};
use crate::id::Name;

/// Text of traces is kept up to this many bytes: paths may have 4096.
const MAX_TEXT: usize = 4096;

/// A source of arguments.
pub(super) trait Source {
    /// A number, sign-extended.
    fn number(&self, slot: usize) -> Option<i64>;
    /// Text, empty if there is none.
    fn text(&self, slot: usize) -> Name;
    /// The address that the call records.
    fn address(&self) -> Option<Address>;
    /// The descriptors that `poll` and `select` wait for.
    fn asked(&self) -> Option<WaitedSet>;
    /// What `epoll_ctl` passes.
    fn epoll_event(&self) -> Option<EpollReady>;
}

/// Fields of an event class.
#[derive(Debug)]
pub(super) struct Fields {
    slots: [Option<FieldRef>; 4],
    address: Option<AddressFields>,
    waited: WaitedFields,
}

impl Fields {
    /// Finds the fields that a call names, see [`super::catalog::Call::fields`].
    pub(super) fn find(stream: &StreamPlan, class: &EventPlan, names: &str) -> Self {
        let mut slots = [None, None, None, None];
        for (slot, names) in slots.iter_mut().zip(names.split(", ")) {
            *slot = names.split('|').find_map(|name| class.payload_field(stream, &[name]));
        }
        Self { slots, address: None, waited: WaitedFields::default() }
    }

    /// Finds the fields of an address, too.
    pub(super) fn with_address(mut self, stream: &StreamPlan, class: &EventPlan) -> Self {
        self.address = AddressFields::find(stream, class);
        self
    }

    /// Finds the fields of descriptors to wait for, too.
    pub(super) fn with_waited(mut self, stream: &StreamPlan, class: &EventPlan) -> Self {
        self.waited = WaitedFields::find(stream, class);
        self
    }

    /// The fields, with the event to read them from.
    #[inline]
    pub(super) fn of<'a>(&'a self, event: &'a Event<'a>) -> Filled<'a> {
        Filled { fields: self, event }
    }
}

/// The fields of an event.
pub(super) struct Filled<'a> {
    fields: &'a Fields,
    event: &'a Event<'a>,
}

impl Source for Filled<'_> {
    #[inline]
    fn number(&self, slot: usize) -> Option<i64> {
        number(self.event, self.fields.slots.get(slot)?.as_ref()?)
    }

    fn text(&self, slot: usize) -> Name {
        let field = self.fields.slots.get(slot).and_then(Option::as_ref);
        field.and_then(|field| self.event.text(field)).map(name).unwrap_or_default()
    }

    fn address(&self) -> Option<Address> {
        self.fields.address.as_ref()?.read(self.event)
    }

    fn asked(&self) -> Option<WaitedSet> {
        self.fields.waited.asked(self.event)
    }

    fn epoll_event(&self) -> Option<EpollReady> {
        self.fields.waited.epoll_event(self.event)
    }
}

/// An integer of any sign; those of 64 bits keep their bits.
#[inline]
pub(super) fn number(event: &Event<'_>, field: &FieldRef) -> Option<i64> {
    event.integer_bits(field).map(|bits| bits as i64)
}

/// Bits of a machine word, from the arguments of unknown calls.
pub(super) fn word_bits(class: &EventPlan) -> Option<u32> {
    let payload = class.payload.as_ref()?;
    let (_, node) = payload.member("ret").or_else(|| payload.member("args"))?;
    match &node.kind {
        NodeKind::Integer { class, .. } => Some(class.size),
        NodeKind::Array(_, element) => match &element.kind {
            NodeKind::Integer { class, .. } => Some(class.size),
            _ => None,
        },
        _ => None,
    }
}

/// Bytes of a trace as text.
pub(super) fn name(bytes: &[u8]) -> Name {
    let bytes = bytes.get(..MAX_TEXT).unwrap_or(bytes);
    CompactString::from_utf8_lossy(bytes)
}

/// The fields of an address.
#[derive(Debug)]
pub(super) struct AddressFields {
    family: FieldRef,
    port: Option<FieldRef>,
    v4: Option<FieldRef>,
    v6: Option<FieldRef>,
}

impl AddressFields {
    /// Finds them, if the tracer records addresses.
    pub(super) fn find(stream: &StreamPlan, class: &EventPlan) -> Option<Self> {
        let field = |name: &str| class.payload_field(stream, &[name]);
        Some(Self {
            family: field("family")?,
            port: field("dport").or_else(|| field("sport")),
            v4: field("v4addr"),
            v6: field("v6addr"),
        })
    }

    /// The address; `None` if the call had none.
    pub(super) fn read(&self, event: &Event<'_>) -> Option<Address> {
        let family = event.unsigned(&self.family).filter(|&family| family != 0)? as u16;
        let port = self.port.as_ref().and_then(|field| event.unsigned(field)).unwrap_or_default() as u16;
        let ip = [&self.v4, &self.v6].into_iter().flatten().find_map(|field| {
            let mut numbers = Numbers::default();
            event.visit_field(field, &mut numbers)?;
            numbers.ip()
        });
        Some(ip.map_or(Address::Family(family), |ip| Address::Ip { ip, port }))
    }
}

/// The first few numbers of an array.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) values: [i64; 16],
    pub(crate) count: usize,
    /// Bits of each.
    bits: u32,
}

impl Numbers {
    /// The numbers of an array in an event.
    pub(crate) fn read(event: &Event<'_>, field: &FieldRef) -> Self {
        let mut numbers = Self::default();
        // If the field cannot be read, there are none.
        event.visit_field(field, &mut numbers).unwrap_or_default();
        numbers
    }

    fn push(&mut self, class: &IntegerClass, value: i64) {
        self.bits = class.size;
        if let Some(place) = self.values.get_mut(self.count) {
            *place = value;
            self.count += 1;
        }
    }

    fn ip(&self) -> Option<IpAddr> {
        match (self.bits, self.count) {
            (8, 4) => {
                let bytes: [u8; 4] = std::array::from_fn(|index| self.values[index] as u8);
                Some(Ipv4Addr::from(bytes).into())
            }
            (16, 8) => {
                let words: [u16; 8] = std::array::from_fn(|index| self.values[index] as u16);
                Some(Ipv6Addr::from(words).into())
            }
            (8, 16) => {
                let bytes: [u8; 16] = std::array::from_fn(|index| self.values[index] as u8);
                Some(Ipv6Addr::from(bytes).into())
            }
            _ => None,
        }
    }
}

impl Visitor for Numbers {
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        self.push(class, value as i64);
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        self.push(class, value);
    }
}

/// The arguments of a call without an event class of its own, by place.
pub(super) struct Raw<'a> {
    pub(super) arguments: &'a Numbers,
    pub(super) places: &'static [usize],
}

impl Source for Raw<'_> {
    fn number(&self, slot: usize) -> Option<i64> {
        let place = *self.places.get(slot)?;
        self.arguments.values.get(..self.arguments.count)?.get(place).copied()
    }

    fn text(&self, _: usize) -> Name {
        Name::default()
    }

    fn address(&self) -> Option<Address> {
        None
    }

    fn asked(&self) -> Option<WaitedSet> {
        None
    }

    fn epoll_event(&self) -> Option<EpollReady> {
        None
    }
}
