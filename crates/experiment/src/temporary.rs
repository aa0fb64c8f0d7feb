//! A temporary file for rows, spans and operations that are too many for memory: see
//! [`isochrone_analysis::Scratch`].

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use isochrone_analysis::{Scratch, Storage};

/// An unnamed file in the directory of temporary files (`TMPDIR`, else `/tmp`), made when the first bytes come. The system removes it
/// when the process ends, however that ends.
#[derive(Debug, Default)]
struct Temporary {
    file: OnceLock<File>,
    size: AtomicU64,
}

/// A scratch in a temporary file.
pub fn scratch() -> Scratch {
    Scratch::new(Temporary::default())
}

impl Temporary {
    fn file(&self) -> io::Result<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        // Of two that are made at once, one is used.
        let file = tempfile::tempfile().map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", std::env::temp_dir().display()))
        })?;
        Ok(self.file.get_or_init(|| file))
    }
}

impl Storage for Temporary {
    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let file = self.file()?;
        // Each writer has a part of the file of its own.
        let at = self.size.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        file.write_all_at(bytes, at)?;
        Ok(at)
    }

    fn read(&self, from: u64, into: &mut [u8]) -> io::Result<()> {
        self.file()?.read_exact_at(into, from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_where_they_were_put() {
        let file = Temporary::default();
        let places: Vec<u64> = [&b"one"[..], b"", b"three"].map(|bytes| file.append(bytes).unwrap()).to_vec();
        assert_eq!(places, [0, 3, 3]);
        let mut read = [0; 5];
        file.read(places[2], &mut read).unwrap();
        assert_eq!(&read, b"three");
        assert_eq!(file.read(7, &mut read).map_err(|error| error.kind()), Err(io::ErrorKind::UnexpectedEof));
    }
}
