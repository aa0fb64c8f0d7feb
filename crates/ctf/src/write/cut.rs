//! Parts of a trace as traces: the events of a window that are selected, with the clock and the contents
//! that they have.
//!
//! Packets outside the window are left out, those at its borders begin and end with it: what is read of the
//! cut does not claim to know the time beyond. Packets keep their numbers, and counters of discarded events
//! count on from the first packet, so that what was lost within the window is lost in the cut, and no more.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use isochrone_diagnostic::Diagnostic;

use super::copy::{inexpressible, make_above, packets_by_file, unwritable};
use super::encode::for_roles;
use super::excerpt::{narrow_time, write_selected};
use super::files::TraceDirectory;
use super::metadata::metadata;
use super::packet::{PacketHead, PacketWriter};
use crate::bits::low_bits;
use crate::error::{Error, Reason};
use crate::schema::{CUT_OF, EnvironmentValue, Role};
use crate::trace::times::Times;
use crate::trace::{Event, Loss, Lost, Packet, Trace};
use crate::value::Value;

/// What a cut keeps.
pub struct Selection<'f> {
    /// Where an instant of the clock of a stream (its index, cycles) is: before the window, in it, or after
    /// it. Must not decrease with the cycles.
    pub window: &'f dyn Fn(usize, u64) -> Ordering,
    /// Whether a class of events of this name can be kept: the metadata of the cut have only those.
    pub has_class: &'f dyn Fn(&str) -> bool,
    /// Whether an event in the window is kept.
    pub keeps: &'f mut dyn FnMut(&Event<'_>) -> bool,
    /// Which events of the window are kept, in words, where it is not all of them: who reads the cut is
    /// told.
    pub words: Option<String>,
}

/// What was written.
#[derive(Debug, Default)]
pub struct CutSummary {
    /// Packets in all stream files.
    pub packets: u64,
    /// Events in them.
    pub events: u64,
    /// Packets of which a part could not be decoded: what follows in them is not in the cut.
    pub lost: Vec<Diagnostic>,
}

/// Writes the selected events of a trace into a new directory, which is made, as are the directories above
/// it. Its files have the names of the trace's, and no index.
///
/// Linear in the packets that reach into the window; memory is the events of one packet.
///
/// # Errors
/// The directory exists, a file cannot be written, or the schema or a packet cannot be expressed.
pub fn cut_trace(trace: &Trace, directory: &Path, mut selection: Selection<'_>) -> Result<CutSummary, Error> {
    let mut schema = trace.schema().clone();
    // An event that only bridges a gap of times may be of any class.
    if !(0..trace.streams().len()).any(|stream| narrow_time(trace, stream).is_some()) {
        for stream in &mut schema.streams {
            stream.events.retain(|event| (selection.has_class)(event.name.as_deref().unwrap_or_default()));
        }
    }
    // Refused before anything is written, if at all.
    metadata(&schema).map_err(|error| inexpressible(trace, &error))?;
    make_above(directory)?;
    fs::create_dir(directory).map_err(|source| Error::new(directory, Reason::Write(source)))?;
    let written = TraceDirectory::made(directory).without_indexes();
    let (mut summary, mut written_streams) = (CutSummary::default(), 0);
    for (name, packets) in trace.file_names().zip(packets_by_file(trace)) {
        let mut file = written.stream_file(name)?;
        let mut streams: HashMap<usize, Written> = HashMap::new();
        for (stream, number) in packets {
            let packet = &trace.streams()[stream].packets[number];
            let failed = |error| unwritable(trace, packet, &error);
            let Some((begin, end)) = part(packet, &|cycles| (selection.window)(stream, cycles)) else {
                continue;
            };
            let mut decoded = trace.packet(stream, number);
            let is_inside =
                |event: &Event<'_>| event.cycles().is_none_or(|at| (selection.window)(stream, at).is_eq());
            let events: Vec<Event<'_>> = decoded.by_ref().filter(is_inside).collect();
            let flags: Vec<bool> = events.iter().map(&mut *selection.keeps).collect();
            if let Some((at, error)) = decoded.error() {
                summary.lost.push(trace.packet_loss(packet, at, &error));
            }
            let so_far = streams.entry(stream).or_insert_with(|| Written::new(trace, stream));
            so_far.add_discarded(number);
            let from = begin.unwrap_or(0);
            let mut head = PacketHead { begin: from, ..PacketHead::of(trace, stream, packet) };
            so_far.put_discarded(trace, stream, [&mut head.header, &mut head.context]);
            let class = trace.streams()[stream].class;
            let mut writer = PacketWriter::after(trace.plan(), class, so_far.times);
            writer.begin(head).map_err(failed)?;
            let last =
                write_selected(trace, stream, events.iter().zip(flags.iter().copied()), from, &mut writer)
                    .map_err(failed)?;
            let total_bits = writer.content_bits().next_multiple_of(8);
            file.append(&writer.finish(end.unwrap_or(last), total_bits).map_err(failed)?)?;
            so_far.times = writer.times();
            summary.packets += 1;
            summary.events += flags.iter().filter(|&&flag| flag).count() as u64;
        }
        written_streams += streams.len();
        file.close()?;
    }
    let unreadable = trace.diagnostics().iter().filter(|diagnostic| diagnostic.is_loss()).count();
    let all_streams = trace.streams().iter().filter(|stream| !stream.packets.is_empty()).count();
    let lacks = [
        (summary.lost.len(), "packets are cut off where they could not be decoded"),
        (unreadable, "parts of that one, of whatever time, could not be read"),
        (
            all_streams.saturating_sub(written_streams),
            "of its streams have no packet in the time of this one",
        ),
    ];
    let lacks = lacks.into_iter().filter(|(count, _)| *count > 0);
    let lacks = lacks.map(|(count, what)| format!("{count} {what}"));
    let words: Vec<String> = selection.words.take().into_iter().chain(lacks).collect();
    if !words.is_empty() {
        schema.environment.insert(CUT_OF.to_owned(), EnvironmentValue::Text(words.join("; ")));
    }
    written.metadata(&metadata(&schema).map_err(|error| inexpressible(trace, &error))?)?;
    Ok(summary)
}

/// What was written of a stream so far.
struct Written {
    /// Of its last packet: a reader completes short times by them.
    times: Option<Times>,
    /// Of the stream in the whole trace, by packet.
    losses: Vec<Loss>,
    /// Events that its packets report as discarded.
    discarded: u64,
}

impl Written {
    fn new(trace: &Trace, stream: usize) -> Self {
        Self { times: None, losses: trace.losses(stream), discarded: 0 }
    }

    /// Adds the events that the packet of a number reports as discarded.
    fn add_discarded(&mut self, number: usize) {
        let first = self.losses.partition_point(|loss| loss.before_packet < number);
        let own = self.losses[first..].iter().take_while(|loss| loss.before_packet == number);
        let events = own.map(|loss| if let Lost::Events(events) = loss.lost { events } else { 0 });
        self.discarded = self.discarded.wrapping_add(events.sum());
    }

    /// Puts them into the head of a packet, where it has a counter of them.
    fn put_discarded(&self, trace: &Trace, stream: usize, head: [&mut Option<Value>; 2]) {
        let nodes = [&trace.plan().packet_header, &trace.stream_plan(stream).packet_context];
        for (node, value) in nodes.into_iter().zip(head) {
            let Some((node, value)) = node.as_ref().zip(value.as_mut()) else { continue };
            for_roles(node, value, &mut |role, class, raw| {
                if role == Role::DiscardedEvents {
                    *raw = low_bits(self.discarded, class.size);
                }
            });
        }
    }
}

/// The start and the end of what a packet has of a window, in cycles, where it records them; `None`:
/// nothing.
fn part(packet: &Packet, window: &dyn Fn(u64) -> Ordering) -> Option<(Option<u64>, Option<u64>)> {
    // Some tracers leave the end at 0 when they are killed.
    let end = packet.end().filter(|&end| packet.begin().is_none_or(|begin| end >= begin));
    let Some((begin, end)) = packet.begin().zip(end) else {
        return Some((packet.begin(), end));
    };
    if window(begin).is_gt() || window(end).is_lt() {
        return None;
    }
    // The first instant of the packet for which something holds that holds for all later ones.
    let first = |holds: &dyn Fn(Ordering) -> bool| {
        let (mut low, mut high) = (begin, end);
        while low < high {
            let middle = low + (high - low) / 2;
            match holds(window(middle)) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    };
    let begins = first(&|place| place.is_ge());
    let ends = match window(end).is_gt() {
        true => first(&|place| place.is_gt()).saturating_sub(1),
        false => end,
    };
    (begins <= ends).then_some((Some(begins), Some(ends)))
}
