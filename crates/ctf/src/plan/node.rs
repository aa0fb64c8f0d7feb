//! Fields as a tree, annotated for decoding: what [`walk`](super::walk()) goes through.

use crate::digits;
use crate::schema::{Encoding, FloatClass, IntegerClass, Role, shown_name};
use crate::text::plain;

/// A compiled field.
#[derive(Debug, Clone)]
pub struct Node {
    /// Alignment in bits.
    pub align: u32,
    /// Size in bits if it is the same wherever the field starts (aligned) and whatever it holds.
    pub fixed_bits: Option<u64>,
    /// What it is.
    pub kind: NodeKind,
}

/// What a compiled field is.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// A number; kept in a slot if a length or a selector needs it.
    Integer {
        /// Its class.
        class: IntegerClass,
        /// Where the value is kept while decoding.
        slot: Option<u32>,
    },
    /// A number of variable length, kept likewise.
    VarInteger {
        /// Its class.
        class: IntegerClass,
        /// Where the value is kept while decoding.
        slot: Option<u32>,
    },
    /// A number of more than 64 bits.
    WideInteger(IntegerClass),
    /// A floating point number.
    Float(FloatClass),
    /// A NUL-terminated string.
    String(Encoding),
    /// Characters in a field of known length.
    Text(Count, Encoding),
    /// Bytes, and what the reader needs them for.
    Blob(Count, Option<Role>),
    /// Members.
    Struct(Vec<(Name, Node)>),
    /// Elements.
    Array(Count, Box<Node>),
    /// A choice.
    Variant(Selector, Vec<OptionNode>),
    /// A field that is there if the selector chooses anything.
    Optional(Selector, Box<Node>),
}

/// Number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Always the same.
    Static(u64),
    /// In a slot.
    Slot(u32),
}

/// How a variant chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// Where the selecting integer is kept.
    pub slot: u32,
    /// Whether the slot holds a signed number.
    pub signed: bool,
    /// `(first, last, index of the option)`; the first range that holds the value wins.
    pub ranges: Vec<(i128, i128, usize)>,
    /// Slots of integers inside the options: emptied with each choice, so that an option that was not chosen
    /// leaves no value after from where it was.
    pub inside: Vec<u32>,
}

/// An option of a variant.
#[derive(Debug, Clone)]
pub struct OptionNode {
    /// Its name.
    pub name: Name,
    /// Its field.
    pub node: Node,
}

/// The name of a member or an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    declared: Box<str>,
    /// Where the shown part begins.
    shown: usize,
    /// ` shown = `: what most of the bytes of a text line are.
    assignment: Assignment,
}

/// ` name = `. A short one has zeros after it, so that it can be copied at its full size.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Assignment {
    Short([u8; Self::SHORT], usize),
    Long(Box<[u8]>),
}

impl Assignment {
    const SHORT: usize = 32;
}

impl Name {
    /// Wraps a name of CTF 1.8, which may begin with an underscore that is not shown.
    pub fn new(declared: &str) -> Self {
        Self::shown_from(declared, declared.len() - shown_name(declared).len())
    }

    /// Wraps a name that is shown as it is.
    pub fn verbatim(declared: &str) -> Self {
        Self::shown_from(declared, 0)
    }

    fn shown_from(declared: &str, shown: usize) -> Self {
        let text = format!(" {} = ", plain(&declared[shown..])).into_bytes();
        let mut short = [0; Assignment::SHORT];
        let assignment = match short.get_mut(..text.len()) {
            Some(begin) => {
                begin.copy_from_slice(&text);
                Assignment::Short(short, text.len())
            }
            None => Assignment::Long(text.into()),
        };
        Self { declared: declared.into(), shown, assignment }
    }

    /// As the metadata spell it.
    pub fn declared(&self) -> &str {
        &self.declared
    }

    /// As people know it: without the underscore that keeps it clear of reserved words.
    pub fn shown(&self) -> &str {
        &self.declared[self.shown..]
    }

    /// Appends what a text line has before the value: `, shown = `, without the comma for the first member.
    #[inline]
    pub(crate) fn put_assignment(&self, out: &mut Vec<u8>, first: bool) {
        if !first {
            out.push(b',');
        }
        match &self.assignment {
            Assignment::Short(text, length) => digits::first_bytes(out, text, *length),
            Assignment::Long(text) => out.extend_from_slice(text),
        }
    }
}

impl Count {
    /// The number, given the slots.
    #[inline]
    pub(crate) fn get(self, slots: &[u64]) -> u64 {
        match self {
            Self::Static(n) => n,
            Self::Slot(slot) => slots[slot as usize],
        }
    }
}

impl Selector {
    /// The option that the slots choose; empties the slots inside it.
    #[inline]
    pub(crate) fn choose(&self, slots: &mut [u64]) -> Result<usize, crate::DecodeError> {
        self.chosen(slots).map_err(crate::DecodeError::NoOption)
    }

    /// As [`Self::choose`]; the value of the selector where that chooses nothing.
    #[inline]
    pub(crate) fn chosen(&self, slots: &mut [u64]) -> Result<usize, i128> {
        for &slot in &self.inside {
            slots[slot as usize] = 0;
        }
        let raw = slots[self.slot as usize];
        let value = if self.signed { i128::from(raw as i64) } else { i128::from(raw) };
        self.ranges
            .iter()
            .find(|(first, last, _)| (*first..=*last).contains(&value))
            .map(|&(_, _, option)| option)
            .ok_or(value)
    }
}

impl Node {
    /// The strictest alignment of the field and all inside it.
    pub(crate) fn max_align(&self) -> u32 {
        let inside = match &self.kind {
            NodeKind::Struct(members) => members.iter().map(|(_, member)| member.max_align()).max(),
            NodeKind::Array(_, element) => Some(element.max_align()),
            NodeKind::Variant(_, options) => options.iter().map(|o| o.node.max_align()).max(),
            NodeKind::Optional(_, node) => Some(node.max_align()),
            _ => None,
        };
        inside.unwrap_or(1).max(self.align)
    }

    /// Adds the slots that integers inside are kept in.
    pub(crate) fn add_slots(&self, slots: &mut Vec<u32>) {
        match &self.kind {
            NodeKind::Integer { slot, .. } | NodeKind::VarInteger { slot, .. } => slots.extend(slot),
            NodeKind::Struct(members) => members.iter().for_each(|(_, member)| member.add_slots(slots)),
            NodeKind::Array(_, element) => element.add_slots(slots),
            NodeKind::Variant(selector, _) | NodeKind::Optional(selector, _) => {
                slots.extend(&selector.inside);
            }
            NodeKind::WideInteger(_)
            | NodeKind::Float(_)
            | NodeKind::String(_)
            | NodeKind::Text(..)
            | NodeKind::Blob(..) => {}
        }
    }

    /// Whether some integer inside is needed later: then the field cannot be skipped in one go.
    pub(crate) fn keeps_slots(&self) -> bool {
        let mut slots = Vec::new();
        self.add_slots(&mut slots);
        !slots.is_empty()
    }

    /// Array elements inside that take no space, in a field of constant size.
    pub(crate) fn empty_elements(&self) -> u64 {
        match &self.kind {
            NodeKind::Struct(members) => {
                members.iter().fold(0, |sum: u64, (_, member)| sum.saturating_add(member.empty_elements()))
            }
            NodeKind::Array(Count::Static(count), element) => {
                let itself = u64::from(element.fixed_bits == Some(0));
                count.saturating_mul(element.empty_elements().saturating_add(itself))
            }
            _ => 0,
        }
    }

    /// Bits of the integer that has this role: this one, or one in a structure. Of a variable length the most
    /// it can have.
    pub(crate) fn role_bits(&self, role: Role) -> Option<u32> {
        match &self.kind {
            NodeKind::Integer { class, .. } | NodeKind::VarInteger { class, .. } => {
                (class.role == Some(role)).then_some(class.size)
            }
            NodeKind::Struct(members) => members.iter().find_map(|(_, member)| member.role_bits(role)),
            _ => None,
        }
    }

    /// What the reader needs the field for, if it is one with a role itself.
    pub(crate) fn role(&self) -> Option<Role> {
        match &self.kind {
            NodeKind::Integer { class, .. } | NodeKind::VarInteger { class, .. } => class.role,
            NodeKind::Blob(_, role) => *role,
            _ => None,
        }
    }

    /// A member of a structure by its shown or declared name.
    pub fn member(&self, name: &str) -> Option<(usize, &Node)> {
        let NodeKind::Struct(members) = &self.kind else { return None };
        members
            .iter()
            .position(|(n, _)| n.declared() == name || n.shown() == name)
            .map(|index| (index, &members[index].1))
    }
}
