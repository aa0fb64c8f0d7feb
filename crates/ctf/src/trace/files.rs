//! The stream files of a trace: mapped, searched for packets, compared with their indexes, and looked at again as they
//! grow.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::index_check::{IndexCheck, IndexFile};
use super::scan::{self, Scan, Scanned};
use crate::error::{Diagnostic, Error, Severity};
use crate::mapping::{Change, FileMap};

/// All stream files, in the order they were found in. A file keeps its place, also when it is taken away.
#[derive(Debug, Default)]
pub(super) struct Files {
    list: Vec<DataFile>,
    /// Files that cannot be read now.
    unreadable: Vec<Diagnostic>,
}

/// A stream file.
#[derive(Debug)]
pub(super) struct DataFile {
    /// Name inside the trace directory.
    pub(super) name: String,
    map: FileMap,
    scan: Scan,
    index: IndexCheck,
    fate: Fate,
    /// What its fate costs.
    loss: Option<Diagnostic>,
}

/// Whether a file is what it was when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Followed,
    /// It was cut to so many bytes, among known packets. What is written behind them later belongs to no known packet.
    Cut(usize),
    /// Its name is that of another file.
    Replaced,
}

impl Fate {
    /// The bytes of a file that are those of its packets.
    fn valid(self, bytes: &[u8]) -> &[u8] {
        match self {
            Self::Cut(length) => &bytes[..length.min(bytes.len())],
            Self::Followed | Self::Replaced => bytes,
        }
    }
}

impl Files {
    pub(super) fn as_slice(&self) -> &[DataFile] {
        &self.list
    }

    pub(super) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.unreadable.iter().chain(self.list.iter().flat_map(DataFile::diagnostics))
    }

    /// Maps what is new in the directory and what has grown.
    ///
    /// # Errors
    /// The directory cannot be listed. Nothing has changed then.
    pub(super) fn look(&mut self, directory: &Path) -> Result<(), Error> {
        let names = stream_file_names(directory)?;
        self.unreadable.clear();
        let named = self.list.iter().zip(0..).filter(|(file, _)| file.fate != Fate::Replaced);
        let named: HashMap<String, usize> = named.map(|(file, n)| (file.name.clone(), n)).collect();
        for name in names {
            let path = directory.join(&name);
            let change = named.get(&name).map(|&n| self.list[n].look(&path));
            let opened = match change {
                Some(Ok(Change::Replaced)) | None => FileMap::open(&path).map(Some),
                Some(Ok(_)) => Ok(None),
                Some(Err(error)) => Err(error),
            };
            match opened {
                Ok(map) => self.list.extend(map.map(|map| DataFile::new(name, map))),
                Err(error) => {
                    self.unreadable.push(diagnostic(Severity::Loss, path, error.reason().to_string()));
                }
            }
        }
        Ok(())
    }

    /// Hands all new packets to `found`, with the names of their files.
    pub(super) fn scan(
        &mut self,
        directory: &Path,
        description: scan::Description<'_>,
        mut found: impl FnMut(Scanned, &str),
    ) {
        for (file, number) in self.list.iter_mut().zip(0..) {
            file.scan(directory, description, number, &mut found);
        }
    }

    /// Searches again where packets were skipped for want of a class; see [`Scan::find_skipped`].
    pub(super) fn find_skipped(&mut self, known: &[u64]) {
        for file in &mut self.list {
            if file.scan.find_skipped(known) {
                file.index = IndexCheck::default();
            }
        }
    }
}

impl DataFile {
    fn new(name: String, map: FileMap) -> Self {
        let (scan, index) = (Scan::default(), IndexCheck::default());
        Self { name, map, scan, index, fate: Fate::Followed, loss: None }
    }

    /// Its bytes as far as they are those of its packets.
    pub(super) fn bytes(&self) -> &[u8] {
        self.fate.valid(self.map.bytes())
    }

    fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.scan.diagnostics().chain(self.index.note()).chain(&self.loss)
    }

    /// Looks what has become of the file.
    fn look(&mut self, path: &Path) -> Result<Change, Error> {
        let change = self.map.refresh(path)?;
        let (length, end) = (self.bytes().len(), self.scan.end());
        let message = match change {
            // What lies behind the packets may be cut off: space that a tracer had reserved.
            Change::Shrunk if length < end => {
                self.fate = Fate::Cut(length);
                let lost = end - length;
                format!("the file was cut: {lost} bytes of packets are gone; it is not followed any more")
            }
            Change::Replaced => {
                self.fate = Fate::Replaced;
                "another file has taken its place: what was written to it since the last look cannot be read"
                    .to_owned()
            }
            Change::None | Change::Grown | Change::Shrunk => return Ok(change),
        };
        self.loss = Some(diagnostic(Severity::Loss, path.to_owned(), message));
        Ok(change)
    }

    fn scan(
        &mut self,
        directory: &Path,
        description: scan::Description<'_>,
        number: u32,
        found: &mut impl FnMut(Scanned, &str),
    ) {
        let followed = self.fate == Fate::Followed && self.index.wants_index();
        let index = followed.then(|| IndexFile::open(directory, &self.name)).flatten();
        let mut comparison = self.index.go_on(index.as_ref());
        let bytes = self.fate.valid(self.map.bytes());
        if !self.scan.is_done(bytes.len()) {
            self.scan.run(description, &directory.join(&self.name), bytes, |mut scanned| {
                comparison.packet(&scanned.packet, description.plan.streams[scanned.class].id);
                scanned.packet.file = number;
                if !scanned.known {
                    found(scanned, &self.name);
                }
            });
        }
        comparison.finish(&self.name);
    }
}

fn diagnostic(severity: Severity, path: PathBuf, message: String) -> Diagnostic {
    Diagnostic { severity, path, packet: None, offset: None, message }
}

/// Names of the files of a trace directory that can hold packets, sorted: all regular files but `metadata` and hidden
/// ones (CTF 1.8 section 4; tools leave directories such as `index` beside them).
fn stream_file_names(directory: &Path) -> Result<Vec<String>, Error> {
    let io = |source| Error::read(directory, source);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "metadata" && !name.starts_with('.') && entry.path().is_file() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
