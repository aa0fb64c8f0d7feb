//! The result of an analysis as a whole. Its serialized form is the JSON that the command writes; docs
//! describe it.

use isochrone_time::UnixNs;
use serde::Serialize;

use crate::options::Options;
use crate::output::note::Note;
use crate::output::table::{Cell, Table};

/// Version of the serialized form. It goes up when a name or a meaning changes, not when tables or columns
/// are added.
pub const VERSION: u32 = 1;

/// Tables, and what is to be said about them. Serializes as
/// `{"analysis", "version", "sync", "range", "tables": [{"name", "columns": [{"name", "unit"}], "rows": [[…]]}], "notes"}`:
/// times are integers, ns since 1970; what is unknown is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Name of the analysis.
    pub analysis: &'static str,
    /// Version of this form.
    pub version: u32,
    /// Whether all times are on one clock; else those of each host are on its own.
    pub sync: bool,
    /// Start and end of what was looked at; `None` where there was nothing.
    pub range: Option<[UnixNs; 2]>,
    /// The tables.
    pub tables: Vec<Table>,
    /// What a reader should know.
    pub notes: Vec<Note>,
}

impl Report {
    /// Puts its tables into the order and the length that are requested.
    pub fn sort_and_limit(&mut self, options: &Options) {
        for table in &mut self.tables {
            if let Some(sort) = &options.sort {
                table.sort(sort);
            }
            let limit = options.limit.or(options.top.filter(|_| table.is_top));
            table.cut(limit.unwrap_or(usize::MAX));
        }
    }

    /// The report with the name of the period that it is of in the first column of all tables.
    #[must_use]
    pub fn of_period(mut self, name: &str) -> Self {
        self.tables.iter_mut().for_each(|table| table.prepend_column("period", &Cell::text(name)));
        self
    }

    /// Appends the rows and notes of another report of the same analysis.
    pub fn append(&mut self, other: Self) {
        for (table, more) in self.tables.iter_mut().zip(&other.tables) {
            table.append(more);
        }
        self.notes
            .extend(other.notes.into_iter().filter(|note| !self.notes.contains(note)).collect::<Vec<_>>());
        self.range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some([a[0].min(b[0]), a[1].max(b[1])]),
            (a, b) => a.or(b),
        };
    }

    /// The tables of a name; `None`: all.
    pub fn tables_of(&self, name: Option<&str>) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(move |table| name.is_none_or(|name| table.name == name))
    }

    /// The table of a name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}
