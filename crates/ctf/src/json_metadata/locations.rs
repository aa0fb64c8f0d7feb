//! Locations: which field a length or a selector is. Only what is decoded before can be meant.

use std::collections::HashMap;

use super::json_ref::JsonRef;
use crate::schema::{Location, Owner, Scope};
use crate::text_error::{Notes, Result};

/// Names of the scopes in locations.
const ORIGINS: [(&str, Scope); 6] = [
    ("packet-header", Scope::PacketHeader),
    ("packet-context", Scope::PacketContext),
    ("event-record-header", Scope::EventHeader),
    ("event-record-common-context", Scope::CommonContext),
    ("event-record-specific-context", Scope::SpecificContext),
    ("event-record-payload", Scope::Payload),
];

/// What a scope is called as origin of a location.
pub(crate) fn origin_name(scope: Scope) -> &'static str {
    ORIGINS.iter().find(|(_, origin)| *origin == scope).map_or("", |(name, _)| name)
}

/// What kind of field a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    Unsigned,
    Signed,
    Boolean,
}

/// A field that a length or a selector can be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    kind: KeyKind,
    /// The arrays it is in, outermost first: it can be reached from inside them only.
    arrays: Vec<u32>,
}

/// The keys decoded so far in some scopes.
#[derive(Debug, Default)]
pub(super) struct Keys(HashMap<Location, Vec<Key>>);

/// Where in a scope the lowering is.
#[derive(Debug)]
pub(super) struct Here<'k> {
    pub(super) scope: Scope,
    /// Ids of the data stream class and of the event record class that the scope belongs to.
    of: (Option<u64>, Option<u64>),
    /// Indices on the way from the scope to here; see [`Owner::Field`].
    steps: Vec<usize>,
    /// The clock that stamps the stream.
    pub(super) clock: Option<usize>,
    /// Keys of the scopes before.
    before: &'k [&'k Keys],
    /// Keys of scopes that are lowered together, this one included.
    pub(super) keys: Keys,
    /// Names of members from the root to here.
    path: Vec<String>,
    /// How much of the path leads to each of the open structures.
    structures: Vec<usize>,
    /// Numbers of the open arrays.
    arrays: Vec<u32>,
    next_array: u32,
}

impl<'k> Here<'k> {
    /// Before the first scope of a trace, of a data stream class or of an event record class of one.
    pub(super) fn new(of: (Option<u64>, Option<u64>), clock: Option<usize>, before: &'k [&'k Keys]) -> Self {
        Self {
            scope: Scope::PacketHeader,
            of,
            steps: Vec::new(),
            clock,
            before,
            keys: Keys::default(),
            path: Vec::new(),
            structures: Vec::new(),
            arrays: Vec::new(),
            next_array: 0,
        }
    }

    /// Whether the field is the structure of a scope itself.
    pub(super) fn is_root(&self) -> bool {
        self.structures.len() == 1
    }

    /// Whether the field is inside an array: its role would have many values.
    pub(super) fn in_array(&self) -> bool {
        !self.arrays.is_empty()
    }

    pub(super) fn begin_structure(&mut self) {
        self.structures.push(self.path.len());
    }

    pub(super) fn end_structure(&mut self) {
        self.structures.pop();
    }

    pub(super) fn enter_member(&mut self, index: usize, name: &str) {
        self.steps.push(index);
        self.path.push(name.to_owned());
    }

    pub(super) fn leave_member(&mut self) {
        self.path.pop();
        self.steps.pop();
    }

    /// Into an option of a variant, or into what is optional: such steps have no names.
    pub(super) fn enter_choice(&mut self, index: usize) {
        self.steps.push(index);
    }

    pub(super) fn leave_choice(&mut self) {
        self.steps.pop();
    }

    pub(super) fn begin_array(&mut self) {
        self.steps.push(0);
        self.arrays.push(self.next_array);
        self.next_array += 1;
    }

    pub(super) fn end_array(&mut self) {
        self.arrays.pop();
        self.steps.pop();
    }

    /// The field class here, or the member or option that it is the class of.
    pub(super) fn owner(&self, holder: bool) -> Owner {
        let (stream, event) = self.of;
        Owner::Field { stream, event, scope: self.scope, steps: self.steps.clone(), holder }
    }

    /// Remembers the field here. Gives what that takes, in field classes beyond its own.
    pub(super) fn add_key(&mut self, kind: KeyKind) -> usize {
        let key = Key { kind, arrays: self.arrays.clone() };
        let location = Location { scope: self.scope, path: self.path.clone() };
        let cost = self.path.iter().map(|name| name.len() + 8).sum::<usize>() / 64;
        let same = self.keys.0.entry(location).or_default();
        if !same.contains(&key) {
            same.push(key);
        }
        cost
    }

    /// The field that a location means; see [`Self::add_key`] for what can be meant.
    pub(super) fn resolve(&self, node: &JsonRef<'_, '_>, notes: &mut Notes) -> Result<(Location, KeyKind)> {
        let location = self.location(node, notes)?;
        let shown = || location.path.join(".");
        let mut keys = std::iter::once(&self.keys).chain(self.before.iter().copied());
        let Some(keys) = keys.find_map(|keys| keys.0.get(&location)) else {
            let message = format!("no integer decoded before this field is called `{}`", shown());
            return Err(node.error(message));
        };
        let mut reachable = keys.iter().filter(|key| {
            key.arrays.is_empty() || (location.scope == self.scope && self.arrays.starts_with(&key.arrays))
        });
        let Some(Key { kind, .. }) = reachable.next() else {
            let message = format!("`{}` is inside an array that this field is not in", shown());
            return Err(node.error(message));
        };
        if reachable.any(|other| other.kind != *kind) {
            return Err(node.error(format!("`{}` means fields of several kinds", shown())));
        }
        Ok((location, *kind))
    }

    fn location(&self, node: &JsonRef<'_, '_>, notes: &mut Notes) -> Result<Location> {
        let (origin, path) = if node.value.is_array() {
            super::release_candidate(notes, node.offset, "a field location that is an array");
            (node.elements()?.next(), None)
        } else {
            node.only(&["origin", "path"], notes)?;
            (node.get("origin"), Some(node.need("path")?))
        };
        let mut structures = Vec::new();
        let (scope, mut names) = match &origin {
            Some(origin) => {
                let name = origin.text()?;
                let scope = ORIGINS.iter().find(|(origin, _)| *origin == name);
                let unknown = || origin.error(format!("`{name}` is not an origin of a location"));
                (scope.ok_or_else(unknown)?.1, Vec::new())
            }
            None => {
                structures.clone_from(&self.structures);
                let depth = structures.pop().unwrap_or_default();
                (self.scope, self.path[..depth].to_vec())
            }
        };
        let mut base = names.len();
        let (steps, skip) = path.as_ref().map_or((node, 1), |path| (path, 0));
        for step in steps.elements()?.skip(skip) {
            if !step.value.is_null() {
                names.push(step.text()?.to_owned());
            } else if names.len() > base {
                names.pop();
            } else {
                base = structures.pop().ok_or_else(|| step.error("the root has no parent structure"))?;
                names.truncate(base);
            }
        }
        Ok(Location { scope, path: names })
    }
}
