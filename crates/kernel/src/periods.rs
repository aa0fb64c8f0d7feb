//! Periods: from an event that begins one to an event that ends it, as definitions of the period language say.
//!
//! Part of a `PartialState`. Whether an event begins or ends periods depends on those that are open: an end may compare with
//! the event that its period began with, and a child begins within a parent. So the first piece of a trace executes what the
//! decoder offers at once, and later pieces keep it as a log until they are joined to it, as `files` does. What is kept of an
//! event are the fields that definitions name; events that cannot concern any period are not kept at all.
//!
//! Ends come before begins, children before their parents; a parent that ends closes its children. A period between whose
//! ends events may be missing is dropped and counted.

use std::sync::Arc;

use isochrone_periods::{Candidate, Definitions, Scopes};
use serde::{Deserialize, Serialize};

use crate::completeness::LossCount;
use crate::event::EventContext;
use crate::id::{Name, ThreadAliases, ThreadId, Time};
use crate::partial_state::PartialState;
use crate::span::{Period, Spans};

/// So many periods of a definition may be open at once: each event that may end one is compared with all of them. A definition
/// whose end never comes stops here.
const MAX_OPEN: usize = 4096;

/// What became of the periods of a definition, beside those that were emitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodTally {
    /// The name of the definition, or its number.
    pub name: Name,
    /// How many have no end.
    pub open: u64,
    /// How many were dropped because events may be missing between their ends.
    pub lost: u64,
    /// How many were not begun because too many were open.
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

impl Offered {
    /// Whether nothing that could concern a period is missing between two events.
    fn is_joined_to(&self, later: &Self) -> bool {
        let has_user = self.is_user || later.is_user;
        let has_kernel = !self.is_user || !later.is_user;
        (!has_kernel || self.kernel.agrees(later.kernel))
            && (!has_user || self.programs.agrees(later.programs))
    }
}

impl Periods {
    pub(crate) fn new(definitions: Option<Arc<Definitions>>) -> Self {
        let tally = |name: &Name| PeriodTally { name: name.clone(), ..PeriodTally::default() };
        let all = definitions.iter().flat_map(|all| all.iter());
        let tallies: Vec<_> = all.map(|definition| tally(definition.label())).collect();
        Self { open: vec![Vec::new(); tallies.len()], begun: 0, tallies, log: Vec::new(), definitions }
    }

    fn offer(&mut self, offered: Offered, is_first: bool, spans: &mut impl Spans) {
        if is_first {
            self.execute(&offered, spans);
        } else {
            self.log.push(offered);
        }
    }

    /// Adds the losses before the piece.
    pub(crate) fn shift(&mut self, losses: u64, program_losses: u64) {
        for offered in &mut self.log {
            offered.kernel.shift(losses);
            offered.programs.shift(program_losses);
        }
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        let open = self.open.iter_mut().flatten().map(|open| &mut open.begin);
        open.chain(&mut self.log).for_each(|offered| aliases.change(&mut offered.thread));
    }

    /// Appends those of the next piece.
    pub(crate) fn append(&mut self, right: Self, is_first: bool, spans: &mut impl Spans) {
        right.log.into_iter().for_each(|offered| self.offer(offered, is_first, spans));
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
        for place in (0..definitions.iter().len()).rev().filter(|&place| offered.event.may_end(place)) {
            self.end(&definitions, place, offered, spans);
        }
        for place in (0..definitions.iter().len()).filter(|&place| offered.event.may_begin(place)) {
            self.begin(&definitions, place, offered);
        }
    }

    /// Ends the periods of a definition that an event ends.
    fn end(&mut self, definitions: &Definitions, place: usize, offered: &Offered, spans: &mut impl Spans) {
        let Some(definition) = definitions.get(place) else { return };
        let parent_of = |open: &Open| self.parent(definition.parent(), open.parent);
        let is_ended = |open: &&Open| {
            definition.ends(Scopes {
                event: &offered.event,
                begin: Some(&open.begin.event),
                parent: parent_of(open).map(|parent| &parent.begin.event),
            })
        };
        let ended: Vec<u64> = self.open[place].iter().filter(is_ended).map(|open| open.number).collect();
        for number in ended {
            self.close(definitions, place, number, (offered, false), spans);
        }
    }

    /// The open parent of a period.
    fn parent(&self, definition: Option<usize>, number: Option<u64>) -> Option<&Open> {
        let all = &self.open[definition?];
        let place = all.binary_search_by_key(&number?, |open| open.number).ok()?;
        Some(&all[place])
    }

    /// Closes a period, after all that lie within it. `(by, is_cut)`: with which event, and whether that ends its parent.
    fn close(
        &mut self,
        definitions: &Definitions,
        place: usize,
        number: u64,
        (by, is_cut): (&Offered, bool),
        spans: &mut impl Spans,
    ) {
        let children = definitions.iter().enumerate().filter(|(_, child)| child.parent() == Some(place));
        for (child, _) in children {
            let within = self.open[child].iter().filter(|open| open.parent == Some(number));
            let within: Vec<u64> = within.map(|open| open.number).collect();
            for number in within {
                self.close(definitions, child, number, (by, true), spans);
            }
        }
        let found = self.open[place].binary_search_by_key(&number, |open| open.number);
        let (Ok(found), Some(definition)) = (found, definitions.get(place)) else { return };
        let open = self.open[place].remove(found);
        if !open.begin.is_joined_to(by) {
            self.tallies[place].lost += 1;
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
    fn begin(&mut self, definitions: &Definitions, place: usize, offered: &Offered) {
        let Some(definition) = definitions.get(place) else { return };
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
            if self.open[place].len() >= MAX_OPEN {
                self.tallies[place].refused += 1;
                continue;
            }
            self.open[place].push(Open { number: self.begun, parent, begin: offered.clone() });
            self.begun += 1;
        }
    }
}

impl<S: Spans> PartialState<S> {
    /// The piece with definitions of periods: to be called before its first event, for all pieces of a trace alike.
    #[must_use]
    pub fn with_periods(mut self, definitions: Option<&Arc<Definitions>>) -> Self {
        self.periods = Periods::new(definitions.cloned());
        self
    }

    /// Consumes what the definitions of periods keep of the next event; to be called before [`Self::event`]. Linear in the
    /// periods that are open of the definitions that it concerns.
    pub fn period_event(&mut self, context: &EventContext<'_>, event: Candidate) {
        let at = context.time;
        let of_program = if context.is_user { self.program_thread(context) } else { None };
        let tid = context.tid.filter(|_| !context.is_user);
        let thread = of_program.unwrap_or_else(|| self.current(&EventContext { tid, ..*context }));
        let offered = Offered {
            at,
            thread,
            is_user: context.is_user,
            kernel: self.complete.loss_count(at),
            programs: self.programs_complete.loss_count(at),
            event,
        };
        let is_first = self.is_first();
        self.periods.offer(offered, is_first, &mut self.spans);
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
