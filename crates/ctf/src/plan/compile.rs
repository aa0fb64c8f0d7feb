//! From schema to plan: slots are numbered, sizes are folded, skip programs are built.

use std::collections::{BTreeMap, HashMap};

use super::Cursor;
use super::header::{self, HeaderForm};
use super::node::{Count, Name, Node, NodeKind, OptionNode, Selector};
use super::program::{Builder, Known, Program};
use crate::bits::align_up;
use crate::schema::{
    EventClass, FieldClass, Length, Location, Schema, Scope, StreamClass, StructClass, VariantClass,
};

/// A compiled trace schema.
#[derive(Debug)]
pub struct Plan {
    /// The structure at the head of every packet.
    pub packet_header: Option<Node>,
    /// Stream classes in the order of [`Schema::streams`].
    pub streams: Vec<StreamPlan>,
    /// Slots that decoding any event of the trace needs.
    pub(crate) slot_count: usize,
}

impl Plan {
    /// Empty slots, as many as any walk needs.
    pub fn new_slots(&self) -> Vec<u64> {
        vec![0; self.slot_count]
    }
}

/// A compiled stream class.
#[derive(Debug)]
pub struct StreamPlan {
    /// Id of the class.
    pub id: u64,
    /// Index of the clock class in [`Schema::clocks`].
    pub clock: Option<usize>,
    /// The structure behind the packet header.
    pub packet_context: Option<Node>,
    /// The structure at the head of every event.
    pub event_header: Option<Node>,
    /// How to decode that head.
    pub header_form: HeaderForm,
    /// The context of every event.
    pub common_context: Option<Node>,
    /// Event classes in the order of [`StreamClass::events`].
    pub events: Vec<EventPlan>,
    /// Whether some field of an event depends on the packet's or the event's header.
    pub(crate) needs_headers: bool,
    by_id: ClassIndex,
}

/// A compiled event class.
#[derive(Debug)]
pub struct EventPlan {
    /// Index in its stream class.
    pub index: usize,
    /// Id of the class.
    pub id: u64,
    /// Its name.
    pub name: Option<Box<str>>,
    /// Context of this class.
    pub specific_context: Option<Node>,
    /// Fields of the event.
    pub payload: Option<Node>,
    /// Alignment of what follows the header.
    pub(crate) body_align: u32,
    /// Strictest alignment of any field in the body.
    pub(crate) max_align: u32,
    /// Power of two that the begin of the body is known to be a multiple of.
    pub(crate) body_modulus: u32,
    /// Moves over the contexts and the payload.
    pub(crate) skip: Program,
    /// Size of the body where it is constant.
    pub(crate) body_bits: Option<u64>,
    slot_count: usize,
}

impl EventPlan {
    /// Slots that walking the event's fields needs.
    pub(crate) fn slot_count(&self) -> usize {
        self.slot_count
    }
}

/// Finds the class of an id.
#[derive(Debug)]
enum ClassIndex {
    Dense(Vec<u32>),
    Sparse(HashMap<u64, u32>),
}

/// Ids below this are looked up in a table: 256 KiB at most.
const DENSE_IDS: u64 = 65_536;
const NO_CLASS: u32 = u32::MAX;

impl ClassIndex {
    fn new(ids: impl Iterator<Item = u64> + Clone) -> Self {
        let Some(max) = ids.clone().max() else { return Self::Dense(Vec::new()) };
        if max >= DENSE_IDS {
            return Self::Sparse(ids.zip(0..).collect());
        }
        let mut table = vec![NO_CLASS; max as usize + 1];
        for (id, index) in ids.zip(0..) {
            table[id as usize] = index;
        }
        Self::Dense(table)
    }

    #[inline]
    fn get(&self, id: u64) -> Option<usize> {
        let index = match self {
            Self::Dense(table) => *table.get(usize::try_from(id).ok()?)?,
            Self::Sparse(map) => *map.get(&id)?,
        };
        (index != NO_CLASS).then_some(index as usize)
    }
}

impl StreamPlan {
    /// The event class with this id; an event without an id is of the only class.
    #[inline]
    pub(crate) fn event(&self, id: Option<u64>) -> Result<&EventPlan, crate::DecodeError> {
        let found = match id {
            Some(id) => self.by_id.get(id).map(|index| &self.events[index]),
            None => self.events.first(),
        };
        found.ok_or(crate::DecodeError::UnknownEventClass(id.unwrap_or(0)))
    }

    /// Decodes an event header; see [`header::decode`].
    #[inline]
    pub(crate) fn decode_header(
        &self,
        cursor: &mut Cursor<'_>,
        slots: &mut [u64],
        now: &mut u64,
    ) -> Result<Option<u64>, crate::DecodeError> {
        header::decode(self.header_form, self.event_header.as_ref(), cursor, slots, now)
    }
}

impl Plan {
    /// Compiles a schema; linear in its size.
    pub fn compile(schema: &Schema) -> Self {
        let mut outer = Slots::default();
        for class in schema.streams.iter().flat_map(outer_structs).chain(&schema.packet_header) {
            outer.collect_struct(class);
        }
        for event in schema.streams.iter().flat_map(|s| &s.events) {
            for class in event.specific_context.iter().chain(&event.payload) {
                outer.collect_struct(class);
            }
        }
        outer.keep_only(|location| location.scope <= Scope::CommonContext);
        let mut slot_count = outer.numbers.len();
        let packet_header =
            schema.packet_header.as_ref().map(|class| outer.compile_scope(Scope::PacketHeader, class));
        let streams = schema.streams.iter().map(|s| compile_stream(s, &outer, &mut slot_count)).collect();
        Self { packet_header, streams, slot_count }
    }
}

fn outer_structs(stream: &StreamClass) -> impl Iterator<Item = &StructClass> {
    stream.packet_context.iter().chain(&stream.event_header).chain(&stream.common_context)
}

fn compile_stream(stream: &StreamClass, outer: &Slots, slot_count: &mut usize) -> StreamPlan {
    let scope =
        |scope, class: &Option<StructClass>| class.as_ref().map(|class| outer.compile_scope(scope, class));
    let event_header = scope(Scope::EventHeader, &stream.event_header);
    let referred_to = outer_references(stream).iter().any(|location| location.scope == Scope::EventHeader);
    let header_form = HeaderForm::of(stream.event_header.as_ref(), referred_to);
    let after_header = match (header_form, &event_header) {
        (HeaderForm::Compact(_) | HeaderForm::Large(_), _) => Known::aligned(8),
        (HeaderForm::Generic, Some(node)) => {
            let mut builder = Builder::new(Known::aligned(1));
            builder.field(node);
            builder.finish().1
        }
        _ => Known::aligned(1),
    };
    let common_context = scope(Scope::CommonContext, &stream.common_context);
    let events = stream.events.iter().enumerate().map(|(index, event)| {
        compile_event(index, event, outer, common_context.as_ref(), after_header, slot_count)
    });
    let events: Vec<_> = events.collect();
    StreamPlan {
        id: stream.id,
        clock: stream.clock,
        packet_context: scope(Scope::PacketContext, &stream.packet_context),
        event_header,
        header_form,
        needs_headers: outer_references(stream).iter().any(|location| location.scope < Scope::CommonContext),
        by_id: ClassIndex::new(events.iter().map(|e: &EventPlan| e.id).collect::<Vec<_>>().into_iter()),
        common_context,
        events,
    }
}

/// Locations that the contexts and payloads of a stream's events refer to.
fn outer_references(stream: &StreamClass) -> Vec<Location> {
    let mut slots = Slots::default();
    let events = stream.events.iter().flat_map(|e| e.specific_context.iter().chain(&e.payload));
    for class in events.chain(&stream.common_context) {
        slots.collect_struct(class);
    }
    slots.numbers.into_keys().collect()
}

fn compile_event(
    index: usize,
    event: &EventClass,
    outer: &Slots,
    common_context: Option<&Node>,
    after_header: Known,
    slot_count: &mut usize,
) -> EventPlan {
    let mut slots = outer.clone();
    for class in event.specific_context.iter().chain(&event.payload) {
        slots.collect_struct(class);
    }
    *slot_count = slots.numbers.len().max(*slot_count);
    let scope =
        |scope, class: &Option<StructClass>| class.as_ref().map(|class| slots.compile_scope(scope, class));
    let specific_context = scope(Scope::SpecificContext, &event.specific_context);
    let payload = scope(Scope::Payload, &event.payload);

    let body = || common_context.into_iter().chain(&specific_context).chain(&payload);
    let body_align = body().next().map_or(1, |node| node.align);
    let from_header = if after_header.remainder == 0 { after_header.modulus } else { 1 };
    let body_modulus = body_align.max(from_header);
    let mut builder = Builder::new(Known::aligned(body_modulus));
    for node in body() {
        builder.field(node);
    }
    let (skip, _) = builder.finish();
    let max_align = body().map(Node::max_align).max().unwrap_or(1);
    EventPlan {
        index,
        id: event.id,
        name: event.name.as_deref().map(Into::into),
        body_bits: skip.constant(),
        slot_count: slots.numbers.len(),
        specific_context,
        payload,
        body_align,
        max_align,
        body_modulus,
        skip,
    }
}

/// The numbered places of the integers that lengths and selectors need.
#[derive(Debug, Clone, Default)]
struct Slots {
    numbers: BTreeMap<Location, u32>,
}

impl Slots {
    fn want(&mut self, location: &Location) {
        let next = self.numbers.len() as u32;
        self.numbers.entry(location.clone()).or_insert(next);
    }

    /// Drops locations and numbers the rest anew.
    fn keep_only(&mut self, keep: impl Fn(&Location) -> bool) {
        self.numbers.retain(|location, _| keep(location));
        for (number, slot) in (0..).zip(self.numbers.values_mut()) {
            *slot = number;
        }
    }

    fn collect_struct(&mut self, class: &StructClass) {
        for member in &class.members {
            self.collect(&member.class);
        }
    }

    fn collect(&mut self, class: &FieldClass) {
        match class {
            FieldClass::Integer(_) | FieldClass::Float(_) | FieldClass::String(_) => {}
            FieldClass::Text(class) => self.collect_length(&class.length),
            FieldClass::Struct(class) => self.collect_struct(class),
            FieldClass::Array(class) => {
                self.collect_length(&class.length);
                self.collect(&class.element);
            }
            FieldClass::Variant(class) => {
                self.want(&class.selector);
                for option in &class.options {
                    self.collect(&option.class);
                }
            }
        }
    }

    fn collect_length(&mut self, length: &Length) {
        if let Length::Dynamic(location) = length {
            self.want(location);
        }
    }

    fn compile_scope(&self, scope: Scope, class: &StructClass) -> Node {
        self.compile_struct(&mut Location { scope, path: Vec::new() }, class)
    }

    fn compile(&self, here: &mut Location, class: &FieldClass) -> Node {
        let align = class.align();
        match class {
            FieldClass::Integer(class) => {
                let slot = self.numbers.get(here).copied();
                let fixed_bits = Some(u64::from(class.size));
                Node { align, fixed_bits, kind: NodeKind::Integer { class: class.clone(), slot } }
            }
            FieldClass::Float(class) => {
                Node { align, fixed_bits: Some(class.size.into()), kind: NodeKind::Float(class.clone()) }
            }
            FieldClass::String(_) => Node { align, fixed_bits: None, kind: NodeKind::String },
            FieldClass::Text(class) => {
                let count = self.count(&class.length);
                let fixed_bits = fixed_elements(count, 8, 8);
                Node { align, fixed_bits, kind: NodeKind::Text(count) }
            }
            FieldClass::Struct(class) => self.compile_struct(here, class),
            FieldClass::Array(class) => {
                let count = self.count(&class.length);
                let element = self.compile(here, &class.element);
                let fixed_bits = element
                    .fixed_bits
                    .and_then(|size| fixed_elements(count, align_up(size, element.align), size));
                Node { align, fixed_bits, kind: NodeKind::Array(count, Box::new(element)) }
            }
            FieldClass::Variant(class) => self.compile_variant(here, class),
        }
    }

    fn compile_struct(&self, here: &mut Location, class: &StructClass) -> Node {
        let mut size = Some(0);
        let mut members = Vec::with_capacity(class.members.len());
        for member in &class.members {
            here.path.push(member.name.clone());
            let node = self.compile(here, &member.class);
            here.path.pop();
            size = size.and_then(|size| align_up(size, node.align).checked_add(node.fixed_bits?));
            members.push((Name::new(&member.name), node));
        }
        Node { align: class.align(), fixed_bits: size, kind: NodeKind::Struct(members) }
    }

    fn compile_variant(&self, here: &mut Location, class: &VariantClass) -> Node {
        let mut ranges = Vec::new();
        let mut options = Vec::with_capacity(class.options.len());
        for (index, option) in class.options.iter().enumerate() {
            ranges.extend(option.ranges.iter().map(|&(first, last)| (first, last, index)));
            here.path.push(option.name.clone());
            options
                .push(OptionNode { name: Name::new(&option.name), node: self.compile(here, &option.class) });
            here.path.pop();
        }
        // A negative bound is only reached by a signed selector; an unsigned one never exceeds i64 and is negative.
        let signed = ranges.iter().any(|(first, ..)| *first < 0);
        let selector = Selector { slot: self.slot(&class.selector), signed, ranges };
        Node { align: 1, fixed_bits: None, kind: NodeKind::Variant(selector, options) }
    }

    fn count(&self, length: &Length) -> Count {
        match length {
            Length::Static(count) => Count::Static(*count),
            Length::Dynamic(location) => Count::Slot(self.slot(location)),
        }
    }

    fn slot(&self, location: &Location) -> u32 {
        self.numbers.get(location).copied().unwrap_or_default()
    }
}

/// Bits of a number of elements known beforehand.
fn fixed_elements(count: Count, stride: u64, size: u64) -> Option<u64> {
    match count {
        Count::Static(0) => Some(0),
        Count::Static(count) => (count - 1).checked_mul(stride)?.checked_add(size),
        Count::Slot(_) => None,
    }
}
