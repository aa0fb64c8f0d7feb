//! `blocking`: what threads waited for, in which calls, on which descriptors, and who ended their waits.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::critical_path::{US, hosts};
use super::loopback::{Loopback, has_read};
use super::run::{check, check_all};

/// Thread 10 is on CPU 0 from 90 on, with `/data/x` as 3.
fn shell() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "sh").process(20, "web").process(30, "db");
    host.at(50).dump_process(10).dump_file(10, 3, 0, "/data/x").dump_file(10, 9, 0, "/dev/tty");
    host.at(90).switch(0, 10);
    host
}

/// Thread 10 waits in a call for so many ns, until another thread wakes it, which has the CPU meanwhile.
fn waits(
    host: &mut KernelScript,
    (at, ns, by): (u64, u64, i32),
    call: &str,
    fields: &[(&str, FieldValue)],
    exit: &[(&str, FieldValue)],
) {
    host.at(at).enter(call, fields).after(1).switch(10, by);
    host.at(at + 1 + ns).wake(10, 0).after(1).preempt(by, 10).after(1).exit_with(call, 1, exit);
}

/// A descriptor as `poll` asks for it, and as it returns it.
fn polled(fd: i32, events: u32) -> FieldValue {
    FieldValue::Array(vec![FieldValue::Array(vec![fd.into(), events.into()])])
}

/// A call, what it is told and returns, and what the wait in it is one for: cause, descriptor, file.
type Waited<'w> = (&'w str, Vec<(&'w str, FieldValue)>, Vec<(&'w str, FieldValue)>, &'w str);

#[test]
fn causes_of_calls_and_descriptors() {
    let on = |fd: i32| vec![("fd", fd.into())];
    let asked = |fd: i32| vec![("nfds", 1.into()), ("fds", polled(fd, 1))];
    let ready = |fd: i32| vec![("fds", polled(fd, 1))];
    let cases: [Waited<'_>; 17] = [
        ("nanosleep", vec![], vec![], "sleep ? ?"),
        ("futex", vec![], vec![], "lock ? ?"),
        ("fcntl", [on(3), vec![("cmd", 7.into())]].concat(), vec![], "lock 3 /data/x"),
        ("wait4", vec![], vec![], "child ? ?"),
        ("pause", vec![], vec![], "signal ? ?"),
        ("fsync", on(3), vec![], "disk 3 /data/x"),
        ("read", on(3), vec![], "disk 3 /data/x"),
        ("unlink", vec![("pathname", "/x".into())], vec![], "disk ? ?"),
        ("read", on(4), vec![], "pipe 4 pipe 5 → 4"),
        ("read", on(6), vec![], "socket 6 AF_UNIX SOCK_STREAM ↔ fd 7"),
        ("recvfrom", on(8), vec![], "socket 8 ?"),
        ("read", on(9), vec![], "other 9 /dev/tty"),
        ("read", on(10), vec![], "other 10 anon_inode:[eventfd]"),
        ("read", on(11), vec![], "sleep 11 anon_inode:[timerfd]"),
        ("poll", asked(4), ready(4), "pipe 4 pipe 5 → 4"),
        // Nothing was ready.
        ("poll", asked(4), vec![], "other ? ?"),
        ("getpid", vec![], vec![], "other ? ?"),
    ];
    for (call, fields, exit, expect) in &cases {
        let mut host = shell();
        host.at(100).enter("pipe2", &[]).after(1).exit_with("pipe2", 0, &[("fildes", [4, 5].into())]);
        let unix = [("family", 1.into()), ("type", 1.into())];
        let pair = [("socket", [6, 7].into())];
        host.at(102).enter("socketpair", &unix).after(1).exit_with("socketpair", 0, &pair);
        host.at(104).enter("eventfd2", &[]).after(1).exit("eventfd2", 10);
        host.at(106).enter("timerfd_create", &[]).after(1).exit("timerfd_create", 11);
        waits(&mut host, (200, 10, 20), call, fields, exit);
        let expect = format!("{call} {expect} 201 211 10 13 20 web");
        let columns = "syscall cause fd file begin_ns end_ns wait_ns syscall_ns ended_by_tid ended_by_comm";
        check(&host, "blocking --table waits --tid 10", columns, &[&expect]);
    }
}

/// Three waits for a lock, which 20 and 30 end, and one for a pipe; by process and cause, by call and descriptor, and by who ended them.
fn four_waits() -> KernelScript {
    let mut host = shell();
    host.thread(11, 10, "pool");
    host.at(100).enter("pipe2", &[]).after(1).exit_with("pipe2", 0, &[("fildes", [4, 5].into())]);
    waits(&mut host, (200, 10, 20), "futex", &[], &[]);
    waits(&mut host, (300, 25, 30), "futex", &[], &[]);
    waits(&mut host, (400, 20, 20), "futex", &[], &[]);
    waits(&mut host, (500, 40, 20), "read", &[("fd", 4.into())], &[]);
    // Another thread of the process.
    host.at(600).preempt(10, 11).after(5).enter("futex", &[]).after(1).switch(11, 30);
    host.at(611).wake(11, 0).after(4).preempt(30, 11).after(1).exit("futex", 0);
    host
}

#[test]
fn sums() {
    let host = four_waits();
    // 10 + 25 + 20 + 5 ns: 20 ended 30 of them, and so did 30. The greater number goes first.
    let columns = "comm pid cause count total_ns max_ns ended_by";
    let expect = ["sh 10 lock 4 60 25 h1 db 30", "sh 10 pipe 1 40 40 h1 web 20"];
    check(&host, "blocking --table causes", columns, &expect);
    let columns = "pid cause syscall fd count total_ns max_ns ended_by file";
    let expect = ["10 lock futex ? 4 60 25 h1 db 30 ?", "10 pipe read 4 1 40 40 h1 web 20 pipe 5 → 4"];
    check(&host, "blocking --table blocking", columns, &expect);
    let columns = "pid cause count total_ns max_ns by_host by_pid by_comm";
    let expect = ["10 pipe 1 40 40 h1 20 web", "10 lock 2 30 20 h1 20 web", "10 lock 2 30 25 h1 30 db"];
    check(&host, "blocking --table ended", columns, &expect);
}

#[test]
fn filters() {
    let host = four_waits();
    let check = |arguments: &str, expect: &[&str]| {
        check(&host, &format!("blocking --table waits {arguments}"), "tid begin_ns wait_ns", expect);
    };
    let all = ["10 201 10", "10 301 25", "10 401 20", "10 501 40", "11 606 5"];
    check("", &all);
    check("--tid 10", &all[..4]);
    check("--pid 10", &all);
    check("--procname pool", &all[4..]);
    check("--tid 20", &[]);
    // Those that end there, as a whole.
    check("--begin @320 --end @421", &all[1..3]);
    check("--begin @326 --end @420", &[]);
}

/// A wait is over when the thread can run again, and not when it runs: it waits for a CPU from 221 to 300.
#[test]
fn waits_for_a_cpu_are_not_in_it() {
    let mut host = shell();
    host.at(200).enter("futex", &[]).after(1).switch(10, 20);
    host.at(221).wake(10, 0).after(79).preempt(20, 10).after(1).exit("futex", 0);
    let columns = "begin_ns end_ns wait_ns syscall_ns cause";
    check(&host, "blocking --table waits", columns, &["201 221 20 101 lock"]);
}

/// However long a wait is, it counts as a whole where it ends.
#[test]
fn longer_than_the_window() {
    let mut host = shell();
    waits(&mut host, (200, 3_000_000_000, 20), "futex", &[], &[]);
    let arguments = "blocking --table waits --begin 2.5 --end 3.1";
    check(&host, arguments, "begin_ns end_ns wait_ns", &["201 3000000201 3000000000"]);
}

/// What ended the wait says what it was for, whatever the call: a timer, a disk, the softirq of disks, an interrupt.
#[test]
fn devices_and_timers() {
    type Ends = fn(&mut KernelScript);
    let cases: [(&str, Ends); 5] = [
        ("sleep", |host| {
            host.at(230).hrtimer_entry().after(1).wake(10, 0).after(1).hrtimer_exit();
        }),
        ("sleep", |host| {
            host.at(230).softirq_entry(1).after(1).wake(10, 0).after(1).softirq_exit(1);
        }),
        ("disk", |host| {
            host.at(229).irq_entry(27, "virtio0").after(1).block_complete(8 << 20, 64, 8);
            host.at(231).wake(10, 0).after(1).irq_exit(27);
        }),
        ("disk", |host| {
            host.at(230).softirq_entry(4).after(1).wake(10, 0).after(1).softirq_exit(4);
        }),
        ("irq", |host| {
            host.at(230).irq_entry(1, "keyboard").after(1).wake(10, 0).after(1).irq_exit(1);
        }),
    ];
    for (cause, ends) in cases {
        for untraced in [&[][..], &["syscall_entry_read", "syscall_exit_read"]] {
            let mut host = shell().untraced(untraced);
            host.at(200).enter("read", &[("fd", 9.into())]).block_issue(8 << 20, 64, 8);
            host.at(201).switch(10, 0);
            ends(&mut host);
            host.at(240).switch(0, 10).after(1).exit("read", 8);
            let expect = format!("{cause} 30 ? ?");
            check(&host, "blocking --table waits", "cause wait_ns ended_by_pid ended_by_comm", &[&expect]);
        }
    }
}

/// Without calls nothing is known of what threads end; without wake-ups the calls still are.
#[test]
fn what_is_not_traced() {
    let columns = "cause syscall fd wait_ns ended_by_comm";
    let host = |untraced: &[&str]| {
        let mut host = shell().untraced(untraced);
        waits(&mut host, (200, 10, 20), "futex", &[], &[]);
        host
    };
    let calls = ["syscall_entry_futex", "syscall_exit_futex"];
    check(&host(&calls), "blocking --table waits", columns, &["other ? ? 10 web"]);
    // Then it is not known either when it could run.
    check(&host(&["sched_waking"]), "blocking --table waits", columns, &["lock futex ? 11 ?"]);
}

/// A packet from the same host is a `socket`, from another host `network`. The hosts are those of `critical_path.rs`.
#[test]
fn packets() {
    let (mut host, _) = Loopback::asked();
    host.at(110).switch(10, 20);
    has_read(&mut host, 111);
    let columns = "comm cause syscall fd count total_ns ended_by";
    check(&host, "blocking --table blocking", columns, &["server socket read 3 1 8 h1 client 10"]);

    let [h1, h2] = hosts();
    let [clients, server] = [8 * (383 + 533), 153 + 7 * 583].map(|us| us * US);
    let columns = "host comm pid cause count total_ns max_ns ended_by";
    let expect = [
        format!("h1 client 10 network 16 {clients} 533000 h2 server 20"),
        format!("h2 server 20 network 8 {server} 583000 h1 client 10"),
    ];
    let expect = expect.each_ref().map(String::as_str);
    check_all(&[&h1, &h2], "blocking --table causes", columns, &expect);
    // Somebody ended them, on a host that is not traced.
    let expect = format!("h1 client 10 network 16 {clients} 533000 ?");
    check(&h1, "blocking --table causes", columns, &[&expect]);
}
