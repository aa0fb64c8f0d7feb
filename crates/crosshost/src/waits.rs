//! All waits of threads in a time: each with its cause, its call and the thread that ended it. Receptions of
//! MPI programs are waits for the sender, though libraries of MPI poll: what a thread did within one is no
//! other wait.

use isochrone_kernel::Cause as WakeCause;
use isochrone_kernel::Name;
use isochrone_store::Cause;
use isochrone_store::{State, StateRow, StoreError, ThreadRow};
use isochrone_time::{RawNs, UnixNs, Window};
use rayon::prelude::*;

use crate::cluster::Cluster;
use crate::mpi::MpiMessage;
use crate::path::ThreadRef;
use crate::through::Through;
use crate::timeline::ClusterWindow;
use crate::wait::{StepDetail, vector};

/// A wait that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Who waited.
    pub who: ThreadRef,
    /// What for.
    pub cause: Cause,
    /// Its start, on the host's clock.
    pub start: RawNs,
    /// When the thread could run again.
    pub end: RawNs,
    /// In which system call or call of MPI, if in any that is known.
    pub call: Option<Name>,
    /// How long the call took from entry to exit, ns; `None`: its ends are not known.
    pub call_ns: Option<i64>,
    /// What the call returned.
    pub ret: Option<i64>,
    /// The file descriptor that it is about, or that was ready first.
    pub fd: Option<i32>,
    /// The descriptor that was ready first, if `fd` is a set of some (`epoll`).
    pub ready: Option<i32>,
    /// The thread that ended it; of another host, where a packet did.
    pub ended_by: Option<ThreadRef>,
    /// Through what it was ended.
    pub through: Through,
    /// When the signal was sent that ended it: the call of the sender, or the event.
    pub signal: Option<Window<RawNs>>,
    /// The disk whose request was complete just then, by its number.
    pub device: Option<u32>,
}

/// Passes all waits that end in a window to `each`, by window, host and thread. Only of threads that
/// `is_asked` says. Linear in the spans of the window, which are read part by part.
///
/// # Errors
/// The store cannot be read.
pub fn waits(
    cluster: &Cluster<'_>,
    window: Window<UnixNs>,
    is_asked: impl Fn(ThreadRef) -> bool,
    mut each: impl FnMut(&Wait),
) -> Result<(), StoreError> {
    waits_of_parts(cluster, window, is_asked, |_, _, wait| {
        each(wait);
        Ok(())
    })
}

/// As [`waits`], with the part of the spans that is in memory, and since when, Unix ns. What the threads of a
/// host waited for in a part is found on all cores; memory: these waits.
pub(crate) fn waits_of_parts<'c, 'e>(
    cluster: &'c Cluster<'e>,
    window: Window<UnixNs>,
    is_asked: impl Fn(ThreadRef) -> bool,
    mut each: impl FnMut(&ClusterWindow<'c, 'e>, UnixNs, &Wait) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut loaded = ClusterWindow::empty(cluster);
    for part in parts(cluster, window) {
        loaded.advance(widened(part, MARGIN))?;
        for (index, host) in cluster.hosts.iter().enumerate() {
            let threads = (0..).map(ThreadRow).take(host.store.threads().len());
            let asked = threads.map(|thread| ThreadRef { host: index, thread }).filter(|&who| is_asked(who));
            let asked: Vec<ThreadRef> = asked.collect();
            let of_threads = asked.par_iter().map(|&who| waits_of(&loaded, part, who));
            for wait in of_threads.collect::<Result<Vec<_>, StoreError>>()?.iter().flatten() {
                each(&loaded, part.start.saturating_sub(MARGIN), wait)?;
            }
        }
    }
    Ok(())
}

/// The waits of a thread that end in a part of the time which is in memory.
fn waits_of(
    loaded: &ClusterWindow<'_, '_>,
    part: Window<UnixNs>,
    who: ThreadRef,
) -> Result<Vec<Wait>, StoreError> {
    let host = &loaded.cluster.hosts[who.host];
    let (from, to) = (host.raw(part.start), host.raw(part.end));
    let loaded_from = host.raw(part.start.saturating_sub(MARGIN));
    let states = loaded.timelines[who.host].states(who.thread);
    let first = states.partition_point(|row| row.end <= from);
    let ended = states[first..].iter().take_while(|row| row.end <= to);
    let messages = loaded.cluster.mpi_received_by(who);
    let mut waits = Vec::new();
    for row in ended.filter(|row| row.state == State::Blocked && !is_in_reception(messages, row)) {
        let mut row = row.clone();
        // What started before is cut.
        if row.start <= loaded_from
            && let Some(whole) = host.store.whole_state(who.thread, row.start)?
        {
            row.start = whole.start;
        }
        if row.end < host.range.end {
            waits.push(explained(loaded, who, &row));
        }
    }
    let received = messages.iter().filter(|it| (from + 1..=to).contains(&it.received));
    waits.extend(received.filter(|it| it.since < it.received).map(for_message));
    Ok(waits)
}

/// Whether a thread was in a call that received a message during a wait.
fn is_in_reception(messages: &[MpiMessage], row: &StateRow) -> bool {
    let next = messages.partition_point(|message| message.received < row.end);
    messages.get(next).is_some_and(|message| message.since <= row.start)
}

/// The wait of a reception.
fn for_message(message: &MpiMessage) -> Wait {
    let is_within = message.sender.host == message.receiver.host;
    Wait {
        who: message.receiver,
        cause: if is_within { Cause::Socket } else { Cause::Network },
        start: message.since,
        end: message.received,
        call: message.call.as_deref().map(Name::from),
        call_ns: None,
        ret: None,
        fd: None,
        ready: None,
        ended_by: Some(message.sender),
        through: Through::nameless(if is_within { "socket" } else { "network" }),
        signal: None,
        device: None,
    }
}

/// How much more time is read than is asked about, ns: packets that end waits were sent before.
const MARGIN: i64 = 1_000_000_000;

/// Parts of a window that are read at a time.
pub(crate) fn parts(cluster: &Cluster<'_>, window: Window<UnixNs>) -> Vec<Window<UnixNs>> {
    let step = cluster.time_of_rows(crate::cluster::WINDOW_ROWS).max(1);
    let mut parts = Vec::new();
    let mut at = window.start;
    while at < window.end {
        let next = at.saturating_add(step).min(window.end);
        parts.push(Window::new(at, next));
        at = next;
    }
    cluster.expect(parts.len());
    parts
}

/// A window that starts earlier and ends later, by `margin` ns.
pub(crate) fn widened(window: Window<UnixNs>, margin: i64) -> Window<UnixNs> {
    Window::new(window.start.saturating_sub(margin), window.end.saturating_add(margin))
}

/// A wait with its cause, call and end.
pub(crate) fn explained(window: &ClusterWindow<'_, '_>, who: ThreadRef, state: &StateRow) -> Wait {
    let ThreadRef { host, thread } = who;
    let timeline = &window.timelines[host];
    let end = timeline.runnable(state);
    let call = timeline.call_at(thread, state.end).filter(|call| call.start <= state.start);
    let fd = window.fd_of(host, state);
    let name = state.syscall.clone().filter(|name| !name.is_empty());
    let wakeup = window.wakeup(host, state, state.end);
    let mut wait = Wait {
        who,
        cause: window.cause_of(host, state, wakeup.as_ref()),
        start: state.start,
        end,
        call: name,
        call_ns: call.map(|call| call.end - call.start),
        ret: call.map(|call| call.ret),
        fd,
        ready: window.ready_fd(host, state).filter(|&ready| Some(ready) != fd),
        ended_by: None,
        through: Through::nameless("other"),
        signal: None,
        device: None,
    };
    let Some(wakeup) = wakeup else {
        (wait.through, _) = window.through(&wait, call, None);
        return wait;
    };
    if let Some(packet) = window.packet_of(host, &wakeup) {
        let sent = window.sent(host, &packet);
        wait.cause = match &sent {
            Some((from, _)) if *from == host => Cause::Socket,
            _ => Cause::Network,
        };
        wait.ended_by = sent.filter(|_| window.is_sure_packet(host, &wakeup)).and_then(|(from, sent)| {
            let is_by_softirq = window.timelines[from].softirq_at(sent.cpu, sent.at).is_some();
            let thread = if is_by_softirq { window.owner(from, &sent) } else { window.sender(from, &sent) }?;
            Some(ThreadRef { host: from, thread })
        });
        let server = packet.flow.map(|(flow, _)| {
            let (local, peer) = (flow.destination, flow.source);
            if window.cluster.hosts[host].sockets.is_server(local, peer) { local } else { peer }
        });
        wait.through = Through::connection(wait.cause == Cause::Socket, server);
        return wait;
    }
    match wakeup.cause {
        WakeCause::Timer | WakeCause::Softirq(vector::TIMER | vector::HRTIMER) => {
            wait.cause = Cause::Sleep;
            wait.through = window.through_timer(&wait);
            return wait;
        }
        WakeCause::Irq(_) | WakeCause::Softirq(vector::BLOCK) => {
            let (cause, about) = window.device(host, state, &wakeup);
            wait.cause = cause;
            if let StepDetail::Disk { device, .. } = about {
                wait.device = Some(device);
            }
        }
        WakeCause::Thread | WakeCause::Ipi(_) | WakeCause::Unknown => {
            wait.ended_by = window.waker(host, &wakeup).map(|thread| ThreadRef { host, thread });
        }
        WakeCause::Softirq(_) | WakeCause::Vector(_) => {}
    }
    let by = wait.ended_by.map(|by| (by.thread, wakeup.at));
    (wait.through, wait.signal) = window.through(&wait, call, by);
    wait
}
