//! The text of CTF 2 metadata while it is written: fragments, and field class aliases for what would be said
//! many times. Used by [`super::json`] and [`super::json_classes`].
//!
//! Parts of a schema that fields share – mappings, user attributes – stand in the text of a fragment as
//! marks, and are put in when the text goes where it stays. A class with such a mark inside, a long one and a
//! deep one are written as aliases, one for all uses with the same text. So a schema whose fields share much
//! gives a text as short as the one it was read from, and takes no more memory.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::metadata::{MAX_BYTES, Result, too_long};
use crate::json_metadata::SEPARATOR;
use crate::schema::{Mapping, UserAttributes};

/// Start and end of a mark, with a number in between. JSON has no such characters: inside of strings they are
/// escaped.
const MARK: [u8; 2] = [1, 2];
/// A class that takes this many bytes is written as an alias. Those of real traces are shorter, nearly all.
const LONG: usize = 4096;
/// A class whose JSON is so deep is written as an alias. The parser stops at 128, and around a class there
/// are fewer than ten.
const DEEP: u32 = 64;

/// What stands in the text as a mark. Fields that share it hold the same address, which lives as long as the
/// schema.
#[derive(Clone, Copy)]
pub(super) enum Shared<'s> {
    Attributes(&'s UserAttributes),
    Mappings(&'s [Mapping], Numbers),
}

/// Which numbers mappings and ranges can hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Numbers {
    /// Of 64 bits, with a sign or without, whatever the field can hold: CTF 2 has one kind of sets of
    /// integers. Not all readers take negative numbers of unsigned fields; [`to_ctf_2`](super::to_ctf_2)
    /// makes none.
    Any,
    /// Bits below a number.
    Bits(u32),
}

impl Numbers {
    fn hold(self, number: i128) -> bool {
        match self {
            Self::Any => (i64::MIN.into()..=u64::MAX.into()).contains(&number),
            Self::Bits(count) => (0..i128::from(count)).contains(&number),
        }
    }

    /// Refuses ranges that are empty or have other numbers.
    pub(super) fn check(self, ranges: &[(i128, i128)]) -> Result<()> {
        for &(first, last) in ranges {
            if first > last {
                return Err(format!("a range from {first} to {last}").into());
            }
            if let Some(number) = [first, last].into_iter().find(|&number| !self.hold(number)) {
                return Err(match self {
                    Self::Any => format!("the number {number}: it has more than 64 bits"),
                    Self::Bits(count) => format!("the bit {number} of {count}"),
                }
                .into());
            }
        }
        Ok(())
    }
}

/// The text so far.
#[derive(Default)]
pub(super) struct Text<'s> {
    /// Fragments that are complete.
    out: Vec<u8>,
    /// The fragment that is being written, with marks.
    body: Vec<u8>,
    /// What the marks stand for.
    shared: Vec<Shared<'s>>,
    /// Their numbers, by address.
    numbers: HashMap<(usize, usize, Option<Numbers>), usize>,
    /// Names of the aliases by their text, with marks.
    aliases: HashMap<Vec<u8>, String>,
}

impl<'s> Text<'s> {
    /// Where the next byte goes; see [`Self::close_class`].
    pub(super) fn position(&self) -> usize {
        self.body.len()
    }

    /// Begins an object of this type.
    pub(super) fn open(&mut self, kind: &str) -> Result<()> {
        self.raw("{");
        self.property("type", kind)
    }

    /// Brackets and braces.
    pub(super) fn raw(&mut self, text: &str) {
        self.body.extend(text.as_bytes());
    }

    /// Begins a property of an object.
    pub(super) fn name(&mut self, name: &str) -> Result<()> {
        self.next();
        self.value(name)?;
        self.raw(":");
        Ok(())
    }

    /// Begins the next part of an array or an object.
    pub(super) fn next(&mut self) {
        if !matches!(self.body.last(), None | Some(b'{' | b'[')) {
            self.raw(",");
        }
    }

    pub(super) fn property(&mut self, name: &str, value: impl Serialize) -> Result<()> {
        self.name(name)?;
        self.value(value)
    }

    /// A property that may be missing.
    pub(super) fn set(&mut self, name: &str, value: Option<impl Serialize>) -> Result<()> {
        value.map_or(Ok(()), |value| self.property(name, value))
    }

    fn value(&mut self, value: impl Serialize) -> Result<()> {
        to_json(&mut self.body, value)
    }

    /// A property that is shared, if it is there.
    pub(super) fn shared(&mut self, name: &str, shared: Option<Shared<'s>>) -> Result<()> {
        let Some(shared) = shared else { return Ok(()) };
        let key = match shared {
            Shared::Attributes(attributes) => (std::ptr::from_ref(attributes).addr(), 0, None),
            Shared::Mappings(mappings, numbers) => (mappings.as_ptr().addr(), mappings.len(), Some(numbers)),
        };
        let number = *self.numbers.entry(key).or_insert(self.shared.len());
        if number == self.shared.len() {
            self.shared.push(shared);
        }
        self.name(name)?;
        self.body.push(MARK[0]);
        self.value(number)?;
        self.body.push(MARK[1]);
        Ok(())
    }

    /// Ends the object of a class, which began there and whose JSON is so deep. Gives the depth of what now
    /// stands for it.
    pub(super) fn close_class(&mut self, begin: usize, depth: u32) -> Result<u32> {
        self.raw("}");
        let text = &self.body[begin..];
        if text.len() < LONG && depth < DEEP && !text.contains(&MARK[0]) {
            self.bounded()?;
            return Ok(depth);
        }
        let name = match self.aliases.get(text) {
            Some(name) => name.clone(),
            None => {
                let text = text.to_vec();
                let name = format!("class-{}", self.aliases.len());
                let head =
                    format!(r#"{SEPARATOR}{{"type":"field-class-alias","name":"{name}","field-class":"#);
                self.out.extend(head.as_bytes());
                self.keep(&text)?;
                self.out.extend(b"}\n");
                self.aliases.insert(text, name.clone());
                name
            }
        };
        self.body.truncate(begin);
        self.value(name)?;
        Ok(0)
    }

    /// Ends the object of a fragment.
    pub(super) fn close_fragment(&mut self) -> Result<()> {
        self.raw("}\n");
        let mut body = std::mem::take(&mut self.body);
        self.out.push(SEPARATOR as u8);
        self.keep(&body)?;
        body.clear();
        self.body = body;
        Ok(())
    }

    /// Appends a text with what its marks stand for.
    fn keep(&mut self, text: &[u8]) -> Result<()> {
        for (index, part) in text.split(|byte| *byte == MARK[0]).enumerate() {
            let mut part = part;
            if index > 0 {
                let end = part.iter().position(|byte| *byte == MARK[1]).unwrap_or(part.len());
                let number =
                    part[..end].iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
                part = part.get(end + 1..).unwrap_or_default();
                match self.shared[number] {
                    Shared::Attributes(attributes) => to_json(&mut self.out, attributes)?,
                    Shared::Mappings(mappings, numbers) => to_json(&mut self.out, sets(mappings, numbers)?)?,
                }
            }
            self.out.extend(part);
            self.bounded()?;
        }
        Ok(())
    }

    /// Refuses a text that no reader accepts.
    fn bounded(&self) -> Result<()> {
        if self.out.len() + self.body.len() > MAX_BYTES { Err(too_long()) } else { Ok(()) }
    }

    /// All fragments.
    pub(super) fn into_string(self) -> Result<String> {
        String::from_utf8(self.out).map_err(|error| error.to_string().into())
    }
}

fn to_json(out: &mut Vec<u8>, value: impl Serialize) -> Result<()> {
    serde_json::to_writer(out, &value).map_err(|error| error.to_string().into())
}

type Sets<'m> = BTreeMap<&'m str, Vec<(i128, i128)>>;

/// Mappings by their labels.
fn sets(mappings: &[Mapping], numbers: Numbers) -> Result<Sets<'_>> {
    let mut sets = Sets::new();
    for Mapping { label, first, last } in mappings {
        sets.entry(label).or_default().push((*first, *last));
    }
    match numbers {
        Numbers::Bits(_) if sets.is_empty() => return Err("a bit map without flags".into()),
        _ if sets.is_empty() => return Err("an enumeration without labels".into()),
        _ => {}
    }
    for (label, set) in &sets {
        numbers.check(set).map_err(|error| error.inside(&format!("label `{label}`")))?;
    }
    Ok(sets)
}
