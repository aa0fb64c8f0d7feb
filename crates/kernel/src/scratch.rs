//! Where rows, spans and operations go that are too many for memory: a place for bytes that others provide,
//! because this crate does no I/O. Without a place they stay in memory, encoded.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_bytes::ByteBuf;

/// A place for bytes outside of memory: they are appended once, and read as often as it takes.
pub trait Storage: Send + Sync {
    /// Appends bytes. Returns their offset.
    ///
    /// # Errors
    /// They cannot be written.
    fn append(&self, bytes: &[u8]) -> io::Result<u64>;

    /// Fills a buffer from an offset.
    ///
    /// # Errors
    /// They cannot be read.
    fn read(&self, from: u64, into: &mut [u8]) -> io::Result<()>;
}

/// What went wrong with a [`Storage`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScratchError {
    /// Nothing more can be written: what could not be is in memory, and no row is missing.
    #[error("rows are kept in memory, because they cannot be written to a temporary file: {0}")]
    Write(String),
    /// Rows that were written cannot be read again: they are missing from tables.
    #[error("rows cannot be read again from a temporary file: {0}")]
    Read(String),
}

/// A [`Storage`], or none. Clones are the same place.
#[derive(Clone, Default)]
pub struct Scratch(Option<Arc<Place>>);

/// A storage, and what went wrong with it.
pub struct Place {
    storage: Box<dyn Storage>,
    failed: Mutex<Option<ScratchError>>,
}

impl Scratch {
    /// With a storage.
    pub fn new(storage: impl Storage + 'static) -> Self {
        Self(Some(Arc::new(Place { storage: Box::new(storage), failed: Mutex::default() })))
    }

    /// What went wrong so far: of several things the worst.
    pub fn failed(&self) -> Option<ScratchError> {
        let place = self.0.as_ref()?;
        place.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps bytes: in the storage, if there is one that has room.
    pub fn keep(&self, bytes: &[u8]) -> Kept {
        let stored = self.0.as_ref().filter(|place| !place.is_full()).and_then(|place| {
            let appended = place.storage.append(bytes);
            let at = appended.map_err(|error| place.fail(ScratchError::Write(error.to_string()))).ok()?;
            Some(Kept::Stored { place: place.clone(), at, size: bytes.len() })
        });
        stored.unwrap_or_else(|| Kept::InMemory(bytes.into()))
    }

    /// Keeps bytes that are kept already, perhaps in memory.
    pub fn adopt(&self, kept: Kept) -> Kept {
        match &kept {
            Kept::InMemory(bytes) if self.0.is_some() => self.keep(bytes),
            _ => kept,
        }
    }
}

impl Place {
    /// Whether the storage could not take something: then it is not tried again.
    fn is_full(&self) -> bool {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn fail(&self, error: ScratchError) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(&*failed, Some(ScratchError::Read(_))) {
            *failed = Some(error);
        }
    }
}

/// Bytes that are kept, wherever that is. A clone shares them.
#[derive(Clone)]
pub enum Kept {
    /// In memory.
    InMemory(Arc<[u8]>),
    /// In a storage.
    Stored {
        /// The storage.
        place: Arc<Place>,
        /// Offset of the first byte.
        at: u64,
        /// Number of bytes.
        size: usize,
    },
}

impl Kept {
    /// Number of bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::InMemory(bytes) => bytes.len(),
            Self::Stored { size, .. } => *size,
        }
    }

    /// The bytes, if they are in memory.
    pub fn in_memory(&self) -> Option<&[u8]> {
        match self {
            Self::InMemory(bytes) => Some(bytes),
            Self::Stored { .. } => None,
        }
    }

    /// Appends a part of the bytes to a buffer, as far as there are any. What cannot be read is reported by
    /// [`Scratch::failed`], and nothing is appended.
    pub fn read(&self, part: Range<usize>, buffer: &mut Vec<u8>) {
        let part = part.start.min(self.size())..part.end.min(self.size());
        match self {
            Self::InMemory(bytes) => buffer.extend_from_slice(bytes.get(part).unwrap_or_default()),
            Self::Stored { place, at, .. } => {
                let before = buffer.len();
                buffer.resize(before + part.len(), 0);
                if let Err(error) = place.storage.read(at + part.start as u64, &mut buffer[before..]) {
                    place.fail(ScratchError::Read(error.to_string()));
                    buffer.truncate(before);
                }
            }
        }
    }

    /// All of the bytes.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, ScratchError> {
        match self {
            Self::InMemory(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Stored { place, at, size } => {
                let mut bytes = vec![0; *size];
                let read = place.storage.read(*at, &mut bytes);
                read.map_err(|error| ScratchError::Read(error.to_string()))?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Reports that the bytes are not those that were written.
    pub fn report_damage(&self) {
        if let Self::Stored { place, .. } = self {
            place.fail(ScratchError::Read("it has changed".to_owned()));
        }
    }
}

/// As their bytes.
impl Serialize for Kept {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.bytes().map_err(serde::ser::Error::custom)?)
    }
}

/// In memory.
impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::InMemory(ByteBuf::deserialize(from)?.into_vec().into()))
    }
}

/// Where bytes are does not matter to what they are; those that cannot be read equal none.
impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.size() == other.size()
            && self.bytes().is_ok_and(|bytes| other.bytes().is_ok_and(|it| it == bytes))
    }
}

/// Where rows are does not matter to what they are.
impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Scratch(storage)" } else { "Scratch(memory)" })
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.size())
    }
}
