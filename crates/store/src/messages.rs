//! Messages between hosts: written as they are matched, read one after the other.

use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};

use crate::batches::{BatchFile, Batches};
use crate::error::StoreError;
use crate::host_writer::write;
use crate::manifest::TableEntry;
use crate::table::{Cell, Rows};
use crate::tables::MESSAGES;
use crate::writer::BATCH_ROWS;

/// A message: one packet that was seen to leave a host and to arrive at another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Where it was sent.
    pub sent: MessageEnd,
    /// Where it was received.
    pub received: MessageEnd,
}

/// An end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageEnd {
    /// Number of the host: [`HostEntry::number`](crate::HostEntry::number).
    pub host: u32,
    /// Raw time of the event on the host's clock, ns.
    pub at: i64,
    /// The CPU whose stream has the event, where it is known.
    pub cpu: Option<u32>,
}

/// Writes the messages of a store.
#[derive(Debug)]
pub struct MessagesWriter {
    file: BatchFile,
    rows: Rows,
    /// The first thing that went wrong.
    error: Option<StoreError>,
}

impl MessagesWriter {
    pub(crate) fn create(store: &Path) -> Result<Self, StoreError> {
        Ok(Self { file: BatchFile::create(store, &MESSAGES)?, rows: Rows::new(&MESSAGES), error: None })
    }

    /// Adds a message. What goes wrong is told by [`Self::finish`].
    pub fn push(&mut self, message: &Message) {
        let Message { sent, received } = message;
        self.rows.push([
            Cell::from(sent.host),
            sent.at.into(),
            sent.cpu.into(),
            received.host.into(),
            received.at.into(),
            received.cpu.into(),
        ]);
        if self.rows.len() >= BATCH_ROWS
            && let Err(error) = write(&mut self.rows, &mut self.file, None)
        {
            self.error.get_or_insert(error);
        }
    }

    /// Ends the table.
    ///
    /// # Errors
    /// Something could not be written, now or before.
    pub fn finish(mut self) -> Result<TableEntry, StoreError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        write(&mut self.rows, &mut self.file, None)?;
        self.file.finish()
    }
}

/// Gives all messages of a store away, in the order in which their batches begin.
pub(crate) fn read(store: &Path, mut to: impl FnMut(Message)) -> Result<(), StoreError> {
    let batches = Batches::open(store, &MESSAGES)?;
    for number in 0..batches.times().len() {
        let batch = batches.read(number)?;
        let u32s = |place: usize| batch.column(place).as_primitive::<UInt32Type>();
        let times = |place: usize| batch.column(place).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let end = |first: usize| MessageEnd {
                host: u32s(first).value(row),
                at: times(first + 1).value(row),
                cpu: u32s(first + 2).is_valid(row).then(|| u32s(first + 2).value(row)),
            };
            to(Message { sent: end(0), received: end(3) });
        }
    }
    Ok(())
}
