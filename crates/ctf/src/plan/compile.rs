//! From schema to plan: slots are numbered, sizes are folded, skip programs are built.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Cursor;
use super::header::{self, HeaderForm};
use super::ids::ClassIndex;
use super::lttng::LttngHeader;
use super::node::Node;
use super::program::{Builder, Known, Program};
use super::slots::Slots;
use crate::schema::{EventClass, Location, Role, Schema, Scope, StreamClass, StructClass};

/// A compiled trace schema.
#[derive(Debug)]
pub struct Plan {
    /// The structure at the head of every packet.
    pub packet_header: Option<Node>,
    /// Stream classes in the order of [`Schema::streams`].
    pub streams: Vec<StreamPlan>,
    /// Slots that decoding any event of the trace needs.
    pub(crate) slot_count: usize,
    /// Members at the start of every packet context that are the same in all stream classes and hold the size
    /// of the packet; 0: there are none. With them a packet of an unknown class costs only itself.
    pub(crate) size_members: usize,
    by_id: ClassIndex,
}

impl Plan {
    /// Empty slots, as many as any walk needs.
    pub fn new_slots(&self) -> Vec<u64> {
        vec![0; self.slot_count]
    }

    /// Number of the stream class with this id; packets without an id are of the first.
    pub(crate) fn stream(&self, id: Option<u64>) -> Option<usize> {
        match id {
            Some(id) => self.by_id.get(id),
            None => (!self.streams.is_empty()).then_some(0),
        }
    }
}

/// A compiled stream class.
#[derive(Debug)]
pub struct StreamPlan {
    /// Id of the class.
    pub id: u64,
    /// Index of the clock class in [`Schema::clocks`].
    pub clock: Option<usize>,
    /// The structure after the packet header.
    pub packet_context: Option<Node>,
    /// The structure at the head of every event.
    pub event_header: Option<Node>,
    /// How to decode that head.
    pub header_form: HeaderForm,
    /// That head, if it has the shape of LTTng's, whatever its sizes.
    pub(crate) lttng_header: Option<LttngHeader>,
    /// The context of every event.
    pub common_context: Option<Node>,
    /// Event classes in the order of [`StreamClass::events`].
    pub events: Vec<EventPlan>,
    /// Moves over the common context, where its size is not constant; a constant size is part of the events'
    /// programs.
    pub(crate) context_skip: Option<Program>,
    /// Whether some field of an event depends on the packet's head or the event's header.
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
    /// A number that no other class of any plan has.
    pub(super) identity: u64,
    /// Alignment of what follows the header.
    pub(crate) body_align: u32,
    /// Strictest alignment of any field in the body.
    pub(crate) max_align: u32,
    /// Power of two that the start of the body is known to be a multiple of.
    pub(super) body_modulus: u32,
    /// Moves over the contexts and the payload; see [`StreamPlan::context_skip`].
    pub(crate) skip: Program,
    /// Size of the body where it is constant.
    pub(crate) body_bits: Option<u64>,
    slot_count: usize,
}

impl EventPlan {
    /// A number that no other class of any plan has.
    #[inline]
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    /// Power of two that the start of the body is known to be a multiple of, in bits.
    pub(crate) fn body_modulus(&self) -> u32 {
        self.body_modulus
    }

    /// Slots that walking the event's fields needs.
    #[inline]
    pub(crate) fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// The fields of a scope after the header.
    #[inline]
    pub(crate) fn scope<'p>(&'p self, stream: &'p StreamPlan, scope: Scope) -> Option<&'p Node> {
        match scope {
            Scope::CommonContext => stream.common_context.as_ref(),
            Scope::SpecificContext => self.specific_context.as_ref(),
            Scope::Payload => self.payload.as_ref(),
            Scope::PacketHeader | Scope::PacketContext | Scope::EventHeader => None,
        }
    }
}

impl StreamPlan {
    /// The event class with this id; an event without an id is of the only class.
    #[inline]
    pub(crate) fn event(&self, id: Option<u64>) -> Result<&EventPlan, crate::DecodeError> {
        let found = match id {
            Some(id) => self.by_id.get(id).and_then(|index| self.events.get(index)),
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
        time: &mut header::EventTime,
    ) -> Result<Option<u64>, crate::DecodeError> {
        header::decode(self.header_form, self.event_header.as_ref(), cursor, slots, time)
    }

    /// Bits of the packet context's field with this role.
    pub(crate) fn context_bits(&self, role: Role) -> Option<u32> {
        self.packet_context.as_ref().and_then(|context| context.role_bits(role))
    }
}

impl Plan {
    /// Compiles a schema; linear in its size.
    pub fn compile(schema: &Schema) -> Self {
        let mut outer = Slots::new(schema.version.0 >= 2);
        for class in schema.streams.iter().flat_map(outer_structs).chain(&schema.packet_header) {
            outer.collect_struct(class);
        }
        for event in schema.streams.iter().flat_map(|s| &s.events) {
            for class in event.specific_context.iter().chain(&event.payload) {
                outer.collect_struct(class);
            }
        }
        outer.keep_only(|location| location.scope <= Scope::CommonContext);
        let mut slot_count = outer.count();
        let packet_header =
            schema.packet_header.as_ref().map(|class| outer.compile_scope(Scope::PacketHeader, class));
        let streams: Vec<_> =
            schema.streams.iter().map(|s| compile_stream(s, &outer, &mut slot_count)).collect();
        let by_id = ClassIndex::new(streams.iter().map(|s| s.id));
        Self { packet_header, streams, slot_count, size_members: size_members(schema), by_id }
    }
}

fn outer_structs(stream: &StreamClass) -> impl Iterator<Item = &StructClass> {
    stream.packet_context.iter().chain(&stream.event_header).chain(&stream.common_context)
}

/// Members at the start of every packet context up to the last size, if they are the same everywhere.
fn size_members(schema: &Schema) -> usize {
    let contexts: Option<Vec<_>> = schema.streams.iter().map(|s| s.packet_context.as_ref()).collect();
    let Some((first, others)) = contexts.as_deref().and_then(<[_]>::split_first) else { return 0 };
    let Some(size) = first.members.iter().position(|m| m.class.role() == Some(Role::PacketTotalLength))
    else {
        return 0;
    };
    let shared = &first.members[..=size];
    let same = |other: &&StructClass| other.align() == first.align() && other.members.starts_with(shared);
    if others.iter().all(same) { shared.len() } else { 0 }
}

fn compile_stream(stream: &StreamClass, outer: &Slots<'_>, slot_count: &mut usize) -> StreamPlan {
    let scope =
        |scope, class: &Option<StructClass>| class.as_ref().map(|class| outer.compile_scope(scope, class));
    let event_header = scope(Scope::EventHeader, &stream.event_header);
    let lttng_header = stream.event_header.as_ref().and_then(LttngHeader::of);
    let body_needs = body_references(stream);
    let referred_to = body_needs.iter().any(|location| location.scope == Scope::EventHeader);
    let header_form = HeaderForm::of(event_header.as_ref(), lttng_header.as_ref(), referred_to);
    let after_header = match (header_form, &event_header) {
        (HeaderForm::Compact(_) | HeaderForm::Large(_), _) => Known::aligned(8),
        (HeaderForm::Generic, Some(node)) => {
            let mut builder = Builder::new(Known::aligned(1));
            builder.field(node);
            builder.finish().1
        }
        _ => Known::aligned(1),
    };
    let context = Context::new(scope(Scope::CommonContext, &stream.common_context), after_header);
    let events = stream.events.iter().enumerate().map(|(index, event)| {
        let compiled = compile_event(index, event, outer, &context);
        *slot_count = compiled.slot_count.max(*slot_count);
        compiled
    });
    let events: Vec<_> = events.collect();
    let head_needs = references(&stream.event_header);
    let before_event = |location: &Location| location.scope < Scope::EventHeader;
    StreamPlan {
        id: stream.id,
        clock: stream.clock,
        packet_context: scope(Scope::PacketContext, &stream.packet_context),
        event_header,
        header_form,
        lttng_header,
        needs_headers: body_needs.iter().any(|location| location.scope < Scope::CommonContext)
            || head_needs.iter().any(before_event),
        by_id: ClassIndex::new(events.iter().map(|e: &EventPlan| e.id)),
        context_skip: context.skip.filter(|skip| skip.constant().is_none()),
        common_context: context.node,
        events,
    }
}

/// Locations that the contexts and payloads of a stream's events refer to.
fn body_references(stream: &StreamClass) -> Vec<Location> {
    let events = stream.events.iter().flat_map(|e| e.specific_context.iter().chain(&e.payload));
    references(events.chain(&stream.common_context))
}

fn references<'c>(classes: impl IntoIterator<Item = &'c StructClass>) -> Vec<Location> {
    let mut slots = Slots::default();
    classes.into_iter().for_each(|class| slots.collect_struct(class));
    slots.locations().cloned().collect()
}

/// What all events of a stream class have between header and body.
struct Context {
    node: Option<Node>,
    max_align: u32,
    /// What is known of the position after the header.
    after_header: Known,
    skip: Option<Program>,
    /// What is known of the position after the context.
    after: Known,
}

impl Context {
    fn new(node: Option<Node>, after_header: Known) -> Self {
        let mut context = Self { max_align: 1, after_header, skip: None, after: after_header, node };
        if let Some(node) = &context.node {
            let mut builder = Builder::new(Known::aligned(context.body_modulus(node.align)));
            builder.field(node);
            let (skip, after) = builder.finish();
            (context.max_align, context.skip, context.after) = (node.max_align(), Some(skip), after);
        }
        context
    }

    /// Power of two that the start of a body with this alignment is known to be a multiple of.
    fn body_modulus(&self, body_align: u32) -> u32 {
        let Known { modulus, remainder } = self.after_header;
        body_align.max(if remainder == 0 { modulus } else { 1 })
    }
}

fn compile_event(index: usize, event: &EventClass, outer: &Slots<'_>, context: &Context) -> EventPlan {
    /// Classes compiled so far, by any thread.
    static COMPILED: AtomicU64 = AtomicU64::new(0);

    let mut slots = Slots::inside(outer);
    for class in event.specific_context.iter().chain(&event.payload) {
        slots.collect_struct(class);
    }
    let scope =
        |scope, class: &Option<StructClass>| class.as_ref().map(|class| slots.compile_scope(scope, class));
    let specific_context = scope(Scope::SpecificContext, &event.specific_context);
    let payload = scope(Scope::Payload, &event.payload);

    let own = || specific_context.iter().chain(&payload);
    let body_align = context.node.iter().chain(own()).next().map_or(1, |node| node.align);
    let body_modulus = context.body_modulus(body_align);
    let (constant, known) = match &context.skip {
        None => (Some(0), Known::aligned(body_modulus)),
        Some(skip) => match skip.constant() {
            Some(bits) => (Some(bits), Known::aligned(body_modulus)),
            None => (None, context.after),
        },
    };
    let mut builder = Builder::new(known);
    builder.skip(constant.unwrap_or(0));
    own().for_each(|node| builder.field(node));
    let (skip, _) = builder.finish();
    EventPlan {
        index,
        id: event.id,
        name: event.name.as_deref().map(Into::into),
        identity: COMPILED.fetch_add(1, Ordering::Relaxed),
        body_bits: constant.and_then(|_| skip.constant()),
        slot_count: slots.count(),
        max_align: own().map(Node::max_align).fold(context.max_align, u32::max),
        specific_context,
        payload,
        body_align,
        body_modulus,
        skip,
    }
}
