//! Events of many streams, of one trace or several, in the order of time.
//!
//! A loser tree: each event costs one comparison per level, `O(log streams)`. Memory is one event per stream.

use isochrone_diagnostic::Diagnostic;
use isochrone_loser_tree::LoserTree;

use crate::trace::{Event, StreamEvents};

/// Merges streams by a key that the caller derives from an event (its time, on whatever clock).
///
/// Of several streams whose next events have equal keys, the one that was given first is the next. So the
/// order is total and the same each time; with equal keys all events of the first stream come before those of
/// the second. Events of one stream keep their order. Where its keys go back (packets that overlap in time),
/// an event that is late comes out as soon as those before it in its stream have: then the whole is as little
/// in order as the stream.
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
        let keys = sources.iter().map(|Source { tag, head, .. }| Some(key(*tag, head.as_ref()?)));
        Self { tree: LoserTree::new(keys), sources, is_taken: false, key }
    }

    /// The streams with their tags, as they were given. What a stream says of itself (its position, its
    /// diagnostics) includes the event that is still to come out of it, if there is one; the stream of the
    /// last event that came out has none.
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
        let (mut first, mut number) = self.tree.first()?;
        if self.is_taken {
            let source = &mut self.sources[number];
            source.head = source.events.next();
            match &source.head {
                Some(event) => self.tree.replace_first((self.key)(source.tag, event)),
                None => self.tree.remove_first(),
            }
            (first, number) = self.tree.first()?;
        }
        self.is_taken = true;
        let source = &self.sources[number];
        Some((source.tag, first, source.head?))
    }
}
