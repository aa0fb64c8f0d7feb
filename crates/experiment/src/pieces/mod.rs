//! Mapped pieces of hosts: what was asked, of which hosts, and the models, apart from the traces that they are of.
//!
//! `map.rs` makes them of an experiment, `mapping.rs` says what others are to map, `set.rs` puts them together, in files and out of them, in any order. Reports come of a
//! whole set as they come of traces. `docs/pieces.md` describes the file.

mod map;
mod mapping;
mod set;

use std::path::PathBuf;

use isochrone_analysis::{AnalysisKind, AnalysisSet, Options};
use isochrone_hosts::{ReadReport, Time};
use isochrone_kernel::MergeError;
use isochrone_pipeline::store::StoreError;
use isochrone_pipeline::{MOST_PIECES, Piece, PieceModel};
use isochrone_sync::artefact::ArtefactError;
use serde::{Deserialize, Serialize};

use crate::experiment::TimedHost;
use crate::model;
use crate::window::Times;

pub use map::Part;
pub use mapping::{Mapping, MappingError, MappingHost};
pub use set::{MissingPiece, PieceSet};

/// The form of the models of this program: see [`isochrone_pipeline::store`]. It follows from the version and from the sources of the
/// crates that define them.
pub const FORM: u64 = number(env!("ISOCHRONE_FORM"));

/// Into how many pieces hosts can be cut.
pub const MOST_PARTS: usize = MOST_PIECES;

/// A number that `build.rs` has written.
const fn number(digits: &str) -> u64 {
    let (digits, mut number, mut place) = (digits.as_bytes(), 0_u64, 0);
    while place < digits.len() {
        number = number * 10 + (digits[place] - b'0') as u64;
        place += 1;
    }
    number
}

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
    pub extent: Option<(Time, Time)>,
    /// Bytes of all packets.
    pub bytes: u64,
    /// Names of the events that its traces can have, sorted.
    pub events: Vec<String>,
    /// What contradicts that it is one host.
    pub warnings: Vec<String>,
    /// What a user should know of what it lacks.
    pub notes: Vec<String>,
}

impl HostFacts {
    /// Of a host of an experiment. `O(n log n)` in the classes of events.
    pub fn of(host: &TimedHost<'_>) -> Self {
        let traced = &host.traced;
        let streams = traced.traces().iter().flat_map(|trace| &trace.schema().streams);
        let names = streams.flat_map(|stream| &stream.events).filter_map(|event| event.name.clone());
        let mut events: Vec<String> = names.collect();
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
            warnings: traced.contradictions().iter().map(ToString::to_string).collect(),
            notes: traced.notes().iter().map(ToString::to_string).collect(),
        }
    }
}

/// What a piece of a host was mapped to.
pub(crate) type Mapped = PieceModel<model::Model<AnalysisSet>>;

/// A mapped piece of a host.
#[derive(Debug)]
pub struct MappedPiece {
    /// Whose it is.
    pub facts: HostFacts,
    pub(crate) part: Mapped,
}

impl MappedPiece {
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
    Store(#[from] StoreError),
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
    /// The corrections in the files cannot be used.
    #[error("the corrections that the pieces were mapped with")]
    Corrections(#[from] ArtefactError),
}
