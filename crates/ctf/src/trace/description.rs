//! What the metadata of a trace say, read again when their file has changed: tracers append event classes and
//! stream classes while they trace.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use isochrone_diagnostic::Diagnostic;

use super::scan;
use super::schemas::{ParsedMetadata, Schemas};
use crate::error::{Error, Reason};
use crate::metadata::{self, Metadata};
use crate::schema::{Schema, StreamClass};

/// Metadata, understood and compiled.
#[derive(Debug)]
pub(super) struct Description {
    path: PathBuf,
    /// What they say: of all traces with the same metadata.
    understood: Arc<ParsedMetadata>,
    /// What was odd about the file and its text.
    warnings: Vec<Diagnostic>,
    /// The file as it was before it was read last: one that looks the same is not read again.
    stamp: Option<Stamp>,
    /// Why the file as it is now is not what the schema says.
    complaint: Option<Diagnostic>,
}

/// Length and time of the last change of a file.
type Stamp = (u64, Option<SystemTime>);

/// The file of the metadata in a trace directory.
///
/// # Errors
/// There is none.
pub(super) fn file_in(directory: &Path) -> Result<PathBuf, Error> {
    let path = directory.join("metadata");
    if !path.is_file() {
        // A directory that does not exist or may not be read says so itself.
        fs::read_dir(directory).map_err(|source| Error::new(directory, source))?;
        return Err(Error::new(directory, Reason::NotATrace));
    }
    Ok(path)
}

impl Deref for Description {
    type Target = ParsedMetadata;

    fn deref(&self) -> &ParsedMetadata {
        &self.understood
    }
}

impl Description {
    /// Reads the metadata in a file, and understands them if `known` does not.
    pub(super) fn read(path: PathBuf, known: &Schemas) -> Result<Self, Error> {
        let stamp = stamp(&path);
        let (understood, warnings) = known.understand(metadata::read(&path)?, &path)?;
        Ok(Self { path, understood, warnings, stamp, complaint: None })
    }

    /// Understands a text of metadata, if `known` does not. `path`: where it is said to be.
    pub(super) fn of_text(path: PathBuf, text: String, known: &Schemas) -> Result<Self, Error> {
        let (understood, warnings) = known.understand(Metadata::of_text(text), &path)?;
        Ok(Self { path, understood, warnings, stamp: None, complaint: None })
    }

    /// What the scan of stream files needs of it.
    pub(super) fn for_scan(&self) -> scan::Description<'_> {
        scan::Description { plan: &self.plan, uuid: self.schema.uuid }
    }

    pub(super) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.warnings.iter().chain(&self.complaint)
    }

    /// Index of the stream class with this id.
    pub(super) fn class(&self, id: u64) -> Option<usize> {
        self.schema.streams.binary_search_by_key(&id, |class| class.id).ok()
    }

    /// Reads the file again if it has changed. New metadata take the index of the old ones if they can be
    /// understood and if the packets of all stream classes in `used` (by their indexes) are laid out in them
    /// as before; else a diagnostic says why not, until the file changes once more. Gives the ids of the
    /// stream classes that were known before, if there is something new.
    pub(super) fn refresh(&mut self, used: impl IntoIterator<Item = usize>) -> Option<Vec<u64>> {
        let stamp = stamp(&self.path);
        if stamp == self.stamp {
            return None;
        }
        self.stamp = stamp;
        self.complaint = None;
        let read = metadata::read(&self.path).and_then(|metadata| {
            let same = metadata.text == self.text;
            (!same).then(|| Schemas::default().understand(metadata, &self.path)).transpose()
        });
        match read {
            Ok(None) => None,
            Ok(Some((understood, warnings))) => {
                let schema = &understood.schema;
                let mut used = used.into_iter().map(|class| &self.schema.streams[class]);
                if schema.uuid != self.schema.uuid
                    || !used.all(|class| describes(schema, &self.schema, class))
                {
                    self.complain("they no longer describe the packets that were read");
                    return None;
                }
                let known = self.schema.streams.iter().map(|class| class.id).collect();
                (self.understood, self.warnings) = (understood, warnings);
                Some(known)
            }
            Err(error) => {
                let message = match error.reason() {
                    Reason::Metadata { line, column, message, .. } => {
                        format!("line {line}, column {column}: {message}")
                    }
                    reason => reason.to_string(),
                };
                self.complain(&message);
                None
            }
        }
    }

    fn complain(&mut self, why: &str) {
        let message =
            format!("the metadata have changed and are not used: {why}; what they said before still holds");
        self.complaint = Some(Diagnostic::note(&self.path, message));
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

/// Whether a schema lays the packets of a class out as the old one does. Events are decoded again by each
/// reader.
fn describes(new: &Schema, old: &Schema, class: &StreamClass) -> bool {
    let same_context = |new: &StreamClass| new.packet_context == class.packet_context;
    new.packet_header == old.packet_header && new.stream(class.id).is_some_and(same_context)
}
