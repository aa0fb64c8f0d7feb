//! Conversations: both directions of connections, and each packet of one.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The rows of a table of `messages` of the example, as objects.
fn rows(cache: &Path, arguments: &[&str], table: &str) -> Vec<Value> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    rows_of(&["client", "app", "db"].map(|host| example.join(host)), cache, arguments, table)
}

fn rows_of(traces: &[PathBuf], cache: &Path, arguments: &[&str], table: &str) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
        .env("XDG_CACHE_HOME", cache)
        .args(["messages", "-q", "--format", "jsonl", "--table", table])
        .args(arguments)
        .args(traces)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(row: &Value, column: &str) -> i64 {
    row[column].as_i64().unwrap_or(0)
}

#[test]
fn both_directions_are_one_row() {
    let cache = tempfile::tempdir().unwrap();
    let conversations = rows(cache.path(), &[], "conversations");
    let connections = rows(cache.path(), &[], "connections");
    let sum = |rows: &[Value], column: &str| rows.iter().map(|row| number(row, column)).sum::<i64>();
    for [out, back, of_each] in
        [["packets_out", "packets_back", "count"], ["bytes_out", "bytes_back", "bytes"]]
    {
        let both = sum(&conversations, out) + sum(&conversations, back);
        assert_eq!(both, sum(&connections, of_each), "{of_each}");
    }
    assert_eq!(sum(&conversations, "retransmissions"), sum(&connections, "retransmissions"));
    let ends = |row: &Value| {
        let mut ends = [row["source"].to_string(), row["destination"].to_string()];
        ends.sort();
        ends
    };
    let mut all: Vec<_> = connections.iter().map(ends).collect();
    all.sort();
    all.dedup();
    let mut found: Vec<_> = conversations.iter().map(ends).collect();
    found.sort();
    assert_eq!(found, all);
}

#[test]
fn each_packet_of_one_is_followed() {
    let cache = tempfile::tempdir().unwrap();
    let messages = rows(cache.path(), &[], "messages");
    for row in rows(cache.path(), &["--limit", "6"], "conversations") {
        let (source, destination) = (row["source"].as_str().unwrap(), row["destination"].as_str().unwrap());
        let packets = rows(cache.path(), &["--follow", &format!("{source},{destination}")], "packets");
        let is_matched = |packet: &&Value| !packet["what"].as_str().unwrap().contains("unmatched");
        let both = number(&row, "packets_out") + number(&row, "packets_back");
        assert_eq!(packets.iter().filter(is_matched).count() as i64, both, "{row}");
        // Those of the log, with the same figures.
        for packet in packets.iter().filter(is_matched) {
            let same =
                ["from", "to", "sent_ns", "received_ns", "latency_ns", "source", "destination", "bytes"];
            let is_it = |message: &&Value| same.iter().all(|column| message[*column] == packet[*column]);
            assert_eq!(messages.iter().filter(is_it).count(), 1, "{packet}");
        }
        let at = |packet: &Value| packet["sent_ns"].as_i64().or(packet["received_ns"].as_i64()).unwrap();
        assert!(packets.windows(2).all(|two| at(&two[0]) <= at(&two[1])));
        assert!(packets.iter().any(|packet| packet["what"] == "data"), "{packets:?}");
        assert!(packets.iter().any(|packet| packet["sending_ns"].is_i64() && packet["reading_ns"].is_i64()));
        // One end that nothing else has is enough.
        let client =
            if source.ends_with(":8080") || source.ends_with(":9000") { destination } else { source };
        assert_eq!(rows(cache.path(), &["--follow", client], "packets"), packets);
    }
    // All of a server are many.
    let of_server = rows(cache.path(), &["--follow", "10.0.0.2:8080"], "packets");
    let is_its =
        |packet: &Value| [&packet["source"], &packet["destination"]].iter().any(|it| **it == "10.0.0.2:8080");
    assert!(of_server.len() > 100 && of_server.iter().all(is_its));
}

/// What is marked as sent again is what is counted so, whether packets are cut up on their way, lost, or of
/// hosts on their own clocks; and each packet of a host is there once.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn packets_that_are_sent_again_cut_up_and_lost() {
    let cache = tempfile::tempdir().unwrap();
    for scenario in ["lossy2", "web2gso", "ipv6_2", "udp2"] {
        let hosts =
            ["h1", "h2"].map(|host| crate::common::shared().join("data/vm").join(scenario).join(host));
        for clock in [&[][..], &["--no-sync"]] {
            let of = |arguments: &[&str], table: &str| {
                rows_of(&hosts, cache.path(), &[clock, arguments].concat(), table)
            };
            for row in of(&["--limit", "4"], "conversations") {
                let ends = [&row["source"], &row["destination"]].map(|it| it.as_str().unwrap()).join(",");
                let packets = of(&["--follow", &ends], "packets");
                let what = |packet: &Value| packet["what"].as_str().unwrap().to_owned();
                // Of a packet that was cut up each part is a row.
                let mut again: Vec<i64> = Vec::new();
                for packet in packets.iter().filter(|packet| what(packet).contains("sent again")) {
                    again.extend(packet["sent_ns"].as_i64());
                }
                again.sort_unstable();
                again.dedup();
                assert_eq!(again.len() as i64, number(&row, "retransmissions"), "{scenario} {ends}");
                let matched = packets.iter().filter(|packet| !what(packet).contains("unmatched")).count();
                let both = number(&row, "packets_out") + number(&row, "packets_back");
                assert_eq!(matched as i64, both, "{scenario} {ends}");
                let lost = packets.iter().filter(|packet| what(packet).contains("unmatched")).count();
                // Of packets that were cut up, it may be open which of several parts is which.
                let may_lack = ["lossy2", "web2gso"].contains(&scenario);
                assert!(lost == 0 || may_lack, "{scenario} {ends}: {lost}");
                assert!(scenario != "lossy2" || lost >= again.len(), "{scenario} {ends}: {lost}");
            }
        }
    }
}

/// Packets that stay within a host are there as they were sent and as they were received, and called so.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn packets_within_a_host_are_not_lost() {
    let cache = tempfile::tempdir().unwrap();
    let trace = [crate::common::shared().join("data/vm/ipc1")];
    let packets = rows_of(&trace, cache.path(), &["--follow", "127.0.0.1"], "packets");
    let count = |words: &str| {
        packets.iter().filter(|packet| packet["what"].as_str().unwrap().contains(words)).count()
    };
    let (sent, received) = (count("sent within the host"), count("received within the host"));
    assert!(sent > 0 && sent == received && sent + received == packets.len(), "{sent} {received}");
    assert_eq!(count("unmatched"), 0);
}

#[test]
fn what_is_not_there_is_said() {
    let cache = tempfile::tempdir().unwrap();
    let say = |address: &str| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
        let output = Command::new(env!("CARGO_BIN_EXE_isochrone"))
            .env("XDG_CACHE_HOME", cache.path())
            .args(["messages", "--follow", address])
            .arg(example.join("app"))
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (status, said) = say("10.9.9.9:80");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("no packet of these addresses is in the traces; "), "{said}");
    let (status, said) = say("appsrv");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("not an address, as in 10.0.0.2:8080"), "{said}");
    let (status, said) = say("10.0.0.1,10.0.0.2,10.0.0.3");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("--follow takes one address, or two"), "{said}");
}
