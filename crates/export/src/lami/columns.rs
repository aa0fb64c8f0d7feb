//! Columns of classes: what each declares to consumers, and how its value is made of a row of a report's table.

use std::borrow::Cow;

use isochrone_analysis::Cell;
use isochrone_time::{UnixNs, Window};
use serde::Serialize;

use super::object::Object;
use super::tables::ResultTable;

/// A column of a class.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Column {
    title: &'static str,
    /// The class of its values.
    class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    /// The column of the report's table that it shows; `*` stands for the direction that the result is of.
    #[serde(skip)]
    source: &'static str,
    #[serde(skip)]
    make: Make,
}

/// Makes a value of the column of a name in a row.
type Make = fn(&Row<'_>, &str) -> Object;

impl Column {
    /// The column before all others where rows are of several hosts.
    pub(super) const HOST: Self = column("string", "Host", "host", string_of);

    /// Its value in a row.
    pub(super) fn value(&self, row: &Row<'_>) -> Object {
        let source: Cow<'_, str> = match self.source.contains('*') {
            true => self.source.replace('*', row.of.direction).into(),
            false => self.source.into(),
        };
        (self.make)(row, &source)
    }
}

/// A column whose values need a function of their own.
pub(super) const fn column(
    class: &'static str,
    title: &'static str,
    source: &'static str,
    make: Make,
) -> Column {
    Column { title, class, unit: None, source, make }
}

/// A number of something.
pub(super) const fn number(title: &'static str, unit: &'static str, source: &'static str) -> Column {
    Column { unit: Some(unit), ..column("number", title, source, number_of) }
}

/// A number of nothing in particular.
pub(super) const fn bare_number(title: &'static str, source: &'static str) -> Column {
    column("number", title, source, number_of)
}

pub(super) const fn duration(title: &'static str, source: &'static str) -> Column {
    column("duration", title, source, |row, name| row.one("duration", "value", name))
}

pub(super) const fn timestamp(title: &'static str, source: &'static str) -> Column {
    column("timestamp", title, source, |row, name| row.one("timestamp", "value", name))
}

pub(super) const fn size(title: &'static str, source: &'static str) -> Column {
    column("size", title, source, |row, name| match row.cell(name) {
        Cell::NotApplicable => Object::Empty,
        _ => row.one("size", "value", name),
    })
}

/// A part of a whole, of a column in percent.
pub(super) const fn ratio(title: &'static str, source: &'static str) -> Column {
    column("ratio", title, source, |row, name| match row.cell(name) {
        Cell::NotApplicable | Cell::Unknown => Object::Unknown,
        cell => Object::Ratio(cell.as_f64() / 100.0),
    })
}

pub(super) const fn string(title: &'static str, source: &'static str) -> Column {
    column("string", title, source, string_of)
}

pub(super) const fn syscall(title: &'static str) -> Column {
    column("syscall", title, "syscall", |row, name| row.named("syscall", name))
}

pub(super) const fn disk(title: &'static str) -> Column {
    column("disk", title, "disk", |row, name| row.named("disk", name))
}

pub(super) const fn interface(title: &'static str) -> Column {
    column("netif", title, "interface", |row, name| row.named("netif", name))
}

pub(super) const fn cpu(title: &'static str) -> Column {
    column("cpu", title, "cpu", |row, name| Object::One("cpu", "id", row.cell(name)))
}

/// The process or thread of the columns `pid`, `tid`, `comm`, with a prefix.
pub(super) const fn process(title: &'static str, prefix: &'static str) -> Column {
    column("process", title, prefix, |row, prefix| {
        let [name, pid, tid] = ["comm", "pid", "tid"].map(|column| row.cell(&format!("{prefix}{column}")));
        match [&name, &pid, &tid].iter().all(|cell| cell.is_missing()) {
            true => Object::Unknown,
            false => Object::Process { name, pid, tid },
        }
    })
}

/// The time range of the columns `begin_ns` and `end_ns`.
pub(super) const fn time_range(title: &'static str) -> Column {
    column("time-range", title, "", |row, _| row.time_range().map_or(Object::Unknown, Object::TimeRange))
}

/// Priorities, in the order in which a thread had them.
pub(super) const PRIORITIES: Column =
    column("string", "Chronological priorities", "priorities", |row, name| {
        let priorities = row.text(name).unwrap_or_default();
        Object::String(format!("[{}]", priorities.split_whitespace().collect::<Vec<_>>().join(", ")))
    });

pub(super) const IRQ: Column = column("irq", "Interrupt", "", |row, _| Object::Irq {
    hard: row.is_hard_irq(),
    number: row.cell("number"),
    name: row.cell("name"),
});

/// When a softirq was raised, which hardware interrupts are not.
pub(super) const RAISED: Column =
    column("timestamp", "Raised timestamp", "raised_ns", |row, name| match row.is_hard_irq() {
        true => Object::Empty,
        false => row.one("timestamp", "value", name),
    });

/// Whether a call began before the time range of the result, or ended after it.
pub(super) const OUT_OF_RANGE: Column = column("bool", "System call out of range?", "", |row, _| {
    let range = row.of.range;
    Object::Bool(row.time_range().is_some_and(|call| call.start < range.start || call.end > range.end))
});

/// The file of a call: some calls have none.
pub(super) const FILE: Column = column("path", "File path", "path", |row, name| match row.cell(name) {
    Cell::NotApplicable => Object::Empty,
    _ => row.one("path", "path", name),
});

/// A file of a table of files.
pub(super) const FILE_INFO: Column =
    column("path", "File path/info", "path", |row, name| row.one("path", "path", name));

pub(super) const FD: Column = column("fd", "File descriptor", "fd", |row, name| match row.cell(name) {
    Cell::Unknown | Cell::NotApplicable => Object::Empty,
    fd => Object::One("fd", "fd", fd),
});

/// The category of calls, which consumers know with a capital.
pub(super) const CATEGORY: Column = column("string", "System call category", "kind", |row, name| {
    let mut kind = row.text(name).unwrap_or_default();
    if let Some(first) = kind.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Object::String(kind)
});

/// What calls returned, and how often.
pub(super) const RETURNS: Column = column("string", "Return values count", "", |row, _| {
    Object::String(row.of.returns.get(&row.call_key()).cloned().unwrap_or_default())
});

fn number_of(row: &Row<'_>, name: &str) -> Object {
    row.one("number", "value", name)
}

fn string_of(row: &Row<'_>, name: &str) -> Object {
    row.text(name).map_or(Object::Unknown, Object::String)
}

/// Columns of statistics: a number, then the least, mean and greatest duration and its deviation.
pub(super) const fn statistics(
    count: (&'static str, &'static str),
    titles: [&'static str; 4],
    sources: [&'static str; 5],
) -> [Column; 5] {
    [
        number(count.0, count.1, sources[0]),
        duration(titles[0], sources[1]),
        duration(titles[1], sources[2]),
        duration(titles[2], sources[3]),
        duration(titles[3], sources[4]),
    ]
}

/// Where most tables have their statistics.
pub(super) const STATISTICS: [&str; 5] = ["count", "min_ns", "avg_ns", "max_ns", "stdev_ns"];

/// Whose call it is, and its name: host, pid, tid, comm, call.
pub(super) type CallKey = [Option<String>; 5];

/// A row of the table of a result.
pub(super) struct Row<'r> {
    pub(super) of: &'r ResultTable<'r>,
    /// Index among the rows of the table.
    pub(super) index: usize,
}

impl Row<'_> {
    /// The cell of a column.
    pub(super) fn cell(&self, name: &str) -> Cell {
        let table = self.of.table;
        debug_assert!(table.column(name).is_some(), "{} of {}", name, table.name);
        table.column(name).and_then(|column| table.rows.cell(self.index, column)).unwrap_or(Cell::Unknown)
    }

    /// The text of a cell; nothing where it is unknown or does not apply.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        match self.cell(name) {
            Cell::Unknown | Cell::NotApplicable => None,
            Cell::Int(value) => Some(value.to_string()),
            Cell::Float(value) => Some(value.to_string()),
            cell @ (Cell::Text(_) | Cell::Call(_)) => cell.as_text().map(Cow::into_owned),
        }
    }

    pub(super) fn call_key(&self) -> CallKey {
        ["host", "pid", "tid", "comm", "syscall"].map(|column| self.text(column))
    }

    fn one(&self, class: &'static str, key: &'static str, name: &str) -> Object {
        match self.cell(name) {
            Cell::NotApplicable | Cell::Unknown => Object::Unknown,
            cell => Object::One(class, key, cell),
        }
    }

    fn named(&self, class: &'static str, name: &str) -> Object {
        self.text(name).map_or(Object::Unknown, |name| Object::Named(class, name))
    }

    fn time_range(&self) -> Option<Window<UnixNs>> {
        match (self.cell("begin_ns"), self.cell("end_ns")) {
            (Cell::Int(begin), Cell::Int(end)) => Some(Window::new(UnixNs(begin), UnixNs(end))),
            _ => None,
        }
    }

    fn is_hard_irq(&self) -> bool {
        match self.of.table.name {
            "hard" => true,
            "soft" => false,
            _ => self.cell("type") == Cell::text("IRQ"),
        }
    }
}
