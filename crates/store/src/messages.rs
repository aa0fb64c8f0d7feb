//! Messages between hosts, and those of MPI programs: their ends, how they are written as they are matched,
//! and who ran at the ends of packets.

use std::path::Path;
use std::sync::Arc;

use isochrone_time::{RawNs, Window};

use crate::batches::{Batches, RowsFile};
use crate::checked::Files;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::spans::thread_names;
use crate::tables::{Message, MessageRow, MpiMessage, MpiRow, PacketRow};
use crate::threads::ThreadRow;

/// An end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageEnd {
    /// Number of the host: [`HostEntry::number`](crate::HostEntry::number).
    pub host: u32,
    /// When the event was recorded, on the clock of the host.
    pub at: RawNs,
    /// The CPU whose stream has the event, if known.
    pub cpu: Option<u32>,
    /// The thread that ran there, if known.
    pub thread: Option<ThreadRow>,
}

impl Message {
    /// A message by its ends.
    pub fn new(sent: MessageEnd, received: MessageEnd) -> Self {
        Self {
            sent_host: sent.host,
            sent_at: sent.at,
            sent_cpu: sent.cpu,
            sent_thread: sent.thread,
            received_host: received.host,
            received_at: received.at,
            received_cpu: received.cpu,
            received_thread: received.thread,
        }
    }

    /// The send.
    pub fn sent(&self) -> MessageEnd {
        let &Self { sent_host: host, sent_at: at, sent_cpu: cpu, sent_thread: thread, .. } = self;
        MessageEnd { host, at, cpu, thread }
    }

    /// The reception.
    pub fn received(&self) -> MessageEnd {
        let &Self {
            received_host: host, received_at: at, received_cpu: cpu, received_thread: thread, ..
        } = self;
        MessageEnd { host, at, cpu, thread }
    }
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

impl MpiMessage {
    /// The send.
    pub fn sent(&self) -> MpiMessageEnd {
        MpiMessageEnd { host: self.sent_host, at: self.sent_at, tid: self.sent_tid, rank: self.sender }
    }

    /// The reception.
    pub fn received(&self) -> MpiMessageEnd {
        let &Self { received_host: host, received_at: at, received_tid: tid, receiver: rank, .. } = self;
        MpiMessageEnd { host, at, tid, rank }
    }
}

/// Writes the messages of a store.
#[derive(Debug)]
pub struct MessagesWriter(RowsFile<MessageRow>);

impl MessagesWriter {
    pub(crate) fn create(store: &Path) -> Result<Self, StoreError> {
        RowsFile::create(store, &Arc::default()).map(Self)
    }

    /// Adds a message. Errors are returned by [`Self::finish`].
    pub fn push(&mut self, message: Message) {
        self.0.push(message.into());
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
    pub fn push(&mut self, message: MpiMessage) {
        self.0.push(message.into());
    }

    /// Ends the table.
    ///
    /// # Errors
    /// The file cannot be written, now or before.
    pub fn finish(self) -> Result<TableEntry, StoreError> {
        self.0.finish()
    }
}

/// The threads that ran on a host when it sent and received packets.
#[derive(Debug)]
pub struct Runners {
    packets: Batches<PacketRow>,
    threads: Vec<Option<ThreadRow>>,
}

impl Runners {
    pub(crate) fn open(files: Files<'_>) -> Result<Self, StoreError> {
        Ok(Self { packets: Batches::open(files)?, threads: thread_names(files)? })
    }

    /// The thread that ran on a CPU when a packet was sent or received there; `None` if it is unknown, or
    /// there is no event of a packet at that instant. Linear in the batches, logarithmic in the rows of those
    /// that cover the instant; a batch that was read last is not read again.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn at(&self, at: RawNs, cpu: u32, is_sent: bool) -> Result<Option<ThreadRow>, StoreError> {
        let mut runner = None;
        self.packets.rows(Window::new(at, at.saturating_add(1)), |row: PacketRow| {
            if (row.at, row.cpu, row.is_sent) == (at, cpu, is_sent) && runner.is_none() {
                runner = Some(self.threads.get(row.thread.index()).copied().flatten());
            }
        })?;
        Ok(runner.flatten())
    }
}
