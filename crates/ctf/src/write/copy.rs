//! Copies of a trace: on another clock (new times, everything else as it was), or written again from what was
//! read.
//!
//! Stream files keep their names and packets their order; a packet grows where a header needs its long form
//! (a gap between events that no longer fits the bits of time), and sizes and the index follow. The metadata
//! keep their text but for the clock. They are written last: what stops the writing leaves a directory that
//! is no trace.
//!
//! New times are those of packets and of events. Fields of contexts and payloads keep their values, also
//! integers that are mapped to the clock: what they mean (a moment, a duration, a deadline) is known to their
//! readers only.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use isochrone_diagnostic::{Diagnostic, DiagnosticLog, Severity};

use super::encode::EncodeError;
use super::files::TraceDirectory;
use super::metadata::{Inexpressible, metadata, metadata_with};
use super::packet::{PacketHead, PacketWriter};
use crate::error::{Error, Reason};
use crate::plan::Plan;
use crate::schema::{ClockClass, EventClass, Schema};
use crate::trace::{Packet, Trace};

/// Cycles per second of the clocks of copies.
const FREQUENCY: u64 = 1_000_000_000;

/// The clock of the copy, and the way there. The copy counts nanoseconds.
pub struct NewClock<'f> {
    /// Identity, description, offset: what the copy's metadata will say. Its frequency must be 1 GHz.
    pub class: ClockClass,
    /// New cycles for old raw nanoseconds ([`ClockClass::raw_ns`]); must not decrease. `None`: not
    /// representable.
    pub map: &'f dyn Fn(i128) -> Option<u64>,
}

/// What was written.
#[derive(Debug, Default)]
pub struct CopySummary {
    /// Packets in all stream files.
    pub packets: u64,
    /// Events in them.
    pub events: u64,
    /// Packets that had to grow.
    pub grown: u64,
    /// Parts of the trace that are not in the copy, because they could not be decoded or because their time
    /// has no place on the new clock. What was lost when the trace was opened is in [`Trace::diagnostics`]
    /// alone. Of many complaints about one file the last one counts the rest.
    pub lost: Vec<Diagnostic>,
}

/// Writes a trace again into a new directory, which is made, as are the directories above it: metadata from
/// its schema, packets from the values of their fields. What is read of it is the same. What could not be
/// decoded is not in it, unless it lies in a packet that does not record where its content ends. Linear in
/// the trace; memory is one packet and the index of one file.
///
/// # Errors
/// The directory exists, a file cannot be written, or the schema or a value cannot be expressed in the
/// trace's version of CTF.
pub fn rewrite_trace(trace: &Trace, directory: &Path) -> Result<CopySummary, Error> {
    let metadata = metadata(trace.schema()).map_err(|error| inexpressible(trace, &error))?;
    make_above(directory)?;
    Copy::new(trace, trace.plan(), directory, &metadata, None)?.all()
}

/// As [`rewrite_trace`], by another schema: one of the same classes with the same fields, such as
/// [`to_ctf_2`] gives.
///
/// [`to_ctf_2`]: super::to_ctf_2
///
/// # Errors
/// As [`rewrite_trace`]; or the schema has other classes or fields than the trace.
pub fn rewrite_trace_as(trace: &Trace, schema: &Schema, directory: &Path) -> Result<CopySummary, Error> {
    let metadata = metadata(schema).map_err(|error| inexpressible(trace, &error))?;
    let ids = |schema: &Schema| -> Vec<(u64, Vec<u64>)> {
        let events = |events: &[EventClass]| events.iter().map(|event| event.id).collect();
        schema.streams.iter().map(|stream| (stream.id, events(&stream.events))).collect()
    };
    if ids(schema) != ids(trace.schema()) {
        let message = "the schema to write it by has other classes".to_owned();
        return Err(Error::new(trace.path(), Reason::Unwritable(message)));
    }
    make_above(directory)?;
    Copy::new(trace, &Plan::compile(schema), directory, &metadata, None)?.all()
}

pub(super) fn make_above(directory: &Path) -> Result<(), Error> {
    let above = directory.parent().unwrap_or(directory);
    fs::create_dir_all(above).map_err(|source| Error::new(above, Reason::Write(source)))
}

pub(super) fn inexpressible(trace: &Trace, error: &Inexpressible) -> Error {
    Error::new(trace.path(), Reason::Unwritable(error.to_string()))
}

/// Writes a copy of a trace into a new directory, which is made; that above it is there. Linear in the trace;
/// memory is one packet and the index of one file.
///
/// # Errors
/// The directory exists, a file cannot be written, the new clock is not one of nanoseconds, the trace stamps
/// with several clocks, or a packet cannot be encoded with its new times.
pub fn copy_trace(trace: &Trace, directory: &Path, clock: &NewClock<'_>) -> Result<CopySummary, Error> {
    if clock.class.frequency != FREQUENCY {
        let message =
            format!("its clock must count nanoseconds, not {} cycles a second", clock.class.frequency);
        return Err(Error::new(trace.path(), Reason::Unwritable(message)));
    }
    Copy::new(trace, trace.plan(), directory, &metadata_with(trace, &clock.class)?, Some(clock))?.all()
}

/// A packet by its stream and its position there.
type PacketOfStream = (usize, usize);

/// The packets of each file in the file's order.
pub(super) fn packets_by_file(trace: &Trace) -> Vec<Vec<PacketOfStream>> {
    let mut files: Vec<Vec<PacketOfStream>> = trace.file_names().map(|_| Vec::new()).collect();
    for (stream, of) in trace.streams().iter().enumerate() {
        for (number, packet) in of.packets.iter().enumerate() {
            files[packet.file as usize].push((stream, number));
        }
    }
    for packets in &mut files {
        packets.sort_by_key(|&(stream, number)| trace.streams()[stream].packets[number].offset);
    }
    files
}

/// A copy that is being written.
struct Copy<'c> {
    trace: &'c Trace,
    /// What the copy is written by.
    plan: &'c Plan,
    directory: TraceDirectory,
    /// Of the copy.
    metadata: &'c str,
    /// `None`: times stay as they are, and all else is written from values.
    clock: Option<&'c NewClock<'c>>,
    summary: CopySummary,
}

impl<'c> Copy<'c> {
    fn new(
        trace: &'c Trace,
        plan: &'c Plan,
        directory: &Path,
        metadata: &'c str,
        clock: Option<&'c NewClock<'c>>,
    ) -> Result<Self, Error> {
        let io = |source| Error::new(directory, Reason::Write(source));
        // New, so that nothing is written over: not even the trace itself, whose files are mapped.
        fs::create_dir(directory).map_err(io)?;
        let mut directory = TraceDirectory::made(directory);
        // Indexes lie in a directory of this name.
        if trace.file_names().any(|name| name == "index") {
            directory = directory.without_indexes();
        }
        Ok(Self { trace, plan, directory, metadata, clock, summary: CopySummary::default() })
    }

    /// Copies all files, and last what makes a trace of them.
    fn all(mut self) -> Result<CopySummary, Error> {
        for (name, packets) in self.trace.file_names().zip(packets_by_file(self.trace)) {
            self.file(name, &packets)?;
        }
        self.directory.metadata(self.metadata)?;
        Ok(self.summary)
    }

    /// Copies the packets of one stream file and writes its index.
    fn file(&mut self, name: &str, packets: &[PacketOfStream]) -> Result<(), Error> {
        let trace = self.trace;
        let mut file = self.directory.stream_file(name)?;
        let mut lost = DiagnosticLog::default();
        let mut writer: Option<(usize, PacketWriter<'_>)> = None;
        let mut times = HashMap::new();
        for &(stream, number) in packets {
            let of = &trace.streams()[stream];
            let packet = &of.packets[number];
            if writer.as_ref().is_none_or(|(last, _)| *last != stream) {
                // A file with several streams: times continue where their last writer stopped.
                if let Some((last, writer)) = writer.take() {
                    times.insert(last, writer.times());
                }
                let before = times.get(&stream).copied().flatten();
                let next = match self.clock {
                    Some(_) => PacketWriter::after(self.plan, of.class, before),
                    None => PacketWriter::verbatim(self.plan, of.class),
                };
                writer = Some((stream, next));
            }
            let Some((_, writer)) = &mut writer else { continue };
            let failed = |error: EncodeError| unwritable(trace, packet, &error);
            let Some(end) = self.packet(stream, number, writer, &mut lost).map_err(failed)? else { continue };
            let written = writer.finish(end, packet.total_bits).map_err(failed)?;
            trace.forget(packet);
            self.summary.grown += u64::from(written.entry.total_bits > packet.total_bits);
            file.append(&written)?;
        }
        self.summary.packets += file.close()?.len() as u64;
        self.summary.lost.extend(lost.into_vec());
        Ok(())
    }

    /// Copies the head and the events of a packet; gives the new time at its end. `None`: it is not in the
    /// copy, because its start has no place on the new clock. Of events what follows such a time is lost.
    fn packet(
        &mut self,
        stream: usize,
        number: usize,
        writer: &mut PacketWriter<'_>,
        lost: &mut DiagnosticLog,
    ) -> Result<Option<u64>, EncodeError> {
        let trace = self.trace;
        let packet = &trace.streams()[stream].packets[number];
        let clocks = self.clock.zip(trace.clock(stream));
        let map = |cycles: u64| match clocks {
            Some((new, old)) => (new.map)(old.raw_ns(cycles)),
            None => Some(cycles),
        };
        let mut lose = |at: u64, error: &dyn std::fmt::Display| {
            lost.add(Severity::Loss, || trace.packet_loss(packet, at, error));
        };
        let mut events = trace.packet(stream, number);
        let begin = match packet.begin().map(|cycles| (cycles, map(cycles))) {
            Some((cycles, None)) => {
                lose(0, &Unmapped { cycles, events: events.count() });
                return Ok(None);
            }
            Some((_, Some(begin))) => begin,
            None => 0,
        };
        writer.begin(PacketHead { begin, ..PacketHead::of(trace, stream, packet) })?;
        let mut last = begin;
        while let Some(event) = events.next() {
            let cycles = event.cycles().unwrap_or(0);
            let Some(time) = map(cycles) else {
                lose(event.header, &Unmapped { cycles, events: 1 + events.by_ref().count() });
                break;
            };
            last = time;
            match self.clock {
                Some(_) => writer.copy_event(&event, last)?,
                None => writer.rewrite_event(&event, last)?,
            }
            self.summary.events += 1;
        }
        if let Some((at, error)) = events.error() {
            lose(at, &error);
            if self.clock.is_none() {
                writer.rest_without_end(trace.packet_bytes(packet), at)?;
            }
        }
        if self.clock.is_none() {
            return Ok(Some(packet.end().unwrap_or(last)));
        }
        // Some tracers leave the end at 0 when they are killed, or at a time beyond all clocks.
        let end = packet.end().filter(|&end| packet.begin().is_none_or(|begin| end >= begin));
        Ok(Some(end.and_then(map).unwrap_or(last)))
    }
}

/// A time without a place on the new clock, and how many events that costs.
#[derive(Debug, thiserror::Error)]
#[error("the time of {cycles} cycles has no place on the new clock: {events} events are not in the copy")]
struct Unmapped {
    cycles: u64,
    events: usize,
}

pub(super) fn unwritable(trace: &Trace, packet: &Packet, error: &EncodeError) -> Error {
    let file = trace.packet_file_name(packet);
    let message = format!("{file}, packet {}, byte {}: {error}", packet.number, packet.offset);
    Error::new(trace.path(), Reason::Unwritable(message))
}
