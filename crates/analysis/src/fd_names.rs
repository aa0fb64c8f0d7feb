//! Names of file descriptors: what a descriptor of a thread was at an instant, by the spans of descriptors.

use std::collections::BTreeMap;

use isochrone_kernel::files::{Bound, FileSpan};
use isochrone_kernel::{Name, ThreadId, Time};

use crate::host::{HostContext, ThreadIdentity};
use crate::sorted_rows::SortedRows;

/// What a descriptor is, in a few words; `None` where it is unknown.
pub(crate) fn name(file: &FileSpan) -> Option<&Name> {
    Some(&file.name).filter(|name| !name.is_empty())
}

/// The process whose table of descriptors a thread has, as far as its number goes: all threads of a process have the
/// same one.
fn owner(host: &dyn HostContext, thread: ThreadId) -> Option<i32> {
    let who = ThreadIdentity::of(host, thread);
    who.pid.or(who.tid)
}

/// The descriptors of a host by process and number.
pub(crate) struct FdNames<'a> {
    host: &'a dyn HostContext,
    files: BTreeMap<(i32, i32), Vec<&'a FileSpan>>,
}

impl<'a> FdNames<'a> {
    /// Those of a host.
    pub(crate) fn new(host: &'a dyn HostContext, files: &'a SortedRows<FileSpan>) -> Self {
        let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for file in files.sorted() {
            if let Some(owner) = file.process.or_else(|| owner(host, file.thread)) {
                all.entry((owner, file.fd)).or_default().push(file);
            }
        }
        for files in all.values_mut() {
            files.sort_by_key(|file| (file.begin, file.end));
        }
        Self { host, files: all }
    }

    /// What a thread's descriptor is called at an instant, if that is known.
    pub(crate) fn name(&self, thread: ThreadId, fd: i32, at: Time) -> Option<Name> {
        name(self.file(thread, fd, at)?).cloned()
    }

    /// What a thread's descriptor is at an instant, if that is known. One that was first seen later was the same
    /// before, unless its begin was seen.
    pub(crate) fn file(&self, thread: ThreadId, fd: i32, at: Time) -> Option<&'a FileSpan> {
        let files = self.files.get(&(owner(self.host, thread)?, fd))?;
        let next = files.partition_point(|file| file.begin <= at);
        let here = files[..next].last().filter(|file| at < file.end);
        let later = || files.get(next).filter(|file| file.begin_bound == Bound::Soft);
        // A span of no length is one that was closed as soon as it was seen.
        let closed = || files[..next].last().filter(|file| file.end == at);
        here.or_else(closed).or_else(later).copied()
    }
}
