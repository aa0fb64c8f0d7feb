//! Tables as comma-separated values, after RFC 4180, with lines that end in a line feed as other tools of the
//! system write them.
//!
//! A table that was requested by its name comes alone: a header line with the names of the columns, then the
//! rows. Several tables come one after the other, each below a line `# NAME` and with an empty line between.
//! Unknown values are empty. Text of traces is neither a formula of a spreadsheet nor steers a terminal
//! ([`cell`]).

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use crate::output::table::{Cell, Table};

/// A text as a cell: control characters are escaped, and what a spreadsheet would take for a formula has a
/// `'` in front, which makes it a text there. Numbers stay as they are, and so does a `-` alone.
pub fn cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r'])
        && text != "-"
        && text.parse::<f64>().map_or(true, |number| !number.is_finite());
    if !is_formula && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    shown.extend(is_formula.then_some('\''));
    for c in text.chars() {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Writes the header line of a table.
pub fn header(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(table.columns.iter().map(|column| column.name.as_bytes()))?;
    writer.flush()
}

/// Writes the rows whose numbers are in a range, as far as there are any, of a table.
pub fn rows(table: &Table, numbers: Range<usize>, out: &mut impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let mut text = String::new();
    for row in table.rows.range(numbers) {
        for value in row {
            text.clear();
            match value {
                Cell::Unknown | Cell::NotApplicable => {}
                Cell::Int(value) => text.push_str(&value.to_string()),
                Cell::Float(value) => text.push_str(&value.to_string()),
                Cell::Text(value) => text.push_str(&cell(&value)),
                Cell::Call(call) => text.push_str(&cell(&call.to_string())),
            }
            writer.write_field(&text)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

/// Writes tables one after the other. `rows` writes those of a table, as [`rows()`] does.
pub fn write_all<'t, W: Write>(
    tables: impl IntoIterator<Item = &'t Table>,
    out: &mut W,
    mut rows: impl FnMut(&Table, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    for (index, table) in tables.into_iter().enumerate() {
        let apart = if index == 0 { "" } else { "\n" };
        writeln!(out, "{apart}# {}", table.name)?;
        header(table, out)?;
        rows(table, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::table::Unit;
    use crate::storage::rows::Rows;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut table = Table::new("calls", "", &[("line", Unit::None), ("avg_ns", Unit::Ns)]);
        table.row(vec![Cell::text("plain"), 3u64.into()]);
        table.row(vec![Cell::text("open(\"a,b\")"), 0.5.into()]);
        table.row(vec![Cell::text("two\nlines"), Cell::Unknown]);
        let mut text = Vec::new();
        let empty = Table { rows: Rows::default(), ..table.clone() };
        // Whatever parts they are written in.
        write_all([&table, &empty], &mut text, |table, text| {
            (0..table.rows.len()).try_for_each(|row| rows(table, row..row + 1, text))
        })
        .unwrap();
        let expect = "# calls\nline,avg_ns\nplain,3\n\"open(\"\"a,b\"\")\",0.5\ntwo\\nlines,\n\n# calls\nline,avg_ns\n";
        assert_eq!(String::from_utf8(text).unwrap(), expect);
    }

    #[test]
    fn no_cell_is_a_formula() {
        let check = |text: &str, expect: &str| assert_eq!(cell(text), expect);
        for same in ["", "nginx", "-", "-11", "+5", "-0.5", "1e-3", "a=b", "<unknown>", "héß"] {
            check(same, same);
        }
        check("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1");
        check("+1+2", "'+1+2");
        check("-bash", "'-bash");
        check("-inf", "'-inf");
        check("@SUM(A1)", "'@SUM(A1)");
        check("\t=1", "'\\t=1");
        check("\r=1", "'\\r=1");
        check("a\u{1b}[31m\nb\u{9b}", "a\\u{1b}[31m\\nb\\u{9b}");
    }
}
