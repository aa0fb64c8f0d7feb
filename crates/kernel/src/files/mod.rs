//! Tables of file descriptors: what is open in which process, from when to when, and its uses.
//!
//! [`Files`] is a sequential machine over [`FileOp`]s. In the first piece of a trace it executes them at
//! once; in later pieces it keeps them in a log in a normal form, and they are executed when the piece is
//! appended to a settled one. So the state is a function of the sequence of operations alone, and the normal
//! form of a log is a function of its operations, for all cuts: equal histories are equal bytes. `machine`
//! executes, [`FileSpan`] is emitted.

mod block;
mod items;
mod log;
mod machine;
mod op;
mod open;
mod returned;
mod sums;
mod watched;

#[cfg(test)]
mod any_partition;
#[cfg(test)]
mod rules;

use isochrone_net::Flow;
use serde::{Deserialize, Serialize};

use self::block::Item;
use self::log::{Log, LoggedMembership};
use self::machine::Machine;
use self::returned::{OneUse, Step};
use self::sums::Sums;
use crate::calls::Effect;
use crate::id::{ThreadAliases, ThreadId, Time};
use crate::scratch::Scratch;
use crate::span::Spans;

pub use crate::span::file::{Bound, ClosedBy, FileKind, FileSpan, OpenedBy, Socket, Uses};
pub use op::{DumpOwner, FileOp};
pub use returned::Returned;

/// The file descriptors of a host, in a piece of its trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// What is open; `None` in a piece whose begin is not known.
    machine: Option<Box<Machine>>,
    /// Operations that were not executed yet: in a piece whose begin is known, all from the first operation
    /// of an unidentified thread on.
    log: Log,
}

impl Files {
    /// No operations so far. `settled`: this is the first piece of the trace.
    pub fn new(settled: bool) -> Self {
        Self::with_scratch(settled, Scratch::default())
    }

    /// As [`Self::new`], with a place for operations that are too many for memory.
    pub fn with_scratch(settled: bool, scratch: Scratch) -> Self {
        Self { machine: settled.then(Box::default), log: Log::new(scratch) }
    }

    /// Whether all operations so far have been executed.
    pub fn is_settled(&self) -> bool {
        self.machine.is_some() && self.log.is_empty()
    }

    /// Adds the next operation. Constant for one descriptor, linear in what is open in a table for what
    /// concerns all of it.
    ///
    /// No [`FileOp::Member`] may follow the exit of its thread, which would exist again. Where `spans` does
    /// not want files, nothing is added.
    pub fn note(&mut self, op: FileOp, spans: &mut impl Spans) {
        if !spans.wants_files() {
            return;
        }
        match op.returned() {
            Some(call) => self.returned(&call, spans),
            None => self.take(op, spans),
        }
    }

    /// Adds a call as the next operation: as [`Self::note`] does, and nothing is copied unless it must be
    /// kept.
    pub fn returned(&mut self, call: &Returned<'_>, spans: &mut impl Spans) {
        if !spans.wants_files() {
            return;
        }
        match call.step() {
            Step::Nothing => {}
            Step::Use(one) => self.note_use(one),
            Step::Uses(one, two) => {
                self.note_use(one);
                self.note_use(two);
            }
            Step::More => match &mut self.machine {
                Some(machine) if self.log.is_empty() && !op::is_unknown(call.thread) => {
                    machine.returned(call, spans);
                }
                _ => self.log.push(call.to_op()),
            },
        }
    }

    /// Sets the effect of a call whose exit is in the log and whose entry was found in the piece before. To
    /// be called before this piece is appended to that, whatever the effect is: a call that turns out to have
    /// none is dropped. Linear in the operations before the call. `flow`: the first packet that it sent.
    pub fn fill(&mut self, thread: ThreadId, at: Time, effect: &Effect, flow: Option<&Flow>) {
        self.log.fill(thread, at, effect, flow);
    }

    /// Sets whether a thread shares the table of its parent, when the call that made it was found, as for
    /// [`Self::fill`]. Linear in the log.
    pub fn share(&mut self, child: ThreadId, shares_table: bool) {
        self.log.share(child, shares_table);
    }

    /// Appends the next piece. Linear in the log of the other; each operation costs what [`Self::note`]
    /// states.
    pub fn append(&mut self, right: Self, spans: &mut impl Spans) {
        self.settle(spans);
        for item in right.log.into_items() {
            match item {
                Item::Uses(uses) => self.note_uses(uses),
                Item::Op(op) => self.take(op, spans),
            }
        }
    }

    /// Renames threads. What was executed has the right ids already: only the log changes. Linear in the log.
    /// [`Self::settle`] afterwards executes what has become known.
    pub fn rename(&mut self, aliases: &ThreadAliases) {
        if aliases.is_empty() {
            return;
        }
        let has_membership = self.log.has_membership_of(aliases);
        let has_duplicates = self.log.rename(aliases);
        if !has_duplicates && (self.machine.is_none() || !has_membership) {
            return;
        }
        // The machine may have a membership that the log records again.
        let empty = self.log.empty();
        for item in std::mem::replace(&mut self.log, empty).into_items() {
            match item {
                Item::Uses(uses) => self.log.add(uses),
                Item::Op(op) if self.is_redundant(&op) => {}
                Item::Op(op) => self.log.push(op),
            }
        }
    }

    /// Executes all operations in the log up to the first of an unidentified thread.
    pub fn settle(&mut self, spans: &mut impl Spans) {
        let Some(machine) = &mut self.machine else { return };
        while let Some(op) = self.log.next_ready(|thread, fd, tally| machine.use_file(thread, fd, tally)) {
            machine.run(&op, spans);
        }
    }

    /// Ends the trace: closes everything.
    pub fn finish(self, end: Time, spans: &mut impl Spans) {
        let mut machine = self.machine.unwrap_or_default();
        for item in self.log.into_items() {
            match item {
                Item::Uses(uses) => {
                    for ((thread, fd), tally) in uses.unordered() {
                        machine.use_file(thread, fd, tally);
                    }
                }
                Item::Op(op) => machine.run(&op, spans),
            }
        }
        machine.finish(end, spans);
    }

    /// Adds an operation that is in its normal form.
    fn take(&mut self, op: FileOp, spans: &mut impl Spans) {
        if self.is_redundant(&op) {
            return;
        }
        match &mut self.machine {
            Some(machine) if self.log.is_empty() && !op.is_blocked() => machine.run(&op, spans),
            _ => self.log.push(op),
        }
    }

    /// As [`Self::note_uses`], of one: the most frequent operation.
    #[inline]
    fn note_use(&mut self, one: OneUse<'_>) {
        match &mut self.machine {
            Some(machine) if !op::is_unknown(one.thread) && self.log.is_at_most_uses() => {
                machine.use_once(one);
            }
            _ => self.log.count(&one),
        }
    }

    /// Uses of descriptors can be added up in any order as long as nothing else comes between.
    fn note_uses(&mut self, uses: Sums) {
        self.log.add(uses);
        if let Some(machine) = &mut self.machine
            && self.log.is_at_most_uses()
        {
            self.log.next_ready(|thread, fd, tally| machine.use_file(thread, fd, tally));
        }
    }

    /// Whether an operation repeats a known membership.
    fn is_redundant(&self, op: &FileOp) -> bool {
        let FileOp::Member { thread, pid } = *op else { return false };
        match self.log.membership(thread) {
            Some(emitted) => emitted == LoggedMembership::Of(pid),
            None => self.machine.as_ref().and_then(|machine| machine.pid_of(thread)) == Some(pid),
        }
    }
}
