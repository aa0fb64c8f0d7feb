//! Files of a trace being written: metadata, streams, indexes. Nothing is written over.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::packet::WrittenPacket;
use crate::error::{Error, Reason};
use crate::trace::index::{self, IndexEntry};

/// A trace directory.
#[derive(Debug)]
pub struct TraceDirectory {
    path: PathBuf,
    indexed: bool,
}

impl TraceDirectory {
    /// Makes the directory and the ones above it where they are missing, and writes the metadata.
    ///
    /// # Errors
    /// A directory cannot be made, or there are metadata already.
    pub fn create(path: &Path, metadata: &str) -> Result<Self, Error> {
        let begun = Self::begin(path)?;
        begun.metadata(metadata)?;
        Ok(begun)
    }

    /// The same without metadata, so that no reader takes the directory for a trace before [`Self::metadata`]
    /// are there.
    ///
    /// # Errors
    /// A directory cannot be made.
    pub fn begin(path: &Path) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(|cause| Error::new(path, Reason::Write(cause)))?;
        Ok(Self::made(path))
    }

    /// Of a directory that has been made.
    pub(super) fn made(path: &Path) -> Self {
        Self { path: path.to_owned(), indexed: true }
    }

    /// Writes the metadata.
    ///
    /// # Errors
    /// There are some already, or they cannot be written.
    pub fn metadata(&self, text: &str) -> Result<(), Error> {
        write_new(&self.path.join("metadata"), text.as_bytes())
    }

    /// The same without indexes, which readers do without.
    #[must_use]
    pub fn without_indexes(self) -> Self {
        Self { indexed: false, ..self }
    }

    /// Begins a stream file.
    ///
    /// # Errors
    /// There is such a file already, or it cannot be made.
    pub fn stream_file(&self, name: &str) -> Result<StreamFile, Error> {
        let path = self.path.join(name);
        let file = File::create_new(&path).map_err(|cause| Error::new(&path, Reason::Write(cause)))?;
        let index = self.indexed.then(|| self.path.join("index").join(format!("{name}.idx")));
        Ok(StreamFile { path, file: BufWriter::new(file), entries: Vec::new(), index })
    }
}

/// A stream file: one packet after the other. Memory is one index entry for each.
#[derive(Debug)]
pub struct StreamFile {
    path: PathBuf,
    file: BufWriter<File>,
    entries: Vec<IndexEntry>,
    /// Where the index will be.
    index: Option<PathBuf>,
}

impl StreamFile {
    /// Appends a packet, of whichever stream.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, packet: &WrittenPacket<'_>) -> Result<(), Error> {
        self.file.write_all(packet.bytes).map_err(|cause| Error::new(&self.path, Reason::Write(cause)))?;
        let offset = self.entries.last().map_or(0, |last| last.offset + last.total_bits / 8);
        self.entries.push(IndexEntry { offset, ..packet.entry });
        Ok(())
    }

    /// Ends the file and writes its index. Gives what the index says.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn close(mut self) -> Result<Vec<IndexEntry>, Error> {
        self.file.flush().map_err(|cause| Error::new(&self.path, Reason::Write(cause)))?;
        if let Some(path) = &self.index {
            let directory = path.parent().unwrap_or(path);
            // Not the directories above it: what has been removed meanwhile stays so.
            match fs::create_dir(directory) {
                Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Error::new(directory, Reason::Write(cause)));
                }
                _ => {}
            }
            write_new(path, &index::write(&self.entries))?;
        }
        Ok(self.entries)
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|cause| Error::new(path, Reason::Write(cause)))
}
