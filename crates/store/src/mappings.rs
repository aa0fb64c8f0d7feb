//! What calls did with the memory of processes, in the order of time: for page faults, and for reports on
//! memory that processes share.

use std::collections::BTreeMap;

use isochrone_kernel::calls::Sharing;
use isochrone_kernel::{AddressSpaces, Mapped};
use isochrone_time::{RawNs, Window};

use crate::error::StoreError;
use crate::store::HostStore;
use crate::tables::MappingRow;
use crate::threads::{ThreadInfo, ThreadRow};

/// A change of what the memory of a process shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappingSpan {
    /// The first thread of the process.
    pub process: ThreadRow,
    /// When, raw ns of the host.
    pub at: RawNs,
    /// First address.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// What is there from now on.
    pub what: MappedNow,
}

/// What memory shows from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MappedNow {
    /// All of it what that of another process shows, by its first thread: a fork.
    CopyOf(ThreadRow),
    /// Something else than a copy.
    Range(Mapped),
}

impl MappingSpan {
    /// Applies it.
    pub fn apply(self, spaces: &mut AddressSpaces<ThreadRow>) {
        match self.what {
            MappedNow::CopyOf(parent) => spaces.copy(&parent, self.process),
            MappedNow::Range(what) => spaces.map(self.process, self.address, self.bytes, &what),
        }
    }
}

impl HostStore {
    /// The changes before an instant, by time. Linear in them.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn mappings(&self, end: RawNs) -> Result<Vec<MappingSpan>, StoreError> {
        let mut rows: Vec<MappingRow> = Vec::new();
        self.spans().mappings.rows(Window::new(RawNs::MIN, end), |row: MappingRow| rows.push(row))?;
        rows.sort_by_key(|change| change.at);
        let leaders = self.leaders();
        Ok(rows.into_iter().filter_map(|row| self.mapping(row, &leaders)).collect())
    }

    fn mapping(&self, row: MappingRow, leaders: &[ThreadRow]) -> Option<MappingSpan> {
        let process = |name| leaders.get(self.spans().thread(name)?.index()).copied();
        let MappingRow { at, address, bytes, made, .. } = row;
        let name = row.name.unwrap_or_default();
        let sharing = Sharing::ALL.into_iter().find(|it| it.name() == row.sharing).unwrap_or_default();
        let what = match row.what.as_str() {
            "copy" => MappedNow::CopyOf(row.other.and_then(process)?),
            "anonymous" => MappedNow::Range(Mapped::Anonymous { made, sharing }),
            "file" => MappedNow::Range(Mapped::File { name, made, sharing }),
            _ => MappedNow::Range(Mapped::Nothing),
        };
        Some(MappingSpan { process: process(row.thread)?, at, address, bytes, what })
    }

    /// The first thread of each thread's process, by number, where that is known: tids are reused.
    pub(crate) fn leaders(&self) -> Vec<ThreadRow> {
        let threads = self.threads();
        let mut by_tid: BTreeMap<(i32, RawNs), ThreadRow> = BTreeMap::new();
        for (number, thread) in (0..).map(ThreadRow).zip(threads) {
            if let Some(tid) = thread.tid {
                by_tid.insert((tid, thread.start), number);
            }
        }
        let leader = |(number, thread): (ThreadRow, &ThreadInfo)| match thread.pid {
            Some(pid) if thread.tid != Some(pid) => {
                let known = by_tid.range((pid, RawNs::MIN)..=(pid, thread.start)).next_back();
                known.map_or(number, |(_, &leader)| leader)
            }
            _ => number,
        };
        (0..).map(ThreadRow).zip(threads).map(leader).collect()
    }
}
