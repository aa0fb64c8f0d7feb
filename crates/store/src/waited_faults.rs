//! The page faults of programs, and what is at their addresses: for readers that say what a wait was for.

use isochrone_kernel::{AddressSpaces, Name, range_around};
use isochrone_time::{RawNs, Window};

use crate::error::StoreError;
use crate::mappings::MappingSpan;
use crate::store::HostStore;
use crate::tables::FaultSpan;
use crate::threads::ThreadRow;

/// A page fault of a program, in which its thread may wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitedFault {
    /// The fault, raw ns of the host.
    pub fault: FaultSpan,
    /// The thread.
    pub thread: ThreadRow,
    /// What is at its address: the name of a file, `anonymous memory`, or the range of addresses that it lies
    /// in where neither is known.
    pub memory: Name,
}

/// Page faults of a window.
#[derive(Debug, Clone, Default)]
pub struct WaitedFaults(Vec<WaitedFault>);

impl WaitedFaults {
    /// The fault that a thread is in at an instant, raw ns, if it may be in one. Logarithmic.
    pub fn at(&self, thread: ThreadRow, at: RawNs) -> Option<&WaitedFault> {
        let next = self.0.partition_point(|it| (it.thread, it.fault.start) <= (thread, at));
        let last = self.0[..next].last().filter(|it| it.thread == thread)?;
        (at < last.fault.end).then_some(last)
    }
}

impl HostStore {
    /// The page faults of programs that overlap a window. Linear in the faults of
    /// the window, and in all mappings before its end where there are any.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn waited_faults(&self, window: Window<RawNs>) -> Result<WaitedFaults, StoreError> {
        let mut faults: Vec<(ThreadRow, FaultSpan)> = Vec::new();
        self.page_faults(window, |fault| {
            if let Some(thread) = fault.thread.filter(|_| fault.is_user) {
                faults.push((thread, fault));
            }
        })?;
        if faults.is_empty() {
            return Ok(WaitedFaults::default());
        }
        faults.sort_by_key(|(_, fault)| fault.start);
        let mut changes = self.mappings(window.end)?.into_iter().peekable();
        let (missed, leaders) = (self.missed()?, self.leaders());
        let mut losses = missed.iter().flat_map(|(from, to)| [from, to]).peekable();
        let mut spaces = AddressSpaces::default();
        let mut found: Vec<WaitedFault> = Vec::with_capacity(faults.len());
        for (thread, fault) in faults {
            let apply = |spaces: &mut AddressSpaces<_>, change: MappingSpan| change.apply(spaces);
            spaces.reach(fault.start, &mut changes, &mut losses, |change| change.at, apply);
            let region = leaders.get(thread.index()).and_then(|process| spaces.find(process, fault.address));
            let memory = match region.map(|region| &region.file) {
                Some(Some(name)) if !name.is_empty() => name.clone(),
                Some(Some(_)) => Name::const_new("a mapped file"),
                Some(None) => Name::const_new("anonymous memory"),
                None => range_of(fault.address),
            };
            found.push(WaitedFault { fault, thread, memory });
        }
        found.sort_by_key(|it| (it.thread, it.fault.start));
        Ok(WaitedFaults(found))
    }
}

/// The range of addresses that an address lies in, in words.
fn range_of(address: u64) -> Name {
    let (start, end) = range_around(address);
    Name::from(format!("{start:#x}-{end:#x}"))
}
