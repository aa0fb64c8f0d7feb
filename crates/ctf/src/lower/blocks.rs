//! The blocks of a metadata text: trace, environment, clocks, streams, events.

use std::collections::{HashMap, HashSet};

use super::fields::Fields;
use super::scope::{ScopeId, Scopes};
use super::types::Types;
use super::{attributes, roles};
use crate::schema::{
    ByteOrder, ClockClass, EnvironmentValue, EventClass, Member, Role, Schema, Scope, StreamClass,
    StructClass, shown_name,
};
use crate::text_error::{Notes, Result, TextError};
use crate::tsdl::{Assignment, Ast, Block, BlockKind, Declaration, Entry, Item, Path, Type, ValueKind};

/// Lowers a whole text; warnings are about what was passed over.
pub(super) fn lower(ast: &Ast<'_>) -> Result<(Schema, Vec<TextError>)> {
    let mut notes = Notes::default();
    for note in &ast.notes {
        notes.add(note.offset, note.message.as_str());
    }
    let clocks = read_clocks(blocks(ast, BlockKind::Clock), &mut notes)?;
    let byte_order = byte_order(ast, &mut notes)?;
    let names: HashMap<_, _> = clocks.iter().map(|clock| clock.name.clone()).zip(0..).collect();
    let mut lowering = Lowering {
        types: Types::new(byte_order, names, notes),
        schema: Schema { clocks, ..Schema::empty((1, 8), byte_order) },
        declared: Vec::new(),
        events: Vec::new(),
        streams: HashMap::new(),
    };
    for item in &ast.items {
        match item {
            Item::Declaration(declaration) => lowering.declare(Scopes::ROOT, declaration),
            Item::Block(block) => lowering.block(block)?,
        }
    }
    lowering.finish()
}

struct Lowering<'a> {
    types: Types<'a>,
    schema: Schema,
    /// Declarations outside of structures, and their scopes.
    declared: Vec<(ScopeId, &'a Declaration<'a>)>,
    /// Event blocks and their scopes: lowered when all streams are known (a stream block may come later).
    events: Vec<(&'a Block<'a>, ScopeId)>,
    /// Where the streams are declared, by their ids, and whether their event headers hold the class of the
    /// event.
    streams: HashMap<u64, (usize, bool)>,
}

/// The integers' native byte order, needed before the first of them.
fn byte_order(ast: &Ast<'_>, notes: &mut Notes) -> Result<ByteOrder> {
    let mut found = None;
    for Assignment { path, value } in blocks(ast, BlockKind::Trace).flat_map(assignments) {
        if path.is("byte_order") {
            let missing = || TextError::new(value.offset, "the trace itself must say what `native` is");
            found = Some(attributes::byte_order(value)?.ok_or_else(missing)?);
        }
    }
    if found.is_none() {
        let offset = blocks(ast, BlockKind::Trace).next().map_or(0, |block| block.offset);
        notes.add(offset, "the trace does not say its `byte_order`: taken as `le`");
    }
    Ok(found.unwrap_or(ByteOrder::Little))
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

impl<'a> Lowering<'a> {
    fn declare(&mut self, scope: ScopeId, declaration: &'a Declaration<'a>) {
        self.types.declare(scope, None, declaration);
        self.declared.push((scope, declaration));
    }

    fn note(&mut self, offset: usize, message: impl Into<String>) {
        self.types.notes.add(offset, message);
    }

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
                self.note(block.offset, format!("unknown block `{name}` ignored"));
                Ok(())
            }
        }
    }

    fn trace(&mut self, block: &'a Block<'a>) -> Result<()> {
        let scope = self.types.scopes.enter(Scopes::ROOT);
        for entry in &block.entries {
            match entry {
                Entry::Declaration(declaration) => self.declare(scope, declaration),
                Entry::Value(Assignment { path, value }) if path.is("uuid") => {
                    self.schema.uuid = Some(attributes::uuid(value)?);
                }
                Entry::Value(Assignment { path, value }) if path.is("major") || path.is("minor") => {
                    let number = attributes::unsigned(value)?;
                    if number != if path.is("major") { 1 } else { 8 } {
                        self.note(value.offset, format!("the {path} version is {number}; read as CTF 1.8"));
                    }
                }
                Entry::Value(Assignment { path, .. }) if path.is("byte_order") => {}
                Entry::Value(Assignment { path, .. }) => self.types.unknown_attribute(path, "the trace"),
                Entry::Type(assignment) if assignment.path.is("packet.header") => {
                    let mut fields = Fields::new(Scope::PacketHeader, &[]);
                    let mut class = self.types.root(scope, &mut fields, &assignment.target)?;
                    roles::mark_packet_header(&mut class);
                    let magic = |m: &Member| m.class.role() == Some(Role::PacketMagic);
                    if class.members.iter().skip(1).any(magic) {
                        let message = "`magic` is not the first field of the packet header";
                        self.note(assignment.path.offset, message);
                    }
                    self.schema.packet_header = Some(class);
                }
                Entry::Type(assignment) => self.unknown_type(&assignment.path),
            }
        }
        Ok(())
    }

    fn unknown_type(&mut self, path: &Path<'_>) {
        self.note(path.offset, format!("nothing called `{path}` has a type; ignored"));
    }

    fn environment(&mut self, block: &Block<'_>) -> Result<()> {
        for Assignment { path, value } in assignments(block) {
            let value = match &value.kind {
                ValueKind::Integer(number) => match i64::try_from(number.as_i128()) {
                    Ok(number) => EnvironmentValue::Integer(number),
                    Err(_) => {
                        let message = format!("`{path}` has more than 64 bits with its sign; kept as text");
                        self.note(value.offset, message);
                        EnvironmentValue::Text(number.to_string())
                    }
                },
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
                Entry::Declaration(declaration) => self.declare(scope, declaration),
                Entry::Value(Assignment { path, value }) if path.is("id") => {
                    id = attributes::unsigned(value)?;
                }
                Entry::Value(Assignment { path, .. }) => {
                    self.types.unknown_attribute(path, "a stream");
                }
                Entry::Type(assignment) => {
                    let target = Some(&assignment.target);
                    match assignment.path.parts.as_slice() {
                        ["packet", "context"] => packet_context = target,
                        ["event", "header"] => event_header = target,
                        ["event", "context"] => common_context = target,
                        _ => self.unknown_type(&assignment.path),
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
        let clock = event_header.iter().chain(&packet_context).find_map(roles::first_clock);
        if let Some(class) = &mut packet_context {
            roles::mark_packet_context(class, clock);
        }
        if let Some(class) = &mut event_header {
            roles::mark_event_header(class, clock);
        }
        let header = self.schema.packet_header.as_ref();
        let mut before = vec![(Scope::PacketHeader, header), (Scope::PacketContext, packet_context.as_ref())];
        before.push((Scope::EventHeader, event_header.as_ref()));
        let common_context =
            lower_root(&mut self.types, scope, Scope::CommonContext, &before, common_context)?;
        let told = event_header.as_ref().is_some_and(|class| roles::has(class, Role::EventClassId));
        if self.streams.insert(id, (block.offset, told)).is_some() {
            return Err(TextError::new(block.offset, format!("two streams have the id {id}")));
        }
        let classes = StreamClass { id, clock, packet_context, event_header, ..StreamClass::default() };
        self.schema.streams.push(StreamClass { common_context, ..classes });
        Ok(())
    }

    fn finish(mut self) -> Result<(Schema, Vec<TextError>)> {
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
        self.check_stream_ids();
        self.types.try_unused(&self.declared);
        Ok((self.schema, self.types.notes.into_vec()))
    }

    /// Notes where packets do not say of which of several streams they are.
    fn check_stream_ids(&mut self) {
        let header = self.schema.packet_header.as_ref();
        let told = header.is_some_and(|class| roles::has(class, Role::StreamClassId));
        if let [first, second, ..] = self.schema.streams.as_slice()
            && !told
        {
            let message = format!(
                "several streams, but no `stream_id` in the packet header: all packets are taken as of stream {}",
                first.id
            );
            let (offset, _) = self.streams.get(&second.id).copied().unwrap_or_default();
            self.note(offset, message);
        }
    }

    /// Lowers an event; `ids` holds the stream and the id of each one before.
    fn event(&mut self, block: &'a Block<'a>, scope: ScopeId, ids: &mut HashSet<(usize, u64)>) -> Result<()> {
        let (mut id, mut stream_id, mut name, mut log_level) = (0, None, None, None);
        let (mut context, mut fields) = (None, None);
        for entry in &block.entries {
            match entry {
                Entry::Declaration(declaration) => self.declare(scope, declaration),
                Entry::Value(Assignment { path, value }) => match path.parts.as_slice() {
                    ["id"] => id = attributes::unsigned(value)?,
                    ["stream_id"] => stream_id = Some(attributes::unsigned(value)?),
                    ["name"] => name = Some(attributes::text(value)?),
                    ["loglevel"] => log_level = attributes::signed(value).ok(),
                    // A link for people.
                    ["model", "emf", "uri"] => {}
                    _ => self.types.unknown_attribute(path, "an event"),
                },
                Entry::Type(assignment) => match assignment.path.parts.as_slice() {
                    ["context"] => context = Some(&assignment.target),
                    ["fields"] => fields = Some(&assignment.target),
                    _ => self.unknown_type(&assignment.path),
                },
            }
        }
        let streams = &self.schema.streams;
        let only = if let [only] = streams.as_slice() { Some(only.id) } else { None };
        if stream_id.or(only).is_none() {
            let message = "an event of a trace with several streams needs a `stream_id`: taken as 0";
            self.types.notes.add(block.offset, message);
        }
        let stream_id = stream_id.or(only).unwrap_or(0);
        let index = streams
            .binary_search_by_key(&stream_id, |s| s.id)
            .map_err(|_| TextError::new(block.offset, format!("no stream has the id {stream_id}")))?;
        let stream = &streams[index];
        if !ids.insert((index, id)) {
            return Err(TextError::new(block.offset, format!("two events of the stream have the id {id}")));
        }
        let told = self.streams.get(&stream_id).is_some_and(|&(_, told)| told);
        if !told && !stream.events.is_empty() {
            let message =
                "several events of a stream, but no `id` in its event header: all are taken as the first";
            self.types.notes.add(block.offset, message);
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

/// Reads the clock blocks of a text. Streams refer to them, so that they are read before all else.
fn read_clocks<'a>(
    blocks: impl Iterator<Item = &'a Block<'a>>,
    notes: &mut Notes,
) -> Result<Vec<ClockClass>> {
    let mut clocks: Vec<ClockClass> = Vec::new();
    let mut names = HashSet::new();
    for block in blocks {
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
                _ => notes.add(path.offset, format!("the attribute `{path}` of a clock is unknown; ignored")),
            }
        }
        if clock.name.is_empty() {
            return Err(TextError::new(block.offset, "a clock needs a name"));
        }
        if clock.frequency == 0 {
            return Err(TextError::new(
                block.offset,
                format!("the clock `{}` has a frequency of 0", clock.name),
            ));
        }
        if !names.insert(clock.name.clone()) {
            return Err(TextError::new(block.offset, format!("two clocks are called `{}`", clock.name)));
        }
        clocks.push(clock);
    }
    Ok(clocks)
}
