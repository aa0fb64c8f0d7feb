//! A schema of CTF 1.8 as one of CTF 2. The fields lie where they lay: the same bytes are read as the same
//! values.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::metadata::{Inexpressible, Result, field_location};
use crate::schema::{
    ArrayClass, BlobClass, ByteOrder, ClockClass, EventClass, FieldClass, IntegerClass, Length, Location,
    Mapping, Mappings, Member, OptionalClass, Role, Schema, Scope, StreamClass, StructClass, TextClass,
    VariantClass, VariantOption, shown_name,
};

/// The same trace in the terms of CTF 2: names without the underscore that TSDL guards them with, locations
/// without the options of variants, uuids as uids. What CTF 2 has no place for is left out: log levels,
/// clocks of fields that are not the times of packets and events; roles that only check a packet, where CTF 2
/// has them not (a magic number that is not the first field or not of 32 bits, a uuid that is not an array of
/// 16 bytes or that the metadata have not); labels of values that a field cannot have, and all but the first
/// of the options that a selector value chooses. Offsets of clocks get whole seconds, so that less than a
/// second of cycles is left. A schema of CTF 2 is given back with such offsets, and else as it is.
///
/// Linear in the schema, but for locations, whose names are looked up among the members around them, and
/// `n log n` in the options of a variant.
///
/// # Errors
/// A structure has members that differ in that underscore only, a location through an option of a variant
/// would mean fields of other options too, or the offset of a clock does not fit. What else the language of
/// CTF 2 has no words for, such as an option that is never chosen or a role of a signed field,
/// [`metadata()`](super::metadata()) reports.
pub fn to_ctf_2(schema: &Schema) -> Result<Schema> {
    let clocks = schema.clocks.iter().cloned().map(with_normal_offset).collect::<Result<Vec<_>>>()?;
    if schema.version.0 >= 2 {
        return Ok(Schema { clocks, ..schema.clone() });
    }
    let header = schema.packet_header.as_ref();
    let mut converter = Converter { header, has_uuid: schema.uuid.is_some(), ..Converter::default() };
    let uid = |uuid: Option<uuid::Uuid>| uuid.map(|uuid| uuid.to_string());
    Ok(Schema {
        uuid: schema.uuid,
        uid: schema.uid.clone().or_else(|| uid(schema.uuid)),
        environment: schema.environment.clone(),
        clocks: clocks
            .into_iter()
            .map(|clock| ClockClass { uid: clock.uid.clone().or_else(|| uid(clock.uuid)), ..clock })
            .collect(),
        packet_header: converter.scope(Scope::PacketHeader, schema.packet_header.as_ref())?,
        streams: schema.streams.iter().map(|stream| converter.stream(stream)).collect::<Result<_>>()?,
        // Fields say their own.
        ..Schema::empty((2, 0), ByteOrder::Little)
    })
}

/// The clock with its offset as CTF 2 has it: cycles from 0 to below the frequency. It means the same times.
pub(super) fn with_normal_offset(clock: ClockClass) -> Result<ClockClass> {
    let (cycles, frequency) = (i128::from(clock.offset_cycles), i128::from(clock.frequency));
    let parts = cycles.checked_div_euclid(frequency).zip(cycles.checked_rem_euclid(frequency));
    let parts = parts.map(|(seconds, cycles)| {
        (i64::try_from(i128::from(clock.offset_s) + seconds), i64::try_from(cycles))
    });
    let Some((Ok(offset_s), Ok(offset_cycles))) = parts else {
        return Err(format!("the offset of the clock `{}` in 64 bits", clock.name).into());
    };
    Ok(ClockClass { offset_s, offset_cycles, ..clock })
}

#[derive(Default)]
struct Converter<'s> {
    header: Option<&'s StructClass>,
    stream: Option<&'s StreamClass>,
    event: Option<&'s EventClass>,
    scope: Option<Scope>,
    /// Names of members and options from the scope's root to here, as 1.8 has them.
    path: Vec<&'s str>,
    /// Whether the metadata say the trace's uuid.
    has_uuid: bool,
    /// Mappings converted so far, by their address and for which sign: fields share them.
    mappings: HashMap<(*const Mapping, Option<bool>), Mappings>,
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

    fn scope(&mut self, scope: Scope, class: Option<&'s StructClass>) -> Result<Option<StructClass>> {
        self.scope = Some(scope);
        self.path.clear();
        class.map(|class| self.structure(class)).transpose()
    }

    fn structure(&mut self, class: &'s StructClass) -> Result<StructClass> {
        let mut names = HashSet::new();
        let mut members = Vec::with_capacity(class.members.len());
        for member in &class.members {
            let name = shown_name(&member.name);
            if !names.insert(name) {
                return Err(self.here(&format!("two members called `{name}`")));
            }
            self.path.push(&member.name);
            members.push(Member { name: name.to_owned(), class: self.class(&member.class)? });
            self.path.pop();
        }
        Ok(StructClass { members, min_align: class.min_align })
    }

    fn class(&mut self, class: &'s FieldClass) -> Result<FieldClass> {
        Ok(match class {
            FieldClass::Integer(class) => FieldClass::Integer(self.integer(class)),
            FieldClass::VarInteger(class) => FieldClass::VarInteger(self.integer(class)),
            FieldClass::WideInteger(class) => FieldClass::WideInteger(self.integer(class)),
            FieldClass::Float(_) | FieldClass::String(_) | FieldClass::Blob(_) => class.clone(),
            FieldClass::Text(class) => {
                FieldClass::Text(TextClass { length: self.length(&class.length)?, ..class.clone() })
            }
            FieldClass::Struct(class) => FieldClass::Struct(self.structure(class)?),
            FieldClass::Array(array) if self.is_uuid(array) => FieldClass::Blob(BlobClass {
                length: Length::Static(16),
                role: array.element.role(),
                media_type: None,
            }),
            FieldClass::Array(class) => FieldClass::Array(ArrayClass {
                length: self.length(&class.length)?,
                element: Box::new(self.class(&class.element)?),
                min_align: class.min_align,
            }),
            FieldClass::Variant(class) => FieldClass::Variant(self.variant(class)?),
            FieldClass::Optional(class) => FieldClass::Optional(OptionalClass {
                selector: self.location(&class.selector)?,
                class: Box::new(self.class(&class.class)?),
                ..class.clone()
            }),
        })
    }

    /// Whether an array is the uuid of the trace, in bytes that a BLOB can hold.
    fn is_uuid(&self, array: &ArrayClass) -> bool {
        let bytes = match array.element.as_ref() {
            FieldClass::Integer(class) => {
                (class.size, class.align, class.signed, &class.mappings) == (8, 8, false, &None)
            }
            _ => false,
        };
        self.has_uuid
            && bytes
            && array.element.role() == Some(Role::TraceUuid)
            && array.length == Length::Static(16)
            && array.min_align <= 8
    }

    fn integer(&mut self, class: &IntegerClass) -> IntegerClass {
        let stamps = matches!(class.role, Some(Role::PacketBegin | Role::PacketEnd | Role::Timestamp));
        let clock = self.stream.and_then(|stream| stream.clock).filter(|_| stamps);
        let mappings = class.mappings.as_ref().map(|mappings| {
            // Longer numbers keep what the language may not have words for.
            let sign = (class.size <= 64).then_some(class.signed);
            let converted = self.mappings.entry((mappings.as_ptr(), sign));
            converted.or_insert_with(|| by_label(mappings, sign)).clone()
        });
        let role = class.role.filter(|role| match role {
            Role::PacketMagic => {
                let first = self.header.and_then(|header| header.members.first());
                let is_first = first.is_some_and(|first| self.path == [first.name.as_str()]);
                is_first && class.size == 32 && !class.signed
            }
            // Those of a BLOB are no fields of their own.
            Role::TraceUuid => false,
            _ => true,
        });
        IntegerClass { mappings, role, clock, ..class.clone() }
    }

    fn variant(&mut self, class: &'s VariantClass) -> Result<VariantClass> {
        let selector = self.location(&class.selector)?;
        let mut taken = BTreeMap::new();
        let mut options = Vec::with_capacity(class.options.len());
        for option in &class.options {
            let ranges = option.ranges.iter().filter_map(|&range| within(range, class.selector_signed));
            let ranges = ranges.flat_map(|range| take(&mut taken, range)).collect();
            self.path.push(&option.name);
            let name = shown_name(&option.name).to_owned();
            options.push(VariantOption { name, ranges, class: self.class(&option.class)? });
            self.path.pop();
        }
        let selector_signed = class.selector_signed;
        Ok(VariantClass { options, selector, selector_signed, transparent: true })
    }

    fn length(&self, length: &Length) -> Result<Length> {
        Ok(match length {
            Length::Static(count) => Length::Static(*count),
            Length::Dynamic(location) => Length::Dynamic(self.location(location)?),
        })
    }

    /// A complaint about the field here.
    fn here(&self, what: &str) -> Inexpressible {
        let (event, stream) = (self.event.map(|event| event.id), self.stream.map(|stream| stream.id));
        Inexpressible::from(what).inside(&field_location(self.scope, &self.path, event, stream))
    }

    /// The same field by shown names, without those of options.
    fn location(&self, location: &Location) -> Result<Location> {
        let root = match location.scope {
            Scope::PacketHeader => self.header,
            Scope::PacketContext => self.stream.and_then(|stream| stream.packet_context.as_ref()),
            Scope::EventHeader => self.stream.and_then(|stream| stream.event_header.as_ref()),
            Scope::CommonContext => self.stream.and_then(|stream| stream.common_context.as_ref()),
            Scope::SpecificContext => self.event.and_then(|event| event.specific_context.as_ref()),
            Scope::Payload => self.event.and_then(|event| event.payload.as_ref()),
        };
        let mut path = Vec::with_capacity(location.path.len());
        // Options that are passed from outside: all of the variant, the one that is meant, how long the path
        // is there.
        let mut passed = Vec::new();
        let mut at = Step::Members(root.map_or(&[], |class| class.members.as_slice()));
        for (index, name) in location.path.iter().enumerate() {
            let next = match at {
                Step::Members(members) => {
                    path.push(shown_name(name).to_owned());
                    members.iter().find(|member| member.name == *name).map(|member| &member.class)
                }
                Step::Options(options) => {
                    let inside = self.scope == Some(location.scope)
                        && self.path.len() > index
                        && self.path[..=index].iter().eq(&location.path[..=index]);
                    if !inside {
                        passed.push((options, name, path.len()));
                    }
                    options.iter().find(|option| option.name == *name).map(|option| &option.class)
                }
            };
            at = next.map_or(Step::Members(&[]), Step::into);
        }
        for (options, name, from) in passed {
            let others = options.iter().filter(|option| option.name != *name);
            if let Some(other) = others.into_iter().find(|option| has_integer(&option.class, &path[from..])) {
                let (path, other) = (location.path.join("."), &other.name);
                let message =
                    format!("the location `{path}` without the field there of the option `{other}`");
                return Err(self.here(&message));
            }
        }
        Ok(Location { scope: location.scope, path })
    }
}

/// Whether a field in there could be meant by such a location of CTF 2.
fn has_integer(class: &FieldClass, path: &[String]) -> bool {
    match class {
        FieldClass::Integer(_) | FieldClass::VarInteger(_) => path.is_empty(),
        FieldClass::Struct(class) => path.split_first().is_some_and(|(name, rest)| {
            let mut members = class.members.iter();
            members.any(|member| shown_name(&member.name) == name && has_integer(&member.class, rest))
        }),
        FieldClass::Variant(class) => class.options.iter().any(|option| has_integer(&option.class, path)),
        FieldClass::Array(class) => has_integer(&class.element, path),
        FieldClass::Optional(class) => has_integer(&class.class, path),
        _ => false,
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

/// Mappings in the order of their labels, as JSON has them, without values that no number of 64 bits with or
/// without sign has.
fn by_label(mappings: &[Mapping], signed: Option<bool>) -> Mappings {
    let mut labels: BTreeMap<&str, Vec<Mapping>> = BTreeMap::new();
    for mapping in mappings {
        let range = (mapping.first, mapping.last);
        if let Some((first, last)) = signed.map_or(Some(range), |signed| within(range, signed)) {
            labels.entry(&mapping.label).or_default().push(Mapping {
                label: mapping.label.clone(),
                first,
                last,
            });
        }
    }
    labels.into_values().flatten().collect::<Vec<_>>().into()
}

/// What of a range a number of 64 bits can be.
fn within((first, last): (i128, i128), signed: bool) -> Option<(i128, i128)> {
    let (least, most) = match signed {
        true => (i64::MIN.into(), i64::MAX.into()),
        false => (0, u64::MAX.into()),
    };
    Some((first.max(least), last.min(most))).filter(|(first, last)| first <= last)
}

/// Takes a range out of what is free; gives what of it was. Linear in the ranges over all calls, but for the
/// lookup.
fn take(taken: &mut BTreeMap<i128, i128>, (first, last): (i128, i128)) -> Vec<(i128, i128)> {
    let before = taken.range(..first).next_back().filter(|(_, end)| **end >= first);
    let touched: Vec<_> =
        before.into_iter().chain(taken.range(first..=last)).map(|(begin, end)| (*begin, *end)).collect();
    let (mut at, mut begin, mut end) = (first, first, last);
    let mut free = Vec::new();
    for (other_begin, other_end) in touched {
        taken.remove(&other_begin);
        if other_begin > at {
            free.push((at, other_begin - 1));
        }
        at = other_end + 1;
        (begin, end) = (begin.min(other_begin), end.max(other_end));
    }
    if at <= last {
        free.push((at, last));
    }
    taken.insert(begin, end);
    free
}
