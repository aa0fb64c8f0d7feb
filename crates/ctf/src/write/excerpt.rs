//! Excerpts: all packets of a trace, with some of their events.
//!
//! Packet headers and contexts keep their values but for sizes, so that numbers, counters and times of
//! packets are those of the trace; events keep their bodies, and headers get the long form where the events
//! before them are left out. Read with the metadata of the trace, an excerpt gives the events that it has
//! with the times that they have in the trace.

use super::copy::packets_by_file;
use super::encode::EncodeError;
use super::packet::{PacketHead, PacketWriter};
use crate::error::{Error, Reason};
use crate::schema::Role;
use crate::trace::{Event, Packet, Trace};

/// A stream file of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcerptFile {
    /// Name of the stream file in the trace directory.
    pub name: String,
    /// Its packets.
    pub bytes: Vec<u8>,
}

/// Writes all packets of a trace with those events that `choose` selects: it gets the stream, the packet's
/// index in [`Stream::packets`](crate::trace::Stream::packets), its events, and a flag for each, `false` at
/// first. Packets of one stream come in the order of time as far as their files have them in that order.
/// Packets that cannot be decoded to their ends come with the events before that, and are kept as they are,
/// whatever is selected. `done` gets each file.
///
/// Linear in the trace; memory is the events of one packet and the excerpt of one file.
///
/// # Errors
/// A packet cannot be encoded again; what `done` returns.
pub fn excerpt<'t>(
    trace: &'t Trace,
    mut choose: impl FnMut(usize, usize, &[Event<'t>], &mut [bool]),
    mut done: impl FnMut(ExcerptFile) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut events, mut flags): (Vec<Event<'t>>, Vec<bool>) = (Vec::new(), Vec::new());
    for (name, packets) in trace.file_names().zip(packets_by_file(trace)) {
        let mut bytes = Vec::new();
        for (stream, number) in packets {
            let packet = &trace.streams()[stream].packets[number];
            events.clear();
            let mut decoded = trace.packet(stream, number);
            events.extend(decoded.by_ref());
            flags.clear();
            flags.resize(events.len(), false);
            choose(stream, number, &events, &mut flags);
            if decoded.error().is_some() {
                bytes.extend_from_slice(trace.packet_bytes(packet));
                continue;
            }
            let failed = |error: EncodeError| {
                let file = trace.packet_file_name(packet);
                let message = format!("{file}, packet {}, byte {}: {error}", packet.number, packet.offset);
                Error::new(trace.path(), Reason::Unwritable(message))
            };
            write_packet(trace, stream, packet, &events, &flags, &mut bytes).map_err(failed)?;
            trace.forget(packet);
        }
        done(ExcerptFile { name: name.to_owned(), bytes })?;
    }
    Ok(())
}

/// Appends a packet with the events that have a flag.
fn write_packet(
    trace: &Trace,
    stream: usize,
    packet: &Packet,
    events: &[Event<'_>],
    flags: &[bool],
    bytes: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let head = PacketHead::of(trace, stream, packet);
    let begin = head.begin;
    let class = trace.streams()[stream].class;
    let mut writer = PacketWriter::excerpt(trace.plan(), class);
    writer.begin(head)?;
    let last = write_selected(trace, stream, events.iter().zip(flags.iter().copied()), begin, &mut writer)?;
    let total_bits = writer.content_bits().next_multiple_of(8);
    bytes.extend_from_slice(writer.finish(packet.end().unwrap_or(last), total_bits)?.bytes);
    Ok(())
}

/// Writes the events with a flag into a packet that was begun at `begin`; gives the time of the last one in
/// cycles. Where headers could not show the time since the one before, so are events without a flag.
pub(super) fn write_selected<'e, 't: 'e>(
    trace: &Trace,
    stream: usize,
    events: impl Iterator<Item = (&'e Event<'t>, bool)>,
    begin: u64,
    writer: &mut PacketWriter<'_>,
) -> Result<u64, EncodeError> {
    let bits = narrow_time(trace, stream);
    let mut last = begin;
    let mut skipped: Option<&Event<'_>> = None;
    for (event, flag) in events {
        let cycles = event.cycles().unwrap_or(0);
        // A header of few bits shows no gap that is longer than they count.
        if let Some(bits) = bits {
            if let Some(before) = skipped
                && cycles.saturating_sub(last) >> bits > 0
            {
                last = before.cycles().unwrap_or(0);
                writer.copy_event(before, last)?;
            }
            skipped = (!flag).then_some(event);
        }
        if flag {
            writer.copy_event(event, cycles)?;
            last = cycles;
        }
    }
    Ok(last)
}

/// Bits of the time in event headers that are not of LTTng's shape, which have a long form, where they are
/// fewer than those of the clock.
pub(super) fn narrow_time(trace: &Trace, stream: usize) -> Option<u32> {
    let plan = trace.stream_plan(stream);
    if plan.lttng_header.is_some() {
        return None;
    }
    plan.event_header.as_ref()?.role_bits(Role::Timestamp).filter(|&bits| bits < u64::BITS)
}
