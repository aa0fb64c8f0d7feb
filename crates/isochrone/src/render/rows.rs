//! The rows of tables for programs. A log has millions of them: several threads make their text, and one writes it.

use std::io::{self, Write};
use std::ops::Range;

use isochrone_analysis::Table;
use isochrone_pipeline::take_in_order;

/// Number of rows that are made into text at once: some hundred kB, several of them for each thread.
const ROWS: usize = 1024;
/// Bytes of the text of most of such rows.
const TEXT: usize = 128 << 10;

/// Writes all rows of a table, in their order. `make` appends the text of the rows of some numbers to a buffer.
pub(crate) fn write(
    table: &Table,
    threads: usize,
    make: impl Fn(&Table, Range<usize>, &mut Vec<u8>) -> io::Result<()> + Sync,
    out: &mut impl Write,
) -> io::Result<()> {
    let parts = table.rows.len().div_ceil(ROWS);
    let make = |part: usize| {
        let mut text = Vec::with_capacity(if part + 1 < parts { TEXT } else { 0 });
        make(table, part * ROWS..(part + 1) * ROWS, &mut text).map(|()| text)
    };
    take_in_order(parts, threads, make, |text| out.write_all(&text?))
}

#[cfg(test)]
mod tests {
    use isochrone_analysis::{Unit, csv, json, jsonl};

    use super::*;

    fn table(rows: usize) -> Table {
        let mut table = Table::new("t", "", &[("number", Unit::Count)]);
        (0..rows as u64).for_each(|number| table.row(vec![number.into()]));
        table
    }

    #[test]
    fn no_number_of_threads_changes_a_byte() {
        type Make = fn(&Table, Range<usize>, &mut Vec<u8>) -> io::Result<()>;
        let formats: [Make; 3] =
            [csv::rows, json::rows, |table, numbers, out| jsonl::rows("x", table, numbers, out)];
        for rows in [0, 1, ROWS, ROWS + 1, 3 * ROWS + 1] {
            let table = table(rows);
            for make in formats {
                let mut expect = Vec::new();
                make(&table, 0..rows, &mut expect).unwrap();
                for threads in [1, 2, 8] {
                    let mut out = Vec::new();
                    write(&table, threads, make, &mut out).unwrap();
                    assert!(out == expect, "{rows} rows, {threads} threads");
                }
            }
        }
    }

    /// Accepts a limited number of bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_failed_write_ends_it() {
        for threads in [1, 2, 8] {
            let written = write(&table(20 * ROWS), threads, csv::rows, &mut Full(10_000));
            assert_eq!(
                written.map_err(|error| error.kind()),
                Err(io::ErrorKind::StorageFull),
                "{threads} threads"
            );
        }
    }
}
