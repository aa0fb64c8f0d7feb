//! The store as a whole: written under a temporary name and renamed, opened, read by host.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use isochrone_kernel::{Cause, Missed, Name, Spans, ThreadId};
use rustc_hash::FxHashMap;

use crate::batches::Batches;
use crate::checked::{Checked, Files, Summed, check_size};
use crate::columns::TableFile;
use crate::error::StoreError;
use crate::host_writer::HostWriter;
use crate::instant;
use crate::losses::{Loss, read_losses};
use crate::manifest::{self, HostEntry, Manifest, Source, TableEntry, VERSION};
use crate::messages::{self, Message, MessagesWriter, MpiMessage, MpiWriter};
use crate::open_files::{self, OpenFile};
use crate::packets::{self, Runner};
use crate::place::{self, Place};
use crate::rows_between;
use crate::span_rows::{CallSpan, PhaseSpan};
use crate::spans::{SpanTables, each};
use crate::state::StateRow;
use crate::states;
use crate::sweep::Life;
use crate::table::{BATCH_ROWS, Row};
use crate::tables::{MessageRow, MissedRow, ZoomRow};
use crate::threads::{self, ThreadRow};
use crate::whole_state;

/// The file of corrections.
pub(crate) const CLOCKS: &str = "sync.json";

/// A store that is being written. Dropped without [`Self::commit`], it leaves nothing.
#[derive(Debug)]
pub struct StoreWriter {
    place: Place,
    hosts: u32,
    mpi: Option<TableEntry>,
}

impl StoreWriter {
    /// Creates a store that will be at `path`: an existing one is replaced when the new one is complete. One writer at a time makes it, of
    /// however many processes: the others wait here, and `waits` is called once if it is so.
    ///
    /// # Errors
    /// The temporary directory cannot be made or locked.
    pub fn create(path: &Path, waits: impl FnOnce()) -> Result<Self, StoreError> {
        Ok(Self { place: Place::reserve(path, waits)?, hosts: 0, mpi: None })
    }

    /// Creates the next host. `id`: identity of its clock; `offset_ns`: Unix time of the clock's zero.
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
        HostWriter::create(self.place.directory(), number, format!("{number}-{plain}"), id, name, offset_ns)
    }

    /// Creates the table of messages between hosts.
    ///
    /// # Errors
    /// Its file cannot be made.
    pub fn messages(&self) -> Result<MessagesWriter, StoreError> {
        MessagesWriter::create(self.place.directory())
    }

    /// Creates the table of messages of MPI programs; [`Self::add_mpi`] takes it when it is complete.
    ///
    /// # Errors
    /// Its file cannot be made.
    pub fn mpi(&self) -> Result<MpiWriter, StoreError> {
        MpiWriter::create(self.place.directory())
    }

    /// Adds the table of messages of MPI programs.
    pub fn add_mpi(&mut self, table: TableEntry) {
        self.mpi = Some(table);
    }

    /// Writes the corrections of the hosts' clocks, `sync.json`, beside the tables. `clocks`: how many there are.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn clocks(&self, json: &str, clocks: u64) -> Result<TableEntry, StoreError> {
        let path = self.place.directory().join(CLOCKS);
        let mut file = Summed::new(File::create(&path).map_err(StoreError::io(&path))?);
        file.write_all(json.as_bytes()).map_err(StoreError::io(&path))?;
        let (bytes, crc32) = file.finish();
        Ok(TableEntry { name: "sync".to_owned(), rows: clocks, bytes, crc32 })
    }

    /// Renames the store to its final path. `messages`: the table of messages, if they were matched; `clocks`: the
    /// corrections, if there are any, with whether they are all that there is to say of the synchronization; `sources`: the files that it
    /// was made from.
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
        .write(self.place.directory())?;
        self.place.commit()
    }
}

/// A store that is being read.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    manifest: Manifest,
}

impl Store {
    /// Opens a store: all files must exist, with their sizes, and the manifest and the corrections be what was written. What is read of
    /// tables later is checked when it is read: [`StoreError::Damaged`].
    ///
    /// # Errors
    /// There is none, it is of another version, or a file of it is missing, truncated or damaged.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let manifest = Manifest::read(path)?;
        let store = Self { path: path.to_owned(), manifest };
        for (path, table) in store.files() {
            check_size(&path, fs::metadata(&path).map_err(StoreError::io(&path))?.len(), table)?;
        }
        // Who takes corrections does so before anything else: without them, hosts would be synchronized again.
        store.clocks()?;
        Ok(store)
    }

    /// Whether a directory is a store, also a damaged one or one of another version: it has a manifest, and nothing that is of no store.
    pub fn is_at(path: &Path) -> bool {
        path.join(manifest::FILE).is_file() && matches!(place::foreign(path), Ok(None))
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
        let of_all = self.manifest.messages.iter().chain(&self.manifest.mpi);
        let of_all = of_all.map(|table| (self.path.clone(), table));
        let tables = of_hosts.chain(of_all);
        let clocks = self.manifest.clocks.iter().map(|table| (self.path.join(CLOCKS), table));
        tables
            .map(|(directory, table)| (directory.join(format!("{}.arrow", table.name)), table))
            .chain(clocks)
    }

    /// Passes all messages between hosts to `to`, none if they were not matched. Batches are in the order of the times at
    /// which their first messages were sent, each on its own clock.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn messages(&self, to: impl FnMut(Message)) -> Result<(), StoreError> {
        match &self.manifest.messages {
            Some(table) => messages::read(self.of_all(table), to),
            None => Ok(()),
        }
    }

    /// Passes all messages of MPI programs to `to`, in the order of [`Self::messages`].
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn mpi(&self, to: impl FnMut(MpiMessage)) -> Result<(), StoreError> {
        match &self.manifest.mpi {
            Some(table) => messages::read_mpi(self.of_all(table), to),
            None => Ok(()),
        }
    }

    /// The table of messages between hosts; `None` if they were not matched.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn message_table(&self) -> Result<Option<TableFile>, StoreError> {
        let open = |table| TableFile::open(self.of_all(table), MessageRow::TABLE);
        self.manifest.messages.as_ref().map(open).transpose()
    }

    /// The corrections of the hosts' clocks as of when the store was made: the text of a `sync.json`. `None` if there were
    /// none.
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

    /// A table of all hosts.
    fn of_all<'s>(&'s self, table: &'s TableEntry) -> Files<'s> {
        Files { directory: &self.path, entries: std::slice::from_ref(table) }
    }

    /// Makes a store in which something is damaged none at all, so that it is made anew where it is a cache. `false`: nothing is damaged,
    /// as where another process has made it anew meanwhile, or nothing can replace it. Linear in its size.
    pub fn discard_if_damaged(path: &Path) -> bool {
        let is_damaged = match Self::open(path).and_then(|store| store.verify()) {
            Err(StoreError::Io { .. } | StoreError::Version { .. }) | Ok(()) => false,
            Err(_) => true,
        };
        is_damaged && Self::is_at(path) && fs::remove_file(path.join(manifest::FILE)).is_ok()
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
        let levels = states::open_levels(files, entry.levels)?;
        Ok(HostStore { entry: entry.clone(), directory, spans, lives, levels })
    }
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
}

impl HostStore {
    /// Its manifest entry.
    pub fn entry(&self) -> &HostEntry {
        &self.entry
    }

    /// Its threads, by number.
    pub fn threads(&self) -> &[ThreadRow] {
        self.spans.threads()
    }

    /// The number of the thread that rows of spans have a number for, if it is known: see `thread_names` in `docs/store.md`.
    pub fn thread_of(&self, name: u32) -> Option<u32> {
        self.spans.thread(name)
    }

    /// The number of each thread, by its tid; of the last one, where several had it. Linear in the threads.
    pub fn threads_by_tid(&self) -> FxHashMap<i32, u32> {
        let threads = (0..).zip(self.threads());
        threads.filter_map(|(number, thread)| Some((thread.tid?, number))).collect()
    }

    /// One of its tables, by its name.
    ///
    /// # Errors
    /// It is not there or cannot be read.
    pub fn table(&self, name: &str) -> Result<TableFile, StoreError> {
        TableFile::open(self.tables(), name)
    }

    /// The states of some threads in a window of raw time, cut to it: by thread and begin, without holes while a thread
    /// lives. `threads`: their numbers, sorted. Linear in the spans that overlap the window.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn states(&self, threads: &[u32], window: (i64, i64)) -> Result<Vec<StateRow>, StoreError> {
        states::rows(&self.spans, &self.lives, threads, self.within(window))
    }

    /// The state of a thread at an instant of raw time: the row ends with the instant. `None` if it does not live. Reads
    /// the spans around the instant only, however long the trace is.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn state_at(&self, thread: u32, raw: i64) -> Result<Option<StateRow>, StoreError> {
        Ok(self.states(&[thread], (raw, raw.saturating_add(1)))?.pop())
    }

    /// The whole state of a thread at an instant of raw time: the row of [`Self::states`] of the whole trace. `None` if the
    /// thread does not live. Linear in the spans around its begin and its end; of an unknown state, in those within it.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn whole_state(&self, thread: u32, raw: i64) -> Result<Option<StateRow>, StoreError> {
        whole_state::whole_state(self, thread, raw)
    }

    /// The state of a thread after a whole state; `None` after its last.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn next_state(&self, state: &StateRow) -> Result<Option<StateRow>, StoreError> {
        self.whole_state(state.thread, state.end)
    }

    /// The state of a thread before a whole state; `None` before its first.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn previous_state(&self, state: &StateRow) -> Result<Option<StateRow>, StoreError> {
        self.whole_state(state.thread, state.begin.saturating_sub(1))
    }

    /// Emits the spans that contain an instant of raw time to a consumer, with the ids of [`Self::thread_id`]: what the pass over
    /// the trace would emit of it. Descriptors that were open before they were first seen are among them. Reads the spans
    /// around the instant only, however long the trace is.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn emit_at(&self, raw: i64, to: &mut impl Spans) -> Result<(), StoreError> {
        instant::emit(self, raw, to)
    }

    /// The id of a thread by its number. `None`: there is no such thread.
    pub fn thread_id(&self, number: u32) -> Option<ThreadId> {
        instant::thread_id(self, number)
    }

    /// The file descriptors that are open at an instant of raw time, by process, number and begin. `process`: those of one process only.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn open_files(&self, raw: i64, process: Option<i32>) -> Result<Vec<OpenFile>, StoreError> {
        open_files::open_files(&self.spans, (raw, raw.saturating_add(1)), process)
    }

    /// The file descriptors that are open in a window of raw time, by process, number and begin.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn files(&self, window: (i64, i64)) -> Result<Vec<OpenFile>, StoreError> {
        open_files::open_files(&self.spans, window, None)
    }

    /// The system calls of some threads that overlap a window of raw time, whole, by thread and begin. `threads`: their numbers,
    /// sorted. Linear in the calls that overlap the window.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn calls_between(&self, threads: &[u32], window: (i64, i64)) -> Result<Vec<CallSpan>, StoreError> {
        rows_between::calls(&self.spans, threads, window)
    }

    /// The names of all phases of programs.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn phase_names(&self) -> Result<Vec<Name>, StoreError> {
        self.spans.phases.names()
    }

    /// The phases of a thread that overlap a window of raw time, by begin.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn phases_of(&self, thread: u32, window: (i64, i64)) -> Result<Vec<PhaseSpan>, StoreError> {
        rows_between::phases(&self.spans, window, |row| self.spans.thread(row.thread) == Some(thread))
    }

    /// The phases of programs that end in a window of raw time, by begin. The end of the window does not belong to it.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn phases_between(&self, window: (i64, i64)) -> Result<Vec<PhaseSpan>, StoreError> {
        let (from, to) = window;
        rows_between::phases(&self.spans, (from.saturating_sub(1), to), |row| (from..to).contains(&row.end))
    }

    /// In which context a thread was woken at an instant of raw time; `None` if it was not.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn wake_cause(&self, thread: u32, at: i64) -> Result<Option<Cause>, StoreError> {
        rows_between::wake_cause(&self.spans, thread, at)
    }

    /// The descriptors that `poll`, `select` or `epoll_wait` of a thread found ready, which returned at an instant of raw time; `None`
    /// if none did. Of very many, the first are listed.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn ready_at(&self, thread: u32, at: i64) -> Result<Option<Vec<i32>>, StoreError> {
        rows_between::ready(&self.spans, thread, at)
    }

    /// Instants of raw time, in order, that cut what the host did into parts of about so many rows: by where batches begin.
    pub fn cuts(&self, rows: u64) -> Vec<i64> {
        let mut begins = self.spans.batch_begins();
        begins.sort_unstable();
        let batches = usize::try_from(rows / BATCH_ROWS as u64).unwrap_or(usize::MAX).max(1);
        let mut cuts: Vec<i64> = begins.into_iter().skip(batches).step_by(batches).collect();
        cuts.dedup();
        cuts
    }

    fn tables(&self) -> Files<'_> {
        Files { directory: &self.directory, entries: &self.entry.tables }
    }

    /// The life of a thread, as the sweep needs it.
    pub(crate) fn life(&self, thread: u32) -> Option<&Life> {
        self.lives.get(thread as usize)
    }

    /// The opened tables.
    pub(crate) fn spans(&self) -> &SpanTables {
        &self.spans
    }

    /// A window, cut to the time of which anything is known.
    fn within(&self, (from, to): (i64, i64)) -> (i64, i64) {
        let (first, last) = self.entry.range.unwrap_or_default();
        (from.max(first), to.min(last))
    }

    /// Passes the event of each packet that a thread ran at to `to`: instant (raw ns), CPU and whether it was sent, then the number of the
    /// thread. In no order. Linear in the packets; memory: that of a batch.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn runners_at_packets(&self, to: impl FnMut((i64, u32, bool), u32)) -> Result<(), StoreError> {
        packets::runners(&self.spans, to)
    }

    /// The thread that ran on a CPU when a packet was sent or received there; `None` if there is no event of a packet at that
    /// instant.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn runner_at_packet(&self, at: i64, cpu: u32, is_sent: bool) -> Result<Option<Runner>, StoreError> {
        packets::runner(&self.spans, at, cpu, is_sent)
    }

    /// As [`Self::states`], with about as many rows of each thread as there are pixels at most: where several states share a
    /// pixel, the one that fills most of it.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn pixels(
        &self,
        threads: &[u32],
        window: (i64, i64),
        pixels: u32,
    ) -> Result<Vec<StateRow>, StoreError> {
        let asked = (self.within(window), pixels);
        states::zoomed(&self.spans, &self.levels, &self.lives, threads, asked)
    }

    /// When events of the kernel may be missing. Linear in these times.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn missed(&self) -> Result<Missed, StoreError> {
        let mut missed = Missed::default();
        each(&Batches::<MissedRow>::open(self.tables())?, |row| missed.add(row.begin, row.end))?;
        Ok(missed)
    }

    /// What is missing of the host's trace in a window of raw time, by begin.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn losses(&self, window: (i64, i64)) -> Result<Vec<Loss>, StoreError> {
        read_losses(self.tables(), window)
    }
}
