//! The messages of the live protocol as bytes: all integers are big-endian, texts are padded with zeros.

use std::io::{self, Read};

/// What a viewer asks; the numbers are the protocol's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Command {
    Connect = 1,
    ListSessions = 2,
    Attach = 3,
    NextIndex = 4,
    Packet = 5,
    Metadata = 6,
    NewStreams = 7,
    CreateSession = 8,
}

/// The version that this side speaks.
pub(super) const VERSION: (u32, u32) = (2, 4);
/// A viewer that sends commands.
pub(super) const CLIENT_COMMAND: u32 = 1;
/// From the first packet that the relay daemon has.
pub(super) const SEEK_BEGINNING: u32 = 1;
/// Metadata are needed that the viewer has not got.
pub(super) const FLAG_NEW_METADATA: u32 = 1;
/// There are streams that the viewer does not know.
pub(super) const FLAG_NEW_STREAM: u32 = 2;

/// Bytes of texts.
const HOST_NAME: usize = 64;
const NAME: usize = 255;
const PATH: usize = 4096;

/// A command: its head, and its words.
#[derive(Debug)]
pub(super) struct Request {
    bytes: Vec<u8>,
}

impl Request {
    pub(super) fn new(command: Command) -> Self {
        let mut bytes = vec![0; 8];
        bytes.extend((command as u32).to_be_bytes());
        // The version of the command: all have 0.
        bytes.extend(0_u32.to_be_bytes());
        Self { bytes }
    }

    pub(super) fn long(mut self, word: u64) -> Self {
        self.bytes.extend(word.to_be_bytes());
        self
    }

    pub(super) fn short(mut self, word: u32) -> Self {
        self.bytes.extend(word.to_be_bytes());
        self
    }

    /// All bytes, the size of what is behind the head in the head.
    pub(super) fn bytes(mut self) -> Vec<u8> {
        let size = (self.bytes.len() - HEAD) as u64;
        self.bytes[..8].copy_from_slice(&size.to_be_bytes());
        self.bytes
    }
}

/// Bytes of the head of a command.
const HEAD: usize = 16;

pub(super) fn long(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes))
}

pub(super) fn short(from: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

/// A text in this many bytes: what is before the first zero.
fn text(from: &mut impl Read, size: usize) -> io::Result<String> {
    let mut bytes = vec![0; size];
    from.read_exact(&mut bytes)?;
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// A session of the relay daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub(super) id: u64,
    /// The traced host.
    pub host: String,
    /// Name of the session.
    pub name: String,
    /// Interval at which the tracer sends what it has recorded, µs.
    pub timer_us: u32,
    /// Number of viewers.
    pub clients: u32,
    /// Number of streams.
    pub streams: u32,
}

impl Session {
    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let (id, timer_us, clients, streams) = (long(from)?, short(from)?, short(from)?, short(from)?);
        Ok(Self { id, timer_us, clients, streams, host: text(from, HOST_NAME)?, name: text(from, NAME)? })
    }
}

/// A stream of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StreamEntry {
    pub(super) id: u64,
    /// Which trace of the session it is of.
    pub(super) trace: u64,
    pub(super) is_metadata: bool,
    /// Where the relay daemon keeps it.
    pub(super) path: String,
    /// What its file is called.
    pub(super) file: String,
}

impl StreamEntry {
    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let (id, trace, is_metadata) = (long(from)?, long(from)?, short(from)? != 0);
        Ok(Self { id, trace, is_metadata, path: text(from, PATH)?, file: text(from, NAME)? })
    }
}

/// What is known of the next packet of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexEntry {
    /// In its file, bytes.
    pub(super) offset: u64,
    /// With its padding, bits.
    pub(super) packet_bits: u64,
    /// Cycles.
    pub(super) end: u64,
    pub(super) status: u32,
    pub(super) flags: u32,
}

impl IndexEntry {
    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let (offset, packet_bits) = (long(from)?, long(from)?);
        // The size of its content, and when it begins.
        let _ = (long(from)?, long(from)?);
        let end = long(from)?;
        // Discarded events and the stream's class are in the packet.
        let _ = (long(from)?, long(from)?);
        Ok(Self { offset, packet_bits, end, status: short(from)?, flags: short(from)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_their_size_in_front() {
        let check = |request: Request, expect: &[u8]| assert_eq!(request.bytes(), expect);
        check(Request::new(Command::ListSessions), &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
        let packet = Request::new(Command::Packet).long(0x102).short(0x30);
        let words = [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0x30];
        check(packet, &[&[0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 5, 0, 0, 0, 0], &words[..]].concat());
    }

    #[test]
    fn entries_are_read_whole() {
        let mut bytes = Vec::new();
        bytes.extend(7_u64.to_be_bytes());
        for word in [1_000_000_u32, 1, 3] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(b"web1\0");
        bytes.resize(20 + HOST_NAME, 0);
        bytes.extend(b"live");
        bytes.resize(20 + HOST_NAME + NAME, 0);
        let mut rest = &bytes[..];
        let entry = Session::read(&mut rest).unwrap();
        assert_eq!((entry.id, entry.timer_us, entry.streams), (7, 1_000_000, 3));
        assert_eq!((entry.host.as_str(), entry.name.as_str()), ("web1", "live"));
        assert!(rest.is_empty());
        assert!(Session::read(&mut &bytes[1..]).is_err());
    }
}
