//! Scripted kernel traces of every generation, read back.

use crate::common::{events, field, field_in, open, times};
use isochrone_ctf::schema::Scope;
use isochrone_ctf::{Event, Loss, Lost, Trace, Value, ValueVisitor};
use isochrone_testkit::{FieldValue, Generation, KernelScript, Misuse, TestkitError};
use tempfile::TempDir;

fn written(script: &KernelScript) -> (TempDir, Trace) {
    let directory = tempfile::tempdir().unwrap();
    script.write(directory.path()).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    assert_eq!(trace.diagnostics(), []);
    (directory, trace)
}

/// Times and names of the events of a stream, in words.
fn told(trace: &Trace, stream: usize) -> String {
    let words: Vec<String> =
        times(trace, stream).iter().map(|(time, name)| format!("{time} {name}")).collect();
    words.join(", ")
}

fn text(event: &Event<'_>, name: &str) -> String {
    match field(event, name) {
        Some(Value::Text(text)) => String::from_utf8(text).unwrap().trim_end_matches('\0').to_owned(),
        other => panic!("{name}: {other:?}"),
    }
}

fn number(event: &Event<'_>, name: &str) -> i128 {
    match field(event, name) {
        Some(Value::Signed(number)) => number.into(),
        Some(Value::Unsigned(number)) => number.into(),
        other => panic!("{name}: {other:?}"),
    }
}

/// A bit of everything, with the words of every generation.
fn story(generation: Generation) -> KernelScript {
    let mut script = KernelScript::new("h1", generation).cpus(2);
    script.process(10, "sh").thread(11, 10, "sh-pool").priority(11, 39).kernel_thread(3, "ksoftirqd/0");
    script.namespace(10, 2, 2, 77).namespace(11, 3, 2, 77);
    script.at(50).cpu(1).dump().dump_file(10, 3, 0o2, "/etc/hosts");
    script
        .at(100)
        .switch(0, 10)
        .after(10)
        .enter("openat", &[("dfd", (-100).into()), ("filename", "/x".into())]);
    script.at(120).exit("openat", 3).after(1).enter("pipe2", &[("flags", 0x80000.into())]);
    script.at(122).exit_with("pipe2", 0, &[("fildes", [4, 5].into())]);
    script.at(130).wake(11, 1).wakeup(11, 1).migrate(11, 1);
    script.at(131).cpu(1).switch(0, 11).irq_entry(27, "virtio").softirq_raise(3).irq_exit(27);
    script.at(132).cpu(1).softirq_entry(3).softirq_exit(3).block_issue(0x80_0010, 2048, 8);
    script.at(133).cpu(1).block_complete(0x80_0010, 2048, 8).page_alloc(2).page_free(2);
    script.at(134).cpu(1).net_queue("eth0", 60).net_send("eth0", 60).net_receive("eth0", 1500).prio(10, 5);
    script.at(140).cpu(0).fork(10, 12, 12).wakeup_new(12, 0).preempt(10, 12).exec("/usr/bin/cut");
    script.at(150).cpu(0).enter("exit_group", &[]).process_exit().switch_dead(12, 0).process_free(12);
    script
}

#[test]
fn every_class_of_every_generation_decodes() {
    for generation in Generation::ALL {
        for (bits, big, aligned, contexts) in
            [(64, false, false, true), (32, false, true, false), (64, true, true, true)]
        {
            let machine = || {
                let script = KernelScript::new("h1", generation).bits(bits).big_endian(big);
                script.aligned(aligned).contexts(contexts).packet_events(50)
            };
            let (_directory, empty) = written(&machine());
            let names: Vec<String> =
                empty.schema().streams[0].events.iter().map(|event| event.name.clone().unwrap()).collect();
            assert!(names.len() > 110, "{generation:?} has {} classes", names.len());
            let mut script = machine();
            for (time, name) in (1..).zip(&names) {
                script.at(time).event(name, &[]);
            }
            let (_directory, trace) = written(&script);
            let found = events(&trace, 0);
            assert_eq!(found.len(), names.len());
            for (event, name) in found.iter().zip(&names) {
                assert_eq!(event.name(), Some(name.as_str()));
                let mut visitor = ValueVisitor::default();
                event.visit(Scope::Payload, &mut visitor).unwrap();
            }
        }
    }
}

#[test]
fn the_same_words_are_reported_by_every_generation() {
    for generation in Generation::ALL {
        let (directory, trace) = written(&story(generation));
        open(directory.path());
        let environment = trace.schema().environment_text("hostname");
        assert_eq!(environment, Some("h1"));
        let found: Vec<_> = (0..2).flat_map(|stream| events(&trace, stream)).collect();
        let one = |name: &str| found.iter().find(|event| event.name() == Some(name)).unwrap();
        let switch = one("sched_switch");
        assert_eq!(
            (text(switch, "prev_comm"), text(switch, "next_comm")),
            ("swapper/0".to_owned(), "sh".to_owned())
        );
        let (enter, exit) = match generation.names_exits() {
            true => ("syscall_entry_openat", "syscall_exit_openat"),
            false => ("sys_openat", "exit_syscall"),
        };
        assert_eq!((number(one(enter), "dfd"), number(one(exit), "ret")), (-100, 3), "{generation:?}");
        let wakeup = one(if generation.has_waking() { "sched_waking" } else { "sched_wakeup" });
        let shift = if generation.has_waking() { 0 } else { 100 };
        assert_eq!(
            (number(wakeup, "tid"), number(wakeup, "prio"), number(wakeup, "target_cpu")),
            (11, 39 + shift, 1)
        );
        let fork = one("sched_process_fork");
        assert_eq!((number(fork, "child_tid"), text(fork, "child_comm")), (12, "sh".to_owned()));
        let exec = one("sched_process_exec");
        let tid = if generation == Generation::V2_1 { "pid" } else { "tid" };
        assert_eq!((number(exec, tid), text(exec, "filename")), (12, "/usr/bin/cut".to_owned()));
        assert_eq!(text(one("sched_process_free"), "comm"), "cut");
        let dead: Vec<_> = found.iter().filter(|event| event.name() == Some("sched_switch")).collect();
        assert!(
            dead.iter().any(|event| number(event, "prev_state") == generation.dead().into()),
            "{generation:?}"
        );
        assert_eq!(text(one("lttng_statedump_process_state"), "name"), "ksoftirqd/0");
    }
}

#[test]
fn calls_of_old_tracers_show_their_result_only() {
    let (_directory, trace) = written(&story(Generation::V2_5));
    let expect = "100 sched_switch, 110 sys_openat, 120 exit_syscall, 121 sys_pipe2, 122 exit_syscall, \
                  130 sched_wakeup, 130 sched_wakeup, 130 sched_migrate_task, 140 sched_process_fork, \
                  140 sched_wakeup_new, 140 sched_switch, 140 sched_process_exec, 150 sys_exit_group, \
                  150 sched_process_exit, 150 sched_switch, 150 sched_process_free";
    assert_eq!(told(&trace, 0), expect);
}

#[test]
fn young_calls_are_unknown_to_tracers_before_them() {
    let check = |generation, call: &str, expect: &str| {
        let mut script = KernelScript::new("h1", generation);
        script.at(1).enter(call, &[]).exit(call, 3);
        let (_directory, trace) = written(&script);
        assert_eq!(told(&trace, 0), expect, "{generation:?} {call}");
        if expect.contains("unknown") {
            assert_eq!(number(&events(&trace, 0)[0], "id"), 319);
        }
    };
    check(Generation::V2_1, "memfd_create", "1 sys_unknown, 1 exit_syscall");
    check(Generation::V2_8, "memfd_create", "1 syscall_entry_unknown, 1 syscall_exit_unknown");
    check(Generation::V2_13, "memfd_create", "1 syscall_entry_unknown, 1 syscall_exit_unknown");
    check(Generation::V2_14, "memfd_create", "1 syscall_entry_memfd_create, 1 syscall_exit_memfd_create");
    check(Generation::V2_13, "compat_open", "1 compat_syscall_entry_open, 1 compat_syscall_exit_open");
    check(Generation::V2_5, "compat_open", "1 compat_sys_open, 1 exit_syscall");
}

#[test]
fn contexts_tell_who_runs() {
    let mut script = KernelScript::new("h1", Generation::V2_13).contexts(true);
    script.process(10, "sh").thread(11, 10, "pool");
    script.at(1).page_alloc(0);
    script.at(2).switch(10, 11);
    script.at(3).page_alloc(0);
    script.at(4).exec("/bin/ls");
    script.at(5).page_alloc(0);
    let (_directory, trace) = written(&script);
    let who = |event: &Event<'_>| {
        let [tid, pid, comm] =
            ["tid", "pid", "procname"].map(|name| field_in(event, Scope::CommonContext, name).unwrap());
        let (Value::Signed(tid), Value::Signed(pid), Value::Text(comm)) = (tid, pid, comm) else { panic!() };
        format!("{tid} {pid} {}", String::from_utf8(comm).unwrap().trim_end_matches('\0'))
    };
    let found: Vec<_> = events(&trace, 0).iter().map(who).collect();
    assert_eq!(found, ["10 10 sh", "10 10 sh", "11 10 pool", "10 10 ls", "10 10 ls"]);
}

#[test]
fn what_is_lost_is_counted_and_not_written() {
    let mut script = KernelScript::new("h1", Generation::V2_13).cpus(2);
    for time in [10, 20, 30, 40, 50, 60] {
        script.at(time).cpu(0).page_alloc(0).cpu(1).page_free(0);
    }
    script.lose(0, 20, 45, 1_000).lose_scripted(1, 25, 41).lose(1, 60, 70, 3);
    let (_directory, trace) = written(&script);
    assert_eq!(times(&trace, 0).iter().map(|(time, _)| *time).collect::<Vec<_>>(), [10, 20, 50, 60]);
    assert_eq!(times(&trace, 1).iter().map(|(time, _)| *time).collect::<Vec<_>>(), [10, 20, 50, 60]);
    let loss = |count, before_packet, begin, end| Loss {
        lost: Lost::Events(count),
        before_packet,
        begin: Some(begin),
        end: Some(end),
    };
    // Both CPUs begin and end together.
    assert_eq!(trace.losses(0), [loss(1_000, 1, 20, 70)]);
    assert_eq!(trace.losses(1), [loss(2, 1, 25, 60), loss(3, 2, 60, 70)]);
    let borders = |stream: usize| -> Vec<_> {
        trace.streams()[stream]
            .packets
            .iter()
            .map(|packet| (packet.begin().unwrap(), packet.end().unwrap()))
            .collect()
    };
    assert_eq!(borders(0), [(10, 20), (45, 70)]);
    assert_eq!(borders(1), [(10, 25), (41, 60), (70, 70)]);
}

#[test]
fn packets_end_where_they_should() {
    let mut script = KernelScript::new("h1", Generation::V2_8).cpus(2).packet_events(2);
    for time in 1..=5 {
        script.at(time * 10).page_alloc(0);
    }
    script.at(25).cpu(1).page_alloc(0);
    script.new_packet(1).new_packet(1);
    script.at(90).cpu(1).page_alloc(0);
    let (_directory, trace) = written(&script);
    let borders = |stream: usize| -> Vec<_> {
        trace.streams()[stream]
            .packets
            .iter()
            .map(|packet| (packet.begin().unwrap(), packet.end().unwrap()))
            .collect()
    };
    // Both CPUs begin and end together.
    assert_eq!(borders(0), [(10, 20), (30, 40), (50, 90)]);
    assert_eq!(borders(1), [(10, 25), (25, 25), (25, 90)]);
    assert_eq!((trace.losses(0), trace.losses(1)), (vec![], vec![]));
}

#[test]
fn streams_can_be_missing() {
    let (_directory, trace) = written(&story(Generation::V2_13).without_streams(&[0]));
    assert_eq!(trace.streams().len(), 1);
    assert!(told(&trace, 0).starts_with("50 lttng_statedump_start, 50 lttng_statedump_process_state"));
}

#[test]
fn order_is_that_of_time_then_of_the_script() {
    let mut script = KernelScript::new("h1", Generation::V2_13);
    script.at(9).page_free(0);
    script.at(5).irq_entry(1, "a").softirq_raise(1).irq_exit(1);
    script.at(5).page_alloc(0);
    let (_directory, trace) = written(&script);
    let expect = "5 irq_handler_entry, 5 irq_softirq_raise, 5 irq_handler_exit, 5 kmem_mm_page_alloc, 9 kmem_mm_page_free";
    assert_eq!(told(&trace, 0), expect);
}

#[test]
fn mistakes_are_reported() {
    let check = |act: fn(&mut KernelScript), expect: Misuse| {
        let mut script = KernelScript::new("h1", Generation::V2_13);
        act(&mut script);
        match script.write(tempfile::tempdir().unwrap().path()) {
            Err(TestkitError::Misuse(misuse)) => assert_eq!(misuse, expect),
            other => panic!("{other:?}"),
        }
    };
    let class = |name: &str| Misuse::UnknownClass { name: name.to_owned() };
    check(|script| _ = script.at(1).enter("opena", &[]), class("syscall_entry_opena"));
    check(|script| _ = script.at(1).event("sched_nothing", &[]), class("sched_nothing"));
    check(|script| _ = script.at(1).cpu(1).page_alloc(0), Misuse::NoCpu { cpu: 1, cpus: 1 });
    check(
        |script| _ = script.at(1).enter("close", &[("fdd", FieldValue::from(3))]),
        Misuse::UnknownField { class: "syscall_entry_close".to_owned(), field: "fdd".to_owned() },
    );
    check(|script| _ = script.lose(0, 9, 8, 1), Misuse::BackInTime { cpu: 0, cycles: 8, last: 9 });
}
