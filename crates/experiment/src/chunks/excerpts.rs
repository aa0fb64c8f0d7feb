//! Excerpts of the traces of chunks: what is outside of the part that is mapped, and what a synchronization
//! needs of it. They are made of the events that are read for the models, or of those that are read again.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use isochrone_ctf::Event;
use isochrone_ctf::schema::ClockClass;
use isochrone_ctf::write::{Choose, ExcerptWriter, SeenPacket};
use isochrone_files::output::of_temporary;
use isochrone_files::piece::NewSection;
use isochrone_files::{ExcerptError, ExcerptHead, InputTrace, excerpt_section};
use isochrone_hosts::{Host, Observer, SLACK};
use isochrone_matching::NeededEvents;
use isochrone_pipeline::Observe;
use isochrone_time::{RawNs, Window};
use isochrone_timing::TimedHost;
use tempfile::SpooledTempFile;

use super::error::ChunkError;
use crate::experiment::Experiment;
use crate::pieces::Pass;

/// Events that lie this near to a core are kept beside it, ns: they may count as outside of it.
const MARGIN: i128 = 2 * SLACK as i128;

/// Event classes of all streams together, up to which the excerpts of all traces are written at once: some
/// words of memory each.
const MOST_CLASSES: usize = 1 << 20;

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
        let windows = of_cores(hosts);
        let make = |(index, input): (usize, &InputTrace)| {
            let window = windows.get(&index).copied();
            Ok::<_, ChunkError>((window, excerpt_of(input, window)?))
        };
        Ok(Self { made: experiment.inputs.traces.iter().enumerate().map(make).collect::<Result<_, _>>()? })
    }

    /// The same, of the events that `map` reads and gives to the observer of its pass; packets that it does
    /// not read as a whole are read after it. Memory is that of [`Self::new`], the candidates of one packet
    /// of each stream, some words for each packet and event class, and [`IN_MEMORY`] bytes of compressed
    /// packets whose files are not written yet; the rest of those is in a temporary file.
    ///
    /// # Errors
    /// A trace cannot be copied, or the temporary file not be written or read.
    fn along<T>(
        experiment: &Experiment<'_>,
        hosts: &[&TimedHost<'_>],
        pass: Pass<'_>,
        map: impl FnOnce(Pass<'_>) -> T,
    ) -> (T, Result<Self, ChunkError>) {
        let windows = of_cores(hosts);
        let traces = &experiment.inputs.traces;
        let writer = |(index, input)| writer_of(input, windows.get(&index).copied());
        let writers = traces.iter().enumerate().map(writer).collect();
        let along = Along(Mutex::new(Written { writers, packets: Packets::default(), error: None }));
        let mapped = map(Pass { observe: Some(&along), ..pass });
        let Written { writers, mut packets, error } =
            along.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let finish = |(index, (input, writer)): (usize, (&InputTrace, ExcerptWriter<'_, _>))| {
            let made = |stream, packet, to: &mut Vec<u8>| packets.read((index, stream, packet), to);
            let section = excerpt_section(&head_of(input), &input.trace, writer, made)?;
            Ok::<_, ChunkError>((windows.get(&index).copied(), section))
        };
        let made = match error {
            Some(error) => Err(error.into()),
            None => traces.iter().zip(writers).enumerate().map(finish).collect(),
        };
        (mapped, made.map(|made| Self { made }))
    }

    /// Makes them while hosts are mapped by `map`: on several threads beside it; on one thread of the events
    /// that it reads, or after it where there are very many streams. Gives what `map` does, too.
    ///
    /// # Errors
    /// As of [`Self::new`]; a temporary file cannot be written or read.
    pub fn beside<T>(
        experiment: &Experiment<'_>,
        hosts: &[&TimedHost<'_>],
        pass: Pass<'_>,
        map: impl FnOnce(Pass<'_>) -> T,
    ) -> (T, Result<Self, ChunkError>) {
        if pass.spread.threads() > 1 {
            return thread::scope(|scope| {
                let excerpts = scope.spawn(|| Self::new(experiment, hosts));
                (map(pass), excerpts.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            });
        }
        let traces = experiment.inputs.traces.iter().map(|input| &input.trace);
        let streams = traces.flat_map(|trace| (0..trace.streams().len()).map(|it| trace.stream_plan(it)));
        let classes: usize = streams.map(|plan| plan.events.len()).sum();
        match classes <= MOST_CLASSES {
            true => Self::along(experiment, hosts, pass, map),
            false => (map(pass), Self::new(experiment, hosts)),
        }
    }

    /// By index of the trace: the window that is mapped, and the excerpt.
    pub(super) fn into_made(self) -> Vec<(Option<Window<RawNs>>, NewSection)> {
        self.made
    }
}

/// By index of the trace: the core of its host.
fn of_cores(hosts: &[&TimedHost<'_>]) -> HashMap<usize, Window<RawNs>> {
    by_trace(hosts.iter().filter_map(|host| Some((*host, host.traced.core()?))))
}

/// By index of the trace: the window of its host that is mapped.
pub(super) fn by_trace<'h>(
    cores: impl IntoIterator<Item = (&'h TimedHost<'h>, Window<RawNs>)>,
) -> HashMap<usize, Window<RawNs>> {
    let of_host = |(host, window): (&'h TimedHost<'h>, _)| {
        host.traced.trace_indices.iter().map(move |&index| (index, window))
    };
    cores.into_iter().flat_map(of_host).collect()
}

/// Excerpts that are written of the events that somebody else reads.
struct Along<'t>(Mutex<Written<'t>>);

/// What is written of them.
struct Written<'t> {
    /// By index of the trace.
    writers: Vec<ExcerptWriter<'t, NeededByStream<'t>>>,
    packets: Packets,
    /// Why they cannot be written.
    error: Option<ExcerptError>,
}

impl Observe for Along<'_> {
    /// One piece of a host is followed at a time.
    fn begin(&self, host: &Host<'_>) -> Option<Observer<'_>> {
        let mut written: MutexGuard<'_, _> = self.0.try_lock().ok()?;
        let indices = host.sources().iter().map(|source| host.trace_indices[source.trace_number]);
        let streams = host.sources().iter().map(|source| source.stream);
        let seen =
            indices.zip(streams).map(|(index, stream)| (index, written.writers[index].seen_packet(stream)));
        let mut seen: Vec<(usize, SeenPacket)> = seen.collect();
        Some(Box::new(move |number, event| {
            let (index, seen) = &mut seen[number];
            if seen.see(event) {
                written.write(*index, seen, event);
            }
        }))
    }
}

impl Written<'_> {
    #[cold]
    fn write(&mut self, index: usize, seen: &mut SeenPacket, event: &Event<'_>) {
        let Self { writers, packets, error } = self;
        if error.is_none() {
            let put = |stream, packet, bytes: &[u8]| Ok(packets.put((index, stream, packet), bytes)?);
            *error = writers[index].write_seen(seen, event, put).err();
        }
    }
}

/// Bytes of packets that are kept in memory.
const IN_MEMORY: usize = 8 << 20;

/// Packets of excerpts whose files are not written yet, compressed.
struct Packets {
    file: SpooledTempFile,
    size: u64,
    /// By index of the trace, of the stream and of the packet: where it is in the file.
    places: HashMap<(usize, usize, usize), Range<u64>>,
}

impl Default for Packets {
    fn default() -> Self {
        Self { file: SpooledTempFile::new(IN_MEMORY), size: 0, places: HashMap::new() }
    }
}

impl Packets {
    /// All are put before one is read.
    fn put(&mut self, packet: (usize, usize, usize), bytes: &[u8]) -> io::Result<()> {
        let bytes = lz4_flex::compress_prepend_size(bytes);
        self.file.write_all(&bytes).map_err(|error| of_temporary(&error))?;
        let end = self.size + bytes.len() as u64;
        self.places.insert(packet, self.size..end);
        self.size = end;
        Ok(())
    }

    /// Appends a packet that was put.
    fn read(&mut self, packet: (usize, usize, usize), to: &mut Vec<u8>) -> io::Result<()> {
        let Some(place) = self.places.get(&packet) else { return Err(io::ErrorKind::NotFound.into()) };
        self.file.seek(SeekFrom::Start(place.start)).map_err(|error| of_temporary(&error))?;
        let mut compressed = vec![0; (place.end - place.start) as usize];
        self.file.read_exact(&mut compressed).map_err(|error| of_temporary(&error))?;
        let bytes = lz4_flex::decompress_size_prepended(&compressed);
        to.extend_from_slice(&bytes.map_err(|error| of_temporary(&io::Error::other(error)))?);
        Ok(())
    }
}

fn head_of(input: &InputTrace) -> ExcerptHead {
    let (path, inner) = (input.trace.path().to_owned(), input.inner.clone());
    ExcerptHead { path, inner, notes: input.notes.clone(), report: Some(input.trace.report()) }
}

/// The excerpt of a trace: all of its events outside of the window that was mapped, and those in it that a
/// synchronization looks at.
pub(super) fn excerpt_of(
    input: &InputTrace,
    window: Option<Window<RawNs>>,
) -> Result<NewSection, ExcerptError> {
    // Without events that were seen, no packet was put.
    let none = |_, _, _: &mut Vec<u8>| Ok(());
    excerpt_section(&head_of(input), &input.trace, writer_of(input, window), none)
}

fn writer_of(input: &InputTrace, window: Option<Window<RawNs>>) -> ExcerptWriter<'_, NeededByStream<'_>> {
    let trace = &input.trace;
    let needed = |stream: usize| {
        let mapped = window.zip(trace.clock(stream));
        let mapped = mapped.map_or(0..0, |(window, clock)| cycles_inside(window, clock));
        Needed { needed: NeededEvents::new(trace, stream), mapped }
    };
    let by_stream = (0..trace.streams().len()).map(needed).collect();
    ExcerptWriter::new(trace, NeededByStream(by_stream))
}

/// What is needed of a stream.
struct Needed<'t> {
    /// By a synchronization.
    needed: NeededEvents<'t>,
    /// Of what is at these cycles of its clock, nothing else.
    mapped: Range<u64>,
}

impl Needed<'_> {
    #[inline]
    fn is_mapped(&self, event: &Event<'_>) -> bool {
        event.cycles().is_some_and(|cycles| self.mapped.contains(&cycles))
    }
}

/// What is needed of the streams of a trace.
struct NeededByStream<'t>(Vec<Needed<'t>>);

impl Choose for NeededByStream<'_> {
    fn window(&self, stream: usize) -> Range<u64> {
        self.0[stream].mapped.clone()
    }

    fn is_candidate(&self, stream: usize, class: usize) -> bool {
        self.0[stream].needed.may_need(class)
    }

    fn is_settled(&self, stream: usize) -> bool {
        self.0[stream].needed.is_settled()
    }

    fn choose(&mut self, stream: usize, events: &[Event<'_>], flags: &mut [bool]) {
        let of = &mut self.0[stream];
        of.needed.select(events, flags);
        for (event, flag) in events.iter().zip(flags) {
            *flag |= !of.is_mapped(event);
        }
    }
}

/// The cycles of a clock that are so far inside of a window that events at them count as in it.
fn cycles_inside(window: Window<RawNs>, clock: &ClockClass) -> Range<u64> {
    let start = clock.cycles((i128::from(window.start.0) + MARGIN).max(0)).unwrap_or(u64::MAX);
    let end = clock.cycles((i128::from(window.end.0) - MARGIN).max(0)).unwrap_or(u64::MAX);
    start..end
}
