//! From fields by name to the value of a structure: what is not named is zero or empty.
//!
//! Names are those that people see, joined by dots on the way down: `network_header.ipv4.saddr`. The option of a variant
//! is a step of its own; which one it is follows from the value of the variant's tag.

use isochrone_ctf::Value;
use isochrone_ctf::schema::{
    FieldClass, IntegerClass, Length, Location, Scope, StructClass, VariantClass, shown_name,
};

use crate::error::Misuse;
use crate::value::FieldValue;

/// A field by name.
pub(crate) type Given<'g> = (&'g str, FieldValue);

/// Integers of an event class that lengths and tags of variants depend on.
pub(crate) fn needed(scopes: &[&StructClass]) -> Vec<Location> {
    let mut found = Vec::new();
    for class in scopes {
        needed_in_struct(class, &mut found);
    }
    found
}

fn needed_in_struct(class: &StructClass, found: &mut Vec<Location>) {
    class.members.iter().for_each(|member| needed_in(&member.class, found));
}

fn needed_in(class: &FieldClass, found: &mut Vec<Location>) {
    let length = match class {
        FieldClass::Struct(class) => return needed_in_struct(class, found),
        FieldClass::Variant(class) => {
            found.push(class.selector.clone());
            return class.options.iter().for_each(|option| needed_in(&option.class, found));
        }
        FieldClass::Array(class) => {
            needed_in(&class.element, found);
            &class.length
        }
        FieldClass::Text(class) => &class.length,
        // The kernel's metadata are TSDL: what only CTF 2 has does not come.
        _ => return,
    };
    if let Length::Dynamic(location) = length {
        found.push(location.clone());
    }
}

/// Builds the structures of one event, in their order.
pub(crate) struct Assignment<'g> {
    class: &'g str,
    given: &'g [Given<'g>],
    used: Vec<bool>,
    needed: &'g [Location],
    /// Values of the needed integers met so far, in the order of `needed`.
    known: Vec<Option<i128>>,
    scope: Scope,
    /// Declared names on the way to the current field.
    path: Vec<&'g str>,
}

/// A given field that lies at or below the current one, and what is left of its name.
type Below<'g> = Vec<(usize, &'g str)>;

impl<'g> Assignment<'g> {
    pub(crate) fn new(class: &'g str, given: &'g [Given<'g>], needed: &'g [Location]) -> Self {
        let (used, known) = (vec![false; given.len()], vec![None; needed.len()]);
        Self { class, given, used, needed, known, scope: Scope::Payload, path: Vec::new() }
    }

    /// The value of a scope, from the fields whose names begin with `prefix`.
    pub(crate) fn scope(
        &mut self,
        scope: Scope,
        prefix: &str,
        class: &'g StructClass,
    ) -> Result<Value, Misuse> {
        self.scope = scope;
        let below = self.given.iter().enumerate();
        let below: Below<'g> =
            below.filter_map(|(n, (name, _))| Some((n, name.strip_prefix(prefix)?))).collect();
        self.structure(class, &below)
    }

    /// Every given field must have found its place.
    pub(crate) fn finish(self) -> Result<(), Misuse> {
        match self.used.iter().position(|used| !used) {
            None => Ok(()),
            Some(n) => {
                let field = self.given[n].0.to_owned();
                Err(Misuse::UnknownField { class: self.class.to_owned(), field })
            }
        }
    }

    fn structure(&mut self, class: &'g StructClass, below: &[(usize, &'g str)]) -> Result<Value, Misuse> {
        let mut values = Vec::with_capacity(class.members.len());
        for member in &class.members {
            let inside = step(below, shown_name(&member.name));
            self.path.push(&member.name);
            let value = match &member.class {
                FieldClass::Integer(integer) if inside.is_empty() => {
                    let implied = self.implied_length(class, &member.name, below);
                    self.integer_value(integer, implied)
                }
                other => self.field(other, &inside)?,
            };
            self.path.pop();
            values.push(value);
        }
        Ok(Value::Struct(values))
    }

    /// The length that follows from the elements given for a sibling; else 0.
    fn implied_length(&self, class: &StructClass, name: &str, below: &[(usize, &'g str)]) -> i128 {
        let counted_by = |length: &Length| match length {
            Length::Dynamic(location) => location.path.last().is_some_and(|last| last == name),
            Length::Static(_) => false,
        };
        let counted = class.members.iter().filter(|member| match &member.class {
            FieldClass::Array(class) => counted_by(&class.length),
            FieldClass::Text(class) => counted_by(&class.length),
            _ => false,
        });
        let elements = counted.filter_map(|member| {
            let &(n, _) = step(below, shown_name(&member.name)).first()?;
            match &self.given[n].1 {
                FieldValue::Array(elements) => Some(elements.len()),
                FieldValue::Text(text) => Some(text.len()),
                FieldValue::Integer(_) | FieldValue::Float(_) => None,
            }
        });
        elements.max().unwrap_or(0) as i128
    }

    fn field(&mut self, class: &'g FieldClass, below: &[(usize, &'g str)]) -> Result<Value, Misuse> {
        match class {
            FieldClass::Struct(class) if below.iter().all(|(_, rest)| !rest.is_empty()) => {
                return self.structure(class, below);
            }
            FieldClass::Variant(class) => return self.variant(class, below),
            _ => {}
        }
        let given = self.given;
        let direct = below.iter().find(|(_, rest)| rest.is_empty()).map(|&(n, _)| n);
        let value = direct.map(|n| &given[n].1);
        if let Some(n) = direct {
            self.used[n] = true;
        }
        self.leaf(class, value)
    }

    fn leaf(&mut self, class: &FieldClass, value: Option<&FieldValue>) -> Result<Value, Misuse> {
        match (class, value) {
            (FieldClass::Integer(class), None) => Ok(self.integer_value(class, 0)),
            (FieldClass::Integer(class), Some(value)) => self.integer(class, value),
            (FieldClass::Float(_), None) => Ok(Value::Float(0.0)),
            (FieldClass::Float(_), Some(FieldValue::Float(value))) => Ok(Value::Float(*value)),
            (FieldClass::String(_), None) => Ok(Value::Text(Vec::new())),
            (FieldClass::String(_), Some(FieldValue::Text(text))) if !text.contains('\0') => {
                Ok(text.as_str().into())
            }
            (FieldClass::Text(class), None | Some(FieldValue::Text(_))) => {
                let mut bytes = match value {
                    Some(FieldValue::Text(text)) => text.clone().into_bytes(),
                    _ => Vec::new(),
                };
                let length = self.length(&class.length)?;
                if bytes.len() > length {
                    return Err(self.bad(format!("the text is longer than {length} bytes")));
                }
                bytes.resize(length, 0);
                Ok(Value::Text(bytes))
            }
            (FieldClass::Array(class), None) => {
                let length = self.length(&class.length)?;
                (0..length)
                    .map(|_| self.leaf_or_empty(&class.element))
                    .collect::<Result<_, _>>()
                    .map(Value::Array)
            }
            (FieldClass::Array(class), Some(FieldValue::Array(elements))) => {
                let length = self.length(&class.length)?;
                if elements.len() != length {
                    return Err(self.bad(format!("the array has {length} elements, not {}", elements.len())));
                }
                let values = elements.iter().map(|element| self.leaf(&class.element, Some(element)));
                values.collect::<Result<_, _>>().map(Value::Array)
            }
            // Its members in their order: those that are left out are empty.
            (FieldClass::Struct(class), Some(FieldValue::Array(members)))
                if members.len() <= class.members.len() =>
            {
                let given = members.iter().map(Some).chain(std::iter::repeat(None));
                let members = class.members.iter().zip(given).map(|(member, given)| match given {
                    Some(_) => self.leaf(&member.class, given),
                    None => self.leaf_or_empty(&member.class),
                });
                members.collect::<Result<_, _>>().map(Value::Struct)
            }
            (_, Some(value)) => Err(self.bad(format!("{value:?} is of another kind than the field"))),
            (_, None) => Err(self.bad("elements of such arrays cannot be made up".to_owned())),
        }
    }

    /// An element that was not given: structures within arrays consist of leaves only.
    fn leaf_or_empty(&mut self, class: &FieldClass) -> Result<Value, Misuse> {
        let FieldClass::Struct(class) = class else { return self.leaf(class, None) };
        let members = class.members.iter().map(|member| self.leaf_or_empty(&member.class));
        members.collect::<Result<_, _>>().map(Value::Struct)
    }

    fn variant(&mut self, class: &'g VariantClass, below: &[(usize, &'g str)]) -> Result<Value, Misuse> {
        let tag = self.known_value(&class.selector)?;
        let chosen =
            |ranges: &[(i128, i128)]| ranges.iter().any(|&(first, last)| (first..=last).contains(&tag));
        let Some(index) = class.options.iter().position(|option| chosen(&option.ranges)) else {
            return Err(self.bad(format!("the tag {tag} chooses no option")));
        };
        let option = &class.options[index];
        self.path.push(&option.name);
        let value = self.field(&option.class, &step(below, shown_name(&option.name)))?;
        self.path.pop();
        Ok(Value::Variant(index, Box::new(value)))
    }

    fn integer(&mut self, class: &IntegerClass, value: &FieldValue) -> Result<Value, Misuse> {
        let number = match value {
            FieldValue::Integer(number) => *number,
            FieldValue::Text(label) => {
                let mut mappings = class.mappings.iter().flatten();
                let mapping = mappings.find(|mapping| shown_name(&mapping.label) == label);
                mapping.ok_or_else(|| self.bad(format!("no value is called {label}")))?.first
            }
            other => return Err(self.bad(format!("{other:?} is no integer"))),
        };
        let (first, last) = match class.signed {
            true => (-(1_i128 << (class.size - 1)), (1_i128 << (class.size - 1)) - 1),
            false => (0, (1_i128 << class.size) - 1),
        };
        if (first..=last).contains(&number) {
            Ok(self.integer_value(class, number))
        } else {
            Err(self.bad(format!("{number} does not fit its {} bits", class.size)))
        }
    }

    /// Notes the number where others depend on it.
    fn integer_value(&mut self, class: &IntegerClass, number: i128) -> Value {
        for (location, known) in self.needed.iter().zip(&mut self.known) {
            if location.scope == self.scope && same_path(&location.path, &self.path) {
                *known = Some(number);
            }
        }
        if class.signed { Value::Signed(number as i64) } else { Value::Unsigned(number as u64) }
    }

    fn length(&self, length: &Length) -> Result<usize, Misuse> {
        match length {
            Length::Static(length) => Ok(*length as usize),
            Length::Dynamic(location) => self.known_value(location).map(|length| length as usize),
        }
    }

    fn known_value(&self, location: &Location) -> Result<i128, Misuse> {
        let at = self.needed.iter().position(|needed| needed == location);
        at.and_then(|n| self.known[n])
            .ok_or_else(|| self.bad(format!("it depends on {}, which is outside", location.path.join("."))))
    }

    fn bad(&self, reason: String) -> Misuse {
        let shown: Vec<&str> = self.path.iter().map(|name| shown_name(name)).collect();
        Misuse::BadValue { class: self.class.to_owned(), field: shown.join("."), reason }
    }
}

/// Compares from the end, where paths of one structure differ.
fn same_path(wanted: &[String], current: &[&str]) -> bool {
    wanted.len() == current.len() && wanted.iter().zip(current).rev().all(|(a, b)| a == b)
}

/// The given fields at or below a member, their names one step shorter.
fn step<'g>(below: &[(usize, &'g str)], name: &str) -> Below<'g> {
    let steps = below.iter().filter_map(|&(n, given)| {
        // Most names are distinguished by where their first step ends.
        let rest = match given.as_bytes().get(name.len()) {
            Some(b'.') => given.get(name.len() + 1..)?,
            None if given.len() == name.len() => "",
            _ => return None,
        };
        given.starts_with(name).then_some((n, rest))
    });
    steps.collect()
}
