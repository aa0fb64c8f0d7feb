//! Packet index files, `index/<stream file>.idx`: read to be compared with the packets, written alongside
//! copies.
//!
//! Always big endian: a 16-byte header (magic, major, minor, bytes per entry), then one entry per packet.

use crate::bits;
use crate::schema::ByteOrder;

const MAGIC: u64 = 0xc1f1_dcc1;
/// Bytes of the header.
const HEADER: usize = 16;
/// Bytes of an entry of version 1.0: seven 64-bit numbers.
const ENTRY_1_0: usize = 56;
/// Bytes of an entry of version 1.1: stream instance and packet sequence number added.
const ENTRY_1_1: usize = 72;

/// What an index says of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexEntry {
    /// Byte where the packet begins.
    pub offset: u64,
    /// Size in bits.
    pub total_bits: u64,
    /// Size up to the end of the last event, in bits.
    pub content_bits: u64,
    /// Time at its begin in cycles.
    pub begin: u64,
    /// Time at its end in cycles.
    pub end: u64,
    /// Discarded events counted so far.
    pub discarded: u64,
    /// Id of the stream class.
    pub stream_class: u64,
    /// Number of the stream in its class (since 1.1).
    pub stream: u64,
    /// Number of the packet in its stream (since 1.1).
    pub sequence: u64,
}

/// Reads an index.
///
/// # Errors
/// In words, what is wrong with it.
pub fn read(bytes: &[u8]) -> Result<Vec<IndexEntry>, String> {
    let entries = Entries::new(bytes)?;
    Ok((0..entries.len()).filter_map(|n| entries.get(n)).collect())
}

/// The entries of an index, read when one is asked for: there are as many as packets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entries<'b> {
    bytes: &'b [u8],
    /// Bytes of an entry.
    size: usize,
}

impl<'b> Entries<'b> {
    /// Reads the header.
    pub(crate) fn new(bytes: &'b [u8]) -> Result<Self, String> {
        let word = |byte: u64| bits::read(bytes, byte * 8, 32, ByteOrder::Big);
        if bytes.len() < HEADER || word(0) != MAGIC {
            return Err("it does not begin with the magic number of an index".to_owned());
        }
        let (major, size) = (word(4), word(12) as usize);
        if major != 1 || size < ENTRY_1_0 || !size.is_multiple_of(8) {
            return Err(format!("version {major} with entries of {size} bytes is unknown"));
        }
        if !(bytes.len() - HEADER).is_multiple_of(size) {
            return Err("its last entry is incomplete".to_owned());
        }
        Ok(Self { bytes, size })
    }

    pub(crate) fn len(&self) -> usize {
        (self.bytes.len() - HEADER) / self.size
    }

    /// Whether entries have numbers of streams and packets.
    pub(crate) fn is_numbered(&self) -> bool {
        self.size >= ENTRY_1_1
    }

    /// The `n`th entry; `O(1)`.
    pub(crate) fn get(&self, n: usize) -> Option<IndexEntry> {
        if n >= self.len() {
            return None;
        }
        let at = HEADER + n * self.size;
        let field = |n: usize| match (n + 1) * 8 <= self.size {
            true => bits::read(self.bytes, (at + n * 8) as u64 * 8, 64, ByteOrder::Big),
            false => 0,
        };
        Some(IndexEntry {
            offset: field(0),
            total_bits: field(1),
            content_bits: field(2),
            begin: field(3),
            end: field(4),
            discarded: field(5),
            stream_class: field(6),
            stream: field(7),
            sequence: field(8),
        })
    }
}

/// Writes an index of version 1.1.
pub fn write(entries: &[IndexEntry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + entries.len() * ENTRY_1_1);
    for word in [MAGIC as u32, 1, 1, ENTRY_1_1 as u32] {
        bytes.extend(word.to_be_bytes());
    }
    for e in entries {
        let fields = [e.offset, e.total_bits, e.content_bits, e.begin, e.end, e.discarded, e.stream_class];
        for field in fields.into_iter().chain([e.stream, e.sequence]) {
            bytes.extend(field.to_be_bytes());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let entries = [
            IndexEntry { offset: 0, total_bits: 4096, content_bits: 100, end: 7, ..IndexEntry::default() },
            IndexEntry { offset: 512, sequence: 1, stream: 3, discarded: 9, ..IndexEntry::default() },
        ];
        assert_eq!(read(&write(&entries)).unwrap(), entries);
    }

    #[test]
    fn garbage_is_refused() {
        assert!(read(b"").is_err());
        assert!(read(&[0; 40]).is_err());
        let mut short = write(&[IndexEntry::default()]);
        short.pop();
        assert_eq!(read(&short).unwrap_err(), "its last entry is incomplete");
    }
}
