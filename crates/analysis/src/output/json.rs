//! Reports as JSON: an object for each, as it is serialized, whose rows are written apart, so that several
//! threads can make their text.

use std::io::{self, Write};
use std::ops::Range;

use serde::Serialize;

use crate::output::report::Report;
use crate::output::table::Table;

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
pub fn rows(table: &Table, numbers: Range<usize>, out: &mut impl Write) -> io::Result<()> {
    for (number, row) in numbers.clone().zip(table.rows.range(numbers)) {
        if number > 0 {
            out.write_all(b",")?;
        }
        row.serialize(&mut serde_json::Serializer::new(&mut *out))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use isochrone_time::UnixNs;

    use super::*;
    use crate::output::note::Note;
    use crate::output::report::VERSION;
    use crate::output::table::{Cell, Unit};

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
