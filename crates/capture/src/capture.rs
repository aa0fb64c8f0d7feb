//! A capture file as frames, whatever its format.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::Path;

use isochrone_compressed::Reader;
use isochrone_diagnostic::{Diagnostic, FileError};

use crate::input::Input;
use crate::legacy::{self, Legacy};
use crate::link::{self, Link, LinkPayload, Mac};
use crate::packet::{self, Content};
use crate::protocol::Protocol;
use crate::sections::{self, Interface, Passed, Raw, Sections, Step};
use crate::stamp::Stamp;

/// Why a capture cannot be read at all.
pub type Error = FileError<Reason>;

/// The kinds of errors.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The operating system refused to read the file.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// The file is in none of the formats.
    #[error("not a packet capture: it begins neither like pcap nor like pcapng")]
    NotACapture,
    /// The file is compressed as a whole.
    #[error("it is compressed with {0}: unpack it first")]
    Compressed(&'static str),
    /// The file is one of another tool.
    #[error("not a packet capture: it is {0}")]
    OfAnotherTool(&'static str),
    /// The file ends within its header.
    #[error("it ends within its header")]
    Short,
}

/// Bytes read from a file at a time.
const BUFFER: usize = 1 << 17;
/// Unknown link types that diagnostics name; frames of others are not reported.
const MAX_FOREIGN: usize = 16;

/// A captured frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Number of its record (pcap) or block (pcapng) in the file, from 0.
    pub record: u64,
    /// Offset of that record in the file, bytes.
    pub offset: u64,
    /// Time of the capture, ns of the clock that stamped the file.
    pub stamp: Stamp,
    /// Index of the interface among those of all sections of the file.
    pub interface: usize,
    /// Address of the interface, where the file records it.
    pub own: Option<Mac>,
    /// Direction at the interface, where the file records it.
    pub passed: Option<Passed>,
    /// Length on the wire, bytes.
    pub wire: u32,
    /// Length in the file, bytes.
    pub captured: u32,
    /// Link layer.
    pub link: Link,
    /// Payload of the link layer.
    pub content: Content,
}

/// An interface, as the file describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceInfo<'c> {
    /// Name.
    pub name: Option<&'c str>,
    /// Number of the link type (`LINKTYPE_…`).
    pub link_type: u16,
    /// Address.
    pub mac: Option<Mac>,
    /// Resolution of the stamps, ns; 1 for finer ones.
    pub granularity_ns: u64,
}

/// A capture, read once from start to end: an iterator over its frames in the order of the file. Each takes
/// constant time and memory.
#[derive(Debug)]
pub struct Capture<R> {
    input: Input<R>,
    format: Format,
    /// Number of frames of each unknown link type.
    foreign: BTreeMap<u16, u64>,
    ended: bool,
}

#[derive(Debug)]
enum Format {
    Legacy(Legacy),
    Sections(Sections),
}

/// Whether a file starts as a capture does: for finding captures among other files.
///
/// # Errors
/// The file cannot be read.
pub fn is_capture(path: &Path) -> Result<bool, Error> {
    let read = |error: std::io::Error| Error::new(path, error);
    let mut head = Vec::new();
    isochrone_compressed::open(path).map_err(read)?.take(4).read_to_end(&mut head).map_err(read)?;
    Ok(<[u8; 4]>::try_from(head).is_ok_and(|head| legacy::is_legacy(head) || sections::is_sections(head)))
}

/// A capture in a file.
pub type FileCapture = Capture<BufReader<Reader>>;

impl FileCapture {
    /// Opens a file, which may be compressed by gzip, Zstandard, xz or LZ4.
    ///
    /// # Errors
    /// It cannot be read, or is no capture.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = isochrone_compressed::open(path).map_err(|error| Error::new(path, error))?;
        Self::new(BufReader::with_capacity(BUFFER, file), path)
    }
}

impl<R: Read> Capture<R> {
    /// Reads from any reader, in many small reads; diagnostics name it by `path`.
    ///
    /// # Errors
    /// It cannot be read, or is no capture.
    pub fn new(reader: R, path: &Path) -> Result<Self, Error> {
        let mut input = Input::new(reader, path);
        let format = Format::open(&mut input).map_err(|reason| Error::new(path, reason))?;
        Ok(Self { input, format, foreign: BTreeMap::new(), ended: false })
    }

    /// What was wrong so far; complete after the last frame.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.input.diagnostics()
    }

    /// Number of bytes that have been read, decompressed.
    pub fn position(&self) -> u64 {
        self.input.position()
    }

    /// The interface of the last frame.
    pub fn interface(&self, frame: &Frame) -> Option<InterfaceInfo<'_>> {
        let interface = match &self.format {
            Format::Legacy(legacy) => &legacy.interface,
            Format::Sections(sections) => sections.numbered(frame.interface)?,
        };
        Some(InterfaceInfo {
            name: interface.name.as_deref(),
            link_type: interface.link_type,
            mac: interface.mac,
            granularity_ns: interface.ticks?.granularity_ns(),
        })
    }

    fn step(&mut self) -> Step {
        let Self { input, format, .. } = self;
        let step = match format {
            Format::Legacy(legacy) => legacy.step(input),
            Format::Sections(sections) => sections.step(input),
        };
        step.unwrap_or_else(|error| {
            input.loss(format!("reading fails: {error}; the rest of the file is left out"));
            Step::End
        })
    }

    /// Decodes a frame; `None` where that is impossible.
    fn frame(&mut self, raw: Raw) -> Option<Frame> {
        let Self { input, format, foreign, .. } = self;
        let (number, interface): (usize, &Interface) = match format {
            Format::Legacy(legacy) => (0, &legacy.interface),
            Format::Sections(sections) => sections.interface(raw.interface)?,
        };
        let (record, offset) = (input.number(), input.start());
        let Some(stamp) = interface.ticks.and_then(|ticks| ticks.stamp(raw.ticks)) else {
            let ticks = raw.ticks;
            input.loss(format!("its time ({ticks} ticks) does not fit 64 bits of ns: it is left out"));
            return None;
        };
        let data = input.part(raw.data);
        // Some tools write nothing, or less than they captured.
        let wire = raw.wire.max(data.len() as u32);
        let (link, content) = match link::unwrap(interface.link_type, data, wire) {
            Some((link, LinkPayload::Ip(at))) => {
                (link, packet::read(data.get(at..).unwrap_or_default(), wire.saturating_sub(at as u32)))
            }
            Some((link, LinkPayload::Other(protocol))) => (link, Content::Other(protocol)),
            Some((link, LinkPayload::Cut)) => (link, Content::Cut),
            None => {
                if foreign.len() < MAX_FOREIGN || foreign.contains_key(&interface.link_type) {
                    *foreign.entry(interface.link_type).or_default() += 1;
                }
                (Link::default(), Content::Other(Protocol::Link(interface.link_type)))
            }
        };
        let (own, passed) = (interface.mac, raw.passed);
        let captured = data.len() as u32;
        Some(Frame { record, offset, stamp, interface: number, own, passed, wire, captured, link, content })
    }

    /// Reports what is known only at the end.
    fn finish(&mut self) {
        self.ended = true;
        if let Format::Sections(sections) = &mut self.format {
            sections.finish(&mut self.input);
        }
        for (link_type, frames) in std::mem::take(&mut self.foreign) {
            self.input.note(format!("{frames} frames of link type {link_type} are not understood"));
        }
    }
}

impl Format {
    fn open<R: Read>(input: &mut Input<R>) -> Result<Self, Reason> {
        input.fill(4)?;
        let Some(&head) = input.record().first_chunk::<4>() else { return Err(Reason::NotACapture) };
        match head {
            [0x28, 0xb5, 0x2f, 0xfd] => Err(Reason::Compressed("zstd")),
            [0x1f, 0x8b, ..] => Err(Reason::Compressed("gzip")),
            [0xfd, b'7', b'z', b'X'] => Err(Reason::Compressed("xz")),
            [b'B', b'Z', b'h', _] => Err(Reason::Compressed("bzip2")),
            [0x04, 0x22, 0x4d, 0x18] => Err(Reason::Compressed("lz4")),
            [b'P', b'K', 3, 4] => Err(Reason::OfAnotherTool("a zip archive: unpack it first")),
            // What follows is `tracing`.
            [0x17, 0x08, 0x44, b't'] => Err(Reason::OfAnotherTool("a recording of trace-cmd (trace.dat)")),
            // And `FILE2`, in the byte order of the machine.
            [b'P', b'E', b'R', b'F'] | [b'2', b'E', b'L', b'I'] => {
                Err(Reason::OfAnotherTool("a recording of perf (perf.data)"))
            }
            head if legacy::is_legacy(head) => Ok(Self::Legacy(Legacy::open(input)?)),
            head if sections::is_sections(head) => Ok(Self::Sections(Sections::new())),
            _ => Err(Reason::NotACapture),
        }
    }
}

impl<R: Read> Iterator for Capture<R> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        while !self.ended {
            let frame = match self.step() {
                Step::Frame(raw) => self.frame(raw),
                Step::Skipped => None,
                Step::End => {
                    self.finish();
                    break;
                }
            };
            self.input.next_record();
            if frame.is_some() {
                return frame;
            }
        }
        None
    }
}
