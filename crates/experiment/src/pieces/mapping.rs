//! What is to be mapped by other processes, perhaps on other machines, which find the traces at the same
//! paths: the question, the hosts with their traces, and into how many pieces each is cut. Who asks puts
//! together what they send back, as a set of files.

use std::path::{Path, PathBuf};

use isochrone_corrections::Clocks;
use isochrone_corrections::artefact::{Artefact, ArtefactError};
use isochrone_files::Inputs;
use isochrone_time::RawNs;
use isochrone_timing::TimedHost;
use serde::{Deserialize, Serialize};

use super::{Asked, MOST_PARTS, Part, Pass, PieceSet, PiecesError};
use crate::chunks::Located;
use crate::experiment::Experiment;
use crate::model::{ModelError, Spread};
use crate::question::Question;

/// A host is cut into pieces of about so many bytes, where nobody says into how many: some seconds of work of
/// one core.
const PIECE_BYTES: u64 = 128 << 20;

/// Pieces of all hosts together, about, where nobody says how many: who asks merges them one after the other,
/// some milliseconds each.
const ALL_PIECES: u64 = 4096;

/// What a cluster is to map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToMap {
    /// Pieces of traces that all machines have at the same paths.
    Shared(Box<Mapping>),
    /// What lies on some machines, each by itself.
    Located(Vec<Located>),
}

/// What is to be mapped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mapping {
    /// The question.
    pub asked: Asked,
    /// The hosts, in the order of their names.
    pub hosts: Vec<MappingHost>,
}

/// A host that is to be mapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappingHost {
    /// The clock's uuid; else the host's name.
    pub id: String,
    /// Name for people, as who asks has it.
    pub name: String,
    /// Its traces: absolute paths.
    pub traces: Vec<PathBuf>,
    /// First and last raw time, ns, as the packets say.
    pub extent: Option<(RawNs, RawNs)>,
    /// Bytes of all packets.
    pub bytes: u64,
    /// Into how many pieces it is cut, of nearly equal size.
    pub pieces: usize,
}

/// Why a piece cannot be mapped here.
#[derive(Debug, thiserror::Error)]
pub enum MappingError {
    /// The traces are not there, or others.
    #[error(
        "{host}: on this machine, the traces are not as they are where they were named ({what}); all machines need the same files at the same paths"
    )]
    OtherTraces {
        /// Whose.
        host: String,
        /// What was found.
        what: String,
    },
    /// The corrections cannot be used.
    #[error("the corrections that were sent: {0}")]
    Corrections(#[from] ArtefactError),
    /// The traces cannot be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The result cannot be kept.
    #[error(transparent)]
    Pieces(#[from] PiecesError),
}

impl Mapping {
    /// Of a question and the hosts that it is about. `corrections`: those that their times are on, as the
    /// text of a `sync.json`; `keeps_all`: whether hosts without one stay on their own clocks; `pieces`: into
    /// how many each host is cut.
    ///
    /// # Errors
    /// The current directory is not known, which relative paths begin at.
    pub fn new(
        question: &Question<'_>,
        hosts: &[&TimedHost<'_>],
        (corrections, keeps_all): (Option<String>, bool),
        pieces: Option<usize>,
    ) -> std::io::Result<Self> {
        let total: u64 = hosts.iter().map(|host| host.traced.bytes()).sum();
        let piece = PIECE_BYTES.max(total / ALL_PIECES);
        let of_host = |host: &&TimedHost<'_>| {
            let traces = host.traced.traces().iter().map(|trace| std::path::absolute(trace.path()));
            let bytes = host.traced.bytes();
            let by_size = usize::try_from(bytes.div_ceil(piece)).unwrap_or(MOST_PARTS);
            Ok(MappingHost {
                id: host.traced.id.clone(),
                name: host.name().to_owned(),
                traces: traces.collect::<std::io::Result<_>>()?,
                extent: host.traced.extent(),
                bytes,
                pieces: pieces.unwrap_or(by_size).clamp(1, MOST_PARTS),
            })
        };
        let hosts_to_map: std::io::Result<Vec<MappingHost>> = hosts.iter().map(of_host).collect();
        let asked = Asked { keeps_all, ..question.asked(hosts, corrections) };
        Ok(Self { asked, hosts: hosts_to_map? })
    }

    /// Maps a piece of a host, counted from 1, to a file. The file has no piece where nothing of the host is
    /// in it.
    ///
    /// # Errors
    /// The traces are not the same here or cannot be read, or the file cannot be written.
    pub fn map(&self, host: &MappingHost, number: usize, to: &Path) -> Result<(), MappingError> {
        let Asked { kinds, options, times, corrections, keeps_all, .. } = &self.asked;
        let clocks =
            corrections.as_deref().map(|text| Clocks::new(&Artefact::from_json(text)?)).transpose()?;
        let inputs = Inputs::open(&host.traces);
        let experiment = Experiment::grouped(&inputs, clocks.as_ref(), *keeps_all);
        let [found] = experiment.hosts() else {
            let refused = inputs.refused.iter().map(|it| format!("{}: {}", it.name, it.why));
            let what = refused.chain([format!("{} hosts", experiment.hosts().len())]).collect::<Vec<_>>();
            return Err(MappingError::OtherTraces { host: host.name.clone(), what: what.join("; ") });
        };
        let here = &found.traced;
        if (&here.id, here.extent(), here.bytes()) != (&host.id, host.extent, host.bytes) {
            let what = format!("{} bytes, and there {}", here.bytes(), host.bytes);
            return Err(MappingError::OtherTraces { host: host.name.clone(), what });
        }
        let question = Question { kinds, options, times: *times, periods: None };
        let part = Part::Share { number, of: host.pieces };
        let one = Spread { threads: Some(std::num::NonZeroUsize::MIN), pieces: None };
        let mut set = PieceSet::new(self.asked.clone());
        for mapped in question.map(&[found], Pass::of(part, one)) {
            if let Some(mut piece) = mapped? {
                // Alone, it does not know of others of its name.
                piece.facts.name.clone_from(&host.name);
                set.add(piece, to)?;
            }
        }
        Ok(set.write(to)?)
    }
}
