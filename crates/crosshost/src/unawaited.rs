//! Relations of processes that nobody waited for: signals, and memory that they share. For `relations.rs`.

use std::collections::BTreeMap;

use isochrone_kernel::calls::Object;
use isochrone_store::{ObjectUseSpan, StoreError, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use rustc_hash::FxHashMap;

use crate::cluster::Cluster;
use crate::host::Host;
use crate::path::ThreadRef;
use crate::relation::{Key, Process, Relations, process};
use crate::shared_memory::{SharedBy, shared_memory};
use crate::through::{ObjectName, Through};

/// When threads sent signals that ended waits.
#[derive(Debug, Default)]
pub(crate) struct Answered(BTreeMap<ThreadRef, Vec<Window<RawNs>>>);

impl Answered {
    pub(crate) fn add(&mut self, by: ThreadRef, sent: Window<RawNs>) {
        self.0.entry(by).or_default().push(sent);
    }

    /// Whether a thread did so just then. Calls of a thread do not overlap.
    fn has(&self, by: ThreadRef, at: RawNs) -> bool {
        let Some(sent) = self.0.get(&by) else { return false };
        let next = sent.partition_point(|call| call.start <= at);
        sent[..next].last().is_some_and(|call| at <= call.end)
    }
}

/// Adds signals of a window that ended no wait, and processes that share memory: the first one that
/// attached or mapped it, and each that did after that, in the window. Linear in what calls did with
/// memory and with objects that are no files, from the start.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn unawaited(
    cluster: &Cluster<'_>,
    whole: Window<UnixNs>,
    mut answered: Answered,
    relations: &mut Relations,
) -> Result<(), StoreError> {
    answered.0.values_mut().for_each(|sent| sent.sort_unstable());
    for (index, host) in cluster.hosts.iter().enumerate() {
        let window = host.raw_window(whole);
        let mut signals = Vec::new();
        let mut attached = Vec::new();
        host.store.object_uses(Window::new(RawNs::MIN, window.end), |used| match used.object {
            Object::Signal { .. } if used.at >= window.start => signals.push(used),
            Object::SharedMemory(_) => attached.push(used),
            _ => {}
        })?;
        attached.sort_by_key(|used| used.at);
        let mut first: BTreeMap<Object, Process> = BTreeMap::new();
        for used in attached {
            let Some(to) = used.thread.and_then(|thread| process(cluster, index, thread)) else { continue };
            let from = *first.entry(used.object).or_insert(to);
            if from != to && used.at >= window.start {
                let through = Through::object("shared-memory", Some(used.object));
                relations.entry(Key::new(from, to, through)).or_default().count += 1;
            }
        }
        for SharedBy { first, other, name, count } in shared_memory(&host.store, window)? {
            if let (Some(from), Some(to)) = (process(cluster, index, first), process(cluster, index, other)) {
                let through = Through::new("shared-memory", ObjectName::Named(name));
                relations.entry(Key::new(from, to, through)).or_default().count += count;
            }
        }
        if signals.is_empty() {
            continue;
        }
        let threads = Threads::of(host);
        // Where events say of all signals, they say of those that calls sent.
        let is_event = signals.iter().any(|used| used.is_event);
        for used in signals.into_iter().filter(|used| used.is_event == is_event) {
            let (Some(thread), Object::Signal { number, .. }) = (used.thread, used.object) else { continue };
            let from = process(cluster, index, thread);
            let to = threads.target(host, &used).and_then(|to| process(cluster, index, to));
            if let (Some(from), Some(to)) = (from, to)
                && !answered.has(ThreadRef { host: index, thread }, used.at)
            {
                let through = Through::signal(Some(number));
                relations.entry(Key::new(from, to, through)).or_default().count += 1;
            }
        }
    }
    Ok(())
}

/// The threads of a host by the numbers that signals name.
struct Threads {
    by_tid: FxHashMap<i32, Vec<ThreadRow>>,
    /// By pid namespace and number in it.
    by_vtid: FxHashMap<(Option<u64>, i32), Vec<ThreadRow>>,
}

impl Threads {
    fn of(host: &Host<'_>) -> Self {
        let mut threads = Self { by_tid: FxHashMap::default(), by_vtid: FxHashMap::default() };
        for (row, thread) in (0..).map(ThreadRow).zip(host.store.threads()) {
            if let Some(tid) = thread.tid {
                threads.by_tid.entry(tid).or_default().push(row);
            }
            if let Some(inner) = thread.inner {
                threads.by_vtid.entry((inner.inode, inner.vtid)).or_default().push(row);
            }
        }
        threads
    }

    /// The thread that a signal names, of those that lived then.
    fn target(&self, host: &Host<'_>, used: &ObjectUseSpan) -> Option<ThreadRow> {
        let Object::Signal { to: Some(to), .. } = used.object else { return None };
        let sender = host.thread(used.thread?)?;
        let inner = sender.inner.filter(|inner| inner.level > 0 && !used.is_event);
        let named = match inner {
            Some(inner) => self.by_vtid.get(&(inner.inode, to)),
            None => self.by_tid.get(&to),
        };
        let mut alive = named?.iter().copied().filter(|&row| {
            host.thread(row).is_some_and(|thread| thread.start <= used.at && used.at <= thread.end)
        });
        alive.next_back()
    }
}
