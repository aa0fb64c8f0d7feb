//! `fds`: descriptors that are opened, duplicated and closed: the rules of one table of descriptors.

use isochrone_testkit::Generation::{self, V2_1, V2_8, V2_13, V2_14};
use isochrone_testkit::KernelScript;

use super::run::{analyze, call, check, rows};

/// Bits of `open`'s flags.
pub(super) const CLOEXEC: i32 = 0o200_0000;
pub(super) const DIRECTORY: i32 = 0o20_0000;
const F_DUPFD: i32 = 0;
const F_SETFD: i32 = 2;
const F_DUPFD_CLOEXEC: i32 = 1030;
/// What tests compare.
pub(super) const COLUMNS: &str = "tid fd name begin_ns end_ns opened_by closed_by";

/// Process 10 runs from 1 on.
pub(super) fn host(generation: Generation) -> KernelScript {
    let mut host = KernelScript::new("h1", generation);
    host.process(10, "sh").at(1).switch(0, 10);
    host
}

/// The running thread opens a file; its descriptor is there 1 ns later.
pub(super) fn open(host: &mut KernelScript, at: u64, path: &str, flags: i32, fd: i64) {
    let fields = [("dfd", (-100).into()), ("filename", path.into()), ("flags", flags.into())];
    call(host, at, "openat", &fields, fd);
}

pub(super) fn close(host: &mut KernelScript, at: u64, fd: i32) {
    call(host, at, "close", &[("fd", fd.into())], 0);
}

/// The running thread gets another program.
pub(super) fn exec(host: &mut KernelScript, at: u64) {
    host.at(at).enter("execve", &[("filename", "/bin/ls".into())]).exec("/bin/ls").after(1).exit("execve", 0);
}

/// Compares what became of the descriptors of a host in each of some generations, whatever the order. The trace ends
/// at 100.
pub(super) fn files(generations: &[Generation], act: impl Fn(&mut KernelScript), expect: &[&str]) {
    for &generation in generations {
        let mut host = host(generation);
        act(&mut host);
        host.at(100).irq_entry(1, "timer").irq_exit(1);
        let said = analyze(&[&host], "fds --format json");
        let mut rows = rows(&said.stdout, COLUMNS);
        rows.sort();
        let mut expect = expect.to_vec();
        expect.sort_unstable();
        assert_eq!(rows, expect, "{generation:?}");
    }
}

/// Opens `/x` as 3, ready at 11.
fn with_x(act: impl Fn(&mut KernelScript)) -> impl Fn(&mut KernelScript) {
    move |host| {
        open(host, 10, "/x", 0, 3);
        act(host);
    }
}

#[test]
fn opened_and_closed() {
    files(&Generation::ALL, with_x(|host| close(host, 20, 3)), &["10 3 /x 11 21 openat close"]);
    files(&Generation::ALL, with_x(|_| ()), &["10 3 /x 11 ? openat ?"]);
    // It was there before.
    files(&Generation::ALL, |host| close(host, 20, 3), &["10 3 ? ? 21 ? close"]);
    let other_ways = |host: &mut KernelScript| {
        call(host, 10, "open", &[("filename", "/a".into())], 3);
        call(host, 20, "creat", &[("pathname", "/b".into())], 4);
    };
    files(&Generation::ALL, other_ways, &["10 3 /a 11 ? open ?", "10 4 /b 21 ? creat ?"]);
}

#[test]
fn calls_that_fail_do_nothing() {
    files(&Generation::ALL, |host| open(host, 10, "/x", 0, -2), &[]);
    let fails = |name: &'static str, fields: &'static [(&'static str, i32)], ret: i64| {
        with_x(move |host| {
            let fields: Vec<_> = fields.iter().map(|&(name, value)| (name, value.into())).collect();
            call(host, 20, name, &fields, ret);
        })
    };
    let still = ["10 3 /x 11 ? openat ?"];
    files(&[V2_1, V2_8, V2_14], fails("close", &[("fd", 3)], -9), &still);
    files(&[V2_1, V2_8, V2_14], fails("dup2", &[("oldfd", 9), ("newfd", 3)], -9), &still);
    files(&[V2_1, V2_8, V2_14], fails("dup", &[("fildes", 3)], -24), &still);
    files(&[V2_1, V2_8, V2_14], fails("socket", &[("family", 2)], -97), &still);
    files(&[V2_8, V2_13, V2_14], fails("close_range", &[("fd", 3), ("max_fd", 9)], -22), &still);
    // A signal interrupted it, but what it was to close is closed.
    files(&[V2_1, V2_14], fails("close", &[("fd", 3)], -4), &["10 3 /x 11 21 openat close"]);
}

#[test]
fn duplicates_are_of_the_same_file() {
    let dup = with_x(|host| call(host, 20, "dup", &[("fildes", 3.into())], 4));
    files(&Generation::ALL, dup, &["10 3 /x 11 ? openat ?", "10 4 /x 21 ? dup ?"]);
    let onto_an_open_one = with_x(|host| {
        open(host, 20, "/y", 0, 4);
        call(host, 30, "dup2", &[("oldfd", 3.into()), ("newfd", 4.into())], 4);
    });
    let expect = ["10 3 /x 11 ? openat ?", "10 4 /y 21 31 openat dup", "10 4 /x 31 ? dup2 ?"];
    files(&Generation::ALL, onto_an_open_one, &expect);
    // Onto itself: nothing happens.
    let itself = with_x(|host| call(host, 20, "dup2", &[("oldfd", 3.into()), ("newfd", 3.into())], 3));
    files(&Generation::ALL, itself, &["10 3 /x 11 ? openat ?"]);
    let fcntl = with_x(|host| {
        let fields = [("fd", 3.into()), ("cmd", F_DUPFD.into()), ("arg", 10.into())];
        call(host, 20, "fcntl", &fields, 10);
    });
    files(&Generation::ALL, fcntl, &["10 3 /x 11 ? openat ?", "10 10 /x 21 ? fcntl ?"]);
}

#[test]
fn a_new_program_gets_what_is_not_marked() {
    let marks = |host: &mut KernelScript| {
        open(host, 10, "/plain", 0, 3);
        open(host, 12, "/marked", CLOEXEC, 4);
        call(host, 14, "dup", &[("fildes", 4.into())], 5);
        call(host, 16, "dup3", &[("oldfd", 3.into()), ("newfd", 6.into()), ("flags", CLOEXEC.into())], 6);
        let fcntl =
            |cmd: i32, fd: i32, arg: i32| [("fd", fd.into()), ("cmd", cmd.into()), ("arg", arg.into())];
        call(host, 18, "fcntl", &fcntl(F_DUPFD_CLOEXEC, 3, 7), 7);
        open(host, 20, "/later", 0, 8);
        call(host, 22, "fcntl", &fcntl(F_SETFD, 8, 1), 0);
        open(host, 24, "/no-more", CLOEXEC, 9);
        call(host, 26, "fcntl", &fcntl(F_SETFD, 9, 0), 0);
        exec(host, 30);
    };
    let expect = [
        "10 3 /plain 11 ? openat ?",
        "10 4 /marked 13 30 openat exec",
        "10 5 /marked 15 ? dup ?",
        "10 6 /plain 17 30 dup3 exec",
        "10 7 /plain 19 30 fcntl exec",
        "10 8 /later 21 30 openat exec",
        "10 9 /no-more 25 ? openat ?",
    ];
    files(&Generation::ALL, marks, &expect);
}

#[test]
fn paths_begin_at_directories() {
    let beneath = |host: &mut KernelScript| {
        open(host, 10, "/etc", DIRECTORY, 3);
        let at = |dfd: i32, path: &str| [("dfd", dfd.into()), ("filename", path.into())];
        call(host, 12, "openat", &at(3, "passwd"), 4);
        call(host, 14, "openat", &at(3, "/abs"), 5);
        call(host, 16, "openat", &at(-100, "here"), 6);
        // Nobody knows what 9 is.
        call(host, 18, "openat", &at(9, "x"), 7);
    };
    let expect = [
        "10 3 /etc 11 ? openat ?",
        "10 4 /etc/passwd 13 ? openat ?",
        "10 5 /abs 15 ? openat ?",
        "10 6 here 17 ? openat ?",
        "10 7 fd 9 → x 19 ? openat ?",
    ];
    files(&Generation::ALL, beneath, &expect);
}

#[test]
fn ranges_are_closed() {
    let range = |first: i32, last: u32, flags: u32| {
        move |host: &mut KernelScript| {
            for (at, path, fd) in [(10, "/x", 3), (12, "/y", 4), (14, "/z", 5)] {
                open(host, at, path, 0, fd);
            }
            let fields = [("fd", first.into()), ("max_fd", last.into()), ("flags", flags.into())];
            call(host, 20, "close_range", &fields, 0);
            exec(host, 30);
        }
    };
    // Tracers before 2.14 tell its number and its arguments only.
    let young = [V2_8, V2_13, V2_14];
    let [x, z] = ["10 3 /x 11 ? openat ?", "10 5 /z 15 ? openat ?"];
    let closed = [x, "10 4 /y 13 21 openat close_range", "10 5 /z 15 21 openat close_range"];
    files(&young, range(4, u32::MAX, 0), &closed);
    files(&young, range(4, 4, 0), &[x, closed[1], z]);
    files(&young, range(4, 4, 4), &[x, "10 4 /y 13 30 openat exec", z]);
}

#[test]
fn a_state_dump_shows_what_was_open() {
    let dumped = |host: &mut KernelScript| {
        host.at(5).dump().dump_file(10, 0, 2, "/dev/pts/1").dump_file(10, 3, 0, "/etc/hosts");
        call(host, 10, "read", &[("fd", 3.into())], 7);
        close(host, 20, 3);
    };
    let expect = ["10 0 /dev/pts/1 ? ? before the trace ?", "10 3 /etc/hosts ? 21 before the trace close"];
    files(&Generation::ALL, dumped, &expect);
    // Used, and told of later.
    let late = |host: &mut KernelScript| {
        call(host, 2, "read", &[("fd", 3.into())], 7);
        host.at(5).dump().dump_file(10, 3, 0, "/etc/hosts");
    };
    files(&Generation::ALL, late, &["10 3 /etc/hosts ? ? ? ?"]);
}

#[test]
fn what_went_through_is_counted() {
    for generation in Generation::ALL {
        let mut host = host(generation);
        open(&mut host, 10, "/x", 0, 3);
        call(&mut host, 12, "read", &[("fd", 3.into())], 100);
        call(&mut host, 14, "pread64", &[("fd", 3.into())], 20);
        call(&mut host, 16, "write", &[("fd", 3.into())], 5);
        call(&mut host, 18, "write", &[("fd", 3.into())], -28);
        call(&mut host, 20, "fsync", &[("fd", 3.into())], 0);
        let sendfile = [("out_fd", 4.into()), ("in_fd", 3.into())];
        call(&mut host, 22, "sendfile64", &sendfile, 50);
        let columns = "fd reads read_bytes writes written_bytes others errors";
        check(&host, "fds", columns, &["3 3 170 1 5 1 1", "4 0 0 1 50 0 0"]);
    }
}

/// From 20 to 40 events are lost. Nobody knows whether what is closed at 50 is `/x`, nor whether somebody else shares the table since then.
#[test]
fn what_was_open_while_events_were_lost() {
    let mut host = host(V2_13);
    open(&mut host, 10, "/x", 0, 3);
    open(&mut host, 12, "/y", 0, 4);
    close(&mut host, 14, 4);
    call(&mut host, 30, "getpid", &[], 10);
    host.lose(0, 20, 35, 2).at(40);
    host.new_packet(0);
    close(&mut host, 50, 3);
    open(&mut host, 60, "/z", 0, 3);
    let expect = ["3 /x 11 ? yes", "3 /z 61 ? yes", "3 ? ? 51 yes", "4 /y 13 15 no"];
    let said = analyze(&[&host], "fds --format json");
    let mut found = rows(&said.stdout, "fd name begin_ns end_ns doubtful");
    found.sort();
    assert_eq!(found, expect);
}

#[test]
fn at_an_instant_what_was_open_then() {
    let mut host = host(V2_13);
    open(&mut host, 10, "/x", 0, 3);
    open(&mut host, 20, "/y", 0, 4);
    close(&mut host, 30, 3);
    close(&mut host, 40, 5);
    let [x, y, five] = ["10 3 /x 11 31 openat close", "10 4 /y 21 ? openat ?", "10 5 ? ? 41 ? close"];
    let at = |at: &str, expect: &[&str]| check(&host, &format!("fds --at @{at}"), COLUMNS, expect);
    at("10", &[five]);
    at("11", &[x, five]);
    at("25", &[x, y, five]);
    at("31", &[y, five]);
    at("40", &[y, five]);
    check(&host, "fds --fd 3,5", COLUMNS, &[x, five]);
    check(&host, "fds --tid 11", COLUMNS, &[]);
    // In a window, those that were seen to be open for some of it.
    check(&host, "fds --begin @32 --end @42", COLUMNS, &[y, five]);
}
