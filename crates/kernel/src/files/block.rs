//! An item of a log, and runs of items, encoded and compressed, in the [`Scratch`] of a log that has one.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::op::FileOp;
use super::sums::Sums;
use crate::id::{ThreadAliases, ThreadId};
use crate::scratch::{Kept, Scratch};

/// An item of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Item {
    /// Uses of descriptors; never two such items in a row.
    Uses(Sums),
    /// Something else.
    Op(FileOp),
}

impl Item {
    /// Whether what is known of a neighbour may still change it: then it is in no block.
    pub(super) fn may_change(&self) -> bool {
        match self {
            Self::Op(FileOp::Call { effect, .. }) => effect.is_none(),
            Self::Op(FileOp::Fork { is_guess, .. }) => *is_guess,
            Self::Uses(_) | Self::Op(_) => false,
        }
    }

    /// Renames threads.
    pub(super) fn rename(&mut self, aliases: &ThreadAliases) {
        match self {
            Self::Uses(uses) => uses.rename(aliases),
            Self::Op(op) => op.rename(aliases),
        }
    }

    /// The threads that it names, some of them several times.
    pub(super) fn threads(&self, mut each: impl FnMut(ThreadId)) {
        match self {
            Self::Uses(uses) => uses.unordered().for_each(|((thread, _), _)| each(thread)),
            Self::Op(op) => op.threads().for_each(each),
        }
    }
}

/// A run of items.
#[derive(Debug, Clone)]
pub(super) struct Block {
    count: usize,
    /// The threads that occur.
    threads: Box<[ThreadId]>,
    /// The items as postcard writes them, compressed with LZ4.
    bytes: Kept,
    /// Number of bytes before they were compressed.
    size: usize,
}

impl Block {
    /// Puts items into a scratch.
    pub(super) fn new(items: &[Item], scratch: &Scratch) -> Self {
        let encoded = postcard::to_stdvec(items).unwrap_or_else(|_| unreachable!("items are data alone"));
        let mut threads = FxHashSet::default();
        for item in items {
            item.threads(|thread| {
                threads.insert(thread);
            });
        }
        let bytes = scratch.keep(&lz4_flex::compress(&encoded));
        Self { count: items.len(), threads: threads.into_iter().collect(), bytes, size: encoded.len() }
    }

    /// Number of items.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The items: none where they cannot be read again, which [`Scratch::failed`] reports.
    pub(super) fn items(&self) -> Vec<Item> {
        let mut bytes = Vec::with_capacity(self.bytes.size());
        self.bytes.read(0..self.bytes.size(), &mut bytes);
        if bytes.is_empty() {
            return Vec::new();
        }
        let encoded = lz4_flex::decompress(&bytes, self.size).ok();
        let items = encoded.and_then(|encoded| postcard::from_bytes::<Vec<Item>>(&encoded).ok());
        items.filter(|items| items.len() == self.count).unwrap_or_else(|| {
            assert!(self.bytes.in_memory().is_none(), "memory holds what was encoded");
            self.bytes.report_damage();
            Vec::new()
        })
    }

    /// Renames threads. Nothing is read where none of them occurs.
    pub(super) fn rename(&mut self, aliases: &ThreadAliases, scratch: &Scratch) {
        if self.threads.iter().any(|&thread| aliases.of(thread) != thread) {
            let mut items = self.items();
            if items.len() < self.count {
                // It stays one that cannot be read again.
                return;
            }
            for item in &mut items {
                item.rename(aliases);
            }
            *self = Self::new(&items, scratch);
        }
    }
}
