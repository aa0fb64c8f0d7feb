//! Tables of reports by the names of their columns. Used by: what the page shows of reports as more than a
//! table.

use isochrone_analysis::{Cell, Table};

/// A table by the names of its columns.
pub(super) struct Named<'t> {
    pub(super) table: &'t Table,
    pub(super) row: usize,
}

impl Named<'_> {
    pub(super) fn rows(table: &Table) -> impl Iterator<Item = Named<'_>> {
        (0..table.rows.len()).map(|row| Named { table, row })
    }

    pub(super) fn cell(&self, column: &str) -> Cell {
        let column = self.table.column(column);
        column.and_then(|column| self.table.rows.cell(self.row, column)).unwrap_or(Cell::Unknown)
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        self.cell(column).as_text().map(Into::into)
    }
}
