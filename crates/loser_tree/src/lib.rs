//! A [`LoserTree`] finds the smallest of many keys, again and again: it merges sources that are each in
//! order.
//!
//! `isochrone-ctf` merges streams by it, `isochrone-hosts` the streams of a host, `isochrone-store` the
//! batches of its tables. Knuth, "The Art of Computer Programming", volume 3, section 5.4.1, describes such
//! trees of selection.

/// The next key of each of many sources, arranged so that the smallest is known.
///
/// Sources are numbered from 0 in the order in which their keys were given. Of equal keys, the one of the
/// lower number counts as the smaller. Replacing the smallest key or removing its source costs one comparison
/// per level, `O(log sources)`. Memory is a key and three words a source.
///
/// ```
/// use isochrone_loser_tree::LoserTree;
///
/// let mut sources = [vec![1, 4], vec![], vec![1, 2]].map(|keys| keys.into_iter());
/// let mut tree = LoserTree::new(sources.iter_mut().map(|keys| keys.next()));
/// let mut merged = Vec::new();
/// while let Some((key, number)) = tree.first() {
///     merged.push((key, number));
///     match sources[number].next() {
///         Some(key) => tree.replace_first(key),
///         None => tree.remove_first(),
///     }
/// }
/// assert_eq!(merged, [(1, 0), (1, 2), (2, 2), (4, 0)]);
/// ```
#[derive(Debug, Clone)]
pub struct LoserTree<K> {
    /// `nodes[0]` is the smallest head, `nodes[i]` the loser of the match at node `i`. The leaves of the
    /// tree, its nodes `n..2n`, are not stored.
    nodes: Vec<Head<K>>,
    /// Leaf of each source, by its number.
    leaves: Vec<usize>,
    /// Source of each leaf.
    players: Vec<usize>,
}

/// The next key of a source. Heads are ordered by their keys, then by the numbers of their sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Head<K> {
    key: K,
    number: usize,
}

impl<K: Ord + Copy> LoserTree<K> {
    /// Builds the tree from the first keys of all sources. A source without a key takes a number and no part.
    /// `O(sources)`.
    pub fn new(keys: impl IntoIterator<Item = Option<K>>) -> Self {
        let keys: Vec<Option<K>> = keys.into_iter().collect();
        let count = keys.iter().flatten().count();
        let mut leaves = vec![0; keys.len()];
        let mut players = vec![0; 2 * count];
        let mut nodes = vec![None; count];
        let heads = keys.into_iter().enumerate().filter_map(|(number, key)| Some(Head { key: key?, number }));
        for (leaf, mut winner) in (count..).zip(heads) {
            leaves[winner.number] = leaf;
            players[leaf] = winner.number;
            // Up to the first node without an opponent.
            let mut node = leaf / 2;
            while node > 0 {
                let Some(other) = nodes[node] else { break };
                nodes[node] = Some(winner.max(other));
                winner = winner.min(other);
                node /= 2;
            }
            nodes[node] = Some(winner);
        }
        Self { nodes: nodes.into_iter().flatten().collect(), leaves, players }
    }

    /// Number of sources that have a key.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no source has a key.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The smallest key and the number of its source; `None` once all sources have been removed.
    #[inline]
    pub fn first(&self) -> Option<(K, usize)> {
        self.nodes.first().map(|head| (head.key, head.number))
    }

    /// Replaces the smallest key by the next one of its source, which may be smaller or greater. An empty
    /// tree stays empty.
    #[inline]
    pub fn replace_first(&mut self, key: K) {
        let Some(&Head { number, .. }) = self.nodes.first() else { return };
        self.play(Head { key, number }, self.leaves[number]);
    }

    /// Removes the source of the smallest key. An empty tree stays empty.
    pub fn remove_first(&mut self) {
        let Some(&Head { number: removed, .. }) = self.nodes.first() else { return };
        let Some(loser) = self.nodes.pop().filter(|_| !self.nodes.is_empty()) else { return };
        // The last node had the last two leaves below it and becomes a leaf itself: that of the winner of its
        // match, for which nothing changes. The loser takes the leaf of the source that was removed; if that
        // was the winner, the loser stays.
        let last = self.nodes.len();
        let empty = self.leaves[removed];
        if empty / 2 == last {
            self.seat(loser.number, last);
        } else {
            self.seat(self.players[self.leaves[loser.number] ^ 1], last);
            self.seat(loser.number, empty);
        }
        self.play(loser, self.leaves[loser.number]);
    }

    /// Repeats the matches from a leaf, that of the former winner, up to the root.
    #[inline]
    fn play(&mut self, mut winner: Head<K>, leaf: usize) {
        let mut node = leaf / 2;
        while node > 0 {
            let other = &mut self.nodes[node];
            if *other < winner {
                std::mem::swap(other, &mut winner);
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }

    fn seat(&mut self, number: usize, leaf: usize) {
        self.leaves[number] = leaf;
        self.players[leaf] = number;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Sources that are taken from the tree one element at a time come out as a stable sort has them.
        #[test]
        fn heads_come_in_order(sources in proptest::collection::vec(proptest::collection::vec(0_u8..20, 0..8), 0..40)) {
            let sources: Vec<Vec<u8>> = sources.into_iter().map(|mut keys| { keys.sort_unstable(); keys }).collect();
            let mut expect: Vec<(u8, usize)> =
                sources.iter().enumerate().flat_map(|(n, keys)| keys.iter().map(move |key| (*key, n))).collect();
            expect.sort_unstable();
            let mut rest: Vec<_> = sources.iter().map(|keys| keys.iter().copied()).collect();
            let mut tree = LoserTree::new(rest.iter_mut().map(Iterator::next));
            prop_assert_eq!(tree.len(), sources.iter().filter(|keys| !keys.is_empty()).count());
            let mut merged = Vec::new();
            while let Some((key, number)) = tree.first() {
                merged.push((key, number));
                match rest[number].next() {
                    Some(key) => tree.replace_first(key),
                    None => tree.remove_first(),
                }
            }
            prop_assert!(tree.is_empty());
            prop_assert_eq!(merged, expect);
        }
    }

    thread_local!(static COMPARED: Cell<u64> = const { Cell::new(0) });

    /// A key that counts how often it is compared.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Counted(u32);

    impl PartialOrd for Counted {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for Counted {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            COMPARED.set(COMPARED.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    /// Sources that end cost no more than sources that continue.
    #[test]
    fn ends_cost_a_comparison_per_level() {
        let check = |count: u32| {
            COMPARED.set(0);
            let mut tree = LoserTree::new((0..count).map(|n| Some(Counted(n.wrapping_mul(2_654_435_761)))));
            while tree.first().is_some() {
                tree.remove_first();
            }
            let levels = u64::from(count.ilog2()) + 1;
            let max = u64::from(count) * (levels + 2);
            assert!(COMPARED.get() <= max, "{count} sources: {} comparisons", COMPARED.get());
        };
        check(1);
        check(1000);
        check(100_000);
    }
}
