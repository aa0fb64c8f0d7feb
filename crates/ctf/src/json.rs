//! Field values as JSON, and JSON strings as `ctf-dump v1` spells them.

use std::io::Write;

use crate::plan::{Name, Text, Visitor};
use crate::room::{self, Room};
use crate::schema::{FloatClass, IntegerClass, IntegerForm, Role};

/// Appends the values it visits to a buffer as one JSON value.
///
/// Structures are objects in the order of declaration, arrays are arrays; an enumeration is `[value,
/// [labels]]` with sorted labels, bits likewise, a variant an object with the chosen option as only member,
/// an optional field that is missing `null`, bytes and numbers of more than 64 bits `"x"` and their
/// hexadecimal digits. Text that is not UTF-8 keeps its bytes as lone surrogates `\udc80`–`\udcff`, as
/// Python's `surrogateescape` does.
#[derive(Debug)]
pub struct JsonVisitor<'b> {
    out: &'b mut Vec<u8>,
    room: Room<'b>,
    floats: Floats,
}

/// How floating point numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floats {
    /// As JSON numbers; what JSON cannot say (NaN, infinities) as strings.
    Numbers,
    /// As `"f"` and the 16 hexadecimal digits of the binary64: exact, for comparing readers.
    Bits,
}

impl<'b> JsonVisitor<'b> {
    /// Values will be appended to `out`, however many there are.
    pub fn new(out: &'b mut Vec<u8>, floats: Floats) -> Self {
        Self::within(out, Room::default(), floats)
    }

    /// Values will be appended to `out`; where it is full, `room` makes room: see [`room::append`].
    pub fn within(out: &'b mut Vec<u8>, room: Room<'b>, floats: Floats) -> Self {
        Self { out, room, floats }
    }

    /// A string, piece by piece.
    fn string(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        for piece in room::pieces(bytes) {
            self.room.make(self.out);
            characters(self.out, piece);
        }
        self.out.push(b'"');
    }

    /// `"x` and two digits for each byte, piece by piece.
    fn hexadecimal(&mut self, bytes: &[u8]) {
        let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
        self.out.extend_from_slice(b"\"x");
        for piece in room::pieces(bytes) {
            self.room.make(self.out);
            self.out.extend(piece.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]));
        }
        self.out.push(b'"');
    }

    /// A number that stands after `[`, and its labels.
    fn labels<'l>(&mut self, labels: impl Iterator<Item = &'l str>) {
        let mut labels: Vec<&str> = labels.collect();
        labels.sort_unstable();
        labels.dedup();
        self.out.extend_from_slice(b",[");
        for (index, label) in labels.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.string(label.as_bytes());
        }
        self.out.extend_from_slice(b"]]");
    }
}

impl JsonVisitor<'_> {
    fn number(&mut self, class: &IntegerClass, value: i128, digits: &str) {
        if class.mappings.is_none() && class.form == IntegerForm::Number {
            self.out.extend_from_slice(digits.as_bytes());
            return;
        }
        self.out.push(b'[');
        self.out.extend_from_slice(digits.as_bytes());
        self.labels(class.labels(value));
    }

    fn boolean(&mut self, value: bool) {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }
}

impl Visitor for JsonVisitor<'_> {
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        match class.form {
            IntegerForm::Boolean => self.boolean(value != 0),
            _ => self.number(class, value.into(), itoa::Buffer::new().format(value)),
        }
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        self.number(class, value.into(), itoa::Buffer::new().format(value));
    }

    fn wide(&mut self, class: &IntegerClass, bytes: &[u8]) {
        if class.form == IntegerForm::Boolean {
            return self.boolean(bytes.iter().any(|&byte| byte != 0));
        }
        if class.mappings.is_none() && class.form == IntegerForm::Number {
            return self.hexadecimal(bytes);
        }
        self.out.push(b'[');
        self.hexadecimal(bytes);
        self.labels(class.wide_labels(bytes));
    }

    fn wide_float(&mut self, _: &FloatClass, bytes: &[u8]) {
        self.hexadecimal(bytes);
    }

    fn float(&mut self, _: &FloatClass, value: f64) {
        let written = match self.floats {
            Floats::Bits => write!(self.out, "\"f{:016x}\"", value.to_bits()),
            Floats::Numbers if value.is_finite() => write!(self.out, "{value}"),
            Floats::Numbers => write!(self.out, "\"{value}\""),
        };
        debug_assert!(written.is_ok(), "a vector takes every write");
    }

    fn text(&mut self, text: Text<'_>) {
        self.string(text.shown());
    }

    fn blob(&mut self, _: Option<Role>, bytes: &[u8]) {
        self.hexadecimal(bytes);
    }

    fn begin_optional(&mut self, present: bool) {
        if !present {
            self.out.extend_from_slice(b"null");
        }
    }

    fn begin_struct(&mut self) {
        self.out.push(b'{');
    }

    fn member(&mut self, index: usize, name: &Name) {
        self.room.make(self.out);
        if index > 0 {
            self.out.push(b',');
        }
        self.string(name.shown().as_bytes());
        self.out.push(b':');
    }

    fn end_struct(&mut self) {
        self.out.push(b'}');
    }

    fn begin_array(&mut self, _: u64) {
        self.out.push(b'[');
    }

    fn element(&mut self, index: u64) {
        self.room.make(self.out);
        if index > 0 {
            self.out.push(b',');
        }
    }

    fn end_array(&mut self) {
        self.out.push(b']');
    }

    fn begin_variant(&mut self, _: usize, name: &Name) {
        self.out.push(b'{');
        self.string(name.shown().as_bytes());
        self.out.push(b':');
    }

    fn end_variant(&mut self) {
        self.out.push(b'}');
    }
}

/// Appends a JSON string in ASCII: everything else is escaped, in UTF-16 units.
pub fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    characters(out, bytes);
    out.push(b'"');
}

/// Appends what is between the quotes.
fn characters(out: &mut Vec<u8>, bytes: &[u8]) {
    let stands_for_itself = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let mut rest = bytes;
    loop {
        let (plain, special) =
            rest.split_at(rest.iter().position(|b| !stands_for_itself(b)).unwrap_or(rest.len()));
        out.extend_from_slice(plain);
        let count = special.iter().position(stands_for_itself).unwrap_or(special.len());
        if count == 0 {
            return;
        }
        specials(out, &special[..count]);
        rest = &special[count..];
    }
}

/// Appends characters that do not stand for themselves.
fn specials(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => out.extend_from_slice(b"\\\""),
                '\\' => out.extend_from_slice(b"\\\\"),
                '\n' => out.extend_from_slice(b"\\n"),
                '\r' => out.extend_from_slice(b"\\r"),
                '\t' => out.extend_from_slice(b"\\t"),
                '\u{8}' => out.extend_from_slice(b"\\b"),
                '\u{c}' => out.extend_from_slice(b"\\f"),
                _ => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        escape(out, *unit);
                    }
                }
            }
        }
        for byte in chunk.invalid() {
            escape(out, 0xdc00 + u16::from(*byte));
        }
    }
}

fn escape(out: &mut Vec<u8>, unit: u16) {
    let digit = |shift: u32| b"0123456789abcdef"[usize::from(unit >> shift & 15)];
    out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_ascii() {
        let check = |bytes: &[u8], expect: &str| {
            let mut out = Vec::new();
            string(&mut out, bytes);
            assert_eq!(String::from_utf8(out).unwrap(), expect);
        };
        check(b"plain", r#""plain""#);
        check(b"a\"b\\c\n\x01\x7f", r#""a\"b\\c\n\u0001\u007f""#);
        check("é𝄞".as_bytes(), r#""\u00e9\ud834\udd1e""#);
        check(b"\xffx\xc3", r#""\udcffx\udcc3""#);
    }
}
