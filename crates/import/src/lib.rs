//! Recordings of other tracers of Linux's kernel, turned into CTF as LTTng's kernel tracer would have written
//! it: `trace.dat` of trace-cmd and `perf.data` of perf.
//!
//! What they call otherwise gets LTTng's names, so that what reads its traces reads these; what they did not
//! record is absent, and so unknown. Packets come of dynamic probes with the first bytes of each packet.
//!
//! Spans of OpenTelemetry become traces of programs.

mod bytes;
mod calls;
mod class;
mod clock;
mod error;
mod event_format;
mod metadata;
mod names;
mod otlp;
mod packet;
mod perf_data;
mod perf_sections;
mod recording;
mod samples;
mod threads;
mod trace_dat;
mod trace_writer;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use isochrone_ctf::parse_metadata;
use isochrone_ctf::plan::Plan;
use serde::{Deserialize, Serialize};

use class::Class;
pub use error::ImportError;
pub use otlp::{HostOfSpans, SpanClock, SpanFile};
use perf_data::PerfData;
use recording::{Recorded, Sink};
pub use threads::list_beside;
use trace_dat::TraceDat;
use trace_writer::{Classes, TraceWriter};

/// A format of recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `trace.dat` of trace-cmd.
    TraceDat,
    /// `perf.data` of perf.
    PerfData,
}

/// What became of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // Each is something else to be noted.
pub struct Imported {
    /// The number of events that were written.
    pub events: u64,
    /// Events that the tracer lost; at least: a loss that it did not count is one here.
    pub lost: u64,
    /// Losses that it did not count.
    pub uncounted: u64,
    /// Events of which the recording does not say what they are: they are left out.
    pub unknown: u64,
    /// Events that are shorter than they should be, or earlier than the one before on their CPU: they are
    /// among those that were lost.
    pub damaged: u64,
    /// Whether there is a list of threads beside the recording that is damaged: it is left out.
    pub is_list_damaged: bool,
    /// Whether calls were recorded by their numbers: those of 32-bit programs on a machine of 64 bits have
    /// other numbers, and nothing says whose a call is.
    pub are_calls_numbers: bool,
    /// The clock of their times, as the kernel calls it.
    pub clock: String,
    /// Whether the recording says which Unix time its clock had. Else times are those since its zero, mostly
    /// the start of the machine.
    pub has_unix_time: bool,
    /// Whether each CPU has a clock of its own, so that the order of events of several is not known.
    pub is_clock_of_cpu: bool,
}

impl Format {
    /// The format of a file, by how it begins; `None` if it is none of these, or no file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        // Opening a pipe would wait for a writer.
        if !std::fs::metadata(path)?.is_file() {
            return Ok(None);
        }
        let mut first = Vec::new();
        File::open(path)?.take(16).read_to_end(&mut first)?;
        Ok(match () {
            () if first.starts_with(trace_dat::MAGIC) => Some(Self::TraceDat),
            () if perf_sections::MAGIC.iter().any(|magic| first.starts_with(magic)) => Some(Self::PerfData),
            () => None,
        })
    }
}

/// Writes a recording as a CTF trace, in a directory that must not be one yet. Linear in the recording;
/// memory is that of its descriptions and of a packet for each CPU, of perf's also that of what it sorts.
/// `progress` gets the bytes of the recording that were read.
///
/// # Errors
/// It cannot be read, or is not of the format; the trace cannot be written. What has been written is left
/// without metadata, so that no reader takes it for a trace.
pub fn import(
    recording: &Path,
    format: Format,
    to: &Path,
    progress: &dyn Fn(u64),
) -> Result<Imported, ImportError> {
    match format {
        Format::TraceDat => {
            let recording = TraceDat::open(recording)?;
            let imported =
                write(recording.recorded(), Vec::new(), to, |sink| recording.read(sink, progress))?;
            Ok(Imported { is_list_damaged: recording.is_list_damaged(), ..imported })
        }
        Format::PerfData => {
            let mut recording = PerfData::open(recording)?;
            let (machine, formats, host, clock) = recording.parts();
            let recorded = Recorded { machine, formats: &formats, host: &host, clock, lists_threads: true };
            write(recorded, recording.written(), to, |sink| recording.read(sink, progress))
        }
    }
}

fn write(
    recorded: Recorded<'_>,
    written: Vec<Class>,
    to: &Path,
    read: impl FnOnce(&mut dyn Sink) -> Result<(), ImportError>,
) -> Result<Imported, ImportError> {
    let classes = Classes::new(recorded, written)?;
    let plan = Plan::compile(&parse_metadata(&classes.metadata)?);
    let mut writer = TraceWriter::create(to, recorded, &classes, &plan)?;
    read(&mut writer)?;
    writer.finish()
}
