//! Tables for people: plain, as wide as their content. Rows are looked at twice, for their widths and to be printed, and need not be kept.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::plain::plain;

/// A table of few rows. Cells stay on one line: numbers that belong together are not torn apart.
pub(crate) struct Table<'h> {
    header: &'h [&'h str],
    rows: Vec<Vec<String>>,
    /// The first of the columns that are put to the right.
    right_from: usize,
}

impl<'h> Table<'h> {
    pub(crate) fn new(header: &'h [&'h str]) -> Self {
        Self { header, rows: Vec::new(), right_from: usize::MAX }
    }

    /// Puts the columns of numbers to the right.
    #[must_use]
    pub(crate) fn right_from(self, first: usize) -> Self {
        Self { right_from: first, ..self }
    }

    /// Cells that are missing at the end are empty.
    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Prints the table.
    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        print(self.header, &|column| column >= self.right_from, || self.rows.iter(), "", out)
    }

    /// Prints the table below a heading, a space farther in than the heading's own lines.
    pub(crate) fn print_indented(&self, out: &mut impl Write) -> io::Result<()> {
        print(self.header, &|column| column >= self.right_from, || self.rows.iter(), INDENT, out)
    }
}

/// What stands before the lines of a table below a heading.
pub(crate) const INDENT: &str = " ";

/// Prints a table of any number of rows, which `rows` gives twice, the same both times. Memory is that of a line.
pub(crate) fn print<R, C>(
    header: &[&str],
    is_right: &dyn Fn(usize) -> bool,
    rows: impl Fn() -> R,
    indent: &str,
    out: &mut impl Write,
) -> io::Result<()>
where
    R: Iterator<Item = C>,
    C: IntoIterator<Item: AsRef<str>>,
{
    let mut widths: Vec<usize> = header.iter().map(|title| width(&plain(title))).collect();
    for row in rows() {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(width(&plain(cell.as_ref())));
        }
    }
    let mut line = Line { text: String::new(), indent, widths: &widths, is_right };
    line.put(header);
    line.print(out)?;
    for row in rows() {
        line.put(row);
        line.print(out)?;
    }
    Ok(())
}

/// A line, and how it is laid out.
struct Line<'l> {
    text: String,
    indent: &'l str,
    widths: &'l [usize],
    is_right: &'l dyn Fn(usize) -> bool,
}

impl Line<'_> {
    /// Fills the line: each cell with a space on either side.
    fn put<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.text.clear();
        self.text.push_str(self.indent);
        for (column, (cell, widest)) in cells.into_iter().zip(self.widths).enumerate() {
            let cell = plain(cell.as_ref());
            let free = widest.saturating_sub(width(&cell));
            let (before, after) = if (self.is_right)(column) { (free, 0) } else { (0, free) };
            self.text.extend(std::iter::repeat_n(' ', before + 1));
            self.text.push_str(&cell);
            self.text.extend(std::iter::repeat_n(' ', after + 1));
        }
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.text.trim_end())
    }
}

/// Columns of a terminal that a text takes.
fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_content() {
        let check = |rows: &[&[&str]], right_from, expect: &str| {
            let mut table = Table::new(&["name", "n"]).right_from(right_from);
            for row in rows {
                table.add_row(row.iter().map(ToString::to_string));
            }
            let mut out = Vec::new();
            table.print_indented(&mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expect);
        };
        check(&[], 1, "  name  n\n");
        check(&[&["a", "100"], &["long name"]], 1, "  name         n\n  a          100\n  long name\n");
        check(&[&["a", "100"]], usize::MAX, "  name  n\n  a     100\n");
        check(&[&["時計", "1"], &["x", "2"]], 1, "  name  n\n  時計  1\n  x     2\n");
        check(&[&["a\u{1b}[2J\nb", "1"]], 1, "  name           n\n  a\\u{1b}[2J\\nb  1\n");
    }
}
