//! The items of a log. A log may be most of what a process has in memory, so all but its last items are
//! kept as blocks, as far as nothing looks at single ones.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::ser::{Error, SerializeSeq};
use serde::{Serialize, Serializer};

use super::block::{Block, Item};
use super::op::FileOp;
use super::sums::Sums;
use crate::id::ThreadAliases;
use crate::scratch::Scratch;

/// Number of the last items that are never in blocks.
const LAST: usize = if cfg!(test) { 4 } else { 1 << 15 };

/// Maximum number of items of a block.
const BLOCK: usize = if cfg!(test) { 6 } else { 1 << 12 };

/// Minimum number of items of a block.
const MIN_BLOCK: usize = if cfg!(test) { 2 } else { 1 << 6 };

/// Items in their order. Those that may change have an index: that of their entry.
#[derive(Debug, Clone, Default)]
pub(super) struct Items {
    entries: VecDeque<Entry>,
    /// Of so many entries at the begin no blocks are made any more. A guess where entries were removed: it
    /// decides what is in blocks, and nothing else.
    packed: usize,
    /// Where blocks go.
    scratch: Scratch,
}

#[derive(Debug, Clone)]
enum Entry {
    Item(Item),
    Block(Block),
}

impl Entry {
    fn count(&self) -> usize {
        match self {
            Self::Item(_) => 1,
            Self::Block(block) => block.count(),
        }
    }
}

impl Items {
    /// None yet; blocks go to a place.
    pub(super) fn new(scratch: Scratch) -> Self {
        Self { scratch, ..Self::default() }
    }

    /// Where blocks go.
    pub(super) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there are only uses.
    pub(super) fn is_at_most_uses(&self) -> bool {
        self.entries.len() <= 1
            && self.entries.iter().all(|entry| matches!(entry, Entry::Item(Item::Uses(_))))
    }

    /// The uses at the end, if there are any.
    pub(super) fn last_uses(&mut self) -> Option<&mut Sums> {
        match self.entries.back_mut()? {
            Entry::Item(Item::Uses(uses)) => Some(uses),
            Entry::Item(Item::Op(_)) | Entry::Block(_) => None,
        }
    }

    /// Adds an item at the end. Amortized constant.
    pub(super) fn push(&mut self, item: Item) {
        self.entries.push_back(Entry::Item(item));
        let end = self.packed + BLOCK;
        if self.entries.len() >= end + LAST {
            let mut last = self.entries.split_off(end);
            let run = self.entries.split_off(self.packed);
            self.entries.extend(pack(run, &self.scratch));
            self.packed = self.entries.len();
            self.entries.append(&mut last);
        }
    }

    /// The first item, which is in no block any more.
    pub(super) fn first(&mut self) -> Option<&mut Item> {
        while let Some(Entry::Block(_)) = self.entries.front()
            && let Some(Entry::Block(block)) = self.entries.pop_front()
        {
            for item in block.items().into_iter().rev() {
                self.entries.push_front(Entry::Item(item));
            }
            self.packed = self.packed.saturating_sub(1);
        }
        match self.entries.front_mut()? {
            Entry::Item(item) => Some(item),
            Entry::Block(_) => None,
        }
    }

    /// Removes the first item.
    pub(super) fn pop_first(&mut self) -> Option<Item> {
        self.first()?;
        self.packed = self.packed.saturating_sub(1);
        match self.entries.pop_front()? {
            Entry::Item(item) => Some(item),
            Entry::Block(_) => None,
        }
    }

    /// The index of an operation: of a call whose effect is not known, or of a fork that is a guess.
    /// Linear.
    pub(super) fn position(&self, is_it: impl Fn(&FileOp) -> bool) -> Option<usize> {
        self.entries.iter().position(|entry| matches!(entry, Entry::Item(Item::Op(op)) if is_it(op)))
    }

    /// The operation of an index.
    pub(super) fn op_mut(&mut self, index: usize) -> Option<&mut FileOp> {
        match self.entries.get_mut(index)? {
            Entry::Item(Item::Op(op)) => Some(op),
            Entry::Item(Item::Uses(_)) | Entry::Block(_) => None,
        }
    }

    /// Puts uses in the place of the operation of an index, or nothing: uses that are neighbours then are
    /// one item.
    pub(super) fn replace(&mut self, index: usize, uses: Option<Sums>) {
        match uses {
            Some(uses) => {
                self.entries[index] = Entry::Item(Item::Uses(uses));
                // The join after the item first: the one before then has the right neighbour.
                self.join(index + 1);
            }
            None => {
                self.entries.remove(index);
            }
        }
        self.join(index);
    }

    /// Joins an entry with the one before it, if both are uses.
    fn join(&mut self, index: usize) {
        let Some(before) = index.checked_sub(1) else { return };
        let both =
            [before, index].map(|index| matches!(self.entries.get(index), Some(Entry::Item(Item::Uses(_)))));
        if both == [true, true]
            && let (Some(Entry::Item(Item::Uses(later))), Some(Entry::Item(Item::Uses(uses)))) =
                (self.entries.remove(index), self.entries.get_mut(before))
        {
            uses.join(later);
        }
    }

    /// Renames threads. Linear.
    pub(super) fn rename(&mut self, aliases: &ThreadAliases) {
        for entry in &mut self.entries {
            match entry {
                Entry::Item(item) => item.rename(aliases),
                Entry::Block(block) => block.rename(aliases, &self.scratch),
            }
        }
    }

    /// All items in order.
    pub(super) fn into_iter(self) -> impl Iterator<Item = Item> {
        self.entries.into_iter().flat_map(|entry| {
            let (one, run) = match entry {
                Entry::Item(item) => (Some(item), Vec::new()),
                Entry::Block(block) => (None, block.items()),
            };
            one.into_iter().chain(run)
        })
    }

    fn count(&self) -> usize {
        self.entries.iter().map(Entry::count).sum()
    }

    fn iter(&self) -> impl Iterator<Item = Cow<'_, Item>> {
        self.entries.iter().flat_map(|entry| {
            let (one, run) = match entry {
                Entry::Item(item) => (Some(item), Vec::new()),
                Entry::Block(block) => (None, block.items()),
            };
            one.map(Cow::Borrowed).into_iter().chain(run.into_iter().map(Cow::Owned))
        })
    }
}

/// What becomes of entries that are followed by enough others: blocks, that begin and end with operations,
/// so that no uses are to be joined with what is in a block; and what is in none.
fn pack(entries: VecDeque<Entry>, scratch: &Scratch) -> Vec<Entry> {
    let (mut packed, mut run) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            Entry::Item(item) if !item.may_change() => run.push(item),
            other => {
                pack_run(&mut run, &mut packed, scratch);
                packed.push(other);
            }
        }
    }
    pack_run(&mut run, &mut packed, scratch);
    packed
}

fn pack_run(run: &mut Vec<Item>, packed: &mut Vec<Entry>, scratch: &Scratch) {
    let is_op = |item: &Item| matches!(item, Item::Op(_));
    let end = run.iter().rposition(is_op).map_or(0, |last| last + 1);
    let start = run.iter().position(is_op).unwrap_or(end);
    if end - start < MIN_BLOCK {
        packed.extend(run.drain(..).map(Entry::Item));
        return;
    }
    let block = Block::new(&run[start..end], scratch);
    packed.extend(run.drain(..start).map(Entry::Item));
    packed.push(Entry::Block(block));
    packed.extend(run.drain(..).skip(end - start).map(Entry::Item));
}

/// How they are kept does not matter to what they are; those that cannot be read again equal none.
impl PartialEq for Items {
    fn eq(&self, other: &Self) -> bool {
        let mut read = 0;
        self.count() == other.count()
            && self.iter().inspect(|_| read += 1).eq(other.iter())
            && read == self.count()
    }
}

impl Eq for Items {}

impl Serialize for Items {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut left = self.count();
        let mut all = serializer.serialize_seq(Some(left))?;
        for item in self.iter() {
            all.serialize_element(&*item)?;
            left -= 1;
        }
        if left > 0 {
            return Err(Error::custom(format!("{left} operations on files cannot be read again")));
        }
        all.end()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::id::{PIECE_BEGIN, ThreadId, Time};
    use crate::scratch::{ScratchError, Storage};

    fn thread(tid: i32) -> ThreadId {
        ThreadId::Thread { tid, born: PIECE_BEGIN }
    }

    fn exit(tid: i32, at: i64) -> Item {
        Item::Op(FileOp::Exit { thread: thread(tid), at: Time(at) })
    }

    fn uses(tid: i32) -> Sums {
        let mut sums = Sums::default();
        sums.tally((thread(tid), 3)).uses.reads += 1;
        sums
    }

    fn guess(child: i32) -> Item {
        let (parent, at) = (thread(1), Time(0));
        let (child, shares_table, is_guess) = (thread(child), false, true);
        Item::Op(FileOp::Fork { parent, child, at, shares_table, is_guess })
    }

    /// Items of all kinds, in an order that differs from block to block.
    fn some(count: i32) -> Vec<Item> {
        let item = |number: i32| match number % 7 {
            0 | 3 => Item::Uses(uses(number)),
            5 if number % 2 == 0 => guess(number),
            _ => exit(number, number.into()),
        };
        (0..count).map(item).collect()
    }

    fn items(all: &[Item]) -> Items {
        let mut items = Items::default();
        for item in all {
            items.push(item.clone());
        }
        items
    }

    #[test]
    fn blocks_hold_what_came() {
        for count in [0, 1, 3, 9, 10, 11, 40, 200] {
            let all = some(count);
            let items = items(&all);
            let blocks = items.entries.iter().filter(|entry| matches!(entry, Entry::Block(_))).count();
            assert_eq!(blocks > 0, count >= 10, "{count}");
            assert!(items.entries.len() - items.packed < BLOCK + LAST, "{count}");
            assert_eq!(items.clone().into_iter().collect::<Vec<_>>(), all);
            // In bytes nothing is seen of blocks.
            assert_eq!(postcard::to_stdvec(&items).unwrap(), postcard::to_stdvec(&all).unwrap(), "{count}");
            let mut left = items;
            let popped: Vec<Item> = std::iter::from_fn(|| left.pop_first()).collect();
            assert_eq!(popped, all);
        }
    }

    #[test]
    fn what_changes_is_in_no_block() {
        let mut items = items(&some(200));
        for child in (0..200).filter(|child| child % 14 == 12) {
            let is_it = |op: &FileOp| matches!(op, FileOp::Fork { child: of, .. } if *of == thread(child));
            let index = items.position(is_it).unwrap();
            assert!(items.op_mut(index).is_some_and(|op| is_it(op)));
            items.replace(index, Some(uses(child)));
        }
        let expect: Vec<Item> = some(200)
            .into_iter()
            .zip(0..)
            .map(|(item, number)| match item {
                Item::Op(FileOp::Fork { .. }) => Item::Uses(uses(number)),
                item => item,
            })
            .collect();
        assert_eq!(items.into_iter().collect::<Vec<_>>(), expect);
    }

    #[test]
    fn what_cannot_be_read_again_is_reported() {
        struct WriteOnly;
        impl Storage for WriteOnly {
            fn append(&self, _: &[u8]) -> io::Result<u64> {
                Ok(0)
            }

            fn read(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
                Err(io::ErrorKind::Other.into())
            }
        }
        let scratch = Scratch::new(WriteOnly);
        let mut items = Items::new(scratch.clone());
        for item in some(40) {
            items.push(item);
        }
        assert_eq!(scratch.failed(), None);
        assert!(postcard::to_stdvec(&items).is_err());
        assert!(matches!(scratch.failed(), Some(ScratchError::Read(_))));
        // A storage that failed takes nothing more: what follows is in memory.
        let mut aliases = ThreadAliases::default();
        aliases.add(thread(8), thread(1_008));
        items.rename(&aliases);
        assert!(postcard::to_stdvec(&items).is_err());
        assert_ne!(items, items.clone());
        assert!(items.into_iter().count() < 40);
    }

    #[test]
    fn threads_are_renamed_in_blocks() {
        let mut items = items(&some(40));
        let mut aliases = ThreadAliases::default();
        aliases.add(thread(8), thread(1_008));
        items.rename(&aliases);
        let threads = |all: Vec<Item>| {
            let mut threads = Vec::new();
            for item in all {
                item.threads(|thread| threads.push(thread));
            }
            threads
        };
        let expect = threads(some(40)).into_iter().map(|thread| aliases.of(thread)).collect::<Vec<_>>();
        assert_eq!(threads(items.into_iter().collect()), expect);
    }
}
