//! A schema of CTF 1.8 as one of CTF 2. The fields lie where they lay: the same bytes are read as the same values.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::metadata::Inexpressible;
use crate::schema::{
    ArrayClass, BlobClass, ByteOrder, ClockClass, EventClass, FieldClass, IntegerClass, Length, Location,
    Mapping, Mappings, Member, OptionalClass, Role, Schema, Scope, StreamClass, StructClass, TextClass,
    VariantClass, VariantOption, shown_name,
};

type Result<T> = std::result::Result<T, Inexpressible>;

/// The same trace in the terms of CTF 2: names without the underscore that TSDL guards them with, locations without the
/// options of variants, uuids as uids. What CTF 2 has no place for is left out: log levels, clocks of fields that are not the
/// times of packets and events. A schema of CTF 2 is given back as it is. Linear in the schema.
///
/// # Errors
/// A structure has members that differ in that underscore only, or an option is never chosen.
pub fn to_ctf_2(schema: &Schema) -> Result<Schema> {
    if schema.version.0 >= 2 {
        return Ok(schema.clone());
    }
    let mut converter = Converter { header: schema.packet_header.as_ref(), ..Converter::default() };
    let uid = |uuid: Option<uuid::Uuid>| uuid.map(|uuid| uuid.to_string());
    Ok(Schema {
        uuid: schema.uuid,
        uid: schema.uid.clone().or_else(|| uid(schema.uuid)),
        environment: schema.environment.clone(),
        clocks: schema
            .clocks
            .iter()
            .map(|clock| ClockClass { uid: clock.uid.clone().or_else(|| uid(clock.uuid)), ..clock.clone() })
            .collect(),
        packet_header: converter.scope(Scope::PacketHeader, schema.packet_header.as_ref())?,
        streams: schema.streams.iter().map(|stream| converter.stream(stream)).collect::<Result<_>>()?,
        // Fields say their own.
        ..Schema::empty((2, 0), ByteOrder::Little)
    })
}

#[derive(Default)]
struct Converter<'s> {
    header: Option<&'s StructClass>,
    stream: Option<&'s StreamClass>,
    event: Option<&'s EventClass>,
    scope: Option<Scope>,
    /// Mappings converted so far, by their address: fields share them.
    mappings: HashMap<*const Mapping, Mappings>,
}

impl<'s> Converter<'s> {
    fn stream(&mut self, stream: &'s StreamClass) -> Result<StreamClass> {
        (self.stream, self.event) = (Some(stream), None);
        Ok(StreamClass {
            id: stream.id,
            clock: stream.clock,
            packet_context: self.scope(Scope::PacketContext, stream.packet_context.as_ref())?,
            event_header: self.scope(Scope::EventHeader, stream.event_header.as_ref())?,
            common_context: self.scope(Scope::CommonContext, stream.common_context.as_ref())?,
            events: stream.events.iter().map(|event| self.event(event)).collect::<Result<_>>()?,
            ..StreamClass::default()
        })
    }

    fn event(&mut self, event: &'s EventClass) -> Result<EventClass> {
        self.event = Some(event);
        Ok(EventClass {
            id: event.id,
            name: event.name.clone(),
            specific_context: self.scope(Scope::SpecificContext, event.specific_context.as_ref())?,
            payload: self.scope(Scope::Payload, event.payload.as_ref())?,
            ..EventClass::default()
        })
    }

    fn scope(&mut self, scope: Scope, class: Option<&StructClass>) -> Result<Option<StructClass>> {
        self.scope = Some(scope);
        class.map(|class| self.structure(class)).transpose()
    }

    fn structure(&mut self, class: &StructClass) -> Result<StructClass> {
        let mut names = HashSet::new();
        let members = class.members.iter().map(|member| {
            let name = shown_name(&member.name);
            if !names.insert(name) {
                return Err(format!("two members called `{name}`").into());
            }
            Ok(Member { name: name.to_owned(), class: self.class(&member.class)? })
        });
        Ok(StructClass { members: members.collect::<Result<_>>()?, min_align: class.min_align })
    }

    fn class(&mut self, class: &FieldClass) -> Result<FieldClass> {
        Ok(match class {
            FieldClass::Integer(class) => FieldClass::Integer(self.integer(class)),
            FieldClass::VarInteger(class) => FieldClass::VarInteger(self.integer(class)),
            FieldClass::WideInteger(class) => FieldClass::WideInteger(self.integer(class)),
            FieldClass::Float(_) | FieldClass::String(_) | FieldClass::Blob(_) => class.clone(),
            FieldClass::Text(class) => {
                FieldClass::Text(TextClass { length: self.length(&class.length), ..class.clone() })
            }
            FieldClass::Struct(class) => FieldClass::Struct(self.structure(class)?),
            // The uuid of the trace; no field inside an array has a role.
            FieldClass::Array(array) if array.element.role().is_some() => match array.length {
                Length::Static(16) if array.element.align() == 8 => {
                    let role = array.element.role();
                    FieldClass::Blob(BlobClass { length: Length::Static(16), role, media_type: None })
                }
                _ => return Err("a uuid that is not 16 bytes".into()),
            },
            FieldClass::Array(class) => FieldClass::Array(ArrayClass {
                length: self.length(&class.length),
                element: Box::new(self.class(&class.element)?),
                min_align: class.min_align,
            }),
            FieldClass::Variant(class) => FieldClass::Variant(self.variant(class)?),
            FieldClass::Optional(class) => FieldClass::Optional(OptionalClass {
                selector: self.location(&class.selector),
                class: Box::new(self.class(&class.class)?),
                ..class.clone()
            }),
        })
    }

    fn integer(&mut self, class: &IntegerClass) -> IntegerClass {
        let stamps = matches!(class.role, Some(Role::PacketBegin | Role::PacketEnd | Role::Timestamp));
        let clock = self.stream.and_then(|stream| stream.clock).filter(|_| stamps);
        let mappings = class.mappings.as_ref().map(|mappings| {
            let converted = self.mappings.entry(mappings.as_ptr());
            converted.or_insert_with(|| by_label(mappings)).clone()
        });
        IntegerClass { mappings, clock, ..class.clone() }
    }

    fn variant(&mut self, class: &VariantClass) -> Result<VariantClass> {
        let options = class.options.iter().map(|option| {
            let name = shown_name(&option.name).to_owned();
            Ok(VariantOption { name, ranges: option.ranges.clone(), class: self.class(&option.class)? })
        });
        Ok(VariantClass {
            options: options.collect::<Result<_>>()?,
            selector: self.location(&class.selector),
            selector_signed: class.selector_signed,
            transparent: true,
        })
    }

    fn length(&self, length: &Length) -> Length {
        match length {
            Length::Static(count) => Length::Static(*count),
            Length::Dynamic(location) => Length::Dynamic(self.location(location)),
        }
    }

    /// The same field by shown names, without those of options.
    fn location(&self, location: &Location) -> Location {
        let root = match location.scope {
            Scope::PacketHeader => self.header,
            Scope::PacketContext => self.stream.and_then(|stream| stream.packet_context.as_ref()),
            Scope::EventHeader => self.stream.and_then(|stream| stream.event_header.as_ref()),
            Scope::CommonContext => self.stream.and_then(|stream| stream.common_context.as_ref()),
            Scope::SpecificContext => self.event.and_then(|event| event.specific_context.as_ref()),
            Scope::Payload => self.event.and_then(|event| event.payload.as_ref()),
        };
        let mut path = Vec::with_capacity(location.path.len());
        let mut at = Step::Members(root.map_or(&[], |class| class.members.as_slice()));
        for name in &location.path {
            let next = match at {
                Step::Members(members) => {
                    path.push(shown_name(name).to_owned());
                    members.iter().find(|member| member.name == *name).map(|member| &member.class)
                }
                Step::Options(options) => {
                    options.iter().find(|option| option.name == *name).map(|option| &option.class)
                }
            };
            at = next.map_or(Step::Members(&[]), Step::into);
        }
        Location { scope: location.scope, path }
    }
}

/// What the next name of a location is one of.
enum Step<'s> {
    Members(&'s [Member]),
    Options(&'s [VariantOption]),
}

impl<'s> Step<'s> {
    fn into(class: &'s FieldClass) -> Self {
        match class {
            FieldClass::Struct(class) => Self::Members(&class.members),
            FieldClass::Variant(class) => Self::Options(&class.options),
            FieldClass::Array(class) => Self::into(&class.element),
            _ => Self::Members(&[]),
        }
    }
}

/// Mappings in the order of their labels, as JSON has them.
fn by_label(mappings: &[Mapping]) -> Mappings {
    let mut labels: BTreeMap<&str, Vec<Mapping>> = BTreeMap::new();
    for mapping in mappings {
        labels.entry(&mapping.label).or_default().push(mapping.clone());
    }
    labels.into_values().flatten().collect::<Vec<_>>().into()
}
