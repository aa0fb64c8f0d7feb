//! Memory that processes share without calls of System V: files that they map, files without a path
//! (`memfd_create`) and memory without a file, which children get from their parents. For `unawaited.rs`.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_kernel::calls::Sharing;
use isochrone_kernel::{AddressSpaces, Mapped, Name};
use isochrone_store::{HostStore, MappedNow, MappingSpan, StoreError, ThreadRow};
use isochrone_time::{RawNs, Window};

/// Memory that can be shared: its name, and when it was made, if the name does not say which one it is.
type Memory = (Name, Option<RawNs>);

/// What a process did with such memory.
#[derive(Debug, Clone, Copy)]
struct Use {
    process: ThreadRow,
    at: RawNs,
    /// It got it by a fork.
    is_inherited: bool,
}

/// Two processes that share memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedBy {
    /// The first one that mapped it, by its first thread.
    pub(crate) first: ThreadRow,
    /// One that did after that, or got it by a fork.
    pub(crate) other: ThreadRow,
    /// What the memory is called.
    pub(crate) name: Name,
    /// How often the other one mapped it in the window.
    pub(crate) count: u64,
}

/// Processes that share memory that at least one of them may write to: the first one that mapped it, and each
/// that did after that in a window of raw ns, or got it by a fork and did not execute another program.
/// Linear in what was mapped from the start.
pub(crate) fn shared_memory(store: &HostStore, window: Window<RawNs>) -> Result<Vec<SharedBy>, StoreError> {
    let missed = store.missed()?;
    let mut losses = missed.iter().flat_map(|(from, to)| [from, to]).peekable();
    let mut changes = store.mappings(window.end)?.into_iter().peekable();
    let mut spaces = AddressSpaces::default();
    let mut found = Found::default();
    let apply = |spaces: &mut AddressSpaces<ThreadRow>, change: MappingSpan| {
        found.see(&change, spaces);
        change.apply(spaces);
    };
    spaces.reach(window.end, &mut changes, &mut losses, |change| change.at, apply);
    Ok(found.shared(window))
}

#[derive(Debug, Default)]
struct Found {
    /// In the order of time.
    uses: BTreeMap<Memory, Vec<Use>>,
    /// What any process may write to.
    written: BTreeSet<Memory>,
    /// Processes that executed another program: of what they got by a fork nothing is left.
    executed: BTreeSet<ThreadRow>,
}

impl Found {
    /// A change, before it is applied.
    fn see(&mut self, change: &MappingSpan, spaces: &AddressSpaces<ThreadRow>) {
        let &MappingSpan { process, at, bytes, .. } = change;
        match &change.what {
            MappedNow::Range(Mapped::File { name, made, sharing }) => {
                self.used(memory(Some(name), *made, *sharing), Use { process, at, is_inherited: false });
            }
            MappedNow::Range(Mapped::Anonymous { made, sharing }) => {
                self.used(memory(None, *made, *sharing), Use { process, at, is_inherited: false });
            }
            MappedNow::Range(Mapped::Nothing) if bytes == u64::MAX => {
                self.executed.insert(process);
            }
            MappedNow::CopyOf(parent) if *parent != process => {
                let all = spaces.of(parent);
                let all: BTreeSet<_> =
                    all.filter_map(|it| memory(it.file.as_ref(), it.made, it.sharing)).collect();
                for it in all {
                    self.used(Some(it), Use { process, at, is_inherited: true });
                }
            }
            MappedNow::Range(Mapped::Nothing | Mapped::CopyOf(_)) | MappedNow::CopyOf(_) => {}
        }
    }

    fn used(&mut self, what: Option<(Memory, Sharing)>, by: Use) {
        let Some((memory, sharing)) = what else { return };
        if sharing == Sharing::Shared {
            self.written.insert(memory.clone());
        }
        self.uses.entry(memory).or_default().push(by);
    }

    fn shared(self, window: Window<RawNs>) -> Vec<SharedBy> {
        let mut all = Vec::new();
        for (memory, uses) in self.uses.into_iter().filter(|(memory, _)| self.written.contains(memory)) {
            let Some(first) = uses.first().map(|it| it.process) else { continue };
            let mut others: BTreeMap<ThreadRow, u64> = BTreeMap::new();
            let is_kept = |it: &&Use| !(it.is_inherited && self.executed.contains(&it.process));
            let later = uses.iter().filter(|it| it.process != first && it.at >= window.start);
            for it in later.filter(is_kept) {
                *others.entry(it.process).or_default() += 1;
            }
            let shared = |(other, count)| SharedBy { first, other, name: memory.0.clone(), count };
            all.extend(others.into_iter().map(shared));
        }
        all
    }
}

/// Memory that others see, and that is known well enough to say which one it is.
fn memory(file: Option<&Name>, made: Option<RawNs>, sharing: Sharing) -> Option<(Memory, Sharing)> {
    let name = match file {
        // The same name stands for many files.
        Some(name) if made.is_none() && (!name.starts_with('/') || name.starts_with("/memfd:")) => {
            return None;
        }
        Some(name) => name.clone(),
        None => Name::const_new("anonymous memory"),
    };
    (sharing != Sharing::Private && (file.is_some() || made.is_some())).then_some(((name, made), sharing))
}
