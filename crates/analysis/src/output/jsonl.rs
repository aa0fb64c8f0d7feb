//! Tables as lines of JSON: an object for each row, whose keys are the names of the columns.
//!
//! Each object begins with the names of the analysis and of the table. Next to an instant in ns,
//! `"begin_ns"`, is the same in seconds as text, `"begin"`: programs that read numbers as doubles lose
//! nothing of it. Unknown values are `null`.

use std::io::{self, Write};
use std::ops::Range;

use serde::ser::{SerializeMap, Serializer};
use serde_json::ser::Serializer as JsonSerializer;

use crate::output::table::{Cell, Table, Unit};

const NS_PER_S: u128 = 1_000_000_000;

/// Writes the rows whose numbers are in a range, as far as there are any, of a table of an analysis.
pub fn rows(analysis: &str, table: &Table, numbers: Range<usize>, out: &mut impl Write) -> io::Result<()> {
    for row in table.rows.range(numbers) {
        let mut serializer = JsonSerializer::new(&mut *out);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("analysis", analysis)?;
        map.serialize_entry("table", table.name)?;
        for (column, cell) in table.columns.iter().zip(row) {
            map.serialize_entry(&*column.name, &cell)?;
            if let (Unit::Time, Some(name)) = (column.unit, column.name.strip_suffix("_ns")) {
                let text = match cell {
                    Cell::Int(ns) => Some(seconds(ns)),
                    _ => None,
                };
                map.serialize_entry(name, &text)?;
            }
        }
        map.end()?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Exact seconds of ns: `-1.500000000`.
pub fn seconds(ns: i128) -> String {
    let (sign, size) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    format!("{sign}{}.{:09}", size / NS_PER_S, size % NS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_objects() {
        let columns = [("host", Unit::None), ("begin_ns", Unit::Time), ("cpu_ns", Unit::Ns)];
        let mut table = Table::new("t", "", &columns);
        table.row(vec![Cell::text("a\"b"), Cell::Int(-1_500_000_000), 7u64.into()]);
        table.row(vec![Cell::text("c"), Cell::Unknown, Cell::Unknown]);
        let mut out = Vec::new();
        rows("x", &table, 0..1, &mut out).unwrap();
        rows("x", &table, 1..9, &mut out).unwrap();
        let expect = concat!(
            r#"{"analysis":"x","table":"t","host":"a\"b","begin_ns":-1500000000,"begin":"-1.500000000","cpu_ns":7}"#,
            "\n",
            r#"{"analysis":"x","table":"t","host":"c","begin_ns":null,"begin":null,"cpu_ns":null}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }
}
