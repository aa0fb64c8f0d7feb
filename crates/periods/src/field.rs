//! What expressions name: fields of an event by scope and name, its own name, its host and its CPU.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that an event has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Field {
    /// `$name` or `$event`: the name of the event.
    Name,
    /// `$host`: the name of the host that recorded it.
    Host,
    /// `$cpu`: the CPU that recorded it.
    Cpu,
    /// A field by its name; names with points between them lead into structures.
    Named(FieldScope, String),
}

/// Where a field is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FieldScope {
    /// In the payload, else in the contexts of the event, else in that of its packet.
    Any,
    /// `$payload`: what the tracepoint itself records.
    Payload,
    /// `$ctx`: the contexts of the event.
    Context,
    /// `$stream_ctx`: those that all events of the stream have.
    StreamContext,
    /// `$pkt_ctx`: the context of the packet.
    PacketContext,
}

impl FieldScope {
    /// All of them by the words of the language.
    pub(crate) const WORDS: [(&'static str, Self); 4] = [
        ("$payload", Self::Payload),
        ("$ctx", Self::Context),
        ("$stream_ctx", Self::StreamContext),
        ("$pkt_ctx", Self::PacketContext),
    ];
}

impl FromIterator<Field> for Fields {
    /// The same field twice has one number.
    fn from_iter<I: IntoIterator<Item = Field>>(all: I) -> Self {
        let mut fields = Self::default();
        for field in all {
            fields.number(field);
        }
        fields
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("$name"),
            Self::Host => f.write_str("$host"),
            Self::Cpu => f.write_str("$cpu"),
            Self::Named(scope, name) => {
                let word = FieldScope::WORDS.iter().find(|(_, known)| known == scope);
                match word {
                    Some((word, _)) => write!(f, "{word}.{name}"),
                    None => f.write_str(name),
                }
            }
        }
    }
}

/// The different fields that some expressions name, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields(Vec<Field>);

impl Fields {
    /// The number of a field, which is added if it is new.
    pub(crate) fn number(&mut self, field: Field) -> usize {
        self.0.iter().position(|known| *known == field).unwrap_or_else(|| {
            self.0.push(field);
            self.0.len() - 1
        })
    }

    /// A field by its number.
    pub fn get(&self, number: usize) -> Option<&Field> {
        self.0.get(number)
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Field> {
        self.0.iter()
    }
}
