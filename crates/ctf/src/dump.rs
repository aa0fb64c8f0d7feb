//! `ctf-dump v1`: a canonical text of everything a reader understood of a trace, for comparing readers.
//!
//! One JSON value a line: the trace `T`, then stream after stream `S` with its packets `P`, events `E`,
//! discarded events `DE` and packets `DP`. Streams are never interleaved, so that no rule for ties is needed.
//! A stream is named by its first file, also where packets carry a stream number: so do all reference dumps.

use std::io::{self, Write};

use isochrone_diagnostic::{Diagnostic, DiagnosticLog, Severity};

use crate::error::DecodeError;
use crate::json::{Floats, JsonVisitor, string};
use crate::room;
use crate::schema::{ClockClass, EnvironmentValue, Scope};
use crate::trace::{Event, Loss, Lost, Trace};

/// Lines are handed to the writer in pieces of this size.
const FLUSH_AT: usize = 1 << 16;

/// Writes the dump of a trace. Linear in its events (each is decoded twice: the number of events comes
/// first).
///
/// Gives what could not be decoded: events that are missing from the dump, and fields that are `null` in it.
///
/// # Errors
/// Those of the writer.
pub fn dump(trace: &Trace, writer: &mut impl Write) -> io::Result<Vec<Diagnostic>> {
    let mut out = Vec::with_capacity(FLUSH_AT * 2);
    let mut diagnostics = Vec::new();
    if trace.streams().is_empty() {
        // The reference shows a trace with its first stream.
        return Ok(diagnostics);
    }
    trace_line(trace, &mut out);
    let mut order: Vec<_> = (0..trace.streams().len()).collect();
    order.sort_by_cached_key(|&stream| (trace.stream_class(stream).id, trace.streams()[stream].file.clone()));
    for stream in order {
        let mut events = trace.events(stream);
        let count = events.by_ref().count();
        diagnostics.extend_from_slice(events.diagnostics());
        out.extend_from_slice(format!("[\"S\",0,{},", trace.stream_class(stream).id).as_bytes());
        string(&mut out, trace.streams()[stream].file.as_bytes());
        out.extend_from_slice(format!(",{count}]\n").as_bytes());
        diagnostics.extend(stream_lines(trace, stream, &mut out, writer)?.into_vec());
    }
    writer.write_all(&out)?;
    writer.flush()?;
    Ok(diagnostics)
}

fn trace_line(trace: &Trace, out: &mut Vec<u8>) {
    out.extend_from_slice(b"[\"T\",0,");
    let schema = trace.schema();
    // The uuid of CTF 2 metadata is that of the metadata stream; what names the trace is its uid.
    let identity =
        if schema.version.0 >= 2 { schema.uid.clone() } else { schema.uuid.map(|u| u.to_string()) };
    match identity {
        Some(identity) => string(out, identity.as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",{");
    for (index, (name, value)) in trace.schema().environment.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        string(out, name.as_bytes());
        out.push(b':');
        match value {
            EnvironmentValue::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
            EnvironmentValue::Text(text) => string(out, text.as_bytes()),
        }
    }
    out.extend_from_slice(b"}]\n");
}

fn stream_lines(
    trace: &Trace,
    stream: usize,
    out: &mut Vec<u8>,
    writer: &mut impl Write,
) -> io::Result<DiagnosticLog> {
    let mut complaints = DiagnosticLog::default();
    let clock = trace.clock(stream);
    let losses = trace.losses(stream);
    let mut losses = losses.iter().peekable();
    for (number, packet) in trace.streams()[stream].packets.iter().enumerate() {
        while let Some(loss) = losses.next_if(|loss| loss.before_packet == number) {
            loss_line(loss, clock, out);
        }
        out.extend_from_slice(b"[\"P\",");
        let (begin, end) = spanned(trace, stream, number);
        time(clock, begin, out);
        out.push(b',');
        time(clock, end, out);
        out.push(b',');
        let context = room::append(out, writer, |out, room| {
            let mut visitor = JsonVisitor::within(out, room, Floats::Bits);
            trace.visit_packet_context(stream, packet, &mut visitor).ok_or(())
        })?;
        if context.is_err() {
            out.extend_from_slice(b"null");
        }
        out.extend_from_slice(b"]\n");
        flush_full(out, writer)?;
        for event in trace.packet(stream, number) {
            if let Err(error) = event_line(&event, clock, out, writer)? {
                complaints.add(Severity::Loss, || trace.field_loss(packet, event.header, error));
            }
            flush_full(out, writer)?;
        }
    }
    Ok(complaints)
}

/// Hands lines to the writer once there are enough of them.
fn flush_full(out: &mut Vec<u8>, writer: &mut impl Write) -> io::Result<()> {
    if out.len() >= FLUSH_AT {
        writer.write_all(out)?;
        out.clear();
    }
    Ok(())
}

/// Times of a packet, widened to hold its events: old tracers wrote a begin after the first event, an end
/// before the last one, or no end at all when they were killed.
fn spanned(trace: &Trace, stream: usize, number: usize) -> (Option<u64>, Option<u64>) {
    let packet = &trace.streams()[stream].packets[number];
    let (mut begin, mut end) = (packet.begin(), packet.end());
    if trace.clock(stream).is_none() || (begin, end) == (None, None) {
        return (None, None);
    }
    let mut first = true;
    for cycles in trace.packet(stream, number).filter_map(|event| event.cycles()) {
        if std::mem::take(&mut first) {
            begin = begin.map(|begin| begin.min(cycles));
        }
        end = end.map(|end| end.max(cycles));
    }
    (begin, end)
}

fn loss_line(loss: &Loss, clock: Option<&ClockClass>, out: &mut Vec<u8>) {
    let (kind, count) = match loss.lost {
        Lost::Events(count) => ("DE", count),
        Lost::Packets(count) => ("DP", count),
    };
    out.extend_from_slice(format!("[\"{kind}\",{count},").as_bytes());
    time(clock, loss.begin, out);
    out.push(b',');
    time(clock, loss.end, out);
    out.extend_from_slice(b"]\n");
}

/// The line of an event. Fields that cannot be decoded are `null`; the inner error is that of the first such.
fn event_line(
    event: &Event<'_>,
    clock: Option<&ClockClass>,
    out: &mut Vec<u8>,
    writer: &mut impl Write,
) -> io::Result<Result<(), DecodeError>> {
    let mut outcome = Ok(());
    out.extend_from_slice(b"[\"E\",");
    time(clock, event.cycles(), out);
    out.push(b',');
    match event.cycles() {
        Some(cycles) => out.extend_from_slice(itoa::Buffer::new().format(cycles).as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
    out.push(b',');
    out.extend_from_slice(itoa::Buffer::new().format(event.class().id).as_bytes());
    out.push(b',');
    match event.name() {
        Some(name) => string(out, name.as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
    for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
        out.push(b',');
        if event.node(scope).is_none() {
            out.extend_from_slice(b"null");
            continue;
        }
        let fields = room::append(out, writer, |out, room| {
            event.visit(scope, &mut JsonVisitor::within(out, room, Floats::Bits))
        })?;
        if fields.is_err() {
            out.extend_from_slice(b"null");
        }
        outcome = outcome.and(fields);
    }
    out.extend_from_slice(b"]\n");
    Ok(outcome)
}

fn time(clock: Option<&ClockClass>, cycles: Option<u64>, out: &mut Vec<u8>) {
    match clock.zip(cycles) {
        Some((clock, cycles)) => {
            out.extend_from_slice(itoa::Buffer::new().format(babeltrace_ns(clock, cycles)).as_bytes());
        }
        None => out.extend_from_slice(b"null"),
    }
}

/// Time since the clock's origin as babeltrace2 computes it. At 1 GHz that is exact; at any other frequency
/// it goes through a double and is off beyond 2⁵³. For the `ns` column of dumps only:
/// [`ClockClass::ns_from_origin`] is exact.
fn babeltrace_ns(clock: &ClockClass, cycles: u64) -> i128 {
    if clock.frequency == 1_000_000_000 {
        return clock.ns_from_origin(cycles);
    }
    let ns = |cycles: u64| i128::from(((1e9 * cycles as f64) / clock.frequency as f64) as u64);
    let (frequency, offset) = (i128::from(clock.frequency), i128::from(clock.offset_cycles));
    let whole_seconds = i128::from(clock.offset_s) + offset.div_euclid(frequency);
    let rest = offset.rem_euclid(frequency) as u64;
    whole_seconds * 1_000_000_000 + ns(rest) + ns(cycles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_frequency_has_a_time() {
        let check = |frequency, offset_cycles, cycles, expect| {
            let clock = ClockClass { frequency, offset_cycles, ..ClockClass::monotonic("c") };
            assert_eq!(babeltrace_ns(&clock, cycles), expect);
        };
        check(1000, -1, 1500, 1_499_000_000);
        check(u64::MAX, 0, u64::MAX, 1_000_000_000);
        check(u64::MAX, i64::MIN, 0, -1_000_000_000 + 500_000_000);
        check(1 << 63, -1, 0, 0);
    }
}
