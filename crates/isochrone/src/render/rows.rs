//! The rows of tables for programs. A log has millions of them: several threads make their text, and one writes it.

use std::io::{self, Write};
use std::ops::Range;

use isochrone_analysis::Table;
use isochrone_pipeline::take_in_order;

/// So many rows are made into text at once: some hundred kB.
const ROWS: usize = 4096;

/// Writes all rows of a table, in their order. `make` appends the text of the rows of some numbers to a buffer.
pub(crate) fn write(
    table: &Table,
    threads: usize,
    make: impl Fn(&Table, Range<usize>, &mut Vec<u8>) -> io::Result<()> + Sync,
    out: &mut impl Write,
) -> io::Result<()> {
    let parts = table.rows.len().div_ceil(ROWS);
    let make = |part: usize| {
        let mut text = Vec::new();
        make(table, part * ROWS..(part + 1) * ROWS, &mut text).map(|()| text)
    };
    take_in_order(parts, threads, make, |text| out.write_all(&text?))
}
