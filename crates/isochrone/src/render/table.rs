//! Tables for people: as wide as their content, up to a maximum. Rows are iterated twice, for their widths and for printing, and need not be
//! kept.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::plain::plain;

/// A table of few rows. Cells stay on one line: numbers that belong together are not torn apart.
pub(crate) struct Table<'h> {
    header: &'h [&'h str],
    rows: Vec<Vec<String>>,
    /// The first of the columns that are aligned right.
    right_from: usize,
    /// Columns after it that are not.
    left: &'h [usize],
    /// Columns that are left out, in this order, where not all fit.
    spare: &'h [usize],
}

impl<'h> Table<'h> {
    pub(crate) fn new(header: &'h [&'h str]) -> Self {
        Self { header, rows: Vec::new(), right_from: usize::MAX, left: &[], spare: &[] }
    }

    /// Aligns the columns from one on right.
    #[must_use]
    pub(crate) fn right_from(self, first: usize) -> Self {
        Self { right_from: first, ..self }
    }

    /// Columns of text after the first column of numbers.
    #[must_use]
    pub(crate) fn left(self, columns: &'h [usize]) -> Self {
        Self { left: columns, ..self }
    }

    /// Columns that are left out, in this order, where not all fit.
    #[must_use]
    pub(crate) fn spare(self, columns: &'h [usize]) -> Self {
        Self { spare: columns, ..self }
    }

    /// Cells that are missing at the end are empty.
    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The same for a page.
    pub(crate) fn into_page(self) -> isochrone_export::html::Table {
        let is_right = |column: usize| column >= self.right_from && !self.left.contains(&column);
        isochrone_export::html::Table {
            header: self.header.iter().map(ToString::to_string).collect(),
            is_number: (0..self.header.len()).map(is_right).collect(),
            rows: self.rows,
            shares: Vec::new(),
        }
    }

    /// Prints the table.
    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        self.print_after("", out)
    }

    /// Prints the table below a heading, a space farther in than the heading's own lines.
    pub(crate) fn print_indented(&self, out: &mut impl Write) -> io::Result<()> {
        self.print_after(INDENT, out)
    }

    fn print_after(&self, indent: &str, out: &mut impl Write) -> io::Result<()> {
        let is_right = |column: usize| column >= self.right_from && !self.left.contains(&column);
        let layout = Layout {
            header: self.header,
            is_right: &is_right,
            spare: self.spare,
            last_spare: &[],
            indent,
            room: crate::output::width(),
        };
        let fit = layout.fit(&(|| self.rows.iter()));
        layout.print(&fit, || self.rows.iter(), |_| None, out)
    }
}

/// Indentation of a table below a heading.
pub(crate) const INDENT: &str = " ";

/// Width of a column besides its widest cell: a space on either side.
const MARGIN: usize = 2;

/// Minimum width of a column of text that is cut.
const MIN_CUT: usize = 8;

/// How a table is laid out.
pub(crate) struct Layout<'l> {
    pub(crate) header: &'l [&'l str],
    pub(crate) is_right: &'l dyn Fn(usize) -> bool,
    /// Columns that are left out, in this order, where not all fit.
    pub(crate) spare: &'l [usize],
    /// Those that are left out besides, in this order, where texts that are cut are not enough.
    pub(crate) last_spare: &'l [usize],
    pub(crate) indent: &'l str,
    /// Maximum width of lines; `None`: not limited.
    pub(crate) room: Option<usize>,
}

/// The columns that fit.
pub(crate) struct Fit {
    /// By column: its width; `None`: it is left out.
    widths: Vec<Option<usize>>,
    /// Width that is left after the last column.
    pub(crate) left: usize,
}

impl Fit {
    /// The columns that are left out.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = usize> + '_ {
        self.widths.iter().enumerate().filter(|(_, width)| width.is_none()).map(|(column, _)| column)
    }
}

impl Layout<'_> {
    /// Chooses columns for rows, which `rows` gives. Linear in the rows.
    pub(crate) fn fit<R, C>(&self, rows: &impl Fn() -> R) -> Fit
    where
        R: Iterator<Item = C>,
        C: IntoIterator<Item: AsRef<str>>,
    {
        let mut widths: Vec<usize> = self.header.iter().map(|title| width(&plain(title))).collect();
        for row in rows() {
            for (widest, cell) in widths.iter_mut().zip(row) {
                *widest = (*widest).max(width(&plain(cell.as_ref())));
            }
        }
        let whole = Fit { widths: widths.into_iter().map(Some).collect(), left: usize::MAX };
        let Some(room) = self.room else { return whole };
        // The space after the last cell is not written.
        let room = room.saturating_add(1);
        let mut fit = self.cut_to(room, &whole, 0);
        for count in 1..=self.last_spare.len() {
            if self.taken(&fit) <= room {
                break;
            }
            fit = self.cut_to(room, &whole, count);
        }
        fit.left = room.saturating_sub(self.taken(&fit));
        fit
    }

    fn taken(&self, fit: &Fit) -> usize {
        self.indent.len() + fit.widths.iter().flatten().map(|w| w + MARGIN).sum::<usize>()
    }

    /// Leaves out spare columns and a number of the last ones, and cuts texts.
    fn cut_to(&self, room: usize, whole: &Fit, last: usize) -> Fit {
        let mut fit = Fit { widths: whole.widths.clone(), left: 0 };
        for &column in &self.last_spare[..last] {
            fit.widths[column] = None;
        }
        for &column in self.spare {
            if self.taken(&fit) <= room {
                break;
            }
            fit.widths[column] = None;
        }
        // If it is still too wide, the ends of texts are cut, the widest first.
        while let excess @ 1.. = self.taken(&fit).saturating_sub(room) {
            let texts = fit.widths.iter_mut().enumerate().filter(|(column, _)| !(self.is_right)(*column));
            let widest = texts.filter_map(|(_, width)| width.as_mut()).max();
            let Some(widest) = widest.filter(|widest| **widest > MIN_CUT) else { break };
            *widest = widest.saturating_sub(excess.div_ceil(2)).max(MIN_CUT);
        }
        fit
    }

    /// Prints rows, which `rows` gives as they were given to [`Self::fit`]; `tail`: text after the cells of the row of
    /// a number. Memory is that of a line.
    pub(crate) fn print<'t, R, C>(
        &self,
        fit: &Fit,
        rows: impl Fn() -> R,
        tail: impl Fn(usize) -> Option<&'t str>,
        out: &mut impl Write,
    ) -> io::Result<()>
    where
        R: Iterator<Item = C>,
        C: IntoIterator<Item: AsRef<str>>,
    {
        let mut line = String::new();
        self.put(fit, self.header, &mut line);
        writeln!(out, "{}", crate::output::heading(line.trim_end()))?;
        for (number, row) in rows().enumerate() {
            self.put(fit, row, &mut line);
            if let Some(tail) = tail(number) {
                line.push(' ');
                line.push_str(tail);
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// Fills the line: each cell with a space on either side.
    fn put<C: AsRef<str>>(&self, fit: &Fit, cells: impl IntoIterator<Item = C>, line: &mut String) {
        line.clear();
        line.push_str(self.indent);
        let mut cells = cells.into_iter();
        for (column, widest) in fit.widths.iter().enumerate() {
            let cell = cells.next();
            let Some(widest) = *widest else { continue };
            let cell = plain(cell.as_ref().map_or("", AsRef::as_ref));
            let cell = cut(&cell, widest);
            let free = widest.saturating_sub(width(&cell));
            let (before, after) = if (self.is_right)(column) { (free, 0) } else { (0, free) };
            line.extend(std::iter::repeat_n(' ', before + 1));
            line.push_str(&cell);
            line.extend(std::iter::repeat_n(' ', after + 1));
        }
    }
}

/// A text, with `…` for its end where it is too wide.
fn cut(text: &str, room: usize) -> Cow<'_, str> {
    if width(text) <= room {
        return text.into();
    }
    let mut taken = 1;
    let kept: String = text
        .chars()
        .take_while(|character| {
            taken += character.width().unwrap_or(0);
            taken <= room
        })
        .collect();
    format!("{kept}…").into()
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

    #[test]
    fn no_line_is_wider_than_the_room() {
        let rows = [["a long name", "1,000", "the rest of it all"], ["b", "2", ""]];
        let check = |room, spare: &[usize], expect: &str| {
            let is_right = |column| column == 1;
            let header = ["name", "n", "rest"];
            let layout =
                Layout { header: &header, is_right: &is_right, spare, last_spare: &[], indent: " ", room };
            let fit = layout.fit(&(|| rows.iter()));
            let mut out = Vec::new();
            layout.print(&fit, || rows.iter(), |_| None, &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            assert_eq!(out, expect, "{room:?}");
            assert!(room.is_none_or(|room| out.lines().all(|line| width(line) <= room)), "{room:?}");
        };
        let whole =
            "  name             n  rest\n  a long name  1,000  the rest of it all\n  b                2\n";
        check(None, &[1], whole);
        check(Some(40), &[1], whole);
        check(Some(38), &[1], "  name         rest\n  a long name  the rest of it all\n  b\n");
        check(
            Some(38),
            &[],
            "  name             n  rest\n  a long name  1,000  the rest of it…\n  b                2\n"
                .replace("the rest of it…", "the rest of it …")
                .as_str(),
        );
        check(Some(20), &[2, 1], "  name             n\n  a long name  1,000\n  b                2\n");
    }
}
