//! `phases`: what waits in phases are for, by call, descriptor and who ended them; phases that programs record themselves.

use std::fs;
use std::path::Path;

use isochrone_testkit::{EventHeader, FieldValue, Generation, KernelScript, LttngTrace};

use super::run::{analyze, analyze_in, check, rows};

/// A phase is from one `getpid` to the next `sched_yield`.
const PHASE: &str = r#"work:$event=="syscall_entry_getpid":$event=="syscall_exit_sched_yield"&&$ctx.tid==$begin.$evt.$ctx.tid"#;

/// A thread that waits for 10 ns in a call, in a phase.
fn waits(call: &str, fields: &[(&str, FieldValue)], ends: impl Fn(&mut KernelScript)) -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "sh").process(20, "web");
    host.at(50).dump_process(10).dump_file(10, 9, 0, "/dev/tty");
    host.at(90).switch(0, 10);
    let unix = [("family", 1.into()), ("type", 1.into())];
    let pair = [("socket", [6, 7].into())];
    host.at(100).enter("socketpair", &unix).after(1).exit_with("socketpair", 0, &pair);
    let socket = [("family", 2.into()), ("type", 1.into())];
    host.at(102).enter("socket", &socket).after(1).exit("socket", 8);
    let peer =
        [("fd", 8.into()), ("family", 2.into()), ("dport", 80.into()), ("v4addr", [10, 0, 0, 9].into())];
    host.at(104).enter("connect", &peer).after(1).exit("connect", 0);
    host.at(106).enter("timerfd_create", &[]).after(1).exit("timerfd_create", 10);
    host.at(110).enter("getpid", &[]).after(1).exit("getpid", 10);
    host.at(200).enter(call, fields).after(1).switch(10, 20);
    ends(&mut host);
    host.at(215).preempt(20, 10).after(1).exit(call, 1);
    host.at(298).enter("sched_yield", &[]).after(2).exit("sched_yield", 0);
    host.at(310).switch(10, 0);
    host
}

/// A call, its fields, and the cause and the detail of a wait in it.
type Waited<'w> = (&'w str, Vec<(&'w str, FieldValue)>, &'w str);

#[test]
fn waits_by_call_and_descriptor() {
    let on = |fd: i32| vec![("fd", fd.into())];
    let cases: [Waited<'_>; 10] = [
        ("read", on(8), "network 10.0.0.9:80"),
        ("read", on(6), "socket AF_UNIX SOCK_STREAM ↔ fd 7"),
        ("read", on(10), "sleep anon_inode:[timerfd]"),
        ("read", on(9), "other /dev/tty"),
        // Nobody knows what it is.
        ("read", on(77), "other read"),
        ("wait4", vec![], "child wait4"),
        ("pause", vec![], "signal pause"),
        ("fsync", on(77), "disk fsync"),
        ("unlink", vec![("pathname", "/x".into())], "disk unlink"),
        ("brk", vec![], "other brk"),
    ];
    let arguments = format!("phases --table phase_waits --period {PHASE} --format json");
    for (call, fields, expect) in &cases {
        let host = waits(call, fields, |host| {
            host.at(211).wake(10, 0);
        });
        let said = analyze(&[&host], &arguments);
        let rows = rows(&said.stdout, "cause detail count total_ns");
        assert!(rows.contains(&format!("{expect} 1 10")), "{call}: {rows:?}");
    }
}

/// Where the call says nothing, who ended the wait does: softirqs of disks and of the network, timers.
#[test]
fn waits_by_who_ended_them() {
    let arguments = format!("phases --table phase_waits --period {PHASE} --format json");
    let check = |expect: &str, ends: fn(&mut KernelScript)| {
        let said = analyze(&[&waits("brk", &[], ends)], &arguments);
        let rows = rows(&said.stdout, "cause detail count total_ns");
        assert!(rows.contains(&expect.to_owned()), "{rows:?}");
    };
    check("disk brk 1 10", |host| {
        host.at(210).softirq_entry(4).after(1).wake(10, 0).after(1).softirq_exit(4);
    });
    check("network brk 1 10", |host| {
        host.at(210).softirq_entry(3).after(1).wake(10, 0).after(1).softirq_exit(3);
    });
    check("sleep brk 1 10", |host| {
        host.at(210).hrtimer_entry().after(1).wake(10, 0).after(1).hrtimer_exit();
    });
}

/// Of a socket that was accepted, the peer without its port, which is another one each time.
#[test]
fn files_and_peers() {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "web").at(90).switch(0, 10);
    let address =
        |port: u32| [("family", 2.into()), ("sport", port.into()), ("v4addr", [10, 0, 0, 2].into())];
    host.at(91).enter("socket", &[("family", 2.into()), ("type", 1.into())]).after(1).exit("socket", 3);
    host.at(93).enter("listen", &[("fd", 3.into())]).after(1).exit("listen", 0);
    for (at, fd, port) in [(95, 4, 40_000), (97, 5, 40_001)] {
        host.at(at).enter("accept", &[("fd", 3.into())]).after(1).exit_with("accept", fd, &address(port));
    }
    host.at(110).enter("getpid", &[]).after(1).exit("getpid", 10);
    for (at, fd) in [(120, 4), (130, 5)] {
        host.at(at).enter("read", &[("fd", fd.into())]).after(5).exit("read", 8);
    }
    host.at(198).enter("sched_yield", &[]).after(2).exit("sched_yield", 0);
    host.at(210).switch(10, 0);
    let arguments = format!("phases --table phase_files --period {PHASE}");
    check(
        &host,
        &arguments,
        "file kind count total_ns",
        &["10.0.0.2:40000 socket 1 5", "10.0.0.2:40001 socket 1 5"],
    );
}

/// Writes what the kernel recorded of a host and what thread 10 said of itself: events by time, with the text of their field `phase`, if they have one.
fn program(directory: &Path, host: &KernelScript, events: &[(u64, &str, &str)]) {
    let text = "string { encoding = UTF8; } _phase;";
    let mut program = LttngTrace::user_space("h1");
    program.header(EventHeader::Large).context("integer { size = 32; align = 8; signed = true; } _vtid;");
    for (_, name, phase) in events {
        program.define(name, if phase.is_empty() { "" } else { text });
    }
    for &(at, name, phase) in events {
        let vtid = ("context.vtid", 10.into());
        match phase {
            "" => program.event(0, at, name, &[vtid]),
            _ => program.event(0, at, name, &[("phase", phase.into()), vtid]),
        };
    }
    let [kernel, user_space] = ["kernel", "ust"].map(|name| directory.join(name));
    fs::create_dir(&kernel).unwrap();
    fs::create_dir(&user_space).unwrap();
    host.write(&kernel).unwrap();
    program.write(&user_space).unwrap();
}

/// Thread 10 waits for a lock from 131 to 141. It says that `shop:request` goes from 110 to 290; in it `thumb:phase decode` from 120 to 150 and
/// `thumb:phase open` from 160 to 200; `shop:step` from 210 to 250 with another one in it from 220 to 230; and pairs of other names.
fn service(directory: &Path) {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "web").process(20, "db").at(90).switch(0, 10);
    host.at(130).enter("futex", &[]).after(1).switch(10, 20);
    host.at(141).wake(10, 0).after(4).preempt(20, 10).after(1).exit("futex", 0);
    host.at(310).switch(10, 0);
    let events = [
        (110, "shop:request_begin", ""),
        (120, "thumb:phase_begin", "decode"),
        (150, "thumb:phase_end", "decode"),
        (160, "thumb:phase_begin", "open"),
        (200, "thumb:phase_end", "open"),
        (210, "shop:step_begin", ""),
        (220, "shop:step_begin", ""),
        (230, "shop:step_end", ""),
        (250, "shop:step_end", ""),
        (260, "db:query_entry", ""),
        (261, "db:query_exit", ""),
        (262, "net:io_enter", ""),
        (264, "net:io_exit", ""),
        (266, "gc:run_start", ""),
        (270, "gc:run_end", ""),
        (272, "gc:mark_start", ""),
        (280, "gc:mark_stop", ""),
        (285, "shop:other", ""),
        (290, "shop:request_end", ""),
    ];
    program(directory, &host, &events);
}

/// The program goes on to record while the kernel loses events, from 160 to 200: what its thread did is unknown until a switch shows it, at 220.
#[test]
fn lost_events() {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "web").process(20, "db").at(90).switch(0, 10);
    host.at(170).enter("nanosleep", &[]).after(1).switch(10, 20);
    host.at(220).preempt(20, 10).after(90).switch(10, 0);
    host.lose(0, 160, 200, 2).at(200);
    host.new_packet(0);
    let directory = tempfile::tempdir().unwrap();
    program(directory.path(), &host, &[(110, "shop:request_begin", ""), (290, "shop:request_end", "")]);
    let table = |name: &str, columns: &str| {
        let said = analyze_in(directory.path(), &format!("phases --table {name} --format json"));
        rows(&said.stdout, columns)
    };
    let waits = table("phase_waits", "phase cause detail count total_ns");
    assert_eq!(waits, ["shop:request cpu user or system 2 120", "shop:request unknown ? 1 60"]);
    let calls = table("phase_calls", "call total_ns running_ns unknown_ns");
    assert_eq!(calls, ["? 180 120 60"]);
}

#[test]
fn phases_of_programs() {
    let directory = tempfile::tempdir().unwrap();
    service(directory.path());
    let sorted = |arguments: &str, columns: &str| {
        let said = analyze_in(directory.path(), &format!("{arguments} --format json"));
        assert_eq!(said.status, Some(0), "{}", said.stderr);
        let mut rows = rows(&said.stdout, columns);
        rows.sort();
        rows
    };
    let expect = [
        "db:query 1 1 1 1",
        "gc:mark 1 8 8 8",
        "gc:run 1 4 4 4",
        "net:io 1 2 2 2",
        "shop:request 1 180 180 180",
        "shop:step 2 50 10 40",
        "thumb:phase decode 1 30 30 30",
        "thumb:phase open 1 40 40 40",
    ];
    assert_eq!(sorted("phases", "phase count total_ns min_ns max_ns"), expect);
    assert_eq!(sorted("periodstats", "period count total_ns min_ns max_ns"), expect);
    // The wait lies in two of them.
    let waits = sorted("phases --table phase_waits", "phase cause detail count total_ns");
    let locks: Vec<&String> = waits.iter().filter(|row| row.contains(" lock ")).collect();
    assert_eq!(locks, ["shop:request lock futex 1 10", "thumb:phase decode lock futex 1 10"]);
    // As requests: each instance is one, and what its thread did is its path.
    let requests =
        sorted("critical-path --phase shop:* --table requests", "client_tid begin_ns end_ns service");
    assert_eq!(requests, ["10 110 290 shop:request", "10 210 250 shop:step", "10 220 230 shop:step"]);
    let path = sorted("critical-path --phase *decode --table path", "begin_ns end_ns tid cause");
    assert_eq!(path, ["120 131 10 cpu", "131 141 10 lock", "141 145 10 wait-cpu", "145 150 10 cpu"]);
}
