//! Which links are refused where loops contradict each other, though each link by itself is possible.
//!
//! One wrong link makes every loop that it is on contradictory, so the links that explain most of the loops go: the greedy hitting
//! set (Chvátal 1979). Of links that explain as many, the one with the fewest messages goes, and a link with few messages, of which
//! anything may be wrong, never overrules those with many. [`crate::joint`] asks.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::link::Link;
use crate::reach::Loop;
use crate::suspect::MIN_MESSAGES_TO_REFUSE;

/// Links, by index, without which none of the loops is left. O(loops · links of a loop · links refused).
pub(crate) fn to_refuse(loops: &[Loop], links: &[Link]) -> Vec<usize> {
    let messages = |l: usize| {
        let (forth, back) = links[l].corridor.messages();
        forth.min(back)
    };
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
