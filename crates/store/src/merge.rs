//! Merges all spans of a host that determine states, in the order of their starts, from batches that are each
//! in that order.
//!
//! A batch is read when its first start is due and dropped after its last row, so that only overlapping
//! batches are in memory. [`crate::sweep`] consumes the spans.

use isochrone_kernel::OffCpuReason;
use isochrone_loser_tree::LoserTree;
use isochrone_time::RawNs;

use crate::batches::Batches;
use crate::checked::Files;
use crate::error::StoreError;
use crate::names::NameId;
use crate::sweep::Call;
use crate::table::Row;
use crate::tables::{
    HalfSyscallRow, IrqRow, LatencyRow, OffRow, OpenCallRow, PageFaultRow, SliceRow, SoftirqRow, SyscallRow,
};
use crate::threads::{ThreadName, ThreadRow};

/// A span as the sweep needs it. Threads are numbers of `thread_names`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SweepSpan {
    /// On a CPU.
    Slice { thread: ThreadName, cpu: u32, end: RawNs },
    /// Off the CPUs.
    OffCpu { thread: ThreadName, is_preempted: bool, end: RawNs },
    /// Waits for a CPU. `waker`: the number of a thread, as the caller numbers them.
    SchedLatency { thread: ThreadName, waker: Option<u32>, end: RawNs },
    /// In a call.
    Call { thread: ThreadName, name: Option<NameId>, fd: Option<i32>, end: RawNs },
    /// The entry of a call whose exit was not seen, or the exit of one whose entry was not.
    HalfCall { thread: ThreadName, is_begin: bool, name: Option<NameId>, fd: Option<i32> },
    /// In a call with a missing end; `None`: perhaps in one. `thread`: the thread itself.
    OpenCall { thread: ThreadRow, call: Option<Call>, end: RawNs },
    /// In a page fault, of the program or of the kernel for it.
    PageFault { thread: ThreadName, is_user: bool, end: RawNs },
    /// A CPU handles an interrupt or a softirq.
    Interrupt { cpu: u32, end: RawNs },
}

/// A table that the sweep reads.
trait Source: std::fmt::Debug + Send {
    /// The start of each batch.
    fn starts(&self) -> Vec<RawNs>;

    /// Reads a batch.
    fn read(&self, batch: usize) -> Result<View, StoreError>;
}

/// Defines the tables that the sweep reads.
macro_rules! views {
    ($($Table:ident $Row:ident, $row:ident => $span:expr;)*) => {
        /// The columns of a batch.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant)] // There is one for each batch, not for each row.
        enum View {
            $($Table(<$Row as Row>::View),)*
        }

        impl View {
            /// The start of a row; `None` after the last.
            #[inline]
            fn start(&self, row: usize) -> Option<RawNs> {
                match self {
                    $(Self::$Table(view) => $Row::starts(view).get(row).copied().map(RawNs),)*
                }
            }

            #[inline]
            fn span(&self, row: usize) -> SweepSpan {
                match self {
                    $(Self::$Table(view) => $Row::get(view, row).into(),)*
                }
            }
        }

        $(impl Source for Batches<$Row> {
            fn starts(&self) -> Vec<RawNs> {
                self.covered().iter().map(|covered| covered.start).collect()
            }

            fn read(&self, batch: usize) -> Result<View, StoreError> {
                self.read(batch).map(View::$Table)
            }
        }

        impl From<$Row> for SweepSpan {
            #[inline]
            fn from($row: $Row) -> Self {
                $span
            }
        })*
    };
}

views! {
    Slices SliceRow, it => Self::Slice { thread: it.thread, cpu: it.cpu, end: it.end };
    OffCpu OffRow, it => Self::OffCpu {
        thread: it.thread, is_preempted: it.why.0 == OffCpuReason::Preempted.number(), end: it.end,
    };
    Latencies LatencyRow, it => Self::SchedLatency {
        thread: it.thread, waker: it.waker.map(|waker| waker.0), end: it.end,
    };
    HalfSyscalls HalfSyscallRow, it => Self::HalfCall {
        thread: it.thread, is_begin: it.is_begin, name: it.name, fd: it.fd,
    };
    OpenCalls OpenCallRow, it => Self::OpenCall {
        thread: it.thread, call: it.is_sure.then_some(Call { name: it.name, fd: it.fd }), end: it.until,
    };
    Syscalls SyscallRow, it => Self::Call { thread: it.thread, name: Some(it.name), fd: it.fd, end: it.end };
    PageFaults PageFaultRow, it => Self::PageFault {
        thread: it.thread, is_user: it.is_user, end: it.end,
    };
    Irqs IrqRow, it => Self::Interrupt { cpu: it.cpu, end: it.end };
    Softirqs SoftirqRow, it => Self::Interrupt { cpu: it.cpu, end: it.end };
}

/// Opens tables; of spans with equal starts, those of earlier tables come first.
macro_rules! sources {
    ($files:ident: $($Row:ident)*) => {
        vec![$(Box::new(Batches::<$Row>::open($files)?),)*]
    };
}

/// A batch that has started.
#[derive(Debug)]
struct Active {
    view: View,
    table: usize,
    row: usize,
}

/// Reads tables in the order of time.
#[derive(Debug)]
pub(crate) struct Merge {
    sources: Vec<Box<dyn Source>>,
    /// Batches that have not started, the latest first: start, table, batch.
    waiting: Vec<(RawNs, usize, usize)>,
    active: Vec<Active>,
    /// The start of the next row of each batch that has started, and its table.
    tree: LoserTree<(RawNs, usize)>,
    /// Half calls of one instant that are still to be given out, the last one first.
    halves: Vec<(RawNs, SweepSpan)>,
}

impl Merge {
    /// Of the tables of a host that the sweep reads.
    pub(crate) fn open(files: Files<'_>) -> Result<Self, StoreError> {
        Ok(Self::of(
            sources![files: SliceRow OffRow LatencyRow OpenCallRow SyscallRow PageFaultRow IrqRow SoftirqRow],
        ))
    }

    /// Of the tables of calls, whole ones and halves.
    pub(crate) fn calls(files: Files<'_>) -> Result<Self, StoreError> {
        Ok(Self::of(sources![files: HalfSyscallRow SyscallRow]))
    }

    fn of(sources: Vec<Box<dyn Source>>) -> Self {
        let mut waiting = Vec::new();
        for (table, source) in sources.iter().enumerate() {
            let starts = source.starts().into_iter().enumerate();
            waiting.extend(starts.map(|(batch, start)| (start, table, batch)));
        }
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        let tree = LoserTree::new([]);
        Self { sources, waiting, active: Vec::new(), tree, halves: Vec::new() }
    }

    /// The next span, with its start; `None` after the last. Of half calls of one instant, exits come before
    /// entries: in which order they were found depends on how the trace was cut.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(RawNs, SweepSpan)>, StoreError> {
        if let Some(half) = self.halves.pop() {
            return Ok(Some(half));
        }
        let Some(first) = self.next_of_tables()? else { return Ok(None) };
        if !matches!(first.1, SweepSpan::HalfCall { .. }) {
            return Ok(Some(first));
        }
        self.halves.push(first);
        // Those of an instant are neighbours, whatever batches they are in.
        while self.is_half_at(first.0)? {
            let half = self.next_of_tables()?;
            self.halves.extend(half);
        }
        self.halves.sort_by_key(|(_, half)| matches!(half, SweepSpan::HalfCall { is_begin: false, .. }));
        Ok(self.halves.pop())
    }

    /// Whether the next row is half a call at an instant.
    fn is_half_at(&mut self, instant: RawNs) -> Result<bool, StoreError> {
        self.start_due()?;
        let Some(((at, _), index)) = self.tree.first() else { return Ok(false) };
        Ok(at == instant && matches!(self.active[index].view, View::HalfSyscalls(_)))
    }

    /// Starts the batches that are due.
    #[inline]
    fn start_due(&mut self) -> Result<(), StoreError> {
        while let Some(&(start, ..)) = self.waiting.last()
            && self.tree.first().is_none_or(|((head, _), _)| start <= head)
        {
            self.start_next()?;
        }
        Ok(())
    }

    /// The next row of all tables.
    #[inline]
    fn next_of_tables(&mut self) -> Result<Option<(RawNs, SweepSpan)>, StoreError> {
        self.start_due()?;
        let Some(((at, _), index)) = self.tree.first() else { return Ok(None) };
        let active = &mut self.active[index];
        let span = active.view.span(active.row);
        active.row += 1;
        match active.view.start(active.row) {
            Some(start) => self.tree.replace_first((start, active.table)),
            None => self.tree.remove_first(),
        }
        Ok(Some((at, span)))
    }

    /// Starts the next batch.
    #[cold]
    fn start_next(&mut self) -> Result<(), StoreError> {
        let Some((_, table, batch)) = self.waiting.pop() else { return Ok(()) };
        let view = self.sources[table].read(batch)?;
        self.active.retain(|active| active.view.start(active.row).is_some());
        self.active.push(Active { view, table, row: 0 });
        let heads = self.active.iter().map(|active| Some((active.view.start(active.row)?, active.table)));
        self.tree = LoserTree::new(heads);
        Ok(())
    }
}
