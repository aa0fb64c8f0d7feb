//! `ipc`: each kind of relation of processes, with its counts, its bytes and how long one waited for the other.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::critical_path::{US, hosts};
use super::loopback::{Loopback, has_read};
use super::run::{analyze, check, check_all};

const RELATIONS: &str = "from_comm from_pid to_comm to_pid kind count bytes waited_ns";

type Fields<'f> = &'f [(&'f str, FieldValue)];

/// Thread 10 is on CPU 0 from 90 on. It has a pipe with the reading end 4, another one with 6, UNIX sockets 8 and 9 that are a pair, and
/// an eventfd 10.
fn host() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "sh").process(20, "web").process(30, "db").kernel_thread(5, "kworker/0:1");
    host.at(90).switch(0, 10);
    for (at, ends) in [(100, [4, 5]), (102, [6, 7])] {
        host.at(at).enter("pipe2", &[]).after(1).exit_with("pipe2", 0, &[("fildes", ends.into())]);
    }
    let unix = [("family", 1.into()), ("type", 1.into())];
    let pair = [("socket", [8, 9].into())];
    host.at(104).enter("socketpair", &unix).after(1).exit_with("socketpair", 0, &pair);
    host.at(106).enter("eventfd2", &[]).after(1).exit("eventfd2", 10);
    host
}

/// Thread 10 waits in a call for so many ns, until another thread wakes it, which has the CPU meanwhile.
fn waits(host: &mut KernelScript, at: u64, ns: u64, by: i32, (call, fields, ret): (&str, Fields<'_>, i64)) {
    host.at(at).enter(call, fields).after(1).switch(10, by);
    host.at(at + 1 + ns).wake(10, 0).after(1).preempt(by, 10).after(1).exit(call, ret);
}

/// As [`waits`], in `read`.
fn reads(host: &mut KernelScript, at: u64, ns: u64, by: i32, (fd, bytes): (i32, i64)) {
    waits(host, at, ns, by, ("read", &[("fd", fd.into())], bytes));
}

#[test]
fn each_kind_within_a_host() {
    let mut host = host();
    host.at(110).fork(10, 40, 40).after(1).wakeup_new(40, 0);
    waits(&mut host, 200, 10, 20, ("futex", &[], 0));
    reads(&mut host, 300, 20, 20, (4, 7));
    reads(&mut host, 400, 30, 20, (8, 5));
    waits(&mut host, 500, 40, 20, ("pause", &[], -4));
    reads(&mut host, 600, 50, 20, (10, 8));
    waits(&mut host, 700, 60, 40, ("wait4", &[], 40));
    waits(&mut host, 800, 70, 5, ("fsync", &[("fd", 3.into())], 0));
    // A timer is no process: it comes last.
    host.at(900).enter("nanosleep", &[]).after(1).switch(10, 0);
    host.at(980).hrtimer_entry().after(1).wake(10, 0).after(1).hrtimer_exit().after(1).switch(0, 10);
    let expect = [
        "kworker/0:1 5 sh 10 disk 1 ? 70",
        "sh 40 sh 10 child 1 ? 60",
        "web 20 sh 10 eventfd 1 ? 50",
        "web 20 sh 10 signal 1 ? 40",
        "web 20 sh 10 unix-socket 1 5 30",
        "web 20 sh 10 pipe 1 7 20",
        "web 20 sh 10 shared-futex 1 ? 10",
        "sh 10 sh 40 fork 1 ? 0",
        "? ? sh 10 sleep 1 ? 80",
    ];
    check(&host, "ipc", RELATIONS, &expect);
    let dot = analyze(&[&host], "ipc --dot").stdout;
    for edge in [r#""h1:20" -> "h1:10" [label="pipe ×1, 0.0 ms"#, r#""h1:10" -> "h1:40" [label="fork"#] {
        assert!(dot.contains(edge), "{edge}: {dot}");
    }
}

/// Waits are counted and added up, each process with each other one for itself.
#[test]
fn counts_and_waited_times() {
    let mut host = host();
    for (at, ns, by) in [(200, 10, 20), (300, 20, 30), (400, 30, 20)] {
        waits(&mut host, at, ns, by, ("futex", &[], 0));
    }
    check(&host, "ipc", RELATIONS, &["web 20 sh 10 shared-futex 2 ? 40", "db 30 sh 10 shared-futex 1 ? 20"]);
    // The wait from 301 to 321 ends in the first window, that from 401 to 431 at the end of the second one: each counts as a whole.
    check(&host, "ipc --begin @310 --end @322", RELATIONS, &["db 30 sh 10 shared-futex 1 ? 20"]);
    check(&host, "ipc --begin @322 --end @431", RELATIONS, &["web 20 sh 10 shared-futex 1 ? 30"]);
    check(&host, "ipc --begin @322 --end @430", RELATIONS, &[]);
}

/// A process whose threads wait for each other has a relation with itself; that it made them is none.
#[test]
fn threads_of_a_process() {
    let mut host = host();
    host.at(110).fork(10, 11, 10).after(1).wakeup_new(11, 0);
    waits(&mut host, 200, 10, 11, ("futex", &[], 0));
    check(&host, "ipc", RELATIONS, &["sh 10 sh 10 futex 1 ? 10"]);
}

/// Bytes are those that were read from an end at which somebody was seen to end a wait: with waits and without.
#[test]
fn bytes_of_ends() {
    let mut host = host();
    reads(&mut host, 200, 10, 20, (4, 7));
    super::run::call(&mut host, 300, "read", &[("fd", 4.into())], 5);
    // What fails has none, nor has the end of the file.
    super::run::call(&mut host, 310, "read", &[("fd", 4.into())], -11);
    super::run::call(&mut host, 320, "read", &[("fd", 4.into())], 0);
    // Nobody is seen to write here.
    super::run::call(&mut host, 330, "read", &[("fd", 6.into())], 99);
    check(&host, "ipc", RELATIONS, &["web 20 sh 10 pipe 1 12 10"]);
    // The number of another pipe.
    super::run::call(&mut host, 400, "close", &[("fd", 4.into())], 0);
    host.at(410).enter("pipe2", &[]).after(1).exit_with("pipe2", 0, &[("fildes", [4, 11].into())]);
    reads(&mut host, 500, 20, 30, (4, 3));
    check(&host, "ipc", RELATIONS, &["db 30 sh 10 pipe 1 3 20", "web 20 sh 10 pipe 1 12 10"]);
}

/// Two processes write into one pipe: nobody knows whose bytes are read there. What is read elsewhere is known.
#[test]
fn bytes_of_several_writers() {
    let mut host = host();
    reads(&mut host, 200, 10, 20, (4, 7));
    reads(&mut host, 300, 20, 30, (4, 5));
    reads(&mut host, 400, 30, 20, (8, 2));
    let expect = ["web 20 sh 10 unix-socket 1 2 30", "db 30 sh 10 pipe 1 ? 20", "web 20 sh 10 pipe 1 ? 10"];
    check(&host, "ipc", RELATIONS, &expect);
    // Unknown is something else than none.
    waits(&mut host, 500, 5, 30, ("futex", &[], 0));
    let csv = analyze(&[&host], "ipc --format csv").stdout;
    let said = analyze(&[&host], "ipc").stdout;
    let row = |kind: &str, by: &str| {
        let found = said.lines().find(|line| line.contains(kind) && line.contains(by));
        found
            .unwrap_or_else(|| panic!("{kind} {by}: {said}"))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(row("pipe", "web"), "h1 20 web h1 10 sh pipe 1 ? 10 ns", "{csv}");
    assert_eq!(row("shared-futex", "db"), "h1 30 db h1 10 sh shared-futex 1 - 5 ns", "{csv}");
}

/// What the calls of both ends of a connection wrote, and who was woken by a packet of it.
#[test]
fn sockets_within_a_host() {
    let (mut host, mut connection) = Loopback::asked();
    connection.waits(&mut host, 110, (10, 20));
    has_read(&mut host, 112);
    connection.answers(&mut host, 150, Some(10));
    connection.waits(&mut host, 160, (20, 10));
    has_read(&mut host, 162);
    connection.asks(&mut host, 170, Some(20));
    host.at(180).switch(10, 20);
    has_read(&mut host, 181);
    // The server waits from 96 to 104 and from 161 to 174, the client from 111 to 154.
    let expect = ["server 20 client 10 loopback 1 100 43", "client 10 server 20 loopback 2 200 21"];
    check(&host, "ipc", RELATIONS, &expect);
}

/// A datagram between two ports of this host.
fn datagram(from: u32, to: u32) -> Vec<(&'static str, FieldValue)> {
    const LOCAL: [u8; 4] = [127, 0, 0, 1];
    vec![
        ("skbaddr", 1.into()),
        ("len", 78.into()),
        ("name", "lo".into()),
        ("network_header_type", "ipv4".into()),
        ("network_header.ipv4.version", 4.into()),
        ("network_header.ipv4.ihl", 5.into()),
        ("network_header.ipv4.tot_len", 78.into()),
        ("network_header.ipv4.protocol", 17.into()),
        ("network_header.ipv4.saddr", LOCAL.into()),
        ("network_header.ipv4.daddr", LOCAL.into()),
        ("network_header.ipv4.transport_header_type", "udp".into()),
        ("network_header.ipv4.transport_header.udp.source_port", from.into()),
        ("network_header.ipv4.transport_header.udp.dest_port", to.into()),
        ("network_header.ipv4.transport_header.udp.len", 58.into()),
    ]
}

/// Sockets of UDP are known by the packets that their calls send: 50 bytes either way.
#[test]
fn datagrams_within_a_host() {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "client").process(20, "server");
    host.at(10).dump_file(10, 3, 2, "socket:[100]").dump_file(20, 3, 2, "socket:[101]");
    host.at(90).switch(0, 20).after(5).enter("recvfrom", &[("fd", 3.into())]).after(1).switch(20, 10);
    for (at, from, to, wakes) in [(100, 40_000, 53, 20), (150, 53, 40_000, 10)] {
        host.at(at).enter("sendto", &[("fd", 3.into()), ("len", 50.into())]);
        host.at(at + 1).event("net_dev_queue", &datagram(from, to)).after(1).softirq_entry(3);
        host.at(at + 3).event("net_if_receive_skb", &datagram(from, to)).after(1).wake(wakes, 0);
        host.at(at + 5).softirq_exit(3).after(1).exit("sendto", 50);
    }
    host.at(110).enter("recvfrom", &[("fd", 3.into())]).after(1).switch(10, 20).after(1).exit("recvfrom", 50);
    host.at(160).enter("recvfrom", &[("fd", 3.into())]).after(1).switch(20, 10).after(1).exit("recvfrom", 50);
    host.at(200).switch(10, 0);
    let expect = ["server 20 client 10 loopback 1 50 43", "client 10 server 20 loopback 1 50 8"];
    check(&host, "ipc", RELATIONS, &expect);
}

/// Without wake-ups nobody is known to end a wait; forks and what goes through connections are.
#[test]
fn without_wake_ups() {
    let mut host = host().untraced(&["sched_waking", "sched_wakeup"]);
    host.at(110).fork(10, 40, 40);
    reads(&mut host, 200, 10, 20, (4, 7));
    check(&host, "ipc", RELATIONS, &["sh 10 sh 40 fork 1 ? 0"]);
}

/// The hosts of `critical_path.rs`. In µs: thread 10 waits eight times from 32 to 415, thread 11 from 82 to 615; the server first from 962 to 1115 and then
/// seven times from 532 to 1115. Each writes 100 bytes sixteen times.
#[test]
fn between_hosts() {
    const BOTH: &str = "from_host from_comm from_pid to_host to_comm to_pid kind count bytes waited_ns";
    let [h1, h2] = hosts();
    let clients = 8 * (383 + 533) * US;
    let server = (153 + 7 * 583) * US;
    let answered = format!("h2 server 20 h1 client 10 network 16 1600 {clients}");
    let asked = format!("h1 client 10 h2 server 20 network 8 1600 {server}");
    check_all(&[&h1, &h2], "ipc", BOTH, &[&answered, &asked]);
    // Where nothing ties their clocks together, bytes alone are known.
    let expect = ["h1 client 10 h2 server 20 network 0 1600 0", "h2 server 20 h1 client 10 network 0 1600 0"];
    check_all(&[&h1, &h2], "ipc --no-sync", BOTH, &expect);
    // Nor is it known of whom, where the other end is not traced.
    check(&h1, "ipc", BOTH, &[]);
}
