//! What all links together prove at one instant: the earliest and the latest that every clock can show.
//!
//! When the reference shows τ, a link bounds what its neighbour shows, that bounds the next, and of all ways to a clock the
//! best counts. Each bound is an increasing function of the time before it, so this is a shortest path (Bellman 1958; Ford
//! 1956) with such functions for lengths: exact, whatever the functions look like, pieces, wander and all. If a way around
//! a loop comes back earlier than it left, the links of the loop contradict each other.
//!
//! [`crate::joint`] asks for some instants, and [`crate::uncertainty`] makes intervals of the answers.

use std::collections::VecDeque;

use crate::hull::Side;
use crate::link::Link;
use crate::way::Way;

/// The links of every clock, for searches.
pub(crate) struct Reach<'l> {
    links: &'l [Link],
    /// Per clock: (link, how it is passed).
    at: Vec<Vec<(usize, Way)>>,
}

/// Links, by index, that cannot all be right.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Loop {
    /// The clocks around the loop, each once.
    pub(crate) clocks: Vec<usize>,
    /// The links between each of them and the next.
    pub(crate) links: Vec<usize>,
}

/// Loops of which each contradicts itself, in a fixed order.
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
    /// For the links of which `take` holds.
    pub(crate) fn new(clocks: usize, links: &'l [Link], take: impl Fn(usize) -> bool) -> Self {
        let mut at = vec![Vec::new(); clocks];
        for (index, link) in links.iter().enumerate().filter(|&(i, _)| take(i)) {
            at[link.a].push((index, Way::Forward));
            at[link.b].push((index, Way::Backward));
        }
        Self { links, at }
    }

    /// The latest (`Side::Upper`) or earliest time that each clock can show when `from` shows `time`; `None` where no chain
    /// of bounds leads. O(clocks · links) at worst, a few passes over the links as a rule.
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
            for &(index, way) in &self.at[clock] {
                let link = &self.links[index];
                let other = if way == Way::Forward { link.b } else { link.a };
                let Some(bound) = link.bound(way, side, shown) else { continue };
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
                // A way that improves its own start, or a clock that is asked more often than there are clocks: a loop.
                if other == from || passes[other] > clocks {
                    // What was found so far is proven; more would come of going around for ever.
                    return around(&before, other).map_or(Ok(best), Err);
                }
                queue.push_back(other);
            }
        }
        Ok(best)
    }
}

/// The loop that `start` is on, or leads back to; `None` when it leads to no loop.
fn around(before: &[Option<(usize, usize)>], start: usize) -> Option<Contradiction> {
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
