//! The disks of a host in a piece: their requests and their names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::BlockStep;
use crate::id::{Name, ThreadAliases};
use crate::loss_tracker::LossesBefore;
use crate::requests::{End, RequestKey, Requests, Start};
use crate::span::Spans;

/// Bits of a device's number that are the minor one (`include/linux/kdev_t.h`).
const MINOR_BITS: u32 = 20;

/// Major and minor number of a device, for disks without a name.
///
/// ```
/// assert_eq!(isochrone_kernel::device_numbers(0x80_0001), "8:1");
/// ```
pub fn device_numbers(device: u32) -> String {
    format!("{}:{}", device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1))
}

/// The disks of a piece. Part of a `PartialState`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Disks {
    requests: Requests,
    /// Names of disks and partitions by device: the first that was seen.
    names: BTreeMap<u32, Name>,
}

impl Disks {
    /// The disks of a piece that begins; `is_first`: no piece comes before.
    pub(crate) fn new(is_first: bool) -> Self {
        Self { requests: Requests::new(is_first), names: BTreeMap::new() }
    }

    /// The disks of a piece that is missing.
    pub(crate) fn missing() -> Self {
        Self { requests: Requests::missing(), names: BTreeMap::new() }
    }

    /// Records the name of a disk.
    pub(crate) fn name(&mut self, device: u32, name: &[u8]) {
        self.names.entry(device).or_insert_with(|| Name::from_utf8_lossy(name));
    }

    /// A step of a request. `event`: time and thread of the step, and what is requested or done.
    pub(crate) fn step(&mut self, key: RequestKey, event: Start, step: BlockStep, spans: &mut impl Spans) {
        match step {
            BlockStep::Insert => self.requests.insert(key, event, spans),
            BlockStep::Merge => self.requests.merge(key, spans),
            BlockStep::Issue => self.requests.issue(key, event),
            BlockStep::Requeue => self.requests.end(key, End::Requeued, spans),
            BlockStep::Complete(error) => {
                let Start { at, loss_count, transfer, .. } = event;
                self.requests.end(key, End::Complete { at, loss_count, transfer, error }, spans);
            }
        }
    }

    /// Events are missing.
    pub(crate) fn on_loss(&mut self, spans: &mut impl Spans) {
        self.requests.on_loss(spans);
    }

    pub(crate) fn rename(&mut self, aliases: &ThreadAliases) {
        self.requests.rename(aliases);
    }

    /// Appends the next piece; `before`: the losses of this one.
    pub(crate) fn append(&mut self, mut right: Self, before: LossesBefore, spans: &mut impl Spans) {
        right.requests.shift(before.kernel);
        self.requests.append(right.requests, spans);
        for (device, name) in right.names {
            self.names.entry(device).or_insert(name);
        }
    }

    /// Emits all that is open at either end of the trace. Returns the names of disks.
    pub(crate) fn finish(self, spans: &mut impl Spans) -> BTreeMap<u32, Name> {
        self.requests.finish(spans);
        self.names
    }
}
