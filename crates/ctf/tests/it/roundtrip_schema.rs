//! Property: schemas of every shape, as CTF 1.8 and as CTF 2, are written and read as the same schema; and events of
//! generated values, written by it, are read as the same values – both byte orders, all alignments.

use std::collections::HashMap;

use crate::common::random::Random;
use isochrone_ctf::plan::Plan;
use isochrone_ctf::schema::{
    ArrayClass, Base, BlobClass, ByteOrder, ClockClass, Encoding, EventClass, FieldClass, FloatClass,
    IntegerClass, IntegerForm, Length, Location, Mapping, Member, OptionalClass, Role, Schema, Scope,
    StreamClass, StringClass, StructClass, TextClass, VariantClass, VariantOption,
};
use isochrone_ctf::write::{PacketHead, PacketWriter, TraceDirectory, metadata};
use isochrone_ctf::{Trace, Value, ValueVisitor};
use proptest::prelude::*;

/// What all fields of a trace have in common.
#[derive(Clone, Copy)]
struct Dialect {
    ctf_2: bool,
    native: ByteOrder,
}

/// Makes structures; knows where it is.
struct Maker<'r> {
    random: &'r mut Random,
    dialect: Dialect,
    scope: Scope,
    path: Vec<String>,
}

impl Maker<'_> {
    fn integer(&mut self, size: u32) -> IntegerClass {
        // Neighbours that share a byte must be of one byte order.
        let whole = size.is_multiple_of(8);
        let align = if whole { self.random.pick(&[8, 8, 16, 64]) } else { self.random.pick(&[1, 2, 4, 32]) };
        let other = self.random.pick(&[ByteOrder::Little, ByteOrder::Big]);
        IntegerClass {
            signed: self.random.flip(),
            base: self.random.pick(&[Base::Binary, Base::Octal, Base::Decimal, Base::Hexadecimal]),
            ..IntegerClass::unsigned(size, align, if whole { other } else { self.dialect.native })
        }
    }

    fn leaf(&mut self) -> FieldClass {
        let kinds = if self.dialect.ctf_2 { 11 } else { 7 };
        match self.random.below(kinds) {
            0 | 1 => {
                let size = 1 + self.random.below(64) as u32;
                self.integer(size).into()
            }
            2 => {
                let size = 65 + self.random.below(100) as u32;
                self.integer(size).into()
            }
            3 => {
                let mappings = vec![
                    Mapping { label: "a \"few\"".to_owned(), first: 0, last: 3 },
                    Mapping { label: "b".to_owned(), first: 2, last: 2 },
                    Mapping { label: "z".to_owned(), first: i128::from(i64::MIN), last: -1 },
                ];
                IntegerClass { mappings: Some(mappings.into()), signed: true, ..self.integer(64) }.into()
            }
            4 => {
                let size = self.random.pick(&[16, 32, 64, 128]);
                let IntegerClass { align, byte_order, .. } = self.integer(size);
                FieldClass::Float(FloatClass { size, align, byte_order, reversed: false })
            }
            5 => FieldClass::String(StringClass { encoding: self.encoding() }),
            6 => {
                FieldClass::Text(TextClass { length: Length::Static(3), align: 8, encoding: Encoding::Utf8 })
            }
            7 => {
                let class =
                    IntegerClass { size: 64, align: 8, byte_order: ByteOrder::Little, ..self.integer(64) };
                FieldClass::VarInteger(class)
            }
            8 => {
                let media_type = self.random.flip().then(|| "image/png".to_owned());
                FieldClass::Blob(BlobClass { length: Length::Static(2), role: None, media_type })
            }
            9 => IntegerClass { reversed: true, ..self.integer(24) }.into(),
            _ => {
                let form = self.random.pick(&[IntegerForm::Boolean, IntegerForm::Bits]);
                IntegerClass { signed: false, base: Base::Decimal, form, ..self.integer(8) }.into()
            }
        }
    }

    fn encoding(&mut self) -> Encoding {
        let all = [
            Encoding::Utf8,
            Encoding::Utf16(ByteOrder::Little),
            Encoding::Utf16(ByteOrder::Big),
            Encoding::Utf32(ByteOrder::Big),
        ];
        if self.dialect.ctf_2 { self.random.pick(&all) } else { Encoding::Utf8 }
    }

    fn structure(&mut self, depth: u32) -> StructClass {
        let mut members = Vec::new();
        for number in 0..self.random.below(5) {
            let name = format!("f{number}");
            if depth == 0 || self.random.below(3) == 0 {
                members.push(Member { name, class: self.leaf() });
                continue;
            }
            match self.random.below(4) {
                0 => {
                    self.path.push(name.clone());
                    members.push(Member { name, class: FieldClass::Struct(self.structure(depth - 1)) });
                    self.path.pop();
                }
                1 => {
                    let dynamic = self.random.flip();
                    let length = match dynamic {
                        true => Length::Dynamic(self.key(&mut members, number, false)),
                        false => Length::Static(self.random.below(3)),
                    };
                    self.path.push(name.clone());
                    let element = Box::new(FieldClass::Struct(self.structure(depth - 1)));
                    self.path.pop();
                    let min_align = if self.dialect.ctf_2 { self.random.pick(&[1, 32]) } else { 1 };
                    members.push(Member {
                        name,
                        class: FieldClass::Array(ArrayClass { length, element, min_align }),
                    });
                }
                2 if self.dialect.ctf_2 => {
                    let selector = self.key(&mut members, number, false);
                    let class = Box::new(self.leaf());
                    let (selector_signed, selector_is_boolean) = (false, false);
                    let ranges = vec![(1, 1)];
                    let class =
                        OptionalClass { selector, selector_signed, selector_is_boolean, ranges, class };
                    members.push(Member { name, class: FieldClass::Optional(class) });
                }
                _ => {
                    let selector = self.key(&mut members, number, true);
                    let options = (0..3).map(|option| VariantOption {
                        name: format!("o{option}"),
                        ranges: vec![(option, option)],
                        class: self.leaf(),
                    });
                    let options = options.collect();
                    let transparent = self.dialect.ctf_2;
                    let class = VariantClass { selector, selector_signed: false, options, transparent };
                    members.push(Member { name, class: FieldClass::Variant(class) });
                }
            }
        }
        StructClass { members, min_align: self.random.pick(&[1, 8, 64]) }
    }

    /// A member for a length or a selector, and where it is.
    fn key(&mut self, members: &mut Vec<Member>, number: u64, tag: bool) -> Location {
        let name = format!("k{number}");
        let mut class = IntegerClass { signed: false, ..self.integer(8) };
        if tag && !self.dialect.ctf_2 {
            let label = |n: i128| Mapping { label: format!("o{n}"), first: n, last: n };
            class.mappings = Some((0..3).map(label).collect::<Vec<_>>().into());
        }
        members.push(Member { name: name.clone(), class: class.into() });
        Location { scope: self.scope, path: self.path.iter().cloned().chain([name]).collect() }
    }
}

/// Values of a structure: lengths and selectors are what arrays, optional fields and variants want.
fn values(random: &mut Random, class: &StructClass) -> Value {
    let mut wanted: HashMap<&str, u64> = HashMap::new();
    for member in &class.members {
        let (location, most) = match &member.class {
            FieldClass::Array(ArrayClass { length: Length::Dynamic(location), .. }) => (location, 3),
            FieldClass::Optional(class) => (&class.selector, 2),
            FieldClass::Variant(class) => (&class.selector, 3),
            _ => continue,
        };
        wanted.insert(location.path.last().unwrap(), random.below(most));
    }
    let of = |path: &Location| wanted[path.path.last().unwrap().as_str()];
    let value = |member: &Member| match (&member.class, wanted.get(member.name.as_str())) {
        (_, Some(&number)) => Value::Unsigned(number),
        (FieldClass::Array(array), None) => {
            let count = match &array.length {
                Length::Static(count) => *count,
                Length::Dynamic(location) => of(location),
            };
            Value::Array((0..count).map(|_| leaf(random, &array.element)).collect())
        }
        (FieldClass::Optional(optional), None) => {
            let present = of(&optional.selector) == 1;
            Value::Optional(present.then(|| Box::new(leaf(random, &optional.class))))
        }
        (FieldClass::Variant(variant), None) => {
            let option = of(&variant.selector) as usize;
            Value::Variant(option, Box::new(leaf(random, &variant.options[option].class)))
        }
        (class, None) => leaf(random, class),
    };
    Value::Struct(class.members.iter().map(value).collect())
}

fn leaf(random: &mut Random, class: &FieldClass) -> Value {
    match class {
        FieldClass::Struct(class) => values(random, class),
        FieldClass::Integer(class) | FieldClass::VarInteger(class) => {
            let raw = random.next() >> (64 - class.size);
            match class.signed {
                true => Value::Signed(((raw << (64 - class.size)) as i64) >> (64 - class.size)),
                false => Value::Unsigned(raw),
            }
        }
        FieldClass::WideInteger(class) => {
            let mut bytes: Vec<u8> = (0..class.size.div_ceil(8)).map(|_| random.next() as u8).collect();
            let unused = 7 - (class.size - 1) % 8;
            let first = bytes[0] << unused;
            bytes[0] = if class.signed { ((first as i8) >> unused) as u8 } else { first >> unused };
            Value::Wide(bytes)
        }
        FieldClass::Float(FloatClass { size: 16, .. }) => Value::Float(f64::from(random.next() as i8) / 8.0),
        FieldClass::Float(FloatClass { size: 32, .. }) => {
            Value::Float((random.next() as i32 as f32 / 7.0).into())
        }
        FieldClass::Float(FloatClass { size: 64, .. }) => Value::Float(random.next() as i64 as f64 / 7.0),
        FieldClass::Float(class) => Value::Wide((0..class.size / 8).map(|_| random.next() as u8).collect()),
        FieldClass::String(_) => {
            let text: String = (0..random.below(5)).map(|_| random.pick(&['a', 'é', '𝄞', '\n'])).collect();
            Value::Text(text.into_bytes())
        }
        FieldClass::Text(_) => Value::Text(vec![b'a', 0xff, random.next() as u8]),
        FieldClass::Blob(_) => Value::Blob(vec![random.next() as u8, 0]),
        FieldClass::Array(_) | FieldClass::Variant(_) | FieldClass::Optional(_) => {
            unreachable!("these are members only")
        }
    }
}

fn unsigned(
    size: u32,
    align: u32,
    byte_order: ByteOrder,
    role: Option<Role>,
    clock: Option<usize>,
) -> FieldClass {
    IntegerClass { role, clock, ..IntegerClass::unsigned(size, align, byte_order) }.into()
}

fn members(members: Vec<(&str, FieldClass)>) -> StructClass {
    let member = |(name, class): (&str, FieldClass)| Member { name: name.to_owned(), class };
    StructClass { members: members.into_iter().map(member).collect(), min_align: 8 }
}

fn schema(random: &mut Random, dialect: Dialect) -> Schema {
    // CTF 2 has no byte order of a trace.
    let order = if dialect.ctf_2 { ByteOrder::Little } else { dialect.native };
    let field = |role, clock| unsigned(64, 8, dialect.native, Some(role), clock);
    let mut make = |scope, depth| Maker { random, dialect, scope, path: Vec::new() }.structure(depth);
    let events = (0..3_u64).map(|id| EventClass {
        id,
        name: Some(format!("event {id}")),
        specific_context: (id == 1).then(|| make(Scope::SpecificContext, 1)),
        payload: Some(make(Scope::Payload, 3)),
        ..EventClass::default()
    });
    let events = events.collect();
    let stream = StreamClass {
        id: 3,
        clock: Some(0),
        packet_context: Some(members(vec![
            ("timestamp_begin", field(Role::PacketBegin, Some(0))),
            ("timestamp_end", field(Role::PacketEnd, Some(0))),
            ("content_size", field(Role::PacketContentLength, None)),
            ("packet_size", field(Role::PacketTotalLength, None)),
        ])),
        event_header: Some(members(vec![
            ("id", unsigned(8, 8, dialect.native, Some(Role::EventClassId), None)),
            ("timestamp", field(Role::Timestamp, Some(0))),
        ])),
        common_context: Some(make(Scope::CommonContext, 2)),
        events,
        ..StreamClass::default()
    };
    let header = members(vec![
        ("magic", unsigned(32, 8, dialect.native, Some(Role::PacketMagic), None)),
        ("stream_id", unsigned(8, 8, dialect.native, Some(Role::StreamClassId), None)),
    ]);
    Schema {
        clocks: vec![ClockClass {
            frequency: 1_000_000,
            offset_s: -7,
            offset_cycles: 5,
            ..ClockClass::monotonic("c")
        }],
        packet_header: Some(header),
        streams: vec![stream],
        ..Schema::empty(if dialect.ctf_2 { (2, 0) } else { (1, 8) }, order)
    }
}

/// Writes a generated trace, reads it, compares.
fn check(seed: u64, dialect: Dialect) {
    let random = &mut Random(seed);
    let schema = schema(random, dialect);
    let text = metadata(&schema).unwrap_or_else(|error| panic!("{error}: {schema:#?}"));
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("trace");
    let mut file = TraceDirectory::create(&path, &text).unwrap().stream_file("s").unwrap();
    let plan = Plan::compile(&schema);
    let (stream, classes) = (&plan.streams[0], &schema.streams[0]);
    let mut writer = PacketWriter::new(&plan, 0);
    let (mut now, mut expected) = (random.below(1 << 40), Vec::new());
    for _ in 0..=random.below(3) {
        let header = Value::Struct(vec![Value::Unsigned(0xc1fc_1fc1), Value::Unsigned(3)]);
        let context = Value::Struct(vec![Value::Unsigned(0); 4]);
        writer.begin(PacketHead { header: Some(header), context: Some(context), begin: now }).unwrap();
        for _ in 0..random.below(6) {
            now += random.below(1 << 30);
            let class = &stream.events[random.below(3) as usize];
            let header = Value::Struct(vec![Value::Unsigned(class.id), Value::Unsigned(0)]);
            writer.event(class, now, Some(header)).unwrap();
            let event = &classes.events[class.index];
            let scopes = [
                (Scope::CommonContext, &stream.common_context, &classes.common_context),
                (Scope::SpecificContext, &class.specific_context, &event.specific_context),
                (Scope::Payload, &class.payload, &event.payload),
            ];
            for (scope, node, fields) in scopes {
                let Some((node, fields)) = node.as_ref().zip(fields.as_ref()) else { continue };
                let value = values(random, fields);
                writer.field(node, &value).unwrap();
                expected.push((now, class.id, scope, value));
            }
        }
        file.append(&writer.finish(now, 512).unwrap()).unwrap();
    }
    file.close().unwrap();

    let trace = Trace::open(&path).unwrap();
    assert_eq!(trace.diagnostics(), []);
    let mut read = Vec::new();
    let mut events = trace.events(0);
    for event in events.by_ref() {
        for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            let mut visitor = ValueVisitor::default();
            event.visit(scope, &mut visitor).unwrap();
            read.extend(
                visitor.into_value().map(|value| (event.cycles().unwrap(), event.class().id, scope, value)),
            );
        }
    }
    assert_eq!(events.diagnostics(), []);
    assert_eq!(read, expected, "{text}");
}

proptest! {
    #[test]
    fn what_is_written_is_read(seed: u64, ctf_2: bool, big: bool) {
        check(seed, Dialect { ctf_2, native: if big { ByteOrder::Big } else { ByteOrder::Little } });
    }
}
