//! What a process used, or what was used for it, as far as it is known.

use isochrone_analysis::{Cell, Need};

use crate::host::Host;

/// What is accounted for, in the order of the columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    /// CPU time, ns.
    pub(crate) cpu: i64,
    /// Bytes of requests to disks.
    pub(crate) disk: u64,
    /// Bytes of packets that were sent.
    pub(crate) network: u64,
    /// Pages that were allocated.
    pub(crate) pages: u64,
    /// Which of these are unknown, in their order: their events were not recorded on a host that has a part
    /// in them.
    pub(crate) lacks: [bool; 4],
}

impl Amounts {
    /// Nothing, as far as a host recorded it.
    pub(crate) fn of_host(host: &Host<'_>) -> Self {
        let needs: [&[Need]; 4] =
            [&[Need::Switches], &[Need::Disks], &[Need::Softirqs, Need::Packets, Need::Sent], &[Need::Pages]];
        let lacks = needs.map(|needs| !host.has(needs));
        Self { lacks, ..Self::default() }
    }

    /// What is left of it without a part.
    pub(crate) fn without(mut self, part: &Self) -> Self {
        self.cpu -= part.cpu;
        self.disk = self.disk.saturating_sub(part.disk);
        self.network = self.network.saturating_sub(part.network);
        self.pages = self.pages.saturating_sub(part.pages);
        self
    }

    /// CPU time, disk, network and pages as cells.
    pub(crate) fn cells(&self) -> [Cell; 4] {
        let Self { cpu, disk, network, pages, lacks } = *self;
        let [cpu_lacks, disk_lacks, network_lacks, pages_lacks] = lacks;
        [
            known(cpu, !cpu_lacks),
            known(disk, !disk_lacks),
            known(network, !network_lacks),
            known(pages, !pages_lacks),
        ]
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.cpu += other.cpu;
        self.disk += other.disk;
        self.network += other.network;
        self.pages += other.pages;
        self.lacks.iter_mut().zip(other.lacks).for_each(|(lacks, other)| *lacks |= other);
    }
}

/// A value, if it is known.
pub(crate) fn known(value: impl Into<Cell>, is_known: bool) -> Cell {
    if is_known { value.into() } else { Cell::Unknown }
}

/// A process: index of its host, and pid.
pub(crate) type Process = (usize, i32);

/// What is known of an exchange.
#[derive(Debug, Clone, Default)]
pub(crate) struct Account {
    /// What the server used for it: of the CPU, what the client waited for.
    pub(crate) own: Amounts,
    /// All CPU time of the server that belongs to it, ns.
    pub(crate) service_cpu: i64,
    /// How long the client waited, ns.
    pub(crate) blocked: i64,
    /// The exchange that its client served meanwhile.
    pub(crate) parent: Option<usize>,
    /// What was used below it.
    pub(crate) below: Amounts,
}
