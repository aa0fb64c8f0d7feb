//! Numbers for the integers that lengths and selectors need, and the compilation of field classes to nodes.

use std::collections::BTreeMap;

use super::node::{Count, Name, Node, NodeKind, OptionNode, Selector};
use crate::bits::checked_align_up;
use crate::schema::{FieldClass, Length, Location, OptionalClass, Scope, StructClass, VariantClass};

/// The numbered places of the integers that lengths and selectors need: those of the contexts and headers
/// that all events share (`outer`), then those of one event class.
#[derive(Debug, Default)]
pub(super) struct Slots<'o> {
    outer: Option<&'o Slots<'o>>,
    /// Number of the first slot here.
    first: u32,
    numbers: BTreeMap<Location, u32>,
    /// Whether names are shown as they are declared (CTF 2).
    verbatim: bool,
}

impl<'o> Slots<'o> {
    /// No slots yet; names are shown as they are declared, or as CTF 1.8 means them.
    pub(super) fn new(verbatim: bool) -> Self {
        Self { verbatim, ..Self::default() }
    }

    fn name(&self, declared: &str) -> Name {
        if self.verbatim { Name::verbatim(declared) } else { Name::new(declared) }
    }

    /// Slots after those that others have taken.
    pub(super) fn inside(outer: &'o Self) -> Self {
        Self {
            first: outer.count() as u32,
            outer: Some(outer),
            numbers: BTreeMap::new(),
            verbatim: outer.verbatim,
        }
    }

    /// Number of slots a walk needs.
    pub(super) fn count(&self) -> usize {
        self.first as usize + self.numbers.len()
    }

    /// The locations here, without those outside.
    pub(super) fn locations(&self) -> impl Iterator<Item = &Location> {
        self.numbers.keys()
    }

    fn want(&mut self, location: &Location) {
        if self.number(location).is_none() {
            self.numbers.insert(location.clone(), self.count() as u32);
        }
    }

    fn number(&self, location: &Location) -> Option<u32> {
        let here = self.numbers.get(location).copied();
        here.or_else(|| self.outer.and_then(|outer| outer.number(location)))
    }

    /// Drops locations and numbers the rest again.
    pub(super) fn keep_only(&mut self, keep: impl Fn(&Location) -> bool) {
        self.numbers.retain(|location, _| keep(location));
        for (number, slot) in (self.first..).zip(self.numbers.values_mut()) {
            *slot = number;
        }
    }

    pub(super) fn collect_struct(&mut self, class: &StructClass) {
        for member in &class.members {
            self.collect(&member.class);
        }
    }

    fn collect(&mut self, class: &FieldClass) {
        match class {
            FieldClass::Integer(_)
            | FieldClass::VarInteger(_)
            | FieldClass::WideInteger(_)
            | FieldClass::Float(_)
            | FieldClass::String(_) => {}
            FieldClass::Text(class) => self.collect_length(&class.length),
            FieldClass::Blob(class) => self.collect_length(&class.length),
            FieldClass::Struct(class) => self.collect_struct(class),
            FieldClass::Array(class) => {
                self.collect_length(&class.length);
                self.collect(&class.element);
            }
            FieldClass::Variant(class) => {
                self.want(&class.selector);
                for option in &class.options {
                    self.collect(&option.class);
                }
            }
            FieldClass::Optional(class) => {
                self.want(&class.selector);
                self.collect(&class.class);
            }
        }
    }

    fn collect_length(&mut self, length: &Length) {
        if let Length::Dynamic(location) = length {
            self.want(location);
        }
    }

    pub(super) fn compile_scope(&self, scope: Scope, class: &StructClass) -> Node {
        self.compile_struct(&mut Location { scope, path: Vec::new() }, class)
    }

    fn compile(&self, here: &mut Location, class: &FieldClass) -> Node {
        let align = class.align();
        match class {
            FieldClass::Integer(class) => {
                let slot = self.number(here);
                let fixed_bits = Some(u64::from(class.size));
                Node { align, fixed_bits, kind: NodeKind::Integer { class: class.clone(), slot } }
            }
            FieldClass::VarInteger(class) => {
                let slot = self.number(here);
                Node { align, fixed_bits: None, kind: NodeKind::VarInteger { class: class.clone(), slot } }
            }
            FieldClass::WideInteger(class) => {
                let fixed_bits = Some(u64::from(class.size));
                Node { align, fixed_bits, kind: NodeKind::WideInteger(class.clone()) }
            }
            FieldClass::Float(class) => {
                Node { align, fixed_bits: Some(class.size.into()), kind: NodeKind::Float(class.clone()) }
            }
            FieldClass::String(class) => {
                Node { align, fixed_bits: None, kind: NodeKind::String(class.encoding) }
            }
            FieldClass::Text(class) => {
                let count = self.elements(&class.length);
                let fixed_bits = fixed_elements(count, 8, 8);
                Node { align, fixed_bits, kind: NodeKind::Text(count, class.encoding) }
            }
            FieldClass::Blob(class) => {
                let count = self.elements(&class.length);
                Node {
                    align,
                    fixed_bits: fixed_elements(count, 8, 8),
                    kind: NodeKind::Blob(count, class.role),
                }
            }
            FieldClass::Struct(class) => self.compile_struct(here, class),
            FieldClass::Array(class) => {
                let count = self.elements(&class.length);
                let element = self.compile(here, &class.element);
                let fixed_bits = element
                    .fixed_bits
                    .and_then(|size| fixed_elements(count, checked_align_up(size, element.align)?, size));
                Node { align, fixed_bits, kind: NodeKind::Array(count, Box::new(element)) }
            }
            FieldClass::Variant(class) => self.compile_variant(here, class),
            FieldClass::Optional(class) => self.compile_optional(here, class),
        }
    }

    fn compile_struct(&self, here: &mut Location, class: &StructClass) -> Node {
        let mut size = Some(0);
        let mut members = Vec::with_capacity(class.members.len());
        for member in &class.members {
            here.path.push(member.name.clone());
            let node = self.compile(here, &member.class);
            here.path.pop();
            size = size.and_then(|size| checked_align_up(size, node.align)?.checked_add(node.fixed_bits?));
            members.push((self.name(&member.name), node));
        }
        Node { align: class.align(), fixed_bits: size, kind: NodeKind::Struct(members) }
    }

    fn compile_variant(&self, here: &mut Location, class: &VariantClass) -> Node {
        let mut ranges = Vec::new();
        let mut options = Vec::with_capacity(class.options.len());
        for (index, option) in class.options.iter().enumerate() {
            ranges.extend(option.ranges.iter().map(|&(first, last)| (first, last, index)));
            if !class.transparent {
                here.path.push(option.name.clone());
            }
            options
                .push(OptionNode { name: self.name(&option.name), node: self.compile(here, &option.class) });
            if !class.transparent {
                here.path.pop();
            }
        }
        let nodes = options.iter().map(|option| &option.node);
        let selector = self.selector(&class.selector, class.selector_signed, ranges, nodes);
        Node { align: 1, fixed_bits: None, kind: NodeKind::Variant(selector, options) }
    }

    fn compile_optional(&self, here: &mut Location, class: &OptionalClass) -> Node {
        let node = self.compile(here, &class.class);
        let ranges = class.ranges.iter().map(|&(first, last)| (first, last, 0)).collect();
        let selector = self.selector(&class.selector, class.selector_signed, ranges, [&node]);
        Node { align: 1, fixed_bits: None, kind: NodeKind::Optional(selector, Box::new(node)) }
    }

    /// What chooses among `nodes`.
    fn selector<'n>(
        &self,
        location: &Location,
        signed: bool,
        ranges: Vec<(i128, i128, usize)>,
        nodes: impl IntoIterator<Item = &'n Node>,
    ) -> Selector {
        let mut inside = Vec::new();
        for node in nodes {
            node.add_slots(&mut inside);
        }
        Selector { slot: self.slot(location), signed, ranges, inside }
    }

    fn elements(&self, length: &Length) -> Count {
        match length {
            Length::Static(count) => Count::Static(*count),
            Length::Dynamic(location) => Count::Slot(self.slot(location)),
        }
    }

    fn slot(&self, location: &Location) -> u32 {
        self.number(location).unwrap_or_default()
    }
}

/// Bits of a number of elements known beforehand.
fn fixed_elements(count: Count, stride: u64, size: u64) -> Option<u64> {
    match count {
        Count::Static(0) => Some(0),
        Count::Static(count) => (count - 1).checked_mul(stride)?.checked_add(size),
        Count::Slot(_) => None,
    }
}
