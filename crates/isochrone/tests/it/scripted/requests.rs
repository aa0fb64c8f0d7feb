//! `critical-path`: which requests there are, and what all tables say of them, on one host whose one clock makes every figure exact.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::accounting::tiers;
use super::critical_path::{BYTES, End, segment};
use super::loopback::{Loopback, has_read};
use super::run::{analyze, check};

const STEPS: &str = "begin_ns end_ns tid comm cause";
const REQUESTS: &str = "request client_tid server_tid begin_ns end_ns total_ns service";

/// Client 10, server 20 and database 30 of `accounting.rs`: from the client's write at 100 to the exit of its read at 212.
const PATH: [&str; 18] = [
    "100 101 10 client cpu",
    "101 103 ? ? network",
    "103 104 20 server softirq",
    "104 111 20 server wait-cpu",
    "111 131 20 server cpu",
    "131 133 ? ? network",
    "133 134 30 db softirq",
    "134 141 30 db wait-cpu",
    "141 171 30 db cpu",
    "171 173 ? ? network",
    "173 174 20 server softirq",
    "174 181 20 server wait-cpu",
    "181 201 20 server cpu",
    "201 203 ? ? network",
    "203 204 10 client softirq",
    "204 211 10 client wait-cpu",
    "211 212 10 client cpu",
    "",
];

#[test]
fn from_a_write_to_the_end_of_a_read() {
    let path = &PATH[..17];
    check(&tiers(), "critical-path --table path", STEPS, path);
    // The server's own request is a part of the client's. Asked for, it is one, from its write at 130 to its read until 182.
    let whole = "1 10 20 100 212 112 127.0.0.1:8001";
    check(&tiers(), "critical-path --table requests", REQUESTS, &[whole]);
    let part = "1 20 30 130 182 52 127.0.0.1:9000";
    for service in ["9000", "127.0.0.1:9000", "db", "d*"] {
        let arguments = format!("critical-path --service {service} --table requests");
        check(&tiers(), &arguments, REQUESTS, &[part]);
    }
    let inner = [&["130 131 20 server cpu"], &path[5..12], &["181 182 20 server cpu"]].concat();
    check(&tiers(), "critical-path --service 9000 --table path", STEPS, &inner);
    check(&tiers(), "critical-path --service 7 --table requests", REQUESTS, &[]);
}

/// The four packets are on their way for 2 ns each. When their device has taken them, is known from `net_dev_xmit` alone. A driver that is interrupted
/// may say so when the packet has arrived: then all of its time is in the queue.
#[test]
fn queues_of_packets() {
    let check = |taken_at: &[u64], expect: &str| {
        let mut host = tiers();
        for at in taken_at {
            let packet = [("skbaddr", 1.into()), ("len", (BYTES + 66).into()), ("name", "lo".into())];
            host.at(*at).event("net_dev_xmit", &packet);
        }
        let columns = "from to packets total_ns queue_ns wire_ns receive_ns";
        check(&host, "critical-path --table network", columns, &[expect]);
    };
    check(&[], "h1 h1 4 8 ? ? 4");
    check(&[102, 132, 172, 202], "h1 h1 4 8 4 4 4");
    check(&[102, 132, 172, 204], "h1 h1 4 8 5 3 4");
}

/// The 112 ns, by who spent them on what.
#[test]
fn sums() {
    let expect = [
        "1 ? network 8",
        "1 client cpu 2",
        "1 client wait-cpu 7",
        "1 client softirq 1",
        "1 db cpu 30",
        "1 db wait-cpu 7",
        "1 db softirq 1",
        "1 server cpu 40",
        "1 server wait-cpu 14",
        "1 server softirq 2",
    ];
    check(&tiers(), "critical-path --table causes", "request comm cause total_ns", &expect);
    let columns = "service server_host server_comm requests min_ns median_ns p95_ns p99_ns max_ns slowest";
    let expect = "127.0.0.1:8001 h1 server 1 112 112 112 112 112 1";
    check(&tiers(), "critical-path --table services", columns, &[expect]);
}

/// Server 20 waits from 86 on; a packet of a client that is not traced is there at 103, wakes it at 104, and is read at 112.
pub(super) fn asked_from_elsewhere(client: End, server: End) -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(20, "server").at(10).dump_file(20, 3, 2, "socket:[100]");
    host.at(80).switch(0, 20).after(5).enter("read", &on(3, 100)).after(1).switch(20, 0);
    host.at(102)
        .softirq_entry(3)
        .after(1)
        .event("net_if_receive_skb", &segment(client, server, 1_000, 5_000));
    host.at(104).wake(20, 0).after(1).softirq_exit(3);
    host.at(111).switch(0, 20).after(1).exit("read", 100);
    host
}

/// Client 10 asks three times, at 100, 300 and 500; the server computes for 10, 30 and 20 ns. Every request takes so long and 24 ns more.
pub(super) fn three() -> KernelScript {
    let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
    host.process(10, "client").process(20, "server");
    let mut connection = Loopback::dumped(&mut host, [40_000, 8_001], 3, &[10, 20]);
    host.at(80).switch(0, 20);
    connection.waits(&mut host, 85, (20, 10));
    for (at, ns) in [(100, 10), (300, 30), (500, 20)] {
        connection.asks(&mut host, at, Some(20));
        connection.waits(&mut host, at + 7, (10, 20));
        has_read(&mut host, at + 9);
        connection.answers(&mut host, at + 9 + ns, Some(10));
        connection.waits(&mut host, at + 20 + ns, (20, 10));
        has_read(&mut host, at + 24 + ns);
    }
    host.at(700).switch(10, 0);
    host
}

/// Ranks are values that were: of three, the second is the median, and the third all above. What a request spent nothing on counts.
#[test]
fn several_requests() {
    let columns = "service requests min_ns median_ns p95_ns max_ns slowest";
    check(&three(), "critical-path --table services", columns, &["127.0.0.1:8001 3 34 44 54 54 2"]);
    let columns = "request begin_ns end_ns total_ns";
    let expect = ["1 100 134 34", "2 300 354 54", "3 500 544 44"];
    check(&three(), "critical-path --table requests", columns, &expect);
    let columns = "comm cause total_ns median_ns p95_ns max_ns worst_request";
    let said = analyze(&[&three()], "critical-path --table breakdown --format json").stdout;
    let rows = super::run::rows(&said, columns);
    // The server is on the CPU from 8 ns after the begin to the packet of its answer, 10 + ns after the begin.
    assert_eq!(rows[0], "server cpu 66 22 32 32 2", "{rows:?}");
    // Those that begin and end there.
    check(&three(), "critical-path --table requests --begin @200 --end @400", "total_ns", &["54"]);
}

/// A connection of one request: that begins with its `connect`, at 100. Of a second one, at 200, the first is no longer alone, and begins
/// with its write.
#[test]
fn with_a_connect() {
    let asked = |requests: u64| {
        let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
        host.process(10, "client").process(20, "server");
        let mut connection = Loopback::dumped(&mut host, [40_000, 8_001], 3, &[20]);
        host.at(80).switch(0, 20);
        connection.waits(&mut host, 85, (20, 10));
        let socket = [("family", 2.into()), ("type", 1.into())];
        host.at(90).enter("socket", &socket).after(1).exit("socket", 3);
        let peer: [(&str, FieldValue); 4] = [
            ("fd", 3.into()),
            ("family", 2.into()),
            ("dport", 8_001.into()),
            ("v4addr", [127, 0, 0, 1].into()),
        ];
        host.at(100).enter("connect", &peer).after(5).exit("connect", 0);
        for number in 0..requests {
            let at = 110 + 90 * number;
            connection.asks(&mut host, at, Some(20));
            connection.waits(&mut host, at + 10, (10, 20));
            has_read(&mut host, at + 12);
            connection.answers(&mut host, at + 40, Some(10));
            connection.waits(&mut host, at + 50, (20, 10));
            has_read(&mut host, at + 52);
        }
        host.at(400).switch(10, 0);
        host
    };
    let columns = "begin_ns end_ns total_ns";
    check(&asked(1), "critical-path --table requests", columns, &["100 162 62"]);
    check(&asked(2), "critical-path --table requests", columns, &["110 162 52", "200 252 52"]);
}

fn on(fd: i32, count: u32) -> Vec<(&'static str, FieldValue)> {
    vec![("fd", fd.into()), ("count", count.into())]
}

/// The client is not traced: the request goes from the server's first read to its last write, here of two.
#[test]
fn of_untraced_clients() {
    let (client, server): (End, End) = (([10, 0, 0, 9], 40_000), ([10, 0, 0, 1], 8_001));
    let mut host = asked_from_elsewhere(client, server);
    for (at, seq) in [(150, 5_000), (160, 5_100)] {
        host.at(at).enter("write", &on(3, 100));
        host.at(at + 1)
            .event("net_dev_queue", &segment(server, client, seq, 1_100))
            .after(5)
            .exit("write", 100);
    }
    host.at(170).enter("read", &on(3, 100)).after(1).switch(20, 0);
    host.at(200).softirq_entry(1).after(1).softirq_exit(1);
    let expect = ["1 ? 20 112 166 54 10.0.0.1:8001"];
    check(&host, "critical-path --table requests", REQUESTS, &expect);
    check(&host, "critical-path --table path", STEPS, &["112 166 20 server cpu"]);
}
