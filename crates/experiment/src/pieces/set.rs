//! A set of mapped pieces: pieces of hosts come in any order, from files or from who has mapped them, and
//! neighbours become one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use isochrone_analysis::AnalysisSet;
use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::Artefact;
use isochrone_files::output;
use isochrone_kernel::{MergeError, PartialState};
use isochrone_pipeline::{Piece, PieceError, PieceMerger, SpanLog, piece_file};
use isochrone_timing::Timing;
use serde::{Deserialize, Serialize};

use super::{Asked, Held, HostFacts, Mapped, MappedPiece, PiecesError};
use crate::model::ModelledHost;

/// What a file says of itself: what was asked, and whose its pieces are, in their order.
#[derive(Serialize, Deserialize)]
struct Head {
    asked: Asked,
    hosts: Vec<HostFacts>,
    /// Of each piece: see [`MappedPiece::traces`].
    traces: Vec<Vec<PathBuf>>,
}

/// Pieces of hosts that were mapped for one question. No two of one host are neighbours: those have become
/// one.
#[derive(Debug)]
pub struct PieceSet<C = AnalysisSet> {
    asked: Asked,
    /// By their ids.
    hosts: BTreeMap<String, Pieces<C>>,
}

/// The pieces of a host.
#[derive(Debug)]
struct Pieces<C> {
    facts: HostFacts,
    /// Wherever its traces were when one of its pieces was mapped.
    traces: BTreeSet<PathBuf>,
    merger: PieceMerger<crate::model::Model<C>>,
    /// Where they come from.
    files: Vec<(Piece, PathBuf)>,
}

/// A piece that a set has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPiece {
    /// The host's name.
    pub host: String,
    /// From where to where, on the host's own clock.
    pub piece: Piece,
    /// Unix time of the zero of the host's clock, ns.
    pub offset_ns: i64,
}

impl<C: Held> PieceSet<C> {
    /// A set without pieces.
    pub fn new(asked: Asked) -> Self {
        Self { asked, hosts: BTreeMap::new() }
    }

    /// The pieces of some files, in any order, one file after the other: besides what they become, one is in
    /// memory at a time.
    ///
    /// # Errors
    /// A file cannot be read; two were not mapped for the same question or of the same traces; two have the
    /// same piece. No file: none.
    pub fn read(paths: &[PathBuf]) -> Result<Option<Self>, PiecesError> {
        C::read_set(paths)
    }

    /// Adds a piece that comes from a file, and merges it with its neighbours.
    ///
    /// # Errors
    /// It is there already, or a part of it; it is of other traces than those that are there of its host.
    pub fn add(&mut self, mapped: MappedPiece<C>, from: &Path) -> Result<(), PiecesError> {
        C::add_to(self, mapped, from)
    }

    /// What the pieces were mapped for.
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// The hosts that there are pieces of, in the order of their names.
    pub fn hosts(&self) -> Vec<&HostFacts> {
        let mut hosts: Vec<&HostFacts> = self.hosts.values().map(|pieces| &pieces.facts).collect();
        hosts.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        hosts
    }

    /// The pieces that are missing of the hosts that there are pieces of, in the order of the hosts and of
    /// time.
    pub fn missing(&self) -> Vec<MissingPiece> {
        let mut missing: Vec<MissingPiece> = Vec::new();
        for Pieces { facts, merger, .. } in self.hosts.values() {
            let one = |piece| MissingPiece { host: facts.name.clone(), piece, offset_ns: facts.offset_ns };
            missing.extend(merger.missing().into_iter().map(one));
        }
        missing.sort_by(|a, b| (&a.host, a.piece).cmp(&(&b.host, b.piece)));
        missing
    }

    /// Writes all pieces to a file. The bytes depend on the pieces alone, not on the order in which they
    /// came.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), PiecesError> {
        C::write_set(self, path)
    }

    /// The whole of a host, taken out: `None` where pieces of it are missing.
    pub(crate) fn take_whole(&mut self, id: &str) -> Option<(HostFacts, Mapped<C>)> {
        let Pieces { facts, merger, .. } = self.hosts.remove(id)?;
        let part = merger.finish().ok().filter(|part| part.piece == Piece::WHOLE)?;
        Some((facts, part))
    }
}

impl PieceSet {
    /// The clocks of the corrections that the pieces were mapped with.
    ///
    /// # Errors
    /// The file holds something else.
    pub fn clocks(&self) -> Result<Option<Clocks>, PiecesError> {
        let Some(text) = &self.asked.corrections else { return Ok(None) };
        Ok(Some(Clocks::new(&Artefact::from_json(text)?)?))
    }

    /// The models of the hosts, in the order of their names, with their times on some clocks: those that the
    /// pieces were mapped with, or others where the question does not depend on them. Hosts of which pieces
    /// are missing, and those for whose clocks there is no correction, are left out: see [`Self::missing`].
    pub fn finish(self, clocks: Option<&Clocks>) -> Vec<ModelledHost<'_, AnalysisSet>> {
        let keeps_all = self.asked.keeps_all;
        let mut all: Vec<ModelledHost<'_, AnalysisSet>> = Vec::new();
        for Pieces { facts, merger, .. } in self.hosts.into_values() {
            let Some(timing) = facts.timing(clocks, keeps_all) else { continue };
            let Ok(part) = merger.finish() else { continue };
            if part.piece == Piece::WHOLE {
                let lacking = facts.recorded(&facts.name).lacking();
                let name = timing.clock().map_or(facts.name, |clock| clock.entry.host.clone());
                all.push(ModelledHost::of_pieces(name, timing, lacking, part));
            }
        }
        all.sort_by(|a, b| a.name_of_host().cmp(b.name_of_host()));
        all
    }
}

impl HostFacts {
    /// What its raw times mean on some clocks. `None`: there is no correction for its clock, and it is to be
    /// left out then (`keeps_all`: [`Asked::keeps_all`]).
    pub fn timing<'c>(&self, clocks: Option<&'c Clocks>, keeps_all: bool) -> Option<Timing<'c>> {
        let own = Timing::Own { offset_ns: self.offset_ns };
        let Some(clocks) = clocks else { return Some(own) };
        let id = self.clock.as_ref().unwrap_or(&self.id);
        let clock = clocks.iter().find(|clock| clock.entry.id == *id).map(Timing::Common);
        clock.or(keeps_all.then_some(own))
    }
}

/// As [`PieceSet::read`] says.
pub(super) fn read<C: Held>(paths: &[PathBuf]) -> Result<Option<PieceSet<C>>, PiecesError> {
    let mut all: Option<(PieceSet<C>, &Path)> = None;
    for path in paths {
        let (head, parts): (Head, Vec<Mapped<C>>) = piece_file::read(path, C::FORM)?;
        let (set, first) = all.get_or_insert_with(|| (PieceSet::new(head.asked.clone()), path));
        if let Some(what) = set.asked.difference(&head.asked) {
            return Err(PiecesError::Differ { one: first.to_owned(), other: path.clone(), what });
        }
        if head.hosts.len() != parts.len() || head.traces.len() != parts.len() {
            return Err(PiecesError::Contradiction(path.clone()));
        }
        for ((facts, traces), part) in head.hosts.into_iter().zip(head.traces).zip(parts) {
            add(set, MappedPiece { facts, traces, part }, path)?;
        }
    }
    Ok(all.map(|(set, _)| set))
}

/// As [`PieceSet::add`] says.
pub(super) fn add<C: Held>(
    set: &mut PieceSet<C>,
    mapped: MappedPiece<C>,
    from: &Path,
) -> Result<(), PiecesError> {
    let MappedPiece { facts, traces, part } = mapped;
    let (piece, host, offset_ns) = (part.piece, facts.name.clone(), facts.offset_ns);
    let pieces = set.hosts.entry(facts.id.clone()).or_insert_with(|| Pieces {
        facts: facts.clone(),
        traces: BTreeSet::new(),
        merger: PieceMerger::default(),
        files: Vec::new(),
    });
    let overlaps = |known: &&(Piece, PathBuf)| known.0.from < piece.to && piece.from < known.0.to;
    let other = pieces.files.iter().find(overlaps).or(pieces.files.first()).cloned();
    let (known, other) = other.unwrap_or_else(|| (piece, from.to_owned()));
    if pieces.facts != facts {
        return Err(PiecesError::Foreign { one: other, other: from.to_owned(), host });
    }
    // What a file holds may be anything.
    let is_like = pieces.merger.parts().next().is_none_or(|known| is_like(known, &part));
    if part.model.begin() != piece.from || part.model.end() != piece.to || !is_like {
        return Err(PiecesError::Contradiction(from.to_owned()));
    }
    match pieces.merger.add(part, PartialState::merge) {
        Ok(()) => {
            pieces.files.push((piece, from.to_owned()));
            pieces.traces.extend(traces);
        }
        Err(PieceError::Overlap(_)) => {
            let piece = Piece { from: piece.from.max(known.from), to: piece.to.min(known.to) };
            return Err(PiecesError::Twice { one: other, other: from.to_owned(), host, piece, offset_ns });
        }
        Err(PieceError::Empty(_)) => return Err(PiecesError::Contradiction(from.to_owned())),
        Err(PieceError::Merge(source)) => return Err(merge_error(host, source)),
    }
    Ok(())
}

/// As [`PieceSet::write`] says.
pub(super) fn write<C: Held>(set: &PieceSet<C>, path: &Path) -> Result<(), PiecesError> {
    let (mut hosts, mut traces, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for pieces in set.hosts.values() {
        for part in pieces.merger.parts() {
            hosts.push(pieces.facts.clone());
            traces.push(pieces.traces.iter().cloned().collect());
            parts.push(part);
        }
    }
    let head = Head { asked: set.asked.clone(), hosts, traces };
    output::write_with(path, |to| Ok(piece_file::write(to, path, C::FORM, &head, &parts)?))
}

/// Whether two pieces answer the same question.
fn is_like<C: Held>(one: &Mapped<C>, other: &Mapped<C>) -> bool {
    one.model.spans().inner.is_like(&other.model.spans().inner)
}

/// The traces of pieces with spans, and captures, wherever they were when the pieces were mapped. The files
/// are not read to their ends.
///
/// # Errors
/// A file cannot be read, or is none of pieces with spans.
pub fn traces_of_spans(paths: &[PathBuf]) -> Result<Vec<PathBuf>, PiecesError> {
    let mut all = BTreeSet::new();
    for path in paths {
        let head: Head = piece_file::read_head(path, SpanLog::FORM)?;
        all.extend(head.traces.into_iter().flatten());
    }
    Ok(all.into_iter().collect())
}

fn merge_error(host: String, source: MergeError) -> PiecesError {
    PiecesError::Merge { host, source }
}
