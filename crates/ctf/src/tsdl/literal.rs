//! The values of literals: digits to integers, string escapes to characters. Serves lexer and parser.

use std::borrow::Cow;

use super::token::shortened;
use crate::text_error::{Result, TextError};

/// The value of an integer literal as C writes it: decimal, `0x…`, `0…` (octal) or `0b…`, then any of the
/// suffixes `u` and `l`. The size of a field is what matters in CTF, so the suffixes mean nothing.
pub(super) fn integer(literal: &str, offset: usize) -> Result<u64> {
    let digits = literal.trim_end_matches(['u', 'U', 'l', 'L']);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (digits.get(2..).unwrap_or_default(), 16),
        [b'0', b'b' | b'B', ..] => (digits.get(2..).unwrap_or_default(), 2),
        [b'0', _, ..] => (digits.get(1..).unwrap_or_default(), 8),
        _ => (digits, 10),
    };
    // At most three letters (`ull`): more is a word that begins with a digit.
    let suffix = literal.len() - literal.trim_end_matches(['u', 'U', 'l', 'L']).len();
    if digits.is_empty() || suffix > 3 || !digits.chars().all(|c| c.is_digit(radix)) {
        let kind = match radix {
            16 => "a hexadecimal number",
            8 => "an octal number (because it begins with 0)",
            2 => "a binary number",
            _ => "a number",
        };
        return Err(TextError::new(offset, format!("`{}` is not {kind}", shortened(literal))));
    }
    u64::from_str_radix(digits, radix)
        .map_err(|_| TextError::new(offset, format!("`{}` does not fit 64 bits", shortened(literal))))
}

/// The text that a string literal stands for; `raw` is what is between the quotes, at byte `offset`.
///
/// Without an escape nothing is copied. Escapes may spell bytes that are not UTF-8; those become U+FFFD.
pub(super) fn string(raw: &str, offset: usize) -> Result<Cow<'_, str>> {
    if !raw.contains('\\') {
        return Ok(Cow::Borrowed(raw));
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        let length = decode_escape(escape, &mut bytes).map_err(|message| {
            // The backslash itself is the best place to point at: one byte before its continuation.
            TextError::new(offset + raw.len() - escape.len() - 1, message)
        })?;
        rest = escape.get(length..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(Cow::Owned(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }))
}

/// Decodes one escape sequence, given what follows the backslash; returns how many bytes it took.
fn decode_escape(escape: &str, bytes: &mut Vec<u8>) -> Result<usize, String> {
    let Some(letter) = escape.chars().next() else {
        return Err("a backslash cannot end a string".into());
    };
    let simple = match letter {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' | '\'' | '"' | '?' => letter as u8,
        '0'..='7' => return byte_escape(escape, 0, 8, bytes),
        'x' => return byte_escape(escape, 1, 16, bytes),
        'u' => return character_escape(escape, 4, bytes),
        'U' => return character_escape(escape, 8, bytes),
        _ => return Err(format!("unknown escape sequence `\\{}`", letter.escape_default())),
    };
    bytes.push(simple);
    Ok(1)
}

/// `\101` and `\x41`: one byte by its number. Existing readers take at most three digits of either
/// kind (C would take any number of hexadecimal ones), and writers have come to rely on it.
fn byte_escape(escape: &str, prefix: usize, radix: u32, bytes: &mut Vec<u8>) -> Result<usize, String> {
    let digits: String = escape.chars().skip(prefix).take(3).take_while(|c| c.is_digit(radix)).collect();
    let value = u32::from_str_radix(&digits, radix)
        .map_err(|_| "expected a hexadecimal digit after `\\x`".to_string())?;
    let byte =
        u8::try_from(value).map_err(|_| format!("the escape sequence gives {value}, which is not a byte"))?;
    bytes.push(byte);
    Ok(prefix + digits.len())
}

/// `\u00e9` and `\U000000e9`: one character by its Unicode number.
fn character_escape(escape: &str, count: usize, bytes: &mut Vec<u8>) -> Result<usize, String> {
    let value = escape
        .get(1..=count)
        .filter(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()))
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .ok_or_else(|| format!("expected {count} hexadecimal digits in the escape sequence"))?;
    let character = char::from_u32(value).ok_or_else(|| format!("U+{value:04X} is not a character"))?;
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(count + 1)
}
