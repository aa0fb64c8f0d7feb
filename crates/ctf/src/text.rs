//! Field values as text, the way babeltrace2's `sink.text.pretty` shows them.

use std::io::Write;

use crate::plan::{Name, Text, Visitor};
use crate::schema::{Base, FloatClass, IntegerClass, IntegerForm, Role};

/// Appends the values it visits to a buffer as text: `{ prev_tid = 0, next_comm = "sh" }`.
#[derive(Debug)]
pub struct TextVisitor<'b> {
    out: &'b mut Vec<u8>,
}

impl<'b> TextVisitor<'b> {
    /// Values will be appended to `out`.
    pub fn new(out: &'b mut Vec<u8>) -> Self {
        Self { out }
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// A number, with the labels of its class if that is an enumeration.
    fn number(&mut self, class: &IntegerClass, value: i128) {
        if class.mappings.is_none() {
            return digits(self.out, class, value);
        }
        self.labelled(Some(class.labels(value)), |out| digits(out, class, value));
    }

    /// A number and, of an enumeration, its labels.
    fn labelled<'l>(
        &mut self,
        labels: Option<impl Iterator<Item = &'l str>>,
        number: impl FnOnce(&mut Vec<u8>),
    ) {
        let Some(labels) = labels else { return number(self.out) };
        self.put("( ");
        let mut labels = labels.peekable();
        if labels.peek().is_none() {
            self.put("<unknown>");
        }
        for (index, label) in labels.enumerate() {
            if index > 0 {
                self.put(", ");
            }
            quoted(self.out, label.as_bytes());
        }
        self.put(" : container = ");
        number(self.out);
        self.put(" )");
    }
}

impl Visitor for TextVisitor<'_> {
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        if class.form == IntegerForm::Boolean {
            self.put(if value == 0 { "false" } else { "true" });
            return;
        }
        self.number(class, value.into());
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        self.number(class, value.into());
    }

    fn wide(&mut self, class: &IntegerClass, bytes: &[u8]) {
        if class.form == IntegerForm::Boolean {
            self.put(if bytes.iter().all(|&byte| byte == 0) { "false" } else { "true" });
            return;
        }
        let labels = class.mappings.is_some().then(|| class.wide_labels(bytes));
        self.labelled(labels, |out| wide_hexadecimal(out, bytes));
    }

    fn wide_float(&mut self, _: &FloatClass, bytes: &[u8]) {
        wide_hexadecimal(self.out, bytes);
    }

    fn float(&mut self, _: &FloatClass, value: f64) {
        let text = general(value);
        self.put(&text);
    }

    fn text(&mut self, text: Text<'_>) {
        quoted(self.out, text.shown());
    }

    fn blob(&mut self, _: Option<Role>, bytes: &[u8]) {
        self.put("{");
        for byte in bytes {
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

    fn member(&mut self, index: usize, name: &Name) {
        self.put(name.assignment(index == 0));
    }

    fn end_struct(&mut self) {
        self.put(" }");
    }

    fn begin_array(&mut self, _: u64) {
        self.put("[");
    }

    fn element(&mut self, index: u64) {
        self.put(if index > 0 { ", [" } else { " [" });
        let mut digits = itoa::Buffer::new();
        self.out.extend_from_slice(digits.format(index).as_bytes());
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

/// Appends a number. Bases other than ten show the bits of the field, without a sign.
fn digits(out: &mut Vec<u8>, class: &IntegerClass, value: i128) {
    let bits = value as u64 & (u64::MAX >> (64 - class.size));
    let written = match class.base {
        Base::Decimal => {
            let mut digits = itoa::Buffer::new();
            // 128 bits take several times as long, and only unsigned numbers beyond the signed ones need them.
            let shown = match i64::try_from(value) {
                Ok(short) => digits.format(short),
                Err(_) => digits.format(value),
            };
            out.extend_from_slice(shown.as_bytes());
            Ok(())
        }
        Base::Hexadecimal => {
            hexadecimal(out, bits);
            Ok(())
        }
        Base::Octal => write!(out, "0{bits:o}"),
        Base::Binary => write!(out, "0b{bits:0width$b}", width = class.size as usize),
    };
    debug_assert!(written.is_ok(), "a vector takes every write");
}

/// Appends `0x` and two digits for each byte.
fn wide_hexadecimal(out: &mut Vec<u8>, bytes: &[u8]) {
    let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble)];
    out.extend_from_slice(b"0x");
    out.extend(bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]));
}

/// Appends `0x` and the digits of a number.
fn hexadecimal(out: &mut Vec<u8>, bits: u64) {
    let digits = (67 - (bits | 1).leading_zeros()) / 4;
    out.extend_from_slice(b"0x");
    for digit in (0..digits).rev() {
        out.push(b"0123456789ABCDEF"[(bits >> (4 * digit) & 15) as usize]);
    }
}

/// Appends a string in quotes with the escapes of C. Bytes that are not ASCII are passed through.
fn quoted(out: &mut Vec<u8>, bytes: &[u8]) {
    let is_special = |byte: &u8| matches!(byte, 0..32 | 127 | b'\\' | b'\'' | b'"' | b'?');
    out.push(b'"');
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(is_special) {
        out.extend_from_slice(&rest[..at]);
        escaped(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
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
        0..32 | 127 => {
            let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
            out.extend_from_slice(&[b'\\', b'x', digit(byte >> 4), digit(byte & 15)]);
        }
        _ => out.extend_from_slice(&[b'\\', byte]),
    }
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

    #[test]
    fn hexadecimal_digits() {
        for bits in [0, 1, 15, 16, 0xabc, 0xffff_ffff, 1 << 60, u64::MAX] {
            let mut out = Vec::new();
            hexadecimal(&mut out, bits);
            assert_eq!(String::from_utf8(out).unwrap(), format!("0x{bits:X}"));
        }
    }

    #[test]
    fn strings_are_escaped_as_in_c() {
        let mut out = Vec::new();
        quoted(&mut out, b"it's \"\\\"?\n\x01");
        assert_eq!(out, br#""it\'s \"\\\"\?\n\x01""#);
    }
}
