//! All spans of a host in the order of their begins, read from batches that each are in that order.
//!
//! A batch is read when the first of its begins is due and forgotten after its last row, so that there are as many in memory as
//! overlap. [`crate::sweep`] takes what comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt8Type, UInt32Type};
use arrow_array::{
    Array, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt8Array, UInt32Array,
};

use crate::batches::Batches;
use crate::error::StoreError;
use crate::table::Layout;
use crate::tables::{HALF_SYSCALLS, IRQS, LATENCIES, OFF, SLICES, SOFTIRQS, SYSCALLS, THREAD_EVENTS};

/// A span as the sweep needs it. Threads are numbers of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input<'b> {
    /// On a CPU.
    Slice { thread: u32, cpu: u32, end: i64 },
    /// Off the CPUs.
    OffCpu { thread: u32, why: u8, end: i64 },
    /// Waits for a CPU.
    SchedLatency { thread: u32, waker: Option<u32>, end: i64 },
    /// In a call; without an end, if only its entry was seen.
    Call { thread: u32, name: &'b str, fd: Option<i32>, end: Option<i64> },
    /// A CPU handles an interrupt or a softirq.
    Interrupt { cpu: u32, end: i64 },
    /// A thread was made.
    Forked { thread: u32 },
    /// A thread has ended.
    Died { thread: u32 },
}

/// The tables that the sweep reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Slices,
    OffCpu,
    Latencies,
    Syscalls,
    HalfSyscalls,
    Irqs,
    Softirqs,
    ThreadEvents,
}

impl Table {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Slices,
        Self::OffCpu,
        Self::Latencies,
        Self::Syscalls,
        Self::HalfSyscalls,
        Self::Irqs,
        Self::Softirqs,
        Self::ThreadEvents,
    ];

    pub(crate) fn layout(self) -> &'static Layout {
        match self {
            Self::Slices => &SLICES,
            Self::OffCpu => &OFF,
            Self::Latencies => &LATENCIES,
            Self::Syscalls => &SYSCALLS,
            Self::HalfSyscalls => &HALF_SYSCALLS,
            Self::Irqs => &IRQS,
            Self::Softirqs => &SOFTIRQS,
            Self::ThreadEvents => &THREAD_EVENTS,
        }
    }
}

/// A batch that has begun.
#[derive(Debug)]
struct Active {
    view: View,
    begins: Int64Array,
    row: usize,
}

/// The columns of a batch that are needed.
#[derive(Debug)]
enum View {
    Slices { thread: UInt32Array, cpu: UInt32Array, end: Int64Array },
    OffCpu { thread: UInt32Array, why: UInt8Array, end: Int64Array },
    Latencies { thread: UInt32Array, waker: UInt32Array, end: Int64Array },
    Syscalls { thread: UInt32Array, name: StringArray, fd: Int32Array, end: Int64Array },
    HalfSyscalls { thread: UInt32Array, is_begin: BooleanArray, name: StringArray, fd: Int32Array },
    Interrupts { cpu: UInt32Array, end: Int64Array },
    ThreadEvents { thread: UInt32Array, what: StringArray },
}

impl View {
    /// The columns by their places in [`crate::tables`]; the file was checked to have them.
    fn new(table: Table, batch: &RecordBatch) -> Self {
        let u32s = |place| batch.column(place).as_primitive::<UInt32Type>().clone();
        let times = |place| batch.column(place).as_primitive::<Int64Type>().clone();
        let i32s = |place| batch.column(place).as_primitive::<Int32Type>().clone();
        let texts = |place| batch.column(place).as_string::<i32>().clone();
        match table {
            Table::Slices => Self::Slices { thread: u32s(1), cpu: u32s(0), end: times(4) },
            Table::OffCpu => Self::OffCpu {
                thread: u32s(0),
                why: batch.column(2).as_primitive::<UInt8Type>().clone(),
                end: times(4),
            },
            Table::Latencies => Self::Latencies { thread: u32s(0), waker: u32s(1), end: times(5) },
            Table::Syscalls => Self::Syscalls { thread: u32s(0), name: texts(4), fd: i32s(5), end: times(3) },
            Table::HalfSyscalls => Self::HalfSyscalls {
                thread: u32s(0),
                is_begin: batch.column(3).as_boolean().clone(),
                name: texts(4),
                fd: i32s(5),
            },
            Table::Irqs => Self::Interrupts { cpu: u32s(0), end: times(5) },
            Table::Softirqs => Self::Interrupts { cpu: u32s(0), end: times(4) },
            Table::ThreadEvents => Self::ThreadEvents { thread: u32s(0), what: texts(2) },
        }
    }

    /// A row; `None` if it says nothing about states.
    fn input(&self, row: usize) -> Option<Input<'_>> {
        Some(match self {
            Self::Slices { thread, cpu, end } => {
                Input::Slice { thread: thread.value(row), cpu: cpu.value(row), end: end.value(row) }
            }
            Self::OffCpu { thread, why, end } => {
                Input::OffCpu { thread: thread.value(row), why: why.value(row), end: end.value(row) }
            }
            Self::Latencies { thread, waker, end } => {
                let waker = waker.is_valid(row).then(|| waker.value(row));
                Input::SchedLatency { thread: thread.value(row), waker, end: end.value(row) }
            }
            Self::Syscalls { thread, name, fd, end } => Input::Call {
                thread: thread.value(row),
                name: name.value(row),
                fd: fd.is_valid(row).then(|| fd.value(row)),
                end: Some(end.value(row)),
            },
            Self::HalfSyscalls { thread, is_begin, name, fd } => {
                if !is_begin.value(row) {
                    return None;
                }
                Input::Call {
                    thread: thread.value(row),
                    name: if name.is_valid(row) { name.value(row) } else { "" },
                    fd: fd.is_valid(row).then(|| fd.value(row)),
                    end: None,
                }
            }
            Self::Interrupts { cpu, end } => Input::Interrupt { cpu: cpu.value(row), end: end.value(row) },
            Self::ThreadEvents { thread, what } => match what.value(row) {
                "forked" => Input::Forked { thread: thread.value(row) },
                "died" => Input::Died { thread: thread.value(row) },
                _ => return None,
            },
        })
    }
}

/// Reads tables in the order of time.
#[derive(Debug)]
pub(crate) struct Merge {
    tables: Vec<(Table, Batches)>,
    /// Batches that have not begun, the latest first: begin, table, batch.
    waiting: Vec<(i64, usize, usize)>,
    active: Vec<Option<Active>>,
    free: Vec<usize>,
    /// Begin of the next row of each batch that has begun, its place among the tables, place among `active`.
    heads: BinaryHeap<Reverse<(i64, usize, usize)>>,
}

impl Merge {
    pub(crate) fn new(tables: Vec<(Table, Batches)>) -> Self {
        let mut waiting = Vec::new();
        for (place, (_, batches)) in tables.iter().enumerate() {
            waiting.extend(batches.times().iter().enumerate().map(|(batch, times)| (times.0, place, batch)));
        }
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        Self { tables, waiting, active: Vec::new(), free: Vec::new(), heads: BinaryHeap::new() }
    }

    /// Gives the next row away, and when it begins. `false`: there is none.
    pub(crate) fn next(&mut self, to: impl FnOnce(i64, Input<'_>)) -> Result<bool, StoreError> {
        while let Some(&(begin, table, batch)) = self.waiting.last()
            && self.heads.peek().is_none_or(|Reverse(head)| begin <= head.0)
        {
            self.waiting.pop();
            self.begin(table, batch)?;
        }
        let Some(Reverse((begin, table, place))) = self.heads.pop() else { return Ok(false) };
        let Some(active) = &mut self.active[place] else { return Ok(true) };
        if let Some(input) = active.view.input(active.row) {
            to(begin, input);
        }
        active.row += 1;
        if active.row < active.begins.len() {
            self.heads.push(Reverse((active.begins.value(active.row), table, place)));
        } else {
            self.active[place] = None;
            self.free.push(place);
        }
        Ok(true)
    }

    fn begin(&mut self, table: usize, batch: usize) -> Result<(), StoreError> {
        let (kind, batches) = &self.tables[table];
        let batch = batches.read(batch)?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let (begin_column, _) = kind.layout().times.unwrap_or_default();
        let begins = batch.column(begin_column).as_primitive::<Int64Type>().clone();
        let first = begins.value(0);
        let active = Some(Active { view: View::new(*kind, &batch), begins, row: 0 });
        let place = match self.free.pop() {
            Some(place) => {
                self.active[place] = active;
                place
            }
            None => {
                self.active.push(active);
                self.active.len() - 1
            }
        };
        self.heads.push(Reverse((first, table, place)));
        Ok(())
    }
}
