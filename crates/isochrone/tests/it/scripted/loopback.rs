//! Connections within a host, for scripts of a few events: every time is exact, because there is one clock.

use isochrone_testkit::{FieldValue, Generation, KernelScript};

use super::critical_path::{BYTES, End, segment};

/// A TCP connection through `lo`, whose ends have the same descriptor in both processes. Each write sends [`BYTES`] bytes.
pub(super) struct Loopback {
    client: End,
    server: End,
    fd: i32,
    /// The next sequence numbers of the client and of the server.
    next: [u32; 2],
}

impl Loopback {
    /// A connection from a port to another one, which is a descriptor of some processes before the trace begins.
    pub(super) fn dumped(host: &mut KernelScript, ports: [u32; 2], fd: i32, pids: &[i32]) -> Self {
        for (pid, inode) in pids.iter().zip(100..) {
            host.at(10).dump_file(*pid, fd, 2, &format!("socket:[{inode}]"));
        }
        let [client, server] = ports.map(|port| ([127, 0, 0, 1], port));
        Self { client, server, fd, next: [1_000, 500_000] }
    }

    /// A host on which server 20 waits from 95 on, and client 10 asks at 100: the server is woken at 104.
    pub(super) fn asked() -> (KernelScript, Self) {
        let mut host = KernelScript::new("h1", Generation::V2_13).contexts(true);
        host.process(10, "client").process(20, "server");
        let mut connection = Self::dumped(&mut host, [40_000, 8_001], 3, &[10, 20]);
        host.at(90).switch(0, 20);
        connection.waits(&mut host, 95, (20, 10));
        connection.asks(&mut host, 100, Some(20));
        (host, connection)
    }

    /// The thread on the CPU writes a request: it is in the call for 6 ns, the packet is sent after 1 and there after 3, and
    /// wakes a thread after 4.
    pub(super) fn asks(&mut self, host: &mut KernelScript, at: u64, wakes: Option<i32>) {
        let [seq, ack] = self.next;
        self.next[0] += BYTES;
        self.writes(host, at, &segment(self.client, self.server, seq, ack), wakes);
    }

    /// The thread on the CPU writes an answer, as [`Self::asks`].
    pub(super) fn answers(&mut self, host: &mut KernelScript, at: u64, wakes: Option<i32>) {
        let [ack, seq] = self.next;
        self.next[1] += BYTES;
        self.writes(host, at, &segment(self.server, self.client, seq, ack), wakes);
    }

    fn writes(
        &self,
        host: &mut KernelScript,
        at: u64,
        packet: &[(&'static str, FieldValue)],
        wakes: Option<i32>,
    ) {
        let mut packet = packet.to_vec();
        packet.retain(|(name, _)| *name != "name");
        packet.push(("name", "lo".into()));
        host.at(at).enter("write", &[("fd", self.fd.into()), ("count", BYTES.into())]);
        host.at(at + 1).event("net_dev_queue", &packet).after(1).softirq_entry(3);
        host.at(at + 3).event("net_if_receive_skb", &packet);
        if let Some(tid) = wakes {
            host.at(at + 4).wake(tid, 0);
        }
        host.at(at + 5).softirq_exit(3).after(1).exit("write", BYTES.into());
    }

    /// A thread begins to read, and 1 ns later the CPU goes to another one.
    pub(super) fn waits(&self, host: &mut KernelScript, at: u64, (tid, next): (i32, i32)) {
        host.at(at).enter("read", &[("fd", self.fd.into())]).after(1).switch(tid, next);
    }
}

/// The thread on the CPU has read what was sent.
pub(super) fn has_read(host: &mut KernelScript, at: u64) {
    host.at(at).exit("read", BYTES.into());
}
