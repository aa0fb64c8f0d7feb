//! The result of an analysis: rows and columns with names and units, for whatever shows them.

use isochrone_kernel::Name;
use serde::{Serialize, Serializer};

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
    /// How many.
    Count,
    /// How many bytes.
    Bytes,
    /// A part of a whole, 100 being all of it.
    Percent,
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name: lower case, with `_ns` at the end where it is in ns.
    pub name: &'static str,
    /// What its values are.
    pub unit: Unit,
    /// Where it is in tables for people, which are to fit a screen. Programs get all columns, in their order.
    #[serde(skip)]
    pub shown: Shown,
}

/// Where a column is in tables for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// Among the others.
    #[default]
    InPlace,
    /// After the others: it is long at times, and makes no row wider than its own.
    Last,
    /// Nowhere: people can do without.
    Nowhere,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Unknown, or there is none.
    Null,
    /// Whatever is measured or counted.
    Int(i128),
    /// Derived figures only: means, deviations, percents. Always finite.
    Float(f64),
    /// A name.
    Text(Name),
}

/// Which column of a table is drawn as bars where it is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// The column. Percents are drawn as parts of 100, all else as parts of the greatest of its group.
    pub column: usize,
    /// How many columns, from the left, say what a group of rows is about.
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
    pub rows: Vec<Vec<Cell>>,
    /// What to draw.
    #[serde(skip)]
    pub drawn: Option<Drawn>,
}

impl Table {
    /// A table without rows.
    pub fn new(name: &'static str, title: &'static str, columns: &[(&'static str, Unit)]) -> Self {
        let columns =
            columns.iter().map(|&(name, unit)| Column { name, unit, shown: Shown::default() }).collect();
        Self { name, title, columns, rows: Vec::new(), drawn: None }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.name);
        self.rows.push(cells);
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The table with a column drawn as bars; groups of rows are those whose first `group` cells are equal.
    #[must_use]
    pub fn draw(mut self, name: &str, group: usize) -> Self {
        self.drawn = self.column(name).map(|column| Drawn { column, group });
        self
    }

    /// The table with some columns elsewhere, or nowhere, where it is shown to people.
    #[must_use]
    pub fn show(mut self, names: &[&str], shown: Shown) -> Self {
        debug_assert!(names.iter().all(|name| self.column(name).is_some()), "{}", self.name);
        let columns = self.columns.iter_mut().filter(|column| names.contains(&column.name));
        columns.for_each(|column| column.shown = shown);
        self
    }

    /// The places of the columns that people are shown, in the order in which they are.
    pub fn shown(&self) -> Vec<usize> {
        let is_shown = |&place: &usize| self.columns[place].shown != Shown::Nowhere;
        let mut places: Vec<usize> = (0..self.columns.len()).filter(is_shown).collect();
        places.sort_by_key(|&place| self.columns[place].shown);
        places
    }

    /// A bar for each row, `width` characters at most; nothing where nothing is drawn.
    pub fn bars(&self, width: usize) -> Vec<String> {
        let Some(Drawn { column, group }) = self.drawn else { return Vec::new() };
        let percent = self.columns[column].unit == Unit::Percent;
        self.rows
            .chunk_by(|a, b| a[..group] == b[..group])
            .flat_map(|rows| {
                let values = || rows.iter().map(|row| row[column].as_f64());
                let whole = if percent { 100.0 } else { values().fold(0.0, f64::max) };
                values().map(move |value| bar(value, whole, width)).collect::<Vec<_>>()
            })
            .collect()
    }
}

/// `value` as a part of `whole` in blocks, of which `width` are all; the last block may be an eighth to seven eighths
/// of one. What is more than nothing is never shown as nothing.
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

impl Cell {
    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(Name::from(text))
    }

    /// As a number to draw; what is none is 0.
    pub fn as_f64(&self) -> f64 {
        match self {
            Self::Int(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Null | Self::Text(_) => 0.0,
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            // 128 bits only where they are needed: not every serializer knows them.
            Self::Int(value) => match i64::try_from(*value) {
                Ok(value) => serializer.serialize_i64(value),
                Err(_) => serializer.serialize_i128(*value),
            },
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

macro_rules! cells_of {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Cell {
            fn from(value: $integer) -> Self {
                Self::Int(value.into())
            }
        }
    )*};
}

cells_of!(i32, u32, i64, u64, i128);

impl From<u128> for Cell {
    fn from(value: u128) -> Self {
        Self::Int(i128::try_from(value).unwrap_or(i128::MAX))
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Float(value) } else { Self::Null }
    }
}

impl From<&Name> for Cell {
    fn from(value: &Name) -> Self {
        Self::Text(value.clone())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}

/// `part` of `whole` in percent; unknown where there is no whole.
pub fn percent(part: u128, whole: u128) -> Cell {
    (part as f64 * 100.0 / whole as f64).into()
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
        table.columns[1].unit = Unit::Percent;
        assert_eq!(table.bars(100), ["████", "██", "█"]);
    }

    #[test]
    fn people_are_shown_what_fits() {
        let columns = ["host", "name", "flags", "count"].map(|name| (name, Unit::None));
        let table =
            Table::new("t", "", &columns).show(&["name"], Shown::Last).show(&["flags"], Shown::Nowhere);
        assert_eq!(table.shown(), [0, 3, 1]);
        assert_eq!(table.column("name"), Some(1));
        let json = r#"{"name":"name","unit":"none"}"#;
        assert_eq!(serde_json::to_string(&table.columns[1]).unwrap(), json);
    }

    #[test]
    fn what_is_no_number_is_unknown() {
        assert_eq!(percent(1, 4), Cell::Float(25.0));
        assert_eq!(percent(0, 0), Cell::Null);
        assert_eq!(Cell::from(u128::MAX), Cell::Int(i128::MAX));
        assert_eq!(serde_json::to_string(&Cell::Int(1 << 80)).unwrap(), "1208925819614629174706176");
    }
}
