//! Losses: what is missing of a host's trace, and when. What happened then is unknown, not nothing.

use std::path::Path;
use std::sync::Arc;

use isochrone_kernel::{Missed, Name};
use isochrone_time::{RawNs, Window};

use crate::batches::Batches;
use crate::error::StoreError;
use crate::host_writer::write_table;
use crate::manifest::TableEntry;
use crate::names::Names;
use crate::store::HostStore;
use crate::tables::{LossRow, MissedRow};

/// A time in which events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The last instant before which nothing is missing; [`RawNs::MIN`] of a CPU without any events.
    pub start: RawNs,
    /// The first instant from which nothing is missing; [`RawNs::MAX`] where a stream has ended.
    pub end: RawNs,
    /// The CPU whose stream lacks them. `None`: all CPUs, or a stream that is of no CPU.
    pub cpu: Option<u32>,
    /// The kind of the loss.
    pub what: Missing,
    /// Number of events or packets, if known.
    pub count: Option<u64>,
}

/// Kinds of losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// Events that the tracer had no room for.
    Events,
    /// Packets.
    Packets,
    /// The rest of a packet that cannot be decoded.
    Rest,
    /// The file of the stream does not exist.
    Stream,
    /// The stream begins later than others of its channel.
    NotBegun,
    /// The stream ends earlier than others of its channel.
    Over,
    /// A chunk of a rotated session, with the streams of all CPUs.
    Chunk,
    /// Everything of the CPU.
    Cpu,
}

impl Missing {
    /// All of them, with their names in the table `losses`.
    const NAMES: [(Self, &'static str); 8] = [
        (Self::Events, "events"),
        (Self::Packets, "packets"),
        (Self::Rest, "rest"),
        (Self::Stream, "stream"),
        (Self::NotBegun, "not-begun"),
        (Self::Over, "over"),
        (Self::Chunk, "chunk"),
        (Self::Cpu, "cpu"),
    ];

    /// Its name in the table `losses`.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }
}

/// Writes the table.
pub(crate) fn write_losses(
    directory: &Path,
    losses: &[Loss],
    names: &Arc<Names>,
) -> Result<TableEntry, StoreError> {
    let mut losses = losses.to_vec();
    losses.sort_unstable();
    let rows = losses.iter().map(|&Loss { start, end, cpu, what, count }| LossRow {
        start,
        end,
        cpu,
        what: Name::const_new(what.name()),
        count,
    });
    write_table(directory, rows, names)
}

impl HostStore {
    /// What is missing of the host's trace in a window, by start. Linear in all losses.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn losses(&self, window: Window<RawNs>) -> Result<Vec<Loss>, StoreError> {
        let mut losses = Vec::new();
        Batches::open(self.tables())?.rows(window, |row: LossRow| {
            let LossRow { start, end, cpu, what, count } = row;
            let missing = Missing::NAMES.into_iter().find(|(_, name)| what == *name);
            let what = missing.map_or(Missing::Stream, |(missing, _)| missing);
            losses.push(Loss { start, end, cpu, what, count });
        })?;
        losses.sort_unstable();
        Ok(losses)
    }

    /// When events of the kernel may be missing. Linear in these times.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn missed(&self) -> Result<Missed, StoreError> {
        let mut missed = Missed::default();
        Batches::open(self.tables())?.each(|row: MissedRow| missed.add(row.start, row.end))?;
        Ok(missed)
    }
}
