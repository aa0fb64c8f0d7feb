//! Packets of a simulation as events of traces: one trace per host.
//!
//! [`crate::traffic`] decides what is sent, [`crate::lttng`] how a trace looks; here a packet that passes a host becomes one
//! or two events of a tracer family, whose fields [`crate::events`] fills.

use std::path::Path;

use isochrone_ctf::schema::ByteOrder;

use crate::addresses::Endpoints;
use crate::classes::NetLayout;
use crate::cluster::{Cluster, SimHost};
use crate::error::{Misuse, TestkitError};
use crate::events;
use crate::lttng::LttngTrace;
use crate::traffic::{Segment, SimPacket, Simulation};

/// Which internet protocol carries the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpVersion {
    /// Version 4: every packet has an identification.
    V4,
    /// Version 6: copies of a packet are equal.
    V6,
}

/// Which events record packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `net_dev_queue` and `net_if_receive_skb` of LTTng-modules.
    Net(IpVersion, NetLayout),
    /// `net_dev_queue` and `netif_receive_skb` of the `net_data_experimental` branch.
    Experimental(IpVersion),
    /// `inet_sock_local_out` and `inet_sock_local_in` of the lttng-addons: TCP only.
    Addons,
    /// `dev_xmit_extended`, `dev_receive` and `tcpv4_rcv_extended` or `udpv4_rcv_extended` of LTTng 0.x: IPv4 only.
    LttvExtended,
}

impl Family {
    /// The network events over IPv4, as of LTTng-modules 2.13.
    pub const IPV4: Self = Self::Net(IpVersion::V4, NetLayout::V2_13);
    /// The network events over IPv6, as of LTTng-modules 2.13.
    pub const IPV6: Self = Self::Net(IpVersion::V6, NetLayout::V2_13);
}

/// Which way a packet passes a host; what goes out comes first where times are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    Out,
    In,
}

/// Which of the events that record one packet at one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PacketStage {
    First,
    /// It leaves through the device below, or has come to its protocol.
    Second,
}

/// A packet that passes a host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passing<'s> {
    pub(crate) at_true: i64,
    pub(crate) raw: i64,
    pub(crate) way: Way,
    pub(crate) stage: PacketStage,
    pub(crate) packet: &'s SimPacket,
    /// Its headers as they pass.
    pub(crate) segment: Segment,
}

/// All that the fields of an event follow from.
pub(crate) struct View<'s> {
    pub(crate) passing: Passing<'s>,
    pub(crate) host: &'s SimHost,
    pub(crate) ends: Endpoints,
    /// Of the host.
    pub(crate) byte_order: ByteOrder,
}

impl Cluster {
    /// Simulates the cluster and writes the trace of each host to `<directory>/<host>/kernel`.
    ///
    /// # Errors
    /// The cluster is impossible, or a file cannot be written.
    pub fn write(&self, directory: &Path, family: Family) -> Result<Simulation, TestkitError> {
        self.write_with(directory, family, |_, _| {})
    }

    /// As [`Self::write`]; `describe` may change each host's trace before its events are recorded.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_with(
        &self,
        directory: &Path,
        family: Family,
        describe: impl Fn(usize, &mut LttngTrace),
    ) -> Result<Simulation, TestkitError> {
        let simulation = self.simulate()?;
        for (number, host) in self.hosts.iter().enumerate() {
            let mut trace = self.trace(&simulation, number, family, |trace| describe(number, trace))?;
            trace.write(&directory.join(&host.name).join("kernel"))?;
        }
        Ok(simulation)
    }

    /// The trace of one host, to be written whole or in rotations, or to record more events in.
    ///
    /// # Errors
    /// There is no such host, or its clock shows times that a trace cannot stamp.
    pub fn trace(
        &self,
        simulation: &Simulation,
        number: usize,
        family: Family,
        describe: impl FnOnce(&mut LttngTrace),
    ) -> Result<LttngTrace, TestkitError> {
        let host = self.host(number)?;
        let mut trace = LttngTrace::kernel(&host.name);
        let offset_ns = host.clock.unix_offset_ns();
        let clock = crate::ClockSpec { offset_ns, frequency: host.frequency, ..trace.clock_spec() };
        trace.clock(clock).cpus(host.cpus.max(1));
        events::describe(family, &mut trace);
        describe(&mut trace);
        let byte_order = trace.declared_byte_order();
        let mut passing = passing(simulation, number);
        passing.extend(seconds(&passing, host, family));
        // Stable: what has the same time keeps the order of sending.
        passing.sort_by_key(|passing| (passing.at_true, passing.way, passing.stage));
        for passing in passing {
            let ends = self.endpoints(passing.packet, number)?;
            let view = View { passing, host, ends, byte_order };
            let Some((name, fields)) = events::event(&view, family) else { continue };
            // What comes later may be done by another CPU.
            let late = u32::from(passing.way == Way::In && passing.stage == PacketStage::Second);
            let cpu = (passing.packet.link as u32).wrapping_add(late) % host.cpus.max(1);
            trace.event(cpu, cycles(host, passing.raw)?, name, &fields);
        }
        Ok(trace)
    }
}

/// Packets that pass a host, with what its clock shows then: in the order of sending, those sent first.
pub(crate) fn passing(simulation: &Simulation, host: usize) -> Vec<Passing<'_>> {
    let sent = simulation.sent(host).map(|packet| Passing {
        at_true: packet.sent_true,
        raw: packet.sent_raw,
        way: Way::Out,
        stage: PacketStage::First,
        packet,
        segment: packet.segment,
    });
    let received = simulation.received(host).flat_map(|packet| {
        simulation.arrivals(packet).map(move |arrival| Passing {
            at_true: arrival.received_true,
            raw: arrival.received_raw,
            way: Way::In,
            stage: PacketStage::First,
            packet,
            segment: arrival.segment,
        })
    });
    sent.chain(received).collect()
}

/// The second events of packets that have two.
fn seconds<'s>(firsts: &[Passing<'s>], host: &SimHost, family: Family) -> Vec<Passing<'s>> {
    let later = firsts.iter().filter_map(|first| {
        let after = events::second_after(family, host, first)?;
        let at_true = host.clock.awake(first.at_true.saturating_add(after));
        Some(Passing { at_true, raw: host.clock.raw(at_true), stage: PacketStage::Second, ..*first })
    });
    later.collect()
}

/// What the trace clock has counted at a raw time: a counter shows whole cycles that have passed.
fn cycles(host: &SimHost, raw_ns: i64) -> Result<u64, Misuse> {
    let cycles = i128::from(raw_ns) * i128::from(host.frequency) / 1_000_000_000;
    let cycles = u64::try_from(cycles).map_err(|_| Misuse::BeforeZero { host: host.name.clone(), raw_ns })?;
    Ok(cycles / host.tick * host.tick)
}
