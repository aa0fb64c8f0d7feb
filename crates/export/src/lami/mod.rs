//! LAMI 1.0, the machine interface of lttng-analyses: what Trace Compass runs as an external analysis.
//!
//! `classes` has the classes of tables that each analysis declares, made of `columns`; `object` has the typed values, and `tables` chooses
//! the rows of the reports' own tables. A consumer requests [`metadata`] once, and loads [`Results`] against it.

mod classes;
mod columns;
mod object;
mod tables;

use isochrone_analysis::Report;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use self::classes::{Family, TableClass};
use self::columns::Column;
use self::object::Object;
use self::tables::ResultTable;

/// Major and minor version of the interface.
pub const VERSION: (u32, u32) = (1, 0);

/// Names of the analyses that have this form: those of lttng-analyses.
pub fn analyses() -> impl Iterator<Item = &'static str> {
    classes::FAMILIES.iter().flat_map(|family| family.analyses.iter().copied())
}

/// What an analysis is and the classes of its tables, as the interface wants them; `None`: it does not have this form. `version` is that of
/// the program.
///
/// ```
/// let metadata = isochrone_export::lami::metadata("memtop", "0.1.0").unwrap();
/// let json = serde_json::to_value(metadata).unwrap();
/// assert_eq!(json["table-classes"]["allocd"]["column-descriptions"][1]["unit"], "pages");
/// assert!(isochrone_export::lami::metadata("fds", "0.1.0").is_none());
/// ```
pub fn metadata(analysis: &str, version: &str) -> Option<impl Serialize> {
    let family = classes::family(analysis)?;
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0u32));
    let mut number = || numbers.next().unwrap_or(0);
    Some(Metadata { family, version: [number(), number(), number()] })
}

struct Metadata {
    family: &'static Family,
    version: [u32; 3],
}

#[derive(Serialize)]
struct MiVersion {
    major: u32,
    minor: u32,
}

#[derive(Serialize)]
struct Version {
    major: u32,
    minor: u32,
    patch: u32,
    extra: &'static str,
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [major, minor, patch] = self.version;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("mi-version", &MiVersion { major: VERSION.0, minor: VERSION.1 })?;
        map.serialize_entry("version", &Version { major, minor, patch, extra: "" })?;
        map.serialize_entry("title", self.family.title)?;
        map.serialize_entry("description", self.family.description)?;
        map.serialize_entry("authors", &["the authors of Isochrone"])?;
        map.serialize_entry("url", "")?;
        map.serialize_entry("tags", self.family.tags)?;
        map.serialize_entry("table-classes", &Classes(self.family.classes))?;
        map.end()
    }
}

struct Classes(&'static [TableClass]);

impl Serialize for Classes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|class| (class.name, class)))
    }
}

/// Reports of analyses as results, `{"results": [{"class", "time-range", "data": [[…]]}]}`. Tables without rows are left out.
pub struct Results<'r> {
    tables: Vec<ResultTable<'r>>,
    with_hosts: bool,
}

impl<'r> Results<'r> {
    /// The results of reports; those of analyses without this form have none. `with_hosts`: whether several hosts were requested. Then each
    /// row begins with its host, and each result describes its columns itself, because the metadata know no hosts.
    pub fn new(reports: &'r [Report], with_hosts: bool) -> Self {
        let mut tables: Vec<ResultTable<'r>> = reports.iter().flat_map(tables::results).collect();
        tables.retain(|table| !table.rows.is_empty());
        Self { tables, with_hosts }
    }
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        let tables = self.tables.iter().map(|table| One { table, with_hosts: self.with_hosts });
        map.serialize_entry("results", &tables.collect::<Vec<_>>())?;
        map.end()
    }
}

/// One result.
struct One<'t, 'r> {
    table: &'t ResultTable<'r>,
    with_hosts: bool,
}

/// A class as a result names it.
#[derive(Serialize)]
#[serde(untagged)]
enum ClassRef {
    /// As it was declared.
    Declared(&'static str),
    /// With another title.
    Titled { inherit: &'static str, title: String },
    /// With columns of its own.
    #[serde(rename_all = "kebab-case")]
    Own { title: String, column_descriptions: Vec<&'static Column> },
}

impl One<'_, '_> {
    fn class(&self) -> ClassRef {
        let class = self.table.class;
        let title = match &self.table.subtitle {
            Some(subtitle) => format!("{} [{subtitle}]", class.title),
            None => class.title.to_owned(),
        };
        match (self.with_hosts, &self.table.subtitle) {
            (true, _) => {
                let columns = std::iter::once(&Column::HOST).chain(class.columns());
                ClassRef::Own { title, column_descriptions: columns.collect() }
            }
            (false, Some(_)) => ClassRef::Titled { inherit: class.name, title },
            (false, None) => ClassRef::Declared(class.name),
        }
    }
}

impl Serialize for One<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("class", &self.class())?;
        map.serialize_entry("time-range", &Object::TimeRange(self.table.range))?;
        map.serialize_entry("data", &Rows(self))?;
        map.end()
    }
}

/// The rows of a result: made one by one, because a log has many.
struct Rows<'t, 'r>(&'t One<'t, 'r>);

impl Serialize for Rows<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let One { table, with_hosts } = self.0;
        let host = with_hosts.then_some(&Column::HOST);
        serializer.collect_seq(table.rows.iter().map(|&index| {
            let row = table.row(index);
            host.into_iter().chain(table.class.columns()).map(|column| column.value(&row)).collect::<Vec<_>>()
        }))
    }
}
