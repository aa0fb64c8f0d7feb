//! Where page faults were: in which file, at which addresses, by which instruction.

use std::collections::BTreeMap;

use isochrone_kernel::{AddressSpaces, Mapped, Mapping, Name, Region, ThreadId, range_around};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use super::{Activities, Fault, OUTCOMES, PageFaults, Sum, Within};
use crate::analysis::HostResult;
use crate::host::ThreadIdentity;
use crate::options::Options;
use crate::output::table::{Cell, Row, Table, Unit};
use crate::storage::log_rows::LogRow;

/// A [`Mapping`]. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Change {
    at: RawNs,
    thread: ThreadId,
    address: u64,
    bytes: u64,
    what: Mapped,
}

impl Change {
    pub(super) fn of(it: &Mapping) -> Self {
        let Mapping { at, thread, address, bytes, ref what } = *it;
        Self { at, thread, address, bytes, what: what.clone() }
    }

    /// Applies it, of a process.
    fn apply(self, result: &HostResult<'_, PageFaults>, spaces: &mut AddressSpaces<ThreadId>) {
        let process = |thread| ThreadIdentity::of(result.host, thread).process(thread);
        let to = process(self.thread);
        match self.what {
            Mapped::CopyOf(parent) => spaces.copy(&process(parent), to),
            what => spaces.map(to, self.address, self.bytes, &what),
        }
    }
}

impl LogRow for Change {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        let other = match &mut self.what {
            Mapped::CopyOf(other) => Some(other),
            _ => None,
        };
        [Some(&mut self.thread), other]
    }
}

/// What is known of an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    File(Name),
    Anonymous,
    Unknown,
}

impl Memory {
    /// The cells `memory, file`.
    fn cells(&self) -> [Cell; 2] {
        match self {
            Self::File(name) if name.is_empty() => [Cell::text("file"), Cell::Unknown],
            Self::File(name) => [Cell::text("file"), Cell::text(name)],
            Self::Anonymous => [Cell::text("anonymous"), Cell::NotApplicable],
            Self::Unknown => [Cell::Unknown, Cell::Unknown],
        }
    }
}

/// Sums of the faults of a host by process, and what it touched.
#[derive(Default)]
struct Sums {
    files: BTreeMap<(ThreadId, Memory), Sum>,
    ranges: BTreeMap<(ThreadId, u64, u64, Memory), Sum>,
    instructions: BTreeMap<(ThreadId, u64), Sum>,
}

impl Sums {
    fn of(result: &HostResult<'_, PageFaults>, did: &Activities, options: &Options) -> Self {
        let mut sums = Self::default();
        let mut spaces = AddressSpaces::default();
        let mut changes = result.of.changes.sorted().peekable();
        let mut losses = result.host.missed().iter().flat_map(|(from, to)| [from, to]).peekable();
        for fault in result.of.faults.sorted() {
            let apply = |spaces: &mut AddressSpaces<_>, change: Change| change.apply(result, spaces);
            spaces.reach(fault.at, &mut changes, &mut losses, |change| change.at, apply);
            let Some(who) = result.who(fault.thread, options) else { continue };
            sums.add(&fault, did.within(&fault), who.process(fault.thread), &spaces);
        }
        sums
    }

    fn add(
        &mut self,
        fault: &Fault,
        within: Option<Within>,
        process: ThreadId,
        spaces: &AddressSpaces<ThreadId>,
    ) {
        let (memory, start, end) = match spaces.find(&process, fault.address) {
            Some(Region { start, end, file: Some(name), .. }) => (Memory::File(name.clone()), *start, *end),
            Some(Region { start, end, file: None, .. }) => (Memory::Anonymous, *start, *end),
            None => {
                let (start, end) = range_around(fault.address);
                (Memory::Unknown, start, end)
            }
        };
        self.files.entry((process, memory.clone())).or_default().add(fault, within);
        self.ranges.entry((process, start, end, memory)).or_default().add(fault, within);
        self.instructions.entry((process, fault.ip)).or_default().add(fault, within);
    }
}

/// The tables by file, range and instruction.
pub(super) struct WhereFrom {
    files: Table,
    ranges: Table,
    instructions: Table,
}

impl WhereFrom {
    pub(super) fn new() -> Self {
        let table = |name, title, columns: &[&'static str]| {
            Table::new(name, title, &[])
                .with_columns(Unit::None, &["host", "pid", "comm"])
                .with_columns(Unit::None, columns)
                .with_columns(Unit::Count, &["recorded"])
                .with_columns(Unit::Count, &OUTCOMES)
                .with_columns(Unit::Ns, &["waited_ns"])
        };
        let range = ["start", "end", "memory", "file"];
        Self {
            files: table("files", "Recorded page faults by file", &["memory", "file"]),
            ranges: table("ranges", "Recorded page faults by address", &range),
            instructions: table("instructions", "Recorded page faults by instruction", &["ip"]),
        }
    }

    /// Adds the faults of a host, whose threads did `did`.
    pub(super) fn add(&mut self, result: &HostResult<'_, PageFaults>, did: &Activities, options: &Options) {
        let sums = Sums::of(result, did, options);
        let row = |process: ThreadId, what: Vec<Cell>, sum: &Sum| -> Row {
            let [pid, _, comm] = ThreadIdentity::of(result.host, process).process_cells();
            let row = result.row().cells([pid, comm]).cells(what);
            row.cell(sum.recorded()).cells(sum.outcomes(result))
        };
        for ((process, memory), sum) in &sums.files {
            self.files.add(row(*process, memory.cells().to_vec(), sum));
        }
        for ((process, start, end, memory), sum) in &sums.ranges {
            let what = [*start, *end].map(address).into_iter().chain(memory.cells()).collect();
            self.ranges.add(row(*process, what, sum));
        }
        for ((process, ip), sum) in &sums.instructions {
            self.instructions.add(row(*process, vec![address(*ip)], sum));
        }
    }

    /// The tables, sorted.
    pub(super) fn into_tables(self) -> [Table; 3] {
        let Self { files, ranges, instructions } = self;
        [files.top(), ranges.detail().top(), instructions.detail().top()].map(|mut table| {
            table.sort("recorded");
            table
        })
    }
}

fn address(address: u64) -> Cell {
    Cell::text(&format!("{address:#x}"))
}
