//! Sockets of a host: which connection a descriptor of a process is an end of, at an instant.

use std::net::SocketAddr;

use isochrone_store::{OpenFile, ThreadRow};
use isochrone_time::RawNs;
use rustc_hash::FxHashMap;

/// An end of a connection, as a descriptor of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Socket {
    /// Pid of the process.
    pub(crate) process: i32,
    /// The descriptor.
    pub(crate) fd: i32,
    /// From when on it is known, raw ns.
    pub(crate) start: RawNs,
    /// Until when, raw ns.
    pub(crate) end: RawNs,
    /// Its own address.
    pub(crate) local: SocketAddr,
    /// That of its peer.
    pub(crate) peer: SocketAddr,
    /// Whether the connection was made to it.
    pub(crate) is_server: bool,
}

/// All of a host.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    /// By process, descriptor and start.
    sockets: Vec<Socket>,
    /// Places in `sockets`, by own address and that of the peer.
    by_addresses: FxHashMap<(SocketAddr, SocketAddr), Vec<usize>>,
}

fn parsed(address: Option<&isochrone_kernel::Name>) -> Option<SocketAddr> {
    let address: SocketAddr = address?.parse().ok()?;
    Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

impl Sockets {
    /// Whether a file may be a socket: without a state dump it is not even known what a descriptor is.
    pub(crate) fn may_have(file: &OpenFile) -> bool {
        let is_one = file.kind.as_deref().is_none_or(|kind| kind == "socket");
        is_one || file.local.is_some() || file.peer.is_some()
    }

    /// The sockets among some files. `owner`: the process of a thread.
    pub(crate) fn new(files: &[OpenFile], owner: impl Fn(ThreadRow) -> Option<i32>) -> Self {
        let process = |file: &OpenFile| file.process.or_else(|| owner(file.thread?));
        let mut listening: Vec<u16> = Vec::new();
        let mut accepted: Vec<(SocketAddr, SocketAddr)> = Vec::new();
        let mut whole: FxHashMap<(i32, SocketAddr), SocketAddr> = FxHashMap::default();
        for file in files {
            let (local, peer) = (parsed(file.local.as_ref()), parsed(file.peer.as_ref()));
            match (local, peer) {
                (Some(local), None) => listening.push(local.port()),
                (Some(local), Some(peer)) => {
                    if file.opened_by.as_deref().is_some_and(|call| call.starts_with("accept")) {
                        accepted.push((local, peer));
                    }
                    if let Some(process) = process(file) {
                        whole.entry((process, peer)).or_insert(local);
                    }
                }
                _ => {}
            }
        }
        listening.sort_unstable();
        accepted.sort_unstable();
        let is_server = |local: SocketAddr, peer: SocketAddr, opened: Option<&str>| {
            match accepted.binary_search(&(local, peer)).is_ok()
                || listening.binary_search(&local.port()).is_ok()
            {
                true => true,
                // It was made here.
                false if opened == Some("socket") => false,
                // Where neither was seen: ports of services are the low ones.
                false => local.port() < peer.port(),
            }
        };
        let mut sockets: Vec<Socket> = Vec::new();
        for file in files {
            let (Some(process), Some(peer)) = (process(file), parsed(file.peer.as_ref())) else { continue };
            // What was duplicated before its address was known: that of the original.
            let local = parsed(file.local.as_ref()).or_else(|| whole.get(&(process, peer)).copied());
            let Some(local) = local else { continue };
            let start = match file.start_bound {
                isochrone_kernel::files::Bound::Hard => file.start,
                isochrone_kernel::files::Bound::Soft => RawNs::MIN,
            };
            let is_server = is_server(local, peer, file.opened_by.as_deref());
            sockets.push(Socket { process, fd: file.fd, start, end: file.end, local, peer, is_server });
        }
        sockets.sort_by_key(|socket| (socket.process, socket.fd, socket.start));
        let mut by_addresses: FxHashMap<(SocketAddr, SocketAddr), Vec<usize>> = FxHashMap::default();
        for (index, socket) in sockets.iter().enumerate() {
            by_addresses.entry((socket.local, socket.peer)).or_default().push(index);
        }
        Self { sockets, by_addresses }
    }

    /// What a descriptor of a process is at an instant. Closing calls still see it.
    pub(crate) fn at(&self, process: i32, fd: i32, at: RawNs) -> Option<&Socket> {
        let index = self.sockets.partition_point(|it| (it.process, it.fd, it.start) <= (process, fd, at));
        let last = self.sockets[..index].last()?;
        (last.process == process && last.fd == fd && at <= last.end).then_some(last)
    }

    /// The descriptors of a connection that are open at an instant, by its own address and that of its peer.
    pub(crate) fn of(&self, local: SocketAddr, peer: SocketAddr, at: RawNs) -> impl Iterator<Item = &Socket> {
        let indices = self.by_addresses.get(&(local, peer)).map_or(&[][..], Vec::as_slice);
        let sockets = indices.iter().map(|&index| &self.sockets[index]);
        sockets.filter(move |socket| socket.start <= at && at <= socket.end)
    }

    /// Whether a connection was made to this end of it; by the ports where its sockets are not known.
    pub(crate) fn is_server(&self, local: SocketAddr, peer: SocketAddr) -> bool {
        match self.by_addresses.get(&(local, peer)).and_then(|indices| indices.first()) {
            Some(&index) => self.sockets[index].is_server,
            None => local.port() < peer.port(),
        }
    }
}
