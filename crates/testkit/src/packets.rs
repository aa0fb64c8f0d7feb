//! Packets of a simulation as events of traces: one trace per host.
//!
//! [`crate::traffic`] decides what is sent, [`crate::lttng`] how a trace looks; here a packet becomes the event of a
//! tracer family, on each of the two hosts.

use std::path::Path;

use crate::classes::NetLayout;
use crate::cluster::{Cluster, SimHost};
use crate::error::{Misuse, TestkitError};
use crate::lttng::LttngTrace;
use crate::traffic::{Segment, SimPacket, Simulation};
use crate::value::FieldValue;

/// Which internet protocol carries the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpVersion {
    /// Version 4: every packet has an identification.
    V4,
    /// Version 6: copies of a packet are equal.
    V6,
}

/// Which events tell of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `net_dev_queue` and `net_if_receive_skb` of LTTng-modules.
    Net(IpVersion, NetLayout),
    /// `inet_sock_local_out` and `inet_sock_local_in` of the lttng-addons.
    Addons,
}

impl Family {
    /// The network events over IPv4, as of LTTng-modules 2.13.
    pub const IPV4: Self = Self::Net(IpVersion::V4, NetLayout::V2_13);
    /// The network events over IPv6, as of LTTng-modules 2.13.
    pub const IPV6: Self = Self::Net(IpVersion::V6, NetLayout::V2_13);

    fn event_name(self, way: Way) -> &'static str {
        match (self, way) {
            (Self::Net(..), Way::Out) => "net_dev_queue",
            (Self::Net(..), Way::In) => "net_if_receive_skb",
            (Self::Addons, Way::Out) => "inet_sock_local_out",
            (Self::Addons, Way::In) => "inet_sock_local_in",
        }
    }
}

/// Which way a packet passes a host; what goes out comes first where times are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Out,
    In,
}

/// 32 bytes: the TCP header with timestamps.
const TCP_WORDS: u16 = 8;
const ETHERNET_BYTES: u32 = 14;

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
        if let Family::Net(_, layout) = family {
            trace.net_layout(layout);
        }
        describe(&mut trace);
        for (raw, way, packet) in passing(simulation, number) {
            let cpu = packet.link as u32 % host.cpus.max(1);
            trace.event(cpu, cycles(host, raw)?, family.event_name(way), &fields(packet, way, family));
        }
        Ok(trace)
    }
}

/// Packets that pass a host, in their true order, with what its clock shows then.
fn passing(simulation: &Simulation, host: usize) -> Vec<(i64, Way, &SimPacket)> {
    let sent = simulation.sent(host).map(|packet| (packet.sent_true, packet.sent_raw, Way::Out, packet));
    let received = simulation
        .received(host)
        .filter_map(|packet| Some((packet.received_true?, packet.received_raw?, Way::In, packet)));
    let mut passing: Vec<_> = sent.chain(received).collect();
    // Stable: what has the same time keeps the order of sending.
    passing.sort_by_key(|&(time, _, way, _)| (time, way));
    passing.into_iter().map(|(_, raw, way, packet)| (raw, way, packet)).collect()
}

/// What the trace clock has counted at a raw time: a counter shows whole cycles that have passed.
fn cycles(host: &SimHost, raw_ns: i64) -> Result<u64, Misuse> {
    let cycles = i128::from(raw_ns) * i128::from(host.frequency) / 1_000_000_000;
    u64::try_from(cycles).map_err(|_| Misuse::BeforeZero { host: host.name.clone(), raw_ns })
}

/// The fields of the event.
fn fields(packet: &SimPacket, way: Way, family: Family) -> Vec<(&'static str, FieldValue)> {
    match family {
        Family::Net(ip, layout) => net_fields(packet, way, ip, layout),
        Family::Addons => addons_fields(packet, way),
    }
}

fn net_fields(
    packet: &SimPacket,
    way: Way,
    ip: IpVersion,
    layout: NetLayout,
) -> Vec<(&'static str, FieldValue)> {
    let tcp_bytes = TCP_WORDS * 4 + packet.segment.payload;
    let (ip_bytes, kind) = match ip {
        IpVersion::V4 => (20, "ipv4"),
        IpVersion::V6 => (40, "ipv6"),
    };
    // What arrives has lost its Ethernet header by then.
    let ethernet = if way == Way::Out { ETHERNET_BYTES } else { 0 };
    let mut fields: Vec<(&'static str, FieldValue)> = vec![
        ("skbaddr", address_of(packet).into()),
        ("len", (u32::from(tcp_bytes + ip_bytes) + ethernet).into()),
        ("name", "eth0".into()),
        ("network_header_type", kind.into()),
    ];
    match ip {
        IpVersion::V4 => fields.extend([
            ("network_header.ipv4.version", 4.into()),
            ("network_header.ipv4.ihl", 5.into()),
            ("network_header.ipv4.tot_len", (tcp_bytes + ip_bytes).into()),
            ("network_header.ipv4.id", packet.segment.ip_id.into()),
            // Do not fragment.
            ("network_header.ipv4.frag_off", 0x4000.into()),
            ("network_header.ipv4.ttl", 64.into()),
            ("network_header.ipv4.protocol", "tcp".into()),
            ("network_header.ipv4.saddr", ipv4(packet.from).into()),
            ("network_header.ipv4.daddr", ipv4(packet.to).into()),
        ]),
        IpVersion::V6 => fields.extend([
            ("network_header.ipv6.version", 6.into()),
            ("network_header.ipv6.payload_len", tcp_bytes.into()),
            ("network_header.ipv6.nexthdr", "tcp".into()),
            ("network_header.ipv6.hop_limit", 64.into()),
            ("network_header.ipv6.saddr", ipv6(packet.from).into()),
            ("network_header.ipv6.daddr", ipv6(packet.to).into()),
        ]),
    }
    if layout == NetLayout::V2_13 {
        fields.push((names(ip).kind, "tcp".into()));
    }
    fields.extend(tcp_fields(packet, &names(ip)));
    fields
}

/// Names of the fields of the transport header, and of the field that chooses it.
struct TcpNames {
    kind: &'static str,
    source_port: &'static str,
    dest_port: &'static str,
    seq: &'static str,
    ack_seq: &'static str,
    data_offset: &'static str,
    flags: &'static str,
    window_size: &'static str,
}

/// The names below the header of one protocol version.
macro_rules! tcp_names {
    ($ip:literal) => {
        TcpNames {
            kind: concat!("network_header.", $ip, ".transport_header_type"),
            source_port: concat!("network_header.", $ip, ".transport_header.tcp.source_port"),
            dest_port: concat!("network_header.", $ip, ".transport_header.tcp.dest_port"),
            seq: concat!("network_header.", $ip, ".transport_header.tcp.seq"),
            ack_seq: concat!("network_header.", $ip, ".transport_header.tcp.ack_seq"),
            data_offset: concat!("network_header.", $ip, ".transport_header.tcp.data_offset"),
            flags: concat!("network_header.", $ip, ".transport_header.tcp.flags"),
            window_size: concat!("network_header.", $ip, ".transport_header.tcp.window_size"),
        }
    };
}

const fn names(ip: IpVersion) -> TcpNames {
    match ip {
        IpVersion::V4 => tcp_names!("ipv4"),
        IpVersion::V6 => tcp_names!("ipv6"),
    }
}

fn tcp_fields(packet: &SimPacket, names: &TcpNames) -> [(&'static str, FieldValue); 7] {
    let Segment { seq, ack, flags, .. } = packet.segment;
    let (source, destination) = ports(packet);
    [
        (names.source_port, source.into()),
        (names.dest_port, destination.into()),
        (names.seq, seq.into()),
        (names.ack_seq, ack.into()),
        (names.data_offset, TCP_WORDS.into()),
        (names.flags, flags.into()),
        (names.window_size, 501.into()),
    ]
}

fn addons_fields(packet: &SimPacket, way: Way) -> Vec<(&'static str, FieldValue)> {
    let Segment { seq, ack, flags, .. } = packet.segment;
    // Bytes 12 and 13 of the header as the bit fields of a little-endian host lie in them.
    let word = u16::from((flags as u8).reverse_bits()) << 8 | TCP_WORDS;
    // The sender's device has yet to compute the sum.
    let check = if way == Way::Out { 0x283f } else { seq as u16 ^ ack as u16 };
    vec![
        ("sk", (0xffff_8880_0000_0000_u64 + packet.link as u64 * 0x1000).into()),
        ("seq", seq.into()),
        ("ack_seq", ack.into()),
        ("check", check.into()),
        ("window", 501.into()),
        ("flags", word.into()),
    ]
}

/// A kernel address that differs from packet to packet.
fn address_of(packet: &SimPacket) -> u64 {
    0xffff_8880_0000_0000 | u64::from(packet.segment.seq) << 8
}

/// 10.0.x.y, from 10.0.0.1 on.
fn ipv4(host: usize) -> [u8; 4] {
    let [high, low] = (host as u16 + 1).to_be_bytes();
    [10, 0, high, low]
}

/// `fd00::x`, from `fd00::1` on.
fn ipv6(host: usize) -> [u16; 8] {
    [0xfd00, 0, 0, 0, 0, 0, 0, host as u16 + 1]
}

/// Source and destination port: each link has a pair of its own.
fn ports(packet: &SimPacket) -> (u16, u16) {
    let [service, client] = [5000, 40_000].map(|first: u16| first + (packet.link % 20_000) as u16);
    // The host with the higher index has opened the connection.
    if packet.from > packet.to { (client, service) } else { (service, client) }
}
