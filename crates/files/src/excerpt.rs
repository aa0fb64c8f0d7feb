//! Excerpts of traces in files of mapped chunks.
//!
//! The content of a section: the length of a head (u64) and the head, as JSON; the length of the metadata
//! (u64) and their text; then, for each stream file, the length of its name (u64), the name, the length of
//! its bytes (u64), and these, which are packets of CTF.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isochrone_ctf::write::excerpt;
use isochrone_ctf::{Event, Schemas, Trace};
use serde::{Deserialize, Serialize};

use crate::piece::{Kind, NewSection, PieceError, PieceFile, Section};

/// Version of the content of sections with excerpts.
pub const EXCERPT: u32 = 1;

/// What is known of the trace of an excerpt beside its packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcerptHead {
    /// Where the trace was.
    pub path: PathBuf,
    /// Path from the argument that led to it.
    pub inner: PathBuf,
    /// Bytes of its packets.
    pub bytes: u64,
}

/// Why there is no excerpt.
#[derive(Debug, thiserror::Error)]
pub enum ExcerptError {
    /// A packet cannot be encoded again.
    #[error(transparent)]
    Ctf(#[from] isochrone_ctf::Error),
    /// It cannot be kept.
    #[error("an excerpt cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// Makes the section of an excerpt: all packets of a trace, with the events that `choose` selects, as
/// [`excerpt()`] says.
///
/// # Errors
/// A packet cannot be encoded again, or there is no memory.
pub fn excerpt_section<'t>(
    head: &ExcerptHead,
    trace: &'t Trace,
    choose: impl FnMut(usize, usize, &[Event<'t>], &mut [bool]),
) -> Result<NewSection, ExcerptError> {
    let mut section = NewSection::new()?;
    put(&mut section, &serde_json::to_vec(head).map_err(io::Error::from)?)?;
    put(&mut section, trace.metadata_text().as_bytes())?;
    let mut failed = None;
    excerpt(trace, choose, |file| {
        let written = put(&mut section, file.name.as_bytes()).and_then(|()| put(&mut section, &file.bytes));
        failed = failed.take().or(written.err());
        Ok(())
    })?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(section),
    }
}

/// Bytes after their length.
fn put(section: &mut NewSection, bytes: &[u8]) -> io::Result<()> {
    section.write_all(&(bytes.len() as u64).to_le_bytes())?;
    section.write_all(bytes)
}

/// Opens the excerpt in a section. Its path is that of the trace.
///
/// # Errors
/// The section cannot be read, or holds something else.
pub fn open_excerpt(
    file: &PieceFile,
    section: &Section,
    known: &Schemas,
) -> Result<(ExcerptHead, Trace), PieceError> {
    if section.version > EXCERPT {
        let (found, known, what) = (section.version, EXCERPT, "an excerpt of a trace in it");
        return Err(PieceError::Version { path: file.path.clone(), what, found, known });
    }
    let content = file.read(section)?;
    let damaged = |what| section.damaged(&file.path, what);
    let parts = parts(&content).ok_or_else(|| damaged("an excerpt has no such parts"))?;
    let [head, metadata, files @ ..] = parts.as_slice() else {
        return Err(damaged("an excerpt has no head"));
    };
    let head: ExcerptHead =
        serde_json::from_slice(head).map_err(|_| damaged("an excerpt has another head"))?;
    let metadata = String::from_utf8(metadata.to_vec()).map_err(|_| damaged("metadata are no text"))?;
    let file_of =
        |pair: &[&[u8]]| Some((String::from_utf8(pair.first()?.to_vec()).ok()?, pair.get(1)?.to_vec()));
    let files: Option<Vec<(String, Vec<u8>)>> = files.chunks(2).map(file_of).collect();
    let files = files.ok_or_else(|| damaged("an excerpt has other files"))?;
    let path: &Path = &head.path;
    let trace = Trace::in_memory(path, metadata, files, known);
    Ok((head.clone(), trace.map_err(|_| damaged("the metadata of an excerpt cannot be understood"))?))
}

/// Where the traces were that a file of mapped chunks has excerpts of, as far as it says so. Linear in the
/// excerpts.
pub fn traces_of_chunks(path: &Path) -> Vec<PathBuf> {
    let Ok(file) = PieceFile::open(path) else { return Vec::new() };
    let head = |section| serde_json::from_slice(&file.read_first_part(section).ok()?).ok();
    let heads = file.of_kind(Kind::Trace).filter_map(head);
    heads.map(|head: ExcerptHead| head.path).collect()
}

/// Bytes that have their lengths before them.
fn parts(mut content: &[u8]) -> Option<Vec<&[u8]>> {
    let mut parts = Vec::new();
    while !content.is_empty() {
        let (length, rest) = content.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (part, rest) = rest.split_at_checked(length)?;
        parts.push(part);
        content = rest;
    }
    Some(parts)
}
