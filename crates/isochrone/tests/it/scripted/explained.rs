//! `events --explain`: what the kernel's events tell of each event.

use std::fs;
use std::path::Path;
use std::process::Command;

use isochrone_testkit::{EventHeader, FieldValue, Generation, KernelScript, LttngTrace};

/// An event of the program, of thread 10: when, its name, the fields `fd` and `sock`.
type OfProgram<'e> = (u64, &'e str, Option<[i64; 2]>);

/// Writes what the kernel recorded of a host, and what a program did on its CPU 0. `contexts`: whether that
/// named its thread.
fn write(directory: &Path, host: Option<&KernelScript>, events: &[OfProgram<'_>], contexts: bool) {
    let int = |name: &str| format!("integer {{ size = 32; align = 8; signed = true; }} _{name};");
    let mut program = LttngTrace::user_space("h1");
    program.header(EventHeader::Large);
    if contexts {
        program.context(&int("vtid"));
    }
    for (_, name, fds) in events {
        program.define(name, &fds.map(|_| int("fd") + " " + &int("sock")).unwrap_or_default());
    }
    for &(at, name, fds) in events {
        let fds = fds.iter().flat_map(|[fd, sock]| [("fd", (*fd).into()), ("sock", (*sock).into())]);
        let thread = contexts.then(|| ("context.vtid", FieldValue::from(10)));
        program.event(0, at, name, &fds.chain(thread).collect::<Vec<_>>());
    }
    let [kernel, user_space] = ["kernel", "ust"].map(|name| directory.join(name));
    fs::create_dir(&user_space).unwrap();
    program.write(&user_space).unwrap();
    if let Some(host) = host {
        fs::create_dir(&kernel).unwrap();
        host.write(&kernel).unwrap();
    }
}

/// Each event that is shown: its time in ns, its name and what is said of it; and what is remarked.
fn explained(directory: &Path, arguments: &[&str]) -> (Vec<String>, String) {
    let cache = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
    command.env("XDG_CACHE_HOME", cache.path()).args(["events", "--explain"]).args(arguments).arg(directory);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = |line: &str| {
        let name = line.split(" h1 ").nth(1).unwrap().split(':').take_while(|part| !part.starts_with(' '));
        let (_, explanation) = line.split_once(" # ").unwrap();
        format!("{} {} # {explanation}", &line[16..19], name.collect::<Vec<_>>().join(":"))
    };
    let lines = String::from_utf8(output.stdout).unwrap().lines().map(shown).collect();
    (lines, String::from_utf8(output.stderr).unwrap())
}

/// Thread 10 reads from 100 to 146: it waits for 20 from 101 to 141 and for the CPU until 145. From 160 to
/// 180 thread 20 has its CPU.
fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "web").process(20, "db");
    host.at(50).dump_process(10).dump_file(10, 3, 0, "/data/x");
    host.at(90).switch(0, 10);
    host.at(100).enter("read", &[("fd", 3.into()), ("count", 8.into())]).after(1).switch(10, 20);
    host.at(141).wake(10, 0).after(4).switch(20, 10).after(1).exit("read", 8);
    host.at(160).preempt(10, 20).after(20).switch(20, 10);
    host.at(190).enter("openat", &[("dfd", (-100).into()), ("filename", "/data/y".into())]);
    host.at(191).exit("openat", 4);
    host.at(210).enter("close", &[("fd", 4.into())]).after(1).exit("close", 0);
    host.at(220).enter("futex", &[]).after(1).switch(10, 0);
    host
}

const PROGRAM: [OfProgram<'_>; 4] = [
    (95, "shop:request_begin", None),
    (150, "shop:failed", Some([3, 4])),
    (200, "shop:request_end", None),
    (205, "shop:failed", Some([3, 4])),
];

#[test]
fn threads_calls_descriptors_and_times() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), Some(&host()), &PROGRAM, true);
    let (lines, _) =
        explained(directory.path(), &["--event", "s*", "--begin", "0.000000091", "--fd-field", "sock"]);
    let request = "disk /data/x 40 ns (ended by db 20/20), cpu user 38 ns, \
                   wait-cpu 20 ns (preempted by db 20/20), wait-cpu 4 ns (behind db 20/20), cpu system 3 ns";
    let read = "disk /data/x 40 ns (ended by db 20/20), wait-cpu 4 ns (behind db 20/20), cpu system 2 ns";
    let expect = [
        "095 shop:request_begin # web 10/10",
        "100 syscall_entry_read # web 10/10 in read(3</data/x>)",
        "101 sched_switch # web 10/10 in read(3</data/x>) for 1 ns",
        "141 sched_waking # db 20/20",
        "145 sched_switch # db 20/20",
        &format!("146 syscall_exit_read # web 10/10 in read(3</data/x>); read took 46 ns: {read}"),
        "150 shop:failed # web 10/10; fd=3</data/x>; sock=4<?>",
        "160 sched_switch # web 10/10",
        "180 sched_switch # db 20/20",
        "190 syscall_entry_openat # web 10/10 in openat()",
        "191 syscall_exit_openat # web 10/10 in openat(); ret=4</data/y>; openat took 1 ns: cpu system 1 ns",
        &format!("200 shop:request_end # web 10/10; shop:request took 105 ns: {request}"),
        "205 shop:failed # web 10/10; fd=3</data/x>; sock=4</data/y>",
        "210 syscall_entry_close # web 10/10 in close(4</data/y>)",
        "211 syscall_exit_close # web 10/10 in close(4</data/y>); close took 1 ns: cpu system 1 ns",
        "220 syscall_entry_futex # web 10/10 in futex()",
        "221 sched_switch # web 10/10 in futex() for 1 ns",
    ];
    assert_eq!(lines, expect);
    // What is filtered is explained as it is among all.
    for arguments in [
        &["--event", "shop:*"][..],
        &["--where", "$event == \"shop:request_end\""],
        &["--begin", "0.000000145"],
    ] {
        let (some, _) = explained(directory.path(), &[arguments, &["--fd-field", "sock"]].concat());
        assert!(!some.is_empty(), "{arguments:?}");
        let is_known = |line: &&String| line[..3] >= *"095";
        for line in some.iter().filter(is_known) {
            assert!(lines.contains(line), "{arguments:?}: {line}");
        }
    }
}

#[test]
fn what_was_not_recorded() {
    let check = |host: Option<&KernelScript>, contexts: bool, expect: &[&str], notes: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), host, &PROGRAM, contexts);
        let (lines, remarks) = explained(directory.path(), &["--event", "shop:*"]);
        assert_eq!(lines, expect, "{remarks}");
        for note in notes {
            assert!(remarks.contains(note), "{note}: {remarks}");
        }
    };
    // The number of a program's thread may be that of a namespace: it is no thread of the host.
    let unknown = [
        "095 shop:request_begin # ?",
        "150 shop:failed # ?",
        "200 shop:request_end # ?",
        "205 shop:failed # ?",
    ];
    let switches = "lttng enable-event --kernel sched_switch";
    check(
        Some(&host().untraced(&["sched_switch"])),
        true,
        &unknown,
        &[switches, "which thread ran at the time of 4 events"],
    );
    // The kernel's switches say whose they are.
    let closed = host().untraced(&["syscall_entry_openat", "syscall_exit_openat"]);
    let nameless = [
        "095 shop:request_begin # web 10/10",
        "150 shop:failed # web 10/10; fd=3</data/x>",
        "200 shop:request_end # web 10/10; shop:request took 105 ns: \
         disk /data/x 40 ns (ended by db 20/20), cpu user or system 39 ns, \
         wait-cpu 20 ns (preempted by db 20/20), wait-cpu 4 ns (behind db 20/20), \
         cpu system 2 ns",
        "205 shop:failed # web 10/10; fd=3</data/x>",
    ];
    check(Some(&closed), false, &nameless, &["not all system calls were recorded"]);
    let alone = [
        "095 shop:request_begin # ? ?/10",
        "150 shop:failed # ? ?/10; fd=3<?>",
        "200 shop:request_end # ? ?/10; shop:request took 105 ns: unknown 105 ns",
        "205 shop:failed # ? ?/10; fd=3<?>",
    ];
    check(None, true, &alone, &["h1: its kernel was not traced"]);
}

/// Events are lost from 148 on: the descriptor may be another one since, and who ran then is not known.
#[test]
fn lost_events() {
    let mut host = host();
    host.lose(0, 148, 152, 2);
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), Some(&host), &PROGRAM, true);
    let (lines, remarks) = explained(directory.path(), &["--event", "shop:*"]);
    let expect = [
        "095 shop:request_begin # web 10/10",
        "150 shop:failed # web 10/10; fd=3</data/x>?",
        "200 shop:request_end # ?",
        "205 shop:failed # ?",
    ];
    assert_eq!(lines, expect, "{remarks}");
    assert!(remarks.contains("h1: no event says which thread ran at the time of 2 events"), "{remarks}");
}

/// A period ends with an event that ends nothing else.
#[test]
fn periods() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), Some(&host()), &PROGRAM, true);
    let period = r#"work : $event == "syscall_entry_read" : $event == "syscall_entry_openat""#;
    let (lines, _) = explained(directory.path(), &["--event", "syscall_*_openat", "--period", period]);
    let work = "work took 90 ns: disk /data/x 40 ns (ended by db 20/20), cpu user 24 ns, \
                wait-cpu 20 ns (preempted by db 20/20), wait-cpu 4 ns (behind db 20/20), cpu system 2 ns";
    assert_eq!(lines[0], format!("190 syscall_entry_openat # web 10/10 in openat(); {work}"));
}

/// A name in a trace controls no terminal, and JSON and CSV have the same.
#[test]
fn other_formats() {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "web\u{1b}").at(50).dump_process(10).dump_file(10, 3, 0, "/data/\"x\",\u{1b}");
    host.at(90).switch(0, 10).after(10).enter("read", &[("fd", 3.into())]).after(5).exit("read", 8);
    let directory = tempfile::tempdir().unwrap();
    host.write(directory.path()).unwrap();
    let cache = tempfile::tempdir().unwrap();
    let shown = |format: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isochrone"));
        command.env("XDG_CACHE_HOME", cache.path()).args([
            "events",
            "-q",
            "--explain",
            "--event",
            "*read",
            "--format",
            format,
        ]);
        let output = command.arg(directory.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = shown("text");
    assert!(
        text.contains(r#" # web\u{1b} 10/10 in read(3</data/"x",\u{1b}>); read took 5 ns: cpu system 5 ns"#),
        "{text}"
    );
    let thread =
        r#"{"thread":{"pid":10,"tid":10,"comm":"web\u001b","process":"web\u001b"},"state":"syscall","#;
    let file =
        r#"{"fd":3,"kind":"file","name":"/data/\"x\",\u001b","local":null,"peer":null,"doubtful":false}"#;
    let call = format!(r#""call":{{"name":"read","begin_ns":100,"sure":true,"fd":{file}}},"fds":[],"#);
    let took = concat!(
        r#""took":[{"name":"read","begin_ns":100,"total_ns":5,"#,
        r#""parts":[{"cause":"cpu","detail":"system","count":1,"total_ns":5}]}]}"#
    );
    let object = [thread, &call, took].concat();
    let json = shown("json");
    assert!(json.lines().nth(1).unwrap().ends_with(&format!(",\"explained\":{object}}}")), "{json}");
    let csv = shown("csv");
    assert!(csv.lines().next().unwrap().ends_with(",payload,explained"), "{csv}");
    assert!(csv.lines().nth(2).unwrap().ends_with(&format!(",\"{}\"", object.replace('"', "\"\""))), "{csv}");
}
