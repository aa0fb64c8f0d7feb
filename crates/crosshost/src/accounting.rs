//! The report `accounting`: the clients on whose behalf servers use CPU, across hosts and through several
//! tiers.
//!
//! After F. Giraldeau's flightbox: *self* is what a process used itself, *sub* what the servers used for it
//! that it waited for. A server pays nothing: its CPU time inside the client's waits belongs to the client,
//! and so on through all tiers. All intervals are exact; the waits of the client come onto the server's host
//! by the clocks of both.
//!
//! What a server did without a waiting client has a row of its own; so have all processes that serve no
//! clients.

use std::collections::BTreeMap;

use isochrone_analysis::{Report, VERSION};
use isochrone_store::{State, StoreError, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use rustc_hash::FxHashMap;

use crate::account::{Account, Amounts, Process};
use crate::accounting_tables::{table_of_requests, tree};
use crate::cluster::Cluster;
use crate::exchange::{Exchange, Side, exchanges};
use crate::path::ThreadRef;
use crate::request::windows;
use crate::service_time::{Act, Owned, owned};
use crate::timeline::ClusterWindow;

/// The tables `programs`, `accounting` (processes, each under the one that it worked for) and `requests`
/// (each exchange). `window`: those that start in it, Unix ns; `None`: all. `is_synchronized`: whether all
/// times are on one clock. Linear in the calls of the window and in the spans of the times of the exchanges,
/// which are read window by window.
///
/// # Errors
/// The store cannot be read.
pub fn accounting(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let whole = cluster.window(window);
    let mut all: Vec<Exchange> = exchanges(cluster, whole)?;
    all.retain(|exchange| {
        exchange.span(cluster).is_some_and(|it| whole.start <= it.start && it.start < whole.end)
    });
    let of_server = |exchange: &Exchange| {
        let server = exchange.server.as_ref().map(|server| &cluster.hosts[server.host]);
        Account { own: server.map(Amounts::of_host).unwrap_or_default(), ..Account::default() }
    };
    let mut accounts: Vec<Account> = all.iter().map(of_server).collect();
    let spans: Vec<Window<UnixNs>> =
        all.iter().map(|exchange| exchange.span(cluster).unwrap_or_default()).collect();
    for group in windows(cluster, &spans) {
        let window = ClusterWindow::load(cluster, group.window)?;
        account(&window, &all, group.indices, &mut accounts);
    }
    sum_up(&mut accounts);
    let used = used(cluster, whole)?;
    let [programs, processes] = tree(cluster, &all, &accounts, &used);
    Ok(Report {
        analysis: "accounting",
        version: VERSION,
        sync: is_synchronized,
        range: Some([whole.start, whole.end]),
        tables: vec![programs, processes, table_of_requests(cluster, &all, &accounts)],
        notes: Vec::new(),
    })
}

/// Accounts for some exchanges, all of whose spans are in the window.
fn account(
    window: &ClusterWindow<'_, '_>,
    all: &[Exchange],
    indices: std::ops::Range<usize>,
    accounts: &mut [Account],
) {
    let cluster = window.cluster;
    let mut acts: FxHashMap<ThreadRef, Vec<Act>> = FxHashMap::default();
    for index in indices.clone() {
        let Some(server) = &all[index].server else { continue };
        let mut act = |thread: ThreadRow, at: RawNs, is_write: bool| {
            let party = ThreadRef { host: server.host, thread };
            acts.entry(party).or_default().push(Act { at, is_write, exchange: index });
        };
        act(server.first, server.start, false);
        act(server.last, all[index].answered.unwrap_or(server.end), true);
        act(server.last, server.end, true);
    }
    // By exchange: when its client waited, Unix ns.
    let waited: FxHashMap<usize, Vec<Window<UnixNs>>> = indices
        .clone()
        .filter_map(|index| Some((index, waits(window, all[index].client.as_ref()?))))
        .collect();
    for (&index, waits) in &waited {
        accounts[index].blocked = waits.iter().map(|it| it.end.saturating_since(it.start)).sum();
    }
    let works: FxHashMap<ThreadRef, Vec<Owned>> = acts
        .into_iter()
        .map(|(party, mut acts)| {
            acts.sort_unstable();
            (party, owned(&acts, window.timelines[party.host].states(party.thread)))
        })
        .collect();
    let of = |host: usize, thread: Option<ThreadRow>, at: RawNs| {
        owner(works.get(&ThreadRef { host, thread: thread? })?, at)
    };
    for (&party, times) in &works {
        for time in times {
            let client = all[time.exchange].client.as_ref();
            let is_known = client.is_some_and(|client| cluster.are_comparable(client.host, party.host));
            let waits = waited.get(&time.exchange).filter(|_| is_known).map(Vec::as_slice);
            let (service, waited) = cpu(window, party, time, waits);
            let account = &mut accounts[time.exchange];
            account.service_cpu += service;
            account.own.cpu += waited;
        }
        for pages in window.timelines[party.host].pages(party.thread) {
            if let Some(of) = owner(times, pages.at) {
                accounts[of].own.pages += pages.pages;
            }
        }
    }
    // Who waits for other servers meanwhile does so for the exchange that it serves.
    for index in indices {
        let Some(client) = &all[index].client else { continue };
        if let Some(parent) = of(client.host, Some(client.first), client.start) {
            accounts[index].parent = Some(parent).filter(|&parent| parent != index);
        }
    }
    for (host, timeline) in window.timelines.iter().enumerate() {
        for disk in timeline.disks() {
            if let (Some(of), Some(bytes)) = (of(host, disk.thread, disk.start), disk.bytes) {
                accounts[of].own.disk += u64::from(bytes);
            }
        }
        for packet in timeline.packets().all().iter().filter(|packet| packet.is_sent) {
            if let Some(of) = of(host, packet.thread, packet.at) {
                accounts[of].own.network += u64::from(packet.bytes);
            }
        }
    }
}

/// The exchange that a thread works for at an instant.
fn owner(times: &[Owned], at: RawNs) -> Option<usize> {
    let index = times.partition_point(|time| time.start <= at);
    times[..index].last().filter(|time| at < time.end).map(|time| time.exchange)
}

/// When the client of an exchange waited, Unix ns.
fn waits(window: &ClusterWindow<'_, '_>, client: &Side) -> Vec<Window<UnixNs>> {
    let host = &window.cluster.hosts[client.host];
    let timeline = &window.timelines[client.host];
    let states = timeline.states(client.last);
    let first = states.partition_point(|row| row.end <= client.start);
    let overlapping = states[first..].iter().take_while(|row| row.start < client.end);
    overlapping
        .filter(|row| row.state == State::Blocked)
        .map(|row| {
            let end = timeline.runnable(row).min(client.end);
            Window::new(host.common(row.start.max(client.start)), host.common(end))
        })
        .collect()
}

/// CPU time of a thread in a time that belongs to an exchange: all of it, and that inside the waits of the
/// client. Without a client whose waits are known, all of it counts.
fn cpu(
    window: &ClusterWindow<'_, '_>,
    party: ThreadRef,
    time: &Owned,
    waits: Option<&[Window<UnixNs>]>,
) -> (i64, i64) {
    let host = &window.cluster.hosts[party.host];
    let states = window.timelines[party.host].states(party.thread);
    let first = states.partition_point(|row| row.end <= time.start);
    let (mut all, mut waited) = (0, 0);
    for row in states[first..].iter().take_while(|row| row.start < time.end) {
        if !row.state.is_on_cpu() {
            continue;
        }
        let (from, to) = (row.start.max(time.start), row.end.min(time.end));
        all += to - from;
        match waits {
            None => waited += to - from,
            Some(waits) => {
                let (from, to) = (host.common(from), host.common(to));
                let first = waits.partition_point(|wait| wait.end <= from);
                let overlapping = waits[first..].iter().take_while(|wait| wait.start < to);
                waited += overlapping
                    .map(|wait| wait.end.min(to).saturating_since(wait.start.max(from)))
                    .sum::<i64>();
            }
        }
    }
    (all, waited)
}

/// Passes what was used for exchanges on to those that they are parts of.
fn sum_up(accounts: &mut [Account]) {
    for index in 0..accounts.len() {
        let own = accounts[index].own;
        let mut above = accounts[index].parent;
        // Each exchange starts before those that are parts of it: there is no circle, but clocks may say
        // otherwise.
        for _ in 0..accounts.len() {
            let Some(parent) = above else { break };
            accounts[parent].below.add(&own);
            above = accounts[parent].parent.filter(|&next| next != index);
        }
    }
}

/// What each process used in a window, Unix ns.
fn used(cluster: &Cluster<'_>, window: Window<UnixNs>) -> Result<BTreeMap<Process, Amounts>, StoreError> {
    let mut used: BTreeMap<Process, Amounts> = BTreeMap::new();
    for (index, host) in cluster.hosts.iter().enumerate() {
        let window = host.raw_window(window);
        let nothing = Amounts::of_host(host);
        let process = |thread: Option<ThreadRow>| {
            let thread = thread.filter(|&thread| host.thread(thread).is_some_and(|row| row.tid.is_some()))?;
            Some((index, host.pid(thread)?))
        };
        host.store.slices(window, |slice| {
            if let Some(process) = process(slice.thread) {
                used.entry(process).or_insert(nothing).cpu +=
                    slice.end.min(window.end) - slice.start.max(window.start);
            }
        })?;
        host.store.block_requests(window, |block| {
            if let Some(process) = process(block.thread) {
                used.entry(process).or_insert(nothing).disk += block.bytes.map_or(0, u64::from);
            }
        })?;
        for packet in host.store.packets(window)?.into_iter().filter(|packet| packet.is_sent) {
            if let Some(process) = process(packet.thread) {
                used.entry(process).or_insert(nothing).network += u64::from(packet.bytes);
            }
        }
        host.store.pages(window, |pages| {
            if let Some(process) = process(pages.thread).filter(|_| !pages.is_free) {
                used.entry(process).or_insert(nothing).pages += pages.pages;
            }
        })?;
    }
    Ok(used)
}
