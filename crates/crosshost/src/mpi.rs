//! Messages of MPI programs, with the calls that they were received in: what a rank waits for is the rank that sends.
//!
//! Libraries of MPI poll: a rank that waits is on a CPU, and nothing wakes it. So neither its states nor packets show which rank it waited for; the order of
//! messages does (`isochrone_sync`), which the store keeps. A reception waits from the start of its call (a phase, `mpi MPI_Recv`) until the message
//! was there. Used by: `walk.rs`, `waits.rs`.

use isochrone_store::{MpiMessageEnd, Store, StoreError, ThreadRow};
use isochrone_time::{RawNs, Window};

use crate::host::Host;
use crate::keyed::last_until;
use crate::path::ThreadRef;

/// How phases are called that are calls of MPI.
const CALL: &str = "mpi ";

/// A message that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MpiMessage {
    /// The thread that sent it.
    pub sender: ThreadRef,
    /// When it was about to be sent, on the clock of the sender's host.
    pub sent: RawNs,
    /// The thread that received it.
    pub receiver: ThreadRef,
    /// When it had been received, on the clock of the receiver's host.
    pub received: RawNs,
    /// Start of the call of the receiver; when it was received, where the call is unknown.
    pub since: RawNs,
    /// The call, without its head: `MPI_Recv`.
    pub call: Option<String>,
    /// Ranks of the sender and of the receiver.
    pub ranks: (i64, i64),
    /// The tag.
    pub tag: i64,
    /// Bytes.
    pub bytes: u64,
}

/// A call of MPI: the thread, start, end, and its name.
type Call = (ThreadRow, RawNs, RawNs, String);

/// All messages of a store between threads that are known, by the receiver and the time of the reception. `index` gives the index of a host by its
/// number in the store. Linear in the messages, and in the threads and phases of all hosts.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn messages(
    store: &Store,
    hosts: &[Host<'_>],
    index: impl Fn(u32) -> Option<usize>,
) -> Result<Vec<MpiMessage>, StoreError> {
    let mut found = Vec::new();
    store.mpi(|message| found.push(message))?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let calls: Vec<Vec<Call>> = hosts.iter().map(calls_of).collect::<Result<_, _>>()?;
    let threads: Vec<_> = hosts.iter().map(|host| host.store.threads_by_tid()).collect();
    let party = |end: &MpiMessageEnd| {
        let host = index(end.host)?;
        let thread = rank_thread(&calls[host], threads[host].get(&end.tid?).copied(), end.at)?;
        Some(ThreadRef { host, thread })
    };
    let of = |message: isochrone_store::MpiMessage| {
        let isochrone_store::MpiMessage { tag, bytes, .. } = message;
        let (sent, received) = (message.sent(), message.received());
        let (sender, receiver) = (party(&sent)?, party(&received)?);
        let call = call_at(&calls[receiver.host], receiver.thread, received.at);
        Some(MpiMessage {
            sender,
            sent: sent.at,
            receiver,
            received: received.at,
            since: call.map_or(received.at, |call| call.1),
            call: call.map(|call| call.3.clone()),
            ranks: (sent.rank, received.rank),
            tag,
            bytes,
        })
    };
    let mut messages: Vec<MpiMessage> = found.into_iter().filter_map(of).collect();
    messages.sort_by_key(|it| (it.receiver, it.received, it.sender, it.sent));
    Ok(messages)
}

/// The calls of MPI of a host, by thread and time.
fn calls_of(host: &Host<'_>) -> Result<Vec<Call>, StoreError> {
    let phases = host.store.phases_between(Window::ALL)?;
    let call = |phase: isochrone_store::PhaseSpan| {
        let name = phase.name.strip_prefix(CALL)?.to_owned();
        Some((phase.thread?, phase.start, phase.end, name))
    };
    let mut calls: Vec<Call> = phases.into_iter().filter_map(call).collect();
    calls.sort_unstable();
    Ok(calls)
}

/// The thread of a rank. `named`: the one that has the number that the rank says, which may be one of its own pid namespace: where calls
/// of MPI are known, it is a thread that makes some, else the only one that is in a call then.
fn rank_thread(calls: &[Call], named: Option<ThreadRow>, at: RawNs) -> Option<ThreadRow> {
    let makes_calls = |thread: &ThreadRow| calls.binary_search_by_key(thread, |call| call.0).is_ok();
    if calls.is_empty() || named.as_ref().is_some_and(makes_calls) {
        return named;
    }
    let mut inside = calls.iter().filter(|call| call.1 <= at && at <= call.2).map(|call| call.0);
    let first = inside.next()?;
    inside.all(|other| other == first).then_some(first)
}

/// The call that a thread is in at an instant.
fn call_at(calls: &[Call], thread: ThreadRow, at: RawNs) -> Option<&Call> {
    let from = calls.partition_point(|call| call.0 < thread);
    let until = calls.partition_point(|call| call.0 <= thread);
    last_until(&calls[from..until], at, |call| call.1).filter(|call| call.2 >= at)
}

/// The last message that a thread received after an instant and not after another one, of some that are sorted.
pub(crate) fn last_received(
    messages: &[MpiMessage],
    receiver: ThreadRef,
    Window { start: after, end: until }: Window<RawNs>,
) -> Option<&MpiMessage> {
    let index = messages.partition_point(|it| (it.receiver, it.received) <= (receiver, until));
    messages[..index].last().filter(|it| it.receiver == receiver && it.received > after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(thread: u32, received: i64) -> MpiMessage {
        let party = |thread| ThreadRef { host: 0, thread: ThreadRow(thread) };
        MpiMessage {
            sender: party(9),
            sent: RawNs(0),
            receiver: party(thread),
            received: RawNs(received),
            since: RawNs(0),
            call: None,
            ranks: (0, 1),
            tag: 0,
            bytes: 0,
        }
    }

    #[test]
    fn a_rank_is_a_thread_that_makes_calls() {
        let call = |thread, start, end| (ThreadRow(thread), RawNs(start), RawNs(end), String::new());
        let calls = [call(3, 10, 20), call(5, 15, 30), call(5, 40, 50)];
        let check = |named: Option<u32>, at, expect: Option<u32>| {
            let found = rank_thread(&calls, named.map(ThreadRow), RawNs(at));
            assert_eq!(found, expect.map(ThreadRow), "{named:?} {at}");
        };
        check(Some(3), 45, Some(3));
        check(Some(1), 45, Some(5));
        check(Some(1), 12, Some(3));
        check(Some(1), 17, None);
        check(Some(1), 35, None);
        check(None, 45, Some(5));
        assert_eq!(rank_thread(&[], Some(ThreadRow(1)), RawNs(45)), Some(ThreadRow(1)));
    }

    #[test]
    fn the_last_message_of_a_thread_is_found() {
        let all = [message(1, 10), message(1, 20), message(2, 15)];
        let check = |thread, (after, until), expect: Option<i64>| {
            let receiver = ThreadRef { host: 0, thread: ThreadRow(thread) };
            let found = last_received(&all, receiver, Window::new(RawNs(after), RawNs(until)));
            assert_eq!(found.map(|it| it.received.0), expect, "{thread} {after} {until}");
        };
        check(1, (0, 20), Some(20));
        check(1, (0, 19), Some(10));
        check(1, (10, 19), None);
        check(2, (0, 99), Some(15));
        check(3, (0, 99), None);
    }

    #[test]
    fn a_call_is_the_one_around() {
        let calls: Vec<Call> = [(1, 0, 5), (1, 10, 20), (2, 0, 100)]
            .map(|(thread, start, end)| (ThreadRow(thread), RawNs(start), RawNs(end), "MPI_Recv".to_owned()))
            .to_vec();
        let check = |thread, at, expect: Option<i64>| {
            let found = call_at(&calls, ThreadRow(thread), RawNs(at));
            assert_eq!(found.map(|call| call.1.0), expect, "{thread} {at}");
        };
        check(1, 3, Some(0));
        check(1, 7, None);
        check(1, 20, Some(10));
        check(2, 7, Some(0));
        check(3, 7, None);
    }
}
