//! What the descriptors of the processes of a host refer to. There may be millions of them, which stay in
//! memory as long as the host is open: their names, many of which are equal, are kept once.

use indexmap::IndexSet;
use isochrone_kernel::Name;
use isochrone_kernel::files::Bound;
use isochrone_store::OpenFile;
use isochrone_time::RawNs;
use rustc_hash::FxBuildHasher;

/// What descriptors refer to, by process, number and instant.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// By process, descriptor and start.
    lives: Vec<Life>,
    names: Vec<Name>,
}

/// The life of a descriptor.
#[derive(Debug)]
struct Life {
    process: i32,
    fd: i32,
    start: RawNs,
    end: RawNs,
    /// Since when it may be another one; the last instant: never.
    doubtful_from: RawNs,
    /// Indices of names.
    kind: Option<NameIndex>,
    name: NameIndex,
    /// Whether it was there before it was first seen.
    is_older: bool,
}

/// The index of a name, plus 1.
type NameIndex = std::num::NonZeroU32;

/// What a descriptor refers to at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownFile<'f> {
    /// Since when, raw ns.
    pub(crate) start: RawNs,
    pub(crate) kind: Option<&'f str>,
    /// Its name; empty if it is unknown.
    pub(crate) name: &'f str,
}

/// Descriptors that are collected.
#[derive(Debug, Default)]
pub(crate) struct FilesBuilder {
    lives: Vec<Life>,
    names: IndexSet<Name, FxBuildHasher>,
}

impl FilesBuilder {
    /// Adds a descriptor of a process.
    pub(crate) fn add(&mut self, process: i32, file: &OpenFile) {
        let kind = file.kind.as_ref().map(|kind| self.index(kind));
        let name = self.index(&file.name);
        self.lives.push(Life {
            process,
            fd: file.fd,
            start: file.start,
            end: file.end,
            doubtful_from: file.doubtful_from.unwrap_or(RawNs::MAX),
            kind,
            name,
            is_older: file.start_bound == Bound::Soft,
        });
    }

    fn index(&mut self, name: &Name) -> NameIndex {
        let known = self.names.get_index_of(name);
        let index = known.unwrap_or_else(|| self.names.insert_full(name.clone()).0);
        NameIndex::MIN.saturating_add(index as u32)
    }

    /// All that were added. `O(n log n)`.
    pub(crate) fn build(self) -> Files {
        let Self { mut lives, names } = self;
        lives.sort_by_key(|life| (life.process, life.fd, life.start, life.end));
        lives.shrink_to_fit();
        Files { lives, names: names.into_iter().collect() }
    }
}

impl Files {
    /// What a descriptor of a process refers to at an instant, if that is known. `O(log n)`.
    pub(crate) fn at(&self, process: i32, fd: i32, at: RawNs) -> Option<KnownFile<'_>> {
        let next = self.lives.partition_point(|it| (it.process, it.fd, it.start) <= (process, fd, at));
        let is_its = |life: &&Life| (life.process, life.fd) == (process, fd);
        let before = self.lives[..next].last().filter(is_its);
        let later = || self.lives.get(next).filter(is_its).filter(|life| life.is_older);
        let life = before.filter(|life| at <= life.end).or_else(later)?;
        let is_sure = at < life.doubtful_from || life.doubtful_from == RawNs::MAX;
        let name = |index: NameIndex| &*self.names[index.get() as usize - 1];
        is_sure.then(|| KnownFile { start: life.start, kind: life.kind.map(name), name: name(life.name) })
    }
}
