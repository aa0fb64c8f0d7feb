//! A trace: its schema, its streams, the packets in them.
//!
//! [`Trace::open`] reads the metadata, finds every packet ([`scan`]) and groups packets into streams. Events come out of
//! [`Trace::packet`] (one packet, the unit of parallel work), [`Trace::events`] (one stream) or
//! [`merge`](crate::merge) (many streams in time order).

mod discover;
mod event;
pub mod index;
mod losses;
mod packet;
mod scan;
pub(crate) mod times;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::complaints::Complaints;
use crate::error::{DecodeError, Diagnostic, Error, Reason, Severity};
use crate::lower;
use crate::mapping::FileMap;
use crate::metadata;
use crate::plan::{Cursor, Ignore, NodeKind, Plan, StreamPlan, Visitor, walk};
use crate::schema::{ClockClass, Schema, StreamClass};

pub use discover::{Found, find_traces};
pub use event::Event;
pub use losses::{Loss, Lost};
pub use packet::{PacketEvents, StreamEvents};
pub use scan::Packet;

/// An open trace. Its files are mapped, not read: opening costs a look at each packet's header.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    metadata_text: String,
    schema: Schema,
    plan: Plan,
    files: Vec<DataFile>,
    streams: Vec<Stream>,
    diagnostics: Vec<Diagnostic>,
}

/// A stream file.
#[derive(Debug)]
struct DataFile {
    /// Name inside the trace directory.
    name: String,
    map: FileMap,
}

/// A stream: the packets of one source (of one CPU, for kernel traces) in time order.
#[derive(Debug)]
pub struct Stream {
    /// Index of its class in [`Schema::streams`].
    pub class: usize,
    /// Number within the class, where packets carry one.
    pub id: Option<u64>,
    /// Name of its (first) file inside the trace directory.
    pub file: String,
    /// Its packets.
    pub packets: Vec<Packet>,
}

impl Trace {
    /// Opens the trace in a directory that holds a `metadata` file. Linear in the metadata and the number of packets.
    ///
    /// # Errors
    /// The metadata cannot be read or understood, or the directory cannot be listed. Broken stream files and packets
    /// are no errors: see [`Self::diagnostics`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let metadata_path = path.join("metadata");
        if !metadata_path.is_file() {
            // A directory that does not exist or may not be read says so itself.
            std::fs::read_dir(path).map_err(|source| Error::read(path, source))?;
            return Err(Error::new(path, Reason::NotATrace));
        }
        let mut metadata = metadata::read(&metadata_path)?;
        let (schema, warnings) = lower::schema(&metadata.text, &metadata_path)?;
        metadata.check(&schema);
        let plan = Plan::compile(&schema);
        let mut trace = Self {
            path: path.to_owned(),
            metadata_text: metadata.text,
            schema,
            plan,
            files: Vec::new(),
            streams: Vec::new(),
            diagnostics: Vec::new(),
        };
        for message in metadata.notes {
            trace.note(Severity::Note, metadata_path.clone(), message);
        }
        trace.diagnostics.extend(warnings);
        trace.open_files()?;
        Ok(trace)
    }

    /// Maps the stream files, finds their packets and groups them.
    fn open_files(&mut self) -> Result<(), Error> {
        let mut streams: BTreeMap<(usize, Option<u64>, Option<u32>), Stream> = BTreeMap::new();
        for name in stream_file_names(&self.path)? {
            let path = self.path.join(&name);
            let map = match FileMap::open(&path) {
                Ok(map) => map,
                Err(error) => {
                    self.note(Severity::Loss, path, error.reason().to_string());
                    continue;
                }
            };
            let file = self.files.len() as u32;
            let mut index = self.index_of(&name);
            let mut complaints = Complaints::default();
            scan::packets(&self.plan, self.schema.uuid, &path, map.bytes(), &mut complaints, |scanned| {
                if let Some((_, check)) = &mut index {
                    check.next(&scanned.packet, self.plan.streams[scanned.class].id);
                }
                let own_file = scanned.stream_id.is_none().then_some(file);
                let key = (scanned.class, scanned.stream_id, own_file);
                let stream = streams.entry(key).or_insert_with(|| Stream {
                    class: scanned.class,
                    id: scanned.stream_id,
                    file: name.clone(),
                    packets: Vec::new(),
                });
                stream.packets.push(Packet { file, ..scanned.packet });
            });
            self.diagnostics.extend(complaints.into_vec());
            if let Some((path, check)) = index
                && let Some(n) = check.first_disagreement()
            {
                let message = format!("index not used: entry {n} disagrees with the packets of {name}");
                self.note(Severity::Note, path, message);
            }
            self.files.push(DataFile { name, map });
        }
        self.streams = streams.into_values().collect();
        for stream in &mut self.streams {
            stream.packets.shrink_to_fit();
            let unsorted = sort_packets(&mut stream.packets);
            if let Some(first) = stream.packets.first()
                && first.begin.is_none()
            {
                // Files that a tracer writes in turn: the stream is known by the one that it begins in. Where packets have
                // times the files may be those of threads, and the first name is as good as any.
                stream.file.clone_from(&self.files[first.file as usize].name);
            }
            if let Some(message) = unsorted {
                let path = self.path.join(&stream.file);
                let (severity, message) = (Severity::Note, message.to_owned());
                self.diagnostics.push(Diagnostic { severity, path, packet: None, offset: None, message });
            }
        }
        Ok(())
    }

    /// A stream file's index, which is only good for being compared with what its packets say of themselves.
    fn index_of(&mut self, name: &str) -> Option<(PathBuf, scan::IndexCheck)> {
        let path = self.path.join("index").join(format!("{name}.idx"));
        let bytes = std::fs::read(&path).ok()?;
        match index::read(&bytes) {
            Ok(entries) => Some((path, scan::IndexCheck::new(entries))),
            Err(message) => {
                self.note(Severity::Note, path, format!("index not used: {message}"));
                None
            }
        }
    }

    fn note(&mut self, severity: Severity, path: PathBuf, message: String) {
        self.diagnostics.push(Diagnostic { severity, path, packet: None, offset: None, message });
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The metadata as one text.
    pub fn metadata_text(&self) -> &str {
        &self.metadata_text
    }

    /// What the metadata declare.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The compiled schema.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The streams, by class, number and file name.
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Names of the stream files inside the directory.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
    }

    /// What was wrong with the trace when it was opened. Of many complaints about one file the last one counts the rest.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The compiled class of a stream.
    pub fn stream_plan(&self, stream: usize) -> &StreamPlan {
        &self.plan.streams[self.streams[stream].class]
    }

    /// The class of a stream.
    pub fn stream_class(&self, stream: usize) -> &StreamClass {
        &self.schema.streams[self.streams[stream].class]
    }

    /// The clock that stamps a stream.
    pub fn clock(&self, stream: usize) -> Option<&ClockClass> {
        self.stream_class(stream).clock.map(|clock| &self.schema.clocks[clock])
    }

    /// The path of the file that a packet is in.
    pub fn packet_path(&self, packet: &Packet) -> PathBuf {
        self.path.join(&self.files[packet.file as usize].name)
    }

    /// The name of the file that a packet is in.
    pub fn packet_file_name(&self, packet: &Packet) -> &str {
        &self.files[packet.file as usize].name
    }

    /// What is lost of a packet that cannot be decoded (or copied) from a bit on.
    pub(crate) fn packet_loss(&self, packet: &Packet, at: u64, error: &dyn std::fmt::Display) -> Diagnostic {
        self.loss(packet, at, format!("the rest of the packet is skipped: {error}"))
    }

    /// An event at a bit of a packet whose fields cannot all be shown.
    pub(crate) fn field_loss(&self, packet: &Packet, at: u64, error: DecodeError) -> Diagnostic {
        self.loss(packet, at, format!("fields of an event are missing: {error}"))
    }

    fn loss(&self, packet: &Packet, at: u64, message: String) -> Diagnostic {
        Diagnostic {
            severity: Severity::Loss,
            path: self.packet_path(packet),
            packet: Some(packet.number),
            offset: Some(packet.offset + at / 8),
            message,
        }
    }

    /// The bytes of a packet, its padding included.
    pub fn packet_bytes(&self, packet: &Packet) -> &[u8] {
        let start = packet.offset as usize;
        let end = start + (packet.total_bits / 8) as usize;
        self.files[packet.file as usize].map.bytes().get(start..end).unwrap_or_default()
    }

    /// Decodes the packet context but for the fields that the reader itself needs (times, sizes, counters): what is
    /// left tells where the packet comes from, such as `cpu_id`. The visitor sees a structure of the remaining members.
    ///
    /// `None` where nothing is left, where the stream has no packet context and where it cannot be decoded; in the first
    /// and the last case the visitor has seen a part of the structure, or an empty one.
    pub fn visit_packet_context<V: Visitor>(
        &self,
        stream: usize,
        packet: &Packet,
        visitor: &mut V,
    ) -> Option<()> {
        let mut slots = self.plan.new_slots();
        let mut cursor = Cursor::new(self.packet_bytes(packet));
        if let Some(header) = &self.plan.packet_header {
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

    /// The events of one packet: needs nothing of the packets before it.
    pub fn packet(&self, stream: usize, packet: usize) -> PacketEvents<'_> {
        PacketEvents::new(self, stream, &self.streams[stream].packets[packet], Vec::new())
    }

    /// The events of a stream in order, from one packet to the next.
    pub fn events(&self, stream: usize) -> StreamEvents<'_> {
        StreamEvents::new(self, stream)
    }

    /// What the tracer of a stream could not write.
    pub fn losses(&self, stream: usize) -> Vec<Loss> {
        losses::of(&self.streams[stream], self.stream_plan(stream))
    }
}

/// Puts the packets of a stream in order; a note where they were not.
fn sort_packets(packets: &mut [Packet]) -> Option<&'static str> {
    if !packets.is_sorted_by_key(|p| p.begin) {
        packets.sort_by_key(|p| p.begin);
        return Some("packets were not in the order of time; they were sorted");
    }
    let (first, last) = packets.first().zip(packets.last())?;
    if first.file == last.file || packets.iter().any(|p| p.begin.is_some()) {
        return None;
    }
    // Without times only the numbers of the packets tell which file comes first. Within a file its own order counts:
    // there the numbers may wrap.
    let mut first_of_file = BTreeMap::new();
    for packet in &*packets {
        first_of_file.entry(packet.file).or_insert(packet.sequence);
    }
    let place = |packet: &Packet| (first_of_file.get(&packet.file).copied(), packet.file);
    if packets.is_sorted_by_key(place) {
        return None;
    }
    packets.sort_by_key(place);
    Some("the files of the stream were not in the order of their packet numbers; they were sorted")
}

/// Names of the files of a trace directory that can hold packets, sorted: all regular files but `metadata` and hidden
/// ones (CTF 1.8 section 4; tools leave directories such as `index` beside them).
fn stream_file_names(directory: &Path) -> Result<Vec<String>, Error> {
    let io = |source| Error::read(directory, source);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "metadata" && !name.starts_with('.') && entry.path().is_file() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
