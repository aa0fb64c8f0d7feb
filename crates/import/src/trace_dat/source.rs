//! The file of a recording by trace-cmd, read part by part: nothing is allocated beyond what the file can
//! hold.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;

use crate::error::ImportError;

/// Nothing that a tracer writes is compressed to less than one part in this many, …
const MAX_RATIO: u64 = 1_000;
/// … and no part is larger than this, unpacked.
const MAX_UNPACKED: u64 = 256 << 20;

/// The file.
#[derive(Debug)]
pub(crate) struct Source {
    file: File,
    length: u64,
    pub(crate) compression: Option<Compression>,
}

/// How parts are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Zstd,
    Zlib,
}

impl Source {
    pub(crate) fn new(file: File) -> Result<Self, ImportError> {
        let length = file.metadata()?.len();
        Ok(Self { file, length, compression: None })
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Bytes of the file.
    pub(crate) fn read(&self, what: &'static str, offset: u64, size: u64) -> Result<Vec<u8>, ImportError> {
        let is_inside = offset.checked_add(size).is_some_and(|end| end <= self.length);
        let size = usize::try_from(size).ok().filter(|_| is_inside);
        let mut bytes = vec![0; size.ok_or(ImportError::Cut { what, offset })?];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// The bytes from an offset on, as many as there are of a number.
    pub(crate) fn read_most(
        &self,
        what: &'static str,
        offset: u64,
        size: u64,
    ) -> Result<Vec<u8>, ImportError> {
        self.read(what, offset, size.min(self.length.saturating_sub(offset)))
    }

    /// A compressed part.
    pub(crate) fn unpack(
        &self,
        what: &'static str,
        offset: u64,
        size: u64,
        unpacked: u64,
    ) -> Result<Vec<u8>, ImportError> {
        let failed = |why: String| ImportError::Unpack { what, offset, why };
        if unpacked > MAX_UNPACKED || unpacked > size.saturating_mul(MAX_RATIO) {
            return Err(failed(format!("{size} bytes are said to be {unpacked}, unpacked")));
        }
        let packed = self.read(what, offset, size)?;
        let mut bytes = Vec::with_capacity(unpacked as usize);
        let result = match self.compression {
            Some(Compression::Zstd) => zstd::Decoder::new(&packed[..])
                .and_then(|decoder| decoder.take(unpacked + 1).read_to_end(&mut bytes)),
            Some(Compression::Zlib) => {
                flate2::read::ZlibDecoder::new(&packed[..]).take(unpacked + 1).read_to_end(&mut bytes)
            }
            None => return Err(failed("nothing says how".to_owned())),
        };
        result.map_err(|error| failed(error.to_string()))?;
        match bytes.len() as u64 == unpacked {
            true => Ok(bytes),
            false => Err(failed(format!("it is {} bytes, not {unpacked}", bytes.len()))),
        }
    }
}
