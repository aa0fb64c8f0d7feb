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
    sources: Vec<Source<'t, K>>,
    /// `tree[0]` is the source with the smallest head; `tree[i]` the loser of the match at node `i`.
    tree: Vec<usize>,
    key: F,
}

#[derive(Debug)]
struct Source<'t, K> {
    /// What the caller calls the source, such as the number of its trace.
    tag: usize,
    events: StreamEvents<'t>,
    head: Option<(K, Event<'t>)>,
}

impl<'t, K: Ord, F: Fn(usize, &Event<'t>) -> K> Merge<'t, K, F> {
    /// Merges `(tag, stream)`s; `key` gets the tag and the event.
    pub fn new(sources: impl IntoIterator<Item = (usize, StreamEvents<'t>)>, key: F) -> Self {
        let sources: Vec<_> = sources
            .into_iter()
            .map(|(tag, mut events)| {
                let head = events.next().map(|event| (key(tag, &event), event));
                Source { tag, events, head }
            })
            .collect();
        let mut merge = Self { tree: vec![0; sources.len()], sources, key };
        merge.build();
        merge
    }

    /// Plays all matches, from the leaves (nodes `n..2n`) up.
    fn build(&mut self) {
        let count = self.sources.len();
        let mut winners: Vec<usize> = (0..2 * count).map(|node| node.saturating_sub(count)).collect();
        for node in (1..count).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let (winner, loser) = if self.precedes(left, right) { (left, right) } else { (right, left) };
            winners[node] = winner;
            self.tree[node] = loser;
        }
        if count > 0 {
            self.tree[0] = if count == 1 { 0 } else { winners[1] };
        }
    }

    /// Whether the head of source `a` comes before that of source `b`.
    fn precedes(&self, a: usize, b: usize) -> bool {
        match (&self.sources[a].head, &self.sources[b].head) {
            (Some((x, _)), Some((y, _))) => (x, a) < (y, b),
            (head, _) => head.is_some(),
        }
    }

    /// Replays the matches on the way from a source to the root.
    fn replay(&mut self, source: usize) {
        let mut winner = source;
        let mut node = usize::midpoint(source, self.sources.len());
        while node > 0 {
            if self.precedes(self.tree[node], winner) {
                std::mem::swap(&mut self.tree[node], &mut winner);
            }
            node /= 2;
        }
        self.tree[0] = winner;
    }

    /// The streams with their tags, as they were given. What a stream says of itself (its position, its diagnostics) includes
    /// one event that is still to come out, until the stream has ended.
    pub fn sources(&self) -> impl Iterator<Item = (usize, &StreamEvents<'t>)> {
        self.sources.iter().map(|source| (source.tag, &source.events))
    }

    /// What went wrong in the streams so far.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.sources.iter().flat_map(|source| source.events.diagnostics())
    }
}

impl<'t, K: Ord, F: Fn(usize, &Event<'t>) -> K> Iterator for Merge<'t, K, F> {
    /// Tag of the source, its key, its event.
    type Item = (usize, K, Event<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        let winner = *self.tree.first()?;
        let source = &mut self.sources[winner];
        let (key, event) = source.head.take()?;
        source.head = source.events.next().map(|event| ((self.key)(source.tag, &event), event));
        let tag = source.tag;
        self.replay(winner);
        Some((tag, key, event))
    }
}
