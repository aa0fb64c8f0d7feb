//! Hosts that share a clock: one for the mathematics, several in the artefact.

use std::path::PathBuf;

use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::{Artefact, BreakKind, LinkEntry, Method, Quality};
use isochrone_files::Inputs;
use isochrone_sync::{Options, Outcome, synchronize, synchronize_messages};
use isochrone_testkit::{Cluster, Family, SimClock};
use tempfile::TempDir;

const S: i64 = 1_000_000_000;

fn groups(groups: &[&[&str]]) -> Vec<Vec<String>> {
    groups.iter().map(|group| group.iter().map(|&name| name.to_owned()).collect()).collect()
}

fn run(cluster: &Cluster, trusted: &[&[&str]], reference: Option<&str>) -> Outcome {
    let root = TempDir::new().unwrap();
    cluster.write(root.path(), Family::IPV4).unwrap();
    let arguments: Vec<PathBuf> = cluster.hosts.iter().map(|host| root.path().join(&host.name)).collect();
    let options =
        Options { trusted: groups(trusted), reference: reference.map(str::to_owned), ..Options::default() };
    synchronize(&Inputs::open(&arguments), &options, &|_| {}).unwrap()
}

/// Hosts 0 and 2 by the same clock, booted hours apart; host 1 by another, which exchanges messages with both.
fn shared_clock() -> Cluster {
    let shared = |offset: i64| SimClock::new(offset, 20_000).unix_error(-3_000_000);
    Cluster::chain(3)
        .seconds(30)
        .messages(300)
        .clock(0, shared(4_000 * S))
        .clock(1, SimClock::new(900 * S, -15_000).unix_error(7_000_000))
        .clock(2, shared(17_000 * S + 123))
}

/// The truth lies inside everywhere; the widest bounds, ns.
fn check_truth(cluster: &Cluster, artefact: &Artefact) -> i64 {
    let number = |name: &str| cluster.hosts.iter().position(|host| host.name == name).unwrap();
    crate::common::check_pairs(cluster, artefact);
    let mut widest = 0;
    for clock in Clocks::new(artefact).unwrap().iter() {
        assert!(clock.proven, "{}", clock.entry.host);
        let truth = cluster.truth(number(&clock.entry.host), number(&clock.reference)).unwrap();
        let rows = clock.interval.rows();
        let (begin, end) = (rows[0].raw, rows[rows.len() - 1].raw);
        assert!(end - begin > 25 * S, "{}: {begin} … {end}", clock.entry.host);
        for step in 0..=100 {
            let raw = begin + (end - begin) / 100 * step;
            let (lo, hi, _) = clock.interval.at(raw).unwrap();
            let (true_raw, estimate) = (truth(raw), clock.correction.apply(raw));
            assert!(lo - 2 <= true_raw && true_raw <= hi + 2, "{}: {true_raw}", clock.entry.host);
            assert!(lo <= estimate && estimate <= hi, "{}: {estimate}", clock.entry.host);
            widest = widest.max(hi - lo);
        }
    }
    widest
}

fn link<'l>(artefact: &'l Artefact, a: &str, b: &str) -> &'l LinkEntry {
    artefact.links.iter().find(|link| link.a == a && link.b == b).unwrap()
}

#[test]
fn hosts_of_one_clock_profit_from_each_other() {
    let cluster = shared_clock();
    for reference in [None, Some("h0"), Some("h1"), Some("h2")] {
        let alone = run(&cluster, &[], reference);
        let together = run(&cluster, &[&["h2", "h0"]], reference);
        assert!(!together.partial && together.notes.is_empty(), "{:?}", together.notes);
        let (alone, together) = (alone.artefact, together.artefact);
        assert_eq!(together.islands.len(), 1);
        assert!(reference.is_none_or(|host| host == together.reference));
        let widths = [check_truth(&cluster, &alone), check_truth(&cluster, &together)];
        assert!(widths[1] < widths[0], "{reference:?}: {widths:?}");
        let trusted = link(&together, "h0", "h2");
        assert_eq!(
            (trusted.quality, trusted.method, trusted.inversions),
            (Quality::Accurate, Method::Trusted, 0)
        );
        for (a, b) in [("h0", "h1"), ("h1", "h2")] {
            let (link, alone) = (link(&together, a, b), link(&alone, a, b));
            assert_eq!((link.quality, link.inversions), (Quality::Accurate, 0));
            assert_eq!(link.messages, alone.messages);
            // What both links say is within what one says.
            let lo = |link: &LinkEntry| link.rate_ppm.0.unwrap();
            let hi = |link: &LinkEntry| link.rate_ppm.1.unwrap();
            assert!(lo(alone) - 1e-6 <= lo(link) && hi(link) <= hi(alone) + 1e-6, "{a} – {b}");
            let true_ppm = if a == "h0" { -35.0 } else { 35.0 };
            assert!(lo(link) < true_ppm && true_ppm < hi(link), "{a} – {b}: {:?}", link.rate_ppm);
            let offsets = (link.offset_at_middle_ns.0.unwrap(), link.offset_at_middle_ns.1.unwrap());
            // 10 ms apart by their Unix times, and drifting by 35 µs in a second.
            let true_ns = if a == "h0" { 10_000_000 - 525_000 } else { 525_000 - 10_000_000 };
            assert!(offsets.0 < true_ns + 50_000 && true_ns - 50_000 < offsets.1, "{a} – {b}: {offsets:?}");
        }
    }
}

#[test]
fn trust_ties_what_messages_do_not() {
    // Host 2 talks to itself only; hosts 1 and 3 exchange messages one way each, and only together both ways.
    let mut cluster = Cluster::with_links(4, [(0, 1), (3, 0)]).seconds(30).messages(300).one_way();
    let shared = |offset: i64| SimClock::new(offset, 5_000).unix_error(1_000_000);
    for (host, offset) in [(1, 50), (2, 9_000), (3, 777)] {
        cluster = cluster.clock(host, shared(offset * S));
    }
    cluster.links.push(isochrone_testkit::SimLink::between(2, 2));
    let apart = run(&cluster, &[], None);
    assert_eq!(apart.artefact.islands.len(), 4);
    // Two groups with a host in common are one.
    let together = run(&cluster, &[&["h1", "h2"], &["h2", "h3"]], None);
    assert_eq!(together.artefact.islands.len(), 1, "{:?}", together.artefact.islands);
    assert!(!together.partial);
    check_truth(&cluster, &together.artefact);
}

#[test]
fn breaks_are_those_of_all_hosts_of_a_clock() {
    let shared = |offset: i64| SimClock::new(offset, 0).step(15 * S, 2_000_000_000);
    let cluster = shared_clock().clock(0, shared(4_000 * S)).clock(2, shared(17_000 * S));
    let outcome = run(&cluster, &[&["h0", "h2"]], Some("h1"));
    for (host, offset) in [("h0", 4_000), ("h2", 17_000)] {
        let entry = outcome.artefact.clocks.iter().find(|clock| clock.host == host).unwrap();
        let [step] = &entry.breaks[..] else { panic!("{host}: {:?}", entry.breaks) };
        assert_eq!(step.kind, BreakKind::Step);
        let (begin, end) = step.raw_range_ns;
        assert!(begin < (offset + 16) * S && (offset + 16) * S < end, "{host}: {begin} … {end}");
        assert!((step.size_ns - 2_000_000_000).abs() < 1_000_000, "{host}: {}", step.size_ns);
    }
}

#[test]
fn messages_contradict_a_wrong_trust() {
    // Not one clock at all, and half a millisecond apart.
    let cluster = Cluster::mesh(3)
        .seconds(30)
        .messages(300)
        .clock(0, SimClock::new(40 * S, 0))
        .clock(1, SimClock::new(900 * S, 0).unix_error(7_000_000))
        .clock(2, SimClock::new(99 * S, 0).unix_error(500_000));
    let outcome = run(&cluster, &[&["h0", "h2"]], None);
    let trusted = link(&outcome.artefact, "h0", "h2");
    assert_eq!((trusted.quality, trusted.method), (Quality::Approximate, Method::Trusted));
    assert!(trusted.inversions > 50, "{}", trusted.inversions);
    let told = format!("h0 – h2: {} messages contradict the trust in their common clock", trusted.inversions);
    assert!(outcome.notes.iter().any(|note| note.starts_with(&told)), "{:?}", outcome.notes);
    let clocks = Clocks::new(&outcome.artefact).unwrap();
    let corrected = clocks.iter().filter(|clock| clock.entry.host != clock.reference);
    let proven: Vec<bool> = corrected.map(|clock| clock.proven).collect();
    assert!(!proven.is_empty() && !proven.contains(&true), "nothing is proven by a wrong trust: {proven:?}");
}

#[test]
fn lists_of_messages_have_trusted_hosts_too() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("list.txt");
    let run = |text: &str, trusted: &[&[&str]]| {
        std::fs::write(&path, text).unwrap();
        let options = Options { trusted: groups(trusted), ..Options::default() };
        synchronize_messages(&path, &options, &|_| {})
    };
    // Host 0 is silent; 1 and 3 are one clock, and one message of theirs is 30 ns early; stamps have nothing in common, as those of clocks of whole ns.
    let text =
        "4\n1 2 1001 6100\n2 3 6500 1603\n1 3 2000 1970\n3 1 2000 2040\n3 2 3000 8090\n2 1 9000 4107\n";
    let outcome = run(text, &[&["0", "1", "3"]]).unwrap();
    assert_eq!(outcome.artefact.islands[0].hosts, ["1", "2", "3"]);
    let trusted = link(&outcome.artefact, "1", "3");
    assert_eq!((trusted.messages.a_to_b, trusted.messages.b_to_a, trusted.inversions), (1, 1, 1));
    let told = "1 – 3: 1 messages contradict the trust in their common clock: by it they arrive up to 30 ns";
    assert!(outcome.notes.iter().any(|note| note.starts_with(told)), "{:?}", outcome.notes);
    let unknown = run(text, &[&["1", "9"]]).unwrap_err();
    assert_eq!(unknown.to_string(), "no host is called `9`; there are 0, 1, 2, 3");
}
