//! Parts of a trace as traces: the events of a window that are selected, with the clock and the contents
//! that they have.
//!
//! Packets outside the window are left out, those at its borders begin and end with it: what is read of the
//! cut does not claim to know the time beyond. Counters of packets and of discarded events keep their
//! values, so that what was lost within the window is lost in the cut, too.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use isochrone_diagnostic::Diagnostic;

use super::copy::{head_values, inexpressible, make_above, packets_by_file, unwritable};
use super::excerpt::{narrow_time, write_selected};
use super::files::TraceDirectory;
use super::metadata::metadata;
use super::packet::{PacketHead, PacketWriter};
use crate::error::{Error, Reason};
use crate::schema::{CUT_OF, EnvironmentValue};
use crate::trace::times::Times;
use crate::trace::{Event, Packet, Trace};

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
    let mut summary = CutSummary::default();
    for (name, packets) in trace.file_names().zip(packets_by_file(trace)) {
        let mut file = written.stream_file(name)?;
        // By stream: the times of its last packet, by which a reader completes short ones.
        let mut times: HashMap<usize, Option<Times>> = HashMap::new();
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
            let (header, context) = head_values(trace, stream, packet);
            let before = times.get(&stream).copied().flatten();
            let mut writer = PacketWriter::after(trace.plan(), trace.streams()[stream].class, before);
            let from = begin.unwrap_or(0);
            writer.begin(PacketHead { header, context, begin: from }).map_err(failed)?;
            let last =
                write_selected(trace, stream, events.iter().zip(flags.iter().copied()), from, &mut writer)
                    .map_err(failed)?;
            let total_bits = writer.content_bits().next_multiple_of(8);
            file.append(&writer.finish(end.unwrap_or(last), total_bits).map_err(failed)?)?;
            times.insert(stream, writer.times());
            summary.packets += 1;
            summary.events += flags.iter().filter(|&&flag| flag).count() as u64;
        }
        file.close()?;
    }
    let broken = (!summary.lost.is_empty())
        .then(|| format!("{} packets are cut off where they could not be decoded", summary.lost.len()));
    let words: Vec<String> = selection.words.take().into_iter().chain(broken).collect();
    if !words.is_empty() {
        schema.environment.insert(CUT_OF.to_owned(), EnvironmentValue::Text(words.join("; ")));
    }
    written.metadata(&metadata(&schema).map_err(|error| inexpressible(trace, &error))?)?;
    Ok(summary)
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
