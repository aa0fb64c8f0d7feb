//! Analyses of an instant, from a store: `processes --at` and `fds --at`.
//!
//! The store emits the spans around the instant, and the analyses consume them as they consume those of a
//! pass over the trace: the tables are the same, and nothing else of the trace is read.

use std::collections::BTreeMap;

use isochrone_analysis::{AnalysisKind, AnalysisSet, HostContext, Need, Options, Report, ThreadIdentity};
use isochrone_kernel::{Missed, Name, ThreadId};
use isochrone_store::{HostStore, Store, StoreError, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::{TimedHost, Times, Timing};

/// A host of a store: what tables need of it.
#[derive(Debug)]
pub struct StoredHost<'o> {
    name: String,
    timing: Timing<'o>,
    store: HostStore,
    /// Numbers of threads by their ids.
    numbers: BTreeMap<ThreadId, ThreadRow>,
    /// The first threads of processes, by pid.
    leaders: BTreeMap<i32, ThreadId>,
    /// What it did not record.
    lacking: Vec<Need>,
    missed: Missed,
    set: AnalysisSet,
}

/// The results of analyses of an instant ([`Times::at`]) of hosts, in their order. Hosts that are not in the
/// store, or have no correction, have none.
///
/// # Errors
/// The store cannot be read.
pub fn at_instant<'o>(
    store: &Store,
    hosts: &[&TimedHost<'o>],
    kinds: &[AnalysisKind],
    options: &Options,
    times: Times,
) -> Result<Vec<StoredHost<'o>>, StoreError> {
    let mut stored = Vec::with_capacity(hosts.len());
    for host in hosts {
        let entry = store.manifest().hosts.iter().find(|entry| entry.id == host.traced.id);
        let (Some(timing), Some(entry)) = (host.timing, entry) else { continue };
        let when = times.on(timing);
        let mut there = StoredHost {
            name: host.name().to_owned(),
            timing,
            store: store.host(entry)?,
            numbers: BTreeMap::new(),
            leaders: BTreeMap::new(),
            lacking: host.recorded().lacking(),
            missed: Missed::default(),
            set: AnalysisSet::new(kinds, options, when),
        };
        there.number_threads();
        there.missed = there.store.missed()?;
        if let Some(at) = when.at {
            there.store.emit_at(at, &mut there.set)?;
        }
        stored.push(there);
    }
    Ok(stored)
}

/// The tables of the analyses over all hosts. `is_synchronized`: whether the hosts' times are on one clock.
pub fn instant_reports(hosts: &[StoredHost<'_>], options: &Options, is_synchronized: bool) -> Vec<Report> {
    let hosts: Vec<(&dyn HostContext, &AnalysisSet)> =
        hosts.iter().map(|host| (host as &dyn HostContext, &host.set)).collect();
    isochrone_analysis::reports(&hosts, options, is_synchronized)
}

impl StoredHost<'_> {
    fn number_threads(&mut self) {
        for (row, info) in (0..).map(ThreadRow).zip(self.store.threads()) {
            let Some(thread) = self.store.thread_id(row) else { continue };
            self.numbers.insert(thread, row);
            if let (Some(tid), true) = (info.tid, info.tid == info.pid) {
                self.leaders.entry(tid).or_insert(thread);
            }
        }
    }
}

impl HostContext for StoredHost<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn window(&self) -> Option<Window<RawNs>> {
        self.store.entry().range
    }

    fn unix(&self, raw: RawNs) -> UnixNs {
        self.timing.unix(raw)
    }

    fn thread(&self, thread: ThreadId) -> Option<ThreadIdentity<'_>> {
        let row = self.store.thread(*self.numbers.get(&thread)?)?;
        Some(ThreadIdentity {
            tid: thread.tid(),
            pid: row.pid,
            leader: row.pid.and_then(|pid| self.leaders.get(&pid).copied()),
            ppid: row.parent,
            comm: row.comm.as_deref().map(Into::into),
            is_kernel: row.is_kernel,
            inner: row.inner,
            born: row.is_start_seen.then_some(row.start),
            died: row.is_end_seen.then_some(row.end),
        })
    }

    fn comm_at(&self, thread: ThreadId, at: RawNs) -> Option<&str> {
        self.store.thread(*self.numbers.get(&thread)?)?.comm_at(at)
    }

    fn lacks(&self, need: Need) -> bool {
        self.lacking.contains(&need)
    }

    /// Disks do nothing at an instant.
    fn disk(&self, _: u32) -> Option<&Name> {
        None
    }

    fn missed(&self) -> &Missed {
        &self.missed
    }

    fn threads(&self) -> Vec<ThreadId> {
        self.numbers.keys().copied().filter(|thread| matches!(thread, ThreadId::Thread { .. })).collect()
    }
}
