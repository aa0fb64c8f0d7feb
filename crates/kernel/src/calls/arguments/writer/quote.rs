//! Text as people read it.

use std::fmt::Write as _;

/// Text is shown up to this many bytes.
const MAX_TEXT: usize = 64;

/// Text in quotes, cut, with everything escaped that would not show.
pub(super) fn quoted(out: &mut String, bytes: &[u8]) {
    out.push('"');
    let shown = bytes.get(..MAX_TEXT).unwrap_or(bytes);
    for (index, &byte) in shown.iter().enumerate() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x20..0x7f => out.push(byte.into()),
            _ => {
                // As many digits as it takes for the next byte not to look like one.
                let digit_follows = shown.get(index + 1).is_some_and(u8::is_ascii_digit);
                let written =
                    if digit_follows { write!(out, "\\{byte:03o}") } else { write!(out, "\\{byte:o}") };
                written.unwrap_or_default();
            }
        }
    }
    out.push('"');
    if bytes.len() > MAX_TEXT {
        out.push_str("...");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted() {
        let check = |text: &[u8], expect: &str| {
            let mut out = String::new();
            quoted(&mut out, text);
            assert_eq!(out, expect);
        };
        check(b"/etc/passwd", r#""/etc/passwd""#);
        check(b"a\"b\\c\n\t\r", r#""a\"b\\c\n\t\r""#);
        check(b"\x011\x01x\xff", r#""\0011\1x\377""#);
        check(&[b'x'; 65], &format!("\"{}\"...", "x".repeat(64)));
    }
}
