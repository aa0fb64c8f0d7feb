//! Fields of an event class, found once by name and then read from every event of the class.

use super::compile::{EventPlan, StreamPlan};
use super::node::{Node, NodeKind};
use crate::bits::{self, checked_align_up};
use crate::schema::{ByteOrder, IntegerClass, Scope};

/// A field of an event class, found once by name and then read from any event of the class. Events of another class do
/// not have it: reading it from one gives `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRef {
    /// [`EventPlan::identity`] of the class.
    class: u64,
    pub(crate) scope: Scope,
    /// Index of the member or option to take at each level.
    pub(crate) steps: Vec<usize>,
    /// Where an integer lies behind the begin of the body, if that never changes.
    pub(crate) fixed: Option<FixedInteger>,
}

/// An integer at a constant place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixedInteger {
    /// Bits behind the begin of the body.
    pub(crate) offset: u64,
    pub(crate) size: u32,
    pub(crate) order: ByteOrder,
    pub(crate) signed: bool,
}

impl FixedInteger {
    /// Its bits, sign-extended, in a body (or a section of one) that begins at this bit.
    #[inline]
    pub(crate) fn read(self, bytes: &[u8], begin: u64) -> u64 {
        bits::extend(bits::read(bytes, begin + self.offset, self.size, self.order), self.size, self.signed)
    }
}

impl FieldRef {
    /// Whether the field is one of this class.
    #[inline]
    pub(crate) fn is_of(&self, class: &EventPlan) -> bool {
        self.class == class.identity
    }
}

impl EventPlan {
    /// Finds a field of the payload by the names on the way to it (shown or declared; options of variants count as a
    /// level). `None` if the class has no such field.
    pub fn payload_field(&self, stream: &StreamPlan, path: &[&str]) -> Option<FieldRef> {
        self.field(stream, Scope::Payload, path)
    }

    /// Finds a field of any scope behind the header.
    pub fn field(&self, stream: &StreamPlan, scope: Scope, path: &[&str]) -> Option<FieldRef> {
        let mut node = self.scope(stream, scope)?;
        let mut steps = Vec::with_capacity(path.len());
        for name in path {
            let holder = present(node, &mut steps);
            let (index, next) = match &holder.kind {
                NodeKind::Variant(_, options) => {
                    let index =
                        options.iter().position(|o| o.name.shown() == *name || o.name.declared() == *name)?;
                    (index, &options[index].node)
                }
                _ => holder.member(name)?,
            };
            steps.push(index);
            node = next;
        }
        node = present(node, &mut steps);
        let fixed = match &node.kind {
            NodeKind::Integer { class, .. } if !class.reversed => {
                self.fixed_integer(stream, scope, &steps, class)
            }
            _ => None,
        };
        Some(FieldRef { class: self.identity, scope, steps, fixed })
    }

    /// The constant place of an integer, if all before it has a constant size and alignments are known.
    fn fixed_integer(
        &self,
        stream: &StreamPlan,
        scope: Scope,
        steps: &[usize],
        class: &IntegerClass,
    ) -> Option<FixedInteger> {
        let mut at: u64 = 0;
        let align = |at: u64, align: u32| {
            if align <= self.body_modulus { checked_align_up(at, align) } else { None }
        };
        let behind = |at: u64, node: &Node| align(at, node.align)?.checked_add(node.fixed_bits?);
        for before in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            let Some(mut node) = self.scope(stream, before) else { continue };
            if before != scope {
                at = behind(at, node)?;
                continue;
            }
            for &step in steps {
                let NodeKind::Struct(members) = &node.kind else { return None };
                at = align(at, node.align)?;
                for (_, member) in members.get(..step)? {
                    at = behind(at, member)?;
                }
                node = &members.get(step)?.1;
            }
            at = align(at, node.align)?;
            break;
        }
        Some(FixedInteger { offset: at, size: class.size, order: class.byte_order, signed: class.signed })
    }
}

/// The field inside optional ones; going into each is a step.
fn present<'n>(mut node: &'n Node, steps: &mut Vec<usize>) -> &'n Node {
    while let NodeKind::Optional(_, inner) = &node.kind {
        steps.push(0);
        node = inner;
    }
    node
}
