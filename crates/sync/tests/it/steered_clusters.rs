//! Random links and clusters whose clocks are steered by time daemons: where what is assumed of the clocks is true, the
//! truth is inside; where it is not and the messages show it, that is reported; and honest messages are not suspected.
//!
//! `ISOCHRONE_STEERED_LINKS=1000 ISOCHRONE_STEERED_CLUSTERS=200 cargo test --release -p isochrone-sync --test it steered_clusters::
//! -- --nocapture` tries so many, each link with up to `ISOCHRONE_STEERED_MESSAGES` messages; `ISOCHRONE_SEED=17` tries the
//! link and the cluster of one seed alone and says all that is reported of them.

#![allow(clippy::print_stdout)] // Says what it measured.

use std::collections::BTreeMap;

use crate::networks::refuted::is_refuted;
use crate::networks::truth::{ClockSample, OfLinks, moments, of_links, spans};
use crate::networks::{Message, alarms, from_environment, in_parallel, network};
use isochrone_clock::{Assumed, Assumptions, Network, Regime, Solution, Span, Steering, solve};
use isochrone_testkit::{Daemon, Exchange, Rule, Rules, SteeredCluster, SteeredHost};

/// The default model: rates that no daemon steers stay within 0.1 ppm of a constant.
const WANDER_PPB: u32 = 100;
/// Links and clusters, and messages of a link, without a wish in the environment.
const LINKS: u64 = 60;
const CLUSTERS: u64 = 20;
const MESSAGES: u64 = 60_000;
/// Instants at which every clock is held against the truth.
const INSTANTS: i64 = 200;
/// Of those where all assumptions are true, in so few of a thousand the truth may be outside.
const MOST_OUTSIDE_PERMILLE: usize = 5;

/// Rows of the table, below those of the daemons.
const ALL_LINKS: &str = "~ links";
const ALL_CLUSTERS: &str = "~ clusters";

/// What a link (by its second clock) or a cluster is one of: its daemon, what is known of that, and whether what is assumed is true.
type Kind = (&'static str, &'static str, bool);

/// What is counted of a link or a cluster.
struct Found {
    kind: Kind,
    /// The case, for people; its links, line by line.
    name: String,
    links: Vec<String>,
    /// The messages of a link cannot all be true under what is assumed.
    is_refuted: bool,
    /// Clocks are not all on one.
    is_apart: bool,
    instants: usize,
    /// Instants at which the truth is outside, and how far it is at worst, ns.
    outside: Vec<String>,
    worst: i64,
    /// The bounds that links have by themselves.
    of_links: OfLinks,
    /// Instants at which the error is within the realistic one.
    realistic: usize,
    /// At each instant: half widths against the least possible; errors and realistic errors against half widths.
    widths: Vec<f64>,
    errors: Vec<f64>,
    e95: Vec<f64>,
    /// Assumptions that the solution says are contradicted, and all else that it reports.
    contradicted: Vec<String>,
    alarms: Vec<String>,
    /// Messages left out: all of them are true.
    suspects: usize,
}

impl Found {
    fn is_kept(&self) -> bool {
        self.kind.2
    }

    fn is_inside(&self) -> bool {
        self.outside.is_empty() && !self.is_apart
    }

    fn is_reported(&self) -> bool {
        !self.contradicted.is_empty() || !self.alarms.is_empty()
    }

    /// What is known of an instant.
    fn hold(&mut self, moment: &ClockSample, ideal: i64) {
        self.instants += 1;
        self.realistic += usize::from(moment.is_realistic());
        if let Some(beyond) = moment.beyond() {
            let ClockSample { clock, reference, at, .. } = moment;
            self.outside.push(format!("clock {clock} of {reference} at {at}: {beyond} ns beyond"));
            self.worst = self.worst.max(beyond);
        }
        if let Some((lo, hi, e95)) = moment.interval {
            let half = (((hi - lo) / 2) as f64).max(1.0);
            self.widths.push(half / (ideal as f64).max(1.0));
            self.errors.push(moment.error() as f64 / half);
            self.e95.push(e95 as f64 / half);
        }
    }

    /// A line, with up to so many of each list.
    fn note(&self, shown: usize) -> String {
        let some = |list: &[String]| list[..list.len().min(shown)].join(", ");
        format!(
            "{}{}{}: outside at {} of {} ({}), of links at {} of {} ({}), contradicted {} ({}), reported {} ({}), {} suspects",
            self.name,
            if self.is_refuted { ", refuted" } else { "" },
            if self.is_apart { ", apart" } else { "" },
            self.outside.len(),
            self.instants,
            some(&self.outside),
            self.of_links.outside.len(),
            self.of_links.instants,
            some(&self.of_links.outside),
            self.contradicted.len(),
            some(&self.contradicted),
            self.alarms.len(),
            some(&self.alarms),
            self.suspects,
        )
    }
}

fn rules_of(host: &SteeredHost) -> Rules {
    host.clock.rules(host.evidence)
}

/// The same for the solver.
fn assumptions(rules: &Rules) -> Assumptions {
    let steering = |rule: Rule| match rule {
        Rule::Free => Steering::Free,
        Rule::Stepwise => Steering::Stepwise,
        Rule::Steered { ppm } => Steering::Steered { ppm },
        Rule::Unknown => Steering::Unknown,
    };
    let regimes = rules.regimes.iter().map(|&(from, rule)| Regime { from, steering: steering(rule) });
    let changes = rules.changes.iter().map(|&(begin, end)| Span { begin, end });
    Assumptions::new(regimes.collect(), changes.collect()).unwrap()
}

fn network_of(cluster: &SteeredCluster, messages: &[Message]) -> Network {
    let network = network(spans(&cluster.clocks(), cluster.seconds), messages.iter().copied());
    let assumptions = cluster.hosts.iter().map(|host| assumptions(&rules_of(host))).collect();
    Network { assumptions, ..network }
}

/// Whether the messages of any link contradict what is assumed of its clocks.
fn is_any_refuted(cluster: &SteeredCluster, messages: &[Message]) -> bool {
    let rules: Vec<Rules> = cluster.hosts.iter().map(rules_of).collect();
    cluster.exchanges.iter().any(|exchange| {
        let ends = [exchange.asks, exchange.answers];
        let own: Vec<Message> =
            messages.iter().copied().filter(|m| ends.contains(&m.0) && ends.contains(&m.2)).collect();
        is_refuted(&own, ends, ends.map(|clock| &rules[clock]), WANDER_PPB.into())
    })
}

fn held(name: String, kind: (&'static str, &'static str), cluster: &SteeredCluster) -> Found {
    let messages = cluster.messages();
    let network = network_of(cluster, &messages);
    let solution = solve(network.clone()).unwrap();
    let mut found = Found {
        kind: (kind.0, kind.1, cluster.hosts.iter().all(|host| host.is_kept(WANDER_PPB))),
        name,
        links: cluster.exchanges.iter().map(|exchange| described_link(exchange, &solution)).collect(),
        is_refuted: is_any_refuted(cluster, &messages),
        is_apart: solution.islands.len() > 1,
        instants: 0,
        outside: Vec::new(),
        worst: 0,
        of_links: of_links(&solution, &cluster.clocks()),
        realistic: 0,
        widths: Vec::new(),
        errors: Vec::new(),
        e95: Vec::new(),
        contradicted: contradicted(&solution),
        alarms: alarms(&solution, &network.model),
        suspects: solution.links.iter().map(|link| link.suspects.len()).sum(),
    };
    for moment in moments(&solution, &cluster.clocks(), cluster.seconds, INSTANTS) {
        found.hold(&moment, cluster.ideal_half_width(moment.clock, moment.reference).unwrap_or(0));
    }
    found
}

fn contradicted(solution: &Solution) -> Vec<String> {
    let of_clock = |(clock, assumed): (usize, &Vec<Assumed>)| {
        let what = |a: &Assumed| format!("clock {clock}: {:?} by {} ppm", a.raw, a.ppm);
        assumed.iter().filter(|a| a.is_contradicted).map(what).collect::<Vec<String>>()
    };
    solution.assumed.iter().enumerate().flat_map(of_clock).collect()
}

/// All daemons in turn.
fn link(seed: u64, most: u64) -> Found {
    let daemon = Daemon::ALL[seed as usize % Daemon::ALL.len()];
    let cluster = SteeredCluster::random_link(daemon, seed, most);
    let evidence = cluster.hosts[1].evidence.name();
    held(described(&format!("link {seed}"), &cluster), (daemon.name(), evidence), &cluster)
}

fn cluster(seed: u64, most: u64) -> Found {
    let cluster = SteeredCluster::random(seed, most);
    held(described(&format!("cluster {seed}"), &cluster), (ALL_CLUSTERS, ""), &cluster)
}

fn described(name: &str, cluster: &SteeredCluster) -> String {
    let host = |host: &SteeredHost| {
        let broken = if host.is_kept(WANDER_PPB) { "" } else { ", not true" };
        format!("{} by {}{broken}", host.clock.daemon.name(), host.evidence.name())
    };
    let hosts: Vec<String> = cluster.hosts.iter().map(host).collect();
    format!("{name} of {} s ({})", cluster.seconds, hosts.join("; "))
}

fn described_link(exchange: &Exchange, solution: &Solution) -> String {
    let (a, b) = (exchange.asks.min(exchange.answers), exchange.asks.max(exchange.answers));
    let report = solution.links.iter().find(|link| (link.a, link.b) == (a, b));
    let verdict = report.map(|link| (&link.quality, link.half_width_ns, link.wander_ppm));
    format!("{exchange:?}: quality, half width in ns and wander in ppm {verdict:?}")
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn print_table<'f>(all: impl Iterator<Item = &'f Found>) {
    println!(
        "{:15} {:7} {:6} cases inside  outside   worst µs  half/ideal  error/half  in e95  e95/half  refuted  contradicted  \
         else reported  apart  suspects",
        "", "known", "true"
    );
    let mut rows: BTreeMap<Kind, Vec<&Found>> = BTreeMap::new();
    for found in all {
        rows.entry(found.kind).or_default().push(found);
        // Links have a row of their daemon, and all of them have one; clusters have the latter only.
        if found.kind.0 != ALL_CLUSTERS {
            rows.entry((ALL_LINKS, "", found.is_kept())).or_default().push(found);
        }
    }
    for ((daemon, evidence, is_kept), of) in &rows {
        let count = |holds: &dyn Fn(&Found) -> bool| of.iter().filter(|f| holds(f)).count();
        let sum = |part: &dyn Fn(&Found) -> usize| of.iter().map(|f| part(f)).sum::<usize>();
        let instants = sum(&|f| f.instants).max(1) as f64;
        // Every case counts the same, however many clocks it has.
        let middle = |part: &dyn Fn(&Found) -> &Vec<f64>| {
            median(of.iter().map(|f| part(f)).filter(|p| !p.is_empty()).map(|p| median(p.clone())).collect())
        };
        println!(
            "{daemon:15} {evidence:7} {:6} {:5} {:6} {:7.2}% {:10.1} {:11.2} {:11.3} {:6.1}% {:9.3} {:8} {:13} {:14} {:6} {:9}",
            if *is_kept { "yes" } else { "no" },
            of.len(),
            count(&Found::is_inside),
            sum(&|f| f.outside.len()) as f64 / instants * 100.0,
            of.iter().map(|f| f.worst).max().unwrap_or(0) as f64 / 1e3,
            middle(&|f| &f.widths),
            middle(&|f| &f.errors),
            sum(&|f| f.realistic) as f64 / instants * 100.0,
            middle(&|f| &f.e95),
            count(&|f| f.is_refuted),
            count(&|f| !f.contradicted.is_empty()),
            count(&|f| !f.alarms.is_empty()),
            count(&|f| f.is_apart),
            sum(&|f| f.suspects),
        );
    }
}

/// What to complain of, where more than so many of a thousand are bad.
fn at_most<'f>(
    permille: usize,
    what: &str,
    of: impl Iterator<Item = &'f Found>,
    is_bad: impl Fn(&Found) -> bool,
) -> Option<String> {
    let (bad, good): (Vec<&Found>, Vec<&Found>) = of.partition(|f| is_bad(f));
    let of = bad.len() + good.len();
    println!("{what}: {} of {of}", bad.len());
    let notes: Vec<String> = bad.iter().map(|found| found.note(3)).collect();
    let is_too_much = bad.len() * 1000 > permille * of;
    is_too_much.then(|| format!("{what}: {} of {of}\n{}", bad.len(), notes.join("\n")))
}

fn complaints(name: &str, all: &[Found]) -> Vec<String> {
    let kept = || all.iter().filter(|found| found.is_kept());
    let broken = || all.iter().filter(|found| !found.is_kept());
    let permille = MOST_OUTSIDE_PERMILLE;
    let found = [
        at_most(0, &format!("{name}, true, refuted by this test"), kept(), |f| f.is_refuted),
        at_most(permille, &format!("{name}, true, truth outside"), kept(), |f| !f.is_inside()),
        at_most(permille, &format!("{name}, true, truth outside of a link's bounds"), kept(), |f| {
            !f.of_links.outside.is_empty()
        }),
        at_most(0, &format!("{name}, honest messages left out"), all.iter(), |f| f.suspects > 0),
        at_most(0, &format!("{name}, not true, refuted but not reported"), broken(), |f| {
            f.is_refuted && !f.is_reported()
        }),
    ];
    found.into_iter().flatten().collect()
}

#[test]
fn truth_is_inside_and_what_is_contradicted_is_reported() {
    let most = from_environment("ISOCHRONE_STEERED_MESSAGES").unwrap_or(MESSAGES);
    if let Some(seed) = from_environment("ISOCHRONE_SEED") {
        for found in [link(seed, most), cluster(seed, most)] {
            println!("{}\n{}\n", found.note(usize::MAX), found.links.join("\n"));
        }
        return;
    }
    let seeds =
        |name: &str, usual: u64| -> Vec<u64> { (0..from_environment(name).unwrap_or(usual)).collect() };
    let links = in_parallel(&seeds("ISOCHRONE_STEERED_LINKS", LINKS), |&seed| link(seed, most));
    let clusters = in_parallel(&seeds("ISOCHRONE_STEERED_CLUSTERS", CLUSTERS), |&seed| cluster(seed, most));
    print_table(links.iter().chain(&clusters));
    let mut complaints_of_all = complaints("links", &links);
    complaints_of_all.extend(complaints("clusters", &clusters));
    assert!(complaints_of_all.is_empty(), "{}", complaints_of_all.join("\n\n"));
}

#[test]
fn constant_rates_are_not_refuted_and_bent_ones_are() {
    let free = Rules { regimes: vec![(0, Rule::Free)], changes: Vec::new() };
    let second = 1_000_000_000;
    // Clock 1 runs 40 ppm fast, and by `bend` more in the second half; messages take 100 µs.
    let refuted = |rules: &Rules, bend: i64| {
        let shown = |t: i64| t + t / 25_000 + (t - 50 * second).max(0) / second * bend;
        let rounds = (0..100).map(|n| n * second);
        let messages: Vec<Message> = rounds
            .flat_map(|t| [(0, t, 1, shown(t + 100_000)), (1, shown(t + 300_000), 0, t + 400_000)])
            .collect();
        is_refuted(&messages, [0, 1], [&free, rules], 100)
    };
    // 49 seconds of it are more than the 200 µs of a round trip, twice.
    assert_eq!([0, 4_000, 20_000, -20_000].map(|bend| refuted(&free, bend)), [false, false, true, true]);
    let stepwise = |at: i64| {
        let call = (at, at + 20_000);
        Rules { regimes: vec![(0, Rule::Stepwise)], changes: vec![call] }
    };
    assert!(!refuted(&stepwise(50_001_980_000), 20_000) && refuted(&stepwise(20_000_000_000), 20_000));
    let steered = Rules { regimes: vec![(0, Rule::Steered { ppm: 500 })], changes: Vec::new() };
    assert!(!refuted(&steered, 900_000) && refuted(&steered, 2_000_000));
}
