//! Latencies of messages against the known clocks of the hosts.

use crate::common::{ask, int, json, shared, text};
use isochrone_crosshost::messages;

/// The truth lies within the bounds of each message, and the figures of links are those of their messages.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn the_truth_is_within_the_bounds() {
    for (part, at_least) in [("chain3", 700), ("lossy2", 900), ("udp2", 300), ("mpi4", 1_500)] {
        let truth = json(&shared(part).join("truth.json"));
        // Of a host, from Unix ns of its trace: the reference's time, and how sure that is.
        let reference = |host: &str, raw: f64| {
            let fit = &truth["hosts"][host]["fit"];
            let figure = |name: &str| fit[name].as_f64().unwrap();
            figure("x0") + (raw - figure("y0") - figure("a")) / (1.0 + figure("b"))
        };
        let sure = |host: &str| truth["hosts"][host]["clock_uncertainty_ns"].as_f64().unwrap();
        ask(&[shared(part)], |cluster| {
            let report = messages(cluster, None, true, true).unwrap();
            let log = report.table("messages").unwrap();
            assert!(log.rows.len() >= at_least, "{part}: {}", log.rows.len());
            for row in &log.rows {
                let [lo, hi] =
                    ["latency_lo_ns", "latency_hi_ns"].map(|name| int(log, &row, name).unwrap() as f64);
                let latency = int(log, &row, "latency_ns").unwrap() as f64;
                assert!(lo <= latency && latency <= hi, "{part}: {lo} {latency} {hi}");
                let [from, to] = ["from", "to"].map(|name| text(log, &row, name).unwrap());
                let raw = |name: &str| int(log, &row, name).unwrap() as f64;
                let true_latency =
                    reference(&to, raw("received_raw_ns")) - reference(&from, raw("sent_raw_ns"));
                let slack = sure(&from) + sure(&to);
                assert!(
                    lo - slack <= true_latency && true_latency <= hi + slack,
                    "{part}: {from} {to} {lo} {true_latency} {hi}"
                );
            }
            let links = report.table("links").unwrap();
            let count: i128 = links.rows.iter().map(|row| int(links, &row, "count").unwrap()).sum();
            assert_eq!(count, log.rows.len() as i128, "{part}");
            for row in &links.rows {
                // Both ways through the network take longer than either.
                let round_trip = int(links, &row, "round_trip_min_ns");
                assert!(round_trip.is_none_or(|ns| ns > 50_000), "{part}: {round_trip:?}");
            }
            if part == "mpi4" {
                // 40 times each rank sends 8 KiB to its neighbours.
                for (from, to) in
                    [("h1", "h2"), ("h2", "h1"), ("h2", "h3"), ("h3", "h2"), ("h3", "h4"), ("h4", "h3")]
                {
                    let is_it =
                        |row: &Vec<_>| ["from", "to"].map(|name| text(log, row, name).unwrap()) == [from, to];
                    let of_link = log.rows.iter().filter(is_it);
                    let bytes: i128 = of_link.map(|row| int(log, &row, "bytes").unwrap()).sum();
                    assert!(bytes >= 40 * 8192, "{from} {to}: {bytes}");
                }
            }
            if part == "lossy2" {
                let again: i128 =
                    links.rows.iter().map(|row| int(links, &row, "retransmissions").unwrap()).sum();
                assert!(again > 0, "packets were lost, and nothing was sent again");
            }
        });
    }
}
