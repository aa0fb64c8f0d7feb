//! Where in a JSON text a value begins. The parser keeps no places, so they are looked for when one is
//! needed: for the one complaint that ends the reading.

/// A step from a value to one inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside<'s> {
    /// The property of an object.
    Property(&'s str),
    /// The element of an array.
    Element(usize),
}

/// Byte where the value at the end of a way begins, in a text that is JSON; where the way ends early, the
/// last value on it. Linear in the text for each step.
pub(super) fn offset(text: &str, way: &[Inside<'_>]) -> usize {
    let mut at = after_space(text, 0);
    for step in way {
        let Some(inside) = step_in(text, at, *step) else { break };
        at = inside;
    }
    at
}

fn step_in(text: &str, at: usize, step: Inside<'_>) -> Option<usize> {
    let bytes = text.as_bytes();
    let expected = match step {
        Inside::Property(_) => b'{',
        Inside::Element(_) => b'[',
    };
    if *bytes.get(at)? != expected {
        return None;
    }
    let mut at = after_space(text, at + 1);
    for index in 0.. {
        let byte = *bytes.get(at)?;
        if byte == b']' || byte == b'}' {
            return None;
        }
        let found = match step {
            Inside::Element(wanted) => index == wanted,
            Inside::Property(name) => {
                let end = value_end(text, at);
                let key: String = serde_json::from_str(text.get(at..end)?).ok()?;
                // After the colon.
                at = after_space(text, after_space(text, end) + 1);
                key == name
            }
        };
        if found {
            return Some(at);
        }
        let end = value_end(text, at);
        if end <= at {
            return None;
        }
        at = after_space(text, end);
        if bytes.get(at) == Some(&b',') {
            at = after_space(text, at + 1);
        }
    }
    None
}

fn after_space(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + (rest.len() - rest.trim_start().len())
}

/// Where the value ends that begins at `at`.
fn value_end(text: &str, at: usize) -> usize {
    let mut depth = 0_usize;
    let (mut in_string, mut escaped) = (false, false);
    for (index, byte) in text.bytes().enumerate().skip(at) {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            if !in_string && depth == 0 {
                return index + 1;
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return index + depth,
            b'}' | b']' => depth -= 1,
            b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return index,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::Inside::{Element, Property};
    use super::*;

    #[test]
    fn values_are_found() {
        let check = |text: &str, way: &[Inside<'_>], expect: &str| {
            let rest = &text[offset(text, way)..];
            assert!(rest.starts_with(expect), "{way:?}: {rest}");
        };
        let text = r#" {"a\"}": "x]", "b" : [1, {"c": -2.5 } ,[],"\\"], "d":null}"#;
        check(text, &[], "{\"a");
        check(text, &[Property("a\"}")], "\"x]\"");
        check(text, &[Property("b")], "[1,");
        check(text, &[Property("b"), Element(0)], "1,");
        check(text, &[Property("b"), Element(1), Property("c")], "-2.5");
        check(text, &[Property("b"), Element(2)], "[],");
        check(text, &[Property("b"), Element(3)], "\"\\\\\"");
        check(text, &[Property("d")], "null");
        check(text, &[Property("b"), Element(4)], "[1,");
        check(text, &[Property("missing")], "{\"a");
        check(text, &[Element(0)], "{\"a");
        check("7", &[Element(0)], "7");
    }
}
