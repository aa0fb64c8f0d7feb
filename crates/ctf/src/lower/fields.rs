//! The fields decoded so far: what the lengths of sequences and the tags of variants refer to.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use crate::schema::{FieldClass, Location, Member, Scope, StructClass};
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
    /// Definitions of named types being lowered, outermost first.
    definitions: Vec<Used>,
}

/// Where in a structure a type was given its name: the fields before that are what its lengths and tags mean
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Site {
    /// Structures around it.
    structures: usize,
    /// Members of the innermost of them that stand before it.
    members: usize,
}

/// The use of a named type.
struct Used {
    /// Structures around the use.
    structures: usize,
    definition: Site,
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
        Self { complete, scope, path: Vec::new(), open: Vec::new(), definitions: Vec::new() }
    }

    /// Where a type that gets its name now is defined: `None` outside of all structures.
    pub(super) fn site(&self) -> Option<Site> {
        let members = self.open.last()?.members.len();
        Some(Site { structures: self.open.len(), members })
    }

    /// Whether the structure being lowered is the root of its scope.
    pub(super) fn is_root(&self) -> bool {
        self.open.len() == 1
    }

    /// Begins the use of a type that was defined there.
    pub(super) fn enter_definition(&mut self, site: Option<Site>) {
        let structures = self.open.len();
        self.definitions.extend(site.map(|definition| Used { structures, definition }));
    }

    /// Ends it.
    pub(super) fn leave_definition(&mut self, site: Option<Site>) {
        if site.is_some() {
            self.definitions.pop();
        }
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

    /// Finds the field a path means (CTF 1.8 sections 4.2.2 and 7.3.2): in a type with a name first among the
    /// fields before its definition; then in the innermost structure, in those around it, and in the scopes
    /// decoded before, the nearest first. Also returns how many names were compared.
    pub(super) fn find(&self, path: &Path<'_>) -> (Option<(Location, &FieldClass)>, usize) {
        let search = Search::default();
        let found = self.absolute(path, &search).or_else(|| self.relative(path, &search));
        (found, search.compared.get())
    }

    fn absolute(&self, path: &Path<'_>, search: &Search) -> Option<(Location, &FieldClass)> {
        let (prefix, scope) = ABSOLUTE
            .iter()
            .find(|(prefix, _)| path.parts.len() > prefix.len() && path.parts.starts_with(prefix))?;
        let names = &path.parts[prefix.len()..];
        let class = if *scope == self.scope {
            search.open(self.open.first()?, names, usize::MAX)
        } else {
            let (_, class) = self.complete.iter().find(|(complete, _)| complete == scope)?;
            search.members(&class.members, names)
        };
        Some((location(*scope, &[], names), class?))
    }

    fn relative(&self, path: &Path<'_>, search: &Search) -> Option<(Location, &FieldClass)> {
        let names = path.parts.as_slice();
        if let Some(found) = self.in_definition(names, search) {
            return Some(found);
        }
        let in_structures = self.in_structures(0..self.open.len(), usize::MAX, names, search);
        in_structures.or_else(|| {
            self.complete.iter().rev().find_map(|(scope, class)| {
                search.members(&class.members, names).map(|class| (location(*scope, &[], names), class))
            })
        })
    }

    /// What names mean where the type being lowered was defined, if that was in a structure.
    fn in_definition(&self, names: &[&str], search: &Search) -> Option<(Location, &FieldClass)> {
        let mut end = self.open.len();
        let mut limit = usize::MAX;
        for used in self.definitions.iter().rev() {
            // Of a type that was used inside of where the definition does not reach, nothing can be meant.
            if used.structures <= end {
                let found = self.in_structures(used.structures..end, limit, names, search);
                if found.is_some() {
                    return found;
                }
                (end, limit) = (used.definition.structures, used.definition.members);
            }
        }
        self.in_structures(0..end, limit, names, search)
    }

    /// What names mean in some of the open structures, the innermost first; of that one only this many
    /// members count.
    fn in_structures(
        &self,
        open: Range<usize>,
        mut limit: usize,
        names: &[&str],
        search: &Search,
    ) -> Option<(Location, &FieldClass)> {
        for open in self.open.get(open).unwrap_or_default().iter().rev() {
            if let Some(class) = search.open(open, names, limit) {
                return Some((location(self.scope, &self.path[..open.depth], names), class));
            }
            limit = usize::MAX;
        }
        None
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
    /// In the first members of a structure being lowered.
    fn open<'c>(&self, open: &'c Open, names: &[&str], limit: usize) -> Option<&'c FieldClass> {
        let (first, rest) = names.split_first()?;
        let place = open.places.get(*first).filter(|&&place| place < limit)?;
        self.below(&open.members.get(*place)?.class, rest)
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
