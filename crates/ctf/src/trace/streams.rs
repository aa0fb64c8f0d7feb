//! Streams: which packets belong together, and in which order they are. New packets go after those that are
//! known, whose numbers a consumer may hold.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::Path;

use isochrone_diagnostic::Diagnostic;

use super::Packet;
use super::files::Files;
use super::repeats::Repeats;
use super::scan::Scanned;
use crate::plan::{Plan, StreamPlan};
use crate::schema::Role;

/// A stream: the packets of one source (of one CPU, for kernel traces) in time order.
#[derive(Debug)]
pub struct Stream {
    /// Index of its class in [`Schema::streams`](crate::schema::Schema::streams). Another one once the
    /// metadata have got classes with lesser ids.
    pub class: usize,
    /// Number within the class, where packets carry one.
    pub id: Option<u64>,
    /// Name of its (first) file inside the trace directory.
    pub file: String,
    /// Its packets, by the times they begin at; those that begin at the same time in the order of their files
    /// and of their places there. Packets may overlap. What [`Trace::refresh`](super::Trace::refresh) finds
    /// comes after what was there before, and is in order for itself.
    pub packets: Vec<Packet>,
}

/// What [`Trace::refresh`](super::Trace::refresh) has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Growth {
    /// Whether the metadata say something new. Then all classes have been compiled again:
    /// [`FieldRef`](crate::FieldRef)s that were found before belong to no class any more, and
    /// [`Stream::class`](super::Stream::class) can be another number.
    pub metadata: bool,
    /// For each stream the numbers of its new packets: all packets of a new stream; an empty range where
    /// nothing is new.
    pub packets: Vec<Range<usize>>,
    /// Packets (stream, packet) that say nothing of their size and have grown with their file. Their events
    /// so far are what they were.
    pub extended: Vec<(usize, usize)>,
}

impl Growth {
    /// Whether there is nothing new.
    pub fn is_empty(&self) -> bool {
        !self.metadata && self.packets.iter().all(Range::is_empty) && self.extended.is_empty()
    }
}

/// A place in a stream where reading can continue: a packet's start (`Position::from(packet)`), or what a
/// [`StreamEvents`](super::StreamEvents) has come to. It stays valid when the trace grows. The default is the
/// start of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    pub(super) packet: usize,
    /// Bit in the packet where the next event begins; 0: the first one.
    pub(super) bit: u64,
    /// Time of the event before, if there is one in the packet.
    pub(super) now: u64,
}

impl Position {
    /// Number of the packet in [`Stream::packets`](super::Stream::packets).
    pub fn packet(&self) -> usize {
        self.packet
    }
}

impl From<usize> for Position {
    fn from(packet: usize) -> Self {
        Self { packet, ..Self::default() }
    }
}

/// What the packets of one stream have in common: id of the class, number in the class, and the name of the
/// file where packets carry no number. Streams are in this order.
type Key = (u64, Option<u64>, Option<OsString>);

/// The streams of a trace.
#[derive(Debug, Default)]
pub(super) struct Streams {
    list: Vec<Stream>,
    numbers: BTreeMap<Key, usize>,
    /// By stream and by what was done: each is said once.
    notes: BTreeMap<(usize, Order), Diagnostic>,
    repeats: Repeats,
    repeat_diagnostics: Vec<Diagnostic>,
}

/// What was not in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Packets,
    Files,
    LatePackets,
    LateEvents,
}

impl Order {
    fn message(self) -> &'static str {
        match self {
            Self::Packets => "packets were not in the order of time; they were sorted",
            Self::Files => {
                "the files of the stream were not in the order of their packet numbers; they were sorted"
            }
            Self::LatePackets => {
                "packets were added that begin before the last one that was known; they come after it"
            }
            Self::LateEvents => "a packet has grown that is not the last of its stream",
        }
    }
}

/// Packets that are being added.
#[derive(Debug)]
pub(super) struct Addition<'s> {
    streams: &'s mut Streams,
    /// Number of packets each stream had before.
    known: Vec<usize>,
    new: Vec<(Key, Stream)>,
    new_numbers: BTreeMap<Key, usize>,
    /// Where the last packet came from, and its stream: most often those of the next one, too.
    last: Option<(Origin, StreamSlot)>,
    extended: Vec<(usize, usize)>,
}

/// Id of the class, number in the class, file.
type Origin = (u64, Option<u64>, u32);

/// A stream that was there before, or a new one.
#[derive(Debug, Clone, Copy)]
enum StreamSlot {
    Known(usize),
    New(usize),
}

impl Streams {
    pub(super) fn as_slice(&self) -> &[Stream] {
        &self.list
    }

    /// What was not in order.
    pub(super) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.notes.values().chain(&self.repeat_diagnostics)
    }

    /// The stream of the class with this id that has this number.
    pub(super) fn numbered(&self, class_id: u64, id: u64) -> Option<usize> {
        self.numbers.get(&(class_id, Some(id), None)).copied()
    }

    /// Gives all streams the classes that metadata with these ids have for them.
    pub(super) fn renumber_classes(&mut self, class_of: impl Fn(u64) -> Option<usize>) {
        for ((id, ..), &stream) in &self.numbers {
            if let Some(class) = class_of(*id) {
                self.list[stream].class = class;
            }
        }
    }

    /// Begins to add packets.
    pub(super) fn add(&mut self) -> Addition<'_> {
        let known = self.list.iter().map(|stream| stream.packets.len()).collect();
        let (new, new_numbers) = (Vec::new(), BTreeMap::new());
        Addition { streams: self, known, new, new_numbers, last: None, extended: Vec::new() }
    }

    fn note(&mut self, stream: usize, order: Order, directory: &Path) {
        let path = directory.join(&self.list[stream].file);
        self.notes.entry((stream, order)).or_insert_with(|| Diagnostic::note(path, order.message()));
    }
}

impl Addition<'_> {
    /// A packet of the file with this name, of the class with this id.
    pub(super) fn packet(&mut self, scanned: Scanned, class_id: u64, file: &OsStr) {
        let origin = (class_id, scanned.stream_id, scanned.packet.file);
        let place = match self.last {
            Some((last, place)) if last == origin => place,
            _ => self.place(&scanned, class_id, file),
        };
        self.last = Some((origin, place));
        let packet = scanned.packet;
        match place {
            StreamSlot::New(number) => self.new[number].1.packets.push(packet),
            StreamSlot::Known(number) => {
                let packets = &mut self.streams.list[number].packets;
                let same = |other: &Packet| (other.file, other.offset) == (packet.file, packet.offset);
                // Only what is open-ended is found a second time, and of that there is one packet in a file.
                let before = packet.open_ended.then(|| packets.iter().rposition(same)).flatten();
                match before {
                    Some(place) => {
                        packets[place] = packet;
                        self.extended.push((number, place));
                    }
                    None => packets.push(packet),
                }
            }
        }
    }

    /// The stream that a packet belongs to.
    fn place(&mut self, scanned: &Scanned, class_id: u64, file: &OsStr) -> StreamSlot {
        let id = scanned.stream_id;
        let key = (class_id, id, id.is_none().then(|| file.to_owned()));
        if let Some(&number) = self.streams.numbers.get(&key) {
            return StreamSlot::Known(number);
        }
        let number = *self.new_numbers.entry(key).or_insert_with_key(|key| {
            let (class, file) = (scanned.class, file.to_string_lossy().into_owned());
            self.new.push((key.clone(), Stream { class, id, file, packets: Vec::new() }));
            self.new.len() - 1
        });
        StreamSlot::New(number)
    }

    /// Puts what was added in order, and takes out what is there already.
    pub(super) fn finish(self, directory: &Path, files: &Files, plan: &Plan) -> Growth {
        let Self { streams, known, mut new, extended, .. } = self;
        for (number, &known) in known.iter().enumerate() {
            let Stream { class, packets, .. } = &mut streams.list[number];
            let unsorted = put_in_order(packets, known, &plan.streams[*class], files, &mut streams.repeats);
            let around = packets[..known].last().zip(packets.get(known));
            let late = around.is_some_and(|(last, first)| first.begin() < last.begin());
            let late = late.then_some(Order::LatePackets);
            for order in unsorted.into_iter().chain(late) {
                streams.note(number, order, directory);
            }
        }
        for &(number, place) in &extended {
            if place + 1 < streams.list[number].packets.len() {
                streams.note(number, Order::LateEvents, directory);
            }
        }
        new.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (key, mut stream) in new {
            stream.packets.shrink_to_fit();
            let unsorted = put_in_order(
                &mut stream.packets,
                0,
                &plan.streams[stream.class],
                files,
                &mut streams.repeats,
            );
            if let Some(first) = stream.packets.first()
                && first.begin().is_none()
            {
                // Files that a tracer writes in turn: the stream is known by the one that it begins in. Where
                // packets have times the files may be those of threads, and the first name is as good as any.
                stream.file = files.name(first.file).to_string_lossy().into_owned();
            }
            let number = streams.list.len();
            streams.list.push(stream);
            streams.numbers.insert(key, number);
            if let Some(order) = unsorted {
                streams.note(number, order, directory);
            }
        }
        streams.repeat_diagnostics =
            streams.repeats.diagnostics(directory, |file| files.name(file)).collect();
        let known = known.into_iter().chain(std::iter::repeat(0));
        let packets = known.zip(&streams.list).map(|(known, stream)| known..stream.packets.len()).collect();
        Growth { metadata: false, packets, extended }
    }
}

/// Puts the packets of a stream from index `known` on in order and takes out those that it has already; says
/// what was not in order.
fn put_in_order(
    packets: &mut Vec<Packet>,
    known: usize,
    class: &StreamPlan,
    files: &Files,
    repeats: &mut Repeats,
) -> Option<Order> {
    let unsorted = sort(&mut packets[known..]);
    if class.context_bits(Role::PacketSequenceNumber).is_some() {
        repeats.take_out(packets, known, |packet| files.content(packet));
    }
    // Without what is taken out they may have been in order.
    let is_file_order = || packets[known..].is_sorted_by_key(|packet| (packet.file, packet.offset));
    unsorted.filter(|order| *order != Order::Packets || !is_file_order())
}

/// Puts packets of a stream in order, in place; says what was not.
fn sort(packets: &mut [Packet]) -> Option<Order> {
    if !packets.is_sorted_by_key(Packet::begin) {
        packets.sort_unstable_by_key(|p| (p.begin(), p.file, p.offset));
        return Some(Order::Packets);
    }
    let (first, last) = packets.first().zip(packets.last())?;
    if first.file == last.file || packets.iter().any(|p| p.begin().is_some()) {
        return None;
    }
    // Without times only the numbers of the packets show which file comes first. Within a file its own order
    // counts: there the numbers may wrap.
    let mut first_of_file = BTreeMap::new();
    for packet in &*packets {
        first_of_file.entry(packet.file).or_insert(packet.sequence);
    }
    let place = |packet: &Packet| (first_of_file.get(&packet.file).copied(), packet.file);
    if packets.is_sorted_by_key(place) {
        return None;
    }
    packets.sort_unstable_by_key(|packet| (place(packet), packet.offset));
    Some(Order::Files)
}
