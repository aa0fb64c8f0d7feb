//! Copies of a trace on another clock: new times, everything else as it was.
//!
//! Stream files keep their names and packets their order; a packet grows where a header needs its long form (a gap
//! between events that no longer fits the bits of time), and sizes and the index follow. The metadata keep their text
//! but for the clock.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::encode::EncodeError;
use super::packet::{PacketHead, PacketWriter};
use crate::error::{Diagnostic, Error};
use crate::plan::Cursor;
use crate::schema::ClockClass;
use crate::trace::index::{self, IndexEntry};
use crate::trace::{Packet, Trace};
use crate::tsdl::{self, BlockKind, Item};
use crate::value::{Value, ValueVisitor};

/// The clock of the copy, and the way there. The copy counts nanoseconds.
pub struct NewClock<'f> {
    /// Identity, description, offset: what the copy's metadata will say. Its frequency must be 1 GHz.
    pub class: ClockClass,
    /// New cycles for old raw nanoseconds ([`ClockClass::raw_ns`]); must not decrease. `None`: not representable.
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
    /// Parts of the trace that could not be decoded and are not in the copy.
    pub lost: Vec<Diagnostic>,
}

/// Writes a copy of a trace into a new directory. Linear in the trace; memory is one packet.
///
/// # Errors
/// A file cannot be written, the trace stamps with several clocks, or a time has no place in the copy.
pub fn copy_trace(trace: &Trace, directory: &Path, clock: &NewClock<'_>) -> Result<CopySummary, Error> {
    let io = |source| Error::write(directory, source);
    fs::create_dir_all(directory).map_err(io)?;
    let metadata = metadata_with(trace, &clock.class)?;
    fs::write(directory.join("metadata"), metadata).map_err(io)?;
    let mut summary = CopySummary::default();
    for name in trace.file_names() {
        copy_file(trace, name, directory, clock, &mut summary)?;
    }
    Ok(summary)
}

/// The metadata with another clock of the same name.
fn metadata_with(trace: &Trace, class: &ClockClass) -> Result<String, Error> {
    let text = trace.metadata_text();
    let unwritable =
        |message: &str| Error::Unwritable { path: trace.path().to_owned(), message: message.to_owned() };
    let ast = tsdl::parse(text).map_err(|e| unwritable(&e.message))?;
    let blocks: Vec<_> = ast
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Block(block) if block.kind == BlockKind::Clock => Some(block.offset..block.end),
            _ => None,
        })
        .collect();
    let [block] = blocks.as_slice() else {
        return Err(unwritable("it must have exactly one clock"));
    };
    let name = &trace.schema().clocks[0].name;
    let signature = if text.starts_with("/* CTF 1.8") { "" } else { "/* CTF 1.8 */\n" };
    let (before, after) = (&text[..block.start], &text[block.end..]);
    Ok(format!("{signature}{before}{}{after}", clock_block(name, class)))
}

/// A clock block of TSDL.
fn clock_block(name: &str, class: &ClockClass) -> String {
    let mut block = format!("clock {{\n\tname = \"{name}\";\n");
    let mut line = |text: std::fmt::Arguments<'_>| {
        let written = writeln!(block, "\t{text};");
        debug_assert!(written.is_ok(), "a string takes every write");
    };
    if let Some(uuid) = class.uuid {
        line(format_args!("uuid = \"{uuid}\""));
    }
    if let Some(description) = &class.description {
        let escaped = description.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        line(format_args!("description = \"{escaped}\""));
    }
    line(format_args!("freq = {}", class.frequency));
    line(format_args!("precision = {}", class.precision));
    line(format_args!("offset_s = {}", class.offset_s));
    line(format_args!("offset = {}", class.offset_cycles));
    line(format_args!("absolute = {}", if class.absolute { "TRUE" } else { "FALSE" }));
    block.push_str("};");
    block
}

/// Copies the packets of one stream file and writes its index.
fn copy_file(
    trace: &Trace,
    name: &str,
    directory: &Path,
    clock: &NewClock<'_>,
    summary: &mut CopySummary,
) -> Result<(), Error> {
    let path = directory.join(name);
    let io = |source| Error::write(&path, source);
    let mut file = BufWriter::new(File::create(&path).map_err(io)?);
    let mut entries: Vec<IndexEntry> = Vec::new();
    let mut writer: Option<(usize, PacketWriter<'_>)> = None;
    for (stream, number, packet) in packets_of(trace, name) {
        let class = trace.streams()[stream].class;
        if writer.as_ref().is_none_or(|(of, _)| *of != class) {
            // A file with streams of several classes: offsets go on where the last writer stopped.
            let offset = entries.last().map_or(0, |e| e.offset + e.total_bits / 8);
            writer = Some((class, PacketWriter::at(trace.plan(), class, offset)));
        }
        let Some((_, writer)) = &mut writer else { continue };
        let copied = copy_packet(trace, stream, number, packet, clock, writer, summary);
        let end = copied.map_err(|error| unwritable(trace, packet, &error))?;
        let written =
            writer.finish(end, packet.total_bits).map_err(|error| unwritable(trace, packet, &error))?;
        summary.grown += u64::from(written.entry.total_bits > packet.total_bits);
        file.write_all(written.bytes).map_err(io)?;
        entries.push(written.entry);
    }
    summary.packets += entries.len() as u64;
    file.flush().map_err(io)?;
    let index_directory = directory.join("index");
    let index_path = index_directory.join(format!("{name}.idx"));
    let io = |source| Error::write(&index_path, source);
    fs::create_dir_all(&index_directory).map_err(io)?;
    fs::write(&index_path, index::write(&entries)).map_err(io)
}

/// The packets of a file in the file's order, with their places in their streams.
fn packets_of<'t>(trace: &'t Trace, name: &str) -> Vec<(usize, usize, &'t Packet)> {
    let mut found = Vec::new();
    for (stream, of) in trace.streams().iter().enumerate() {
        let packets = of.packets.iter().enumerate().filter(|(_, p)| trace.packet_file_name(p) == name);
        found.extend(packets.map(|(number, packet)| (stream, number, packet)));
    }
    found.sort_by_key(|(_, _, packet)| packet.offset);
    found
}

/// Copies the head and the events of a packet; gives the new time at its end.
fn copy_packet(
    trace: &Trace,
    stream: usize,
    number: usize,
    packet: &Packet,
    clock: &NewClock<'_>,
    writer: &mut PacketWriter<'_>,
    summary: &mut CopySummary,
) -> Result<u64, CopyError> {
    let old = trace.clock(stream);
    let map = |cycles: u64| match old {
        Some(old) => (clock.map)(old.raw_ns(cycles)).ok_or(CopyError::Time(cycles)),
        None => Ok(cycles),
    };
    let (header, context) = head_values(trace, stream, packet);
    let begin = packet.begin.map_or(Ok(0), map)?;
    writer.begin(PacketHead { header, context, begin })?;
    let mut last = begin;
    let mut events = trace.packet(stream, number);
    for event in events.by_ref() {
        last = map(event.cycles().unwrap_or(0))?;
        writer.copy_event(&event, last)?;
        summary.events += 1;
    }
    if let Some((at, error)) = events.error() {
        summary.lost.push(trace.packet_loss(packet, at, error));
    }
    // Some tracers leave the end at 0 when they are killed.
    packet.end.filter(|&end| packet.begin.is_none_or(|begin| end >= begin)).map_or(Ok(last), map)
}

/// Header and context of a packet as values.
fn head_values(trace: &Trace, stream: usize, packet: &Packet) -> (Option<Value>, Option<Value>) {
    let mut slots = trace.plan().new_slots();
    let mut cursor = Cursor::new(trace.packet_bytes(packet));
    let nodes = [&trace.plan().packet_header, &trace.stream_plan(stream).packet_context];
    let [header, context] = nodes.map(|node| {
        let mut visitor = ValueVisitor::default();
        crate::plan::walk(node.as_ref()?, &mut cursor, &mut slots, &mut visitor).ok()?;
        visitor.into_value()
    });
    (header, context)
}

/// Why a packet cannot be copied.
#[derive(Debug, thiserror::Error)]
enum CopyError {
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error("the time of {0} cycles has no place on the new clock")]
    Time(u64),
}

fn unwritable(trace: &Trace, packet: &Packet, error: &dyn std::fmt::Display) -> Error {
    let file = trace.packet_file_name(packet);
    let message = format!("{file}, packet {}, byte {}: {error}", packet.number, packet.offset);
    Error::Unwritable { path: trace.path().to_owned(), message }
}
