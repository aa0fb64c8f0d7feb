//! Files of OpenTelemetry's spans, turned into traces of programs: one for each host that they name, with
//! an event where a span begins and one where it ends.
//!
//! A file is read twice: first for who is in it and when, so that the caller can say what the clock of each
//! host is, then to write. Memory is that of one record and of a buffer.

mod message;
mod records;
mod spans;
mod trace;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::ImportError;
use records::{Form, Records};
use spans::{Place, Who, place};
use trace::SpanWriter;

/// More hosts than this are none: a file names them in each record.
const MAX_HOSTS: usize = 4096;

/// A file of spans that has been read once.
#[derive(Debug)]
pub struct SpanFile {
    path: PathBuf,
    form: Form,
    /// Where its last whole record ends.
    end: u64,
    /// The hosts that spans are of, in the order in which they come.
    pub hosts: Vec<HostOfSpans>,
    /// Spans without a time, or that end before they begin: they are left out.
    pub untimed: u64,
    /// Where a record begins that is not all there, and behind which there is nothing.
    pub cut: Option<u64>,
}

/// The spans of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostOfSpans {
    /// Its name, of the attribute `host.name`; `None`: of spans that do not say it.
    pub name: Option<String>,
    /// How many they are.
    pub spans: u64,
    /// Of how many the kernel's thread is known.
    pub threads: u64,
    /// When the first one begins, Unix ns.
    pub begin: u64,
    /// When the last one ends, Unix ns.
    pub end: u64,
    /// Whether Isochrone wrote some of them: their times are on the common clock of what it read, and not on
    /// that of the host.
    pub is_corrected: bool,
    /// Kinds of streams that its events are in.
    streams: u8,
}

/// What the times of a host count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpanClock {
    /// The uuid of the clock, as its other traces have it.
    pub uuid: Option<String>,
    /// Unix time of its zero, ns: 0 for Unix time itself.
    pub offset_ns: i64,
}

impl SpanFile {
    /// Whether a file is one of spans, by how it begins.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_one(path: &Path) -> io::Result<bool> {
        // Opening a pipe would wait for a writer.
        Ok(std::fs::metadata(path)?.is_file() && Form::of(path)?.is_some())
    }

    /// Reads who is in a file of spans, and when. Linear in the file.
    ///
    /// # Errors
    /// It cannot be read, or is not of the format.
    pub fn open(path: &Path) -> Result<Self, ImportError> {
        let form = Form::of(path)?.ok_or(ImportError::NoSpans)?;
        let mut file = Self { path: path.to_owned(), form, end: 0, hosts: Vec::new(), untimed: 0, cut: None };
        let mut numbers = HashMap::new();
        let mut records = Records::open(path, form)?;
        loop {
            match records.next() {
                Ok(Some(record)) => {
                    record.spans(&mut |resource, scope, span| {
                        match place(resource, scope, span) {
                            Some((who, place)) => file.add(&mut numbers, who, place)?,
                            None => file.untimed += 1,
                        }
                        Ok(())
                    })?;
                    file.end = record.end;
                }
                Ok(None) => break,
                // Whoever writes it has not finished, or was killed.
                Err(ImportError::Cut { offset, .. }) if !file.hosts.is_empty() => {
                    file.cut = Some(offset);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if file.hosts.is_empty() { Err(ImportError::NoSpans) } else { Ok(file) }
    }

    fn add(
        &mut self,
        numbers: &mut HashMap<Option<String>, usize>,
        who: Who<'_>,
        place: Place,
    ) -> Result<(), ImportError> {
        // A name is made a key once.
        let name = who.host.map(str::to_owned);
        let number = *numbers.entry(name).or_insert(self.hosts.len());
        if number == self.hosts.len() {
            if number == MAX_HOSTS {
                return Err(ImportError::ManyHosts(MAX_HOSTS));
            }
            let name = who.host.map(str::to_owned);
            let (begin, end) = (place.begin, place.end);
            let is_corrected = false;
            self.hosts.push(HostOfSpans { name, spans: 0, threads: 0, begin, end, is_corrected, streams: 0 });
        }
        let host = &mut self.hosts[number];
        host.is_corrected |= who.is_corrected;
        host.spans += 1;
        host.threads += u64::from(who.tid.is_some());
        host.begin = host.begin.min(place.begin);
        host.end = host.end.max(place.end);
        host.streams |= 1 << who.stream();
        Ok(())
    }

    /// Writes the spans of each host as a trace, in directories below one, with the clocks that belong to
    /// [`Self::hosts`]. Returns where each is, and how many spans were left out since they are earlier than
    /// the zero of their clock. Linear in the file, and `O(n log n)` in what is in a buffer.
    ///
    /// # Errors
    /// The file cannot be read any more, or the traces cannot be written.
    pub fn write(&self, clocks: &[SpanClock], to: &Path) -> Result<(Vec<PathBuf>, u64), ImportError> {
        let plans = self.hosts.iter().zip(clocks).map(|(host, clock)| trace::Planned::new(host, clock));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let mut writer = SpanWriter::create(&plans, to)?;
        let numbers: HashMap<Option<&str>, usize> =
            self.hosts.iter().enumerate().map(|(number, host)| (host.name.as_deref(), number)).collect();
        let (mut records, mut at) = (Records::open(&self.path, self.form)?, 0);
        // What was added since is not of this trace.
        while at < self.end {
            let Some(record) = records.next()? else { break };
            at = record.end;
            record.spans(&mut |resource, scope, span| {
                let Some((who, place)) = place(resource, scope, span) else { return Ok(()) };
                let host = *numbers.get(&who.host).ok_or(ImportError::Changed)?;
                writer.span(host, &who, place, (resource, scope, span))
            })?;
        }
        writer.finish()
    }
}
