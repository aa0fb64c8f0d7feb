//! A trace: its schema, its streams, the packets in them.
//!
//! [`Trace::open`] reads the metadata ([`description`]), maps the stream files ([`files`]), finds every
//! packet ([`scan`]) and groups packets into streams ([`streams`]). [`Trace::refresh`] does so again where
//! the trace has grown. Events come out of [`Trace::packet`] (one packet, the unit of parallel work),
//! [`Trace::events`] (one stream) or [`merge`](crate::merge) (many streams in time order).

mod description;
mod discover;
mod event;
pub(crate) mod event_place;
mod event_times;
mod files;
mod heads;
pub mod index;
mod index_check;
mod losses;
mod missing;
mod packet;
mod repeats;
mod report;
mod scan;
mod schemas;
mod streams;
pub(crate) mod times;

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use isochrone_diagnostic::Diagnostic;

use crate::error::{DecodeError, Error};
use crate::plan::{Cursor, Ignore, NodeKind, Plan, StreamPlan, Visitor, walk};
use crate::schema::{ClockClass, Schema, StreamClass};
use description::Description;
use event_times::TimeRule;
use files::{Absent, Files};
use missing::Proven;
use streams::Streams;

pub use discover::{Found, find_traces};
pub use event::Event;
pub use losses::{Counter, Loss, Lost, PacketCounters};
pub use missing::MissingFile;
pub use packet::{PacketEvents, StreamEvents};
pub use report::TraceReport;
pub use scan::Packet;
pub use schemas::Schemas;
pub use streams::{Growth, Position, Stream};

/// An open trace. Its files are mapped, not read: opening costs a look at each packet's header.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    description: Description,
    files: Files,
    streams: Streams,
    missing: Vec<MissingFile>,
    /// Packets that are not there, by stream.
    absent: BTreeMap<usize, Vec<Proven>>,
    /// Those of the parts, as they were at the last look.
    diagnostics: Vec<Diagnostic>,
}

impl Trace {
    /// Opens the trace in a directory that holds a `metadata` file. Linear in the metadata and the number of
    /// packets.
    ///
    /// # Errors
    /// The metadata cannot be read or understood, or the directory cannot be listed. Broken stream files and
    /// packets are no errors: see [`Self::diagnostics`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, &Schemas::default())
    }

    /// As [`Self::open`]; metadata that are among `known` are not understood and kept a second time.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_with(path: &Path, known: &Schemas) -> Result<Self, Error> {
        let metadata = description::file_in(path)?;
        let mut files = Files::default();
        files.look(path)?;
        Ok(Self::of_parts(path, Description::read(metadata, known)?, files))
    }

    /// The trace of its metadata and files.
    fn of_parts(path: &Path, description: Description, files: Files) -> Self {
        let mut trace = Self {
            path: path.to_owned(),
            description,
            files,
            streams: Streams::default(),
            missing: Vec::new(),
            absent: BTreeMap::new(),
            diagnostics: Vec::new(),
        };
        trace.find_packets();
        trace
    }

    /// As [`Self::open_with`], of a directory that will be gone: diagnostics say that the trace is at `path`.
    /// [`Self::refresh`] cannot be used.
    ///
    /// # Errors
    /// Those of [`Self::open`], which name the directory.
    pub fn open_moved(directory: &Path, path: &Path, known: &Schemas) -> Result<Self, Error> {
        let mut trace = Self::open_with(directory, known)?;
        path.clone_into(&mut trace.path);
        for diagnostic in &mut trace.diagnostics {
            diagnostic.path = report::moved(&diagnostic.path, directory, path);
        }
        Ok(trace)
    }

    /// A trace whose metadata and stream files are in memory; `path` is where diagnostics say it is, without
    /// offsets: the file there may have others. There are no indexes, and [`Self::refresh`] finds nothing
    /// new.
    ///
    /// # Errors
    /// The metadata cannot be understood.
    pub fn in_memory(
        path: &Path,
        metadata: String,
        files: Vec<(String, Vec<u8>)>,
        known: &Schemas,
    ) -> Result<Self, Error> {
        let description = Description::of_text(path.join("metadata"), metadata, known)?;
        Ok(Self::of_parts(path, description, Files::in_memory(files)))
    }

    /// Looks at a trace again that is still being written: its metadata, its files, the files that are new.
    /// Costs a few calls of the system for each file, and is linear in the number of new packets. Where the
    /// metadata have changed, they are understood and compiled again as a whole.
    ///
    /// What a consumer knows stays valid: streams and packets keep their numbers, new ones come after the old
    /// ones. A packet that a file holds only in part is a diagnostic that goes when the rest is there. Only
    /// [`FieldRef`](crate::FieldRef)s must be found again if [`Growth::metadata`] says so, and
    /// [`Stream::class`] can have another value then.
    ///
    /// ```
    /// # fn show(_: i128, _: &isochrone_ctf::Event<'_>) {}
    /// # fn follow(mut trace: isochrone_ctf::Trace) -> Result<(), isochrone_ctf::Error> {
    /// use isochrone_ctf::{Position, merge::Merge};
    /// let mut read: Vec<Position> = Vec::new();
    /// loop {
    ///     read.resize(trace.streams().len(), Position::default());
    ///     // What is new of all streams, in the order of time; each event once.
    ///     let new = (0..read.len()).map(|n| (n, trace.events_from(n, read[n]).while_growing()));
    ///     let mut merge = Merge::new(new, |n, event| {
    ///         Some(trace.clock(n)?.ns_from_origin(event.cycles()?))
    ///     });
    ///     for (_, time, event) in merge.by_ref() {
    ///         show(time.unwrap_or(0), &event);
    ///     }
    ///     for (n, events) in merge.sources() {
    ///         read[n] = events.position();
    ///     }
    ///     if trace.refresh()?.is_empty() {
    ///         std::thread::sleep(std::time::Duration::from_millis(200));
    ///     }
    ///     # if true { break Ok(()); }
    /// }
    /// # }
    /// ```
    ///
    /// Things that should not happen, and what they cost (a diagnostic says so each time):
    ///
    /// * Metadata that cannot be understood, perhaps because they are just being written, change nothing:
    ///   what they said before holds, and the next look tries again. Nor do metadata that lay out known
    ///   packets in another way.
    /// * A packet whose stream class is not described yet is skipped, and found as soon as it is.
    /// * A file that another one has replaced (the tracer turns over a fixed number of files): what was known
    ///   of it can still be read, which keeps its space on the disk taken; the other one is a new file.
    /// * A file that was cut within its packets is not followed any more; packets that it held have no
    ///   events. Reading while a file is being cut ends the process.
    ///
    /// # Errors
    /// The directory cannot be listed. The trace is as it was.
    pub fn refresh(&mut self) -> Result<Growth, Error> {
        // Files first: so the metadata are later than they are, and describe what they hold.
        self.files.look(&self.path)?;
        if self.files.are_in_memory() {
            let none = |stream: &Stream| stream.packets.len()..stream.packets.len();
            return Ok(Growth { packets: self.streams().iter().map(none).collect(), ..Growth::default() });
        }
        let used = self.streams.as_slice().iter().map(|stream| stream.class);
        let known = self.description.refresh(used);
        if let Some(known) = &known {
            self.streams.renumber_classes(|id| self.description.class(id));
            self.files.find_skipped(known);
        }
        let growth = self.find_packets();
        Ok(Growth { metadata: known.is_some(), ..growth })
    }

    /// Finds the packets that are new in the files, and puts them into their streams.
    fn find_packets(&mut self) -> Growth {
        let Self { path, description, files, streams, diagnostics, .. } = self;
        let mut addition = streams.add();
        files.scan(path, description.for_scan(), |scanned, file| {
            let class_id = description.plan.streams[scanned.class].id;
            addition.packet(scanned, class_id, file);
        });
        let growth = addition.finish(path, files, &description.plan);
        diagnostics.clear();
        let all = description.diagnostics().chain(files.diagnostics()).chain(streams.diagnostics());
        diagnostics.extend(all.cloned());
        if files.are_in_memory() {
            for diagnostic in diagnostics.iter_mut() {
                diagnostic.offset = None;
            }
        }
        self.find_absent();
        growth
    }

    /// Finds the streams of packets that indexes list and that are not there.
    fn find_absent(&mut self) {
        (self.missing, self.absent) = (Vec::new(), BTreeMap::new());
        let mut streams_by_file: Option<HashMap<(u32, u64), Option<usize>>> = None;
        for Absent { name, file, proven } in self.files.absent() {
            let stream = match file {
                Some(file) => {
                    let streams = streams_by_file.get_or_insert_with(|| self.streams_by_file());
                    streams.get(&(file, proven.class_id)).copied().flatten()
                }
                None => proven.stream_id.and_then(|id| self.streams.numbered(proven.class_id, id)),
            };
            if let Some(stream) = stream {
                self.absent.entry(stream).or_default().push(proven.clone());
            }
            if file.is_none() {
                self.missing.push(proven.clone().missing(name, stream));
            }
        }
        self.missing.sort_by(|a, b| a.file.cmp(&b.file));
    }

    /// The streams by the files that packets of them are in, and by ids of their classes; nothing where there
    /// are several.
    fn streams_by_file(&self) -> HashMap<(u32, u64), Option<usize>> {
        let mut streams: HashMap<(u32, u64), Option<usize>> = HashMap::new();
        for (number, stream) in self.streams().iter().enumerate() {
            let class_id = self.stream_class(number).id;
            for packet in &stream.packets {
                let of_file = streams.entry((packet.file, class_id)).or_insert(Some(number));
                *of_file = of_file.filter(|&other| other == number);
            }
        }
        streams
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The metadata as one text.
    pub fn metadata_text(&self) -> &str {
        &self.description.text
    }

    /// What the metadata declare.
    pub fn schema(&self) -> &Schema {
        &self.description.schema
    }

    /// The compiled schema.
    pub fn plan(&self) -> &Plan {
        &self.description.plan
    }

    /// The streams, by class, number and file name; those that [`Self::refresh`] finds come after them.
    pub fn streams(&self) -> &[Stream] {
        self.streams.as_slice()
    }

    /// Names of the stream files inside the directory. A name comes twice if one file has replaced another
    /// while the trace was being followed.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.files.as_slice().iter().map(|file| file.shown.as_str())
    }

    /// What was wrong with the trace when it was opened or looked at last. Of many complaints about the
    /// packets of one file one counts the rest.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The compiled class of a stream.
    pub fn stream_plan(&self, stream: usize) -> &StreamPlan {
        &self.description.plan.streams[self.streams()[stream].class]
    }

    /// Which times the events of a stream can have.
    fn time_rule(&self, stream: usize) -> TimeRule {
        self.description.time_rules[self.streams()[stream].class]
    }

    /// The class of a stream.
    pub fn stream_class(&self, stream: usize) -> &StreamClass {
        &self.description.schema.streams[self.streams()[stream].class]
    }

    /// The clock that stamps a stream.
    pub fn clock(&self, stream: usize) -> Option<&ClockClass> {
        self.stream_class(stream).clock.map(|clock| &self.description.schema.clocks[clock])
    }

    /// The path of the file that a packet is in.
    pub fn packet_path(&self, packet: &Packet) -> PathBuf {
        self.path.join(self.files.name(packet.file))
    }

    /// The name of the file that a packet is in.
    pub fn packet_file_name(&self, packet: &Packet) -> &str {
        &self.files.as_slice()[packet.file as usize].shown
    }

    /// What is lost of a packet that cannot be decoded (or copied) from a bit on.
    pub(crate) fn packet_loss(&self, packet: &Packet, at: u64, error: &dyn std::fmt::Display) -> Diagnostic {
        self.loss(packet, at, format!("the rest of the packet is skipped: {error}"))
    }

    /// An event at a bit of a packet whose fields cannot all be shown.
    pub(crate) fn field_loss(&self, packet: &Packet, at: u64, error: DecodeError) -> Diagnostic {
        self.loss(packet, at, format!("fields of an event are missing: {error}"))
    }

    /// That something of a packet is lost from a bit on, counted from the start of the packet.
    pub fn loss(&self, packet: &Packet, at: u64, message: String) -> Diagnostic {
        let offset = (!self.files.are_in_memory()).then_some(packet.offset + at / 8);
        Diagnostic::loss(self.packet_path(packet), message).at(u64::from(packet.number), offset)
    }

    /// The bytes of a packet, its padding included.
    pub fn packet_bytes(&self, packet: &Packet) -> &[u8] {
        let start = packet.offset as usize;
        let end = start + (packet.total_bits / 8) as usize;
        self.files.as_slice()[packet.file as usize].bytes().get(start..end).unwrap_or_default()
    }

    /// The bytes of the stream file of an index, whatever they are, as far as they are read.
    pub(crate) fn file_bytes(&self, file: usize) -> &[u8] {
        self.files.as_slice().get(file).map_or(&[], |file| file.bytes())
    }

    /// Says that the bytes of a packet are not needed for now: they no longer count as memory of the process.
    /// Where they are read again, the kernel maps them again. [`StreamEvents`] does it at the end of each
    /// packet. Packets of less than four pages stay. Constant.
    pub fn forget(&self, packet: &Packet) {
        /// Of less, there are few pages that are of no other packet.
        const LEAST: usize = 1 << 14;
        let length = (packet.total_bits / 8) as usize;
        if length < LEAST {
            return;
        }
        self.files.as_slice()[packet.file as usize].forget(packet.offset as usize, length);
    }

    /// Has the kernel read a packet of a stream up to about this byte of its events, without waiting for it,
    /// nor for what is around it: for who reads the begins of packets that lie far apart, and knows the next
    /// ones. Constant.
    pub fn read_ahead(&self, stream: usize, packet: usize, bytes: u64) {
        /// More than most heads and the rest of an event have.
        const MORE: u64 = 1 << 12;
        let Some(packet) = self.streams().get(stream).and_then(|stream| stream.packets.get(packet)) else {
            return;
        };
        let length = bytes.saturating_add(MORE).min(packet.content_bits.div_ceil(8));
        self.files.as_slice()[packet.file as usize].read_ahead(packet.offset as usize, length as usize);
    }

    /// Decodes the packet context but for the fields that the reader itself needs (times, sizes, counters):
    /// what is left shows where the packet comes from, such as `cpu_id`. The visitor sees a structure of the
    /// remaining members.
    ///
    /// `None` where nothing is left, where the stream has no packet context and where it cannot be decoded;
    /// in the first and the last case the visitor has seen a part of the structure, or an empty one.
    pub fn visit_packet_context<V: Visitor>(
        &self,
        stream: usize,
        packet: &Packet,
        visitor: &mut V,
    ) -> Option<()> {
        let mut slots = self.plan().new_slots();
        let mut cursor = Cursor::new(self.packet_bytes(packet));
        if let Some(header) = &self.plan().packet_header {
            walk(header, &mut cursor, &mut slots, &mut Ignore).ok()?;
        }
        let context = self.stream_plan(stream).packet_context.as_ref()?;
        let NodeKind::Struct(members) = &context.kind else { return None };
        cursor.align(context.align);
        visitor.begin_struct();
        let mut shown = 0;
        for (name, member) in members {
            if member.role().is_some() {
                walk(member, &mut cursor, &mut slots, &mut Ignore).ok()?;
                continue;
            }
            visitor.member(shown, name);
            walk(member, &mut cursor, &mut slots, visitor).ok()?;
            shown += 1;
        }
        visitor.end_struct();
        // A context of nothing but such fields is none.
        (shown > 0).then_some(())
    }

    /// Between which times the events of a packet lie, in cycles of the clock of its stream: as far as the
    /// packet and its neighbours say, with what its tracer can be wrong by. An event elsewhere is not given
    /// out, its packet is refused. `O(1)`.
    ///
    /// ```no_run
    /// # let trace = isochrone_ctf::Trace::open("trace/kernel".as_ref())?;
    /// let packets = 0..trace.streams()[0].packets.len();
    /// let after = packets.filter(|&packet| *trace.packet_times(0, packet).end() >= 1_000_000);
    /// let events: usize = after.map(|packet| trace.packet(0, packet).count()).sum();
    /// # Ok::<(), isochrone_ctf::Error>(())
    /// ```
    pub fn packet_times(&self, stream: usize, packet: usize) -> RangeInclusive<u64> {
        let times = self.time_rule(stream).times(&self.streams()[stream].packets, packet);
        times.earliest..=times.latest
    }

    /// The events of one packet: needs nothing of the packets before it.
    pub fn packet(&self, stream: usize, packet: usize) -> PacketEvents<'_> {
        PacketEvents::new(self, stream, packet, Vec::new())
    }

    /// The events of a stream, packet after packet. A tracer that stamps the start of a packet before it has
    /// closed the one before (LTTng up to 2.3) makes packets overlap in time while their events are in order.
    /// Events of packets that really overlap are not mixed: there the times go back.
    pub fn events(&self, stream: usize) -> StreamEvents<'_> {
        self.events_from(stream, Position::default())
    }

    /// The events of a stream from a packet on, or from where [`StreamEvents::position`] says that reading
    /// has come to. There are none where the stream has ended; more may be there after a [`Self::refresh`].
    pub fn events_from(&self, stream: usize, from: impl Into<Position>) -> StreamEvents<'_> {
        StreamEvents::new(self, stream, from.into())
    }

    /// What a stream lacks: what its tracer could not write, and packets that are not there although an index
    /// lists them; in the order of its packets. Linear in their number.
    pub fn losses(&self, stream: usize) -> Vec<Loss> {
        let absent = self.absent.get(&stream).map(Vec::as_slice).unwrap_or_default();
        losses::of(&self.streams()[stream], self.stream_plan(stream), absent)
    }

    /// The counters in the head of a packet of a stream. `O(1)`.
    pub fn packet_counters(&self, stream: usize, packet: &Packet) -> PacketCounters {
        PacketCounters::of(packet, self.stream_plan(stream))
    }

    /// Files of which nothing is there although their indexes list packets, by their names, as of the last
    /// look. What streams that are there lack of them is in [`Self::losses`], too.
    pub fn missing_files(&self) -> &[MissingFile] {
        &self.missing
    }
}
