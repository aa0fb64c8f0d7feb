//! From event classes to steps.

use super::{LINE, LITERAL, Step, TextPlan, Value};
use crate::bits::checked_align_up;
use crate::plan::{Count, EventPlan, FixedInteger, Known, Node, NodeKind, StreamPlan, Word};
use crate::schema::{Base, Encoding, IntegerClass, IntegerForm, Scope};

impl TextPlan {
    /// Compiles a class of a stream; linear in the class. `None` where the text is long, and where a field
    /// depends on the packet's head or the event's header.
    pub fn new(stream: &StreamPlan, class: &EventPlan) -> Option<Self> {
        if stream.needs_headers {
            return None;
        }
        let mut compiler =
            Compiler { steps: Vec::new(), literal: Vec::new(), bits: 0, known: class.body_modulus() };
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
        let literals: usize = compiler.steps.iter().map(|step| usize::from(step.length)).sum();
        let steps = compiler.steps.into();
        (literals < LINE).then(|| Self { class: class.identity(), steps, slots: class.slot_count() })
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
            NodeKind::Integer { class, slot: None } => match self.integer(class) {
                Some(value) => {
                    self.push(value)?;
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
            _ => self.walk(node),
        }
    }

    /// How an integer here is shown, if it needs no more than its bits and lies at a border of bytes.
    fn integer(&self, class: &IntegerClass) -> Option<Value> {
        if class.reversed || class.mappings.is_some() || class.form == IntegerForm::Boolean {
            return None;
        }
        let word = Word::new(FixedInteger::new(self.bits, class), Known::aligned(self.known))?;
        match (class.base, class.signed) {
            (Base::Decimal, false) => Some(Value::Unsigned(word)),
            (Base::Decimal, true) => Some(Value::Signed(word)),
            (Base::Hexadecimal, _) => Some(Value::Hexadecimal(word, class.size)),
            (Base::Octal | Base::Binary, _) => None,
        }
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
