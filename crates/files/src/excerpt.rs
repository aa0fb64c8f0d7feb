//! Excerpts of traces in files of mapped chunks.
//!
//! The content of a section is parts, each after its length (u64): a head, as JSON; the text of the metadata;
//! then, for each stream file, its name and its bytes, which are packets of CTF; last, as JSON, what the
//! streams of the trace have.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isochrone_ctf::write::{Choose, ClassCount, ExcerptWriter};
use isochrone_ctf::{Schemas, Stream, Trace, TraceReport};
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
    /// What is odd about the recording that became the trace, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What its files and indexes show beside its packets; `None` in files of versions that did not keep it.
    #[serde(default)]
    pub report: Option<TraceReport>,
}

/// What a stream of the trace of an excerpt has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamContent {
    /// Bytes of its packets, with their padding.
    pub bytes: u64,
    /// The event classes that occur.
    pub classes: Vec<ClassContent>,
}

/// What a stream has of an event class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassContent {
    /// Index of the class in the stream class.
    pub class: usize,
    /// Number of events.
    pub events: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
}

impl StreamContent {
    /// What comes of the bytes of the packets of a stream, and of the number and the bytes of its events by
    /// event class.
    pub fn new(bytes: u64, classes: impl IntoIterator<Item = ClassCount>) -> Self {
        let class = |(class, (events, bytes))| ClassContent { class, events, bytes };
        let classes = classes.into_iter().enumerate().map(class).filter(|class| class.events > 0);
        Self { bytes, classes: classes.collect() }
    }
}

/// An excerpt that was opened.
#[derive(Debug)]
pub struct OpenedExcerpt {
    /// What is known of its trace, but for the report, which the trace has.
    pub head: ExcerptHead,
    /// What the streams of that trace have, by their index.
    pub content: Vec<StreamContent>,
    /// The excerpt. Its path is that of the trace.
    pub trace: Trace,
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

/// Makes the section of an excerpt of a trace. `made` appends what `writer` has put of a packet before, by
/// the indices of the stream and of the packet.
///
/// # Errors
/// A packet cannot be encoded again, the section not be kept, or what `made` returns.
pub fn excerpt_section<C: Choose>(
    head: &ExcerptHead,
    trace: &Trace,
    writer: ExcerptWriter<'_, C>,
    mut made: impl FnMut(usize, usize, &mut Vec<u8>) -> io::Result<()>,
) -> Result<NewSection, ExcerptError> {
    let mut section = NewSection::new()?;
    put(&mut section, &serde_json::to_vec(head).map_err(io::Error::from)?)?;
    put(&mut section, trace.metadata_text().as_bytes())?;
    let made = |stream, packet, bytes: &mut Vec<u8>| made(stream, packet, bytes).map_err(ExcerptError::from);
    let counts = writer.finish(made, |file| {
        put(&mut section, file.name.as_bytes())?;
        Ok(put(&mut section, &file.bytes)?)
    })?;
    let bytes = |stream: &Stream| stream.packets.iter().map(|packet| packet.total_bits / 8).sum();
    let content = |(stream, counts)| StreamContent::new(bytes(stream), counts);
    let content: Vec<_> = trace.streams().iter().zip(counts).map(content).collect();
    put(&mut section, &serde_json::to_vec(&content).map_err(io::Error::from)?)?;
    Ok(section)
}

/// Bytes after their length.
fn put(section: &mut NewSection, bytes: &[u8]) -> io::Result<()> {
    section.write_all(&(bytes.len() as u64).to_le_bytes())?;
    section.write_all(bytes)
}

/// Opens the excerpt in a section.
///
/// # Errors
/// The section cannot be read, or holds something else.
pub fn open_excerpt(
    file: &PieceFile,
    section: &Section,
    known: &Schemas,
) -> Result<OpenedExcerpt, PieceError> {
    if section.version > EXCERPT {
        let (found, known, what) = (section.version, EXCERPT, "an excerpt of a trace in it");
        return Err(PieceError::Version { path: file.path.clone(), what, found, known });
    }
    let content = file.read(section)?;
    let damaged = |what| section.damaged(&file.path, what);
    let parts = parts(&content).ok_or_else(|| damaged("an excerpt has no such parts"))?;
    let [head, metadata, files @ .., content] = parts.as_slice() else {
        return Err(damaged("an excerpt has no head"));
    };
    let content: Vec<StreamContent> =
        serde_json::from_slice(content).map_err(|_| damaged("an excerpt says something else of streams"))?;
    let mut head: ExcerptHead =
        serde_json::from_slice(head).map_err(|_| damaged("an excerpt has another head"))?;
    let metadata = String::from_utf8(metadata.to_vec()).map_err(|_| damaged("metadata are no text"))?;
    let file_of =
        |pair: &[&[u8]]| Some((String::from_utf8(pair.first()?.to_vec()).ok()?, pair.get(1)?.to_vec()));
    let files: Option<Vec<(String, Vec<u8>)>> = files.chunks(2).map(file_of).collect();
    let files = files.ok_or_else(|| damaged("an excerpt has other files"))?;
    let path: &Path = &head.path;
    let trace = Trace::in_memory(path, metadata, files, known);
    let trace = trace.map_err(|_| damaged("the metadata of an excerpt cannot be understood"))?;
    let trace = match head.report.take() {
        Some(report) => trace.with_report(report).ok_or_else(|| damaged("an excerpt has other streams"))?,
        None => trace,
    };
    Ok(OpenedExcerpt { head, content, trace })
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
