//! Operations that wait until it is known what was before them.
//!
//! A log is in a normal form that does not depend on how it came about: uses between two other operations are added up by
//! thread and descriptor, and nothing is said twice.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::op::{FileOp, Step, Tally, is_unknown, step};
use crate::calls::Effect;
use crate::id::{ThreadId, Time};
use crate::keyed::Keyed;

/// A place in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Item {
    /// Uses of descriptors; never two such items one behind the other.
    Uses(BTreeMap<(ThreadId, i32), Tally>),
    /// Something else.
    Op(FileOp),
}

/// What is told of a thread's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Its number.
    Of(i32),
    /// The thread has ended.
    Ended,
}

/// Operations in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    items: VecDeque<Item>,
    /// The last that the log tells of each thread's process. It follows from the items.
    pids: Keyed<ThreadId, Told>,
}

impl Log {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether there is nothing but uses.
    pub(super) fn is_at_most_uses(&self) -> bool {
        match self.items.len() {
            0 => true,
            1 => matches!(self.items.front(), Some(Item::Uses(_))),
            _ => false,
        }
    }

    /// What the log tells of a thread's process, if anything.
    pub(super) fn told(&self, thread: ThreadId) -> Option<Told> {
        self.pids.get(&thread).copied()
    }

    /// Adds an operation that is none of the uses.
    pub(super) fn push(&mut self, op: FileOp) {
        self.remember(&op);
        self.items.push_back(Item::Op(op));
    }

    /// Adds uses.
    pub(super) fn tally(&mut self, thread: ThreadId, fd: i32, tally: Tally) {
        if !matches!(self.items.back(), Some(Item::Uses(_))) {
            self.items.push_back(Item::Uses(BTreeMap::new()));
        }
        if let Some(Item::Uses(uses)) = self.items.back_mut() {
            put(uses, thread, fd, tally);
        }
    }

    /// Gives a call its effect.
    pub(super) fn fill(&mut self, thread: ThreadId, at: Time, effect: &Effect) {
        let is_it = |item: &Item| matches!(item, Item::Op(FileOp::Call { thread: of, at: when, effect: None, .. }) if (*of, *when) == (thread, at));
        let Some(index) = self.items.iter().position(is_it) else { return };
        let Some(Item::Op(mut op)) = self.items.remove(index) else { return };
        if let FileOp::Call { effect: place, .. } = &mut op {
            *place = Some(effect.clone());
        }
        match step(op) {
            Step::Nothing => self.join(index),
            Step::Op(op) => self.items.insert(index, Item::Op(op)),
            Step::Use(one) => self.fill_uses(index, [Some(one), None]),
            Step::Uses(one, two) => self.fill_uses(index, [Some(one), Some(two)]),
        }
    }

    /// Says whether a thread that was made shares its table.
    pub(super) fn share(&mut self, thread: ThreadId, shares: bool) {
        for item in &mut self.items {
            if let Item::Op(FileOp::Fork { child, shares_table, .. }) = item
                && *child == thread
            {
                *shares_table = shares;
                return;
            }
        }
    }

    fn fill_uses(&mut self, index: usize, new: [Option<super::op::OneUse>; 2]) {
        let mut uses = BTreeMap::new();
        for (thread, fd, tally) in new.into_iter().flatten() {
            put(&mut uses, thread, fd, tally);
        }
        self.items.insert(index, Item::Uses(uses));
        // First with what is behind: the place before then has the right neighbour.
        self.join(index + 1);
        self.join(index);
    }

    /// Joins an item with the one before it, if both are uses.
    fn join(&mut self, index: usize) {
        let Some(before) = index.checked_sub(1) else { return };
        let both = [before, index].map(|place| matches!(self.items.get(place), Some(Item::Uses(_))));
        if both != [true, true] {
            return;
        }
        if let (Some(Item::Uses(later)), Some(Item::Uses(uses))) =
            (self.items.remove(index), self.items.get_mut(before))
        {
            for ((thread, fd), tally) in later {
                put(uses, thread, fd, tally);
            }
        }
    }

    /// Takes the next operation out if it is known whose it is; uses before it go to `uses`, of all known threads.
    pub(super) fn next_ready(&mut self, mut uses: impl FnMut(ThreadId, i32, Tally)) -> Option<FileOp> {
        if let Some(Item::Uses(first)) = self.items.front_mut() {
            for ((thread, fd), tally) in std::mem::take(first) {
                match is_unknown(thread) {
                    true => put(first, thread, fd, tally),
                    false => uses(thread, fd, tally),
                }
            }
            if !first.is_empty() {
                return None;
            }
            self.items.pop_front();
        }
        let op = match self.items.front() {
            Some(Item::Op(op)) if !op.is_blocked() => match self.items.pop_front() {
                Some(Item::Op(op)) => Some(op),
                _ => None,
            },
            _ => None,
        };
        if self.is_at_most_uses() {
            // What was told has been executed: the machine knows it.
            self.pids = Keyed::default();
        }
        op
    }

    /// All items in their order.
    pub(super) fn into_items(self) -> impl Iterator<Item = Item> {
        self.items.into_iter()
    }

    fn remember(&mut self, op: &FileOp) {
        match *op {
            FileOp::Member { thread, pid } => {
                self.pids.insert(thread, Told::Of(pid));
            }
            FileOp::Exit { thread, .. } => {
                self.pids.insert(thread, Told::Ended);
            }
            _ => {}
        }
    }
}

fn put(uses: &mut BTreeMap<(ThreadId, i32), Tally>, thread: ThreadId, fd: i32, tally: Tally) {
    match uses.entry((thread, fd)) {
        std::collections::btree_map::Entry::Vacant(place) => {
            place.insert(tally);
        }
        std::collections::btree_map::Entry::Occupied(mut place) => place.get_mut().add(&tally),
    }
}

/// Only the items count: the rest follows from them, or was executed already.
impl PartialEq for Log {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl Eq for Log {}

impl Serialize for Log {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Log {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = VecDeque::deserialize(deserializer)?;
        let mut log = Self { items: VecDeque::new(), pids: Keyed::default() };
        for item in &items {
            if let Item::Op(op) = item {
                log.remember(op);
            }
        }
        log.items = items;
        Ok(log)
    }
}
