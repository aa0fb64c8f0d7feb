//! Results of reports: which of their tables become which classes, and what each cell is. A file for each family.

mod cpu;
mod interrupts;
mod io;
mod memory;
mod syscalls;
mod waits;

use std::borrow::Cow;
use std::cmp::Reverse;

use isochrone_analysis::{Cell, Report, Table};

use super::classes::TableClass;
use super::object::Object;

/// A row of a report's table.
#[derive(Clone, Copy)]
pub(super) struct Row<'r> {
    table: &'r Table,
    /// Its place among the rows of the table.
    place: usize,
}

/// Makes the values of a row.
type Objects<'r> = Box<dyn Fn(&Row<'r>) -> Vec<Object> + 'r>;

/// A result: rows of a report's table that become one of a class.
pub(super) struct ResultTable<'r> {
    pub(super) class: &'static TableClass,
    /// What the rows are of, where there are several results of a class.
    pub(super) subtitle: Option<String>,
    /// Begin and end, Unix ns.
    pub(super) range: [i128; 2],
    pub(super) rows: Vec<Row<'r>>,
    /// What each row becomes.
    pub(super) objects: Objects<'r>,
}

impl Row<'_> {
    /// The cell of a column.
    fn cell(&self, name: &str) -> Cell {
        debug_assert!(self.table.column(name).is_some(), "{} of {}", name, self.table.name);
        let cell = self.table.column(name).and_then(|column| self.table.rows.cell(self.place, column));
        cell.unwrap_or(Cell::Null)
    }

    /// A figure of a class that has nothing but a value.
    fn value(&self, class: &'static str, name: &str) -> Object {
        match self.cell(name) {
            Cell::None | Cell::Null => Object::Unknown,
            cell => Object::Value(class, cell),
        }
    }

    fn number(&self, name: &str) -> Object {
        self.value("number", name)
    }

    fn duration(&self, name: &str) -> Object {
        self.value("duration", name)
    }

    fn timestamp(&self, name: &str) -> Object {
        self.value("timestamp", name)
    }

    fn size(&self, name: &str) -> Object {
        match self.cell(name) {
            Cell::None => Object::Empty,
            _ => self.value("size", name),
        }
    }

    /// Text, or what is not known.
    pub(super) fn string(&self, name: &str) -> Object {
        text(&self.cell(name)).map_or(Object::Unknown, Object::String)
    }

    fn named(&self, class: &'static str, name: &str) -> Object {
        text(&self.cell(name)).map_or(Object::Unknown, |name| Object::Named(class, name))
    }

    /// A part of a whole that is in percent.
    fn ratio(&self, name: &str) -> Object {
        match self.cell(name) {
            Cell::None | Cell::Null => Object::Unknown,
            cell => Object::Ratio(cell.as_f64() / 100.0),
        }
    }

    /// The process or thread of the columns `pid`, `tid`, `comm`, with a prefix.
    fn process(&self, prefix: &str) -> Object {
        let [name, pid, tid] = ["comm", "pid", "tid"].map(|column| self.cell(&format!("{prefix}{column}")));
        match [&name, &pid, &tid].iter().all(|cell| cell.is_missing()) {
            true => Object::Unknown,
            false => Object::Process { name, pid: Some(pid), tid: Some(tid) },
        }
    }

    fn time_range(&self, begin: &str, end: &str) -> Object {
        match (self.cell(begin), self.cell(end)) {
            (Cell::Int(begin), Cell::Int(end)) => Object::TimeRange(begin, end),
            _ => Object::Unknown,
        }
    }

    /// Count, least, mean, greatest and deviation, with a prefix.
    fn stats(&self, prefix: &str) -> [Object; 5] {
        let column = |name: &str| format!("{prefix}{name}");
        let of = |name: &str| self.duration(&column(name));
        [self.number(&column("count")), of("min_ns"), of("avg_ns"), of("max_ns"), of("stdev_ns")]
    }

    /// A row of a distribution.
    fn bar(&self) -> Vec<Object> {
        vec![self.duration("lo_ns"), self.duration("hi_ns"), self.number("count")]
    }
}

/// A cell as text.
fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Null | Cell::None => None,
        Cell::Int(value) => Some(value.to_string()),
        Cell::Float(value) => Some(value.to_string()),
        Cell::Text(_) | Cell::Call(_) => cell.as_text().map(Cow::into_owned),
    }
}

/// Makes the results of one report.
struct Maker<'r> {
    report: &'r Report,
    results: Vec<ResultTable<'r>>,
}

impl<'r> Maker<'r> {
    fn rows(&self, table: &str) -> Vec<Row<'r>> {
        let of = |table: &'r Table| (0..table.rows.len()).map(move |place| Row { table, place });
        self.report.table(table).into_iter().flat_map(of).collect()
    }

    fn push(
        &mut self,
        class: &'static TableClass,
        subtitle: Option<String>,
        rows: Vec<Row<'r>>,
        objects: impl Fn(&Row<'r>) -> Vec<Object> + 'r,
    ) {
        let range = self.report.range.unwrap_or_default();
        self.results.push(ResultTable { class, subtitle, range, rows, objects: Box::new(objects) });
    }

    /// All rows of a table.
    fn all(
        &mut self,
        table: &str,
        class: &'static TableClass,
        objects: impl Fn(&Row<'r>) -> Vec<Object> + 'r,
    ) {
        let rows = self.rows(table);
        self.push(class, None, rows, objects);
    }

    /// The rows of a table in which a figure is not 0, the greatest first.
    fn top(
        &mut self,
        table: &str,
        figure: &str,
        class: &'static TableClass,
        subtitle: Option<&str>,
        objects: impl Fn(&Row<'r>) -> Vec<Object> + 'r,
    ) {
        let figure_of = |row: &Row<'r>| match row.cell(figure) {
            Cell::Int(value) => value,
            _ => 0,
        };
        let mut rows = self.rows(table);
        rows.retain(|row| figure_of(row) != 0);
        // Stable: those that are as great stay as they are.
        rows.sort_by_key(|row| Reverse(figure_of(row)));
        self.push(class, subtitle.map(str::to_owned), rows, objects);
    }

    /// One result for each group of rows that follow each other and whose first columns are the same.
    fn groups(
        &mut self,
        table: &str,
        columns: usize,
        class: &'static TableClass,
        subtitle: impl Fn(&Row<'r>) -> String,
        objects: impl Fn(&Row<'r>) -> Vec<Object> + Copy + 'r,
    ) {
        let rows = self.rows(table);
        let head = |row: &Row<'_>| -> Vec<Cell> {
            (0..columns).filter_map(|column| row.table.rows.cell(row.place, column)).collect()
        };
        for group in rows.chunk_by(|a, b| head(a) == head(b)) {
            self.push(class, Some(subtitle(&group[0])), group.to_vec(), objects);
        }
    }
}

/// The results of a report; none of an analysis that has no such form.
pub(super) fn results(report: &Report) -> Vec<ResultTable<'_>> {
    let mut maker = Maker { report, results: Vec::new() };
    match report.analysis {
        "cputop" => cpu::cputop(&mut maker),
        "iolatencyfreq" => io::iolatencyfreq(&mut maker),
        "iolatencystats" => io::iolatencystats(&mut maker),
        "iolatencytop" => io::iolatencytop(&mut maker),
        "iolog" => io::iolog(&mut maker),
        "iousagetop" => io::iousagetop(&mut maker),
        "irqfreq" => interrupts::irqfreq(&mut maker),
        "irqlog" => interrupts::irqlog(&mut maker),
        "irqstats" => interrupts::irqstats(&mut maker),
        "memtop" => memory::memtop(&mut maker),
        "schedfreq" => waits::schedfreq(&mut maker),
        "schedlog" => waits::schedlog(&mut maker),
        "schedstats" => waits::schedstats(&mut maker),
        "schedtop" => waits::schedtop(&mut maker),
        "syscallstats" => syscalls::syscallstats(&mut maker),
        _ => {}
    }
    maker.results
}
