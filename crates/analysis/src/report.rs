//! The result of an analysis as a whole. Its serialized form is the JSON that the command writes; docs describe it.

use serde::Serialize;

use crate::table::Table;

/// Version of the serialized form. It goes up when a name or a meaning changes, not when tables or columns are added.
pub const VERSION: u32 = 1;

/// Tables, and what is to be said about them. Serializes as `{"analysis", "version", "sync", "range", "tables":
/// [{"name", "columns": [{"name", "unit"}], "rows": [[…]]}], "notes"}`: times are integers, ns since 1970; what is
/// unknown is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Name of the analysis.
    pub analysis: &'static str,
    /// Version of this form.
    pub version: u32,
    /// Whether all times are on one clock; else those of each host are on its own.
    pub sync: bool,
    /// Begin and end of what was looked at, Unix ns; `None` where there was nothing.
    pub range: Option<[i128; 2]>,
    /// The tables.
    pub tables: Vec<Table>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl Report {
    /// The table of a name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}
