//! Files of mapped pieces, so that pieces can be mapped in separate processes.
//!
//! All numbers are little-endian: the eight bytes `ISOPIECE`, the version (u32), the form of head and body
//! (u64), their sizes in bytes (u64 each), the CRC-32 of both (u64), the head and the body (the model), both
//! as postcard writes them. The types of head and body are the caller's: [`Header`] for one piece of one
//! host, those of `isochrone-experiment` for several of many.
//!
//! Postcard writes values without their names and types. So the *form* stands for the types: a number of the
//! caller's that changes whenever they do. A file of another form is refused, and not decoded.

use std::fs;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::border::Piece;
use crate::piece_merger::PieceModel;
use isochrone_hosts::Host;
use isochrone_hosts::ReadReport;

/// First bytes of a file.
const MAGIC: &[u8; 8] = b"ISOPIECE";
/// Files of other versions are refused.
pub const VERSION: u32 = 4;
/// Bytes before the head.
const PREFIX: usize = 8 + 4 + 8 + 8 + 8 + 8;

/// The head of a file of one piece of one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The clock of the host: see [`Host::id`].
    pub host: String,
    /// The host's name.
    pub name: String,
    /// Uuids of the traces that were read, sorted.
    pub traces: Vec<String>,
    /// The piece.
    pub piece: Piece,
    /// Report of what was read, and what was missing.
    pub report: ReadReport,
}

/// Why a file cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum PieceFileError {
    /// The file cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is not one of mapped pieces.
    #[error("{}: no mapped piece: the file begins otherwise", .0.display())]
    Foreign(PathBuf),
    /// Another version of this program wrote it.
    #[error("{path}: version {found} of the format is not understood, only {VERSION}", path = path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
    },
    /// A program with other models wrote it.
    #[error("{}: written by a program whose models have another form; map the pieces again with this one", .0.display())]
    Form(PathBuf),
    /// The bytes are not those that were written.
    #[error("{}: the file is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        what: &'static str,
    },
    /// The model cannot be written.
    #[error("{path}: {source}", path = path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// The error of the encoder.
        source: postcard::Error,
    },
}

impl Header {
    /// The head of a piece of a host.
    pub fn new<M>(host: &Host<'_>, part: &PieceModel<M>) -> Self {
        let uuids = host.traces().iter().filter_map(|trace| Some(trace.schema().uuid?.to_string()));
        let mut traces: Vec<String> = uuids.collect();
        traces.sort_unstable();
        traces.dedup();
        let (host, name) = (host.id.clone(), host.name.clone());
        Self { host, name, traces, piece: part.piece, report: part.report.clone() }
    }

    /// The head of two neighbours that were merged. `None` where they are no neighbours, or of different
    /// hosts.
    pub fn merged(mut self, right: Self) -> Option<Self> {
        if self.host != right.host || self.piece.to != right.piece.from {
            return None;
        }
        self.piece.to = right.piece.to;
        self.report.absorb(right.report);
        self.traces.extend(right.traces);
        self.traces.sort_unstable();
        self.traces.dedup();
        Some(self)
    }
}

/// Writes a mapped piece, whose head and model are of a form, to a file. `path`: of that file, for errors.
///
/// # Errors
/// The file cannot be written, or head or model cannot be serialized.
pub fn write<H: Serialize, M: Serialize>(
    to: &mut (impl Write + ?Sized),
    path: &Path,
    form: u64,
    head: &H,
    model: &M,
) -> Result<(), PieceFileError> {
    let encode = |source| PieceFileError::Encode { path: path.to_owned(), source };
    let head = postcard::to_stdvec(head).map_err(encode)?;
    let body = postcard::to_stdvec(model).map_err(encode)?;
    let mut write = || {
        to.write_all(MAGIC)?;
        to.write_all(&VERSION.to_le_bytes())?;
        for word in [form, head.len() as u64, body.len() as u64, checksum(&[&head, &body])] {
            to.write_all(&word.to_le_bytes())?;
        }
        to.write_all(&head)?;
        to.write_all(&body)
    };
    write().map_err(|source| PieceFileError::Io { path: path.to_owned(), source })
}

/// Whether a path is a file that begins as mapped pieces do.
pub fn is_piece(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    // Opening a pipe would wait for a writer.
    let is_file = fs::metadata(path).is_ok_and(|it| it.is_file());
    is_file
        && fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
        && begin == *MAGIC
}

/// Reads a mapped piece of a form: its head and its model. Memory is a small multiple of the file.
///
/// # Errors
/// The file cannot be read, [`fn@write`] has not written it, or it is of another version or form.
pub fn read<H: DeserializeOwned, M: DeserializeOwned>(
    path: &Path,
    form: u64,
) -> Result<(H, M), PieceFileError> {
    let bytes = fs::read(path).map_err(|source| PieceFileError::Io { path: path.to_owned(), source })?;
    let damaged = |what| PieceFileError::Damaged { path: path.to_owned(), what };
    let Prefix { head, body, sum } = Prefix::of(path, &bytes, form)?;
    let rest = &bytes[PREFIX..];
    let size = head.checked_add(body).filter(|&size| size == rest.len() as u64);
    size.ok_or_else(|| damaged("it is not as long as it should be"))?;
    let (head, body) = rest.split_at(head as usize);
    if checksum(&[head, body]) != sum {
        return Err(damaged("the checksum is wrong"));
    }
    let head = decode(head).ok_or_else(|| damaged(NO_HEAD))?;
    let model = decode(body).ok_or_else(|| damaged("the body is of another kind"))?;
    Ok((head, model))
}

/// Reads the head of a mapped piece of a form, without its model: only [`read`] detects damage.
///
/// # Errors
/// As [`read`].
pub fn read_head<H: DeserializeOwned>(path: &Path, form: u64) -> Result<H, PieceFileError> {
    let io = |source| PieceFileError::Io { path: path.to_owned(), source };
    let damaged = || PieceFileError::Damaged { path: path.to_owned(), what: NO_HEAD };
    let mut file = fs::File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    (&mut file).take(PREFIX as u64).read_to_end(&mut bytes).map_err(io)?;
    let Prefix { head, .. } = Prefix::of(path, &bytes, form)?;
    let mut bytes = Vec::new();
    file.take(head).read_to_end(&mut bytes).map_err(io)?;
    decode(&bytes).ok_or_else(damaged)
}

/// The form of head and model of a file; `None` for files of another version, and for files that are not of
/// mapped pieces.
pub fn form_of(path: &Path) -> Option<u64> {
    let mut bytes = Vec::new();
    if !is_piece(path) {
        return None;
    }
    fs::File::open(path).ok()?.take(PREFIX as u64).read_to_end(&mut bytes).ok()?;
    (version(&bytes)? == VERSION).then(|| word(&bytes, 12))?
}

/// The damage of a head.
const NO_HEAD: &str = "the head cannot be decoded";

/// The lengths and the checksum, before the head.
struct Prefix {
    /// Bytes of the head and of the body.
    head: u64,
    body: u64,
    /// The checksum of both.
    sum: u64,
}

impl Prefix {
    fn of(path: &Path, bytes: &[u8], form: u64) -> Result<Self, PieceFileError> {
        if !bytes.starts_with(MAGIC) {
            return Err(PieceFileError::Foreign(path.to_owned()));
        }
        let short = || PieceFileError::Damaged { path: path.to_owned(), what: "it ends in its first lines" };
        let found = version(bytes).ok_or_else(short)?;
        if found != VERSION {
            return Err(PieceFileError::Version { path: path.to_owned(), found });
        }
        if word(bytes, 12).ok_or_else(short)? != form {
            return Err(PieceFileError::Form(path.to_owned()));
        }
        let (head, body) = word(bytes, 20).zip(word(bytes, 28)).ok_or_else(short)?;
        let sum = word(bytes, 36).ok_or_else(short)?;
        Ok(Self { head, body, sum })
    }
}

fn version(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// A copy of a value that cannot be cloned, encoded and decoded as in a file.
///
/// # Errors
/// It cannot be written or read.
pub fn copy<T: Serialize + DeserializeOwned>(original: &T) -> Result<T, PieceFileError> {
    let failed = |source| PieceFileError::Encode { path: PathBuf::from("memory"), source };
    postcard::from_bytes(&postcard::to_stdvec(original).map_err(failed)?).map_err(failed)
}

/// The value that bytes encode, all of them.
fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}

/// CRC-32 of some parts with their lengths: it detects accidents, not forgery.
pub fn checksum(parts: &[&[u8]]) -> u64 {
    let mut sum = crc32fast::Hasher::new();
    for part in parts {
        sum.update(&(part.len() as u64).to_le_bytes());
        sum.update(part);
    }
    sum.finalize().into()
}
