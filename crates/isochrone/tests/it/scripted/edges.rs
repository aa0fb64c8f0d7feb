//! What a user meets who asks for what is not there.

use std::fs;

use isochrone_testkit::{Generation, KernelScript, LttngTrace};

use super::run::{analyze, analyze_in, check};

/// From 100 to 200.
fn host(name: &str) -> KernelScript {
    let mut host = KernelScript::new(name, Generation::V2_13);
    host.process(10, "sh").at(100).switch(0, 10);
    host.at(200).switch(10, 0);
    host
}

/// Looks for a text in what is said of one host, and compares the status.
fn refused(arguments: &str, status: i32, stderr: &str) {
    let said = analyze(&[&host("h1")], arguments);
    assert_eq!(said.status, Some(status), "{arguments}: {}", said.stderr);
    assert!(said.stderr.contains(stderr), "{arguments}: {}", said.stderr);
}

#[test]
fn mistakes_are_named() {
    refused("cputop --host h2", 2, "no host is called `h2`; there are h1");
    refused("cputop --table tables", 2, "no table is called `tables`; there are processes, cpus, total");
    refused("schedtop --min 3days", 2, "unknown unit: give ns, us, ms or s");
    refused("schedtop --min 1.5", 2, "not a valid duration: give one such as 250us or 1.5ms");
    refused("syscalls --errno ENOTHING", 2, "unknown errno `ENOTHING`");
    refused("cpu", 2, "invalid value 'cpu' for '<NAME>'");
    refused("cputop --at @150 --begin @100", 2, "cannot be used with");
    refused("cputop --begin soon", 2, "invalid value 'soon' for '--begin <TIME>'");
    refused("irqfreq --bars 0", 2, "not a number from 1 to 1000");
    refused("cputop --chunks 0", 2, "invalid value '0' for '--chunks <N>'");
}

#[test]
fn nothing_is_there_at_other_times() {
    let outside = "outside the traces, which run from 1970-01-01 00:00:00.000000100 to 1970-01-01 00:00:00.000000200 UTC";
    for arguments in [
        "cputop --begin @1000",
        "cputop --end @50",
        "fds --at @50",
        "syscalls --at @1000",
        "processes --at @99",
    ] {
        refused(arguments, 2, outside);
    }
    // Windows that reach over an end of the traces are cut.
    check(&host("h1"), "cputop --begin @50 --end @150", "tid cpu_ns", &["10 50"]);
}

#[test]
fn traces_without_what_is_asked_for() {
    // Only user space was traced.
    let directory = tempfile::tempdir().unwrap();
    let mut ust = LttngTrace::user_space("h1");
    ust.define("app:work", "");
    ust.event(0, 100, "app:work", &[]).event(0, 200, "app:work", &[]);
    ust.write(directory.path()).unwrap();
    let said = analyze_in(directory.path(), "cputop --format csv --table cpus");
    assert_eq!(said.stdout, "host,cpu,busy_ns,idle_ns,unknown_ns,percent\n");
    assert_eq!(said.status, Some(0), "{}", said.stderr);
    // No calls were traced, no interrupts.
    let nothing = host("h1");
    check(&nothing, "syscallstats", "syscall", &[]);
    check(&nothing, "irqstats", "number", &[]);
    check(&nothing, "schedstats", "count total_ns", &["0 0"]);
    // Not a single event.
    let empty = KernelScript::new("h1", Generation::V2_13);
    check(&empty, "cputop", "tid", &[]);
    check(&empty, "processes --at @5", "tid", &[]);
    let said = analyze(&[&empty], "cputop");
    assert!(said.stdout.starts_with("cputop: no events"), "{}", said.stdout);
}

#[test]
fn no_trace_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let said = analyze_in(directory.path(), "cputop");
    assert_eq!(said.status, Some(2), "{}", said.stderr);
    let said = analyze_in(&directory.path().join("none"), "cputop");
    assert_eq!(said.status, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("none: no such file or directory"), "{}", said.stderr);
}

#[test]
fn broken_traces_are_done_in_part() {
    let directory = tempfile::tempdir().unwrap();
    let mut script = KernelScript::new("h1", Generation::V2_13).packet_events(1);
    script.process(10, "sh").at(100).switch(0, 10);
    script.at(200).switch(10, 0);
    script.at(300).switch(0, 10);
    script.at(400).switch(10, 0);
    script.write(directory.path()).unwrap();
    let stream = directory.path().join("ch_0");
    let bytes = fs::read(&stream).unwrap();
    fs::write(&stream, &bytes[..bytes.len() - 10]).unwrap();
    let said = analyze_in(directory.path(), "cputop --format csv --table cpus");
    assert!(said.stderr.contains("ch_0"), "{}", said.stderr);
    assert_eq!(said.status, Some(1), "{}", said.stderr);
}
