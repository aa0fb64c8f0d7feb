//! Random clusters with a known truth: the guarantee holds on all that keep to the model, and what breaks it is reported.
//!
//! `ISOCHRONE_CLUSTERS=1000 cargo test --release -p isochrone-sync --test it random_clusters:: -- --nocapture` tries so many;
//! `ISOCHRONE_SEED=17` tries one of them alone and says all that is reported of it.

#![allow(clippy::print_stdout)] // Says what it measured.

use std::collections::BTreeMap;

use crate::networks::truth::{ClockSample, OfLinks, moments, of_links, spans};
use crate::networks::{alarms, from_environment, in_parallel, network};
use isochrone_clock::{LinkQuality, Network, SlopeRange, Wander, solve};
use isochrone_testkit::{Behaviour, Cluster, SimClock};

/// The default model: rates stay within 0.1 ppm of a constant.
const WANDER_PPB: u32 = 100;
/// Clusters without a wish in the environment.
const CLUSTERS: u64 = 300;
/// Instants at which every clock is held against the truth.
const INSTANTS: i64 = 60;
/// Of clusters that keep to the model, so many may be said not to: good messages that look wrong, mostly. In percent.
const MOST_FALSE_ALARMS: usize = 6;
/// Of clusters that break the model, in so many the truth is inside all the same. In percent. What the messages cannot
/// show is in the others: a clock that is set while all its messages go one way.
const LEAST_INSIDE: usize = 84;
/// Of clusters that break the model, so many may have the truth outside without a word. In percent.
const MOST_SILENT: usize = 5;

/// What is counted of a cluster.
#[derive(Default)]
struct Found {
    seed: u64,
    behaviour: Option<Behaviour>,
    /// Instants of all clocks but the references, …
    instants: usize,
    /// … those at which the truth is outside the interval, …
    outside: Vec<String>,
    /// … the estimate is, …
    misplaced: usize,
    /// … and the error is within the realistic one.
    realistic: usize,
    /// The bounds that links have by themselves.
    links: OfLinks,
    /// Messages of accurate links that the corrections invert.
    inversions: usize,
    /// What is reported.
    alarms: Vec<String>,
    /// The messages of a link cannot all be true under the model.
    is_proved: bool,
    /// Sums of logarithms of errors and half widths, ns.
    errors: f64,
    half_widths: f64,
}

impl Found {
    fn obeys(&self) -> bool {
        self.behaviour.is_some_and(Behaviour::obeys)
    }

    fn kind(&self) -> &'static str {
        match self.behaviour {
            None => "",
            Some(Behaviour::Straight) => "straight",
            Some(Behaviour::Wandering) => "wandering",
            Some(Behaviour::Fourfold { .. }) => "fourfold",
            Some(Behaviour::Stepped { .. }) => "stepped",
            Some(Behaviour::Stopped { .. }) => "stopped",
            Some(Behaviour::Slewed { .. }) => "slewed",
            Some(Behaviour::WanderingBeyond { .. }) => "wandering beyond",
        }
    }

    fn note(&self) -> String {
        let shown = 3;
        let some = |list: &[String]| list[..list.len().min(shown)].join(", ");
        format!(
            "seed {}, {:?}: outside at {} of {} ({}), of links at {} of {} ({}), {} estimates misplaced, {} inversions, \
             reported {} ({})",
            self.seed,
            self.behaviour,
            self.outside.len(),
            self.instants,
            some(&self.outside),
            self.links.outside.len(),
            self.links.instants,
            some(&self.links.outside),
            self.misplaced,
            self.inversions,
            self.alarms.len(),
            some(&self.alarms),
        )
    }
}

fn network_of(cluster: &Cluster, clocks: &[&SimClock]) -> Network {
    network(spans(clocks, cluster.seconds), cluster.simulate().unwrap().messages())
}

fn held(seed: u64) -> Found {
    let (cluster, behaviour) = Cluster::random(seed, WANDER_PPB);
    let clocks: Vec<&SimClock> = cluster.hosts.iter().map(|host| &host.clock).collect();
    let network = network_of(&cluster, &clocks);
    let solution = solve(network.clone()).unwrap();
    let (prior, wander) = (SlopeRange::prior(network.model.prior_ppm), network.model.wander_ppm);
    let wander = Wander::of_pair_ppm(wander).unwrap();
    let mut found = Found {
        seed,
        behaviour: Some(behaviour),
        alarms: alarms(&solution, &network.model),
        is_proved: network.links.iter().any(|link| link.corridor.within(prior, wander).is_err()),
        ..Found::default()
    };
    for moment in moments(&solution, &clocks, cluster.seconds, INSTANTS) {
        hold(&mut found, &moment);
    }
    found.links = of_links(&solution, &clocks);
    let accurate = solution.links.iter().filter(|l| l.quality == LinkQuality::Accurate);
    found.inversions = accurate.filter_map(|l| l.inversions).sum();
    found
}

/// Counts what a clock is at an instant.
fn hold(found: &mut Found, moment: &ClockSample) {
    let ClockSample { clock, reference, at, estimate, .. } = *moment;
    let Some((lo, hi, _)) = moment.interval else {
        found.outside.push(format!("clock {clock} at {at}: no interval"));
        return;
    };
    found.instants += 1;
    if let Some(beyond) = moment.beyond() {
        found
            .outside
            .push(format!("clock {clock} of {reference} at {at}: {beyond} ns of {}", hi.saturating_sub(lo)));
    }
    found.misplaced += usize::from(estimate < lo - 1 || hi + 1 < estimate);
    found.realistic += usize::from(moment.is_realistic());
    found.errors += (moment.error().max(1) as f64).ln();
    found.half_widths += ((hi.saturating_sub(lo) / 2).max(1) as f64).ln();
}

fn print_table(all: &[Found]) {
    let mut kinds: BTreeMap<(bool, &str), Vec<&Found>> = BTreeMap::new();
    for found in all {
        kinds.entry((!found.obeys(), found.kind())).or_default().push(found);
    }
    println!(
        "{:17} clusters  inside  proved  reported    e95  half width  of links  error (geometric means, ns)",
        ""
    );
    for ((_, kind), of) in &kinds {
        let count = |holds: &dyn Fn(&Found) -> bool| of.iter().filter(|f| holds(f)).count();
        let sum = |part: &dyn Fn(&Found) -> f64| of.iter().map(|f| part(f)).sum::<f64>();
        let instants = sum(&|f| f.instants as f64);
        println!(
            "{kind:17} {:8}  {:6}  {:6}  {:8}  {:.3} {:11.0}  {:8.0}  {:5.0}",
            of.len(),
            count(&|f| f.outside.is_empty()),
            count(&|f| f.is_proved),
            count(&|f| !f.alarms.is_empty()),
            sum(&|f| f.realistic as f64) / instants,
            (sum(&|f| f.half_widths) / instants).exp(),
            (sum(&|f| f.links.half_widths) / sum(&|f| f.links.instants as f64)).exp(),
            (sum(&|f| f.errors) / instants).exp(),
        );
    }
}

/// Fails, naming the clusters of which `is_bad` holds, where they are more than so many percent of these.
fn at_most(percent: usize, what: &str, of: &[&Found], is_bad: impl Fn(&Found) -> bool) {
    let bad: Vec<String> = of.iter().filter(|f| is_bad(f)).map(|f| f.note()).collect();
    println!("{what}: {} of {}", bad.len(), of.len());
    assert!(
        bad.len() * 100 <= percent * of.len(),
        "{what}: {} of {}\n{}",
        bad.len(),
        of.len(),
        bad.join("\n")
    );
}

#[test]
fn truth_is_inside_and_what_breaks_the_model_is_reported() {
    if let Some(seed) = from_environment("ISOCHRONE_SEED") {
        let found = held(seed);
        println!("{}\n{}\n{}", found.note(), found.alarms.join("\n"), found.outside.join("\n"));
        return;
    }
    let seeds: Vec<u64> = (0..from_environment("ISOCHRONE_CLUSTERS").unwrap_or(CLUSTERS)).collect();
    let all = in_parallel(&seeds, |&seed| held(seed));
    print_table(&all);
    let (good, bad): (Vec<&Found>, Vec<&Found>) = all.iter().partition(|f| f.obeys());
    at_most(0, "of the obeying, truth outside", &good, |f| !f.outside.is_empty());
    at_most(0, "of the obeying, truth outside of a link's bounds", &good, |f| !f.links.outside.is_empty());
    assert!(good.iter().all(|f| f.links.instants > 0), "links have bounds");
    at_most(0, "of the obeying, estimate outside", &good, |f| f.misplaced > 0);
    at_most(0, "of the obeying, unsuspected, inversions", &good, |f| f.inversions > 0 && f.alarms.is_empty());
    // A clock of fourfold rate is beyond the prior, and that is reported.
    let usual: Vec<&Found> =
        good.iter().copied().filter(|f| !matches!(f.behaviour, Some(Behaviour::Fourfold { .. }))).collect();
    at_most(MOST_FALSE_ALARMS, "of the obeying, reported", &usual, |f| !f.alarms.is_empty());
    at_most(0, "of the violating, proved but not reported", &bad, |f| f.is_proved && f.alarms.is_empty());
    at_most(100 - LEAST_INSIDE, "of the violating, truth outside", &bad, |f| !f.outside.is_empty());
    let is_silent = |f: &Found| !f.outside.is_empty() && f.alarms.is_empty();
    at_most(MOST_SILENT, "of the violating, truth outside without a word", &bad, is_silent);
}
