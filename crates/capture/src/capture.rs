//! A capture file as frames, whatever its format.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use crate::complaints::Complaints;
use crate::error::{Diagnostic, Error, Reason};
use crate::input::Input;
use crate::legacy::{self, Legacy};
use crate::link::{self, Link, LinkPayload, Mac};
use crate::packet::{self, Content};
use crate::protocol::Protocol;
use crate::sections::{self, Interface, Passed, Raw, Sections, Step};
use crate::stamp::Stamp;

/// Bytes read from a file at a time.
const BUFFER: usize = 1 << 17;
/// Link types that are not known and are named one by one in diagnostics; those beyond are counted together.
const MAX_FOREIGN: usize = 16;

/// A frame that was captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Number of its record or block in the file, from 0.
    pub record: u64,
    /// First byte of that.
    pub offset: u64,
    /// When it was seen.
    pub stamp: Stamp,
    /// Number of the interface among those of all sections of the file.
    pub interface: usize,
    /// The interface's own address, where the file records it.
    pub own: Option<Mac>,
    /// Which way it passed the interface, where the file records it.
    pub passed: Option<Passed>,
    /// Bytes on the wire.
    pub wire: u32,
    /// Bytes of it that the file holds.
    pub captured: u32,
    /// The link layer.
    pub link: Link,
    /// What it carries.
    pub content: Content,
}

/// An interface, as the file describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceInfo<'c> {
    /// Its name.
    pub name: Option<&'c str>,
    /// Its link type.
    pub link_type: u16,
    /// Its address.
    pub mac: Option<Mac>,
    /// How far apart two stamps are at least, ns.
    pub granularity_ns: u64,
}

/// A capture that is read from its beginning to its end, once. An iterator over its frames, in the order of the file;
/// each takes constant time and memory.
#[derive(Debug)]
pub struct Capture<R> {
    input: Input<R>,
    format: Format,
    complaints: Complaints,
    /// Frames by link type that is not known.
    foreign: BTreeMap<u16, u64>,
    ended: bool,
}

#[derive(Debug)]
enum Format {
    Legacy(Legacy),
    Sections(Sections),
}

/// Whether a file begins as a capture does. For finding captures among other files.
///
/// # Errors
/// The file cannot be read.
pub fn is_capture(path: &Path) -> Result<bool, Error> {
    let read = |reason: std::io::Error| Error::new(path, reason);
    let mut head = Vec::new();
    File::open(path).map_err(read)?.take(4).read_to_end(&mut head).map_err(read)?;
    Ok(<[u8; 4]>::try_from(head).is_ok_and(|head| legacy::is_legacy(head) || sections::is_sections(head)))
}

impl Capture<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be read, or does not begin as a capture does.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|reason| Error::new(path, reason))?;
        Self::new(BufReader::with_capacity(BUFFER, file), path)
    }
}

impl<R: Read> Capture<R> {
    /// Reads from anything; `path` is what diagnostics call it. Many small reads are made.
    ///
    /// # Errors
    /// It cannot be read, or does not begin as a capture does.
    pub fn new(reader: R, path: &Path) -> Result<Self, Error> {
        let mut input = Input::new(reader);
        let format = Format::open(&mut input).map_err(|reason| Error::new(path, reason))?;
        let mut complaints = Complaints::new(path.to_owned());
        if let Format::Legacy(legacy) = &format
            && let Some(note) = legacy.note()
        {
            complaints.in_all(false, note);
        }
        Ok(Self { input, format, complaints, foreign: BTreeMap::new(), ended: false })
    }

    /// What was wrong so far; complete when there are no more frames.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.complaints.kept()
    }

    /// Bytes of the file that have been read.
    pub fn position(&self) -> u64 {
        self.input.position()
    }

    /// The interface of a frame that was just given.
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
        let Self { input, format, complaints, .. } = self;
        let step = match format {
            Format::Legacy(legacy) => legacy.step(input, complaints),
            Format::Sections(sections) => sections.step(input, complaints),
        };
        step.unwrap_or_else(|error| {
            let place = (input.number(), input.begin());
            complaints.loss(place, format!("reading fails: {error}; the rest of the file is left out"));
            Step::End
        })
    }

    /// Makes a frame of what the file has; `None` where that is too bad.
    fn frame(&mut self, raw: Raw) -> Option<Frame> {
        let Self { input, format, complaints, foreign, .. } = self;
        let (number, interface): (usize, &Interface) = match format {
            Format::Legacy(legacy) => (0, &legacy.interface),
            Format::Sections(sections) => sections.interface(raw.interface)?,
        };
        let (record, offset) = (input.number(), input.begin());
        let Some(stamp) = interface.ticks.and_then(|ticks| ticks.stamp(raw.ticks)) else {
            let message =
                format!("its time ({} ticks) does not fit 64 bits of ns: it is left out", raw.ticks);
            complaints.loss((record, offset), message);
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

    /// Says what can only be said at the end.
    fn finish(&mut self) {
        self.ended = true;
        if let Format::Sections(sections) = &mut self.format {
            sections.finish(&mut self.complaints);
        }
        for (link_type, frames) in std::mem::take(&mut self.foreign) {
            let message = format!("{frames} frames of link type {link_type} are not understood");
            self.complaints.in_all(false, message);
        }
        self.complaints.finish();
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
            [b'P', b'E', b'R', b'F'] | [b'2', b'E', b'L', b'I'] => Err(Reason::OfAnotherTool(
                "a recording of perf (perf.data): `perf data convert --to-ctf` makes a trace of it",
            )),
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
