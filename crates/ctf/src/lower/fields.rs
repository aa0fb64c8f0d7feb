//! The fields decoded so far: what the lengths of sequences and the tags of variants refer to.

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

/// The structures that are complete, and the one being lowered.
#[derive(Clone)]
pub(super) struct Fields<'s> {
    complete: Vec<(Scope, &'s StructClass)>,
    /// The scope being lowered.
    scope: Scope,
    /// Names from the scope's root to the field being lowered.
    path: Vec<String>,
    /// Structures being lowered, outermost first: how much of `path` leads to them, and their members so far.
    open: Vec<(usize, Vec<Member>)>,
}

impl<'s> Fields<'s> {
    /// Begins a scope with the complete scopes that are decoded before it.
    pub(super) fn new(scope: Scope, complete: &[(Scope, Option<&'s StructClass>)]) -> Self {
        let complete = complete.iter().filter_map(|&(scope, class)| Some((scope, class?))).collect();
        Self { complete, scope, path: Vec::new(), open: Vec::new() }
    }

    pub(super) fn begin_struct(&mut self) {
        self.open.push((self.path.len(), Vec::new()));
    }

    pub(super) fn end_struct(&mut self) -> Vec<Member> {
        self.open.pop().map(|(_, members)| members).unwrap_or_default()
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
        let Some((_, members)) = self.open.last_mut() else { return true };
        if members.iter().any(|m| m.name == name) {
            return false;
        }
        members.push(Member { name: name.to_owned(), class });
        true
    }

    /// Finds the integer a path means: in the innermost structure, in those around it, then in the scopes decoded
    /// before, the nearest first (CTF 1.8 section 7.3.2).
    pub(super) fn find(&self, path: &Path<'_>) -> Result<(Location, &IntegerClass), Complaint> {
        let not_found =
            || Complaint::new(path.offset, format!("no field before this one is called `{path}`"));
        let (location, class) = self.absolute(path).or_else(|| self.relative(path)).ok_or_else(not_found)?;
        match class {
            FieldClass::Integer(class) => Ok((location, class)),
            _ => Err(Complaint::new(
                path.offset,
                format!("`{path}` is not an unsigned integer: it cannot be a length"),
            )),
        }
    }

    fn absolute(&self, path: &Path<'_>) -> Option<(Location, &FieldClass)> {
        let (prefix, scope) = ABSOLUTE
            .iter()
            .find(|(prefix, _)| path.parts.len() > prefix.len() && path.parts.starts_with(prefix))?;
        let names = &path.parts[prefix.len()..];
        if *scope == self.scope {
            let (_, members) = self.open.first()?;
            return Some((location(*scope, &[], names), descend(members, names)?));
        }
        let (_, class) = self.complete.iter().find(|(complete, _)| complete == scope)?;
        Some((location(*scope, &[], names), descend(&class.members, names)?))
    }

    fn relative(&self, path: &Path<'_>) -> Option<(Location, &FieldClass)> {
        let names = path.parts.as_slice();
        for (depth, members) in self.open.iter().rev() {
            if let Some(class) = descend(members, names) {
                return Some((location(self.scope, &self.path[..*depth], names), class));
            }
        }
        self.complete.iter().rev().find_map(|(scope, class)| {
            descend(&class.members, names).map(|class| (location(*scope, &[], names), class))
        })
    }
}

fn location(scope: Scope, before: &[String], names: &[&str]) -> Location {
    let path = before.iter().cloned().chain(names.iter().map(|&name| name.to_owned())).collect();
    Location { scope, path }
}

fn descend<'c>(members: &'c [Member], names: &[&str]) -> Option<&'c FieldClass> {
    let (first, rest) = names.split_first()?;
    let mut class = &members.iter().find(|m| m.name == *first)?.class;
    for name in rest {
        class = match class {
            FieldClass::Struct(class) => class.member(name)?,
            FieldClass::Variant(class) => &class.options.iter().find(|o| o.name == *name)?.class,
            _ => return None,
        };
    }
    Some(class)
}
