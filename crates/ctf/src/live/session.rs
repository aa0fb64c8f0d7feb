//! A session that is followed: its traces as files that grow, and how far they are known.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::LiveError;
use super::connection::{Connection, MAX_ENTRIES, Needs, Next, TOO_MUCH_METADATA};
use super::wire::StreamEntry;
use crate::metadata::MAX_METADATA;

/// This many packets of a stream are taken before the others have their turn.
const PACKETS_A_TURN: usize = 16;

/// How much may be kept of some sessions together.
#[derive(Debug)]
pub struct Room {
    most: u64,
    taken: AtomicU64,
}

impl Room {
    /// Number of bytes.
    pub fn new(most: u64) -> Self {
        Self { most, taken: AtomicU64::new(0) }
    }

    /// Takes room for bytes, before they are written.
    fn take(&self, bytes: u64) -> Result<(), LiveError> {
        let before = self.taken.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) <= self.most { Ok(()) } else { Err(LiveError::Full(self.most)) }
    }
}

/// A session of a relay daemon, and the directory in which its traces are kept.
#[derive(Debug)]
pub struct LiveSession {
    connection: Connection,
    room: Arc<Room>,
    host: String,
    name: String,
    id: u64,
    timer_us: u32,
    directory: PathBuf,
    /// By the relay daemon's numbers.
    traces: BTreeMap<u64, Files>,
    streams: Vec<LiveStream>,
    /// Their `by_path` by the paths of their files.
    by_path: HashMap<PathBuf, usize>,
    is_over: bool,
}

/// The files of a trace.
#[derive(Debug)]
struct Files {
    directory: PathBuf,
    /// The stream of its metadata.
    metadata: Option<u64>,
    /// Bytes of the metadata so far.
    metadata_bytes: u64,
    /// Bytes of them that come again after a connection was made again.
    again: u64,
}

#[derive(Debug)]
struct LiveStream {
    entry: StreamEntry,
    path: PathBuf,
    file: Option<File>,
    /// Bytes so far: packets before that were received.
    bytes: u64,
    /// No event that is still to come is earlier, cycles.
    through: Option<u64>,
    is_over: bool,
}

/// A trace of a session, which can be opened as soon as it has metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveTrace {
    /// Its directory.
    pub directory: PathBuf,
    /// No event that is still to come is earlier than this, cycles of its clock; `None`: nothing is known of
    /// a stream.
    pub through: Option<u64>,
    /// Whether all of it is there.
    pub is_over: bool,
}

/// What one look at a session brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of packets and metadata.
    pub bytes: u64,
    /// Whether the session has ended, and all of it is there.
    pub is_over: bool,
}

impl LiveSession {
    /// Attaches a session of a host, and keeps what comes in a directory, which should be empty, as far as
    /// there is room.
    ///
    /// # Errors
    /// There is none, it is not a live one, or the connection is lost.
    pub fn attach(
        mut connection: Connection,
        host: &str,
        name: &str,
        directory: &Path,
        room: Arc<Room>,
    ) -> Result<Self, LiveError> {
        let (id, timer_us, streams) = find(&mut connection, host, name)?;
        let (host, name, directory) = (host.to_owned(), name.to_owned(), directory.to_owned());
        let mut session = Self {
            connection,
            room,
            host,
            name,
            id,
            timer_us,
            directory,
            traces: BTreeMap::new(),
            streams: Vec::new(),
            by_path: HashMap::new(),
            is_over: false,
        };
        session.add(streams)?;
        Ok(session)
    }

    /// Continues over another connection, after one was lost: what is there already is not asked for again.
    ///
    /// # Errors
    /// As [`Self::attach`]: where there is no such session any more, it has ended meanwhile.
    pub fn reattach(&mut self, mut connection: Connection) -> Result<(), LiveError> {
        let (id, _, streams) = find(&mut connection, &self.host, &self.name)?;
        (self.connection, self.id) = (connection, id);
        for files in self.traces.values_mut() {
            files.again = files.metadata_bytes;
        }
        self.add(streams)
    }

    /// What it is called: `host/session`.
    pub fn label(&self) -> String {
        label(&self.host, &self.name)
    }

    /// How often what is recorded is sent, µs.
    pub fn timer_us(&self) -> u32 {
        self.timer_us
    }

    /// Marks the session as ended: what has arrived is all of it.
    pub fn give_up(&mut self) {
        self.is_over = true;
    }

    /// Its traces that have metadata, in the order in which they were announced.
    pub fn traces(&self) -> impl Iterator<Item = LiveTrace> + '_ {
        let with_metadata = self.traces.iter().filter(|(_, files)| files.metadata_bytes > 0);
        with_metadata.map(|(&number, files)| {
            let of_trace = || self.streams.iter().filter(move |stream| stream.entry.trace == number);
            let open = || of_trace().filter(|stream| !stream.is_over && !self.is_over);
            let is_over = open().next().is_none();
            let through = open().map(|stream| stream.through).min().flatten();
            LiveTrace { directory: files.directory.clone(), through, is_over }
        })
    }

    /// Whether streams are there of whose trace nothing can be read yet: what they hold may be earlier than
    /// all else.
    pub fn has_unread(&self) -> bool {
        let is_unread = |files: &Files| files.metadata_bytes == 0;
        !self.is_over && self.traces.values().any(is_unread)
    }

    /// Directories with packets that cannot be read: no metadata have come that say what is in them.
    pub fn unreadable(&self) -> BTreeSet<PathBuf> {
        let is_unreadable = |stream: &&LiveStream| {
            let files = self.traces.get(&stream.entry.trace);
            let is_described =
                |files: &Files| files.metadata_bytes > 0 && stream.path.parent() == Some(&files.directory);
            stream.bytes > 0 && !files.is_some_and(is_described)
        };
        let unreadable = self.streams.iter().filter(is_unreadable);
        unreadable.filter_map(|stream| stream.path.parent()).map(Path::to_owned).collect()
    }

    /// Takes what is there of all streams, a part of it where that is much.
    ///
    /// # Errors
    /// The connection is lost, the relay daemon refuses, or what comes cannot be kept. What came before is
    /// kept.
    pub fn poll(&mut self) -> Result<Progress, LiveError> {
        let mut bytes = 0;
        if self.is_over {
            return Ok(Progress { bytes, is_over: true });
        }
        bytes += self.read_metadata()?;
        // Streams that are announced meanwhile have their turn at once: what they hold may be earlier than
        // what others do.
        let mut index = 0;
        while index < self.streams.len() {
            bytes += self.read_stream(index)?;
            index += 1;
        }
        if self.streams.iter().all(|stream| stream.is_over) {
            match self.connection.new_streams(self.id)? {
                Some(streams) => self.add(streams)?,
                None => self.is_over = true,
            }
        }
        Ok(Progress { bytes, is_over: self.is_over })
    }

    fn read_stream(&mut self, index: usize) -> Result<u64, LiveError> {
        let (mut taken, mut buffer) = (0, Vec::new());
        if self.streams[index].is_over {
            return Ok(0);
        }
        let stream = self.streams[index].entry.id;
        for _ in 0..PACKETS_A_TURN {
            let (next, needs) = self.connection.next(stream)?;
            taken += self.satisfy(needs)?;
            match next {
                Next::Later => break,
                Next::Quiet(through) => {
                    let known = &mut self.streams[index].through;
                    *known = (*known).max(Some(through));
                    break;
                }
                Next::Over => {
                    self.streams[index].is_over = true;
                    break;
                }
                Next::Packet { offset, bytes, end } => {
                    // After a connection was made again, packets are announced that are there.
                    if offset >= self.streams[index].bytes {
                        self.room.take(bytes.into())?;
                        taken += self.read_packet(index, (offset, bytes), &mut buffer)?;
                    }
                    let known = &mut self.streams[index].through;
                    *known = (*known).max(Some(end));
                }
            }
        }
        Ok(taken)
    }

    fn read_packet(
        &mut self,
        index: usize,
        packet: (u64, u32),
        buffer: &mut Vec<u8>,
    ) -> Result<u64, LiveError> {
        /// A relay daemon that never gives what it has announced.
        const TRIES: usize = 100;
        let (stream, mut taken) = (self.streams[index].entry.id, 0);
        for _ in 0..TRIES {
            match self.connection.packet(stream, packet, buffer)? {
                Ok(()) => {
                    let stream = &mut self.streams[index];
                    let spool = |source| LiveError::Spool { path: stream.path.clone(), source };
                    if stream.file.is_none() {
                        stream.file = Some(append(&stream.path).map_err(spool)?);
                    }
                    if let Some(file) = &mut stream.file {
                        file.write_all(buffer).map_err(spool)?;
                    }
                    stream.bytes = packet.0.saturating_add(packet.1.into());
                    return Ok(taken + u64::from(packet.1));
                }
                Err(needs) => taken += self.satisfy(needs)?,
            }
        }
        Err(self.connection.protocol("a packet that it announces and does not give"))
    }

    fn satisfy(&mut self, needs: Needs) -> Result<u64, LiveError> {
        if needs.streams
            && let Some(streams) = self.connection.new_streams(self.id)?
        {
            self.add(streams)?;
        }
        if needs.metadata || needs.streams { self.read_metadata() } else { Ok(0) }
    }

    /// Takes all metadata that are new.
    fn read_metadata(&mut self) -> Result<u64, LiveError> {
        let (mut taken, mut buffer) = (0, Vec::new());
        for files in self.traces.values_mut() {
            let Some(stream) = files.metadata else { continue };
            while self.connection.metadata(stream, &mut buffer)? {
                let again = usize::try_from(files.again).unwrap_or(usize::MAX).min(buffer.len());
                files.again -= again as u64;
                let new = &buffer[again..];
                if files.metadata_bytes + new.len() as u64 > MAX_METADATA {
                    return Err(self.connection.protocol(TOO_MUCH_METADATA));
                }
                self.room.take(new.len() as u64)?;
                let path = files.directory.join("metadata");
                let written = append(&path).and_then(|mut file| file.write_all(new));
                written.map_err(|source| LiveError::Spool { path, source })?;
                files.metadata_bytes += new.len() as u64;
                taken += new.len() as u64;
            }
        }
        Ok(taken)
    }

    /// Adds streams, or gives those that are known their new numbers.
    fn add(&mut self, streams: Vec<StreamEntry>) -> Result<(), LiveError> {
        if self.streams.len() + self.traces.len() + streams.len() > MAX_ENTRIES as usize {
            return Err(self.connection.protocol("more streams than there can be"));
        }
        for entry in streams {
            let directory = self.directory.join(inner(&entry.path));
            let files = self.traces.entry(entry.trace).or_insert_with(|| Files {
                directory: directory.clone(),
                metadata: None,
                metadata_bytes: 0,
                again: 0,
            });
            fs::create_dir_all(&directory)
                .map_err(|source| LiveError::Spool { path: directory.clone(), source })?;
            if entry.is_metadata {
                files.metadata = Some(entry.id);
                continue;
            }
            let path = directory.join(inner(&entry.file));
            match self.by_path.entry(path) {
                Entry::Occupied(known) => self.streams[*known.get()].entry = entry,
                Entry::Vacant(new) => {
                    let path = new.key().clone();
                    new.insert(self.streams.len());
                    let (file, bytes, through, is_over) = (None, 0, None, false);
                    self.streams.push(LiveStream { entry, path, file, bytes, through, is_over });
                }
            }
        }
        Ok(())
    }
}

/// Attaches a session by its names: its number, its timer and its streams.
fn find(
    connection: &mut Connection,
    host: &str,
    name: &str,
) -> Result<(u64, u32, Vec<StreamEntry>), LiveError> {
    let sessions = connection.sessions()?;
    let found = sessions.iter().find(|session| session.host == host && session.name == name);
    let Some(session) = found else {
        return Err(LiveError::NoSession {
            address: connection.address().to_owned(),
            name: label(host, name),
            known: sessions.iter().map(|session| label(&session.host, &session.name)).collect(),
        });
    };
    Ok((session.id, session.timer_us, connection.attach(session.id)?))
}

fn label(host: &str, name: &str) -> String {
    format!("{host}/{name}")
}

fn append(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// A path that the relay daemon names, within a directory of ours: it cannot lead out of it.
fn inner(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        let check = |path, expect: &str| assert_eq!(inner(path), Path::new(expect), "{path}");
        check("ust/uid/0/64-bit", "ust/uid/0/64-bit");
        check("/etc/passwd", "etc/passwd");
        check("../../up/./file", "up/file");
        check("", "");
    }
}
