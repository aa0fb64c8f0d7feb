//! How the rows of a table are laid out in files: what is in their paths, what in them, and in which order.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::logical_expr::SortExpr;
use datafusion::prelude::ident;

use crate::events;
use crate::tables;

/// The table of events, which is written where it is requested.
pub(super) const EVENTS: &str = "events";

/// What stands for a value that is not known in a path, as in Hive.
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";

/// The first column of a table, which is in the paths of its files.
const KEYS: [&str; 2] = ["host", "sent_host"];

/// The columns that say when a row starts.
const STARTS: [&str; 3] = ["begin_time", "time", "sent_time"];

/// A table, and how its rows are laid out.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// The name of the table.
    pub(super) name: &'static str,
    /// Its columns as queries have them.
    pub(super) schema: SchemaRef,
    /// The first column, whose values are in the paths of files.
    pub(super) key: &'static str,
    /// The instant by which rows are ordered; its day is in the paths as well.
    pub(super) start: &'static str,
}

impl Shape {
    /// That of a table.
    ///
    /// # Errors
    /// There is no such table.
    pub(super) fn of(name: &'static str) -> Result<Self> {
        let schema = if name == EVENTS { events::schema() } else { tables::schema(name)? };
        let first = schema.fields().first().map(|field| field.name().as_str());
        let key = KEYS.into_iter().find(|key| first == Some(*key));
        let start = STARTS.into_iter().find(|start| schema.index_of(start).is_ok());
        let (Some(key), Some(start)) = (key, start) else {
            return Err(internal_datafusion_err!("rows of `{name}` have no host or no start"));
        };
        Ok(Self { name, schema, key, start })
    }

    /// Those of all tables. `with_events`: of the events, too.
    ///
    /// # Errors
    /// None in practice.
    pub(super) fn all(with_events: bool) -> Result<Vec<Self>> {
        tables::names().chain(with_events.then_some(EVENTS)).map(Self::of).collect()
    }

    /// The columns of a file: all but the first.
    pub(super) fn file_schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.schema.fields().iter().skip(1).cloned().collect::<Vec<_>>()))
    }

    /// The column that is in the paths.
    pub(super) fn key_field(&self) -> FieldRef {
        Arc::clone(&self.schema.fields()[0])
    }

    /// The order of rows: by host, by start on the host's own clock, then by all columns that are not made of
    /// others, so that equal rows are equal files whatever read the traces.
    pub(super) fn order(&self) -> Vec<SortExpr> {
        let raw = format!("{}_raw", self.start);
        let is_time = |field: &FieldRef| matches!(field.data_type(), DataType::Timestamp(..));
        let others = self.schema.fields().iter().skip(1).filter(|field| !is_time(field));
        let others = others.map(|field| field.name().as_str()).filter(|name| *name != raw);
        [self.key, &raw].into_iter().chain(others).map(|name| ident(name).sort(true, true)).collect()
    }

    /// The columns with their types, as the manifest and `docs/parquet.md` have them.
    pub(super) fn columns(&self) -> Vec<String> {
        let column = |field: &FieldRef| format!("{} {}", field.name(), type_name(field.data_type()));
        self.schema.fields().iter().map(column).collect()
    }

    /// The parts of the path of a file, below the directory. `day`: as in `2026-11-20`.
    pub(super) fn path(&self, key: Option<&str>, day: Option<&str>, part: u32) -> [String; 4] {
        [
            self.name.to_owned(),
            format!("{}={}", self.key, key.map_or_else(|| UNKNOWN.to_owned(), encoded)),
            format!("day={}", day.map_or_else(|| UNKNOWN.to_owned(), encoded)),
            format!("part-{part}.parquet"),
        ]
    }
}

/// A value as a part of a path: what is not a letter, a digit or one of `-_.` by the numbers of its bytes.
fn encoded(value: &str) -> String {
    let is_taken = value == UNKNOWN;
    let byte = |byte: u8| match byte {
        b'_' if is_taken => "%5F".to_owned(),
        b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(byte).collect()
}

/// The name of a type.
fn type_name(of: &DataType) -> &'static str {
    match of {
        DataType::Boolean => "boolean",
        DataType::Int32 => "int32",
        DataType::Int64 => "int64",
        DataType::UInt8 => "uint8",
        DataType::UInt16 => "uint16",
        DataType::UInt32 => "uint32",
        DataType::UInt64 => "uint64",
        DataType::Utf8 => "string",
        DataType::Timestamp(..) => "timestamp",
        _ => "other",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use super::*;

    const FROM: &str = "<!-- Made of crates/query/src/tables. -->\n\n";
    const TO: &str = "\n<!-- End of what is made. -->";

    /// The table of tables.
    fn made() -> String {
        let mut text =
            "| table | in the path | sorted by | columns of a file |\n|---|---|---|---|\n".to_owned();
        for shape in Shape::all(true).unwrap() {
            let columns: Vec<String> = shape.columns().iter().skip(1).map(|it| short(it)).collect();
            let columns: Vec<String> = columns.into_iter().filter(|column| !column.is_empty()).collect();
            let Shape { name, key, start, .. } = shape;
            let columns = columns.join(", ");
            writeln!(text, "| `{name}` | `{key}`, `day` | `{start}` | {columns} |").unwrap();
        }
        text
    }

    /// A column; of an instant, whose other columns follow, the first with `×4`.
    fn short(column: &str) -> String {
        let (name, of) = column.split_once(' ').unwrap();
        let is_bound = name.ends_with("_lo") || name.ends_with("_hi");
        match of {
            "timestamp" if is_bound => String::new(),
            "timestamp" => format!("`{name}` ×4"),
            "int64" if name.ends_with("_time_raw") || name == "time_raw" => String::new(),
            _ => format!("`{name}` {of}"),
        }
    }

    /// With `ISOCHRONE_UPDATE_DOCS` in the environment, the document is made current.
    #[test]
    fn the_document_has_all_tables() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/parquet.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(FROM).unwrap();
        let (old, after) = rest.split_once(TO).unwrap();
        if std::env::var_os("ISOCHRONE_UPDATE_DOCS").is_some() {
            std::fs::write(&path, [before, FROM, &made(), TO, after].concat()).unwrap();
        } else {
            assert_eq!(old, made());
        }
    }

    /// Every type has a name, and every instant its four columns in order: the document lists the first.
    #[test]
    fn columns_are_those_of_instants() {
        for shape in Shape::all(true).unwrap() {
            let columns = shape.columns();
            assert!(columns.iter().all(|column| !column.ends_with(" other")), "{columns:?}");
            let names: Vec<&str> = columns.iter().map(|it| it.split_once(' ').unwrap().0).collect();
            let starts = columns.iter().zip(0..).filter(|(it, _)| it.ends_with("_time timestamp"));
            for (start, index) in starts {
                let name = start.split_once(' ').unwrap().0;
                let four = ["", "_raw", "_lo", "_hi"].map(|end| format!("{name}{end}"));
                assert_eq!(names[index..index + 4], four, "{}", shape.name);
            }
        }
    }

    #[test]
    fn values_in_paths() {
        let check = |value: &str, expect: &str| assert_eq!(encoded(value), expect);
        check("web-1.example", "web-1.example");
        check("web 1", "web%201");
        check("a/b=c%", "a%2Fb%3Dc%25");
        check("ü", "%C3%BC");
        check("__HIVE_DEFAULT_PARTITION__", "%5F%5FHIVE%5FDEFAULT%5FPARTITION%5F%5F");
        let path = Shape::of("slices").unwrap().path(None, Some("2026-11-20"), 3);
        let expect = "slices/host=__HIVE_DEFAULT_PARTITION__/day=2026-11-20/part-3.parquet";
        assert_eq!(path.join("/"), expect);
        assert_eq!(Shape::of("messages").unwrap().path(Some("h"), None, 0)[1], "sent_host=h");
    }

    /// The order of rows names no column of times but the start.
    #[test]
    fn rows_are_in_one_order() {
        let order = Shape::of("softirqs").unwrap().order();
        let names: Vec<String> = order.iter().map(|it| it.expr.to_string()).collect();
        let expect = ["host", "begin_time_raw", "cpu", "vector", "raised_time_raw", "end_time_raw"];
        assert_eq!(names[..6], expect);
    }
}
