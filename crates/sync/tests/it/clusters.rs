//! Simulated clusters with known clocks, through real trace files: the truth lies inside, always.

use std::path::{Path, PathBuf};

use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::{Artefact, BreakKind, Quality};
use isochrone_files::Inputs;
use isochrone_sync::{Options, Outcome, synchronize};
use isochrone_testkit::{Cluster, Family, SimClock};

const S: i64 = 1_000_000_000;

fn run(root: &Path, cluster: &Cluster) -> Outcome {
    let arguments: Vec<PathBuf> = cluster.hosts.iter().map(|host| root.join(&host.name)).collect();
    synchronize(&Inputs::open(&arguments), &Options::default(), &|_| {}).unwrap()
}

/// Checks the corrections of all clocks against the truth, over the whole interval.
fn check_truth(cluster: &Cluster, artefact: &Artefact) {
    check_errors(cluster, artefact, |width| width / 2);
}

/// The same, with how far off a correction may be where its interval is so wide.
fn check_errors(cluster: &Cluster, artefact: &Artefact, most: impl Fn(i64) -> i64) {
    crate::common::check_pairs(cluster, artefact);
    let number = |name: &str| cluster.hosts.iter().position(|host| host.name == name).unwrap();
    for clock in Clocks::new(artefact).unwrap().iter() {
        let truth = cluster.truth(number(&clock.entry.host), number(&clock.reference)).unwrap();
        let rows = clock.interval.rows();
        let (begin, end) = (rows[0].raw, rows[rows.len() - 1].raw);
        for step in 0..=50 {
            let raw = begin + (end - begin) / 50 * step;
            let (lo, hi, _) = clock.interval.at(raw).unwrap();
            let true_raw = truth(raw);
            // The simulated clocks are rounded down to whole ns, twice on the way.
            assert!(
                lo - 2 <= true_raw && true_raw <= hi + 2,
                "{}: {true_raw} in {lo} … {hi}",
                clock.entry.host
            );
            let error = (clock.correction.apply(raw) - true_raw).abs();
            assert!(error <= most(hi - lo) + 2, "{}: off by {error} of {}", clock.entry.host, hi - lo);
        }
    }
}

fn check(cluster: &Cluster, family: Family) -> Artefact {
    let root = tempfile::tempdir().unwrap();
    cluster.write(root.path(), family).unwrap();
    let outcome = run(root.path(), cluster);
    assert!(!outcome.partial, "{:?}", outcome.artefact.refused);
    assert!(outcome.artefact.links.iter().all(|link| link.inversions == 0));
    check_truth(cluster, &outcome.artefact);
    outcome.artefact
}

#[test]
fn chains_meshes_and_stars_of_every_family() {
    for seed in 0..6 {
        for family in [Family::IPV4, Family::IPV6, Family::Addons] {
            check(&Cluster::chain(3).seeded(seed).seconds(20).messages(60), family);
            check(&Cluster::mesh(4).seeded(seed).seconds(20).messages(40), family);
            check(&Cluster::star(4).seeded(seed).seconds(20).messages(40), family);
        }
    }
}

#[test]
fn losses_and_retransmissions_prove_nothing_wrong() {
    let mut ambiguous = 0;
    for seed in 0..6 {
        for family in [Family::IPV4, Family::IPV6] {
            let cluster =
                Cluster::chain(2).seeded(seed).seconds(20).messages(200).lossy(100).retransmitting(100);
            let artefact = check(&cluster, family);
            let link = &artefact.links[0];
            assert_eq!(link.quality, Quality::Accurate);
            assert!(link.messages.a_to_b > 50 && link.messages.b_to_a > 50);
            ambiguous += link.messages.ambiguous;
        }
    }
    assert!(ambiguous > 0, "retransmissions over IPv6 cannot be distinguished");
}

#[test]
fn one_way_traffic_ties_nothing() {
    let cluster = Cluster::chain(2).seconds(10).messages(100).one_way();
    let root = tempfile::tempdir().unwrap();
    cluster.write(root.path(), Family::IPV4).unwrap();
    let outcome = run(root.path(), &cluster);
    assert!(outcome.partial);
    assert_eq!(outcome.artefact.islands.len(), 2);
    assert_eq!(outcome.artefact.links[0].quality, Quality::Incomplete);
}

#[test]
fn a_clock_that_was_set_has_a_break() {
    let stepped = SimClock::new(7 * S, 30_000).step(10 * S, 20_000_000);
    let cluster = Cluster::chain(2).seconds(20).messages(400).clock(1, stepped);
    let root = tempfile::tempdir().unwrap();
    cluster.write(root.path(), Family::IPV4).unwrap();
    let outcome = run(root.path(), &cluster);
    let artefact = &outcome.artefact;
    assert_eq!(artefact.links[0].quality, Quality::Accurate);
    check_truth(&cluster, artefact);
    let (stepped, other): (Vec<_>, Vec<_>) =
        artefact.clocks.iter().partition(|c| c.host != artefact.reference);
    let [found] = &stepped[0].breaks[..] else { panic!("{:?}", stepped[0].breaks) };
    assert!(found.kind == BreakKind::Step && (found.size_ns.abs() - 20_000_000).abs() < 100_000, "{found:?}");
    assert!(other[0].breaks.is_empty());
}

#[test]
fn coarse_and_odd_frequencies_are_exact() {
    for frequency in [24_000_000, 1_000_000, 2_400_000_000, 3_000_000_000] {
        let mut cluster = Cluster::chain(2).seconds(20).messages(200);
        cluster.hosts[1].frequency = frequency;
        let root = tempfile::tempdir().unwrap();
        cluster.write(root.path(), Family::IPV4).unwrap();
        let outcome = run(root.path(), &cluster);
        assert!(!outcome.partial);
        check_truth(&cluster, &outcome.artefact);
    }
}

#[test]
fn ticks_that_no_metadata_declare_are_found() {
    for (frequency, tick, tick_ns) in [
        (1_000_000_000, 1_000_000, 1_000_000),
        (1_000_000_000, 15_625_000, 15_625_000),
        (24_000_000, 24_000_000 / 1024, 976_542),
        (3_000_000, 10_000, 3_333_334),
    ] {
        for both in [false, true] {
            let mut cluster = Cluster::chain(2).seconds(20).messages(200);
            for host in &mut cluster.hosts[usize::from(!both)..] {
                (host.frequency, host.tick) = (frequency, tick);
            }
            let root = tempfile::tempdir().unwrap();
            cluster.write(root.path(), Family::IPV4).unwrap();
            let outcome = run(root.path(), &cluster);
            assert!(!outcome.partial, "{:?}", outcome.artefact.refused);
            let artefact = &outcome.artefact;
            assert!(artefact.suspects.is_empty() && artefact.links[0].quality == Quality::Accurate);
            assert!(artefact.clocks.iter().all(|clock| clock.breaks.is_empty()));
            let found: Vec<u64> =
                artefact.clocks.iter().map(|clock| clock.resolution.unwrap().tick_ns).collect();
            assert_eq!(found, [if both { tick_ns } else { 1 }, tick_ns], "{frequency} {tick}");
            check_errors(&cluster, artefact, |width| width);
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let cluster = Cluster::mesh(4).seconds(10).messages(50);
    let root = tempfile::tempdir().unwrap();
    cluster.write(root.path(), Family::IPV4).unwrap();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(root.path(), &cluster)).artefact.to_json().unwrap()
    };
    assert_eq!(with(1), with(4));
}
