//! Compares the packets of a stream file with its index, as both grow. Nothing is read by an index: what
//! packets say of themselves counts, and an index that says something else is noted. Where all packets agree
//! and the index continues, the file has lost packets.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use isochrone_diagnostic::Diagnostic;

use super::Packet;
use super::index::{Entries, IndexEntry};
use super::missing::{self, Proven};
use crate::error::{Error, Reason};
use crate::mapping::FileMap;
use crate::plan::Plan;

/// A tracer writes the entry of a packet right after the packet. An index that lacks more entries than this
/// is not late but wrong.
const MAX_LATE: usize = 64;

/// The comparison of one stream file with its index.
#[derive(Debug, Default)]
pub(super) struct IndexCheck {
    state: State,
    /// Number of packets agreed before the first that did not.
    agreeing: usize,
    /// Packets (with the ids of their classes) that the index has no entries for yet.
    late: VecDeque<(Packet, u64)>,
    /// Where the last of those that agreed ends.
    end: u64,
    /// Packets that are proven and not there.
    proven: Vec<Proven>,
    note: Option<Diagnostic>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Neither an index has been seen nor a packet.
    #[default]
    Unknown,
    Compared,
    Disagrees,
    /// There is no index, or one that nothing can be made of.
    Done,
}

/// An index as it is now.
#[derive(Debug)]
pub(super) struct IndexFile {
    path: PathBuf,
    map: FileMap,
}

/// The comparison while packets are being found.
#[derive(Debug)]
pub(super) struct Comparison<'c> {
    check: &'c mut IndexCheck,
    index: Option<(&'c IndexFile, Option<Entries<'c>>)>,
}

impl IndexFile {
    /// The index of a stream file, if it has one.
    pub(super) fn open(directory: &Path, name: &OsStr) -> Result<Option<Self>, Error> {
        let mut file = name.to_owned();
        file.push(".idx");
        let path = directory.join("index").join(file);
        let absent = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
        match FileMap::open(&path) {
            Ok(map) => Ok(Some(Self { path, map })),
            Err(error) if matches!(error.reason(), Reason::Read(cause) if absent(cause.kind())) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.map.bytes()
    }

    pub(super) fn note(&self, message: &str) -> Diagnostic {
        Diagnostic::note(&self.path, format!("index not used: {message}"))
    }
}

impl IndexCheck {
    /// Whether an index could still add something.
    pub(super) fn wants_index(&self) -> bool {
        matches!(self.state, State::Unknown | State::Compared)
    }

    /// What is wrong with the index, or with the file by what it says.
    pub(super) fn note(&self) -> Option<&Diagnostic> {
        self.note.as_ref()
    }

    /// Packets after the last one of the file, by its index.
    pub(super) fn proven(&self) -> &[Proven] {
        &self.proven
    }

    /// There is an index that cannot be read.
    pub(super) fn unreadable(&mut self, error: &Error) {
        let note = Some(missing::unreadable(error));
        *self = Self { state: State::Done, note, ..Self::default() };
    }

    /// Continues with the index as it is now: its new entries are compared with the packets that waited for
    /// them.
    pub(super) fn go_on<'c>(&'c mut self, index: Option<&'c IndexFile>) -> Comparison<'c> {
        if !self.wants_index() {
            return Comparison { check: self, index: None };
        }
        let Some(index) = index else {
            if self.state == State::Compared {
                // It has been taken away.
                *self = Self { state: State::Done, ..Self::default() };
            }
            return Comparison { check: self, index: None };
        };
        self.state = State::Compared;
        let (entries, note) = match Entries::new(index.bytes()) {
            Ok(entries) => (Some(entries), None),
            Err(message) => (None, Some(index.note(&message))),
        };
        self.note = note;
        while let Some(entry) = entries.and_then(|entries| entries.get(self.agreeing))
            && self.state == State::Compared
            && let Some((packet, class)) = self.late.pop_front()
        {
            self.compare(&entry, &packet, class);
        }
        Comparison { check: self, index: Some((index, entries)) }
    }

    fn compare(&mut self, entry: &IndexEntry, packet: &Packet, stream_class: u64) {
        let same = entry.offset == packet.offset
            && entry.total_bits == packet.total_bits
            && entry.content_bits == packet.content_bits
            && packet.begin().is_none_or(|begin| begin == entry.begin)
            && packet.end().is_none_or(|end| end == entry.end)
            && entry.stream_class == stream_class;
        if same {
            self.agreeing += 1;
            self.end = packet.offset + packet.total_bits / 8;
        } else {
            self.state = State::Disagrees;
            self.late = VecDeque::new();
        }
    }
}

impl Comparison<'_> {
    /// One more packet of the file, and the id of its stream class.
    pub(super) fn packet(&mut self, packet: &Packet, stream_class: u64) {
        let check = &mut *self.check;
        match check.state {
            State::Compared if !packet.open_ended => {}
            State::Disagrees | State::Done => return,
            // An index that appears after the first packets need not begin with them; and packets that say
            // nothing of their size cannot disagree.
            State::Compared | State::Unknown => {
                (check.state, check.note) = (State::Done, None);
                return;
            }
        }
        let entry = self.index.and_then(|(_, entries)| entries?.get(check.agreeing));
        match entry.filter(|_| check.late.is_empty()) {
            Some(entry) => check.compare(&entry, packet, stream_class),
            None if check.late.len() < MAX_LATE => check.late.push_back((packet.clone(), stream_class)),
            None => {
                check.state = if check.note.is_some() { State::Done } else { State::Disagrees };
                check.late = VecDeque::new();
            }
        }
    }

    /// Ends the look: notes what is wrong with the index as it is now, and packets that it proves. `file` is
    /// the stream file, of which this many bytes were looked at.
    pub(super) fn finish(self, file: &Path, bytes: u64, plan: &Plan) {
        let Some((index, Some(entries))) = self.index else { return };
        let check = self.check;
        check.proven.clear();
        if check.state == State::Compared
            && check.late.is_empty()
            && let Some(next) = entries.get(check.agreeing)
            && let Some(proven) = missing::proven(entries, check.agreeing, check.end, plan)
        {
            // A tracer writes the packet first: what the file has got since it was mapped is found at the
            // next look.
            let end = next.offset.saturating_add(next.total_bits / 8);
            let is_new = end > bytes && fs::metadata(file).is_ok_and(|now| now.len() >= end);
            check.note = (!is_new).then(|| {
                let message = match proven.iter().map(|proven| proven.packets).sum() {
                    1 => "the last packet that the index lists is lost".to_owned(),
                    count => format!("from here on, {count} packets that the index lists are lost"),
                };
                Diagnostic::loss(file, message).at(None, next.offset)
            });
            check.proven = if is_new { Vec::new() } else { proven };
            return;
        }
        let agrees = match check.state {
            State::Compared => check.late.is_empty() && entries.len() == check.agreeing,
            State::Disagrees => false,
            State::Unknown | State::Done => true,
        };
        check.note = (!agrees).then(|| {
            let file = file.file_name().unwrap_or_default().display();
            index.note(&format!("entry {} disagrees with the packets of {file}", check.agreeing))
        });
    }
}
