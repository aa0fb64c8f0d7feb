//! Messages of MPI programs: the nth that a process sends to another one, with a tag, through a communicator,
//! is the nth that is received so.
//!
//! MPI keeps that order, but what it is counted from has to be there: a message counts only if the starts of
//! both programs were recorded, and nothing that can hold messages is missing before it. Where several
//! receptions are under way at once, they may end in another order than they began in; the nth that ends is
//! then of the nth message or of a later one, which left later. So the inequality between the two clocks
//! holds anyway.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use isochrone_ctf::merge::Merge;
use isochrone_ctf::schema::ClockClass;
use isochrone_hosts::Host;
use isochrone_net::Direction;
use isochrone_net::tracer::mpi::{MpiEvent, MpiMessage, MpiReader, Rank, mpi_reader};
use isochrone_time::RawNs;

use crate::matcher::Message;
use crate::packet_decoder::times;
use crate::stream_source::Stamped;

/// Ends of messages that wait for the other end at most: where more wait, one of the two traces is not of the
/// same time.
const MAX_WAITING: usize = 1 << 20;

/// What became of the events of MPI programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MpiSummary {
    /// Messages between hosts.
    pub messages: u64,
    /// Ends of messages whose other end is not there.
    pub unmatched: u64,
    /// Ends of messages that may be others than they seem: events are missing before them.
    pub uncertain: u64,
    /// Clocks that messages tie to others.
    pub tied: BTreeSet<usize>,
    /// Notes for a person.
    pub notes: Vec<String>,
}

/// A message, with what is known of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MpiMatched {
    /// The send.
    pub sent: MpiEnd,
    /// The reception.
    pub received: MpiEnd,
    /// The communicator; 0 where it is not recorded.
    pub communicator: u64,
    /// The tag.
    pub tag: i64,
}

/// An end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MpiEnd {
    /// The clock of its host.
    pub clock: usize,
    /// When it was about to be sent, or had been received.
    pub at: RawNs,
    /// The rank in `MPI_COMM_WORLD`.
    pub rank: i64,
    /// The thread, if it was recorded.
    pub thread: Option<i32>,
    /// Bytes: those that were sent, or the size of the buffer that receives.
    pub bytes: u64,
}

impl MpiMatched {
    /// What it says of clocks; nothing where both ends are on one host.
    pub fn message(&self) -> Option<Message> {
        let Self { sent, received, .. } = self;
        let message =
            Message { sender: sent.clock, sent: sent.at, receiver: received.clock, received: received.at };
        (sent.clock != received.clock).then_some(message)
    }
}

/// Sender, receiver and means of messages, which keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Channel {
    job: u64,
    communicator: u64,
    sender: i64,
    receiver: i64,
    tag: i64,
}

/// What waits in a channel: only one of the two is not empty.
#[derive(Debug, Default)]
struct Waiting {
    sent: VecDeque<MpiEnd>,
    received: VecDeque<MpiEnd>,
    /// The order is broken: sizes do not fit.
    is_closed: bool,
}

/// A stream with events of MPI programs.
struct Source<'t> {
    trace: Stamped<'t>,
    stream: usize,
    /// The packet where reading begins.
    first: usize,
    stamps: &'t ClockClass,
    /// By event class.
    readers: Vec<Option<MpiReader>>,
}

/// Passes the messages of MPI programs to `sink`, those within a host too, with the times that prove
/// something. `first`: by place of the trace and by stream, the packet where reading begins; `hosts` and
/// `offsets_ns` (Unix time less raw time): by clock. `None`: there are no such events. Reads them twice;
/// memory is what waits.
pub(crate) fn messages(
    traces: &[Stamped<'_>],
    first: &dyn Fn(usize, usize) -> usize,
    hosts: &[Host<'_>],
    offsets_ns: &[i64],
    sink: &mut dyn FnMut(&MpiMatched),
) -> Option<MpiSummary> {
    let of_trace = |(place, &trace)| sources(trace, &|stream| first(place, stream));
    let sources: Vec<Source<'_>> = traces.iter().enumerate().flat_map(of_trace).collect();
    if sources.is_empty() {
        return None;
    }
    let mut summary = MpiSummary::default();
    let ranks = ranks(&sources, offsets_ns, &mut summary);
    let complete: Vec<RawNs> = hosts.iter().map(complete_until).collect();
    let mut channels: BTreeMap<Channel, Waiting> = BTreeMap::new();
    let mut waiting = 0_usize;
    in_order(&sources, offsets_ns, |source, time, event| {
        let MpiEvent::Message(message) = event else { return };
        let clock = source.trace.clock;
        let peer = Rank { rank: message.peer, ..message.own };
        let (Some(&own), Some(_)) = (ranks.get(&message.own), ranks.get(&peer)) else {
            summary.unmatched += 1;
            return;
        };
        if own != clock {
            return;
        }
        if time >= complete[clock] || waiting >= MAX_WAITING {
            summary.uncertain += 1;
            return;
        }
        let channel = channels.entry(channel_of(&message)).or_default();
        if channel.is_closed {
            summary.uncertain += 1;
            return;
        }
        let end =
            MpiEnd { clock, at: time, rank: message.own.rank, thread: message.thread, bytes: message.bytes };
        let (own_ends, other_ends) = match message.is_send {
            true => (&mut channel.sent, &mut channel.received),
            false => (&mut channel.received, &mut channel.sent),
        };
        let Some(met) = other_ends.pop_front() else {
            own_ends.push_back(end);
            waiting += 1;
            return;
        };
        waiting -= 1;
        let (sent, received) = if message.is_send { (end, met) } else { (met, end) };
        if received.bytes > sent.bytes {
            // Nor is it known of what waits which message it is.
            let others = channel.sent.len() + channel.received.len();
            *channel = Waiting { is_closed: true, ..Waiting::default() };
            waiting -= others;
            summary.uncertain += 2 + others as u64;
            return;
        }
        if sent.clock != received.clock {
            summary.messages += 1;
            summary.tied.extend([sent.clock, received.clock]);
        }
        sink(&MpiMatched { sent, received, communicator: message.communicator, tag: message.tag });
    });
    let left = channels.values().map(|channel| channel.sent.len() + channel.received.len());
    summary.unmatched += left.sum::<usize>() as u64;
    if summary.messages > 0 {
        summary.notes.push(format!("{} messages of MPI programs count, too", summary.messages));
    }
    Some(summary)
}

fn channel_of(message: &MpiMessage) -> Channel {
    let MpiMessage { own, peer, is_send, communicator, tag, .. } = *message;
    let (sender, receiver) = if is_send { (own.rank, peer) } else { (peer, own.rank) };
    Channel { job: own.job, communicator, sender, receiver, tag }
}

/// The streams of a trace that have such events.
fn sources<'t>(trace: Stamped<'t>, first: &dyn Fn(usize) -> usize) -> Vec<Source<'t>> {
    let of_stream = |stream: usize| {
        let plan = trace.trace.stream_plan(stream);
        let readers: Vec<_> = plan.events.iter().map(|class| mpi_reader(plan, class)).collect();
        let stamps = trace.trace.clock(stream)?;
        let is_mpi = readers.iter().any(Option::is_some);
        is_mpi.then(|| Source { trace, stream, first: first(stream), stamps, readers })
    };
    (0..trace.trace.streams().len()).filter_map(of_stream).collect()
}

/// Passes all events of MPI programs with the time that they prove something of, in the order of the
/// hosts' own times.
fn in_order(sources: &[Source<'_>], offsets_ns: &[i64], mut each: impl FnMut(&Source<'_>, RawNs, MpiEvent)) {
    let streams =
        sources.iter().enumerate().map(|(tag, it)| (tag, it.trace.trace.events_from(it.stream, it.first)));
    let raw = |tag: usize, cycles: Option<u64>| {
        let raw = cycles.map_or(0, |cycles| sources[tag].stamps.raw_ns(cycles));
        i128::from(offsets_ns[sources[tag].trace.clock]) + raw
    };
    for (tag, _, event) in Merge::new(streams, |tag, event| raw(tag, event.cycles())) {
        let source = &sources[tag];
        let Some(reader) = &source.readers[event.class().index] else { continue };
        let Some(read) = reader.read(&event) else { continue };
        let direction = match &read {
            MpiEvent::Message(message) if !message.is_send => Direction::Received,
            _ => Direction::Sent,
        };
        let time = event.cycles().and_then(|cycles| times(source.stamps, cycles, direction));
        if let Some((time, _)) = time {
            each(source, time, read);
        }
    }
}

/// The clocks of all processes whose begins were recorded, and that cannot be confused with others.
fn ranks(sources: &[Source<'_>], offsets_ns: &[i64], summary: &mut MpiSummary) -> BTreeMap<Rank, usize> {
    let mut ranks = BTreeMap::new();
    let mut mixed = BTreeSet::new();
    let mut strangers = BTreeSet::new();
    in_order(sources, offsets_ns, |source, _, event| match event {
        MpiEvent::Begun(rank) => {
            if ranks.insert(rank, source.trace.clock).is_some() {
                mixed.insert(rank.job);
            }
            strangers.remove(&rank);
        }
        MpiEvent::Message(message) if !ranks.contains_key(&message.own) => {
            strangers.insert(message.own);
        }
        MpiEvent::Message(_) => {}
    });
    if !mixed.is_empty() {
        summary.notes.push(
            "MPI programs that cannot be told apart (two processes of one rank) were traced together: \
             their messages are left out"
                .to_owned(),
        );
    }
    if let Some(rank) = strangers.first() {
        summary.notes.push(format!(
            "the begin of MPI rank {} was not traced (mpi:init): which message is which is not known, and \
             its messages are left out",
            rank.rank
        ));
    }
    ranks.retain(|rank, _| !mixed.contains(&rank.job) && !strangers.contains(rank));
    ranks
}

/// Until when all events of MPI programs of a host are there.
fn complete_until(host: &Host<'_>) -> RawNs {
    let is_mpi: Vec<bool> = host
        .sources()
        .iter()
        .map(|source| {
            let plan = source.trace().stream_plan(source.stream);
            plan.events.iter().any(|class| mpi_reader(plan, class).is_some())
        })
        .collect();
    let lost = host.losses().iter().chain(host.uncovered()).filter(|loss| is_mpi[loss.source]);
    let gaps = host.gaps().iter().map(|gap| gap.start);
    lost.map(|loss| loss.from).chain(gaps).min().unwrap_or(RawNs::MAX)
}
