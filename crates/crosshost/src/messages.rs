//! The report `messages`: how long packets take between hosts, per link and connection, with what their
//! clocks leave open.
//!
//! The latency of one way depends on both clocks: its bounds are those of the link at that instant, not the
//! sum of two hosts'. What a round trip takes on the network does not: it is the time between departure and
//! return on one host, less that between arrival and answer on the other one, and exact but for the
//! difference of the clocks' rates in so short a time.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use isochrone_analysis::{Cell, Report, Table, Unit, VERSION, nearest_rank};
use isochrone_net::{Flow, flags};
use isochrone_store::{Message, StoreError};
use isochrone_time::{RawNs, UnixNs, Window};
use rustc_hash::FxHashMap;

use crate::cluster::Cluster;
use crate::exchange::{SocketTimes, socket_times};
use crate::timeline::{ClusterWindow, Timeline};
use crate::waits::parts;

/// How far an answer may be from what it answers to count as a round trip, ns.
const MAX_ROUND_TRIP: i64 = 10_000_000_000;

/// How much more time than asked about is read, ns: a packet that arrives in a window was sent before it.
pub(crate) const MARGIN: i64 = 1_000_000_000;

/// A direction between hosts: indices of the sender and of the receiver.
type Link = (usize, usize);

/// Figures of the messages of a link, or of a connection in one direction; all in ns.
#[derive(Debug, Default)]
struct Figures {
    count: u64,
    bytes: u64,
    /// Where the clocks can be compared.
    latencies: Vec<i64>,
    uncertainty: Option<i64>,
    /// From the call that sends to the queue of the device.
    sending: Vec<i64>,
    /// From the reception to the end of the call that reads.
    reading: Vec<i64>,
    round_trips: Vec<i64>,
    retransmissions: u64,
    /// When the first one was sent and the last one received.
    span: Option<Window<UnixNs>>,
}

/// A message as its table has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed {
    pub(crate) message: Message,
    pub(crate) flow: Option<Flow>,
    pub(crate) bytes: Option<u32>,
    /// Latency, and what it can be at least and at most, ns.
    pub(crate) latency: Option<i64>,
    pub(crate) bounds: Option<(i64, i64)>,
}

/// The tables `links`, `connections` (of one direction), `conversations` (of both) and, if `has_log`,
/// `messages` (each of them). `window`: those that
/// arrive in it. Linear in the messages, and in the packets and calls of the window.
///
/// # Errors
/// The store cannot be read.
pub fn messages(
    cluster: &Cluster<'_>,
    window: Option<Window<UnixNs>>,
    has_log: bool,
    is_synchronized: bool,
) -> Result<Report, StoreError> {
    let shown = cluster.window(window);
    // A window ends before its end, and the last message may arrive with the last event of all.
    let whole = window.unwrap_or(Window::new(shown.start, shown.end.saturating_add(1)));
    let times = socket_times(cluster, whole)?;
    let mut links: BTreeMap<Link, Figures> = BTreeMap::new();
    let mut connections: BTreeMap<(Link, SocketAddr, SocketAddr, u8), Figures> = BTreeMap::new();
    let mut log = Vec::new();
    // By host and flow: segments that were sent again.
    let mut again: FxHashMap<(usize, Flow), u64> = FxHashMap::default();
    // By connection, as the sender of the last message writes it: when that was sent and received.
    let mut last: FxHashMap<(Link, Flow), (RawNs, RawNs)> = FxHashMap::default();
    for part in parts(cluster, whole) {
        let loaded =
            ClusterWindow::load_packets(cluster, Window::new(part.start.saturating_sub(MARGIN), part.end))?;
        let all = arrived(cluster, &loaded, part);
        let round_trips = round_trips(&all, &mut last);
        for (passed, round_trip) in all.into_iter().zip(round_trips) {
            let link = passed.link();
            let of_flow = passed.flow.map(|flow| (link, flow.source, flow.destination, flow.protocol));
            let of_link = links.entry(link).or_default();
            add(of_link, &passed, &times, round_trip);
            if let Some(of_flow) = of_flow {
                let of_connection = connections.entry(of_flow).or_default();
                add(of_connection, &passed, &times, round_trip);
                of_connection.reach(passed.span(cluster));
            }
            if has_log {
                log.push(passed);
            }
        }
        for (index, timeline) in loaded.timelines.iter().enumerate() {
            let host = &cluster.hosts[index];
            retransmitted(timeline, Window::new(host.raw(part.start), host.raw(part.end)), |flow, _| {
                *again.entry((index, flow)).or_default() += 1;
            });
        }
    }
    for ((link, source, destination, protocol), figures) in &mut connections {
        let flow = Flow { protocol: *protocol, source: *source, destination: *destination };
        figures.retransmissions = again.get(&(link.0, flow)).copied().unwrap_or(0);
    }
    for ((link, ..), figures) in &connections {
        if let Some(of_link) = links.get_mut(link) {
            of_link.retransmissions += figures.retransmissions;
        }
    }
    let conversations = table_of_conversations(cluster, &connections);
    let mut tables =
        vec![table_of_links(cluster, links), table_of_connections(cluster, connections), conversations];
    if has_log {
        tables.push(log_table(cluster, &log));
    }
    Ok(Report {
        analysis: "messages",
        version: VERSION,
        sync: is_synchronized,
        range: Some([shown.start, shown.end]),
        tables,
        notes: Vec::new(),
    })
}

/// The messages that arrive in a window, Unix ns, in the order of their arrival.
pub(crate) fn arrived(
    cluster: &Cluster<'_>,
    loaded: &ClusterWindow<'_, '_>,
    window: Window<UnixNs>,
) -> Vec<Passed> {
    let mut all = Vec::new();
    let of_hosts = cluster
        .hosts
        .iter()
        .enumerate()
        .flat_map(|(index, host)| cluster.arrivals(index, host.raw_window(window)));
    for message in of_hosts {
        let (sender, receiver) = (message.sent_host as usize, message.received_host as usize);
        let at = cluster.hosts[receiver].common(message.received_at);
        if !(window.start..window.end).contains(&at) {
            continue;
        }
        let received =
            loaded.timelines[receiver].packets().at(message.received_at, message.received_cpu, false);
        let flow = received.and_then(|packet| packet.flow);
        let related = cluster.related((sender, message.sent_at), receiver);
        let latency = cluster
            .are_comparable(sender, receiver)
            .then(|| at.saturating_since(cluster.hosts[sender].common(message.sent_at)));
        let bounds = related.and_then(|related| {
            let (least, greatest) = related.latency_until(message.received_at);
            least.zip(greatest)
        });
        all.push((
            at,
            Passed {
                message: *message,
                flow: flow.map(|(flow, _)| flow),
                bytes: flow.and_then(|(_, carried)| carried.payload),
                latency,
                bounds,
            },
        ));
    }
    all.sort_by_key(|(at, passed)| (*at, passed.message.sent_host, passed.message.sent_at));
    all.into_iter().map(|(_, passed)| passed).collect()
}

impl Passed {
    fn link(&self) -> Link {
        (self.message.sent_host as usize, self.message.received_host as usize)
    }

    /// When it was sent and received.
    fn span(&self, cluster: &Cluster<'_>) -> Window<UnixNs> {
        let at = |end: isochrone_store::MessageEnd| cluster.hosts[end.host as usize].common(end.at);
        Window::new(at(self.message.sent()), at(self.message.received()))
    }

    /// When one of its two hosts, the first of both, saw it.
    fn seen_by_first(&self) -> RawNs {
        let Message { sent_host, sent_at, received_host, received_at, .. } = self.message;
        if sent_host < received_host { sent_at } else { received_at }
    }
}

impl Figures {
    fn reach(&mut self, span: Window<UnixNs>) {
        let all = self.span.get_or_insert(span);
        *all = Window::new(all.start.min(span.start), all.end.max(span.end));
    }
}

/// Of each message: what its round trip took on the network, ns. Both directions are put in order by the
/// clock of one host.
fn round_trips(all: &[Passed], last: &mut FxHashMap<(Link, Flow), (RawNs, RawNs)>) -> Vec<Option<i64>> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&index| {
        let (from, to) = all[index].link();
        (from.min(to), from.max(to), all[index].seen_by_first())
    });
    let mut found = vec![None; all.len()];
    for index in order {
        let passed = &all[index];
        found[index] = passed.flow.and_then(|flow| returned(last, passed.link(), flow, &passed.message));
    }
    found
}

/// How long the network took for a message and the one that it answers, if it answers any, ns.
fn returned(
    last: &mut FxHashMap<(Link, Flow), (RawNs, RawNs)>,
    link: Link,
    flow: Flow,
    message: &Message,
) -> Option<i64> {
    let (sent, received) = (message.sent_at, message.received_at);
    last.insert((link, flow), (sent, received));
    let back = Flow { source: flow.destination, destination: flow.source, ..flow };
    // In the other direction, the receiver of this message was the sender.
    let (question_sent, question_received) = last.remove(&((link.1, link.0), back))?;
    let (out, there) = (received.checked_since(question_sent)?, sent.checked_since(question_received)?);
    (there >= 0 && out < MAX_ROUND_TRIP).then(|| out - there)
}

fn add(figures: &mut Figures, passed: &Passed, times: &SocketTimes, round_trip: Option<i64>) {
    figures.count += 1;
    figures.bytes += u64::from(passed.bytes.unwrap_or(0));
    if let Some(latency) = passed.latency {
        figures.latencies.push(latency);
        if let Some((lo, hi)) = passed.bounds {
            let uncertainty = (latency - lo).max(hi - latency);
            figures.uncertainty = Some(figures.uncertainty.unwrap_or(0).max(uncertainty));
        }
    }
    figures.round_trips.extend(round_trip);
    let (sent, received) = (passed.message.sent(), passed.message.received());
    if let Some(flow) = passed.flow.filter(|_| passed.bytes.is_some_and(|bytes| bytes > 0)) {
        let written = times.written(sent.host as usize, (flow.source, flow.destination), sent.at);
        figures.sending.extend(written);
        let read = times.read(received.host as usize, (flow.destination, flow.source), received.at);
        figures.reading.extend(read);
    }
}

/// Passes the flow and the time of each TCP segment that was sent again in a time to `each`.
pub(crate) fn retransmitted(
    timeline: &Timeline,
    Window { start: from, end: to }: Window<RawNs>,
    mut each: impl FnMut(Flow, RawNs),
) {
    // By flow: the sequence number after the last byte that was sent.
    let mut sent: FxHashMap<Flow, u32> = FxHashMap::default();
    for packet in timeline.packets().all().iter().filter(|packet| packet.is_sent) {
        let Some((flow, carried)) = packet.flow else { continue };
        if carried.flags.is_some_and(|all| all & flags::SYN != 0) {
            // Another connection with the same numbers.
            sent.remove(&flow);
        }
        let (Some(seq), Some(payload)) = (carried.seq, carried.payload.filter(|&payload| payload > 0)) else {
            continue;
        };
        let end = seq.wrapping_add(payload);
        let known = sent.entry(flow).or_insert(seq);
        // Sequence numbers wrap around.
        let is_again = (end.wrapping_sub(*known) as i32) <= 0;
        if is_again {
            if (from..to).contains(&packet.at) {
                each(flow, packet.at);
            }
        } else {
            *known = end;
        }
    }
}

/// The value that a share of some values does not exceed: the nearest rank. Sorts them.
fn rank(values: &mut [i64], percent: usize) -> Cell {
    values.sort_unstable();
    nearest_rank(values, percent).copied().into()
}

/// Columns of figures.
const FIGURES: [(&str, Unit); 14] = [
    ("count", Unit::Count),
    ("min_ns", Unit::Ns),
    ("median_ns", Unit::Ns),
    ("p99_ns", Unit::Ns),
    ("max_ns", Unit::Ns),
    ("uncertainty_ns", Unit::Ns),
    ("round_trip_min_ns", Unit::Ns),
    ("round_trip_median_ns", Unit::Ns),
    ("sending_median_ns", Unit::Ns),
    ("sending_max_ns", Unit::Ns),
    ("reading_median_ns", Unit::Ns),
    ("reading_max_ns", Unit::Ns),
    ("bytes", Unit::Bytes),
    ("retransmissions", Unit::Count),
];

fn cells(mut figures: Figures) -> Vec<Cell> {
    vec![
        figures.count.into(),
        rank(&mut figures.latencies, 0),
        rank(&mut figures.latencies, 50),
        rank(&mut figures.latencies, 99),
        rank(&mut figures.latencies, 100),
        figures.uncertainty.into(),
        rank(&mut figures.round_trips, 0),
        rank(&mut figures.round_trips, 50),
        rank(&mut figures.sending, 50),
        rank(&mut figures.sending, 100),
        rank(&mut figures.reading, 50),
        rank(&mut figures.reading, 100),
        figures.bytes.into(),
        figures.retransmissions.into(),
    ]
}

fn table_of_links(cluster: &Cluster<'_>, links: BTreeMap<Link, Figures>) -> Table {
    let columns: Vec<(&'static str, Unit)> =
        [("from", Unit::None), ("to", Unit::None)].into_iter().chain(FIGURES).collect();
    let mut table = Table::new("links", "How long messages take between hosts", &columns);
    for ((from, to), figures) in links {
        let mut row = vec![cluster.host_cell(Some(from)), cluster.host_cell(Some(to))];
        row.extend(cells(figures));
        table.row(row);
    }
    table
}

fn table_of_connections(
    cluster: &Cluster<'_>,
    connections: BTreeMap<(Link, SocketAddr, SocketAddr, u8), Figures>,
) -> Table {
    let names = ["from", "to", "source", "destination"].map(|name| (name, Unit::None));
    let columns: Vec<(&'static str, Unit)> = names.into_iter().chain(FIGURES).collect();
    let mut table = Table::new("connections", "And on each connection", &columns).top();
    let mut connections: Vec<_> = connections.into_iter().collect();
    connections.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| a.0.cmp(&b.0)));
    for (((from, to), source, destination, _), figures) in connections {
        let mut row = vec![
            cluster.host_cell(Some(from)),
            cluster.host_cell(Some(to)),
            Cell::text(&source.to_string()),
            Cell::text(&destination.to_string()),
        ];
        row.extend(cells(figures));
        table.row(row);
    }
    table
}

/// Both directions of each connection in one row: from the end that sent the first message to the other one.
fn table_of_conversations(
    cluster: &Cluster<'_>,
    connections: &BTreeMap<(Link, SocketAddr, SocketAddr, u8), Figures>,
) -> Table {
    let mut table = Table::new(
        "conversations",
        "Conversations",
        &[
            ("from", Unit::None),
            ("to", Unit::None),
            ("source", Unit::None),
            ("destination", Unit::None),
            ("packets_out", Unit::Count),
            ("packets_back", Unit::Count),
            ("bytes_out", Unit::Bytes),
            ("bytes_back", Unit::Bytes),
            ("retransmissions", Unit::Count),
            ("start_ns", Unit::Time),
            ("duration_ns", Unit::Ns),
        ],
    )
    .top()
    .detail();
    let start = |figures: &Figures| figures.span.map(|span| span.start);
    let mut rows = Vec::new();
    for (key, out) in connections {
        let &((from, to), source, destination, protocol) = key;
        let back_key = ((to, from), destination, source, protocol);
        let back = connections.get(&back_key);
        // The other direction has the row.
        if back.is_some_and(|back| (start(back), &back_key) < (start(out), key)) {
            continue;
        }
        let mut span = out.span;
        if let (Some(span), Some(more)) = (&mut span, back.and_then(|back| back.span)) {
            *span = Window::new(span.start.min(more.start), span.end.max(more.end));
        }
        let of_back = |figure: fn(&Figures) -> u64| back.map_or(0, figure);
        let bytes = out.bytes + of_back(|it| it.bytes);
        let row = vec![
            cluster.host_cell(Some(from)),
            cluster.host_cell(Some(to)),
            Cell::text(&source.to_string()),
            Cell::text(&destination.to_string()),
            out.count.into(),
            of_back(|it| it.count).into(),
            out.bytes.into(),
            of_back(|it| it.bytes).into(),
            (out.retransmissions + of_back(|it| it.retransmissions)).into(),
            span.map(|span| span.start.0).into(),
            span.map(|span| span.end.saturating_since(span.start)).into(),
        ];
        rows.push((bytes, row));
    }
    rows.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    for (_, row) in rows {
        table.row(row);
    }
    table
}

fn log_table(cluster: &Cluster<'_>, log: &[Passed]) -> Table {
    let mut table = Table::new(
        "messages",
        "Each message",
        &[
            ("from", Unit::None),
            ("to", Unit::None),
            ("sent_ns", Unit::Time),
            ("received_ns", Unit::Time),
            ("latency_ns", Unit::Ns),
            ("latency_lo_ns", Unit::Ns),
            ("latency_hi_ns", Unit::Ns),
            ("source", Unit::None),
            ("destination", Unit::None),
            ("bytes", Unit::Bytes),
            ("sent_raw_ns", Unit::None),
            ("received_raw_ns", Unit::None),
        ],
    )
    .by_time("sent_ns");
    for passed in log {
        let (sent, received) = (passed.message.sent(), passed.message.received());
        let at = |end: isochrone_store::MessageEnd| cluster.hosts[end.host as usize].common(end.at);
        let address = |of: fn(&Flow) -> SocketAddr| {
            passed.flow.as_ref().map_or(Cell::Unknown, |flow| Cell::text(&of(flow).to_string()))
        };
        table.row(vec![
            cluster.host_cell(Some(sent.host as usize)),
            cluster.host_cell(Some(received.host as usize)),
            at(sent).0.into(),
            at(received).0.into(),
            passed.latency.into(),
            passed.bounds.map(|(lo, _)| lo).into(),
            passed.bounds.map(|(_, hi)| hi).into(),
            address(|flow| flow.source),
            address(|flow| flow.destination),
            passed.bytes.into(),
            sent.at.0.into(),
            received.at.0.into(),
        ]);
    }
    table
}
