//! `accounting`: who pays for what servers do, on one host, whose one clock makes every figure exact. Times are ns.
//!
//! In each script the CPU goes from one thread to the next, and what is charged to whom adds up to the time that it ran.

use isochrone_testkit::{Generation, KernelScript};

use super::critical_path::{End, segment};
use super::loopback::{Loopback, has_read};
use super::requests::{asked_from_elsewhere, three};
use super::run::check;

const PROCESSES: &str = "pid comm parent_pid role self_ns sub_ns total_ns";
const REQUESTS: &str = "client_tid server_tid cpu_ns blocked_ns service_cpu_ns sub_cpu_ns service";

fn host() -> KernelScript {
    KernelScript::new("h1", Generation::V2_13).contexts(true)
}

/// Client 10 asks server 20 at 100, waits from 111 on, and is woken at 154, when the answer of 150 is there. The server is woken at 104, has the CPU from
/// 111 on and waits again at 161. Process 40 runs last. On its way, the client sends 166 bytes and allocates a page; the server reads 4096 bytes from a disk,
/// sends 166 and allocates two pages for the client, and one page before.
fn one_client() -> KernelScript {
    let mut host = host();
    host.process(10, "client").process(20, "server").process(40, "cron");
    let mut connection = Loopback::dumped(&mut host, [40_000, 8_001], 3, &[10, 20]);
    host.at(90).switch(0, 20).after(2).page_alloc(0);
    connection.waits(&mut host, 95, (20, 10));
    connection.asks(&mut host, 100, Some(20));
    host.at(108).page_alloc(0);
    connection.waits(&mut host, 110, (10, 20));
    has_read(&mut host, 112);
    host.at(120).page_alloc(1);
    host.at(125).block_issue(8 << 20, 64, 8).after(5).block_complete(8 << 20, 64, 8);
    connection.answers(&mut host, 150, Some(10));
    connection.waits(&mut host, 160, (20, 10));
    has_read(&mut host, 162);
    host.at(200).switch(10, 40).after(30).switch(40, 0);
    host
}

/// Of the 50 ns of the server from 111 to 161, the client waited for 43. What it did before it had a request, and after it had answered,
/// is nobody's.
#[test]
fn what_a_client_waits_for() {
    let host = one_client();
    check(&host, "accounting --table requests", REQUESTS, &["10 20 43 43 50 0 127.0.0.1:8001"]);
    let expect = [
        "10 client ? client 54 43 97",
        "20 server 10 server 43 0 43",
        // 6 before, and 7 after.
        "20 server ? unattributed 13 0 13",
        "? (other processes) ? others 30 0 30",
    ];
    check(&host, "accounting --table accounting", PROCESSES, &expect);
}

#[test]
fn disks_packets_and_pages() {
    let amounts =
        "comm role self_disk_bytes sub_disk_bytes self_sent_bytes sub_sent_bytes self_pages sub_pages";
    let expect = [
        "client client 0 4096 166 166 1 2",
        "server server 4096 0 166 0 2 0",
        "server unattributed 0 0 0 0 1 0",
        "(other processes) others 0 0 0 0 0 0",
    ];
    check(&one_client(), "accounting --table accounting", amounts, &expect);
}

/// Requests count where they begin. Of the three of `requests.rs` the second begins in the window: the server computes for 30 ns and is on the CPU from 308
/// to 351, while the client waits until 343.
#[test]
fn in_a_window() {
    let columns = "begin_ns cpu_ns service_cpu_ns";
    check(&three(), "accounting --table requests --begin @200 --end @400", columns, &["300 35 43"]);
}

/// Client 10 asks server 20, which asks database 30 from 130 to 182. The client waits from 111 to 204, the server from 141 to 174.
pub(super) fn tiers() -> KernelScript {
    let mut host = host();
    host.process(10, "client").process(20, "server").process(30, "db");
    let mut web = Loopback::dumped(&mut host, [40_000, 8_001], 3, &[10, 20]);
    let mut db = Loopback::dumped(&mut host, [40_002, 9_000], 4, &[20, 30]);
    host.at(80).switch(0, 30);
    db.waits(&mut host, 85, (30, 20));
    web.waits(&mut host, 90, (20, 10));
    web.asks(&mut host, 100, Some(20));
    web.waits(&mut host, 110, (10, 20));
    has_read(&mut host, 112);
    db.asks(&mut host, 130, Some(30));
    db.waits(&mut host, 140, (20, 30));
    has_read(&mut host, 142);
    db.answers(&mut host, 170, Some(20));
    db.waits(&mut host, 180, (30, 20));
    has_read(&mut host, 182);
    web.answers(&mut host, 200, Some(10));
    web.waits(&mut host, 210, (20, 10));
    has_read(&mut host, 212);
    host.at(250).switch(10, 0);
    host
}

/// The server's 60 ns lie from 111 to 141 and from 181 to 211, 53 of them before 204; the database's 40 from 141 to 181, 33 of them
/// before 174. The client pays for both.
#[test]
fn through_tiers() {
    let host = tiers();
    let expect = ["10 20 53 93 60 33 127.0.0.1:8001", "20 30 33 33 40 0 127.0.0.1:9000"];
    check(&host, "accounting --table requests", REQUESTS, &expect);
    // All of them are the 170 ns of the CPU from 80 to 250.
    let expect = [
        "10 client ? client 59 86 145",
        "20 server 10 server 53 33 86",
        "30 db 20 server 33 0 33",
        "30 db ? unattributed 13 0 13",
        "20 server ? unattributed 12 0 12",
    ];
    check(&host, "accounting --table accounting", PROCESSES, &expect);
    let expect = [
        "client ? client 1 59 86 145",
        "server client server 1 53 33 86",
        "db server server 1 33 0 33",
        "db ? unattributed 1 13 0 13",
        "server ? unattributed 1 12 0 12",
    ];
    let columns = "comm parent_comm role processes self_ns sub_ns total_ns";
    check(&host, "accounting --table programs", columns, &expect);
}

/// A thread has the requests of two clients at once: it reads that of 10 at 132 and that of 15 at 141, answers 10 from 160 to 166 and 15 from 180 to 186, and
/// waits at 191. It works for 10 until 141 and in its write, for 15 the rest of the time. Client 10 waits from 111 to 164, 15 from 131 to 184.
#[test]
fn clients_in_turns() {
    let mut host = host();
    host.process(10, "one").process(15, "other").process(20, "server");
    let mut one = Loopback::dumped(&mut host, [40_000, 8_001], 3, &[10, 20]);
    let mut other = Loopback::dumped(&mut host, [40_001, 8_001], 4, &[15, 20]);
    host.at(80).switch(0, 20);
    one.waits(&mut host, 85, (20, 10));
    one.asks(&mut host, 100, Some(20));
    one.waits(&mut host, 110, (10, 15));
    other.asks(&mut host, 120, None);
    other.waits(&mut host, 130, (15, 20));
    has_read(&mut host, 132);
    host.at(140).enter("read", &[("fd", 4.into())]);
    has_read(&mut host, 141);
    one.answers(&mut host, 160, Some(10));
    other.answers(&mut host, 180, Some(15));
    one.waits(&mut host, 190, (20, 10));
    has_read(&mut host, 192);
    host.at(200).switch(10, 15);
    has_read(&mut host, 201);
    host.at(210).switch(15, 0);
    // 10 + 6 ns for the one, 4 of the latter before 164; 19 + 25 for the other, 18 of the latter before 184.
    let expect = ["10 20 14 53 16 0 127.0.0.1:8001", "15 20 37 53 44 0 127.0.0.1:8001"];
    check(&host, "accounting --table requests", REQUESTS, &expect);
    let expect = [
        "15 other ? client 30 37 67",
        "20 server 15 server 37 0 37",
        "10 one ? client 34 14 48",
        "20 server 10 server 14 0 14",
        "20 server ? unattributed 15 0 15",
    ];
    check(&host, "accounting --table accounting", PROCESSES, &expect);
}

/// Thread 20 reads the request and hands it on to 21 of its pool, which answers: both work for the client.
#[test]
fn pools() {
    let mut host = host();
    host.process(10, "client").process(20, "server").thread(21, 20, "worker");
    let mut connection = Loopback::dumped(&mut host, [40_000, 8_001], 3, &[10, 20]);
    host.at(80).switch(0, 20);
    connection.waits(&mut host, 85, (20, 10));
    connection.asks(&mut host, 100, Some(20));
    connection.waits(&mut host, 110, (10, 20));
    has_read(&mut host, 112);
    host.at(120).wake(21, 0);
    connection.waits(&mut host, 130, (20, 21));
    connection.answers(&mut host, 150, Some(10));
    host.at(160).enter("futex", &[]).after(1).switch(21, 10);
    has_read(&mut host, 162);
    host.at(170).switch(10, 0);
    // 20 ns of thread 20 and 30 of 21; the client waits from 111 to 154.
    check(&host, "accounting --table requests", REQUESTS, &["10 21 43 43 50 0 127.0.0.1:8001"]);
    let expect =
        ["10 client ? client 34 43 77", "20 server 10 server 43 0 43", "20 server ? unattributed 13 0 13"];
    check(&host, "accounting --table accounting", PROCESSES, &expect);
}

/// Nobody knows when a client waits that is not traced: it pays for all that the server does for it.
#[test]
fn untraced_clients() {
    let (client, server): (End, End) = (([10, 0, 0, 9], 40_000), ([10, 0, 0, 1], 8_001));
    let mut host = asked_from_elsewhere(client, server);
    host.at(150).enter("write", &[("fd", 3.into()), ("count", 100.into())]);
    host.at(151).event("net_dev_queue", &segment(server, client, 5_000, 1_100)).after(5).exit("write", 100);
    host.at(160).enter("read", &[("fd", 3.into())]).after(1).switch(20, 0);
    host.at(200).softirq_entry(1).after(1).softirq_exit(1);
    check(&host, "accounting --table requests", REQUESTS, &["? 20 50 ? 50 0 10.0.0.1:8001"]);
    let expect = ["20 server ? untraced-client 50 0 50", "20 server ? unattributed 6 0 6"];
    check(&host, "accounting --table accounting", PROCESSES, &expect);
}

/// Interrupts and softirqs are in the time of who runs meanwhile; on an idle CPU they are nobody's.
#[test]
fn interrupts() {
    let mut host = host();
    host.process(10, "sh").at(100).switch(0, 10);
    host.at(120).softirq_entry(3).after(30).softirq_exit(3);
    host.at(160).irq_entry(1, "keyboard").after(5).irq_exit(1);
    host.at(200).switch(10, 0);
    host.at(220).softirq_entry(3).after(30).softirq_exit(3);
    check(&host, "accounting --table accounting", PROCESSES, &["? (other processes) ? others 100 0 100"]);
}

/// Without packets it is not known which sockets belong together: all are others.
#[test]
fn without_packets() {
    let host = tiers().untraced(&["net_dev_queue", "net_if_receive_skb"]);
    let expect = ["? (other processes) ? others 170 0 170"];
    check(&host, "accounting --table accounting", PROCESSES, &expect);
    check(&host, "accounting --table requests", REQUESTS, &[]);
}
