//! Packets of a host, to be looked up by the instant and the CPU of their events: so messages are joined with threads.

use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};

use crate::batches::Batches;
use crate::error::StoreError;
use crate::tables::{PACKETS, THREAD_NAMES};

/// The packets of a host, and what the numbers of threads in their rows mean.
#[derive(Debug)]
pub(crate) struct Packets {
    packets: Batches,
    names: Vec<Option<u32>>,
}

impl Packets {
    pub(crate) fn open(directory: &Path) -> Result<Self, StoreError> {
        let batches = Batches::open(directory, &THREAD_NAMES)?;
        let mut names = Vec::new();
        for number in 0..batches.times().len() {
            let batch = batches.read(number)?;
            let threads = batch.column(1).as_primitive::<UInt32Type>();
            names.extend((0..batch.num_rows()).map(|row| threads.is_valid(row).then(|| threads.value(row))));
        }
        Ok(Self { packets: Batches::open(directory, &PACKETS)?, names })
    }

    /// Who ran on a CPU when an event of a packet was recorded there: `None` where there is no such event, `Some(None)` where nobody
    /// knows who ran. Logarithmic in the rows of the batches that cover the instant.
    pub(crate) fn thread(&self, at: i64, cpu: u32, is_sent: bool) -> Result<Option<Runner>, StoreError> {
        for (number, &(begin, end)) in self.packets.times().iter().enumerate() {
            if at < begin || at > end {
                continue;
            }
            let batch = self.packets.read(number)?;
            let times = batch.column(0).as_primitive::<Int64Type>().values();
            let cpus = batch.column(1).as_primitive::<UInt32Type>();
            let threads = batch.column(2).as_primitive::<UInt32Type>();
            let sent = batch.column(5).as_boolean();
            let first = times.partition_point(|&time| time < at);
            let mut here = (first..times.len()).take_while(|&row| times[row] == at);
            let found = here.find(|&row| cpus.value(row) == cpu && sent.value(row) == is_sent);
            if let Some(row) = found {
                let thread = self.names.get(threads.value(row) as usize).copied().flatten();
                return Ok(Some(Runner { thread }));
            }
        }
        Ok(None)
    }
}

/// Who ran on the CPU of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runner {
    /// Number of the thread, where it is known. It may have been interrupted: the state of the thread at that instant tells.
    pub thread: Option<u32>,
}
