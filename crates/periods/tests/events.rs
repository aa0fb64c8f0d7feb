//! Expressions and definitions on events of traces: where fields are found, and what an event alone decides.
#![allow(clippy::unwrap_used)] // A test may panic.

use isochrone_ctf::Trace;
use isochrone_periods::{Binding, Condition, Definitions, PacketFields, Reading};
use isochrone_testkit::LttngTrace;

/// Two user-space events on CPU 1: a begin and an end, with contexts, a real number and a structure.
fn trace(directory: &std::path::Path) -> Trace {
    let mut trace = LttngTrace::user_space("h1");
    trace.cpus(2);
    trace.context("integer { size = 32; signed = true; align = 8; } _vtid;");
    let fields = "integer { size = 32; align = 8; } _req; string _phase; \
                  floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _load; \
                  struct { integer { size = 8; align = 8; } _depth; } _at; integer { size = 8; align = 8; } _vtid;";
    trace.define("shop:begin", fields).define("shop:end", "integer { size = 32; align = 8; } _req;");
    let fields = [
        ("context.vtid", 42.into()),
        ("req", 7.into()),
        ("phase", "decode".into()),
        ("load", 0.5.into()),
        ("at.depth", 3.into()),
    ];
    trace.event(1, 1000, "shop:begin", &fields);
    trace.event(1, 2000, "shop:end", &[("context.vtid", 42.into()), ("req", 7.into())]);
    trace.write(directory).unwrap();
    Trace::open(directory).unwrap()
}

/// Passes each event (all are of CPU 1) to `to`, with what is known of it.
fn each(trace: &Trace, mut to: impl FnMut(Reading<'_, '_>)) {
    for event in trace.events(0) {
        let packet = PacketFields::of(trace, event.stream(), event.packet());
        to(Reading { event: &event, cpu: Some(1), packet: &packet });
    }
}

#[test]
fn fields_are_found_where_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let trace = trace(directory.path());
    let check = |text: &str, expect: [bool; 2]| {
        let condition = Condition::parse(text).unwrap();
        let mut holds = Vec::new();
        each(&trace, |from| {
            let (class, stream) = (from.event.class(), from.event.stream_plan());
            let binding = Binding::new(condition.fields(), class, stream, "h1");
            holds.push(condition.holds(&binding, from));
        });
        assert_eq!(holds, expect, "{text}");
    };
    check(r#"$event == "shop:*" && $host == "h1" && $cpu == 1"#, [true, true]);
    check(r#"phase == "decode""#, [true, false]);
    check(r#"phase != "decode""#, [false, false]);
    check("load == 0.5 && load < 1", [true, false]);
    check("at.depth == 3", [true, false]);
    check("req == 7", [true, true]);
    check("$ctx.vtid == 42 && $stream_ctx.vtid == 42", [true, true]);
    check("$payload.vtid == 42", [false, false]);
    check("cpu_id == 1 && $evt.$pkt_ctx.cpu_id == 1", [true, true]);
    check("$ctx.cpu_id == 1", [false, false]);
    check("at == 3", [false, false]);
}

#[test]
fn an_event_alone_decides_what_it_can() {
    let directory = tempfile::tempdir().unwrap();
    let trace = trace(directory.path());
    let definitions = Definitions::parse(
        &[
            r#"all : $event == "shop:begin" : $event == "shop:end" && req == $begin.$evt.req"#,
            r#"part(all) : phase == "decode" && req == $parent.$begin.$evt.req : $event == "shop:end""#,
            r#"never : $event == "shop:other""#,
            r#"no : $event == "shop:begin" && req == 8 : $event == "shop:end" && req == 8"#,
        ],
        &[],
    )
    .unwrap();
    let mut seen = Vec::new();
    each(&trace, |from| {
        let (class, stream) = (from.event.class(), from.event.stream_plan());
        let bound = definitions.bind(class, stream, "h1").unwrap();
        assert!(!bound.needs_packet());
        let candidate = definitions.candidate(&bound, from).unwrap();
        let numbers = |may: &dyn Fn(usize) -> bool| (0..4).filter(|&number| may(number)).collect::<Vec<_>>();
        seen.push((
            numbers(&|number| candidate.may_begin(number)),
            numbers(&|number| candidate.may_end(number)),
        ));
    });
    assert_eq!(seen, [(vec![0, 1], vec![]), (vec![], vec![0, 1])]);
    // No event of any class concerns this one.
    let never = Definitions::parse(&[r#"never : $event == "shop:other""#], &[]).unwrap();
    each(&trace, |from| {
        assert!(never.bind(from.event.class(), from.event.stream_plan(), "h1").is_none());
    });
}
