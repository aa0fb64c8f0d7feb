//! All waits of threads in a time: each with its cause, its call and who ended it. Receptions of MPI programs are waits for who sends, though libraries of
//! MPI poll: what a thread did within one is no other wait.

use isochrone_experiment::Cause;
use isochrone_kernel::Cause as WakeCause;
use isochrone_kernel::Name;
use isochrone_store::{State, StateRow, StoreError};

use crate::cluster::Cluster;
use crate::mpi::MpiMessage;
use crate::request::Party;
use crate::timeline::Window;
use crate::wait::vector;

/// A wait that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Who waited.
    pub who: Party,
    /// What for.
    pub cause: Cause,
    /// Since when, raw ns of the host.
    pub begin: i64,
    /// Until the thread could run, raw ns.
    pub end: i64,
    /// In which system call or call of MPI, if in any that is known.
    pub call: Option<Name>,
    /// How long the call took from entry to exit, ns; `None`: its ends are not known.
    pub call_ns: Option<i64>,
    /// What the call returned.
    pub ret: Option<i64>,
    /// The file descriptor that it is about, or that was ready first.
    pub fd: Option<i32>,
    /// The thread that ended it; of another host, where a packet did.
    pub ended_by: Option<Party>,
}

/// Passes all waits that end in a window (Unix ns) to `each`, by window, host and thread. Only of threads that `is_asked` says. Linear in the
/// spans of the window, which are read part by part.
///
/// # Errors
/// The store cannot be read.
pub fn waits(
    cluster: &Cluster<'_>,
    window: (i64, i64),
    is_asked: impl Fn(Party) -> bool,
    mut each: impl FnMut(&Wait),
) -> Result<(), StoreError> {
    for part in parts(cluster, window) {
        let loaded = Window::load(cluster, (part.0.saturating_sub(MARGIN), part.1.saturating_add(MARGIN)))?;
        for (place, host) in cluster.hosts.iter().enumerate() {
            let (from, to) = (host.raw(part.0), host.raw(part.1));
            let loaded_from = host.raw(part.0.saturating_sub(MARGIN));
            for thread in (0..).take(host.store.threads().len()) {
                let who = Party { host: place, thread };
                if !is_asked(who) {
                    continue;
                }
                let states = loaded.timelines[place].states(thread);
                let first = states.partition_point(|row| row.end <= from);
                let ended = states[first..].iter().take_while(|row| row.end <= to);
                let messages = cluster.mpi_received_by(who);
                for row in ended.filter(|row| row.state == State::Blocked && !is_in_reception(messages, row))
                {
                    let mut row = row.clone();
                    // What began before is cut.
                    if row.begin <= loaded_from
                        && let Some(whole) = host.store.whole_state(thread, row.begin)?
                    {
                        row.begin = whole.begin;
                    }
                    if row.end < host.range.1 {
                        each(&explained(&loaded, who, &row));
                    }
                }
                let received = messages.iter().filter(|it| (from + 1..=to).contains(&it.received));
                received.filter(|it| it.since < it.received).for_each(|message| each(&for_message(message)));
            }
        }
    }
    Ok(())
}

/// Whether a thread was in a call that received a message during a wait.
fn is_in_reception(messages: &[MpiMessage], row: &StateRow) -> bool {
    let next = messages.partition_point(|message| message.received < row.end);
    messages.get(next).is_some_and(|message| message.since <= row.begin)
}

/// The wait of a reception.
fn for_message(message: &MpiMessage) -> Wait {
    let is_within = message.sender.host == message.receiver.host;
    Wait {
        who: message.receiver,
        cause: if is_within { Cause::Socket } else { Cause::Network },
        begin: message.since,
        end: message.received,
        call: message.call.as_deref().map(Name::from),
        call_ns: None,
        ret: None,
        fd: None,
        ended_by: Some(message.sender),
    }
}

/// How much more time is read than is asked about, ns: packets that end waits were sent before.
const MARGIN: i64 = 1_000_000_000;

/// Parts of a window that are read at a time.
pub(crate) fn parts(cluster: &Cluster<'_>, (from, to): (i64, i64)) -> Vec<(i64, i64)> {
    let step = cluster.time_of_rows(crate::request::WINDOW_ROWS).max(1);
    let mut parts = Vec::new();
    let mut at = from;
    while at < to {
        let next = at.saturating_add(step).min(to);
        parts.push((at, next));
        at = next;
    }
    parts
}

/// A wait with what is known of it.
fn explained(window: &Window<'_, '_>, who: Party, state: &StateRow) -> Wait {
    let Party { host, thread } = who;
    let timeline = &window.timelines[host];
    let end = timeline.runnable(state);
    let call = timeline.call_at(thread, state.end).filter(|call| call.begin <= state.begin);
    let fd = window.fd_of(host, state);
    let name = state.syscall.clone().filter(|name| !name.is_empty());
    let wakeup = window.wakeup(host, state, state.end);
    let mut wait = Wait {
        who,
        cause: window.cause_of(host, state, wakeup.as_ref()),
        begin: state.begin,
        end,
        call: name,
        call_ns: call.map(|call| call.end - call.begin),
        ret: call.map(|call| call.ret),
        fd,
        ended_by: None,
    };
    let Some(wakeup) = wakeup else { return wait };
    if let Some(packet) = window.packet_of(host, &wakeup) {
        let sent = window.sent(host, &packet);
        wait.cause = match &sent {
            Some((from, _)) if *from == host => Cause::Socket,
            _ => Cause::Network,
        };
        wait.ended_by = sent.filter(|_| window.is_sure_packet(host, &wakeup)).and_then(|(from, sent)| {
            let is_by_softirq = window.timelines[from].softirq_at(sent.cpu, sent.at).is_some();
            let thread = if is_by_softirq { window.owner(from, &sent) } else { window.sender(from, &sent) }?;
            Some(Party { host: from, thread })
        });
        return wait;
    }
    match wakeup.cause {
        WakeCause::Timer | WakeCause::Softirq(vector::TIMER | vector::HRTIMER) => wait.cause = Cause::Sleep,
        WakeCause::Irq(_) | WakeCause::Softirq(vector::BLOCK) => {
            wait.cause = window.device(host, state, &wakeup).0;
        }
        WakeCause::Thread | WakeCause::Ipi(_) | WakeCause::Unknown => {
            wait.ended_by = window.waker(host, &wakeup).map(|thread| Party { host, thread });
        }
        WakeCause::Softirq(_) | WakeCause::Vector(_) => {}
    }
    wait
}
