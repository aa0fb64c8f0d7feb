//! A mapped piece on disk, so that pieces can be mapped in separate processes.
//!
//! All numbers are little-endian: the eight bytes `ISOPIECE`, the version (u32), the sizes of head and body in bytes (u64
//! each), a checksum of both (u64), the head ([`Header`]) and the body (the model), both as postcard writes them.

use std::fs;
use std::io::Write as _;
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
pub const VERSION: u32 = 1;
/// Bytes before the head.
const PREFIX: usize = 8 + 4 + 8 + 8 + 8;

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

/// Writes a mapped piece. A file of that name is replaced when all is written.
///
/// # Errors
/// The file cannot be written, or the model cannot be serialized.
pub fn write<M: Serialize>(path: &Path, header: &Header, model: &M) -> Result<(), StoreError> {
    let encode = |source| StoreError::Encode { path: path.to_owned(), source };
    let head = postcard::to_stdvec(header).map_err(encode)?;
    let body = postcard::to_stdvec(model).map_err(encode)?;
    let io = |source| StoreError::Io { path: path.to_owned(), source };
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let mut file = fs::File::create(&unfinished).map_err(io)?;
    let mut put = |bytes: &[u8]| file.write_all(bytes).map_err(io);
    put(MAGIC)?;
    put(&VERSION.to_le_bytes())?;
    put(&(head.len() as u64).to_le_bytes())?;
    put(&(body.len() as u64).to_le_bytes())?;
    put(&checksum(&[&head, &body]).to_le_bytes())?;
    put(&head)?;
    put(&body)?;
    drop(file);
    fs::rename(&unfinished, path).map_err(io)
}

/// Reads a mapped piece. Memory is a small multiple of the file.
///
/// # Errors
/// The file cannot be read, or it is none that [`fn@write`] has written with a model of this kind.
pub fn read<M: DeserializeOwned>(path: &Path) -> Result<(Header, M), StoreError> {
    let bytes = fs::read(path).map_err(|source| StoreError::Io { path: path.to_owned(), source })?;
    let damaged = |what| StoreError::Damaged { path: path.to_owned(), what };
    if !bytes.starts_with(MAGIC) {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    let short = || damaged("it ends in its first lines");
    let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let version = bytes.get(8..12).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes);
    let found = version.ok_or_else(short)?;
    if found != VERSION {
        return Err(StoreError::Version { path: path.to_owned(), found });
    }
    let (head, body) = word(12).zip(word(20)).ok_or_else(short)?;
    let sum = word(28).ok_or_else(short)?;
    let rest = bytes.get(PREFIX..).ok_or_else(short)?;
    let size = head.checked_add(body).filter(|&size| size == rest.len() as u64);
    size.ok_or_else(|| damaged("it is not as long as it should be"))?;
    let (head, body) = rest.split_at(head as usize);
    if checksum(&[head, body]) != sum {
        return Err(damaged("the checksum is wrong"));
    }
    let header = decode(head).ok_or_else(|| damaged("the head cannot be decoded"))?;
    let model = decode(body).ok_or_else(|| damaged("the body is of another kind"))?;
    Ok((header, model))
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
