//! Files as they were written: each block has a checksum in the manifest, and is held against it whenever it
//! is read.
//!
//! So nothing is decoded that was not written, and opening a store takes as long as without: what is not read
//! is not checked. [`crate::Store::verify`] checks all files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{OtherBytes, StoreError};
use crate::manifest::TableEntry;

/// Size of a block, bytes: a part of the format.
const BLOCK: usize = 1 << 15;

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// A writer that computes the checksums of what it writes.
#[derive(Debug)]
pub(crate) struct Summed<W> {
    to: W,
    bytes: u64,
    /// Of the block that is not full yet, and its bytes.
    sum: crc32fast::Hasher,
    filled: usize,
    sums: String,
}

impl<W> Summed<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to, bytes: 0, sum: crc32fast::Hasher::new(), filled: 0, sums: String::new() }
    }

    /// The number of bytes that were written, and their checksums.
    pub(crate) fn finish(mut self) -> (u64, String) {
        if self.filled > 0 {
            self.end_block();
        }
        (self.bytes, self.sums)
    }

    fn end_block(&mut self) {
        use std::fmt::Write as _;
        // To write to a text cannot fail.
        let _ = write!(self.sums, "{:08x}", std::mem::take(&mut self.sum).finalize());
        self.filled = 0;
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        let mut left = &bytes[..written];
        while !left.is_empty() {
            let (here, after) = left.split_at(left.len().min(BLOCK - self.filled));
            self.sum.update(here);
            self.filled += here.len();
            if self.filled == BLOCK {
                self.end_block();
            }
            left = after;
        }
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The files of a directory of a store, as the manifest has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<'m> {
    pub(crate) directory: &'m Path,
    pub(crate) entries: &'m [TableEntry],
}

impl Files<'_> {
    /// The path of a table.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.arrow"))
    }

    /// What the manifest says of a table.
    pub(crate) fn entry(&self, name: &str) -> Result<&TableEntry, StoreError> {
        let known = self.entries.iter().find(|entry| entry.name == name);
        known.ok_or_else(|| StoreError::damaged(&self.path_of(name), "the store has no such table"))
    }
}

/// A file of a store that is read.
#[derive(Debug)]
pub(crate) struct Checked {
    file: File,
    bytes: u64,
    /// Of all blocks, as the manifest has them.
    sums: String,
    at: u64,
    /// The block that was read last, and its number.
    block: Vec<u8>,
    held: Option<usize>,
}

impl Checked {
    /// Opens a file and checks its size.
    pub(crate) fn open(path: &Path, entry: &TableEntry) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io(path))?;
        let found = file.metadata().map_err(StoreError::io(path))?.len();
        check_size(path, found, entry)?;
        if entry.crc32.len() as u64 != entry.bytes.div_ceil(BLOCK as u64) * DIGITS as u64 {
            return Err(StoreError::damaged(path, "has not as many checksums as blocks"));
        }
        Ok(Self { file, bytes: entry.bytes, sums: entry.crc32.clone(), at: 0, block: Vec::new(), held: None })
    }

    /// Reads and checks a block.
    fn load(&mut self, number: usize, to: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start((number * BLOCK) as u64))?;
        self.file.read_exact(to).map_err(|why| match why.kind() {
            io::ErrorKind::UnexpectedEof => OtherBytes.into(),
            _ => why,
        })?;
        let digits = self.sums.get(number * DIGITS..(number + 1) * DIGITS);
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(sum) if sum == crc32fast::hash(to) => Ok(()),
            _ => Err(OtherBytes.into()),
        }
    }
}

/// That a file has the size that the manifest has.
pub(crate) fn check_size(path: &Path, found: u64, entry: &TableEntry) -> Result<(), StoreError> {
    if found == entry.bytes {
        return Ok(());
    }
    Err(StoreError::damaged(path, format!("{found} bytes, and {} were written", entry.bytes)))
}

impl Read for Checked {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let left = self.bytes.saturating_sub(self.at);
        if left == 0 || to.is_empty() {
            return Ok(0);
        }
        let (number, from) = ((self.at / BLOCK as u64) as usize, (self.at % BLOCK as u64) as usize);
        let size = BLOCK.min(left as usize + from);
        let count = to.len().min(size - from);
        if count == size && self.held != Some(number) {
            // All of it is wanted: without a copy.
            self.load(number, &mut to[..size])?;
        } else {
            if self.held != Some(number) {
                self.held = None;
                let mut block = std::mem::take(&mut self.block);
                block.resize(size, 0);
                let loaded = self.load(number, &mut block);
                self.block = block;
                loaded?;
                self.held = Some(number);
            }
            to[..count].copy_from_slice(&self.block[from..from + count]);
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Checked {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use super::*;

    /// Writes a file of a number of bytes; its path and entry.
    fn written(directory: &Path, bytes: usize) -> (PathBuf, TableEntry, Vec<u8>) {
        let path = directory.join("a.arrow");
        let all: Vec<u8> = (0..bytes).map(|at| (at * 31 / 7) as u8).collect();
        let mut file = Summed::new(File::create(&path).unwrap());
        all.chunks(1000).for_each(|part| file.write_all(part).unwrap());
        let (bytes, crc32) = file.finish();
        (path, TableEntry { name: "a".to_owned(), rows: 0, bytes, crc32 }, all)
    }

    #[test]
    fn what_was_written_is_read_from_anywhere() {
        let directory = tempfile::tempdir().unwrap();
        for bytes in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 77] {
            let (path, entry, all) = written(directory.path(), bytes);
            let mut file = Checked::open(&path, &entry).unwrap();
            for (from, to) in [(0, bytes), (bytes / 3, bytes), (bytes / 2, bytes / 2 + 5), (BLOCK, 3 * BLOCK)]
            {
                let (from, to) = (from.min(bytes), to.min(bytes));
                let mut part = vec![0; to - from];
                file.seek(SeekFrom::Start(from as u64)).unwrap();
                file.read_exact(&mut part).unwrap();
                assert!(part == all[from..to], "{bytes}: {from}..{to}");
            }
            assert_eq!(file.seek(SeekFrom::End(0)).unwrap(), bytes as u64);
            assert_eq!(file.read(&mut [0; 9]).unwrap(), 0);
            assert!(file.seek(SeekFrom::End(-1 - bytes as i64)).is_err());
        }
    }

    #[test]
    fn other_bytes_are_never_given() {
        let directory = tempfile::tempdir().unwrap();
        let bytes = 3 * BLOCK + 7;
        let (path, entry, all) = written(directory.path(), bytes);
        for at in [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 5, bytes - 1] {
            let mut other = all.clone();
            other[at] ^= 4;
            std::fs::write(&path, &other).unwrap();
            let mut file = Checked::open(&path, &entry).unwrap();
            for number in 0..4 {
                let mut few = [0; 3];
                file.seek(SeekFrom::Start((number * BLOCK) as u64)).unwrap();
                let read = file.read_exact(&mut few);
                assert_eq!(read.is_ok(), number != at / BLOCK, "{at}, block {number}");
            }
            file.seek(SeekFrom::Start(0)).unwrap();
            let error = file.read_to_end(&mut Vec::new()).unwrap_err();
            assert!(error.get_ref().unwrap().is::<OtherBytes>());
        }
        std::fs::write(&path, &all[1..]).unwrap();
        assert!(matches!(Checked::open(&path, &entry), Err(StoreError::Damaged { .. })));
        let short = TableEntry { crc32: entry.crc32[1..].to_owned(), ..entry.clone() };
        std::fs::write(&path, &all).unwrap();
        assert!(matches!(Checked::open(&path, &short), Err(StoreError::Damaged { .. })));
    }
}
