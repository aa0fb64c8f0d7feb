//! Reports as JSON: an object for each, as it is serialized, whose rows are written apart, so that several
//! threads can make their text.

use std::io::{self, Write};
use std::ops::Range;

use crate::output::report::Report;
use crate::output::table::{Cell, Table};
use crate::storage::stored::{View, Views};

/// How the rows of a table without rows are serialized. No text has it: quotes are escaped there.
const NO_ROWS: &str = "\"rows\":[]";

/// Writes a report. `name`: with this table only. `rows` writes those of a table, as [`rows()`] does.
pub fn write<W: Write>(
    report: &Report,
    name: Option<&str>,
    out: &mut W,
    mut rows: impl FnMut(&Table, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    let tables: Vec<&Table> = report.tables_of(name).collect();
    let without_rows =
        |table: &&Table| Table { columns: table.columns.clone(), ..Table::new(table.name, table.title, &[]) };
    let &Report { analysis, version, sync, range, .. } = report;
    let (frames, notes) = (tables.iter().map(without_rows).collect(), report.notes.clone());
    let frame = serde_json::to_string(&Report { analysis, version, sync, range, tables: frames, notes })?;
    debug_assert_eq!(frame.matches(NO_ROWS).count(), tables.len(), "{frame}");
    let mut parts = frame.split(NO_ROWS);
    out.write_all(parts.next().unwrap_or_default().as_bytes())?;
    for (table, part) in tables.into_iter().zip(parts) {
        out.write_all(b"\"rows\":[")?;
        rows(table, out)?;
        out.write_all(b"]")?;
        out.write_all(part.as_bytes())?;
    }
    Ok(())
}

/// Writes the rows of a table whose numbers are in a range, as far as there are any: each is an array, with a
/// comma before it unless it is the first of the table.
pub fn rows(table: &Table, numbers: Range<usize>, out: &mut Vec<u8>) -> io::Result<()> {
    let (mut number, mut rows) = (numbers.start, table.rows.range(numbers));
    while let Some(written) = rows.next_with(|cells| {
        if number > 0 {
            out.push(b',');
        }
        row(cells, out)
    }) {
        written?;
        number += 1;
    }
    Ok(())
}

/// Appends a row, as it is serialized.
fn row(cells: Views<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    out.push(b'[');
    for (column, view) in cells.enumerate() {
        if column > 0 {
            out.push(b',');
        }
        match view {
            View::Unknown | View::NotApplicable => out.extend_from_slice(b"null"),
            View::Text(text) if is_plain(text) => {
                out.push(b'"');
                out.extend_from_slice(text.as_bytes());
                out.push(b'"');
            }
            View::Int(value) => match i64::try_from(value) {
                Ok(value) => serde_json::to_writer(&mut *out, &value)?,
                Err(_) => serde_json::to_writer(&mut *out, &value)?,
            },
            other => serde_json::to_writer(&mut *out, &Cell::from(other))?,
        }
    }
    out.push(b']');
    Ok(())
}

/// Whether a text needs no escapes.
fn is_plain(text: &str) -> bool {
    let is_escaped = |byte| u8::from(matches!(byte, 0..=31 | b'"' | b'\\'));
    // Without a branch, many bytes are looked at together.
    text.bytes().map(is_escaped).fold(0, |all, one| all | one) == 0
}

#[cfg(test)]
mod tests {
    use isochrone_time::UnixNs;

    use super::*;
    use crate::output::note::Note;
    use crate::output::report::VERSION;
    use crate::output::table::Unit;

    /// A report whose texts look like its form.
    fn report() -> Report {
        let table = |name, rows: i128| {
            let columns = [("what", Unit::None), (NO_ROWS, Unit::Ns)];
            let mut table = Table::new(name, "", &columns);
            for number in 0..rows {
                table.row(vec![Cell::text(NO_ROWS), number.into()]);
            }
            table
        };
        let tables = vec![table("none", 0), table("one", 1), table("many", 11)];
        let notes = vec![Note::default().text(NO_ROWS)];
        Report { analysis: "x", version: VERSION, sync: true, range: Some([1, 2].map(UnixNs)), tables, notes }
    }

    #[test]
    fn parts_are_the_whole() {
        let report = report();
        let written = |name, part: usize| {
            let mut out = Vec::new();
            let parts = |table: &Table, out: &mut Vec<u8>| {
                (0..table.rows.len()).step_by(part).try_for_each(|row| rows(table, row..row + part, out))
            };
            write(&report, name, &mut out, parts).unwrap();
            String::from_utf8(out).unwrap()
        };
        for part in [1, 2, 5, 100] {
            assert_eq!(written(None, part), serde_json::to_string(&report).unwrap(), "{part}");
            let mut one = report.clone();
            one.tables.retain(|table| table.name == "many");
            assert_eq!(written(Some("many"), part), serde_json::to_string(&one).unwrap(), "{part}");
        }
    }
}
