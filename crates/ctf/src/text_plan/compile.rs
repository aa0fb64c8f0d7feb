//! From event classes to steps.

use super::{LITERAL, Step, TextPlan, Value};
use crate::bits::checked_align_up;
use crate::digits;
use crate::plan::{
    Count, EventPlan, FixedInteger, Known, Node, NodeKind, OptionNode, Selector, StreamPlan, Word,
};
use crate::schema::{Base, Encoding, IntegerClass, IntegerForm, Scope};

/// Most steps of a class: of arrays of arrays there would be any number.
const STEPS: usize = 1 << 10;
/// Most elements of arrays that have steps of their own.
const ELEMENTS: u64 = 16;

impl TextPlan {
    /// Compiles a class of a stream; linear in the class. `None` where the text is long, and where a field
    /// depends on the packet's head or the event's header.
    pub fn new(stream: &StreamPlan, class: &EventPlan) -> Option<Self> {
        if stream.needs_headers {
            return None;
        }
        let mut compiler = Compiler {
            steps: Vec::new(),
            literal: Vec::new(),
            bits: 0,
            known: class.body_modulus(),
            left: STEPS,
        };
        for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
            let Some(node) = class.scope(stream, scope) else { continue };
            if !(compiler.steps.is_empty() && compiler.literal.is_empty()) {
                compiler.literal.extend_from_slice(b", ");
            }
            compiler.node(node)?;
        }
        if !compiler.literal.is_empty() {
            compiler.push(Value::None)?;
        }
        let uses_slots = |step: &Step| matches!(step.value, Value::Walk { .. } | Value::Choose { .. });
        let slots = if compiler.steps.iter().any(uses_slots) { class.slot_count() } else { 0 };
        // What nothing looks at needs no place; nothing is written before it.
        compiler.steps.retain(|step| slots > 0 || !matches!(step.value, Value::Keep(..)));
        Some(Self { class: class.identity(), steps: compiler.steps.into(), slots })
    }
}

/// How an integer is shown.
fn integer(class: &IntegerClass, word: Word) -> Value {
    let is_plain = class.mappings.is_none() && class.form != IntegerForm::Boolean;
    match (class.base, class.signed) {
        (Base::Decimal, false) if is_plain => Value::Unsigned(word),
        (Base::Decimal, true) if is_plain => Value::Signed(word),
        (Base::Hexadecimal, _) if is_plain => Value::Hexadecimal(word, class.size),
        _ => Value::Named(word, Box::new(class.clone())),
    }
}

/// Walks a class once.
struct Compiler {
    steps: Vec<Step>,
    /// What comes before the next value.
    literal: Vec<u8>,
    /// From the base to here.
    bits: u64,
    /// The base is a multiple of so many bits, a power of two.
    known: u32,
    /// Steps that may still come.
    left: usize,
}

impl Compiler {
    fn node(&mut self, node: &Node) -> Option<()> {
        self.align(node.align)?;
        match &node.kind {
            NodeKind::Struct(members) => {
                self.literal.push(b'{');
                for (index, (name, member)) in members.iter().enumerate() {
                    name.put_assignment(&mut self.literal, index == 0);
                    self.node(member)?;
                }
                self.literal.extend_from_slice(b" }");
                Some(())
            }
            NodeKind::Integer { class, slot } => match self.word(class) {
                Some(word) => {
                    self.push(integer(class, word))?;
                    if let Some(slot) = slot {
                        self.push(Value::Keep(word, *slot))?;
                    }
                    self.after(u64::from(class.size))
                }
                None => self.walk(node),
            },
            NodeKind::Text(Count::Static(count), Encoding::Utf8) => {
                match (self.byte(), u32::try_from(*count)) {
                    (Some(byte), Ok(bytes)) => {
                        self.push(Value::Text { byte, bytes })?;
                        self.after(u64::from(bytes) * 8)
                    }
                    _ => self.walk(node),
                }
            }
            NodeKind::String(Encoding::Utf8) => match self.byte() {
                Some(byte) => {
                    self.push(Value::String { byte })?;
                    (self.bits, self.known) = (0, 8);
                    Some(())
                }
                None => self.walk(node),
            },
            NodeKind::Array(Count::Static(count), element) if *count <= ELEMENTS => {
                self.literal.push(b'[');
                for index in 0..*count {
                    self.literal.extend_from_slice(if index > 0 { b", [" } else { b" [" });
                    digits::decimal(&mut self.literal, index);
                    self.literal.extend_from_slice(b"] = ");
                    self.node(element)?;
                }
                self.literal.extend_from_slice(b" ]");
                Some(())
            }
            NodeKind::Variant(selector, options) => self.variant(selector, options),
            _ => self.walk(node),
        }
    }

    /// A choice: each option has steps of its own, from the end of what is before it on.
    fn variant(&mut self, selector: &Selector, options: &[OptionNode]) -> Option<()> {
        self.literal.extend_from_slice(b"{ ");
        if self.bits > 0 {
            self.push(Value::Align { bits: self.bits, align: 1 })?;
            let odd = self.bits.trailing_zeros().min(31);
            (self.bits, self.known) = (0, self.known.min(1 << odd));
        }
        let (before, mut after) = (self.known, 8);
        let mut compiled = Vec::with_capacity(options.len());
        for option in options {
            let mut inner =
                Self { steps: Vec::new(), literal: Vec::new(), bits: 0, known: before, left: self.left };
            inner.node(&option.node)?;
            if !(inner.bits.is_multiple_of(8) && inner.known >= 8) {
                after = 1;
            }
            inner.push(Value::Align { bits: inner.bits, align: 1 })?;
            self.left = inner.left;
            compiled.push(inner.steps.into());
        }
        self.push(Value::Choose { selector: Box::new(selector.clone()), options: compiled.into() })?;
        self.known = after;
        self.literal.extend_from_slice(b" }");
        Some(())
    }

    /// An integer here, if it lies at a border of bytes.
    fn word(&self, class: &IntegerClass) -> Option<Word> {
        let word = Word::new(FixedInteger::new(self.bits, class), Known::aligned(self.known));
        word.filter(|_| !class.reversed)
    }

    /// The byte after the base that begins here.
    fn byte(&self) -> Option<u32> {
        let is_border = self.known >= 8 && self.bits.is_multiple_of(8);
        if is_border { u32::try_from(self.bits / 8).ok() } else { None }
    }

    /// Any field, by a visitor.
    fn walk(&mut self, node: &Node) -> Option<()> {
        self.push(Value::Walk { bits: self.bits, node: Box::new(node.clone()) })?;
        match node.fixed_bits {
            Some(bits) => self.after(bits),
            None => {
                (self.bits, self.known) = (0, 1);
                Some(())
            }
        }
    }

    fn after(&mut self, bits: u64) -> Option<()> {
        self.bits = self.bits.checked_add(bits)?;
        Some(())
    }

    fn align(&mut self, align: u32) -> Option<()> {
        if align <= self.known {
            self.bits = checked_align_up(self.bits, align)?;
        } else {
            self.push(Value::Align { bits: self.bits, align })?;
            (self.bits, self.known) = (0, align);
        }
        Some(())
    }

    /// Adds a value after all that comes before it.
    fn push(&mut self, value: Value) -> Option<()> {
        let mut rest = self.literal.as_slice();
        self.left = self.left.checked_sub(1 + rest.len() / LITERAL)?;
        while let Some((chunk, after)) =
            rest.split_first_chunk::<LITERAL>().filter(|(_, after)| !after.is_empty())
        {
            self.steps.push(Step { literal: *chunk, length: LITERAL as u8, value: Value::None });
            rest = after;
        }
        let mut literal = [0; LITERAL];
        literal.get_mut(..rest.len())?.copy_from_slice(rest);
        self.steps.push(Step { literal, length: rest.len() as u8, value });
        self.literal.clear();
        Some(())
    }
}
