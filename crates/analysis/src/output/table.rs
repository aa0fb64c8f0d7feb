//! The result of an analysis: rows and columns with names and units, for whatever shows them.

use std::borrow::Cow;

use isochrone_kernel::scratch::Scratch;
use isochrone_time::UnixNs;
use serde::Serialize;

use crate::storage::rows::Rows;

pub use crate::output::cell::{Cell, percent};

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A name, or a number that nothing is done with: a thread, a CPU.
    None,
    /// A duration, ns.
    Ns,
    /// An instant, ns since 1970.
    Time,
    /// A number of things.
    Count,
    /// A number of bytes.
    Bytes,
    /// A part of a whole, 100 being all of it.
    Percent,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name: lower case, with `_ns` at the end where it is in ns.
    pub name: Cow<'static, str>,
    /// What its values are.
    pub unit: Unit,
    /// Where it is in tables for people, which are to fit a screen. Programs get all columns, in their order.
    #[serde(skip)]
    pub shown: Visibility,
}

impl Column {
    /// The name as people see it: without its unit, which the values show.
    pub fn words(&self) -> String {
        match &*self.name {
            // Elsewhere a column of that name is the number of a CPU.
            "cpu_ns" => "cpu time".to_owned(),
            name => name.strip_suffix("_ns").unwrap_or(name).replace('_', " "),
        }
    }

    /// Whether this is its name, or what people see of it: in any case, with spaces, hyphens or `_` between
    /// words, and with or without the unit.
    pub fn is_called(&self, name: &str) -> bool {
        let plain = |name: &str| name.trim().to_lowercase().replace([' ', '-'], "_");
        let (name, own) = (plain(name), plain(&self.name));
        let without_unit = |suffix: &str| own.strip_suffix(suffix) == Some(&name);
        own == name || without_unit("_ns") || without_unit("_bytes") || plain(&self.words()) == name
    }
}

/// Where a column is in tables for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// Among the others, in its order.
    #[default]
    Normal,
    /// After the others: it is long at times, and makes no row wider than its own.
    Trailing,
    /// Not shown: people can do without.
    Hidden,
}

/// Which column of a table is drawn as bars where it is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// The column. Values are drawn as parts of the greatest of their group.
    pub column: usize,
    /// Number of columns, from the left, that are equal in a group of rows.
    pub group: usize,
}

/// A table. All rows have as many cells as there are columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Its name among those of the analysis.
    pub name: &'static str,
    /// A heading for people.
    #[serde(skip)]
    pub title: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Rows,
    /// What to draw.
    #[serde(skip)]
    pub drawn: Option<Drawn>,
    /// The column of instants that a log is in the order of.
    #[serde(skip)]
    pub by_time: Option<usize>,
    /// Whether its rows come in the order of a figure, so that the first ones are those of interest.
    #[serde(skip)]
    pub is_top: bool,
    /// Whether people see it only where it is short or requested: it has for each thread what another table
    /// has for all.
    #[serde(skip)]
    pub is_detail: bool,
    /// Number of rows in all, where some have been left out.
    #[serde(skip)]
    pub total_rows: Option<u64>,
}

impl Table {
    /// A table without rows.
    pub fn new(name: &'static str, title: &'static str, columns: &[(&'static str, Unit)]) -> Self {
        let columns = columns
            .iter()
            .map(|&(name, unit)| Column { name: name.into(), unit, shown: Visibility::default() })
            .collect();
        Self {
            name,
            title,
            columns,
            rows: Rows::default(),
            drawn: None,
            by_time: None,
            is_top: false,
            is_detail: false,
            total_rows: None,
        }
    }

    /// The table with more columns, to the right of the others.
    #[must_use]
    pub fn with_columns(mut self, unit: Unit, names: &[&'static str]) -> Self {
        let column = |&name: &&'static str| Column { name: name.into(), unit, shown: Visibility::default() };
        self.columns.extend(names.iter().map(column));
        self
    }

    /// Adds a row.
    #[allow(clippy::needless_pass_by_value)] // A row is made for its table.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.name);
        self.rows.push(&cells);
    }

    /// As [`Self::row`], of a row that was put together.
    pub(crate) fn add(&mut self, row: Row) {
        self.row(row.0);
    }

    /// Puts a column before all others, with one value.
    pub(crate) fn prepend_column(&mut self, name: &'static str, value: &Cell) {
        self.columns.insert(0, Column { name: name.into(), unit: Unit::None, shown: Visibility::default() });
        self.rows.change(|row| row.insert(0, value.clone()));
        if let Some(drawn) = &mut self.drawn {
            (drawn.column, drawn.group) = (drawn.column + 1, drawn.group + 1);
        }
        self.by_time = self.by_time.map(|column| column + 1);
    }

    /// Appends the rows of a table with the same columns.
    pub(crate) fn append(&mut self, more: &Self) {
        debug_assert_eq!(self.columns, more.columns, "{}", self.name);
        let rows = |table: &Self| table.total_rows.unwrap_or(table.rows.len() as u64);
        let all = rows(self) + rows(more);
        self.rows.extend(&more.rows);
        self.total_rows = (all > self.rows.len() as u64).then_some(all);
    }

    /// Keeps the rows in which one of these hosts is: in a column of hosts, by what it is called. A table
    /// without such columns stays as it is.
    pub fn keep_hosts(&mut self, hosts: &[String]) {
        let is_host =
            |name: &str| name == "host" || name.ends_with("_host") || ["from", "to"].contains(&name);
        let columns: Vec<usize> =
            (0..self.columns.len()).filter(|&index| is_host(&self.columns[index].name)).collect();
        let is_one = |cell: &Cell| cell.as_text().is_some_and(|text| hosts.iter().any(|host| *host == text));
        if !columns.is_empty() {
            self.rows.retain(|row| columns.iter().any(|&column| is_one(&row[column])));
        }
    }

    /// Index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Adds the bounds of instants after each column of them, `begin_lo_ns` and `begin_hi_ns` after
    /// `begin_ns`. `of` gives both for a row and an instant in it; `None`: not known.
    pub fn add_bounds(&mut self, of: impl Fn(&[Cell], UnixNs) -> (Option<UnixNs>, Option<UnixNs>)) {
        let is_time = |&index: &usize| self.columns[index].unit == Unit::Time;
        let indexes: Vec<usize> = (0..self.columns.len()).filter(is_time).collect();
        // From the right: the indexes of the rest stay as they are.
        for &index in indexes.iter().rev() {
            let name = self.columns[index].name.trim_end_matches("_ns").to_owned();
            let column = |side: &str| Column {
                name: format!("{name}_{side}_ns").into(),
                unit: Unit::Time,
                shown: Visibility::Hidden,
            };
            self.columns.splice(index + 1..=index, [column("lo"), column("hi")]);
        }
        // Instants stand where they stood; what comes before them has grown.
        self.rows.change(|row| {
            for &index in indexes.iter().rev() {
                let (lo, hi) = match row[index] {
                    Cell::Int(at) => of(row, UnixNs(at)),
                    _ => (None, None),
                };
                row.splice(index + 1..=index, [lo, hi].map(|at| at.map(UnixNs::ns).into()));
            }
        });
        if let Some(drawn) = &mut self.drawn {
            drawn.column += 2 * indexes.iter().filter(|&&index| index < drawn.column).count();
            drawn.group += 2 * indexes.iter().filter(|&&index| index < drawn.group).count();
        }
        if let Some(by) = &mut self.by_time {
            *by += 2 * indexes.iter().filter(|&&index| index < *by).count();
        }
    }

    /// The indexes of what an instant can have been at least and at most, if they are known for the column at
    /// a index.
    pub fn bounds_of(&self, index: usize) -> Option<(usize, usize)> {
        let [time, lo, hi] = self.columns.get(index..index + 3)? else { return None };
        let name = time.name.strip_suffix("_ns").filter(|_| time.unit == Unit::Time)?;
        let is_side = |column: &Column, side: &str| {
            column.name.strip_prefix(name).and_then(|rest| rest.strip_prefix(side)) == Some("_ns")
        };
        (is_side(lo, "_lo") && is_side(hi, "_hi")).then_some((index + 1, index + 2))
    }

    /// The table, without rows so far, with rows that go to a scratch.
    #[must_use]
    pub fn kept_in(self, scratch: &Scratch) -> Self {
        debug_assert!(self.rows.is_empty(), "{}", self.name);
        Self { rows: Rows::new(scratch), ..self }
    }

    /// The table as a log: where all hosts are on one clock, its rows are in the order of a column of
    /// instants.
    #[must_use]
    pub fn by_time(mut self, name: &str) -> Self {
        self.by_time = self.column(name);
        self
    }

    /// Puts the rows of a log in the order of time. Rows of one instant, and those whose own is not known,
    /// stay after the one before them.
    pub fn sort_by_time(&mut self) {
        let Some(column) = self.by_time else { return };
        let (mut at, mut host) = (i128::MIN, None);
        let key = |row: Vec<Cell>| {
            if host.as_ref() != row.first() {
                (at, host) = (i128::MIN, row.first().cloned());
            }
            if let Cell::Int(known) = row[column] {
                at = known;
            }
            at
        };
        let keys: Vec<i128> = self.rows.iter().map(key).collect();
        self.rows.sort_by_keys(keys, Ord::cmp);
    }

    /// The table as one whose first rows are those of interest.
    #[must_use]
    pub fn top(mut self) -> Self {
        self.is_top = true;
        self
    }

    /// The table as one of details, which people are shown where it is short or requested.
    #[must_use]
    pub fn detail(mut self) -> Self {
        self.is_detail = true;
        self
    }

    /// Sorts the rows by a column, by a name that [`Column::is_called`] knows: figures the greatest first,
    /// names, numbers of things and instants in their order; what is not known comes last. Rows that are
    /// equal stay as they are. Returns whether there is such a column.
    pub fn sort(&mut self, name: &str) -> bool {
        let named = || self.columns.iter().position(|column| column.is_called(name));
        let Some(column) = self.column(name).or_else(named) else { return false };
        let is_figure = !matches!(self.columns[column].unit, Unit::None | Unit::Time);
        let keys: Vec<Cell> = self.rows.column(column).collect();
        self.rows.sort_by_keys(keys, |a, b| {
            let known = a.is_missing().cmp(&b.is_missing());
            known.then_with(|| if is_figure { b.order(a) } else { a.order(b) })
        });
        true
    }

    /// Leaves out all but the first rows.
    pub fn cut(&mut self, limit: usize) {
        if self.rows.len() > limit {
            self.total_rows.get_or_insert(self.rows.len() as u64);
            self.rows.truncate(limit);
        }
        let rows = self.rows.len() as u64;
        self.total_rows = self.total_rows.filter(|&of| of > rows);
    }

    /// The table with a column drawn as bars; groups of rows are those whose first `group` cells are equal.
    #[must_use]
    pub fn draw(mut self, name: &str, group: usize) -> Self {
        self.drawn = self.column(name).map(|column| Drawn { column, group });
        self
    }

    /// The table with some columns elsewhere, or nowhere, where it is shown to people.
    #[must_use]
    pub fn show(mut self, names: &[&str], shown: Visibility) -> Self {
        debug_assert!(names.iter().all(|name| self.column(name).is_some()), "{}", self.name);
        let columns = self.columns.iter_mut().filter(|column| names.contains(&&*column.name));
        columns.for_each(|column| column.shown = shown);
        self
    }

    /// The indexes of the columns that people are shown, in the order in which they are.
    pub fn shown(&self) -> Vec<usize> {
        let is_shown = |&index: &usize| self.columns[index].shown != Visibility::Hidden;
        let mut indexes: Vec<usize> = (0..self.columns.len()).filter(is_shown).collect();
        indexes.sort_by_key(|&index| self.columns[index].shown);
        indexes
    }

    /// A bar for each row, `width` characters at most; nothing where nothing is drawn.
    pub fn bars(&self, width: usize) -> Vec<String> {
        self.drawn().into_iter().map(|(value, whole)| bar(value, whole, width)).collect()
    }

    /// How long the bar of each row is, as a part of the longest of its group; nothing where nothing is
    /// drawn.
    pub fn shares(&self) -> Vec<f64> {
        self.drawn().into_iter().map(|(value, whole)| if whole > 0.0 { value / whole } else { 0.0 }).collect()
    }

    /// By row the value that is drawn, and the greatest of its group.
    fn drawn(&self) -> Vec<(f64, f64)> {
        let Some(Drawn { column, group }) = self.drawn else { return Vec::new() };
        let drawn = |row: Vec<Cell>| (row[..group].to_vec(), row[column].as_f64());
        let values: Vec<(Vec<Cell>, f64)> = self.rows.iter().map(drawn).collect();
        values
            .chunk_by(|a, b| a.0 == b.0)
            .flat_map(|rows| {
                let values = || rows.iter().map(|(_, value)| *value);
                let whole = values().fold(0.0, f64::max);
                values().map(move |value| (value, whole)).collect::<Vec<_>>()
            })
            .collect()
    }
}

/// A bar of blocks: `value` as a part of `whole`, which is `width` blocks; the last block may be an eighth to
/// seven eighths of one. What is more than nothing is never shown as nothing.
pub fn bar(value: f64, whole: f64, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    if value <= 0.0 || whole <= 0.0 {
        return String::new();
    }
    let all = width * 8;
    let eighths = ((value / whole * all as f64).round() as usize).clamp(1.min(all), all);
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    bar
}

/// The cells of a row, put together from left to right.
#[derive(Debug, Clone)]
pub(crate) struct Row(Vec<Cell>);

impl Default for Row {
    /// Room for the cells of most tables: a list that grows is copied several times.
    fn default() -> Self {
        Self(Vec::with_capacity(16))
    }
}

impl Row {
    /// The row with a cell more.
    pub(crate) fn cell(self, value: impl Into<Cell>) -> Self {
        self.cells([value])
    }

    /// The row with more cells.
    pub(crate) fn cells<C: Into<Cell>>(mut self, values: impl IntoIterator<Item = C>) -> Self {
        self.0.extend(values.into_iter().map(C::into));
        self
    }
}

impl Extend<Row> for Table {
    fn extend<I: IntoIterator<Item = Row>>(&mut self, rows: I) {
        rows.into_iter().for_each(|row| self.add(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars() {
        let check = |value, whole, expect: &str| assert_eq!(bar(value, whole, 4), expect, "{value}/{whole}");
        check(0.0, 10.0, "");
        check(10.0, 10.0, "████");
        check(50.0, 10.0, "████");
        check(5.0, 10.0, "██");
        check(1.0, 10.0, "▍");
        check(1e-9, 10.0, "▏");
        check(1.0, 0.0, "");
        assert_eq!(bar(1.0, 1.0, 0), "");
    }

    #[test]
    fn groups_have_their_own_scale() {
        let mut table =
            Table::new("freq", "", &[("host", Unit::None), ("count", Unit::Count)]).draw("count", 1);
        for (host, count) in [("a", 4u64), ("a", 2), ("b", 1)] {
            table.row(vec![Cell::text(host), count.into()]);
        }
        assert_eq!(table.bars(4), ["████", "██", "████"]);
    }

    #[test]
    fn people_are_shown_what_fits() {
        let columns = ["host", "name", "flags", "count"].map(|name| (name, Unit::None));
        let table = Table::new("t", "", &columns)
            .show(&["name"], Visibility::Trailing)
            .show(&["flags"], Visibility::Hidden);
        assert_eq!(table.shown(), [0, 3, 1]);
        assert_eq!(table.column("name"), Some(1));
        let json = r#"{"name":"name","unit":"none"}"#;
        assert_eq!(serde_json::to_string(&table.columns[1]).unwrap(), json);
    }

    /// A log of two hosts: begins, and rows without one.
    fn log() -> Table {
        let columns = [("host", Unit::None), ("begin_ns", Unit::Time), ("n", Unit::None)];
        let mut table = Table::new("log", "", &columns).by_time("begin_ns").draw("n", 1);
        for (host, at, n) in
            [("a", Some(5i64), 0), ("a", None, 1), ("a", Some(9), 2), ("b", None, 3), ("b", Some(5), 4)]
        {
            table.row(vec![Cell::text(host), at.into(), n.into()]);
        }
        table
    }

    #[test]
    fn logs_are_in_the_order_of_time() {
        let mut table = log();
        table.sort_by_time();
        let order: Vec<f64> = table.rows.iter().map(|row| row[2].as_f64()).collect();
        assert_eq!(order, [3.0, 0.0, 1.0, 4.0, 2.0]);
    }

    #[test]
    fn rows_are_sorted_and_cut() {
        let columns = [("name", Unit::None), ("at", Unit::Time), ("ns", Unit::Ns)];
        let mut table = Table::new("t", "", &columns);
        for (name, at, ns) in [("b", 2, Some(1.5)), ("a", 3, None), ("c", 1, Some(7.0))] {
            table.row(vec![Cell::text(name), at.into(), ns.into()]);
        }
        let mut check = |column, expect: [&str; 3]| {
            assert!(table.sort(column));
            let names: Vec<Cell> = table.rows.iter().map(|row| row[0].clone()).collect();
            assert_eq!(names, expect.map(Cell::text), "{column}");
        };
        check("name", ["a", "b", "c"]);
        check("at", ["c", "b", "a"]);
        check("ns", ["c", "b", "a"]);
        assert!(!table.sort("nothing"));
        table.cut(5);
        assert_eq!(table.total_rows, None);
        table.cut(2);
        assert_eq!((table.rows.len(), table.total_rows), (2, Some(3)));
    }

    #[test]
    fn instants_have_bounds() {
        let mut table = log();
        table.add_bounds(|row, at| (Some(at - 1), (row[0] == Cell::text("a")).then_some(at + 2)));
        let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        assert_eq!(names, ["host", "begin_ns", "begin_lo_ns", "begin_hi_ns", "n"]);
        assert_eq!(table.rows.get(0).unwrap()[1..4], [5i64, 4, 7].map(Cell::from));
        assert_eq!(table.rows.get(1).unwrap()[2..4], [Cell::Unknown, Cell::Unknown]);
        assert_eq!(table.rows.get(4).unwrap()[3], Cell::Unknown);
        assert_eq!(table.bounds_of(1), Some((2, 3)));
        assert_eq!((table.bounds_of(0), table.bounds_of(2), table.bounds_of(4)), (None, None, None));
        assert_eq!(table.drawn, Some(Drawn { column: 4, group: 1 }));
        assert_eq!(table.shown(), [0, 1, 4]);
    }

    #[test]
    fn what_is_no_number_is_unknown() {
        assert_eq!(percent(1, 4), Cell::Float(25.0));
        assert_eq!(percent(0, 0), Cell::Unknown);
        assert_eq!(Cell::from(u128::MAX), Cell::Int(i128::MAX));
        assert_eq!(serde_json::to_string(&Cell::Int(1 << 80)).unwrap(), "1208925819614629174706176");
    }
}
