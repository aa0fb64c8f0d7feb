//! `pagefaults`: page faults by thread or process, and where they were: files, addresses, instructions.
//!
//! A fault is *major* where its thread had to read from a disk in it, as the kernel counts them, and else
//! *minor*. Which it was is *undetermined* where what the thread did then is not known, and where a fault of
//! the kernel lies in a call that waited: either may have waited then. `where_from` has the tables by file,
//! range and instruction.

mod where_from;

use std::collections::BTreeMap;

use isochrone_kernel::{
    BlockRequest, Mapping, OffCpu, OffCpuReason, PageFault, Spans, ThreadAliases, ThreadId,
};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use self::where_from::{Change, WhereFrom};
use crate::analysis::{Analysis, HostResult};
use crate::figures::stats::duration;
use crate::host::ThreadIdentity;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::table::{Cell, Table, Unit};
use crate::storage::log_rows::{LogRow, LogRows};
use crate::window::When;

/// The page faults of a host, and what its addresses show.
#[derive(Debug, Serialize, Deserialize)]
pub struct PageFaults {
    faults: LogRows<Fault>,
    waits: LogRows<Wait>,
    requests: LogRows<Request>,
    changes: LogRows<Change>,
}

/// A fault. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Fault {
    at: RawNs,
    thread: ThreadId,
    end: Option<RawNs>,
    address: u64,
    ip: u64,
    is_user: bool,
}

impl LogRow for Fault {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [Some(&mut self.thread), None]
    }
}

/// A wait of a thread. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Wait {
    begin: RawNs,
    thread: ThreadId,
    end: RawNs,
}

impl LogRow for Wait {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [Some(&mut self.thread), None]
    }
}

/// A request of a thread to a disk. The order of the fields is that of the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Request {
    at: RawNs,
    thread: ThreadId,
}

impl LogRow for Request {
    fn threads(&mut self) -> [Option<&mut ThreadId>; 2] {
        [Some(&mut self.thread), None]
    }
}

/// What threads did, by which faults are judged: in the order of time.
#[derive(Default)]
struct Activities {
    waits: BTreeMap<ThreadId, Vec<(RawNs, RawNs)>>,
    requests: BTreeMap<ThreadId, Vec<RawNs>>,
}

/// What a thread did in a fault.
#[derive(Clone, Copy)]
struct Within {
    waited_ns: i64,
    has_requested: bool,
}

impl Activities {
    fn of(result: &HostResult<'_, PageFaults>) -> Self {
        let mut all = Self::default();
        for wait in result.of.waits.sorted() {
            all.waits.entry(wait.thread).or_default().push((wait.begin, wait.end));
        }
        for request in result.of.requests.sorted() {
            all.requests.entry(request.thread).or_default().push(request.at);
        }
        all
    }

    /// What a thread did in a fault; `None` if unknown: events are missing, or it may have been the call that
    /// the fault is in.
    fn within(&self, fault: &Fault) -> Option<Within> {
        let end = fault.end?;
        let waits = self.waits.get(&fault.thread).map_or(&[][..], Vec::as_slice);
        let first = waits.partition_point(|&(begin, _)| begin < fault.at);
        let its = waits[first..].iter().take_while(|&&(begin, until)| begin < end && until <= end);
        let (count, waited_ns) = its
            .fold((0, 0), |(count, sum), &(begin, until)| (count + 1, duration(begin, until) as i64 + sum));
        let requests = self.requests.get(&fault.thread).map_or(&[][..], Vec::as_slice);
        let first = requests.partition_point(|&at| at < fault.at);
        let has_requested = requests.get(first).is_some_and(|&at| at < end);
        let is_its_own = fault.is_user || (count == 0 && !has_requested);
        is_its_own.then_some(Within { waited_ns, has_requested })
    }
}

/// Numbers of page faults.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    user: u64,
    kernel: u64,
    minor: u64,
    major: u64,
    /// ns.
    waited: i64,
}

impl Sum {
    fn add(&mut self, fault: &Fault, within: Option<Within>) {
        *(if fault.is_user { &mut self.user } else { &mut self.kernel }) += 1;
        match within.map(|within| within.has_requested) {
            Some(true) => self.major += 1,
            Some(false) => self.minor += 1,
            None => {}
        }
        self.waited = self.waited.saturating_add(within.map_or(0, |within| within.waited_ns));
    }

    fn recorded(&self) -> u64 {
        self.user + self.kernel
    }

    /// The cells of [`OUTCOMES`].
    fn outcomes(&self, result: &HostResult<'_, PageFaults>) -> [Cell; 4] {
        let lacks = |needs: &[Need]| needs.iter().any(|&need| result.host.lacks(need));
        let known = |is_unknown, figure: Cell| if is_unknown { Cell::Unknown } else { figure };
        let (no_waits, no_disks) = (lacks(&WAITS), lacks(&DISKS));
        [
            known(no_waits || no_disks, self.minor.into()),
            known(no_waits || no_disks, self.major.into()),
            match no_waits || no_disks {
                true => self.recorded().into(),
                false => (self.recorded() - self.minor - self.major).into(),
            },
            known(no_waits, self.waited.into()),
        ]
    }
}

/// What shows whether threads wait in faults.
const WAITS: [Need; 4] = [Need::Switches, Need::Wakeups, Need::Calls, Need::EveryCall];
/// What shows whether they read from disks.
const DISKS: [Need; 2] = [Need::Disks, Need::Askers];
/// What became of faults.
const OUTCOMES: [&str; 3] = ["minor", "major", "undetermined"];

impl Spans for PageFaults {
    fn page_fault(&mut self, it: &PageFault) {
        self.faults.push(Fault {
            at: it.begin,
            thread: it.thread,
            end: it.end,
            address: it.address,
            ip: it.ip,
            is_user: it.is_user,
        });
    }

    fn off_cpu(&mut self, it: &OffCpu) {
        if matches!(it.reason, OffCpuReason::Blocked | OffCpuReason::Uninterruptible) {
            self.waits.push(Wait { begin: it.begin, thread: it.thread, end: it.end });
        }
    }

    fn block_request(&mut self, it: &BlockRequest) {
        if let (Some(at), Some(thread)) = (it.inserted.or(it.issued), it.thread) {
            self.requests.push(Request { at, thread });
        }
    }

    fn mapping(&mut self, it: &Mapping) {
        self.changes.push(Change::of(it));
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.faults.rename(aliases);
        self.waits.rename(aliases);
        self.requests.rename(aliases);
        self.changes.rename(aliases);
    }

    fn absorb(&mut self, right: Self) {
        self.faults.absorb(right.faults);
        self.waits.absorb(right.waits);
        self.requests.absorb(right.requests);
        self.changes.absorb(right.changes);
    }
}

impl Analysis for PageFaults {
    const FILES: bool = true;
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Processes];
    const NEEDS: &'static [Need] = &[
        Need::PageFaults,
        Need::Switches,
        Need::Wakeups,
        Need::Calls,
        Need::EveryCall,
        Need::Disks,
        Need::Askers,
        Need::Descriptors,
    ];

    fn new(options: &Options, _: When) -> Self {
        Self {
            faults: LogRows::new(&options.scratch),
            waits: LogRows::new(&options.scratch),
            requests: LogRows::new(&options.scratch),
            changes: LogRows::new(&options.scratch),
        }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let title = if options.by_process { "Page faults by process" } else { "Page faults by thread" };
        let mut threads = Table::new("pagefaults", title, &[])
            .with_columns(Unit::None, &["host", "pid", "tid", "comm"])
            .with_columns(Unit::Count, &["recorded", "user", "kernel"])
            .with_columns(Unit::Count, &OUTCOMES)
            .with_columns(Unit::Ns, &["waited_ns"]);
        let mut places = WhereFrom::new();
        for result in hosts {
            let did = Activities::of(result);
            places.add(result, &did, options);
            let mut groups: BTreeMap<ThreadId, (Sum, bool)> = BTreeMap::new();
            for fault in result.of.faults.sorted() {
                let Some(group) = result.group(fault.thread, options) else { continue };
                let (sum, is_whole) =
                    groups.entry(group).or_insert_with(|| (Sum::default(), is_whole(result, group)));
                sum.add(&fault, did.within(&fault));
                *is_whole &= group == fault.thread || self::is_whole(result, fault.thread);
            }
            for (group, (sum, is_whole)) in groups {
                let figures =
                    [Cell::from(sum.user), sum.kernel.into()].into_iter().chain(sum.outcomes(result));
                // Where faults may be missing, there were as many or more.
                let figures = figures.map(|cell| if is_whole { cell } else { Cell::Unknown });
                let row = result.group_row(group, options).cell(sum.recorded());
                threads.add(row.cells(figures));
            }
        }
        threads.sort("recorded");
        let mut all = vec![threads.draw("recorded", 0).top()];
        all.extend(places.into_tables());
        all
    }

    fn notes(hosts: &[HostResult<'_, Self>]) -> Vec<Note> {
        let lossy = |result: &&HostResult<'_, Self>| {
            !result.of.faults.is_empty()
                && result.host.missed().is_between(result.window.start, result.window.end)
        };
        let names: Vec<&str> = hosts.iter().filter(lossy).map(|result| result.host.name()).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let note = Note::default().text(&format!(
            "events of {} are missing: how many page faults threads had that lived then is unknown; \
             `recorded` counts those that the trace has",
            names.join(", "),
        ));
        vec![note]
    }
}

/// Whether nothing is missing while a thread lived, in the window.
fn is_whole(result: &HostResult<'_, PageFaults>, thread: ThreadId) -> bool {
    let who = ThreadIdentity::of(result.host, thread);
    let from = who.born.unwrap_or(result.window.start).max(result.window.start);
    let to = who.died.unwrap_or(result.window.end).min(result.window.end);
    !result.host.missed().is_between(from, to)
}

#[cfg(test)]
mod tests {
    use isochrone_kernel::calls::Sharing;
    use isochrone_kernel::{Mapped, Span};

    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, off_cpu, page_fault, request, thread};

    fn mapping(who: ThreadId, at: i64, address: u64, bytes: u64, what: Mapped) -> Span {
        Span::Mapping(Box::new(Mapping { thread: who, at: RawNs(at), address, bytes, what }))
    }

    #[test]
    fn by_thread_file_and_address() {
        let file = Mapped::File { name: "/data".into(), made: None, sharing: Sharing::Shared };
        let spans = [
            mapping(thread(1), 1, 0x1000, 0x4000, file),
            page_fault(thread(1), 3, 0x1008, Some(15)),
            off_cpu(thread(1), OffCpuReason::Uninterruptible, 5, 12),
            request(8 << 20, Some(thread(1)), 8, false, (4, 12)),
            // Process 2 is a copy of 1, and thread 3 shares its memory.
            mapping(thread(2), 10, 0, u64::MAX, Mapped::CopyOf(thread(1))),
            mapping(thread(3), 20, 0, u64::MAX, Mapped::CopyOf(thread(2))),
            mapping(
                thread(3),
                30,
                0x2000,
                0x1000,
                Mapped::Anonymous { made: None, sharing: Sharing::Private },
            ),
            page_fault(thread(2), 40, 0x2008, Some(45)),
            page_fault(thread(3), 41, 0x3008, None),
            mapping(thread(2), 50, 0, u64::MAX, Mapped::Nothing),
            page_fault(thread(2), 51, 0x40_3008, Some(70)),
            off_cpu(thread(2), OffCpuReason::Blocked, 52, 55),
            off_cpu(thread(2), OffCpuReason::Preempted, 56, 57),
            off_cpu(thread(2), OffCpuReason::Blocked, 60, 62),
            off_cpu(thread(2), OffCpuReason::Blocked, 71, 80),
        ];
        let options = Options { filter: Filter::default(), ..Options::default() };
        let expect = [
            "pagefaults: host pid tid comm recorded user kernel minor major undetermined waited_ns",
            "h 2 2 worker 2 2 0 2 0 0 5",
            "h 1 1 init 1 1 0 0 1 0 7",
            "h 2 3 worker 1 1 0 0 0 1 0",
            "files: host pid comm memory file recorded minor major undetermined waited_ns",
            "h 1 init file /data 1 0 1 0 7",
            "h 2 worker file /data 1 0 0 1 0",
            "h 2 worker anonymous ? 1 1 0 0 0",
            "h 2 worker ? ? 1 1 0 0 5",
            "ranges: host pid comm start end memory file recorded minor major undetermined waited_ns",
            "h 1 init 0x1000 0x5000 file /data 1 0 1 0 7",
            "h 2 worker 0x2000 0x3000 anonymous ? 1 1 0 0 0",
            "h 2 worker 0x3000 0x5000 file /data 1 0 0 1 0",
            "h 2 worker 0x400000 0x600000 ? ? 1 1 0 0 5",
            "instructions: host pid comm ip recorded minor major undetermined waited_ns",
            "h 2 worker 0x401000 3 2 0 1 5",
            "h 1 init 0x401000 1 0 1 0 7",
        ];
        check(AnalysisKind::PageFaults, &spans, &options, When::default(), &expect);
    }
}
