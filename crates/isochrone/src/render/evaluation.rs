//! The tables of `isochrone sync eval` and of `isochrone sync --dry-run`.

use isochrone_analysis::{Cell, Drawn, Report, Table, Unit, VERSION};
use isochrone_matching::Summary;
use isochrone_matching::traffic::Traffic;
use isochrone_net::Direction;
use isochrone_sync::evaluation::{AllRoundTrips, Way, Ways, class_end};
use isochrone_time::UnixNs;

/// The quality of a synchronization by its messages.
pub(crate) struct Evaluated {
    /// Names of the hosts, by the numbers of their clocks.
    pub(crate) hosts: Vec<String>,
    /// Whether latencies are on a common clock.
    pub(crate) sync: bool,
    /// Time of the first and of the last message.
    pub(crate) range: Option<[UnixNs; 2]>,
    /// By sender and receiver.
    pub(crate) ways: Ways,
    /// By pair of hosts.
    pub(crate) round_trips: AllRoundTrips,
    /// Results of matching packets, where there were any.
    pub(crate) packets: Option<(Summary, Vec<Traffic>)>,
}

/// Columns of counts of messages, of one direction or of all.
const COUNTS: [(&str, Unit); 6] = [
    ("messages", Unit::Count),
    ("inverted", Unit::Count),
    ("inverted_percent", Unit::Percent),
    ("too_fast", Unit::Count),
    ("too_fast_percent", Unit::Percent),
    ("without_round_trip", Unit::Count),
];

impl Evaluated {
    /// All tables.
    pub(crate) fn report(&self) -> Report {
        let mut tables = vec![self.total(), self.directions(), self.round_trips(), self.histogram()];
        if let Some((packets, traffic)) = &self.packets {
            tables.extend(packet_tables(&self.hosts, packets, traffic));
        }
        let (analysis, sync, range) = ("sync eval", self.sync, self.range);
        Report { analysis, version: VERSION, sync, range, tables, notes: Vec::new() }
    }

    fn total(&self) -> Table {
        let mut table = Table::new("total", "all messages", &COUNTS);
        let sum = |of: fn(&Way) -> u64| self.ways.values().map(of).sum();
        let all = Way {
            messages: sum(|way| way.messages),
            inverted: sum(|way| way.inverted),
            too_fast: sum(|way| way.too_fast),
            unmeasured: sum(|way| way.unmeasured),
            ..Way::default()
        };
        table.row(counts(&all));
        table
    }

    fn directions(&self) -> Table {
        let names = [("from", Unit::None), ("to", Unit::None)];
        let latencies = [("least_ns", Unit::Ns), ("mean_ns", Unit::Ns), ("greatest_ns", Unit::Ns)];
        let columns: Vec<_> = names.into_iter().chain(COUNTS).chain(latencies).collect();
        let mut table = Table::new("directions", "messages by direction", &columns);
        for (&(from, to), way) in &self.ways {
            let mut row = self.names(from, to);
            row.extend(counts(way));
            let known = i128::from(way.inverted) + way.classes.iter().map(|&n| i128::from(n)).sum::<i128>();
            let mean = (known > 0).then(|| way.sum_ns.div_euclid(known.max(1)));
            row.extend([way.least_ns.map(i128::from), mean, way.greatest_ns.map(i128::from)].map(Cell::from));
            table.row(row);
        }
        table
    }

    fn round_trips(&self) -> Table {
        let columns = [
            ("a", Unit::None),
            ("b", Unit::None),
            ("exchanges", Unit::Count),
            ("least_round_trip_ns", Unit::Ns),
            ("given_round_trip_ns", Unit::Ns),
        ];
        let mut table = Table::new("round_trips", "least round trips, on the hosts' own clocks", &columns);
        for (&(a, b), found) in &self.round_trips {
            let mut row = self.names(a, b);
            row.push(found.count.into());
            row.extend([found.least_ns, found.given_ns].map(|ns| ns.map_or(Cell::NotApplicable, Cell::from)));
            table.row(row);
        }
        table
    }

    fn histogram(&self) -> Table {
        let columns =
            [("from", Unit::None), ("to", Unit::None), ("up_to_ns", Unit::Ns), ("messages", Unit::Count)];
        let mut table = Table::new("histogram", "latencies by direction", &columns);
        table.drawn = Some(Drawn { column: 3, group: 2 });
        table.is_detail = true;
        for (&(from, to), way) in &self.ways {
            let mut add = |end: Cell, count: u64| {
                let mut row = self.names(from, to);
                row.extend([end, count.into()]);
                table.row(row);
            };
            if way.inverted > 0 {
                add(0_i64.into(), way.inverted);
            }
            let first = way.classes.iter().position(|&count| count > 0);
            let last = way.classes.iter().rposition(|&count| count > 0);
            for class in first.into_iter().zip(last).flat_map(|(first, last)| first..=last) {
                add(class_end(class).map_or(Cell::NotApplicable, Cell::from), way.classes[class]);
            }
        }
        table
    }

    fn names(&self, a: usize, b: usize) -> Vec<Cell> {
        [a, b].map(|host| Cell::text(&self.hosts[host])).into()
    }
}

fn counts(way: &Way) -> Vec<Cell> {
    let percent = |part: u64| match way.messages {
        0 => Cell::NotApplicable,
        all => Cell::Float(part as f64 * 100.0 / all as f64),
    };
    vec![
        way.messages.into(),
        way.inverted.into(),
        percent(way.inverted),
        way.too_fast.into(),
        percent(way.too_fast),
        way.unmeasured.into(),
    ]
}

/// The report of the matching alone.
pub(crate) fn matched(
    hosts: &[String],
    packets: &Summary,
    traffic: &[Traffic],
    range: Option<[UnixNs; 2]>,
) -> Report {
    let tables = packet_tables(hosts, packets, traffic).into();
    Report { analysis: "sync --dry-run", version: VERSION, sync: false, range, tables, notes: Vec::new() }
}

/// Packets by host, and matched packets by pair of hosts.
fn packet_tables(hosts: &[String], packets: &Summary, traffic: &[Traffic]) -> [Table; 2] {
    let columns = [
        ("host", Unit::None),
        ("sent", Unit::Count),
        ("received", Unit::Count),
        ("unmatched", Unit::Count),
        ("other_protocols", Unit::Count),
        ("without_headers", Unit::Count),
        ("without_times", Unit::Count),
    ];
    let mut of_hosts = Table::new("packets", "packets by host", &columns);
    for (clock, host) in hosts.iter().enumerate() {
        let shown = traffic.get(clock).copied().unwrap_or_default();
        let [sent, received] = [Direction::Sent, Direction::Received].map(|direction| shown.of(direction));
        of_hosts.row(vec![
            Cell::text(host),
            sent.packets.into(),
            received.packets.into(),
            packets.unmatched.get(clock).copied().unwrap_or(0).into(),
            (sent.other + received.other).into(),
            (sent.bare + received.bare).into(),
            (sent.unstamped + received.unstamped).into(),
        ]);
    }
    let columns = [
        ("from", Unit::None),
        ("to", Unit::None),
        ("messages", Unit::Count),
        ("offloaded", Unit::Count),
        ("translated", Unit::Count),
        ("ambiguous", Unit::Count),
    ];
    let mut of_pairs = Table::new("matched", "packets matched by direction", &columns);
    for (&(from, to), counts) in &packets.pairs {
        of_pairs.row(vec![
            Cell::text(&hosts[from]),
            Cell::text(&hosts[to]),
            counts.messages.into(),
            counts.offloaded.into(),
            counts.translated.into(),
            counts.ambiguous.into(),
        ]);
    }
    [of_hosts, of_pairs]
}
