//! Messages of MPI programs, as a wrapper of the MPI library records them with LTTng-UST: `examples/mpi` is
//! one.
//!
//! A message is known by its communicator, the ranks of its sender and its receiver, its tag, and its
//! position among those that agree in all of that: MPI keeps their order. So these events make no packets;
//! who counts them is `isochrone_sync`.
//!
//! | event | fields |
//! |---|---|
//! | `mpi:init` | `rank`, `size`, `job` |
//! | `mpi:msg` | `rank`, `is_send`, `peer`, `tag`, `bytes`, `job`, `comm` |
//!
//! Ranks are those of `MPI_COMM_WORLD`. `job` and `comm` may be missing: then there is one job, and one
//! communicator. Where the thread is a context (`vtid`), it is known who sends and receives.

use isochrone_ctf::Event;
use isochrone_ctf::plan::{EventPlan, FieldRef, StreamPlan};

/// A program has begun.
const INIT: &str = "mpi:init";
/// A message is about to be sent, or has been received.
const MESSAGE: &str = "mpi:msg";

/// A process of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rank {
    /// What shows jobs apart; 0 where nothing does.
    pub job: u64,
    /// Its rank.
    pub rank: i64,
}

/// What an event records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MpiEvent {
    /// A process has begun.
    Begun(Rank),
    /// A message: before it is sent, or after it was received.
    Message(MpiMessage),
}

/// An end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MpiMessage {
    /// The process that sent or received it.
    pub own: Rank,
    /// The rank of the other one.
    pub peer: i64,
    /// Whether it is the one that sends.
    pub is_send: bool,
    /// The communicator; 0 where it is not recorded.
    pub communicator: u64,
    /// The tag.
    pub tag: i64,
    /// Bytes.
    pub bytes: u64,
    /// The thread, if it was recorded.
    pub thread: Option<i32>,
}

/// Reads the events of one class.
#[derive(Debug, Clone)]
pub struct MpiReader {
    rank: FieldRef,
    job: Option<FieldRef>,
    message: Option<MessageFields>,
}

#[derive(Debug, Clone)]
struct MessageFields {
    is_send: FieldRef,
    peer: FieldRef,
    tag: FieldRef,
    bytes: FieldRef,
    communicator: Option<FieldRef>,
    thread: Option<FieldRef>,
}

/// The reader for an event class, if it is one of MPI. Linear in the fields of the class.
pub fn mpi_reader(stream: &StreamPlan, class: &EventPlan) -> Option<MpiReader> {
    let field = |name| class.payload_field(stream, &[name]);
    let message = match class.name.as_deref()? {
        INIT => None,
        MESSAGE => Some(MessageFields {
            is_send: field("is_send")?,
            peer: field("peer")?,
            tag: field("tag")?,
            bytes: field("bytes")?,
            communicator: field("comm"),
            thread: class.context_field(stream, "vtid"),
        }),
        _ => return None,
    };
    Some(MpiReader { rank: field("rank")?, job: field("job"), message })
}

impl MpiReader {
    /// What an event of the class records; `None` where a field is no number. `O(1)`.
    pub fn read(&self, event: &Event<'_>) -> Option<MpiEvent> {
        let number = |field: &FieldRef| event.integer_bits(field).map(|bits| bits as i64);
        let job = self.job.as_ref().map_or(Some(0), number)?;
        let own = Rank { job: job as u64, rank: number(&self.rank)? };
        let Some(message) = &self.message else { return Some(MpiEvent::Begun(own)) };
        Some(MpiEvent::Message(MpiMessage {
            own,
            peer: number(&message.peer)?,
            is_send: number(&message.is_send)? != 0,
            communicator: message.communicator.as_ref().map_or(Some(0), number)? as u64,
            tag: number(&message.tag)?,
            bytes: number(&message.bytes)?.max(0).unsigned_abs(),
            thread: message.thread.as_ref().and_then(number).and_then(|thread| i32::try_from(thread).ok()),
        }))
    }
}
