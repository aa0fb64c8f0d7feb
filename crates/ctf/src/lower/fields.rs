//! The fields decoded so far: what the lengths of sequences and the tags of variants refer to.

use std::cell::Cell;
use std::collections::HashMap;

use super::Complaint;
use crate::schema::{FieldClass, IntegerClass, Location, Member, Scope, StructClass};
use crate::tsdl::Path;

/// Spelled-out names of the scopes, for absolute paths.
const ABSOLUTE: [(&[&str], Scope); 6] = [
    (&["trace", "packet", "header"], Scope::PacketHeader),
    (&["stream", "packet", "context"], Scope::PacketContext),
    (&["stream", "event", "header"], Scope::EventHeader),
    (&["stream", "event", "context"], Scope::CommonContext),
    (&["event", "context"], Scope::SpecificContext),
    (&["event", "fields"], Scope::Payload),
];

/// What a scope is called in absolute paths.
pub(crate) fn absolute_name(scope: Scope) -> &'static [&'static str] {
    ABSOLUTE.iter().find(|(_, named)| *named == scope).map_or(&[], |(names, _)| names)
}

/// The structures that are complete, and the one being lowered.
pub(super) struct Fields<'s> {
    complete: Vec<(Scope, &'s StructClass)>,
    /// The scope being lowered.
    scope: Scope,
    /// Names from the scope's root to the field being lowered.
    path: Vec<String>,
    /// Structures being lowered, outermost first.
    open: Vec<Open>,
}

/// A structure being lowered.
struct Open {
    /// How much of the path leads to it.
    depth: usize,
    /// Its members so far.
    members: Vec<Member>,
    /// Their places by name.
    places: HashMap<String, usize>,
}

impl<'s> Fields<'s> {
    /// Begins a scope with the complete scopes that are decoded before it.
    pub(super) fn new(scope: Scope, complete: &[(Scope, Option<&'s StructClass>)]) -> Self {
        let complete = complete.iter().filter_map(|&(scope, class)| Some((scope, class?))).collect();
        Self { complete, scope, path: Vec::new(), open: Vec::new() }
    }

    pub(super) fn begin_struct(&mut self) {
        self.open.push(Open { depth: self.path.len(), members: Vec::new(), places: HashMap::new() });
    }

    pub(super) fn end_struct(&mut self) -> Vec<Member> {
        self.open.pop().map(|open| open.members).unwrap_or_default()
    }

    /// Descends into a member or an option while it is lowered.
    pub(super) fn enter(&mut self, name: &str) {
        self.path.push(name.to_owned());
    }

    pub(super) fn leave(&mut self) {
        self.path.pop();
    }

    /// Adds a finished member to the innermost structure; `false` if it already has one of that name.
    pub(super) fn add(&mut self, name: &str, class: FieldClass) -> bool {
        let Some(Open { members, places, .. }) = self.open.last_mut() else { return true };
        if places.insert(name.to_owned(), members.len()).is_some() {
            return false;
        }
        members.push(Member { name: name.to_owned(), class });
        true
    }

    /// Finds the integer a path means: in the innermost structure, in those around it, then in the scopes decoded
    /// before, the nearest first (CTF 1.8 section 7.3.2). Also tells how many names were compared.
    pub(super) fn find(&self, path: &Path<'_>) -> (Result<(Location, &IntegerClass), Complaint>, usize) {
        let search = Search::default();
        let found = match self.absolute(path, &search).or_else(|| self.relative(path, &search)) {
            Some((location, FieldClass::Integer(class))) => Ok((location, class)),
            Some((_, FieldClass::WideInteger(_))) => {
                Err(format!("`{path}` has more than 64 bits: it can be neither a length nor a tag"))
            }
            Some(_) => Err(format!("`{path}` is not an unsigned integer: it cannot be a length")),
            None => Err(format!("no field before this one is called `{path}`")),
        };
        (found.map_err(|message| Complaint::new(path.offset, message)), search.compared.get())
    }

    fn absolute(&self, path: &Path<'_>, search: &Search) -> Option<(Location, &FieldClass)> {
        let (prefix, scope) = ABSOLUTE
            .iter()
            .find(|(prefix, _)| path.parts.len() > prefix.len() && path.parts.starts_with(prefix))?;
        let names = &path.parts[prefix.len()..];
        let class = if *scope == self.scope {
            search.open(self.open.first()?, names)
        } else {
            let (_, class) = self.complete.iter().find(|(complete, _)| complete == scope)?;
            search.members(&class.members, names)
        };
        Some((location(*scope, &[], names), class?))
    }

    fn relative(&self, path: &Path<'_>, search: &Search) -> Option<(Location, &FieldClass)> {
        let names = path.parts.as_slice();
        for open in self.open.iter().rev() {
            if let Some(class) = search.open(open, names) {
                return Some((location(self.scope, &self.path[..open.depth], names), class));
            }
        }
        self.complete.iter().rev().find_map(|(scope, class)| {
            search.members(&class.members, names).map(|class| (location(*scope, &[], names), class))
        })
    }
}

fn location(scope: Scope, before: &[String], names: &[&str]) -> Location {
    let path = before.iter().cloned().chain(names.iter().map(|&name| name.to_owned())).collect();
    Location { scope, path }
}

/// A search, which counts the names it compares.
#[derive(Default)]
struct Search {
    compared: Cell<usize>,
}

impl Search {
    fn open<'c>(&self, open: &'c Open, names: &[&str]) -> Option<&'c FieldClass> {
        let (first, rest) = names.split_first()?;
        self.below(&open.members.get(*open.places.get(*first)?)?.class, rest)
    }

    fn members<'c>(&self, members: &'c [Member], names: &[&str]) -> Option<&'c FieldClass> {
        let (first, rest) = names.split_first()?;
        let index = self.position(members.iter().map(|m| &m.name), first)?;
        self.below(&members[index].class, rest)
    }

    fn below<'c>(&self, mut class: &'c FieldClass, names: &[&str]) -> Option<&'c FieldClass> {
        for name in names {
            class = match class {
                FieldClass::Struct(class) => {
                    &class.members[self.position(class.members.iter().map(|m| &m.name), name)?].class
                }
                FieldClass::Variant(class) => {
                    &class.options[self.position(class.options.iter().map(|o| &o.name), name)?].class
                }
                _ => return None,
            };
        }
        Some(class)
    }

    fn position<'n>(&self, mut names: impl Iterator<Item = &'n String>, name: &str) -> Option<usize> {
        names.position(|candidate| {
            self.compared.set(self.compared.get() + 1);
            candidate == name
        })
    }
}
