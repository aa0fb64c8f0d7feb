//! Chunks that were mapped alone: what each was mapped to, and models of hosts that are made of them.
//!
//! A file of mapped chunks ([`isochrone_files::piece`]) holds an excerpt of each trace, which is opened as
//! the trace would be, and what the *core* of each host was mapped to: the window in which nothing depends on
//! the chunks before and after it ([`Host::core`](isochrone_hosts::Host::core)). What was read of the rest is
//! in the excerpts. So a host of mapped chunks is a host as any other, with all its streams, losses and gaps;
//! where its events are needed, cores are taken from the file, and the windows between them are mapped from
//! the excerpts, which is known only when the neighbours are there.

mod cores;
mod error;
mod excerpts;
mod located;
mod models;
mod write;

use isochrone_files::Inputs;
use isochrone_files::piece::{Kind, PieceError, PieceFile, Section};
use isochrone_hosts::ReadReport;
use isochrone_pipeline::Surroundings;
use isochrone_time::{RawNs, Window};
use isochrone_timing::TimedHost;
use serde::{Deserialize, Serialize};

use crate::pieces::Asked;

pub(crate) use cores::check_models;
pub use cores::{Chunks, Core, Misfit, UnknownTime};
pub use error::ChunkError;
pub use excerpts::Excerpts;
pub use located::{Located, LocatedError};
pub use models::model;
pub(crate) use models::{map_piece, modelled};
pub use write::{merge_chunks, write_chunks};

/// Version of the heads of files.
pub(crate) const HEAD: u32 = 1;
/// Version of sections with cores.
pub(crate) const CORE: u32 = 2;
/// Version of the models in cores. They have names for everything in them, so later programs read them where
/// fields were added (with `#[serde(default)]`) or removed; what is to mean something else gets another name.
/// It goes up where that is not enough; [`Chunks::earlier`] are those that are read with a warning. Since 2,
/// flushes of disks have their ends.
pub(crate) const MODEL: u32 = 2;

/// What a file of mapped chunks says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChunkHead {
    /// What the chunks were mapped for.
    pub asked: Asked,
    /// Whether the cores hold all spans; else what the analyses keep.
    pub has_spans: bool,
}

impl ChunkHead {
    /// In which way other chunks were mapped for something else.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let is_other = self.has_spans != other.has_spans;
        self.asked.difference(&other.asked).or(is_other.then_some("for spans and for analyses"))
    }
}

/// What a core is known by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreHead {
    /// The host's id.
    pub host: String,
    /// From where to where, raw ns.
    pub window: Window<RawNs>,
    /// The first and the last event of the kernel in it, raw ns; `None` where there is none, and in files of
    /// versions that did not keep them.
    #[serde(default)]
    pub events: Option<(RawNs, RawNs)>,
    /// What surrounded it when it was mapped.
    pub around: Surroundings,
    /// What was read, and what was missing.
    pub report: ReadReport,
    /// The version of its model; 0 where it was written before models had names.
    #[serde(default)]
    pub model: u32,
}

/// What a file of mapped chunks says of itself.
///
/// # Errors
/// The file cannot be read, or has no head.
pub fn head_of(file: &PieceFile) -> Result<ChunkHead, PieceError> {
    let Some(section) = file.of_kind(Kind::Head).next() else {
        return Err(PieceError::Damaged { path: file.path.clone(), offset: 0, what: "it has no head" });
    };
    check_version(file, section, "its head", HEAD)?;
    let content = file.read(section)?;
    serde_json::from_slice(&content).map_err(|_| section.damaged(&file.path, "its head is another one"))
}

/// Refuses sections of later versions.
fn check_version(
    file: &PieceFile,
    section: &Section,
    what: &'static str,
    known: u32,
) -> Result<(), PieceError> {
    match section.version > known {
        true => Err(PieceError::Version { path: file.path.clone(), what, found: section.version, known }),
        false => Ok(()),
    }
}

/// Whether some inputs are mapped chunks, all of them.
pub fn are_chunks(inputs: &Inputs) -> bool {
    !inputs.traces.is_empty() && inputs.traces.iter().all(|input| input.excerpt.is_some())
}

/// What was mapped of the chunks of a host, where its traces are excerpts.
pub(crate) fn chunks_of<'h>(host: &'h TimedHost<'_>) -> Option<&'h Chunks> {
    host.kept.as_deref()?.downcast_ref()
}
