//! What ended a wait, and what is known of it: the wake-up, the packet, the disk, the call and its
//! descriptor.

use std::net::SocketAddr;

use isochrone_analysis::Need;
use isochrone_kernel::Cause as WakeCause;
use isochrone_net::Flow;
use isochrone_store::{Cause, is_on_path};
use isochrone_store::{PacketSpan, State, StateRow, StoreError, ThreadRow, WakeupSpan};
use isochrone_time::{RawNs, Window};

use crate::cluster::Cluster;
use crate::mpi::MpiMessage;
use crate::path::Position;
use crate::path::ThreadRef;
use crate::timeline::ClusterWindow;

/// Vectors of softirqs (`include/linux/interrupt.h`).
pub(crate) mod vector {
    pub(crate) const TIMER: u32 = 1;
    pub(crate) const NET_RX: u32 = 3;
    pub(crate) const BLOCK: u32 = 4;
    pub(crate) const HRTIMER: u32 = 8;
}

/// How long before `sched_wakeup` the `sched_waking` of the same wake-up is looked for, where it is not known
/// when the wait started, ns.
const WAKING: i64 = 1_000_000;

/// Details of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepDetail {
    Nothing,
    /// A packet, to a host; `to`: `None`: to this one, and its sender is unknown.
    Packet {
        flow: Option<Flow>,
        bytes: Option<u32>,
        to: Option<usize>,
    },
    /// A message of an MPI program.
    Message {
        ranks: (i64, i64),
        tag: i64,
        bytes: u64,
        to: usize,
    },
    /// A wait in a call for a descriptor, ended by a thread.
    Wait {
        call: Option<String>,
        fd: Option<i32>,
        waker: Option<ThreadRow>,
    },
    /// A disk.
    Disk {
        device: u32,
        bytes: Option<u32>,
        is_write: bool,
    },
    /// A handler of interrupts.
    Handler(String),
}

/// The arrival of the request that a thread works for.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    pub(crate) host: usize,
    pub(crate) packet: PacketSpan,
}

/// How much of the calls before a packet is read for the thread whose socket it is of, ns.
const BEFORE_PACKET: i64 = 1_000_000_000;

/// The thread whose socket a packet of a host is of: the one that last called anything on that socket in the
/// second before. `at`: when its event was recorded. What ran then may be something else: packets pass in
/// softirqs. `None`: it is not known.
///
/// # Errors
/// The store cannot be read.
pub fn socket_owner(
    cluster: &Cluster<'_>,
    host: usize,
    at: RawNs,
    is_sent: bool,
) -> Result<Option<ThreadRef>, StoreError> {
    let unix = cluster.hosts[host].common(at);
    let around = Window::new(unix.saturating_sub(BEFORE_PACKET), unix.saturating_add(1));
    let window = ClusterWindow::load(cluster, around)?;
    let packet = window.timelines[host].packets().at(at, None, is_sent);
    let thread = packet.and_then(|packet| window.of_socket(host, packet));
    Ok(thread.map(|thread| ThreadRef { host, thread }))
}

impl ClusterWindow<'_, '_> {
    /// Whether a time that is unknown ends as a wait: what woke the thread is known. So it is of what waits
    /// when a trace starts.
    pub(crate) fn ends_as_wait(&self, host: usize, state: &StateRow, until: RawNs) -> bool {
        state.state == State::Unknown && self.wakeup(host, state, until).is_some()
    }

    /// What ended a wait that is over at an instant. A walk may come to the middle of a wait: what ended that
    /// is later, and of no concern.
    pub(crate) fn wakeup(&self, host: usize, state: &StateRow, until: RawNs) -> Option<WakeupSpan> {
        let is_over = until >= state.end;
        let since = match state.state {
            State::Unknown => state.start.max(state.end - WAKING),
            _ => state.start,
        };
        let wakeup =
            is_over.then(|| self.timelines[host].wakeup(state.thread, Window::new(since, state.end)));
        wakeup.flatten().copied()
    }

    pub(crate) fn about_wait(&self, host: usize, state: &StateRow, waker: Option<ThreadRow>) -> StepDetail {
        let call = state.syscall.as_deref().filter(|call| !call.is_empty()).map(str::to_owned);
        StepDetail::Wait { call, fd: self.fd_of(host, state), waker }
    }

    /// The descriptor of a wait: that of its call, else the first one that was ready in the end.
    pub(crate) fn fd_of(&self, host: usize, state: &StateRow) -> Option<i32> {
        state.fd.or_else(|| self.ready_fd(host, state))
    }

    /// The first descriptor that was ready when the call of a wait returned.
    pub(crate) fn ready_fd(&self, host: usize, state: &StateRow) -> Option<i32> {
        let there = &self.timelines[host];
        let call = there.call_at(state.thread, state.end)?;
        there.ready(state.thread, call.end).first().copied()
    }

    /// What a wait was for, by its call and descriptor; unknown where only what ended it could say, and that
    /// is unknown: events are missing.
    pub(crate) fn cause_of(&self, host: usize, state: &StateRow, ended: Option<&WakeupSpan>) -> Cause {
        let is_unix = || {
            let there = &self.cluster.hosts[host];
            let (fd, pid) = self.fd_of(host, state).zip(there.pid(state.thread))?;
            Some(there.name_of(pid, fd, state.start)?.starts_with("AF_UNIX"))
        };
        let is_unknown = ended.is_some_and(|wakeup| wakeup.cause == WakeCause::Unknown);
        match self.cause_by_call(host, state) {
            Cause::Other if is_unknown => Cause::Unknown,
            // Which of its two files it waited for is as unknown.
            _ if is_unknown && state.syscall.as_deref().is_some_and(is_between_files) => Cause::Unknown,
            // It is over, and no wake-up of it was recorded.
            Cause::Other if ended.is_none() && state.end < self.cluster.hosts[host].range.end => {
                Cause::Unknown
            }
            // No packet that was received, or no softirq, shows what came for which thread: the peer may be
            // here or on another host.
            Cause::Socket
                if !self.cluster.hosts[host].has(&[Need::Softirqs, Need::Packets, Need::Received])
                    && is_unix() != Some(true) =>
            {
                Cause::Unknown
            }
            cause => cause,
        }
    }

    fn cause_by_call(&self, host: usize, state: &StateRow) -> Cause {
        let Some(call) = state.syscall.as_deref().filter(|call| !call.is_empty()) else {
            return Cause::Other;
        };
        let there = &self.cluster.hosts[host];
        let of_file = || {
            let (fd, pid) = self.fd_of(host, state).zip(there.pid(state.thread))?;
            let kind = there.kind_of(pid, fd, state.start)?;
            Some(Cause::of_file(Some(kind), there.name_of(pid, fd, state.start).unwrap_or_default(), false))
        };
        match Cause::of_call(call).or_else(of_file) {
            // The waits that packets of other hosts ended are known by these.
            Some(Cause::Network) => Cause::Socket,
            Some(cause) if cause != Cause::Other => cause,
            _ if is_on_socket(call) => Cause::Socket,
            _ if is_on_path(call) => Cause::Disk,
            _ => Cause::Other,
        }
    }

    /// Whether a number is that of a thread and not of an idle task.
    pub(crate) fn is_thread(&self, host: usize, number: ThreadRow) -> bool {
        self.cluster.hosts[host].thread(number).is_some_and(|thread| thread.tid.is_some())
    }

    /// The packet whose reception wakes a thread.
    pub(crate) fn packet_of(&self, host: usize, wakeup: &WakeupSpan) -> Option<PacketSpan> {
        let there = &self.timelines[host];
        let start = match wakeup.cause {
            WakeCause::Softirq(vector::NET_RX) => there.softirq_at(wakeup.cpu, wakeup.at)?.start,
            _ => return None,
        };
        // A softirq receives packets of many connections. That which the thread waits for is of a socket of
        // its call; else of its process; and the last with data.
        let thread = wakeup.thread?;
        if let Some(packet) = self.came_for(host, thread, Window::new(start, wakeup.at)) {
            return Some(packet.clone());
        }
        let received = || there.packets().received_on(wakeup.cpu, Window::new(start, wakeup.at));
        let of_process = || received().filter(|packet| self.is_of_process(host, thread, packet));
        let last = of_process().find(|packet| has_data(packet)).or_else(|| of_process().next());
        last.or_else(|| received().next()).cloned()
    }

    /// Whether a packet is of a socket of a thread's process.
    fn is_of_process(&self, host: usize, thread: ThreadRow, packet: &PacketSpan) -> bool {
        let there = &self.cluster.hosts[host];
        let process = there.pid(thread);
        packet.flow.is_some_and(|(flow, _)| {
            let mut of_flow = there.sockets.of(flow.destination, flow.source, packet.at);
            of_flow.any(|socket| Some(socket.process) == process)
        })
    }

    /// Whether the packet of [`Self::packet_of`] is the one for certain: of the call's own connection, or of
    /// the only one that the softirq received packets of, of those of the thread's process if there are any.
    pub(crate) fn is_sure_packet(&self, host: usize, wakeup: &WakeupSpan) -> bool {
        let there = &self.timelines[host];
        let start = there.softirq_at(wakeup.cpu, wakeup.at).map(|softirq| softirq.start);
        let (Some(thread), Some(start)) = (wakeup.thread, start) else { return false };
        if self.came_for(host, thread, Window::new(start, wakeup.at)).is_some() {
            return true;
        }
        let received = || there.packets().received_on(wakeup.cpu, Window::new(start, wakeup.at));
        let has_own = received().any(|packet| self.is_of_process(host, thread, packet));
        let flows = received().filter(|packet| !has_own || self.is_of_process(host, thread, packet));
        let mut flows = flows.map(|packet| packet.flow.map(|(flow, _)| flow));
        flows.next().is_some_and(|first| flows.all(|other| other == first))
    }

    /// The last packet in a time on a connection that the call of a thread is about, with data if there is
    /// one.
    pub(crate) fn came_for(
        &self,
        host: usize,
        thread: ThreadRow,
        Window { start: from, end: to }: Window<RawNs>,
    ) -> Option<&PacketSpan> {
        let there = &self.cluster.hosts[host];
        let timeline = &self.timelines[host];
        let process = there.pid(thread)?;
        let call = timeline.call_at(thread, to)?;
        let fds = call.fd.into_iter().chain(timeline.ready(thread, call.end).iter().copied());
        let packets = fds.filter_map(|fd| {
            let socket = there.sockets.at(process, fd, to)?;
            let flow = Flow {
                protocol: isochrone_net::protocol::TCP,
                source: socket.peer,
                destination: socket.local,
            };
            let of_flow =
                || timeline.packets().of_flow(flow, false, to).take_while(|packet| packet.at >= from);
            of_flow().find(|packet| has_data(packet)).or_else(|| of_flow().next())
        });
        packets.max_by_key(|packet| packet.at)
    }

    /// The answer that a thread was about to wait for in a call, but that came while it was still on the CPU:
    /// that of a connection to its handshake, and the data that a read returns.
    pub(crate) fn came_in_call(
        &self,
        host: usize,
        thread: ThreadRow,
        Window { start: from, end: to }: Window<RawNs>,
    ) -> Option<PacketSpan> {
        let there = &self.cluster.hosts[host];
        let timeline = &self.timelines[host];
        let call = timeline.call_at(thread, to)?;
        let is_connect = call.name == "connect";
        if !is_connect && (call.ret <= 0 || !is_read(&call.name)) {
            return None;
        }
        let socket = there.sockets.at(there.pid(thread)?, call.fd?, call.end)?;
        if socket.is_server {
            return None;
        }
        let protocol = isochrone_net::protocol::TCP;
        let flow = Flow { protocol, source: socket.peer, destination: socket.local };
        let packet = timeline.packets().of_flow(flow, false, to - 1).next()?;
        (packet.at > from.max(call.start) && (is_connect || has_data(packet))).then(|| packet.clone())
    }

    /// Whether a packet carries nothing of a program: a part of the handshake, an acknowledgement.
    pub(crate) fn is_of_kernel(&self, host: usize, packet: &PacketSpan) -> bool {
        let payload = packet.flow.and_then(|(_, carried)| carried.payload);
        payload.map_or_else(|| self.owner(host, packet).is_none(), |payload| payload == 0)
    }

    /// The event of the sender of a packet that was received.
    pub(crate) fn sent(&self, host: usize, packet: &PacketSpan) -> Option<(usize, PacketSpan)> {
        if let Some(message) = self.cluster.arrived(host, packet.at, packet.cpu) {
            let from = message.sent_host as usize;
            let sent = self.timelines[from].packets().at(message.sent_at, message.sent_cpu, true)?;
            return Some((from, sent.clone()));
        }
        // Within the host.
        let (flow, carried) = packet.flow?;
        if let Some(sent) = self.timelines[host].packets().of_flow(flow, true, packet.at).next()
            && sent.device == packet.device
        {
            return Some((host, sent.clone()));
        }
        // The first packets of a connection are no messages: a copy of them may have been sent before the
        // trace started. Where there is one copy only, it identifies the sender.
        carried.seq?;
        let mut copies = (0..self.timelines.len())
            .filter(|&other| self.cluster.are_comparable(other, host))
            .flat_map(|other| {
                let of_flow = self.timelines[other].packets().of_flow(flow, true, RawNs::MAX);
                let is_it = move |sent: &&PacketSpan| sent.flow.is_some_and(|(_, other)| other == carried);
                of_flow.filter(is_it).map(move |sent| (other, sent))
            });
        let (from, sent) = copies.next()?;
        (from != host && copies.next().is_none()).then(|| (from, sent.clone()))
    }

    /// The thread that ended a wait. Where interrupts or timers were not recorded, or one of these is
    /// handled, the one that ran may have been interrupted by what did.
    pub(crate) fn waker(&self, host: usize, wakeup: &WakeupSpan) -> Option<ThreadRow> {
        let is_thread = wakeup.cause == WakeCause::Thread;
        wakeup.waker.filter(|&waker| is_thread && self.is_thread(host, waker))
    }

    /// The thread that sent a packet outside of softirqs: the one that ran; where these were not recorded,
    /// the one that uses the socket.
    pub(crate) fn sender(&self, host: usize, sent: &PacketSpan) -> Option<ThreadRow> {
        let there = &self.cluster.hosts[host];
        let by = sent.thread.filter(|&thread| there.has(&[Need::Softirqs]) && self.is_thread(host, thread));
        by.or_else(|| self.owner(host, sent))
    }

    /// The thread that a packet was sent for, where that was not on the CPU: it waits in a call on its
    /// socket.
    pub(crate) fn owner(&self, host: usize, packet: &PacketSpan) -> Option<ThreadRow> {
        let (flow, _) = packet.flow?;
        let there = &self.cluster.hosts[host];
        let timeline = &self.timelines[host];
        let mut last: Option<(RawNs, ThreadRow)> = None;
        for socket in there.sockets.of(flow.source, flow.destination, packet.at) {
            let of_process = there.threads_of(socket.process).iter().copied();
            for thread in of_process {
                let calls = timeline.calls(thread);
                let until = calls.partition_point(|call| call.start <= packet.at);
                let used = calls[..until].iter().rev().find(|call| call.fd == Some(socket.fd));
                if let Some(call) = used
                    && last.is_none_or(|(at, _)| at < call.start)
                {
                    last = Some((call.start, thread));
                }
            }
        }
        last.map(|(_, thread)| thread)
    }

    /// The thread whose socket a packet is of: the one of its process that last called anything on the socket
    /// before the packet passed.
    fn of_socket(&self, host: usize, packet: &PacketSpan) -> Option<ThreadRow> {
        if packet.is_sent {
            return self.owner(host, packet);
        }
        let flow = packet.flow.map(|(flow, carried)| {
            (Flow { source: flow.destination, destination: flow.source, ..flow }, carried)
        });
        self.owner(host, &PacketSpan { flow, ..packet.clone() })
    }

    /// The arrival of the request that a thread answers with a packet, if the thread is a server's.
    pub(crate) fn request_of(&self, position: Position, answer: &PacketSpan) -> Option<Arrival> {
        let (flow, _) = answer.flow?;
        let there = &self.cluster.hosts[position.host];
        if !there.sockets.is_server(flow.source, flow.destination) {
            return None;
        }
        let asked = Flow { source: flow.destination, destination: flow.source, ..flow };
        let timeline = &self.timelines[position.host];
        let read = self.last_read(position, flow.source, flow.destination).unwrap_or(position.at);
        let mut requests =
            timeline.packets().of_flow(asked, false, read.min(position.at)).filter(|packet| has_data(packet));
        requests.next().map(|packet| Arrival { host: position.host, packet: packet.clone() })
    }

    /// When the last read on a connection returned before a thread was at a position.
    pub(crate) fn last_read(&self, position: Position, local: SocketAddr, peer: SocketAddr) -> Option<RawNs> {
        let there = &self.cluster.hosts[position.host];
        let process = there.pid(position.thread)?;
        let calls = self.timelines[position.host].calls(position.thread);
        let before = calls.partition_point(|call| call.start < position.at);
        let is_read = |call: &&isochrone_store::CallSpan| {
            let is_of = |fd| {
                let socket = there.sockets.at(process, fd, call.end);
                socket.is_some_and(|socket| (socket.local, socket.peer) == (local, peer))
            };
            call.ret > 0 && call.end <= position.at && is_read(&call.name) && call.fd.is_some_and(is_of)
        };
        calls[..before].iter().rev().find(is_read).map(|call| call.end)
    }

    /// A wait that a device ended: a disk, where one of its requests was complete just then.
    pub(crate) fn device(&self, host: usize, state: &StateRow, wakeup: &WakeupSpan) -> (Cause, StepDetail) {
        let there = &self.timelines[host];
        let handler = match wakeup.cause {
            WakeCause::Irq(_) => there.irq_at(wakeup.cpu, wakeup.at),
            _ => there.softirq_at(wakeup.cpu, wakeup.at),
        };
        let since = handler.map_or(wakeup.at, |handler| handler.start);
        let name = handler.and_then(|handler| handler.name.clone());
        let is_block = wakeup.cause == WakeCause::Softirq(vector::BLOCK);
        // The softirq completes what an interrupt has found to be done before.
        let disk = there.disk(Window::new(if is_block { state.start } else { since }, wakeup.at)).copied();
        match disk {
            Some(block) => {
                let about =
                    StepDetail::Disk { device: block.device, bytes: block.bytes, is_write: block.is_write };
                (Cause::Disk, about)
            }
            None if is_block => (Cause::Disk, StepDetail::Nothing),
            None if self.cause_by_call(host, state) == Cause::Disk => (Cause::Disk, StepDetail::Nothing),
            None => {
                (Cause::Irq, name.map_or(StepDetail::Nothing, |name| StepDetail::Handler(name.to_string())))
            }
        }
    }
}

/// Whether a call is on a socket, whatever is known of its descriptor.
fn is_on_socket(call: &str) -> bool {
    ["connect", "accept", "recv", "send"].iter().any(|head| call.starts_with(head))
        && !call.starts_with("sendfile")
}

/// Whether a call moves data from one file to another one.
fn is_between_files(call: &str) -> bool {
    call.starts_with("sendfile") || matches!(call, "splice" | "tee" | "copy_file_range")
}

/// Whether a call receives data.
fn is_read(call: &str) -> bool {
    call.starts_with("read") || call.starts_with("recv")
}

/// Whether a packet carries data, as far as is known.
pub(crate) fn has_data(packet: &PacketSpan) -> bool {
    packet.flow.is_none_or(|(_, carried)| carried.payload.is_none_or(|payload| payload > 0))
}

pub(crate) fn of_message(message: &MpiMessage) -> StepDetail {
    let MpiMessage { ranks, tag, bytes, receiver, .. } = *message;
    StepDetail::Message { ranks, tag, bytes, to: receiver.host }
}

pub(crate) fn of_packet(packet: &PacketSpan, to: Option<usize>) -> StepDetail {
    let bytes = packet.flow.and_then(|(_, carried)| carried.payload);
    StepDetail::Packet { flow: packet.flow.map(|(flow, _)| flow), bytes, to }
}
