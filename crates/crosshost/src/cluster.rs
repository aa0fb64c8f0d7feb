//! The hosts of a store on the requested clock: what stays open while windows of time are read one after the
//! other.

use std::net::SocketAddr;
use std::sync::Arc;

use isochrone_analysis::Need;
use isochrone_corrections::{Clocks, Related};
use isochrone_hosts::Work;
use isochrone_kernel::Name;
use isochrone_store::{Message, OpenFile, Store, StoreError, ThreadInfo, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use isochrone_timing::TimedHost;
use rustc_hash::FxHashMap;

use crate::files::FilesBuilder;
use crate::host::{Host, process_of};
use crate::mpi::{self, MpiMessage};
use crate::path::ThreadRef;
use crate::sockets::Sockets;
use crate::unaddressed;

/// Rows of spans that are read at a time, about.
pub(crate) const WINDOW_ROWS: u64 = 1 << 18;

/// All hosts that are looked at together, and the messages between them. Copies share what is open.
#[derive(Debug, Clone)]
pub struct Cluster<'e> {
    pub(crate) hosts: Arc<Vec<Host<'e>>>,
    /// By host and time of their arrival; hosts are indices in `hosts`.
    messages: Arc<Vec<Message>>,
    /// By the receiver and the time of the reception.
    mpi: Arc<Vec<MpiMessage>>,
    clocks: Option<&'e Clocks>,
    /// What is read is a part of it.
    work: Option<Arc<Work>>,
}

impl<'e> Cluster<'e> {
    /// Opens hosts in a store that has all of them. `clocks`: the corrections that their times are on, if
    /// there are any. Linear in the messages and in the descriptors that were open.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn open(
        store: &Store,
        hosts: &[&TimedHost<'e>],
        clocks: Option<&'e Clocks>,
    ) -> Result<Self, StoreError> {
        let mut opened = Vec::with_capacity(hosts.len());
        // By number in the store.
        let mut indices: Vec<Option<u32>> = vec![None; store.manifest().hosts.len()];
        for host in hosts {
            let entry = store.manifest().hosts.iter().find(|entry| entry.id == host.traced.id);
            let (Some(entry), Some(timing)) = (entry, host.timing) else { continue };
            let Some(range) = entry.range else { continue };
            let there = store.host(entry)?;
            let owner = |thread: ThreadRow| process_of(there.thread(thread)?);
            let process = |file: &OpenFile| file.process.or_else(|| owner(file.thread?));
            let (mut files, mut sockets) = (FilesBuilder::default(), Vec::new());
            there.each_file(Window::ALL, |file| {
                if let Some(process) = process(&file) {
                    files.add(process, &file);
                }
                if Sockets::may_have(&file) {
                    sockets.push(file);
                }
            })?;
            sockets.sort_by_key(|file| (process(file), file.fd, file.start, file.end, file.thread));
            let lacking = host.recorded().lacking();
            // Without softirqs it is unknown which packets the thread that ran sent, and which a softirq sent
            // that had interrupted it.
            let addresses = match lacking.contains(&Need::Softirqs) {
                true => FxHashMap::default(),
                false => unaddressed::addresses(&there, &sockets, owner)?,
            };
            for file in &mut sockets {
                let known = process(file).and_then(|process| addresses.get(&(process, file.fd, file.start)));
                let is_same = |known: &SocketAddr, reported: &Option<Name>| {
                    reported.as_ref().is_none_or(|reported| reported.parse() == Ok(*known))
                };
                if let Some((local, peer)) = known.filter(|(_, peer)| is_same(peer, &file.peer)) {
                    file.local = Some(local.to_string().into());
                    file.peer = Some(peer.to_string().into());
                }
            }
            let sockets = Sockets::new(&sockets, owner);
            let mut threads: FxHashMap<i32, Vec<ThreadRow>> = FxHashMap::default();
            for (row, thread) in (0..).map(ThreadRow).zip(there.threads()) {
                if let Some(process) = process_of(thread).filter(|_| thread.tid.is_some()) {
                    threads.entry(process).or_default().push(row);
                }
            }
            if let Some(index) = indices.get_mut(entry.number as usize) {
                *index = Some(opened.len() as u32);
            }
            let name = host.name().to_owned();
            let faults = there.waited_faults(range)?;
            let files = files.build();
            opened.push(Host { name, store: there, range, sockets, lacking, files, faults, threads, timing });
        }
        let mut messages = Vec::new();
        let here = |host: u32| indices.get(host as usize).copied().flatten();
        store.messages(|message| {
            if let Some((sent_host, received_host)) = here(message.sent_host).zip(here(message.received_host))
            {
                messages.push(Message { sent_host, received_host, ..message });
            }
        })?;
        messages.sort_by_key(|message| (message.received_host, message.received_at, message.received_cpu));
        let index = |number: u32| Some(indices.get(number as usize).copied().flatten()? as usize);
        let mpi = mpi::messages(store, &opened, index)?;
        let (hosts, messages, mpi) = (Arc::new(opened), Arc::new(messages), Arc::new(mpi));
        Ok(Self { hosts, messages, mpi, clocks, work: None })
    }

    /// Of no hosts.
    pub fn of_no_hosts() -> Self {
        Self {
            hosts: Arc::default(),
            messages: Arc::default(),
            mpi: Arc::default(),
            clocks: None,
            work: None,
        }
    }

    /// The same for somebody who may leave meanwhile: the work counts windows that are read; where it is
    /// stopped, reading the next one fails.
    #[must_use]
    pub fn for_work(&self, work: &Arc<Work>) -> Self {
        Self { work: Some(Arc::clone(work)), ..self.clone() }
    }

    /// So many windows are going to be read.
    pub(crate) fn expect(&self, windows: usize) {
        if let Some(work) = &self.work {
            work.expect(windows as u64);
        }
    }

    /// A window is about to be read.
    ///
    /// # Errors
    /// It was stopped.
    pub(crate) fn next_window(&self) -> Result<(), StoreError> {
        match (&self.work, self.hosts.first()) {
            (Some(work), Some(host)) if work.is_stopped() => Err(host.store.stopped()),
            (Some(work), _) => {
                work.add(1);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The messages of MPI programs, by the receiver and the time of the reception.
    pub fn mpi_messages(&self) -> &[MpiMessage] {
        &self.mpi
    }

    /// The messages of MPI programs that a thread received, by the time of the reception.
    pub(crate) fn mpi_received_by(&self, receiver: ThreadRef) -> &[MpiMessage] {
        let from = self.mpi.partition_point(|it| it.receiver < receiver);
        let until = self.mpi.partition_point(|it| it.receiver <= receiver);
        &self.mpi[from..until]
    }

    /// The last message of an MPI program that a thread received after an instant and not after another one,
    /// raw ns. Only from hosts whose times can be compared.
    pub(crate) fn mpi_received(&self, receiver: ThreadRef, span: Window<RawNs>) -> Option<&MpiMessage> {
        let last = mpi::last_received(&self.mpi, receiver, span);
        last.filter(|message| self.are_comparable(message.sender.host, receiver.host))
    }

    /// The message that arrived at a host at an instant, on a CPU. Only those between hosts whose times can
    /// be compared.
    pub(crate) fn arrived(&self, host: usize, at: RawNs, cpu: u32) -> Option<&Message> {
        let key = |message: &Message| (message.received_host as usize, message.received_at);
        let first = self.messages.partition_point(|message| key(message) < (host, at));
        let of_instant = self.messages[first..].iter().take_while(|message| key(message) == (host, at));
        let mut of_cpu = of_instant.filter(|message| message.received_cpu.is_none_or(|other| other == cpu));
        of_cpu.next().filter(|message| self.are_comparable(message.sent_host as usize, host))
    }

    /// The messages that arrived at a host in a window, by time.
    pub(crate) fn arrivals(&self, host: usize, window: Window<RawNs>) -> &[Message] {
        let key = |message: &Message| (message.received_host as usize, message.received_at);
        let first = self.messages.partition_point(|message| key(message) < (host, window.start));
        let last = self.messages.partition_point(|message| key(message) < (host, window.end));
        &self.messages[first..last.max(first)]
    }

    /// Whether two hosts are on one clock.
    pub(crate) fn are_comparable(&self, a: usize, b: usize) -> bool {
        let island = |host: usize| self.hosts[host].timing.clock().map(|clock| clock.entry.island);
        a == b || (island(a).is_some() && island(a) == island(b))
    }

    /// How far the time between two instants of two hosts can be from what their clocks say, ns: the greater
    /// of both sides, by the messages of the link or the bounds of both clocks. `None` where nothing is
    /// proven.
    pub(crate) fn uncertainty(&self, (from, at): (usize, RawNs), to: usize) -> Option<i64> {
        self.related((from, at), to)?.uncertainty()
    }

    /// An instant of one host on the clock of another.
    pub(crate) fn related(&self, (from, at): (usize, RawNs), to: usize) -> Option<Related> {
        let clock = |host: usize| self.hosts[host].timing.clock();
        let related = self.clocks?.related(clock(from)?, clock(to)?, at)?;
        related.proven.then_some(related)
    }

    /// The first and the last event of all hosts, on the requested clock.
    pub fn range(&self) -> Option<Window<UnixNs>> {
        let start = self.hosts.iter().map(|host| host.common(host.range.start)).min()?;
        let end = self.hosts.iter().map(|host| host.common(host.range.end)).max()?;
        Some(Window { start, end })
    }

    /// A window, or that of all events; an empty one of a cluster without events.
    pub(crate) fn window(&self, window: Option<Window<UnixNs>>) -> Window<UnixNs> {
        window.or_else(|| self.range()).unwrap_or_default()
    }

    /// Duration of about `rows` rows of spans, if they are spread evenly, ns.
    pub(crate) fn time_of_rows(&self, rows: u64) -> i64 {
        let all: u64 =
            self.hosts.iter().flat_map(|host| &host.store.entry().tables).map(|table| table.rows).sum();
        let whole = self.range().map_or(0, |range| range.end.saturating_since(range.start));
        let time = i128::from(whole) * i128::from(rows) / i128::from(all.max(1));
        time.min(i64::MAX.into()) as i64
    }

    /// The name of a process: that of its first thread.
    pub fn comm_of_process(&self, host: usize, pid: i32) -> Option<&str> {
        let there = self.hosts.get(host)?;
        let threads = there.threads_of(pid);
        let main =
            threads.iter().rfind(|&&thread| there.thread(thread).is_some_and(|row| row.tid == Some(pid)));
        there.thread(*main.or_else(|| threads.first())?)?.comm.as_deref()
    }

    /// How many hosts there are.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// The thread of a host that had a number from the kernel at an instant of the requested clock; where
    /// none had it then, the last one before.
    pub fn thread_at(&self, host: usize, tid: i32, at: UnixNs) -> Option<ThreadRef> {
        let of = self.hosts.get(host)?;
        let at = of.raw(at);
        let had = |thread: &ThreadInfo| thread.tid == Some(tid) && thread.start <= at;
        let row = of.store.threads().iter().rposition(had)?;
        Some(ThreadRef { host, thread: ThreadRow(row as u32) })
    }

    /// The index of the host of a name.
    pub fn host_named(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// How people name a host.
    pub fn host_name(&self, host: usize) -> &str {
        self.hosts.get(host).map_or("", |host| &host.name)
    }
}
