//! Messages between hosts, and those of MPI programs: written as they are matched, read one after the other.

use std::path::Path;
use std::sync::Arc;

use isochrone_time::RawNs;

use crate::batches::{Batches, RowsFile};
use crate::checked::Files;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::tables::{MessageRow, MpiRow};

/// A message: one packet that was seen on the sending and on the receiving host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The send.
    pub sent: MessageEnd,
    /// The receive.
    pub received: MessageEnd,
}

/// An end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageEnd {
    /// Number of the host: [`HostEntry::number`](crate::HostEntry::number).
    pub host: u32,
    /// When the event was recorded, on the clock of the host.
    pub at: RawNs,
    /// The CPU whose stream has the event, if known.
    pub cpu: Option<u32>,
}

/// A message of an MPI program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MpiMessage {
    /// The send.
    pub sent: MpiMessageEnd,
    /// The reception.
    pub received: MpiMessageEnd,
    /// The communicator; 0 where it was not recorded.
    pub communicator: u64,
    /// The tag.
    pub tag: i64,
    /// Bytes that were sent.
    pub bytes: u64,
}

/// An end of a message of an MPI program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MpiMessageEnd {
    /// Number of the host: [`HostEntry::number`](crate::HostEntry::number).
    pub host: u32,
    /// When it was about to be sent, or had been received, on the clock of the host.
    pub at: RawNs,
    /// The thread, as the kernel numbers it, if it was recorded.
    pub tid: Option<i32>,
    /// The rank in `MPI_COMM_WORLD`.
    pub rank: i64,
}

/// Writes the messages of a store.
#[derive(Debug)]
pub struct MessagesWriter(RowsFile<MessageRow>);

impl MessagesWriter {
    pub(crate) fn create(store: &Path) -> Result<Self, StoreError> {
        RowsFile::create(store, &Arc::default()).map(Self)
    }

    /// Adds a message. Errors are returned by [`Self::finish`].
    pub fn push(&mut self, message: &Message) {
        let Message { sent, received } = *message;
        self.0.push(MessageRow {
            sent_host: sent.host,
            sent_at: sent.at,
            sent_cpu: sent.cpu,
            received_host: received.host,
            received_at: received.at,
            received_cpu: received.cpu,
        });
    }

    /// Ends the table.
    ///
    /// # Errors
    /// The file cannot be written, now or before.
    pub fn finish(self) -> Result<TableEntry, StoreError> {
        self.0.finish()
    }
}

/// Writes the messages of MPI programs.
#[derive(Debug)]
pub struct MpiWriter(RowsFile<MpiRow>);

impl MpiWriter {
    pub(crate) fn create(store: &Path) -> Result<Self, StoreError> {
        RowsFile::create(store, &Arc::default()).map(Self)
    }

    /// Adds a message. Errors are returned by [`Self::finish`].
    pub fn push(&mut self, message: &MpiMessage) {
        let MpiMessage { sent, received, communicator, tag, bytes } = *message;
        self.0.push(MpiRow {
            sent_host: sent.host,
            sent_at: sent.at,
            sent_tid: sent.tid,
            sender: sent.rank,
            received_host: received.host,
            received_at: received.at,
            received_tid: received.tid,
            receiver: received.rank,
            communicator,
            tag,
            bytes,
        });
    }

    /// Ends the table.
    ///
    /// # Errors
    /// The file cannot be written, now or before.
    pub fn finish(self) -> Result<TableEntry, StoreError> {
        self.0.finish()
    }
}

/// Passes all messages of a store to `to`, in the order in which their batches start.
pub(crate) fn read(store: Files<'_>, mut to: impl FnMut(Message)) -> Result<(), StoreError> {
    Batches::open(store)?.each(|it: MessageRow| {
        let sent = MessageEnd { host: it.sent_host, at: it.sent_at, cpu: it.sent_cpu };
        let received = MessageEnd { host: it.received_host, at: it.received_at, cpu: it.received_cpu };
        to(Message { sent, received });
    })
}

/// Passes all messages of MPI programs to `to`, in the order in which their batches start.
pub(crate) fn read_mpi(store: Files<'_>, mut to: impl FnMut(MpiMessage)) -> Result<(), StoreError> {
    Batches::open(store)?.each(|it: MpiRow| {
        let end = |host, at, tid, rank| MpiMessageEnd { host, at, tid, rank };
        to(MpiMessage {
            sent: end(it.sent_host, it.sent_at, it.sent_tid, it.sender),
            received: end(it.received_host, it.received_at, it.received_tid, it.receiver),
            communicator: it.communicator,
            tag: it.tag,
            bytes: it.bytes,
        });
    })
}
