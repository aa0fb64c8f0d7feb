//! Writing files of mapped chunks.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;

use isochrone_ctf::Event;
use isochrone_ctf::schema::ClockClass;
use isochrone_files::piece::{Kind, NewSection, PieceError, PieceFile, Section, SectionWriter};
use isochrone_files::{EXCERPT, ExcerptError, ExcerptHead, InputTrace, excerpt_section, output};
use isochrone_hosts::SLACK;
use isochrone_matching::NeededEvents;
use isochrone_pipeline::Surroundings;
use isochrone_time::{RawNs, Window};
use isochrone_timing::TimedHost;
use serde::Serialize;

use super::{CORE, ChunkHead, CoreHead, HEAD, MODEL, head_of};
use crate::experiment::Experiment;
use crate::pieces::{Held, MappedPiece};

/// Events that lie this near to a core are kept beside it, ns: they may count as outside of it.
const MARGIN: i128 = 2 * SLACK as i128;

/// Why mapped chunks cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// A file cannot be read.
    #[error(transparent)]
    Piece(#[from] PieceError),
    /// An excerpt of a trace cannot be made.
    #[error(transparent)]
    Excerpt(#[from] ExcerptError),
    /// The file cannot be written.
    #[error(transparent)]
    Output(#[from] output::OutputError),
    /// A part of it cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
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
}

/// Excerpts of the traces of an experiment, which can be made while its hosts are mapped.
pub struct Excerpts {
    /// By index of the trace: the window that is mapped, and the excerpt.
    made: Vec<(Option<Window<RawNs>>, NewSection)>,
}

impl Excerpts {
    /// Those of all traces, where the cores of these hosts are mapped. Linear in the traces; memory is that
    /// of the compressed excerpts, of each as far as a section is in memory ([`NewSection`]).
    ///
    /// # Errors
    /// A trace cannot be copied.
    pub fn new(experiment: &Experiment<'_>, hosts: &[&TimedHost<'_>]) -> Result<Self, ChunkError> {
        let windows = by_trace(hosts.iter().filter_map(|host| Some((*host, host.traced.core()?))));
        let make = |(index, input): (usize, &InputTrace)| {
            let window = windows.get(&index).copied();
            Ok::<_, ChunkError>((window, excerpt_of(input, window)?))
        };
        Ok(Self { made: experiment.inputs.traces.iter().enumerate().map(make).collect::<Result<_, _>>()? })
    }

    /// Makes them while something else is done, `map`, where there is more than one thread.
    pub fn beside<T>(
        experiment: &Experiment<'_>,
        hosts: &[&TimedHost<'_>],
        threads: usize,
        map: impl FnOnce() -> T,
    ) -> (T, Result<Self, ChunkError>) {
        let excerpts = || Self::new(experiment, hosts);
        if threads == 1 {
            return (map(), excerpts());
        }
        thread::scope(|scope| {
            let excerpts = scope.spawn(excerpts);
            (map(), excerpts.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }
}

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
        for ((index, input), (of, made)) in experiment.inputs.traces.iter().enumerate().zip(excerpts.made) {
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

/// By index of the trace: the window of its host that is mapped.
fn by_trace<'h>(
    cores: impl IntoIterator<Item = (&'h TimedHost<'h>, Window<RawNs>)>,
) -> HashMap<usize, Window<RawNs>> {
    let of_host = |(host, window): (&'h TimedHost<'h>, _)| {
        host.traced.trace_indices.iter().map(move |&index| (index, window))
    };
    cores.into_iter().flat_map(of_host).collect()
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
        around: around.clone(),
        report: piece.report().clone(),
        model: MODEL,
    };
    let head = serde_json::to_vec(&head)?;
    let mut section = NewSection::new()?;
    section.write_all(&(head.len() as u64).to_le_bytes())?;
    section.write_all(&head)?;
    let mut buffered = BufWriter::new(section);
    let mut named = rmp_serde::Serializer::new(&mut buffered).with_struct_map();
    piece.part.model.serialize(&mut named).map_err(io::Error::other)?;
    Ok(buffered.into_inner()?)
}

/// The excerpt of a trace: all of its events outside of the window that was mapped, and those in it that a
/// synchronization looks at.
fn excerpt_of(input: &InputTrace, window: Option<Window<RawNs>>) -> Result<NewSection, ExcerptError> {
    let trace = &input.trace;
    let head = ExcerptHead { path: trace.path().to_owned(), inner: input.inner.clone() };
    let streams = 0..trace.streams().len();
    let mut needed: Vec<NeededEvents<'_>> =
        streams.clone().map(|stream| NeededEvents::new(trace, stream)).collect();
    let mapped: Vec<Range<u64>> = streams
        .map(|stream| {
            window.zip(trace.clock(stream)).map_or(0..0, |(window, clock)| cycles_inside(window, clock))
        })
        .collect();
    let choose = |stream: usize, _: usize, events: &[Event<'_>], flags: &mut [bool]| {
        needed[stream].select(events, flags);
        let mapped = &mapped[stream];
        for (event, flag) in events.iter().zip(flags) {
            *flag |= !event.cycles().is_some_and(|cycles| mapped.contains(&cycles));
        }
    };
    excerpt_section(&head, trace, choose)
}

/// The cycles of a clock that are so far inside of a window that events at them count as in it.
fn cycles_inside(window: Window<RawNs>, clock: &ClockClass) -> Range<u64> {
    let start = clock.cycles((i128::from(window.start.0) + MARGIN).max(0)).unwrap_or(u64::MAX);
    let end = clock.cycles((i128::from(window.end.0) - MARGIN).max(0)).unwrap_or(u64::MAX);
    start..end
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
