//! `--period`: periods that definitions describe, alone and as what other analyses are confined to.

use isochrone_testkit::{Generation, KernelScript};

use super::run::{analyze, check, rows};

const LOG: &str =
    "period begin_ns end_ns number parent parent_number ended_by tid begin_captures end_captures";

/// Two CPUs. Thread 10 runs on CPU 0 from 100 to 200, interrupted by 27 from 120 to 130 and by 5 from 180 on, which is not over when it
/// leaves; thread 20 on CPU 1 from 110 to 190, interrupted by 27 from 125 to 145.
fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).cpus(2);
    host.process(10, "sh").process(20, "web");
    host.at(90).switch(0, 0).cpu(1).switch(0, 0);
    host.at(100).cpu(0).switch(0, 10);
    host.at(110).cpu(1).switch(0, 20);
    host.at(120).cpu(0).irq_entry(27, "eth0");
    host.at(125).cpu(1).irq_entry(27, "eth0");
    host.at(130).cpu(0).irq_exit(27);
    host.at(140).enter("getpid", &[]).after(2).exit("getpid", 10);
    host.at(145).cpu(1).irq_exit(27);
    host.at(150).cpu(1).enter("read", &[("fd", 3.into()), ("count", 8.into())]).after(3).exit("read", 8);
    host.at(180).cpu(0).irq_entry(5, "disk");
    host.at(190).cpu(1).switch(20, 0);
    host.at(200).cpu(0).switch(10, 0).after(5).irq_exit(5);
    host.at(300).switch(0, 10).after(20).switch(10, 0);
    host
}

const SWITCH: &str = r#"switch:$evt.$name=="sched_switch"&&$evt.next_tid!=0:$evt.$name=="sched_switch"&&$evt.prev_tid==$begin.$evt.next_tid&&$evt.cpu_id==$begin.$evt.cpu_id"#;
const IRQ: &str = r#"irq(switch):$evt.$name=*"irq_*_entry"&&$evt.cpu_id==$parent.$begin.$evt.cpu_id:$evt.$name=="irq_handler_exit"&&$evt.cpu_id==$begin.$evt.cpu_id"#;
const CAPTURES: &str = "irq:$evt.irq,who=$parent.$begin.$evt.next_comm:ret=$evt.ret";

#[test]
fn children_lie_within_their_parents() {
    let expect = [
        "switch 100 200 0 ? ? event 0 ? ?",
        "switch 110 190 1 ? ? event 0 ? ?",
        "irq 120 130 2 switch 0 event 10 $evt.irq = 27, who = sh ret = 1",
        "irq 125 145 3 switch 1 event 20 $evt.irq = 27, who = web ret = 1",
        "irq 180 200 4 switch 0 parent 10 $evt.irq = 5, who = sh ?",
        "switch 300 320 5 ? ? event 0 ? ?",
    ];
    for chunks in [1, 2, 3, 5, 9, 40] {
        let arguments = format!(
            "periodlog --chunks {chunks} --period {SWITCH} --period {IRQ} --period-captures {CAPTURES}"
        );
        check(&host(), &arguments, LOG, &expect);
    }
    let check = |arguments: &str, columns: &str, expect: &[&str]| {
        check(&host(), &format!("{arguments} --period {SWITCH} --period {IRQ}"), columns, expect);
    };
    check("periodtop --limit 2", "period begin_ns duration_ns", &["switch 100 100", "switch 110 80"]);
    check("periodlog --tid 20", "period begin_ns", &["irq 125"]);
    check(
        "periodlog --min 20 --max 90",
        "period begin_ns",
        &["switch 110", "irq 125", "irq 180", "switch 300"],
    );
    check("periodstats", "period count total_ns", &["irq 3 50", "switch 3 200"]);
    check("periodstats --table parent_stats", "parent period count total_ns", &["switch irq 3 50"]);
    check("periodfreq --table quantiles --linear", "period count max_ns", &["irq 3 20", "switch 3 100"]);
}

#[test]
fn without_an_end_the_next_begin_ends_it() {
    // Ends come first: the third switch of a CPU ends one and begins another.
    let every = r#":$event=="sched_switch"&&$cpu==0"#;
    let expect = [
        "#1 90 100 0 ? ? event 0 ? ?",
        "#1 100 200 1 ? ? event 0 ? ?",
        "#1 200 300 2 ? ? event 10 ? ?",
        "#1 300 320 3 ? ? event 0 ? ?",
    ];
    check(&host(), &format!("periodlog --chunks 4 --period {every}"), LOG, &expect);
}

#[test]
fn what_events_are_missing_of_is_left_out() {
    let mut host = host();
    // The tracer says so in the head of the packet whose last event they are missing after: that of 142.
    host.lose(0, 92, 95, 5);
    host.at(160);
    host.new_packet(0);
    let arguments = format!("periodlog --period {SWITCH} --period {IRQ}");
    // Of CPU 0, events are missing from 142 to 160. Some of them might have ended any period
    // that was open: so nothing begins within these any more either.
    for chunks in [1, 6] {
        let arguments = format!("{arguments} --chunks {chunks}");
        check(&host, &arguments, "period begin_ns end_ns", &["irq 120 130", "switch 300 320"]);
        let said = analyze(&[&host], &arguments).stderr;
        assert!(
            said.contains("h1: periods `irq` left out because events may be missing between their ends: 1"),
            "{said}"
        );
        assert!(
            said.contains(
                "h1: periods `switch` left out because events may be missing between their ends: 2"
            ),
            "{said}"
        );
    }
    let never = r#"never:$event=="sched_switch"&&next_tid==10:$event=="sched_wakeup""#;
    let said = analyze(&[&host], &format!("periodlog --period {never}"));
    assert!(said.stderr.contains("h1: periods `never` without an end in the traces: 2"), "{}", said.stderr);
}

#[test]
fn other_analyses_are_confined_to_periods() {
    let first = r#"first:$event=="irq_handler_entry"&&irq==27&&$cpu==0:$event=="syscall_exit_read""#;
    // From 120 to 153: both CPUs ran all the time.
    let check = |arguments: &str, columns: &str, expect: &[&str]| {
        for chunks in [1, 3, 7] {
            check(&host(), &format!("{arguments} --chunks {chunks}"), columns, expect);
        }
    };
    check(
        &format!("cputop --period {first} --period {SWITCH}"),
        "period tid cpu_ns percent",
        &["first 10 33 100", "first 20 33 100", "switch 10 120 100", "switch 20 80 66.66666666666667"],
    );
    // What ends within it counts; the end of a period does not belong to it.
    check(
        &format!("syscallstats --table syscalls --period {first}"),
        "period tid syscall count",
        &["first 10 getpid 1"],
    );
    check(
        &format!("syscallstats --table syscalls --period {SWITCH}"),
        "period tid syscall count",
        &["switch 20 read 1", "switch 10 getpid 1"],
    );
    check(&format!("irqstats --period {first}"), "period number count", &["first 27 2"]);
    // A period that never was leaves nothing.
    let never = r#"never:$event=="sched_switch"&&next_tid==77"#;
    check(&format!("cputop --period {never}"), "period tid", &[]);
}

#[test]
fn several_questions_in_their_order() {
    let said = analyze(&[&host()], &format!("cputop,periodstats,irqstats --format json --period {SWITCH}"));
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", said.stderr);
    assert_eq!(rows(lines[0], "period tid"), ["switch 10", "switch 20"]);
    assert_eq!(rows(lines[1], "period count"), ["switch 3"]);
    assert!(lines[2].contains(r#""analysis":"irqstats""#));
}

#[test]
fn what_is_no_period() {
    let check = |arguments: &str, expect: &str| {
        let said = analyze(&[&host()], arguments);
        assert!(said.stderr.contains(expect), "{arguments}: {}", said.stderr);
        assert_ne!(said.status, Some(0), "{arguments}");
    };
    check("periodlog --period a", "--period: `a`: a period looks like");
    check(
        "periodlog --period a:nxet_tid==1",
        "--period: no event has a field `nxet_tid`; did you mean `next_tid`?",
    );
    check(r#"states --period a:$event=="x""#, "--period does not apply to states");
    check(r#"cputop --at @150 --period a:$event=="x""#, "cannot be used with");
    check("periodlog --period-captures a:$evt.x", "--period");
    check("periodlog --cpu 1 --period a:irq==1", "--cpu does not apply to periodlog");
}
