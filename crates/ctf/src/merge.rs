//! Events of many streams, of one trace or several, in the order of time.
//!
//! A loser tree: each event costs one comparison per level, `O(log streams)`. Memory is one event per stream.

use crate::error::Diagnostic;
use crate::trace::{Event, StreamEvents};

/// Merges streams by a key that the caller derives from an event (its time, on whatever clock).
///
/// Of several streams whose next events have equal keys, the one that was given first is the next. So the order is total
/// and the same each time; with equal keys all events of the first stream come before those of the second. Events of one
/// stream keep their order. Where its keys go back (packets that overlap in time), an event that is late comes out as soon as
/// those before it in its stream have: then the whole is as little in order as the stream.
#[derive(Debug)]
pub struct Merge<'t, K, F> {
    sources: Vec<Source<'t>>,
    /// The keys of the heads of all sources that have not ended.
    tree: LoserTree<K>,
    /// Whether the first head of the tree was handed out, so that its source has to move on.
    is_taken: bool,
    key: F,
}

#[derive(Debug)]
struct Source<'t> {
    /// What the caller calls the source, such as the number of its trace.
    tag: usize,
    events: StreamEvents<'t>,
    /// Its next event.
    head: Option<Event<'t>>,
}

impl<'t, K: Ord + Copy, F: Fn(usize, &Event<'t>) -> K> Merge<'t, K, F> {
    /// Merges `(tag, stream)`s; `key` gets the tag and the event.
    pub fn new(sources: impl IntoIterator<Item = (usize, StreamEvents<'t>)>, key: F) -> Self {
        let sources: Vec<_> = sources
            .into_iter()
            .map(|(tag, mut events)| {
                let head = events.next();
                Source { tag, events, head }
            })
            .collect();
        let heads = sources.iter().enumerate().filter_map(|(number, Source { tag, head, .. })| {
            let key = key(*tag, head.as_ref()?);
            Some(Head { key, number })
        });
        Self { tree: LoserTree::new(heads.collect()), sources, is_taken: false, key }
    }

    /// The streams with their tags, as they were given. What a stream says of itself (its position, its diagnostics) includes
    /// the event that is still to come out of it, if there is one; the stream of the last event that came out has none.
    pub fn sources(&self) -> impl Iterator<Item = (usize, &StreamEvents<'t>)> {
        self.sources.iter().map(|source| (source.tag, &source.events))
    }

    /// What went wrong in the streams so far.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.sources.iter().flat_map(|source| source.events.diagnostics())
    }
}

impl<'t, K: Ord + Copy, F: Fn(usize, &Event<'t>) -> K> Iterator for Merge<'t, K, F> {
    /// Tag of the source, its key, its event.
    type Item = (usize, K, Event<'t>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut first = *self.tree.first()?;
        if self.is_taken {
            let source = &mut self.sources[first.number];
            source.head = source.events.next();
            match &source.head {
                Some(event) => self.tree.replace_first((self.key)(source.tag, event)),
                None => self.tree.remove_first(),
            }
            first = *self.tree.first()?;
        }
        self.is_taken = true;
        let source = &self.sources[first.number];
        Some((source.tag, first.key, source.head?))
    }
}

/// The key of a source's next event. Heads are ordered by their keys, then by the numbers of their sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Head<K> {
    key: K,
    number: usize,
}

/// Finds the smallest of many heads, again and again. The leaves of the tree, its nodes `n..2n`, are the heads in the order
/// of their numbers; only the nodes above are kept.
#[derive(Debug)]
struct LoserTree<K> {
    /// `nodes[0]` is the smallest head; `nodes[i]` the loser of the match at node `i`.
    nodes: Vec<Head<K>>,
    /// By number: the leaf of a head.
    leaves: Vec<usize>,
}

impl<K: Ord + Copy> LoserTree<K> {
    /// Plays all matches between heads that are in the order of their numbers.
    fn new(heads: Vec<Head<K>>) -> Self {
        let count = heads.len();
        let mut leaves = vec![0; heads.last().map_or(0, |head| head.number + 1)];
        let mut nodes = vec![None; count];
        for (leaf, mut winner) in heads.into_iter().enumerate() {
            leaves[winner.number] = leaf;
            // It goes up until it has to wait for an opponent.
            let mut node = usize::midpoint(leaf, count);
            while node > 0 {
                let Some(other) = nodes[node] else { break };
                nodes[node] = Some(winner.max(other));
                winner = winner.min(other);
                node /= 2;
            }
            nodes[node] = Some(winner);
        }
        Self { nodes: nodes.into_iter().flatten().collect(), leaves }
    }

    /// The smallest head.
    #[inline]
    fn first(&self) -> Option<&Head<K>> {
        self.nodes.first()
    }

    /// Gives the source of the smallest head another key: plays the matches on its way to the root again.
    #[inline]
    fn replace_first(&mut self, key: K) {
        let Some(&Head { number, .. }) = self.nodes.first() else { return };
        let mut winner = Head { key, number };
        let mut node = usize::midpoint(self.leaves[number], self.nodes.len());
        while node > 0 {
            let other = &mut self.nodes[node];
            if *other < winner {
                std::mem::swap(other, &mut winner);
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }

    /// Takes the smallest head out. Plays all matches again, which happens once a source.
    #[cold]
    fn remove_first(&mut self) {
        let mut rest: Vec<Head<K>> = self.nodes.drain(..).skip(1).collect();
        rest.sort_unstable_by_key(|head| head.number);
        *self = Self::new(rest);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Sources that are taken from the tree one element at a time come out as a stable sort has them.
        #[test]
        fn heads_come_in_order(sources in proptest::collection::vec(proptest::collection::vec(0_u8..20, 0..8), 0..12)) {
            let sources: Vec<Vec<u8>> = sources.into_iter().map(|mut keys| { keys.sort_unstable(); keys }).collect();
            let mut expect: Vec<(u8, usize)> =
                sources.iter().enumerate().flat_map(|(n, keys)| keys.iter().map(move |key| (*key, n))).collect();
            expect.sort_unstable();
            let mut rest: Vec<_> = sources.iter().map(|keys| keys.iter()).collect();
            let heads = rest.iter_mut().enumerate().filter_map(|(number, keys)| Some(Head { key: *keys.next()?, number }));
            let mut tree = LoserTree::new(heads.collect());
            let mut merged = Vec::new();
            while let Some(Head { key, number }) = tree.first().copied() {
                merged.push((key, number));
                match rest[number].next() {
                    Some(key) => tree.replace_first(*key),
                    None => tree.remove_first(),
                }
            }
            prop_assert_eq!(merged, expect);
        }
    }
}
