//! The metadata of a copy: the text of the original with another clock.

use std::fmt::Write as _;

use crate::error::{Error, Reason};
use crate::schema::ClockClass;
use crate::trace::Trace;
use crate::tsdl::{self, BlockKind, Item};

/// The metadata with another clock of the same name.
pub(super) fn metadata_with(trace: &Trace, class: &ClockClass) -> Result<String, Error> {
    let text = trace.metadata_text();
    let unwritable = |message: &str| Error::new(trace.path(), Reason::Unwritable(message.to_owned()));
    if trace.schema().version.0 >= 2 {
        return Err(unwritable("its metadata are those of CTF 2, and only CTF 1.8 is written"));
    }
    let ast = tsdl::parse(text).map_err(|e| unwritable(&e.message))?;
    let blocks: Vec<_> = ast
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Block(block) if block.kind == BlockKind::Clock => Some(block.offset..block.end),
            _ => None,
        })
        .collect();
    let [block] = blocks.as_slice() else {
        return Err(unwritable("it must have exactly one clock"));
    };
    let name = &trace.schema().clocks[0].name;
    let signature = if text.starts_with("/* CTF 1.8") { "" } else { "/* CTF 1.8 */\n" };
    let (before, after) = (&text[..block.start], &text[block.end..]);
    Ok(format!("{signature}{before}{}{after}", clock_block(name, class)))
}

/// A clock block of TSDL.
fn clock_block(name: &str, class: &ClockClass) -> String {
    let mut block = format!("clock {{\n\tname = \"{}\";\n", escaped(name));
    let mut line = |text: std::fmt::Arguments<'_>| {
        let written = writeln!(block, "\t{text};");
        debug_assert!(written.is_ok(), "a string takes every write");
    };
    if let Some(uuid) = class.uuid {
        line(format_args!("uuid = \"{uuid}\""));
    }
    if let Some(description) = &class.description {
        line(format_args!("description = \"{}\"", escaped(description)));
    }
    line(format_args!("freq = {}", class.frequency));
    line(format_args!("precision = {}", class.precision));
    line(format_args!("offset_s = {}", class.offset_s));
    line(format_args!("offset = {}", class.offset_cycles));
    line(format_args!("absolute = {}", if class.absolute { "TRUE" } else { "FALSE" }));
    block.push_str("};");
    block
}

/// The inside of a string literal.
fn escaped(text: &str) -> String {
    let mut literal = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '"' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            // Three digits, so that no digit behind belongs to the escape.
            '\0'..' ' | '\x7f' => literal.push_str(&format!("\\{:03o}", u32::from(character))),
            _ => literal.push(character),
        }
    }
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_block_reads_back() {
        for text in ["plain", "a \"quoted\" name\\", "two\nlines\t\u{7}1\u{7f}", "é"] {
            let description = Some(text.to_owned());
            let class = ClockClass { description, offset_s: -3, ..ClockClass::monotonic("unused") };
            let block = clock_block(text, &class);
            let schema = crate::parse_metadata(&block).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(schema.clocks, [ClockClass { name: text.to_owned(), ..class }], "{block}");
        }
    }
}
