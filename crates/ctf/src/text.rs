//! Field values as text, the way babeltrace2's `sink.text.pretty` shows them. Nothing in it moves the cursor
//! of a terminal: control characters are escaped, also those beyond ASCII, which babeltrace2 passes through.

use std::borrow::Cow;
use std::io::Write;

use crate::bits;
use crate::digits;
use crate::plan::{Name, Text, Visitor};
use crate::room::{self, Room};
use crate::schema::{Base, FloatClass, IntegerClass, IntegerForm, Role};

/// Appends the values it visits to a buffer as text: `{ prev_tid = 0, next_comm = "sh" }`.
#[derive(Debug)]
pub struct TextVisitor<'b> {
    out: &'b mut Vec<u8>,
    room: Room<'b>,
}

impl<'b> TextVisitor<'b> {
    /// Values will be appended to `out`, however many there are.
    pub fn new(out: &'b mut Vec<u8>) -> Self {
        Self::within(out, Room::default())
    }

    /// Values will be appended to `out`; where it is full, `room` makes room: see [`room::append`].
    pub fn within(out: &'b mut Vec<u8>, room: Room<'b>) -> Self {
        Self { out, room }
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// The labels of an enumeration's value; its number follows.
    fn labels<'l>(&mut self, labels: impl Iterator<Item = &'l str>) {
        self.put("( ");
        let mut labels = labels.peekable();
        if labels.peek().is_none() {
            self.put("<unknown>");
        }
        for (index, label) in labels.enumerate() {
            if index > 0 {
                self.put(", ");
            }
            self.quoted(label.as_bytes());
        }
        self.put(" : container = ");
    }

    /// Appends a string in quotes with the escapes of C.
    fn quoted(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        for piece in room::pieces(bytes) {
            self.room.make(self.out);
            let mut rest = put_until_nul(self.out, piece);
            while let Some(bytes) = rest {
                escaped(self.out, 0);
                rest = put_until_nul(self.out, bytes);
            }
        }
        self.out.push(b'"');
    }

    /// Appends a string up to its first NUL in quotes.
    #[inline]
    fn quoted_until_nul(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        if bytes.len() <= room::PIECE {
            // Room was made for the field.
            put_until_nul(self.out, bytes);
        } else {
            self.long_until_nul(bytes);
        }
        self.out.push(b'"');
    }

    #[cold]
    fn long_until_nul(&mut self, bytes: &[u8]) {
        for piece in room::pieces(bytes) {
            self.room.make(self.out);
            if put_until_nul(self.out, piece).is_some() {
                break;
            }
        }
    }

    /// A number in a base other than ten: the bits of its field, without a sign.
    fn bits(&mut self, size: u32, value: u64, base: Base) {
        let bits = bits::low_bits(value, size);
        let written = match base {
            Base::Octal => write!(self.out, "0{bits:o}"),
            Base::Binary => write!(self.out, "0b{bits:0width$b}", width = size as usize),
            Base::Hexadecimal | Base::Decimal => {
                digits::hexadecimal(self.out, bits);
                Ok(())
            }
        };
        debug_assert!(written.is_ok(), "a vector takes every write");
    }
}

impl Visitor for TextVisitor<'_> {
    #[inline]
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        if class.form == IntegerForm::Boolean {
            self.put(if value == 0 { "false" } else { "true" });
            return;
        }
        if class.mappings.is_some() {
            self.labels(class.labels(value.into()));
        }
        match class.base {
            Base::Decimal => digits::decimal(self.out, value),
            base => self.bits(class.size, value, base),
        }
        if class.mappings.is_some() {
            self.put(" )");
        }
    }

    #[inline]
    fn signed(&mut self, class: &IntegerClass, value: i64) {
        if class.mappings.is_some() {
            self.labels(class.labels(value.into()));
        }
        match class.base {
            Base::Decimal => digits::signed(self.out, value),
            base => self.bits(class.size, value as u64, base),
        }
        if class.mappings.is_some() {
            self.put(" )");
        }
    }

    fn wide(&mut self, class: &IntegerClass, bytes: &[u8]) {
        if class.form == IntegerForm::Boolean {
            self.put(if bytes.iter().all(|&byte| byte == 0) { "false" } else { "true" });
            return;
        }
        if class.mappings.is_some() {
            self.labels(class.wide_labels(bytes));
        }
        wide_hexadecimal(self.out, bytes);
        if class.mappings.is_some() {
            self.put(" )");
        }
    }

    fn wide_float(&mut self, _: &FloatClass, bytes: &[u8]) {
        wide_hexadecimal(self.out, bytes);
    }

    fn float(&mut self, _: &FloatClass, value: f64) {
        let text = general(value);
        self.put(&text);
    }

    fn text(&mut self, text: Text<'_>) {
        self.quoted_until_nul(text.field);
    }

    fn blob(&mut self, _: Option<Role>, bytes: &[u8]) {
        self.put("{");
        for byte in bytes {
            self.room.make(self.out);
            self.put(&format!(" {byte:02x}"));
        }
        self.put(" }");
    }

    fn begin_optional(&mut self, present: bool) {
        if !present {
            self.put("none");
        }
    }

    fn begin_struct(&mut self) {
        self.put("{");
    }

    #[inline]
    fn member(&mut self, index: usize, name: &Name) {
        self.room.make(self.out);
        name.put_assignment(self.out, index == 0);
    }

    fn end_struct(&mut self) {
        self.put(" }");
    }

    fn begin_array(&mut self, _: u64) {
        self.put("[");
    }

    fn element(&mut self, index: u64) {
        self.room.make(self.out);
        self.put(if index > 0 { ", [" } else { " [" });
        digits::decimal(self.out, index);
        self.put("] = ");
    }

    fn end_array(&mut self) {
        self.put(" ]");
    }

    fn begin_variant(&mut self, _: usize, _: &Name) {
        self.put("{ ");
    }

    fn end_variant(&mut self) {
        self.put(" }");
    }
}

/// Appends `0x` and two digits for each byte.
fn wide_hexadecimal(out: &mut Vec<u8>, bytes: &[u8]) {
    let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble)];
    out.extend_from_slice(b"0x");
    out.extend(bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]));
}

/// A text with its control characters escaped: on one line, and nothing in it moves the cursor of a terminal.
///
/// ```
/// assert_eq!(isochrone_ctf::text::plain("h1\u{1b}[2J\nh2"), r"h1\u{1b}[2J\nh2");
/// ```
pub fn plain(text: &str) -> Cow<'_, str> {
    // Nearly all are printable ASCII, which is seen many bytes at once.
    let is_printable = text.bytes().fold(true, |is_so, byte| is_so & matches!(byte, b' '..=b'~'));
    if is_printable || !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character.is_control() {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Appends a string up to its first NUL, with escapes; gives what is after that.
pub(crate) fn put_until_nul<'b>(out: &mut Vec<u8>, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let mut rest = bytes;
    // Eight bytes at a time; the last ones have zeros after them, which end the string in any case.
    loop {
        let word = bits::first_word(rest);
        let plain = plain_bytes(word);
        digits::first_bytes(out, &word.to_le_bytes(), plain);
        if plain == 8 {
            rest = &rest[8..];
            continue;
        }
        let mut length = 1;
        match (word >> (8 * plain)) as u8 {
            0 => return rest.get(plain + 1..),
            special if special.is_ascii() => escaped(out, special),
            _ => length = put_beyond_ascii(out, &rest[plain..]),
        }
        rest = &rest[plain + length..];
    }
}

/// Appends the bytes beyond ASCII that a text begins with; gives how many they are. Those stand for
/// themselves that are no control characters: neither U+0080 to U+009F nor, where they are part of no
/// character, bytes of these values.
#[cold]
fn put_beyond_ascii(out: &mut Vec<u8>, bytes: &[u8]) -> usize {
    let length = bytes.iter().position(u8::is_ascii).unwrap_or(bytes.len());
    let mut put = |bytes: &[u8], is_control: bool| match is_control {
        true => bytes.iter().for_each(|&byte| escaped_code(out, byte)),
        false => out.extend_from_slice(bytes),
    };
    for chunk in bytes[..length].utf8_chunks() {
        for character in chunk.valid().chars() {
            put(character.encode_utf8(&mut [0; 4]).as_bytes(), character.is_control());
        }
        for byte in chunk.invalid() {
            put(&[*byte], (0x80..0xa0).contains(byte));
        }
    }
    length
}

/// Number of bytes of a word, from the lowest on, are ASCII and stand for themselves.
#[inline]
pub(crate) fn plain_bytes(word: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    // The usual test for zero bytes: a borrow can only raise a flag above one that is right.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let is = |byte: u8| zeros(word ^ (ONES * u64::from(byte)));
    let controls = word.wrapping_sub(0x20 * ONES) & !word;
    let special = word | controls | is(127) | is(b'\\') | is(b'\'') | is(b'"') | is(b'?');
    (special & HIGH).trailing_zeros() as usize / 8
}

/// Appends a byte that does not stand for itself.
fn escaped(out: &mut Vec<u8>, byte: u8) {
    match byte {
        7 => out.extend_from_slice(b"\\a"),
        8 => out.extend_from_slice(b"\\b"),
        9 => out.extend_from_slice(b"\\t"),
        10 => out.extend_from_slice(b"\\n"),
        11 => out.extend_from_slice(b"\\v"),
        12 => out.extend_from_slice(b"\\f"),
        13 => out.extend_from_slice(b"\\r"),
        0..32 | 127 => escaped_code(out, byte),
        _ => out.extend_from_slice(&[b'\\', byte]),
    }
}

fn escaped_code(out: &mut Vec<u8>, byte: u8) {
    let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
    out.extend_from_slice(&[b'\\', b'x', digit(byte >> 4), digit(byte & 15)]);
}

/// A number as C's `%g` shows it: six significant digits, no trailing zeros, an exponent where it is shorter.
fn general(value: f64) -> String {
    const DIGITS: i32 = 6;
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return value.to_string();
    }
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        return trimmed(&format!("{value:.*}", (DIGITS - 1 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_look_like_those_of_c() {
        let check = |value: f64, expect: &str| assert_eq!(general(value), expect);
        check(0.0, "0");
        check(1.5, "1.5");
        check(-2222.0, "-2222");
        check(123_456.7, "123457");
        check(1_234_567.0, "1.23457e+06");
        check(0.000_012_3, "1.23e-05");
        check(0.000_123, "0.000123");
        check(f64::INFINITY, "inf");
        check(f64::NEG_INFINITY, "-inf");
        check(f64::from_bits(0x7ff8_0000_0000_0000), "nan");
        check(f64::from_bits(0xfff8_0000_0000_0000), "-nan");
    }

    fn quoted(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        TextVisitor::new(&mut out).quoted(bytes);
        out
    }

    #[test]
    fn strings_are_escaped_as_in_c() {
        assert_eq!(quoted(b"it's \"\\\"?\n\x01"), br#""it\'s \"\\\"\?\n\x01""#);
    }

    #[test]
    fn control_characters_beyond_ascii_are_escaped() {
        let check = |bytes: &[u8], expect: &[u8]| {
            let expect = [b"\"", expect, b"\""].concat();
            assert_eq!(quoted(bytes), expect, "{bytes:?}");
        };
        check(b"a\x9b2J", b"a\\x9b2J");
        check("a\u{9b}2J".as_bytes(), b"a\\xc2\\x9b2J");
        check("\u{a0}é€𝄞x".as_bytes(), "\u{a0}é€𝄞x".as_bytes());
        check(b"\xe2\x9b", b"\xe2\\x9b");
        check(b"caf\xe9", b"caf\xe9");
        // A character that ends after the first piece.
        let long = ["x".repeat((1 << 14) - 1), "é\u{85}".to_owned()].concat();
        check(long.as_bytes(), long.replace('\u{85}', "\\xc2\\x85").as_bytes());
    }

    #[test]
    fn names_stay_on_one_line() {
        let check = |text, expect: &str| assert_eq!(plain(text), expect);
        check("sched_switch", "sched_switch");
        check("h1\u{1b}]0;x\u{7}\nh2\t\u{7f}", r"h1\u{1b}]0;x\u{7}\nh2\t\u{7f}");
        check("ünter\u{9b}€", r"ünter\u{9b}€");
    }

    #[test]
    fn strings_of_all_bytes_and_lengths() {
        let check = |bytes: &[u8]| {
            let (out, mut until_nul) = (quoted(bytes), Vec::new());
            put_until_nul(&mut until_nul, bytes);
            let nul = until_nul.len() + 1;
            assert!(
                out[1..].starts_with(&until_nul)
                    && matches!(out[nul..], [b'"'] | [b'\\', b'x', b'0', b'0', ..])
            );
            let mut expect = vec![b'"'];
            for byte in bytes {
                match byte {
                    0..32 | 127 | b'\\' | b'\'' | b'"' | b'?' => escaped(&mut expect, *byte),
                    // None of the neighbours below make a character.
                    0x80..0xa0 => escaped_code(&mut expect, *byte),
                    _ => expect.push(*byte),
                }
            }
            expect.push(b'"');
            assert_eq!(out, expect, "{bytes:?}");
        };
        for length in 0..=20 {
            check(&vec![b'x'; length]);
            for at in 0..length {
                for byte in 0..=255 {
                    let mut bytes = vec![b'x'; length];
                    bytes[at] = byte;
                    check(&bytes);
                    // Neighbours disturb the search for special bytes most.
                    bytes.fill(byte);
                    check(&bytes);
                    bytes[at] = byte.wrapping_add(1);
                    check(&bytes);
                }
            }
        }
    }
}
