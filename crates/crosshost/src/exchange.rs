//! Exchanges: a request on a connection and its answer, from the calls of both ends on their sockets.
//!
//! On the client's end an exchange starts with the first write after an answer, on a connection of one exchange with its `connect`. It
//! ends with the exit of the read by which it has as many bytes as the server wrote; where the server is not traced, with the last read
//! before the next write. On the server's end it goes from the exit of the first read to the last write before the next read. Of requests
//! that are sent before the last answer has come (pipelining), each is an exchange where they can be separated: see `pipelining.rs`.

use std::net::SocketAddr;

use isochrone_store::{StoreError, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use rustc_hash::FxHashMap;

use crate::cluster::Cluster;
use crate::pipelining::{ONE_BY_ONE, requests, round};
use crate::socket_calls::{Part, SocketCall, SocketOp, counts_messages, of_socket, parts};

/// A side of an exchange: its client, or its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Side {
    /// Index of the host.
    pub(crate) host: usize,
    /// The thread that starts: the client's that sends the request, the server's that receives it.
    pub(crate) first: ThreadRow,
    /// The thread that ends: the client's that receives the answer, the server's that sends it.
    pub(crate) last: ThreadRow,
    pub(crate) start: RawNs,
    pub(crate) end: RawNs,
}

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// The address of the server.
    pub(crate) server_address: SocketAddr,
    /// The client, if it is traced.
    pub(crate) client: Option<Side>,
    /// The server, if it is traced: from the exit of the read that starts to the exit of the last write.
    pub(crate) server: Option<Side>,
    /// Entry of the server's first write.
    pub(crate) answered: Option<RawNs>,
    /// Whether it was sent in writes of one size before the answer came, and may be several.
    pub(crate) may_be_several: bool,
}

/// The calls on both ends of a connection; each end has its host.
#[derive(Debug, Default)]
struct Connection {
    client: Option<(usize, Vec<SocketCall>)>,
    server: Option<(usize, Vec<SocketCall>)>,
    /// Whether a call returned how many messages it moved, not how many bytes.
    has_messages: bool,
}

/// The connections with calls in a window, Unix ns, by address of the client and of the server. Linear in the calls.
fn used(
    cluster: &Cluster<'_>,
    window: Window<UnixNs>,
) -> Result<FxHashMap<(SocketAddr, SocketAddr), Connection>, StoreError> {
    let mut connections: FxHashMap<(SocketAddr, SocketAddr), Connection> = FxHashMap::default();
    for (index, host) in cluster.hosts.iter().enumerate() {
        host.store.syscalls(host.raw_window(window), |call| {
            let Some((what, thread, fd)) = of_socket(&call) else { return };
            let Some(process) = host.pid(thread) else { return };
            let Some(socket) = host.sockets.at(process, fd, call.end) else { return };
            let key = match socket.is_server {
                true => (socket.peer, socket.local),
                false => (socket.local, socket.peer),
            };
            let connection = connections.entry(key).or_default();
            connection.has_messages |= counts_messages(&call.name);
            let end = if socket.is_server { &mut connection.server } else { &mut connection.client };
            let (_, uses) = end.get_or_insert_with(|| (index, Vec::new()));
            let bytes = if what == SocketOp::Connect { 0 } else { call.ret as u64 };
            uses.push(SocketCall { what, thread, start: call.start, end: call.end, bytes });
        })?;
    }
    Ok(connections)
}

/// When calls wrote to sockets, and read from them.
#[derive(Debug, Default)]
pub(crate) struct SocketTimes {
    /// By host, own address and that of the peer: calls that wrote, by entry.
    writes: FxHashMap<(usize, SocketAddr, SocketAddr), Vec<Window<RawNs>>>,
    /// Calls that read, by entry.
    reads: FxHashMap<(usize, SocketAddr, SocketAddr), Vec<Window<RawNs>>>,
}

/// When calls used sockets in a window, Unix ns. Linear in the calls.
pub(crate) fn socket_times(cluster: &Cluster<'_>, window: Window<UnixNs>) -> Result<SocketTimes, StoreError> {
    let mut times = SocketTimes::default();
    for ((client, server), connection) in used(cluster, window)? {
        for (end, local, peer) in [(connection.client, client, server), (connection.server, server, client)] {
            let Some((host, uses)) = end else { continue };
            for it in uses {
                let of = match it.what {
                    SocketOp::Write => &mut times.writes,
                    SocketOp::Read => &mut times.reads,
                    SocketOp::Connect => continue,
                };
                of.entry((host, local, peer)).or_default().push(Window::new(it.start, it.end));
            }
        }
    }
    times.writes.values_mut().chain(times.reads.values_mut()).for_each(|calls| calls.sort_unstable());
    Ok(times)
}

impl SocketTimes {
    /// How long before a packet of a socket was sent the call started that wrote it, ns. What waits in the socket after the call is over has
    /// none.
    pub(crate) fn written(
        &self,
        host: usize,
        (local, peer): (SocketAddr, SocketAddr),
        at: RawNs,
    ) -> Option<i64> {
        let calls = self.writes.get(&(host, local, peer))?;
        let Window { start, end } = *calls[..calls.partition_point(|call| call.start <= at)].last()?;
        (at <= end).then(|| at - start)
    }

    /// How long after a packet of a socket was received the call ended that read next, ns.
    pub(crate) fn read(
        &self,
        host: usize,
        (local, peer): (SocketAddr, SocketAddr),
        at: RawNs,
    ) -> Option<i64> {
        let calls = self.reads.get(&(host, local, peer))?;
        Some(calls[calls.partition_point(|call| call.end < at)..].first()?.end - at)
    }
}

/// Who talked over a connection, and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Talk {
    /// The address of the server.
    pub(crate) server_address: SocketAddr,
    /// Index of the host and pid of the client.
    pub(crate) client_process: Option<(usize, i32)>,
    /// Those of the server.
    pub(crate) server_process: Option<(usize, i32)>,
    /// Whether its bytes are known: calls returned how many they moved.
    pub(crate) has_bytes: bool,
    /// Bytes from the client to the server, as the client wrote them; else as the server read them.
    pub(crate) asked_bytes: u64,
    /// Bytes from the server to the client.
    pub(crate) answered_bytes: u64,
}

/// All connections with calls in a window, Unix ns. Linear in the calls.
pub(crate) fn connections(cluster: &Cluster<'_>, window: Window<UnixNs>) -> Result<Vec<Talk>, StoreError> {
    let process = |end: &Option<(usize, Vec<SocketCall>)>| {
        let (host, uses) = end.as_ref()?;
        Some((*host, cluster.hosts[*host].pid(uses.first()?.thread)?))
    };
    let bytes = |end: &Option<(usize, Vec<SocketCall>)>, what: SocketOp| {
        let of = |uses: &[SocketCall]| uses.iter().filter(|it| it.what == what).map(|it| it.bytes).sum();
        end.as_ref().map(|(_, uses)| of(uses))
    };
    let talk = |((_, server_address), Connection { client, server, has_messages })| Talk {
        server_address,
        has_bytes: !has_messages,
        client_process: process(&client),
        server_process: process(&server),
        asked_bytes: bytes(&client, SocketOp::Write).or_else(|| bytes(&server, SocketOp::Read)).unwrap_or(0),
        answered_bytes: bytes(&server, SocketOp::Write)
            .or_else(|| bytes(&client, SocketOp::Read))
            .unwrap_or(0),
    };
    Ok(used(cluster, window)?.into_iter().map(talk).collect())
}

/// All exchanges of TCP and UDP connections that have a start in a window, Unix ns, by start. Linear in the calls.
pub(crate) fn exchanges(cluster: &Cluster<'_>, window: Window<UnixNs>) -> Result<Vec<Exchange>, StoreError> {
    let connections = used(cluster, window)?;
    let mut exchanges = Vec::new();
    for ((_, server_address), connection) in connections {
        let ends = |end: Option<(usize, Vec<SocketCall>)>| {
            end.map(|(host, mut uses)| {
                uses.sort_by_key(|it| (it.transfers_at(), it.end));
                (host, uses)
            })
        };
        let (client, server) = (ends(connection.client), ends(connection.server));
        join(cluster, server_address, client, server, &mut exchanges);
    }
    let start = |exchange: &Exchange| {
        let end = exchange.client.as_ref().or(exchange.server.as_ref());
        end.map(|end| (cluster.hosts[end.host].common(end.start), end.host, end.first))
    };
    exchanges.sort_by_key(|exchange| (start(exchange), exchange.server_address));
    Ok(exchanges)
}

/// Joins the exchanges that both ends of a connection saw.
fn join(
    cluster: &Cluster<'_>,
    server_address: SocketAddr,
    client: Option<(usize, Vec<SocketCall>)>,
    server: Option<(usize, Vec<SocketCall>)>,
    exchanges: &mut Vec<Exchange>,
) {
    let of_client = client.as_ref().map_or_else(Vec::new, |(_, uses)| parts(uses, SocketOp::Write));
    let of_server = server.as_ref().map_or_else(Vec::new, |(_, uses)| parts(uses, SocketOp::Read));
    let client_host = client.map(|(host, _)| host);
    let server_host = server.map(|(host, _)| host);
    let mut served = of_server.as_slice();
    let mut asked = of_client.as_slice();
    // Turns that are taken as requests of their own, because something of one of them is missing.
    let mut one_by_one = 0;
    while let (Some(host), Some(first)) = (client_host, asked.first().and_then(|part| part.first.first())) {
        // Before the next turn of the client, on clocks that can be compared; else they are counted.
        let comparable = server_host.filter(|&at| cluster.are_comparable(host, at));
        let received = |part: &Part| {
            let first = part.first.first()?;
            Some(cluster.hosts[comparable?].common(first.end))
        };
        let start = cluster.hosts[host].common(first.start);
        // Answers to requests that the client's trace does not have.
        let before = |part: &&Part| received(part).is_some_and(|at| at < start - TOLERANCE);
        served = &served[served.iter().take_while(before).count()..];
        let is_before = |index: usize, turns: usize| {
            if comparable.is_none() {
                return index < turns;
            }
            let next = asked.get(turns).and_then(|next| next.first.first());
            let until = next.map(|next| cluster.hosts[host].common(next.start));
            until.is_none_or(|until| received(&served[index]).is_some_and(|at| at < until))
        };
        let found = (one_by_one == 0).then(|| round(asked, served, is_before)).flatten();
        one_by_one = match found {
            Some(_) => 0,
            None if one_by_one > 0 => one_by_one - 1,
            None => ONE_BY_ONE,
        };
        let alone = || (1, usize::from(!served.is_empty() && is_before(0, 1)));
        let (turns, answers) = found.unwrap_or_else(alone);
        let found = requests(&asked[..turns], &served[..answers]);
        let connect = asked[0].connect.filter(|_| of_client.len() == 1 && found.len() == 1);
        exchanges.extend(found.iter().map(|one| {
            let start = connect.map_or(one.asks.start, |connect| connect.start);
            let (first, last) = (one.asks.thread, one.has.thread);
            let server = one.served.zip(server_host).map(|(by, host)| Side {
                host,
                first: by.reads.thread,
                last: by.ends.thread,
                start: by.start,
                end: by.ends.end,
            });
            Exchange {
                server_address,
                client: Some(Side { host, first, last, start, end: one.has.end }),
                server,
                answered: one.served.map(|by| by.answers.start),
                may_be_several: one.may_be_several,
            }
        }));
        (asked, served) = (&asked[turns..], &served[answers..]);
    }
    if let (None, Some(host)) = (client_host, server_host) {
        exchanges.extend(of_server.iter().filter_map(|part| {
            let (first, answers, last) = (part.first.first()?, part.then.first()?, part.then.last()?);
            let (start, end) = (first.end, last.end);
            let server = Side { host, first: first.thread, last: last.thread, start, end };
            Some(Exchange {
                server_address,
                client: None,
                server: Some(server),
                answered: Some(answers.start),
                may_be_several: false,
            })
        }));
    }
}

/// How much earlier than it was sent a request may seem to be received, where clocks are not better known: 1 ms.
const TOLERANCE: i64 = 1_000_000;

impl Exchange {
    /// When it starts and ends as seen from outside: by the client, else the server.
    pub(crate) fn span(&self, cluster: &Cluster<'_>) -> Option<Window<UnixNs>> {
        let end = self.client.as_ref().or(self.server.as_ref())?;
        let host = &cluster.hosts[end.host];
        Some(Window::new(host.common(end.start), host.common(end.end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks how the calls of an end are cut: `c` connects, `r` reads, `w` writes.
    fn check(uses: &str, starts: SocketOp, expect: &[(usize, usize)]) {
        let uses: Vec<SocketCall> = (0..)
            .zip(uses.chars())
            .map(|(at, letter)| {
                let what = match letter {
                    'c' => SocketOp::Connect,
                    'r' => SocketOp::Read,
                    _ => SocketOp::Write,
                };
                SocketCall {
                    what,
                    thread: ThreadRow(0),
                    start: RawNs(at * 10),
                    end: RawNs(at * 10 + 5),
                    bytes: 1,
                }
            })
            .collect();
        let found: Vec<_> =
            parts(&uses, starts).iter().map(|part| (part.first.len(), part.then.len())).collect();
        assert_eq!(found, expect);
    }

    /// Of a pool, one thread waits for the next request while another one answers.
    #[test]
    fn reads_count_when_they_end() {
        let call = |what, start, end| {
            let (start, end) = (RawNs(start), RawNs(end));
            SocketCall { what, thread: ThreadRow(0), start, end, bytes: 1 }
        };
        let mut uses = vec![
            call(SocketOp::Read, 0, 5),
            call(SocketOp::Read, 6, 100),
            call(SocketOp::Write, 10, 12),
            call(SocketOp::Write, 110, 112),
        ];
        uses.sort_by_key(|it| (it.transfers_at(), it.end));
        let found: Vec<_> =
            parts(&uses, SocketOp::Read).iter().map(|part| (part.first[0].end, part.then[0].start)).collect();
        assert_eq!(found, [(RawNs(5), RawNs(10)), (RawNs(100), RawNs(110))]);
    }

    #[test]
    fn calls_are_cut_into_exchanges() {
        check("cwr", SocketOp::Write, &[(1, 1)]);
        check("cwwrrwr", SocketOp::Write, &[(2, 2), (1, 1)]);
        check("rwrw", SocketOp::Read, &[(1, 1), (1, 1)]);
        // What ends without a start, and what has no end.
        check("rwr", SocketOp::Write, &[(1, 1)]);
        check("wrw", SocketOp::Write, &[(1, 1)]);
        check("", SocketOp::Read, &[]);
    }
}
