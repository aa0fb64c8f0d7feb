//! The manifest of a store: `store.json`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isochrone_kernel::device_numbers;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// The version of the format. A store of another version is built again.
pub const VERSION: u32 = 7;

/// The name of the file.
pub(crate) const FILE: &str = "store.json";

/// The contents of a store, and the files that it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`VERSION`].
    pub version: u32,
    /// The files that it was made from: if one of them has changed, the store is stale.
    pub sources: Vec<Source>,
    /// The hosts, by name.
    pub hosts: Vec<HostEntry>,
    /// The table of messages between hosts, if they were matched.
    pub messages: Option<TableEntry>,
    /// The table of messages of MPI programs, if there are any.
    #[serde(default)]
    pub mpi: Option<TableEntry>,
    /// The corrections of the hosts' clocks as of when the store was made, `sync.json`, if they were computed. Nothing else
    /// in the store depends on them.
    pub clocks: Option<TableEntry>,
    /// Whether the corrections are all that there is to say of the synchronization: nothing was refused, and nothing advised.
    #[serde(default)]
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
    /// Raw times of its first and its last event, ns; `None` if it has none.
    pub range: Option<(i64, i64)>,
    /// The CPUs that threads were seen to run on, or of which it is unknown what ran, in order.
    pub cpus: Vec<u32>,
    /// The names of its disks and partitions by number of the device, as far as a dump has them.
    pub disks: BTreeMap<u32, String>,
    /// Number of zoom levels of states.
    pub levels: usize,
    /// Its tables.
    pub tables: Vec<TableEntry>,
}

impl HostEntry {
    /// How people call a disk: by its name, or by its major and minor number (`8:1`) where no dump has one.
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
    /// CRC-32 of its file.
    pub crc32: u32,
}

/// The part that manifests of all versions have.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Manifest {
    /// The version of a store, even if it is not supported; `None` if the path is no store, as far as can be determined.
    pub fn version_at(store: &Path) -> Option<u32> {
        let text = std::fs::read(store.join(FILE)).ok()?;
        serde_json::from_slice::<Versioned>(&text).ok().map(|versioned| versioned.version)
    }

    /// Reads the manifest of a store.
    ///
    /// # Errors
    /// There is none, or it is of another version.
    pub fn read(store: &Path) -> Result<Self, StoreError> {
        let path = store.join(FILE);
        let text = std::fs::read(&path).map_err(StoreError::io(&path))?;
        let manifest = |why| StoreError::Manifest { path: path.clone(), why };
        let Versioned { version } = serde_json::from_slice(&text).map_err(manifest)?;
        if version != VERSION {
            return Err(StoreError::Version { path, found: version, expected: VERSION });
        }
        serde_json::from_slice(&text).map_err(manifest)
    }

    pub(crate) fn write(&self, store: &Path) -> Result<(), StoreError> {
        let path = store.join(FILE);
        let text = serde_json::to_vec_pretty(self)
            .map_err(|why| StoreError::Manifest { path: path.clone(), why })?;
        std::fs::write(&path, text).map_err(StoreError::io(&path))
    }

    /// Whether all files that the store was made from are unchanged.
    pub fn is_fresh(&self) -> bool {
        self.sources.iter().all(|source| Source::of(&source.path).is_ok_and(|now| now == *source))
    }
}
