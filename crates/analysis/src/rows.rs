//! The rows of a table, encoded: a log has millions of them, and their cells would take ten times as much.

use std::cmp::Ordering;
use std::fmt;

use isochrone_kernel::Name;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::table::Cell;

/// Rows of cells, in their order.
///
/// Integers are stored by how far they are from the first one of their column, short texts by their number among those of the table: a
/// row of a log takes some forty bytes. Sorting and cutting move no row. A row is decoded whenever it is looked at.
#[derive(Clone, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    /// Where each row begins, in the order of the rows.
    places: Vec<usize>,
    /// The first integer of each column.
    bases: Vec<Option<i128>>,
    texts: Texts,
}

/// Short texts by their numbers.
#[derive(Clone, Default)]
struct Texts {
    all: Vec<Name>,
    numbers: FxHashMap<Name, u32>,
}

/// Longer texts are rarely met twice.
const LONGEST_SHARED: usize = 24;
/// So many texts have numbers at most.
const MOST_SHARED: usize = 1 << 16;

/// A cell as it is stored.
#[derive(Serialize, Deserialize)]
enum Stored<'t> {
    /// The row has no more cells.
    End,
    Null,
    None,
    /// From the first integer of the column.
    Int(i128),
    Float(f64),
    Shared(u32),
    Text(&'t str),
}

impl Texts {
    /// The number of a text, if it has one or gets one.
    fn number(&mut self, text: &Name) -> Option<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        if text.len() > LONGEST_SHARED || self.all.len() >= MOST_SHARED {
            return None;
        }
        let number = self.all.len() as u32;
        self.all.push(text.clone());
        self.numbers.insert(text.clone(), number);
        Some(number)
    }
}

impl Rows {
    /// Adds a row after the others. Constant on average.
    pub fn push(&mut self, cells: &[Cell]) {
        self.places.push(self.bytes.len());
        self.bases.resize(self.bases.len().max(cells.len()), None);
        for (cell, base) in cells.iter().zip(&mut self.bases) {
            let stored = match cell {
                Cell::Null => Stored::Null,
                Cell::None => Stored::None,
                Cell::Float(value) => Stored::Float(*value),
                Cell::Int(value) => Stored::Int(value.wrapping_sub(*base.get_or_insert(*value))),
                Cell::Text(text) => self.texts.number(text).map_or(Stored::Text(text), Stored::Shared),
            };
            append(&stored, &mut self.bytes);
        }
        append(&Stored::End, &mut self.bytes);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The row of a place.
    pub fn get(&self, place: usize) -> Option<Vec<Cell>> {
        Some(self.decode(*self.places.get(place)?).collect())
    }

    /// A cell of the row of a place.
    pub fn cell(&self, place: usize, column: usize) -> Option<Cell> {
        self.decode(*self.places.get(place)?).nth(column)
    }

    /// All rows in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Vec<Cell>> + Clone + '_ {
        self.places.iter().map(|&place| self.decode(place).collect())
    }

    /// The cells of a column, in the order of the rows.
    pub fn column(&self, column: usize) -> impl Iterator<Item = Cell> + '_ {
        self.places.iter().map(move |&place| self.decode(place).nth(column).unwrap_or(Cell::Null))
    }

    /// Puts the rows into the order of some keys, one for each; rows whose keys are equal stay as they are.
    pub(crate) fn sort_by_keys<K>(&mut self, keys: Vec<K>, compare: impl Fn(&K, &K) -> Ordering) {
        let mut keyed: Vec<(K, usize)> = keys.into_iter().zip(self.places.iter().copied()).collect();
        keyed.sort_by(|a, b| compare(&a.0, &b.0));
        self.places = keyed.into_iter().map(|(_, place)| place).collect();
    }

    /// Leaves out all but the first rows.
    pub(crate) fn truncate(&mut self, limit: usize) {
        self.places.truncate(limit);
    }

    /// Changes each row.
    pub(crate) fn change(&mut self, mut with: impl FnMut(&mut Vec<Cell>)) {
        let before = std::mem::take(self);
        for mut row in &before {
            with(&mut row);
            self.push(&row);
        }
    }

    fn decode(&self, place: usize) -> Decode<'_> {
        Decode {
            rest: self.bytes.get(place..).unwrap_or_default(),
            bases: self.bases.iter(),
            texts: &self.texts,
        }
    }
}

/// A value of this form has no part that cannot be written, and memory is what it is written to.
fn append(stored: &Stored<'_>, bytes: &mut Vec<u8>) {
    if let Ok(written) = postcard::to_extend(stored, std::mem::take(bytes)) {
        *bytes = written;
    }
}

/// The cells of a row, one by one.
struct Decode<'r> {
    rest: &'r [u8],
    bases: std::slice::Iter<'r, Option<i128>>,
    texts: &'r Texts,
}

impl Iterator for Decode<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        let (stored, rest) = postcard::take_from_bytes(self.rest).ok()?;
        self.rest = rest;
        let base = self.bases.next().copied().flatten();
        Some(match stored {
            Stored::End => return None,
            Stored::Null => Cell::Null,
            Stored::None => Cell::None,
            Stored::Int(from) => Cell::Int(from.wrapping_add(base.unwrap_or(0))),
            Stored::Float(value) => Cell::Float(value),
            Stored::Shared(number) => self.texts.all.get(number as usize).into(),
            Stored::Text(text) => Cell::text(text),
        })
    }
}

impl<'r> IntoIterator for &'r Rows {
    type Item = Vec<Cell>;
    type IntoIter = Box<dyn Iterator<Item = Vec<Cell>> + 'r>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl Extend<Vec<Cell>> for Rows {
    fn extend<I: IntoIterator<Item = Vec<Cell>>>(&mut self, rows: I) {
        rows.into_iter().for_each(|row| self.push(&row));
    }
}

impl FromIterator<Vec<Cell>> for Rows {
    fn from_iter<I: IntoIterator<Item = Vec<Cell>>>(rows: I) -> Self {
        let mut all = Self::default();
        all.extend(rows);
        all
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell() -> impl Strategy<Value = Cell> {
        prop_oneof![
            Just(Cell::Null),
            Just(Cell::None),
            any::<i128>().prop_map(Cell::Int),
            (1_700_000_000_000_000_000_i128..1_700_000_000_000_100_000).prop_map(Cell::Int),
            any::<f64>().prop_filter("a cell is finite", |value| value.is_finite()).prop_map(Cell::Float),
            ".{0,40}".prop_map(|text| Cell::text(&text)),
        ]
    }

    proptest! {
        #[test]
        fn rows_are_what_they_were(
            rows in proptest::collection::vec(proptest::collection::vec(cell(), 0..5), 0..20),
        ) {
            let all: Rows = rows.iter().cloned().collect();
            prop_assert_eq!(all.len(), rows.len());
            prop_assert_eq!(all.iter().collect::<Vec<_>>(), rows.clone());
            for column in 0..5 {
                let expect = rows.iter().map(|row| row.get(column).cloned().unwrap_or(Cell::Null));
                prop_assert_eq!(all.column(column).collect::<Vec<_>>(), expect.collect::<Vec<_>>());
            }
            let (mut changed, mut expect) = (all, rows);
            changed.change(|row| row.insert(0, Cell::None));
            changed.sort_by_keys(expect.iter().map(Vec::len).collect(), Ord::cmp);
            changed.truncate(7);
            expect.sort_by_key(Vec::len);
            expect.truncate(7);
            for row in &mut expect {
                row.insert(0, Cell::None);
            }
            prop_assert_eq!(changed.iter().collect::<Vec<_>>(), expect);
        }
    }

    #[test]
    fn a_row_of_a_log_is_small() {
        let mut rows = Rows::default();
        for n in 0..10_000_i128 {
            let time = 1_700_000_000_000_000_000 + n * 1_000_000;
            let [host, name] = ["host", "eth0-rx-0"].map(Cell::text);
            rows.push(&[host, time.into(), (time + 900).into(), 900.into(), 3.into(), name, Cell::None]);
        }
        assert!(rows.bytes.len() < 10_000 * 32, "{}", rows.bytes.len());
    }
}
