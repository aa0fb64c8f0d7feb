//! Disks as tables name them, and the requests to them that took a time.

use isochrone_kernel::{BlockRequest, Time, device_numbers};

use crate::host::HostContext;
use crate::table::Cell;

/// Bytes of a sector, whatever the disk has.
const SECTOR: u64 = 512;

/// The name of a disk; its major and minor number, `8:1`, where no dump of the trace has a name.
pub(crate) fn name(host: &dyn HostContext, device: u32) -> Cell {
    match host.disk(device) {
        Some(name) => name.into(),
        None => Cell::text(&device_numbers(device)),
    }
}

/// How many bytes a request moves. 0: none of the disk's sectors; it makes the disk write what it holds, or asks it something.
pub(crate) fn bytes(request: &BlockRequest) -> u64 {
    u64::from(request.sectors) * SECTOR
}

/// From when to when the disk worked at a request: from its issue to its completion. `None`: an end of that was not seen.
pub(crate) fn service(request: &BlockRequest) -> Option<(Time, Time)> {
    request.issued.zip(request.completed)
}
