//! The messages of every pair of clocks, on their way from matching to the mathematics and to the artefact.

use std::collections::BTreeMap;

use isochrone_clock::{Corridor, Infeasible, LinkData, LinkQuality, LinkReport, Point, Refusal, Solution};

use crate::artefact::MessageCounts;
use crate::hosts::HostClock;
use crate::input::Refused;
use crate::matching::{Message, Summary};

/// Pairs of clocks `(a, b)`, `a < b`, and what their messages say.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pairs: BTreeMap<(usize, usize), Pair>,
}

#[derive(Debug, Default)]
struct Pair {
    corridor: Corridor,
    counts: MessageCounts,
}

impl Links {
    /// Adds a message; `O(log n)` almost always.
    pub(crate) fn add(&mut self, message: Message) {
        let (a, b) = pair_of(message.sender, message.receiver);
        let Pair { corridor, counts } = self.pairs.entry((a, b)).or_default();
        let (inserted, count) = if message.sender == a {
            (corridor.a_to_b(message.sent, message.received), &mut counts.a_to_b)
        } else {
            (corridor.b_to_a(message.sent, message.received), &mut counts.b_to_a)
        };
        *(if inserted.is_ok() { count } else { &mut counts.dropped }) += 1;
    }

    /// Adds what the matching counted beside the messages, and gives the clocks their final numbers: a clock without one
    /// has no events. Numbers keep the order of the clocks.
    pub(crate) fn finish(self, summary: &Summary, numbers: &[Option<usize>]) -> Self {
        let Self { mut pairs } = self;
        for (&(sender, receiver), found) in &summary.pairs {
            let counts = &mut pairs.entry(pair_of(sender, receiver)).or_default().counts;
            counts.ambiguous += found.ambiguous;
            counts.offloaded += found.offloaded;
            counts.translated += found.translated;
        }
        let number = |((a, b), pair)| Some(((numbers[a]?, numbers[b]?), pair));
        Self { pairs: pairs.into_iter().filter_map(number).collect() }
    }

    /// The same messages under other numbers of the clocks, in the same order.
    pub(crate) fn renumbered(self, numbers: &[usize]) -> Self {
        let pairs = self.pairs.into_iter();
        Self { pairs: pairs.map(|((a, b), pair)| ((numbers[a], numbers[b]), pair)).collect() }
    }

    pub(crate) fn corridors(&self) -> Vec<LinkData> {
        self.pairs.iter().map(|(&(a, b), pair)| LinkData { a, b, corridor: pair.corridor.clone() }).collect()
    }

    pub(crate) fn counts(&self, a: usize, b: usize) -> MessageCounts {
        self.pairs.get(&(a, b)).map(|pair| pair.counts).unwrap_or_default()
    }

    /// Pairs of clocks with packets that were translated on their way, and how many.
    pub(crate) fn translated(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        let found = self.pairs.iter().map(|(&(a, b), pair)| (a, b, pair.counts.translated));
        found.filter(|&(_, _, translated)| translated > 0)
    }
}

/// The links that a solution does not use because their messages contradict each other, with the contradiction.
pub(crate) fn refused(clocks: &[HostClock], solution: &Solution) -> Vec<Refused> {
    let refuse = |link: &LinkReport| {
        let LinkQuality::Refused { why } = &link.quality else { return None };
        let (a, b) = (&clocks[link.a].host, &clocks[link.b].host);
        let mut reason = why.to_string();
        if let Refusal::Loop { clocks: around } = why {
            let names: Vec<&str> = around.iter().map(|&clock| clocks[clock].host.as_str()).collect();
            reason += &format!(" {}", names.join(" – "));
        }
        if let Refusal::Contradiction(contradiction) = why {
            reason += &contradicting(contradiction, a, b);
            reason += ": one of the two clocks was set, slewed or stopped while it was traced, or packets were mistaken";
        }
        Some(Refused { what: "link", name: format!("{a} – {b}"), why: reason })
    };
    solution.links.iter().filter_map(refuse).collect()
}

/// The messages that exclude each other, by the time of each on one of the two clocks.
fn contradicting(contradiction: &Infeasible, a: &str, b: &str) -> String {
    let pairs = match contradiction {
        Infeasible::SameInstant { pair } => vec![pair],
        Infeasible::Crossed { min_pair, max_pair, .. } => vec![min_pair, max_pair],
        Infeasible::Backwards { max_pair, .. } => vec![max_pair],
        Infeasible::NotAClock { .. } => Vec::new(),
    };
    let shown = |(lower, upper): &(Point, Point)| {
        // A lower point is a message from b to a, an upper point one from a to b.
        format!("{b} → {a} received at {} and {a} → {b} sent at {}", lower.x(), upper.x())
    };
    match pairs.iter().map(|pair| shown(pair)).collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => none,
        listed => format!(" (raw ns of {a}: {listed})"),
    }
}

fn pair_of(x: usize, y: usize) -> (usize, usize) {
    (x.min(y), x.max(y))
}
