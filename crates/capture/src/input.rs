//! Bytes of a capture, one record at a time, with their offset in the file; and what is wrong with it.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use isochrone_diagnostic::{Diagnostic, DiagnosticLog, Severity};

/// Longest record (pcap) or block (pcapng) that is looked into, bytes. The largest packets that systems hand
/// over, super segments of 512 KiB, fit; a longer one is skipped.
pub const MAX_RECORD: usize = 1 << 20;

/// A stream of bytes, the current record of which is in memory.
#[derive(Debug)]
pub(crate) struct Input<R> {
    reader: R,
    path: PathBuf,
    log: DiagnosticLog,
    /// Bytes that were read and skipped so far.
    position: u64,
    record: Vec<u8>,
    /// Offset of the current record.
    start: u64,
    /// Number of the current record.
    number: u64,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(reader: R, path: &Path) -> Self {
        let (path, log) = (path.to_owned(), DiagnosticLog::default());
        Self { reader, path, log, position: 0, record: Vec::new(), start: 0, number: 0 }
    }

    /// Reports that the current record is lost.
    pub(crate) fn loss(&mut self, message: impl Into<String>) {
        let Self { path, log, number, start, .. } = self;
        log.add(Severity::Loss, || Diagnostic::loss(&*path, message).at(*number, *start));
    }

    /// Reports something odd about many records.
    pub(crate) fn note(&mut self, message: impl Into<String>) {
        self.log.add(Severity::Note, || Diagnostic::note(&self.path, message));
    }

    /// What has been reported so far.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        self.log.as_slice()
    }

    /// The bytes of the current record that have been read.
    pub(crate) fn record(&self) -> &[u8] {
        &self.record
    }

    /// A part of the current record; empty where the record is too short.
    pub(crate) fn part(&self, range: Range<usize>) -> &[u8] {
        self.record.get(range).unwrap_or_default()
    }

    /// Offset of the current record in the file.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Number of the current record.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Starts the first record.
    pub(crate) fn first_record(&mut self) {
        self.record.clear();
        (self.start, self.number) = (self.position, 0);
    }

    /// Drops the current record and starts the next one.
    pub(crate) fn next_record(&mut self) {
        self.record.clear();
        self.start = self.position;
        self.number += 1;
    }

    /// Reads until the current record has `len` bytes. Returns its length, which is less where the file ends.
    /// Callers check `len` against [`MAX_RECORD`].
    pub(crate) fn fill(&mut self, len: usize) -> io::Result<usize> {
        let missing = len.saturating_sub(self.record.len());
        let read = self.reader.by_ref().take(missing as u64).read_to_end(&mut self.record)?;
        self.position += read as u64;
        Ok(self.record.len())
    }

    /// Skips `len` bytes; returns whether the file has them.
    pub(crate) fn skip(&mut self, len: u64) -> io::Result<bool> {
        let skipped = io::copy(&mut self.reader.by_ref().take(len), &mut io::sink())?;
        self.position += skipped;
        Ok(skipped == len)
    }

    /// Bytes that were read and skipped so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }
}

/// Numbers in the byte order of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// The number at an offset; 0 where there are too few bytes.
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let Some(&four) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) else { return 0 };
        match self {
            Self::Little => u32::from_le_bytes(four),
            Self::Big => u32::from_be_bytes(four),
        }
    }

    /// The two adjacent numbers of 16 bits that were read as one of 32 bits.
    pub(crate) fn halves(self, number: u32) -> (u16, u16) {
        let (low, high) = (number as u16, (number >> 16) as u16);
        match self {
            Self::Little => (low, high),
            Self::Big => (high, low),
        }
    }

    /// The bytes of a number.
    pub(crate) fn bytes(self, number: u32) -> [u8; 4] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    /// The number in eight bytes.
    pub(crate) fn i64(self, eight: [u8; 8]) -> i64 {
        match self {
            Self::Little => i64::from_le_bytes(eight),
            Self::Big => i64::from_be_bytes(eight),
        }
    }
}
