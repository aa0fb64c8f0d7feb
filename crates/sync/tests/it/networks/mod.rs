//! Networks of clocks from lists of messages, and what a solution says of them: shared by the tests of whole synchronizations.

pub mod hulls;
pub mod refuted;
pub mod scenario;
pub mod shared;
pub mod truth;

use std::collections::BTreeMap;

use isochrone_clock::{Corridor, LinkData, LinkQuality, Model, Network, Solution, Span};

/// A message: sender, when it was sent, receiver, when it arrived; raw ns of either's clock.
pub type Message = (usize, i64, usize, i64);

/// A network of clocks seen over these spans, with the default model.
pub fn network(clocks: Vec<Span>, messages: impl IntoIterator<Item = Message>) -> Network {
    let mut corridors: BTreeMap<(usize, usize), Corridor> = BTreeMap::new();
    for (sender, sent, receiver, received) in messages {
        let corridor = corridors.entry((sender.min(receiver), sender.max(receiver))).or_default();
        if sender < receiver {
            corridor.a_to_b(sent, received).unwrap();
        } else {
            corridor.b_to_a(sent, received).unwrap();
        }
    }
    let links = corridors.into_iter().map(|((a, b), corridor)| LinkData { a, b, corridor }).collect();
    Network { links, ..Network::new(clocks) }
}

/// All that a solution reports besides times: clocks that broke the model, messages that look wrong, links out of use.
pub fn alarms(solution: &Solution, model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    for (clock, breaks) in solution.breaks.iter().enumerate() {
        found.extend(breaks.iter().map(|b| format!("clock {clock}: {:?}", b.kind)));
    }
    for link in &solution.links {
        let name = format!("link {}-{}", link.a, link.b);
        found.extend(link.suspects.iter().map(|s| format!("{name}: suspect {:?}", s.reason)));
        if matches!(link.quality, LinkQuality::Refused { .. } | LinkQuality::Approximate { .. }) {
            found.push(format!("{name}: {:?}", link.quality));
        }
        if link.prior_contradicted {
            found.push(format!("{name}: rates beyond the prior, {:?} ppm", link.rate_ppm));
        }
        if link.wander_ppm > model.wander_ppm {
            found.push(format!("{name}: wander of {} ppm", link.wander_ppm));
        }
    }
    found.extend(solution.contradictions.iter().map(|clocks| format!("loop {clocks:?}")));
    found
}

/// A number from the environment.
pub fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is {text}")))
}

/// Runs all cases on all cores, in order of the results.
pub fn in_parallel<C: Sync, R: Send>(cases: &[C], run: impl Fn(&C) -> R + Sync + Send) -> Vec<R> {
    use rayon::prelude::*;
    cases.par_iter().map(run).collect()
}
