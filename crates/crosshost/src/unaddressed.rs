//! Addresses of sockets that no call has reported, from the packets that their calls sent.
//!
//! The model learns the address of an accepted socket from the first packet that is sent inside a call on it, as long as the thread keeps
//! its CPU. Here the calls are complete: a packet that a thread sent between entry and exit of its call, and no softirq did, is of that
//! call's socket.

use std::net::SocketAddr;

use isochrone_store::{HostStore, OpenFile, StoreError, ThreadRow};
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

use crate::keyed::{Keyed, last_until};

/// A descriptor: process, number and start.
type Descriptor = (i32, i32, RawNs);

/// A call on a socket without an address.
#[derive(Debug)]
struct SocketCall {
    thread: ThreadRow,
    start: RawNs,
    end: RawNs,
    of: Descriptor,
}

/// The addresses of sockets among some files that have none, own one first. `owner`: the process of a thread. Linear in the calls
/// and packets of the host, if there are any such sockets.
pub(crate) fn addresses(
    store: &HostStore,
    files: &[OpenFile],
    owner: impl Fn(ThreadRow) -> Option<i32>,
) -> Result<FxHashMap<Descriptor, (SocketAddr, SocketAddr)>, StoreError> {
    let all = Window::ALL;
    let is_unknown = |file: &&OpenFile| {
        // Without a state dump, it is not even known what a descriptor is.
        let may_be_socket = file.kind.as_deref().is_none_or(|kind| kind == "socket");
        // Of an accepted one the peer may be known alone.
        let may_be_inet =
            file.peer.as_ref().is_none_or(|peer| file.local.is_none() && peer.parse::<SocketAddr>().is_ok());
        may_be_socket && may_be_inet && file.uses.writes > 0
    };
    // By process and descriptor: from when to when.
    let mut unknown: FxHashMap<(i32, i32), Vec<(RawNs, RawNs)>> = FxHashMap::default();
    for file in files.iter().filter(is_unknown) {
        if let Some(process) = file.process.or_else(|| owner(file.thread?)) {
            unknown.entry((process, file.fd)).or_default().push((file.start, file.end));
        }
    }
    let mut found = FxHashMap::default();
    if unknown.is_empty() {
        return Ok(found);
    }
    let mut uses = Vec::new();
    store.syscalls(all, |call| {
        let (Some(thread), Some(fd)) = (call.thread, call.fd) else { return };
        let Some(process) = owner(thread) else { return };
        let Some(lives) = unknown.get(&(process, fd)) else { return };
        // A descriptor that was open before is known from the end of its first call on.
        let life = lives.iter().find(|(start, end)| *start <= call.end && call.start <= *end);
        if let Some(&(start, _)) = life {
            uses.push(SocketCall { thread, start: call.start, end: call.end, of: (process, fd, start) });
        }
    })?;
    let uses = Keyed::new(uses, |it| Some(it.thread.0), |it| it.start);
    let mut sent = Vec::new();
    for packet in store.packets(all)?.into_iter().filter(|packet| packet.is_sent) {
        let (Some(thread), Some((flow, _))) = (packet.thread, packet.flow) else { continue };
        let call = last_until(uses.of(thread.0), packet.at, |it| it.start);
        if let Some(call) = call.filter(|call| call.end >= packet.at) {
            sent.push((packet.cpu, packet.at, call.of, (flow.source, flow.destination)));
        }
    }
    let sent = Keyed::new(sent, |it| Some(it.0), |it| it.1);
    let mut by_softirqs: Vec<(u32, RawNs)> = Vec::new();
    store.softirqs(all, |softirq| {
        let there = sent.of(softirq.cpu);
        let first = there.partition_point(|it| it.1 < softirq.start);
        let inside = there[first..].iter().take_while(|it| it.1 <= softirq.end);
        by_softirqs.extend(inside.map(|it| (it.0, it.1)));
    })?;
    by_softirqs.sort_unstable();
    let mut sent: Vec<_> =
        sent.iter().filter(|it| by_softirqs.binary_search(&(it.0, it.1)).is_err()).collect();
    sent.sort_by_key(|it| it.1);
    for (_, _, of, addresses) in sent {
        found.entry(*of).or_insert(*addresses);
    }
    Ok(found)
}
