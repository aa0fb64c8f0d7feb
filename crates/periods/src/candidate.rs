//! What an event alone decides: which periods it may start and end, and what of it they will need.
//!
//! Whether it does depends on the periods that are open, which are known only where all events before it are.
//! So the decoder asks each event once, an event that concerns no period costs next to nothing, and a
//! [`Candidate`] is what is kept of one that may.

use isochrone_ctf::plan::{EventPlan, StreamPlan};
use serde::{Deserialize, Serialize};

use crate::binding::{Binding, Reading};
use crate::definition::{Definition, Definitions};
use crate::expr::{Found, Truth, Whose};
use crate::value::Value;

/// What is kept of an event that may begin or end periods. It is in mapped chunks, too: the numbers of
/// definitions and fields are those that [`Definitions`] gives, in every version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    begins: u64,
    ends: u64,
    /// By number of the field, sorted.
    values: Vec<(u16, Value)>,
}

impl Candidate {
    /// Whether it may begin a period of a definition.
    pub fn may_begin(&self, definition: usize) -> bool {
        self.begins >> definition & 1 == 1
    }

    /// Whether it may end one.
    pub fn may_end(&self, definition: usize) -> bool {
        self.ends >> definition & 1 == 1
    }

    fn get(&self, field: usize) -> Option<&Value> {
        let index = self.values.binary_search_by_key(&field, |(number, _)| usize::from(*number)).ok()?;
        Some(&self.values[index].1)
    }
}

/// The events that an expression can name.
#[derive(Debug, Clone, Copy)]
pub struct Scopes<'s> {
    /// The event at hand.
    pub event: &'s Candidate,
    /// The one that the period began with, where it has begun.
    pub begin: Option<&'s Candidate>,
    /// The one that its parent began with, where it has one.
    pub parent: Option<&'s Candidate>,
}

impl<'s> Scopes<'s> {
    pub(crate) fn value(self, whose: Whose, field: usize) -> Option<&'s Value> {
        let of = match whose {
            Whose::Event => Some(self.event),
            Whose::Begin => self.begin,
            Whose::ParentBegin => self.parent,
        };
        of?.get(field)
    }

    pub(crate) fn found(self, whose: Whose, field: usize) -> Found<'s> {
        self.value(whose, field).map_or(Found::Missing, Found::Value)
    }
}

/// An event class that some periods may begin or end with.
#[derive(Debug)]
pub struct BoundClass {
    binding: Binding,
    /// The definitions that its events may begin, or end.
    begins: u64,
    ends: u64,
    /// The fields that these need, sorted.
    fields: Vec<usize>,
}

impl BoundClass {
    /// Whether the contexts of packets are needed.
    pub fn needs_packet(&self) -> bool {
        self.binding.needs_packet()
    }
}

impl Definitions {
    /// Finds what periods need in an event class of a host's trace. `None`: none of its events concerns any
    /// of them.
    pub fn bind(&self, class: &EventPlan, stream: &StreamPlan, host: &str) -> Option<BoundClass> {
        let binding = Binding::new(self.fields(), class, stream, host);
        let (begins, ends) = self.concerned(|field| binding.of_class(field));
        let mut fields = Vec::new();
        for (number, it) in self.iter().enumerate() {
            if begins >> number & 1 == 1 {
                fields.extend(&it.begin_fields);
            }
            if ends >> number & 1 == 1 {
                fields.extend(&it.end_fields);
            }
        }
        fields.sort_unstable();
        fields.dedup();
        (begins != 0 || ends != 0).then_some(BoundClass { binding, begins, ends, fields })
    }

    /// What is to be kept of an event of a class; `None`: it concerns no period, whichever are open.
    pub fn candidate(&self, class: &BoundClass, from: Reading<'_, '_>) -> Option<Candidate> {
        let mut values = Vec::with_capacity(class.fields.len());
        for &field in &class.fields {
            if let Some(value) = class.binding.read(field, from) {
                values.push((field as u16, value.into_owned()));
            }
        }
        let mut candidate = Candidate { begins: class.begins, ends: class.ends, values };
        let of = |field| candidate.get(field).map_or(Found::Missing, Found::Value);
        let (begins, ends) = self.concerned_of((class.begins, class.ends), of);
        (candidate.begins, candidate.ends) = (begins, ends);
        (begins != 0 || ends != 0).then_some(candidate)
    }

    fn concerned<'v>(&self, of: impl Fn(usize) -> Found<'v>) -> (u64, u64) {
        self.concerned_of((u64::MAX, u64::MAX), of)
    }

    /// The definitions among some that an event may begin, and those that it may end.
    fn concerned_of<'v>(&self, among: (u64, u64), of: impl Fn(usize) -> Found<'v>) -> (u64, u64) {
        let event = |whose, field| match whose {
            Whose::Event => of(field),
            Whose::Begin | Whose::ParentBegin => Found::Open,
        };
        let bits = |among: u64, expr: fn(&Definition) -> &crate::Expr| {
            let may = |(number, it): (usize, &Definition)| {
                let is_asked = among >> number & 1 == 1;
                let may = is_asked && expr(it).truth(&event) != Truth::False;
                u64::from(may) << number
            };
            self.iter().enumerate().map(may).fold(0, |all, bit| all | bit)
        };
        (bits(among.0, |it| &it.begin), bits(among.1, |it| &it.end))
    }
}
