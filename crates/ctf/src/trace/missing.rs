//! Packets that are not there although an index lists them: the end of a file, or all of it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use isochrone_diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

use super::index::{Entries, IndexEntry};
use super::index_check::IndexFile;
use crate::error::Error;
use crate::plan::Plan;

/// A stream file that is not there, is no file or holds no packet, although its index lists packets. A file
/// whose index lists several streams gives one for each of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingFile {
    /// Name inside the trace directory.
    pub file: String,
    /// Id of the stream class.
    pub stream_class: u64,
    /// Number of the stream in its class, where the index has it (since version 1.1).
    pub stream_id: Option<u64>,
    /// Number of the stream in [`Trace::streams`](super::Trace::streams), where other files of that stream
    /// are there.
    pub stream: Option<usize>,
    /// Packets it held.
    pub packets: u64,
    /// Start of its first packet in cycles.
    pub begin: u64,
    /// Latest end of its packets in cycles.
    pub end: u64,
    /// Free-running count of discarded events up to the end of its last packet.
    pub discarded: u64,
    /// Numbers of its first and its last packet in the stream, where the index has them (since version 1.1).
    pub sequence: Option<(u64, u64)>,
}

/// Packets of one stream that an index lists and that are not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Proven {
    pub(super) class_id: u64,
    pub(super) stream_id: Option<u64>,
    pub(super) packets: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
    discarded: u64,
    sequence: Option<(u64, u64)>,
}

/// A file of which there is nothing, and what its index says.
#[derive(Debug)]
pub(super) struct Orphan {
    pub(super) name: OsString,
    pub(super) proven: Vec<Proven>,
}

/// Number of a stream or packet in an index whose tracer did not give it any.
const NO_NUMBER: u64 = u64::MAX;

impl Proven {
    fn of(entry: &IndexEntry, is_numbered: bool) -> Self {
        let numbered = |number: u64| Some(number).filter(|&number| is_numbered && number != NO_NUMBER);
        Self {
            class_id: entry.stream_class,
            stream_id: numbered(entry.stream),
            packets: 0,
            begin: entry.begin,
            end: entry.end,
            discarded: 0,
            sequence: numbered(entry.sequence).map(|number| (number, number)),
        }
    }

    fn add(&mut self, entry: &IndexEntry) {
        self.packets += 1;
        self.begin = self.begin.min(entry.begin);
        self.end = self.end.max(entry.end);
        self.discarded = entry.discarded;
        if let Some((_, last)) = &mut self.sequence {
            *last = entry.sequence;
        }
    }

    /// The same as what a file lacks.
    pub(super) fn missing(self, file: &OsStr, stream: Option<usize>) -> MissingFile {
        let Self { class_id, stream_id, packets, begin, end, discarded, sequence } = self;
        let file = file.to_string_lossy().into_owned();
        MissingFile {
            file,
            stream_class: class_id,
            stream_id,
            stream,
            packets,
            begin,
            end,
            discarded,
            sequence,
        }
    }
}

/// What the entries of an index from one on list: packets that begin at this byte, stream by stream. `None`
/// where they cannot be entries of packets that follow each other: then they prove nothing. Linear in their
/// number.
pub(super) fn proven(entries: Entries<'_>, first: usize, offset: u64, plan: &Plan) -> Option<Vec<Proven>> {
    let mut streams: BTreeMap<(u64, u64), Proven> = BTreeMap::new();
    let mut next = offset;
    for entry in (first..).map_while(|number| entries.get(number)) {
        let possible = entry.offset == next
            && entry.total_bits > 0
            && entry.total_bits.is_multiple_of(8)
            && entry.content_bits <= entry.total_bits
            && entry.begin <= entry.end
            && plan.stream(Some(entry.stream_class)).is_some();
        next = entry.offset.checked_add(entry.total_bits / 8).filter(|_| possible)?;
        let key = (entry.stream_class, entry.stream);
        streams.entry(key).or_insert_with(|| Proven::of(&entry, entries.is_numbered())).add(&entry);
    }
    Some(streams.into_values().collect())
}

/// The indexes without a stream file, in the order of their names, and what there is to say of them.
/// `is_there` says of which files something can be read.
pub(super) fn orphans(
    directory: &Path,
    plan: &Plan,
    is_there: impl Fn(&OsStr) -> bool,
) -> (Vec<Orphan>, Vec<Diagnostic>) {
    let (mut orphans, mut diagnostics) = (Vec::new(), Vec::new());
    for name in indexed(directory).into_iter().filter(|name| !is_there(name)) {
        match IndexFile::open(directory, &name) {
            Ok(Some(index)) => match Entries::new(index.bytes()).map(|entries| proven(entries, 0, 0, plan)) {
                Ok(Some(proven)) if proven.is_empty() => {}
                Ok(Some(proven)) => {
                    let count: u64 = proven.iter().map(|proven| proven.packets).sum();
                    let packets = if count == 1 { "packet" } else { "packets" };
                    let lack = match directory.join(&name).exists() {
                        true => "nothing of it could be read",
                        false => "there is no such stream file",
                    };
                    let message = format!("{lack}, and its index lists {count} {packets}");
                    diagnostics.push(Diagnostic::loss(directory.join(&name), message));
                    orphans.push(Orphan { name, proven });
                }
                Ok(None) => {
                    diagnostics.push(index.note("it has no stream file, and its entries are impossible"));
                }
                Err(message) => {
                    diagnostics.push(index.note(&format!("it has no stream file, and {message}")));
                }
            },
            Ok(None) => {}
            Err(error) => diagnostics.push(unreadable(&error)),
        }
    }
    (orphans, diagnostics)
}

/// An index that cannot be read. No event is in it.
pub(super) fn unreadable(error: &Error) -> Diagnostic {
    Diagnostic::note(error.path(), format!("index not used: {}", error.reason()))
}

/// Names of the stream files that have an index, in order. Without a directory of indexes there are none.
fn indexed(directory: &Path) -> Vec<OsString> {
    let Ok(entries) = fs::read_dir(directory.join("index")) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    let visible = names.filter(|name| !name.as_encoded_bytes().starts_with(b"."));
    let of_index = |name: OsString| {
        let name = Path::new(&name);
        name.extension().filter(|&extension| extension == "idx").and(name.file_stem()).map(OsStr::to_owned)
    };
    let mut names: Vec<OsString> = visible.filter_map(of_index).collect();
    names.sort_unstable();
    names
}
