//! Files as byte slices. The only module of the project with `unsafe` code.
#![allow(unsafe_code)]

use std::fs::{File, Metadata};
use std::path::Path;

use memmap2::Mmap;

use crate::Error;

/// A whole file in the address space, read-only; pages come and go as the kernel sees fit, so that a trace of any size
/// takes no anonymous memory.
#[derive(Debug)]
pub(crate) struct FileMap {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
    identity: Identity,
}

/// What tells a file from all others, whatever its name: device and inode. Where the system has no such numbers, all
/// files look alike, and only lengths tell them apart.
type Identity = (u64, u64);

/// What has become of a file since it was mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is as long as it was.
    None,
    /// It is longer.
    Grown,
    /// It is shorter: the bytes that are missing must not be looked at, and no slice has them any more.
    Shrunk,
    /// Another file has taken its name. The mapping is still that of the former, whose bytes live as long as it.
    Replaced,
}

impl FileMap {
    /// Maps a file at the length it has now.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let io = |source| Error::read(path, source);
        let file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let identity = identity(&metadata);
        if metadata.len() == 0 {
            return Ok(Self { map: None, identity });
        }
        // SAFETY: `Mmap::map` demands that nobody changes the mapped bytes while slices of them live. The mapping is
        // read-only, so this process cannot. Another process can: tracers only append, and bytes behind
        // the length that the file has here are not mapped (the rest of the last page is behind the end of every
        // slice); a tracer in overwrite mode writes new files. A file that grows gets a new mapping (`Self::refresh`),
        // and as that takes the map for itself alone, no slice of the old one is left. Against a file that
        // somebody does rewrite, all decoding is written to be memory-safe for any bytes: each bound is taken from the
        // slice's length, never from bytes read twice, and no byte is interpreted as anything but an integer or
        // lossily as text. A file that somebody truncates ends the process with SIGBUS, which is no memory unsafety;
        // one that was truncated before it is looked at again is mapped at its new length, and does not.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        Ok(Self { map: Some(map), identity })
    }

    /// Looks at the file of that name again and maps what it has become. Files that are as they were cost one call of
    /// the system. No slice of the bytes outlives this: it takes the map for itself.
    pub(crate) fn refresh(&mut self, path: &Path) -> Result<Change, Error> {
        let now = std::fs::metadata(path).map_err(|source| Error::read(path, source))?;
        if identity(&now) == self.identity && now.len() == self.bytes().len() as u64 {
            return Ok(Change::None);
        }
        let new = Self::open(path)?;
        let (before, after) = (self.bytes().len(), new.bytes().len());
        if before > 0 && new.identity != self.identity {
            return Ok(Change::Replaced);
        }
        *self = new;
        Ok(match before.cmp(&after) {
            std::cmp::Ordering::Less => Change::Grown,
            std::cmp::Ordering::Equal => Change::None,
            std::cmp::Ordering::Greater => Change::Shrunk,
        })
    }

    /// The file's bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_map_follows_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let other = directory.path().join("other");
        fs::write(&path, "").unwrap();
        let mut map = FileMap::open(&path).unwrap();
        let mut check = |act: &dyn Fn(), change: Change, bytes: &str| {
            act();
            assert_eq!((map.refresh(&path).unwrap(), map.bytes()), (change, bytes.as_bytes()));
        };
        check(&|| {}, Change::None, "");
        check(&|| fs::write(&path, "abc").unwrap(), Change::Grown, "abc");
        check(&|| fs::write(&path, "abcdef").unwrap(), Change::Grown, "abcdef");
        check(&|| fs::write(&path, "ab").unwrap(), Change::Shrunk, "ab");
        let replace = || {
            fs::write(&other, "xyz").unwrap();
            fs::rename(&other, &path).unwrap();
        };
        check(&replace, Change::Replaced, "ab");
        fs::remove_file(&path).unwrap();
        assert!(map.refresh(&path).is_err());
        assert_eq!(map.bytes(), b"ab");
    }
}
