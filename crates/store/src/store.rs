//! A store as a whole: written beside its place and renamed, opened, read by host.

use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type};

use crate::batches::{Batches, sum_of};
use crate::error::StoreError;
use crate::host_writer::HostWriter;
use crate::manifest::{HostEntry, Manifest, Source, TableEntry, VERSION};
use crate::messages::{self, Message, MessagesWriter};
use crate::packets::{Packets, Runner};
use crate::state::StateRow;
use crate::states::States;
use crate::tables::THREADS;
use crate::threads::ThreadRow;

/// A store while it is written. Dropped without [`Self::commit`], it leaves nothing.
#[derive(Debug)]
pub struct StoreWriter {
    /// Where it is written.
    partial: PathBuf,
    /// Where it will be.
    path: PathBuf,
    hosts: u32,
    is_committed: bool,
}

impl StoreWriter {
    /// Begins a store that will be at `path`: what is there is replaced when the new one is complete.
    ///
    /// # Errors
    /// A directory cannot be made beside it.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let partial = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(StoreError::io(parent))?;
        }
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(StoreError::io(&partial))?;
        }
        fs::create_dir(&partial).map_err(StoreError::io(&partial))?;
        Ok(Self { partial, path: path.to_owned(), hosts: 0, is_committed: false })
    }

    /// Begins the next host. `id`: identity of its clock; `offset_ns`: Unix time of the clock's zero.
    ///
    /// # Errors
    /// Its directory or a file in it cannot be made.
    pub fn host(&mut self, id: &str, name: &str, offset_ns: i64) -> Result<HostWriter, StoreError> {
        let plain: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        let number = self.hosts;
        self.hosts += 1;
        HostWriter::create(&self.partial, number, format!("{number}-{plain}"), id, name, offset_ns)
    }

    /// Begins the table of messages between hosts.
    ///
    /// # Errors
    /// Its file cannot be made.
    pub fn messages(&self) -> Result<MessagesWriter, StoreError> {
        MessagesWriter::create(&self.partial)
    }

    /// Puts the store into its place. `messages`: the table of messages, if they were looked for; `sources`: the files that it was
    /// made of.
    ///
    /// # Errors
    /// The manifest cannot be written, or the directory not be renamed.
    pub fn commit(
        mut self,
        mut hosts: Vec<HostEntry>,
        messages: Option<TableEntry>,
        sources: Vec<Source>,
    ) -> Result<(), StoreError> {
        hosts.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        Manifest { version: VERSION, sources, hosts, messages }.write(&self.partial)?;
        // A directory cannot be renamed over one that is not empty: the old store goes aside first. Between the two steps there is none.
        let old = self.partial.with_extension("old");
        if self.path.exists() {
            fs::rename(&self.path, &old).map_err(StoreError::io(&self.path))?;
        }
        fs::rename(&self.partial, &self.path).map_err(StoreError::io(&self.path))?;
        self.is_committed = true;
        if old.exists() {
            fs::remove_dir_all(&old).map_err(StoreError::io(&old))?;
        }
        Ok(())
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        if !self.is_committed {
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

/// A store that is read.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    manifest: Manifest,
}

impl Store {
    /// Opens a store: all files have to be there, with their sizes.
    ///
    /// # Errors
    /// There is none, it is of another version, or a file of it is missing or cut.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let manifest = Manifest::read(path)?;
        let store = Self { path: path.to_owned(), manifest };
        for (path, table) in store.files() {
            let found = fs::metadata(&path).map_err(StoreError::io(&path))?.len();
            if found != table.bytes {
                let what = format!("{found} bytes, and {} were written", table.bytes);
                return Err(StoreError::damaged(&path, what));
            }
        }
        Ok(store)
    }

    /// Reads all files and compares their sums. Linear in their sizes.
    ///
    /// # Errors
    /// A file is not what was written.
    pub fn verify(&self) -> Result<(), StoreError> {
        for (path, table) in self.files() {
            if sum_of(&path)? != table.crc32 {
                return Err(StoreError::damaged(&path, "other bytes than were written"));
            }
        }
        Ok(())
    }

    fn files(&self) -> impl Iterator<Item = (PathBuf, &TableEntry)> {
        let of_hosts = self.manifest.hosts.iter().flat_map(|host| {
            let directory = self.path.join(&host.directory);
            host.tables.iter().map(move |table| (directory.clone(), table))
        });
        let of_all = self.manifest.messages.iter().map(|table| (self.path.clone(), table));
        of_hosts
            .chain(of_all)
            .map(|(directory, table)| (directory.join(format!("{}.arrow", table.name)), table))
    }

    /// Gives all messages between hosts away, none where they were not looked for. Batches are in the order of the times at which
    /// their first messages were sent, each on its own clock.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn messages(&self, to: impl FnMut(Message)) -> Result<(), StoreError> {
        if self.manifest.messages.is_none() {
            return Ok(());
        }
        messages::read(&self.path, to)
    }

    /// What it holds and of what it was made.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Opens the tables of a host, by its place in the manifest.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn host(&self, entry: &HostEntry) -> Result<HostStore, StoreError> {
        let directory = self.path.join(&entry.directory);
        Ok(HostStore {
            threads: threads(&directory)?,
            states: States::open(&directory, entry.levels)?,
            packets: Packets::open(&directory)?,
            entry: entry.clone(),
        })
    }
}

/// The tables of a host.
#[derive(Debug)]
pub struct HostStore {
    entry: HostEntry,
    threads: Vec<ThreadRow>,
    states: States,
    packets: Packets,
}

impl HostStore {
    /// Which host.
    pub fn entry(&self) -> &HostEntry {
        &self.entry
    }

    /// Its threads, by number.
    pub fn threads(&self) -> &[ThreadRow] {
        &self.threads
    }

    /// What some threads do in a window of raw time, cut to it: by thread and begin, without holes while a thread lives.
    /// `threads`: their numbers, sorted.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn states(&self, threads: &[u32], window: (i64, i64)) -> Result<Vec<StateRow>, StoreError> {
        self.states.rows(threads, window)
    }

    /// What a thread does at an instant of raw time; `None` where it does not live.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn state_at(&self, thread: u32, raw: i64) -> Result<Option<StateRow>, StoreError> {
        Ok(self.states.rows(&[thread], (raw, raw.saturating_add(1)))?.pop())
    }

    /// Who ran on a CPU when a packet was sent or received there; `None` where there is no event of a packet at that instant.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn runner_at_packet(&self, at: i64, cpu: u32, is_sent: bool) -> Result<Option<Runner>, StoreError> {
        self.packets.thread(at, cpu, is_sent)
    }

    /// As [`Self::states`], of each thread about as many rows as there are pixels at most: where several states share a pixel,
    /// the one that fills most of it.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn pixels(
        &self,
        threads: &[u32],
        window: (i64, i64),
        pixels: u32,
    ) -> Result<Vec<StateRow>, StoreError> {
        self.states.zoomed(threads, window, pixels)
    }
}

fn threads(directory: &Path) -> Result<Vec<ThreadRow>, StoreError> {
    let batches = Batches::open(directory, &THREADS)?;
    let mut numbered = Vec::new();
    for number in 0..batches.times().len() {
        let batch = batches.read(number)?;
        let i32s = |place: usize| batch.column(place).as_primitive::<Int32Type>();
        let times = |place: usize| batch.column(place).as_primitive::<Int64Type>();
        let u32s = |place: usize| batch.column(place).as_primitive::<UInt32Type>();
        let flags = |place: usize| batch.column(place).as_boolean();
        let comms = batch.column(6).as_string::<i32>();
        for row in 0..batch.num_rows() {
            let number = |place: usize| i32s(place).is_valid(row).then(|| i32s(place).value(row));
            numbered.push((
                u32s(0).value(row),
                ThreadRow {
                    tid: number(1),
                    idle_of_cpu: u32s(2).is_valid(row).then(|| u32s(2).value(row)),
                    pid: number(3),
                    comm: comms.is_valid(row).then(|| comms.value(row).to_owned()),
                    parent: number(7),
                    is_kernel: flags(8).is_valid(row).then(|| flags(8).value(row)),
                    begin: times(4).value(row),
                    end: times(5).value(row),
                    is_begin_seen: flags(9).value(row),
                    is_end_seen: flags(10).value(row),
                },
            ));
        }
    }
    // Batches are sorted by begin.
    numbered.sort_unstable_by_key(|(number, _)| *number);
    Ok(numbered.into_iter().map(|(_, row)| row).collect())
}
