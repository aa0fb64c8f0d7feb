//! The fragments of a document in their order: preamble, aliases, trace class, clock classes, data stream
//! classes, event record classes. Together they are the [`Schema`].

use std::collections::{HashMap, HashSet};

use super::classes::Classes;
use super::clocks;
use super::fragments::Fragment;
use super::json_ref::{Detached, JsonRef};
use super::locations::{Here, Keys};
use crate::schema::{
    ByteOrder, EnvironmentValue, EventClass, FieldClass, Owner, Schema, Scope, StreamClass, StructClass,
};
use crate::text_error::Result;

/// The version of CTF that is read.
const VERSION: u64 = 2;

/// What has been read so far.
pub(super) struct Document<'j> {
    pub(super) classes: Classes<'j>,
    pub(super) schema: Schema,
    clocks: HashMap<&'j str, usize>,
    has_trace_class: bool,
    trace_keys: Keys,
    /// Index and keys of each data stream class, by its id.
    streams: HashMap<u64, (usize, Keys)>,
    /// Data stream class and id of each event record class.
    events: HashSet<(u64, u64)>,
}

impl<'j> Document<'j> {
    /// Reads all fragments. The first one must be the preamble.
    pub(super) fn read(fragments: &'j [Fragment<'j>], classes: Classes<'j>) -> Result<Self> {
        let schema = Schema::empty((VERSION as u32, 0), ByteOrder::Little);
        let mut document = Self {
            classes,
            schema,
            clocks: HashMap::new(),
            has_trace_class: false,
            trace_keys: Keys::default(),
            streams: HashMap::new(),
            events: HashSet::new(),
        };
        for fragment in fragments {
            let node = Detached::of(fragment).node();
            let kind = node.need("type")?;
            match (kind.text()?, fragment.number) {
                ("preamble", 1) => document.preamble(&node)?,
                ("preamble", _) => return Err(node.error("there is one preamble, at the begin")),
                (_, 1) => return Err(node.error("the first fragment must be the preamble")),
                ("field-class-alias", _) => document.alias(&node)?,
                ("trace-class", _) => document.trace(&node)?,
                ("clock-class", _) => document.clock(&node)?,
                ("data-stream-class", _) => document.stream(&node)?,
                ("event-record-class", _) => document.event(&node)?,
                (other, _) => return Err(kind.error(format!("unknown kind of fragment `{other}`"))),
            }
        }
        document.schema.attributes = std::mem::take(&mut document.classes.attributes);
        document.schema.streams.sort_by_key(|stream| stream.id);
        for stream in &mut document.schema.streams {
            stream.events.sort_by_key(|event| event.id);
        }
        Ok(document)
    }

    fn preamble(&mut self, node: &JsonRef<'j, '_>) -> Result<()> {
        node.only(&["version", "uuid"], &mut self.classes.notes)?;
        self.classes.keep_attributes(node, Owner::Preamble)?;
        let version = node.need("version")?;
        if version.unsigned()? != VERSION {
            return Err(version.error("only version 2 of CTF has such metadata"));
        }
        self.schema.uuid = node.get("uuid").map(|uuid| uuid.uuid()).transpose()?;
        let Some(extensions) = node.get("extensions") else { return Ok(()) };
        for (namespace, names) in extensions.properties()? {
            if let Some((name, _)) = names.properties()?.next() {
                let message =
                    format!("the trace needs the extension `{name}` of `{namespace}`, which is unknown");
                return Err(extensions.error(message));
            }
        }
        Ok(())
    }

    fn alias(&mut self, node: &JsonRef<'j, '_>) -> Result<()> {
        node.only(&["name", "field-class"], &mut self.classes.notes)?;
        let name = node.need("name")?.text()?;
        if !self.classes.aliases.add(name, node.need("field-class")?.detached()) {
            return Err(node.error(format!("two field class aliases are called `{name}`")));
        }
        Ok(())
    }

    fn trace(&mut self, node: &JsonRef<'j, '_>) -> Result<()> {
        let known = ["namespace", "name", "uid", "uuid", "packet-header-field-class", "environment"];
        node.only(&known, &mut self.classes.notes)?;
        if std::mem::replace(&mut self.has_trace_class, true) {
            return Err(node.error("there is one trace class at most"));
        }
        if !self.streams.is_empty() {
            return Err(node.error("the trace class must come before the data stream classes"));
        }
        if let Some(uuid) = node.get("uuid") {
            super::release_candidate(&mut self.classes.notes, node.offset, "the `uuid` of a trace class");
            self.schema.uuid = self.schema.uuid.or(Some(uuid.uuid()?));
        }
        self.schema.namespace = node.text_of("namespace")?;
        self.schema.name = node.text_of("name")?;
        self.schema.uid = node.text_of("uid")?;
        if let Some(environment) = node.get("environment") {
            for (name, value) in environment.properties()? {
                let entry = match value.value.as_str() {
                    Some(text) => EnvironmentValue::Text(text.to_owned()),
                    None => {
                        let number = i64::try_from(value.integer()?);
                        EnvironmentValue::Integer(
                            number.map_err(|_| value.error("an entry has 64 bits with a sign"))?,
                        )
                    }
                };
                self.schema.environment.insert(name.to_owned(), entry);
            }
        }
        self.classes.keep_attributes(node, Owner::Trace)?;
        let mut here = Here::new((None, None), None, &[]);
        let header = self.classes.scope(node, "packet-header-field-class", Scope::PacketHeader, &mut here)?;
        self.schema.packet_header = header;
        self.trace_keys = here.keys;
        Ok(())
    }

    fn clock(&mut self, node: &JsonRef<'j, '_>) -> Result<()> {
        let (id, clock) = clocks::read(node, &mut self.classes.notes)?;
        if self.clocks.insert(id, self.schema.clocks.len()).is_some() {
            return Err(node.error(format!("two clock classes have the id `{id}`")));
        }
        self.classes.keep_attributes(node, Owner::Clock(self.schema.clocks.len()))?;
        self.schema.clocks.push(clock);
        Ok(())
    }

    fn stream(&mut self, node: &JsonRef<'j, '_>) -> Result<()> {
        let known = [
            "id",
            "namespace",
            "name",
            "uid",
            "default-clock-class-id",
            "default-clock-class-name",
            "packet-context-field-class",
            "event-record-header-field-class",
            "event-record-common-context-field-class",
        ];
        node.only(&known, &mut self.classes.notes)?;
        let id = node.unsigned_of("id")?.unwrap_or(0);
        if self.streams.contains_key(&id) {
            return Err(node.error(format!("two data stream classes have the id {id}")));
        }
        let clock = self.default_clock(node)?;
        let before = [&self.trace_keys];
        self.classes.keep_attributes(node, Owner::Stream(id))?;
        let mut here = Here::new((Some(id), None), clock, &before);
        let mut scope = |name, scope| self.classes.scope(node, name, scope, &mut here);
        let stream = StreamClass {
            id,
            namespace: node.text_of("namespace")?,
            name: node.text_of("name")?,
            uid: node.text_of("uid")?,
            clock,
            packet_context: scope("packet-context-field-class", Scope::PacketContext)?,
            event_header: scope("event-record-header-field-class", Scope::EventHeader)?,
            common_context: scope("event-record-common-context-field-class", Scope::CommonContext)?,
            events: Vec::new(),
        };
        self.streams.insert(id, (self.schema.streams.len(), here.keys));
        self.schema.streams.push(stream);
        Ok(())
    }

    /// The clock that a data stream class names.
    fn default_clock(&mut self, node: &JsonRef<'j, '_>) -> Result<Option<usize>> {
        let named = node.get("default-clock-class-id").or_else(|| {
            let name = node.get("default-clock-class-name")?;
            super::release_candidate(&mut self.classes.notes, node.offset, "`default-clock-class-name`");
            Some(name)
        });
        let Some(named) = named else { return Ok(None) };
        let id = named.text()?;
        let unknown = || named.error(format!("no clock class before this has the id `{id}`"));
        self.clocks.get(id).copied().ok_or_else(unknown).map(Some)
    }

    fn event(&mut self, node: &JsonRef<'j, '_>) -> Result<()> {
        let known = [
            "id",
            "namespace",
            "name",
            "uid",
            "data-stream-class-id",
            "specific-context-field-class",
            "payload-field-class",
        ];
        node.only(&known, &mut self.classes.notes)?;
        let id = node.unsigned_of("id")?.unwrap_or(0);
        let stream = node.unsigned_of("data-stream-class-id")?.unwrap_or(0);
        let Some((index, keys)) = self.streams.get(&stream) else {
            return Err(node.error(format!("no data stream class before this has the id {stream}")));
        };
        if !self.events.insert((stream, id)) {
            return Err(node.error(format!("two event record classes of the stream have the id {id}")));
        }
        let before = [keys, &self.trace_keys];
        self.classes.keep_attributes(node, Owner::Event { stream, id })?;
        let mut here = Here::new((Some(stream), Some(id)), None, &before);
        let mut scope = |name, scope| self.classes.scope(node, name, scope, &mut here);
        let event = EventClass {
            id,
            namespace: node.text_of("namespace")?,
            name: node.text_of("name")?,
            uid: node.text_of("uid")?,
            log_level: None,
            specific_context: scope("specific-context-field-class", Scope::SpecificContext)?,
            payload: scope("payload-field-class", Scope::Payload)?,
        };
        self.schema.streams[*index].events.push(event);
        Ok(())
    }
}

impl<'j> Classes<'j> {
    /// The structure of a scope, if there is one.
    fn scope(
        &mut self,
        node: &JsonRef<'j, '_>,
        name: &str,
        scope: Scope,
        here: &mut Here<'_>,
    ) -> Result<Option<StructClass>> {
        let Some(node) = node.get(name) else { return Ok(None) };
        here.scope = scope;
        match self.class(&node, here)?.class {
            FieldClass::Struct(class) => Ok(Some(class)),
            _ => Err(node.error("the class of a scope is a structure")),
        }
    }
}
