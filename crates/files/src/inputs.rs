//! From the paths a user names to open traces and to captures, each once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use isochrone_capture::Capture;
use isochrone_ctf::{Reason, Schemas, Trace, find_traces};
use isochrone_import::Format;
use rayon::prelude::*;

use crate::captures::{InputCapture, find_captures, find_packed_captures};
use crate::excerpt::{ExcerptHead, OpenedExcerpt, StreamContent, open_excerpt};
use crate::packed::{find_packed, is_packed, open_packed};
use crate::piece::{self, Kind, PieceError, PieceFile, Section};
use crate::recorded::{find_recordings, open_recording, recording};
use crate::search::below;
use crate::spans::{find_spans, is_spans, open_spans};
use isochrone_corrections::artefact::{Refused, RefusedKind};

/// A name that is of no capture.
#[derive(Debug, thiserror::Error)]
#[error("no capture is called `{0}`: its name is that of the file without the extension")]
pub struct UnknownCapture(pub String);

/// The traces and captures to work on, and what could not be used.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Open traces in the order they were named, inner ones by path.
    pub traces: Vec<InputTrace>,
    /// Captures in the order they were named, those below a directory by path.
    pub captures: Vec<InputCapture>,
    /// Files of mapped chunks.
    pub pieces: Vec<PieceFile>,
    /// Paths that are no traces, or broken beyond use.
    pub refused: Vec<Refused>,
    /// Differences from what was requested, in words.
    pub notes: Vec<String>,
}

/// An open trace and how it was named.
#[derive(Debug)]
pub struct InputTrace {
    /// The argument that led to it.
    pub argument: PathBuf,
    /// Path from the argument to the trace; empty where the argument is the trace.
    pub inner: PathBuf,
    /// The trace, or an excerpt of it.
    pub trace: Trace,
    /// Of what it is an excerpt, where it is one.
    pub excerpt: Option<ExcerptOf>,
    /// Whether its files lie elsewhere for a time: the argument is a file that it is packed in, or a
    /// recording that became the trace.
    pub is_packed: bool,
    /// What is odd about the recording that became the trace, in words.
    pub notes: Vec<String>,
}

/// Of what an excerpt is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcerptOf {
    /// The file of mapped chunks that it is in.
    pub piece: PathBuf,
    /// What the streams of the whole trace have, by their index.
    pub content: Vec<StreamContent>,
}

impl InputTrace {
    /// A trace that lies in a directory.
    pub fn new(argument: PathBuf, inner: PathBuf, trace: Trace) -> Self {
        Self { argument, inner, trace, excerpt: None, is_packed: false, notes: Vec::new() }
    }

    /// The path as the user would write it.
    pub fn path(&self) -> &Path {
        self.trace.path()
    }
}

/// Why a file is refused that is nothing that can be read.
const NEITHER: &str = "neither a trace (a directory with a file `metadata`), nor a recording of \
    trace-cmd or perf, nor a packet capture (pcap, pcapng)";

impl Inputs {
    /// Finds and opens the traces at or below some paths, several at a time; equal metadata are kept once. A
    /// trace that is reached twice, or that is a copy of another one, is used once.
    ///
    /// A path that is a file is a capture, whatever its name, unless it is one of mapped chunks, one that
    /// traces are packed in ([`is_packed`]), or the recording of another tracer ([`recording`]); these two
    /// are found below a directory, too, where no traces are beside them; or one of spans of OpenTelemetry,
    /// which are of the clock of the traces of their host. Below a directory that is no trace,
    /// captures are found by their extensions (`.pcap`, `.pcapng`, `.cap`) and by how they begin; only their
    /// first bytes are read here.
    pub fn open(arguments: &[PathBuf]) -> Self {
        let mut inputs = Self::default();
        let mut seen = Seen::default();
        let (mut found, mut spans) = (Vec::new(), Vec::new());
        let schemas = Schemas::default();
        for argument in arguments {
            if piece::is_chunks(argument) {
                inputs.add_piece(argument, &schemas, &mut seen);
                continue;
            }
            if is_packed(argument) {
                inputs.add_packed(argument, &schemas, &mut seen);
                continue;
            }
            if let Some(format) = recording(argument) {
                inputs.add_recording(argument, format, &schemas, &mut seen);
                continue;
            }
            if is_spans(argument) {
                spans.push((argument, argument.clone()));
                continue;
            }
            if argument.is_file() {
                inputs.add_captures(argument, vec![argument.clone()], &mut seen);
                continue;
            }
            let below = match find_traces(argument) {
                Ok(below) => below,
                Err(error) => {
                    inputs.refuse_error(&error);
                    continue;
                }
            };
            for error in &below.unreadable {
                inputs.refuse_error(error);
            }
            let mut captures = find_captures(argument);
            let (packed, recordings) = (find_packed(argument), find_recordings(argument));
            let packed_captures = find_packed_captures(argument);
            let spans_before = spans.len();
            spans.extend(find_spans(argument).into_iter().map(|path| (argument, path)));
            let others = || packed.iter().chain(&recordings).chain(&packed_captures);
            let has_files = !captures.is_empty() || others().next().is_some() || spans.len() > spans_before;
            // They may be of the same hosts as traces beside them, which would be there twice.
            let is_alone = |path: &&PathBuf| {
                let directory = path.parent().unwrap_or(argument);
                !below.traces.iter().any(|trace| trace.starts_with(directory))
            };
            if others().any(|path| !is_alone(&path)) {
                inputs.notes.push(format!(
                    "{}: packed traces, recordings and compressed captures beside traces are left out: \
                     name them",
                    argument.display()
                ));
            }
            for path in packed.iter().filter(is_alone) {
                inputs.add_packed(path, &schemas, &mut seen);
            }
            captures.extend(packed_captures.iter().filter(is_alone).cloned());
            for path in recordings.iter().filter(is_alone) {
                if let Some(format) = recording(path) {
                    inputs.add_recording(path, format, &schemas, &mut seen);
                }
            }
            if below.traces.is_empty() && !has_files && below.unreadable.is_empty() {
                inputs
                    .refuse(argument, "no CTF trace found: no directory at or below it has a metadata file");
            }
            inputs.add_captures(argument, captures, &mut seen);
            for path in below.traces {
                if seen.is_new(&path) {
                    found.push((argument, path));
                } else {
                    inputs.notes.push(format!("{} was named twice and is used once", path.display()));
                }
            }
        }
        let opened: Vec<_> = found.par_iter().map(|(_, path)| Trace::open_with(path, &schemas)).collect();
        for ((argument, path), opened) in found.into_iter().zip(opened) {
            match opened {
                Ok(trace) => {
                    let inner = path.strip_prefix(argument).map(Path::to_owned).unwrap_or_default();
                    inputs.add(InputTrace::new(argument.clone(), inner, trace), &mut seen);
                }
                Err(error) => inputs.refuse_error(&error),
            }
        }
        // What the clocks of their hosts are, the other traces say.
        let beside = inputs.traces.len();
        for (argument, path) in spans {
            inputs.add_spans(argument, &path, beside, &schemas, &mut seen);
        }
        inputs
    }

    /// That all of some names are of captures.
    ///
    /// # Errors
    /// No capture has one of them.
    pub fn check_captures<'n>(
        &self,
        names: impl IntoIterator<Item = &'n String>,
    ) -> Result<(), UnknownCapture> {
        let is_unknown = |name: &&String| self.captures.iter().all(|capture| capture.host() != **name);
        names.into_iter().find(is_unknown).map_or(Ok(()), |name| Err(UnknownCapture(name.clone())))
    }

    /// Adds the excerpts in a file of mapped chunks.
    fn add_piece(&mut self, path: &Path, schemas: &Schemas, seen: &mut Seen) {
        if !seen.is_new(path) {
            return self.notes.push(format!("{} was named twice and is used once", path.display()));
        }
        let opened = PieceFile::open(path).and_then(|file| {
            let traces: Vec<&Section> = file.of_kind(Kind::Trace).collect();
            let open = |section: &&Section| open_excerpt(&file, section, schemas);
            let mut traces = traces.par_iter().map(open).collect::<Result<Vec<_>, PieceError>>()?;
            traces.sort_by(|a, b| a.head.path.cmp(&b.head.path));
            Ok((file, traces))
        });
        match opened {
            Ok((file, traces)) => {
                for OpenedExcerpt { head, content, trace } in traces {
                    let ExcerptHead { inner, notes, .. } = head;
                    let excerpt = Some(ExcerptOf { piece: path.to_owned(), content });
                    let new = InputTrace::new(path.to_owned(), inner, trace);
                    self.add(InputTrace { excerpt, notes, ..new }, seen);
                }
                self.pieces.push(file);
            }
            Err(error) => {
                let (what, name) = (RefusedKind::Trace, path.display().to_string());
                let why = error.to_string();
                let why = why.strip_prefix(&format!("{name}: ")).unwrap_or(&why).to_owned();
                self.refused.push(Refused { what, name, why });
            }
        }
    }

    /// Adds the traces in a packed file.
    fn add_packed(&mut self, path: &Path, schemas: &Schemas, seen: &mut Seen) {
        if !seen.is_new(path) {
            return self.notes.push(format!("{} was named twice and is used once", path.display()));
        }
        match open_packed(path, schemas) {
            Ok(traces) => {
                for (inner, trace) in traces {
                    let new = InputTrace::new(path.to_owned(), inner, trace);
                    self.add(InputTrace { is_packed: true, ..new }, seen);
                }
            }
            Err(error) => self.refuse(path, &error.to_string()),
        }
    }

    /// Adds the trace that a recording of another tracer becomes.
    fn add_recording(&mut self, path: &Path, format: Format, schemas: &Schemas, seen: &mut Seen) {
        if !seen.is_new(path) {
            return self.notes.push(format!("{} was named twice and is used once", path.display()));
        }
        match open_recording(path, format, schemas) {
            Ok((trace, notes)) => {
                let new = InputTrace::new(path.to_owned(), PathBuf::new(), trace);
                self.add(InputTrace { is_packed: true, notes, ..new }, seen);
            }
            Err(error) => self.refuse(path, &error.to_string()),
        }
    }

    /// Adds the traces that spans become. `beside`: the number of traces that say what the clocks are.
    fn add_spans(&mut self, argument: &Path, path: &Path, beside: usize, schemas: &Schemas, seen: &mut Seen) {
        if !seen.is_new(path) {
            return self.notes.push(format!("{} was named twice and is used once", path.display()));
        }
        let beside: Vec<&Trace> = self.traces.iter().take(beside).map(|it| &it.trace).collect();
        match open_spans(path, &beside, schemas) {
            Ok((traces, mut notes)) => {
                let packed = path.strip_prefix(argument).unwrap_or(Path::new(""));
                for (inner, trace) in traces {
                    let new = InputTrace::new(argument.to_owned(), below(packed, &inner), trace);
                    // They are of all of the spans: with the first of their traces.
                    let notes = std::mem::take(&mut notes);
                    self.add(InputTrace { is_packed: true, notes, ..new }, seen);
                }
            }
            Err(error) => self.refuse(path, &error.to_string()),
        }
    }

    /// Adds the captures that an argument led to.
    fn add_captures(&mut self, argument: &Path, paths: Vec<PathBuf>, seen: &mut Seen) {
        for path in paths {
            if !seen.is_new(&path) {
                self.notes.push(format!("{} was named twice and is used once", path.display()));
            } else if let Err(error) = Capture::open(&path) {
                let why = match error.reason() {
                    // It may have been taken for a trace.
                    isochrone_capture::Reason::NotACapture => NEITHER.to_owned(),
                    other => other.to_string(),
                };
                self.refuse(&path, &why);
            } else {
                self.captures.push(InputCapture { argument: argument.to_owned(), path, interface: None });
            }
        }
    }

    /// Makes each interface of the captures of some names a capture of its own, which has a clock of its own:
    /// those with frames. Reads these captures from start to end.
    ///
    /// # Errors
    /// No capture has that name.
    pub fn split(&mut self, names: &[String]) -> Result<(), UnknownCapture> {
        for name in names {
            let named = |capture: &InputCapture| capture.host() == *name;
            self.check_captures([name])?;
            for capture in std::mem::take(&mut self.captures) {
                let frames = Capture::open(&capture.path).ok().filter(|_| named(&capture));
                let interfaces: BTreeSet<usize> =
                    frames.into_iter().flatten().map(|frame| frame.interface).collect();
                match interfaces.is_empty() {
                    true => self.captures.push(capture),
                    false => self.captures.extend(
                        interfaces
                            .into_iter()
                            .map(|interface| InputCapture { interface: Some(interface), ..capture.clone() }),
                    ),
                }
            }
        }
        Ok(())
    }

    fn refuse(&mut self, path: &Path, why: &str) {
        self.refused.push(Refused {
            what: RefusedKind::Trace,
            name: path.display().to_string(),
            why: why.to_owned(),
        });
    }

    /// Errors of a trace's metadata are the trace's.
    fn refuse_error(&mut self, error: &isochrone_ctf::Error) {
        let reason = error.reason();
        let (path, why) = match reason {
            Reason::Metadata { .. } => (error.path().parent(), format!("metadata:{reason}")),
            Reason::MetadataPackets { .. } | Reason::TooLarge { .. } => {
                (error.path().parent(), format!("metadata: {reason}"))
            }
            _ => (None, reason.to_string()),
        };
        self.refuse(path.unwrap_or(error.path()), &why);
    }

    /// Adds a trace unless it is a copy of one that is there: two copies would make every message ambiguous.
    fn add(&mut self, new: InputTrace, seen: &mut Seen) {
        if let Some(like) = start_of_content(&new.trace) {
            let like = seen.contents.entry(like).or_default();
            let mut old = like.iter().map(|&index| &self.traces[index].trace);
            if let Some(old) = old.find(|old| same_content(old, &new.trace)) {
                let (new, old) = (new.path().display(), old.path().display());
                return self.notes.push(format!("{new} is a copy of {old} and is not used a second time"));
            }
            like.push(self.traces.len());
        }
        self.notes.extend(new.notes.iter().cloned());
        self.traces.push(new);
    }
}

/// What was found so far.
#[derive(Default)]
struct Seen {
    paths: HashSet<PathBuf>,
    /// By [`start_of_content`]: indices of traces. A fleet has a hundred thousand chunks.
    contents: HashMap<u64, Vec<usize>>,
}

impl Seen {
    /// Whether a path was not found before, under any name.
    fn is_new(&mut self, path: &Path) -> bool {
        self.paths.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    }
}

/// A number that traces of the same content have in common: of the uuid and the first packet. `None`: what
/// has neither is no copy.
fn start_of_content(trace: &Trace) -> Option<u64> {
    let uuid = trace.schema().uuid?;
    let (stream, packet) =
        trace.streams().iter().find_map(|stream| Some((stream, stream.packets.first()?)))?;
    let mut hasher = DefaultHasher::new();
    let first = (stream.class, stream.id, packet.begin(), packet.end(), packet.content_bits);
    (uuid, first).hash(&mut hasher);
    Some(hasher.finish())
}

/// Whether two traces hold the same packets of the same clock: same identities, same times and sizes packet
/// by packet.
fn same_content(a: &Trace, b: &Trace) -> bool {
    fn packets(trace: &Trace) -> impl Iterator<Item = impl PartialEq> {
        trace
            .streams()
            .iter()
            .flat_map(|s| s.packets.iter().map(|p| (s.class, s.id, p.begin(), p.end(), p.content_bits)))
    }
    let same_identity = a.schema().uuid == b.schema().uuid && a.schema().clocks == b.schema().clocks;
    a.schema().uuid.is_some() && same_identity && packets(a).next().is_some() && packets(a).eq(packets(b))
}
