//! Messages between hosts, and those of MPI programs: written as they are matched, read one after the other.

use std::path::Path;
use std::sync::Arc;

use crate::batches::{BatchFile, Batches};
use crate::checked::Files;
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::names::Names;
use crate::table::{Row, Rows};
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
    /// Raw time of the event on the host's clock, ns.
    pub at: i64,
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
    /// Raw time on the host's clock, ns: when it was about to be sent, or had been received.
    pub at: i64,
    /// The thread, as the kernel numbers it, if it was recorded.
    pub tid: Option<i32>,
    /// The rank in `MPI_COMM_WORLD`.
    pub rank: i64,
}

/// Writes the messages of a store.
#[derive(Debug)]
pub struct MessagesWriter(RowsWriter<MessageRow>);

impl MessagesWriter {
    pub(crate) fn create(store: &Path) -> Result<Self, StoreError> {
        RowsWriter::create(store).map(Self)
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
pub struct MpiWriter(RowsWriter<MpiRow>);

impl MpiWriter {
    pub(crate) fn create(store: &Path) -> Result<Self, StoreError> {
        RowsWriter::create(store).map(Self)
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

/// Writes rows in the order in which they come.
#[derive(Debug)]
struct RowsWriter<R: Row> {
    file: BatchFile<R>,
    rows: Rows<R>,
    /// The first error, returned by [`Self::finish`].
    error: Option<StoreError>,
}

impl<R: Row> RowsWriter<R> {
    fn create(store: &Path) -> Result<Self, StoreError> {
        let file = BatchFile::create(store, &Arc::new(Names::default()))?;
        Ok(Self { file, rows: Rows::default(), error: None })
    }

    fn push(&mut self, row: R) {
        if let Some(full) = self.rows.push(row)
            && let Err(error) = self.file.write(&full)
        {
            self.error.get_or_insert(error);
        }
    }

    fn finish(mut self) -> Result<TableEntry, StoreError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        for rows in self.rows.take() {
            self.file.write(&rows)?;
        }
        self.file.finish()
    }
}

/// Passes all messages of a store to `to`, in the order in which their batches begin.
pub(crate) fn read(store: Files<'_>, mut to: impl FnMut(Message)) -> Result<(), StoreError> {
    let batches = Batches::<MessageRow>::open(store)?;
    for number in 0..batches.covered().len() {
        let (rows, batch) = batches.read_all(number)?;
        for row in 0..rows {
            let it = MessageRow::get(&batch, row);
            let sent = MessageEnd { host: it.sent_host, at: it.sent_at, cpu: it.sent_cpu };
            let received = MessageEnd { host: it.received_host, at: it.received_at, cpu: it.received_cpu };
            to(Message { sent, received });
        }
    }
    Ok(())
}

/// Passes all messages of MPI programs to `to`, in the order in which their batches begin.
pub(crate) fn read_mpi(store: Files<'_>, mut to: impl FnMut(MpiMessage)) -> Result<(), StoreError> {
    let batches = Batches::<MpiRow>::open(store)?;
    for number in 0..batches.covered().len() {
        let (rows, batch) = batches.read_all(number)?;
        for row in 0..rows {
            let it = MpiRow::get(&batch, row);
            let sent =
                MpiMessageEnd { host: it.sent_host, at: it.sent_at, tid: it.sent_tid, rank: it.sender };
            let received = MpiMessageEnd {
                host: it.received_host,
                at: it.received_at,
                tid: it.received_tid,
                rank: it.receiver,
            };
            to(MpiMessage { sent, received, communicator: it.communicator, tag: it.tag, bytes: it.bytes });
        }
    }
    Ok(())
}
