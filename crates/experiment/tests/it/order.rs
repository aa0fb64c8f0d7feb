//! Which of two instants was first, held against simulated clusters whose clocks are known: what is proven is true, and what is likely is as
//! often true as is said.

#![allow(clippy::print_stdout)] // Says what it measured.

use std::cmp::Ordering;
use std::fmt::Write;

use isochrone_corrections::Clocks;
use isochrone_experiment::{Instant, Order, TimesOf, Unknown, Verdict, order};
use isochrone_sync::{Options, Outcome, synchronize_messages};
use isochrone_testkit::{Cluster, Evidence, Random, SimClock, SteeredCluster};
use isochrone_time::RawNs;

/// How far the simulated clocks are from the truth by rounding, ns.
const ROUNDING_NS: i64 = 2;

type Message = (usize, i64, usize, i64);

fn synchronized(hosts: usize, messages: impl IntoIterator<Item = Message>, free: bool) -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let list = directory.path().join("list");
    let mut text = format!("{hosts}\n");
    for (sender, sent, receiver, received) in messages {
        writeln!(text, "{sender} {receiver} {sent} {received}").unwrap();
    }
    std::fs::write(&list, text).unwrap();
    let clocks = if free { vec![(None, "free".parse().unwrap())] } else { Vec::new() };
    synchronize_messages(&list, &Options { clocks, ..Options::default() }, &|_| ()).unwrap()
}

fn at(clocks: &Clocks, host: usize, raw: i64) -> Instant<'_> {
    Instant::new(clocks, &host.to_string(), raw.into(), TimesOf::Raw).unwrap()
}

/// What came of all pairs that were drawn.
#[derive(Debug, Default)]
struct Tally {
    proven: u64,
    open: u64,
    /// The probability that was stated, and whether the order was right.
    stated: Vec<(f64, bool)>,
}

impl Tally {
    /// Draws pairs of instants of two hosts, from a microsecond to some hundred milliseconds apart, and holds the answers against the truth.
    fn draw(
        &mut self,
        name: &str,
        clocks: &[&SimClock],
        outcome: &Outcome,
        seconds: u64,
        random: &mut Random,
    ) {
        let known: Vec<usize> =
            (0..clocks.len()).filter(|host| outcome.clocks.of_host(&host.to_string()).is_some()).collect();
        for _ in 0..200 {
            let mut any = || known[random.below(known.len() as u64) as usize];
            let (a, b) = (any(), any());
            if a == b {
                continue;
            }
            let begin = random.below(seconds * 1_000_000_000) as i64;
            let size = 1_000 << random.below(18);
            let apart = random.either_way(size);
            let raws = [clocks[a].raw(begin), clocks[b].raw(begin + apart)];
            let truth = clocks[b].raw(clocks[a].true_ns(raws[0])).cmp(&raws[1]);
            if (clocks[b].raw(clocks[a].true_ns(raws[0])) - raws[1]).abs() <= ROUNDING_NS {
                continue;
            }
            let (first, second) = (at(&outcome.clocks, a, raws[0]), at(&outcome.clocks, b, raws[1]));
            let found = order(&outcome.clocks, &first, &second);
            let is_right = found.ordering == Some(truth);
            check_shape(&found);
            // Whichever is named first.
            let turned = order(&outcome.clocks, &second, &first);
            assert!(
                !(found.verdict == Verdict::Proven && turned.verdict == Verdict::Proven)
                    || turned.ordering == found.ordering.map(Ordering::reverse),
                "{name}: {found:?} {turned:?}"
            );
            match found.verdict {
                Verdict::Proven => {
                    assert!(is_right, "{name}: {a} at {} and {b} at {}: {found:?}", raws[0], raws[1]);
                    self.proven += 1;
                }
                Verdict::Likely => self.stated.push((found.probability.unwrap(), is_right)),
                Verdict::Open => {
                    self.open += 1;
                    self.stated.extend(found.probability.map(|probability| (probability, is_right)));
                }
            }
        }
    }

    /// The share that was right of those whose probability is within some bounds, the mean that was stated, and how many there are.
    fn calibration(&self, least: f64, most: f64) -> (f64, f64, usize) {
        let within: Vec<_> = self.stated.iter().filter(|(p, _)| (least..most).contains(p)).collect();
        let count = within.len().max(1) as f64;
        let right = within.iter().filter(|(_, right)| *right).count() as f64 / count;
        (right, within.iter().map(|(p, _)| p).sum::<f64>() / count, within.len())
    }

    fn check_calibration(&self) {
        for (least, most) in
            [(0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 0.98), (0.98, 1.0)]
        {
            let (right, stated, count) = self.calibration(least, most);
            println!("{least} to {most}: {count} pairs, {stated:.3} stated, {right:.3} right");
            assert!(
                right >= stated - 0.05 || count < 100,
                "{right:.3} of {count} are right, {stated:.3} stated"
            );
        }
        println!("{} proven, {} open", self.proven, self.open);
    }
}

/// What holds of all answers.
fn check_shape(found: &Order<'_>) {
    let Order { verdict, ordering, gap, bounds, probability, unknown, .. } = *found;
    assert_eq!(
        verdict == Verdict::Proven,
        probability.is_none() && unknown.is_none() && bounds != (None, None) && {
            bounds.0.is_some_and(|least| least > 0) || bounds.1.is_some_and(|most| most < 0)
        },
        "{found:?}"
    );
    assert_eq!(ordering.is_some(), gap.is_some());
    assert!(probability.is_none_or(|p| (0.5..=0.999).contains(&p)), "{found:?}");
    assert_eq!(verdict == Verdict::Likely, probability.is_some_and(|p| p >= 0.9), "{found:?}");
    assert!(unknown.is_none() || verdict != Verdict::Proven, "{found:?}");
}

#[test]
fn of_straight_clocks() {
    let mut tally = Tally::default();
    for seed in 0..24 {
        let mut random = Random::new(seed).part(9);
        let cluster = match seed % 3 {
            0 => Cluster::chain(4),
            1 => Cluster::star(5),
            _ => Cluster::mesh(4),
        };
        let cluster = cluster.seeded(seed).seconds(20).messages(40 << random.below(5));
        // Least delays of the two directions differ by as much of their sum as e95 assumes: less than 0.17 of it 95 times of 100.
        let cluster = cluster.each_link(|link| {
            let half = 20_000 + random.below(200_000) as i64;
            let uneven: i64 = (0..3).map(|_| random.either_way(85)).sum();
            link.min_delay_ns = [half + half * uneven / 1_000, half - half * uneven / 1_000];
            link.mean_extra_ns = 5_000 + random.below(300_000);
        });
        let simulation = cluster.simulate().unwrap();
        let clocks: Vec<&SimClock> = cluster.hosts.iter().map(|host| &host.clock).collect();
        for free in [true, false] {
            let outcome = synchronized(clocks.len(), simulation.messages(), free);
            tally.draw(&format!("seed {seed}, free {free}"), &clocks, &outcome, 20, &mut random);
        }
    }
    tally.check_calibration();
    assert!(tally.proven > 1_000 && tally.open > 200 && tally.stated.len() > 500, "{}", tally.proven);
}

#[test]
fn of_steered_clocks() {
    let mut tally = Tally::default();
    for seed in 0..300 {
        let mut random = Random::new(seed).part(10);
        let cluster = SteeredCluster::random(seed, 8 << (seed % 9));
        if !cluster.hosts.iter().all(|host| host.clock.is_kept(Evidence::Nothing, 100)) {
            continue;
        }
        let outcome = synchronized(cluster.hosts.len(), cluster.messages(), false);
        tally.draw(&format!("seed {seed}"), &cluster.clocks(), &outcome, cluster.seconds, &mut random);
    }
    tally.check_calibration();
    assert!(tally.proven > 4_000, "{}", tally.proven);
}

#[test]
fn what_is_not_known_is_said() {
    let outcome = synchronized(
        5,
        [
            (0, 1_000_000_000, 1, 1_000_100_000),
            (1, 1_500_000_000, 0, 1_500_100_000),
            (0, 9_000_000_000, 1, 9_000_100_000),
            (1, 9_500_000_000, 0, 9_500_100_000),
            (2, 1_000_000_000, 3, 1_000_100_000),
            (3, 2_000_000_000, 2, 2_000_100_000),
        ],
        true,
    );
    let clocks = &outcome.clocks;
    let check = |first: (usize, i64), second: (usize, i64), expect: (Verdict, Option<Ordering>)| {
        let found = order(clocks, &at(clocks, first.0, first.1), &at(clocks, second.0, second.1));
        assert_eq!((found.verdict, found.ordering), expect, "{found:?}");
        found.unknown
    };
    let (before, after) = (Some(Ordering::Less), Some(Ordering::Greater));
    let second = 1_000_000_000;
    assert_eq!(check((0, 2 * second), (1, 3 * second), (Verdict::Proven, before)), None);
    assert_eq!(check((0, 3 * second), (1, 2 * second), (Verdict::Proven, after)), None);
    // Of one clock.
    assert_eq!(check((0, 3 * second), (0, 3 * second + 1), (Verdict::Proven, before)), None);
    assert_eq!(check((0, 3 * second), (0, 3 * second), (Verdict::Open, Some(Ordering::Equal))), None);
    // Of other islands, and outside.
    assert_eq!(check((0, 2 * second), (2, 2 * second), (Verdict::Open, None)), Some(Unknown::Apart));
    let unknown = check((0, 2 * second), (1, 60 * second), (Verdict::Open, before));
    assert_eq!(unknown, Some(Unknown::Outside("1")));
    // Events of one stream have its order.
    let clock = clocks.of_host("0").unwrap();
    let event = |stream, number| Instant::of_event(clock, RawNs(2 * second), Some((stream, number)));
    let found = order(clocks, &event(3, 8), &event(3, 7));
    assert_eq!((found.verdict, found.ordering), (Verdict::Proven, after));
    assert_eq!(order(clocks, &event(3, 8), &event(4, 7)).verdict, Verdict::Open);
    assert!(Instant::new(clocks, "9", 0, TimesOf::Raw).is_err());
}

/// A wall clock that was set back showed some times twice: its stamps do not order what happened then.
#[test]
fn a_clock_that_was_set_back_does_not_order_its_own_times() {
    const S: i64 = 1_000_000_000;
    // Host 1 is set back by 2 s after 50 s; whichever of the two is the reference.
    let of_1 = |at: i64| if at < 50 * S { at } else { at - 2 * S };
    let rounds = (1..400).map(|n| n * S / 4 + n % 7 * 1_000);
    let messages: Vec<Message> = rounds
        .flat_map(|at| [(0, at, 1, of_1(at + 100_000)), (1, of_1(at + 120_000_000), 0, at + 120_100_000)])
        .collect();
    let outcome = synchronized(2, messages, false);
    let clocks = &outcome.clocks;
    let of_one = |host: usize, first: i64, second: i64| {
        order(clocks, &at(clocks, host, first), &at(clocks, host, second)).verdict
    };
    assert!(clocks.iter().any(|clock| !clock.entry.breaks.is_empty()), "the step is not seen");
    assert_eq!(of_one(1, 20 * S, 21 * S), Verdict::Proven);
    assert_eq!(of_one(1, 48 * S + S / 2, 49 * S), Verdict::Open);
    assert_eq!(of_one(1, 90 * S, 91 * S), Verdict::Proven);
}
