//! `usage`: CPU, memory, disks and network over time, in steps, of each host, CPU, process, disk and
//! interface.
//!
//! Times are cut at the edges of steps, so that steps add up to the whole: CPU time, and the time that
//! requests are at a disk. Bytes and pages are of the step in which a call returns, a request is complete, a
//! packet passes, a page is allocated.
//!
//! `series` has the tables of steps, `overview` the one that people see first.

mod overview;
mod series;

use std::collections::BTreeMap;

use isochrone_kernel::{
    BlockRequest, CanonicalMap, Name, NetPacket, PageAllocation, PageFault, Slice, SpanKind, Spans, Syscall,
    ThreadAliases, ThreadId, Unknown,
};
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, HostResult};
use crate::cpu_states::CpuTime;
use crate::file_io::call::IoCall;
use crate::machine_io::{Requests, Traffic, service};
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::table::Table;
use crate::steps::Steps;
use crate::window::When;

/// What a host did in each step.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    steps: Steps,
    cpus: BTreeMap<(u32, u32), CpuTime>,
    threads: CanonicalMap<(ThreadId, u32), Used>,
    /// By device.
    disks: CanonicalMap<(u32, u32), AtDisk>,
    interfaces: BTreeMap<(Name, u32), Traffic>,
}

/// What a thread used.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Used {
    cpu_ns: u64,
    /// Bytes that its calls read and wrote.
    read: u64,
    written: u64,
    disk: Requests,
    allocated: u64,
    freed: u64,
    faults: u64,
}

/// What a disk did.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct AtDisk {
    /// Those that were complete.
    complete: Requests,
    /// The time that requests were at the disk, ns: of each of them.
    in_flight: u64,
}

impl Used {
    fn absorb(&mut self, other: Self) {
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
        self.disk.absorb(other.disk);
        self.allocated = self.allocated.saturating_add(other.allocated);
        self.freed = self.freed.saturating_add(other.freed);
        self.faults += other.faults;
    }
}

impl AtDisk {
    fn absorb(&mut self, other: Self) {
        self.complete.absorb(other.complete);
        self.in_flight = self.in_flight.saturating_add(other.in_flight);
    }
}

impl Spans for Usage {
    fn slice(&mut self, slice: &Slice) {
        for (step, ns) in self.steps.parts(slice.begin, slice.end) {
            let cpu = self.cpus.entry((slice.cpu, step)).or_default();
            if slice.thread.is_idle() {
                cpu.idle = cpu.idle.saturating_add(ns);
            } else {
                cpu.busy = cpu.busy.saturating_add(ns);
                let used = self.threads.or_default((slice.thread, step));
                used.cpu_ns = used.cpu_ns.saturating_add(ns);
            }
        }
    }

    fn unknown(&mut self, unknown: &Unknown) {
        for (step, ns) in self.steps.parts(unknown.begin, unknown.end) {
            let cpu = self.cpus.entry((unknown.cpu, step)).or_default();
            cpu.unknown = cpu.unknown.saturating_add(ns);
        }
    }

    fn syscall(&mut self, call: &Syscall<'_>) {
        let Some(step) = self.steps.at(call.end) else { return };
        let Some(io) = IoCall::of(call).filter(|io| io.bytes.is_some()) else { return };
        let (read, written) = (io.read().unwrap_or_default(), io.written().map_or(0, |(_, bytes)| bytes));
        self.threads.or_default((call.thread, step)).absorb(Used { read, written, ..Used::default() });
    }

    fn block_request(&mut self, request: &BlockRequest) {
        let (Some(one), Some((begin, end))) = (Requests::of(request), service(request)) else { return };
        for (step, in_flight) in self.steps.parts(begin, end) {
            let at = AtDisk { in_flight, ..AtDisk::default() };
            self.disks.or_default((request.device, step)).absorb(at);
        }
        let Some(step) = self.steps.at(end) else { return };
        self.disks.or_default((request.device, step)).complete.absorb(one);
        if let Some(thread) = request.thread {
            self.threads.or_default((thread, step)).disk.absorb(one);
        }
    }

    fn packet(&mut self, packet: &NetPacket) {
        if let Some(step) = self.steps.at(packet.at) {
            self.interfaces.entry((packet.device.clone(), step)).or_default().absorb(Traffic::of(packet));
        }
    }

    fn page_allocation(&mut self, pages: &PageAllocation) {
        let Some(step) = self.steps.at(pages.at) else { return };
        let used = match pages.is_free {
            true => Used { freed: pages.pages, ..Used::default() },
            false => Used { allocated: pages.pages, ..Used::default() },
        };
        self.threads.or_default((pages.thread, step)).absorb(used);
    }

    fn page_fault(&mut self, fault: &PageFault) {
        let Some(step) = self.steps.at(fault.begin) else { return };
        self.threads.or_default((fault.thread, step)).absorb(Used { faults: 1, ..Used::default() });
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.threads.rekey(|&(thread, step)| (aliases.of(thread), step), Used::absorb);
    }

    fn absorb(&mut self, right: Self) {
        for (key, right) in right.cpus {
            self.cpus.entry(key).or_default().absorb(right);
        }
        self.threads.absorb(right.threads, Used::absorb);
        self.disks.absorb(right.disks, AtDisk::absorb);
        for (key, right) in right.interfaces {
            self.interfaces.entry(key).or_default().absorb(right);
        }
    }
}

impl Analysis for Usage {
    const STORED: &'static [SpanKind] = &[
        SpanKind::Slice,
        SpanKind::Unknown,
        SpanKind::Syscall,
        SpanKind::BlockRequest,
        SpanKind::Packet,
        SpanKind::PageAllocation,
        SpanKind::PageFault,
    ];
    const ACCEPTS: &'static [OptionKind] = &[OptionKind::Threads, OptionKind::Cpus, OptionKind::Steps];
    const NEEDS: &'static [Need] = &[
        Need::Switches,
        Need::Calls,
        Need::FileCalls,
        Need::Disks,
        Need::Askers,
        Need::Packets,
        Need::Received,
        Need::Sent,
        Need::Pages,
        Need::Frees,
        Need::PageFaults,
        Need::Dump,
    ];

    fn new(_: &Options, _: When) -> Self {
        Self::default()
    }

    fn set_steps(&mut self, steps: &Steps) {
        self.steps = steps.clone();
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let mut tables = vec![overview::table(hosts, options)];
        tables.extend(series::tables(hosts, options));
        tables
    }
}

impl Usage {
    /// What each process used in each step, by the first thread of each; of those threads that the filter
    /// keeps.
    fn processes(
        result: &HostResult<'_, Self>,
        options: &Options,
    ) -> BTreeMap<ThreadId, BTreeMap<u32, Used>> {
        let mut processes: BTreeMap<ThreadId, BTreeMap<u32, Used>> = BTreeMap::new();
        let threads = result.of.threads.sorted();
        for of_thread in threads.chunk_by(|a, b| a.0.0 == b.0.0) {
            let thread = of_thread[0].0.0;
            let Some(who) = result.who(thread, options) else { continue };
            let steps = processes.entry(who.process(thread)).or_default();
            for ((_, step), used) in of_thread {
                steps.entry(*step).or_default().absorb(**used);
            }
        }
        processes
    }

    /// What all threads of the host used in each step, whatever threads are requested.
    fn all_threads(&self) -> BTreeMap<u32, Used> {
        let mut steps: BTreeMap<u32, Used> = BTreeMap::new();
        for ((_, step), used) in self.threads.unordered() {
            steps.entry(*step).or_default().absorb(*used);
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis_set::reports;
    use crate::registry::AnalysisKind;
    use crate::testing::{
        Simple, feed, idle, io_spans, lines, packet, page_fault, pages, slice, tables, thread, unknown,
    };
    use isochrone_kernel::Span;

    fn spans() -> Vec<Span> {
        let mut spans = io_spans();
        spans.extend([
            slice(0, thread(2), 0, 60),
            slice(0, idle(0), 60, 100),
            unknown(1, None, 0, 30),
            slice(1, thread(3), 30, 70),
            slice(1, idle(1), 70, 100),
            packet(10, "eth0", 60, true),
            packet(60, "eth0", 90, false),
            pages(thread(2), 20, 4, false),
            pages(thread(3), 70, 1, true),
            page_fault(thread(2), 5, 0x1000, None),
            page_fault(thread(3), 6, 0x2000, None),
            page_fault(thread(2), 60, 0x3000, None),
        ]);
        spans
    }

    #[test]
    fn in_two_steps() {
        let options = Options::default();
        let set = feed(AnalysisKind::Usage, &spans(), &options, When::default());
        let tables = tables(&set, &options);
        let expect = [
            "overview: host resource of busy_ns bytes pages line",
            "h CPU ? 100 ? ? █▄",
            "h memory allocated ? ? ? 4 █▁",
            "h page faults ? ? ? 3 █▅",
            "h disk read sda ? 1024 ? ▁█",
            "h disk written sda ? 4096 ? ▁█",
            "h disk written 252:1 ? 512 ? ▁█",
            "h received eth0 ? 90 ? ▁█",
            "h sent eth0 ? 60 ? █▁",
            "h CPU worker (2) 100 ? ? █▄",
        ];
        assert_eq!(lines(&tables[..1]), expect);
        let expect = [
            "host: host begin_ns end_ns cpu_ns idle_ns unknown_ns percent read_bytes written_bytes requests \
             mean_in_flight received_bytes sent_bytes allocated_pages freed_pages net_pages \
             page_faults",
            "h 1000 1050 70 0 30 70 0 0 0 0 0 60 4 0 4 2",
            "h 1050 1100 30 70 0 30 1024 4608 4 0.44 90 0 0 1 3 1",
            "cpus: host cpu begin_ns end_ns busy_ns idle_ns unknown_ns percent",
            "h 0 1000 1050 50 0 0 100",
            "h 0 1050 1100 10 40 0 20",
            "h 1 1000 1050 20 0 30 40",
            "h 1 1050 1100 20 30 0 40",
            "processes: host pid comm begin_ns end_ns cpu_ns percent read_bytes written_bytes \
             disk_read_bytes disk_written_bytes allocated_pages freed_pages page_faults",
            "h 2 worker 1000 1050 70 140 100 300 0 0 4 0 2",
            "h 2 worker 1050 1100 30 60 200 200 1024 4096 0 1 1",
            "disks: host disk begin_ns end_ns read_bytes written_bytes requests flushes in_flight_ns mean_in_flight",
            "h sda 1000 1050 0 0 0 0 0 0",
            "h sda 1050 1100 1024 4096 2 1 19 0.38",
            "h 252:1 1000 1050 0 0 0 0 0 0",
            "h 252:1 1050 1100 0 512 1 0 3 0.06",
            "interfaces: host interface begin_ns end_ns received_bytes sent_bytes received_packets sent_packets",
            "h eth0 1000 1050 0 60 0 1",
            "h eth0 1050 1100 90 0 1 0",
        ];
        assert_eq!(lines(&tables[1..]), expect);
    }

    #[test]
    fn what_was_not_recorded_is_unknown() {
        let options = Options::default();
        let set = feed(AnalysisKind::Usage, &spans(), &options, When::default());
        // As if the spans were of others.
        let host = Simple::without(&[
            Need::Calls,
            Need::Disks,
            Need::Packets,
            Need::Pages,
            Need::PageFaults,
            Need::Dump,
        ]);
        let report = reports(&[(&host, &set)], &options, true).remove(0);
        let table = |name| lines(&[report.table(name).cloned().unwrap()]).split_off(1);
        assert_eq!(
            table("host"),
            ["h 1000 1050 70 0 30 70 ? ? ? ? ? ? ? ? ? ?", "h 1050 1100 30 70 0 30 ? ? ? ? ? ? ? ? ? ?"]
        );
        assert_eq!(
            table("processes"),
            ["h 2 worker 1000 1050 70 140 ? ? ? ? ? ? ?", "h 2 worker 1050 1100 30 60 ? ? ? ? ? ? ?"]
        );
        let host = Simple::without(&[Need::Switches]);
        let report = reports(&[(&host, &set)], &options, true).remove(0);
        let table = lines(&[report.table("processes").cloned().unwrap()]);
        assert_eq!(table[1], "h 2 worker 1000 1050 ? ? 100 300 0 0 4 0 2");
    }
}
