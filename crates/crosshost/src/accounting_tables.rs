//! The tables of `accounting`: cost by program and by process that caused it, and of each request.

use std::collections::{BTreeMap, BTreeSet};

use isochrone_analysis::{Cell, Need, Table, Unit, Visibility};

use isochrone_time::Window;

use crate::account::{Account, Amounts, Process, known};
use crate::cluster::Cluster;
use crate::exchange::{Exchange, Side};
use crate::path::ThreadRef;

/// What a row of the tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    /// A client that serves no other process.
    Client,
    /// What a process did for another one.
    Server,
    /// What a process did for clients that are not traced.
    Untraced,
    /// Work of a server without a waiting client.
    Unattributed,
    /// All other processes of a host.
    Others,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Untraced => "untraced-client",
            Self::Unattributed => "unattributed",
            Self::Others => "others",
        }
    }
}

/// A row: the process charged, the process it works for, the process itself.
type Key = (Option<Process>, Role, Process);

/// The rows of those that worked for a process.
fn below(process: Process) -> std::ops::RangeInclusive<Key> {
    let least = (Some(process), Role::Client, (0, i32::MIN));
    least..=(Some(process), Role::Others, (usize::MAX, i32::MAX))
}

/// Who pays: by program, and each process below those that it worked for. Linear in the rows, which are sorted.
pub(crate) fn tree(
    cluster: &Cluster<'_>,
    all: &[Exchange],
    accounts: &[Account],
    used: &BTreeMap<Process, Amounts>,
) -> [Table; 2] {
    let process = |end: &Side| Some((end.host, cluster.hosts[end.host].pid(end.last)?));
    let mut rows: BTreeMap<Key, (Amounts, Amounts)> = BTreeMap::new();
    let mut served: BTreeMap<Process, Amounts> = BTreeMap::new();
    let mut asked: BTreeMap<Process, Amounts> = BTreeMap::new();
    for (exchange, account) in all.iter().zip(accounts) {
        let client = exchange.client.as_ref().and_then(process);
        if let Some(server) = exchange.server.as_ref().and_then(process) {
            let role = if client.is_some() { Role::Server } else { Role::Untraced };
            let row = rows.entry((client, role, server)).or_default();
            row.0.add(&account.own);
            row.1.add(&account.below);
            served.entry(server).or_default().add(&account.own);
        }
        if let Some(client) = client.filter(|_| account.parent.is_none()) {
            let sum = asked.entry(client).or_default();
            sum.add(&account.own);
            sum.add(&account.below);
        }
    }
    let mut others: BTreeMap<usize, Amounts> = BTreeMap::new();
    for (&process, amounts) in used {
        let done = served.get(&process).copied().unwrap_or_default();
        let rest = amounts.without(&done);
        match asked.get(&process) {
            Some(sub) => {
                rows.insert((None, Role::Client, process), (rest, *sub));
            }
            None if served.contains_key(&process) => {
                rows.insert((None, Role::Unattributed, process), (rest, Amounts::default()));
            }
            None => others.entry(process.0).or_default().add(&rest),
        }
    }
    for (host, amounts) in others {
        rows.insert((None, Role::Others, (host, -1)), (amounts, Amounts::default()));
    }
    let mut table =
        Table::new("accounting", "Who pays: each process, and below it those that worked for it", &COLUMNS);
    for column in table.columns.iter_mut().filter(|column| matches!(column.unit, Unit::Bytes | Unit::Count)) {
        // People see them where they ask for the table.
        column.shown = Visibility::Trailing;
    }
    table.is_top = true;
    // A client, then all that worked for it, the greatest first.
    let mut order: Vec<&Key> = Vec::new();
    let mut roots: Vec<&Key> = rows.keys().filter(|key| key.0.is_none()).collect();
    let total = |key: &Key| rows.get(key).map_or(0, |(own, sub)| own.cpu + sub.cpu);
    roots.sort_by_key(|key| (key.1, -total(key)));
    let mut pending: Vec<&Key> = roots.into_iter().rev().collect();
    let mut seen: BTreeSet<&Key> = BTreeSet::new();
    while let Some(key) = pending.pop() {
        if !seen.insert(key) {
            continue;
        }
        order.push(key);
        let mut below: Vec<&Key> = match key.1 <= Role::Untraced {
            true => rows.range(below(key.2)).map(|(key, _)| key).collect(),
            false => Vec::new(),
        };
        below.sort_by_key(|key| total(key));
        pending.extend(below);
    }
    let rest = rows.keys().filter(|key| !seen.contains(key)).collect::<Vec<_>>();
    for key in order.into_iter().chain(rest) {
        if let Some((own, sub)) = rows.get(key) {
            table.row(row(cluster, key, own, sub));
        }
    }
    let programs = programs(cluster, &rows);
    [programs, table]
}

/// The same by program: all processes of one name that worked for all of another name.
fn programs(cluster: &Cluster<'_>, rows: &BTreeMap<Key, (Amounts, Amounts)>) -> Table {
    type Program<'c> = (Option<(usize, &'c str)>, Role, (usize, &'c str));
    let program =
        |process: Process| (process.0, cluster.comm_of_process(process.0, process.1).unwrap_or("?"));
    let mut sums: BTreeMap<Program<'_>, (u64, Amounts, Amounts)> = BTreeMap::new();
    for (&(parent, role, process), (own, sub)) in rows.iter().filter(|(key, _)| key.1 != Role::Others) {
        let sum = sums.entry((parent.map(program), role, program(process))).or_default();
        sum.0 += 1;
        sum.1.add(own);
        sum.2.add(sub);
    }
    let mut table = Table::new(
        "programs",
        "Who pays, by program",
        &[
            ("host", Unit::None),
            ("comm", Unit::None),
            ("parent_host", Unit::None),
            ("parent_comm", Unit::None),
            ("role", Unit::None),
            ("processes", Unit::Count),
            ("self_ns", Unit::Ns),
            ("sub_ns", Unit::Ns),
            ("total_ns", Unit::Ns),
        ],
    );
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|((parent, role, _), (_, own, sub))| (*role, parent.is_some(), -(own.cpu + sub.cpu)));
    for ((parent, role, (host, comm)), (count, own, sub)) in sums {
        let [own_cpu, ..] = own.cells();
        let [sub_cpu, ..] = sub.cells();
        let [total, ..] = sum(own, &sub).cells();
        table.row(vec![
            cluster.host_cell(Some(host)),
            Cell::text(comm),
            parent.map_or(Cell::NotApplicable, |(host, _)| cluster.host_cell(Some(host))),
            parent.map_or(Cell::NotApplicable, |(_, comm)| Cell::text(comm)),
            Cell::text(role.name()),
            count.into(),
            own_cpu,
            sub_cpu,
            total,
        ]);
    }
    table
}

const COLUMNS: [(&str, Unit); 15] = [
    ("host", Unit::None),
    ("pid", Unit::None),
    ("comm", Unit::None),
    ("parent_host", Unit::None),
    ("parent_pid", Unit::None),
    ("self_ns", Unit::Ns),
    ("sub_ns", Unit::Ns),
    ("total_ns", Unit::Ns),
    ("role", Unit::None),
    ("self_disk_bytes", Unit::Bytes),
    ("sub_disk_bytes", Unit::Bytes),
    ("self_sent_bytes", Unit::Bytes),
    ("sub_sent_bytes", Unit::Bytes),
    ("self_pages", Unit::Count),
    ("sub_pages", Unit::Count),
];

fn row(cluster: &Cluster<'_>, &(parent, role, process): &Key, own: &Amounts, sub: &Amounts) -> Vec<Cell> {
    let is_others = role == Role::Others;
    let comm = match is_others {
        true => Some("(other processes)"),
        false => cluster.comm_of_process(process.0, process.1),
    };
    let [own_cpu, own_disk, own_network, own_pages] = own.cells();
    let [sub_cpu, sub_disk, sub_network, sub_pages] = sub.cells();
    let [total, ..] = sum(*own, sub).cells();
    vec![
        cluster.host_cell(Some(process.0)),
        if is_others { Cell::NotApplicable } else { process.1.into() },
        comm.map_or(Cell::Unknown, Cell::text),
        parent.map_or(Cell::NotApplicable, |parent| cluster.host_cell(Some(parent.0))),
        parent.map_or(Cell::NotApplicable, |parent| parent.1.into()),
        own_cpu,
        sub_cpu,
        total,
        Cell::text(role.name()),
        own_disk,
        sub_disk,
        own_network,
        sub_network,
        own_pages,
        sub_pages,
    ]
}

fn sum(mut own: Amounts, sub: &Amounts) -> Amounts {
    own.add(sub);
    own
}

/// What each exchange cost.
pub(crate) fn table_of_requests(cluster: &Cluster<'_>, all: &[Exchange], accounts: &[Account]) -> Table {
    let mut table = Table::new(
        "requests",
        "What each request cost",
        &[
            ("client_host", Unit::None),
            ("client_pid", Unit::None),
            ("client_tid", Unit::None),
            ("server_host", Unit::None),
            ("server_pid", Unit::None),
            ("server_tid", Unit::None),
            ("begin_ns", Unit::Time),
            ("end_ns", Unit::Time),
            ("cpu_ns", Unit::Ns),
            ("blocked_ns", Unit::Ns),
            ("service_cpu_ns", Unit::Ns),
            ("sub_cpu_ns", Unit::Ns),
            ("service", Unit::None),
        ],
    )
    .by_time("begin_ns");
    for (exchange, account) in all.iter().zip(accounts) {
        let Some(Window { start, end }) = exchange.span(cluster) else { continue };
        let party =
            |end: &Option<Side>| end.as_ref().map(|end| ThreadRef { host: end.host, thread: end.last });
        let (client, server) = (party(&exchange.client), party(&exchange.server));
        let [client_pid, client_tid, _] = cluster.cells(client, start);
        let [server_pid, server_tid, _] = cluster.cells(server, start);
        let has_switches = |party: Option<ThreadRef>| {
            party.is_some_and(|party| cluster.hosts[party.host].has(&[Need::Switches]))
        };
        let [below, ..] = account.below.cells();
        table.row(vec![
            cluster.host_cell(client.map(|party| party.host)),
            client_pid,
            client_tid,
            cluster.host_cell(server.map(|party| party.host)),
            server_pid,
            server_tid,
            start.0.into(),
            end.0.into(),
            known(account.own.cpu, has_switches(server)),
            known(account.blocked, has_switches(client)),
            known(account.service_cpu, has_switches(server)),
            below,
            Cell::text(&exchange.server_address.to_string()),
        ]);
    }
    table
}
