//! Recordings by trace-cmd, `trace.dat`: versions 6 and 7, also compressed, with the buffers of several
//! instances (`Documentation/trace-cmd/trace-cmd.dat.v6.5.txt` and `.v7.5.txt` of trace-cmd).

mod head;
mod options;
mod ring;
mod source;

use std::fs::File;
use std::path::Path;

use crate::class::Machine;
use crate::clock::Clock;
use crate::error::ImportError;
use crate::event_format::EventFormat;
use crate::recording::{Host, Recorded, Sink};
use head::Head;
pub(crate) use head::of_perf as formats_of_perf;
use options::Buffer;
use ring::Item;
use source::Source;

/// How a file begins.
pub(crate) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// A recording.
#[derive(Debug)]
pub(crate) struct TraceDat {
    source: Source,
    machine: Machine,
    formats: Vec<EventFormat>,
    buffers: Vec<Buffer>,
    host: Host,
    clock: Clock,
}

impl TraceDat {
    /// Opens a recording; reads what describes its events.
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        let mut source = Source::new(File::open(path)?)?;
        let Head { machine, formats, options } = Head::read(&mut source)?;
        let clock = options.clock()?;
        let host = Host::of_uname(&options.uname, "trace-cmd", &options.version);
        Ok(Self { source, machine, formats, buffers: options.buffers, host, clock })
    }

    pub(crate) fn recorded(&self) -> Recorded<'_> {
        Recorded {
            machine: self.machine,
            formats: &self.formats,
            host: &self.host,
            clock: self.clock,
            lists_threads: false,
        }
    }

    /// Passes all events on, one CPU of a buffer after the other.
    pub(crate) fn read(&self, sink: &mut dyn Sink) -> Result<(), ImportError> {
        for buffer in &self.buffers {
            for cpu in buffer.cpus.iter().filter(|cpu| cpu.size > 0) {
                sink.stream(&buffer.name, cpu.cpu)?;
                let is_whole = self.pages(buffer, cpu.offset, cpu.size, &mut |page| self.page(page, sink))?;
                if !is_whole {
                    sink.lost(None)?;
                }
            }
        }
        Ok(())
    }

    /// Passes the pages of a CPU on; returns whether all of them are there.
    fn pages(
        &self,
        buffer: &Buffer,
        offset: u64,
        size: u64,
        each: &mut dyn FnMut(&[u8]) -> Result<(), ImportError>,
    ) -> Result<bool, ImportError> {
        const WHAT: &str = "the data of a CPU";
        let page = buffer.page_size;
        let mut of_chunk = |chunk: &[u8]| chunk.chunks(page).try_for_each(&mut *each);
        if !buffer.is_packed {
            // A file that was cut has what it has.
            let whole = offset.saturating_add(size);
            let end = whole.min(self.source.length());
            let step = (page as u64).saturating_mul(64);
            let mut at = offset;
            while at < end {
                let chunk = self.source.read_most(WHAT, at, step.min(end - at))?;
                of_chunk(&chunk)?;
                at += chunk.len() as u64;
            }
            return Ok(end == whole);
        }
        let number = |at: u64| {
            let bytes = self.source.read(WHAT, at, 4)?;
            Ok::<u64, ImportError>(self.machine.order.number(&bytes))
        };
        let count = number(offset)?;
        let mut at = offset + 4;
        for _ in 0..count {
            let (packed, unpacked) = (number(at)?, number(at + 4)?);
            of_chunk(&self.source.unpack(WHAT, at + 8, packed, unpacked)?)?;
            at += 8 + packed;
        }
        Ok(true)
    }

    fn page(&self, page: &[u8], sink: &mut dyn Sink) -> Result<(), ImportError> {
        let read = ring::read(page, self.machine, |item| match item {
            Item::Lost(count) => sink.lost(count).map_err(Stop::Failed),
            Item::Event(time, record) => sink.event(self.clock.ns(time), record).map_err(Stop::Failed),
        });
        match read {
            Ok(()) => Ok(()),
            // What else was on it is missing.
            Err(Stop::Damaged) => sink.lost(None),
            Err(Stop::Failed(error)) => Err(error),
        }
    }
}

/// Why a page is not read to its end.
enum Stop {
    Damaged,
    Failed(ImportError),
}

impl From<ring::Damaged> for Stop {
    fn from(_: ring::Damaged) -> Self {
        Self::Damaged
    }
}
