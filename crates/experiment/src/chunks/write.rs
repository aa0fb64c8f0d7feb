//! Writing files of mapped chunks.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use isochrone_files::piece::{Kind, NewSection, PieceFile, Section, SectionWriter};
use isochrone_files::{EXCERPT, output};
use isochrone_pipeline::Surroundings;
use serde::Serialize;

use super::error::ChunkError;
use super::excerpts::{Excerpts, by_trace, excerpt_of};
use super::{CORE, ChunkHead, CoreHead, HEAD, MODEL, head_of};
use crate::experiment::Experiment;
use crate::pieces::{Held, MappedPiece};

/// Writes the chunks of an experiment to a file: excerpts of its traces, and what the cores of its hosts were
/// mapped to. Linear in the traces.
///
/// # Errors
/// A trace cannot be copied, or the file not be written.
pub fn write_chunks<C: Held>(
    experiment: &Experiment<'_>,
    head: &ChunkHead,
    excerpts: Excerpts,
    mapped: &[MappedPiece<C>],
    path: &Path,
) -> Result<(), ChunkError> {
    let mut cores = Vec::with_capacity(mapped.len());
    let mut arounds: HashMap<&str, Surroundings> = HashMap::new();
    for host in experiment.hosts() {
        let of_host = mapped.iter().find(|piece| piece.facts.id == host.traced.id);
        let Some(window) = of_host.map(|piece| piece.piece().window()) else { continue };
        cores.push((host, window));
        arounds.insert(&host.traced.id, Surroundings::of(&host.traced, window));
    }
    let windows = by_trace(cores);
    output::write_with(path, |to| {
        let io = |source| ChunkError::Io { path: path.to_owned(), source };
        let mut sections = SectionWriter::new(to).map_err(io)?;
        sections.add(Kind::Head, HEAD, json(head).map_err(io)?).map_err(io)?;
        for ((index, input), (of, made)) in
            experiment.inputs.traces.iter().enumerate().zip(excerpts.into_made())
        {
            // Nothing may be missing in it that is not in a core.
            let window = windows.get(&index).copied();
            let excerpt = if of == window { made } else { excerpt_of(input, window)? };
            sections.add(Kind::Trace, EXCERPT, excerpt).map_err(io)?;
        }
        for piece in mapped {
            let Some(around) = arounds.get(piece.facts.id.as_str()) else { continue };
            let core = core_section(piece, around).map_err(io)?;
            sections.add(Kind::Core, CORE, core).map_err(io)?;
        }
        sections.finish().map_err(io)
    })
}

fn json<T: Serialize>(value: &T) -> io::Result<NewSection> {
    let mut section = NewSection::new()?;
    serde_json::to_writer(&mut section, value)?;
    Ok(section)
}

fn core_section<C: Held>(piece: &MappedPiece<C>, around: &Surroundings) -> io::Result<NewSection> {
    let head = CoreHead {
        host: piece.facts.id.clone(),
        window: piece.piece().window(),
        events: piece.part.model.kernel_events(),
        around: around.clone(),
        report: piece.report().clone(),
        model: MODEL,
    };
    let head = serde_json::to_vec(&head)?;
    let mut section = NewSection::new()?;
    section.write_all(&(head.len() as u64).to_le_bytes())?;
    section.write_all(&head)?;
    let mut buffered = BufWriter::new(section);
    named(&piece.part.model, &mut buffered)?;
    Ok(buffered.into_inner()?)
}

/// Writes a value as MessagePack with the names of its fields.
fn named<T: Serialize>(value: &T, to: impl Write) -> io::Result<()> {
    let mut serializer = rmp_serde::Serializer::new(to).with_struct_map();
    value.serialize(&mut serializer).map_err(|error| match error {
        // What the system says: the error about MessagePack leaves it out.
        rmp_serde::encode::Error::InvalidValueWrite(error) => error.into(),
        other => io::Error::other(other),
    })
}

/// Writes all chunks of some files to one: what is in several of them once. The bytes depend on the chunks
/// alone, not on the order of the files. Linear in the bytes; memory is that of the directory of sections.
///
/// # Errors
/// A file cannot be read, or the output not be written; two files were mapped for different questions.
pub fn merge_chunks(paths: &[PathBuf], to: &Path) -> Result<(), ChunkError> {
    let files = paths.iter().map(|path| PieceFile::open(path)).collect::<Result<Vec<_>, _>>()?;
    let mut first: Option<(&PieceFile, ChunkHead)> = None;
    for file in &files {
        let head = head_of(file)?;
        let (one, known) = first.get_or_insert_with(|| (file, head.clone()));
        if let Some(what) = known.difference(&head) {
            let (one, other) = (one.path.clone(), file.path.clone());
            return Err(ChunkError::Differ { one, other, what });
        }
    }
    let Some((_, head)) = first else { return Ok(()) };
    let sections = |file| move |section| (file, section);
    let mut all: Vec<(&PieceFile, &Section)> = (files.iter())
        .flat_map(|file| file.sections.iter().map(sections(file)))
        .filter(|(_, section)| section.kind != Kind::Head)
        .collect();
    all.sort_by_key(|(_, section)| section.identity());
    all.dedup_by_key(|(_, section)| section.identity());
    output::write_with(to, |out| {
        let io = |source| ChunkError::Io { path: to.to_owned(), source };
        let mut merged = SectionWriter::new(out).map_err(io)?;
        merged.add(Kind::Head, HEAD, json(&head).map_err(io)?).map_err(io)?;
        for (file, section) in all {
            file.copy(section, &mut merged).map_err(io)?;
        }
        merged.finish().map_err(io)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_reported() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::new(io::ErrorKind::StorageFull, "no space in /tmp"))
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for written in [named(&1, Full), named(&"text", Full), named(&vec![1; 100], Full)] {
            assert_eq!(written.unwrap_err().to_string(), "no space in /tmp");
        }
    }
}
