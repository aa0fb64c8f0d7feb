//! Mapped pieces in general: the spans that they hold, and how they are named in messages.

use std::path::PathBuf;

use isochrone_experiment::pieces::{Asked, MissingPiece, PieceSet, PiecesError};
use isochrone_pipeline::{Border, Piece, SpanLog};
use isochrone_timing::Timing;

use crate::render::plain::{Plain, plain};
use crate::render::time;

/// All spans of traces, from pieces of them.
///
/// # Errors
/// A file cannot be read, or pieces are missing.
pub(super) fn spans(files: &[PathBuf]) -> Result<PieceSet<SpanLog>, PiecesError> {
    let set = PieceSet::read(files)?;
    let set = set.unwrap_or_else(|| PieceSet::new(Asked::spans()));
    match set.missing().first() {
        Some(missing) => Err(PiecesError::Missing(missing.host.clone())),
        None => Ok(set),
    }
}

/// `web1 from 2026-11-20 06:10:24.1 to the end`
pub(super) fn shown_piece(missing: &MissingPiece) -> String {
    format!("{} {}", plain(&missing.host), between(missing.piece, missing.offset_ns))
}

/// The time of a piece, by the host's own clock.
fn between(piece: Piece, offset_ns: i64) -> String {
    let border = |border: Border, open: &str| match border {
        Border::At(raw) => time::full(Timing::Own { offset_ns }.unix(raw)),
        Border::Begin | Border::End => open.to_owned(),
    };
    format!("from {} to {}", border(piece.from, "the start"), border(piece.to, "the end"))
}

/// An error with the names of hosts, which come from traces, escaped, and times as such.
pub(super) fn pieces_error(error: &PiecesError) -> anyhow::Error {
    match error {
        PiecesError::Twice { one, other, host, piece, offset_ns } if one == other => anyhow::anyhow!(
            "{}: is named twice, or has a piece of {} twice, {}",
            Plain(one.display()),
            plain(host),
            between(*piece, *offset_ns)
        ),
        PiecesError::Twice { one, other, host, piece, offset_ns } => anyhow::anyhow!(
            "{} and {}: both have a piece of {}, {}",
            Plain(one.display()),
            Plain(other.display()),
            plain(host),
            between(*piece, *offset_ns)
        ),
        PiecesError::Corrections(source) => anyhow::anyhow!("{error}: {source}"),
        other => anyhow::anyhow!("{}", Plain(other)),
    }
}
