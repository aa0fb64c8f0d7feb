//! From the text to JSON values: a sequence of texts as RFC 7464 has it, each after a record separator.
//!
//! A fragment knows where it begins, for the errors of callers that read it ([`super::json_ref`]).

use serde_json::Value;

use crate::text_error::{Notes, Result, TextError};

/// What stands before each fragment.
pub(crate) const SEPARATOR: char = '\u{1e}';

/// JSON values in the metadata, those inside others included. Values take more memory than their text: this
/// many take some hundred megabytes. Those of kernels with all their system calls have some hundred thousand.
const MAX_VALUES: usize = 1 << 24;

/// An object with properties takes as much memory as this many numbers, however few it has.
const VALUES_PER_OBJECT: usize = 16;

/// One JSON value of the metadata.
#[derive(Debug)]
pub(super) struct Fragment<'t> {
    /// From 1.
    pub(super) number: usize,
    /// Byte of the text where it begins.
    pub(super) offset: usize,
    /// The text from there on.
    pub(super) text: &'t str,
    pub(super) value: Value,
}

/// Splits a text into its fragments. Linear.
pub(super) fn parse<'t>(text: &'t str, notes: &mut Notes) -> Result<Vec<Fragment<'t>>> {
    limit_values(text)?;
    let mut fragments = Vec::new();
    let mut begin = 0;
    // JSON has no such character inside: it would be escaped there.
    for piece in text.split(SEPARATOR) {
        let separated = begin > 0;
        let mut values = serde_json::Deserializer::from_str(piece).into_iter::<Value>();
        for index in 0.. {
            let space = |at: usize| piece[at..].len() - piece[at..].trim_start().len();
            let at = values.byte_offset();
            let offset = begin + at + space(at);
            let Some(value) = values.next() else { break };
            let value = value.map_err(|error| json_error(piece, begin, &error))?;
            if index > 0 || !separated {
                notes.add(offset, "a fragment without a record separator before it; read all the same");
            }
            let number = fragments.len() + 1;
            fragments.push(Fragment { number, offset, text: &text[offset..], value });
        }
        begin += piece.len() + SEPARATOR.len_utf8();
    }
    Ok(fragments)
}

/// Counts values before any is made: by what stands between them.
fn limit_values(text: &str) -> Result<()> {
    let mut values = 0;
    let (mut in_string, mut is_escaped) = (false, false);
    for (offset, byte) in text.bytes().enumerate() {
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            continue;
        }
        values += match byte {
            b'"' => {
                in_string = true;
                0
            }
            b',' | b'[' => 1,
            b'{' => VALUES_PER_OBJECT,
            _ => 0,
        };
        if values > MAX_VALUES {
            return Err(TextError::new(
                offset,
                format!("the metadata have more than {MAX_VALUES} JSON values"),
            ));
        }
    }
    Ok(())
}

/// A complaint of the JSON parser at its node in the whole text.
fn json_error(piece: &str, begin: usize, error: &serde_json::Error) -> TextError {
    let lines_before = error.line().saturating_sub(1);
    let line: usize = piece.split_inclusive('\n').take(lines_before).map(str::len).sum();
    let offset = (begin + line + error.column().saturating_sub(1)).min(begin + piece.len());
    let message = error.to_string();
    // The parser counts lines from the start of the fragment.
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    TextError::new(offset, format!("this is not JSON: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_know_their_places() {
        let check = |text: &str, expect: &[usize], notes: usize| {
            let mut found = Notes::default();
            let fragments = parse(text, &mut found).unwrap();
            let offsets: Vec<_> = fragments.iter().map(|f| f.offset).collect();
            assert_eq!((offsets.as_slice(), found.into_vec().len()), (expect, notes), "{text:?}");
        };
        check("", &[], 0);
        check("\u{1e}{}\n\u{1e} {}\n", &[1, 6], 0);
        check("\u{1e}\n\u{1e}{}", &[3], 0);
        check("{} {}", &[0, 3], 1);
    }

    #[test]
    fn values_are_limited() {
        let check = |item: &str, count: usize, expect: bool| {
            let text = format!("[{}{item}]", format!("{item},").repeat(count - 1));
            assert_eq!(limit_values(&text).is_ok(), expect, "{count} times {item}");
        };
        check("0", MAX_VALUES, true);
        check("0", MAX_VALUES + 1, false);
        check("{}", MAX_VALUES / VALUES_PER_OBJECT, false);
        check("{}", MAX_VALUES / (VALUES_PER_OBJECT + 1), true);
        check(r#"",[\"{,\\""#, 1_000_000, true);
    }

    #[test]
    fn what_is_not_json_is_named() {
        let check = |text: &str, offset: usize, message: &str| {
            let error = parse(text, &mut Notes::default()).unwrap_err();
            assert_eq!((error.offset, error.message.as_str()), (offset, message));
        };
        check("\u{1e}{\n \"a\": 1,\n}", 12, "this is not JSON: trailing comma");
        check("\u{1e}{}\u{1e}{\"a\"", 7, "this is not JSON: EOF while parsing an object");
        let deep = format!("\u{1e}{}", "[".repeat(100_000));
        check(&deep, 128, "this is not JSON: recursion limit exceeded");
    }
}
