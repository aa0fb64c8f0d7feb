//! The stream files of a trace: mapped, searched for packets, compared with their indexes, and looked at
//! again as they grow. Files of another trace are refused here, and files that are not there are found by
//! their indexes ([`missing`]).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use isochrone_diagnostic::Diagnostic;
use uuid::Uuid;

use super::Packet;
use super::heads::{self, Heads};
use super::index_check::{IndexCheck, IndexFile};
use super::missing::{self, Orphan, Proven};
use super::scan::{self, Origin, Scan, Scanned, Tally};
use crate::error::{Error, Reason};
use crate::mapping::{Change, FileMap};

/// All stream files, in the order they were found in. A file keeps its position, also when it is taken away.
#[derive(Debug, Default)]
pub(super) struct Files {
    list: Vec<DataFile>,
    /// Files that cannot be read now, and why.
    unreadable: Vec<(OsString, Diagnostic)>,
    /// Indexes without a file, and what there is to say of them.
    orphans: Vec<Orphan>,
    orphan_diagnostics: Vec<Diagnostic>,
    /// The uuid that packets carry where no file has packets with that of the metadata.
    adopted: Option<Uuid>,
    /// Whether the files are in memory: no directory has them, and there are no indexes.
    in_memory: bool,
}

/// A stream file.
#[derive(Debug)]
pub(super) struct DataFile {
    /// Name inside the trace directory.
    pub(super) name: OsString,
    /// The same for people.
    pub(super) shown: String,
    map: FileMap,
    origin: Option<Origin>,
    scan: Scan,
    /// Whether a packet of it belongs to a stream.
    has_packets: bool,
    index: IndexCheck,
    status: FileStatus,
    /// What its fate costs.
    loss: Option<Diagnostic>,
}

/// Packets of one stream that a file should have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Absent<'f> {
    /// Name of the file.
    pub(super) name: &'f OsStr,
    /// Its number, if other packets of it are there.
    pub(super) file: Option<u32>,
    pub(super) proven: &'f Proven,
}

/// Whether a file is what it was when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileStatus {
    Followed,
    /// It was cut to this many bytes, among known packets. What is written after them later belongs to no
    /// known packet.
    Cut(usize),
    /// Its name is that of another file.
    Replaced,
    /// It belongs to another trace, and is not read.
    Foreign,
}

impl FileStatus {
    /// The bytes of a file that are those of its packets.
    fn valid(self, bytes: &[u8]) -> &[u8] {
        match self {
            Self::Cut(length) => &bytes[..length.min(bytes.len())],
            Self::Followed | Self::Replaced | Self::Foreign => bytes,
        }
    }
}

impl Files {
    pub(super) fn as_slice(&self) -> &[DataFile] {
        &self.list
    }

    pub(super) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let unreadable = self.unreadable.iter().map(|(_, diagnostic)| diagnostic);
        let files = self.list.iter().flat_map(DataFile::diagnostics);
        unreadable.chain(files).chain(&self.orphan_diagnostics)
    }

    /// The name of a file inside the trace directory.
    pub(super) fn name(&self, file: u32) -> &Path {
        Path::new(&self.list[file as usize].name)
    }

    /// The bytes of a packet up to the end of its last event.
    pub(super) fn content(&self, packet: &Packet) -> &[u8] {
        let start = packet.offset as usize;
        let end = start + packet.content_bits.div_ceil(8) as usize;
        self.list[packet.file as usize].bytes().get(start..end).unwrap_or_default()
    }

    /// Packets that indexes list and that are not there.
    pub(super) fn absent(&self) -> impl Iterator<Item = Absent<'_>> {
        let files = self.list.iter().zip(0..).map(|(file, number)| {
            (file.name.as_os_str(), file.has_packets.then_some(number), file.index.proven())
        });
        let orphans =
            self.orphans.iter().map(|orphan| (orphan.name.as_os_str(), None, orphan.proven.as_slice()));
        files
            .chain(orphans)
            .flat_map(|(name, file, proven)| proven.iter().map(move |proven| Absent { name, file, proven }))
    }

    /// Files in memory, by their names.
    pub(super) fn in_memory(files: Vec<(String, Vec<u8>)>) -> Self {
        let file = |(name, bytes): (String, Vec<u8>)| DataFile::new(name.into(), FileMap::of_bytes(bytes));
        Self { list: files.into_iter().map(file).collect(), in_memory: true, ..Self::default() }
    }

    pub(super) fn are_in_memory(&self) -> bool {
        self.in_memory
    }

    /// Maps what is new in the directory and what has grown.
    ///
    /// # Errors
    /// The directory cannot be listed. Nothing has changed then.
    pub(super) fn look(&mut self, directory: &Path) -> Result<(), Error> {
        if self.in_memory {
            return Ok(());
        }
        let names = stream_file_names(directory)?;
        self.unreadable.clear();
        let named = self.list.iter().zip(0..).filter(|(file, _)| file.status != FileStatus::Replaced);
        let named: HashMap<OsString, usize> = named.map(|(file, n)| (file.name.clone(), n)).collect();
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
                Err(error) => self.unreadable.extend(unreadable(&error).map(|diagnostic| (name, diagnostic))),
            }
        }
        Ok(())
    }

    /// Hands all new packets to `found`, with the names of their files.
    pub(super) fn scan(
        &mut self,
        directory: &Path,
        description: scan::Description<'_>,
        mut found: impl FnMut(Scanned, &OsStr),
    ) {
        // The first heads of all files are read at the same time.
        self.list
            .iter()
            .filter(|file| file.is_unread())
            .for_each(|file| heads::begin(&file.map, file.scan.end()));
        self.refuse_foreign(directory, description);
        let mut all = Tally::default();
        self.list.iter().for_each(|file| all.add(file.scan.tally()));
        for (file, number) in self.list.iter_mut().zip(0..) {
            let is_unread = file.is_unread();
            file.scan(directory, description, number, (&mut all, !self.in_memory), &mut found);
            if is_unread {
                heads::end(&file.map);
            }
            // Heads of packets are few bytes of what the kernel mapped around them.
            file.forget(0, file.map.bytes().len());
        }
        if self.in_memory {
            return;
        }
        let unreadable: HashSet<&OsStr> = self.unreadable.iter().map(|(name, _)| name.as_os_str()).collect();
        let known: HashSet<&OsStr> = self.list.iter().map(|file| file.name.as_os_str()).collect();
        // A file that has come since the look is found at the next one.
        let is_there = |name: &OsStr| {
            known.contains(name) || (!unreadable.contains(name) && directory.join(name).is_file())
        };
        (self.orphans, self.orphan_diagnostics) = missing::orphans(directory, description.plan, is_there);
    }

    /// Refuses files whose packets all carry the uuid of another trace. Where those of all files do, the
    /// metadata have been exchanged the metadata: then the uuid that most files carry counts.
    fn refuse_foreign(&mut self, directory: &Path, description: scan::Description<'_>) {
        let Some(own) = description.uuid else { return };
        for file in
            self.list.iter_mut().filter(|file| file.origin.is_none() && file.status == FileStatus::Followed)
        {
            file.origin = description.origin(file.bytes());
        }
        if self.adopted.is_none() && !self.list.iter().any(|file| file.origin == Some(Origin::Own)) {
            self.adopted = most_frequent(self.list.iter().filter_map(|file| file.origin?.other()));
        }
        for file in self.list.iter_mut().filter(|file| file.status == FileStatus::Followed) {
            if let Some(other) =
                file.origin.and_then(Origin::other).filter(|&uuid| Some(uuid) != self.adopted)
            {
                let message = format!(
                    "the file is not read: its packets are of the trace with the uuid {other}, not of {own}"
                );
                file.status = FileStatus::Foreign;
                file.loss = Some(Diagnostic::loss(directory.join(&file.name), message));
            }
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
    fn new(name: OsString, map: FileMap) -> Self {
        let shown = name.to_string_lossy().into_owned();
        let (scan, index) = (Scan::default(), IndexCheck::default());
        let (origin, has_packets, status, loss) = (None, false, FileStatus::Followed, None);
        Self { name, shown, map, origin, scan, has_packets, index, status, loss }
    }

    /// Its bytes as far as they are those of its packets.
    pub(super) fn bytes(&self) -> &[u8] {
        self.status.valid(self.map.bytes())
    }

    /// A part of its bytes is not needed for now.
    pub(super) fn forget(&self, start: usize, length: usize) {
        self.map.forget(start, length);
    }

    /// A part of its bytes is needed soon.
    pub(super) fn read_ahead(&self, start: usize, length: usize) {
        self.map.read_ahead(start, length);
    }

    /// Whether there can be packets that were not found yet.
    fn is_unread(&self) -> bool {
        !self.scan.is_done(self.bytes().len())
    }

    fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.scan.diagnostics().chain(self.index.note()).chain(&self.loss)
    }

    /// Looks what has become of the file.
    fn look(&mut self, path: &Path) -> Result<Change, Error> {
        let change = self.map.refresh(path)?;
        let (length, end) = (self.bytes().len(), self.scan.end());
        let message = match change {
            // What lies after the packets may be cut off: space that a tracer had reserved.
            Change::Shrunk if length < end => {
                self.status = FileStatus::Cut(length);
                let lost = end - length;
                format!("the file was cut: {lost} bytes of packets are gone; it is not followed any more")
            }
            Change::Replaced => {
                self.status = FileStatus::Replaced;
                "another file has taken its place: what was written to it since the last look cannot be read"
                    .to_owned()
            }
            Change::None | Change::Grown | Change::Shrunk => return Ok(change),
        };
        self.loss = Some(Diagnostic::loss(path, message));
        Ok(change)
    }

    fn scan(
        &mut self,
        directory: &Path,
        description: scan::Description<'_>,
        number: u32,
        (all, has_index): (&mut Tally, bool),
        found: &mut impl FnMut(Scanned, &OsStr),
    ) {
        if self.status == FileStatus::Foreign {
            return;
        }
        let followed = has_index && self.status == FileStatus::Followed && self.index.wants_index();
        let index = match followed.then(|| IndexFile::open(directory, &self.name)).transpose() {
            Ok(index) => index.flatten(),
            Err(error) => {
                self.index.unreadable(&error);
                None
            }
        };
        let mut comparison = self.index.go_on(index.as_ref());
        let bytes = self.status.valid(self.map.bytes());
        let path = directory.join(&self.name);
        if !self.scan.is_done(bytes.len()) {
            let mut heads = Heads::new(bytes.len());
            self.scan.run(description, &path, bytes, all, |mut scanned| {
                heads.packet(&self.map, scanned.packet.offset, scanned.packet.total_bits / 8);
                comparison.packet(&scanned.packet, description.plan.streams[scanned.class].id);
                scanned.packet.file = number;
                self.has_packets = true;
                if !scanned.known {
                    found(scanned, &self.name);
                }
            });
        }
        comparison.finish(&path, bytes.len() as u64, description.plan);
    }
}

/// The uuid that comes most often; of equals the least.
fn most_frequent(uuids: impl Iterator<Item = Uuid>) -> Option<Uuid> {
    let mut counts: BTreeMap<Uuid, u64> = BTreeMap::new();
    for uuid in uuids {
        *counts.entry(uuid).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(uuid, count)| (count, Reverse(uuid))).map(|(uuid, _)| uuid)
}

/// What there is to say of a file that cannot be read; nothing if it has gone since its name was read.
fn unreadable(error: &Error) -> Option<Diagnostic> {
    let path = error.path();
    let absent = matches!(error.reason(), Reason::Read(cause) if cause.kind() == ErrorKind::NotFound);
    let message = match absent {
        false => error.reason().to_string(),
        true if path.is_symlink() => "cannot be read: it is a link to a file that is not there".to_owned(),
        true => return None,
    };
    Some(Diagnostic::loss(path, message))
}

/// Names of what should be stream files in a trace directory, in order: everything but directories (tools
/// leave some, such as `index`), `metadata` and hidden files (CTF 1.8 section 4).
fn stream_file_names(directory: &Path) -> Result<Vec<OsString>, Error> {
    let io = |source| Error::new(directory, source);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        if name != "metadata" && !is_hidden && !entry.path().is_dir() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
