//! Text of traces on a terminal. Names of hosts, events and files may contain anything: escaped, they neither control a
//! terminal nor make lines that look like others. All output for people is escaped here, tables by themselves ([`super::table`]); the values of
//! fields are escaped by `isochrone_ctf::text`, which also has the rule.

use std::fmt::{self, Display, Write};

pub use isochrone_ctf::text::plain;

/// Shows something on one line: all its control characters are escaped.
pub(crate) struct Plain<D>(pub(crate) D);

/// Shows a message that may have several lines: those after the first are indented, all other control characters are escaped, so that no
/// line of it looks like another message.
pub(crate) struct PlainLines<D>(pub(crate) D);

impl<D: Display> Display for Plain<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping { f, line_end: "\\n" }, "{}", self.0)
    }
}

impl<D: Display> Display for PlainLines<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping { f, line_end: "\n  " }, "{}", self.0)
    }
}

/// Passes text on without its control characters.
struct Escaping<'f, 'a> {
    f: &'f mut fmt::Formatter<'a>,
    /// Replaces a line feed.
    line_end: &'static str,
}

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.f.write_str(self.line_end)?;
            }
            self.f.write_str(&plain(line))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_controls_a_terminal() {
        let check = |text: &str, one: &str, several: &str| {
            assert_eq!(Plain(format_args!("<{text}>")).to_string(), format!("<{one}>"));
            assert_eq!(PlainLines(format_args!("<{text}>")).to_string(), format!("<{several}>"));
        };
        check("h1", "h1", "h1");
        check("h1\u{1b}]0;x\u{7}\u{9b}", r"h1\u{1b}]0;x\u{7}\u{9b}", r"h1\u{1b}]0;x\u{7}\u{9b}");
        check("a\nnote: b\r\n", r"a\nnote: b\r\n", "a\n  note: b\\r\n  ");
    }
}
