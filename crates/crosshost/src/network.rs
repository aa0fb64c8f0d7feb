//! What packets on the paths of requests spent their time on: the queue of the sender's device, the wire, and
//! the reception.
//!
//! A packet's step starts when it is queued (`net_dev_queue`) and ends when the receiver has it
//! (`net_if_receive_skb`); the step after it, of the softirq that wakes the thread that waits for it, is its
//! reception.

use std::collections::BTreeMap;

use isochrone_analysis::{Cell, Table, Unit};
use isochrone_store::Cause;

use crate::cluster::Cluster;
use crate::path::{MAY_RECEIVE, RECEIVES, Step};
use crate::wait::StepDetail;

/// The packets of a path from one host to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// Index of the sender's host.
    pub from: usize,
    /// Index of the receiver's.
    pub to: usize,
    /// How many.
    pub packets: u64,
    /// From the queue of the sender's device until the receiver has them, ns.
    pub total: i64,
    /// The part of that in the queue, ns. `None`: of one of them it is not known.
    pub queue: Option<i64>,
    /// From then to the wake-up of the waiting thread, ns; none where no thread waited.
    pub receive: i64,
    /// How far the time of one of them can be from what the clocks say, at most, ns. `None`: nothing is
    /// proven, or it is one host.
    pub uncertainty: Option<i64>,
}

impl Carried {
    /// The part of the total on the wire, ns: of the network, the devices, and the receiver until the packet
    /// is in the kernel's hands.
    pub fn wire(&self) -> Option<i64> {
        Some(self.total - self.queue?)
    }

    fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.total += other.total;
        self.queue = self.queue.zip(other.queue).map(|(a, b)| a + b);
        self.receive += other.receive;
        self.uncertainty = self.uncertainty.zip(other.uncertainty).map(|(a, b)| a.max(b));
    }
}

/// Sums by link.
fn sums(all: impl IntoIterator<Item = Carried>) -> Vec<Carried> {
    let mut sums: BTreeMap<(usize, usize), Carried> = BTreeMap::new();
    for one in all {
        sums.entry((one.from, one.to)).and_modify(|sum| sum.add(&one)).or_insert(one);
    }
    sums.into_values().collect()
}

/// The sums of the packets of a path, by link.
pub(crate) fn carried(steps: &[(Step, StepDetail)]) -> Box<[Carried]> {
    let followers = steps.iter().skip(1).map(Some).chain([None]);
    let of_steps = steps.iter().zip(followers).filter_map(|((step, about), next)| {
        // Of a thread it is a wait for a host that is not traced.
        let StepDetail::Packet { to: Some(to), .. } = about else { return None };
        if step.thread.is_some() {
            return None;
        }
        let receives = |(next, about): &&(Step, StepDetail)| {
            let is_reception =
                matches!(about, StepDetail::Handler(what) if what == RECEIVES || what == MAY_RECEIVE);
            is_reception && (next.cause, next.host) == (Cause::Softirq, *to)
        };
        Some(Carried {
            from: step.host,
            to: *to,
            packets: 1,
            total: step.duration(),
            queue: step.queued,
            receive: next.filter(receives).map_or(0, |(next, _)| next.duration()),
            uncertainty: step.uncertainty,
        })
    });
    sums(of_steps).into()
}

/// The table `network`: what packets spent their time on, by link.
pub(crate) fn table(cluster: &Cluster<'_>, carried: impl Iterator<Item = Carried>) -> Table {
    let mut table = Table::new(
        "network",
        "Packets on their paths",
        &[
            ("from", Unit::None),
            ("to", Unit::None),
            ("packets", Unit::Count),
            ("total_ns", Unit::Ns),
            ("queue_ns", Unit::Ns),
            ("wire_ns", Unit::Ns),
            ("receive_ns", Unit::Ns),
            ("uncertainty_ns", Unit::Ns),
        ],
    )
    .detail();
    for sum in sums(carried) {
        table.row(vec![
            cluster.host_cell(Some(sum.from)),
            cluster.host_cell(Some(sum.to)),
            sum.packets.into(),
            sum.total.into(),
            sum.queue.into(),
            sum.wire().into(),
            sum.receive.into(),
            if sum.from == sum.to { Cell::NotApplicable } else { sum.uncertainty.into() },
        ]);
    }
    table
}
