//! One wrong match among real messages whose truth is known: the guarantee survives, and the match is named.
//!
//! A match is made acausal: it arrives before it was sent. `ISOCHRONE_WRONG_MATCHES=200` tries so many per scenario and size.

#![allow(clippy::print_stdout)] // Says what it measured.

use std::collections::BTreeMap;

use crate::networks::scenario::Scenario;
use crate::networks::shared::shared;
use crate::networks::{Message, from_environment, in_parallel};
use isochrone_clock::{Side, Solution, solve};
use isochrone_testkit::Random;

/// Scenarios whose clocks are straight lines.
const STRAIGHT: [&str; 11] =
    ["chain3", "hog2", "ipv6_2", "lossy2", "mpi4", "phases3", "ping5", "rot2", "udp2", "web2", "web2gso"];
/// Scenarios with a clock whose rate is changed, and one that stands still for a time.
const MOVED: [&str; 2] = ["step2", "pause2"];
/// Before the message was sent by so much, ns.
const SIZES_NS: [i64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Choices per scenario and size without a wish in the environment.
const CHOICES: u64 = 20;

/// What one wrong match does.
struct Outcome {
    inside: bool,
    named: bool,
    /// The message came too early by more than two of the least round trips of its link: however the line is turned, others
    /// contradict it.
    is_contradicted: bool,
    /// The largest error, relative to that without a wrong match.
    ratio: f64,
    note: String,
}

/// What there is without a wrong match.
struct Clean {
    /// The largest error, ns.
    error: i64,
    /// The least round trips of the links, ns.
    round_trips: BTreeMap<(usize, usize), i64>,
}

/// A message of the scenario, and the same, received so long before it was sent.
fn wrong_one(scenario: &Scenario, seed: u64, size: i64) -> Option<(usize, Message)> {
    let mut random = Random::new(seed);
    // Not all messages lie within the samples of the truth.
    (0..100).find_map(|_| {
        let index = random.below(scenario.messages.len() as u64) as usize;
        let (sender, sent, receiver, _) = scenario.messages[index];
        let received = scenario.truth(sender, sent, receiver)? - size;
        Some((index, (sender, sent, receiver, received)))
    })
}

fn is_named(solution: &Solution, (sender, sent, receiver, received): Message) -> bool {
    let forth = sender < receiver;
    let (side, x, y) = if forth { (Side::Upper, sent, received) } else { (Side::Lower, received, sent) };
    let ends = (sender.min(receiver), sender.max(receiver));
    let links = solution.links.iter().filter(|l| (l.a, l.b) == ends);
    let mut suspects = links.flat_map(|l| &l.suspects);
    suspects.any(|s| s.side == side && (s.point.x(), s.point.y()) == (x, y))
}

fn with_wrong(scenario: &Scenario, clean: &Clean, seed: u64, size: i64) -> Option<Outcome> {
    let (index, wrong) = wrong_one(scenario, seed, size)?;
    let mut messages = scenario.messages.clone();
    messages[index] = wrong;
    let solution = solve(scenario.network(&messages)).unwrap();
    let held = scenario.hold(&solution);
    let (a, b) = (wrong.0.min(wrong.2), wrong.0.max(wrong.2));
    let link = solution.links.iter().find(|l| (l.a, l.b) == (a, b));
    Some(Outcome {
        inside: held.outside == 0,
        named: is_named(&solution, wrong),
        is_contradicted: clean.round_trips.get(&(a, b)).is_some_and(|&trip| size > 2 * trip),
        ratio: held.error.max(1) as f64 / clean.error.max(1) as f64,
        note: format!(
            "{} {size} ns, seed {seed}, {wrong:?}: {} of {} outside, {:?}",
            scenario.name,
            held.outside,
            held.samples,
            link.map(|l| (l.corridor.messages(), &l.quality, l.min_rtt_ns, &l.suspects)),
        ),
    })
}

/// Per size, the outcomes on these scenarios.
fn outcomes(names: &[&str]) -> Vec<(i64, Vec<Outcome>)> {
    let choices = from_environment("ISOCHRONE_WRONG_MATCHES").unwrap_or(CHOICES);
    let directory = shared("data/vm");
    let mut of_size: Vec<(i64, Vec<Outcome>)> = SIZES_NS.map(|size| (size, Vec::new())).into();
    println!("{:8} {:>10}  inside  named  error (geometric mean, relative)", "scenario", "by ns");
    for name in names {
        let scenario = Scenario::read(&directory.join(name));
        let solution = solve(scenario.network(&scenario.messages)).unwrap();
        let held = scenario.hold(&solution);
        assert_eq!(held.outside, 0, "{name} without a wrong match");
        assert!(held.samples > 10, "{name}");
        let trips = solution.links.iter().filter_map(|l| Some(((l.a, l.b), l.min_rtt_ns?)));
        let clean = Clean { error: held.error, round_trips: trips.collect() };
        for (size, all) in &mut of_size {
            let seeds: Vec<u64> = (0..choices).collect();
            let run = |&seed: &u64| with_wrong(&scenario, &clean, seed, *size);
            let found: Vec<Outcome> = in_parallel(&seeds, run).into_iter().flatten().collect();
            print_share(name, *size, &found);
            all.extend(found);
        }
    }
    for (size, found) in &of_size {
        print_share("all", *size, found);
    }
    of_size
}

fn share(of: &[Outcome], holds: impl Fn(&Outcome) -> bool) -> f64 {
    of.iter().filter(|o| holds(o)).count() as f64 / of.len() as f64
}

fn print_share(name: &str, size: i64, found: &[Outcome]) {
    let mean = found.iter().map(|o| o.ratio.ln()).sum::<f64>() / found.len() as f64;
    let (inside, named) = (share(found, |o| o.inside), share(found, |o| o.named));
    println!("{name:8} {size:10}  {inside:6.3}  {named:5.3}  {:5.2}", mean.exp());
}

/// Fails, naming all cases that do not hold, where fewer than this share do.
fn at_least(least: f64, what: &str, of: &[&Outcome], holds: impl Fn(&Outcome) -> bool) {
    let bad: Vec<&str> = of.iter().filter(|o| !holds(o)).map(|o| o.note.as_str()).collect();
    let share = 1.0 - bad.len() as f64 / of.len().max(1) as f64;
    println!("{what}: {share:.3} of {}", of.len());
    assert!(!of.is_empty() && share >= least, "{what}: {share:.3} of {}\n{}", of.len(), bad.join("\n"));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn one_wrong_match_does_not_break_the_guarantee() {
    let of_size = outcomes(&STRAIGHT);
    for (size, found) in of_size.iter().filter(|(size, _)| *size >= 100_000) {
        let all: Vec<&Outcome> = found.iter().collect();
        at_least(0.94, &format!("by {size} ns, truth inside"), &all, |o| o.inside);
        if *size >= 1_000_000 {
            // One that is early by less than the round trips may contradict no other message: only its luck is suspicious.
            let contradicted: Vec<&Outcome> = found.iter().filter(|o| o.is_contradicted).collect();
            at_least(1.0, &format!("by {size} ns, contradicted ones named"), &contradicted, |o| o.named);
            at_least(0.95, &format!("by {size} ns, named"), &all, |o| o.named);
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn nor_where_clocks_move() {
    let of_size = outcomes(&MOVED);
    for (size, found) in of_size.iter().filter(|(size, _)| *size >= 100_000) {
        let all: Vec<&Outcome> = found.iter().collect();
        at_least(0.94, &format!("by {size} ns, truth inside"), &all, |o| o.inside);
        if *size >= 1_000_000 {
            at_least(0.9, &format!("by {size} ns, named"), &all, |o| o.named);
        }
    }
}
