//! Disks as tables name them, and sums over requests to disks and over packets.

use isochrone_kernel::{BlockRequest, NetPacket, device_numbers};
use isochrone_time::RawNs;
use serde::{Deserialize, Serialize};

use crate::figures::stats::duration;
use crate::host::HostContext;
use crate::output::table::Cell;

/// Bytes of a sector, whatever the disk has.
const SECTOR: u64 = 512;

/// The name of a disk; its major and minor number, `8:1`, where no dump of the trace has a name.
pub(crate) fn disk_name(host: &dyn HostContext, device: u32) -> Cell {
    match host.disk(device) {
        Some(name) => name.into(),
        None => Cell::text(&device_numbers(device)),
    }
}

/// Number of bytes that a request moves. 0: none of the disk's sectors; it flushes the disk's cache, or is a
/// command.
pub(crate) fn moved_bytes(request: &BlockRequest) -> u64 {
    u64::from(request.sectors) * SECTOR
}

/// The time in which the disk worked at a request, raw ns: from its issue to its completion. `None`: one of
/// these was not seen.
pub(crate) fn service(request: &BlockRequest) -> Option<(RawNs, RawNs)> {
    request.issued.zip(request.completed)
}

/// Requests that were issued and complete.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// Those that read.
    pub(crate) reads: u64,
    /// Those that write.
    pub(crate) writes: u64,
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    /// Sectors of 512 bytes.
    pub(crate) sectors: u64,
    /// Those that move nothing.
    pub(crate) flushes: u64,
    /// The time from issue to completion of those that move bytes, ns: one after the other.
    pub(crate) service_ns: u128,
}

impl Requests {
    /// One request; `None`: an end of its service was not seen.
    pub(crate) fn of(request: &BlockRequest) -> Option<Self> {
        let (begin, end) = service(request)?;
        let bytes = moved_bytes(request);
        let mut one = Self { sectors: request.sectors.into(), ..Self::default() };
        match (bytes, request.is_write) {
            (0, _) => one.flushes = 1,
            (_, true) => (one.writes, one.written_bytes) = (1, bytes),
            (_, false) => (one.reads, one.read_bytes) = (1, bytes),
        }
        if bytes > 0 {
            one.service_ns = duration(begin, end).into();
        }
        Some(one)
    }

    /// Adds all that another has.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(other.written_bytes);
        self.sectors = self.sectors.saturating_add(other.sectors);
        self.flushes += other.flushes;
        self.service_ns = self.service_ns.saturating_add(other.service_ns);
    }

    /// Bytes in both directions.
    pub(crate) fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.written_bytes)
    }
}

/// Packets of a network interface.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Traffic {
    pub(crate) received_bytes: u64,
    pub(crate) sent_bytes: u64,
    /// Packets.
    pub(crate) received: u64,
    /// Packets.
    pub(crate) sent: u64,
}

impl Traffic {
    /// One packet.
    pub(crate) fn of(packet: &NetPacket) -> Self {
        let bytes = packet.bytes.into();
        match packet.is_sent {
            true => Self { sent_bytes: bytes, sent: 1, ..Self::default() },
            false => Self { received_bytes: bytes, received: 1, ..Self::default() },
        }
    }

    /// Adds all that another has.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.received_bytes = self.received_bytes.saturating_add(other.received_bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
        self.received += other.received;
        self.sent += other.sent;
    }

    /// Bytes in both directions.
    pub(crate) fn bytes(&self) -> u64 {
        self.received_bytes.saturating_add(self.sent_bytes)
    }
}
