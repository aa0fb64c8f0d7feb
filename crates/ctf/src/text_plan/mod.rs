//! Text of events, compiled: what [`TextVisitor`] shows of all contexts and fields of an event, for each
//! class as a list of steps. A step copies what stands before a value – braces and names, which are the same
//! in each event – and then writes the value, from a place that is known when the class is compiled. Fields
//! that have no such step (arrays, choices, enumerations, integers that lengths and selectors need) are
//! walked.
//!
//! A line is written into bytes of a fixed number, so that nothing is reserved and no capacity is compared
//! for a value. Whatever does not fit there, or cannot be decoded, is left to the caller, who walks the
//! scopes one by one: both ways have the same text.

mod compile;

use crate::bits;
use crate::digits;
use crate::plan::{Cursor, Node, Word, find_nul, walk};
use crate::room::{self, PIECE};
use crate::text::{self, TextVisitor};
use crate::trace::Event;

/// Bytes of the longest text that is written so.
const LINE: usize = 1 << 13;
/// Bytes of a literal that are copied at once; a longer one takes several steps.
const LITERAL: usize = 32;
/// Bytes that a step takes at most: its literal, a sign, and the digits of a number.
const STEP: usize = LITERAL + 1 + digits::MOST;

/// How the contexts and fields of an event class are shown as text.
#[derive(Debug, Clone)]
pub struct TextPlan {
    /// The identity of the class.
    class: u64,
    steps: Box<[Step]>,
    /// Slots that walked fields need.
    slots: usize,
}

/// A text that is the same in each event, and the value after it.
#[derive(Debug, Clone)]
struct Step {
    /// Zeros after it.
    literal: [u8; LITERAL],
    length: u8,
    value: Value,
}

/// A value. Places are relative to a base: first the start of the event's body, then the end of the last
/// field of variable size, or a multiple of an alignment.
#[derive(Debug, Clone)]
enum Value {
    /// There is only the literal.
    None,
    /// An integer without sign, in base ten.
    Unsigned(Word),
    /// An integer with a sign, in base ten.
    Signed(Word),
    /// The bits of an integer of this size, in base sixteen.
    Hexadecimal(Word, u32),
    /// Text of this many bytes, or up to a NUL in them.
    Text { byte: u32, bytes: u32 },
    /// Text up to a NUL; the base moves after it.
    String { byte: u32 },
    /// The base moves to a multiple of so many bits after this many.
    Align { bits: u64, align: u32 },
    /// Any field, after so many bits; where its size is not the same in all events the base moves after it.
    Walk { bits: u64, node: Box<Node> },
}

/// Writes text of events by [`TextPlan`]s: what they need to do so, kept from one event to the next.
///
/// ```
/// # fn show(event: &isochrone_ctf::Event<'_>, out: &mut Vec<u8>) {
/// use isochrone_ctf::text_plan::{TextPlan, TextWriter};
///
/// let plan = TextPlan::new(event.stream_plan(), event.class());
/// let mut writer = TextWriter::default();
/// if !plan.is_some_and(|plan| writer.put(&plan, event, out)) {
///     // Each scope by a `TextVisitor`.
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct TextWriter {
    line: Box<[u8; LINE]>,
    /// What has no bound that is known beforehand, before it is copied to the line.
    apart: Vec<u8>,
    slots: Vec<u64>,
}

impl Default for TextWriter {
    fn default() -> Self {
        Self { line: Box::new([0; LINE]), apart: Vec::new(), slots: Vec::new() }
    }
}

impl TextPlan {
    /// Whether the class has neither contexts nor fields: there is no text then.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl TextWriter {
    /// Appends `{ contexts }, { more }, { fields }` of an event, as a [`TextVisitor`] shows each scope, and a
    /// comma and a space between them. `false`, with nothing appended, where the plan is of another class,
    /// where the text is long, and where a field cannot be decoded.
    #[inline]
    pub fn put(&mut self, plan: &TextPlan, event: &Event<'_>, out: &mut Vec<u8>) -> bool {
        let length = plan.write(event, self);
        out.extend_from_slice(length.and_then(|length| self.line.get(..length)).unwrap_or_default());
        length.is_some()
    }
}

impl TextPlan {
    /// Writes the text of an event to the line; gives its length.
    #[inline(never)]
    fn write(&self, event: &Event<'_>, writer: &mut TextWriter) -> Option<usize> {
        if self.class != event.class().identity() {
            return None;
        }
        let TextWriter { line, apart, slots } = writer;
        let (bytes, mut base, end) = event.body();
        if self.slots > 0 {
            slots.clear();
            slots.resize(self.slots, 0);
        }
        let mut at = 0;
        for step in &self.steps {
            let place: &mut [u8; STEP] = line.get_mut(at..at + STEP)?.first_chunk_mut()?;
            let (literal, _) = place.split_first_chunk_mut()?;
            *literal = step.literal;
            let length = usize::from(step.length);
            at += length;
            let rest = &mut place[length..];
            match &step.value {
                Value::None => {}
                Value::Unsigned(word) => at += digits::write_decimal(rest, word.read(bytes, base))?,
                Value::Signed(word) => {
                    let value = word.read(bytes, base) as i64;
                    let sign = usize::from(value < 0);
                    *rest.first_mut()? = b'-';
                    at += sign + digits::write_decimal(rest.get_mut(sign..)?, value.unsigned_abs())?;
                }
                Value::Hexadecimal(word, size) => {
                    let value = bits::low_bits(word.read(bytes, base), *size);
                    at += digits::write_hexadecimal(rest, value)?;
                }
                Value::Text { byte, bytes: count } => {
                    let begin = (base / 8) as usize + *byte as usize;
                    let field = bytes.get(begin..begin + *count as usize)?;
                    (at, _) = quoted(line, at, field, apart)?;
                }
                Value::String { byte } => {
                    let begin = (base / 8) as usize + *byte as usize;
                    let content = bytes.get(begin..(end / 8) as usize)?;
                    let shown;
                    (at, shown) = quoted(line, at, content, apart)?;
                    if shown >= content.len() {
                        return None;
                    }
                    base = (begin + shown + 1) as u64 * 8;
                }
                Value::Align { bits, align } => base = bits::align_up(base + bits, *align),
                Value::Walk { bits, node } => {
                    let cursor = Cursor { bytes, at: base + bits, limit: end };
                    let after = walked(node, cursor, slots, apart)?;
                    at = copied(line, at, apart)?;
                    if node.fixed_bits.is_none() {
                        base = after;
                    }
                }
            }
        }
        Some(at)
    }
}

/// Shows a field apart; gives where it ends. `None` where it cannot be decoded, and where it is long.
fn walked(node: &Node, mut cursor: Cursor<'_>, slots: &mut [u64], apart: &mut Vec<u8>) -> Option<u64> {
    apart.clear();
    let kept = room::keep(apart, LINE, |out, room| {
        walk(node, &mut cursor, slots, &mut TextVisitor::within(out, room))
    });
    (kept == Ok(true)).then_some(cursor.at)
}

/// Writes what was shown apart; gives where it ends.
fn copied(line: &mut [u8; LINE], at: usize, apart: &[u8]) -> Option<usize> {
    line.get_mut(at..at + apart.len())?.copy_from_slice(apart);
    Some(at + apart.len())
}

/// Writes a text up to its first NUL, in quotes; gives where that ends, and the number of bytes before the
/// NUL.
#[inline]
fn quoted(line: &mut [u8; LINE], mut at: usize, text: &[u8], apart: &mut Vec<u8>) -> Option<(usize, usize)> {
    *line.get_mut(at)? = b'"';
    at += 1;
    let mut rest = text;
    loop {
        // Eight bytes at a time; the last ones have zeros after them, which end the text in any case.
        let word = bits::first_word(rest);
        let plain = text::plain_bytes(word);
        *line.get_mut(at..at + 8)?.first_chunk_mut()? = word.to_le_bytes();
        at += plain;
        if plain == 8 {
            rest = &rest[8..];
            continue;
        }
        let shown = text.len() - rest.len() + plain;
        if (word >> (8 * plain)) as u8 != 0 {
            return escaped(line, at, &text[shown..], apart).map(|(at, more)| (at, shown + more));
        }
        *line.get_mut(at)? = b'"';
        return Some((at + 1, shown));
    }
}

/// The rest of [`quoted`], from the first character on that is escaped.
#[cold]
fn escaped(line: &mut [u8; LINE], at: usize, text: &[u8], apart: &mut Vec<u8>) -> Option<(usize, usize)> {
    let shown = find_nul(text).unwrap_or(text.len());
    if shown > PIECE {
        return None;
    }
    apart.clear();
    text::put_until_nul(apart, &text[..shown]);
    apart.push(b'"');
    Some((copied(line, at, apart)?, shown))
}
