//! Tables for people: plain, as wide as their content.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table whose cells stay on one line: numbers that belong together are not torn apart.
pub(crate) fn new(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    table
}

/// Puts the columns of numbers to the right.
pub(crate) fn right_from(table: &mut Table, first: usize) {
    for column in table.column_iter_mut().skip(first) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// Prints a table below a heading, a space farther in than the heading's own lines.
pub(crate) fn indented(table: &Table, out: &mut impl Write) -> io::Result<()> {
    for line in table.lines() {
        writeln!(out, " {}", line.trim_end())?;
    }
    Ok(())
}
