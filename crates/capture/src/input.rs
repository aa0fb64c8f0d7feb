//! Bytes of a capture, one record at a time, with their place in the file.

use std::io::{self, Read};
use std::ops::Range;

/// Longest record (pcap) or block (pcapng) that is looked into, bytes. The largest packets that systems hand over, super
/// segments of 512 KiB, fit; a longer one is skipped.
pub const MAX_RECORD: usize = 1 << 20;

/// A stream of bytes, of which the record at hand is kept.
#[derive(Debug)]
pub(crate) struct Input<R> {
    reader: R,
    /// Bytes that were read and skipped so far.
    position: u64,
    record: Vec<u8>,
    /// Where the record at hand begins.
    begin: u64,
    /// Number of the record at hand.
    number: u64,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, position: 0, record: Vec::new(), begin: 0, number: 0 }
    }

    /// The bytes of the record at hand that have been read.
    pub(crate) fn record(&self) -> &[u8] {
        &self.record
    }

    /// A part of the record at hand; nothing where it does not reach.
    pub(crate) fn part(&self, range: Range<usize>) -> &[u8] {
        self.record.get(range).unwrap_or_default()
    }

    /// First byte of the record at hand.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// Number of the record at hand.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Begins the first record.
    pub(crate) fn first_record(&mut self) {
        self.record.clear();
        (self.begin, self.number) = (self.position, 0);
    }

    /// Forgets the record at hand and begins the next one.
    pub(crate) fn next_record(&mut self) {
        self.record.clear();
        self.begin = self.position;
        self.number += 1;
    }

    /// Reads until the record at hand has so many bytes; returns how many it has, fewer where the file ends. Callers
    /// check `len` against [`MAX_RECORD`].
    pub(crate) fn fill(&mut self, len: usize) -> io::Result<usize> {
        let missing = len.saturating_sub(self.record.len());
        let read = self.reader.by_ref().take(missing as u64).read_to_end(&mut self.record)?;
        self.position += read as u64;
        Ok(self.record.len())
    }

    /// Passes over bytes; returns whether there were so many.
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
    /// The number at a place; 0 where the bytes do not reach.
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let Some(&four) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) else { return 0 };
        match self {
            Self::Little => u32::from_le_bytes(four),
            Self::Big => u32::from_be_bytes(four),
        }
    }

    /// The two numbers of 16 bits that follow each other where a number of 32 bits was read.
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

    /// The number that eight bytes are.
    pub(crate) fn i64(self, eight: [u8; 8]) -> i64 {
        match self {
            Self::Little => i64::from_le_bytes(eight),
            Self::Big => i64::from_be_bytes(eight),
        }
    }
}
