//! The rows of a table, encoded: a log has millions of them, and their cells would take ten times as much.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use isochrone_kernel::scratch::{Kept, Scratch};
use serde::{Serialize, Serializer};

use crate::output::cell::Cell;
use crate::storage::stored::{self, Texts, Views};

/// Rows of cells, in their order.
///
/// Integers are stored by how far they are from the first one of their column, short texts by their number
/// among those of the table: a row of a log takes some forty bytes. Rows are in blocks; all but the last
/// block are where a [`Scratch`] keeps them. Cutting moves no row, and sorting makes a list of positions. A
/// row is decoded whenever it is looked at.
#[derive(Clone, Default)]
pub struct Rows {
    /// The blocks that are full.
    full: Vec<Block>,
    /// The last one.
    last: Vec<u8>,
    /// Where some rows of the last block begin: see [`Block::skip_index`].
    skip_index: Vec<u32>,
    /// Number of rows, and of those in full blocks.
    count: usize,
    in_full: usize,
    /// Where the rows are, in their order, where that is not the order in which they came.
    order: Option<Vec<Position>>,
    /// The first integer of each column.
    bases: Vec<Option<i128>>,
    texts: Texts,
    scratch: Scratch,
}

/// Rows one after the other: for each its size, four bytes, then its cells.
#[derive(Clone)]
struct Block {
    bytes: Kept,
    /// Number of rows before the block.
    before: usize,
    /// Where the rows begin whose numbers in the block are multiples of [`SKIP`].
    skip_index: Box<[u32]>,
}

/// Where a row is: its block, and the offset of its size there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    block: u32,
    at: u32,
}

/// Bytes of a block that is full.
const BLOCK_BYTES: usize = if cfg!(test) { 200 } else { 64 << 10 };
/// Distance of rows that are in the skip index: it takes as many steps to find a row by its number.
const SKIP: usize = if cfg!(test) { 3 } else { 32 };
/// Bytes of the size of a row.
const SIZE: usize = 4;
/// Bytes that are read at once of a row that is looked at alone.
const READ: usize = if cfg!(test) { 16 } else { 256 };

impl Rows {
    /// Without rows so far. Those to come go to a scratch.
    pub fn new(scratch: &Scratch) -> Self {
        Self { scratch: scratch.clone(), ..Self::default() }
    }

    /// Adds a row after the others. Constant on average.
    pub fn push(&mut self, cells: &[Cell]) {
        let number = self.count - self.in_full;
        let begin = self.last.len();
        if number.is_multiple_of(SKIP) {
            self.skip_index.push(begin as u32);
        }
        if let Some(order) = &mut self.order {
            order.push(Position { block: self.full.len() as u32, at: begin as u32 });
        }
        self.last.extend([0; SIZE]);
        self.bases.resize(self.bases.len().max(cells.len()), None);
        for (cell, base) in cells.iter().zip(&mut self.bases) {
            stored::push(cell, base, &mut self.texts, &mut self.last);
        }
        let size = (self.last.len() - begin - SIZE) as u32;
        self.last[begin..begin + SIZE].copy_from_slice(&size.to_le_bytes());
        self.count += 1;
        if self.last.len() >= BLOCK_BYTES {
            let bytes = self.scratch.keep(&self.last);
            let skip_index = std::mem::take(&mut self.skip_index).into();
            self.full.push(Block { bytes, before: self.in_full, skip_index });
            self.last.clear();
            self.in_full = self.count;
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.order.as_ref().map_or(self.count, Vec::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of a number. Constant.
    pub fn get(&self, number: usize) -> Option<Vec<Cell>> {
        self.range(number..number.checked_add(1)?).next()
    }

    /// A cell of the row of a number. Constant.
    pub fn cell(&self, number: usize, column: usize) -> Option<Cell> {
        self.get(number)?.into_iter().nth(column)
    }

    /// All rows in their order.
    pub fn iter(&self) -> Iter<'_> {
        self.range(0..self.len())
    }

    /// The rows of some numbers in their order, as far as there are any.
    pub fn range(&self, numbers: Range<usize>) -> Iter<'_> {
        let Range { start: next, end } = numbers;
        Iter { rows: self, next, end: end.min(self.len()), block: None, bytes: Vec::new(), at: 0 }
    }

    /// The cells of a column, in the order of the rows.
    pub fn column(&self, column: usize) -> impl Iterator<Item = Cell> + '_ {
        self.iter().map(move |row| row.into_iter().nth(column).unwrap_or(Cell::Unknown))
    }

    /// Puts the rows into the order of some keys, one for each; rows whose keys are equal stay as they are.
    pub(crate) fn sort_by_keys<K>(&mut self, keys: Vec<K>, compare: impl Fn(&K, &K) -> Ordering) {
        if keys.is_sorted_by(|a, b| compare(a, b).is_le()) {
            return;
        }
        let mut keyed: Vec<(K, Position)> = keys.into_iter().zip(self.positions()).collect();
        keyed.sort_by(|a, b| compare(&a.0, &b.0));
        self.order = Some(keyed.into_iter().map(|(_, position)| position).collect());
    }

    /// Leaves out all but the first rows.
    pub(crate) fn truncate(&mut self, limit: usize) {
        if limit < self.len() {
            let positions = match &self.order {
                Some(order) => order.iter().copied().take(limit).collect(),
                None => self.positions().take(limit).collect(),
            };
            self.order = Some(positions);
        }
    }

    /// Keeps some rows, in their order.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&[Cell]) -> bool) {
        let before = std::mem::replace(self, Self::new(&self.scratch));
        before.iter().filter(|row| keeps(row)).for_each(|row| self.push(&row));
    }

    /// Changes each row.
    pub(crate) fn change(&mut self, mut with: impl FnMut(&mut Vec<Cell>)) {
        let before = std::mem::replace(self, Self::new(&self.scratch));
        for mut row in &before {
            with(&mut row);
            self.push(&row);
        }
    }

    /// Where all rows are, in their order.
    fn positions(&self) -> Box<dyn Iterator<Item = Position> + '_> {
        if let Some(order) = &self.order {
            return Box::new(order.iter().copied());
        }
        let of_block = |block: usize| {
            let bytes = self.block(block);
            let next =
                move |at: &usize| Some(at + SIZE + size_at(&bytes, *at)?).filter(|&at| at < bytes.len());
            let all = std::iter::successors(Some(0), next);
            all.map(move |at| Position { block: block as u32, at: at as u32 })
        };
        let blocks = self.full.len() + usize::from(!self.last.is_empty());
        Box::new((0..blocks).flat_map(of_block))
    }

    /// The bytes of a block.
    fn block(&self, number: usize) -> Cow<'_, [u8]> {
        let Some(block) = self.full.get(number) else { return Cow::Borrowed(&self.last) };
        block.bytes.in_memory().map_or_else(
            || {
                let mut bytes = Vec::new();
                block.bytes.read(0..block.bytes.size(), &mut bytes);
                Cow::Owned(bytes)
            },
            Cow::Borrowed,
        )
    }

    /// The cells of a row.
    fn views<'r>(&'r self, rest: &'r [u8]) -> Views<'r> {
        Views { rest, bases: self.bases.iter(), texts: &self.texts }
    }

    /// The row of a position; `buffer` is for one that is not in memory.
    fn at<'r>(&'r self, Position { block, at }: Position, buffer: &'r mut Vec<u8>) -> Option<&'r [u8]> {
        let at = at as usize;
        let in_memory = match self.full.get(block as usize) {
            None => Some(&*self.last),
            Some(block) => block.bytes.in_memory(),
        };
        if let Some(bytes) = in_memory {
            return row_at(bytes, at);
        }
        let bytes = &self.full.get(block as usize)?.bytes;
        buffer.clear();
        bytes.read(at..at + READ, buffer);
        let size = SIZE + size_at(buffer, 0)?;
        if buffer.len() < size {
            bytes.read(at + buffer.len()..at + size, buffer);
        }
        row_at(buffer, 0)
    }
}

/// The size of a row that begins at an offset, without the bytes that have it.
fn size_at(bytes: &[u8], at: usize) -> Option<usize> {
    let size = bytes.get(at..at + SIZE)?.try_into().ok()?;
    Some(u32::from_le_bytes(size) as usize)
}

/// The cells of a row that begins at an offset.
fn row_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let begin = at + SIZE;
    bytes.get(begin..begin + size_at(bytes, at)?)
}

/// The rows of a table, decoded one by one. Memory: that of a block and of a row.
#[derive(Clone)]
pub struct Iter<'r> {
    rows: &'r Rows,
    /// The number of the row that is next, and that of the one after the last.
    next: usize,
    end: usize,
    /// The block that was read last, where that is not in memory, and its bytes.
    block: Option<usize>,
    bytes: Vec<u8>,
    /// Where in the block of the next row that begins; 0: to be looked up.
    at: usize,
}

impl Iter<'_> {
    /// What is made of the cells of the next row.
    pub(crate) fn next_with<T>(&mut self, make: impl FnOnce(Views<'_>) -> T) -> Option<T> {
        if self.next >= self.end {
            return None;
        }
        let rows = self.rows;
        let row = match &rows.order {
            Some(order) => rows.at(order[self.next], &mut self.bytes)?,
            None => self.in_turn()?,
        };
        let made = make(rows.views(row));
        self.next += 1;
        Some(made)
    }

    /// The next row, of rows that are in the order in which they came.
    fn in_turn(&mut self) -> Option<&[u8]> {
        let rows = self.rows;
        let number = rows.full.partition_point(|block| block.before <= self.next).checked_sub(1);
        let number = if self.next < rows.in_full { number? } else { rows.full.len() };
        let (before, skip_index) = match rows.full.get(number) {
            Some(block) => (block.before, &block.skip_index[..]),
            None => (rows.in_full, &rows.skip_index[..]),
        };
        let block = rows.full.get(number).map(|block| &block.bytes);
        let bytes = match block.map(Kept::in_memory) {
            None => &rows.last,
            Some(Some(bytes)) => bytes,
            Some(None) => {
                if self.block != Some(number) {
                    self.bytes.clear();
                    block?.read(0..block?.size(), &mut self.bytes);
                    self.block = Some(number);
                }
                &self.bytes
            }
        };
        let of_block = self.next - before;
        if self.at == 0 {
            self.at = *skip_index.get(of_block / SKIP)? as usize;
            for _ in 0..of_block % SKIP {
                self.at += SIZE + size_at(bytes, self.at)?;
            }
        }
        let row = row_at(bytes, self.at)?;
        self.at += SIZE + row.len();
        if self.at >= bytes.len() {
            self.at = 0;
        }
        Some(row)
    }
}

impl Iterator for Iter<'_> {
    type Item = Vec<Cell>;

    fn next(&mut self) -> Option<Vec<Cell>> {
        // As many as columns: a list that grows takes as long as all of them.
        let columns = self.rows.bases.len();
        self.next_with(|views| {
            let mut cells = Vec::with_capacity(columns);
            cells.extend(views.map(Cell::from));
            cells
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.saturating_sub(self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'r> IntoIterator for &'r Rows {
    type Item = Vec<Cell>;
    type IntoIter = Iter<'r>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
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
    use crate::testing::scratch;

    fn cell() -> impl Strategy<Value = Cell> {
        prop_oneof![
            Just(Cell::Unknown),
            Just(Cell::NotApplicable),
            any::<i128>().prop_map(Cell::Int),
            (1_700_000_000_000_000_000_i128..1_700_000_000_000_100_000).prop_map(Cell::Int),
            any::<f64>().prop_filter("a cell is finite", |value| value.is_finite()).prop_map(Cell::Float),
            ".{0,40}".prop_map(|text| Cell::text(&text)),
        ]
    }

    proptest! {
        #[test]
        fn rows_are_what_they_were(
            rows in proptest::collection::vec(proptest::collection::vec(cell(), 0..5), 0..60),
        ) {
            let mut all = Rows::new(&if rows.len() % 2 == 0 { scratch() } else { Scratch::default() });
            all.extend(rows.iter().cloned());
            prop_assert_eq!(all.len(), rows.len());
            for (number, row) in rows.iter().enumerate() {
                prop_assert_eq!(all.get(number), Some(row.clone()));
            }
            prop_assert_eq!(all.get(rows.len()), None);
            prop_assert_eq!(all.iter().collect::<Vec<_>>(), rows.clone());
            for begin in [0, rows.len() / 3, rows.len()] {
                let part: Vec<_> = all.range(begin..begin + 7).collect();
                prop_assert_eq!(part, rows.iter().skip(begin).take(7).cloned().collect::<Vec<_>>());
            }
            for column in 0..5 {
                let expect = rows.iter().map(|row| row.get(column).cloned().unwrap_or(Cell::Unknown));
                prop_assert_eq!(all.column(column).collect::<Vec<_>>(), expect.collect::<Vec<_>>());
            }
            let (mut changed, mut expect) = (all, rows);
            changed.change(|row| row.insert(0, Cell::NotApplicable));
            changed.sort_by_keys(expect.iter().map(Vec::len).collect(), Ord::cmp);
            changed.truncate(7);
            expect.sort_by_key(Vec::len);
            expect.truncate(7);
            for row in &mut expect {
                row.insert(0, Cell::NotApplicable);
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
            rows.push(&[
                host,
                time.into(),
                (time + 900).into(),
                900.into(),
                3.into(),
                name,
                Cell::NotApplicable,
            ]);
        }
        let size = rows.last.len() + rows.full.iter().map(|block| block.bytes.size()).sum::<usize>();
        assert!(size < 10_000 * 36, "{size}");
    }
}
