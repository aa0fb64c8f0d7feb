//! Skip programs: flat lists of steps that skip fields that are not asked for.

use super::node::{Count, Node, NodeKind, Selector};
use super::walk::EmptyElements;
use super::{Cursor, encodings, variable};
use crate::DecodeError;
use crate::bits;
use crate::schema::{ByteOrder, Encoding};

/// Steps in order, and the programs of loops and options they refer to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Program {
    steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Move on by this many bits.
    Skip(u64),
    /// Move to a multiple of this many bits.
    Align(u32),
    /// Keep an integer in a slot.
    Keep { slot: u32, size: u32, signed: bool, order: ByteOrder },
    /// Keep an integer whose bits come in reverse.
    KeepReversed { slot: u32, size: u32, signed: bool, order: ByteOrder },
    /// Move after an integer of variable length; it may be wanted in a slot.
    Variable { slot: Option<u32>, signed: bool },
    /// Move after the next NUL byte.
    String,
    /// Move after the next NUL of several bytes.
    WideString(Encoding),
    /// A field that may be missing.
    Maybe { selector: Selector, body: Program },
    /// Elements of constant size: `stride` bits from one to the next, the last one `size` bits; each counts
    /// as this many empty ones.
    Elements { count: Count, stride: u64, size: u64, empty: u64 },
    /// So many elements that take no space.
    Empty(u64),
    /// Elements that each need a program, and their alignment.
    Loop { count: Count, align: u32, body: Program },
    /// One of several programs.
    Choose { selector: Selector, options: Vec<Program> },
}

impl Program {
    /// The size in bits if the program does nothing but skip a constant size.
    pub(crate) fn constant(&self) -> Option<u64> {
        match self.steps.as_slice() {
            [] => Some(0),
            [Step::Skip(bits)] => Some(*bits),
            _ => None,
        }
    }
}

/// Runs a program: moves the cursor after the fields and fills slots. `empty` is how many array elements
/// without size may still come.
///
/// Time is bounded by the bits of the packet: loops over elements that take no space end at once, because
/// neither the position nor the slots change from one such element to the next.
pub(crate) fn run(
    program: &Program,
    cursor: &mut Cursor<'_>,
    slots: &mut [u64],
    empty: &mut EmptyElements,
) -> Result<(), DecodeError> {
    for step in &program.steps {
        match step {
            Step::Skip(bits) => {
                cursor.take(*bits)?;
            }
            Step::Align(align) => cursor.align(*align),
            Step::Keep { slot, size, signed, order } => {
                let at = cursor.take(u64::from(*size))?;
                let raw = bits::read(cursor.bytes, at, *size, *order);
                slots[*slot as usize] = bits::extend(raw, *size, *signed);
            }
            Step::String => {
                cursor.take_string()?;
            }
            Step::KeepReversed { slot, size, signed, order } => {
                let at = cursor.take(u64::from(*size))?;
                let raw = bits::mirror(bits::read(cursor.bytes, at, *size, *order), *size);
                slots[*slot as usize] = bits::extend(raw, *size, *signed);
            }
            Step::Variable { slot: Some(slot), signed } => {
                slots[*slot as usize] = variable::read(cursor, *signed)?.0;
            }
            Step::Variable { slot: None, .. } => {
                variable::skip(cursor)?;
            }
            Step::WideString(encoding) => {
                encodings::take_string(cursor, *encoding)?;
            }
            Step::Maybe { selector, body } => {
                if selector.chosen(slots).is_ok() {
                    run(body, cursor, slots, empty)?;
                }
            }
            Step::Elements { count, stride, size, empty: each } => {
                let count = count.get(slots);
                if let Some(before_last) = count.checked_sub(1) {
                    let total = before_last.checked_mul(*stride).and_then(|bits| bits.checked_add(*size));
                    cursor.take(total.ok_or(DecodeError::TooManyElements(count))?)?;
                    empty.take(count, *each)?;
                }
            }
            Step::Empty(count) => empty.take(*count, 1)?,
            Step::Loop { count, align, body } => {
                let count = count.get(slots);
                for index in 0..count {
                    cursor.align(*align);
                    let (at, left) = (cursor.at, *empty);
                    run(body, cursor, slots, empty)?;
                    if cursor.at == at {
                        // All that follow are like this one.
                        let each = empty.since(left) + 1;
                        *empty = left;
                        empty.take(count - index, each).map_err(|_| DecodeError::TooManyElements(count))?;
                        break;
                    }
                }
            }
            Step::Choose { selector, options } => {
                run(&options[selector.choose(slots)?], cursor, slots, empty)?;
            }
        }
    }
    Ok(())
}

/// What is known of a position while compiling: it is `remainder` modulo `modulus` bits (a power of two).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// A power of two, at least 1.
    pub(crate) modulus: u32,
    /// Less than `modulus`.
    pub(crate) remainder: u32,
}

impl Known {
    /// A position that is a multiple of `align` bits.
    pub(crate) fn aligned(align: u32) -> Self {
        Self { modulus: align, remainder: 0 }
    }

    /// Whether the position is surely one between bytes.
    pub(crate) fn is_byte_border(self) -> bool {
        self.modulus >= 8 && self.remainder.is_multiple_of(8)
    }

    fn advanced(self, bits: u64) -> Self {
        let modulus = u64::from(self.modulus);
        let remainder = (u64::from(self.remainder) + bits % modulus) % modulus;
        Self { remainder: remainder as u32, ..self }
    }

    /// What holds whichever of two positions it is.
    fn or(self, other: Self) -> Self {
        let mut modulus = self.modulus.min(other.modulus);
        while self.remainder % modulus != other.remainder % modulus {
            modulus /= 2;
        }
        Self { modulus, remainder: self.remainder % modulus }
    }
}

/// Builds programs, folding neighbouring constant steps.
pub(crate) struct Builder {
    program: Program,
    known: Known,
}

impl Builder {
    pub(crate) fn new(known: Known) -> Self {
        Self { program: Program::default(), known }
    }

    pub(crate) fn finish(self) -> (Program, Known) {
        (self.program, self.known)
    }

    /// Bits from the start to here, if that is always the same.
    pub(crate) fn constant(&self) -> Option<u64> {
        self.program.constant()
    }

    /// Appends the steps that move over a field.
    pub(crate) fn field(&mut self, node: &Node) {
        self.align(node.align);
        if let Some(bits) = node.fixed_bits.filter(|_| !node.keeps_slots()) {
            self.skip(bits);
            self.empty(node.empty_elements());
            return;
        }
        match &node.kind {
            NodeKind::Integer { class, slot: Some(slot) } => {
                let (slot, size, signed, order) = (*slot, class.size, class.signed, class.byte_order);
                self.push(match class.reversed {
                    false => Step::Keep { slot, size, signed, order },
                    true => Step::KeepReversed { slot, size, signed, order },
                });
                self.known = self.known.advanced(size.into());
            }
            // Without a slot these have a fixed size.
            NodeKind::Integer { class, slot: None } | NodeKind::WideInteger(class) => {
                self.skip(class.size.into());
            }
            NodeKind::Float(class) => self.skip(class.size.into()),
            NodeKind::String(encoding) => {
                self.push(match encoding {
                    Encoding::Utf8 => Step::String,
                    _ => Step::WideString(*encoding),
                });
                self.known = Known::aligned(8);
            }
            NodeKind::VarInteger { class, slot } => {
                self.push(Step::Variable { slot: *slot, signed: class.signed });
                self.known = Known::aligned(8);
            }
            NodeKind::Text(count, _) | NodeKind::Blob(count, _) => self.elements(*count, 8, 8, 0),
            NodeKind::Struct(members) => {
                for (_, member) in members {
                    self.field(member);
                }
            }
            NodeKind::Array(count, element) => self.array(*count, element),
            NodeKind::Variant(selector, options) => self.choose(selector, options.iter().map(|o| &o.node)),
            NodeKind::Optional(selector, inner) => {
                let mut body = Self::new(self.known);
                body.field(inner);
                self.push(Step::Maybe { selector: selector.clone(), body: body.program });
                self.known = self.known.or(body.known);
            }
        }
    }

    pub(crate) fn align(&mut self, align: u32) {
        if align <= self.known.modulus {
            let beyond = self.known.remainder % align;
            self.skip(u64::from(if beyond == 0 { 0 } else { align - beyond }));
        } else {
            self.push(Step::Align(align));
            self.known = Known::aligned(align);
        }
    }

    pub(crate) fn skip(&mut self, bits: u64) {
        self.known = self.known.advanced(bits);
        match self.program.steps.last_mut() {
            _ if bits == 0 => {}
            // A sum beyond 64 bits stays two steps, the second of which finds no space.
            Some(Step::Skip(total)) if total.checked_add(bits).is_some() => *total += bits,
            _ => self.push(Step::Skip(bits)),
        }
    }

    fn empty(&mut self, count: u64) {
        if count > 0 {
            self.push(Step::Empty(count));
        }
    }

    fn push(&mut self, step: Step) {
        self.program.steps.push(step);
    }

    fn array(&mut self, count: Count, element: &Node) {
        let stride = |size: u64| bits::checked_align_up(size, element.align);
        if let Some(size) = element.fixed_bits.filter(|_| !element.keeps_slots())
            && let Some(stride) = stride(size)
        {
            let empty = element.empty_elements().saturating_add(u64::from(size == 0));
            self.elements(count, stride, size, empty);
            return;
        }
        let mut body = Self::new(Known::aligned(element.align));
        body.field(element);
        self.push(Step::Loop { count, align: element.align, body: body.program });
        self.known = Known::aligned(1);
    }

    fn elements(&mut self, count: Count, stride: u64, size: u64, empty: u64) {
        self.push(Step::Elements { count, stride, size, empty });
        // After n elements: a multiple of the greatest power of two that divides stride and size.
        let step = 1_u64 << (stride | size | u64::from(self.known.modulus)).trailing_zeros().min(31);
        let modulus = (step as u32).min(self.known.modulus);
        self.known = Known { modulus, remainder: self.known.remainder % modulus };
    }

    fn choose<'a>(&mut self, selector: &Selector, options: impl Iterator<Item = &'a Node>) {
        let mut programs = Vec::new();
        let mut after: Option<Known> = None;
        for node in options {
            let mut option = Self::new(self.known);
            option.field(node);
            after = Some(after.map_or(option.known, |known| known.or(option.known)));
            programs.push(option.program);
        }
        self.push(Step::Choose { selector: selector.clone(), options: programs });
        self.known = after.unwrap_or(self.known);
    }
}
