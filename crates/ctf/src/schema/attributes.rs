//! User attributes of CTF 2: what a writer says of parts of the metadata, each under the name of its own
//! space. They mean nothing to this crate, are kept as they are and written again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::field::Scope;

/// The attributes of one part of the metadata: a JSON object, whose keys are namespaces.
///
/// Integers of 64 bits and doubles keep their value. Numbers beyond lose digits when they are read, and one
/// that no double can hold (`1e400`) makes the metadata unreadable, as any text that is no JSON does.
pub type UserAttributes = serde_json::Map<String, serde_json::Value>;

/// A part of the metadata that can have attributes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The preamble.
    Preamble,
    /// The trace class.
    Trace,
    /// The clock class with this index in [`Schema::clocks`](super::Schema::clocks).
    Clock(usize),
    /// The data stream class with this id.
    Stream(u64),
    /// The event record class with this id.
    Event {
        /// Id of its data stream class.
        stream: u64,
        /// Its own id.
        id: u64,
    },
    /// A field class.
    Field {
        /// Id of the data stream class; `None` in the packet header.
        stream: Option<u64>,
        /// Id of the event record class, of what belongs to one.
        event: Option<u64>,
        /// The structure it is in.
        scope: Scope,
        /// The way from there: indices of members and options; 0 for the element of an array and for what is
        /// optional.
        steps: Vec<usize>,
        /// The member of a structure or the option of a variant itself, rather than the class of its field.
        holder: bool,
    },
}

/// All attributes of a schema by what they belong to. Those of a field class that has an alias belong to each
/// of its uses; those of the alias itself (of the fragment, not of the class in it) belong to nothing in a
/// schema and are not kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attributes(BTreeMap<Owner, Arc<UserAttributes>>);

impl Attributes {
    /// Those of a part; `O(log n)`.
    pub fn get(&self, owner: &Owner) -> Option<&UserAttributes> {
        self.0.get(owner).map(|attributes| &**attributes)
    }

    /// All, in the order of their owners.
    pub fn iter(&self) -> impl Iterator<Item = (&Owner, &UserAttributes)> {
        self.0.iter().map(|(owner, attributes)| (owner, &**attributes))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets those of a part; parts can share them.
    pub fn insert(&mut self, owner: Owner, attributes: Arc<UserAttributes>) {
        self.0.insert(owner, attributes);
    }

    /// Takes those that are equal from another schema, so that comparing the two looks at each object once.
    pub(crate) fn share(&mut self, other: &Self) {
        let mut compared = HashMap::new();
        for (owner, attributes) in &mut self.0 {
            let Some(others) = other.0.get(owner) else { continue };
            let pair = [Arc::as_ptr(attributes), Arc::as_ptr(others)];
            if *compared.entry(pair).or_insert_with(|| attributes == others) {
                *attributes = Arc::clone(others);
            }
        }
    }
}
