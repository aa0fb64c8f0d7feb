//! Chunks that lie on another machine, whose process maps them there.

use std::fs;
use std::path::{Path, PathBuf};

use isochrone_files::Inputs;
use isochrone_files::piece::is_chunks;
use isochrone_timing::TimedHost;
use serde::{Deserialize, Serialize};

use super::{ChunkError, ChunkHead, Excerpts, merge_chunks, write_chunks};
use crate::experiment::{Experiment, Opened};
use crate::model::{ModelError, Spread};
use crate::pieces::{Held, MappedPiece, Part, Pass, map_spans};
use crate::question::Question;
use crate::temporary::scratch;

/// What a process on another machine is to map: it opens the traces, and nobody else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Located {
    /// What the chunks are mapped for.
    pub head: ChunkHead,
    /// The name of the machine.
    pub machine: String,
    /// Paths there: traces, directories of them, files of mapped chunks and directories of those. A relative
    /// path begins at the directory in which the process works.
    pub paths: Vec<PathBuf>,
}

/// Why nothing can be mapped there. Each names the machine.
#[derive(Debug, thiserror::Error)]
pub enum LocatedError {
    /// A path does not exist there, or is not what it should be.
    #[error("{machine}: {path}: {why}")]
    Refused {
        /// The machine.
        machine: String,
        /// The path.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// There are no traces in the paths.
    #[error("{0}: none of the traces there has a clock that can be used")]
    NoHosts(String),
    /// A host cannot be mapped.
    #[error("{machine}: {source}")]
    Model {
        /// The machine.
        machine: String,
        /// Why.
        source: ModelError,
    },
    /// The pieces cannot be read or written.
    #[error("{machine}: {source}")]
    Chunks {
        /// The machine.
        machine: String,
        /// Why.
        source: ChunkError,
    },
}

impl Located {
    /// Maps all that lies at the paths to one file. Traces are mapped together; files of mapped chunks are
    /// merged as they are. Linear in the traces.
    ///
    /// # Errors
    /// A path is not there or is neither, something of a host cannot be mapped, or the file cannot be
    /// written.
    pub fn map(&self, spread: Spread, to: &Path) -> Result<(), LocatedError> {
        let machine = || self.machine.clone();
        let chunks = |source: ChunkError| LocatedError::Chunks { machine: machine(), source };
        let (mut pieces, mut traces) = (Vec::new(), Vec::new());
        for path in &self.paths {
            let found = pieces_in(path).map_err(|source| LocatedError::Refused {
                machine: machine(),
                path: path.display().to_string(),
                why: source.to_string(),
            })?;
            match found.is_empty() {
                true => traces.push(path.clone()),
                false => pieces.extend(found),
            }
        }
        if traces.is_empty() {
            return merge_chunks(&pieces, to).map_err(chunks);
        }
        let inputs = Inputs::open(&traces);
        if let Some(refused) = inputs.refused.first() {
            let (path, why) = (refused.name.clone(), refused.why.clone());
            return Err(LocatedError::Refused { machine: machine(), path, why });
        }
        if let Some(capture) = inputs.captures.first() {
            let path = capture.path.display().to_string();
            let why = "a capture is not taken along: name the traces alone".to_owned();
            return Err(LocatedError::Refused { machine: machine(), path, why });
        }
        let opened = Opened::unsynchronized(inputs);
        let mapped = to.with_extension("mapped");
        let (merges, target) = (!pieces.is_empty(), if pieces.is_empty() { to } else { &mapped });
        self.map_traces(&opened, spread, target)?;
        if merges {
            pieces.push(mapped);
            merge_chunks(&pieces, to).map_err(chunks)?;
        }
        Ok(())
    }

    fn map_traces(&self, opened: &Opened, spread: Spread, to: &Path) -> Result<(), LocatedError> {
        let experiment = opened.experiment();
        let hosts: Vec<&TimedHost<'_>> = experiment.hosts().iter().collect();
        if hosts.is_empty() {
            return Err(LocatedError::NoHosts(self.machine.clone()));
        }
        let asked = &self.head.asked;
        if self.head.has_spans {
            let map = |pass: Pass<'_>| map_spans(asked, &hosts, &[], pass, &scratch());
            return self.write(&experiment, &hosts, spread, map, to);
        }
        let (kinds, options, times) = (&asked.kinds, &asked.options, asked.times);
        let question = Question { kinds, options, times, periods: None };
        self.write(&experiment, &hosts, spread, |pass| question.map(&hosts, pass), to)
    }

    /// Writes what is mapped of hosts that have a core.
    fn write<C: Held>(
        &self,
        experiment: &Experiment<'_>,
        hosts: &[&TimedHost<'_>],
        spread: Spread,
        map: impl FnOnce(Pass<'_>) -> Vec<Result<Option<MappedPiece<C>>, ModelError>>,
        to: &Path,
    ) -> Result<(), LocatedError> {
        let machine = || self.machine.clone();
        let (mapped, excerpts) = Excerpts::beside(experiment, hosts, Pass::of(Part::Core, spread), map);
        let mapped: Result<Vec<_>, ModelError> = mapped.into_iter().filter_map(Result::transpose).collect();
        let mapped = mapped.map_err(|source| LocatedError::Model { machine: machine(), source })?;
        excerpts
            .and_then(|excerpts| write_chunks(experiment, &self.head, excerpts, &mapped, to))
            .map_err(|source| LocatedError::Chunks { machine: machine(), source })
    }
}

/// The files of mapped chunks that a path is, or that lie in the directory that it is, by name.
fn pieces_in(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(is_chunks(path).then(|| path.to_owned()).into_iter().collect());
    }
    let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let mut pieces: Vec<PathBuf> = entries.into_iter().filter(|path| is_chunks(path)).collect();
    pieces.sort_unstable();
    Ok(pieces)
}
