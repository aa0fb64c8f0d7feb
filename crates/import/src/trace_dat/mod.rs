//! Recordings by trace-cmd, `trace.dat`: versions 6 and 7, also compressed, with the buffers of several
//! instances (`Documentation/trace-cmd/trace-cmd.dat.v6.5.txt` and `.v7.5.txt` of trace-cmd).

mod head;
mod options;
mod ring;
mod source;

use std::fs::File;
use std::path::Path;

use crate::class::{Damaged, Machine};
use crate::clock::Clock;
use crate::error::ImportError;
use crate::event_format::EventFormat;
use crate::recording::{Host, Recorded, Sink};
use crate::threads::ThreadList;
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
    /// The list of threads beside it.
    threads: Option<Result<ThreadList, Damaged>>,
}

impl TraceDat {
    /// Opens a recording; reads what describes its events.
    pub(crate) fn open(path: &Path) -> Result<Self, ImportError> {
        let mut source = Source::new(File::open(path)?)?;
        let Head { machine, formats, options } = Head::read(&mut source)?;
        let clock = options.clock()?;
        let host = Host::of_uname(&options.uname, "trace-cmd", &options.version);
        let threads = ThreadList::beside(path)?;
        Ok(Self { source, machine, formats, buffers: options.buffers, host, clock, threads })
    }

    /// Whether there is a list of threads beside it that is not as it is written: it is left out.
    pub(crate) fn is_list_damaged(&self) -> bool {
        self.threads.as_ref().is_some_and(Result::is_err)
    }

    pub(crate) fn recorded(&self) -> Recorded<'_> {
        Recorded {
            machine: self.machine,
            formats: &self.formats,
            host: &self.host,
            clock: self.clock,
            lists_threads: self.threads.as_ref().is_some_and(Result::is_ok),
        }
    }

    /// Passes all events on, one CPU of a buffer after the other.
    pub(crate) fn read(&self, sink: &mut dyn Sink, progress: &dyn Fn(u64)) -> Result<(), ImportError> {
        if let Some(Ok(list)) = &self.threads {
            sink.threads(list.clone());
        }
        for buffer in &self.buffers {
            for cpu in buffer.cpus.iter().filter(|cpu| cpu.size > 0) {
                sink.stream(&buffer.name, cpu.cpu)?;
                let mut pages = Pages { recording: self, held: Vec::new(), last: 0 };
                self.pages(buffer, cpu.offset, cpu.size, progress, &mut |page| pages.add(page, sink))?;
                pages.pass(None, sink)?;
            }
        }
        Ok(())
    }

    /// Passes the pages of a CPU on, and where some are missing `None`: a file that was cut has what it has,
    /// and damage costs the pages that were compressed together.
    fn pages(
        &self,
        buffer: &Buffer,
        offset: u64,
        size: u64,
        progress: &dyn Fn(u64),
        each: &mut TakePage<'_>,
    ) -> Result<(), ImportError> {
        const WHAT: &str = "the data of a CPU";
        let page = buffer.page_size;
        if !buffer.is_packed {
            let whole = offset.saturating_add(size);
            let end = whole.min(self.source.length());
            let step = (page as u64).saturating_mul(64);
            let mut at = offset;
            while at < end {
                let chunk = self.source.read_most(WHAT, at, step.min(end - at))?;
                chunk.chunks(page).map(Some).try_for_each(&mut *each)?;
                at += chunk.len() as u64;
                progress(chunk.len() as u64);
            }
            return if end == whole { Ok(()) } else { each(None) };
        }
        let number = |at: u64| {
            let bytes = self.source.read(WHAT, at, 4)?;
            Ok::<u64, ImportError>(self.machine.order.number(&bytes))
        };
        let Ok(count) = number(offset) else { return each(None) };
        let mut at = offset + 4;
        for _ in 0..count {
            let (Ok(packed), Ok(unpacked)) = (number(at), number(at + 4)) else { return each(None) };
            match self.source.unpack(WHAT, at + 8, packed, unpacked) {
                Ok(chunk) => chunk.chunks(page).map(Some).try_for_each(&mut *each)?,
                Err(_) => each(None)?,
            }
            at += 8 + packed;
            progress(8 + packed);
        }
        Ok(())
    }
}

/// The pages of a CPU, in the order of time. One is passed on when the start of the next is known: no event
/// of it is later.
struct Pages<'r> {
    recording: &'r TraceDat,
    /// The page that is still to be passed on; empty: none.
    held: Vec<u8>,
    /// Time of the last event, in units of the clock.
    last: u64,
}

impl Pages<'_> {
    /// Adds the next page; `None`: some are missing.
    fn add(&mut self, page: Option<&[u8]>, sink: &mut dyn Sink) -> Result<(), ImportError> {
        let Some(page) = page else {
            self.pass(None, sink)?;
            return sink.lost(None);
        };
        self.pass(self.start(page), sink)?;
        self.held.extend_from_slice(page);
        Ok(())
    }

    /// When a page starts.
    fn start(&self, page: &[u8]) -> Option<u64> {
        page.get(..8).map(|bytes| self.recording.machine.order.number(bytes))
    }

    /// Passes the page on that is held. `next`: the start of the next one.
    fn pass(&mut self, next: Option<u64>, sink: &mut dyn Sink) -> Result<(), ImportError> {
        if self.held.is_empty() {
            return Ok(());
        }
        let page = std::mem::take(&mut self.held);
        let start = self.start(&page).unwrap_or_default();
        // Where this one or the next is out of order, it is the one that does not fit the one before.
        let is_ahead = next.is_some_and(|next| next < start && next >= self.last);
        if is_ahead || start < self.last {
            return sink.lost(None);
        }
        let end = next.filter(|next| *next >= start).unwrap_or(u64::MAX);
        let Self { recording: TraceDat { machine, clock, .. }, last, .. } = self;
        let read = ring::read(&page, *machine, |item| match item {
            Item::Lost(count) => sink.lost(count).map_err(Stop::Failed),
            Item::Event(time, _) if time < *last || time > end => Err(Stop::Damaged),
            Item::Event(time, record) => {
                *last = time;
                sink.event(clock.ns(time), record).map_err(Stop::Failed)
            }
        });
        self.held = page;
        self.held.clear();
        match read {
            Ok(()) => Ok(()),
            // What else was on it is missing.
            Err(Stop::Damaged) => sink.lost(None),
            Err(Stop::Failed(error)) => Err(error),
        }
    }
}

/// Takes the next page; `None`: some are missing.
type TakePage<'p> = dyn FnMut(Option<&[u8]>) -> Result<(), ImportError> + 'p;

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
