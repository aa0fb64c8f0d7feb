//! The fragments of a document in their order: preamble, aliases, trace class, clock classes, data stream classes,
//! event record classes. Together they are the [`Schema`].

use std::collections::{HashMap, HashSet};

use super::classes::Classes;
use super::clocks;
use super::fragments::Fragment;
use super::locations::{Here, Keys};
use super::place::{Detached, Place};
use crate::lower::Complaint;
use crate::schema::{
    ByteOrder, EnvironmentValue, EventClass, FieldClass, Owner, Schema, Scope, StreamClass, StructClass,
};

type Result<T> = std::result::Result<T, Complaint>;

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
            let place = Detached::of(fragment).place();
            let kind = place.need("type")?;
            match (kind.text()?, fragment.number) {
                ("preamble", 1) => document.preamble(&place)?,
                ("preamble", _) => return Err(place.complaint("there is one preamble, at the begin")),
                (_, 1) => return Err(place.complaint("the first fragment must be the preamble")),
                ("field-class-alias", _) => document.alias(&place)?,
                ("trace-class", _) => document.trace(&place)?,
                ("clock-class", _) => document.clock(&place)?,
                ("data-stream-class", _) => document.stream(&place)?,
                ("event-record-class", _) => document.event(&place)?,
                (other, _) => return Err(kind.complaint(format!("unknown kind of fragment `{other}`"))),
            }
        }
        document.schema.attributes = std::mem::take(&mut document.classes.attributes);
        document.schema.streams.sort_by_key(|stream| stream.id);
        for stream in &mut document.schema.streams {
            stream.events.sort_by_key(|event| event.id);
        }
        Ok(document)
    }

    fn preamble(&mut self, place: &Place<'j, '_>) -> Result<()> {
        place.only(&["version", "uuid"], &mut self.classes.notes)?;
        self.classes.keep_attributes(place, Owner::Preamble)?;
        let version = place.need("version")?;
        if version.unsigned()? != VERSION {
            return Err(version.complaint("only version 2 of CTF has such metadata"));
        }
        self.schema.uuid = place.get("uuid").map(|uuid| uuid.uuid()).transpose()?;
        let Some(extensions) = place.get("extensions") else { return Ok(()) };
        for (namespace, names) in extensions.properties()? {
            if let Some((name, _)) = names.properties()?.next() {
                let message =
                    format!("the trace needs the extension `{name}` of `{namespace}`, which is unknown");
                return Err(extensions.complaint(message));
            }
        }
        Ok(())
    }

    fn alias(&mut self, place: &Place<'j, '_>) -> Result<()> {
        place.only(&["name", "field-class"], &mut self.classes.notes)?;
        let name = place.need("name")?.text()?;
        if !self.classes.aliases.add(name, place.need("field-class")?.detached()) {
            return Err(place.complaint(format!("two field class aliases are called `{name}`")));
        }
        Ok(())
    }

    fn trace(&mut self, place: &Place<'j, '_>) -> Result<()> {
        let known = ["namespace", "name", "uid", "uuid", "packet-header-field-class", "environment"];
        place.only(&known, &mut self.classes.notes)?;
        if std::mem::replace(&mut self.has_trace_class, true) {
            return Err(place.complaint("there is one trace class at most"));
        }
        if !self.streams.is_empty() {
            return Err(place.complaint("the trace class must come before the data stream classes"));
        }
        if let Some(uuid) = place.get("uuid") {
            super::release_candidate(&mut self.classes.notes, place.offset, "the `uuid` of a trace class");
            self.schema.uuid = self.schema.uuid.or(Some(uuid.uuid()?));
        }
        self.schema.namespace = place.text_of("namespace")?;
        self.schema.name = place.text_of("name")?;
        self.schema.uid = place.text_of("uid")?;
        if let Some(environment) = place.get("environment") {
            for (name, value) in environment.properties()? {
                let entry = match value.value.as_str() {
                    Some(text) => EnvironmentValue::Text(text.to_owned()),
                    None => {
                        let number = i64::try_from(value.integer()?);
                        EnvironmentValue::Integer(
                            number.map_err(|_| value.complaint("an entry has 64 bits with a sign"))?,
                        )
                    }
                };
                self.schema.environment.insert(name.to_owned(), entry);
            }
        }
        self.classes.keep_attributes(place, Owner::Trace)?;
        let mut here = Here::new((None, None), None, &[]);
        let header =
            self.classes.scope(place, "packet-header-field-class", Scope::PacketHeader, &mut here)?;
        self.schema.packet_header = header;
        self.trace_keys = here.keys;
        Ok(())
    }

    fn clock(&mut self, place: &Place<'j, '_>) -> Result<()> {
        let (id, clock) = clocks::read(place, &mut self.classes.notes)?;
        if self.clocks.insert(id, self.schema.clocks.len()).is_some() {
            return Err(place.complaint(format!("two clock classes have the id `{id}`")));
        }
        self.classes.keep_attributes(place, Owner::Clock(self.schema.clocks.len()))?;
        self.schema.clocks.push(clock);
        Ok(())
    }

    fn stream(&mut self, place: &Place<'j, '_>) -> Result<()> {
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
        place.only(&known, &mut self.classes.notes)?;
        let id = place.unsigned_of("id")?.unwrap_or(0);
        if self.streams.contains_key(&id) {
            return Err(place.complaint(format!("two data stream classes have the id {id}")));
        }
        let clock = self.default_clock(place)?;
        let before = [&self.trace_keys];
        self.classes.keep_attributes(place, Owner::Stream(id))?;
        let mut here = Here::new((Some(id), None), clock, &before);
        let mut scope = |name, scope| self.classes.scope(place, name, scope, &mut here);
        let stream = StreamClass {
            id,
            namespace: place.text_of("namespace")?,
            name: place.text_of("name")?,
            uid: place.text_of("uid")?,
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
    fn default_clock(&mut self, place: &Place<'j, '_>) -> Result<Option<usize>> {
        let named = place.get("default-clock-class-id").or_else(|| {
            let name = place.get("default-clock-class-name")?;
            super::release_candidate(&mut self.classes.notes, place.offset, "`default-clock-class-name`");
            Some(name)
        });
        let Some(named) = named else { return Ok(None) };
        let id = named.text()?;
        let unknown = || named.complaint(format!("no clock class before this has the id `{id}`"));
        self.clocks.get(id).copied().ok_or_else(unknown).map(Some)
    }

    fn event(&mut self, place: &Place<'j, '_>) -> Result<()> {
        let known = [
            "id",
            "namespace",
            "name",
            "uid",
            "data-stream-class-id",
            "specific-context-field-class",
            "payload-field-class",
        ];
        place.only(&known, &mut self.classes.notes)?;
        let id = place.unsigned_of("id")?.unwrap_or(0);
        let stream = place.unsigned_of("data-stream-class-id")?.unwrap_or(0);
        let Some((index, keys)) = self.streams.get(&stream) else {
            return Err(place.complaint(format!("no data stream class before this has the id {stream}")));
        };
        if !self.events.insert((stream, id)) {
            return Err(place.complaint(format!("two event record classes of the stream have the id {id}")));
        }
        let before = [keys, &self.trace_keys];
        self.classes.keep_attributes(place, Owner::Event { stream, id })?;
        let mut here = Here::new((Some(stream), Some(id)), None, &before);
        let mut scope = |name, scope| self.classes.scope(place, name, scope, &mut here);
        let event = EventClass {
            id,
            namespace: place.text_of("namespace")?,
            name: place.text_of("name")?,
            uid: place.text_of("uid")?,
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
        place: &Place<'j, '_>,
        name: &str,
        scope: Scope,
        here: &mut Here<'_>,
    ) -> Result<Option<StructClass>> {
        let Some(place) = place.get(name) else { return Ok(None) };
        here.scope = scope;
        match self.class(&place, here)?.class {
            FieldClass::Struct(class) => Ok(Some(class)),
            _ => Err(place.complaint("the class of a scope is a structure")),
        }
    }
}
