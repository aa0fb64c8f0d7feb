//! An event as a view: where it lies in its packet, of which class it is, when it happened. Fields are
//! decoded when they are asked for.

use super::{Packet, Trace};
use crate::bits;
use crate::error::DecodeError;
use crate::plan::{
    Cursor, EmptyElements, EventPlan, FieldRef, Gather, Ignore, Node, NodeKind, StreamPlan, Text, Visitor,
    run, variable, walk,
};
use crate::schema::{Encoding, Scope};
use crate::value::{Value, ValueVisitor};

/// One event of a trace. A `Copy` of a few words that borrows the mapped file; nothing is allocated for it.
#[derive(Debug, Clone, Copy)]
pub struct Event<'t> {
    pub(super) trace: &'t Trace,
    pub(super) packet: &'t Packet,
    pub(super) bytes: &'t [u8],
    /// Where it begins, in bits from the packet's start; its header follows at the next border.
    pub(crate) header: u64,
    /// Where what follows the header begins.
    pub(super) body: u64,
    /// Where it ends.
    pub(super) end: u64,
    pub(super) cycles: u64,
    pub(super) stream: usize,
    pub(super) plan: &'t StreamPlan,
    pub(super) class: &'t EventPlan,
}

impl<'t> Event<'t> {
    /// Time in cycles of the stream's clock; `None` where the stream has no clock.
    #[inline]
    pub fn cycles(&self) -> Option<u64> {
        self.plan.clock.is_some().then_some(self.cycles)
    }

    /// The trace it is in.
    #[inline]
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// The packet it is in.
    #[inline]
    pub fn packet(&self) -> &'t Packet {
        self.packet
    }

    /// Number of its stream in [`Trace::streams`](super::Trace::streams).
    #[inline]
    pub fn stream(&self) -> usize {
        self.stream
    }

    /// Its class.
    #[inline]
    pub fn class(&self) -> &'t EventPlan {
        self.class
    }

    /// The class of its stream.
    pub fn stream_plan(&self) -> &'t StreamPlan {
        self.plan
    }

    /// The name of its class.
    pub fn name(&self) -> Option<&'t str> {
        self.class.name.as_deref()
    }

    /// Size in bytes, header included, rounded up. The padding that aligns the header belongs to no event.
    pub fn size(&self) -> u64 {
        let begin = match &self.plan.event_header {
            Some(header) => bits::align_up(self.header, header.align),
            None => self.body,
        };
        (self.end - begin).div_ceil(8)
    }

    /// Whether the content of its packet begins with it.
    #[inline]
    pub(crate) fn is_first(&self) -> bool {
        self.header == u64::from(self.packet.header_bits)
    }

    /// Where the content of its packet ends, in bits from the packet's start.
    pub(crate) fn content_end(&self) -> u64 {
        self.packet.content_bits.min(self.bytes.len() as u64 * 8)
    }

    /// Its body (contexts and payload), as bits `start..end` of the packet's bytes.
    pub(crate) fn body(&self) -> (&'t [u8], u64, u64) {
        (self.bytes, self.body, self.end)
    }

    /// The value of its header.
    pub(crate) fn header_value(&self) -> Option<Value> {
        let node = self.plan.event_header.as_ref()?;
        let mut slots = Slots::new(self.class.slot_count());
        let mut cursor = Cursor { bytes: self.bytes, at: 0, limit: self.end };
        if self.plan.needs_headers {
            self.walk_head(&mut cursor, slots.get()).ok()?;
        }
        cursor.at = self.header;
        let mut visitor = ValueVisitor::default();
        walk(node, &mut cursor, slots.get(), &mut visitor).ok()?;
        visitor.into_value()
    }

    /// The compiled fields of a scope, if the class has any there.
    #[inline]
    pub fn node(&self, scope: Scope) -> Option<&'t Node> {
        self.class.scope(self.plan, scope)
    }

    /// Decodes all fields of a scope. Only the scopes after the header can be asked for.
    ///
    /// # Errors
    /// None in practice: sizes and selectors have been checked when the event was found, and so has the
    /// number of array elements that take no space ([`DecodeError::TooManyElements`]).
    pub fn visit<V: Visitor>(&self, scope: Scope, visitor: &mut V) -> Result<(), DecodeError> {
        let mut slots = Slots::new(self.class.slot_count());
        let Some((node, mut cursor)) = self.seek(scope, slots.get())? else { return Ok(()) };
        walk(node, &mut cursor, slots.get(), visitor)
    }

    /// An unsigned (or non-negative) integer.
    #[inline]
    pub fn unsigned(&self, field: &FieldRef) -> Option<u64> {
        let (value, is_signed) = self.integer(field)?;
        (!is_signed || value as i64 >= 0).then_some(value)
    }

    /// An integer as signed number.
    #[inline]
    pub fn signed(&self, field: &FieldRef) -> Option<i64> {
        let (value, is_signed) = self.integer(field)?;
        (is_signed || value as i64 >= 0).then_some(value as i64)
    }

    /// An integer of any sign: its bits, and above them those of its sign, as 64 bits in two's complement.
    #[inline]
    pub fn integer_bits(&self, field: &FieldRef) -> Option<u64> {
        self.integer(field).map(|(bits, _)| bits)
    }

    /// Text up to its first NUL. Text in UTF-16 and UTF-32 has no such view: [`Self::visit_field`] shows it.
    #[inline]
    pub fn text(&self, field: &FieldRef) -> Option<&'t [u8]> {
        if !field.is_of(self.class) {
            return None;
        }
        match field.text {
            Some(text) => Some(text.read(self.bytes, self.body)),
            None => self.text_after_variable_fields(field),
        }
    }

    /// The first `N` bytes of a text of constant size at a constant offset, NULs and what is after them
    /// included: some instructions, for callers that compare names in every event. `None` for any other
    /// field; [`Self::text`] reads those.
    #[inline]
    pub fn text_head<const N: usize>(&self, field: &FieldRef) -> Option<&'t [u8; N]> {
        if !field.is_of(self.class) {
            return None;
        }
        field.text?.head(self.bytes, self.body)
    }

    /// A text whose place or size depends on other fields.
    #[inline(never)]
    fn text_after_variable_fields(&self, field: &FieldRef) -> Option<&'t [u8]> {
        let mut slots = Slots::new(self.class.slot_count());
        let (node, mut cursor) = self.seek_field(field, slots.get())?;
        cursor.align(node.align);
        let field = match &node.kind {
            NodeKind::String(Encoding::Utf8) => cursor.take_string().ok()?,
            NodeKind::Text(count, Encoding::Utf8) => cursor.take_bytes(count.get(slots.get())).ok()?,
            _ => return None,
        };
        Some(Text { field }.shown())
    }

    /// Decodes one field of any shape.
    pub fn visit_field<V: Visitor>(&self, field: &FieldRef, visitor: &mut V) -> Option<()> {
        let mut slots = Slots::new(self.class.slot_count());
        let (node, mut cursor) = self.seek_field(field, slots.get())?;
        walk(node, &mut cursor, slots.get(), visitor).ok()
    }

    /// The raw bits of an integer, sign-extended, and whether it is signed.
    // Three words are returned through memory, and most callers use one of them: so it is inlined into those.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn integer(&self, field: &FieldRef) -> Option<(u64, bool)> {
        if !field.is_of(self.class) {
            return None;
        }
        if let Some(fixed) = &field.fixed {
            return Some((fixed.read(self.bytes, self.body), fixed.signed()));
        }
        self.integer_after_variable_fields(field)
    }

    /// An integer whose place depends on the fields before it. Apart, so that the usual case is small enough
    /// to inline.
    #[inline(never)]
    fn integer_after_variable_fields(&self, field: &FieldRef) -> Option<(u64, bool)> {
        let mut slots = Slots::new(self.class.slot_count());
        let (node, mut cursor) = self.seek_field(field, slots.get())?;
        cursor.align(node.align);
        let class = match &node.kind {
            NodeKind::Integer { class, .. } => class,
            NodeKind::VarInteger { class, .. } => {
                let (value, _) = variable::read(&mut cursor, class.signed).ok()?;
                return Some((value, class.signed));
            }
            _ => return None,
        };
        let at = cursor.take(class.size.into()).ok()?;
        let raw = class.read(self.bytes, at);
        Some((bits::extend(raw, class.size, class.signed), class.signed))
    }

    /// Hands the integers of a plan to `put`, each with its position in the list that the plan was made from:
    /// their bits, sign-extended. `false` where the plan is for another class.
    #[inline]
    pub(crate) fn gather(&self, plan: &Gather, mut put: impl FnMut(usize, u64)) -> bool {
        if !plan.is_of(self.class) {
            return false;
        }
        plan.first.read(self.bytes, self.body, &mut put);
        // Cannot fail: the event was walked when it was found.
        plan.is_one_section() || self.gather_more(plan, put).is_ok()
    }

    /// The integers after fields of variable size, and rare ones.
    #[inline(never)]
    fn gather_more(&self, plan: &Gather, mut put: impl FnMut(usize, u64)) -> Result<(), DecodeError> {
        let mut slots = Slots::new(self.class.slot_count());
        let slots = slots.get();
        let mut cursor = self.after_header(slots)?;
        let mut empty = EmptyElements::new();
        for (way, section) in &plan.more {
            run(way, &mut cursor, slots, &mut empty)?;
            section.read(self.bytes, cursor.at, &mut put);
        }
        for (place, field) in &plan.rare {
            put(*place, self.integer(field).map_or(0, |(value, _)| value));
        }
        Ok(())
    }

    /// Fills slots from the head of the packet.
    fn walk_head(&self, cursor: &mut Cursor<'_>, slots: &mut [u64]) -> Result<(), DecodeError> {
        let head = self.trace.plan().packet_header.iter().chain(&self.plan.packet_context);
        head.into_iter().try_for_each(|node| walk(node, cursor, slots, &mut Ignore))
    }

    /// The cursor at the start of the body, slots filled from all before it.
    #[inline]
    fn after_header(&self, slots: &mut [u64]) -> Result<Cursor<'t>, DecodeError> {
        let mut cursor = Cursor { bytes: self.bytes, at: 0, limit: self.end };
        if self.plan.needs_headers {
            self.walk_head(&mut cursor, slots)?;
            cursor.at = self.header;
            if let Some(outer) = &self.plan.event_header {
                walk(outer, &mut cursor, slots, &mut Ignore)?;
            }
        }
        cursor.at = self.body;
        Ok(cursor)
    }

    /// The cursor at the start of a scope, slots filled from all before it.
    #[inline]
    fn seek(&self, scope: Scope, slots: &mut [u64]) -> Result<Option<(&'t Node, Cursor<'t>)>, DecodeError> {
        let Some(node) = self.node(scope) else { return Ok(None) };
        let mut cursor = self.after_header(slots)?;
        for before in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            if before == scope {
                break;
            }
            if let Some(outer) = self.node(before) {
                walk(outer, &mut cursor, slots, &mut Ignore)?;
            }
        }
        Ok(Some((node, cursor)))
    }

    /// The cursor at a field; `None` where a variant has chosen another option, or the event is of another
    /// class.
    fn seek_field(&self, field: &FieldRef, slots: &mut [u64]) -> Option<(&'t Node, Cursor<'t>)> {
        if !field.is_of(self.class) {
            return None;
        }
        if let Some(way) = &field.way {
            let mut cursor = self.after_header(slots).ok()?;
            run(way, &mut cursor, slots, &mut EmptyElements::new()).ok()?;
            let inside = |node: &'t Node, &step: &usize| match &node.kind {
                NodeKind::Struct(members) => Some(&members.get(step)?.1),
                _ => None,
            };
            return Some((field.steps.iter().try_fold(self.node(field.scope)?, inside)?, cursor));
        }
        let (mut node, mut cursor) = self.seek(field.scope, slots).ok()??;
        for &step in &field.steps {
            cursor.align(node.align);
            match &node.kind {
                NodeKind::Struct(members) => {
                    for (_, member) in members.get(..step)? {
                        walk(member, &mut cursor, slots, &mut Ignore).ok()?;
                    }
                    node = &members.get(step)?.1;
                }
                NodeKind::Variant(selector, options) => {
                    if selector.choose(slots).ok()? != step {
                        return None;
                    }
                    node = &options.get(step)?.node;
                }
                NodeKind::Optional(selector, inner) => {
                    selector.chosen(slots).ok()?;
                    node = inner;
                }
                _ => return None,
            }
        }
        Some((node, cursor))
    }
}

/// Slots for one walk: on the stack in the usual case.
struct Slots {
    few: [u64; Self::FEW],
    many: Vec<u64>,
}

impl Slots {
    const FEW: usize = 16;

    fn new(count: usize) -> Self {
        Self { few: [0; Self::FEW], many: if count > Self::FEW { vec![0; count] } else { Vec::new() } }
    }

    fn get(&mut self) -> &mut [u64] {
        if self.many.is_empty() { &mut self.few } else { &mut self.many }
    }
}
