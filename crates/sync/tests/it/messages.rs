//! Lists of messages as text, from the file to the artefact.

use std::fmt::Write;
use std::path::Path;

use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::Quality;
use isochrone_sync::{Options, Outcome, SyncError, synchronize_messages};
use tempfile::TempDir;

fn synchronize(text: &str, reference: Option<&str>) -> Result<Outcome, SyncError> {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("list.txt");
    std::fs::write(&path, text).unwrap();
    let options = Options { reference: reference.map(str::to_owned), ..Options::default() };
    synchronize_messages(&path, &options, &|_| {})
}

/// A ring of hosts; host k's clock is k s ahead of that of host 0.
fn ring(hosts: i64) -> String {
    let mut text = format!("# a ring\n{hosts}\n");
    for count in 0..1000 {
        // Not in whole steps of anything.
        let (from, at) = (count % hosts, count * 1_000_000 - count * 3 % 7);
        let to = (from + 1) % hosts;
        for (a, b) in [(from, to), (to, from)] {
            let (sent, received) = (at + a * 1_000_000_000, at + 20_000 + b * 1_000_000_000);
            // Both ways to write a time.
            writeln!(
                text,
                "{a}\t{b} {sent} {}.{:09} more",
                received / 1_000_000_000,
                received % 1_000_000_000
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn every_host_is_a_clock() {
    let outcome = synchronize(&ring(12), Some("0")).unwrap();
    assert!(!outcome.partial && outcome.notes.is_empty());
    let hosts: Vec<_> = outcome.artefact.clocks.iter().map(|clock| clock.host.as_str()).collect();
    assert_eq!(hosts, ["0", "1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9"]);
    Clocks::new(&outcome.artefact).unwrap();
    for clock in &outcome.artefact.clocks {
        assert_eq!((&clock.id, clock.clock_offset_ns, clock.traces.len()), (&clock.host, 0, 0));
        let ahead = clock.host.parse::<i64>().unwrap() * 1_000_000_000;
        let (raw, reference) = clock.knots[0];
        assert!((raw - reference - ahead).abs() < 40_000, "{}: {raw} {reference}", clock.host);
        // From the first to the last message.
        let last = clock.interval.last().unwrap().0 - ahead;
        assert!((900_000_000..=999_020_000).contains(&last), "{}: {last}", clock.host);
    }
    let counted = outcome.artefact.links.iter().filter(|link| link.quality == Quality::Accurate);
    assert_eq!(counted.map(|link| link.messages.a_to_b + link.messages.b_to_a).sum::<u64>(), 2000);
    assert!(outcome.artefact.links.iter().all(|link| link.a < link.b && link.inversions == 0));
}

#[test]
fn hosts_without_messages_are_named() {
    let outcome = synchronize("4\n1 3 10 20\n3 1 30 40\n", None).unwrap();
    let hosts: Vec<_> = outcome.artefact.clocks.iter().map(|clock| clock.host.as_str()).collect();
    assert_eq!(hosts, ["1", "3"]);
    let refused: Vec<_> = outcome.artefact.refused.iter().map(|r| (r.what.name(), r.name.as_str())).collect();
    assert_eq!(refused, [("host", "0"), ("host", "2")]);
    assert_eq!(outcome.artefact.links[0].messages.a_to_b, 1);
    assert!(outcome.partial);
}

#[test]
fn what_cannot_be_used_is_an_error() {
    let check = |text: &str, reference, expect: &str| {
        let error = synchronize(text, reference).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check("2\n0 1 5\n", None, "list.txt:2: a message is");
    check("2\n", None, "list.txt: no message is in it");
    check("2\n0 1 1 2\n", Some("2"), "no host is called `2`; there are 0, 1");
}

/// The inputs of LTTV's unit test, each with what becomes of its link.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn the_lists_of_lttv() {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/lttv/inputs");
    let messages = [4, 8, 12, 8, 8, 8, 8, 2, 3, 3, 12, 10];
    for (number, messages) in (1..).zip(messages) {
        let path = inputs.join(format!("test{number}.txt"));
        let outcome = synchronize_messages(&path, &Options::default(), &|_| {}).unwrap();
        let link = &outcome.artefact.links[0];
        assert_eq!(link.messages.a_to_b + link.messages.b_to_a, messages, "test{number}");
        assert_eq!(outcome.artefact.clocks.len(), 2);
    }
}
