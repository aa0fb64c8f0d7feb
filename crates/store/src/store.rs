//! The store as a whole: written under a temporary name and renamed, opened, read by host.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use isochrone_kernel::Name;
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

use crate::batches::Batches;
use crate::checked::{Checked, Files, Summed, check_size};
use crate::columns::TableFile;
use crate::error::StoreError;
use crate::host_writer::HostWriter;
use crate::manifest::{self, HostEntry, Manifest, Source, TableEntry};
use crate::messages::{MessagesWriter, MpiWriter, Runners};
use crate::spans::SpanTables;
use crate::staging::{self, StagingDir};
use crate::state::StateRow;
use crate::states;
use crate::sums::SumTables;
use crate::sweep::Life;
use crate::table::{BATCH_ROWS, Row};
use crate::tables::{MessageRow, VERSION, ZoomRow};
use crate::threads::{self, ThreadInfo, ThreadName, ThreadRow};

/// The file of corrections.
pub(crate) const CLOCKS: &str = "sync.json";

/// Characters of a host's name in that of its directory, which has its number, too: names of files are short.
const MAX_NAME: usize = 64;

/// A store that is being written. Dropped without [`Self::commit`], it leaves nothing.
#[derive(Debug)]
pub struct StoreWriter {
    staging: StagingDir,
    hosts: u32,
    mpi: Option<TableEntry>,
}

impl StoreWriter {
    /// Creates a store that will be at `path`: an existing one is replaced when the new one is complete. One
    /// writer at a time makes it, of all processes: the others wait here, and `waits` is called once if one
    /// does.
    ///
    /// # Errors
    /// The temporary directory cannot be made or locked.
    pub fn create(path: &Path, waits: impl FnOnce()) -> Result<Self, StoreError> {
        Ok(Self { staging: StagingDir::reserve(path, waits)?, hosts: 0, mpi: None })
    }

    /// Creates the next host. `id`: identity of its clock; `offset_ns`: Unix time of the clock's zero.
    ///
    /// # Errors
    /// Its directory or a file in it cannot be made.
    pub fn host(&mut self, id: &str, name: &str, offset_ns: i64) -> Result<HostWriter, StoreError> {
        let plain: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .take(MAX_NAME)
            .collect();
        let number = self.hosts;
        self.hosts += 1;
        HostWriter::create(self.staging.directory(), number, format!("{number}-{plain}"), id, name, offset_ns)
    }

    /// The threads that ran at the packets of a host that is written. Linear in the threads.
    ///
    /// # Errors
    /// Its tables cannot be read.
    pub fn runners(&self, host: &HostEntry) -> Result<Runners, StoreError> {
        let directory = self.staging.directory().join(&host.directory);
        Runners::open(Files { directory: &directory, entries: &host.tables })
    }

    /// Creates the table of messages between hosts.
    ///
    /// # Errors
    /// Its file cannot be made.
    pub fn messages(&self) -> Result<MessagesWriter, StoreError> {
        MessagesWriter::create(self.staging.directory())
    }

    /// Creates the table of messages of MPI programs; [`Self::add_mpi`] takes it when it is complete.
    ///
    /// # Errors
    /// Its file cannot be made.
    pub fn mpi(&self) -> Result<MpiWriter, StoreError> {
        MpiWriter::create(self.staging.directory())
    }

    /// Adds the table of messages of MPI programs.
    pub fn add_mpi(&mut self, table: TableEntry) {
        self.mpi = Some(table);
    }

    /// Writes the corrections of the hosts' clocks, `sync.json`, beside the tables. `clocks`: their number.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn clocks(&self, json: &str, clocks: u64) -> Result<TableEntry, StoreError> {
        let path = self.staging.directory().join(CLOCKS);
        let mut file = Summed::new(File::create(&path).map_err(StoreError::io(&path))?);
        file.write_all(json.as_bytes()).map_err(StoreError::io(&path))?;
        let (bytes, crc32) = file.finish();
        Ok(TableEntry { name: "sync".to_owned(), rows: clocks, bytes, crc32 })
    }

    /// Renames the store to its final path. `messages`: the table of messages, if they were matched;
    /// `clocks`: the corrections, if there are any, with whether they are the whole result of the
    /// synchronization; `sources`: the files that it was made from.
    ///
    /// # Errors
    /// The manifest cannot be written, or the directory cannot be renamed.
    pub fn commit(
        mut self,
        mut hosts: Vec<HostEntry>,
        messages: Option<TableEntry>,
        clocks: Option<(TableEntry, bool)>,
        sources: Vec<Source>,
    ) -> Result<(), StoreError> {
        let are_clocks_all = clocks.as_ref().is_some_and(|(_, are_all)| *are_all);
        let clocks = clocks.map(|(entry, _)| entry);
        hosts.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        let mpi = self.mpi.take();
        Manifest {
            version: VERSION,
            crc32: String::new(),
            sources,
            hosts,
            messages,
            mpi,
            clocks,
            are_clocks_all,
        }
        .write(self.staging.directory())?;
        self.staging.commit()
    }
}

/// A store that is being read.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    manifest: Manifest,
}

impl Store {
    /// Opens a store: all files must exist, with their sizes, and the manifest and the corrections be what
    /// was written. What is read of tables later is checked when it is read: [`StoreError::Damaged`].
    ///
    /// # Errors
    /// There is none, it is of another version, or a file of it is missing, truncated or damaged.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let manifest = Manifest::read(path)?;
        let store = Self { path: path.to_owned(), manifest };
        for (path, table) in store.files() {
            check_size(&path, fs::metadata(&path).map_err(StoreError::io(&path))?.len(), table)?;
        }
        // Callers read corrections before anything else: without them, they would synchronize the hosts
        // again.
        store.clocks()?;
        Ok(store)
    }

    /// Whether a directory is a store, also a damaged one or one of another version: it has a manifest, and
    /// nothing that is of no store.
    pub fn is_at(path: &Path) -> bool {
        path.join(manifest::FILE).is_file() && matches!(staging::foreign(path), Ok(None))
    }

    /// Reads all files and compares their checksums. Linear in their sizes.
    ///
    /// # Errors
    /// A file is not what was written.
    pub fn verify(&self) -> Result<(), StoreError> {
        for (path, table) in self.files() {
            let mut file = Checked::open(&path, table)?;
            io::copy(&mut file, &mut io::sink()).map_err(StoreError::io(&path))?;
        }
        Ok(())
    }

    fn files(&self) -> impl Iterator<Item = (PathBuf, &TableEntry)> {
        let of_hosts = self.manifest.hosts.iter().flat_map(|host| {
            let directory = self.path.join(&host.directory);
            host.tables.iter().map(move |table| (directory.clone(), table))
        });
        let of_all = self.manifest.of_all().map(|table| (self.path.clone(), table));
        let tables = of_hosts.chain(of_all);
        let clocks = self.manifest.clocks.iter().map(|table| (self.path.join(CLOCKS), table));
        tables
            .map(|(directory, table)| (directory.join(format!("{}.arrow", table.name)), table))
            .chain(clocks)
    }

    /// The table of messages between hosts; `None` if they were not matched.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn message_table(&self) -> Result<Option<TableFile>, StoreError> {
        let open = |files| TableFile::open(files, MessageRow::TABLE);
        self.of_all(MessageRow::TABLE).map(open).transpose()
    }

    /// The corrections of the hosts' clocks as of when the store was made: the text of a `sync.json`. `None`
    /// if there were none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn clocks(&self) -> Result<Option<String>, StoreError> {
        let path = self.path.join(CLOCKS);
        let read = |table| {
            let mut text = String::new();
            Checked::open(&path, table)?.read_to_string(&mut text).map_err(StoreError::io(&path))?;
            Ok(text)
        };
        self.manifest.clocks.as_ref().map(read).transpose()
    }

    /// A table of all hosts by its name, if there is one.
    pub(crate) fn of_all(&self, name: &str) -> Option<Files<'_>> {
        let entry = self.manifest.of_all().find(|table| table.name == name)?;
        Some(Files { directory: &self.path, entries: std::slice::from_ref(entry) })
    }

    /// Makes a damaged store invalid, so that a cache makes it again. `false`: nothing is damaged, as where
    /// another process has made it again meanwhile, or it cannot be changed. Linear in its size.
    pub fn discard_if_damaged(path: &Path) -> bool {
        let is_damaged = match Self::open(path).and_then(|store| store.verify()) {
            Err(StoreError::Io { .. } | StoreError::Version { .. }) | Ok(()) => false,
            Err(_) => true,
        };
        is_damaged && Self::is_at(path) && fs::remove_file(path.join(manifest::FILE)).is_ok()
    }

    /// Removes the store at a path. Processes that have it open can go on reading it.
    ///
    /// # Errors
    /// A file cannot be removed: without its manifest, what is left is no store.
    pub fn remove(path: &Path) -> Result<(), StoreError> {
        let manifest = path.join(manifest::FILE);
        fs::remove_file(&manifest).map_err(StoreError::io(&manifest))?;
        fs::remove_dir_all(path).map_err(StoreError::io(path))
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Opens the tables of a host of the manifest.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn host(&self, entry: &HostEntry) -> Result<HostStore, StoreError> {
        let directory = self.path.join(&entry.directory);
        let files = Files { directory: &directory, entries: &entry.tables };
        let spans = SpanTables::open(files)?;
        let lives = threads::lives(spans.threads(), entry.range.unwrap_or_default(), entry.recorded);
        let levels = Batches::levels(files, entry.levels)?;
        let sums = SumTables::open(files, entry.sums)?;
        Ok(HostStore { entry: entry.clone(), directory, spans, lives, levels, sums })
    }
}

/// The window that what covers an instant overlaps.
pub(crate) fn covering(at: RawNs) -> Window<RawNs> {
    Window::new(at, at.saturating_add(1))
}

/// The tables of a host.
#[derive(Debug)]
pub struct HostStore {
    entry: HostEntry,
    directory: PathBuf,
    spans: SpanTables,
    /// By number of the thread.
    lives: Vec<Life>,
    levels: Vec<Batches<ZoomRow>>,
    sums: SumTables,
}

impl HostStore {
    /// The error of who was stopped while reading it.
    pub fn stopped(&self) -> StoreError {
        StoreError::Stopped { store: self.directory.clone() }
    }

    /// Its manifest entry.
    pub fn entry(&self) -> &HostEntry {
        &self.entry
    }

    /// Its threads, by number.
    pub fn threads(&self) -> &[ThreadInfo] {
        self.spans.threads()
    }

    /// A thread by its number. `None`: there is no such thread.
    pub fn thread(&self, thread: ThreadRow) -> Option<&ThreadInfo> {
        self.threads().get(thread.index())
    }

    /// The thread of a number in columns of spans, if it is known: see `thread_names` in `docs/store.md`.
    pub fn thread_of(&self, name: ThreadName) -> Option<ThreadRow> {
        self.spans.thread(name)
    }

    /// The number of each thread, by its tid; of the last one, where several had it. Linear in the threads.
    pub fn threads_by_tid(&self) -> FxHashMap<i32, ThreadRow> {
        let threads = (0..).map(ThreadRow).zip(self.threads());
        threads.filter_map(|(number, thread)| Some((thread.tid?, number))).collect()
    }

    /// One of its tables, by its name.
    ///
    /// # Errors
    /// It is not there or cannot be read.
    pub fn table(&self, name: &str) -> Result<TableFile, StoreError> {
        TableFile::open(self.tables(), name)
    }

    /// The states of some threads in a window, cut to it: by thread and start, without holes while a thread
    /// lives. `threads`: sorted. Linear in the spans that overlap the window.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn states(&self, threads: &[ThreadRow], window: Window<RawNs>) -> Result<Vec<StateRow>, StoreError> {
        states::rows(&self.spans, &self.lives, threads, self.within(window))
    }

    /// The state of a thread at an instant: the row ends with the instant. `None` if it does not live. Reads
    /// the spans around the instant only, however long the trace is.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn state_at(&self, thread: ThreadRow, at: RawNs) -> Result<Option<StateRow>, StoreError> {
        Ok(self.states(&[thread], covering(at))?.pop())
    }

    /// The names of all phases of programs.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn phase_names(&self) -> Result<Vec<Name>, StoreError> {
        Ok(self.spans.phases.names()?.to_vec())
    }

    /// Instants, in order, that cut what the host did into parts of about `rows` rows: the starts of batches.
    pub fn cuts(&self, rows: u64) -> Vec<RawNs> {
        let mut starts = self.spans.batch_starts();
        starts.sort_unstable();
        let batches = usize::try_from(rows / BATCH_ROWS as u64).unwrap_or(usize::MAX).max(1);
        let mut cuts: Vec<RawNs> = starts.into_iter().skip(batches).step_by(batches).collect();
        cuts.dedup();
        cuts
    }

    /// A window in parts of about so many rows; one at least.
    pub fn parts(&self, window: Window<RawNs>, rows: u64) -> Vec<Window<RawNs>> {
        let cuts = self.cuts(rows).into_iter().filter(|cut| window.start < *cut && *cut < window.end);
        let edges: Vec<RawNs> = std::iter::once(window.start).chain(cuts).chain([window.end]).collect();
        edges.windows(2).map(|edges| Window::new(edges[0], edges[1])).collect()
    }

    pub(crate) fn tables(&self) -> Files<'_> {
        Files { directory: &self.directory, entries: &self.entry.tables }
    }

    /// The life of a thread, as the sweep needs it.
    pub(crate) fn life(&self, thread: ThreadRow) -> Option<&Life> {
        self.lives.get(thread.index())
    }

    /// Its tables of sums, opened.
    pub(crate) fn sum_tables(&self) -> &SumTables {
        &self.sums
    }

    /// The opened tables.
    pub(crate) fn spans(&self) -> &SpanTables {
        &self.spans
    }

    /// A window, cut to the range of the host.
    pub(crate) fn within(&self, window: Window<RawNs>) -> Window<RawNs> {
        let range = self.entry.range.unwrap_or_default();
        Window::new(window.start.max(range.start), window.end.min(range.end))
    }

    /// As [`Self::states`], with about as many rows of each thread as there are pixels at most: where several
    /// states share a pixel, the one that fills most of it.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn pixels(
        &self,
        threads: &[ThreadRow],
        window: Window<RawNs>,
        pixels: u32,
    ) -> Result<Vec<StateRow>, StoreError> {
        states::zoomed(&self.spans, &self.levels, &self.lives, threads, (self.within(window), pixels))
    }
}
