//! The report of one conversation: every packet between two addresses, both directions in one order, from
//! the call that wrote it to the call that read it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use isochrone_analysis::{Cell, Note, Report, Table, Unit, VERSION};
use isochrone_net::{Carried, Flow, flags};
use isochrone_store::StoreError;
use isochrone_time::{RawNs, UnixNs, Window};
use rustc_hash::FxHashSet;

use crate::cluster::Cluster;
use crate::exchange::{SocketTimes, socket_times};
use crate::messages::{MARGIN, Passed, arrived, retransmitted};
use crate::timeline::ClusterWindow;
use crate::waits::parts;

/// An end of a conversation: an address, and perhaps a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    address: IpAddr,
    port: Option<u16>,
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let with_port = text
            .parse()
            .map(|it: SocketAddr| Self { address: it.ip().to_canonical(), port: Some(it.port()) });
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        with_port
            .or_else(|_| bare.parse().map(|it: IpAddr| Self { address: it.to_canonical(), port: None }))
            .map_err(|_| "not an address, as in 10.0.0.2:8080, [fd00::2]:8080 or 10.0.0.2".to_owned())
    }
}

impl Endpoint {
    fn is(&self, of: SocketAddr) -> bool {
        self.address == of.ip().to_canonical() && self.port.is_none_or(|port| port == of.port())
    }

    /// Whether a packet is of a conversation of these ends: of one, or between both.
    fn are_of(ends: &[Self], flow: &Flow) -> bool {
        match ends {
            [one, other] => {
                one.is(flow.source) && other.is(flow.destination)
                    || one.is(flow.destination) && other.is(flow.source)
            }
            ends => ends.iter().any(|end| end.is(flow.source) || end.is(flow.destination)),
        }
    }
}

/// A packet of a conversation, of one host or of both.
#[derive(Debug, Clone, Copy)]
struct Segment {
    flow: Flow,
    carried: Carried,
    sent: Option<(usize, RawNs)>,
    received: Option<(usize, RawNs)>,
    latency: Option<i64>,
    bounds: Option<(i64, i64)>,
    /// Whether it stayed within the host, where sent and received packets are not matched.
    is_local: bool,
}

/// The table `packets`: those of the conversations that one or two addresses choose, in the order in which
/// they were sent (received, where the sender was not traced). `window`: those that arrive in it, or were
/// sent in it and have no counterpart. Linear in the packets and calls of the window.
///
/// # Errors
/// The store cannot be read.
pub fn conversation(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    ends: &[Endpoint],
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let shown = cluster.window(window);
    let whole = window.unwrap_or(Window::new(shown.start, shown.end.saturating_add(1)));
    let times = socket_times(cluster, whole)?;
    let found = matched(cluster, (whole, is_synchronized), ends)?;
    let mut segments = found.segments;
    let mut others: BTreeMap<(SocketAddr, SocketAddr), u64> = BTreeMap::new();
    for part in parts(cluster, whole) {
        let loaded = ClusterWindow::load_packets(cluster, part)?;
        for (index, timeline) in loaded.timelines.iter().enumerate() {
            for packet in timeline.packets().all() {
                let at = cluster.hosts[index].common(packet.at);
                let is_there = (part.start..part.end).contains(&at);
                let Some((flow, carried)) = packet.flow.filter(|_| is_there) else { continue };
                if !Endpoint::are_of(ends, &flow) {
                    // It is of use only where nothing else is found.
                    if segments.is_empty() {
                        *others.entry((flow.source, flow.destination)).or_default() += 1;
                    }
                } else if !found.ends.contains(&(index, packet.at, packet.is_sent)) {
                    let end = Some((index, packet.at));
                    let (sent, received) = if packet.is_sent { (end, None) } else { (None, end) };
                    let is_local = &*packet.device == "lo";
                    let (latency, bounds) = (None, None);
                    segments.push(Segment { flow, carried, sent, received, latency, bounds, is_local });
                }
            }
        }
    }
    let common = |(host, at): (usize, RawNs)| cluster.hosts[host].common(at);
    // Parts of a packet that was cut up on its way were sent at one time.
    segments.sort_by_key(|it| {
        (it.sent.or(it.received).map(common), it.received.map(common), it.flow, it.carried)
    });
    let mut notes = Vec::new();
    if segments.is_empty() {
        let most = others.into_iter().max_by_key(|(_, count)| *count);
        let text = match most {
            Some(((from, to), count)) => format!(
                "no packet of these addresses is in the traces; {count} are from {from} to {to}, and \
                 isochrone messages lists all connections"
            ),
            None => "no packet in the traces has addresses".to_owned(),
        };
        notes.push(Note::default().text(&text));
    }
    Ok(Report {
        analysis: "messages",
        version: VERSION,
        sync: is_synchronized,
        range: Some([shown.start, shown.end]),
        tables: vec![table(cluster, &segments, &found.again, &times)],
        notes,
    })
}

/// Messages of conversations.
#[derive(Debug, Default)]
struct Matched {
    /// Those that arrive in the window.
    segments: Vec<Segment>,
    /// Host, time, and whether it was sent: the packets of these messages and of those that arrive soon
    /// before or after.
    ends: FxHashSet<(usize, RawNs, bool)>,
    /// Host and time of TCP segments that were sent again.
    again: FxHashSet<(usize, RawNs)>,
}

/// How long after a packet was sent it is looked for, ns.
const MAX_LATENCY: i64 = 10_000_000_000;

/// The messages of the conversations of some ends. Where the hosts are on their own clocks, the other end of
/// a packet may be at any time.
fn matched(
    cluster: &Cluster<'_>,
    (whole, is_synchronized): (Window<UnixNs>, bool),
    ends: &[Endpoint],
) -> Result<Matched, StoreError> {
    let around = match cluster.range().filter(|_| !is_synchronized) {
        Some(all) => Window::new(all.start, all.end.saturating_add(1)),
        None => Window::new(whole.start.saturating_sub(MAX_LATENCY), whole.end.saturating_add(MAX_LATENCY)),
    };
    let mut found = Matched::default();
    for part in parts(cluster, around) {
        let loaded =
            ClusterWindow::load_packets(cluster, Window::new(part.start.saturating_sub(MARGIN), part.end))?;
        for passed in arrived(cluster, &loaded, part) {
            let Passed { message, flow, latency, bounds, .. } = passed;
            let Some(flow) = flow.filter(|flow| Endpoint::are_of(ends, flow)) else { continue };
            let (sender, receiver) = (message.sent_host as usize, message.received_host as usize);
            found.ends.insert((sender, message.sent_at, true));
            found.ends.insert((receiver, message.received_at, false));
            let at = cluster.hosts[receiver].common(message.received_at);
            if (whole.start..whole.end).contains(&at) {
                let packet =
                    loaded.timelines[receiver].packets().at(message.received_at, message.received_cpu, false);
                let carried = packet.and_then(|packet| packet.flow).map(|(_, carried)| carried);
                found.segments.push(Segment {
                    flow,
                    carried: carried.unwrap_or_default(),
                    sent: Some((sender, message.sent_at)),
                    received: Some((receiver, message.received_at)),
                    latency,
                    bounds,
                    is_local: false,
                });
            }
        }
        for (index, timeline) in loaded.timelines.iter().enumerate() {
            let host = &cluster.hosts[index];
            retransmitted(timeline, Window::new(host.raw(part.start), host.raw(part.end)), |flow, at| {
                if Endpoint::are_of(ends, &flow) {
                    found.again.insert((index, at));
                }
            });
        }
    }
    Ok(found)
}

fn table(
    cluster: &Cluster<'_>,
    segments: &[Segment],
    again: &FxHashSet<(usize, RawNs)>,
    times: &SocketTimes,
) -> Table {
    let mut table = Table::new(
        "packets",
        "Each packet of the conversation",
        &[
            ("sent_ns", Unit::Time),
            ("from", Unit::None),
            ("to", Unit::None),
            ("what", Unit::None),
            ("bytes", Unit::Bytes),
            ("latency_ns", Unit::Ns),
            ("sending_ns", Unit::Ns),
            ("reading_ns", Unit::Ns),
            ("received_ns", Unit::Time),
            ("latency_lo_ns", Unit::Ns),
            ("latency_hi_ns", Unit::Ns),
            ("source", Unit::None),
            ("destination", Unit::None),
        ],
    )
    .by_time("sent_ns");
    let at = |end: Option<(usize, RawNs)>| end.map(|(host, at)| cluster.hosts[host].common(at).0);
    for segment in segments {
        let Segment { flow, carried, sent, received, latency, bounds, .. } = *segment;
        let has_data = carried.payload.is_some_and(|bytes| bytes > 0);
        let (out, back) = ((flow.source, flow.destination), (flow.destination, flow.source));
        let sending = sent.filter(|_| has_data).and_then(|(host, at)| times.written(host, out, at));
        let reading = received.filter(|_| has_data).and_then(|(host, at)| times.read(host, back, at));
        table.row(vec![
            at(sent).into(),
            cluster.host_cell(sent.map(|(host, _)| host)),
            cluster.host_cell(received.map(|(host, _)| host)),
            Cell::text(&what(segment, sent.is_some_and(|sent| again.contains(&sent)))),
            carried.payload.into(),
            latency.into(),
            sending.into(),
            reading.into(),
            at(received).into(),
            bounds.map(|(lo, _)| lo).into(),
            bounds.map(|(_, hi)| hi).into(),
            Cell::text(&flow.source.to_string()),
            Cell::text(&flow.destination.to_string()),
        ]);
    }
    table
}

/// What a packet is, in words.
fn what(segment: &Segment, is_again: bool) -> String {
    let mut words = Vec::new();
    let has = |flag| segment.carried.flags.is_some_and(|all| all & flag != 0);
    for (flag, word) in [(flags::SYN, "SYN"), (flags::FIN, "FIN"), (flags::RST, "RST")] {
        if has(flag) {
            words.push(word);
        }
    }
    match segment.carried.payload {
        Some(0) if words.is_empty() && has(flags::ACK) => words.push("ACK"),
        Some(1..) => words.push("data"),
        _ => {}
    }
    if is_again {
        words.push("sent again");
    }
    if segment.is_local {
        words.push(if segment.sent.is_some() { "sent within the host" } else { "received within the host" });
    } else if segment.sent.is_none() || segment.received.is_none() {
        // Lost, cut up or joined with others on its way, or not traced on the other host.
        words.push("unmatched");
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_conversations() {
        let end = |text: &str| text.parse::<Endpoint>();
        let flow = |source: &str, destination: &str| Flow {
            protocol: 6,
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
        };
        let there = flow("10.0.0.1:5000", "10.0.0.2:80");
        let back = flow("10.0.0.2:80", "10.0.0.1:5000");
        let of = |ends: &[&str], flow: &Flow| {
            let ends: Vec<Endpoint> = ends.iter().map(|text| end(text).unwrap()).collect();
            Endpoint::are_of(&ends, flow)
        };
        for flow in [&there, &back] {
            assert!(of(&["10.0.0.2:80"], flow) && of(&["10.0.0.1"], flow));
            assert!(of(&["10.0.0.1:5000", "10.0.0.2:80"], flow) && of(&["10.0.0.2", "10.0.0.1"], flow));
            assert!(!of(&["10.0.0.1:5001"], flow) && !of(&["10.0.0.1", "10.0.0.3"], flow));
        }
        assert!(of(&["[fd00::1]:7"], &flow("[fd00::1]:7", "[fd00::2]:8")));
        assert!(of(&["fd00::1"], &flow("[fd00::1]:7", "[fd00::2]:8")));
        for wrong in ["", "host:80", "10.0.0:80", "10.0.0.1:99999"] {
            assert!(end(wrong).is_err(), "{wrong}");
        }
    }
}
