//! The blocks of a metadata text: trace, environment, clocks, streams, events.

use std::collections::{HashMap, HashSet};

use super::fields::Fields;
use super::scope::{ScopeId, Scopes};
use super::types::Types;
use super::{Complaint, attributes, roles};
use crate::schema::{
    ByteOrder, ClockClass, EnvironmentValue, EventClass, Schema, Scope, StreamClass, StructClass, shown_name,
};
use crate::tsdl::{Assignment, Ast, Block, BlockKind, Entry, Item, Type, ValueKind};

type Result<T> = std::result::Result<T, Complaint>;

/// Lowers a whole text; warnings are about what was passed over.
pub(super) fn lower(ast: &Ast<'_>) -> Result<(Schema, Vec<Complaint>)> {
    let clocks = clock_classes(ast)?;
    let byte_order = byte_order(ast)?;
    let names: HashMap<_, _> = clocks.iter().map(|clock| clock.name.clone()).zip(0..).collect();
    let mut lowering = Lowering {
        types: Types::new(byte_order, names),
        schema: Schema { clocks, ..Schema::empty((1, 8), byte_order) },
        events: Vec::new(),
        stream_ids: HashSet::new(),
        warnings: Vec::new(),
    };
    for item in &ast.items {
        match item {
            Item::Declaration(declaration) => lowering.types.declare(Scopes::ROOT, declaration),
            Item::Block(block) => lowering.block(block)?,
        }
    }
    lowering.finish()
}

struct Lowering<'a> {
    types: Types<'a>,
    schema: Schema,
    /// Event blocks and their scopes: lowered when all streams are known (a stream block may come later).
    events: Vec<(&'a Block<'a>, ScopeId)>,
    stream_ids: HashSet<u64>,
    warnings: Vec<Complaint>,
}

/// The integers' native byte order, needed before the first of them.
fn byte_order(ast: &Ast<'_>) -> Result<ByteOrder> {
    let mut found = ByteOrder::Little;
    for Assignment { path, value } in blocks(ast, BlockKind::Trace).flat_map(assignments) {
        if path.is("byte_order") {
            found = attributes::byte_order(value)?
                .ok_or_else(|| Complaint::new(value.offset, "the trace itself must say what `native` is"))?;
        }
    }
    Ok(found)
}

fn blocks<'a>(ast: &'a Ast<'a>, kind: BlockKind<'a>) -> impl Iterator<Item = &'a Block<'a>> {
    ast.items.iter().filter_map(move |item| match item {
        Item::Block(block) if block.kind == kind => Some(block),
        _ => None,
    })
}

fn assignments<'a>(block: &'a Block<'a>) -> impl Iterator<Item = &'a Assignment<'a>> {
    block.entries.iter().filter_map(|entry| match entry {
        Entry::Value(assignment) => Some(assignment),
        _ => None,
    })
}

fn clock_classes(ast: &Ast<'_>) -> Result<Vec<ClockClass>> {
    let mut clocks: Vec<ClockClass> = Vec::new();
    let mut names = HashSet::new();
    for block in blocks(ast, BlockKind::Clock) {
        let mut clock = ClockClass::monotonic("");
        for Assignment { path, value } in assignments(block) {
            match path.parts.as_slice() {
                ["name"] => clock.name = attributes::text(value)?,
                ["uuid"] => clock.uuid = Some(attributes::uuid(value)?),
                ["description"] => clock.description = Some(attributes::text(value)?),
                ["freq"] => clock.frequency = attributes::unsigned(value)?,
                ["precision"] => clock.precision = attributes::unsigned(value)?,
                ["offset_s"] => clock.offset_s = attributes::signed(value)?,
                ["offset"] => clock.offset_cycles = attributes::signed(value)?,
                ["absolute"] => clock.absolute = attributes::boolean(value)?,
                _ => {}
            }
        }
        if clock.name.is_empty() {
            return Err(Complaint::new(block.offset, "a clock needs a name"));
        }
        if clock.frequency == 0 {
            return Err(Complaint::new(
                block.offset,
                format!("the clock `{}` has a frequency of 0", clock.name),
            ));
        }
        if !names.insert(clock.name.clone()) {
            return Err(Complaint::new(block.offset, format!("two clocks are called `{}`", clock.name)));
        }
        clocks.push(clock);
    }
    Ok(clocks)
}

impl<'a> Lowering<'a> {
    fn block(&mut self, block: &'a Block<'a>) -> Result<()> {
        match block.kind {
            BlockKind::Trace => self.trace(block),
            BlockKind::Env => self.environment(block),
            BlockKind::Stream => self.stream(block),
            BlockKind::Event => {
                let scope = self.types.scopes.enter(Scopes::ROOT);
                self.events.push((block, scope));
                Ok(())
            }
            BlockKind::Clock | BlockKind::Callsite => Ok(()),
            BlockKind::Unknown(name) => {
                self.warnings.push(Complaint::new(block.offset, format!("unknown block `{name}` ignored")));
                Ok(())
            }
        }
    }

    fn trace(&mut self, block: &'a Block<'a>) -> Result<()> {
        let scope = self.types.scopes.enter(Scopes::ROOT);
        for entry in &block.entries {
            match entry {
                Entry::Declaration(declaration) => self.types.declare(scope, declaration),
                Entry::Value(Assignment { path, value }) if path.is("uuid") => {
                    self.schema.uuid = Some(attributes::uuid(value)?);
                }
                Entry::Value(Assignment { path, value }) if path.is("major") || path.is("minor") => {
                    let number = attributes::unsigned(value)? as u32;
                    if path.is("major") && number != 1 {
                        let message = format!("metadata of CTF {number} are not written in this language");
                        return Err(Complaint::new(value.offset, message));
                    }
                    let part = if path.is("major") {
                        &mut self.schema.version.0
                    } else {
                        &mut self.schema.version.1
                    };
                    *part = number;
                }
                Entry::Value(_) => {}
                Entry::Type(assignment) if assignment.path.is("packet.header") => {
                    let mut fields = Fields::new(Scope::PacketHeader, &[]);
                    let mut class = self.types.root(scope, &mut fields, &assignment.target)?;
                    roles::mark_packet_header(&mut class);
                    self.schema.packet_header = Some(class);
                }
                Entry::Type(assignment) => self.warnings.push(unknown_type(&assignment.path)),
            }
        }
        Ok(())
    }

    fn environment(&mut self, block: &Block<'_>) -> Result<()> {
        for Assignment { path, value } in assignments(block) {
            let value = match &value.kind {
                ValueKind::Integer(_) => EnvironmentValue::Integer(attributes::signed(value)?),
                // As C strings they end at a NUL.
                _ => EnvironmentValue::Text(
                    attributes::text(value)?.split('\0').next().unwrap_or_default().to_owned(),
                ),
            };
            self.schema.environment.insert(shown_name(&path.to_string()).to_owned(), value);
        }
        Ok(())
    }

    fn stream(&mut self, block: &'a Block<'a>) -> Result<()> {
        let scope = self.types.scopes.enter(Scopes::ROOT);
        let mut id = 0;
        let (mut packet_context, mut event_header, mut common_context) = (None, None, None);
        for entry in &block.entries {
            match entry {
                Entry::Declaration(declaration) => self.types.declare(scope, declaration),
                Entry::Value(Assignment { path, value }) if path.is("id") => {
                    id = attributes::unsigned(value)?;
                }
                Entry::Value(_) => {}
                Entry::Type(assignment) => {
                    let target = Some(&assignment.target);
                    match assignment.path.parts.as_slice() {
                        ["packet", "context"] => packet_context = target,
                        ["event", "header"] => event_header = target,
                        ["event", "context"] => common_context = target,
                        _ => self.warnings.push(unknown_type(&assignment.path)),
                    }
                }
            }
        }
        // In decoding order, whatever the order of the text: each may refer to those before it.
        let header = self.schema.packet_header.as_ref();
        let mut before = vec![(Scope::PacketHeader, header)];
        let mut packet_context =
            lower_root(&mut self.types, scope, Scope::PacketContext, &before, packet_context)?;
        before.push((Scope::PacketContext, packet_context.as_ref()));
        let mut event_header = lower_root(&mut self.types, scope, Scope::EventHeader, &before, event_header)?;
        if let [] | [_] = self.schema.clocks.as_slice()
            && roles::map_times(packet_context.as_mut(), event_header.as_mut())
            && self.schema.clocks.is_empty()
        {
            self.schema.clocks.push(ClockClass::monotonic("default"));
        }
        packet_context.iter_mut().for_each(roles::mark_packet_context);
        event_header.iter_mut().for_each(roles::mark_event_header);
        let header = self.schema.packet_header.as_ref();
        let mut before = vec![(Scope::PacketHeader, header), (Scope::PacketContext, packet_context.as_ref())];
        before.push((Scope::EventHeader, event_header.as_ref()));
        let common_context =
            lower_root(&mut self.types, scope, Scope::CommonContext, &before, common_context)?;
        let clock = event_header.iter().chain(&packet_context).find_map(roles::first_clock);
        if !self.stream_ids.insert(id) {
            return Err(Complaint::new(block.offset, format!("two streams have the id {id}")));
        }
        let classes = StreamClass { id, clock, packet_context, event_header, ..StreamClass::default() };
        self.schema.streams.push(StreamClass { common_context, ..classes });
        Ok(())
    }

    fn finish(mut self) -> Result<(Schema, Vec<Complaint>)> {
        if self.schema.streams.is_empty() && !self.events.is_empty() {
            // A trace may leave its only stream unsaid.
            self.schema.streams.push(StreamClass::default());
        }
        self.schema.streams.sort_by_key(|s| s.id);
        let mut ids = HashSet::new();
        for (block, scope) in std::mem::take(&mut self.events) {
            self.event(block, scope, &mut ids)?;
        }
        for stream in &mut self.schema.streams {
            stream.events.sort_by_key(|e| e.id);
        }
        Ok((self.schema, self.warnings))
    }

    /// Lowers an event; `ids` holds the stream and the id of each one before.
    fn event(&mut self, block: &'a Block<'a>, scope: ScopeId, ids: &mut HashSet<(usize, u64)>) -> Result<()> {
        let (mut id, mut stream_id, mut name, mut log_level) = (0, None, None, None);
        let (mut context, mut fields) = (None, None);
        for entry in &block.entries {
            match entry {
                Entry::Declaration(declaration) => self.types.declare(scope, declaration),
                Entry::Value(Assignment { path, value }) => match path.parts.as_slice() {
                    ["id"] => id = attributes::unsigned(value)?,
                    ["stream_id"] => stream_id = Some(attributes::unsigned(value)?),
                    ["name"] => name = Some(attributes::text(value)?),
                    ["loglevel"] => log_level = attributes::signed(value).ok(),
                    _ => {}
                },
                Entry::Type(assignment) => match assignment.path.parts.as_slice() {
                    ["context"] => context = Some(&assignment.target),
                    ["fields"] => fields = Some(&assignment.target),
                    _ => self.warnings.push(unknown_type(&assignment.path)),
                },
            }
        }
        let streams = &mut self.schema.streams;
        let stream_id = stream_id.unwrap_or(if streams.len() == 1 { streams[0].id } else { 0 });
        let index = streams
            .binary_search_by_key(&stream_id, |s| s.id)
            .map_err(|_| Complaint::new(block.offset, format!("no stream has the id {stream_id}")))?;
        let stream = &streams[index];
        if !ids.insert((index, id)) {
            return Err(Complaint::new(block.offset, format!("two events of the stream have the id {id}")));
        }
        let mut before = vec![
            (Scope::PacketHeader, self.schema.packet_header.as_ref()),
            (Scope::PacketContext, stream.packet_context.as_ref()),
            (Scope::EventHeader, stream.event_header.as_ref()),
            (Scope::CommonContext, stream.common_context.as_ref()),
        ];
        let specific_context = lower_root(&mut self.types, scope, Scope::SpecificContext, &before, context)?;
        before.push((Scope::SpecificContext, specific_context.as_ref()));
        let payload = lower_root(&mut self.types, scope, Scope::Payload, &before, fields)?;
        let event = EventClass { id, name, log_level, specific_context, payload, ..EventClass::default() };
        self.schema.streams[index].events.push(event);
        Ok(())
    }
}

/// Lowers the structure of a scope, if it is there.
fn lower_root<'a>(
    types: &mut Types<'a>,
    scope: ScopeId,
    root: Scope,
    before: &[(Scope, Option<&StructClass>)],
    written: Option<&'a Type<'a>>,
) -> Result<Option<StructClass>> {
    let Some(written) = written else { return Ok(None) };
    types.root(scope, &mut Fields::new(root, before), written).map(Some)
}

fn unknown_type(path: &crate::tsdl::Path<'_>) -> Complaint {
    Complaint::new(path.offset, format!("nothing called `{path}` has a type; ignored"))
}
