//! `iousagetop`: bytes that threads read and wrote, by file; requests to disks; traffic of network
//! interfaces.
//!
//! `descriptors` has the calls by descriptor, until all descriptors are known, and the tables of threads and
//! files; `machine` has requests to disks and packets, and their tables.

mod descriptors;
mod machine;

use isochrone_kernel::files::FileSpan;
use isochrone_kernel::{BlockRequest, NetPacket, Spans, Syscall, ThreadAliases};
use serde::{Deserialize, Serialize};

use self::descriptors::Descriptors;
use self::machine::Machine;
use crate::analysis::{Analysis, HostResult};
use crate::file_io::fd_names;
use crate::needs::Need;
use crate::options::{OptionKind, Options};
use crate::output::note::Note;
use crate::output::table::Table;
use crate::window::When;

/// What a host's threads read and wrote, and what its disks and interfaces did.
#[derive(Debug, Serialize, Deserialize)]
pub struct IoUsageTop {
    descriptors: Descriptors,
    machine: Machine,
}

impl Spans for IoUsageTop {
    fn syscall(&mut self, call: &Syscall<'_>) {
        self.descriptors.call(call);
    }

    fn file(&mut self, file: &FileSpan) {
        self.descriptors.file(file);
    }

    fn block_request(&mut self, request: &BlockRequest) {
        self.machine.request(request);
    }

    fn packet(&mut self, packet: &NetPacket) {
        self.machine.packet(packet);
    }

    fn rename(&mut self, aliases: &ThreadAliases) {
        self.descriptors.rename(aliases);
        self.machine.rename(aliases);
    }

    fn absorb(&mut self, right: Self) {
        self.descriptors.absorb(right.descriptors);
        self.machine.absorb(right.machine);
    }
}

impl Analysis for IoUsageTop {
    const FILES: bool = true;
    const ACCEPTS: &'static [OptionKind] =
        &[OptionKind::Threads, OptionKind::Processes, OptionKind::Durations, OptionKind::Sizes];
    const NEEDS: &'static [Need] = &[
        Need::Calls,
        Need::FileCalls,
        Need::Lives,
        Need::Dump,
        Need::Disks,
        Need::Askers,
        Need::Packets,
        Need::Received,
        Need::Sent,
    ];

    fn new(options: &Options, _: When) -> Self {
        Self { descriptors: Descriptors::new(options), machine: Machine::new(options) }
    }

    fn tables(hosts: &[HostResult<'_, Self>], options: &Options) -> Vec<Table> {
        let [processes, files] = descriptors::tables(hosts, options);
        let [blocks, disks, interfaces] = machine::tables(hosts, options);
        vec![processes, files, blocks, disks, interfaces]
    }

    fn notes(hosts: &[HostResult<'_, Self>]) -> Vec<Note> {
        fd_names::notes(hosts.iter().map(|result| (result.host, &result.of.descriptors.files)))
    }
}

#[cfg(test)]
mod tests {
    use isochrone_time::{RawNs, Window};

    use super::*;
    use crate::options::Filter;
    use crate::registry::AnalysisKind;
    use crate::testing::{check, io_spans, packet, window};

    const PROCESSES: &str = "processes: host pid tid comm read_bytes written_bytes file_read_bytes \
                             file_written_bytes net_read_bytes net_written_bytes other_read_bytes \
                             other_written_bytes reads writes";
    const FILES: &str =
        "files: host path kind pid comm read_bytes written_bytes reads writes processes owners";
    const BLOCKS: &str = "blocks: host pid tid comm read_bytes written_bytes reads writes";
    const DISKS: &str = "disks: host disk requests sectors read_bytes written_bytes flushes service_ns \
                         avg_ns ns_per_sector";
    const INTERFACES: &str =
        "interfaces: host interface received_bytes sent_bytes received_packets sent_packets";

    fn compare(options: &Options, window: Window<RawNs>, expect: &[&str]) {
        let mut spans = io_spans();
        spans.extend([
            packet(10, "lo", 5, false),
            packet(20, "eth0", 60, true),
            packet(30, "eth0", 40, true),
            packet(40, "eth0", 90, false),
        ]);
        check(AnalysisKind::IoUsageTop, &spans, options, When { window, at: None }, expect);
    }

    #[test]
    fn all() {
        compare(
            &Options::default(),
            Window::ALL,
            &[
                PROCESSES,
                "h 2 2 worker 300 500 300 0 0 500 0 0 2 2",
                FILES,
                "h ? socket 2 worker 0 500 0 2 1 fd 9 in worker (2)",
                "h /x file 2 worker 300 0 2 0 1 fd 3 in worker (2)",
                BLOCKS,
                "h 2 2 worker 0 4096 0 1",
                "h 2 3 worker 1024 0 1 0",
                "h ? ? ? 0 512 0 1",
                DISKS,
                "h sda 2 10 1024 4096 1 14 7 1.4",
                "h 252:1 1 1 0 512 0 3 3 3",
                INTERFACES,
                "h eth0 90 100 1 2",
                "h lo 5 0 1 0",
            ],
        );
    }

    #[test]
    fn by_process_in_a_window() {
        let filter = Filter { tids: vec![2, 3], max_bytes: Some(1024), ..Filter::default() };
        let options = Options { by_process: true, filter, ..Options::default() };
        let window = window(30, 60);
        compare(
            &options,
            window,
            &[
                PROCESSES,
                "h 2 2 worker 300 500 300 0 0 500 0 0 2 2",
                FILES,
                "h ? socket 2 worker 0 500 0 2 1 fd 9 in worker (2)",
                "h /x file 2 worker 300 0 2 0 1 fd 3 in worker (2)",
                BLOCKS,
                "h 2 2 worker 1024 0 1 0",
                DISKS,
                "h sda 1 2 1024 0 0 4 4 2",
                INTERFACES,
                "h eth0 90 40 1 1",
            ],
        );
    }
}
