//! Analyses from a store: of an instant (`processes --at`, `fds --at`), and of a window those that need no
//! more of the trace than the store keeps ([`AnalysisKind::stored`]).
//!
//! The store emits the spans around the instant, or of the window, and the analyses consume them as they
//! consume those of a pass over the trace: the tables are the same, and nothing else of the trace is read.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use isochrone_analysis::{AnalysisKind, AnalysisSet, HostContext, Need, Options, Report, ThreadIdentity};
use isochrone_hosts::Work;
use isochrone_kernel::{Missed, Name, SpanKind, ThreadId};
use isochrone_pipeline::map_in_order;
use isochrone_store::{HostEntry, HostStore, Store, StoreError, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::{TimedHost, Times, Timing};

use crate::model::Spread;
use crate::question::Question;

/// A host of a store: what tables need of it.
#[derive(Debug)]
pub struct StoredHost<'o> {
    name: String,
    timing: Timing<'o>,
    store: HostStore,
    /// Numbers of threads by their ids.
    numbers: BTreeMap<ThreadId, ThreadRow>,
    /// Names of disks by device.
    disks: BTreeMap<u32, Name>,
    /// What it did not record.
    lacking: Vec<Need>,
    missed: Missed,
    set: AnalysisSet,
}

/// The results of analyses of an instant ([`Times::at`]) of hosts, in their order. Hosts that are not in
/// the store, or have no correction, have none.
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
        let (Some(timing), Some(entry)) = (host.timing, entry_of(store, host)) else { continue };
        let when = times.on(timing);
        let mut there =
            StoredHost::open(store, entry, (host, timing), AnalysisSet::new(kinds, options, when))?;
        if let Some(at) = when.at {
            there.store.emit_at(at, &mut there.set)?;
        }
        stored.push(there);
    }
    Ok(stored)
}

/// The answers of analyses to a question about a window, of hosts in their order. `None`: the store does
/// not have what they need, or not all of it, as of a trace of which something could not be decoded, which
/// only reading reports, and of threads that were never identified; or `work` was stopped. Linear in the
/// rows of these kinds of spans in the window.
///
/// # Errors
/// The store cannot be read.
pub fn from_store<'o>(
    store: &Store,
    hosts: &[&TimedHost<'o>],
    question: &Question<'_>,
    spread: Spread,
    work: Option<&Work>,
) -> Result<Option<Vec<StoredHost<'o>>>, StoreError> {
    let needs_more = |kind: &AnalysisKind| kind.stored().is_empty();
    let (Ok(make), false) = (question.sets(hosts), question.kinds.iter().any(needs_more)) else {
        return Ok(None);
    };
    if question.periods.is_some() || question.times.at.is_some() {
        return Ok(None);
    }
    let mut kinds: Vec<SpanKind> = question.kinds.iter().flat_map(|kind| kind.stored()).copied().collect();
    kinds.sort_unstable();
    kinds.dedup();
    let entry = |host: &&TimedHost<'o>| {
        let entry = entry_of(store, host).filter(|entry| !entry.is_undecodable)?;
        // Descriptors are left out of the store then.
        let lacks_files = host.recorded().lacking().contains(&Need::Descriptors);
        (!lacks_files || !kinds.contains(&SpanKind::File)).then_some((entry, host.timing?))
    };
    let Some(entries) = hosts.iter().map(entry).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let declines = AtomicBool::new(false);
    let of_host = |(host, (entry, timing)): (&TimedHost<'o>, (&HostEntry, Timing<'o>))| {
        let mut there = StoredHost::open(store, entry, (host, timing), make(host, timing)())?;
        let (replay, window) = (there.store.replay(), question.times.on(timing).window);
        for &kind in &kinds {
            let is_stopped = work.is_some_and(Work::is_stopped) || declines.load(Ordering::Relaxed);
            if is_stopped || !replay.emit(kind, window, &mut there.set)? {
                declines.store(true, Ordering::Relaxed);
                return Ok(None);
            }
        }
        Ok(Some(there))
    };
    let hosts = hosts.iter().copied().zip(entries).collect();
    map_in_order(hosts, spread.threads(), of_host).into_iter().collect()
}

/// What a store has of a host.
fn entry_of<'s>(store: &'s Store, host: &TimedHost<'_>) -> Option<&'s HostEntry> {
    store.manifest().hosts.iter().find(|entry| entry.id == host.traced.id)
}

/// The tables of the analyses over all hosts. `is_synchronized`: whether the hosts' times are on one clock.
pub fn stored_reports(hosts: &[StoredHost<'_>], options: &Options, is_synchronized: bool) -> Vec<Report> {
    let hosts: Vec<(&dyn HostContext, &AnalysisSet)> =
        hosts.iter().map(|host| (host as &dyn HostContext, &host.set)).collect();
    isochrone_analysis::reports(&hosts, options, is_synchronized)
}

impl<'o> StoredHost<'o> {
    fn open(
        store: &Store,
        entry: &HostEntry,
        (host, timing): (&TimedHost<'o>, Timing<'o>),
        set: AnalysisSet,
    ) -> Result<Self, StoreError> {
        let disk = |(&device, name): (&u32, &String)| (device, Name::from(name.as_str()));
        let mut there = Self {
            name: host.name().to_owned(),
            timing,
            store: store.host(entry)?,
            numbers: BTreeMap::new(),
            disks: entry.disks.iter().map(disk).collect(),
            lacking: host.recorded().lacking(),
            missed: Missed::default(),
            set,
        };
        there.number_threads();
        there.missed = there.store.missed()?;
        Ok(there)
    }

    fn number_threads(&mut self) {
        for row in (0..self.store.threads().len() as u32).map(ThreadRow) {
            if let Some(thread) = self.store.thread_id(row) {
                self.numbers.insert(thread, row);
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
            leader: row
                .pid
                .and_then(|pid| thread.leader(pid, |range| Some(*self.numbers.range(range).next_back()?.0))),
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

    fn disk(&self, device: u32) -> Option<&Name> {
        self.disks.get(&device)
    }

    fn missed(&self) -> &Missed {
        &self.missed
    }

    fn threads(&self) -> Vec<ThreadId> {
        self.numbers.keys().copied().filter(|thread| matches!(thread, ThreadId::Thread { .. })).collect()
    }
}
