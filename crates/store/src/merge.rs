//! Merges all spans of a host that determine states, in the order of their begins, from batches that are each in that order.
//!
//! A batch is read when the first of its begins is due and dropped after its last row, so that only overlapping batches are
//! in memory. [`crate::sweep`] consumes the spans.

use isochrone_ctf::loser_tree::LoserTree;

use crate::batches::Batches;
use crate::cell::{Cell, NameId};
use crate::checked::Files;
use crate::error::StoreError;
use crate::sweep::Call;
use crate::table::Row;
use crate::tables::{
    HalfSyscallRow, HalfSyscallView, IrqRow, IrqView, LatencyRow, LatencyView, OffRow, OffView, OpenCallRow,
    OpenCallView, SliceRow, SliceView, SoftirqRow, SoftirqView, SyscallRow, SyscallView,
};

/// A span as the sweep needs it. Threads are numbers of `thread_names`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// On a CPU.
    Slice { thread: u32, cpu: u32, end: i64 },
    /// Off the CPUs.
    OffCpu { thread: u32, why: u8, end: i64 },
    /// Waits for a CPU.
    SchedLatency { thread: u32, waker: Option<u32>, end: i64 },
    /// In a call.
    Call { thread: u32, name: Option<NameId>, fd: Option<i32>, end: i64 },
    /// The entry of a call whose exit was not seen, or the exit of one whose entry was not.
    HalfCall { thread: u32, is_begin: bool, name: Option<NameId>, fd: Option<i32> },
    /// In a call of which an end is missing; without it: perhaps. `row`: the number of the thread itself.
    OpenCall { row: u32, call: Option<Call>, end: i64 },
    /// A CPU handles an interrupt or a softirq.
    Interrupt { cpu: u32, end: i64 },
}

/// A table that the sweep reads.
trait Source: std::fmt::Debug + Send {
    /// The begin of each batch.
    fn begins(&self) -> Vec<i64>;

    /// Reads a batch: the begin of each row, and the rows.
    fn read(&self, batch: usize) -> Result<(<i64 as Cell>::View, View), StoreError>;
}

macro_rules! views {
    ($($Table:ident $Row:ident $View:ident $begin:ident;)*) => {
        /// The columns of a batch.
        #[derive(Debug)]
        enum View {
            $($Table($View),)*
        }

        impl View {
            #[inline]
            fn input(&self, row: usize) -> Input {
                match self {
                    $(Self::$Table(view) => view.input(row),)*
                }
            }
        }

        $(impl Source for Batches<$Row> {
            fn begins(&self) -> Vec<i64> {
                self.covered().iter().map(|covered| covered.begin).collect()
            }

            fn read(&self, batch: usize) -> Result<(<i64 as Cell>::View, View), StoreError> {
                let view = self.read(batch)?;
                Ok((view.$begin.clone(), View::$Table(view)))
            }
        })*

    };
}

views! {
    Slices SliceRow SliceView begin;
    OffCpu OffRow OffView begin;
    Latencies LatencyRow LatencyView begin;
    HalfSyscalls HalfSyscallRow HalfSyscallView at;
    OpenCalls OpenCallRow OpenCallView from;
    Syscalls SyscallRow SyscallView begin;
    Irqs IrqRow IrqView begin;
    Softirqs SoftirqRow SoftirqView begin;
}

/// Opens tables; of spans with equal begins, those of earlier tables come first.
macro_rules! sources {
    ($files:ident: $($Row:ident)*) => {
        vec![$(Box::new(Batches::<$Row>::open($files)?),)*]
    };
}

macro_rules! inputs {
    ($($View:ident $it:ident, $row:ident => $input:expr;)*) => {$(
        impl $View {
            /// A row as the sweep needs it.
            #[inline]
            pub(crate) fn input(&self, $row: usize) -> Input {
                let $it = self;
                $input
            }
        }
    )*};
}

inputs! {
    SliceView it, row => Input::Slice {
        thread: it.thread.values()[row],
        cpu: it.cpu.values()[row],
        end: it.end.values()[row],
    };
    OffView it, row => Input::OffCpu {
        thread: it.thread.values()[row],
        why: it.why.values()[row],
        end: it.end.values()[row],
    };
    LatencyView it, row => Input::SchedLatency {
        thread: it.thread.values()[row],
        waker: Cell::get(&it.waker, row),
        end: it.end.values()[row],
    };
    HalfSyscallView it, row => {
        let HalfSyscallRow { thread, is_begin, name, fd, .. } = HalfSyscallRow::get(it, row);
        Input::HalfCall { thread, is_begin, name, fd }
    };
    OpenCallView it, row => OpenCallRow::get(it, row).input();
    SyscallView it, row => Input::Call {
        thread: it.thread.values()[row],
        name: Some(NameId(it.name.values()[row])),
        fd: Cell::get(&it.fd, row),
        end: it.end.values()[row],
    };
    IrqView it, row => Input::Interrupt { cpu: it.cpu.values()[row], end: it.end.values()[row] };
    SoftirqView it, row => Input::Interrupt { cpu: it.cpu.values()[row], end: it.end.values()[row] };
}

impl OpenCallRow {
    /// The row as the sweep needs it.
    pub(crate) fn input(&self) -> Input {
        let &Self { thread: row, until: end, is_sure, name, fd, .. } = self;
        Input::OpenCall { row, call: is_sure.then_some(Call { name, fd }), end }
    }
}

/// A batch that has begun.
#[derive(Debug)]
struct Active {
    begins: <i64 as Cell>::View,
    view: View,
    table: usize,
    row: usize,
}

/// Reads tables in the order of time.
#[derive(Debug)]
pub(crate) struct Merge {
    sources: Vec<Box<dyn Source>>,
    /// Batches that have not begun, the latest first: begin, table, batch.
    waiting: Vec<(i64, usize, usize)>,
    active: Vec<Active>,
    /// The begin of the next row of each batch that has begun, and its table.
    tree: LoserTree<(i64, usize)>,
    /// Half calls of one instant that are still to be given out, the last one first.
    halves: Vec<(i64, Input)>,
}

impl Merge {
    /// Of the tables of a host that the sweep reads.
    pub(crate) fn open(files: Files<'_>) -> Result<Self, StoreError> {
        Ok(Self::of(sources![files: SliceRow OffRow LatencyRow OpenCallRow SyscallRow IrqRow SoftirqRow]))
    }

    /// Of the tables of calls, whole ones and halves.
    pub(crate) fn calls(files: Files<'_>) -> Result<Self, StoreError> {
        Ok(Self::of(sources![files: HalfSyscallRow SyscallRow]))
    }

    fn of(sources: Vec<Box<dyn Source>>) -> Self {
        let mut waiting = Vec::new();
        for (table, source) in sources.iter().enumerate() {
            let begins = source.begins().into_iter().enumerate();
            waiting.extend(begins.map(|(batch, begin)| (begin, table, batch)));
        }
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        let tree = LoserTree::new([]);
        Self { sources, waiting, active: Vec::new(), tree, halves: Vec::new() }
    }

    /// The next span, with its begin; `None` after the last. Of half calls of one instant, exits come before entries: in which order they
    /// were found depends on how the trace was cut.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(i64, Input)>, StoreError> {
        if let Some(half) = self.halves.pop() {
            return Ok(Some(half));
        }
        let Some(first) = self.next_of_tables()? else { return Ok(None) };
        if !matches!(first.1, Input::HalfCall { .. }) {
            return Ok(Some(first));
        }
        self.halves.push(first);
        // Those of an instant are neighbours, whatever batches they are in.
        while self.is_half_at(first.0)? {
            let half = self.next_of_tables()?;
            self.halves.extend(half);
        }
        self.halves.sort_by_key(|(_, half)| matches!(half, Input::HalfCall { is_begin: false, .. }));
        Ok(self.halves.pop())
    }

    /// Whether the next row is half a call at an instant.
    fn is_half_at(&mut self, instant: i64) -> Result<bool, StoreError> {
        self.begin_due()?;
        let Some(((at, _), place)) = self.tree.first() else { return Ok(false) };
        Ok(at == instant && matches!(self.active[place].view, View::HalfSyscalls(_)))
    }

    /// Begins the batches that are due.
    #[inline]
    fn begin_due(&mut self) -> Result<(), StoreError> {
        while let Some(&(begin, ..)) = self.waiting.last()
            && self.tree.first().is_none_or(|((head, _), _)| begin <= head)
        {
            self.begin()?;
        }
        Ok(())
    }

    /// The next row of all tables.
    #[inline]
    fn next_of_tables(&mut self) -> Result<Option<(i64, Input)>, StoreError> {
        self.begin_due()?;
        let Some(((at, _), place)) = self.tree.first() else { return Ok(None) };
        let active = &mut self.active[place];
        let input = active.view.input(active.row);
        active.row += 1;
        match active.begins.values().get(active.row) {
            Some(&begin) => self.tree.replace_first((begin, active.table)),
            None => self.tree.remove_first(),
        }
        Ok(Some((at, input)))
    }

    /// Begins the next batch.
    #[cold]
    fn begin(&mut self) -> Result<(), StoreError> {
        let Some((_, table, batch)) = self.waiting.pop() else { return Ok(()) };
        let (begins, view) = self.sources[table].read(batch)?;
        self.active.retain(|active| active.row < active.begins.values().len());
        self.active.push(Active { begins, view, table, row: 0 });
        let heads = self.active.iter().map(|active| {
            let begin = active.begins.values().get(active.row)?;
            Some((*begin, active.table))
        });
        self.tree = LoserTree::new(heads);
        Ok(())
    }
}
