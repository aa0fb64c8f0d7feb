//! Mapped pieces of hosts: what was asked, of which hosts, and the models, apart from the traces that they
//! are of.
//!
//! Pieces hold what some analyses keep ([`AnalysisSet`]), of which reports are made, or all spans
//! ([`SpanLog`](isochrone_pipeline::SpanLog)), of which a store is made: [`Held`]. `map.rs` makes them of an
//! experiment, `mapping.rs` says what others are to map, `set.rs` puts them together, in files and out of
//! them, in any order. Reports and stores come of a whole set as they come of traces. `docs/pieces.md`
//! describes the file.

mod held;
mod map;
mod mapping;
mod set;

use std::path::PathBuf;

use isochrone_analysis::{AnalysisKind, AnalysisSet, Options, Recorded};
use isochrone_corrections::artefact::ArtefactError;
use isochrone_files::output::OutputError;
use isochrone_hosts::ReadReport;
use isochrone_kernel::MergeError;
use isochrone_periods::Definitions;
use isochrone_pipeline::piece_file::PieceFileError;
use isochrone_pipeline::{DamagedLog, MAX_PIECES, Piece, PieceModel};
use isochrone_time::RawNs;
use isochrone_timing::{TimedHost, Times};
use serde::{Deserialize, Serialize};

use crate::model;

pub use held::{Held, holds_spans};
pub use map::{Part, Pass, map_spans};
pub use mapping::{Mapping, MappingError, MappingHost, ToMap};
pub use set::{MissingPiece, PieceSet, traces_of_spans};

/// The form of the models in files of pieces and journals: see [`isochrone_pipeline::piece_file`]. One more
/// wherever the types of what is kept change, or what they mean: then the bytes of pieces of the example are
/// others, which a test compares (`isochrone/tests/it/pieces.rs`).
pub const FORM: u64 = 6;

/// The form of pieces that hold spans.
pub(crate) const FORM_OF_SPANS: u64 = FORM ^ 0x5350_414e;

/// Into how many pieces hosts can be cut.
pub const MOST_PARTS: usize = MAX_PIECES;

/// What pieces were mapped for. Pieces of one set have the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Which analyses.
    pub kinds: Vec<AnalysisKind>,
    /// What was kept of what was read: see [`Options::of_mapping`].
    pub options: Options,
    /// Of which time, on the clock of the corrections.
    pub times: Times,
    /// The corrections, as the text of a `sync.json`; `None`: each host is on its own clock.
    pub corrections: Option<String>,
    /// Whether hosts without a correction stay on their own clocks; else they are left out.
    pub keeps_all: bool,
    /// The periods that were looked for, in chunks that are mapped with all their spans.
    #[serde(default)]
    pub periods: Option<Definitions>,
}

impl Asked {
    /// In which way another question is a different one.
    pub(crate) fn difference(&self, other: &Self) -> Option<&'static str> {
        let Self { kinds, options, times, corrections, keeps_all, periods } = self;
        let differences = [
            (*kinds != other.kinds, "for different analyses"),
            (
                (corrections, keeps_all) != (&other.corrections, &other.keeps_all),
                "with different corrections of clocks (--sync)",
            ),
            (*times != other.times, "for different times (--begin, --end, --at)"),
            (
                options.every_ns != other.options.every_ns,
                "with different steps of time: give --every to both",
            ),
            (*options != other.options, "with different options"),
            (*periods != other.periods, "with different periods (--period)"),
        ];
        differences.into_iter().find(|(is_so, _)| *is_so).map(|(_, what)| what)
    }

    /// For all spans, of which stores are made: those of the whole time, on each host's own clock.
    pub fn spans() -> Self {
        Self {
            kinds: Vec::new(),
            options: Options::default().of_mapping(),
            times: Times::default(),
            corrections: None,
            keeps_all: true,
            periods: None,
        }
    }

    /// The same, with periods.
    #[must_use]
    pub fn with_periods(self, periods: Option<Definitions>) -> Self {
        Self { periods, ..self }
    }

    /// The same, with the arguments of system calls, which `syscalls` shows.
    #[must_use]
    pub fn with_arguments(self) -> Self {
        Self { kinds: vec![AnalysisKind::Syscalls], ..self }
    }

    /// Whether the arguments of system calls are kept.
    pub fn has_arguments(&self) -> bool {
        self.kinds.contains(&AnalysisKind::Syscalls)
    }
}

/// What is known of a host beside its pieces: what reports say of it that needs its traces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// The clock's uuid; else the host's name.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Unix time of the clock's zero, ns.
    pub offset_ns: i64,
    /// The id of its clock in the corrections, if there are any.
    pub clock: Option<String>,
    /// First and last raw time, ns, as the packets say.
    pub extent: Option<(RawNs, RawNs)>,
    /// Bytes of all packets.
    pub bytes: u64,
    /// Names of the events that its traces can have, sorted.
    pub events: Vec<String>,
    /// Whether events of programs do not say which thread they are of.
    pub has_nameless_programs: bool,
    /// Whether system calls do not say which thread they are of.
    #[serde(default)]
    pub has_nameless_calls: bool,
    /// What contradicts that it is one host.
    pub warnings: Vec<String>,
    /// What a user should know of what it lacks.
    pub notes: Vec<String>,
}

impl HostFacts {
    /// What it recorded, under a name.
    pub fn recorded<'h>(&'h self, name: &'h str) -> Recorded<'h> {
        let events = self.events.iter().map(String::as_str).collect();
        let Self { has_nameless_programs, has_nameless_calls, .. } = *self;
        Recorded { name, events, has_nameless_programs, has_nameless_calls, absent: self.notes.clone() }
    }

    /// Of a host of an experiment. `O(n log n)` in the classes of events.
    pub fn of(host: &TimedHost<'_>) -> Self {
        let traced = &host.traced;
        let Recorded { events, has_nameless_programs, has_nameless_calls, absent, .. } = host.recorded();
        let mut events: Vec<String> = events.into_iter().map(str::to_owned).collect();
        events.sort_unstable();
        events.dedup();
        Self {
            id: traced.id.clone(),
            name: host.name().to_owned(),
            offset_ns: traced.offset_ns,
            clock: host.timing.and_then(|timing| Some(timing.clock()?.entry.id.clone())),
            extent: traced.extent(),
            bytes: traced.bytes(),
            events,
            has_nameless_programs,
            has_nameless_calls,
            warnings: traced.contradictions().iter().map(ToString::to_string).collect(),
            notes: absent,
        }
    }
}

/// What a piece of a host was mapped to.
pub(crate) type Mapped<C = AnalysisSet> = PieceModel<model::Model<C>>;

/// A mapped piece of a host.
#[derive(Debug)]
pub struct MappedPiece<C = AnalysisSet> {
    /// Whose it is.
    pub facts: HostFacts,
    /// The directories of the host's traces, and the captures beside them, where they were read: what is made
    /// of spans needs them again. None for analyses.
    pub traces: Vec<PathBuf>,
    pub(crate) part: Mapped<C>,
}

impl<C> MappedPiece<C> {
    /// From where to where, on the host's own clock.
    pub fn piece(&self) -> Piece {
        self.part.piece
    }

    /// What was read for it, and what was missing.
    pub fn report(&self) -> &ReadReport {
        &self.part.report
    }
}

/// Why pieces do not become a set, or a set no reports.
#[derive(Debug, thiserror::Error)]
pub enum PiecesError {
    /// A file.
    #[error(transparent)]
    Store(#[from] PieceFileError),
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Two files were mapped for different questions.
    #[error("{} and {} were mapped {what}", one.display(), other.display())]
    Differ {
        /// A file.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
        /// `with other options`.
        what: &'static str,
    },
    /// Two files have a host of one name and clock, mapped of different traces.
    #[error("{} and {}: what they have of {host} was not mapped of the same traces", one.display(), other.display())]
    Foreign {
        /// A file.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
        /// The host.
        host: String,
    },
    /// Two files have the same piece of a host, or a part of it.
    #[error("{} and {}: both have a piece of {host}, raw ns {piece:?}", one.display(), other.display())]
    Twice {
        /// A file.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
        /// The host.
        host: String,
        /// What both have.
        piece: Piece,
        /// Unix time of the zero of the host's clock, ns.
        offset_ns: i64,
    },
    /// Something that no program of this form writes.
    #[error("{}: the file contradicts itself", .0.display())]
    Contradiction(PathBuf),
    /// Two neighbours cannot be merged, which does not happen with what was mapped.
    #[error("{host}: the pieces of its trace do not fit: {source}")]
    Merge {
        /// The host.
        host: String,
        /// Which.
        source: MergeError,
    },
    /// A host of which there are no pieces, or not all.
    #[error("pieces of {0} are missing")]
    Missing(String),
    /// The traces are not those that the pieces were mapped of.
    #[error("the pieces of {0} were not mapped of its traces as they are now; map them again")]
    Stale(String),
    /// Spans that no program of this form writes.
    #[error(transparent)]
    Damaged(#[from] DamagedLog),
    /// The corrections in the files cannot be used.
    #[error("the corrections that the pieces were mapped with")]
    Corrections(#[from] ArtefactError),
}
