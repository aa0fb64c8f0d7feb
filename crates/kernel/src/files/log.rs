//! The log of operations that wait until it is known what was before them.
//!
//! A log is in a normal form that does not depend on how it came about: uses between two other operations are
//! added up by thread and descriptor, and no membership is logged twice.

use std::fmt;

use isochrone_net::Flow;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::block::Item;
use super::items::Items;
use super::op::{FileOp, Tally, is_unknown};
use super::returned::{OneUse, Returned, Step};
use super::sums::Sums;
use crate::calls::Effect;
use crate::canonical_map::CanonicalMap;
use crate::id::{ThreadAliases, ThreadId, Time};
use crate::scratch::Scratch;

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
    items: Items,
    /// The last logged process of each thread. It follows from the items.
    pids: CanonicalMap<ThreadId, LoggedMembership>,
}

impl Log {
    /// An empty one, with a place for what is too much for memory.
    pub(super) fn new(scratch: Scratch) -> Self {
        Self { items: Items::new(scratch), pids: CanonicalMap::default() }
    }

    /// An empty one with the same place.
    pub(super) fn empty(&self) -> Self {
        Self::new(self.items.scratch().clone())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether there are only uses.
    pub(super) fn is_at_most_uses(&self) -> bool {
        self.items.is_at_most_uses()
    }

    /// The logged process of a thread, if any.
    pub(super) fn membership(&self, thread: ThreadId) -> Option<LoggedMembership> {
        self.pids.get(&thread).copied()
    }

    /// Whether it has the process, or the end, of a thread that is to be renamed.
    pub(super) fn has_membership_of(&self, aliases: &ThreadAliases) -> bool {
        aliases.iter().any(|(from, _)| self.membership(from).is_some())
    }

    /// Adds an operation other than a use.
    pub(super) fn push(&mut self, op: FileOp) {
        self.remember(&op);
        self.items.push(Item::Op(op));
    }

    /// Adds a use.
    pub(super) fn count(&mut self, one: &OneUse<'_>) {
        match self.items.last_uses() {
            Some(uses) => count(uses, one),
            None => self.items.push(Item::Uses(uses_of([Some(*one), None]))),
        }
    }

    /// Adds uses.
    pub(super) fn add(&mut self, more: Sums) {
        match self.items.last_uses() {
            Some(uses) => uses.join(more),
            None => self.items.push(Item::Uses(more)),
        }
    }

    /// Sets the effect of a call.
    pub(super) fn fill(&mut self, thread: ThreadId, at: Time, effect: &Effect, flow: Option<&Flow>) {
        let is_it = |op: &FileOp| matches!(op, FileOp::Call { thread: of, at: when, effect: None, .. } if (*of, *when) == (thread, at));
        let Some(index) = self.items.position(is_it) else { return };
        let Some(op) = self.items.op_mut(index) else { return };
        let Some(call) = op.returned() else { return };
        let call = Returned { effect: Some(effect), flow, ..call };
        let uses = match call.step() {
            Step::More => {
                *op = call.to_op();
                return;
            }
            Step::Nothing => None,
            Step::Use(one) => Some(uses_of([Some(one), None])),
            Step::Uses(one, two) => Some(uses_of([Some(one), Some(two)])),
        };
        self.items.replace(index, uses);
    }

    /// Renames threads. Returns whether two threads that became one both have a logged process.
    pub(super) fn rename(&mut self, aliases: &ThreadAliases) -> bool {
        self.items.rename(aliases);
        let mut has_duplicates = false;
        self.pids.rekey(|&thread| aliases.of(thread), |_, _| has_duplicates = true);
        has_duplicates
    }

    /// Sets whether a forked thread shares its parent's table, which was a guess.
    pub(super) fn share(&mut self, thread: ThreadId, shares: bool) {
        let is_it =
            |op: &FileOp| matches!(op, FileOp::Fork { child, is_guess: true, .. } if *child == thread);
        if let Some(index) = self.items.position(is_it)
            && let Some(FileOp::Fork { shares_table, is_guess, .. }) = self.items.op_mut(index)
        {
            (*shares_table, *is_guess) = (shares, false);
        }
    }

    /// Removes the next operation if its threads are known; passes uses before it to `uses`, of all known
    /// threads.
    pub(super) fn next_ready(&mut self, mut uses: impl FnMut(ThreadId, i32, &Tally)) -> Option<FileOp> {
        if let Some(Item::Uses(first)) = self.items.first() {
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
            self.items.pop_first();
        }
        let op = match self.items.first() {
            Some(Item::Op(op)) if !op.is_blocked() => match self.items.pop_first() {
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

fn uses_of(some: [Option<OneUse<'_>>; 2]) -> Sums {
    let mut uses = Sums::default();
    for one in some.into_iter().flatten() {
        count(&mut uses, &one);
    }
    uses
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
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Log;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the items of a log")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Log, A::Error> {
                let mut log = Log::default();
                while let Some(item) = all.next_element()? {
                    match item {
                        Item::Op(op) => log.push(op),
                        Item::Uses(uses) => log.add(uses),
                    }
                }
                Ok(log)
            }
        }
        deserializer.deserialize_seq(All)
    }
}
