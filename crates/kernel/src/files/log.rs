//! The log of operations that wait until it is known what was before them.
//!
//! A log is in a normal form that does not depend on how it came about: uses between two other operations are
//! added up by thread and descriptor, and no membership is logged twice.

use std::collections::VecDeque;

use isochrone_net::Flow;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::op::{FileOp, Tally, is_unknown};
use super::returned::{OneUse, Returned, Step};
use super::sums::Sums;
use crate::calls::Effect;
use crate::canonical_map::CanonicalMap;
use crate::id::{ThreadAliases, ThreadId, Time};

/// An item of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Item {
    /// Uses of descriptors; never two such items in a row.
    Uses(Sums),
    /// Something else.
    Op(FileOp),
}

/// The last logged process of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoggedMembership {
    /// Its pid.
    Of(i32),
    /// The thread has ended.
    Ended,
}

/// Operations in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    items: VecDeque<Item>,
    /// The last logged process of each thread. It follows from the items.
    pids: CanonicalMap<ThreadId, LoggedMembership>,
}

impl Log {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether there are only uses.
    pub(super) fn is_at_most_uses(&self) -> bool {
        match self.items.len() {
            0 => true,
            1 => matches!(self.items.front(), Some(Item::Uses(_))),
            _ => false,
        }
    }

    /// The logged process of a thread, if any.
    pub(super) fn membership(&self, thread: ThreadId) -> Option<LoggedMembership> {
        self.pids.get(&thread).copied()
    }

    /// Adds an operation other than a use.
    pub(super) fn push(&mut self, op: FileOp) {
        self.remember(&op);
        self.append(Item::Op(op));
    }

    /// Adds a use.
    pub(super) fn count(&mut self, one: &OneUse<'_>) {
        if !matches!(self.items.back(), Some(Item::Uses(_))) {
            self.append(Item::Uses(Sums::default()));
        }
        if let Some(Item::Uses(uses)) = self.items.back_mut() {
            count(uses, one);
        }
    }

    /// Adds uses.
    pub(super) fn add(&mut self, more: Sums) {
        match self.items.back_mut() {
            Some(Item::Uses(uses)) => uses.join(more),
            _ => self.append(Item::Uses(more)),
        }
    }

    /// Adds an item at the end. A log may be most of what a process has in memory: room for more is a quarter
    /// of it, not as much again.
    fn append(&mut self, item: Item) {
        if self.items.len() == self.items.capacity() {
            self.items.reserve_exact(4.max(self.items.len() / 4));
        }
        self.items.push_back(item);
    }

    /// Sets the effect of a call.
    pub(super) fn fill(&mut self, thread: ThreadId, at: Time, effect: &Effect, flow: Option<&Flow>) {
        let is_it = |item: &Item| matches!(item, Item::Op(FileOp::Call { thread: of, at: when, effect: None, .. }) if (*of, *when) == (thread, at));
        let Some(index) = self.items.iter().position(is_it) else { return };
        let Some(Item::Op(op)) = self.items.remove(index) else { return };
        let Some(call) = op.returned() else { return };
        let call = Returned { effect: Some(effect), flow, ..call };
        match call.step() {
            Step::Nothing => self.join(index),
            Step::More => self.items.insert(index, Item::Op(call.to_op())),
            Step::Use(one) => self.fill_uses(index, [Some(one), None]),
            Step::Uses(one, two) => self.fill_uses(index, [Some(one), Some(two)]),
        }
    }

    /// Renames threads. Returns whether two threads that became one both have a logged process.
    pub(super) fn rename(&mut self, aliases: &ThreadAliases) -> bool {
        for item in &mut self.items {
            match item {
                Item::Uses(uses) => uses.rename(aliases),
                Item::Op(op) => op.rename(aliases),
            }
        }
        let mut has_duplicates = false;
        self.pids.rekey(|&thread| aliases.of(thread), |_, _| has_duplicates = true);
        has_duplicates
    }

    /// Sets whether a forked thread shares its parent's table.
    pub(super) fn share(&mut self, thread: ThreadId, shares: bool) {
        for item in &mut self.items {
            if let Item::Op(FileOp::Fork { child, shares_table, is_guess, .. }) = item
                && *child == thread
            {
                (*shares_table, *is_guess) = (shares, false);
                return;
            }
        }
    }

    fn fill_uses(&mut self, index: usize, new: [Option<OneUse<'_>>; 2]) {
        let mut uses = Sums::default();
        for one in new.into_iter().flatten() {
            count(&mut uses, &one);
        }
        self.items.insert(index, Item::Uses(uses));
        // The join after the item first: the one before then has the right neighbour.
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
            uses.join(later);
        }
    }

    /// Removes the next operation if its threads are known; passes uses before it to `uses`, of all known
    /// threads.
    pub(super) fn next_ready(&mut self, mut uses: impl FnMut(ThreadId, i32, &Tally)) -> Option<FileOp> {
        if let Some(Item::Uses(first)) = self.items.front_mut() {
            first.retain(|(thread, fd), tally| {
                let waits = is_unknown(thread);
                if !waits {
                    uses(thread, fd, tally);
                }
                waits
            });
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
            // What was logged has been executed: the machine has it.
            self.pids = CanonicalMap::default();
        }
        op
    }

    /// All items in order.
    pub(super) fn into_items(self) -> impl Iterator<Item = Item> {
        self.items.into_iter()
    }

    fn remember(&mut self, op: &FileOp) {
        match *op {
            FileOp::Member { thread, pid } => {
                self.pids.insert(thread, LoggedMembership::Of(pid));
            }
            FileOp::Exit { thread, .. } => {
                self.pids.insert(thread, LoggedMembership::Ended);
            }
            _ => {}
        }
    }
}

fn count(uses: &mut Sums, one: &OneUse<'_>) {
    uses.tally((one.thread, one.fd)).count(one);
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
        let mut log = Self { items: VecDeque::new(), pids: CanonicalMap::default() };
        for item in &items {
            if let Item::Op(op) = item {
                log.remember(op);
            }
        }
        log.items = items;
        Ok(log)
    }
}
