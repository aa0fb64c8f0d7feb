//! Losses: what is missing of a host's trace, and when. What happened then is unknown, not nothing.

use std::path::Path;
use std::sync::Arc;

use isochrone_kernel::Name;

use crate::batches::Batches;
use crate::checked::Files;
use crate::error::StoreError;
use crate::host_writer::write_table;
use crate::manifest::TableEntry;
use crate::names::Names;
use crate::table::Row;
use crate::tables::LossRow;

/// A time in which events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The last time before which nothing is missing, raw ns; [`i64::MIN`] of a CPU without any events.
    pub begin: i64,
    /// The first time from which nothing is missing, raw ns; [`i64::MAX`] where a stream has ended.
    pub end: i64,
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
    const ALL: [Self; 8] = [
        Self::Events,
        Self::Packets,
        Self::Rest,
        Self::Stream,
        Self::NotBegun,
        Self::Over,
        Self::Chunk,
        Self::Cpu,
    ];

    /// Its name in the table `losses`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Packets => "packets",
            Self::Rest => "rest",
            Self::Stream => "stream",
            Self::NotBegun => "not-begun",
            Self::Over => "over",
            Self::Chunk => "chunk",
            Self::Cpu => "cpu",
        }
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
    let rows = losses.iter().map(|&Loss { begin, end, cpu, what, count }| LossRow {
        begin,
        end,
        cpu,
        what: Name::const_new(what.name()),
        count,
    });
    write_table(directory, rows, names)
}

/// All losses that overlap a window, by begin.
pub(crate) fn read_losses(files: Files<'_>, window: (i64, i64)) -> Result<Vec<Loss>, StoreError> {
    let mut losses = Vec::new();
    Batches::<LossRow>::open(files)?.overlapping(window, |view, row| {
        let LossRow { begin, end, cpu, what, count } = LossRow::get(view, row);
        let of_name = |missing: &Missing| missing.name() == what;
        let what = Missing::ALL.into_iter().find(of_name).unwrap_or(Missing::Stream);
        losses.push(Loss { begin, end, cpu, what, count });
        Ok(())
    })?;
    losses.sort_unstable();
    Ok(losses)
}
