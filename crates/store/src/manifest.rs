//! The manifest of a store: `store.json`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use isochrone_kernel::device_numbers;
use isochrone_time::{RawNs, Window};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::sums::Buckets;
use crate::tables::VERSION;
use crate::threads::ThreadRow;

/// The name of the file.
pub(crate) const FILE: &str = "store.json";

/// The contents of a store, and the files that it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`VERSION`].
    pub version: u32,
    /// CRC-32 of the file with zeros in this place, eight hexadecimal digits.
    pub crc32: String,
    /// The files that it was made from: if one of them has changed, the store is stale.
    pub sources: Vec<Source>,
    /// The hosts, by name.
    pub hosts: Vec<HostEntry>,
    /// The table of messages between hosts, if they were matched.
    pub messages: Option<TableEntry>,
    /// The table of messages of MPI programs, if there are any.
    pub mpi: Option<TableEntry>,
    /// The corrections of the hosts' clocks as of when the store was made, `sync.json`, if they were
    /// computed. Nothing else in the store depends on them.
    pub clocks: Option<TableEntry>,
    /// Whether the corrections are the whole result of the synchronization: nothing was refused, and nothing
    /// advised.
    pub are_clocks_all: bool,
}

/// A file that a store was made from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source {
    /// Its path, absolute.
    pub path: PathBuf,
    /// Its size, bytes.
    pub bytes: u64,
    /// Time of its last modification, ns since 1970.
    pub modified_ns: u64,
}

impl Source {
    /// Describes a file as it is now.
    ///
    /// # Errors
    /// Its metadata cannot be read.
    pub fn of(path: &Path) -> Result<Self, StoreError> {
        let metadata = std::fs::metadata(path).map_err(StoreError::io(path))?;
        let modified = metadata.modified().ok();
        let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let modified_ns = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        let path = std::path::absolute(path).map_err(StoreError::io(path))?;
        Ok(Self { path, bytes: metadata.len(), modified_ns })
    }
}

/// A host of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostEntry {
    /// Its number in the table of messages.
    pub number: u32,
    /// Identity of its clock.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The directory of its tables.
    pub directory: String,
    /// Unix time of its clock's zero, ns.
    pub offset_ns: i64,
    /// From its first to its last event; `None` if it has none.
    #[serde(with = "range")]
    pub range: Option<Window<RawNs>>,
    /// The CPUs that threads were seen to run on, or of which it is unknown what ran, in order.
    pub cpus: Vec<u32>,
    /// The names of its disks and partitions by number of the device, as far as a dump has them.
    pub disks: BTreeMap<u32, String>,
    /// The devices of its requests to disks, in order.
    pub block_devices: Vec<u32>,
    /// The threads that have phases, by number, in order.
    pub phase_threads: Vec<ThreadRow>,
    /// The ranks of MPI programs by tid, of those that sent or received messages as one rank.
    pub ranks: BTreeMap<i32, i64>,
    /// What was recorded of it.
    pub recorded: Recorded,
    /// Whether something of its trace could not be decoded.
    pub is_undecodable: bool,
    /// Number of zoom levels of states.
    pub levels: usize,
    /// The buckets of its sums.
    pub sums: Buckets,
    /// Its tables.
    pub tables: Vec<TableEntry>,
}

/// The first and the last event of a host: a list of two numbers in JSON.
mod range {
    use super::{Deserialize, RawNs, Serialize, Window};
    use serde::{Deserializer, Serializer};

    #[allow(clippy::ref_option)] // serde calls it so.
    pub(super) fn serialize<S: Serializer>(range: &Option<Window<RawNs>>, to: S) -> Result<S::Ok, S::Error> {
        range.map(|range| (range.start, range.end)).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Window<RawNs>>, D::Error> {
        let range = Option::<(RawNs, RawNs)>::deserialize(from)?;
        Ok(range.map(|(first, last)| Window::new(first, last)))
    }
}

/// Which events of a host were recorded, as far as states of threads depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// All system calls.
    pub has_all_calls: bool,
    /// Of calls that are recorded, both entries and exits.
    pub has_both_ends: bool,
    /// When a thread that was forked is woken first, and switches: how long it has not run.
    pub has_first_wakeups: bool,
}

impl Recorded {
    /// Nothing was left out.
    pub const ALL: Self = Self { has_all_calls: true, has_both_ends: true, has_first_wakeups: true };
}

impl HostEntry {
    /// The display name of a disk: its name, or its major and minor number (`8:1`) where no dump has one.
    pub fn disk_name(&self, device: u32) -> Cow<'_, str> {
        let known = self.disks.get(&device);
        known.map_or_else(|| device_numbers(device).into(), Into::into)
    }
}

/// A table of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    /// Its name: that of its file, without `.arrow` or `.json`.
    pub name: String,
    /// Number of its rows.
    pub rows: u64,
    /// Size of its file, bytes.
    pub bytes: u64,
    /// CRC-32 of each 32 KiB of its file: eight hexadecimal digits each.
    pub crc32: String,
}

/// The part that manifests of all versions have.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Manifest {
    /// The tables that are not of one host.
    pub(crate) fn of_all(&self) -> impl Iterator<Item = &TableEntry> {
        self.messages.iter().chain(&self.mpi)
    }

    /// The version of a store, even if it is not supported; `None` if the path is no store, as far as can be
    /// determined.
    pub fn version_at(store: &Path) -> Option<u32> {
        let text = std::fs::read(store.join(FILE)).ok()?;
        serde_json::from_slice::<Versioned>(&text).ok().map(|versioned| versioned.version)
    }

    /// Reads the manifest of a store.
    ///
    /// # Errors
    /// There is none, it is of another version, or not what was written.
    pub fn read(store: &Path) -> Result<Self, StoreError> {
        let path = store.join(FILE);
        let text = std::fs::read(&path).map_err(StoreError::io(&path))?;
        let manifest = |why| StoreError::Manifest { path: path.clone(), why };
        let Versioned { version } = serde_json::from_slice(&text).map_err(manifest)?;
        if version != VERSION {
            return Err(StoreError::Version { path, found: version, expected: VERSION });
        }
        let read: Self = serde_json::from_slice(&text).map_err(manifest)?;
        if sum_of(&text, &read.crc32).is_none_or(|(_, sum)| sum != read.crc32) {
            return Err(StoreError::damaged(&path, "other contents than were written"));
        }
        read.contradiction().map_or(Ok(read), |what| Err(StoreError::damaged(&path, what)))
    }

    /// Writes it, with its checksum.
    pub(crate) fn write(mut self, store: &Path) -> Result<(), StoreError> {
        let path = store.join(FILE);
        NO_SUM.clone_into(&mut self.crc32);
        let manifest = |why| StoreError::Manifest { path: path.clone(), why };
        let mut text = serde_json::to_vec_pretty(&self).map_err(manifest)?;
        if let Some((offset, sum)) = sum_of(&text, NO_SUM) {
            text[offset..offset + sum.len()].copy_from_slice(sum.as_bytes());
        }
        std::fs::write(&path, text).map_err(StoreError::io(&path))
    }

    /// A contradiction, of any writer: readers rely on there being none, and look for no file elsewhere.
    fn contradiction(&self) -> Option<String> {
        let (mut numbers, mut ids, mut directories) = (HashSet::new(), HashSet::new(), HashSet::new());
        for host in &self.hosts {
            let HostEntry { number, id, name, directory, range, tables, .. } = host;
            if !numbers.insert(number) || !ids.insert(id) || !directories.insert(directory) {
                return Some(format!(
                    "the host {name} has the number, the id or the directory of another one"
                ));
            }
            if range.is_some_and(|range| range.start > range.end) {
                return Some(format!("the host {name} ends before it begins"));
            }
            let names: HashSet<&str> = tables.iter().map(|table| table.name.as_str()).collect();
            if names.len() < tables.len()
                || ![directory.as_str()].iter().chain(&names).all(|name| is_plain(name))
            {
                return Some(format!("the host {name} has a table twice, or one that lies elsewhere"));
            }
        }
        let of_all = self.of_all().all(|table| is_plain(&table.name));
        (!of_all).then(|| "a table of all hosts lies elsewhere".to_owned())
    }

    /// Whether all files that the store was made from are unchanged.
    pub fn is_fresh(&self) -> bool {
        self.sources.iter().all(|source| Source::of(&source.path).is_ok_and(|now| now == *source))
    }
}

/// In the offset of the checksum while that is computed.
const NO_SUM: &str = "00000000";

/// Where the checksum is in the text of a manifest that has this one, and what it should be. `None`: it is
/// none.
fn sum_of(text: &[u8], known: &str) -> Option<(usize, String)> {
    let quoted = format!("\"{known}\"");
    // It is among the first things in the file.
    let offset = text.windows(quoted.len()).position(|part| part == quoted.as_bytes())? + 1;
    let mut sum = crc32fast::Hasher::new();
    sum.update(&text[..offset]);
    sum.update(NO_SUM.as_bytes());
    sum.update(&text[offset + known.len()..]);
    (known.len() == NO_SUM.len()).then(|| (offset, format!("{:08x}", sum.finalize())))
}

/// Whether a name is that of something in a directory, and no path to somewhere else.
fn is_plain(name: &str) -> bool {
    Path::new(name).file_name() == Some(OsStr::new(name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may panic.
mod tests {
    use super::*;

    fn host(number: u32) -> HostEntry {
        let table =
            |name: &str| TableEntry { name: name.to_owned(), rows: 1, bytes: 0, crc32: String::new() };
        HostEntry {
            number,
            id: number.to_string(),
            name: "h".to_owned(),
            directory: format!("{number}-h"),
            offset_ns: -5,
            range: Some(Window::new(RawNs(1), RawNs(1))),
            cpus: vec![0],
            disks: BTreeMap::from([(8, "sda".to_owned())]),
            block_devices: vec![8],
            phase_threads: Vec::new(),
            ranks: BTreeMap::from([(12, 3)]),
            recorded: Recorded::ALL,
            is_undecodable: false,
            levels: 1,
            sums: Buckets::new(Window::new(RawNs(1), RawNs(1)), 2),
            tables: vec![table("slices"), table("off")],
        }
    }

    /// What is wrong with a manifest whose checksum is right.
    #[track_caller]
    fn check(change: impl FnOnce(&mut Manifest), expect: Option<&str>) {
        let hosts = vec![host(0), host(1)];
        let (version, sources) = (VERSION, Vec::new());
        let (messages, mpi, clocks) = (None, None, None);
        let mut manifest = Manifest {
            version,
            crc32: String::new(),
            sources,
            hosts,
            messages,
            mpi,
            clocks,
            are_clocks_all: false,
        };
        change(&mut manifest);
        let root = tempfile::tempdir().unwrap();
        manifest.clone().write(root.path()).unwrap();
        let found = Manifest::read(root.path()).map_err(|error| error.to_string());
        match expect {
            None => assert_eq!(Manifest { crc32: String::new(), ..found.unwrap() }, manifest),
            Some(what) => assert!(found.as_ref().unwrap_err().contains(what), "{found:?}"),
        }
    }

    #[test]
    fn contradictions_are_found() {
        check(|_| {}, None);
        check(|it| it.hosts[0].range = None, None);
        let of_another = Some("has the number, the id or the directory of another one");
        check(|it| it.hosts[1].number = 0, of_another);
        check(|it| it.hosts[1].id = "0".to_owned(), of_another);
        check(|it| it.hosts[1].directory = "0-h".to_owned(), of_another);
        check(|it| it.hosts[1].range = Some(Window::new(RawNs(2), RawNs(1))), Some("ends before it begins"));
        let elsewhere = Some("has a table twice, or one that lies elsewhere");
        check(|it| it.hosts[1].tables[1].name = "slices".to_owned(), elsewhere);
        for path in ["", "..", "../0-h", "/tmp", "a/b", "."] {
            check(|it| it.hosts[1].tables[1].name = path.to_owned(), elsewhere);
            check(|it| it.hosts[1].directory = path.to_owned(), elsewhere);
            let table = || TableEntry { name: path.to_owned(), rows: 0, bytes: 0, crc32: String::new() };
            check(|it| it.messages = Some(table()), Some("lies elsewhere"));
        }
    }
}
