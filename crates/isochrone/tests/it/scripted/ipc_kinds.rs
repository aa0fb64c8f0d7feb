//! `ipc`: each kind of object that processes have in common is a kind of relation, and has its name.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::run::{call, check};

const OBJECTS: &str = "from_comm from_pid to_comm to_pid kind object count bytes waited_ns";

type Call<'c> = (&'c str, Vec<(&'c str, FieldValue)>, i64);

/// Thread 10 is on CPU 0 from 90 on. It has `/data/x` as 3, `/run/fifo` as 4, UNIX sockets 8 and 9, an
/// eventfd 10, a timerfd 11, a message queue 12, a ring 13 and a process 14; thread 20 has `/run/fifo` as 4.
fn host() -> KernelScript {
    host_of(Generation::V2_13)
}

fn host_of(generation: Generation) -> KernelScript {
    let mut host = KernelScript::new("h1", generation).contexts(true);
    host.process(10, "sh").process(20, "web").process(30, "db");
    host.at(40).dump_process(10).dump_file(10, 3, 0, "/data/x").dump_file(10, 4, 0, "/run/fifo");
    host.at(50).dump_process(20).dump_file(20, 4, 1, "/run/fifo");
    host.at(60).dump_process(30);
    host.at(90).switch(0, 10);
    let unix = [("family", 1.into()), ("type", 1.into())];
    let pair = [("socket", [8, 9].into())];
    host.at(104).enter("socketpair", &unix).after(1).exit_with("socketpair", 0, &pair);
    call(&mut host, 106, "eventfd2", &[], 10);
    call(&mut host, 108, "timerfd_create", &[], 11);
    call(&mut host, 110, "mq_open", &[("u_name", "/jobs".into())], 12);
    call(&mut host, 112, "io_uring_setup", &[], 13);
    call(&mut host, 114, "pidfd_open", &[("pid", 20.into())], 14);
    host
}

/// Thread 10 waits in a call for 10 ns, until another thread wakes it from within its own call, which started
/// 5 ns after the wait.
fn waits(host: &mut KernelScript, at: u64, (name, fields, ret): &Call<'_>, by: i32, with: &Call<'_>) {
    host.at(at).enter(name, fields).after(1).switch(10, by);
    host.at(at + 6).enter(with.0, &with.1).after(5).wake(10, 0).after(1).exit(with.0, with.2);
    host.at(at + 13).preempt(by, 10).after(1).exit(name, *ret);
}

#[test]
fn each_object_has_its_name() {
    let fd = |fd: i32| vec![("fd", fd.into())];
    let write: Call<'_> = ("write", fd(7), 8);
    let futex =
        |op: i32| -> Call<'static> { ("futex", vec![("uaddr", 0x1000.into()), ("op", op.into())], 0) };
    let sem = |name, id: i32| -> Call<'static> { (name, vec![("semid", id.into())], 0) };
    let queue = |name, id: i32, ret| -> Call<'static> { (name, vec![("msqid", id.into())], ret) };
    let posix = |name, ret| -> Call<'static> { (name, vec![("mqdes", 12.into())], ret) };
    let signal = |name, fields: &[(&'static str, i32)]| -> Call<'static> {
        (name, fields.iter().map(|&(field, value)| (field, value.into())).collect(), 0)
    };
    let pause: Call<'_> = ("pause", vec![], -4);
    let kill = |sig| signal("kill", &[("pid", 10), ("sig", sig)]);
    let cases: [(Call<'_>, Call<'_>, &str); 26] = [
        (("flock", fd(3), 0), ("flock", fd(3), 0), "file-lock /data/x 1 ? 10"),
        (("fcntl", fd(3), 0), ("fcntl", fd(3), 0), "file-lock /data/x 1 ? 10"),
        // A lock of a file that nothing names.
        (("flock", fd(77), 0), ("flock", fd(3), 0), "file-lock ? 1 ? 10"),
        // A wait without the private flag, and with it.
        (futex(0), futex(1), "shared-futex 0x1000 1 ? 10"),
        (futex(393), futex(129), "shared-futex 0x1000 1 ? 10"),
        (sem("semop", 7), sem("semop", 7), "sysv-semaphore semid 7 1 ? 10"),
        (sem("semtimedop", 0), sem("semop", 0), "sysv-semaphore semid 0 1 ? 10"),
        (queue("msgrcv", 5, 8), queue("msgsnd", 5, 0), "sysv-queue msqid 5 1 ? 10"),
        (queue("msgsnd", 5, 0), queue("msgrcv", 5, 8), "sysv-queue msqid 5 1 ? 10"),
        (posix("mq_timedreceive", 8), posix("mq_timedsend", 0), "posix-queue /jobs 1 8 10"),
        (posix("mq_timedsend", 0), posix("mq_timedreceive", 8), "posix-queue /jobs 1 ? 10"),
        (("read", fd(10), 8), write.clone(), "eventfd ? 1 ? 10"),
        (("io_uring_enter", fd(13), 1), write.clone(), "io-uring ? 1 ? 10"),
        // It returns messages, not bytes.
        (("recvmmsg", fd(8), 3), write.clone(), "unix-socket ? 1 ? 10"),
        (("recvmsg", fd(8), 3), write.clone(), "unix-socket ? 1 3 10"),
        (pause.clone(), kill(15), "signal 15 SIGTERM 1 ? 10"),
        (("rt_sigsuspend", vec![], -4), signal("tkill", &[("pid", 10), ("sig", 34)]), "signal 34 1 ? 10"),
        (
            ("rt_sigtimedwait", vec![], 10),
            signal("tgkill", &[("tgid", 10), ("pid", 10), ("sig", 10)]),
            "signal 10 SIGUSR1 1 ? 10",
        ),
        (pause.clone(), signal("rt_sigqueueinfo", &[("pid", 10), ("sig", 12)]), "signal 12 SIGUSR2 1 ? 10"),
        (pause.clone(), signal("pidfd_send_signal", &[("pidfd", 14), ("sig", 2)]), "signal 2 SIGINT 1 ? 10"),
        // What a signal interrupts.
        (("read", fd(10), -4), kill(9), "signal 9 SIGKILL 1 ? 10"),
        (("nanosleep", vec![], -4), kill(1), "signal 1 SIGHUP 1 ? 10"),
        // By its result alone, and by nothing.
        (("rt_sigtimedwait", vec![], 40), write.clone(), "signal 40 1 ? 10"),
        (pause.clone(), write.clone(), "signal ? 1 ? 10"),
        (("wait4", vec![], 20), ("exit_group", vec![], 0), "child ? 1 ? 10"),
        (("fsync", fd(3), 0), write.clone(), "disk /data/x 1 ? 10"),
    ];
    for (wait, by, expect) in &cases {
        let mut host = host();
        waits(&mut host, 200, wait, 20, by);
        check(&host, "ipc", OBJECTS, &[&format!("web 20 sh 10 {expect}")]);
    }
}

/// Who reads from a path waits for who writes to it later, or opens it: that is a FIFO. One wait that shows
/// it of a path shows it for all.
#[test]
fn fifos() {
    let mut host = host();
    let open = |ret| -> Call<'static> {
        ("openat", vec![("dfd", (-100).into()), ("filename", "/run/other".into())], ret)
    };
    let of = |name: &'static str, ret| -> Call<'static> { (name, vec![("fd", 4.into())], ret) };
    waits(&mut host, 200, &open(5), 20, &open(6));
    waits(&mut host, 300, &of("read", 8), 20, &of("write", 8));
    // In the middle of a call that started before.
    host.at(400).enter("read", &[("fd", 4.into())]).after(1).switch(10, 20);
    host.at(410).wake(10, 0).after(1).preempt(20, 10).after(1).exit("read", 1);
    let expect = ["web 20 sh 10 fifo /run/fifo 2 9 19", "web 20 sh 10 fifo /run/other 1 ? 10"];
    check(&host, "ipc", OBJECTS, &expect);
}

/// Who has locked a file before somebody waits for it makes no FIFO of it.
#[test]
fn a_locked_file_is_no_fifo() {
    let mut host = host().cpus(2);
    host.at(195).cpu(1).switch(0, 20).after(1).enter("write", &[("fd", 4.into())]);
    host.at(200).cpu(0).enter("read", &[("fd", 4.into())]).after(1).switch(10, 0);
    host.at(211).cpu(1).wake(10, 0).after(1).exit("write", 8);
    host.at(213).cpu(0).switch(0, 10).after(1).exit("read", 8);
    check(&host, "ipc", OBJECTS, &["web 20 sh 10 disk /run/fifo 1 ? 10"]);
}

/// A signal is a relation even if nobody waits for it.
#[test]
fn signals_that_nobody_waits_for() {
    let mut host = host();
    let kill = |host: &mut KernelScript, at, pid: i32, sig: i32, ret| {
        call(host, at, "kill", &[("pid", pid.into()), ("sig", sig.into())], ret);
    };
    kill(&mut host, 200, 20, 15, 0);
    kill(&mut host, 210, 20, 15, 0);
    kill(&mut host, 220, 30, 10, 0);
    // No signal, a failure, and a process that does not exist here.
    kill(&mut host, 230, 30, 0, 0);
    kill(&mut host, 240, 30, 10, -1);
    kill(&mut host, 250, 99, 10, 0);
    let expect = ["sh 10 web 20 signal 15 SIGTERM 2 ? 0", "sh 10 db 30 signal 10 SIGUSR1 1 ? 0"];
    check(&host, "ipc", OBJECTS, &expect);
    // It counts where the call returns.
    check(&host, "ipc --begin @205 --end @215", OBJECTS, &["sh 10 web 20 signal 15 SIGTERM 1 ? 0"]);
}

/// Where the kernel says of each signal who gets it, that is what counts: of those that calls send, those of
/// children, and none of timers or of what is ignored.
#[test]
fn signals_by_their_events() {
    let mut host = host();
    let generate = |host: &mut KernelScript, at, sig: i32, code: i32, pid: i32, result: i32| {
        let fields =
            [("sig", sig.into()), ("code", code.into()), ("pid", pid.into()), ("result", result.into())];
        host.at(at).event("signal_generate", &fields);
    };
    host.at(200).enter("kill", &[("pid", 0.into()), ("sig", 15.into())]);
    generate(&mut host, 201, 15, 0, 20, 0);
    generate(&mut host, 202, 15, 0, 30, 2);
    host.at(203).exit("kill", 0);
    generate(&mut host, 210, 17, 1, 20, 0);
    generate(&mut host, 220, 17, 1, 20, 1);
    generate(&mut host, 230, 14, -2, 20, 0);
    generate(&mut host, 240, 11, 1, 10, 0);
    let expect = [
        "sh 10 web 20 signal 15 SIGTERM 1 ? 0",
        "sh 10 web 20 signal 17 SIGCHLD 1 ? 0",
        "sh 10 db 30 signal 15 SIGTERM 1 ? 0",
    ];
    check(&host, "ipc", OBJECTS, &expect);
    // One that ends a wait counts once.
    let mut host = self::host();
    host.at(200).enter("pause", &[]).after(1).switch(10, 20);
    host.at(206).enter("kill", &[("pid", 10.into()), ("sig", 15.into())]);
    generate(&mut host, 208, 15, 0, 10, 0);
    host.at(211).wake(10, 0).after(1).exit("kill", 0);
    host.at(213).preempt(20, 10).after(1).exit("pause", -4);
    check(&host, "ipc", OBJECTS, &["web 20 sh 10 signal 15 SIGTERM 1 ? 10"]);
    let host = host.untraced(&["syscall_entry_kill", "syscall_exit_kill"]);
    check(&host, "ipc", OBJECTS, &["web 20 sh 10 signal 15 SIGTERM 1 ? 10"]);
}

/// Processes that attach the same memory: who did first, and each that did after that.
#[test]
fn shared_memory_of_system_v() {
    let mut host = host();
    let attach = |host: &mut KernelScript, at, id: i32| {
        call(host, at, "shmat", &[("shmid", id.into())], 0x7f00_0000);
    };
    attach(&mut host, 200, 7);
    attach(&mut host, 210, 8);
    attach(&mut host, 215, 7);
    host.at(220).switch(10, 20);
    attach(&mut host, 230, 7);
    attach(&mut host, 240, 7);
    host.at(250).switch(20, 30);
    attach(&mut host, 260, 7);
    attach(&mut host, 270, 9);
    let expect = ["sh 10 web 20 shared-memory shmid 7 2 ? 0", "sh 10 db 30 shared-memory shmid 7 1 ? 0"];
    check(&host, "ipc", OBJECTS, &expect);
    // Who attached it first is known from before.
    check(&host, "ipc --begin @255 --end @300", OBJECTS, &["sh 10 db 30 shared-memory shmid 7 1 ? 0"]);
}

/// Memory that a process maps: which file, `MAP_SHARED` (1) or not, `PROT_WRITE` (2) or not.
fn map(host: &mut KernelScript, at: u64, fd: i32, flags: i32, prot: i32) {
    let fields = [("len", 4096.into()), ("prot", prot.into()), ("flags", flags.into()), ("fd", fd.into())];
    call(host, at, "mmap", &fields, 0x7f00_0000_0000 + (at as i64 * 4096));
}

/// Processes that map the same file, where any of them may write to it.
#[test]
fn files_that_are_mapped() {
    let mut host = host();
    let open = |host: &mut KernelScript, at, path: &str, fd| {
        call(host, at, "openat", &[("dfd", (-100).into()), ("filename", path.into())], fd);
    };
    // Nobody writes to the second file, and to the third only for itself.
    let process = |host: &mut KernelScript, at: u64, prot| {
        open(host, at, "/dev/shm/ring", 20);
        map(host, at + 10, 20, 1, prot);
        open(host, at + 20, "/usr/lib/gconv.cache", 21);
        map(host, at + 30, 21, 1, 1);
        open(host, at + 40, "/usr/lib/libc.so.6", 22);
        map(host, at + 50, 22, 2, 3);
    };
    process(&mut host, 200, 1);
    host.at(290).switch(10, 20);
    process(&mut host, 300, 3);
    map(&mut host, 370, 20, 3, 3);
    host.at(390).switch(20, 30);
    process(&mut host, 400, 1);
    let shared = |to, count| format!("sh 10 {to} shared-memory /dev/shm/ring {count} ? 0");
    let expect = [shared("web 20", 2), shared("db 30", 1)];
    check(&host, "ipc", OBJECTS, &expect.each_ref().map(String::as_str));
    check(&host, "ipc --begin @395", OBJECTS, &[&shared("db 30", 1)]);
    // Until somebody may write to it.
    check(&host, "ipc --end @299", OBJECTS, &[]);
}

/// Files without a path, and memory without a file, go from parents to children: those that two processes
/// made are two, whatever they are called.
#[test]
fn memory_of_parents() {
    let mut host = host_of(Generation::V2_14);
    let memory = |host: &mut KernelScript, at| {
        call(host, at, "memfd_create", &[("uname", "ring".into()), ("flags", 0.into())], 20);
    };
    memory(&mut host, 200);
    host.at(210).switch(10, 20);
    memory(&mut host, 212);
    map(&mut host, 220, 20, 1, 3);
    map(&mut host, 230, -1, 0x21, 3);
    map(&mut host, 240, -1, 0x22, 3);
    host.at(250).enter("clone", &[("clone_flags", 17.into())]).after(1).fork(20, 40, 40).wakeup_new(40, 0);
    host.at(254).exit("clone", 40);
    host.at(260).enter("clone", &[("clone_flags", 17.into())]).after(1).fork(20, 50, 50).wakeup_new(50, 0);
    host.at(264).exit("clone", 50);
    host.at(270).switch(20, 40);
    map(&mut host, 280, 20, 1, 3);
    // Nothing is left of what a program had that executes another one.
    host.at(290).switch(40, 50).after(1).exec("/bin/ls");
    host.at(300).switch(50, 10);
    map(&mut host, 310, 20, 1, 3);
    let expect = [
        "web 20 web 40 shared-memory /memfd:ring 2 ? 0",
        "web 20 ls 50 fork ? 1 ? 0",
        "web 20 web 40 fork ? 1 ? 0",
        "web 20 web 40 shared-memory anonymous memory 1 ? 0",
    ];
    let said = super::run::analyze(&[&host], "ipc --format json");
    let mut rows = super::run::rows(&said.stdout, OBJECTS);
    rows.sort();
    let mut expect = expect.map(str::to_owned);
    expect.sort();
    assert_eq!(rows, expect);
}

/// Where nothing says who sent a signal, it is known by its delivery.
#[test]
fn signals_that_are_delivered() {
    let write: Call<'_> = ("write", vec![("fd", 7.into())], 8);
    let check = |wait: Call<'_>, after: u64, expect: &str| {
        let mut host = host();
        waits(&mut host, 200, &wait, 20, &write);
        host.at(214 + after).event("signal_deliver", &[("sig", 12.into())]);
        host.at(230).enter("getpid", &[]).after(1).exit("getpid", 10);
        check(&host, "ipc", OBJECTS, &[&format!("web 20 sh 10 {expect} 1 ? 10")]);
    };
    check(("pause", vec![], -4), 1, "signal 12 SIGUSR2");
    check(("read", vec![("fd", 10.into())], -4), 1, "signal 12 SIGUSR2");
    // What a later call got; a call that nothing interrupted.
    check(("pause", vec![], -4), 17, "signal ?");
    check(("read", vec![("fd", 10.into())], 8), 1, "eventfd ?");
}

/// Timers act on processes that wait for nothing else, or no longer; not on threads of the kernel, which are
/// in no call.
#[test]
fn timers() {
    let mut host = host();
    let mut waits = |at, name: &str, fields: &[(&str, FieldValue)], ret| {
        host.at(at).enter(name, fields).after(1).switch(10, 0);
        host.at(at + 11).hrtimer_entry().after(1).wake(10, 0).after(1).hrtimer_exit();
        host.at(at + 14).switch(0, 10).after(1).exit(name, ret);
    };
    waits(200, "clock_nanosleep", &[], 0);
    waits(300, "nanosleep", &[], 0);
    waits(400, "poll", &[], 0);
    waits(500, "read", &[("fd", 11.into())], 8);
    waits(600, "futex", &[("uaddr", 64.into())], -110);
    let expect = ["? ? sh 10 sleep ? 2 ? 22", "? ? sh 10 timeout ? 2 ? 22", "? ? sh 10 timerfd ? 1 ? 11"];
    check(&host, "ipc", OBJECTS, &expect);
}
