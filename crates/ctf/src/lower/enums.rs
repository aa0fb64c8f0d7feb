//! Enumerations: integers with names for ranges of their values. A definition is lowered once and shared by
//! all fields that use it, because named types can stand for many fields.

use std::collections::HashMap;
use std::rc::Rc;

use super::fields::Fields;
use super::scope::{Definition, Namespace, ScopeId};
use super::types::{Lowered, Types};
use crate::schema::{FieldClass, IntegerClass, Mapping, Mappings, shown_name};
use crate::text_error::{Result, TextError};
use crate::tsdl::{Enum, Enumerator};

/// The definitions lowered so far. Keys are addresses: of definitions in the syntax tree, which outlives the
/// lowering, and of mappings that are kept here.
#[derive(Debug, Default)]
pub(super) struct Enums<'a> {
    mappings: HashMap<*const Enum<'a>, Mappings>,
    labels: HashMap<*const Mapping, Rc<Labels>>,
}

/// A range of values, both ends included.
type Range = (i128, i128);

/// The ranges of each label.
#[derive(Debug, Default)]
pub(super) struct Labels {
    exact: HashMap<String, Vec<Range>>,
    /// By labels without their leading underscore.
    shown: HashMap<String, Vec<Range>>,
}

impl Labels {
    fn of(mappings: &Mappings) -> Self {
        let mut labels = Self::default();
        for Mapping { label, first, last } in mappings {
            labels.exact.entry(label.clone()).or_default().push((*first, *last));
            labels.shown.entry(shown_name(label).to_owned()).or_default().push((*first, *last));
        }
        labels
    }

    /// The values whose label names an option. Writers keep labels and options clear of reserved words in
    /// different ways, so that a leading underscore may stand on one side only.
    pub(super) fn ranges(&self, option: &str) -> &[Range] {
        let found = self.exact.get(option).or_else(|| self.shown.get(shown_name(option)));
        found.map_or(&[], Vec::as_slice)
    }
}

impl<'a> Types<'a> {
    pub(super) fn enumeration(
        &mut self,
        scope: ScopeId,
        fields: &mut Fields<'_>,
        offset: usize,
        class: &'a Enum<'a>,
    ) -> Result<Lowered> {
        let Some(enumerators) = &class.enumerators else {
            let (name, named) = self.tagged(scope, Namespace::Enum, class.name, offset)?;
            let Definition::Enum(definition) = named.definition else {
                return Err(TextError::new(offset, format!("no enum is called `{name}`")));
            };
            return self.using(fields, named, (name, offset), |types, fields| {
                types.enumeration(named.scope, fields, offset, definition)
            });
        };
        let mut lowered = match &class.container {
            Some(container) => self.lower(scope, fields, container)?,
            None => self.named_int(scope, fields, offset)?,
        };
        let (FieldClass::Integer(integer) | FieldClass::WideInteger(integer)) = &mut lowered.class else {
            return Err(TextError::new(offset, "the values of an enum are integers"));
        };
        let known = self.enums.mappings.get(&std::ptr::from_ref(class));
        integer.mappings = Some(match known {
            Some(mappings) => mappings.clone(),
            None => {
                let mappings = mappings(enumerators)?;
                if let Some(odd) = oddity(offset, enumerators, &mappings, integer) {
                    self.notes.add(odd.offset, odd.message);
                }
                self.enums.mappings.insert(class, mappings.clone());
                mappings
            }
        });
        Ok(Lowered { character: false, ..lowered })
    }

    /// The labels of mappings that a tag has.
    pub(super) fn labels(&mut self, mappings: &Mappings) -> Rc<Labels> {
        let labels = self.enums.labels.entry(mappings.as_ptr());
        Rc::clone(labels.or_insert_with(|| Rc::new(Labels::of(mappings))))
    }

    /// `int`, the container of an enum that names none.
    fn named_int(&mut self, scope: ScopeId, fields: &mut Fields<'_>, offset: usize) -> Result<Lowered> {
        let missing = || TextError::new(offset, "an enum without a container needs a type called `int`");
        let named = self.scopes.find(scope, Namespace::Alias, "int").ok_or_else(missing)?;
        let Definition::Alias(target, _) = named.definition else { return Err(missing()) };
        self.lower(named.scope, fields, target)
    }
}

/// What is not as it should be in an enum that can be read anyway.
fn oddity(
    offset: usize,
    enumerators: &[Enumerator<'_>],
    mappings: &[Mapping],
    integer: &IntegerClass,
) -> Option<TextError> {
    if mappings.is_empty() {
        return Some(TextError::new(offset, "an enum needs one label at least"));
    }
    let values = integer.size.min(i128::BITS - 2);
    let (smallest, largest) = match integer.signed {
        true => (-(1_i128 << (values - 1)), (1_i128 << (values - 1)) - 1),
        false => (0, (1_i128 << values) - 1),
    };
    let outside = |mapping: &Mapping| mapping.first < smallest || mapping.last > largest;
    let number = mappings.iter().position(outside)?;
    let message = format!(
        "the label `{}` is for values that its integer never has: that holds {smallest} to {largest}",
        mappings[number].label
    );
    Some(TextError::new(enumerators[number].offset, message))
}

/// The mappings of an enum; a label without a value is one more than the value before it.
fn mappings(enumerators: &[Enumerator<'_>]) -> Result<Mappings> {
    let mut next = 0;
    let mut mappings = Vec::with_capacity(enumerators.len());
    for Enumerator { offset, label, range } in enumerators {
        let (first, last) = range.map_or((next, next), |(first, last)| (first.as_i128(), last.as_i128()));
        if first > last {
            let message = format!("the range of `{label}` begins after its end");
            return Err(TextError::new(*offset, message));
        }
        next = last + 1;
        mappings.push(Mapping { label: label.clone().into_owned(), first, last });
    }
    Ok(mappings.into())
}
