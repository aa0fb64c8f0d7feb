//! Recordings of another course: copies of a real trace in which time passes that did not pass, and what
//! happens meanwhile.

use std::path::Path;

use isochrone_ctf::Trace;
use isochrone_ctf::write::{PacketHead, PacketWriter, TraceDirectory};

use crate::compiled::Compiled;
use crate::error::{Misuse, TestkitError};
use crate::value::FieldValue;

/// Time that is put into a recording. Times are cycles of the clock of the trace.
#[derive(Debug, Clone)]
pub struct Pause<'p> {
    /// What happens at this time or later happens later, by [`Self::cycles`].
    pub at: u64,
    /// How much time is put in.
    pub cycles: u64,
    /// What happens meanwhile, in order.
    pub events: Vec<Inserted<'p>>,
}

/// An event that a recording does not have.
#[derive(Debug, Clone)]
pub struct Inserted<'p> {
    /// Cycles after the start of its pause.
    pub after: u64,
    /// The name of its class.
    pub name: &'p str,
    /// Its fields; those of the context are named `context.tid` and so on. Others are 0 or empty.
    pub fields: Vec<(&'p str, FieldValue)>,
}

/// Writes a copy of a trace of LTTng's with pauses, which come in the order of their times.
///
/// Their events go to the first stream. All others keep their fields, also those that hold times.
///
/// # Errors
/// A file cannot be written, or an event cannot be encoded.
pub fn altered(trace: &Trace, to: &Path, pauses: &[Pause<'_>]) -> Result<(), TestkitError> {
    let unwritten = |error| Misuse::Copy(format!("{error}"));
    let compiled = Compiled::new(trace.metadata_text().to_owned())?;
    let directory = TraceDirectory::create(to, trace.metadata_text()).map_err(unwritten)?;
    for (number, stream) in trace.streams().iter().enumerate() {
        let mut file = directory.stream_file(&stream.file).map_err(unwritten)?;
        let mut writer = PacketWriter::new(trace.plan(), stream.class);
        let mut passed = Passed { pauses, cycles: 0, has_events: number == 0 };
        for (index, packet) in stream.packets.iter().enumerate() {
            let head = PacketHead::of(trace, number, packet);
            writer.begin(PacketHead { begin: head.begin + passed.cycles, ..head })?;
            for event in trace.packet(number, index) {
                let cycles = event.cycles().unwrap_or(0);
                passed.go_to(cycles, &compiled, &mut writer)?;
                writer.copy_event(&event, cycles + passed.cycles)?;
            }
            let end = packet.end().unwrap_or(0);
            passed.go_to(end, &compiled, &mut writer)?;
            let written = writer.finish(end + passed.cycles, packet.total_bits)?;
            file.append(&written).map_err(unwritten)?;
        }
        file.close().map_err(unwritten)?;
    }
    Ok(())
}

/// Pauses that are over, and those to come.
struct Passed<'p> {
    /// To come.
    pauses: &'p [Pause<'p>],
    /// How long those took that are over.
    cycles: u64,
    /// Whether what happens in them is written.
    has_events: bool,
}

impl Passed<'_> {
    /// Writes what happens in pauses up to a time of the trace.
    fn go_to(
        &mut self,
        at: u64,
        compiled: &Compiled,
        writer: &mut PacketWriter<'_>,
    ) -> Result<(), TestkitError> {
        while let Some((pause, left)) = self.pauses.split_first().filter(|(pause, _)| pause.at <= at) {
            for Inserted { after, name, fields } in pause.events.iter().filter(|_| self.has_events) {
                let class = compiled.class(name)?;
                let body = compiled.body(name, class, fields)?;
                compiled.write(writer, class, pause.at + self.cycles + after, &body)?;
            }
            self.pauses = left;
            self.cycles += pause.cycles;
        }
        Ok(())
    }
}
