//! Messages between hosts: written as they are matched, read one after the other.

use std::path::Path;
use std::sync::Arc;

use crate::batches::{BatchFile, Batches};
use crate::error::StoreError;
use crate::manifest::TableEntry;
use crate::names::Names;
use crate::table::{Row, Rows};
use crate::tables::MessageRow;

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

/// Writes the messages of a store.
#[derive(Debug)]
pub struct MessagesWriter {
    file: BatchFile<MessageRow>,
    rows: Rows<MessageRow>,
    /// The first error, returned by [`MessagesWriter::finish`].
    error: Option<StoreError>,
}

impl MessagesWriter {
    pub(crate) fn create(store: &Path) -> Result<Self, StoreError> {
        let file = BatchFile::create(store, &Arc::new(Names::default()))?;
        Ok(Self { file, rows: Rows::default(), error: None })
    }

    /// Adds a message. Errors are returned by [`Self::finish`].
    pub fn push(&mut self, message: &Message) {
        let Message { sent, received } = *message;
        let row = MessageRow {
            sent_host: sent.host,
            sent_at: sent.at,
            sent_cpu: sent.cpu,
            received_host: received.host,
            received_at: received.at,
            received_cpu: received.cpu,
        };
        if let Some(full) = self.rows.push(row)
            && let Err(error) = self.file.write(&full)
        {
            self.error.get_or_insert(error);
        }
    }

    /// Ends the table.
    ///
    /// # Errors
    /// The file cannot be written, now or before.
    pub fn finish(mut self) -> Result<TableEntry, StoreError> {
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
pub(crate) fn read(store: &Path, mut to: impl FnMut(Message)) -> Result<(), StoreError> {
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
