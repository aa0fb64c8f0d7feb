//! What all links together prove at one instant: the earliest and the latest that every clock can show.
//!
//! When the reference shows τ, a link bounds what its neighbour shows, that bounds the next, and of all ways
//! to a clock the best counts. Each bound is an increasing function of the time before it, so this is a
//! shortest path (Bellman 1958; Ford 1956) with such functions for lengths: exact, whatever the functions
//! look like, pieces, wander and all. If a way around a loop comes back earlier than it left, the links of
//! the loop contradict each other.
//!
//! [`crate::network::island`] does so for some instants, and `crate::interval::rows` makes intervals of the
//! results.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use crate::estimate::MIN_MESSAGES_TO_REFUSE;
use crate::geometry::{Direction, Side};
use crate::link::Link;

/// The links of every clock, for searches.
pub(crate) struct Reach<'l> {
    links: &'l [Link],
    /// Per clock: (link, how it is passed).
    at: Vec<Vec<(usize, Direction)>>,
}

/// Links, by index, that cannot all be right.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Loop {
    /// The clocks around the loop, each once.
    pub(crate) clocks: Vec<usize>,
    /// The links between each of them and the next.
    pub(crate) links: Vec<usize>,
}

/// Loops that contradict themselves, in a fixed order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) loops: Vec<Loop>,
}

impl Contradiction {
    /// Adds others; a loop counts once, wherever on it a search began and whichever way it went.
    pub(crate) fn add(&mut self, other: Self) {
        let key = |found: &Loop| {
            let mut links = found.links.clone();
            links.sort_unstable();
            links
        };
        for found in other.loops {
            if self.loops.iter().all(|known| key(known) != key(&found)) {
                self.loops.push(found);
            }
        }
    }
}

impl<'l> Reach<'l> {
    /// The links for which `take` holds.
    pub(crate) fn new(clocks: usize, links: &'l [Link], take: impl Fn(usize) -> bool) -> Self {
        let mut at = vec![Vec::new(); clocks];
        for (index, link) in links.iter().enumerate().filter(|&(i, _)| take(i)) {
            at[link.a].push((index, Direction::Forward));
            at[link.b].push((index, Direction::Backward));
        }
        Self { links, at }
    }

    /// The latest (`Side::Upper`) or earliest time that each clock can show when `from` shows `time`; `None`
    /// where no chain of bounds leads. O(clocks · links) at worst, a few passes over the links as a rule.
    ///
    /// # Errors
    /// A loop that contradicts itself, the first that is found.
    pub(crate) fn from(&self, from: usize, time: i64, side: Side) -> Result<Vec<Option<i64>>, Contradiction> {
        let clocks = self.at.len();
        let mut best: Vec<Option<i64>> = vec![None; clocks];
        let mut before: Vec<Option<(usize, usize)>> = vec![None; clocks];
        let (mut passes, mut queued) = (vec![0; clocks], vec![false; clocks]);
        best[from] = Some(time);
        let mut queue = VecDeque::from([from]);
        while let Some(clock) = queue.pop_front() {
            queued[clock] = false;
            let Some(shown) = best[clock] else { continue };
            for &(index, direction) in &self.at[clock] {
                let link = &self.links[index];
                let other = if direction == Direction::Forward { link.b } else { link.a };
                let Some(bound) = link.bound(direction, side, shown) else { continue };
                let tighter = best[other].is_none_or(|known| match side {
                    Side::Upper => bound < known,
                    Side::Lower => bound > known,
                });
                if !tighter {
                    continue;
                }
                best[other] = Some(bound);
                before[other] = Some((clock, index));
                if std::mem::replace(&mut queued[other], true) {
                    continue;
                }
                passes[other] += 1;
                // A way that improves its own start, or a clock that is visited more often than there are
                // clocks: a loop.
                if other == from || passes[other] > clocks {
                    // What was found so far is proven; more would come of continuing around the loop.
                    return loop_through(&before, other).map_or(Ok(best), Err);
                }
                queue.push_back(other);
            }
        }
        Ok(best)
    }
}

/// The loop that `start` is on, or leads back to; `None` when it leads to no loop.
fn loop_through(before: &[Option<(usize, usize)>], start: usize) -> Option<Contradiction> {
    let mut at = start;
    // After as many steps as there are clocks, one is on the loop for certain.
    for _ in 0..before.len() {
        if let Some((previous, _)) = before[at] {
            at = previous;
        }
    }
    let (first, mut clocks, mut links) = (at, Vec::new(), Vec::new());
    while let Some((previous, link)) = before[at] {
        clocks.push(at);
        links.push(link);
        at = previous;
        if at == first {
            clocks.reverse();
            links.reverse();
            return Some(Contradiction { loops: vec![Loop { clocks, links }] });
        }
        if clocks.len() > before.len() {
            break;
        }
    }
    None
}

/// Links, by index, without which none of the loops is left. O(loops · links of a loop · links refused).
pub(crate) fn links_to_refuse(loops: &[Loop], links: &[Link]) -> Vec<usize> {
    let messages = |l: usize| links[l].corridor.fewer_messages();
    chosen(loops, messages, |l| links[l].half_width())
}

fn chosen(loops: &[Loop], messages: impl Fn(usize) -> u64, width: impl Fn(usize) -> i64) -> Vec<usize> {
    let candidates = |found: &Loop| -> Vec<usize> {
        let few = found.links.iter().copied().filter(|&l| messages(l) < MIN_MESSAGES_TO_REFUSE);
        let few: Vec<usize> = few.collect();
        if few.is_empty() { found.links.clone() } else { few }
    };
    let mut left: Vec<Vec<usize>> = loops.iter().map(candidates).collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for link in left.iter().flatten() {
            *counts.entry(*link).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|&(l, count)| (count, Reverse(messages(l)), width(l), l));
        let Some((link, _)) = most else { break };
        chosen.push(link);
        left.retain(|links| !links.contains(&link));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_explains_most_goes() {
        // (loops, messages by link, those that go); all links are as wide.
        let check = |loops: &[&[usize]], messages: &[u64], expect: &[usize]| {
            let found = |links: &&[usize]| Loop { clocks: Vec::new(), links: links.to_vec() };
            let loops: Vec<Loop> = loops.iter().map(found).collect();
            assert_eq!(chosen(&loops, |l| messages[l], |_| 1), expect, "{loops:?}");
        };
        check(&[], &[], &[]);
        // Link 0 is on all of them, whatever it has.
        check(&[&[0, 1, 2], &[3, 0, 4], &[0, 5]], &[900, 10, 10, 10, 10, 10], &[0]);
        // Fewest messages, then the widest, then the last.
        check(&[&[0, 1, 2]], &[30, 20, 25], &[1]);
        check(&[&[0, 1, 2]], &[20, 20, 20], &[2]);
        // Five messages never overrule hundreds.
        check(&[&[0, 1, 2], &[0, 3, 4]], &[300, 5, 300, 300, 6], &[1, 4]);
        check(&[&[0, 1, 2], &[0, 3, 2], &[0, 4, 2]], &[300, 300, 5, 300, 300], &[2]);
        // Two that have nothing in common.
        check(&[&[0, 1], &[2, 3]], &[50, 40, 30, 60], &[2, 1]);
    }
}
