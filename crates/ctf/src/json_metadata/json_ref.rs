//! A JSON value that knows the way to it, so that a complaint can name its node.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::find::{self, Inside};
use super::fragments::Fragment;
use crate::text_error::{Notes, Result, TextError};

/// Properties that any object may have; they are for others.
const ANYWHERE: [&str; 4] = ["type", "attributes", "extensions", "user-attributes"];

/// A value inside a fragment.
#[derive(Debug, Clone, Copy)]
pub(super) struct JsonRef<'j, 'p> {
    pub(super) value: &'j Value,
    /// Byte of the whole text where the way begins.
    pub(super) offset: usize,
    root: Root<'j>,
    step: Step<'j, 'p>,
}

/// Where a way begins.
#[derive(Debug, Clone, Copy)]
struct Root<'j> {
    fragment: usize,
    /// The text from there on.
    text: &'j str,
}

/// A node without the way to it, which it outlives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detached<'j> {
    value: &'j Value,
    offset: usize,
    root: Root<'j>,
}

impl<'j> Detached<'j> {
    /// A whole fragment.
    pub(super) fn of(fragment: &'j Fragment<'j>) -> Self {
        let &Fragment { number, offset, text, ref value } = fragment;
        Self { value, offset, root: Root { fragment: number, text } }
    }

    /// The node again; the way begins again.
    pub(super) fn node<'p>(self) -> JsonRef<'j, 'p> {
        let Self { value, offset, root } = self;
        JsonRef { value, offset, root, step: Step::Begin }
    }
}

/// The last step on the way to a value.
#[derive(Debug, Clone, Copy)]
enum Step<'j, 'p> {
    Begin,
    Property(&'p JsonRef<'j, 'p>, &'p str),
    Element(&'p JsonRef<'j, 'p>, usize),
}

impl<'j> JsonRef<'j, '_> {
    /// The node without the way to it.
    pub(super) fn detached(&self) -> Detached<'j> {
        let inside = self.inside();
        let text = self.root.text.get(inside..).unwrap_or_default();
        Detached { value: self.value, offset: self.offset + inside, root: Root { text, ..self.root } }
    }

    /// A complaint about this node. It ends the reading: finding the node takes time.
    pub(super) fn error(&self, message: impl std::fmt::Display) -> TextError {
        TextError::new(self.offset + self.inside(), self.described(message))
    }

    /// A message with the path to this node.
    pub(super) fn described(&self, message: impl std::fmt::Display) -> String {
        let way = self.way();
        let point = if way.is_empty() { "" } else { ", " };
        format!("{message} (fragment {}{point}{way})", self.root.fragment)
    }

    /// Bytes from where the way begins to this node.
    fn inside(&self) -> usize {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            at = match at.step {
                Step::Begin => break,
                Step::Property(before, name) => {
                    steps.push(Inside::Property(name));
                    before
                }
                Step::Element(before, index) => {
                    steps.push(Inside::Element(index));
                    before
                }
            };
        }
        steps.reverse();
        find::offset(self.root.text, &steps)
    }

    fn way(&self) -> String {
        match self.step {
            Step::Begin => String::new(),
            Step::Property(before, name) => match before.way() {
                way if way.is_empty() => name.to_owned(),
                way => format!("{way}.{name}"),
            },
            Step::Element(before, index) => format!("{}[{index}]", before.way()),
        }
    }

    pub(super) fn object(&self) -> Result<&'j Map<String, Value>> {
        self.value.as_object().ok_or_else(|| self.error("an object is expected"))
    }

    /// A property, if it is there.
    pub(super) fn get<'s>(&'s self, name: &'s str) -> Option<JsonRef<'j, 's>> {
        let value = self.value.as_object()?.get(name)?;
        Some(JsonRef { value, step: Step::Property(self, name), ..*self })
    }

    /// The user attributes, if there are any; release candidates called them otherwise.
    pub(super) fn attributes(&self) -> Option<JsonRef<'j, '_>> {
        self.get("attributes").or_else(|| self.get("user-attributes"))
    }

    pub(super) fn need<'s>(&'s self, name: &'s str) -> Result<JsonRef<'j, 's>> {
        self.object()?;
        self.get(name).ok_or_else(|| self.error(format_args!("`{name}` is missing")))
    }

    /// All properties by their names.
    pub(super) fn properties<'s>(&'s self) -> Result<impl Iterator<Item = (&'j str, JsonRef<'j, 's>)>>
    where
        'j: 's,
    {
        let properties = self.object()?.iter();
        Ok(properties.map(move |(name, value)| {
            (name.as_str(), JsonRef { value, step: Step::Property(self, name), ..*self })
        }))
    }

    pub(super) fn elements<'s>(&'s self) -> Result<impl Iterator<Item = JsonRef<'j, 's>>> {
        let elements = self.value.as_array().ok_or_else(|| self.error("an array is expected"))?;
        let node = move |(index, value)| JsonRef { value, step: Step::Element(self, index), ..*self };
        Ok(elements.iter().enumerate().map(node))
    }

    pub(super) fn text(&self) -> Result<&'j str> {
        self.value.as_str().ok_or_else(|| self.error("a string is expected"))
    }

    pub(super) fn unsigned(&self) -> Result<u64> {
        self.value.as_u64().ok_or_else(|| self.error("an unsigned integer is expected"))
    }

    /// Any integer that JSON can hold here: of 64 bits, with a sign or without.
    pub(super) fn integer(&self) -> Result<i128> {
        let unsigned = self.value.as_u64().map(i128::from);
        let integer = unsigned.or_else(|| self.value.as_i64().map(i128::from));
        integer.ok_or_else(|| self.error("an integer of at most 64 bits is expected"))
    }

    /// A uuid as an array of its bytes.
    pub(super) fn uuid(&self) -> Result<Uuid> {
        let bytes = self
            .elements()?
            .map(|byte| u8::try_from(byte.unsigned()?).map_err(|_| byte.error("a byte is at most 255")));
        let bytes: Vec<u8> = bytes.collect::<Result<_>>()?;
        Uuid::from_slice(&bytes).map_err(|_| self.error("a uuid has 16 bytes"))
    }

    /// An optional text.
    pub(super) fn text_of(&self, name: &str) -> Result<Option<String>> {
        self.get(name).map(|node| node.text().map(str::to_owned)).transpose()
    }

    /// An optional unsigned integer.
    pub(super) fn unsigned_of(&self, name: &str) -> Result<Option<u64>> {
        self.get(name).map(|node| node.unsigned()).transpose()
    }

    /// Notes the properties that are not these: they mean nothing to the reader.
    pub(super) fn only(&self, known: &[&str], notes: &mut Notes) -> Result<()> {
        let kind = self.get("type").and_then(|kind| kind.value.as_str()).unwrap_or("object");
        for name in self.object()?.keys().map(String::as_str) {
            if !known.contains(&name) && !ANYWHERE.contains(&name) {
                notes.add(self.offset, format!("unknown property `{name}` of `{kind}` ignored"));
            }
        }
        Ok(())
    }
}
