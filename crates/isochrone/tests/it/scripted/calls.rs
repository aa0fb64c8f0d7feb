//! `syscallstats` and `syscalls`: system calls counted, and as lines.

use isochrone_testkit::Generation::{self, V2_1, V2_8, V2_13};
use isochrone_testkit::KernelScript;

use super::run::{analyze, call, check};

const STATS: &str = "tid comm syscall count total_ns min_ns max_ns errors";
const LINES: &str = "begin_ns end_ns duration_ns tid line";

/// Thread 10 is in a call when the trace begins, opens `/x` and fills the disk; thread 20 waits for it at the end.
fn host(generation: Generation) -> KernelScript {
    let mut host = KernelScript::new("h1", generation).cpus(2);
    host.process(10, "web").process(20, "db");
    host.at(100).cpu(0).switch(0, 10).cpu(1).switch(0, 20);
    host.at(105).exit("read", 5);
    let fields =
        [("dfd", (-100).into()), ("filename", "/x".into()), ("flags", 0o1101.into()), ("mode", 0o644.into())];
    host.at(110).enter("openat", &fields).after(4).exit("openat", 3);
    let fields = [("fd", 3.into()), ("buf", 0x7000.into()), ("count", 512.into())];
    host.at(120).enter("write", &fields).after(10).exit("write", 512);
    host.at(140).enter("write", &fields).after(30).exit("write", -28);
    call(&mut host, 180, "close", &[("fd", 3.into())], 0);
    host.at(190).cpu(1).enter("wait4", &[("upid", 10.into())]).switch(20, 0);
    host.at(200).page_alloc(0);
    host
}

#[test]
fn counted() {
    for generation in Generation::ALL {
        let host = host(generation);
        let rows = ["10 web write 2 40 10 30 1", "10 web openat 1 4 4 4 0", "10 web close 1 1 1 1 0"];
        check(&host, "syscallstats --table syscalls", STATS, &rows);
        let rows = ["close success 1", "openat success 1", "write success 1", "write ENOSPC 1"];
        check(&host, "syscallstats --table returns", "syscall result count", &rows);
        check(&host, "syscallstats --table totals", "tid count total_ns errors", &["10 4 45 1"]);
        // Old tracers do not name what they left.
        let read = if generation.names_exits() { "10 web read 0 1" } else { "10 web ? 0 1" };
        let rows = ["20 db wait4 1 0", read];
        check(&host, "syscallstats --table unfinished", "tid comm syscall entries exits", &rows);
    }
}

#[test]
fn counted_in_part() {
    let host = host(V2_13);
    let check = |arguments: &str, expect: &[&str]| {
        check(&host, &format!("syscallstats {arguments}"), "syscall count total_ns", expect);
    };
    check("--min 5ns", &["write 2 40"]);
    check("--min 11", &["write 1 30"]);
    check("--max 4", &["openat 1 4", "close 1 1"]);
    check("--min 4 --max 10ns", &["write 1 10", "openat 1 4"]);
    check("--min 1us", &[]);
    // Those count that end there.
    check("--begin @130 --end @170", &["write 1 10"]);
    check("--begin @131 --end @171", &["write 1 30"]);
    check("--tid 20", &[]);
    check("--procname w?b --min 30", &["write 1 30"]);
    check("--cpu 1", &[]);
}

/// Two threads of a process call `read` five times: 1, 2, 3, 4 and 100 ns. Quantiles are those of the nearest rank, at most 1/16 above.
#[test]
fn by_process_and_by_name() {
    let mut host = KernelScript::new("h1", V2_13).contexts(true);
    host.process(10, "web").thread(11, 10, "pool").at(90).switch(0, 10);
    for (at, ns) in [(100, 4), (110, 1), (120, 3)] {
        host.at(at).enter("read", &[("fd", 3.into())]).after(ns).exit("read", 8);
    }
    host.at(200).switch(10, 11);
    for (at, ns) in [(210, 100), (320, 2)] {
        host.at(at).enter("read", &[("fd", 3.into())]).after(ns).exit("read", -11);
    }
    let columns = "tid comm syscall count total_ns min_ns max_ns errors";
    let rows = ["11 pool read 2 102 2 100 2", "10 web read 3 8 1 4 0"];
    check(&host, "syscallstats --table syscalls", columns, &rows);
    check(&host, "syscallstats --table syscalls --by-process", columns, &["10 web read 5 110 1 100 2"]);
    let columns = "syscall count min_ns avg_ns p50_ns max_ns";
    check(&host, "syscallstats --table names", columns, &["read 5 1 22 3 100"]);
}

#[test]
fn as_lines() {
    let opened = r#"110 114 4 10 openat(AT_FDCWD, "/x", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3</x>"#;
    let rows = [
        "? 105 ? 10 read(...) = ...",
        opened,
        "120 130 10 10 write(3</x>, 0x7000, 512) = 512",
        "140 170 30 10 write(3</x>, 0x7000, 512) = -1 ENOSPC (No space left on device)",
        "180 181 1 10 close(3</x>) = 0",
        "190 ? ? 20 wait4(...) = ?",
    ];
    for generation in [V2_8, V2_13] {
        check(&host(generation), "syscalls", LINES, &rows);
    }
    let mut old = rows;
    old[0] = "? 105 ? 10 ?(...) = ...";
    check(&host(V2_1), "syscalls", LINES, &old);

    let host = host(V2_13);
    let check =
        |arguments: &str, expect: &[&str]| check(&host, &format!("syscalls {arguments}"), LINES, expect);
    check("--errno ENOSPC", &rows[3..4]);
    check("--errno 28,2", &rows[3..4]);
    check("--errno ENOENT", &[]);
    check("--call openat,close", &[rows[1], rows[4]]);
    check("--call write --min 20", &rows[3..4]);
    check("--tid 20", &rows[5..]);
    check("--procname d*", &rows[5..]);
    check("--cpu 0", &rows[1..5]);
    check("--begin @115 --end @171", &rows[2..4]);
}

#[test]
fn at_an_instant() {
    let host = host(V2_13);
    let check = |arguments: &str, columns: &str, expect: &[&str]| {
        check(&host, &format!("syscalls {arguments}"), columns, expect);
    };
    let line = "140 170 30 10 write(3</x>, 0x7000, 512) = -1 ENOSPC (No space left on device)";
    check("--at @150", LINES, &[line]);
    check("--at @170", LINES, &[]);
    check("--at @102", LINES, &["? ? ? 10 read(...) = ?"]);
    check("--at @195", LINES, &["190 ? ? 20 wait4(...) = ?"]);
    let running = "at_ns cpu tid comm since_ns mode syscall syscall_since_ns";
    let rows = ["150 0 10 web 100 syscall write 140", "150 1 20 db 100 user ? ?"];
    check("--at @150 --table running", running, &rows);
}

#[test]
fn what_else_ran_when_calls_ended() {
    let running = "at_ns cpu tid comm since_ns mode";
    let rows = ["170 0 10 web 100 ?", "170 1 20 db 100 ?"];
    check(&host(V2_13), "syscalls --errno ENOSPC --around --table running", running, &rows);
}

#[test]
fn of_calls_of_other_sizes_and_ages() {
    let mut host = KernelScript::new("h1", V2_13);
    host.process(10, "old").at(1).switch(0, 10);
    call(&mut host, 10, "compat_open", &[("filename", "/x".into())], 3);
    call(&mut host, 20, "memfd_create", &[("uname", "m".into())], 4);
    let rows = ["memfd_create 1", "open 1"];
    check(&host, "syscallstats", "syscall count", &rows);
    let said = analyze(&[&host], "syscalls --format csv --call memfd_create");
    assert_eq!(said.stdout.lines().count(), 2, "{}", said.stdout);
}
