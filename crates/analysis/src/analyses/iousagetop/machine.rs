//! What disks and network interfaces did, and for whom disks did it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use isochrone_kernel::{BlockRequest, CanonicalMap, Name, NetPacket, ThreadAliases, ThreadId};
use serde::{Deserialize, Serialize};

use super::IoUsageTop;
use crate::analysis::HostResult;
use crate::disk;
use crate::host::ThreadIdentity;
use crate::io_call::SizeFilter;
use crate::machine_io::{Requests, Traffic};
use crate::needs::Need;
use crate::options::Options;
use crate::table::{Cell, Table, Unit};

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
        let bytes = disk::bytes(request);
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
    let mut blocks = block_table(options);
    let mut disks = disk_table();
    let mut interfaces = interface_table();
    let (mut of_threads, mut of_disks, mut of_interfaces) = (Vec::new(), Vec::new(), Vec::new());
    for result in hosts {
        let mut by_thread: BTreeMap<Option<ThreadId>, Requests> = BTreeMap::new();
        let mut by_disk: BTreeMap<u32, Requests> = BTreeMap::new();
        for (&(device, thread), requests) in result.of.machine.requests.unordered() {
            let thread = thread.filter(|&thread| !issues_for_others(result, thread));
            let who = thread.map(|thread| (thread, result.who(thread, options)));
            let group = match who {
                Some((_, None)) => continue,
                Some((thread, Some(who))) if options.by_process => Some(who.process(thread)),
                Some((thread, _)) => Some(thread),
                None if options.filter.has_threads() => continue,
                None => None,
            };
            by_thread.entry(group).or_default().absorb(*requests);
            by_disk.entry(device).or_default().absorb(*requests);
        }
        by_thread.retain(|_, requests| requests.bytes() > 0);
        of_threads.extend(by_thread.into_iter().map(|(thread, requests)| (result, thread, requests)));
        of_disks.extend(by_disk.into_iter().map(|(device, requests)| (result, device, requests)));
        of_interfaces
            .extend(result.of.machine.interfaces.iter().map(|(name, traffic)| (result, name, traffic)));
    }
    // Stable: those that are as much stay in the order of hosts, and of threads, devices or names.
    of_threads.sort_by_key(|(_, _, requests)| Reverse(requests.bytes()));
    of_disks.sort_by_key(|(_, _, requests)| Reverse(requests.sectors));
    of_interfaces.sort_by_key(|(_, _, traffic)| Reverse(traffic.bytes()));
    for (result, thread, requests) in of_threads {
        let who = thread.map(|thread| ThreadIdentity::of(result.host, thread)).unwrap_or_default();
        let who = if options.by_process { who.process_cells() } else { who.cells() };
        let figures = [requests.read_bytes, requests.written_bytes, requests.reads, requests.writes];
        blocks.row([result.name()].into_iter().chain(who).chain(figures.map(Cell::from)).collect());
    }
    for (result, device, requests) in of_disks {
        disks.row(disk_row(result, device, &requests));
    }
    for (result, name, traffic) in of_interfaces {
        let [received, sent] = [
            [traffic.received_bytes, traffic.received].map(|figure| result.known(Need::Received, figure)),
            [traffic.sent_bytes, traffic.sent].map(|figure| result.known(Need::Sent, figure)),
        ];
        let ([received_bytes, received], [sent_bytes, sent]) = (received, sent);
        interfaces.row(vec![result.name(), name.into(), received_bytes, sent_bytes, received, sent]);
    }
    [blocks, disks, interfaces]
}

/// Whether a request of a thread may be another thread's: one of the kernel's own issues what others have inserted, and without inserts that
/// looks the same.
fn issues_for_others(result: &HostResult<'_, IoUsageTop>, thread: ThreadId) -> bool {
    result.host.lacks(Need::Askers) && ThreadIdentity::of(result.host, thread).is_kernel == Some(true)
}

fn block_table(options: &Options) -> Table {
    const COLUMNS: &[(&str, Unit)] = &[
        ("host", Unit::None),
        ("pid", Unit::None),
        ("tid", Unit::None),
        ("comm", Unit::None),
        ("read_bytes", Unit::Bytes),
        ("written_bytes", Unit::Bytes),
        ("reads", Unit::Count),
        ("writes", Unit::Count),
    ];
    let title = if options.by_process { "Disk I/O by process" } else { "Disk I/O by thread" };
    Table::new("blocks", title, COLUMNS).top()
}

fn disk_table() -> Table {
    const COLUMNS: &[(&str, Unit)] = &[
        ("host", Unit::None),
        ("disk", Unit::None),
        ("requests", Unit::Count),
        ("sectors", Unit::Count),
        ("read_bytes", Unit::Bytes),
        ("written_bytes", Unit::Bytes),
        ("flushes", Unit::Count),
        ("service_ns", Unit::Ns),
        ("avg_ns", Unit::Ns),
        ("ns_per_sector", Unit::Ns),
    ];
    Table::new("disks", "Requests to disks", COLUMNS).top()
}

fn disk_row(result: &HostResult<'_, IoUsageTop>, device: u32, requests: &Requests) -> Vec<Cell> {
    let count = requests.reads + requests.writes;
    let per = |count: u64| match count {
        0 => Cell::None,
        count => (requests.service_ns as f64 / count as f64).into(),
    };
    vec![
        result.name(),
        disk::name(result.host, device),
        count.into(),
        requests.sectors.into(),
        requests.read_bytes.into(),
        requests.written_bytes.into(),
        requests.flushes.into(),
        requests.service_ns.into(),
        per(count),
        per(requests.sectors),
    ]
}

fn interface_table() -> Table {
    const COLUMNS: &[(&str, Unit)] = &[
        ("host", Unit::None),
        ("interface", Unit::None),
        ("received_bytes", Unit::Bytes),
        ("sent_bytes", Unit::Bytes),
        ("received_packets", Unit::Count),
        ("sent_packets", Unit::Count),
    ];
    Table::new("interfaces", "Network interfaces", COLUMNS).top()
}
