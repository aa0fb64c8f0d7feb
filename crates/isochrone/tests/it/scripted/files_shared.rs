//! `fds`: tables of descriptors that threads and processes share, copy and leave.

use isochrone_testkit::Generation::{self, V2_5, V2_8, V2_13, V2_14};
use isochrone_testkit::KernelScript;

use super::files::{CLOEXEC, close, files, open};

/// What `pthread_create` asks for: memory, files, a thread of the same process.
const THREAD: u32 = 0x100 | 0x400 | 0x1_0000;
const FILES: u32 = 0x400;
/// The signal that tells of a child's end.
const SIGCHLD: u32 = 17;
/// Those whose forks tell of processes.
const TOLD: [Generation; 4] = [V2_5, V2_8, V2_13, V2_14];

/// Process 10 opens `/x` as 3 at 11 and `/y`, to be closed at an exec, as 4 at 13. It makes a thread 11 at 20, which
/// runs from 25 on and returns from the call at 26.
fn made(pid: i32, flags: u32, act: impl Fn(&mut KernelScript)) -> impl Fn(&mut KernelScript) {
    move |host| {
        open(host, 10, "/x", 0, 3);
        open(host, 12, "/y", CLOEXEC, 4);
        let fields = [("flags", flags.into()), ("clone_flags", flags.into())];
        host.at(18).enter("clone", &fields);
        host.at(20).fork(10, 11, pid).wakeup_new(11, 0).after(1).exit("clone", 11);
        host.at(25).preempt(10, 11).after(1).exit("clone", 0);
        act(host);
    }
}

/// Thread 11 ends, 10 goes on.
fn ends(host: &mut KernelScript, at: u64) {
    host.at(at).process_exit().after(1).switch_dead(11, 10);
}

#[test]
fn a_child_process_has_a_copy() {
    let child = made(11, SIGCHLD, |host| {
        close(host, 30, 3);
        host.at(40).preempt(11, 10);
        close(host, 50, 4);
    });
    let expect = [
        "10 3 /x 11 ? openat ?",
        "10 4 /y 13 51 openat close",
        "11 3 /x 20 31 inherited close",
        "11 4 /y 20 ? inherited ?",
    ];
    files(&Generation::ALL, child, &expect);
}

#[test]
fn a_thread_shares() {
    let thread = made(10, THREAD, |host| {
        close(host, 30, 3);
        open(host, 32, "/z", 0, 3);
        host.at(40).preempt(11, 10);
        close(host, 50, 3);
    });
    let expect = ["10 3 /x 11 31 openat close", "11 3 /z 33 51 openat close", "10 4 /y 13 ? openat ?"];
    files(&TOLD, thread, &expect);
}

#[test]
fn a_process_may_share_too() {
    let process = made(11, FILES | SIGCHLD, |host| {
        close(host, 30, 3);
        host.at(40).preempt(11, 10);
        close(host, 50, 4);
    });
    files(&Generation::ALL, process, &["10 3 /x 11 31 openat close", "10 4 /y 13 51 openat close"]);
}

#[test]
fn what_is_shared_is_parted_by_unshare_and_exec() {
    let unshared = made(11, FILES | SIGCHLD, |host| {
        super::run::call(host, 30, "unshare", &[("unshare_flags", FILES.into())], 0);
        close(host, 40, 3);
    });
    let expect = [
        "10 3 /x 11 ? openat ?",
        "10 4 /y 13 ? openat ?",
        "11 3 /x 31 41 inherited close",
        "11 4 /y 31 ? inherited ?",
    ];
    files(&Generation::ALL, unshared, &expect);
    let exec = made(11, FILES | SIGCHLD, |host| super::files::exec(host, 30));
    let expect = [
        "10 3 /x 11 ? openat ?",
        "10 4 /y 13 ? openat ?",
        "11 3 /x 30 ? inherited ?",
        "11 4 /y 30 30 inherited exec",
    ];
    files(&Generation::ALL, exec, &expect);
}

#[test]
fn the_end_of_the_last_one_closes_all() {
    let child = made(11, SIGCHLD, |host| ends(host, 30));
    let expect = [
        "10 3 /x 11 ? openat ?",
        "10 4 /y 13 ? openat ?",
        "11 3 /x 20 30 inherited exit",
        "11 4 /y 20 30 inherited exit",
    ];
    files(&Generation::ALL, child, &expect);
    // Of a thread: others go on using it.
    let thread = made(10, THREAD, |host| {
        ends(host, 30);
        host.at(60).process_exit().switch_dead(10, 0);
    });
    files(&TOLD, thread, &["10 3 /x 11 60 openat exit", "10 4 /y 13 60 openat exit"]);
}

#[test]
fn calls_that_show_no_flags() {
    // Tracers before 2.14 tell the number of these calls only.
    let forked = |call: &'static str, pid: i32, act: fn(&mut KernelScript)| {
        move |host: &mut KernelScript| {
            open(host, 10, "/x", 0, 3);
            host.at(18).enter(call, &[]).after(2).fork(10, 11, pid).wakeup_new(11, 0).after(1).exit(call, 11);
            host.at(25).preempt(10, 11).after(1).exit(call, 0);
            act(host);
        }
    };
    let closes = |host: &mut KernelScript| close(host, 30, 3);
    let copied = ["10 3 /x 11 ? openat ?", "11 3 /x 20 31 inherited close"];
    for call in ["fork", "vfork", "clone3"] {
        files(&[V2_8, V2_13, V2_14], forked(call, 11, closes), &copied);
    }
    files(&[V2_8, V2_13, V2_14], forked("clone3", 10, closes), &["10 3 /x 11 31 openat close"]);
}

#[test]
fn a_state_dump_shows_who_shares() {
    for generation in [V2_13, V2_14] {
        let mut host = KernelScript::new("h1", generation);
        host.process(10, "sh")
            .process(20, "db")
            .thread(21, 20, "pool")
            .shares_files(20, 10)
            .shares_files(21, 10);
        host.at(1).dump().dump_file(10, 3, 0, "/x").switch(0, 21);
        close(&mut host, 30, 3);
        super::run::check(&host, "fds", "fd name end_ns", &["3 /x 31"]);
    }
}
