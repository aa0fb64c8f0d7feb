//! Property: whatever is written is read back – generated schemas, generated values, both byte orders, all alignments,
//! all forms of event headers, one packet or many.

use std::cmp::Ordering;
use std::fmt::Write as _;

use crate::common::random::Random;
use crate::common::read;
use crate::text_plan;
use isochrone_ctf::plan::Plan;
use isochrone_ctf::schema::Scope;
use isochrone_ctf::text_plan::{TextPlan, TextWriter};
use isochrone_ctf::write::{PacketHead, PacketWriter, Selection, cut_trace};
use isochrone_ctf::{Trace, Value, ValueVisitor, index, parse_metadata};
use proptest::prelude::*;

/// The shape of a field.
#[derive(Debug, Clone)]
enum Shape {
    Integer { size: u32, align: u32, signed: bool, big: bool },
    Float { size: u32, align: u32, big: bool },
    String,
    Text(u64),
    Struct { members: Vec<Shape>, align: u32 },
    Array(u64, Box<Shape>),
    Sequence(Box<Shape>),
    TextSequence,
    Variant(Vec<Shape>),
}

fn shape(random: &mut Random, depth: u32, big: bool) -> Shape {
    let kinds = if depth == 0 { 5 } else { 9 };
    let whole_align = [8, 8, 16, 32, 64];
    match random.below(kinds) {
        0 => {
            // Neighbours that share a byte must be of one byte order: parts of bytes are native.
            let size = 1 + random.below(64) as u32;
            Shape::Integer { size, align: random.pick(&[1, 2, 4, 8, 32]), signed: random.below(2) == 0, big }
        }
        1 => Shape::Integer {
            size: random.pick(&[8, 16, 24, 32, 64]),
            align: random.pick(&whole_align),
            signed: random.below(2) == 0,
            big: random.below(2) == 0,
        },
        2 => Shape::Float { size: random.pick(&[32, 64]), align: random.pick(&whole_align), big },
        3 => Shape::String,
        4 => Shape::Text(random.below(5)),
        5 => {
            let members = (0..random.below(4)).map(|_| shape(random, depth - 1, big)).collect();
            Shape::Struct { members, align: random.pick(&[1, 8, 64]) }
        }
        6 => Shape::Array(random.below(4), Box::new(element(random, depth, big))),
        7 if random.below(3) == 0 => Shape::TextSequence,
        7 => Shape::Sequence(Box::new(element(random, depth, big))),
        _ => Shape::Variant((0..=random.below(3)).map(|_| shape(random, depth - 1, big)).collect()),
    }
}

/// An element of an array: what needs a length or a tag of its own goes into a structure.
fn element(random: &mut Random, depth: u32, big: bool) -> Shape {
    match shape(random, depth - 1, big) {
        inner @ (Shape::Sequence(_) | Shape::TextSequence | Shape::Variant(_)) => {
            Shape::Struct { members: vec![inner], align: 1 }
        }
        other => other,
    }
}

/// The type, without a name.
fn written(shape: &Shape) -> String {
    let order = |big: bool| if big { "be" } else { "le" };
    match shape {
        Shape::Integer { size, align, signed, big } => {
            let (base, order) = ([10, 16, 8, 2][*size as usize % 7 % 4], order(*big));
            format!(
                "integer {{ size = {size}; align = {align}; signed = {signed}; byte_order = {order}; \
                 base = {base}; }}"
            )
        }
        Shape::Float { size, align, big } => {
            let (exponent, mantissa) = if *size == 32 { (8, 24) } else { (11, 53) };
            let order = order(*big);
            format!(
                "floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa}; align = {align}; byte_order = {order}; }}"
            )
        }
        Shape::String => "string".to_owned(),
        Shape::Text(_) | Shape::TextSequence => "integer { size = 8; encoding = UTF8; }".to_owned(),
        Shape::Struct { members, align } => format!("struct {{ {} }} align({align})", declared(members)),
        Shape::Array(_, element) | Shape::Sequence(element) => written(element),
        Shape::Variant(_) => unreachable!("variants are declared with their tags"),
    }
}

/// Lengths after the name: those of arrays of arrays, the outermost first.
fn suffix(shape: &Shape) -> String {
    match shape {
        Shape::Text(count) => format!("[{count}]"),
        Shape::Array(count, element) => format!("[{count}]{}", suffix(element)),
        _ => String::new(),
    }
}

/// The members of a structure, lengths and tags before those that need them.
fn declared(members: &[Shape]) -> String {
    let mut text = String::new();
    for (n, member) in members.iter().enumerate() {
        match member {
            Shape::Sequence(element) => {
                let (element, inner) = (written(element), suffix(element));
                write!(text, "integer {{ size = 5; }} l{n}; {element} f{n}[l{n}]{inner}; ").unwrap();
            }
            Shape::TextSequence => {
                write!(text, "integer {{ size = 16; }} l{n}; {} f{n}[l{n}]; ", written(member)).unwrap();
            }
            Shape::Variant(options) => {
                write!(text, "enum : integer {{ size = 3; signed = true; }} {{ ").unwrap();
                (0..options.len()).for_each(|o| write!(text, "o{o} = {}, ", o as i64 - 1).unwrap());
                write!(text, "}} t{n}; variant <t{n}> {{ ").unwrap();
                for (o, option) in options.iter().enumerate() {
                    // An option that needs a length or a tag is a structure.
                    let option = match option {
                        Shape::Sequence(_) | Shape::TextSequence | Shape::Variant(_) => {
                            format!("struct {{ {} }} o{o}; ", declared(std::slice::from_ref(option)))
                        }
                        _ => format!("{} o{o}{}; ", written(option), suffix(option)),
                    };
                    text += &option;
                }
                write!(text, "}} f{n}; ").unwrap();
            }
            _ => write!(text, "{} f{n}{}; ", written(member), suffix(member)).unwrap(),
        }
    }
    text
}

/// A value of a shape.
fn value(random: &mut Random, shape: &Shape) -> Value {
    match shape {
        Shape::Integer { size, signed, .. } => {
            let raw = random.next() >> (64 - size);
            match signed {
                true => Value::Signed(((raw << (64 - size)) as i64) >> (64 - size)),
                false => Value::Unsigned(raw),
            }
        }
        Shape::Float { size: 32, .. } => Value::Float((random.next() as i32 as f32 / 7.0).into()),
        Shape::Float { .. } => Value::Float(random.next() as i64 as f64 / 7.0),
        Shape::String => Value::Text(bytes(random, 6)),
        Shape::Text(count) => Value::Text((0..*count).map(|_| random.next() as u8).collect()),
        Shape::Struct { members, .. } => Value::Struct(values(random, members)),
        Shape::Array(count, element) => Value::Array((0..*count).map(|_| value(random, element)).collect()),
        Shape::Sequence(_) | Shape::TextSequence | Shape::Variant(_) => {
            unreachable!("made with their lengths and tags")
        }
    }
}

/// The values of a structure's members, lengths and tags included.
fn values(random: &mut Random, members: &[Shape]) -> Vec<Value> {
    let mut values_of = Vec::new();
    for member in members {
        match member {
            Shape::Sequence(element) => {
                let elements: Vec<Value> = (0..random.below(4)).map(|_| value(random, element)).collect();
                values_of.extend([Value::Unsigned(elements.len() as u64), Value::Array(elements)]);
            }
            Shape::TextSequence => {
                let text = bytes(random, 9);
                values_of.extend([Value::Unsigned(text.len() as u64), Value::Text(text)]);
            }
            Shape::Variant(options) => {
                let chosen = random.below(options.len() as u64) as usize;
                let inner = match &options[chosen] {
                    option @ (Shape::Sequence(_) | Shape::TextSequence | Shape::Variant(_)) => {
                        Value::Struct(values(random, std::slice::from_ref(option)))
                    }
                    option => value(random, option),
                };
                values_of.extend([Value::Signed(chosen as i64 - 1), Value::Variant(chosen, Box::new(inner))]);
            }
            other => values_of.push(value(random, other)),
        }
    }
    values_of
}

fn bytes(random: &mut Random, most: u64) -> Vec<u8> {
    (0..random.below(most)).map(|_| 1 + random.below(255) as u8).collect()
}

/// LTTng's two headers, and one of our own without a short form.
fn header(form: u64) -> &'static str {
    match form {
        0 => {
            "struct { enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id; variant <id> { \
             struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact; \
             struct { integer { size = 32; align = 8; } id; integer { size = 64; align = 8; map = clock.c.value; } timestamp; } \
             extended; } v; } align(8)"
        }
        1 => {
            "struct { enum : integer { size = 16; align = 16; } { compact = 0 ... 65534, extended = 65535 } id; variant <id> { \
             struct { integer { size = 32; align = 32; map = clock.c.value; } timestamp; } compact; \
             struct { integer { size = 32; align = 32; } id; integer { size = 64; align = 64; map = clock.c.value; } timestamp; } \
             extended; } v; } align(16)"
        }
        _ => {
            "struct { integer { size = 7; align = 1; } id; integer { size = 64; align = 1; map = clock.c.value; } timestamp; }"
        }
    }
}

fn metadata(random: &mut Random, big: bool, form: u64, context: &[Shape], payloads: &[Vec<Shape>]) -> String {
    let order = if big { "be" } else { "le" };
    let mut text = format!(
        "/* CTF 1.8 */\ntrace {{ major = 1; minor = 8; byte_order = {order}; packet.header := struct {{ \
         integer {{ size = 32; align = 32; }} magic; integer {{ size = 8; }} stream_id; }}; }};\n\
         clock {{ name = c; freq = 1000000000; offset = {}; }};\n\
         stream {{ id = 3; packet.context := struct {{ integer {{ size = 64; map = clock.c.value; }} timestamp_begin; \
         integer {{ size = 64; map = clock.c.value; }} timestamp_end; integer {{ size = 64; }} content_size; \
         integer {{ size = 64; }} packet_size; }}; event.header := {}; event.context := struct {{ {} }}; }};\n",
        random.below(1 << 60),
        header(form),
        declared(context)
    );
    for (id, payload) in payloads.iter().enumerate() {
        // One id that needs LTTng's long header.
        let id = if id == 2 && form < 2 { 70_000 } else { id };
        let fields = declared(payload);
        writeln!(
            text,
            "event {{ name = e{id}; id = {id}; stream_id = 3; fields := struct {{ {fields} }}; }};"
        )
        .unwrap();
    }
    text
}

/// Writes a generated trace, reads it, compares.
fn check(seed: u64, big: bool, form: u64) {
    let random = &mut Random(seed);
    let fields =
        |random: &mut Random| (0..random.below(5)).map(|_| shape(random, 2, big)).collect::<Vec<_>>();
    let context = fields(random);
    let payloads: Vec<Vec<Shape>> = (0..3).map(|_| fields(random)).collect();
    let text = metadata(random, big, form, &context, &payloads);

    let schema = parse_metadata(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let plan = Plan::compile(&schema);
    let stream = &plan.streams[0];
    let mut writer = PacketWriter::new(&plan, 0);
    let (mut file, mut entries, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    let mut now = random.below(1 << 40);
    for _ in 0..=random.below(3) {
        let head = PacketHead {
            header: Some(Value::Struct(vec![Value::Unsigned(0xc1fc_1fc1), Value::Unsigned(3)])),
            context: Some(Value::Struct(vec![Value::Unsigned(0); 4])),
            begin: now,
        };
        writer.begin(head).unwrap();
        for _ in 0..random.below(6) {
            now += random.next() >> random.pick(&[24, 31, 36, 40, 63]);
            let class = &stream.events[random.below(3) as usize];
            let generic =
                (form == 2).then(|| Value::Struct(vec![Value::Unsigned(class.id), Value::Unsigned(0)]));
            writer.event(class, now, generic).unwrap();
            let common = Value::Struct(values(random, &context));
            let payload = Value::Struct(values(random, &payloads[class.index]));
            writer.field(stream.common_context.as_ref().unwrap(), &common).unwrap();
            writer.field(class.payload.as_ref().unwrap(), &payload).unwrap();
            expected.push((now, class.id, common, payload));
        }
        let packet = writer.finish(now, 512).unwrap();
        file.extend_from_slice(packet.bytes);
        entries.push(packet.entry);
    }

    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("metadata"), &text).unwrap();
    std::fs::write(directory.path().join("stream"), file).unwrap();
    std::fs::create_dir(directory.path().join("index")).unwrap();
    std::fs::write(directory.path().join("index/stream.idx"), index::write(&entries)).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    assert_eq!(trace.diagnostics(), []);
    let (mut events, mut writer) = (trace.events(0), TextWriter::default());
    let read: Vec<_> = events
        .by_ref()
        .map(|event| {
            let [common, payload] = [Scope::CommonContext, Scope::Payload].map(|scope| {
                let mut visitor = ValueVisitor::default();
                event.visit(scope, &mut visitor).unwrap();
                visitor.into_value().unwrap()
            });
            fields_agree(&event, &payload);
            let plan = TextPlan::new(event.stream_plan(), event.class()).unwrap();
            assert!(text_plan::check(&event, &plan, &mut writer));
            (event.cycles().unwrap(), event.class().id, common, payload)
        })
        .collect();
    assert_eq!(events.diagnostics(), []);
    assert_eq!(read, expected, "{text}");
    cut_agrees(random, &trace);
}

/// A part of a trace has the events that were selected, as they are.
fn cut_agrees(random: &mut Random, trace: &Trace) {
    let all = read(trace.path()).unwrap().events;
    let time = |line: &String| line.split(' ').next().unwrap().parse::<u64>().unwrap();
    let Some((first, last)) = all.first().map(time).zip(all.last().map(time)) else { return };
    let from = first.saturating_sub(1) + random.below(last - first + 2);
    let to = from + random.below(last + 2 - from.min(last + 1));
    let without = random.flip().then_some("e1");
    let target = trace.path().join("cut");
    let selection = Selection {
        window: &|_, cycles| match cycles {
            _ if cycles < from => Ordering::Less,
            _ if cycles >= to => Ordering::Greater,
            _ => Ordering::Equal,
        },
        has_class: &|name| Some(name) != without,
        keeps: &mut |event| event.name() != without,
        words: without.map(|_| "e1".to_owned()),
    };
    let summary = cut_trace(trace, &target, selection).unwrap();
    let cut = read(&target).unwrap();
    let is_kept = |line: &&String| {
        (from..to).contains(&time(line)) && (without.is_none() || line.split(' ').nth(1) != without)
    };
    let expect: Vec<&String> = all.iter().filter(is_kept).collect();
    assert_eq!(cut.events.iter().collect::<Vec<_>>(), expect, "{from} to {to} without {without:?}");
    // What was left out is said, and so is a stream of which nothing is left.
    let said = usize::from(without.is_some() || summary.packets == 0);
    assert_eq!((summary.events, cut.diagnostics.len()), (expect.len() as u64, said));
    let cut = Trace::open(&target).unwrap();
    let packets = cut.streams().iter().flat_map(|stream| &stream.packets);
    for packet in packets {
        let (begin, end) = packet.begin().zip(packet.end()).unwrap();
        assert!(
            from <= begin && begin <= end && end < to.max(from + 1),
            "{begin} to {end}, not {from} to {to}"
        );
    }
}

/// Integers of the payload, read one by one, are those of the whole.
fn fields_agree(event: &isochrone_ctf::Event<'_>, payload: &Value) {
    let Value::Struct(values) = payload else { panic!("a payload is a structure") };
    let class = event.class();
    let node = class.payload.as_ref().unwrap();
    let isochrone_ctf::plan::NodeKind::Struct(members) = &node.kind else {
        panic!("a payload is a structure")
    };
    for ((name, _), value) in members.iter().zip(values) {
        let field = class.payload_field(event.stream_plan(), &[name.shown()]).unwrap();
        match value {
            Value::Unsigned(value) => assert_eq!(event.unsigned(&field), Some(*value)),
            Value::Signed(value) => assert_eq!(event.signed(&field), Some(*value)),
            Value::Text(text) => {
                let shown = text.split(|&byte| byte == 0).next().unwrap_or_default();
                assert_eq!(event.text(&field), Some(shown));
            }
            _ => assert_eq!(event.unsigned(&field), None),
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(seed: u64, big: bool, form in 0_u64..3) {
        check(seed, big, form);
    }
}
