//! Files of mapped chunks: sections of several kinds, each compressed and checksummed, and readable alone.
//!
//! All numbers are little-endian. The file begins with the eight bytes `ISOPIECE` and the version of this
//! layout (u32); then come the sections: kind (u32), version of what is in it (u32), bytes in the file (u64),
//! bytes of the content (u64), CRC-32 of the bytes in the file (u32), and these bytes, a Zstandard frame. The
//! last section is of the kind [`Kind::End`], and its content is the number of sections before it (u64).
//! Sections of unknown kinds are skipped. `docs/pieces.md` describes what is in them.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use crate::output::of_temporary;

/// First bytes of a file, those of older layouts among them.
const MAGIC: &[u8; 8] = b"ISOPIECE";
/// Version of the layout.
pub const LAYOUT: u32 = 5;
/// Bytes before a section.
const PREFIX: usize = 4 + 4 + 8 + 8 + 4;
/// Compression of sections: what is mapped in place takes little time of its host.
const LEVEL: i32 = 6;
/// Bytes of a new section that are kept in memory.
const IN_MEMORY: usize = 1 << 24;
/// Content of a section is at most this many bytes, and [`MAX_RATIO`] times as many as the file has of it.
const MAX_CONTENT: u64 = 64 << 20;
/// Nothing that is written is compressed to less than one part in so many.
const MAX_RATIO: u64 = 200;

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What was asked, as JSON.
    Head,
    /// An excerpt of a trace.
    Trace,
    /// What a window of a host was mapped to.
    Core,
    /// Nothing follows.
    End,
}

impl Kind {
    const ALL: [(Self, u32); 4] = [(Self::Head, 1), (Self::Trace, 2), (Self::Core, 3), (Self::End, 4)];

    fn number(self) -> u32 {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or(0, |&(_, number)| number)
    }

    fn of(number: u32) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == number).map(|&(kind, _)| kind)
    }
}

/// Why a file of mapped chunks cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PieceError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is of a newer layout, or a section of a newer version.
    #[error("{}: {what} has version {found}, and this program reads up to {known}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// What has the version.
        what: &'static str,
        /// Its version.
        found: u32,
        /// The newest that is known.
        known: u32,
    },
    /// The bytes are not those that were written.
    #[error("{}: damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Byte of the file where the section begins that is damaged.
        offset: u64,
        /// The damage.
        what: &'static str,
    },
}

/// A section of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub kind: Kind,
    /// Version of what it holds.
    pub version: u32,
    /// Byte where its prefix begins.
    offset: u64,
    stored: u64,
    content: u64,
    checksum: u32,
}

impl Section {
    /// What distinguishes it from others: sections of one identity are equal, but for accidents.
    pub fn identity(&self) -> (u32, u32, u64, u64) {
        (self.kind.number(), self.checksum, self.stored, self.content)
    }

    /// That it does not hold what it should.
    pub fn damaged(&self, path: &Path, what: &'static str) -> PieceError {
        PieceError::Damaged { path: path.to_owned(), offset: self.offset, what }
    }
}

/// An open file of mapped chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceFile {
    /// The file.
    pub path: PathBuf,
    /// Its sections, without the last one.
    pub sections: Vec<Section>,
}

/// The layout of a file that begins as mapped pieces do; `None` for other files.
pub fn layout_of(path: &Path) -> Option<u32> {
    let mut start = [0; 12];
    // Opening a pipe would wait for a writer.
    let is_file = std::fs::metadata(path).is_ok_and(|it| it.is_file());
    let read = is_file && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    let (magic, version) = start.split_at(MAGIC.len());
    (read && magic == MAGIC).then(|| version.try_into().map(u32::from_le_bytes).ok()).flatten()
}

/// Whether a file is one of mapped chunks, of this layout or of a later one.
pub fn is_chunks(path: &Path) -> bool {
    layout_of(path).is_some_and(|layout| layout >= LAYOUT)
}

impl PieceFile {
    /// Finds the sections of a file; their contents are not read. Linear in the sections.
    ///
    /// # Errors
    /// The file cannot be read, is of a newer layout, or is cut.
    pub fn open(path: &Path) -> Result<Self, PieceError> {
        let io = |source| PieceError::Io { path: path.to_owned(), source };
        let damaged = |offset, what| PieceError::Damaged { path: path.to_owned(), offset, what };
        let mut file = BufReader::new(File::open(path).map_err(io)?);
        let length = file.get_ref().metadata().map_err(io)?.len();
        let mut start = [0; 12];
        file.read_exact(&mut start).map_err(|_| damaged(0, "it is too short"))?;
        let layout = word(&start, 8);
        if !start.starts_with(MAGIC) {
            return Err(damaged(0, "it does not begin as mapped pieces do"));
        }
        if layout != LAYOUT {
            return Err(PieceError::Version {
                path: path.to_owned(),
                what: "the file",
                found: layout,
                known: LAYOUT,
            });
        }
        let (mut sections, mut offset) = (Vec::new(), start.len() as u64);
        loop {
            let mut prefix = [0; PREFIX];
            file.read_exact(&mut prefix)
                .map_err(|_| damaged(offset, "the file ends without its last section"))?;
            let section = Section {
                kind: Kind::End,
                version: word(&prefix, 4),
                offset,
                stored: long(&prefix, 8),
                content: long(&prefix, 16),
                checksum: word(&prefix, 24),
            };
            let next = offset.checked_add(PREFIX as u64).and_then(|at| at.checked_add(section.stored));
            let next =
                next.filter(|&next| next <= length).ok_or_else(|| damaged(offset, "a section is cut"))?;
            match Kind::of(word(&prefix, 0)) {
                Some(Kind::End) => {
                    let this = Self { path: path.to_owned(), sections };
                    let count = this.read(&section)?;
                    let is_end = count.as_slice() == (this.sections.len() as u64).to_le_bytes();
                    return match is_end && next == length {
                        true => Ok(this),
                        false => Err(damaged(offset, "the last section is not the last one")),
                    };
                }
                Some(kind) => sections.push(Section { kind, ..section }),
                None => {}
            }
            file.seek(SeekFrom::Start(next)).map_err(io)?;
            offset = next;
        }
    }

    /// The sections of a kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| section.kind == kind)
    }

    /// The content of a section.
    ///
    /// # Errors
    /// The file cannot be read, or the bytes are not those that were written.
    pub fn read(&self, section: &Section) -> Result<Vec<u8>, PieceError> {
        let io = |source| PieceError::Io { path: self.path.clone(), source };
        let damaged = |what| PieceError::Damaged { path: self.path.clone(), offset: section.offset, what };
        let mut file = File::open(&self.path).map_err(io)?;
        file.seek(SeekFrom::Start(section.offset + PREFIX as u64)).map_err(io)?;
        let mut stored = Vec::new();
        file.take(section.stored).read_to_end(&mut stored).map_err(io)?;
        if crc32fast::hash(&stored) != section.checksum {
            return Err(damaged("the checksum is wrong"));
        }
        if section.content > MAX_CONTENT.max(section.stored.saturating_mul(MAX_RATIO)) {
            return Err(damaged("it says that it has more content than sections can have"));
        }
        let mut content = Vec::new();
        let decoder = zstd::Decoder::new(stored.as_slice()).map_err(io)?;
        let read = decoder.take(section.content + 1).read_to_end(&mut content);
        match read.is_ok() && content.len() as u64 == section.content {
            true => Ok(content),
            false => Err(damaged("its content cannot be decompressed")),
        }
    }

    /// The first part of the content of a section that begins with the length of one (u64): little is read.
    /// Only [`Self::read`] detects damage.
    ///
    /// # Errors
    /// The file cannot be read, or has no such part.
    pub fn read_first_part(&self, section: &Section) -> Result<Vec<u8>, PieceError> {
        let io = |source| PieceError::Io { path: self.path.clone(), source };
        let damaged = |_| section.damaged(&self.path, "its content cannot be decompressed");
        let mut file = File::open(&self.path).map_err(io)?;
        file.seek(SeekFrom::Start(section.offset + PREFIX as u64)).map_err(io)?;
        let mut decoder = zstd::Decoder::new(file.take(section.stored)).map_err(io)?;
        let mut length = [0; 8];
        decoder.read_exact(&mut length).map_err(damaged)?;
        let length = u64::from_le_bytes(length);
        let mut part = Vec::new();
        decoder.take(length.min(MAX_CONTENT)).read_to_end(&mut part).map_err(damaged)?;
        match part.len() as u64 == length {
            true => Ok(part),
            false => Err(section.damaged(&self.path, "its content is cut")),
        }
    }

    /// Copies a section to another file as it is.
    ///
    /// # Errors
    /// The file cannot be read, or the other one not be written.
    pub fn copy(&self, section: &Section, to: &mut SectionWriter<impl Write>) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(section.offset))?;
        let mut bytes = file.take(PREFIX as u64 + section.stored);
        io::copy(&mut bytes, &mut to.out)?;
        to.sections += 1;
        Ok(())
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Writes sections.
#[derive(Debug)]
pub struct SectionWriter<W> {
    out: W,
    sections: u64,
}

/// A section that is being made: what is written to it is compressed at once, and more than 16 MiB
/// of that are in an unnamed file in the directory of temporary files.
pub struct NewSection {
    encoder: zstd::Encoder<'static, Summed>,
    content: u64,
}

/// Compressed bytes, and their CRC-32.
struct Summed {
    bytes: SpooledTempFile,
    sum: crc32fast::Hasher,
    size: u64,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.bytes.write(bytes).map_err(|error| of_temporary(&error))?;
        self.sum.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.bytes.flush().map_err(|error| of_temporary(&error))
    }
}

impl NewSection {
    /// An empty one.
    ///
    /// # Errors
    /// Its compression cannot begin.
    pub fn new() -> io::Result<Self> {
        let bytes = SpooledTempFile::new(IN_MEMORY);
        let stored = Summed { bytes, sum: crc32fast::Hasher::new(), size: 0 };
        Ok(Self { encoder: zstd::Encoder::new(stored, LEVEL)?, content: 0 })
    }
}

impl Write for NewSection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.encoder.write(bytes)?;
        self.content += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}

impl<W: Write> SectionWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        out.write_all(&LAYOUT.to_le_bytes())?;
        Ok(Self { out, sections: 0 })
    }

    /// Writes a section.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, kind: Kind, version: u32, section: NewSection) -> io::Result<()> {
        let NewSection { encoder, content } = section;
        let Summed { mut bytes, sum, size } = encoder.finish()?;
        self.out.write_all(&kind.number().to_le_bytes())?;
        self.out.write_all(&version.to_le_bytes())?;
        self.out.write_all(&size.to_le_bytes())?;
        self.out.write_all(&content.to_le_bytes())?;
        self.out.write_all(&sum.finalize().to_le_bytes())?;
        bytes.rewind()?;
        io::copy(&mut bytes, &mut self.out)?;
        self.sections += 1;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        let mut end = NewSection::new()?;
        end.write_all(&self.sections.to_le_bytes())?;
        self.add(Kind::End, 1, end)
    }
}
