//! The packets of a host in a window of time: by time, and by flow.

use isochrone_net::Flow;
use isochrone_store::PacketSpan;
use isochrone_time::{RawNs, Window};
use rustc_hash::FxHashMap;

/// Packets, by time.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    all: Vec<PacketSpan>,
    /// Those before them that were forgotten.
    forgotten: usize,
    /// Indices by flow and direction, with those that were forgotten.
    flows: FxHashMap<(Flow, bool), Vec<usize>>,
}

impl PartialEq for Packets {
    fn eq(&self, other: &Self) -> bool {
        let indices =
            |it: &Self, key| it.of(key).iter().map(|index| index - it.forgotten).collect::<Vec<_>>();
        self.all == other.all
            && self.flows.len() == other.flows.len()
            && self.flows.keys().all(|key| indices(self, key) == indices(other, key))
    }
}

impl Packets {
    /// These packets, by time, none of which is found by its flow.
    pub(crate) fn without_flows(all: Vec<PacketSpan>) -> Self {
        Self { all, ..Self::default() }
    }

    /// Adds packets, by time, none of which is before one that is there. Linear in them.
    pub(crate) fn extend(&mut self, packets: impl IntoIterator<Item = PacketSpan>) {
        for packet in packets {
            if let Some((flow, _)) = packet.flow {
                let index = self.forgotten + self.all.len();
                self.flows.entry((flow, packet.is_sent)).or_default().push(index);
            }
            self.all.push(packet);
        }
    }

    /// Forgets the packets before an instant. Linear in all.
    pub(crate) fn forget(&mut self, start: RawNs) {
        let before = self.all.partition_point(|packet| packet.at < start);
        self.all.drain(..before);
        self.forgotten += before;
        self.flows.retain(|_, indices| {
            indices.drain(..indices.partition_point(|&index| index < self.forgotten));
            !indices.is_empty()
        });
    }

    /// All packets, by time.
    pub(crate) fn all(&self) -> &[PacketSpan] {
        &self.all
    }

    /// The packets that a CPU received from one instant to another one, both included; the last one first.
    pub(crate) fn received_on(
        &self,
        cpu: u32,
        Window { start: from, end: to }: Window<RawNs>,
    ) -> impl Iterator<Item = &PacketSpan> {
        let first = self.all.partition_point(|packet| packet.at < from);
        let last = self.all.partition_point(|packet| packet.at <= to);
        let packets = self.all[first..last.max(first)].iter().rev();
        packets.filter(move |packet| packet.cpu == cpu && !packet.is_sent)
    }

    /// The packet whose event is at an instant.
    pub(crate) fn at(&self, at: RawNs, cpu: Option<u32>, is_sent: bool) -> Option<&PacketSpan> {
        let first = self.all.partition_point(|packet| packet.at < at);
        let of_instant = self.all[first..].iter().take_while(|packet| packet.at == at);
        of_instant
            .filter(|packet| packet.is_sent == is_sent)
            .find(|packet| cpu.is_none_or(|cpu| packet.cpu == cpu))
    }

    /// The packets of a flow that were sent, or received, by time, up to an instant; the last one first.
    pub(crate) fn of_flow(
        &self,
        flow: Flow,
        is_sent: bool,
        until: RawNs,
    ) -> impl Iterator<Item = &PacketSpan> {
        let packet = |&index: &usize| &self.all[index - self.forgotten];
        let indices = self.of(&(flow, is_sent));
        let last = indices.partition_point(|index| packet(index).at <= until);
        indices[..last].iter().rev().map(packet)
    }

    fn of(&self, key: &(Flow, bool)) -> &[usize] {
        self.flows.get(key).map_or(&[], Vec::as_slice)
    }
}
