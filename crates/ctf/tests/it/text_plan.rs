//! Text of events by compiled plans is that of a visitor, scope by scope.

use crate::common::random::Random;
use crate::common::shared::traces;
use isochrone_ctf::plan::Plan;
use isochrone_ctf::schema::Scope;
use isochrone_ctf::text::TextVisitor;
use isochrone_ctf::text_plan::{TextPlan, TextWriter};
use isochrone_ctf::write::{PacketHead, PacketWriter};
use isochrone_ctf::{Event, Trace, Value, parse_metadata};
use proptest::prelude::*;

/// What a visitor shows of an event; `None` where a field cannot be decoded.
fn visited(event: &Event<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
        if event.node(scope).is_some() {
            out.extend_from_slice(if out.is_empty() { b"" } else { b", " });
            event.visit(scope, &mut TextVisitor::new(&mut out)).ok()?;
        }
    }
    Some(out)
}

/// Compares both ways for an event; whether it was written by its plan.
pub fn check(event: &Event<'_>, plan: &TextPlan, writer: &mut TextWriter) -> bool {
    let mut out = b"before ".to_vec();
    let is_written = writer.put(plan, event, &mut out);
    let expect = if is_written { visited(event).unwrap() } else { Vec::new() };
    assert_eq!(String::from_utf8_lossy(&out[7..]), String::from_utf8_lossy(&expect));
    assert!(!plan.is_empty() || expect.is_empty());
    is_written
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn real_events_have_the_same_text() {
    let (mut events, mut written) = (0_u64, 0_u64);
    for path in traces(&["ctf", "ust", "vm/ping5", "vm/lossy2"]) {
        let Ok(trace) = Trace::open(&path) else { continue };
        let mut writer = TextWriter::default();
        for stream in 0..trace.streams().len() {
            let classes = trace.stream_plan(stream);
            let plans: Vec<_> = classes.events.iter().map(|class| TextPlan::new(classes, class)).collect();
            // Of each class the first events, and some of those after them.
            let mut seen = vec![0_u32; plans.len()];
            for event in trace.events(stream) {
                let index = event.class().index;
                seen[index] += 1;
                if (seen[index] <= 200 || seen[index].is_multiple_of(50))
                    && let Some(plan) = &plans[index]
                {
                    events += 1;
                    written += u64::from(check(&event, plan, &mut writer));
                }
            }
        }
    }
    assert!(written > 100_000 && written * 100 > events * 99, "{written} of {events} by their plans");
}

/// Texts of any length and signs, between numbers of all bases; what does not fit a line is left to others.
fn texts(seed: u64) {
    let metadata = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\n\
        stream { event.header := struct { integer { size = 8; } id; }; \
        packet.context := struct { integer { size = 32; } content_size; \
        integer { size = 32; } packet_size; }; };\n\
        event { name = a; id = 0; fields := struct { integer { size = 64; base = 16; } pointer; string s; \
        integer { size = 13; base = 16; signed = true; } bits; integer { size = 3; base = 8; } rest; \
        string t; integer { size = 64; signed = true; align = 64; } n; \
        enum : integer { size = 8; } { one = 1, \"two \\\"and\\\" three\" = 2 ... 3 } e; \
        integer { size = 16; } _length; integer { size = 8; encoding = UTF8; } x[_length]; \
        integer { size = 32; base = 2; } y[2]; }; };\n\
        event { name = b; id = 1; };";
    let random = &mut Random(seed);
    let mut text = |longest: u64| {
        let length = match random.below(4) {
            0 => random.below(longest),
            _ => random.below(40),
        };
        let special = random.below(3);
        let mut byte = || match random.below(8) {
            0 if special > 0 => 1 + random.below(255) as u8,
            _ => b'a' + random.below(26) as u8,
        };
        Value::Text((0..length).map(|_| byte()).collect())
    };
    let texts = [text(20_000), text(9_000), text(9_000)];
    let [s, t, x] = texts;
    let Value::Text(bytes) = &x else { unreachable!() };
    let length = bytes.len() as u64;
    let (raw, bits) = (random.next() >> random.below(64), random.next());
    let payload = Value::Struct(vec![
        Value::Unsigned(raw),
        s,
        Value::Signed((bits as i64) >> 51),
        Value::Unsigned(bits & 7),
        t,
        Value::Signed(random.next() as i64 >> random.below(64)),
        Value::Unsigned(random.below(5)),
        Value::Unsigned(length),
        x,
        Value::Array(vec![Value::Unsigned(bits >> 32), Value::Unsigned(raw >> 32)]),
    ]);

    let schema = parse_metadata(metadata).unwrap();
    let plan = Plan::compile(&schema);
    let stream = &plan.streams[0];
    let mut writer = PacketWriter::new(&plan, 0);
    let context = Some(Value::Struct(vec![Value::Unsigned(0); 2]));
    writer.begin(PacketHead { header: None, context, begin: 0 }).unwrap();
    for class in [0, 1, 0] {
        writer
            .event(&stream.events[class], 0, Some(Value::Struct(vec![Value::Unsigned(class as u64)])))
            .unwrap();
        if let Some(node) = &stream.events[class].payload {
            writer.field(node, &payload).unwrap();
        }
    }
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("metadata"), metadata).unwrap();
    std::fs::write(directory.path().join("stream"), writer.finish(0, 8).unwrap().bytes).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let events: Vec<_> = trace.events(0).collect();
    assert_eq!(events.len(), 3);
    let plans =
        [0, 1].map(|class| TextPlan::new(trace.stream_plan(0), &trace.stream_plan(0).events[class]).unwrap());
    let mut writer = TextWriter::default();
    let shown = visited(&events[0]).unwrap();
    for (event, own, other) in [(&events[0], 0, 1), (&events[1], 1, 0), (&events[2], 0, 1)] {
        let is_written = check(event, &plans[own], &mut writer);
        assert!(is_written || shown.len() > 8000, "{} bytes", shown.len());
        assert!(!check(event, &plans[other], &mut writer), "a plan of another class");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn texts_of_any_length_are_the_same(seed: u64) {
        texts(seed);
    }
}
