//! The walk over the fields of an event: which value comes next, and what stands around it.

use std::fmt::Write as _;

use isochrone_ctf::plan::Name;
use isochrone_ctf::schema::{FloatClass, IntegerClass, Role};
use isochrone_ctf::{Text, Visitor};

use super::{Inner, Part, Writer};
use crate::show::Show;

/// Text is shown up to this many bytes.
const MAX_TEXT: usize = 64;
/// Elements of arrays are shown up to this many.
const MAX_ELEMENTS: u64 = 32;

impl Visitor for Writer<'_> {
    fn unsigned(&mut self, class: &IntegerClass, value: u64) {
        self.number(class, value as i64);
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) {
        self.number(class, value);
    }

    fn float(&mut self, _: &FloatClass, value: f64) {
        if !self.skips() {
            self.separate();
            self.put(format_args!("{value}"));
        }
    }

    fn text(&mut self, text: Text<'_>) {
        if !self.skips() {
            self.separate();
            quoted(&mut self.out.text, text.shown());
        }
    }

    fn blob(&mut self, _: Option<Role>, bytes: &[u8]) {
        if !self.skips() {
            self.separate();
            quoted(&mut self.out.text, bytes);
        }
    }

    fn begin_struct(&mut self) {
        if self.depth == 0 {
            self.depth = 1;
            return;
        }
        self.open('{');
    }

    fn member(&mut self, index: usize, name: &Name) {
        let name = name.shown();
        if self.depth == 1 {
            self.inner = Inner::Shown;
            (self.show, self.index) = self.shows.get(index).copied().unwrap_or((Show::Plain, None));
            self.set.clear();
            if self.is_exit && matches!(self.show, Show::FdSet) {
                self.set.push_str(name);
            }
            self.part = match name {
                "family" if matches!(self.show, Show::Names(_)) && self.has_address() => Part::Family,
                "sport" | "dport" => Part::Port,
                "v4addr" => Part::V4,
                "v6addr" => Part::V6,
                _ => Part::None,
            };
            return;
        }
        if self.bits.is_some() {
            self.bit.clear();
            self.bit.push_str(name);
            return;
        }
        if self.inner == Inner::Cut {
            return;
        }
        // In structures: the same as bits and as a number, and both views of a union.
        self.inner = if matches!(name, "raw_events" | "u64") { Inner::Skipped } else { Inner::Shown };
        self.in_union = name == "data_union";
        if matches!(name, "data_union" | "u64" | "raw_events") || self.skips() {
            return;
        }
        if name == "events" {
            self.separate();
            self.put(format_args!("events="));
            self.bits = Some((self.depth, 0));
            return;
        }
        self.separate();
        self.put(format_args!("{name}="));
        self.first = true;
    }

    fn end_struct(&mut self) {
        if self.depth == 1 {
            self.depth = 0;
            return;
        }
        if self.inner == Inner::Skipped {
            self.inner = Inner::Shown;
        }
        self.close('}');
    }

    fn begin_array(&mut self, count: u64) {
        if self.is_exit && self.depth == 1 {
            if count == 0 {
                self.inner = Inner::Skipped;
            } else if !self.set.is_empty() {
                self.separate();
                self.out.text.push_str(&self.set);
                self.out.text.push('=');
                self.first = true;
            }
        }
        self.open('[');
    }

    fn element(&mut self, index: u64) {
        self.element = index;
        if index == MAX_ELEMENTS
            && !matches!(self.show, Show::FdSet)
            && !self.skips()
            && self.part == Part::None
        {
            self.out.text.push_str(", ...");
        }
        if !matches!(self.show, Show::FdSet) {
            self.inner = if index >= MAX_ELEMENTS { Inner::Cut } else { Inner::Shown };
        }
    }

    fn end_array(&mut self) {
        if self.inner == Inner::Cut {
            self.inner = Inner::Shown;
        }
        self.close(']');
        self.inner = Inner::Shown;
    }
}

impl Writer<'_> {
    /// Whether the family is followed by an address.
    fn has_address(&self) -> bool {
        self.shows.iter().any(|(show, _)| matches!(show, Show::Skip))
    }
}

/// Text in quotes, cut, with everything escaped that would not show.
fn quoted(out: &mut String, bytes: &[u8]) {
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
