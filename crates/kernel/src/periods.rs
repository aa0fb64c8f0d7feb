//! Periods: from an event that begins one to an event that ends it, as defined in the period language.
//!
//! Part of a `PartialState`. Whether an event begins or ends periods depends on those that are open: an end
//! may compare with the event that its period began with, and a child begins within a parent. So the first
//! piece of a trace executes what the decoder offers at once, and later pieces keep it as a log until they
//! are joined to it, as `files` does. What is kept of an event are the fields that definitions name; events
//! that cannot concern any period are not kept at all.
//!
//! Ends come before begins, children before their parents; a parent that ends closes its children. A period
//! between whose ends events may be missing is dropped and counted.

use std::sync::Arc;

use isochrone_periods::{Candidate, Definitions, Scopes};
use serde::{Deserialize, Serialize};

use crate::id::{Name, ThreadAliases, ThreadId, Time};
use crate::loss_tracker::{LossCount, Losses, LossesBefore};
use crate::span::{Period, Spans};

/// Maximum number of open periods of a definition: each event that may end one is compared with all of them.
/// A definition whose end never comes stops here.
const MAX_OPEN: usize = 4096;

/// The periods of a definition that were not emitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodTally {
    /// The name of the definition, or its number.
    pub name: Name,
    /// Number of periods without an end.
    pub open: u64,
    /// Number of periods that were dropped because events may be missing between their ends.
    pub lost: u64,
    /// Number of periods that were not begun because too many were open.
    pub refused: u64,
}

/// The periods of a piece.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Periods {
    #[serde(with = "shared")]
    definitions: Option<Arc<Definitions>>,
    /// By number of the definition, in the order of their begins. Empty in a later piece.
    open: Vec<Vec<Open>>,
    /// Number of periods that have begun.
    begun: u64,
    /// By number of the definition: those that were lost or refused.
    tallies: Vec<PeriodTally>,
    /// What waits until it is known what is open. Empty in the first piece.
    log: Vec<Offered>,
}

/// An event that may begin or end periods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offered {
    at: Time,
    thread: ThreadId,
    is_user: bool,
    /// Losses of the kernel's events, and of programs'.
    kernel: LossCount,
    programs: LossCount,
    event: Candidate,
}

/// A period that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    number: u64,
    parent: Option<u64>,
    begin: Offered,
}

/// The end of a period.
#[derive(Clone, Copy)]
struct Closing<'o> {
    /// The event that ends it.
    by: &'o Offered,
    /// Whether that ends its parent.
    is_cut: bool,
}

impl Offered {
    /// An event of a thread; `losses`: those of its piece so far.
    pub(crate) fn new(event: Candidate, at: Time, thread: ThreadId, is_user: bool, losses: &Losses) -> Self {
        let (kernel, programs) = (losses.kernel.loss_count(at), losses.programs.loss_count(at));
        Self { at, thread, is_user, kernel, programs, event }
    }

    /// Whether nothing that could concern a period is missing between two events.
    fn is_joined_to(&self, later: &Self) -> bool {
        let has_user = self.is_user || later.is_user;
        let has_kernel = !self.is_user || !later.is_user;
        (!has_kernel || self.kernel.no_loss_between(later.kernel))
            && (!has_user || self.programs.no_loss_between(later.programs))
    }
}

impl Periods {
    pub(crate) fn new(definitions: Option<Arc<Definitions>>) -> Self {
        let tally = |name: &Name| PeriodTally { name: name.clone(), ..PeriodTally::default() };
        let all = definitions.iter().flat_map(|all| all.iter());
        let tallies: Vec<_> = all.map(|definition| tally(definition.label())).collect();
        Self { open: vec![Vec::new(); tallies.len()], begun: 0, tallies, log: Vec::new(), definitions }
    }

    /// Executes an event, or keeps it in a piece that is not the first.
    pub(crate) fn offer(&mut self, offered: Offered, is_first: bool, spans: &mut impl Spans) {
        if is_first {
            self.execute(&offered, spans);
        } else {
            self.log.push(offered);
        }
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        let open = self.open.iter_mut().flatten().map(|open| &mut open.begin);
        open.chain(&mut self.log).for_each(|offered| aliases.change(&mut offered.thread));
    }

    /// Appends those of the next piece; `before`: the losses of this one.
    pub(crate) fn append(
        &mut self,
        right: Self,
        before: LossesBefore,
        is_first: bool,
        spans: &mut impl Spans,
    ) {
        for mut offered in right.log {
            offered.kernel.shift(before.kernel);
            offered.programs.shift(before.programs);
            self.offer(offered, is_first, spans);
        }
    }

    /// What became of those that were not emitted, at the end of the trace.
    pub(crate) fn finish(mut self, spans: &mut impl Spans) -> Vec<PeriodTally> {
        for offered in std::mem::take(&mut self.log) {
            self.execute(&offered, spans);
        }
        for (tally, open) in self.tallies.iter_mut().zip(&self.open) {
            tally.open = open.len() as u64;
        }
        self.tallies
    }

    fn execute(&mut self, offered: &Offered, spans: &mut impl Spans) {
        let Some(definitions) = self.definitions.clone() else { return };
        for index in (0..definitions.iter().len()).rev().filter(|&index| offered.event.may_end(index)) {
            self.end(&definitions, index, offered, spans);
        }
        for index in (0..definitions.iter().len()).filter(|&index| offered.event.may_begin(index)) {
            self.begin(&definitions, index, offered);
        }
    }

    /// Ends the periods of a definition that an event ends.
    fn end(&mut self, definitions: &Definitions, index: usize, offered: &Offered, spans: &mut impl Spans) {
        let Some(definition) = definitions.get(index) else { return };
        let parent_of = |open: &Open| self.parent(definition.parent(), open.parent);
        let is_ended = |open: &&Open| {
            definition.ends(Scopes {
                event: &offered.event,
                begin: Some(&open.begin.event),
                parent: parent_of(open).map(|parent| &parent.begin.event),
            })
        };
        let ended: Vec<u64> = self.open[index].iter().filter(is_ended).map(|open| open.number).collect();
        for number in ended {
            self.close(definitions, index, number, Closing { by: offered, is_cut: false }, spans);
        }
    }

    /// The open parent of a period.
    fn parent(&self, definition: Option<usize>, number: Option<u64>) -> Option<&Open> {
        let all = &self.open[definition?];
        let index = all.binary_search_by_key(&number?, |open| open.number).ok()?;
        Some(&all[index])
    }

    /// Closes a period, after all periods within it.
    fn close(
        &mut self,
        definitions: &Definitions,
        index: usize,
        number: u64,
        closing: Closing<'_>,
        spans: &mut impl Spans,
    ) {
        let Closing { by, is_cut } = closing;
        let children = definitions.iter().enumerate().filter(|(_, child)| child.parent() == Some(index));
        for (child, _) in children {
            let within = self.open[child].iter().filter(|open| open.parent == Some(number));
            let within: Vec<u64> = within.map(|open| open.number).collect();
            for number in within {
                self.close(definitions, child, number, Closing { by, is_cut: true }, spans);
            }
        }
        let found = self.open[index].binary_search_by_key(&number, |open| open.number);
        let (Ok(found), Some(definition)) = (found, definitions.get(index)) else { return };
        let open = self.open[index].remove(found);
        if !open.begin.is_joined_to(by) {
            self.tallies[index].lost += 1;
            return;
        }
        let parent = self.parent(definition.parent(), open.parent).map(|parent| &parent.begin.event);
        let parent_name = definition.parent().and_then(|parent| definitions.get(parent));
        let parent_name = parent_name.map(|parent| parent.label().clone());
        let begin = Some(&open.begin.event);
        let at_begin = Scopes { event: &open.begin.event, begin, parent };
        spans.period(&Period {
            name: definition.label().clone(),
            number: open.number,
            parent: open.parent.zip(parent_name),
            thread: open.begin.thread,
            begin: open.begin.at,
            end: by.at,
            is_cut,
            begin_captures: definition.begin_captures(at_begin),
            end_captures: definition.end_captures(Scopes { event: &by.event, begin, parent }),
        });
    }

    /// Begins the periods of a definition that an event begins: one, or one in each parent.
    fn begin(&mut self, definitions: &Definitions, index: usize, offered: &Offered) {
        let Some(definition) = definitions.get(index) else { return };
        let begins =
            |parent| definition.begins(Scopes { event: &offered.event, begin: Some(&offered.event), parent });
        let parents: Vec<Option<u64>> = match definition.parent() {
            None if begins(None) => vec![None],
            None => Vec::new(),
            Some(parent) => {
                // One that may have ended meanwhile is no parent any more.
                let parents = self.open[parent].iter().filter(|open| open.begin.is_joined_to(offered));
                let parents = parents.filter(|open| begins(Some(&open.begin.event)));
                parents.map(|open| Some(open.number)).collect()
            }
        };
        for parent in parents {
            if self.open[index].len() >= MAX_OPEN {
                self.tallies[index].refused += 1;
                continue;
            }
            self.open[index].push(Open { number: self.begun, parent, begin: offered.clone() });
            self.begun += 1;
        }
    }
}

/// Definitions are shared by all pieces; their serialized form is their text.
mod shared {
    use super::{Arc, Definitions};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::ref_option)] // Serde passes it so.
    pub(super) fn serialize<S: Serializer>(
        definitions: &Option<Arc<Definitions>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        definitions.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<Definitions>>, D::Error> {
        Ok(Option::<Definitions>::deserialize(deserializer)?.map(Arc::new))
    }
}
