//! `phases`: what the time of a phase went to, on a host small enough to check by eye.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::run::{analyze, check};

/// A phase is from one `getpid` to the next `sched_yield`.
const PHASE: &str = r#"work:$event=="syscall_entry_getpid":$event=="syscall_exit_sched_yield"&&$ctx.tid==$begin.$evt.$ctx.tid"#;

/// Descriptors as `poll` asks for them, and as it returns them.
fn polled(fd: i32, events: u32) -> FieldValue {
    FieldValue::Array(vec![FieldValue::Array(vec![fd.into(), events.into()])])
}

/// Thread 10 in a phase from 110 to 300. It sleeps from 125 to 145 and waits for a CPU until 150; waits for a lock from 162 to 170; for a
/// page of memory, of the disk, from 180 to 190; for a file from 201 to 211; polls for a pipe from 221 to 231, and for nothing from 241 to 251. An
/// interrupt is handled from 260 to 266.
fn phase() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "sh").process(20, "web");
    host.at(50).dump_process(10).dump_file(10, 3, 0, "/data/x");
    host.at(90).switch(0, 10);
    host.at(100).enter("pipe2", &[]).after(1).exit_with(
        "pipe2",
        0,
        &[("fildes", FieldValue::Array(vec![4.into(), 5.into()]))],
    );
    host.at(110).enter("getpid", &[]).after(2).exit("getpid", 10);
    host.at(120).enter("nanosleep", &[]).after(5).switch(10, 0);
    host.at(144).hrtimer_entry().after(1).wake(10, 0).after(1).hrtimer_exit();
    host.at(150).switch(0, 10).after(2).exit("nanosleep", 0);
    host.at(160).enter("futex", &[]).after(2).switch(10, 20);
    host.at(170).wake(10, 0).after(2).switch(20, 10).after(2).exit("futex", 0);
    host.at(180).switch(10, 0);
    host.at(189).softirq_entry(4).after(1).wake(10, 0).after(1).softirq_exit(4);
    host.at(192).switch(0, 10);
    host.at(200).enter("read", &[("fd", 3.into()), ("count", 8.into())]).after(1).switch(10, 0);
    host.at(211).wake(10, 0).after(1).switch(0, 10).after(1).exit("read", 8);
    let asked = || [("nfds", 1.into()), ("fds", polled(4, 1))];
    host.at(220).enter("poll", &asked()).after(1).switch(10, 20);
    host.at(231).wake(10, 0).after(1).switch(20, 10).after(1).exit_with("poll", 1, &[("fds", polled(4, 1))]);
    host.at(240).enter("poll", &asked()).after(1).switch(10, 0);
    host.at(250).hrtimer_entry().after(1).wake(10, 0).after(1).hrtimer_exit();
    host.at(253).switch(0, 10).after(1).exit("poll", 0);
    host.at(260).irq_entry(27, "eth0").after(6).irq_exit(27);
    host.at(298).enter("sched_yield", &[]).after(2).exit("sched_yield", 0);
    host.at(310).switch(10, 0);
    host
}

#[test]
fn time_by_cause() {
    let expect = [
        // 190 ns: 68 blocked, 13 waiting for the CPU, 6 interrupted, 21 in calls.
        "work cpu user 8 82",
        "work cpu system 12 21",
        "work sleep nanosleep 1 20",
        "work disk /data/x 1 10",
        "work disk ? 1 10",
        "work pipe pipe 5 → 4 1 10",
        "work sleep poll 1 10",
        "work wait-cpu ? 6 13",
        "work lock futex 1 8",
        "work irq ? 1 6",
    ];
    let mut expect: Vec<&str> = expect.to_vec();
    expect.sort_unstable();
    let said = analyze(&[&phase()], &format!("phases --format json --table phase_waits --period {PHASE}"));
    let mut rows = super::run::rows(&said.stdout, "phase cause detail count total_ns");
    rows.sort_unstable();
    assert_eq!(rows, expect, "{}", said.stderr);
}

#[test]
fn time_by_call_and_file() {
    let arguments = |table: &str| format!("phases --table {table} --period {PHASE}");
    let spent = "phase count total_ns running_ns interrupted_ns wait_cpu_ns blocked_ns unknown_ns";
    check(
        &phase(),
        &arguments("phases"),
        "phase count total_ns min_ns p50_ns p95_ns max_ns",
        &["work 1 190 190 190 190 190"],
    );
    check(
        &phase(),
        &arguments("phase_files"),
        &format!("file kind {spent}"),
        &["/data/x file work 1 13 2 0 1 10 0"],
    );
    let calls = "call count running_ns wait_cpu_ns blocked_ns";
    check(
        &phase(),
        &arguments("phase_calls"),
        calls,
        &[
            "? 0 82 2 10",
            "nanosleep 1 7 5 20",
            "poll 2 4 3 20",
            "futex 1 4 2 8",
            "read 1 2 1 10",
            "getpid 1 2 0 0",
            "sched_yield 1 2 0 0",
        ],
    );
}

#[test]
fn filters() {
    let check = |arguments: &str, expect: &[&str]| {
        check(&phase(), &format!("phases --period {PHASE} {arguments}"), "phase count", expect);
    };
    check("--tid 10", &["work 1"]);
    check("--tid 20", &[]);
    check("--procname s*", &["work 1"]);
    check("--min 191", &[]);
    check("--max 190", &["work 1"]);
    check("--begin @150", &["work 1"]);
    check("--end @300", &[]);
}
