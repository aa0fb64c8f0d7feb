//! The journal of a directory of pieces: which chunk was mapped to which piece, and which pieces have been
//! handed over. Lines of JSON, which are only appended, each put on the disk before anything relies on it.
//!
//! A line that cannot be read, as the last one after a loss of power, is passed over: its chunk is mapped
//! again to the same file, or its piece handed over again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use isochrone_files::output;
use serde::{Deserialize, Serialize};

use super::super::WatchError;
use crate::chunks::ChunkHead;

/// Its file name.
const NAME: &str = "journal.jsonl";
/// Version of its lines.
const VERSION: u32 = 1;
/// It is written anew without lines that are of no use any more when it has so many, and more than
/// [`MOST_LINES_EACH`] for each piece that is known.
const MOST_LINES: usize = 10_000;
const MOST_LINES_EACH: usize = 8;

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Entry {
    /// The first line.
    Opened {
        /// Version of the lines.
        version: u32,
        /// What chunks are mapped for.
        head: Box<ChunkHead>,
    },
    /// A chunk was mapped to a file.
    Mapped {
        /// The directory of the chunk.
        chunk: String,
        /// The piece.
        #[serde(flatten)]
        record: PieceRecord,
    },
    /// A piece was handed over: the command succeeded.
    HandedOver {
        /// The file name of the piece.
        piece: String,
        /// How often the command was run for it by this process.
        attempts: u32,
    },
    /// The file of a piece is gone, and was not handed over.
    Lost {
        /// The file name of the piece.
        piece: String,
    },
    /// A chunk cannot be mapped.
    Refused {
        /// The directory of the chunk.
        chunk: String,
        /// Why.
        why: String,
    },
}

/// A piece.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PieceRecord {
    /// Its file name.
    pub piece: String,
    /// The host's name.
    pub host: String,
    /// Bytes of the files of its chunk.
    pub chunk_bytes: u64,
    /// Its bytes.
    pub piece_bytes: u64,
    /// CPU time of mapping, ms.
    pub cpu_ms: u64,
}

/// A line of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// When, Unix time, s.
    at: u64,
    #[serde(flatten)]
    entry: Entry,
}

/// A piece that is known.
#[derive(Debug, Clone)]
struct Known {
    record: PieceRecord,
    /// Number of the line that recorded it: pieces are handed over in this order.
    number: usize,
    is_handed_over: bool,
}

/// The journal, open for appending.
#[derive(Debug)]
pub struct PieceJournal {
    path: PathBuf,
    file: File,
    head: ChunkHead,
    /// Lines of the file.
    lines: usize,
    /// By chunk.
    pieces: BTreeMap<String, Known>,
    /// By file name of a piece: its chunk.
    chunks: BTreeMap<String, String>,
}

/// A path as the journal has it.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl PieceJournal {
    /// Opens the journal of a directory, and gives the number of lines that cannot be read.
    pub(super) fn open(directory: &Path, head: &ChunkHead) -> Result<(Self, usize), WatchError> {
        let path = directory.join(NAME);
        let wrong = |source| WatchError::Directory { path: path.clone(), source };
        let old = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(wrong)?,
        };
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(wrong)?;
        if old.last().is_some_and(|&last| last != b'\n') {
            file.write_all(b"\n").map_err(wrong)?;
        }
        output::flush_names(directory);
        let mut this = Self {
            path: path.clone(),
            file,
            head: head.clone(),
            lines: 0,
            pieces: BTreeMap::new(),
            chunks: BTreeMap::new(),
        };
        let (mut damaged, mut has_head) = (0, false);
        for line in old.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            this.lines += 1;
            match serde_json::from_slice::<Line>(line).map(|line| line.entry) {
                Ok(Entry::Opened { head: known, .. }) if *known != *head => {
                    return Err(WatchError::OtherPieces(directory.to_owned()));
                }
                Ok(Entry::Opened { .. }) => has_head = true,
                Ok(entry) => this.take(entry),
                Err(_) => damaged += 1,
            }
        }
        if !has_head {
            this.record(Entry::Opened { version: VERSION, head: Box::new(head.clone()) })?;
        }
        Ok((this, damaged))
    }

    /// Appends an entry, which is on the disk when this returns, and gives its line.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(&mut self, entry: Entry) -> Result<String, WatchError> {
        let mut line = line_of(entry.clone());
        line.push('\n');
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|source| WatchError::Directory { path: self.path.clone(), source })?;
        self.lines += 1;
        self.take(entry);
        line.pop();
        Ok(line)
    }

    /// Whether no piece is known.
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Mapped { chunk, record } => {
                // One that was moved and mapped again is the same piece: it is not handed over twice.
                let former = self.chunks.insert(record.piece.clone(), chunk.clone());
                let former = former.and_then(|former| self.pieces.remove(&former));
                let is_handed_over = former.is_some_and(|former| former.is_handed_over);
                self.pieces.insert(chunk, Known { record, number: self.lines, is_handed_over });
            }
            Entry::HandedOver { piece, .. } => {
                let known = self.chunks.get(&piece).and_then(|chunk| self.pieces.get_mut(chunk));
                if let Some(known) = known {
                    known.is_handed_over = true;
                }
            }
            Entry::Lost { piece } => {
                self.chunks.remove(&piece).and_then(|chunk| self.pieces.remove(&chunk));
            }
            Entry::Refused { .. } | Entry::Opened { .. } => {}
        }
    }

    /// Whether a chunk was mapped.
    pub fn is_mapped(&self, chunk: &Path) -> bool {
        self.pieces.contains_key(&text(chunk))
    }

    /// Whether a piece of a file name was handed over.
    pub fn is_handed_over(&self, piece: &str) -> bool {
        let chunk = self.chunks.get(piece).and_then(|chunk| self.pieces.get(chunk));
        chunk.is_some_and(|known| known.is_handed_over)
    }

    /// The pieces that were not handed over yet, in the order in which they were mapped.
    pub fn waiting(&self) -> Vec<(PathBuf, PieceRecord)> {
        let mut waiting: Vec<(&String, &Known)> =
            self.pieces.iter().filter(|(_, known)| !known.is_handed_over).collect();
        waiting.sort_by_key(|(_, known)| known.number);
        waiting.into_iter().map(|(chunk, known)| (chunk.into(), known.record.clone())).collect()
    }

    /// The file names of the pieces that were handed over.
    pub fn handed_over_pieces(&self) -> Vec<String> {
        let done = self.pieces.values().filter(|known| known.is_handed_over);
        done.map(|known| known.record.piece.clone()).collect()
    }

    /// The chunks whose pieces were handed over.
    pub(super) fn handed_over_chunks(&self) -> Vec<PathBuf> {
        let done = self.pieces.iter().filter(|(_, known)| known.is_handed_over);
        done.map(|(chunk, _)| chunk.into()).collect()
    }

    /// Forgets chunks that are gone and whose pieces were handed over; writes a long journal anew.
    pub(super) fn forget(&mut self, is_gone: impl Fn(&str) -> bool) -> Result<(), WatchError> {
        let chunks = &mut self.chunks;
        self.pieces.retain(|chunk, known| {
            let is_kept = !known.is_handed_over || !is_gone(chunk);
            if !is_kept {
                chunks.remove(&known.record.piece);
            }
            is_kept
        });
        match self.lines > MOST_LINES.max(MOST_LINES_EACH * self.pieces.len()) {
            true => self.write_anew(),
            false => Ok(()),
        }
    }

    fn write_anew(&mut self) -> Result<(), WatchError> {
        let mut entries = vec![Entry::Opened { version: VERSION, head: Box::new(self.head.clone()) }];
        let mut pieces: Vec<(&String, &Known)> = self.pieces.iter().collect();
        pieces.sort_by_key(|(_, known)| known.number);
        for (chunk, known) in pieces {
            entries.push(Entry::Mapped { chunk: chunk.clone(), record: known.record.clone() });
            if known.is_handed_over {
                entries.push(Entry::HandedOver { piece: known.record.piece.clone(), attempts: 0 });
            }
        }
        self.lines = entries.len();
        let lines: String = entries.into_iter().map(|entry| line_of(entry) + "\n").collect();
        output::write(&self.path, lines.as_bytes())?;
        let opened = OpenOptions::new().append(true).open(&self.path);
        self.file = opened.map_err(|source| WatchError::Directory { path: self.path.clone(), source })?;
        Ok(())
    }
}

/// An entry as a line, without its end.
fn line_of(entry: Entry) -> String {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    serde_json::to_string(&Line { at, entry }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::Asked;

    fn head() -> ChunkHead {
        ChunkHead { asked: Asked::spans(), has_spans: true }
    }

    fn mapped(chunk: &str, piece: &str) -> Entry {
        let (piece, host) = (piece.to_owned(), "web1".to_owned());
        let record = PieceRecord { piece, host, chunk_bytes: 1, piece_bytes: 1, cpu_ms: 1 };
        Entry::Mapped { chunk: chunk.to_owned(), record }
    }

    fn handed_over(piece: &str) -> Entry {
        Entry::HandedOver { piece: piece.to_owned(), attempts: 1 }
    }

    /// Pieces that wait, as `a b`.
    fn waiting(journal: &PieceJournal) -> String {
        let names: Vec<String> = journal.waiting().into_iter().map(|(_, record)| record.piece).collect();
        names.join(" ")
    }

    #[test]
    fn it_is_read_wherever_it_is_cut() {
        let directory = tempfile::tempdir().unwrap();
        let (mut journal, _) = PieceJournal::open(directory.path(), &head()).unwrap();
        for entry in [mapped("/2", "b"), mapped("/1", "a"), handed_over("b"), mapped("/3", "c")] {
            journal.record(entry).unwrap();
        }
        assert_eq!(waiting(&journal), "a c");
        drop(journal);
        let path = directory.path().join(NAME);
        let whole = fs::read(&path).unwrap();
        let states = ["", "b", "b a", "a", "a c"];
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let (mut journal, damaged) = PieceJournal::open(directory.path(), &head()).unwrap();
            assert!(damaged <= 1 && states.contains(&waiting(&journal).as_str()), "{cut}");
            // What is recorded after a damaged tail is read.
            let before = waiting(&journal);
            journal.record(mapped("/4", "d")).unwrap();
            drop(journal);
            let (journal, again) = PieceJournal::open(directory.path(), &head()).unwrap();
            assert_eq!((waiting(&journal).trim(), again), (format!("{before} d").trim(), damaged), "{cut}");
        }
        fs::write(&path, whole).unwrap();
        let other = ChunkHead { has_spans: false, ..head() };
        assert!(matches!(PieceJournal::open(directory.path(), &other), Err(WatchError::OtherPieces(_))));
    }

    #[test]
    fn a_long_one_is_written_anew() {
        let directory = tempfile::tempdir().unwrap();
        let (mut journal, _) = PieceJournal::open(directory.path(), &head()).unwrap();
        for (chunk, piece) in [("/1", "a"), ("/2", "b"), ("/3", "c")] {
            journal.record(mapped(chunk, piece)).unwrap();
        }
        for _ in 0..MOST_LINES {
            journal.lines += 1;
        }
        journal.record(handed_over("a")).unwrap();
        journal.record(handed_over("b")).unwrap();
        journal.forget(|chunk| chunk != "/2").unwrap();
        let check = |journal: &PieceJournal| {
            assert_eq!(
                (waiting(journal).as_str(), journal.handed_over_pieces()),
                ("c", vec!["b".to_owned()])
            );
            assert!(journal.is_mapped(Path::new("/2")) && !journal.is_mapped(Path::new("/1")));
        };
        check(&journal);
        assert_eq!(journal.lines, 4);
        journal.record(handed_over("c")).unwrap();
        drop(journal);
        let (journal, damaged) = PieceJournal::open(directory.path(), &head()).unwrap();
        assert_eq!((waiting(&journal).as_str(), journal.handed_over_pieces().len(), damaged), ("", 2, 0));
    }

    #[test]
    fn a_chunk_that_was_moved_is_the_same_piece() {
        let directory = tempfile::tempdir().unwrap();
        let (mut journal, _) = PieceJournal::open(directory.path(), &head()).unwrap();
        for entry in [mapped("/1", "a"), handed_over("a"), mapped("/moved/1", "a")] {
            journal.record(entry).unwrap();
        }
        assert!(waiting(&journal).is_empty() && !journal.is_mapped(Path::new("/1")));
        journal.record(Entry::Lost { piece: "a".to_owned() }).unwrap();
        assert!(!journal.is_mapped(Path::new("/moved/1")));
    }
}
