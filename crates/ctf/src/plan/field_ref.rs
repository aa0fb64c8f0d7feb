//! Fields of an event class, found once by name and then read from every event of the class.

use super::compile::{EventPlan, StreamPlan};
use super::fixed::{FixedInteger, FixedText, Word};
use super::node::{Count, Node, NodeKind};
use super::program::{Builder, Known, Program};
use crate::bits::checked_align_up;
use crate::schema::{Encoding, Scope};

/// A field of an event class, found once by name and then read from any event of the class. Events of another
/// class do not have it: reading it from one gives `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRef {
    /// [`EventPlan::identity`] of the class.
    class: u64,
    pub(crate) scope: Scope,
    /// Index of the member or option to take at each level.
    pub(crate) steps: Vec<usize>,
    /// Where an integer lies after the start of the body, if that never changes.
    pub(crate) fixed: Option<Word>,
    /// Where a text begins, if that never changes.
    pub(crate) text: Option<FixedText>,
    /// From the start of the body to any other field that every event of the class has.
    pub(crate) way: Option<Program>,
}

impl FieldRef {
    /// Whether the field is one of this class.
    #[inline]
    pub(crate) fn is_of(&self, class: &EventPlan) -> bool {
        self.class == class.identity
    }
}

impl EventPlan {
    /// Finds a field of the payload by the names on the way to it (shown or declared; options of variants
    /// count as a level). `None` if the class has no such field.
    pub fn payload_field(&self, stream: &StreamPlan, path: &[&str]) -> Option<FieldRef> {
        self.field(stream, Scope::Payload, path)
    }

    /// Finds a context by its name: one of the class, else one that all events of the stream have.
    pub fn context_field(&self, stream: &StreamPlan, name: &str) -> Option<FieldRef> {
        let field = |scope| self.field(stream, scope, &[name]);
        field(Scope::SpecificContext).or_else(|| field(Scope::CommonContext))
    }

    /// Finds a field of any scope after the header.
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
        let (mut fixed, mut text) = (None, None);
        if let Some(offset) = self.fixed_offset(stream, scope, &steps) {
            match &node.kind {
                NodeKind::Integer { class, .. } if !class.reversed => {
                    let begin = Known::aligned(self.body_modulus);
                    fixed = Word::new(FixedInteger::new(offset, class), begin);
                }
                NodeKind::String(Encoding::Utf8) => text = Some(FixedText { offset, length: None }),
                NodeKind::Text(Count::Static(length), Encoding::Utf8) => {
                    text = Some(FixedText { offset, length: Some(*length) });
                }
                _ => {}
            }
        }
        let way = if fixed.is_some() || text.is_some() { None } else { self.way(stream, scope, &steps) };
        Some(FieldRef { class: self.identity, scope, steps, fixed, text, way })
    }

    /// The program that leads from the start of the body to a field; `None` where a choice is on the way into
    /// it.
    fn way(&self, stream: &StreamPlan, scope: Scope, steps: &[usize]) -> Option<Program> {
        let mut builder = Builder::new(Known::aligned(self.body_modulus));
        for before in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            let Some(mut node) = self.scope(stream, before) else { continue };
            if before != scope {
                builder.field(node);
                continue;
            }
            for &step in steps {
                let NodeKind::Struct(members) = &node.kind else { return None };
                builder.align(node.align);
                members.get(..step)?.iter().for_each(|(_, member)| builder.field(member));
                node = &members.get(step)?.1;
            }
            break;
        }
        Some(builder.finish().0)
    }

    /// The constant offset of a field after the start of the body, if all before it has a constant size and
    /// alignments are known.
    fn fixed_offset(&self, stream: &StreamPlan, scope: Scope, steps: &[usize]) -> Option<u64> {
        let mut at: u64 = 0;
        let align = |at: u64, align: u32| {
            if align <= self.body_modulus { checked_align_up(at, align) } else { None }
        };
        let after = |at: u64, node: &Node| align(at, node.align)?.checked_add(node.fixed_bits?);
        for before in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            let Some(mut node) = self.scope(stream, before) else { continue };
            if before != scope {
                at = after(at, node)?;
                continue;
            }
            for &step in steps {
                let NodeKind::Struct(members) = &node.kind else { return None };
                at = align(at, node.align)?;
                for (_, member) in members.get(..step)? {
                    at = after(at, member)?;
                }
                node = &members.get(step)?.1;
            }
            at = align(at, node.align)?;
            break;
        }
        Some(at)
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
