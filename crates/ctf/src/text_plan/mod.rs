//! Text of events, compiled: what [`TextVisitor`] shows of all contexts and fields of an event, for each
//! class as a list of steps. A step copies what stands before a value – braces and names, which are the same
//! in each event – and then writes the value, from a place that is known when the class is compiled. Fields
//! that have no such step (long arrays, arrays of any length, optional fields, floating point numbers) are
//! walked.
//!
//! A line is written into bytes of a fixed number, so that nothing is reserved and no capacity is compared
//! for a value. Whatever does not fit there, or cannot be decoded, is left to the caller, who walks the
//! scopes one by one: both ways have the same text.

mod compile;

use crate::bits;
use crate::digits;
use crate::plan::{Cursor, Node, Selector, Visitor, Word, find_nul, walk};
use crate::room::{self, PIECE};
use crate::schema::IntegerClass;
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
    /// An integer without a sign, in base ten.
    Unsigned(Word),
    /// An integer with a sign, in base ten.
    Signed(Word),
    /// The bits of an integer of this size, in base sixteen.
    Hexadecimal(Word, u32),
    /// Text of this many bytes, or up to a NUL in them.
    Text { byte: u32, bytes: u32 },
    /// Text up to a NUL; the base moves after it.
    String { byte: u32 },
    /// An integer that is shown by its class: with names, as a truth value, in another base.
    Named(Word, Box<IntegerClass>),
    /// An integer that lengths and selectors need, after it was shown.
    Keep(Word, u32),
    /// The base moves to a multiple of so many bits after this many.
    Align { bits: u64, align: u32 },
    /// The steps of one of several options, from the base on; it moves after them.
    Choose { selector: Box<Selector>, options: Box<[Box<[Step]>]> },
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
        let (bytes, base, end) = event.body();
        if self.slots > 0 {
            slots.clear();
            slots.resize(self.slots, 0);
        }
        write_steps(&self.steps, &mut Writing { line, apart, slots, bytes, end }, 0, base).map(|(at, _)| at)
    }
}

/// An event that is being written.
struct Writing<'w, 't> {
    line: &'w mut [u8; LINE],
    apart: &'w mut Vec<u8>,
    slots: &'w mut [u64],
    bytes: &'t [u8],
    /// Where it ends, in bits.
    end: u64,
}

/// Writes from a place in the line and from a base on; gives both as they are afterwards.
fn write_steps(
    steps: &[Step],
    writing: &mut Writing<'_, '_>,
    mut at: usize,
    mut base: u64,
) -> Option<(usize, u64)> {
    let (bytes, end) = (writing.bytes, writing.end);
    for step in steps {
        let place: &mut [u8; STEP] = writing.line.get_mut(at..at + STEP)?.first_chunk_mut()?;
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
            Value::Named(word, class) => {
                writing.apart.clear();
                let mut visitor = TextVisitor::new(writing.apart);
                match class.signed {
                    true => visitor.signed(class, word.read(bytes, base) as i64),
                    false => visitor.unsigned(class, word.read(bytes, base)),
                }
                at = copied(writing.line, at, writing.apart)?;
            }
            Value::Keep(word, slot) => *writing.slots.get_mut(*slot as usize)? = word.read(bytes, base),
            Value::Text { byte, bytes: count } => {
                let begin = (base / 8) as usize + *byte as usize;
                (at, _) = quoted(writing, at, bytes.get(begin..begin + *count as usize)?)?;
            }
            Value::String { byte } => {
                let begin = (base / 8) as usize + *byte as usize;
                let content = bytes.get(begin..(end / 8) as usize)?;
                let shown;
                (at, shown) = quoted(writing, at, content)?;
                if shown >= content.len() {
                    return None;
                }
                base = (begin + shown + 1) as u64 * 8;
            }
            Value::Align { bits, align } => base = bits::align_up(base + bits, *align),
            Value::Choose { selector, options } => {
                let option = options.get(selector.choose(writing.slots).ok()?)?;
                (at, base) = write_steps(option, writing, at, base)?;
            }
            Value::Walk { bits, node } => {
                let after = walked(node, Cursor { bytes, at: base + bits, limit: end }, writing)?;
                at = copied(writing.line, at, writing.apart)?;
                if node.fixed_bits.is_none() {
                    base = after;
                }
            }
        }
    }
    Some((at, base))
}

/// Shows a field apart; gives where it ends. `None` where it cannot be decoded, and where it is long.
fn walked(node: &Node, mut cursor: Cursor<'_>, writing: &mut Writing<'_, '_>) -> Option<u64> {
    let Writing { apart, slots, .. } = writing;
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
fn quoted(writing: &mut Writing<'_, '_>, mut at: usize, text: &[u8]) -> Option<(usize, usize)> {
    let line = &mut *writing.line;
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
            return escaped(writing, at, &text[shown..]).map(|(at, more)| (at, shown + more));
        }
        *line.get_mut(at)? = b'"';
        return Some((at + 1, shown));
    }
}

/// The rest of [`quoted`], from the first character on that is escaped.
#[cold]
fn escaped(writing: &mut Writing<'_, '_>, at: usize, text: &[u8]) -> Option<(usize, usize)> {
    let shown = find_nul(text).unwrap_or(text.len());
    if shown > PIECE {
        return None;
    }
    let Writing { line, apart, .. } = writing;
    apart.clear();
    text::put_until_nul(apart, &text[..shown]);
    apart.push(b'"');
    Some((copied(line, at, apart)?, shown))
}
