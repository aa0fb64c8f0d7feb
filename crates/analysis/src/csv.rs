//! Tables as comma-separated values, after RFC 4180, with lines that end in a line feed as other tools of the system
//! write them.
//!
//! A table that was asked for by its name comes alone: a header line with the names of the columns, then the rows.
//! Several tables come one after the other, each below a line `# NAME` and with an empty line between. Unknown values
//! are empty.

use std::io::{self, Write};

use crate::table::{Cell, Table};

/// Writes a table.
pub fn write(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(table.columns.iter().map(|column| column.name.as_bytes()))?;
    let mut text = String::new();
    for row in &table.rows {
        for cell in row {
            text.clear();
            match cell {
                Cell::Null | Cell::None => {}
                Cell::Int(value) => text.push_str(&value.to_string()),
                Cell::Float(value) => text.push_str(&value.to_string()),
                Cell::Text(value) => text.push_str(&value),
                Cell::Call(call) => text.push_str(&call.to_string()),
            }
            writer.write_field(&text)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

/// Writes tables one after the other.
pub fn write_all<'t>(tables: impl IntoIterator<Item = &'t Table>, out: &mut impl Write) -> io::Result<()> {
    for (index, table) in tables.into_iter().enumerate() {
        let apart = if index == 0 { "" } else { "\n" };
        writeln!(out, "{apart}# {}", table.name)?;
        write(table, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Rows;
    use crate::table::Unit;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut table = Table::new("calls", "", &[("line", Unit::None), ("avg_ns", Unit::Ns)]);
        table.row(vec![Cell::text("plain"), 3u64.into()]);
        table.row(vec![Cell::text("open(\"a,b\")"), 0.5.into()]);
        table.row(vec![Cell::text("two\nlines"), Cell::Null]);
        let mut text = Vec::new();
        write_all([&table, &Table { rows: Rows::default(), ..table.clone() }], &mut text).unwrap();
        let expect = "# calls\nline,avg_ns\nplain,3\n\"open(\"\"a,b\"\")\",0.5\n\"two\nlines\",\n\n# calls\nline,avg_ns\n";
        assert_eq!(String::from_utf8(text).unwrap(), expect);
    }
}
