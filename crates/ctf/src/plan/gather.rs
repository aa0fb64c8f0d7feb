//! Where the wanted integers lie in an event class, so that one pass over an event reads them all.
//!
//! A class is cut into *sections*. Within a section all sizes are constant, so that an integer lies at a
//! constant offset after the section's begin; a skip program leads from one section to the next. The first
//! one begins with the body. Most classes have one section, those with a string among their fields two.
//! [`Columns`](crate::Columns) are filled so.

use super::compile::{EventPlan, StreamPlan};
use super::field_ref::FieldRef;
use super::fixed::{FixedInteger, Word};
use super::node::{Node, NodeKind};
use super::program::{Builder, Known, Program};
use crate::schema::{IntegerClass, Scope};

/// How to read some integers of an event class.
#[derive(Debug, Clone)]
pub(crate) struct Gather {
    /// [`EventPlan::identity`] of the class.
    class: u64,
    /// The integers at constant offsets after the start of the body.
    pub(crate) first: Section,
    /// The others, in the order of decoding.
    pub(crate) more: Vec<(Program, Section)>,
    /// Numbers of variable length and of reversed bits, with their positions in the list of fields: read one
    /// by one.
    pub(crate) rare: Vec<(usize, FieldRef)>,
    /// By field: whether it is signed.
    pub(crate) signed: Vec<bool>,
}

/// Integers at constant offsets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section {
    /// Each with its position in the list of fields.
    words: Vec<(usize, Word)>,
    /// Those over nine bytes, or after something that ends within a byte.
    others: Vec<(usize, FixedInteger)>,
}

impl Gather {
    /// Whether it was made for this class.
    #[inline]
    pub(crate) fn is_of(&self, class: &EventPlan) -> bool {
        self.class == class.identity
    }

    /// Whether all integers lie at constant offsets after the start of the body.
    #[inline]
    pub(crate) fn is_one_section(&self) -> bool {
        self.more.is_empty() && self.rare.is_empty()
    }

    /// Finds fields of a class; linear in the class, and in the fields for each of its members. `None` if one
    /// of them is no integer, or not one that every event of the class has.
    pub(crate) fn new(stream: &StreamPlan, class: &EventPlan, fields: &[FieldRef]) -> Option<Self> {
        if !fields.iter().all(|field| field.is_of(class)) {
            return None;
        }
        let begin = Known::aligned(class.body_modulus);
        let mut compiler = Compiler {
            fields,
            begin,
            builder: Builder::new(begin),
            section: Section::default(),
            way: None,
            done: Vec::new(),
            rare: Vec::new(),
            signed: vec![None; fields.len()],
        };
        for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            if let Some(node) = class.scope(stream, scope) {
                compiler.node(scope, &mut Vec::new(), node);
            }
        }
        compiler.finish_section();
        let signed: Option<Vec<bool>> = compiler.signed.into_iter().collect();
        let mut sections = compiler.done.into_iter();
        let (_, first) = sections.next()?;
        let more = sections.filter_map(|(way, section)| Some((way?, section))).collect();
        Some(Self { class: class.identity, first, more, rare: compiler.rare, signed: signed? })
    }
}

impl Section {
    /// Hands each integer to `put`, with its position in the list of fields.
    #[inline]
    pub(crate) fn read(&self, bytes: &[u8], begin: u64, mut put: impl FnMut(usize, u64)) {
        for (field, word) in &self.words {
            put(*field, word.read(bytes, begin));
        }
        for (field, integer) in &self.others {
            put(*field, integer.read(bytes, begin));
        }
    }
}

/// Walks a class once.
struct Compiler<'f> {
    fields: &'f [FieldRef],
    /// What is known of the start of the section.
    begin: Known,
    /// What lies between that and here.
    builder: Builder,
    section: Section,
    /// From the section before to this one; `None` for the first.
    way: Option<Program>,
    done: Vec<(Option<Program>, Section)>,
    rare: Vec<(usize, FieldRef)>,
    /// By field that was found: whether it is signed.
    signed: Vec<Option<bool>>,
}

impl Compiler<'_> {
    fn node(&mut self, scope: Scope, steps: &mut Vec<usize>, node: &Node) {
        match &node.kind {
            NodeKind::Struct(members) if self.wants(scope, steps) => {
                self.builder.align(node.align);
                for (index, (_, member)) in members.iter().enumerate() {
                    steps.push(index);
                    self.node(scope, steps, member);
                    steps.pop();
                }
                return;
            }
            NodeKind::Integer { class, .. } if !class.reversed => {
                self.builder.align(node.align);
                for field in self.named(scope, steps) {
                    self.integer(field, class);
                }
            }
            NodeKind::Integer { class, .. } | NodeKind::VarInteger { class, .. } => {
                for field in self.named(scope, steps) {
                    self.rare.push((field, self.fields[field].clone()));
                    self.signed[field] = Some(class.signed);
                }
            }
            _ => {}
        }
        self.builder.field(node);
    }

    /// Whether a wanted field is inside this one.
    fn wants(&self, scope: Scope, steps: &[usize]) -> bool {
        self.fields.iter().any(|field| field.scope == scope && field.steps.starts_with(steps))
    }

    /// Places in the list of fields that name this one.
    fn named(&self, scope: Scope, steps: &[usize]) -> Vec<usize> {
        let named = |field: &FieldRef| field.scope == scope && field.steps == steps;
        self.fields.iter().enumerate().filter(|(_, field)| named(field)).map(|(index, _)| index).collect()
    }

    /// An integer that lies here.
    fn integer(&mut self, field: usize, class: &IntegerClass) {
        let offset = self.builder.constant().unwrap_or_else(|| {
            self.finish_section();
            0
        });
        let integer = FixedInteger::new(offset, class);
        match Word::new(integer, self.begin) {
            Some(word) => self.section.words.push((field, word)),
            None => self.section.others.push((field, integer)),
        }
        self.signed[field] = Some(class.signed);
    }

    /// The next section begins here.
    fn finish_section(&mut self) {
        let (way, here) = std::mem::replace(&mut self.builder, Builder::new(self.begin)).finish();
        self.done.push((self.way.replace(way), std::mem::take(&mut self.section)));
        self.begin = here;
        self.builder = Builder::new(here);
    }
}
