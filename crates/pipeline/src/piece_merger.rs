//! Merges models of pieces: neighbours as soon as both are there, in whatever order they arrive.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::border::{Border, Piece};
use isochrone_hosts::ReadReport;

/// The model of a piece, with what was read for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceModel<M> {
    /// The piece.
    pub piece: Piece,
    /// The model of its events.
    pub model: M,
    /// What was read, and what was missing.
    pub report: ReadReport,
}

/// Merged pieces so far: no two of them are neighbours.
#[derive(Debug)]
pub struct PieceMerger<M> {
    /// By their begins.
    parts: BTreeMap<Border, PieceModel<M>>,
}

/// Why a piece is not added, or pieces are not merged into one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PieceError<E> {
    /// A piece that is there already.
    #[error("the piece {0:?} is there already, or a part of it")]
    Overlap(Piece),
    /// A piece that ends where it begins, or before.
    #[error("the piece {0:?} is empty")]
    Empty(Piece),
    /// Two models cannot be merged.
    #[error("pieces cannot be merged: {0}")]
    Merge(E),
}

impl<M> Default for PieceMerger<M> {
    fn default() -> Self {
        Self { parts: BTreeMap::new() }
    }
}

impl<M> PieceMerger<M> {
    /// Adds a part and merges it with its neighbours.
    ///
    /// # Errors
    /// It overlaps with what is there, which stays as it is; or it cannot be merged, which costs it and the
    /// neighbour.
    pub fn add<E>(
        &mut self,
        mut part: PieceModel<M>,
        mut merge: impl FnMut(M, M) -> Result<M, E>,
    ) -> Result<(), PieceError<E>> {
        self.check(part.piece)?;
        loop {
            match self.place(part) {
                Some((left, right)) => part = join(left, right, &mut merge).map_err(PieceError::Merge)?,
                None => return Ok(()),
            }
        }
    }

    /// Whether a piece overlaps with none that is there already.
    pub(crate) fn check<E>(&self, piece: Piece) -> Result<(), PieceError<E>> {
        if piece.is_empty() {
            return Err(PieceError::Empty(piece));
        }
        let before = self.parts.range(..piece.to).next_back();
        if before.is_some_and(|(_, before)| before.piece.to > piece.from) {
            return Err(PieceError::Overlap(piece));
        }
        Ok(())
    }

    /// Keeps a part, or takes a neighbour out and gives both, in their order.
    pub(crate) fn place(&mut self, part: PieceModel<M>) -> Option<(PieceModel<M>, PieceModel<M>)> {
        let before = self.parts.range(..part.piece.from).next_back();
        let left = before.filter(|(_, left)| left.piece.to == part.piece.from).map(|(&from, _)| from);
        if let Some(left) = left.and_then(|from| self.parts.remove(&from)) {
            return Some((left, part));
        }
        if let Some(right) = self.parts.remove(&part.piece.to) {
            return Some((part, right));
        }
        self.parts.insert(part.piece.from, part);
        None
    }

    /// The parts so far, in order: no two of them are neighbours.
    pub fn parts(&self) -> impl Iterator<Item = &PieceModel<M>> {
        self.parts.values()
    }

    /// The pieces that are missing, in order.
    pub fn missing(&self) -> Vec<Piece> {
        let mut missing = Vec::new();
        let mut from = Border::Begin;
        for part in self.parts.values() {
            missing.push(Piece { from, to: part.piece.from });
            from = part.piece.to;
        }
        missing.push(Piece { from, to: Border::End });
        missing.retain(|piece| !piece.is_empty());
        missing
    }

    /// Fills what is missing between parts with what `fill` makes of it, or leaves it where that makes
    /// nothing. What is missing before the first part and after the last is left.
    ///
    /// # Errors
    /// Two models cannot be merged.
    pub fn fill<E>(
        &mut self,
        mut fill: impl FnMut(Piece) -> Option<PieceModel<M>>,
        mut merge: impl FnMut(M, M) -> Result<M, E>,
    ) -> Result<(), PieceError<E>> {
        for piece in self.missing() {
            let is_inside = piece.from != Border::Begin && piece.to != Border::End;
            if let Some(part) = is_inside.then(|| fill(piece)).flatten() {
                self.add(part, &mut merge)?;
            }
        }
        Ok(())
    }

    /// The one part that all others have become.
    ///
    /// # Errors
    /// There is none, or there are several: the parts as they are.
    pub fn finish(mut self) -> Result<PieceModel<M>, Self> {
        if self.parts.len() == 1
            && let Some((_, part)) = self.parts.pop_first()
        {
            return Ok(part);
        }
        Err(self)
    }
}

/// Makes one part of two neighbours.
pub(crate) fn join<M, E>(
    left: PieceModel<M>,
    right: PieceModel<M>,
    merge: &mut impl FnMut(M, M) -> Result<M, E>,
) -> Result<PieceModel<M>, E> {
    let piece = Piece { from: left.piece.from, to: right.piece.to };
    let mut report = left.report;
    report.absorb(right.report);
    Ok(PieceModel { piece, model: merge(left.model, right.model)?, report })
}

#[cfg(test)]
mod tests {
    use isochrone_time::RawNs;

    use super::*;

    fn at(number: i64) -> Border {
        match number {
            0 => Border::Begin,
            9 => Border::End,
            other => Border::At(RawNs(other)),
        }
    }

    fn part(from: i64, to: i64) -> PieceModel<String> {
        let report = ReadReport { events: 1, ..ReadReport::default() };
        PieceModel { piece: Piece { from: at(from), to: at(to) }, model: format!("{from}{to} "), report }
    }

    #[expect(clippy::unnecessary_wraps, clippy::needless_pass_by_value)] // The shape of a merge.
    fn merge(left: String, right: String) -> Result<String, String> {
        Ok(left + &right)
    }

    #[test]
    fn parts_come_in_any_order() {
        let check = |order: &[(i64, i64)], expect: &[&str], missing: &[(i64, i64)]| {
            let mut merger = PieceMerger::default();
            for &(from, to) in order {
                merger.add(part(from, to), merge).unwrap();
            }
            let models: Vec<&str> = merger.parts().map(|part| part.model.trim()).collect();
            assert_eq!(models, expect, "{order:?}");
            let holes: Vec<_> =
                missing.iter().map(|&(from, to)| Piece { from: at(from), to: at(to) }).collect();
            assert_eq!(merger.missing(), holes, "{order:?}");
        };
        check(&[], &[], &[(0, 9)]);
        check(&[(0, 3), (3, 5), (5, 9)], &["03 35 59"], &[]);
        check(&[(5, 9), (0, 3), (3, 5)], &["03 35 59"], &[]);
        check(&[(3, 5), (5, 9), (0, 3)], &["03 35 59"], &[]);
        check(&[(5, 9), (0, 3)], &["03", "59"], &[(3, 5)]);
        check(&[(4, 5)], &["45"], &[(0, 4), (5, 9)]);
    }

    #[test]
    fn what_is_there_is_not_taken_again() {
        let check = |from, to, expect| {
            let mut merger = PieceMerger::default();
            merger.add(part(3, 6), merge).unwrap();
            assert_eq!(merger.add(part(from, to), merge).err(), expect, "{from} {to}");
            assert_eq!(merger.parts().count(), 1, "{from} {to}");
        };
        let piece = |from, to| Piece { from: at(from), to: at(to) };
        check(3, 6, Some(PieceError::Overlap(piece(3, 6))));
        check(1, 4, Some(PieceError::Overlap(piece(1, 4))));
        check(4, 5, Some(PieceError::Overlap(piece(4, 5))));
        check(0, 9, Some(PieceError::Overlap(piece(0, 9))));
        check(2, 2, Some(PieceError::Empty(piece(2, 2))));
        check(6, 9, None);
        check(1, 3, None);
    }

    #[test]
    fn gaps_are_filled_by_decision() {
        let mut merger = PieceMerger::default();
        for (from, to) in [(1, 2), (3, 4), (6, 7)] {
            merger.add(part(from, to), merge).unwrap();
        }
        let fill = |piece: Piece| (piece.from == at(2)).then(|| PieceModel { piece, ..part(2, 3) });
        merger.fill(fill, merge).unwrap();
        let models: Vec<&str> = merger.parts().map(|part| part.model.trim()).collect();
        assert_eq!(models, ["12 23 34", "67"]);
        let merger = merger.finish().unwrap_err();
        assert_eq!(merger.missing().len(), 3);
        assert_eq!(merger.parts().map(|part| part.report.events).sum::<u64>(), 4);
    }
}
