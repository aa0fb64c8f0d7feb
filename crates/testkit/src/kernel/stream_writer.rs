//! Writes the events of one CPU as a stream of packets.
//!
//! [`super::script`] opens one writer for each CPU. Packets end where they are full, where the script says so, and where
//! events are lost.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use isochrone_ctf::Value;
use isochrone_ctf::index::{self, IndexEntry};
use isochrone_ctf::write::PacketWriter;

use crate::compiled::{Body, Compiled};
use crate::error::TestkitError;
use crate::stream::HeadValues;

/// More than the header of an event takes, in bits.
const EVENT_HEADER: u64 = 256;
/// The number of `events_discarded` among the fields of the packet context.
const DISCARDED: usize = 5;

/// The largest packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) events: u64,
    pub(crate) bits: u64,
}

/// The stream of a CPU in the making.
pub(crate) struct StreamWriter<'c> {
    compiled: &'c Compiled,
    head: HeadValues,
    limits: Limits,
    writer: PacketWriter<'c>,
    path: PathBuf,
    index: PathBuf,
    file: BufWriter<File>,
    entries: Vec<IndexEntry>,
    /// Events of the open packet.
    open: Option<u64>,
    /// Where the next packet begins, if not at its first event.
    begin: Option<u64>,
    /// Time of the last event.
    last: u64,
    discarded: u64,
    /// Whether events were discarded that no packet has counted yet.
    unreported: bool,
}

impl<'c> StreamWriter<'c> {
    /// A stream of a channel in a directory, which has an `index` directory.
    pub(crate) fn create(
        directory: &Path,
        channel: &str,
        head: HeadValues,
        compiled: &'c Compiled,
        limits: Limits,
    ) -> Result<Self, TestkitError> {
        let name = format!("{channel}_{}", head.cpu);
        let path = directory.join(&name);
        let file = File::create(&path).map_err(|source| TestkitError::io(&path, source))?;
        Ok(Self {
            compiled,
            limits,
            writer: PacketWriter::new(&compiled.plan, head.channel as usize),
            head,
            index: directory.join("index").join(format!("{name}.idx")),
            path,
            file: BufWriter::new(file),
            entries: Vec::new(),
            open: None,
            begin: None,
            last: 0,
            discarded: 0,
            unreported: false,
        })
    }

    /// The stream begins here, whenever its first event is: a tracer starts all CPUs together.
    pub(crate) fn begin(&mut self, at: u64) {
        self.begin.get_or_insert(at);
    }

    /// Time of the last event.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn event(&mut self, time: u64, class: usize, body: &Body) -> Result<(), TestkitError> {
        let bits = match body {
            Body::Bytes(bytes) => bytes.len() as u64 * 8,
            Body::Values(_, bits) => *bits,
        };
        if self.open.is_some_and(|events| {
            let full = self.writer.content_bits() + bits + EVENT_HEADER > self.limits.bits;
            events > 0 && (full || events >= self.limits.events)
        }) {
            self.close(self.last)?;
        }
        self.open(time)?;
        self.compiled.write(&mut self.writer, class, time, body)?;
        self.open = self.open.map(|events| events + 1);
        self.last = time;
        Ok(())
    }

    /// A packet ends here and the next begins.
    pub(crate) fn cut(&mut self, at: u64) -> Result<(), TestkitError> {
        self.open(at)?;
        self.close(at)?;
        self.begin = Some(at);
        Ok(())
    }

    /// Nothing is known from one time to another, but how many events there were.
    pub(crate) fn lose(&mut self, from: u64, to: u64, count: u64) -> Result<(), TestkitError> {
        self.cut(from)?;
        self.begin = Some(to);
        self.last = self.last.max(to);
        self.discarded += count;
        self.unreported |= count > 0;
        Ok(())
    }

    /// Ends the stream at a time and writes its index.
    pub(crate) fn finish(mut self, end: u64) -> Result<(), TestkitError> {
        if self.unreported {
            self.open(self.last)?;
        }
        if self.open.is_some() {
            self.close(self.last.max(end))?;
        }
        self.file.flush().map_err(|source| TestkitError::io(&self.path, source))?;
        let index = index::write(&self.entries);
        fs::write(&self.index, index).map_err(|source| TestkitError::io(&self.index, source))
    }

    /// Begins a packet unless one is open.
    fn open(&mut self, time: u64) -> Result<(), TestkitError> {
        if self.open.is_none() {
            let begin = self.begin.take().unwrap_or(time);
            let mut head = self.head.at(begin, self.entries.len() as u64);
            if let Some(Value::Struct(context)) = &mut head.context
                && let Some(discarded) = context.get_mut(DISCARDED)
            {
                *discarded = Value::Unsigned(self.discarded);
            }
            self.writer.begin(head)?;
            self.open = Some(0);
            self.last = self.last.max(begin);
            self.unreported = false;
        }
        Ok(())
    }

    fn close(&mut self, end: u64) -> Result<(), TestkitError> {
        self.open = None;
        // Asked for nothing, the writer rounds up to pages.
        let packet = self.writer.finish(end, 0)?;
        self.file.write_all(packet.bytes).map_err(|source| TestkitError::io(&self.path, source))?;
        self.entries.push(packet.entry);
        Ok(())
    }
}
