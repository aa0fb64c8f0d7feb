//! Files as byte slices. The only module of the project with `unsafe` code.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::Error;

/// A whole file in the address space, read-only; pages come and go as the kernel sees fit, so that a trace of any size
/// takes no anonymous memory.
#[derive(Debug)]
pub(crate) struct FileMap {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
}

impl FileMap {
    /// Maps a file at the length it has now.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let io = |source| Error::read(path, source);
        let file = File::open(path).map_err(io)?;
        if file.metadata().map_err(io)?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: `Mmap::map` demands that nobody changes the mapped bytes while slices of them live. The mapping is
        // private and read-only, so this process cannot. Another process can: tracers only append, and bytes behind
        // the length taken above are not mapped; a tracer in overwrite mode writes new files. Against a file that
        // somebody does rewrite, all decoding is written to be memory-safe for any bytes: each bound is taken from the
        // slice's length, never from bytes read twice, and no byte is interpreted as anything but an integer or
        // lossily as text. A file that somebody truncates ends the process with SIGBUS, which is no memory unsafety.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        Ok(Self { map: Some(map) })
    }

    /// The file's bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
