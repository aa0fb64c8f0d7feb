//! What pieces can hold of a host.

use std::path::{Path, PathBuf};

use isochrone_analysis::AnalysisSet;
use isochrone_kernel::Spans;
use isochrone_pipeline::{DamagedLog, SpanLog, piece_file};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{FORM, FORM_OF_SPANS, MappedPiece, PieceSet, PiecesError, set};

/// A consumer of spans that travels in pieces. What is done with sets of them is here once more, not generic: it is compiled with this
/// crate, and not again with each that calls it.
pub trait Held: Spans + Send + Serialize + DeserializeOwned {
    /// The form of files that hold it: each consumer has its own.
    const FORM: u64;

    /// Whether two were made for the same question.
    fn is_like(&self, other: &Self) -> bool;

    /// What it would have been if the calls of a log had been made on it; `make` makes the consumers of
    /// pieces.
    ///
    /// # Errors
    /// The log is damaged, or of a later version.
    fn of_log(log: SpanLog, make: &dyn Fn() -> Self) -> Result<Self, DamagedLog>;

    /// [`PieceSet::read`].
    fn read_set(paths: &[PathBuf]) -> Result<Option<PieceSet<Self>>, PiecesError>;

    /// [`PieceSet::add`].
    fn add_to(set: &mut PieceSet<Self>, mapped: MappedPiece<Self>, from: &Path) -> Result<(), PiecesError>;

    /// [`PieceSet::write`].
    fn write_set(set: &PieceSet<Self>, path: &Path) -> Result<(), PiecesError>;
}

macro_rules! held {
    ($Consumer:ty, $form:expr, $is_like:expr, $of_log:expr) => {
        impl Held for $Consumer {
            const FORM: u64 = $form;

            fn is_like(&self, other: &Self) -> bool {
                $is_like(self, other)
            }

            fn of_log(log: SpanLog, make: &dyn Fn() -> Self) -> Result<Self, DamagedLog> {
                $of_log(log, make)
            }

            fn read_set(paths: &[PathBuf]) -> Result<Option<PieceSet<Self>>, PiecesError> {
                set::read(paths)
            }

            fn add_to(
                set: &mut PieceSet<Self>,
                mapped: MappedPiece<Self>,
                from: &Path,
            ) -> Result<(), PiecesError> {
                set::add(set, mapped, from)
            }

            fn write_set(set: &PieceSet<Self>, path: &Path) -> Result<(), PiecesError> {
                set::write(set, path)
            }
        }
    };
}

held!(AnalysisSet, FORM, AnalysisSet::is_like, |log: SpanLog, make| log.replay(make));
held!(SpanLog, FORM_OF_SPANS, |_, _| true, |log, _| Ok(log));

/// Whether a file holds pieces with spans, of this version of the program.
pub fn holds_spans(path: &Path) -> bool {
    piece_file::form_of(path) == Some(FORM_OF_SPANS)
}
