//! `memtop`: pages of memory that were allocated and freed, by thread or by process, and of the host.
//!
//! It is the kernel's page allocator: pages are counted for the thread that runs, also those of the page
//! cache that outlive it, and pages that another thread frees are that thread's.

use std::collections::BTreeMap;

use isochrone_kernel::{CanonicalMap, PageAllocation, SpanKind, Spans, ThreadAliases, ThreadId};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::{Cell, Table, Unit};
use crate::window::When;

/// Pages of a host's threads.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct MemTop {
    threads: CanonicalMap<ThreadId, Pages>,
}

/// Numbers of pages, and of allocations: one may be of several pages.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Pages {
    allocated: u64,
    freed: u64,
    allocations: u64,
    frees: u64,
}

impl Pages {
    fn absorb(&mut self, other: Self) {
        self.allocated = self.allocated.saturating_add(other.allocated);
        self.freed = self.freed.saturating_add(other.freed);
        self.allocations += other.allocations;
        self.frees += other.frees;
    }

    fn cells(&self) -> [Cell; 5] {
        [
            self.allocated.into(),
            self.freed.into(),
            (i128::from(self.allocated) - i128::from(self.freed)).into(),
            self.allocations.into(),
            self.frees.into(),
        ]
    }
}

impl Spans for MemTop {
    fn page_allocation(&mut self, pages: &PageAllocation) {
        let change = match pages.is_free {
            true => Pages { freed: pages.pages, frees: 1, ..Pages::default() },
            false => Pages { allocated: pages.pages, allocations: 1, ..Pages::default() },
        };
        self.threads.or_default(pages.thread).absorb(change);
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.threads.rekey(|&thread| aliases.of(thread), Pages::absorb);
    }

    fn absorb(&mut self, right: Self) {
        self.threads.absorb(right.threads, Pages::absorb);
    }
}

/// The cells of pages; unknown where it was not recorded when they are allocated, or when they are freed.
fn cells(result: &HostResult<'_, MemTop>, pages: &Pages) -> [Cell; 5] {
    let [allocated, freed, net, allocations, frees] = pages.cells();
    let [freed, net, frees] = [freed, net, frees].map(|cell| result.known(Need::Frees, cell));
    [allocated, freed, net, allocations, frees].map(|cell| result.known(Need::Pages, cell))
}

impl Analysis for MemTop {
    const STORED: &'static [SpanKind] = &[SpanKind::PageAllocation];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Processes];
    const NEEDS: &'static [Need] = &[Need::Pages, Need::Frees, Need::Switches];

    fn new(_: &Options, _: When) -> Self {
        Self::default()
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let pages = ["allocated_pages", "freed_pages", "net_pages", "allocations", "frees"];
        let title = if options.by_process { "Memory pages by process" } else { "Memory pages by thread" };
        let mut processes = Table::new("processes", title, &[])
            .with_columns(Unit::None, &["host", "pid", "tid", "comm"])
            .with_columns(Unit::Count, &pages);
        let mut total =
            Table::new("total", "Memory pages", &[("host", Unit::None)]).with_columns(Unit::Count, &pages);
        for result in hosts {
            let mut groups: BTreeMap<ThreadId, Pages> = BTreeMap::new();
            let mut all = Pages::default();
            for (&thread, pages) in result.of.threads.unordered() {
                let Some(group) = result.group(thread, options) else { continue };
                groups.entry(group).or_default().absorb(*pages);
                all.absorb(*pages);
            }
            for (group, pages) in groups {
                processes.add(result.group_row(group, options).cells(cells(result, &pages)));
            }
            total.add(result.row().cells(cells(result, &all)));
        }
        // Stable: those that allocated as much stay in the order of hosts and threads.
        processes.sort("allocated_pages");
        vec![processes.draw("allocated_pages", 0).top(), total]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, idle, pages, thread, window};

    #[test]
    fn by_thread_and_process() {
        let spans = [
            pages(thread(2), 10, 1, false),
            pages(thread(2), 20, 8, false),
            pages(thread(3), 30, 2, true),
            pages(thread(3), 40, 1, false),
            pages(thread(1), 50, 4, false),
            pages(idle(0), 60, 1, true),
        ];
        let check = |by_process, filter, window, expect: &[&str]| {
            let options = Options { filter, by_process, ..Options::default() };
            check(AnalysisKind::MemTop, &spans, &options, When { window, at: None }, expect);
        };
        let header = "processes: host pid tid comm allocated_pages freed_pages net_pages allocations frees";
        let total = "total: host allocated_pages freed_pages net_pages allocations frees";
        check(
            false,
            Filter::default(),
            window(i64::MIN, i64::MAX),
            &[
                header,
                "h 2 2 worker 9 0 9 2 0",
                "h 1 1 init 4 0 4 1 0",
                "h 2 3 worker 1 2 -1 1 1",
                "h 0 0 swapper/0 0 1 -1 0 1",
                total,
                "h 14 3 11 4 2",
            ],
        );
        let worker = Filter { tids: vec![2, 3], ..Filter::default() };
        let window = window(20, 40);
        check(true, worker, window, &[header, "h 2 2 worker 8 2 6 1 1", total, "h 8 2 6 1 1"]);
    }
}
