//! Rows for spans that may overlap: slices of a row have to nest.

use std::io;

use super::{Row, Timeline};

/// Rows of one kind. A span goes to the first one in which it nests.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
}

#[derive(Debug)]
struct Lane {
    row: Row,
    /// The ends of slices that have begun, the innermost last.
    open: Vec<i64>,
}

impl Lanes {
    /// With a first row.
    pub(crate) fn of(row: Row) -> Self {
        Self { lanes: vec![Lane { row, open: Vec::new() }] }
    }

    /// The first row, if there is any.
    pub(crate) fn first(&self) -> Option<Row> {
        self.lanes.first().map(|lane| lane.row)
    }

    /// The row of the next span, whose begin is not before that of any before it (of equal begins, the longest comes first). Ends what has
    /// ended by then in that row. `more` adds a row.
    pub(crate) fn place<T: Timeline>(
        &mut self,
        (begin, end): (i64, i64),
        to: &mut T,
        more: impl FnOnce(&mut T) -> io::Result<Row>,
    ) -> io::Result<Row> {
        for lane in &mut self.lanes {
            while let Some(&ended) = lane.open.last().filter(|&&ended| ended <= begin) {
                to.end(lane.row, ended)?;
                lane.open.pop();
            }
            if lane.open.last().is_none_or(|&outer| end <= outer) {
                lane.open.push(end);
                return Ok(lane.row);
            }
        }
        let row = more(to)?;
        self.lanes.push(Lane { row, open: vec![end] });
        Ok(row)
    }

    /// Ends all slices.
    pub(crate) fn finish<T: Timeline>(&mut self, to: &mut T) -> io::Result<()> {
        for lane in &mut self.lanes {
            while let Some(ended) = lane.open.pop() {
                to.end(lane.row, ended)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Place, Shown};
    use super::*;

    /// What is ended, and how many rows there are.
    #[derive(Debug, Default)]
    struct Ended {
        rows: u64,
        ends: Vec<(u64, i64)>,
    }

    impl Timeline for Ended {
        fn row(&mut self, _: &Place<'_>) -> io::Result<Row> {
            self.rows += 1;
            Ok(Row(self.rows))
        }
        fn begin(&mut self, _: Row, _: i64, _: &Shown<'_>) -> io::Result<()> {
            Ok(())
        }
        fn end(&mut self, row: Row, at: i64) -> io::Result<()> {
            self.ends.push((row.0, at));
            Ok(())
        }
        fn instant(&mut self, _: Row, _: i64, _: &Shown<'_>) -> io::Result<()> {
            Ok(())
        }
        fn counter(&mut self, _: Row, _: i64, _: f64) -> io::Result<()> {
            Ok(())
        }
        fn clock(&mut self, _: (u32, &str), _: i64, _: i64) -> io::Result<()> {
            Ok(())
        }
        fn finish(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// `rows`: of each span, the one that it goes to; `ends`: what is ended, in order.
    fn check(spans: &[(i64, i64)], rows: &[u64], ends: &[(u64, i64)]) {
        let (mut lanes, mut to) = (Lanes::default(), Ended::default());
        let more = |to: &mut Ended| to.row(&Place::Under { parent: Row(0), name: "" });
        let found: Vec<u64> = spans.iter().map(|&span| lanes.place(span, &mut to, more).unwrap().0).collect();
        lanes.finish(&mut to).unwrap();
        assert_eq!((found.as_slice(), to.ends.as_slice()), (rows, ends), "{spans:?}");
    }

    #[test]
    fn spans_that_nest_share_a_row() {
        check(&[], &[], &[]);
        // One after the other, also without a gap; the end comes before the next begin.
        check(&[(0, 5), (5, 9)], &[1, 1], &[(1, 5), (1, 9)]);
        check(&[(0, 9), (2, 4), (4, 9)], &[1, 1, 1], &[(1, 4), (1, 9), (1, 9)]);
        // An instant.
        check(&[(3, 3), (3, 4)], &[1, 1], &[(1, 3), (1, 4)]);
        // Overlapping ones are apart.
        check(&[(0, 5), (3, 8), (6, 7)], &[1, 2, 1], &[(1, 5), (1, 7), (2, 8)]);
        check(&[(0, 5), (3, 8), (4, 9)], &[1, 2, 3], &[(1, 5), (2, 8), (3, 9)]);
    }
}
