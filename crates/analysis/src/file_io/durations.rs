//! Durations of I/O calls by kind and of requests to disks by disk, as statistics or as distributions.

use isochrone_kernel::{BlockRequest, CanonicalMap, Syscall, ThreadAliases, ThreadId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::figures::stats::duration;
use crate::file_io::call::{IoCall, IoKind, SizeFilter};
use crate::machine_io::{disk_name, moved_bytes, service};
use crate::options::Options;
use crate::output::table::Cell;

/// What durations are added to.
pub(crate) trait Durations: Default + Clone {
    /// Adds all that another has.
    fn absorb(&mut self, other: Self);
}

/// Durations by thread: which threads count is known in the end.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "D: DeserializeOwned"))]
pub(crate) struct IoDurations<D> {
    sizes: SizeFilter,
    calls: CanonicalMap<(ThreadId, IoKind), D>,
    /// By device and the thread that asked, if that is known.
    requests: CanonicalMap<(u32, Option<ThreadId>), D>,
}

impl<D: Durations> IoDurations<D> {
    pub(crate) fn new(options: &Options) -> Self {
        Self { sizes: SizeFilter::new(options), ..Self::default() }
    }

    /// Adds a call, if it is I/O of a size that counts.
    pub(crate) fn call(&mut self, call: &Syscall<'_>, add: impl FnOnce(&mut D, u64)) {
        if let Some(io) = IoCall::of(call).filter(|io| self.sizes.keeps(io.bytes)) {
            add(self.calls.or_default((call.thread, io.kind)), duration(call.begin, call.end));
        }
    }

    /// Adds a request, if it moves bytes, of a size that counts.
    pub(crate) fn request(&mut self, request: &BlockRequest, add: impl FnOnce(&mut D, u64)) {
        let bytes = moved_bytes(request);
        if let Some((begin, end)) = service(request)
            && bytes > 0
            && self.sizes.keeps(Some(bytes))
        {
            add(self.requests.or_default((request.device, request.thread)), duration(begin, end));
        }
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        self.calls.rekey(|&(thread, kind)| (aliases.of(thread), kind), D::absorb);
        let of = |thread: Option<ThreadId>| thread.map(|thread| aliases.of(thread));
        self.requests.rekey(|&(device, thread)| (device, of(thread)), D::absorb);
    }

    pub(crate) fn absorb(&mut self, right: Self) {
        self.calls.absorb(right.calls, D::absorb);
        self.requests.absorb(right.requests, D::absorb);
    }

    /// The durations of each kind of calls, in their order, and of each disk. Of those threads that the
    /// filter keeps.
    pub(crate) fn totals<A: Analysis>(&self, result: &HostResult<'_, A>, options: &Options) -> Totals<D> {
        let is_kept = |thread: Option<ThreadId>| match thread {
            Some(thread) => result.who(thread, options).is_some(),
            None => !options.filter.has_threads(),
        };
        let mut kinds = Vec::new();
        for kind in IoKind::ALL {
            let mut of_kind = self.calls.sorted();
            of_kind.retain(|((thread, of), _)| *of == kind && is_kept(Some(*thread)));
            if let Some(all) = total(of_kind.into_iter().map(|(_, durations)| durations)) {
                kinds.push((Cell::text(kind.label()), all));
            }
        }
        let mut disks = Vec::new();
        for of_disk in self.requests.sorted().chunk_by(|a, b| a.0.0 == b.0.0) {
            let kept = of_disk.iter().filter(|((_, thread), _)| is_kept(*thread));
            if let Some(all) = total(kept.map(|(_, durations)| *durations)) {
                disks.push((disk_name(result.host, of_disk[0].0.0), all));
            }
        }
        (kinds, disks)
    }
}

/// What durations are of, and their sum: those of calls, those of disks.
pub(crate) type Totals<D> = (Vec<(Cell, D)>, Vec<(Cell, D)>);

/// The sum of some; `None`: there are none.
fn total<'d, D: Durations + 'd>(all: impl Iterator<Item = &'d D>) -> Option<D> {
    all.cloned().reduce(|mut all, one| {
        all.absorb(one);
        all
    })
}
