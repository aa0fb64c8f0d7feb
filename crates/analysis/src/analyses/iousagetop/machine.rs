//! What disks and network interfaces did, and for whom disks did it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use isochrone_kernel::{BlockRequest, CanonicalMap, Name, NetPacket, ThreadAliases, ThreadId};
use serde::{Deserialize, Serialize};

use super::IoUsageTop;
use crate::analysis::HostResult;
use crate::file_io::call::SizeFilter;
use crate::host::ThreadIdentity;
use crate::machine_io::{Requests, Traffic, disk_name, moved_bytes};
use crate::needs::Need;
use crate::options::Options;
use crate::output::table::{Cell, Row, Table, Unit};

/// Requests that were issued and complete, and packets.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Machine {
    sizes: SizeFilter,
    /// By device and the thread that asked, if that is known.
    requests: CanonicalMap<(u32, Option<ThreadId>), Requests>,
    interfaces: BTreeMap<Name, Traffic>,
}

impl Machine {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            sizes: SizeFilter::new(options),
            requests: CanonicalMap::default(),
            interfaces: BTreeMap::new(),
        }
    }

    pub(super) fn request(&mut self, request: &BlockRequest) {
        let bytes = moved_bytes(request);
        if let Some(one) = Requests::of(request)
            && self.sizes.keeps((bytes > 0).then_some(bytes))
        {
            self.requests.or_default((request.device, request.thread)).absorb(one);
        }
    }

    pub(super) fn packet(&mut self, packet: &NetPacket) {
        self.interfaces.entry(packet.device.clone()).or_default().absorb(Traffic::of(packet));
    }

    pub(super) fn rename(&mut self, aliases: &ThreadAliases) {
        let of = |thread: Option<ThreadId>| thread.map(|thread| aliases.of(thread));
        self.requests.rekey(|&(device, thread)| (device, of(thread)), Requests::absorb);
    }

    pub(super) fn absorb(&mut self, right: Self) {
        self.requests.absorb(right.requests, Requests::absorb);
        for (device, right) in right.interfaces {
            self.interfaces.entry(device).or_default().absorb(right);
        }
    }
}

/// The tables of block I/O by thread, of disks and of interfaces.
pub(super) fn tables(hosts: &[HostResult<'_, IoUsageTop>], options: &Options) -> [Table; 3] {
    let title = if options.by_process { "Disk I/O by process" } else { "Disk I/O by thread" };
    let mut blocks = Table::new("blocks", title, &[])
        .with_columns(Unit::None, &["host", "pid", "tid", "comm"])
        .with_columns(Unit::Bytes, &["read_bytes", "written_bytes"])
        .with_columns(Unit::Count, &["reads", "writes"])
        .top();
    let mut disks = disk_table();
    let mut interfaces = interface_table();
    let (mut of_threads, mut of_interfaces) = (Vec::new(), Vec::new());
    for result in hosts {
        let mut by_thread: BTreeMap<Option<ThreadId>, Requests> = BTreeMap::new();
        let mut by_disk: BTreeMap<u32, Requests> = BTreeMap::new();
        for (&(device, thread), requests) in result.of.machine.requests.unordered() {
            let thread = thread.filter(|&thread| !issues_for_others(result, thread));
            let group = match thread.map(|thread| result.group(thread, options)) {
                Some(None) => continue,
                Some(group) => group,
                None if options.filter.has_threads() => continue,
                None => None,
            };
            by_thread.entry(group).or_default().absorb(*requests);
            by_disk.entry(device).or_default().absorb(*requests);
        }
        by_thread.retain(|_, requests| requests.bytes() > 0);
        of_threads.extend(by_thread.into_iter().map(|(thread, requests)| (result, thread, requests)));
        for (device, requests) in by_disk {
            disks.add(disk_row(result, device, &requests));
        }
        of_interfaces
            .extend(result.of.machine.interfaces.iter().map(|(name, traffic)| (result, name, traffic)));
    }
    // Stable: those that are as much stay in the order of hosts, and of threads, devices or names.
    of_threads.sort_by_key(|(_, _, requests)| Reverse(requests.bytes()));
    of_interfaces.sort_by_key(|(_, _, traffic)| Reverse(traffic.bytes()));
    disks.sort("sectors");
    for (result, thread, requests) in of_threads {
        let row = match thread {
            Some(thread) => result.group_row(thread, options),
            None => result.row().cells(ThreadIdentity::default().cells()),
        };
        let Requests { read_bytes, written_bytes, reads, writes, .. } = requests;
        blocks.add(row.cells([read_bytes, written_bytes, reads, writes]));
    }
    for (result, name, traffic) in of_interfaces {
        let received = |count| result.known(Need::Received, count);
        let sent = |count| result.known(Need::Sent, count);
        let row = result.row().cell(name).cells([received(traffic.received_bytes), sent(traffic.sent_bytes)]);
        interfaces.add(row.cells([received(traffic.received), sent(traffic.sent)]));
    }
    [blocks, disks, interfaces]
}

/// Whether a request of a thread may be another thread's: one of the kernel's own issues what others have
/// inserted, and without inserts that looks the same.
fn issues_for_others(result: &HostResult<'_, IoUsageTop>, thread: ThreadId) -> bool {
    result.host.lacks(Need::Askers) && ThreadIdentity::of(result.host, thread).is_kernel == Some(true)
}

fn disk_table() -> Table {
    Table::new("disks", "Requests to disks", &[])
        .with_columns(Unit::None, &["host", "disk"])
        .with_columns(Unit::Count, &["requests", "sectors"])
        .with_columns(Unit::Bytes, &["read_bytes", "written_bytes"])
        .with_columns(Unit::Count, &["flushes"])
        .with_columns(Unit::Ns, &["service_ns", "avg_ns", "ns_per_sector"])
        .top()
}

fn disk_row(result: &HostResult<'_, IoUsageTop>, device: u32, requests: &Requests) -> Row {
    let count = requests.reads + requests.writes;
    let per = |count: u64| Cell::or_none((count > 0).then(|| requests.service_ns as f64 / count as f64));
    let Requests { sectors, read_bytes, written_bytes, flushes, service_ns, .. } = *requests;
    let row = result.row().cell(disk_name(result.host, device)).cells([count, sectors]);
    row.cells([read_bytes, written_bytes, flushes]).cell(service_ns).cells([per(count), per(sectors)])
}

fn interface_table() -> Table {
    Table::new("interfaces", "Network interfaces", &[])
        .with_columns(Unit::None, &["host", "interface"])
        .with_columns(Unit::Bytes, &["received_bytes", "sent_bytes"])
        .with_columns(Unit::Count, &["received_packets", "sent_packets"])
        .top()
}
