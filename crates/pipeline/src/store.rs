//! A mapped piece on disk, so that pieces can be mapped in separate processes.
//!
//! All numbers are little-endian: the eight bytes `ISOPIECE`, the version (u32), the form of head and body (u64), their sizes in bytes
//! (u64 each), a checksum of both (u64), the head and the body (the model), both as postcard writes them. What is in them is the
//! caller's: [`Header`] for one piece of one host, `isochrone-experiment` for several of many.
//!
//! Postcard writes values without their names and types. So the *form* stands for the types: a number of the caller's that is another
//! one whenever they have changed. A file of another form is refused, and not decoded.

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
pub const VERSION: u32 = 3;
/// Bytes before the head.
const PREFIX: usize = 8 + 4 + 8 + 8 + 8 + 8;

/// What a file says of its piece.
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
    /// What was read, and what was missing.
    pub report: ReadReport,
}

/// Why a file cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file itself.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{}: no mapped piece: the file begins otherwise", .0.display())]
    Foreign(PathBuf),
    /// Another version of this program wrote it.
    #[error("{path}: version {found} of the format is not understood, only {VERSION}", path = path.display())]
    Version {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A program with other models wrote it.
    #[error("{}: written by a program whose models have another form; map the pieces again with this one", .0.display())]
    Form(PathBuf),
    /// Its bytes are not those that were written.
    #[error("{}: the file is damaged: {what}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// In which way.
        what: &'static str,
    },
    /// The model cannot be written.
    #[error("{path}: {source}", path = path.display())]
    Encode {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: postcard::Error,
    },
}

impl Header {
    /// Of a part of a host.
    pub fn new<M>(host: &Host<'_>, part: &PieceModel<M>) -> Self {
        let uuids = host.traces().iter().filter_map(|trace| Some(trace.schema().uuid?.to_string()));
        let mut traces: Vec<String> = uuids.collect();
        traces.sort_unstable();
        traces.dedup();
        let (host, name) = (host.id.clone(), host.name.clone());
        Self { host, name, traces, piece: part.piece, report: part.report.clone() }
    }

    /// Of two neighbours that have become one. `None` where they are no neighbours, or of different hosts.
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

/// Writes a mapped piece, whose head and model are of a form, to a file. `path`: what it is called, or will be.
///
/// # Errors
/// The file cannot be written, or head or model cannot be serialized.
pub fn write<H: Serialize, M: Serialize>(
    to: &mut (impl Write + ?Sized),
    path: &Path,
    form: u64,
    head: &H,
    model: &M,
) -> Result<(), StoreError> {
    let encode = |source| StoreError::Encode { path: path.to_owned(), source };
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
    write().map_err(|source| StoreError::Io { path: path.to_owned(), source })
}

/// Whether a path is a file that begins as mapped pieces do.
pub fn is_piece(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    // To open a pipe would wait for somebody who writes.
    let is_file = fs::metadata(path).is_ok_and(|it| it.is_file());
    is_file
        && fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
        && begin == *MAGIC
}

/// Reads a mapped piece of a form: its head and its model. Memory is a small multiple of the file.
///
/// # Errors
/// The file cannot be read, it is none that [`fn@write`] has written, or one of another version or form.
pub fn read<H: DeserializeOwned, M: DeserializeOwned>(path: &Path, form: u64) -> Result<(H, M), StoreError> {
    let bytes = fs::read(path).map_err(|source| StoreError::Io { path: path.to_owned(), source })?;
    let damaged = |what| StoreError::Damaged { path: path.to_owned(), what };
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

/// Reads the head of a mapped piece of a form, and neither its model nor whether it is damaged: [`read`] says that.
///
/// # Errors
/// As [`read`].
pub fn read_head<H: DeserializeOwned>(path: &Path, form: u64) -> Result<H, StoreError> {
    let io = |source| StoreError::Io { path: path.to_owned(), source };
    let damaged = || StoreError::Damaged { path: path.to_owned(), what: NO_HEAD };
    let mut file = fs::File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    (&mut file).take(PREFIX as u64).read_to_end(&mut bytes).map_err(io)?;
    let Prefix { head, .. } = Prefix::of(path, &bytes, form)?;
    let mut bytes = Vec::new();
    file.take(head).read_to_end(&mut bytes).map_err(io)?;
    decode(&bytes).ok_or_else(damaged)
}

/// The form of what a file holds, if it is one of this version.
pub fn form_of(path: &Path) -> Option<u64> {
    let mut bytes = Vec::new();
    if !is_piece(path) {
        return None;
    }
    fs::File::open(path).ok()?.take(PREFIX as u64).read_to_end(&mut bytes).ok()?;
    (version(&bytes)? == VERSION).then(|| word(&bytes, 12))?
}

/// What is wrong with a head.
const NO_HEAD: &str = "the head cannot be decoded";

/// What comes before the head.
struct Prefix {
    /// Bytes of the head and of the body.
    head: u64,
    body: u64,
    /// The checksum of both.
    sum: u64,
}

impl Prefix {
    fn of(path: &Path, bytes: &[u8], form: u64) -> Result<Self, StoreError> {
        if !bytes.starts_with(MAGIC) {
            return Err(StoreError::Foreign(path.to_owned()));
        }
        let short = || StoreError::Damaged { path: path.to_owned(), what: "it ends in its first lines" };
        let found = version(bytes).ok_or_else(short)?;
        if found != VERSION {
            return Err(StoreError::Version { path: path.to_owned(), found });
        }
        if word(bytes, 12).ok_or_else(short)? != form {
            return Err(StoreError::Form(path.to_owned()));
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

/// Another one of something, by the way that leads to a file and back.
///
/// # Errors
/// It cannot be written or read.
pub fn copy<T: Serialize + DeserializeOwned>(original: &T) -> Result<T, StoreError> {
    let failed = |source| StoreError::Encode { path: PathBuf::from("memory"), source };
    postcard::from_bytes(&postcard::to_stdvec(original).map_err(failed)?).map_err(failed)
}

/// What bytes mean, all of them.
fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}

/// FNV-1a over words of eight bytes, the last one filled up with zeros: against accidents, not against people.
pub fn checksum(parts: &[&[u8]]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    for part in parts {
        add(part.len() as u64);
        for chunk in part.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            add(u64::from_le_bytes(word));
        }
    }
    sum
}
