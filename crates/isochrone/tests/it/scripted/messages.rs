//! `messages`: packets between hosts, each rule on conversations that are small enough to check by eye.

use isochrone_testkit::{FieldValue, KernelScript};

use super::across::client_and_server;
use super::critical_path::{BYTES, End, US, hosts, segment};
use super::run::{analyze, check_all, rows};

/// The hosts of `critical_path.rs`, of which nothing ties the clocks together: how long a packet takes is unknown, a round trip is exact. On each of two
/// connections, a request is in its queue 10 µs after the call began. The server has read the one of port 40000 11 µs after it came, the one of 40001 after 171;
/// the clients have read each answer 11 µs after it came.
#[test]
fn by_connection() {
    let [h1, h2] = hosts();
    let columns = "from to source destination count bytes min_ns round_trip_min_ns round_trip_median_ns \
                   sending_median_ns reading_median_ns reading_max_ns";
    let expect = [
        "h1 h2 10.0.0.1:40000 10.0.0.2:8001 7 700 ? 200000 200000 10000 11000 11000",
        "h1 h2 10.0.0.1:40001 10.0.0.2:8001 7 700 ? 200000 200000 10000 171000 171000",
        "h2 h1 10.0.0.2:8001 10.0.0.1:40000 7 700 ? 200000 200000 10000 11000 11000",
        "h2 h1 10.0.0.2:8001 10.0.0.1:40001 7 700 ? 200000 200000 10000 11000 11000",
    ];
    check_all(&[&h1, &h2], "messages --no-sync --table connections", columns, &expect);
    let columns = "from to count bytes min_ns max_ns uncertainty_ns round_trip_min_ns reading_max_ns";
    let expect = ["h1 h2 14 1400 ? ? ? 200000 171000", "h2 h1 14 1400 ? ? ? 200000 11000"];
    check_all(&[&h1, &h2], "messages --no-sync --table links", columns, &expect);
}

/// Those that arrive in the fifth millisecond, with the times that each host saw, and bounds that hold the 100 µs that it took.
#[test]
fn one_by_one() {
    let [h1, h2] = hosts();
    let arguments = "messages --table messages --begin @5000000 --end @5700000 --format json";
    let said = analyze(&[&h1, &h2], arguments);
    let columns = "from to source destination bytes sent_raw_ns received_raw_ns";
    let expect = [
        "h1 h2 10.0.0.1:40000 10.0.0.2:8001 100 5010000 5110000",
        "h1 h2 10.0.0.1:40001 10.0.0.2:8001 100 5060000 5160000",
        "h2 h1 10.0.0.2:8001 10.0.0.1:40000 100 5310000 5410000",
        "h2 h1 10.0.0.2:8001 10.0.0.1:40001 100 5510000 5610000",
    ];
    assert_eq!(rows(&said.stdout, columns), expect, "{}", said.stderr);
    for row in rows(&said.stdout, "latency_lo_ns latency_ns latency_hi_ns") {
        let [lo, latency, hi]: [i64; 3] =
            row.split(' ').map(|ns| ns.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap();
        let took = 100 * US as i64;
        assert!(lo <= took && took <= hi && lo <= latency && latency <= hi, "{row}");
    }
}

/// Thread 10 of h1 asks every millisecond, ten times: from 0 on in a call of 5 µs, in the queue at 2 µs, on h2 at 102; the answer goes back from 302
/// to 402. The sixth request is lost, and sent again at 62 by a softirq, when the call is over; it arrives at 162.
fn lossy() -> [KernelScript; 2] {
    let [mut h1, mut h2] = client_and_server();
    let (client, server): (End, End) = (([10, 0, 0, 1], 40_000), ([10, 0, 0, 2], 8_001));
    let on: [(&str, FieldValue); 2] = [("fd", 3.into()), ("count", BYTES.into())];
    for number in 0..10_u32 {
        let at = |us: u64| 1_000 * US * u64::from(1 + number) + us * US;
        let [asked, answered] = [1_000, 500_000].map(|first| first + number * BYTES);
        let request = segment(client, server, asked, answered);
        let answer = segment(server, client, answered, asked + BYTES);
        h1.at(at(0)).enter("write", &on).after(2 * US).event("net_dev_queue", &request);
        h1.at(at(5)).exit("write", BYTES.into());
        let late = if number == 5 { 60 } else { 0 };
        if number == 5 {
            h1.at(at(60)).softirq_entry(1).after(2 * US).event("net_dev_queue", &request);
            h1.at(at(63)).softirq_exit(1);
        }
        h2.at(at(101 + late)).softirq_entry(3).after(US).event("net_if_receive_skb", &request);
        h2.at(at(103 + late)).softirq_exit(3);
        h2.at(at(200)).enter("read", &on).after(US).exit("read", BYTES.into());
        h2.at(at(300)).enter("write", &on).after(2 * US).event("net_dev_queue", &answer);
        h2.at(at(305)).exit("write", BYTES.into());
        h1.at(at(401)).softirq_entry(3).after(US).event("net_if_receive_skb", &answer);
        h1.at(at(403)).softirq_exit(3);
        h1.at(at(420)).enter("read", &on).after(US).exit("read", BYTES.into());
    }
    [h1, h2]
}

/// Of two departures of one segment nobody knows which arrived: it is no message, and a retransmission.
#[test]
fn segments_that_are_sent_again() {
    let [h1, h2] = lossy();
    let columns = "from to count bytes retransmissions round_trip_min_ns sending_max_ns reading_max_ns";
    // Of ten requests all but this one and the first, of which a copy may have been sent before.
    let expect = ["h1 h2 8 800 1 200000 2000 99000", "h2 h1 9 900 0 200000 2000 19000"];
    check_all(&[&h1, &h2], "messages --no-sync --table links", columns, &expect);
    // In a window without it, there is none.
    let arguments = "messages --no-sync --table links --begin @7000000 --end @9000000";
    check_all(&[&h1, &h2], arguments, "from to count retransmissions", &["h1 h2 2 0", "h2 h1 2 0"]);
}
